/* What memories hold: their tables, banks and lists, how they grow, and how they are saved and put back. */

#include "memory.h"

#include "arithmetic.h"

static uint64_t memories; /* made so far */

void amn_sizes(int64_t *sizes) {
    int64_t known[] = {sizeof(struct amn_layer),   sizeof(struct amn_gru),       sizeof(struct amn_gate),
                       sizeof(struct amn_weights), sizeof(struct amn_words),     sizeof(struct amn_judging),
                       sizeof(struct amn_change),  sizeof(struct amn_count),     sizeof(struct amn_tables),
                       sizeof(struct amn_attention), sizeof(struct amn_stories), sizeof(struct amn_views)};
    memcpy(sizes, known, sizeof known);
}

/* A table with room for more rows, the new ones zero; the old table stays where there is none. */
static int enlarge(void *table, size_t row, size_t from, size_t to) {
    char **held = table, *made = realloc(*held, to * row);
    if (!made) return NO_ROOM;
    memset(made + from * row, 0, (to - from) * row);
    *held = made;
    return OK;
}

/* Room for some slots more. */
int make_room(struct amn_memory *memory, id more) {
    size_t from = (size_t)memory->capacity, needed = (size_t)memory->slots + (size_t)more, to = from ? from : 32;
    if (needed <= from) return OK;
    if (needed > INT32_MAX / 2) return NO_ROOM;
    while (to < needed) to *= 2;
    if (enlarge(&memory->states, memory->model->hidden * sizeof(float), from, to) ||
        enlarge(&memory->marks, sizeof(struct mark), from, to) || enlarge(&memory->vectors, sizeof(id), from, to) ||
        enlarge(&memory->graph.neighbours, RECENT * sizeof(id), from, to) ||
        enlarge(&memory->graph.count, sizeof(id), from, to) || enlarge(&memory->graph.place, sizeof(id), from, to) ||
        enlarge(&memory->is_named, 1, from, to))
        return NO_ROOM;
    for (size_t slot = from; slot < to; slot++) memory->marks[slot].depth = ABSENT;
    memory->capacity = (id)to;
    return OK;
}

struct amn_memory *amn_memory_new(const struct amn_model *model) {
    struct amn_memory *memory = calloc(1, sizeof *memory);
    if (!memory) return NULL;
    memory->model = model;
    memory->serial = __atomic_add_fetch(&memories, 1, __ATOMIC_RELAXED);
    memory->banks = 1;
    memory->pair_count = model->items > 1 ? 0 : -1;
    memory->levels = calloc((size_t)model->max_banks + 1, sizeof(struct level));
    memory->last_anonymous = calloc(model->anonymous + 1, sizeof(id));
    if (memory->levels && memory->last_anonymous && make_room(memory, 1) == OK) {
        memory->slots = 1; /* nobody */
        return memory;
    }
    amn_memory_free(memory);
    return NULL;
}

void amn_memory_free(struct amn_memory *memory) {
    if (!memory) return;
    void *all[] = {memory->states,      memory->marks,  memory->vectors, memory->graph.neighbours, memory->graph.count,
                   memory->graph.place, memory->levels, memory->asked,   memory->asked_numbers,    memory->named,
                   memory->is_named,    memory->told,   memory->last_anonymous, memory->pairs};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    free(memory);
}

/* Gives new words their slots, and checks that all words have one. */
int add_words(struct amn_memory *memory, const struct amn_words *words) {
    if (words->met < 0 || words->count < 0) return BAD_INPUT;
    if (make_room(memory, words->met)) return NO_ROOM;
    for (id i = 0; i < words->met; i++)
        if (words->vectors[i] < 0 || (size_t)words->vectors[i] >= memory->model->vectors) return BAD_INPUT;
    for (id i = 0; i < words->met; i++) memory->vectors[memory->slots++] = words->vectors[i];
    for (id i = 0; i < words->count; i++) {
        if (words->begin[i] < 0 || words->begin[i + 1] < words->begin[i]) return BAD_INPUT;
        for (id at = words->begin[i]; at < words->begin[i + 1]; at++)
            if (words->words[at] <= 0 || words->words[at] >= memory->slots) return BAD_INPUT;
    }
    return OK;
}

/* Takes an entity to a deeper bank, or into the memory. */
void place(struct amn_memory *memory, id slot, id depth) {
    struct mark *mark = memory->marks + slot;
    if (mark->depth == ABSENT) {
        memory->entities++;
    } else {
        struct level *old = memory->levels + mark->depth;
        *(mark->before ? &memory->marks[mark->before].after : &old->first) = mark->after;
        *(mark->after ? &memory->marks[mark->after].before : &old->last) = mark->before;
        old->count--;
    }
    struct level *level = memory->levels + depth;
    mark->depth = depth;
    mark->before = level->last;
    mark->after = 0;
    *(level->last ? &memory->marks[level->last].after : &level->first) = slot;
    level->last = slot;
    level->count++;
}

