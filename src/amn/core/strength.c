/* Strength, relevance and place of the entities that a sentence has changed. */

#include "arithmetic.h"
#include "memory.h"

/* Eqs. (5-8): the new strengths of members, the greatest that any question gives each; and how much each is asked for. */
static void strengthen(const struct amn_memory *memory, struct verdicts *of, size_t count) {
    const struct amn_model *m = memory->model;
    for (id i = 0; i < memory->questions; i++) {
        const struct asked *asked = memory->asked + i;
        for (size_t member = 0; member < count; member++) {
            of->likeness[member] = dot(m->hidden, of->state[member], asked->likeness);
            of->asked_for[member] = greater(of->asked_for[member], dot(m->hidden, of->state[member], asked->move));
        }
        SIMD
        for (size_t member = 0; member < padded(count); member++) {
            float previous = of->previous[member];
            float update = sigmoid(of->update[member] + asked->update + m->update_previous * previous);
            float kept = previous * (1.0f - sigmoid(previous * of->likeness[member]));
            float candidate = sigmoid(of->candidate[member] + m->candidate_bias + m->candidate_previous * kept);
            of->strength[member] = greater(of->strength[member], candidate + update * (previous - candidate));
        }
    }
}

/* Eq. (10), eq. (12): the deepest bank that a relevance reaches; what is no number reaches no further than the first. */
static id reach_of(const struct amn_memory *memory, float relevance) {
    float last = (float)(memory->banks - 1), reach = last + ceilf(relevance / memory->model->bank_gap) - 1.0f;
    return reach >= last ? memory->banks - 1 : reach > 0 ? (id)reach : 0;
}

/* The products of a state with the four rows of a weight. */
INLINE void dots(size_t hidden, const float *state, const float *weight, float *out) {
    float a = 0, b = 0, c = 0, d = 0;
    _Pragma("omp simd reduction(+ : a, b, c, d)")
    for (size_t i = 0; i < hidden; i++) {
        a += state[i] * weight[i];
        b += state[i] * weight[hidden + i];
        c += state[i] * weight[2 * hidden + i];
        d += state[i] * weight[3 * hidden + i];
    }
    out[0] = a, out[1] = b, out[2] = c, out[3] = d;
}

/* Strength, relevance (eq. 9) and place of members after their states have changed. */
void settle(struct amn_memory *memory, struct amn_desk *desk, size_t count) {
    const struct amn_model *m = memory->model;
    struct verdicts *of = &desk->verdicts;
    for (size_t i = 0; i < count; i++) {
        float scores[4];
        of->state[i] = memory->states + (size_t)desk->members[i] * m->hidden;
        dots(m->hidden, of->state[i], m->of_state, scores);
        of->update[i] = scores[0], of->candidate[i] = scores[1], of->move[i] = scores[2], of->vote[i] = scores[3];
        of->previous[i] = memory->marks[desk->members[i]].strength;
        of->strength[i] = 0, of->asked_for[i] = -INFINITY;
    }
    strengthen(memory, of, count);
    for (size_t i = 0; i < count; i++) {
        struct mark *mark = memory->marks + desk->members[i];
        mark->strength = of->strength[i];
        mark->relevance =
            (mark->strength * of->move[i] + of->asked_for[i]) * scale_of(m->hidden, m->epsilon, of->state[i]) + m->move_bias;
        id last = memory->banks - 1, reach = reach_of(memory, mark->relevance);
        if (mark->depth == last) memory->vote -= (double)mark->vote;
        mark->vote = of->vote[i];
        if (reach > mark->depth) place(memory, desk->members[i], reach);
        if (mark->depth == last) memory->vote += (double)mark->vote;
    }
}
