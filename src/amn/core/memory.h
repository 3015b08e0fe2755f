/* A memory and a desk, inside. */

#pragma once

#include "model.h"
#include "word_graph.h"

enum { ABSENT = -1 }; /* the depth of what no sentence has told yet */

struct mark { /* of one entity, besides its state */
    float strength, relevance, vote; /* vote: what its state adds to the decision to create a bank */
    id depth;                        /* the deepest bank that holds it: banks are nested, so all before hold it too */
    id before, after;                /* its neighbours in the list of its deepest bank; 0 where there is none */
    id changed;                      /* the sentence that changed it last */
};

struct level { /* the entities whose deepest bank is this one, in the order in which they came */
    id first, last, count;
};

struct asked { /* one question, encoded; parts of the same block of numbers */
    const float *question, *likeness, *move, *match;
    float update;
};

struct amn_memory {
    const struct amn_model *model;
    uint64_t serial; /* no two memories of a process have the same */
    id slots, capacity, entities, banks, sentences;
    double vote; /* the sum of the last bank's votes */
    float *states;
    struct mark *marks;
    id *vectors; /* of each slot */
    struct graph graph;
    struct level *levels;
    struct asked *asked;
    float *asked_numbers;
    id questions, *named, named_count; /* whom the questions name */
    int8_t *is_named;
    id *told, told_count, told_capacity; /* known words that were told */
    id *last_anonymous;                  /* of the vectors of unknown words: the word that was told last; 0 for none */
    uint64_t *pairs; /* which word was told right after which, by their vectors: a hash set, 0 where it is empty */
    id pair_count, pair_capacity; /* a count of -1 where no answer needs them, or where they are not known */
};

struct telling { /* what a sentence comes to before any memory hears it */
    uint64_t hash;
    size_t bytes;
    id length, spoken;
    id *vectors, *places; /* of each word; which of the distinct words it is */
    int8_t *paths, *known;
    float *gates;     /* of each distinct word: what it tells the update GRU */
    float *newcomers; /* what becomes of it where it is new, where that is known */
};

/* What is computed of a member, in widths: its state after its update, its query, key and value, U h for eq. (15). */
enum { UPDATED = 0, QUERY = 1, KEY_VALUE = 2, PARTS = 4, WIDTHS = 7 };

struct row {
    id slot;
    float *own;         /* what is computed of it */
    const float *state; /* before eq. (15) */
    const float *key_value;
};

struct verdicts { /* of each member after its state has changed */
    const float **state;
    float *update, *candidate, *move, *vote; /* products with its state, for eqs. (5), (7) and (9) */
    float *previous, *likeness, *strength, *asked_for;
};

enum { HEARD = 512, TELLINGS = 4096 };

struct heard { /* whose key and value are kept, as of which sentence */
    uint64_t serial;
    id slot, changed;
};

struct amn_desk {
    const struct amn_model *model;
    size_t rows; /* how many rows of a sentence there is room for */
    id *members, *places, *next, *todo, *vectors; /* members: then context */
    struct row *row;
    const float **from, **near;
    float **into, *room, *normed, *messages, *inputs, *scores, *outputs;
    int8_t *edges, *kinds;
    struct verdicts verdicts;
    struct heard heard[HEARD];
    float *heard_values;
    struct telling *tellings[TELLINGS];
    size_t bytes, most_bytes; /* that tellings take */
    struct amn_change change;
    id *changed, *before, *after, changed_capacity;
    float *changed_strengths;
    float *block; /* of what depends on `rows` */
    float *reads, *decoded, *masses; /* for answers */
    size_t reads_capacity, masses_capacity;
};

/* The most general bank that is read. */
static inline id first_read(const struct amn_memory *memory, id banks) {
    return banks > 0 && banks < memory->banks ? memory->banks - banks : 0;
}

void place(struct amn_memory *memory, id slot, id depth);
int make_room(struct amn_memory *memory, id more);
int reserve(struct amn_desk *desk, size_t rows);
void run(const struct reader *reader, size_t hidden, const id *vectors, id length, float *parts, float *out);
void settle(struct amn_memory *memory, struct amn_desk *desk, size_t count);
const struct telling *told_of(struct amn_desk *desk, id length, id spoken);
size_t names_told(const struct amn_memory *memory);
int note_told(struct amn_memory *memory, id slot);
int note_pair(struct amn_memory *memory, id before, id after);
int is_pair(const struct amn_memory *memory, id before, id after);
int add_words(struct amn_memory *memory, const struct amn_words *words);
