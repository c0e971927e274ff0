/* Nodes: whatever an array is split into, and in whatever order the nodes are merged or their words added, the result
 * has the bits of tally_reduce. The same for every kind of segments, and for segments that several parts share. */
#include <stdlib.h>
#include <string.h>

#include "grouped_problems.h"
#include "tally/tally_nodes.h"

enum { MOST_PARTS = 9, MOST_NODE = 1728 };
enum { NODES = COPY_Y + 1, OTHERS, WANTED, HAVE, SUM }; /* scratch */

/* What is split: an array, or two. */
typedef struct whole {
    subject what;
    tally_context *context;
    const char *x, *y;
    int64_t count;
    size_t bytes, node;
} whole;

static whole make_whole(const subject *s, data_class class, int64_t count, int threads) {
    whole w = {.what = *s, .context = context_for(s, TALLY_BACKEND_CPU, threads), .count = count};
    w.x = data_of(s->type, class, count);
    w.y = data_of(s->type, (data_class)((class + 1) % DATA_CLASSES), count);
    w.bytes = tally_type_size(s->type);
    set_scene(s, class, count);
    now.threads = threads;
    EXPECT_OK(tally_node_bytes(w.context, s->op, s->type, &w.node));
    EXPECT(w.node >= 9 && w.node <= MOST_NODE, "a node of %zu bytes", w.node);
    return w;
}

static void expect_no_nodes(const subject *s) {
    tally_context *context = context_for(s, TALLY_BACKEND_CPU, 1);
    const tally_array x = tally_in(data_of(s->type, TIES, 8), s->type, 8);
    char node[MOST_NODE], out[64];
    size_t bytes;
    int adds;
    EXPECT_STATUS(tally_node_bytes(context, s->op, s->type, &bytes), TALLY_UNSUPPORTED);
    EXPECT_STATUS(tally_node_adds(context, s->op, s->type, &adds), TALLY_UNSUPPORTED);
    EXPECT_STATUS(tally_reduce_node(context, s->op, x, node, sizeof node), TALLY_UNSUPPORTED);
    EXPECT_STATUS(tally_merge_nodes(context, s->op, s->type, 0, node, node), TALLY_UNSUPPORTED);
    EXPECT_STATUS(tally_finish_nodes(context, s->op, s->type, 0, node, tally_out(out, TALLY_NATURAL, 1)),
                  TALLY_UNSUPPORTED);
}

/* Values from ... from + n as a node that counts indices in the whole. */
static void reduce_part(const whole *w, int64_t from, int64_t n, char *node) {
    const char *x = w->x + (size_t)from * w->bytes, *y = w->y + (size_t)from * w->bytes;
    if (tally_op_inputs(w->what.op) == 2)
        EXPECT_OK(tally_reduce_node_pair(w->context, w->what.op, tally_in(x, w->what.type, n),
                                         tally_in(y, w->what.type, n), node, w->node));
    else
        EXPECT_OK(tally_reduce_node(w->context, w->what.op, tally_in(x, w->what.type, n), node, w->node));
    EXPECT_OK(tally_shift_nodes(w->context, w->what.op, w->what.type, 1, node, &from));
}

static void expect_result(const whole *w, const char *node, const char *what) {
    char got[64], wanted[64];
    tally_status status = perform(w->context, w->what.op, tally_in(w->x, w->what.type, w->count),
                                  tally_in(w->y, w->what.type, w->count), NULL, tally_out(wanted, TALLY_NATURAL, 1));
    EXPECT_STATUS(tally_finish_nodes(w->context, w->what.op, w->what.type, 1, node, tally_out(got, TALLY_NATURAL, 1)),
                  status);
    EXPECT_BITS(got, wanted, result_bytes(&w->what), what);
}

