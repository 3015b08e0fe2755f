/* Drives the compiled core through random models and stories, for sanitizers to watch. It asserts what must hold for
 * any weights: counts that add up, finite logits, the same answers from a memory that was saved and put back, and from
 * stories told at once, one by one, and with no room to keep what was told before.
 *
 *     driver SEED
 */

#include <math.h>
#include <stdio.h>

#include "amn.h"

enum { WORDS = 40, ANONYMOUS = 5, CLASSES = 7, LONGEST = 256, RECENT = 16, KINDS = 6 };

#define REQUIRE(fact)                                                     \
    do {                                                                  \
        if (!(fact)) {                                                    \
            fprintf(stderr, "line %d: %s does not hold\n", __LINE__, #fact); \
            exit(1);                                                      \
        }                                                                 \
    } while (0)

static uint64_t state = 1;
static size_t items = 1; /* the most tokens of an answer */
static int wild; /* whether some weights are no numbers, or far too large: nothing is promised then but to survive it */

static uint32_t draw(uint32_t below) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (uint32_t)(state >> 33) % below;
}

/* Exactly so many numbers, so that one read too many is seen. */
static float *numbers(size_t count, float scale) {
    float *made = malloc(count * sizeof(float));
    for (size_t i = 0; i < count; i++) {
        made[i] = scale * ((float)draw(2001) / 1000.0f - 1.0f);
        if (wild && !draw(7)) made[i] = (const float[]){NAN, INFINITY, -INFINITY, 3e38f}[draw(4)];
    }
    return made;
}

static void *kept[192]; /* whatever a model was made from */
static size_t kept_count;

static float *keep(float *made) {
    REQUIRE(kept_count < sizeof kept / sizeof *kept);
    kept[kept_count++] = made;
    return made;
}

static void drop_all(void) {
    while (kept_count) free(kept[--kept_count]);
}

static struct amn_layer layer(id outputs, id inputs, int bias) {
    float scale = 2.0f / sqrtf((float)inputs);
    return (struct amn_layer){outputs, inputs, keep(numbers((size_t)outputs * (size_t)inputs, scale)),
                              bias ? keep(numbers((size_t)outputs, 0.5f)) : NULL};
}

static struct amn_gru gru(id inputs, id hidden) {
    return (struct amn_gru){layer(3 * hidden, inputs, 1), layer(3 * hidden, hidden, 1)};
}

static struct amn_weights random_weights(id hidden, id heads, id pointer, id tokens) {
    id vectors = WORDS + (pointer ? ANONYMOUS : 0);
    struct amn_weights w = {.hidden = hidden, .heads = heads, .max_banks = 4, .vectors = vectors,
                            .anonymous = pointer ? ANONYMOUS : 0, .pointer = pointer, .items = tokens, .bank_gap = 1, .epsilon = 1e-6f};
    w.embedding = keep(numbers((size_t)vectors * (size_t)hidden, 1.7f));
    w.edge_bias = keep(numbers(KINDS * (size_t)heads, 1));
    w.word = gru(hidden, hidden), w.question = gru(hidden, hidden);
    w.update = gru(2 * hidden, hidden), w.propagate = gru(hidden, hidden);
    w.from_question = layer(hidden, hidden, 1), w.query = layer(hidden, hidden, 0);
    w.key_value = layer(2 * hidden, hidden, 0);
    w.strength_state = layer(1, hidden, 1), w.strength_question = layer(1, hidden, 0);
    w.candidate_state = layer(1, hidden, 1);
    w.strength_previous = 0.3f, w.reset = 1, w.candidate_previous = 1;
    w.move_state = layer(1, hidden, 1), w.move_question = layer(hidden, hidden, 0), w.create = layer(1, hidden + 1, 1);
    w.match = layer(hidden, hidden, 0), w.summary = layer(hidden, hidden, 1), w.answer = layer(CLASSES, hidden, 1);
    if (pointer) w.point = layer(hidden, hidden, 1);
    static id class_vectors[CLASSES]; /* every second class is spelled like a word */
    for (id i = 0; i < CLASSES; i++) class_vectors[i] = i % 2 ? i : -1;
    w.class_vectors = class_vectors, w.item = 1;
    if (tokens > 1) w.classes = keep(numbers(CLASSES * (size_t)hidden, 1.7f)), w.next = gru(hidden, hidden);
    w.nothing = 0.1f, w.growth = 0.7f, w.slope = 0.25f;
    id width = heads % 2 ? hidden : hidden + 3; /* of the gate */
    w.gate = (struct amn_gate){.width = width, .lowest = -0.5f, .slope = 0.3f, .highest = 0.5f};
    w.gate.embedding = keep(numbers(WORDS * (size_t)width, 1.7f));
    w.gate.refers = keep(numbers(WORDS, 1));
    w.gate.sentence = gru(width, width), w.gate.question = gru(width, width);
    w.gate.heard = layer(width, width, 1), w.gate.asked = layer(width, width, 0), w.gate.verdict = layer(1, width, 1);
    if (pointer) {
        w.gate.need_heard = layer(width, width, 0), w.gate.need_asked = layer(width, width, 0);
        w.gate.need_verdict = layer(1, width, 1), w.gate.pronoun_highest = 1;
        w.gate.need_shared = keep(numbers(SHARED * (size_t)width, 1)), w.gate.names = keep(numbers(WORDS, 1));
    }
    return w;
}

