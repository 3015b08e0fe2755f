/* Stories read one after another, each sentence in a few passes over the rows that it touches.
 *
 * The same as `amn.fast.graphs`, `amn.fast.states` and `amn.fast.step`, which do it in numpy for many stories side by
 * side and judge this. `amn.fast.kernels` calls it, and lays out what it reads.
 */

#include "arithmetic.h"
#include "word_graph.h"

enum { STRENGTH, RELEVANCE, IN_LAST, DEPTH, VOTE, MARKS }; /* `amn.fast.step` */

struct weights {
    whole hidden, heads, max_banks;
    const float *update_state, *update_bias; /* hidden x 3 gates; the bias of the candidate's U h */
    const float *ask, *tell, *edge_bias;     /* edge_bias: heads x kinds */
    const float *propagate_input, *propagate_gates, *propagate_state, *propagate_bias;
    const float *of_state;                   /* 4 x hidden: update, candidate, move, vote */
    float update_strength, candidate_strength, candidate_bias, move_bias, bank_gap, load, create_bias, epsilon;
};

struct texts {
    whole stories, questions, rows, most_spoken, most_named;
    const whole *sentences;           /* where the sentences of each story begin, and where the last ends */
    const whole *entities;            /* likewise its entities; 0 is nobody */
    const whole *telling, *begin;     /* of each sentence: what it tells, and where its words begin */
    const whole *words;               /* entities */
    const whole *spoken, *row, *kind; /* of each telling: how many words, where its rows and its edges begin */
    const int8_t *kinds;              /* of the edges among the words of each telling */
    const whole *named;               /* whom the questions of each story name, then zeros */
    const int8_t *is_named;           /* of each entity */
    const float *gates;               /* what each row of the tellings tells the update GRU: 3 x rows x hidden */
    const float *likeness, *move, *update; /* `Asked` */
};

struct memory {
    float *states, *marks;                     /* of each entity */
    double *banks, *entities, *votes, *voters; /* of each story */
};

/* What one member gathers along its edges, by attention; who is near tells keys of all heads, then values of all. */
INLINE void gather(whole width, whole heads, const float *ask, whole near, const float *const *told,
                   const int8_t *kinds, const float *bias, float *scores, float *out) {
    for (whole head = 0; head < heads; head++) {
        float *score = scores + head * near, top = -INFINITY;
        for (whole row = 0; row < near; row++) {
            score[row] = dot(width, ask + head * width, told[row] + head * width) + bias[head * NUM_KINDS + kinds[row]];
            top = score[row] > top ? score[row] : top;
        }
        for (whole row = 0; row < near; row++) score[row] -= top;
    }
    for (whole i = heads * near; i < padded(heads * near); i++) scores[i] = 0;
    SIMD
    for (whole i = 0; i < padded(heads * near); i++) scores[i] = exponential(scores[i]);
    for (whole head = 0; head < heads; head++) {
        const float *score = scores + head * near;
        float sums[width], all = 0;
        for (whole i = 0; i < width; i++) sums[i] = 0;
        for (whole row = 0; row < near; row++) {
            const float *value = told[row] + (heads + head) * width;
            all += score[row];
            SIMD
            for (whole i = 0; i < width; i++) sums[i] += score[row] * value[i];
        }
        for (whole i = 0; i < width; i++) out[head * width + i] = sums[i] / all;
    }
}

/* What is computed of a member, in widths: its state after its update, what it asks and tells, U h for eq. (15). */
enum { UPDATED = 0, ASKS = 1, TELLS = 2, PARTS = 4, WIDTHS = 7 };

struct row {
    whole entity;
    float *own;         /* what is computed of it */
    const float *state; /* before eq. (15) */
    const float *told;
};

struct desk { /* room for the rows of one sentence: members first, then context */
    whole *members, *todo;
    struct row *rows;
    const float **from, **near;
    float **into, *room, *normed, *messages, *inputs, *scores;
    int8_t *edges, *kinds;
    float *newcomers, *context; /* what is computed of newcomers, and what entities tell as context, */
    int8_t *known, *current;    /* where it is known */
};

/* The product of the rows in `from` with a weight, to one part of what is computed of some members. */
static void compute(const struct weights *w, struct desk *desk, whole count, const float *weight, int part,
                    whole widths) {
    for (whole i = 0; i < count; i++) desk->into[i] = desk->rows[desk->todo[i]].own + part * w->hidden;
    product(count, w->hidden, widths * w->hidden, desk->from, weight, desk->into);
}

/* Where to compute what of each member. A newcomer has no state yet: what it becomes depends on its telling alone, and
 * is computed once for all stories. Gives for how many of them it has to be done, and of these, how many are words.
 */