/* Nodes that add up are integers: their sum is a node of all values. */
static void add_words(const whole *w, const char *nodes, int parts) {
    int adds = -1;
    char *sum = scratch(SUM, w->node);
    EXPECT_OK(tally_node_adds(w->context, w->what.op, w->what.type, &adds));
    EXPECT(adds == (w->what.op == TALLY_COUNT || (is_exact_sum(&w->what) && w->what.op != TALLY_STATS)), "adds is %d",
           adds);
    if (!adds) return;
    memset(sum, 0, w->node);
    for (int p = 0; p < parts; p++)
        for (size_t at = 0; at < w->node; at += 8) {
            int64_t a, b;
            memcpy(&a, sum + at, 8);
            memcpy(&b, nodes + (size_t)p * w->node + at, 8);
            a += b;
            memcpy(sum + at, &a, 8);
        }
    expect_result(w, sum, "the sum of all nodes' words");
}

static void check_split(const whole *w, uint64_t *random) {
    int64_t boundaries[MOST_PARTS + 1];
    int parts = 1 + (int)random_below(random, MOST_PARTS);
    char *nodes = (char *)scratch(NODES, MOST_PARTS * w->node + 1) + 1; /* at odd addresses */
    boundaries[0] = 0;
    boundaries[parts] = w->count;
    for (int p = 1; p < parts; p++)
        boundaries[p] = boundaries[p - 1] + random_below(random, w->count - boundaries[p - 1] + 1);
    for (int p = 0; p < parts; p++)
        reduce_part(w, boundaries[p], boundaries[p + 1] - boundaries[p], nodes + (size_t)p * w->node);
    add_words(w, nodes, parts);
    for (int left = parts; left > 1; left--) { /* any two */
        int a = (int)random_below(random, left), b = (int)random_below(random, left - 1);
        b += b >= a;
        EXPECT_OK(tally_merge_nodes(w->context, w->what.op, w->what.type, 1, nodes + (size_t)a * w->node,
                                    nodes + (size_t)b * w->node));
        if (b != left - 1) memcpy(nodes + (size_t)b * w->node, nodes + (size_t)(left - 1) * w->node, w->node);
        if (a == left - 1) memcpy(nodes + (size_t)b * w->node, nodes + (size_t)a * w->node, w->node);
    }
    expect_result(w, nodes, "the node of all parts");
}

static void test_splits(void **state) {
    subject s = {.op = -1};
    uint64_t random = seed;
    (void)state;
    for (int trial = 0; next_subject(&s); trial++) {
        if (order_shows(&s)) {
            expect_no_nodes(&s);
            continue;
        }
        for (int round = 0; round < (quick ? 2 : 6); round++) {
            int64_t most = (quick ? 3 : 9) * tally_leaf_length(s.type);
            whole w = make_whole(&s, (data_class)((trial + round) % DATA_CLASSES),
                                 round == 0   ? 0
                                 : round == 1 ? 1
                                              : random_below(&random, most),
                                 1 + round % 2);
            check_split(&w, &random);
        }
    }
}

/* ---- segments ---- */

static tally_status segments_nodes(const whole *w, int64_t from, int64_t n, tally_segments segments, void *nodes,
                                   size_t space) {
    const tally_array x = tally_in(w->x + (size_t)from * w->bytes, w->what.type, n),
                      y = tally_in(w->y + (size_t)from * w->bytes, w->what.type, n);
    return tally_op_inputs(w->what.op) == 2
               ? tally_reduce_segments_nodes_pair(w->context, w->what.op, x, y, segments, nodes, space)
               : tally_reduce_segments_nodes(w->context, w->what.op, x, segments, nodes, space);
}

static void expect_results(const whole *w, const tally_segments *segments, int64_t results, const char *nodes) {
    const size_t bytes = result_bytes(&w->what) * (size_t)results;
    char *got = scratch(HAVE, bytes + 1), *wanted = scratch(WANTED, bytes + 1);
    memset(got, 0x5a, bytes);
    memset(wanted, 0x5a, bytes);
    tally_status status =
        perform(w->context, w->what.op, tally_in(w->x, w->what.type, w->count), tally_in(w->y, w->what.type, w->count),
                segments, tally_out(wanted, TALLY_NATURAL, results));
    EXPECT_STATUS(tally_finish_nodes(w->context, w->what.op, w->what.type, results, nodes,
                                     tally_out(got, TALLY_NATURAL, results)),
                  status);
    for (int64_t r = 0; r < results; r++) {
        now.segment = r;
        EXPECT_BITS(got + (size_t)r * result_bytes(&w->what), wanted + (size_t)r * result_bytes(&w->what),
                    result_bytes(&w->what), "a segment's node");
    }
}