struct story { /* questions, then sentences, as rows of slots; the words of the questions come first */
    id questions, sentences, asked_words, slots;
    id begin[64], words[64 * LONGEST], vectors[64 * LONGEST];
};

/* Some words, most of them known already. */
static void add_row(struct story *story, id row, id length, id vectors, id fresh) {
    id at = story->begin[row];
    for (id i = 0; i < length; i++) {
        if (story->slots == 1 || draw(100) < (uint32_t)fresh) {
            story->vectors[story->slots - 1] = (id)draw((uint32_t)vectors);
            story->words[at++] = story->slots++;
        } else
            story->words[at++] = 1 + (id)draw((uint32_t)story->slots - 1);
    }
    story->begin[row + 1] = at;
}

static void random_story(struct story *story, id vectors, id sentences, id longest) {
    static const id lengths[] = {0, 1, 3, 5, 5, 7};
    memset(story, 0, sizeof *story);
    story->slots = 1;
    story->questions = 1 + (id)draw(3);
    story->sentences = sentences;
    for (id row = 0; row < story->questions; row++) add_row(story, row, 1 + (id)draw(4), vectors, 50);
    story->asked_words = story->slots - 1;
    for (id i = 0; i < story->sentences; i++)
        add_row(story, story->questions + i, longest ? longest : lengths[draw(6)], vectors, 30);
}

/* Some rows of a story, with the words that are new in them. */
static struct amn_words rows(const struct story *story, id from, id count, id met) {
    id most = met;
    for (id i = story->begin[from]; i < story->begin[from + count]; i++)
        most = story->words[i] > most ? story->words[i] : most;
    return (struct amn_words){most - met, story->vectors + met, count, story->begin + from, story->words};
}

static void check_change(struct amn_memory *memory, struct amn_desk *desk) {
    struct amn_change change;
    struct amn_count count;
    amn_changed(desk, &change);
    amn_counted(memory, 1, &count);
    REQUIRE(change.banks == count.banks && change.members <= change.count);
    for (id i = 0; i < change.count; i++) {
        REQUIRE(change.slots[i] > 0 && change.slots[i] < count.slots);
        REQUIRE(change.after[i] >= change.before[i] && change.after[i] < change.banks);
        REQUIRE(wild || (change.strengths[i] >= 0 && change.strengths[i] <= 1));
    }
}

/* A memory that was told a story, in one call or in many. */
static struct amn_memory *tell(const struct amn_model *model, struct amn_desk *desk, const struct story *story, int once) {
    struct amn_memory *memory = amn_memory_new(model);
    struct amn_words asked = rows(story, 0, story->questions, 0);
    REQUIRE(memory && amn_ask(memory, desk, &asked) == OK);
    if (once) {
        struct amn_words told = rows(story, story->questions, story->sentences, story->asked_words);
        REQUIRE(amn_tell(memory, desk, &told) == OK);
        return memory;
    }
    for (id i = 0, met = story->asked_words; i < story->sentences; i++) {
        struct amn_words told = rows(story, story->questions + i, 1, met);
        REQUIRE(amn_tell(memory, desk, &told) == OK);
        met += told.met;
        check_change(memory, desk);
    }
    return memory;
}

