/* Which words stand together: `amn.data.graph.WordGraph`, which judges this. */

#pragma once

#include "whole.h"

enum { RECENT = 16, CONTEXT = 8 }; /* as there */
enum { PAST = 1, CURRENT, BEFORE, AFTER, SELF, NUM_KINDS };

struct graph {
    whole *neighbours; /* RECENT of each entity, the latest first */
    int8_t *count;     /* how many these are */
    whole *place;      /* which row of the sentence each entity has, from 1; 0 where none */
    whole *next;       /* where each member of the sentence goes on to look for context */
};

/* The members' latest neighbours outside, each one's first before anyone's second; the named ask first. */
static whole recent_outside(struct graph *graph, const whole *members, whole spoken, whole count, whole *context) {
    whole found = 0, *next = graph->next;
    memset(next, 0, sizeof(whole) * (size_t)count);
    for (int more = 1; more && found < CONTEXT;) {
        more = 0;
        for (whole turn = 0; turn < count && found < CONTEXT; turn++) {
            whole asker = (spoken + turn) % count, entity = members[asker];
            const whole *met = graph->neighbours + entity * RECENT;
            whole end = graph->count[entity], at = next[asker];
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
static void find_edges(const struct graph *graph, const whole *members, whole spoken, whole count, whole rows,
                       const int8_t *paths, int8_t *edges) {
    memset(edges, 0, (size_t)(count * rows));
    for (whole member = 0; member < count; member++) {
        int8_t *edge = edges + member * rows;
        const whole *met = graph->neighbours + members[member] * RECENT;
        for (whole i = 0; i < graph->count[members[member]]; i++)
            if (graph->place[met[i]]) edge[graph->place[met[i]] - 1] = PAST;
        if (member < spoken)
            memcpy(edge, paths + member * spoken, (size_t)spoken);
        else
            edge[member] = SELF;
    }
}

/* Makes the words of a sentence each other's latest neighbours, the first of them the very latest. */
static void remember(struct graph *graph, const whole *members, whole spoken) {
    for (whole word = 0; word < spoken; word++) {
        whole *met = graph->neighbours + members[word] * RECENT, before[RECENT], found = 0;
        whole count = graph->count[members[word]];
        memcpy(before, met, sizeof before);
        for (whole other = 0; other < spoken && found < RECENT; other++)
            if (other != word) met[found++] = members[other];
        for (whole i = 0; i < count && found < RECENT; i++) {
            whole place = graph->place[before[i]];
            if (!(place > 0 && place <= spoken)) met[found++] = before[i];
        }
        graph->count[members[word]] = (int8_t)found;
    }
}
