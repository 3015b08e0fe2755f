/* Section 4.3 of the paper: from the entities of the banks that are read to the logits of answers. */

#include "arithmetic.h"
#include "memory.h"

enum { MOST_BANKS = 64 }; /* `amn_model_new` refuses more */
enum { END = 0 };         /* the class that ends an answer of several tokens */

struct masses { /* eq. (17): how much each entity that is read weighs, before its bank is counted */
    float *mass, *strength; /* of the entities, the most general first */
    float whole[MOST_BANKS]; /* of each bank: the masses of all that it holds, and of reading nothing */
};

/* Weighs the entities of the banks that are read: exp(<C_m, w_Nq>), with C_m = s_m * w of eq. (16). */
static void weigh(const struct amn_memory *memory, const struct asked *asked, id first, struct masses *found) {
    const struct amn_model *m = memory->model;
    float top = m->nothing, *mass = found->mass, *strength = found->strength;
    for (id depth = first; depth < memory->banks; depth++)
        for (id slot = memory->levels[depth].first; slot; slot = memory->marks[slot].after) {
            const float *state = memory->states + (size_t)slot * m->hidden;
            *strength = memory->marks[slot].strength * scale_of(m->hidden, m->epsilon, state);
            *mass = *strength++ * dot(m->hidden, state, asked->match);
            top = greater(top, *mass++);
        }
    float whole = exponential(m->nothing - top);
    for (id depth = memory->banks - 1; depth >= first; depth--) {
        mass -= memory->levels[depth].count; /* the deepest come last */
        for (id i = 0; i < memory->levels[depth].count; i++) whole += mass[i] = exponential(mass[i] - top);
        found->whole[depth] = whole;
    }
}

/* What the banks count, the exponential weights d of eq. (18): each a learned factor more than the one before it. */
static void count_banks(const struct amn_memory *memory, id first, float *counts) {
    float all = 0;
    for (id bank = first; bank < memory->banks; bank++)
        all += counts[bank] = exponential((float)(bank - memory->banks + 1) * memory->model->growth);
    for (id bank = first; bank < memory->banks; bank++) counts[bank] /= all;
}

/* What is read for a question: g of eq. (18). */
static void read_banks(const struct amn_memory *memory, const struct asked *asked, id first, struct masses *masses,
                       float *read) {
    const struct amn_model *m = memory->model;
    float counts[MOST_BANKS], share = 0;
    const float *mass = masses->mass, *strength = masses->strength;
    weigh(memory, asked, first, masses);
    count_banks(memory, first, counts);
    memset(read, 0, m->hidden * sizeof(float));
    for (id depth = first; depth < memory->banks; depth++) {
        share += counts[depth] / masses->whole[depth]; /* what is this deep is in all banks before */
        for (id slot = memory->levels[depth].first; slot; slot = memory->marks[slot].after) {
            const float *state = memory->states + (size_t)slot * m->hidden;
            float weight = *mass++ * *strength++ * share;
            SIMD
            for (size_t i = 0; i < m->hidden; i++) read[i] += weight * state[i];
        }
    }
}

/* Room for what is read for so many questions, a row and its summary for each, and for the masses of so many entities. */
static int reserve_reads(struct amn_desk *desk, size_t count, size_t entities) {
    size_t row = desk->model->hidden * sizeof(float);
    if (count > desk->reads_capacity) {
        float *reads = realloc(desk->reads, count * row), *decoded;
        if (reads) desk->reads = reads;
        if ((decoded = realloc(desk->decoded, count * row))) desk->decoded = decoded;
        if (!reads || !decoded) return NO_ROOM;
        desk->reads_capacity = count;
    }
    if (entities > desk->masses_capacity) {
        float *masses = realloc(desk->masses, 2 * entities * sizeof(float));
        if (!masses) return NO_ROOM;
        desk->masses = masses;
        desk->masses_capacity = entities;
    }
    return reserve(desk, count);
}