/* The logits of some memories, one after the other. */
static float *decode(struct amn_memory *const *memories, id count, struct amn_desk *desk, id banks, size_t *total) {
    size_t ends[16] = {0}, chosen[16] = {0};
    float *into[16];
    id *tokens[16];
    for (id i = 0; i < count; i++) {
        struct amn_count counted;
        amn_counted(memories[i], banks, &counted);
        chosen[i + 1] = chosen[i] + (size_t)counted.questions * items;
        ends[i + 1] = ends[i] + (size_t)counted.questions * items * (size_t)(CLASSES + counted.names);
    }
    float *logits = calloc(ends[count] + 1, sizeof(float));
    id *all_tokens = malloc(chosen[count] * sizeof(id) + 1);
    for (id i = 0; i < count; i++) into[i] = logits + ends[i], tokens[i] = all_tokens + chosen[i];
    REQUIRE(amn_decode(memories, count, desk, banks, into, tokens) == OK);
    for (size_t i = 0; items > 1 && i < chosen[count]; i++) REQUIRE(all_tokens[i] >= 0);
    free(all_tokens);
    for (size_t i = 0; i < ends[count]; i++) REQUIRE(wild || isfinite(logits[i]));
    *total = ends[count];
    return logits;
}

/* The same scores for classes, and for words, which a memory that was put back may list in another order. */
static void require_same(struct amn_memory *one, struct amn_memory *other, struct amn_desk *desk) {
    for (id banks = 0; banks < 6; banks++) {
        struct amn_count count;
        size_t first, second;
        float *ours = decode(&one, 1, desk, banks, &first), *theirs = decode(&other, 1, desk, banks, &second);
        amn_counted(one, banks, &count);
        REQUIRE(first == second);
        size_t names = (size_t)count.names, width = CLASSES + names;
        id *listed = calloc(names + 1, sizeof(id)), *by_other = calloc(names + 1, sizeof(id));
        amn_names(one, listed), amn_names(other, by_other);
        for (size_t i = 0; i < first; i++) {
            size_t place = i % width, there = 0;
            if (place >= CLASSES)
                while (by_other[there] != listed[place - CLASSES]) REQUIRE(++there < names);
            REQUIRE(wild || fabsf(ours[i] - theirs[i - place + (place < CLASSES ? place : CLASSES + there)]) < 1e-3f);
        }
        free(ours), free(theirs), free(listed), free(by_other);
    }
}

static void attend(const struct amn_memory *memory, struct amn_desk *desk) {
    for (id banks = 0; banks < 3; banks++) {
        struct amn_count count;
        amn_counted(memory, banks, &count);
        id *slots = malloc((size_t)count.entities * sizeof(id) + 1), *names = malloc((size_t)count.names * sizeof(id) + 1);
        float *mass = malloc((size_t)count.entities * sizeof(float) + 1);
        float *whole = calloc((size_t)count.banks, sizeof(float)), sum = 0;
        struct amn_attention found = {0, slots, mass, whole};
        amn_names(memory, names);
        for (id question = 0; question < count.questions; question++, sum = 0) {
            REQUIRE(amn_attend(memory, desk, banks, question, &found) == OK);
            for (id i = 0; i < found.count; i++) sum += mass[i];
            REQUIRE(wild || sum <= whole[banks && banks < count.banks ? count.banks - banks : 0] * 1.001f);
        }
        REQUIRE(amn_attend(memory, desk, banks, count.questions, &found) == BAD_INPUT);
        REQUIRE(amn_attend(memory, desk, banks, -1, &found) == BAD_INPUT);
        amn_bank(memory, 0, slots);
        amn_of(memory, count.entities, slots, mass, mass);
        free(slots), free(names), free(mass), free(whole);
    }
}

/* A copy of a memory by way of its tables; tables that cannot be are refused. */
static struct amn_memory *copy(const struct amn_model *model, struct amn_desk *desk, const struct story *story,
                               const struct amn_memory *memory, id hidden) {
    struct amn_count count;
    amn_counted(memory, 0, &count);
    size_t slots = (size_t)count.slots, entities = (size_t)count.entities;
    id last[ANONYMOUS + 1];
    struct amn_tables tables = {.slots = count.slots,
                                .states = malloc(slots * (size_t)hidden * sizeof(float)),
                                .strengths = malloc(slots * sizeof(float)),
                                .relevance = malloc(slots * sizeof(float)),
                                .depth = malloc(slots * sizeof(id)),
                                .order = malloc(entities * sizeof(id) + 1),
                                .neighbours = malloc(slots * RECENT * sizeof(id)),
                                .neighbour_counts = malloc(slots * sizeof(id)),
                                .last_anonymous = last,
                                .pair_count = count.pairs,
                                .pairs = count.pairs < 0 ? NULL : malloc(2 * (size_t)count.pairs * sizeof(id) + 1)};
    amn_save(memory, &tables);
    struct amn_memory *made = amn_memory_new(model), *refusing = amn_memory_new(model);
    struct amn_words asked = rows(story, 0, story->questions, 0);
    struct amn_words met = {count.slots - 1 - asked.met, story->vectors + asked.met, 0, story->begin, story->words};
    REQUIRE(amn_ask(made, desk, &asked) == OK && amn_tell(made, desk, &met) == OK);
    REQUIRE(amn_restore(made, &tables) == OK);
    if (entities) REQUIRE(amn_restore(made, &tables) == BAD_INPUT);
    REQUIRE(amn_restore(refusing, &tables) == (count.slots > 1 ? BAD_INPUT : OK));
    amn_memory_free(refusing);
    void *all[] = {tables.states, tables.strengths,  tables.relevance,       tables.depth,
                   tables.order,  tables.neighbours, tables.neighbour_counts, tables.pairs};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    return made;
}

