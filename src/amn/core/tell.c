/* Algorithm 1: questions are asked, and then each sentence is read in a few passes over the rows that it touches.
 *
 * `amn.models.amn.AMN` is the same in torch, and a literal twin in the tests judges both.
 */

#include "arithmetic.h"
#include "memory.h"

/* Where to compute what of each member. A newcomer has no state yet: what it becomes depends on its sentence alone, and
 * is computed once. Gives for how many of them it has to be done, and of these, how many are words.
 */
static id seat(struct amn_memory *memory, struct amn_desk *desk, const struct telling *telling, id count, id *words) {
    size_t hidden = memory->model->hidden;
    id todo = 0;
    *words = 0;
    for (id i = 0; i < count; i++) {
        id slot = desk->members[i];
        int spoken = i < telling->spoken;
        int is_new = spoken && memory->marks[slot].depth == ABSENT && !memory->is_named[slot];
        float *own = (is_new ? telling->newcomers : desk->room) + (size_t)i * WIDTHS * hidden;
        const float *state = spoken ? own + UPDATED * hidden : memory->states + (size_t)slot * hidden;
        desk->row[i] = (struct row){slot, own, state, own + KEY_VALUE * hidden};
        if (is_new && telling->known[i]) continue;
        if (is_new) telling->known[i] = 1;
        desk->todo[todo++] = i;
        *words = spoken ? todo : *words;
    }
    return todo;
}

/* The product of the rows in `from` with a weight, to one part of what is computed of some members. */
static void compute(struct amn_desk *desk, id count, const float *weight, size_t part, size_t widths) {
    size_t hidden = desk->model->hidden;
    for (id i = 0; i < count; i++) desk->into[i] = desk->row[desk->todo[i]].own + part * hidden;
    product((size_t)count, hidden, widths * hidden, desk->from, weight, desk->into);
}

/* Eq. (13) for words: w = GRU(w_N, w); and the queries of all members. Leaves in `from` what gives keys and values. */
static id update(struct amn_memory *memory, struct amn_desk *desk, const struct telling *telling, id count) {
    const struct amn_model *m = memory->model;
    size_t hidden = m->hidden;
    id words, todo = seat(memory, desk, telling, count, &words);
    for (id i = 0; i < words; i++)
        desk->from[i] = memory->states + (size_t)desk->row[desk->todo[i]].slot * hidden;
    compute(desk, words, m->update.state, PARTS, 3);
    for (id i = 0; i < words; i++) {
        float *own = desk->row[desk->todo[i]].own;
        gated(hidden, telling->gates + (size_t)desk->todo[i] * 3 * hidden, own + PARTS * hidden, m->update.new_bias,
              desk->from[i], own + UPDATED * hidden);
    }
    for (id i = 0; i < todo; i++) desk->from[i] = desk->row[desk->todo[i]].state;
    compute(desk, todo, m->propagate.state, PARTS, 3);
    for (id i = 0; i < todo; i++) {
        float *normed = desk->normed + (size_t)i * hidden;
        normalise(hidden, m->epsilon, desk->from[i], normed);
        desk->from[i] = normed;
    }
    compute(desk, todo, m->query, QUERY, 1);
    return todo;
}

/* The keys and values of members, and of the context; there those of some entities are kept until their states change. */
static void listen(const struct amn_memory *memory, struct amn_desk *desk, id members, id count, id rows) {
    const struct amn_model *m = memory->model;
    size_t hidden = m->hidden, size = 2 * hidden, todo = (size_t)members;
    for (id i = 0; i < members; i++) desk->into[i] = desk->row[desk->todo[i]].own + KEY_VALUE * hidden;
    for (id i = count; i < rows; i++) {
        id slot = desk->members[i];
        const struct heard *heard = desk->heard + slot % HEARD;
        float *own = desk->room + (size_t)i * WIDTHS * hidden, *normed = desk->normed + todo * hidden;
        desk->row[i].key_value = own;
        if (heard->serial == memory->serial && heard->slot == slot && heard->changed == memory->marks[slot].changed) {
            memcpy(own, desk->heard_values + (size_t)(slot % HEARD) * size, size * sizeof(float));
            continue;
        }
        normalise(hidden, m->epsilon, memory->states + (size_t)slot * hidden, normed);
        desk->todo[todo] = slot;
        desk->from[todo] = normed;
        desk->into[todo++] = own;
    }
    product(todo, hidden, size, desk->from, m->key_value, desk->into);
    for (size_t i = (size_t)members; i < todo; i++) {
        id slot = desk->todo[i];
        desk->heard[slot % HEARD] = (struct heard){memory->serial, slot, memory->marks[slot].changed};
        memcpy(desk->heard_values + (size_t)(slot % HEARD) * size, desk->into[i], size * sizeof(float));
    }
}

