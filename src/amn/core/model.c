/* Lays out a model's weights for reading. */

#include "model.h"

#include "arithmetic.h"
#include "word_graph.h"

/* Room for some numbers, which lives as long as the model. */
static float *room(struct amn_model *m, size_t count) {
    float *made = m->parts < sizeof m->all / sizeof *m->all ? aligned_zeros((count + LANES) * sizeof(float)) : NULL;
    if (made)
        m->all[m->parts++] = made;
    else
        m->failed = 1;
    return made;
}

static float *copied(struct amn_model *m, const float *values, size_t count) {
    float *made = room(m, count);
    if (made && values) memcpy(made, values, count * sizeof(float));
    return made;
}

/* Some inputs of a layer, each a row, scaled. */
static float *turned(struct amn_model *m, const struct amn_layer *layer, size_t from, size_t inputs, float scale) {
    size_t outputs = (size_t)layer->outputs, all = (size_t)layer->inputs;
    float *made = room(m, inputs * outputs);
    if (!made) return NULL;
    for (size_t i = 0; i < inputs; i++)
        for (size_t j = 0; j < outputs; j++) made[i * outputs + j] = layer->weight[j * all + from + i] * scale;
    return made;
}

static float *whole(struct amn_model *m, const struct amn_layer *layer, float scale) {
    return turned(m, layer, 0, (size_t)layer->inputs, scale);
}

static struct cell cell_of(struct amn_model *m, const struct amn_gru *gru) {
    size_t hidden = (size_t)gru->state.inputs;
    struct cell cell = {copied(m, gru->input.bias, 3 * hidden), whole(m, &gru->state, 1),
                        copied(m, gru->state.bias + 2 * hidden, hidden)};
    if (cell.bias) add(2 * hidden, gru->state.bias, cell.bias);
    return cell;
}

static struct reader reader_of(struct amn_model *m, const struct amn_gru *gru, const float *embedding, size_t vectors) {
    size_t hidden = (size_t)gru->state.inputs;
    struct cell cell = cell_of(m, gru);
    struct reader reader = {room(m, vectors * 3 * hidden), room(m, vectors * hidden), cell.state, cell.new_bias};
    float *input = whole(m, &gru->input, 1);
    float *nothing = room(m, 4 * hidden); /* a state of zeros, and its part of the gates */
    if (m->failed) return reader;
    for (size_t i = 0; i < vectors; i++) {
        float *gates = reader.gates + i * 3 * hidden;
        project(hidden, 3 * hidden, embedding + i * hidden, input, gates);
        add(3 * hidden, cell.bias, gates);
        gated(hidden, gates, nothing + hidden, cell.new_bias, nothing, reader.first + i * hidden);
    }
    return reader;
}

static void take_strength(struct amn_model *m, const struct amn_weights *w) {
    const float *rows[] = {w->strength_state.weight, w->candidate_state.weight, w->move_state.weight, w->create.weight};
    m->of_state = room(m, 4 * m->hidden);
    for (size_t i = 0; i < 4 && m->of_state; i++)
        memcpy(m->of_state + i * m->hidden, rows[i], m->hidden * sizeof(float));
    m->of_question = copied(m, w->strength_question.weight, m->hidden);
    m->update_bias = *w->strength_state.bias;
    m->candidate_bias = *w->candidate_state.bias;
    m->move_bias = *w->move_state.bias;
    m->update_previous = w->strength_previous;
    m->candidate_previous = w->candidate_previous;
    m->likeness = w->reset / sqrtf((float)m->hidden);
    m->load = w->create.weight[m->hidden];
    m->create_bias = *w->create.bias;
}

/* What a word scores as an answer, <W y + b, u> / sqrt(hidden), as one product with the summary y. */
static void take_names(struct amn_model *m, const struct amn_weights *w) {
    size_t hidden = m->hidden;
    float scale = 1.0f / sqrtf((float)hidden);
    m->names = room(m, m->vectors * hidden);
    m->name_bias = room(m, m->vectors);
    const float *weight = copied(m, w->point.weight, hidden * hidden);
    if (!m->names || !m->name_bias || !weight) return;
    for (size_t i = 0; i < m->vectors; i++) {
        const float *vector = w->embedding + i * hidden;
        project(hidden, hidden, vector, weight, m->names + i * hidden);
        for (size_t j = 0; j < hidden; j++) m->names[i * hidden + j] *= scale;
        m->name_bias[i] = dot(hidden, vector, w->point.bias) * scale;
    }
}

/* What tokens tell the GRU that goes from one to the next: classes first, then vectors. */
static void take_next(struct amn_model *m, const struct amn_weights *w) {
    size_t hidden = m->hidden;
    m->next = cell_of(m, &w->next);
    m->item = w->item;
    m->class_vectors = (id *)(void *)room(m, m->classes);
    if (m->class_vectors) memcpy(m->class_vectors, w->class_vectors, m->classes * sizeof(id));
    m->next_gates = room(m, (m->classes + m->vectors) * 3 * hidden);
    float *input = whole(m, &w->next.input, 1);
    for (size_t i = 0; i < m->classes + m->vectors && !m->failed; i++) {
        const float *token = i < m->classes ? w->classes + i * hidden : w->embedding + (i - m->classes) * hidden;
        project(hidden, 3 * hidden, token, input, m->next_gates + i * 3 * hidden);
        add(3 * hidden, m->next.bias, m->next_gates + i * 3 * hidden);
    }
}