static void check_segments(const whole *w, const tally_segments *segments, int64_t results) {
    char *nodes = scratch(NODES, w->node * (size_t)results + 1);
    if (results > 0)
        EXPECT_STATUS(segments_nodes(w, 0, w->count, *segments, nodes, w->node * (size_t)results - 1), TALLY_NO_SPACE);
    EXPECT_OK(segments_nodes(w, 0, w->count, *segments, nodes, w->node * (size_t)results));
    expect_results(w, segments, results, nodes);
}

/* Offsets, lengths, sorted ids, begins and ends, ids in any order, vectors of features, rows along either axis. */
static void test_kinds(void **state) {
    subject s = {.op = -1};
    uint64_t random = seed + 1;
    (void)state;
    for (int trial = 0; next_subject(&s); trial++) {
        if (order_shows(&s)) continue;
        for (int round = 0; round < 2; round++) {
            const int form = (trial + round * 3) % (GROUPED_FORMS + 1);
            const int64_t outer = random_below(&random, 5), inner = 1 + random_below(&random, 4),
                          length = random_below(&random, 40);
            grouped g = {.count = outer, .inner = inner, .vectors = outer * length};
            now = (scene){.op = s.op, .type = s.type};
            if (form < GROUPED_FORMS)
                draw_grouped(&g, form, inner, &random);
            else
                g.segments = tally_rows(outer, length, inner);
            if (g.count * g.inner > 4000) { /* a node each is too much for a test */
                free(g.members);
                continue;
            }
            whole w = make_whole(&s, (data_class)(trial % DATA_CLASSES), g.vectors * g.inner, 1 + trial % 2);
            now.segments = form < GROUPED_FORMS ? grouped_forms[form] : "rows";
            check_segments(&w, &g.segments, g.count * g.inner);
            free(g.members);
        }
    }
}

/* Every part has a share of each of some segments; one of them is long, so that threads share it. */
static void check_shared_segments(const whole *w, uint64_t *random) {
    enum { SEGMENTS = 7 };
    const int parts = 1 + (int)random_below(random, 5);
    char *nodes = scratch(NODES, SEGMENTS * w->node), *others = scratch(OTHERS, SEGMENTS * w->node);
    int64_t counts[SEGMENTS], before[SEGMENTS] = {0}, at = 0, results;
    /* The whole is laid out segment after segment; part p of segment s is piece[s][p]. */
    int64_t boundaries[SEGMENTS + 1] = {0}, segmentations[SEGMENTS][6];
    for (int s = 1; s <= SEGMENTS; s++)
        boundaries[s] =
            s == SEGMENTS ? w->count : boundaries[s - 1] + random_below(random, (w->count - boundaries[s - 1]) / 2 + 1);
    for (int s = 0; s < SEGMENTS; s++)
        for (int p = 0; p <= parts; p++) {
            const int64_t least = p == 0 ? boundaries[s] : segmentations[s][p - 1];
            segmentations[s][p] = p == 0       ? least
                                  : p == parts ? boundaries[s + 1]
                                               : least + random_below(random, boundaries[s + 1] - least + 1);
        }
    for (int p = 0; p < parts; p++) {
        int64_t begins[SEGMENTS], ends[SEGMENTS];
        for (int s = 0; s < SEGMENTS; s++) begins[s] = segmentations[s][p], ends[s] = segmentations[s][p + 1];
        const tally_segments segments = tally_begin_end(begins, ends, TALLY_I64, SEGMENTS);
        EXPECT_OK(segments_nodes(w, 0, w->count, segments, p == 0 ? nodes : others, SEGMENTS * w->node));
        EXPECT_OK(tally_segment_counts(w->context, w->count, segments, counts, SEGMENTS, &results));
        EXPECT(results == SEGMENTS, "%lld results", (long long)results);
        if (p > 0) {
            EXPECT_OK(tally_shift_nodes(w->context, w->what.op, w->what.type, SEGMENTS, others, before));
            EXPECT_OK(tally_merge_nodes(w->context, w->what.op, w->what.type, SEGMENTS, nodes, others));
        }
        for (int s = 0; s < SEGMENTS; s++) before[s] += counts[s], at += counts[s];
    }
    EXPECT(at == w->count, "the counts make %lld", (long long)at);
    const tally_segments all = tally_offsets(boundaries, TALLY_I64, SEGMENTS);
    now.segments = "segments with a part in each process";
    expect_results(w, &all, SEGMENTS, nodes);
}

