/* What each sentence of many stories touches: `amn.data.graph.WordGraph` for padded stories, as `amn.data.views` has it. */

#include "word_graph.h"

struct stories {
    whole count, slots, sentences, words, asked; /* room for the slots, sentences, words, questions' words of each */
    const int16_t *told, *questions;             /* slots, then zeros */
    const whole *lengths;                        /* how many sentences each has */
};

struct views {
    whole room; /* for members */
    int16_t *members, *context;
    int8_t *edges;
};

struct desk {
    struct graph graph;
    int8_t *known;  /* which slots have been told of */
    whole *members; /* then context */
    int8_t *paths, *edges;
};

/* The distinct words of a sentence in their order, and then those that the questions name and that are known. */
static whole find_members(struct desk *desk, const int16_t *sentence, whole words, const int16_t *asked, whole most,
                          whole *spoken) {
    whole count = 0, *place = desk->graph.place;
    for (whole i = 0; i < words && sentence[i]; i++)
        if (!place[sentence[i]]) desk->members[count++] = sentence[i], place[sentence[i]] = count;
    *spoken = count;
    for (whole i = 0; i < most; i++)
        if (asked[i] && desk->known[asked[i]] && !place[asked[i]])
            desk->members[count++] = asked[i], place[asked[i]] = count;
    return count;
}

/* The edges among the words of a sentence: `amn.data.graph.path_kinds`. */
static void find_paths(const whole *place, const int16_t *sentence, whole words, whole spoken, int8_t *paths) {
    memset(paths, CURRENT, (size_t)(spoken * spoken));
    for (whole i = 1; i < words && sentence[i]; i++)
        paths[(place[sentence[i - 1]] - 1) * spoken + place[sentence[i]] - 1] = AFTER;
    for (whole i = 1; i < words && sentence[i]; i++)
        paths[(place[sentence[i]] - 1) * spoken + place[sentence[i - 1]] - 1] = BEFORE;
    for (whole i = 0; i < spoken; i++) paths[i * spoken + i] = SELF;
}

/* Writes down the view of one sentence, the context's edges after the room for members. */
static void write_view(const struct desk *desk, whole count, whole rows, const struct views *views, whole sentence) {
    whole room = views->room, wide = room + CONTEXT;
    for (whole i = 0; i < count; i++) {
        int8_t *edges = views->edges + (sentence * room + i) * wide;
        views->members[sentence * room + i] = (int16_t)desk->members[i];
        memcpy(edges, desk->edges + i * rows, (size_t)count);
        memcpy(edges + room, desk->edges + i * rows + count, (size_t)(rows - count));
    }
    for (whole i = count; i < rows; i++) views->context[sentence * CONTEXT + i - count] = (int16_t)desk->members[i];
}

/* Adds a sentence to the graph of its story and writes down its view, where that is wanted; gives its members. */
static whole tell(struct desk *desk, const struct stories *stories, const struct views *views, whole story,
                  whole sentence) {
    const int16_t *words = stories->told + sentence * stories->words;
    whole spoken, *place = desk->graph.place;
    whole count = find_members(desk, words, stories->words, stories->questions + story * stories->asked,
                               stories->asked, &spoken);
    whole rows = count;
    if (views->room) {
        find_paths(place, words, stories->words, spoken, desk->paths);
        rows += recent_outside(&desk->graph, desk->members, spoken, count, desk->members + count);
        find_edges(&desk->graph, desk->members, spoken, count, rows, desk->paths, desk->edges);
        remember(&desk->graph, desk->members, spoken);
        write_view(desk, count, rows, views, sentence);
    }
    for (whole i = 0; i < spoken; i++) desk->known[desk->members[i]] = 1;
    for (whole i = 0; i < rows; i++) place[desk->members[i]] = 0;
    return count;
}

/* Writes down the views of all sentences, where there is room for members; gives the most members, or -1 where there
 * is no memory. */
int amn_views(const struct stories *stories, const struct views *views) {
    size_t slots = (size_t)stories->slots, rows = (size_t)(stories->words + stories->asked + CONTEXT);
    struct desk desk = {{malloc(slots * RECENT * sizeof(whole)), malloc(slots), calloc(slots, sizeof(whole)),
                         malloc(rows * sizeof(whole))},
                        malloc(slots), malloc(rows * sizeof(whole)), malloc(rows * rows), malloc(rows * rows)};
    void *all[] = {desk.graph.neighbours, desk.graph.count, desk.graph.place, desk.graph.next,
                   desk.known,            desk.members,     desk.paths,       desk.edges};
    whole most = 0, parts = sizeof all / sizeof *all;
    for (whole i = 0; i < parts; i++)
        if (!all[i]) most = -1;
    for (whole story = 0; story < stories->count && most >= 0; story++) {
        memset(desk.known, 0, slots);
        memset(desk.graph.count, 0, slots);
        for (whole i = 0; i < stories->lengths[story]; i++) {
            whole members = tell(&desk, stories, views, story, story * stories->sentences + i);
            most = members > most ? members : most;
        }
    }
    for (whole i = 0; i < parts; i++) free(all[i]);
    return (int)most;
}