/* The gate says the same of sentences judged at once and one by one, and counts what it lets in. */
static void judge(const struct amn_model *model, id width) {
    enum { SENTENCES = 9, QUESTIONS = 2 };
    static id words[64 * LONGEST], begin[SENTENCES + 1];
    for (id i = 0; i < SENTENCES; i++) begin[i + 1] = begin[i] + (i ? (id)draw(7) : 0);
    for (id i = 0; i < begin[SENTENCES]; i++) words[i] = (id)draw(WORDS + 3); /* some of the questions' own */
    struct amn_words asked = {0, NULL, QUESTIONS, begin + 2, words}, told = {0, NULL, SENTENCES, begin, words};
    float *questions = malloc(QUESTIONS * 2 * (size_t)width * sizeof(float));
    int8_t verdicts[QUESTIONS * SENTENCES], one[QUESTIONS], follows[QUESTIONS] = {1, 1}, followed[QUESTIONS] = {1, 1};
    int64_t facts[QUESTIONS] = {0}, counted[QUESTIONS] = {0};
    REQUIRE(amn_gate_ask(model, &asked, questions) == OK);
    struct amn_judging judging = {&asked, questions, 0, facts, follows, verdicts};
    struct amn_judging single = {&asked, questions, 0, counted, followed, one};
    REQUIRE(amn_gate_judge(model, &told, &judging) == OK && judging.seen == SENTENCES);
    for (id i = 0; i < SENTENCES; i++) {
        struct amn_words row = {0, NULL, 1, begin + i, words};
        REQUIRE(amn_gate_judge(model, &row, &single) == OK);
        for (size_t q = 0; q < QUESTIONS; q++) REQUIRE(one[q] == verdicts[q * SENTENCES + (size_t)i]);
    }
    for (size_t q = 0; q < QUESTIONS; q++) REQUIRE(facts[q] == counted[q] && facts[q] <= SENTENCES);
    for (size_t q = 0; q < QUESTIONS; q++) REQUIRE(follows[q] == followed[q]);
    judging.follows = NULL; /* every fact is let in */
    REQUIRE(amn_gate_judge(model, &told, &judging) == OK);
    words[0] = -1, begin[1] = 1;
    REQUIRE(amn_gate_judge(model, &told, &judging) == BAD_INPUT);
    REQUIRE(amn_gate_ask(model, &told, questions) == BAD_INPUT);
    begin[1] = LONGEST;
    REQUIRE(amn_gate_judge(model, &told, &judging) == BAD_INPUT);
    free(questions), memset(begin, 0, sizeof begin);
}

static void refuse(struct amn_memory *memory, struct amn_desk *desk) {
    const id begin[] = {0, 1}, backwards[] = {1, 0}, nobody[] = {0}, far[] = {1 << 20}, negative[] = {-1}, one[] = {1};
    const id vector[] = {WORDS + ANONYMOUS};
    struct amn_words wrong[] = {{0, NULL, 1, begin, nobody},     {0, NULL, 1, begin, far},  {0, NULL, 1, begin, negative},
                                {0, NULL, 1, backwards, one},    {1, vector, 0, begin, one}, {1, negative, 0, begin, one},
                                {-1, NULL, 0, begin, one},       {0, NULL, -1, begin, one}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) REQUIRE(amn_tell(memory, desk, wrong + i) == BAD_INPUT);
    REQUIRE(amn_ask(memory, desk, wrong) == BAD_INPUT);
}