static void test_shared_segments(void **state) {
    subject s = {.op = -1};
    uint64_t random = seed + 2;
    (void)state;
    for (int trial = 0; next_subject(&s); trial++) {
        if (order_shows(&s)) continue;
        const bool long_one = trial % 17 == 0 && !quick;
        whole w =
            make_whole(&s, (data_class)(trial % DATA_CLASSES),
                       long_one ? (3 << 20) / (int64_t)tally_type_size(s.type) + 11 : random_below(&random, 3000), 2);
        check_shared_segments(&w, &random);
    }
}

/* ---- windows ---- */

static void add_int64(char *into, const char *from, size_t bytes) {
    for (size_t at = 0; at < bytes; at += 8) {
        int64_t a, b;
        memcpy(&a, into + at, 8);
        memcpy(&b, from + at, 8);
        a += b;
        memcpy(into + at, &a, 8);
    }
}

/* Parts find their extents, agree, shrink, add up, and restore: the result of all values. Segments are given in parts
 * by rows: part p has the rows p of each segment. */
static size_t check_windows(const whole *w, int64_t segments, int parts, int numbers) {
    enum { MOST = 6 };
    char *nodes[MOST];
    int16_t *extents = scratch(OTHERS, (size_t)(segments * numbers) * MOST * TALLY_EXTENT * sizeof(int16_t) + 1);
    const int64_t each = segments * numbers * TALLY_EXTENT;
    char *memory = scratch(NODES, MOST * (size_t)segments * w->node + 1);
    size_t bytes = 0, same;
    for (int p = 0; p < parts; p++) {
        int64_t begins[40], ends[40];
        for (int64_t s = 0; s < segments; s++) {
            const int64_t from = w->count * s / segments, length = w->count * (s + 1) / segments - from;
            begins[s] = from + length * p / parts;
            ends[s] = from + length * (p + 1) / parts;
        }
        nodes[p] = memory + (size_t)(p * segments) * w->node;
        EXPECT_OK(segments_nodes(w, 0, w->count, tally_begin_end(begins, ends, TALLY_I64, segments), nodes[p],
                                 (size_t)segments * w->node));
        EXPECT_OK(tally_find_extents(w->context, w->what.op, w->what.type, segments, nodes[p], extents + p * each));
        for (int64_t i = 0; p > 0 && i < each; i++)
            if (extents[p * each + i] > extents[i]) extents[i] = extents[p * each + i];
    }
    for (int p = 0; p < parts; p++) {
        EXPECT_OK(tally_shrink_nodes(w->context, w->what.op, w->what.type, segments, nodes[p], extents, &same));
        EXPECT(p == 0 || same == bytes, "%zu bytes and %zu", bytes, same);
        bytes = same;
        if (p > 0) add_int64(nodes[0], nodes[p], bytes);
    }
    EXPECT_OK(tally_restore_nodes(w->context, w->what.op, w->what.type, segments, nodes[0], extents));
    int64_t offsets[41];
    for (int64_t s = 0; s <= segments; s++) offsets[s] = w->count * s / segments;
    const tally_segments all = tally_offsets(offsets, TALLY_I64, segments);
    now.segments = "windows";
    expect_results(w, &all, segments, nodes[0]);
    return bytes / (size_t)segments;
}

