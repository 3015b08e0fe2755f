/* The gate in front of a memory: which sentences are told at all. */

#include "arithmetic.h"
#include "memory.h"

enum {
    STORY = 16,  /* sentences that a text is taken for a story for, whatever it was so far */
    UNKNOWN = 1, /* the number of all words that are not known */
};

struct phrase { /* a sentence or a question */
    const id *words;
    id length;
};

static struct phrase phrase_of(const struct amn_words *rows, size_t i) {
    return (struct phrase){rows->words + rows->begin[i], rows->begin[i + 1] - rows->begin[i]};
}

INLINE size_t known(const struct gate *gate, id word) { return (size_t)word < gate->words ? (size_t)word : UNKNOWN; }

/* Runs a GRU over one row of words; the last state is in `states`, which has room for two. */
static const float *last_state(const struct gate *gate, const struct reader *reader, struct phrase row, float *states,
                               float *parts) {
    size_t width = gate->width;
    if (!row.length) return memset(states, 0, width * sizeof(float));
    const float *now = reader->first + known(gate, row.words[0]) * width;
    for (id i = 1; i < row.length; i++) {
        project(width, 3 * width, now, reader->state, parts);
        float *next = states + (size_t)(i & 1) * width;
        gated(width, reader->gates + known(gate, row.words[i]) * 3 * width, parts, reader->new_bias, now, next);
        now = next;
    }
    return now;
}

/* Whether these are rows of words, and there is a gate to read them. */
static int sound(const struct gate *gate, const struct amn_words *rows) {
    if (!gate->width || rows->count < 0 || rows->begin[0] < 0) return 0;
    for (id i = 0; i < rows->count; i++)
        if (rows->begin[i] > rows->begin[i + 1]) return 0;
    for (id i = rows->begin[0]; i < rows->begin[rows->count]; i++)
        if (rows->words[i] < 0) return 0;
    return 1;
}

/* B q and D q for each question. */
int amn_gate_ask(const struct amn_model *m, const struct amn_words *questions, float *asked) {
    const struct gate *gate = &m->gate;
    size_t width = gate->width;
    if (!sound(gate, questions)) return BAD_INPUT;
    float *room = malloc((5 * width + LANES) * sizeof(float));
    if (!room) return NO_ROOM;
    for (size_t i = 0; i < (size_t)questions->count; i++, asked += 2 * width) {
        const float *last = last_state(gate, &gate->question, phrase_of(questions, i), room, room + 2 * width);
        project(width, width, last, gate->asked, asked);
        if (gate->names) project(width, width, last, gate->need_asked, asked + width);
    }
    free(room);
    return OK;
}

INLINE float logit_of(size_t width, const float *verdict, float bias, const float *heard, const float *asked) {
    float sum = 0;
    SIMD_SUM(sum)
    for (size_t i = 0; i < width; i++) sum += verdict[i] * tangent(heard[i] + asked[i]);
    return sum + bias;
}

/* Whether one of the words is a pronoun. */
static int has_pronoun(const struct gate *gate, struct phrase row) {
    for (id i = 0; i < row.length; i++)
        if (gate->refers[known(gate, row.words[i])] > 0) return 1;
    return 0;
}

/* Whether a logit is above the bar, which rises as less of a text is let in. */
INLINE int8_t passes(const struct gate *gate, int pronoun, float logit, int64_t seen, int64_t facts) {
    if (logit > (pronoun ? gate->pronoun_highest : gate->highest)) return 1;
    if (!(logit > gate->lowest)) return 0;
    float share = (float)(facts + STORY) / (float)(seen + STORY);
    return logit > gate->lowest - gate->slope * logf(share);
}

static int holds(struct phrase row, id word) {
    for (id i = 0; i < row.length; i++)
        if (row.words[i] == word) return 1;
    return 0;
}

/* Which names of a question a sentence holds: 1 for its first, and 2 more for any other. */
static size_t shared_names(const struct gate *gate, struct phrase question, struct phrase sentence) {
    id first = -1;
    size_t found = 0;
    for (id i = 0; i < question.length; i++) {
        id word = question.words[i];
        if ((size_t)word < gate->words && !(gate->names[word] > 0)) continue;
        if (first < 0) first = word;
        if (holds(sentence, word)) found |= word == first ? 1 : 2;
    }
    return found;
}

/* Whether a question needs a fact, of which C s was heard. */
static int8_t needs(const struct gate *gate, const float *heard, const float *asked, size_t shared, float *room) {
    size_t width = gate->width;
    memcpy(room, heard, width * sizeof(float));
    add(width, gate->need_shared + shared * width, room);
    return logit_of(width, gate->need_verdict, gate->need_bias, room, asked + width) > 0;
}

/* Judges one sentence for each question; `verdicts` are as far from each other as there are sentences. */
static void judge(const struct gate *gate, struct phrase sentence, struct amn_judging *judging, int8_t *verdicts,
                  size_t apart, float *room) {
    size_t width = gate->width, told = 0;
    float *heard = room + 5 * width, *wanted = heard + width;
    const float *last = last_state(gate, &gate->sentence, sentence, room, room + 2 * width), *asked = judging->asked;
    project(width, width, last, gate->heard, heard);
    add(width, gate->heard_bias, heard);
    int pronoun = has_pronoun(gate, sentence);
    for (size_t q = 0; q < (size_t)judging->questions->count; q++, asked += 2 * width) {
        float logit = logit_of(width, gate->verdict, gate->bias, heard, asked);
        int8_t let_in = passes(gate, pronoun, logit, judging->seen, judging->facts[q]);
        judging->facts[q] += let_in;
        if (let_in && gate->names && judging->follows) {
            if (!pronoun) {
                if (!told++) project(width, width, last, gate->need_heard, wanted);
                size_t shared = shared_names(gate, phrase_of(judging->questions, q), sentence);
                judging->follows[q] = needs(gate, wanted, asked, shared, wanted + width);
            }
            let_in = judging->follows[q];
        }
        verdicts[q * apart] = let_in;
    }
    judging->seen++;
}

/* Judges sentences in their order, for each question. */
int amn_gate_judge(const struct amn_model *m, const struct amn_words *sentences, struct amn_judging *judging) {
    const struct gate *gate = &m->gate;
    if (!sound(gate, sentences) || !sound(gate, judging->questions)) return BAD_INPUT;
    size_t count = (size_t)sentences->count;
    float *room = malloc((8 * gate->width + LANES) * sizeof(float));
    if (!room) return NO_ROOM;
    for (size_t i = 0; i < count; i++) judge(gate, phrase_of(sentences, i), judging, judging->verdicts + i, count, room);
    free(room);
    return OK;
}