static void take_decoder(struct amn_model *m, const struct amn_weights *w) {
    float scale = 1.0f / sqrtf((float)m->hidden);
    m->move_question = whole(m, &w->move_question, scale);
    m->match = whole(m, &w->match, scale);
    m->summary = whole(m, &w->summary, 1);
    m->summary_bias = copied(m, w->summary.bias, m->hidden);
    m->answer = whole(m, &w->answer, 1);
    m->answer_bias = copied(m, w->answer.bias, m->classes);
    m->nothing = w->nothing;
    m->growth = w->growth;
    m->slope = w->slope;
    if (m->pointer) take_names(m, w);
    if (m->items > 1) take_next(m, w);
}

static void take_gate(struct amn_model *m, const struct amn_gate *from) {
    size_t width = (size_t)from->width, words = m->vectors - m->anonymous;
    m->gate.width = width, m->gate.words = words;
    m->gate.sentence = reader_of(m, &from->sentence, from->embedding, words);
    m->gate.question = reader_of(m, &from->question, from->embedding, words);
    m->gate.heard = whole(m, &from->heard, 1);
    m->gate.heard_bias = copied(m, from->heard.bias, width);
    m->gate.asked = whole(m, &from->asked, 1);
    m->gate.verdict = copied(m, from->verdict.weight, width);
    m->gate.bias = *from->verdict.bias;
    m->gate.refers = copied(m, from->refers, words);
    m->gate.lowest = from->lowest, m->gate.slope = from->slope, m->gate.highest = from->highest;
    m->gate.pronoun_highest = from->pronoun_highest;
    if (!from->need_verdict.weight) return;
    m->gate.need_heard = whole(m, &from->need_heard, 1);
    m->gate.need_asked = whole(m, &from->need_asked, 1);
    m->gate.need_shared = copied(m, from->need_shared, SHARED * width);
    m->gate.need_verdict = copied(m, from->need_verdict.weight, width);
    m->gate.need_bias = *from->need_verdict.bias;
    m->gate.names = copied(m, from->names, words);
}

/* Reorders the first outputs of a weight, queries or keys, so that the numbers of all heads alternate. */
static float *alternated(const struct amn_model *m, float *weight, size_t outputs) {
    size_t width = m->hidden / m->heads;
    float by_head[m->hidden];
    for (size_t i = 0; i < m->hidden && weight; i++) {
        float *row = weight + i * outputs;
        memcpy(by_head, row, sizeof by_head);
        for (size_t j = 0; j < m->hidden; j++) row[j % width * m->heads + j / width] = by_head[j];
    }
    return weight;
}

struct amn_model *amn_model_new(const struct amn_weights *w) {
    int sound = w->hidden > 0 && w->heads > 0 && w->hidden % w->heads == 0 && w->max_banks > 0 && w->max_banks <= 64 &&
                w->anonymous >= 0 && w->anonymous <= w->vectors && (!w->pointer || w->point.weight) &&
                (w->items <= 1 || (w->classes && w->next.input.weight && w->next.state.weight));
    struct amn_model *m = sound ? calloc(1, sizeof *m) : NULL;
    if (!m) return NULL;
    m->hidden = (size_t)w->hidden, m->heads = (size_t)w->heads, m->vectors = (size_t)w->vectors;
    m->anonymous = (size_t)w->anonymous, m->classes = (size_t)w->answer.outputs;
    m->items = (size_t)(w->items > 1 ? w->items : 1);
    m->max_banks = w->max_banks, m->pointer = w->pointer, m->bank_gap = w->bank_gap, m->epsilon = w->epsilon;
    m->word = reader_of(m, &w->word, w->embedding, m->vectors);
    m->question = reader_of(m, &w->question, w->embedding, m->vectors);
    m->update = cell_of(m, &w->update);
    m->word_input = turned(m, &w->update.input, 0, m->hidden, 1);
    m->sentence_input = turned(m, &w->update.input, m->hidden, m->hidden, 1);
    m->propagate = cell_of(m, &w->propagate);
    m->message_input = whole(m, &w->propagate.input, 1);
    m->from_question = whole(m, &w->from_question, 1);
    m->from_question_bias = copied(m, w->from_question.bias, m->hidden);
    m->query = alternated(m, whole(m, &w->query, 1.0f / sqrtf((float)(m->hidden / m->heads))), m->hidden);
    m->key_value = alternated(m, whole(m, &w->key_value, 1), 2 * m->hidden);
    m->edge_bias = copied(m, w->edge_bias, NUM_KINDS * m->heads);
    take_strength(m, w);
    take_decoder(m, w);
    if (w->gate.width > 0) take_gate(m, &w->gate);
    if (!m->failed) return m;
    amn_model_free(m);
    return NULL;
}

void amn_model_free(struct amn_model *model) {
    if (!model) return;
    for (size_t i = 0; i < model->parts; i++) free(model->all[i]);
    free(model);
}