/* What one member gathers along its edges, by attention; who is near has keys, all heads alternating, then values. */
INLINE void gather(size_t width, size_t heads, const float *query, size_t near, const float *const *key_value,
                   const int8_t *kinds, const float *bias, float *scores, float *out) {
    float top[heads];
    for (size_t head = 0; head < heads; head++) top[head] = -INFINITY;
    for (size_t row = 0; row < near; row++) {
        const float *key = key_value[row], *by_kind = bias + (size_t)kinds[row] * heads;
        float *score = scores + row * heads, sums[heads];
        for (size_t head = 0; head < heads; head++) sums[head] = 0;
        for (size_t i = 0; i < width; i++)
            for (size_t head = 0; head < heads; head++) sums[head] += query[i * heads + head] * key[i * heads + head];
        SIMD
        for (size_t head = 0; head < heads; head++) {
            score[head] = sums[head] + by_kind[head];
            top[head] = greater(top[head], score[head]);
        }
    }
    for (size_t row = 0; row < near; row++)
        SIMD
        for (size_t head = 0; head < heads; head++) scores[row * heads + head] -= top[head];
    for (size_t i = 0; i < LANES; i++) scores[heads * near + i] = 0;
    SIMD
    for (size_t i = 0; i < padded(heads * near); i++) scores[i] = exponential(scores[i]);
    for (size_t head = 0; head < heads; head++) {
        float all = 0, sums[width]; /* apart from `out`, which might be anywhere: so they stay in registers */
        for (size_t i = 0; i < width; i++) sums[i] = 0;
        for (size_t row = 0; row < near; row++) {
            const float score = scores[row * heads + head], *value = key_value[row] + (heads + head) * width;
            all += score;
            SIMD
            for (size_t i = 0; i < width; i++) sums[i] += score * value[i];
        }
        float share = 1.0f / all;
        for (size_t i = 0; i < width; i++) out[head * width + i] = sums[i] * share;
    }
}

/* Eq. (14): a, which the members gather along the edges; each has one to itself, so none gathers nothing. */
static void attend(const struct amn_model *m, struct amn_desk *desk, id count, id rows) {
    size_t width = m->hidden / m->heads;
    const float **key_values = desk->near;
    int8_t *kinds = desk->kinds;
    for (size_t i = 0; i < (size_t)count; i++) {
        const float *query = desk->row[i].own + QUERY * m->hidden;
        const int8_t *edges = desk->edges + i * (size_t)rows;
        float *message = desk->messages + i * m->hidden;
        size_t near = 0;
        for (size_t row = 0; row < (size_t)rows; row++) {
            key_values[near] = desk->row[row].key_value;
            kinds[near] = edges[row];
            near += edges[row] != 0;
        }
        if (m->heads == 4 && width == 16) /* numbers that are known make loops without a count */
            gather(16, 4, query, near, key_values, kinds, m->edge_bias, desk->scores, message);
        else if (m->heads == 4 && width == 32)
            gather(32, 4, query, near, key_values, kinds, m->edge_bias, desk->scores, message);
        else
            gather(width, m->heads, query, near, key_values, kinds, m->edge_bias, desk->scores, message);
    }
}

/* Eq. (15): w = GRU(a, w). */
static void propagate(struct amn_memory *memory, struct amn_desk *desk, id count) {
    const struct amn_model *m = memory->model;
    size_t hidden = m->hidden;
    for (size_t i = 0; i < (size_t)count; i++) {
        desk->from[i] = desk->messages + i * hidden;
        desk->into[i] = desk->inputs + i * 3 * hidden;
    }
    product((size_t)count, hidden, 3 * hidden, desk->from, m->message_input, desk->into);
    for (id i = 0; i < count; i++) {
        const struct row *row = desk->row + i;
        add(3 * hidden, m->propagate.bias, desk->into[i]);
        gated(hidden, desk->into[i], row->own + PARTS * hidden, m->propagate.new_bias, row->state,
              memory->states + (size_t)row->slot * hidden);
        memory->marks[row->slot].changed = memory->sentences;
    }
}