static void run_model(id hidden, id heads, id pointer, id longest) {
    struct amn_weights weights = random_weights(hidden, heads, pointer, (id)items);
    struct amn_model *model = amn_model_new(&weights);
    REQUIRE(model);
    drop_all(); /* the core has its own copies */
    struct amn_desk *desk = amn_desk_new(model, 1 << 22), *tiny = amn_desk_new(model, 1);
    judge(model, weights.gate.width);
    static struct story stories[4];
    struct amn_memory *memories[4];
    for (size_t i = 0; i < 4; i++) {
        struct story *story = stories + i;
        random_story(story, weights.vectors, i % 2 ? 0 : 1 + (id)draw(12), longest); /* after each, one of no sentences */
        memories[i] = tell(model, desk, story, 0);
        struct amn_memory *others[] = {tell(model, desk, story, 1), tell(model, tiny, story, 0),
                                       copy(model, desk, story, memories[i], hidden)};
        for (size_t j = 0; j < 3; j++) require_same(memories[i], others[j], desk), amn_memory_free(others[j]);
        attend(memories[i], desk);
    }
    size_t total;
    for (id banks = 0; banks < 6; banks++) free(decode(memories, 4, desk, banks, &total));
    free(decode(memories, 0, desk, 1, &total));
    for (size_t i = 0; i < 4; i++) refuse(memories[i], desk), amn_memory_free(memories[i]);
    amn_desk_free(desk), amn_desk_free(tiny), amn_model_free(model);
}

/* The views of padded stories, some of no sentences, some of whose sentences are full. */
static void run_views(void) {
    enum { STORIES = 3, SENTENCES = 5, LENGTH = 6, ASKED = 4, SLOTS = 30 };
    int16_t *told = calloc(STORIES * SENTENCES * LENGTH, sizeof *told), *asked = calloc(STORIES * ASKED, sizeof *asked);
    int64_t lengths[STORIES] = {0, SENTENCES, 3};
    for (size_t story = 0; story < STORIES; story++)
        for (size_t i = 0; i < (size_t)lengths[story]; i++)
            for (size_t j = 0, length = draw(LENGTH + 1); j < length; j++)
                told[(story * SENTENCES + i) * LENGTH + j] = (int16_t)(1 + draw(SLOTS - 1));
    for (size_t i = 0; i < STORIES * ASKED; i++) asked[i] = (int16_t)draw(SLOTS);
    struct amn_stories stories = {STORIES, SLOTS, SENTENCES, LENGTH, ASKED, told, asked, lengths};
    struct amn_views none = {0, NULL, NULL, NULL};
    int most = amn_views(&stories, &none);
    REQUIRE(most >= 0 && most <= LENGTH + ASKED);
    size_t sentences = STORIES * SENTENCES, members = (size_t)most;
    int16_t *found = calloc(sentences * members + 1, sizeof *found), *context = calloc(sentences * 8, sizeof *context);
    int8_t *edges = calloc(sentences * members * (members + 8) + 1, 1);
    struct amn_views views = {most, found, context, edges};
    REQUIRE(amn_views(&stories, &views) == most);
    free(told), free(asked), free(found), free(context), free(edges);
}

static void refuse_models(void) {
    struct amn_weights weights = random_weights(12, 4, 1, 3);
    REQUIRE((weights.heads = 5, !amn_model_new(&weights)));
    REQUIRE((weights.heads = 0, !amn_model_new(&weights)));
    weights.heads = 4;
    REQUIRE((weights.max_banks = 0, !amn_model_new(&weights)));
    REQUIRE((weights.max_banks = 65, !amn_model_new(&weights)));
    weights.max_banks = 4;
    REQUIRE((weights.anonymous = weights.vectors + 1, !amn_model_new(&weights)));
    weights.anonymous = ANONYMOUS, weights.point.weight = NULL;
    REQUIRE(!amn_model_new(&weights));
    weights.pointer = 0, weights.next.input.weight = NULL;
    REQUIRE(!amn_model_new(&weights));
    drop_all();
    amn_model_free(NULL), amn_memory_free(NULL), amn_desk_free(NULL);
}

int main(int count, char **words) {
    static const id sizes[][2] = {{16, 2}, {32, 2}, {64, 2}, {20, 4}, {36, 3}, {8, 1}, {1, 1}};
    state = (uint64_t)(count > 1 ? atoi(words[1]) : 0) * 2 + 1;
    for (int i = 0; i < 20; i++) draw(2);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (id pointer = 0; pointer < 2; pointer++) run_model(sizes[i][0], sizes[i][1], pointer, 0);
    run_model(20, 4, 1, LONGEST);
    run_model(16, 2, 0, LONGEST);
    items = 4;
    run_model(20, 4, 1, 0), run_model(16, 2, 1, 0);
    wild = 1;
    run_model(20, 4, 1, 0);
    items = 1;
    run_model(16, 2, 0, 0);
    wild = 0;
    for (int i = 0; i < 20; i++) run_views();
    refuse_models();
    return 0;
}
