/* A desk: room to read a sentence, and what sentences come to before any memory hears them. */

#include "arithmetic.h"
#include "memory.h"

/* Divides a block of room into parts; counts what they take where there is no block yet. */
static void *take(char *block, size_t *used, size_t size) {
    void *here = block ? block + *used : NULL;
    *used += (size + 63) / 64 * 64;
    return here;
}

static size_t furnish(struct amn_desk *desk, size_t rows, char *block) {
    size_t used = 0, wide = sizeof(float) * desk->model->hidden, ids = rows * sizeof(id);
    desk->members = take(block, &used, ids);
    desk->places = take(block, &used, ids);
    desk->next = take(block, &used, ids);
    desk->todo = take(block, &used, ids);
    desk->vectors = take(block, &used, ids);
    desk->row = take(block, &used, rows * sizeof(struct row));
    desk->from = take(block, &used, rows * sizeof(float *));
    desk->near = take(block, &used, rows * sizeof(float *));
    desk->into = take(block, &used, rows * sizeof(float *));
    desk->room = take(block, &used, rows * WIDTHS * wide);
    desk->normed = take(block, &used, rows * wide);
    desk->messages = take(block, &used, rows * wide);
    desk->inputs = take(block, &used, rows * 3 * wide);
    desk->outputs = take(block, &used, rows * wide);
    desk->scores = take(block, &used, sizeof(float) * (rows * desk->model->heads + LANES));
    desk->edges = take(block, &used, rows * rows);
    desk->kinds = take(block, &used, rows);
    struct verdicts *of = &desk->verdicts;
    float **parts[] = {&of->update,   &of->candidate, &of->move,     &of->vote,
                       &of->previous, &of->likeness,  &of->strength, &of->asked_for};
    of->state = take(block, &used, rows * sizeof(float *));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) *parts[i] = take(block, &used, padded(rows) * sizeof(float));
    return used;
}

/* Room for a sentence that touches so many rows. */
int reserve(struct amn_desk *desk, size_t rows) {
    if (rows <= desk->rows) return OK;
    rows = rows < 64 ? 64 : rows;
    char *block = aligned_zeros(furnish(desk, rows, NULL));
    if (!block) {
        furnish(desk, desk->rows, (char *)desk->block);
        return NO_ROOM;
    }
    free(desk->block);
    desk->block = (float *)(void *)block;
    desk->rows = rows;
    furnish(desk, rows, block);
    return OK;
}

struct amn_desk *amn_desk_new(const struct amn_model *model, int64_t bytes) {
    struct amn_desk *desk = calloc(1, sizeof *desk);
    if (!desk) return NULL;
    desk->model = model;
    desk->most_bytes = (size_t)bytes;
    desk->heard_values = aligned_zeros(HEARD * 2 * model->hidden * sizeof(float));
    if (desk->heard_values && reserve(desk, 1) == OK) return desk;
    amn_desk_free(desk);
    return NULL;
}

static void forget_tellings(struct amn_desk *desk) {
    for (size_t i = 0; i < TELLINGS; i++) free(desk->tellings[i]);
    memset(desk->tellings, 0, sizeof desk->tellings);
    desk->bytes = 0;
}

void amn_desk_free(struct amn_desk *desk) {
    if (!desk) return;
    forget_tellings(desk);
    void *all[] = {desk->block, desk->heard_values, desk->changed, desk->before, desk->after, desk->changed_strengths,
                   desk->reads, desk->decoded, desk->masses};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    free(desk);
}

/* Eq. (2), eq. (4): the GRU over the words of a sentence or question from zero; gives a state for each word. */
void run(const struct reader *reader, size_t hidden, const id *vectors, id length, float *parts, float *out) {
    if (length) memcpy(out, reader->first + (size_t)vectors[0] * hidden, hidden * sizeof(float));
    for (size_t i = 1; i < (size_t)length; i++) {
        const float *state = out + (i - 1) * hidden;
        project(hidden, 3 * hidden, state, reader->state, parts);
        gated(hidden, reader->gates + (size_t)vectors[i] * 3 * hidden, parts, reader->new_bias, state, out + i * hidden);
    }
}