/* The scores of the words that may be answers, from the summary of a question. */
static void point(const struct amn_memory *memory, const float *summary, float *logits) {
    const struct amn_model *m = memory->model;
    const float *weights = m->names, *biases = m->name_bias;
    for (id i = 0; i < memory->told_count; i++) {
        size_t vector = (size_t)memory->vectors[memory->told[i]];
        *logits++ = dot(m->hidden, summary, weights + vector * m->hidden) + biases[vector];
    }
    for (size_t i = 0, vector = m->vectors - m->anonymous; i < m->anonymous; i++, vector++)
        if (memory->last_anonymous[i]) *logits++ = dot(m->hidden, summary, weights + vector * m->hidden) + biases[vector];
}

/* Eq. (19): r(PReLU(h(g) + w_Nq)) for all questions at once. */
static void summarise(const struct amn_model *m, struct amn_desk *desk, size_t count, const float *const *questions) {
    for (size_t i = 0; i < count; i++) {
        desk->from[i] = desk->reads + i * m->hidden;
        desk->into[i] = desk->decoded + i * m->hidden;
    }
    product(count, m->hidden, m->hidden, desk->from, m->summary, desk->into);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < m->hidden; j++) {
            float y = desk->into[i][j] + m->summary_bias[j] + questions[i][j];
            desk->into[i][j] = y > 0 ? y : y * m->slope;
        }
}

/* The vector of a word that may be an answer, by its number as `amn_names` lists them. */
static size_t vector_of(const struct amn_memory *memory, size_t name) {
    const struct amn_model *m = memory->model;
    size_t known = (size_t)memory->told_count, at = 0;
    if (name < known) return (size_t)memory->vectors[memory->told[name]];
    for (name -= known; at + 1 < m->anonymous; at++)
        if (memory->last_anonymous[at] && !name--) break;
    return m->vectors - m->anonymous + at;
}

/* The vector of the word that a token spells; -1 where it is no word of any story, as the steps of a path are. */
static id word_of(const struct amn_memory *memory, size_t token) {
    const struct amn_model *m = memory->model;
    return token < m->classes ? m->class_vectors[token] : (id)vector_of(memory, token - m->classes);
}

/* Whether a list has an item already that begins with this word: it holds nothing twice. */
static int is_listed(const struct amn_memory *memory, const id *tokens, size_t at, size_t token) {
    id word = word_of(memory, token);
    for (size_t i = 0; i + 1 < at && word >= 0; i++)
        if ((!i || tokens[i - 1] == memory->model->item) && word_of(memory, (size_t)tokens[i]) == word) return 1;
    return 0;
}

/* Whether the story tells the word that a token spells. */
static int is_told(const struct amn_memory *memory, size_t token) {
    id word = word_of(memory, token);
    if (token >= memory->model->classes) return 1;
    for (id i = 0; i < memory->told_count && word >= 0; i++)
        if (memory->vectors[memory->told[i]] == word) return 1;
    return 0;
}

/* Whether two tokens are words of the story that it never told one after the other: no name holds both. */
static int is_apart(const struct amn_memory *memory, size_t before, size_t token) {
    return memory->pair_count >= 0 && !is_pair(memory, word_of(memory, before), word_of(memory, token)) &&
           is_told(memory, before) && is_told(memory, token);
}

/* The token with the highest score; the first of an item is none that begins another, a further one belongs to it. */
static id best_of(const struct amn_memory *memory, const float *scores, size_t count, const id *tokens, size_t at) {
    int begins = at && tokens[at - 1] == memory->model->item;
    size_t best = 0;
    for (size_t i = 1; i < count; i++) {
        if (!(scores[i] > scores[best]) || (begins && is_listed(memory, tokens, at, i))) continue;
        if (at && !begins && is_apart(memory, (size_t)tokens[at - 1], i)) continue;
        best = i;
    }
    return (id)best;
}

