/* The gate in front of a memory: which sentences are told at all. */

#include "arithmetic.h"
#include "memory.h"

enum { STORY = 16 }; /* sentences that a text is taken for a story for, whatever it was so far */

/* Runs a GRU over one row of words; the last state is in `states`, which has room for two. */
static const float *last_state(const struct reader *reader, size_t width, const id *words, id length, float *states,
                               float *parts) {
    if (!length) return memset(states, 0, width * sizeof(float));
    const float *now = reader->first + (size_t)words[0] * width;
    for (id i = 1; i < length; i++) {
        project(width, 3 * width, now, reader->state, parts);
        float *next = states + (size_t)(i & 1) * width;
        gated(width, reader->gates + (size_t)words[i] * 3 * width, parts, reader->new_bias, now, next);
        now = next;
    }
    return now;
}

/* Whether these are rows of words that the gate knows. */
static int sound(const struct gate *gate, const struct amn_words *rows) {
    if (!gate->width || rows->count < 0 || rows->begin[0] < 0) return 0;
    for (id i = 0; i < rows->count; i++)
        if (rows->begin[i] > rows->begin[i + 1]) return 0;
    for (id i = rows->begin[0]; i < rows->begin[rows->count]; i++)
        if (rows->words[i] < 0 || (size_t)rows->words[i] >= gate->words) return 0;
    return 1;
}

/* B q for each question. */
int amn_gate_ask(const struct amn_model *m, const struct amn_words *questions, float *asked) {
    const struct gate *gate = &m->gate;
    size_t width = gate->width;
    if (!sound(gate, questions)) return BAD_INPUT;
    float *room = malloc((5 * width + LANES) * sizeof(float));
    if (!room) return NO_ROOM;
    for (id i = 0; i < questions->count; i++) {
        id begin = questions->begin[i], length = questions->begin[i + 1] - begin;
        const float *last = last_state(&gate->question, width, questions->words + begin, length, room, room + 2 * width);
        project(width, width, last, gate->asked, asked + (size_t)i * width);
    }
    free(room);
    return OK;
}

INLINE float logit_of(const struct gate *gate, const float *heard, const float *asked) {
    float sum = 0;
    SIMD_SUM(sum)
    for (size_t i = 0; i < gate->width; i++) sum += gate->verdict[i] * tangent(heard[i] + asked[i]);
    return sum + gate->bias;
}

/* Whether one of the words is a pronoun. */
static int has_pronoun(const struct gate *gate, const id *words, id length) {
    for (id i = 0; i < length; i++)
        if (gate->refers[words[i]] > 0) return 1;
    return 0;
}

/* Whether a logit is above the bar, which rises as less of a text is let in. */
INLINE int8_t passes(const struct gate *gate, int pronoun, float logit, int64_t seen, int64_t let_in) {
    if (!pronoun && logit > gate->highest) return 1;
    if (!(logit > gate->lowest)) return 0;
    float share = (float)(let_in + STORY) / (float)(seen + STORY);
    return logit > gate->lowest - gate->slope * logf(share);
}

/* Judges sentences in their order, for each question. */
int amn_gate_judge(const struct amn_model *m, const struct amn_words *sentences, struct amn_judging *judging) {
    const struct gate *gate = &m->gate;
    size_t width = gate->width, count = (size_t)sentences->count, questions = (size_t)judging->questions;
    if (!sound(gate, sentences)) return BAD_INPUT;
    float *room = malloc((6 * width + LANES) * sizeof(float)), *heard = room + 5 * width;
    if (!room) return NO_ROOM;
    for (size_t i = 0; i < count; i++) {
        id begin = sentences->begin[i], length = sentences->begin[i + 1] - begin;
        const float *last = last_state(&gate->sentence, width, sentences->words + begin, length, room, room + 2 * width);
        project(width, width, last, gate->heard, heard);
        add(width, gate->heard_bias, heard);
        int pronoun = has_pronoun(gate, sentences->words + begin, length);
        for (size_t q = 0; q < questions; q++) {
            float logit = logit_of(gate, heard, judging->asked + q * width);
            int8_t let_in = passes(gate, pronoun, logit, judging->seen, judging->let_in[q]);
            judging->let_in[q] += let_in;
            judging->verdicts[q * count + i] = let_in;
            if (judging->logits) judging->logits[q * count + i] = logit;
        }
        judging->seen++;
    }
    free(room);
    return OK;
}