static void test_windows(void **state) {
    subject s = {.op = -1};
    uint64_t random = seed + 5;
    (void)state;
    for (int trial = 0; next_subject(&s); trial++) {
        int numbers = -1;
        if (order_shows(&s)) continue;
        EXPECT_OK(tally_node_numbers(context_for(&s, TALLY_BACKEND_CPU, 1), s.op, s.type, &numbers));
        EXPECT((numbers > 0) == (is_exact_sum(&s) && s.op != TALLY_STATS), "%d numbers", numbers);
        for (int class = 0; class < DATA_CLASSES && numbers > 0; class ++) {
            whole w = make_whole(&s, (data_class) class, random_below(&random, 900), 1);
            check_windows(&w, 1 + random_below(&random, 40), 1 + (int)random_below(&random, 6), numbers);
        }
    }
}

/* What windows are for: a few words in place of many. */
static void test_narrow_windows(void **state) {
    const subject sums[] = {{TALLY_SUM, TALLY_F32, 0, 0, TALLY_BEST}, {TALLY_SUM, TALLY_F64, 0, 0, TALLY_BEST}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        whole w = make_whole(&sums[i], SMALL_INTEGERS, 800, 1);
        const size_t bytes = check_windows(&w, 8, 4, 1);
        EXPECT(bytes <= 6 * 8, "%zu bytes a node", bytes);
    }
}

static void test_refused_windows(void **state) {
    int16_t extents[2 * TALLY_EXTENT];
    const double x[2] = {1, -3};
    char node[584];
    size_t bytes;
    int numbers;
    (void)state;
    EXPECT_OK(tally_reduce_node(NULL, TALLY_SUM, tally_in(x, TALLY_F64, 2), node, sizeof node));
    EXPECT_STATUS(tally_node_numbers(NULL, TALLY_SUM, TALLY_F64, NULL), TALLY_BAD_ARGUMENT);
    EXPECT_OK(tally_node_numbers(NULL, TALLY_STATS, TALLY_F64, &numbers));
    EXPECT(numbers == 0, "%d numbers", numbers);
    EXPECT_STATUS(tally_find_extents(NULL, TALLY_MAX, TALLY_F64, 1, node, extents), TALLY_UNSUPPORTED);
    EXPECT_STATUS(tally_find_extents(NULL, TALLY_SUM, TALLY_F64, -1, node, extents), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_find_extents(NULL, TALLY_SUM, TALLY_F64, 1, NULL, extents), TALLY_BAD_ARGUMENT);
    EXPECT_OK(tally_find_extents(NULL, TALLY_SUM, TALLY_F64, 1, node, extents));
    EXPECT_STATUS(tally_shrink_nodes(NULL, TALLY_SUM, TALLY_F64, 1, node, extents, NULL), TALLY_BAD_ARGUMENT);
    for (int wrong = 0; wrong < 4; wrong++) {
        int16_t bad[TALLY_EXTENT];
        memcpy(bad, extents, sizeof bad);
        bad[wrong % 2] = wrong == 0 ? 68 : wrong == 1 ? 1 : wrong == 2 ? -1 : -68;
        EXPECT_STATUS(tally_shrink_nodes(NULL, TALLY_SUM, TALLY_F64, 1, node, bad, &bytes), TALLY_BAD_STATE);
        EXPECT_STATUS(tally_restore_nodes(NULL, TALLY_SUM, TALLY_F64, 1, node, bad), TALLY_BAD_STATE);
    }
}