/* Eq. (3): the sum of a word's outputs over the places where it stands, the words in their order; in place. */
static void accumulate(size_t hidden, const id *places, id length, float *outputs) {
    id spoken = 0;
    for (id i = 0; i < length; i++) {
        float *own = outputs + (size_t)places[i] * hidden, *here = outputs + (size_t)i * hidden;
        if (places[i] < spoken)
            add(hidden, here, own);
        else if (own != here)
            memcpy(own, here, hidden * sizeof(float));
        spoken = places[i] < spoken ? spoken : places[i] + 1;
    }
}

/* What the words of a sentence and the whole of it tell the update GRU: its part of eq. (13). */
static void encode(const struct amn_model *m, struct amn_desk *desk, struct telling *telling) {
    size_t hidden = m->hidden, spoken = (size_t)telling->spoken;
    float *whole = desk->inputs, *outputs = desk->outputs;
    run(&m->word, hidden, telling->vectors, telling->length, desk->inputs, outputs);
    if (!telling->length) return;
    normalise(hidden, m->epsilon, outputs + (size_t)(telling->length - 1) * hidden, desk->normed);
    accumulate(hidden, telling->places, telling->length, outputs);
    project(hidden, 3 * hidden, desk->normed, m->sentence_input, whole);
    add(3 * hidden, m->update.bias, whole);
    for (size_t i = 0; i < spoken; i++) {
        normalise(hidden, m->epsilon, outputs + i * hidden, desk->normed + i * hidden);
        desk->from[i] = desk->normed + i * hidden;
        desk->into[i] = telling->gates + i * 3 * hidden;
    }
    product(spoken, hidden, 3 * hidden, desk->from, m->word_input, desk->into);
    for (size_t i = 0; i < spoken; i++) add(3 * hidden, whole, telling->gates + i * 3 * hidden);
}

static uint64_t hash_of(const id *vectors, const id *places, id length) {
    uint64_t hash = 0x9E3779B97F4A7C15u;
    for (id i = 0; i < length; i++) {
        hash ^= (uint64_t)(uint32_t)vectors[i] << 32 | (uint32_t)places[i];
        hash *= 0xBF58476D1CE4E5B9u;
        hash ^= hash >> 29;
    }
    return hash;
}

static struct telling *new_telling(struct amn_desk *desk, id length, id spoken) {
    size_t hidden = desk->model->hidden, words = (size_t)length, distinct = (size_t)spoken, used = 0;
    struct telling *telling = NULL, sizes;
    for (int turn = 0; turn < 2; turn++) {
        char *block = (char *)telling;
        struct telling *into = telling ? telling : &sizes;
        used = 0;
        take(block, &used, sizeof *telling);
        into->vectors = take(block, &used, words * sizeof(id));
        into->places = take(block, &used, words * sizeof(id));
        into->paths = take(block, &used, distinct * distinct);
        into->known = take(block, &used, distinct);
        into->gates = take(block, &used, distinct * 3 * hidden * sizeof(float));
        into->newcomers = take(block, &used, distinct * WIDTHS * hidden * sizeof(float));
        if (!telling) telling = aligned_zeros(used);
        if (!telling) return NULL;
    }
    if (desk->bytes + used > desk->most_bytes) forget_tellings(desk);
    desk->bytes += telling->bytes = used;
    telling->length = length;
    telling->spoken = spoken;
    return telling;
}

/* What a sentence comes to; kept for when it is told again, to this memory or another. */
const struct telling *told_of(struct amn_desk *desk, id length, id spoken) {
    uint64_t hash = hash_of(desk->vectors, desk->places, length);
    struct telling **place = desk->tellings + hash % TELLINGS, *found = *place;
    size_t size = (size_t)length * sizeof(id);
    if (found && found->hash == hash && found->length == length && !memcmp(found->vectors, desk->vectors, size) &&
        !memcmp(found->places, desk->places, size))
        return found;
    struct telling *telling = new_telling(desk, length, spoken);
    if (!telling) return NULL;
    telling->hash = hash;
    memcpy(telling->vectors, desk->vectors, size);
    memcpy(telling->places, desk->places, size);
    find_paths(telling->places, length, spoken, telling->paths);
    encode(desk->model, desk, telling);
    if (*place) desk->bytes -= (*place)->bytes;
    free(*place);
    return *place = telling;
}