/* Notes that a word was told, which makes it a possible answer; of unknown ones that share a vector, the last is. */
int note_told(struct amn_memory *memory, id slot) {
    const struct amn_model *m = memory->model;
    size_t known = m->vectors - m->anonymous, vector = (size_t)memory->vectors[slot];
    if (!m->pointer) return OK;
    if (vector >= known) {
        memory->last_anonymous[vector - known] = slot;
        return OK;
    }
    if (memory->marks[slot].depth != ABSENT) return OK;
    if (memory->told_count == memory->told_capacity) {
        id more = memory->told_capacity ? 2 * memory->told_capacity : 32;
        if (enlarge(&memory->told, sizeof(id), (size_t)memory->told_capacity, (size_t)more)) return NO_ROOM;
        memory->told_capacity = more;
    }
    memory->told[memory->told_count++] = slot;
    return OK;
}

/* Where a pair is in a hash set that has room, or would be. */
static uint64_t *find_pair(uint64_t *pairs, id capacity, uint64_t key) {
    size_t last = (size_t)capacity - 1, at = (size_t)(key * 0x9E3779B97F4A7C15u >> 32) & last;
    while (pairs[at] && pairs[at] != key) at = (at + 1) & last;
    return pairs + at;
}

static uint64_t key_of(id before, id after) { return ((uint64_t)before << 32 | (uint64_t)after) + 1; }

/* Whether a word was told right after another, by their vectors. */
int is_pair(const struct amn_memory *memory, id before, id after) {
    return memory->pair_count > 0 && *find_pair(memory->pairs, memory->pair_capacity, key_of(before, after));
}

/* Notes that a word was told right after another: the name of one thing may hold both. */
int note_pair(struct amn_memory *memory, id before, id after) {
    if (memory->pair_count < 0 || is_pair(memory, before, after)) return OK;
    if (2 * memory->pair_count >= memory->pair_capacity) {
        id more = memory->pair_capacity ? 2 * memory->pair_capacity : 64;
        uint64_t *pairs = more <= INT32_MAX / 4 ? calloc((size_t)more, sizeof *pairs) : NULL;
        if (!pairs) return NO_ROOM;
        for (id i = 0; i < memory->pair_capacity; i++)
            if (memory->pairs[i]) *find_pair(pairs, more, memory->pairs[i]) = memory->pairs[i];
        free(memory->pairs);
        memory->pairs = pairs;
        memory->pair_capacity = more;
    }
    *find_pair(memory->pairs, memory->pair_capacity, key_of(before, after)) = key_of(before, after);
    memory->pair_count++;
    return OK;
}

void amn_counted(const struct amn_memory *memory, id banks, struct amn_count *count) {
    size_t numbers = memory->model->hidden * sizeof(float), ids = (RECENT + 3) * sizeof(id);
    *count = (struct amn_count){memory->slots, memory->entities, memory->banks, memory->questions, 0,
                                (id)names_told(memory), memory->pair_count, 0};
    count->bytes = (int64_t)((size_t)memory->capacity * (numbers + sizeof(struct mark) + ids + 1) +
                             (size_t)memory->pair_capacity * sizeof(uint64_t));
    for (id first = first_read(memory, banks), depth = first; depth < memory->banks; depth++)
        count->read += memory->levels[depth].count * (depth - first + 1);
}

/* How many words may be answers. */
size_t names_told(const struct amn_memory *memory) {
    size_t count = (size_t)memory->told_count;
    for (size_t i = 0; i < memory->model->anonymous; i++) count += memory->last_anonymous[i] > 0;
    return count;
}

void amn_names(const struct amn_memory *memory, id *slots) {
    for (id i = 0; i < memory->told_count; i++) *slots++ = memory->told[i];
    for (size_t i = 0; i < memory->model->anonymous; i++)
        if (memory->last_anonymous[i]) *slots++ = memory->last_anonymous[i];
}

void amn_bank(const struct amn_memory *memory, id bank, id *slots) {
    for (id depth = bank; depth < memory->banks; depth++)
        for (id slot = memory->levels[depth].first; slot; slot = memory->marks[slot].after) *slots++ = slot;
}

