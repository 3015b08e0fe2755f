/* What each sentence of many padded stories touches: `amn.data.views` wants it for batches of the torch model. */

#include "word_graph.h"

struct room { /* for one sentence */
    struct graph graph;
    int8_t *known;                         /* which slots have been told of */
    id *sentence, *places, *members, *next; /* members: then context */
    int8_t *paths, *edges;
};

/* The words of a sentence up to its padding. */
static id read_words(const int16_t *padded, id most, id *words) {
    id count = 0;
    for (; count < most && padded[count]; count++) words[count] = padded[count];
    return count;
}

/* Members besides the words: those that the questions name and that are known. */
static id add_named(struct room *room, const int16_t *asked, id most, id count) {
    for (id i = 0; i < most; i++)
        if (asked[i] && room->known[asked[i]] && !room->graph.place[asked[i]])
            room->members[count++] = asked[i], room->graph.place[asked[i]] = count;
    return count;
}

/* Writes down the view of one sentence, the context's edges after the room for members. */
static void write_view(const struct room *room, id count, id rows, const struct amn_views *views, size_t sentence) {
    size_t members = (size_t)views->room, wide = members + CONTEXT;
    for (id i = 0; i < count; i++) {
        int8_t *edges = views->edges + (sentence * members + (size_t)i) * wide;
        views->members[sentence * members + (size_t)i] = (int16_t)room->members[i];
        memcpy(edges, room->edges + (size_t)i * (size_t)rows, (size_t)count);
        memcpy(edges + members, room->edges + (size_t)i * (size_t)rows + count, (size_t)(rows - count));
    }
    for (id i = count; i < rows; i++)
        views->context[sentence * CONTEXT + (size_t)(i - count)] = (int16_t)room->members[i];
}

/* Adds a sentence to the graph of its story and writes down its view, where that is wanted; gives its members. */
static id view(struct room *room, const struct amn_stories *stories, const struct amn_views *views, size_t story,
               size_t sentence) {
    struct graph *graph = &room->graph;
    id words = read_words(stories->told + sentence * (size_t)stories->words, stories->words, room->sentence);
    id spoken = find_spoken(graph, room->sentence, words, room->members, room->places);
    id count = add_named(room, stories->questions + story * (size_t)stories->asked, stories->asked, spoken);
    id rows = count;
    if (views->room) {
        find_paths(room->places, words, spoken, room->paths);
        rows += recent_outside(graph, room->members, spoken, count, room->members + count, room->next);
        find_edges(graph, room->members, spoken, count, rows, room->paths, room->edges);
        remember(graph, room->members, spoken);
        write_view(room, count, rows, views, sentence);
    }
    for (id i = 0; i < spoken; i++) room->known[room->members[i]] = 1;
    forget_places(graph, room->members, rows);
    return count;
}

/* Writes down the views of all sentences, where there is room for members; gives the most members, or NO_ROOM. */
int amn_views(const struct amn_stories *stories, const struct amn_views *views) {
    size_t slots = (size_t)stories->slots, rows = (size_t)stories->words + (size_t)stories->asked + CONTEXT;
    struct room room = {
        {malloc(slots * RECENT * sizeof(id)), malloc(slots * sizeof(id)), calloc(slots, sizeof(id))},
        malloc(slots), malloc(rows * sizeof(id)), malloc(rows * sizeof(id)), malloc(rows * sizeof(id)),
        malloc(rows * sizeof(id)), malloc(rows * rows), malloc(rows * rows)};
    void *all[] = {room.graph.neighbours, room.graph.count, room.graph.place, room.known, room.sentence,
                   room.places,           room.members,     room.next,        room.paths, room.edges};
    size_t parts = sizeof all / sizeof *all;
    id most = 0;
    for (size_t i = 0; i < parts; i++)
        if (!all[i]) most = NO_ROOM;
    for (size_t story = 0; story < (size_t)stories->count && most >= 0; story++) {
        memset(room.known, 0, slots);
        memset(room.graph.count, 0, slots * sizeof(id));
        for (size_t i = 0; i < (size_t)stories->lengths[story]; i++) {
            id members = view(&room, stories, views, story, story * (size_t)stories->sentences + i);
            most = members > most ? members : most;
        }
    }
    for (size_t i = 0; i < parts; i++) free(all[i]);
    return most;
}