static whole seat(const struct weights *w, const struct texts *texts, const struct memory *memory, struct desk *desk,
                  whole telling_row, whole spoken, whole count, whole *words) {
    whole todo = 0;
    for (whole i = 0; i < count; i++) {
        whole entity = desk->members[i], said = telling_row + i;
        int is_new = i < spoken && memory->marks[entity * MARKS + DEPTH] < 0 && !texts->is_named[entity];
        float *own = is_new ? desk->newcomers + said * WIDTHS * w->hidden : desk->room + i * WIDTHS * w->hidden;
        const float *state = i < spoken ? own + UPDATED * w->hidden : memory->states + entity * w->hidden;
        desk->rows[i] = (struct row){entity, own, state, own + TELLS * w->hidden};
        if (is_new && desk->known[said]) continue;
        if (is_new) desk->known[said] = 1;
        desk->todo[todo++] = i;
        *words = i < spoken ? todo : *words;
    }
    return todo;
}

/* Eq. (13) for words, and what members ask and tell. */
static void update(const struct weights *w, const struct texts *texts, const struct memory *memory, struct desk *desk,
                   whole telling_row, whole spoken, whole count) {
    whole hidden = w->hidden, words = 0, todo = seat(w, texts, memory, desk, telling_row, spoken, count, &words);
    for (whole i = 0; i < words; i++) desk->from[i] = memory->states + desk->rows[desk->todo[i]].entity * hidden;
    compute(w, desk, words, w->update_state, PARTS, 3);
    for (whole i = 0; i < words; i++) {
        const float *gates = texts->gates + (telling_row + desk->todo[i]) * hidden;
        float *own = desk->rows[desk->todo[i]].own;
        gated(hidden, gates, texts->rows * hidden, own + PARTS * hidden, w->update_bias, desk->from[i],
              own + UPDATED * hidden);
    }
    for (whole i = 0; i < todo; i++) desk->from[i] = desk->rows[desk->todo[i]].state;
    compute(w, desk, todo, w->propagate_state, PARTS, 3);
    for (whole i = 0; i < todo; i++) {
        float *normed = desk->normed + i * hidden;
        normalise(hidden, w->epsilon, desk->from[i], normed);
        desk->from[i] = normed;
    }
    compute(w, desk, todo, w->ask, ASKS, 1);
    compute(w, desk, todo, w->tell, TELLS, 2);
}

/* What the context tells, kept for each entity until its state changes. */
static void listen(const struct weights *w, const struct memory *memory, struct desk *desk, whole count, whole rows) {
    whole hidden = w->hidden, todo = 0;
    for (whole i = count; i < rows; i++) {
        whole entity = desk->members[i];
        float *told = desk->context + entity * 2 * hidden, *normed = desk->normed + todo * hidden;
        desk->rows[i].told = told;
        if (desk->current[entity]) continue;
        normalise(hidden, w->epsilon, memory->states + entity * hidden, normed);
        desk->from[todo] = normed;
        desk->into[todo++] = told;
        desk->current[entity] = 1;
    }
    product(todo, hidden, 2 * hidden, desk->from, w->tell, desk->into);
}

/* Eq. (14): a, which the members gather along the edges. */
static void attend(const struct weights *w, struct desk *desk, whole count, whole rows) {
    whole width = w->hidden / w->heads;
    for (whole i = 0; i < count; i++) {
        const float *ask = desk->rows[i].own + ASKS * w->hidden;
        float *message = desk->messages + i * w->hidden;
        whole near = 0;
        for (whole row = 0; row < rows; row++) {
            desk->near[near] = desk->rows[row].told;
            desk->kinds[near] = desk->edges[i * rows + row];
            near += desk->kinds[near] != 0;
        }
        if (width == 16) /* a width that is known makes loops without a count */
            gather(16, w->heads, ask, near, desk->near, desk->kinds, w->edge_bias, desk->scores, message);
        else if (width == 32)
            gather(32, w->heads, ask, near, desk->near, desk->kinds, w->edge_bias, desk->scores, message);
        else
            gather(width, w->heads, ask, near, desk->near, desk->kinds, w->edge_bias, desk->scores, message);
    }
}

/* Eq. (15): w = GRU(a, w). */
static void propagate(const struct weights *w, struct memory *memory, struct desk *desk, whole count) {
    whole hidden = w->hidden;
    for (whole i = 0; i < count; i++) {
        desk->from[i] = desk->messages + i * hidden;
        desk->into[i] = desk->inputs + i * 3 * hidden;
    }
    product(count, hidden, 3 * hidden, desk->from, w->propagate_input, desk->into);
    for (whole i = 0; i < count; i++) {
        const struct row *row = desk->rows + i;
        float *inputs = desk->into[i];
        SIMD
        for (whole j = 0; j < 3 * hidden; j++) inputs[j] += w->propagate_gates[j];
        gated(hidden, inputs, hidden, row->own + PARTS * hidden, w->propagate_bias, row->state,
              memory->states + row->entity * hidden);
        desk->current[row->entity] = 0;
    }
}

