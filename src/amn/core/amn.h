/* The boundary of the compiled core: what Python hands over and what it gets back.
 *
 * boundary.py declares the same structures; both sides compare their sizes when the library is loaded. Arrays belong to
 * whoever made them: the core copies the weights, and everything else is read during the call alone.
 *
 *     model    weights, laid out for reading; never changes, so any number of threads may share it
 *     memory   what is known of one story after some sentences
 *     desk     room to work, and what sentences told before come to; for one thread at a time
 */

#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int32_t id; /* numbers a word of a story (its slot), a vector, or an answer; slot 0 is nobody */

enum { OK = 0, NO_ROOM = -1, BAD_INPUT = -2 };
enum { SHARED = 4 }; /* which names of a question a sentence may hold: none, the first, others, both */

struct amn_layer { /* y = W x + b, as torch keeps it: outputs x inputs */
    id outputs, inputs;
    const float *weight, *bias; /* bias: NULL where there is none */
};

struct amn_gru {
    struct amn_layer input, state; /* gates: reset, update, new */
};

struct amn_gate { /* in front of the memory; its width is 0 where there is none */
    id width;
    const float *embedding; /* known words x width */
    struct amn_gru sentence, question;
    struct amn_layer heard, asked, verdict;
    float lowest, slope, highest; /* the bar that a sentence has to pass */
    const float *refers;          /* of each known word: 1 where it is a pronoun */
    struct amn_layer need_heard, need_asked, need_verdict; /* what a question needs; no weights where it cannot tell */
    const float *need_shared, *names; /* by the names that they share; of each known word: 1 where it is a name */
    float pronoun_highest; /* the highest bar of a sentence with a pronoun */
};

struct amn_weights {
    id hidden, heads, max_banks, vectors, anonymous; /* the last vectors are those of unknown words */
    id pointer;                                       /* whether answers may be words of the story */
    id items;                                         /* the most tokens of an answer; 1 for a single choice */
    float bank_gap, epsilon;
    const float *embedding; /* vectors x hidden */
    const float *edge_bias; /* kinds of edges x heads */
    struct amn_gru word, question, update, propagate;
    struct amn_layer from_question, query, key_value;
    struct amn_layer strength_state, strength_question, candidate_state; /* U_z, W_z, W_h */
    float strength_previous, reset, candidate_previous;                  /* X_z, U_r, U_h */
    struct amn_layer move_state, move_question, create;
    struct amn_layer match, summary, answer, point; /* point: no weight where the model cannot */
    float nothing, growth, slope;
    const float *classes; /* classes x hidden: what the next token hears of a class, where there are several */
    const id *class_vectors; /* the vector of the word that is spelled like each class; -1 where there is none */
    id item; /* the class that stands between the items of an answer */
    struct amn_gru next;
    struct amn_gate gate;
};

struct amn_words { /* some rows of words: row i is words[begin[i]] up to words[begin[i + 1]] */
    id met;            /* how many slots are new; they get the next numbers, */
    const id *vectors; /* and these vectors */
    id count;
    const id *begin, *words;
};

struct amn_judging { /* what a gate is asked, and its verdicts */
    const struct amn_words *questions;
    const float *asked;    /* questions x 2 x width: what `amn_gate_ask` made of them */
    int64_t seen, *facts;  /* how many sentences there were before, and how many were facts to each question: counted on */
    int8_t *follows;       /* of each question: whether the last fact was let in; NULL where facts are wanted, needed or not */
    int8_t *verdicts;      /* questions x sentences: 1 where a sentence is let in */
};

struct amn_change { /* what the last sentence did; the arrays live until the desk is used again */
    id count, members, banks, created;
    const id *slots; /* members first, then what a new bank took besides */
    const id *before, *after; /* the deepest bank that held each; -1 where none did */
    const float *strengths;
};

struct amn_count { /* of one memory */
    id slots, entities, banks, questions, read, names; /* read: by an answer, copies counted; names: words told */
    id pairs; /* of words told one after another; -1 where that is not known */
    int64_t bytes;
};

struct amn_tables { /* everything that a memory knows, to be saved and put back */
    id slots, banks, pair_count;
    double vote;
    float *states, *strengths, *relevance;
    id *depth, *order; /* order: the entities whose deepest bank is 0, then 1, ..., as they came */
    id *neighbours, *neighbour_counts, *last_anonymous;
    id *pairs; /* the vectors of words that were told one after another; NULL where these are not known */
};

struct amn_attention { /* how one question read: shares of a bank are mass / whole[bank] */
    id count;
    id *slots;
    float *mass;
    float *whole; /* of each bank; 0 where it was not read */
};

struct amn_stories { /* padded stories, for the word graph alone */
    id count, slots, sentences, words, asked;
    const int16_t *told, *questions;
    const int64_t *lengths;
};

struct amn_views {
    id room; /* for members; 0 where only their number is wanted */
    int16_t *members, *context;
    int8_t *edges;
};

struct amn_model;
struct amn_memory;
struct amn_desk;

void amn_sizes(int64_t *sizes);

struct amn_model *amn_model_new(const struct amn_weights *weights);
void amn_model_free(struct amn_model *model);

struct amn_desk *amn_desk_new(const struct amn_model *model, int64_t bytes);
void amn_desk_free(struct amn_desk *desk);

struct amn_memory *amn_memory_new(const struct amn_model *model);
void amn_memory_free(struct amn_memory *memory);

/* Words that a gate does not know are 1; those of the questions have numbers of their own, beyond all known ones. */
int amn_gate_ask(const struct amn_model *model, const struct amn_words *questions, float *asked);
int amn_gate_judge(const struct amn_model *model, const struct amn_words *sentences, struct amn_judging *judging);

int amn_ask(struct amn_memory *memory, struct amn_desk *desk, const struct amn_words *questions);
int amn_tell(struct amn_memory *memory, struct amn_desk *desk, const struct amn_words *sentences);
void amn_changed(const struct amn_desk *desk, struct amn_change *change);
void amn_counted(const struct amn_memory *memory, id banks, struct amn_count *count);
int amn_decode(struct amn_memory *const *memories, id count, struct amn_desk *desk, id banks, float *const *logits,
               id *const *tokens);
void amn_names(const struct amn_memory *memory, id *slots);
int amn_attend(const struct amn_memory *memory, struct amn_desk *desk, id banks, id question,
               struct amn_attention *found);
void amn_bank(const struct amn_memory *memory, id bank, id *slots);
void amn_of(const struct amn_memory *memory, id count, const id *slots, float *strengths, float *relevance);
void amn_save(const struct amn_memory *memory, struct amn_tables *into);
int amn_restore(struct amn_memory *memory, const struct amn_tables *from);

int amn_views(const struct amn_stories *stories, const struct amn_views *views);
