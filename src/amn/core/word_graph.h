/* Which words stand together, at a cost that does not grow with the story: `amn.data.graph.WordGraph` judges this. */

#pragma once

#include "amn.h"

enum { RECENT = 16, CONTEXT = 8 }; /* as there */
enum { PAST = 1, CURRENT, BEFORE, AFTER, SELF, NUM_KINDS };

struct graph {
    id *neighbours; /* RECENT of each word, the latest first */
    id *count;      /* how many these are */
    id *place;      /* which row of the sentence at hand each word has, from 1; 0 where none */
};

/* The members' latest neighbours outside, each one's first before anyone's second; the named ask first.
 *
 * `next` is room for one number a member: where it goes on to look.
 */
static inline id recent_outside(struct graph *graph, const id *members, id spoken, id count, id *context, id *next) {
    id found = 0;
    memset(next, 0, sizeof(id) * (size_t)count);
    for (int more = 1; more && found < CONTEXT;) {
        more = 0;
        for (id turn = 0; turn < count && found < CONTEXT; turn++) {
            id asker = spoken + turn < count ? spoken + turn : spoken + turn - count, word = members[asker];
            const id *met = graph->neighbours + (size_t)word * RECENT;
            id end = graph->count[word], at = next[asker];
            while (at < end && graph->place[met[at]] > 0 && graph->place[met[at]] <= count) at++;
            next[asker] = at + 1;
            if (at >= end) continue;
            more = 1;
            if (graph->place[met[at]]) continue;
            context[found] = met[at];
            graph->place[met[at]] = count + ++found;
        }
    }
    return found;
}

/* The kinds of the edges from each member to each row; `paths` are those among the words. */
static inline void find_edges(const struct graph *graph, const id *members, id spoken, id count, id rows, const int8_t *paths,
                       int8_t *edges) {
    memset(edges, 0, (size_t)count * (size_t)rows);
    for (id member = 0; member < count; member++) {
        int8_t *edge = edges + (size_t)member * (size_t)rows;
        const id *met = graph->neighbours + (size_t)members[member] * RECENT;
        for (id i = 0; i < graph->count[members[member]]; i++)
            if (graph->place[met[i]]) edge[graph->place[met[i]] - 1] = PAST;
        if (member < spoken)
            memcpy(edge, paths + (size_t)member * (size_t)spoken, (size_t)spoken);
        else
            edge[member] = SELF;
    }
}

/* The edges among the words of a sentence; `places` says which of its distinct words each is. */
static inline void find_paths(const id *places, id words, id spoken, int8_t *paths) {
    memset(paths, CURRENT, (size_t)spoken * (size_t)spoken);
    for (id i = 1; i < words; i++) paths[(size_t)places[i - 1] * (size_t)spoken + (size_t)places[i]] = AFTER;
    for (id i = 1; i < words; i++) paths[(size_t)places[i] * (size_t)spoken + (size_t)places[i - 1]] = BEFORE;
    for (id i = 0; i < spoken; i++) paths[(size_t)i * (size_t)spoken + (size_t)i] = SELF;
}

/* The distinct words of a sentence in their order. Marks their places, and says which of them each word is. */
static inline id find_spoken(struct graph *graph, const id *sentence, id words, id *members, id *places) {
    id spoken = 0;
    for (id i = 0; i < words; i++) {
        if (!graph->place[sentence[i]]) members[spoken++] = sentence[i], graph->place[sentence[i]] = spoken;
        places[i] = graph->place[sentence[i]] - 1;
    }
    return spoken;
}

/* Makes the words of a sentence each other's latest neighbours, the first of them the very latest. */
static inline void remember(struct graph *graph, const id *members, id spoken) {
    for (id word = 0; word < spoken; word++) {
        id *met = graph->neighbours + (size_t)members[word] * RECENT, before[RECENT], found = 0;
        id count = graph->count[members[word]];
        memcpy(before, met, sizeof before);
        for (id other = 0; other < spoken && found < RECENT; other++)
            if (other != word) met[found++] = members[other];
        for (id i = 0; i < count && found < RECENT; i++) {
            id place = graph->place[before[i]];
            met[found] = before[i];
            found += place <= 0 || place > spoken;
        }
        graph->count[members[word]] = found;
    }
}

static inline void forget_places(struct graph *graph, const id *rows, id count) {
    for (id i = 0; i < count; i++) graph->place[rows[i]] = 0;
}