/* A segment of several leaves whose values lie scattered. */
static void test_scattered(void **state) {
    enum { VALUES = 9000, SEGMENTS = 3 };
    static int32_t ids[VALUES];
    subject s = {.op = -1};
    uint64_t random = seed + 4;
    (void)state;
    for (int i = 0; i < VALUES; i++) ids[i] = (int32_t)random_below(&random, SEGMENTS);
    const tally_segments segments = tally_unsorted_ids(ids, TALLY_I32, SEGMENTS, TALLY_OUTSIDE_REFUSED);
    for (int trial = 0; next_subject(&s); trial++) {
        if (order_shows(&s) || (trial % 5 != 0 && s.op != TALLY_ARGMAX)) continue;
        whole w = make_whole(&s, s.op == TALLY_ARGMAX ? ANY_BITS : (data_class)(trial % DATA_CLASSES), VALUES, 2);
        now.segments = "scattered";
        check_segments(&w, &segments, SEGMENTS);
    }
}

/* ---- states of segments, and values ---- */

/* Where order shows: states of each segment's part, merged, give the bits of the whole segment. */
static void check_states(const whole *w, const tally_segments *segments, int64_t count) {
    char got[64], *wanted = scratch(WANTED, result_bytes(&w->what) * (size_t)count + 1);
    tally_state *states[8];
    const tally_array x = tally_in(w->x, w->what.type, w->count), y = tally_in(w->y, w->what.type, w->count);
    EXPECT(count <= 8, "%lld segments", (long long)count);
    for (int64_t s = 0; s < count; s++)
        EXPECT_OK(tally_state_open(w->context, w->what.op, w->what.type, 0, &states[s]));
    if (tally_op_inputs(w->what.op) == 2)
        EXPECT_OK(tally_push_segments_pair(w->context, w->what.op, x, y, *segments, states, count));
    else
        EXPECT_OK(tally_push_segments(w->context, w->what.op, x, *segments, states, count));
    (void)!perform(w->context, w->what.op, x, y, segments, tally_out(wanted, TALLY_NATURAL, count));
    for (int64_t s = 0; s < count; s++) {
        const tally_status status = tally_state_finish(states[s], tally_out(got, TALLY_NATURAL, 1));
        EXPECT(status == TALLY_OK || status == TALLY_EMPTY || status == TALLY_OVERFLOW, "status %d", (int)status);
        now.segment = s;
        EXPECT_BITS(got, wanted + (size_t)s * result_bytes(&w->what), result_bytes(&w->what), "a segment's state");
        tally_state_close(states[s]);
    }
}

static void test_states_of_segments(void **state) {
    subject s = {.op = -1};
    uint64_t random = seed + 6;
    static int32_t ids[6000];
    (void)state;
    for (int trial = 0; next_subject(&s); trial++) {
        if (trial % 3 != 0 && !order_shows(&s)) continue;
        whole w = {.what = s, .context = context_for(&s, TALLY_BACKEND_CPU, 1 + trial % 2)};
        const data_class class = (data_class)(trial % DATA_CLASSES);
        w.count = 4 * random_below(&random, 1500);
        w.x = data_of(s.type, class, w.count);
        w.y = data_of(s.type, TIES, w.count);
        w.bytes = tally_type_size(s.type);
        now = (scene){.op = s.op, .type = s.type, .accuracy = s.accuracy, .size = w.count, .segments = "states"};
        for (int64_t i = 0; i < w.count; i++) ids[i] = (int32_t)random_below(&random, 3);
        const tally_segments scattered = tally_unsorted_ids(ids, TALLY_I32, 3, TALLY_OUTSIDE_REFUSED),
                             rows = tally_rows(2, w.count / 4, 2);
        check_states(&w, &scattered, 3);
        check_states(&w, &rows, 4);
    }
}