/* Eq. (9) for creation: from what the last bank holds and how full the memory is for its number of banks. */
static double creation_logit(const struct amn_memory *memory) {
    const struct amn_model *m = memory->model;
    id inside = memory->levels[memory->banks - 1].count;
    double load = ldexp((double)memory->entities, 1 - memory->banks);
    return memory->vote / (inside > 1 ? inside : 1) + log(load > 0.1 ? load : 0.1) * (double)m->load +
           (double)m->create_bias;
}

/* Room to say what a sentence did to so many entities. */
static int reserve_change(struct amn_desk *desk, id count) {
    if (count <= desk->changed_capacity) return OK;
    size_t size = (size_t)count * 2 * sizeof(id);
    void *changed = realloc(desk->changed, size), *before, *after, *strengths;
    if (changed) desk->changed = changed;
    if ((before = realloc(desk->before, size))) desk->before = before;
    if ((after = realloc(desk->after, size))) desk->after = after;
    if ((strengths = realloc(desk->changed_strengths, size))) desk->changed_strengths = strengths;
    if (!changed || !before || !after || !strengths) return NO_ROOM;
    desk->changed_capacity = 2 * count;
    return OK;
}

/* Eq. (11): where a memory is too full for its banks, what is still relevant in the last goes on to a new one. */
static int create_bank(struct amn_memory *memory, struct amn_desk *desk) {
    id last = memory->banks - 1, next;
    if (memory->banks >= memory->model->max_banks || !(creation_logit(memory) > 0)) return OK;
    if (reserve_change(desk, desk->change.count + memory->levels[last].count)) return NO_ROOM;
    memory->banks++;
    memory->vote = 0;
    desk->change.created = 1;
    for (id slot = memory->levels[last].first; slot; slot = next) {
        struct mark *mark = memory->marks + slot;
        next = mark->after;
        if (!(mark->relevance > 0)) continue;
        if (mark->changed != memory->sentences) {
            desk->changed[desk->change.count] = slot;
            desk->before[desk->change.count++] = last;
        }
        place(memory, slot, last + 1);
        memory->vote += (double)mark->vote;
    }
    return OK;
}

/* The words of a sentence, whom the questions name, and a few recent neighbours; and the edges among them. */
static const struct telling *find_rows(struct amn_memory *memory, struct amn_desk *desk, const id *words, id length,
                                       id *count, id *rows) {
    struct graph *graph = &memory->graph;
    id spoken = find_spoken(graph, words, length, desk->members, desk->places);
    for (id i = 0; i < length; i++) desk->vectors[i] = memory->vectors[words[i]];
    const struct telling *telling = told_of(desk, length, spoken);
    *count = *rows = spoken;
    if (telling) {
        for (id i = 0; i < memory->named_count; i++) {
            id named = memory->named[i];
            if (graph->place[named] || memory->marks[named].depth == ABSENT) continue;
            desk->members[*count] = named;
            graph->place[named] = ++*count;
        }
        *rows = *count;
        *rows += recent_outside(graph, desk->members, spoken, *count, desk->members + *count, desk->next);
        find_edges(graph, desk->members, spoken, *count, *rows, telling->paths, desk->edges);
        remember(graph, desk->members, spoken);
    }
    forget_places(graph, desk->members, *rows);
    return telling;
}

/* Lines 2 to 17 of Algorithm 1 for one sentence. */
static int read_sentence(struct amn_memory *memory, struct amn_desk *desk, const id *words, id length) {
    id count, rows;
    if (reserve(desk, (size_t)length + (size_t)memory->named_count + CONTEXT)) return NO_ROOM;
    const struct telling *telling = find_rows(memory, desk, words, length, &count, &rows);
    if (!telling || reserve_change(desk, count)) return NO_ROOM;
    for (id i = 0; i < telling->spoken; i++)
        if (note_told(memory, desk->members[i])) return NO_ROOM;
    for (id i = 1; i < length; i++)
        if (note_pair(memory, memory->vectors[words[i - 1]], memory->vectors[words[i]])) return NO_ROOM;
    memory->sentences++;
    desk->change = (struct amn_change){.count = count, .members = count};
    for (id i = 0; i < count; i++) {
        desk->changed[i] = desk->members[i];
        desk->before[i] = memory->marks[desk->members[i]].depth;
    }
    id members = update(memory, desk, telling, count);
    listen(memory, desk, members, count, rows);
    attend(memory->model, desk, count, rows);
    propagate(memory, desk, count);
    settle(memory, desk, (size_t)count);
    return count ? create_bank(memory, desk) : OK;
}