/* `amn.fast.step.judge` for one member, and what that changes in its story. */
static void judge(const struct weights *w, const struct texts *texts, struct memory *memory, whole story,
                  whole entity) {
    whole hidden = w->hidden;
    const float *state = memory->states + entity * hidden;
    float *marks = memory->marks + entity * MARKS, previous = marks[STRENGTH], strength = 0, move = -INFINITY;
    float scores[4];
    for (int i = 0; i < 4; i++) scores[i] = dot(hidden, state, w->of_state + i * hidden);
    for (whole asked = story * texts->questions; asked < (story + 1) * texts->questions; asked++) {
        float opened = sigmoid(scores[0] + texts->update[asked] + w->update_strength * previous);
        float kept = 1.0f - sigmoid(previous * dot(hidden, state, texts->likeness + asked * hidden));
        float candidate = sigmoid(kept * previous * w->candidate_strength + scores[1] + w->candidate_bias);
        strength = fmaxf(strength, candidate + opened * (previous - candidate));
        move = fmaxf(move, dot(hidden, state, texts->move + asked * hidden));
    }
    float relevance = (strength * scores[2] + move) * scale_of(hidden, w->epsilon, state) + w->move_bias;
    float last = (float)memory->banks[story] - 1, was = marks[IN_LAST];
    float inside = relevance > 0 || last <= 0 || was > 0;
    float reach = ceilf(relevance / w->bank_gap) + (last - 1);
    memory->entities[story] += marks[DEPTH] < 0;
    memory->votes[story] += (double)(scores[3] * inside - marks[VOTE] * was);
    memory->voters[story] += (double)(inside - was);
    marks[STRENGTH] = strength;
    marks[RELEVANCE] = relevance;
    marks[IN_LAST] = inside;
    marks[DEPTH] = fmaxf(marks[DEPTH], fminf(fmaxf(reach, 0), last));
    marks[VOTE] = scores[3];
}

/* Eqs. (9, 11): where a memory is too full for its banks, what is still relevant in the last goes on to a new one. */
static void create(const struct weights *w, const struct texts *texts, struct memory *memory, whole story) {
    double banks = memory->banks[story], voters = fmax(memory->voters[story], 1);
    double load = log(fmax(memory->entities[story] * exp2(1 - banks), 0.1));
    double logit = memory->votes[story] / voters + load * w->load + w->create_bias;
    if (!(logit > 0) || banks >= (double)w->max_banks) return;
    memory->banks[story] += 1;
    memory->votes[story] = memory->voters[story] = 0;
    for (whole entity = texts->entities[story]; entity < texts->entities[story + 1]; entity++) {
        float *marks = memory->marks + entity * MARKS, stays = marks[RELEVANCE] > 0 && marks[IN_LAST] > 0;
        marks[IN_LAST] = stays;
        marks[DEPTH] += stays;
        memory->votes[story] += (double)(stays * marks[VOTE]);
        memory->voters[story] += (double)stays;
    }
}

/* Lines 2-17 of Algorithm 1 for one sentence. */
static void read_sentence(const struct weights *w, const struct texts *texts, struct memory *memory, struct desk *desk,
                          struct graph *graph, whole story, whole sentence) {
    whole telling = texts->telling[sentence], spoken = texts->spoken[telling], count = spoken;
    const whole *named = texts->named + story * texts->most_named;
    memcpy(desk->members, texts->words + texts->begin[sentence], sizeof(whole) * (size_t)spoken);
    for (whole i = 0; i < spoken; i++) graph->place[desk->members[i]] = i + 1;
    for (whole i = 0; i < texts->most_named && named[i]; i++) {
        if (graph->place[named[i]] || memory->marks[named[i] * MARKS + DEPTH] < 0) continue;
        desk->members[count] = named[i];
        graph->place[named[i]] = ++count;
    }
    whole rows = count + recent_outside(graph, desk->members, spoken, count, desk->members + count);
    find_edges(graph, desk->members, spoken, count, rows, texts->kinds + texts->kind[telling], desk->edges);
    remember(graph, desk->members, spoken);
    for (whole i = 0; i < rows; i++) graph->place[desk->members[i]] = 0;
    update(w, texts, memory, desk, texts->row[telling], spoken, count);
    listen(w, memory, desk, count, rows);
    attend(w, desk, count, rows);
    propagate(w, memory, desk, count);
    for (whole i = 0; i < count; i++) judge(w, texts, memory, story, desk->members[i]);
    create(w, texts, memory, story);
}