static void test_values(void **state) {
    const float x[6] = {1, 2, 3, 4, 5, 6};
    float got[3] = {0};
    tally_state *states[2] = {NULL, NULL};
    size_t bytes;
    const tally_array apart = {x + 5, TALLY_F32, 3, -8}, in = tally_in(x, TALLY_F32, 6);
    const tally_segments rows = tally_rows(2, 3, 1);
    (void)state;
    EXPECT_OK(tally_copy_values(NULL, TALLY_SUM, apart, got, sizeof got));
    EXPECT(got[0] == 6 && got[1] == 4 && got[2] == 2, "%g %g %g", (double)got[0], (double)got[1], (double)got[2]);
    EXPECT_OK(tally_copy_values(NULL, TALLY_DOT, apart, got, sizeof got));
    EXPECT_STATUS(tally_copy_values(NULL, TALLY_SUM, apart, got, sizeof got - 1), TALLY_NO_SPACE);
    EXPECT_STATUS(tally_copy_values(NULL, TALLY_SUM, apart, NULL, sizeof got), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_copy_values(NULL, TALLY_XOR, apart, got, sizeof got), TALLY_BAD_TYPE);
    EXPECT_OK(tally_value_bytes(NULL, TALLY_SUM, TALLY_F32, &bytes));
    EXPECT(bytes == 4, "%zu bytes", bytes);
    EXPECT_STATUS(tally_value_bytes(NULL, TALLY_SUM, TALLY_F32, NULL), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_push_segments(NULL, TALLY_PROD, in, rows, NULL, 2), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_push_segments(NULL, TALLY_PROD, in, rows, states, 3), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_push_segments(NULL, TALLY_PROD, in, rows, states, 2), TALLY_BAD_ARGUMENT);
    EXPECT_OK(tally_state_open(NULL, TALLY_SUM, TALLY_F32, 0, &states[0]));
    EXPECT_STATUS(tally_push_segments(NULL, TALLY_PROD, in, rows, states, 2), TALLY_BAD_ARGUMENT);
    tally_state_close(states[0]);
}

/* ---- what is refused ---- */

static void test_refused(void **state) {
    const double x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const int64_t bad[3] = {0, 9, 8}, fine[3] = {0, 2, 8}, by = 1, wrong = -1, huge = INT64_MAX;
    char node[2 * 584];
    double out[2];
    size_t bytes;
    int64_t counts[2], results;
    const tally_array in = tally_in(x, TALLY_F64, 8);
    const tally_output to = tally_out(out, TALLY_F64, 2);
    (void)state;
    EXPECT_STATUS(tally_node_bytes(NULL, TALLY_SUM, TALLY_F64, NULL), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_node_adds(NULL, TALLY_SUM, TALLY_F64, NULL), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_node_bytes(NULL, 999, TALLY_F64, &bytes), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_node_bytes(NULL, TALLY_XOR, TALLY_F64, &bytes), TALLY_BAD_TYPE);
    EXPECT_OK(tally_node_bytes(NULL, TALLY_SUM, TALLY_F64, &bytes));
    EXPECT(bytes == 584, "a node of %zu bytes", bytes);
    EXPECT_STATUS(tally_reduce_node(NULL, TALLY_SUM, in, NULL, 584), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_reduce_node(NULL, TALLY_SUM, in, node, 583), TALLY_NO_SPACE);
    EXPECT_STATUS(tally_reduce_node(NULL, TALLY_DOT, in, node, sizeof node), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_reduce_node(NULL, TALLY_SUM, tally_in(NULL, TALLY_F64, 8), node, 584), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_reduce_segments_nodes(NULL, TALLY_SUM, in, tally_offsets(bad, TALLY_I64, 2), node, sizeof node),
                  TALLY_BAD_SEGMENTS);
    EXPECT_STATUS(
        tally_reduce_segments_nodes(NULL, TALLY_SUM, in, tally_offsets(NULL, TALLY_I64, 2), node, sizeof node),
        TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_segment_counts(NULL, 8, tally_offsets(bad, TALLY_I64, 2), counts, 2, &results),
                  TALLY_BAD_SEGMENTS);
    EXPECT_STATUS(tally_segment_counts(NULL, 8, tally_offsets(fine, TALLY_I64, 2), counts, 1, &results),
                  TALLY_NO_SPACE);
    EXPECT_STATUS(tally_segment_counts(NULL, 8, tally_offsets(fine, TALLY_I64, 2), counts, 2, NULL),
                  TALLY_BAD_ARGUMENT);
    EXPECT_OK(tally_segment_counts(NULL, 8, tally_offsets(fine, TALLY_I64, 2), NULL, 0, &results));
    EXPECT_STATUS(tally_segment_counts(NULL, -1, tally_offsets(fine, TALLY_I64, 2), counts, 2, &results),
                  TALLY_BAD_ARGUMENT);
    EXPECT_OK(tally_reduce_segments_nodes(NULL, TALLY_SUM, in, tally_offsets(fine, TALLY_I64, 2), node, sizeof node));
    EXPECT_STATUS(tally_merge_nodes(NULL, TALLY_SUM, TALLY_F64, -1, node, node + 584), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_merge_nodes(NULL, TALLY_SUM, TALLY_F64, 1, NULL, node), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_merge_nodes(NULL, TALLY_SUM, TALLY_F64, 1, node, NULL), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_merge_nodes(NULL, TALLY_SUM, TALLY_F64, INT64_MAX / 584, node, node), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_shift_nodes(NULL, TALLY_ARGMIN, TALLY_F64, 1, node, NULL), TALLY_BAD_ARGUMENT);
    EXPECT_OK(tally_shift_nodes(NULL, TALLY_SUM, TALLY_F64, 1, node, &by));
    EXPECT_STATUS(tally_finish_nodes(NULL, TALLY_SUM, TALLY_F64, 2, node, tally_out(out, TALLY_F64, 1)),
                  TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_finish_nodes(NULL, TALLY_SUM, TALLY_F64, 2, node, tally_out(NULL, TALLY_F64, 2)),
                  TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_finish_nodes(NULL, TALLY_SUM, TALLY_F64, 2, node, tally_out(out, TALLY_STRUCT, 2)),
                  TALLY_BAD_TYPE);
    EXPECT_OK(tally_finish_nodes(NULL, TALLY_SUM, TALLY_F64, 2, node, to));
    EXPECT(out[0] == 3 && out[1] == 33, "%g and %g", out[0], out[1]);
    memcpy(node + 584, &wrong, 8);
    EXPECT_STATUS(tally_finish_nodes(NULL, TALLY_SUM, TALLY_F64, 2, node, to), TALLY_BAD_STATE);
    memcpy(node + 584, &huge, 8);
    EXPECT_STATUS(tally_merge_nodes(NULL, TALLY_SUM, TALLY_F64, 1, node, node + 584), TALLY_BAD_STATE);
    EXPECT_STATUS(tally_shift_nodes(NULL, TALLY_SUM, TALLY_F64, 1, node + 584, &by), TALLY_BAD_STATE);
}