int amn_tell(struct amn_memory *memory, struct amn_desk *desk, const struct amn_words *sentences) {
    int failed = add_words(memory, sentences);
    desk->change = (struct amn_change){0}; /* what is there may be of another memory */
    for (id i = 0; i < sentences->count && !failed; i++) {
        id begin = sentences->begin[i];
        failed = read_sentence(memory, desk, sentences->words + begin, sentences->begin[i + 1] - begin);
    }
    for (id i = 0; i < desk->change.count && !failed; i++) {
        desk->after[i] = memory->marks[desk->changed[i]].depth;
        desk->changed_strengths[i] = memory->marks[desk->changed[i]].strength;
    }
    desk->change.banks = memory->banks;
    return failed;
}

void amn_changed(const struct amn_desk *desk, struct amn_change *change) {
    *change = desk->change;
    change->slots = desk->changed;
    change->before = desk->before;
    change->after = desk->after;
    change->strengths = desk->changed_strengths;
}

/* Encodes one question; what its words come to is added to the states of the entities that it names. */
static void ask(struct amn_memory *memory, struct amn_desk *desk, const id *words, id length, id number) {
    const struct amn_model *m = memory->model;
    size_t hidden = m->hidden;
    struct asked *asked = memory->asked + number;
    float *question = memory->asked_numbers + (size_t)number * 4 * hidden, *likeness = question + hidden;
    for (id i = 0; i < length; i++) desk->vectors[i] = memory->vectors[words[i]];
    run(&m->question, hidden, desk->vectors, length, desk->inputs, desk->outputs);
    if (length) memcpy(question, desk->outputs + (size_t)(length - 1) * hidden, hidden * sizeof(float));
    for (size_t i = 0; i < hidden; i++) likeness[i] = question[i] * m->likeness;
    project(hidden, hidden, question, m->move_question, question + 2 * hidden);
    project(hidden, hidden, question, m->match, question + 3 * hidden);
    *asked = (struct asked){question, likeness, question + 2 * hidden, question + 3 * hidden,
                            dot(hidden, question, m->of_question) + m->update_bias};
    for (id i = 0; i < length; i++) {
        if (!memory->is_named[words[i]]) memory->named[memory->named_count++] = words[i];
        memory->is_named[words[i]] = 1;
        add(hidden, desk->outputs + (size_t)i * hidden, memory->states + (size_t)words[i] * hidden);
    }
}

/* The states in which the entities that the questions name begin, from what the questions' words came to. */
static void begin_named(struct amn_memory *memory, struct amn_desk *desk) {
    const struct amn_model *m = memory->model;
    size_t hidden = m->hidden, count = (size_t)memory->named_count;
    for (size_t i = 0; i < count; i++) {
        desk->from[i] = memory->states + (size_t)memory->named[i] * hidden;
        desk->into[i] = desk->outputs + i * hidden;
    }
    product(count, hidden, hidden, desk->from, m->from_question, desk->into);
    for (size_t i = 0; i < count; i++) {
        float *state = memory->states + (size_t)memory->named[i] * hidden;
        SIMD
        for (size_t j = 0; j < hidden; j++) state[j] = tangent(desk->into[i][j] + m->from_question_bias[j]);
    }
}

/* What a memory is built for; it can be said once, before anything is told. */
int amn_ask(struct amn_memory *memory, struct amn_desk *desk, const struct amn_words *questions) {
    size_t hidden = memory->model->hidden, count = (size_t)questions->count;
    size_t words = (size_t)(questions->begin[count] - questions->begin[0]);
    int failed = memory->asked || memory->sentences ? BAD_INPUT : add_words(memory, questions);
    if (failed) return failed;
    memory->asked = calloc(count + 1, sizeof(struct asked));
    memory->asked_numbers = calloc(count * 4 * hidden + 1, sizeof(float));
    memory->named = calloc((size_t)memory->slots, sizeof(id));
    if (!memory->asked || !memory->asked_numbers || !memory->named || reserve(desk, words + 1)) return NO_ROOM;
    memory->questions = questions->count;
    for (id i = 0; i < questions->count; i++) {
        id begin = questions->begin[i];
        ask(memory, desk, questions->words + begin, questions->begin[i + 1] - begin, i);
    }
    begin_named(memory, desk);
    return OK;
}