/* The further tokens of an answer, each chosen after the summary has heard the one before, up to the end. */
static void choose_tokens(const struct amn_memory *memory, struct amn_desk *desk, float *summary, size_t width,
                          float *logits, id *tokens) {
    const struct amn_model *m = memory->model;
    memset(tokens, 0, m->items * sizeof(id));
    for (size_t at = 0; at < m->items; at++, logits += width) {
        if (at) {
            size_t token = (size_t)tokens[at - 1];
            size_t row = token < m->classes ? token : m->classes + vector_of(memory, token - m->classes);
            project(m->hidden, 3 * m->hidden, summary, m->next.state, desk->inputs);
            gated(m->hidden, m->next_gates + row * 3 * m->hidden, desk->inputs, m->next.new_bias, summary, summary);
            project(m->hidden, m->classes, summary, m->answer, logits);
            add(m->classes, m->answer_bias, logits);
            point(memory, summary, logits + m->classes);
        }
        if ((tokens[at] = best_of(memory, logits, width, tokens, at)) == END) return;
    }
}

/* The answers of some memories from their last banks (0: all): for each question and token, classes, then words as
 * `amn_names` lists them; and where answers have several tokens, which of these were chosen.
 */
int amn_decode(struct amn_memory *const *memories, id count, struct amn_desk *desk, id banks, float *const *logits,
               id *const *tokens) {
    const struct amn_model *m = desk->model;
    size_t all = 0, at = 0, entities = 1;
    for (id i = 0; i < count; i++) {
        all += (size_t)memories[i]->questions;
        entities = (size_t)memories[i]->entities > entities ? (size_t)memories[i]->entities : entities;
    }
    if (reserve_reads(desk, all, entities)) return NO_ROOM;
    struct masses masses = {.mass = desk->masses, .strength = desk->masses + entities};
    for (id i = 0; i < count; i++)
        for (id question = 0; question < memories[i]->questions; question++, at++) {
            const struct asked *asked = memories[i]->asked + question;
            read_banks(memories[i], asked, first_read(memories[i], banks), &masses, desk->reads + at * m->hidden);
            desk->near[at] = asked->question;
        }
    summarise(m, desk, all, desk->near);
    at = 0;
    for (id i = 0; i < count; i++) {
        size_t width = m->classes + names_told(memories[i]);
        for (id question = 0; question < memories[i]->questions; question++, at++) {
            desk->from[at] = desk->decoded + at * m->hidden;
            desk->into[at] = logits[i] + (size_t)question * m->items * width;
            if (m->pointer) point(memories[i], desk->from[at], desk->into[at] + m->classes);
        }
    }
    product(all, m->hidden, m->classes, desk->from, m->answer, desk->into);
    for (size_t i = 0; i < all; i++) add(m->classes, m->answer_bias, desk->into[i]);
    at = 0;
    for (id i = 0; i < count && m->items > 1; i++)
        for (id question = 0; question < memories[i]->questions; question++, at++)
            choose_tokens(memories[i], desk, desk->decoded + at * m->hidden, m->classes + names_told(memories[i]),
                          desk->into[at], tokens[i] + (size_t)question * m->items);
    return OK;
}

/* How much the answer to a question rests on each entity that was read. */
int amn_attend(const struct amn_memory *memory, struct amn_desk *desk, id banks, id question,
               struct amn_attention *found) {
    if (question < 0 || question >= memory->questions) return BAD_INPUT;
    if (reserve_reads(desk, 1, (size_t)memory->entities + 1)) return NO_ROOM;
    struct masses masses = {.mass = desk->masses, .strength = desk->masses + memory->entities + 1};
    id first = first_read(memory, banks);
    weigh(memory, memory->asked + question, first, &masses);
    found->count = 0;
    for (id depth = first; depth < memory->banks; depth++) {
        found->whole[depth] = masses.whole[depth];
        for (id slot = memory->levels[depth].first; slot; slot = memory->marks[slot].after) {
            found->slots[found->count] = slot;
            found->mass[found->count] = masses.mass[found->count];
            found->count++;
        }
    }
    return OK;
}
