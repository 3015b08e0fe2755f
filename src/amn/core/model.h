/* A model's weights as the core reads them: inputs x outputs, so that a row times a weight runs along memory. */

#pragma once

#include "amn.h"

struct cell { /* a GRU without its input's weight; `bias` are the input's and, of the first two gates, the state's */
    float *bias, *state, *new_bias;
};

struct reader { /* a GRU over words, with what depends on a word alone computed ahead */
    float *gates, *first; /* of each vector: what it tells the gates, and the state after it where it comes first */
    const float *state, *new_bias;
};

struct gate { /* width: 0 where there is none; words: how many it knows */
    size_t width, words;
    struct reader sentence, question;
    float *heard, *heard_bias, *asked, *verdict, bias;
    float lowest, slope, highest, pronoun_highest, *refers;
    float *need_heard, *need_asked, *need_shared, *need_verdict, need_bias, *names; /* NULL where it cannot tell */
};

struct amn_model {
    size_t hidden, heads, vectors, anonymous, classes, items;
    id max_banks, pointer;
    float bank_gap, epsilon;
    struct cell update, propagate;
    struct reader word, question;
    float *word_input, *sentence_input, *message_input; /* what the update GRU hears, in two halves; and propagation */
    float *from_question, *from_question_bias;
    float *query, *key_value; /* query: over the root of a head's width; the heads of queries and keys alternate */
    float *edge_bias;         /* kinds x heads */
    float *of_state;          /* 4 x hidden: update, candidate, move, vote */
    float *of_question, update_bias, candidate_bias, move_bias;
    float update_previous, candidate_previous, likeness; /* likeness: what a question is scaled by for eq. (6) */
    float *move_question, *match;                        /* over the root of the width */
    float load, create_bias;
    float *summary, *summary_bias, *answer, *answer_bias, nothing, growth, slope;
    float *names, *name_bias; /* of each vector: what a summary is multiplied with for its score as an answer */
    struct cell next;         /* from one token of an answer to the next */
    float *next_gates;        /* what each class and then each vector tells it */
    id *class_vectors, item;  /* the vector that is spelled like each class, or -1; what stands between items */
    struct gate gate;
    void *all[96];            /* whatever is to be freed */
    size_t parts;
    int failed; /* whether there was no room for a part */
};