void amn_of(const struct amn_memory *memory, id count, const id *slots, float *strengths, float *relevance) {
    for (id i = 0; i < count; i++) {
        strengths[i] = memory->marks[slots[i]].strength;
        relevance[i] = memory->marks[slots[i]].relevance;
    }
}

void amn_save(const struct amn_memory *memory, struct amn_tables *into) {
    size_t slots = (size_t)memory->slots;
    into->banks = memory->banks;
    into->vote = memory->vote;
    memcpy(into->states, memory->states, slots * memory->model->hidden * sizeof(float));
    memcpy(into->neighbours, memory->graph.neighbours, slots * RECENT * sizeof(id));
    memcpy(into->neighbour_counts, memory->graph.count, slots * sizeof(id));
    memcpy(into->last_anonymous, memory->last_anonymous, memory->model->anonymous * sizeof(id));
    for (size_t slot = 0; slot < slots; slot++) {
        into->strengths[slot] = memory->marks[slot].strength;
        into->relevance[slot] = memory->marks[slot].relevance;
        into->depth[slot] = memory->marks[slot].depth;
    }
    amn_bank(memory, 0, into->order);
    id *pair = into->pairs;
    for (id i = 0; i < memory->pair_capacity && pair; i++) {
        if (!memory->pairs[i]) continue;
        *pair++ = (id)((memory->pairs[i] - 1) >> 32);
        *pair++ = (id)(uint32_t)(memory->pairs[i] - 1);
    }
}

/* Whether tables could be those of a memory with these slots. */
static int plausible(const struct amn_memory *memory, const struct amn_tables *from) {
    if (from->slots != memory->slots || from->banks < 1 || from->banks > memory->model->max_banks) return 0;
    id entities = 0;
    for (id slot = 0; slot < from->slots; slot++) {
        if (from->depth[slot] < ABSENT || from->depth[slot] >= from->banks || (!slot && from->depth[slot] != ABSENT))
            return 0;
        if (from->neighbour_counts[slot] < 0 || from->neighbour_counts[slot] > RECENT) return 0;
        for (id i = 0; i < from->neighbour_counts[slot]; i++) {
            id other = from->neighbours[(size_t)slot * RECENT + (size_t)i];
            if (other <= 0 || other >= from->slots) return 0;
        }
        entities += from->depth[slot] != ABSENT;
    }
    for (size_t i = 0; i < memory->model->anonymous; i++)
        if (from->last_anonymous[i] < 0 || from->last_anonymous[i] >= from->slots) return 0;
    for (id i = 0; i < 2 * from->pair_count && from->pairs; i++)
        if (from->pairs[i] < 0 || (size_t)from->pairs[i] >= memory->model->vectors) return 0;
    for (id i = 0; i < entities; i++)
        if (from->order[i] <= 0 || from->order[i] >= from->slots || from->depth[from->order[i]] == ABSENT) return 0;
    return 1;
}

/* Puts back what `amn_save` gave, into a new memory that has met the same words. */
int amn_restore(struct amn_memory *memory, const struct amn_tables *from) {
    if (!plausible(memory, from) || memory->entities) return BAD_INPUT;
    size_t slots = (size_t)memory->slots, hidden = memory->model->hidden;
    memory->banks = from->banks;
    memory->vote = from->vote;
    memcpy(memory->states, from->states, slots * hidden * sizeof(float));
    memcpy(memory->graph.neighbours, from->neighbours, slots * RECENT * sizeof(id));
    memcpy(memory->graph.count, from->neighbour_counts, slots * sizeof(id));
    for (id slot = 1; slot < memory->slots; slot++)
        if (from->depth[slot] != ABSENT && note_told(memory, slot)) return NO_ROOM;
    memcpy(memory->last_anonymous, from->last_anonymous, memory->model->anonymous * sizeof(id));
    if (!from->pairs) memory->pair_count = -1;
    for (id i = 0; i < from->pair_count && from->pairs; i++)
        if (note_pair(memory, from->pairs[2 * i], from->pairs[2 * i + 1])) return NO_ROOM;
    for (size_t slot = 1; slot < slots; slot++) {
        struct mark *mark = memory->marks + slot;
        mark->strength = from->strengths[slot];
        mark->relevance = from->relevance[slot];
        mark->vote = dot(hidden, memory->states + slot * hidden, memory->model->of_state + 3 * hidden);
    }
    id entities = 0;
    for (size_t slot = 1; slot < slots; slot++) entities += from->depth[slot] != ABSENT;
    for (id i = 0; i < entities; i++)
        if (memory->marks[from->order[i]].depth == ABSENT) place(memory, from->order[i], from->depth[from->order[i]]);
    return memory->entities == entities ? OK : BAD_INPUT;
}