/* Nodes of any bytes: some result or TALLY_BAD_STATE, and for sanitizers to look at. */
static void test_any_bytes(void **state) {
    subject s = {.op = -1};
    uint64_t random = seed + 3;
    (void)state;
    while (next_subject(&s)) {
        if (order_shows(&s)) continue;
        whole w = make_whole(&s, TIES, 1, 1);
        char nodes[2][MOST_NODE], out[64];
        const int64_t by = (int64_t)next_random(&random);
        for (size_t i = 0; i < 2 * MOST_NODE; i++) nodes[i / MOST_NODE][i % MOST_NODE] = (char)next_random(&random);
        for (int k = 0; k < 2; k++) memset(nodes[k] + 4, 0, 4); /* some count */
        EXPECT_OK(tally_merge_nodes(w.context, s.op, s.type, 1, nodes[0], nodes[1]));
        EXPECT_OK(tally_shift_nodes(w.context, s.op, s.type, 1, nodes[0], &by));
        tally_status status =
            tally_finish_nodes(w.context, s.op, s.type, 1, nodes[0], tally_out(out, TALLY_NATURAL, 1));
        EXPECT(status == TALLY_OK || status == TALLY_OVERFLOW, "status %d", (int)status);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_splits),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_shared_segments),
        cmocka_unit_test(test_scattered),
        cmocka_unit_test(test_states_of_segments),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_narrow_windows),
        cmocka_unit_test(test_refused_windows),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_any_bytes),
    };
    int status = begin_program(argc, argv);
    return status ? status : cmocka_run_group_tests(tests, NULL, NULL);
}