/* The next part of some room, aligned; nothing where there is no room yet and `used` alone is wanted. */
static void *take(char *room, size_t *used, size_t size) {
    void *here = room ? room + *used : NULL;
    *used += (size + 63) / 64 * 64;
    return here;
}

/* Divides some room among a desk and a graph, and gives how much of it they need: in all, and to be cleared first. */
static size_t furnish(const struct weights *w, const struct texts *texts, struct desk *desk, struct graph *graph,
                      char *room, size_t *cleared) {
    size_t used = 0, wide = sizeof(float) * (size_t)w->hidden, entities = (size_t)texts->entities[texts->stories];
    size_t rows = (size_t)(texts->most_spoken + texts->most_named + CONTEXT);
    graph->count = take(room, &used, entities);
    graph->place = take(room, &used, entities * sizeof(whole));
    desk->current = take(room, &used, entities);
    desk->known = take(room, &used, (size_t)texts->rows);
    *cleared = used;
    graph->neighbours = take(room, &used, entities * RECENT * sizeof(whole));
    desk->context = take(room, &used, entities * 2 * wide);
    desk->newcomers = take(room, &used, (size_t)texts->rows * WIDTHS * wide);
    graph->next = take(room, &used, rows * sizeof(whole));
    desk->room = take(room, &used, rows * WIDTHS * wide);
    desk->normed = take(room, &used, rows * wide);
    desk->messages = take(room, &used, rows * wide);
    desk->inputs = take(room, &used, rows * 3 * wide);
    desk->scores = take(room, &used, sizeof(float) * (rows * (size_t)w->heads + LANES));
    desk->members = take(room, &used, rows * sizeof(whole));
    desk->todo = take(room, &used, rows * sizeof(whole));
    desk->rows = take(room, &used, rows * sizeof(struct row));
    desk->from = take(room, &used, rows * sizeof(float *));
    desk->near = take(room, &used, rows * sizeof(float *));
    desk->into = take(room, &used, rows * sizeof(float *));
    desk->edges = take(room, &used, rows * rows);
    desk->kinds = take(room, &used, rows);
    return used;
}

/* Reads all stories to their ends. Gives 0, or 1 where there is no room. */
int amn_tell(const struct weights *w, const struct texts *texts, struct memory *memory) {
    struct desk desk;
    struct graph graph;
    size_t cleared;
    char *room = malloc(furnish(w, texts, &desk, &graph, NULL, &cleared));
    if (!room) return 1;
    memset(room, 0, cleared);
    furnish(w, texts, &desk, &graph, room, &cleared);
    for (whole story = 0; story < texts->stories; story++)
        for (whole sentence = texts->sentences[story]; sentence < texts->sentences[story + 1]; sentence++)
            read_sentence(w, texts, memory, &desk, &graph, story, sentence);
    free(room);
    return 0;
}

struct reader {
    whole hidden, vectors;
    const float *gates;        /* what each vector of a word tells the gates: 3 x vectors x hidden */
    const float *first;        /* the state after each, where it is the first word */
    const float *state, *bias; /* hidden x 3 gates; the bias of the candidate's U h */
};

struct passages {
    whole count;
    const whole *begin, *words; /* where the words of each begin, and where the last ends; vectors */
    float *out;                 /* a state for each word */
};

/* `amn.fast.encode.run`: the GRU over each passage from zero, a few side by side. */
void amn_run(const struct reader *r, const struct passages *texts) {
    whole hidden = r->hidden, place[BLOCK];
    const float *from[BLOCK];
    float *into[BLOCK], parts[BLOCK * 3 * hidden], *out = texts->out;
    for (int i = 0; i < BLOCK; i++) into[i] = parts + i * 3 * hidden;
    for (whole i = 0; i < texts->count; i++) {
        whole at = texts->begin[i];
        if (at == texts->begin[i + 1]) continue;
        memcpy(out + at * hidden, r->first + texts->words[at] * hidden, sizeof(float) * (size_t)hidden);
    }
    for (whole some = 0; some < texts->count; some += BLOCK)
        for (whole step = 1, going = 1; going; step++) {
            going = 0;
            for (whole i = some; i < some + BLOCK && i < texts->count; i++)
                if (texts->begin[i] + step < texts->begin[i + 1]) place[going++] = texts->begin[i] + step;
            for (whole i = 0; i < going; i++) from[i] = out + (place[i] - 1) * hidden;
            product(going, hidden, 3 * hidden, from, r->state, into);
            for (whole i = 0; i < going; i++)
                gated(hidden, r->gates + texts->words[place[i]] * hidden, r->vectors * hidden, into[i], r->bias,
                      from[i], out + place[i] * hidden);
        }
}
