/* Nodes of arrays in GPU memory, made there or in the host's: those of the CPU, byte for byte; and results and
 * values that go between the GPU's memory and the host's. */
#include <math.h>
#include <string.h>

#include "node_side.h"

static void check_nodes_of(const subject *s, const char *x, const char *y, int trial) {
    const int64_t offsets[SEGMENTS + 1] = {0, 7, 7, COUNT};
    const tally_segments segments =
        trial % 2 ? tally_offsets(offsets, TALLY_I64, SEGMENTS) : tally_rows(1, COUNT / 3, 3);
    const size_t bytes = COUNT * tally_type_size(s->type), result = result_bytes(s);
    tally_context *context = context_for(s, backend, 1), *host = context_for(s, TALLY_BACKEND_CPU, 1);
    tally__cu_address far_x = device_copy(x, bytes, 0), far_y = device_copy(y, bytes, 0), out;
    char got[SEGMENTS * MOST_NODE], wanted[SEGMENTS * MOST_NODE], results[2][SEGMENTS * 64] = {{0}};
    size_t node;
    choose_schedule(trial);
    EXPECT_OK(tally_node_bytes(context, s->op, s->type, &node));
    EXPECT_OK(segments_nodes(context, s, address(far_x), address(far_y), COUNT, segments, got, SEGMENTS * node));
    EXPECT_OK(segments_nodes(host, s, x, y, COUNT, segments, wanted, SEGMENTS * node));
    EXPECT_BITS(got, wanted, SEGMENTS * node, "nodes of segments");
    if (tally_op_inputs(s->op) == 1) {
        EXPECT_OK(tally_reduce_node(context, s->op, tally_in(address(far_x), s->type, COUNT), got, node));
        EXPECT_OK(tally_reduce_node(host, s->op, tally_in(x, s->type, COUNT), wanted + 0, node));
        EXPECT_BITS(got, wanted, node, "the node of an array");
        EXPECT_OK(segments_nodes(host, s, x, y, COUNT, segments, wanted, SEGMENTS * node));
    }
    out = device_copy(results[0], SEGMENTS * result, 0);
    const tally_status due =
        tally_finish_nodes(host, s->op, s->type, SEGMENTS, wanted, tally_out(results[0], TALLY_NATURAL, SEGMENTS));
    EXPECT_STATUS(
        tally_finish_nodes(context, s->op, s->type, SEGMENTS, wanted, tally_out(address(out), TALLY_NATURAL, SEGMENTS)),
        due);
    device_read(results[1], out, SEGMENTS * result);
    EXPECT_BITS(results[1], results[0], SEGMENTS * result, "results in GPU memory");
    driver->release(out);
    driver->release(far_x);
    driver->release(far_y);
}

static void check_nodes(const subject *s, data_class class, int trial) {
    set_scene(s, class, COUNT);
    check_nodes_of(s, data_of(s->type, class, COUNT), data_of(s->type, TIES, COUNT), trial);
}

static void test_nodes(void **state) {
    subject s = {.op = -1};
    (void)state;
    for (int trial = 0; next_subject(&s); trial++)
        if (!order_shows(&s) && (trial % 4 == 0 || s.op == TALLY_ARGMAX))
            check_nodes(&s, (data_class)(trial % DATA_CLASSES), trial);
}

/* Nodes of skipped NaNs alone, and beside infinities, which an extreme might take for no value. */
static void test_skipped(void **state) {
    static const tally_op ops[] = {TALLY_MAX, TALLY_MIN, TALLY_MINMAX, TALLY_NORMINF, TALLY_ARGMAX};
    static const tally_type types[] = {TALLY_F16, TALLY_BF16, TALLY_F32, TALLY_F64};
    static char values[COUNT * 8];
    static const double others[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    (void)state;
    for (int trial = 0; trial < 5 * 4 * 3; trial++) {
        const subject s = {ops[trial % 5], types[trial / 5 % 4], TALLY_NAN_SKIP, 0, TALLY_BEST};
        for (int64_t i = 0; i < COUNT; i++) put_number(s.type, values, i, i < 9 ? others[trial / 20] : (double)NAN);
        set_scene(&s, SPECIALS, COUNT);
        check_nodes_of(&s, values, values, trial);
    }
}

/* What infinities and NaNs are evidence of in a node; among 2^16 values a warp reads ones without any, too. */
static void test_specials(void **state) {
    enum { MANY = 1 << 16 };
    const double specials[][2] = {{(double)INFINITY, 1},
                                  {-(double)INFINITY, 1},
                                  {(double)NAN, 1},
                                  {(double)INFINITY, -(double)INFINITY},
                                  {(double)NAN, -0.0}};
    subject s = {.op = -1};
    (void)state;
    while (next_subject(&s)) {
        if (!is_float(s.type) || order_shows(&s) || tally_op_inputs(s.op) > 1) continue;
        tally_context *context = context_for(&s, backend, 1), *host = context_for(&s, TALLY_BACKEND_CPU, 1);
        const size_t bytes = MANY * tally_type_size(s.type);
        char got[MOST_NODE], wanted[MOST_NODE], *const x = scratch(1, bytes);
        size_t node;
        EXPECT_OK(tally_node_bytes(context, s.op, s.type, &node));
        for (size_t k = 0; k < sizeof specials / sizeof specials[0]; k++) {
            memcpy(x, data_of(s.type, k % 2 ? MIXED_ZEROS : TIES, MANY), bytes);
            put_number(s.type, x, 1, specials[k][0]);
            put_number(s.type, x, MANY / 2, specials[k][1]);
            const tally__cu_address there = device_copy(x, bytes, 0);
            set_scene(&s, SPECIALS, MANY);
            EXPECT_OK(tally_reduce_node(context, s.op, tally_in(address(there), s.type, MANY), got, node));
            EXPECT_OK(tally_reduce_node(host, s.op, tally_in(x, s.type, MANY), wanted, node));
            EXPECT_BITS(got, wanted, node, "the node of an array with infinities or NaNs");
            driver->release(there);
        }
    }
}

/* ---- nodes in GPU memory ---- */

/* Nodes of the same segments, there and here. */
static void check_segments(side *g, int64_t count, tally_segments here, tally_segments there, int64_t number) {
    const subject *s = g->s;
    EXPECT_OK(segments_nodes(g->host, s, g->x, g->y, count, here, g->wanted, SEGMENTS * g->node));
    EXPECT_OK(segments_nodes(g->context, s, address(g->x_there), address(g->y_there), count, there, nodes_of(g),
                             SEGMENTS * g->node));
    now.segment = number;
    expect_nodes(g, SEGMENTS, "nodes of segments in GPU memory");
    memset(g->got, 0, sizeof g->got);
    EXPECT_OK(segments_nodes(g->context, s, address(g->x_there), address(g->y_there), count, there, g->got,
                             SEGMENTS * g->node));
    EXPECT_BITS(g->got, g->wanted, SEGMENTS * g->node, "nodes of a GPU's segments in host memory");
}

/* Lengths and ids in GPU memory, which become offsets there, or an order in which values are copied; and a plan of
 * each. With features the only segment has all of them. */
static void check_arranged(side *g, int64_t count, int trial) {
    const bool has_features = trial % 2;
    const int64_t vectors = has_features ? count / SEGMENTS : count, segments = has_features ? 1 : SEGMENTS;
    const int64_t lengths[SEGMENTS] = {has_features ? vectors - 3 : 7, 0, count - 9};
    int32_t *ids = scratch(0, (size_t)vectors * 8), *mixed = ids + vectors;
    for (int64_t i = 0; i < vectors; i++) {
        ids[i] = has_features || i < 7 ? 0 : 2;
        mixed[i] = i % 11 == 3 ? 7 : (int32_t)((i * 5 + i / 700) % SEGMENTS); /* 7: of no segment */
    }
    tally__cu_address far[] = {device_copy(lengths, sizeof lengths, 0), device_copy(ids, (size_t)vectors * 4, 0),
                               device_copy(mixed, (size_t)vectors * 4, 0)};
    tally_segments segmentations[][2] = {
        {tally_lengths(lengths, TALLY_I64, segments), tally_lengths(address(far[0]), TALLY_I64, segments)},
        {tally_segment_ids(ids, TALLY_I32, segments), tally_segment_ids(address(far[1]), TALLY_I32, segments)},
        {tally_unsorted_ids(mixed, TALLY_I32, segments, TALLY_OUTSIDE_LEFT_OUT),
         tally_unsorted_ids(address(far[2]), TALLY_I32, segments, TALLY_OUTSIDE_LEFT_OUT)},
        {tally_unsorted_ids(mixed, TALLY_I32, segments, TALLY_OUTSIDE_LEFT_OUT),
         tally_unsorted_ids(mixed, TALLY_I32, segments, TALLY_OUTSIDE_LEFT_OUT)}};
    for (int c = 0; c < 4; c++) {
        const int64_t inner = has_features ? SEGMENTS : 1;
        tally_plan *plan = NULL;
        if (c < 3) EXPECT_OK(tally_plan_open(g->context, g->s->type, vectors, segmentations[c][1], &plan));
        check_segments(g, count, tally_features(segmentations[c][0], inner), tally_features(segmentations[c][1], inner),
                       100 + c);
        if (c < 3)
            check_segments(g, count, tally_features(segmentations[c][0], inner),
                           tally_features(tally_planned(plan), inner), c + 200);
        tally_plan_close(plan);
    }
    for (int k = 0; k < 3; k++) driver->release(far[k]);
}

static void check_made(side *g, int64_t count) {
    const subject *s = g->s;
    const int64_t offsets[SEGMENTS + 1] = {0, 7, 7, count}, begins[SEGMENTS] = {count - 9, 4, 0},
                                     ends[SEGMENTS] = {count, 4, count - 1};
    const int64_t no_values[SEGMENTS + 1] = {0}, inside[SEGMENTS + 1] = {5, 9, 9, count - 11};
    int32_t narrow[SEGMENTS + 1];
    for (int k = 0; k <= SEGMENTS; k++) narrow[k] = (int32_t)offsets[k];
    tally__cu_address far[] = {device_copy(offsets, sizeof offsets, 0), device_copy(begins, sizeof begins, 0),
                               device_copy(ends, sizeof ends, 0), device_copy(narrow, sizeof narrow, 1),
                               device_copy(inside, sizeof inside, 0)};
    const tally_segments segmentations[][2] = {
        {tally_rows(1, count / 3, 3), tally_rows(1, count / 3, 3)},
        {tally_rows(3, count / 3, 1), tally_rows(3, count / 3, 1)},
        {tally_offsets(offsets, TALLY_I64, SEGMENTS), tally_offsets(offsets, TALLY_I64, SEGMENTS)},
        {tally_offsets(offsets, TALLY_I64, SEGMENTS), tally_offsets(address(far[0]), TALLY_I64, SEGMENTS)},
        {tally_offsets(offsets, TALLY_I64, SEGMENTS), tally_offsets(address(far[3] + 1), TALLY_I32, SEGMENTS)},
        {tally_offsets(inside, TALLY_I64, SEGMENTS), tally_offsets(inside, TALLY_I64, SEGMENTS)},
        {tally_offsets(inside, TALLY_I64, SEGMENTS), tally_offsets(address(far[4]), TALLY_I64, SEGMENTS)},
        {tally_begin_end(begins, ends, TALLY_I64, SEGMENTS),
         tally_begin_end(address(far[1]), address(far[2]), TALLY_I64, SEGMENTS)}};
    for (size_t c = 0; c < sizeof segmentations / sizeof *segmentations; c++)
        check_segments(g, count, segmentations[c][0], segmentations[c][1], (int64_t)c);
    if (tally_op_inputs(s->op) == 1) {
        EXPECT_OK(tally_reduce_node(g->host, s->op, tally_in(g->x, s->type, count), g->wanted, g->node));
        EXPECT_OK(
            tally_reduce_node(g->context, s->op, tally_in(address(g->x_there), s->type, count), nodes_of(g), g->node));
        expect_nodes(g, 1, "the node of an array in GPU memory");
        EXPECT_OK(tally_reduce_node(g->host, s->op, tally_in(NULL, s->type, 0), g->wanted, g->node));
        EXPECT_OK(tally_reduce_node(g->context, s->op, tally_in(NULL, s->type, 0), nodes_of(g), g->node));
        expect_nodes(g, 1, "the node of nothing in GPU memory");
        const tally_segments nothing = tally_offsets(no_values, TALLY_I64, SEGMENTS);
        EXPECT_OK(segments_nodes(g->host, s, NULL, NULL, 0, nothing, g->wanted, SEGMENTS * g->node));
        EXPECT_OK(segments_nodes(g->context, s, NULL, NULL, 0, nothing, nodes_of(g), SEGMENTS * g->node));
        expect_nodes(g, SEGMENTS, "nodes of empty segments in GPU memory");
    }
    for (size_t k = 0; k < sizeof far / sizeof *far; k++) driver->release(far[k]);
}

/* Nodes that have been added word by word, as an all-reduce does, are merged, too. */
static void add_twice(side *g, char *nodes) {
    int adds;
    int64_t *const words = (int64_t *)(void *)nodes;
    EXPECT_OK(tally_node_adds(g->host, g->s->op, g->s->type, &adds));
    for (size_t k = 0; adds && k < SEGMENTS * g->node / 8; k++) words[k] *= (1 << 30) - 1; /* as many nodes */
}

/* Results of the same nodes there and here. */
static void check_finished(const side *g, void *there, const void *here) {
    const subject *s = g->s;
    const size_t bytes = SEGMENTS * result_bytes(s);
    char results[2][SEGMENTS * 64] = {{0}};
    const tally_output out[2] = {tally_out(results[0], TALLY_NATURAL, SEGMENTS),
                                 tally_out(results[1], TALLY_NATURAL, SEGMENTS)};
    tally__cu_address far = device_copy(results[0], bytes, 1);
    const tally_status due = tally_finish_nodes(g->host, s->op, s->type, SEGMENTS, here, out[0]);
    EXPECT_OK(tally_finish_nodes(g->context, s->op, s->type, SEGMENTS, there,
                                 tally_out(address(far + 1), TALLY_NATURAL, SEGMENTS)));
    device_read(results[1], far + 1, bytes);
    EXPECT_BITS(results[1], results[0], bytes, "results of nodes in GPU memory");
    memset(results[1], 0, bytes);
    EXPECT_STATUS(tally_finish_nodes(g->context, s->op, s->type, SEGMENTS, there, out[1]), due);
    EXPECT_BITS(results[1], results[0], bytes, "results in the host's memory of nodes in a GPU's");
    driver->release(far);
}

static void check_changed(side *g, int64_t count) {
    const subject *s = g->s;
    const int64_t by[SEGMENTS] = {0, 1 << 20, 5};
    _Alignas(8) char from[SEGMENTS * MOST_NODE];
    EXPECT_OK(segments_nodes(g->host, s, g->x, g->y, count, tally_rows(1, count / 3, 3), from, SEGMENTS * g->node));
    add_twice(g, from);
    tally__cu_address others = device_copy(from, SEGMENTS * g->node, g->offset), far_by = device_copy(by, sizeof by, 0);
    /* what is there is a node of nothing, and nodes of segments */
    EXPECT_OK(
        segments_nodes(g->host, s, g->x, g->y, count, tally_rows(3, count / 3, 1), g->wanted, SEGMENTS * g->node));
    EXPECT_OK(segments_nodes(g->context, s, address(g->x_there), address(g->y_there), count,
                             tally_rows(3, count / 3, 1), nodes_of(g), SEGMENTS * g->node));
    EXPECT_OK(tally_shift_nodes(g->host, s->op, s->type, SEGMENTS, g->wanted, by));
    EXPECT_OK(tally_shift_nodes(g->context, s->op, s->type, SEGMENTS, nodes_of(g), address(far_by)));
    expect_nodes(g, SEGMENTS, "shifted nodes in GPU memory");
    EXPECT_OK(tally_merge_nodes(g->host, s->op, s->type, SEGMENTS, g->wanted, from));
    EXPECT_OK(tally_merge_nodes(g->context, s->op, s->type, SEGMENTS, nodes_of(g), address(others + g->offset)));
    expect_nodes(g, SEGMENTS, "merged nodes in GPU memory");
    check_finished(g, nodes_of(g), g->wanted);
    /* finishing changes no node */
    expect_nodes(g, SEGMENTS, "nodes that were finished");
    check_finished(g, address(others + g->offset), from);
    driver->release(far_by);
    driver->release(others);
}

static void test_nodes_there(void **state) {
    subject s = {.op = -1};
    (void)state;
    for (int trial = 0; next_subject(&s); trial++) {
        side g;
        if (order_shows(&s) || (trial % 3 != 1 && s.op != TALLY_ARGMAX)) continue;
        open_side(&g, &s, (data_class)(trial % DATA_CLASSES), COUNT, trial);
        check_made(&g, COUNT);
        if (trial % 2 == 0 || s.op == TALLY_ARGMAX) check_arranged(&g, COUNT, trial / 2);
        check_changed(&g, COUNT);
        close_side(&g);
    }
}

/* Segments that have launches of their own, beside others; and by an index that the GPU alone knows pieces. */
static void test_long_segments(void **state) {
    enum { LONG = 200000, ALL = LONG + 40 };
    const int64_t offsets[SEGMENTS + 1] = {0, 17, 17 + LONG, ALL};
    const subject subjects[] = {{.op = TALLY_SUM, .type = TALLY_F64},
                                {.op = TALLY_ARGMAX, .type = TALLY_I64},
                                {.op = TALLY_STATS, .type = TALLY_F32},
                                {.op = TALLY_DOT, .type = TALLY_F32},
                                {.op = TALLY_MINMAX, .type = TALLY_I8}};
    const tally__cu_address far = device_copy(offsets, sizeof offsets, 0);
    const tally_segments segments = tally_offsets(offsets, TALLY_I64, SEGMENTS),
                         there = tally_offsets(address(far), TALLY_I64, SEGMENTS),
                         alone = tally_offsets(address(far + 8), TALLY_I64, 1);
    (void)state;
    for (size_t k = 0; k < sizeof subjects / sizeof *subjects; k++) {
        side g;
        open_side(&g, &subjects[k], CANCELLATION, ALL, (int)k);
        EXPECT_OK(segments_nodes(g.host, g.s, g.x, g.y, ALL, segments, g.wanted, SEGMENTS * g.node));
        for (int c = k < 2 ? 0 : 1; c < 2; c++) {
            EXPECT_OK(segments_nodes(g.context, g.s, address(g.x_there), address(g.y_there), ALL, c ? there : segments,
                                     nodes_of(&g), SEGMENTS * g.node));
            expect_nodes(&g, SEGMENTS, c ? "nodes of a long segment's pieces" : "nodes of a long segment");
        }
        memcpy(g.wanted, g.wanted + g.node, g.node); /* the long one alone has more pieces */
        EXPECT_OK(
            segments_nodes(g.context, g.s, address(g.x_there), address(g.y_there), ALL, alone, nodes_of(&g), g.node));
        expect_nodes(&g, 1, "the node of pieces");
        close_side(&g);
    }
    driver->release(far);
}

/* More segments than blocks, or warps, that run at once. */
static void test_many_segments(void **state) {
    enum { EACH = 3, MANY = 4000, ALL = EACH * MANY };
    const subject subjects[] = {{.op = TALLY_VAR, .type = TALLY_F32}, {.op = TALLY_ARGMIN, .type = TALLY_I8}};
    (void)state;
    for (int k = 0; k < 2; k++) {
        side g;
        open_side(&g, &subjects[k], CANCELLATION, ALL, k);
        const size_t bytes = MANY * g.node;
        char *wanted = scratch(0, bytes), *got = scratch(1, bytes);
        tally__cu_address there = device_copy(got, bytes, 0);
        const tally_segments rows = tally_rows(MANY, EACH, 1);
        EXPECT_OK(segments_nodes(g.host, g.s, g.x, g.y, ALL, rows, wanted, bytes));
        EXPECT_OK(segments_nodes(g.context, g.s, address(g.x_there), NULL, ALL, rows, address(there), bytes));
        EXPECT_OK(
            tally_merge_nodes(g.context, g.s->op, g.s->type, MANY / 2, address(there), address(there + bytes / 2)));
        EXPECT_OK(tally_merge_nodes(g.host, g.s->op, g.s->type, MANY / 2, wanted, wanted + bytes / 2));
        device_read(got, there, bytes);
        EXPECT_BITS(got, wanted, bytes, "nodes of many segments");
        driver->release(there);
        close_side(&g);
    }
}

/* What only kernels can see is told if it is asked for; what is not asked for does no harm. */
static void test_told(void **state) {
    const subject s = {.op = TALLY_SUM, .type = TALLY_F64}, other = {.op = TALLY_MAX, .type = TALLY_I32};
    const int64_t wrong[SEGMENTS + 1] = {0, 9, 8, COUNT}, damaged = -1;
    tally__cu_address far = device_copy(wrong, sizeof wrong, 0);
    const tally_segments unsorted =
        tally_unsorted_ids(address(far), TALLY_I64, SEGMENTS, TALLY_OUTSIDE_REFUSED); /* 9 and 8 are none */
    tally_options options = TALLY_OPTIONS_INIT;
    (void)state;
    options.backend = backend;
    for (options.checked = 0; options.checked < 2; options.checked++) {
        side g, h;
        float out[SEGMENTS];
        open_side(&g, &s, SMALL_INTEGERS, COUNT, 0);
        open_side(&h, &other, SMALL_INTEGERS, COUNT, 0);
        g.context = context_of(backend);
        EXPECT_OK(tally_set_options(g.context, &options));
        EXPECT_STATUS(tally_reduce_segments_nodes(g.context, s.op, tally_in(address(g.x_there), s.type, COUNT),
                                                  tally_offsets(address(far), TALLY_I64, SEGMENTS), nodes_of(&g),
                                                  sizeof g.got),
                      options.checked ? TALLY_BAD_SEGMENTS : TALLY_OK);
        EXPECT_STATUS(tally_reduce_segments_nodes(g.context, s.op, tally_in(address(g.x_there), s.type, COUNT),
                                                  tally_offsets(address(far), TALLY_I64, SEGMENTS), g.got,
                                                  sizeof g.got),
                      TALLY_BAD_SEGMENTS);
        EXPECT_STATUS(tally_reduce_segments_nodes(g.context, s.op, tally_in(address(g.x_there), s.type, SEGMENTS),
                                                  unsorted, nodes_of(&g), sizeof g.got),
                      options.checked ? TALLY_BAD_SEGMENTS : TALLY_OK);
        EXPECT_STATUS(tally_reduce_segments_nodes(g.context, s.op, tally_in(address(g.x_there), s.type, SEGMENTS),
                                                  unsorted, g.got, sizeof g.got),
                      TALLY_BAD_SEGMENTS);
        driver->copy_in(g.nodes + g.node, &damaged, sizeof damaged, NULL);
        driver->copy_in(h.nodes + h.node, &damaged, sizeof damaged, NULL);
        EXPECT_STATUS(tally_merge_nodes(g.context, s.op, s.type, 1, nodes_of(&g), (char *)nodes_of(&g) + g.node),
                      options.checked ? TALLY_BAD_STATE : TALLY_OK);
        EXPECT_STATUS(
            tally_merge_nodes(g.context, other.op, other.type, 1, nodes_of(&h), (char *)nodes_of(&h) + h.node),
            options.checked ? TALLY_BAD_STATE : TALLY_OK);
        EXPECT_STATUS(tally_finish_nodes(g.context, s.op, s.type, 2, nodes_of(&g), tally_out(out, TALLY_F32, 2)),
                      TALLY_BAD_STATE);
        close_side(&g);
        close_side(&h);
        tally_context_destroy(g.context);
    }
    driver->release(far);
}

static void test_refused_there(void **state) {
    const subject s = {.op = TALLY_SUM, .type = TALLY_F64};
    const int32_t ids[COUNT + 1] = {1};
    const tally_segments unsorted = tally_unsorted_ids(ids, TALLY_I32, 2, TALLY_OUTSIDE_REFUSED);
    const int64_t by[SEGMENTS] = {0};
    tally_plan *plan;
    side g;
    (void)state;
    open_side(&g, &s, SMALL_INTEGERS, COUNT, 0);
    const tally_array there = tally_in(address(g.x_there), s.type, COUNT), here = tally_in(g.x, s.type, COUNT);
    tally_context *c = g.context;
    char *odd = (char *)nodes_of(&g) + 4;
    EXPECT_STATUS(tally_reduce_node(c, s.op, here, nodes_of(&g), g.node), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_reduce_node(c, s.op, there, odd, g.node), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_reduce_node(c, s.op, there, nodes_of(&g), g.node - 1), TALLY_NO_SPACE);
    EXPECT_STATUS(tally_reduce_node(c, TALLY_PROD, there, nodes_of(&g), g.node), TALLY_UNSUPPORTED);
    EXPECT_OK(tally_plan_open(g.host, s.type, COUNT, unsorted, &plan));
    EXPECT_STATUS(tally_reduce_segments_nodes(c, s.op, there, tally_planned(plan), nodes_of(&g), SEGMENTS * g.node),
                  TALLY_BAD_ARGUMENT);
    tally_plan_close(plan);
    EXPECT_OK(tally_plan_open(c, s.type, COUNT, tally_segment_ids(ids + 1, TALLY_I32, 2), &plan));
    EXPECT_STATUS(tally_reduce_segments_nodes(c, s.op, here, tally_planned(plan), g.got, SEGMENTS * g.node),
                  TALLY_UNSUPPORTED);
    tally_plan_close(plan);
    EXPECT_STATUS(tally_reduce_segments_nodes(c, s.op, there, tally_rows(2, COUNT, 1), nodes_of(&g), SEGMENTS * g.node),
                  TALLY_BAD_SEGMENTS);
    EXPECT_STATUS(tally_merge_nodes(c, s.op, s.type, 1, g.wanted, nodes_of(&g)), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_merge_nodes(c, s.op, s.type, 1, nodes_of(&g), g.wanted), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_merge_nodes(c, s.op, s.type, 1, nodes_of(&g), odd), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_shift_nodes(c, TALLY_ARGMIN, TALLY_F64, 1, nodes_of(&g), by), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_finish_nodes(c, s.op, s.type, 1, odd, tally_out(address(g.x_there), TALLY_F64, 1)),
                  TALLY_BAD_ARGUMENT);
    close_side(&g);
}

/* A stream that captures: nothing waits, and nothing is copied from the host. */
static void test_captured(void **state) {
    const subject subjects[] = {{.op = TALLY_SUM, .type = TALLY_F32}, {.op = TALLY_ARGMIN, .type = TALLY_I16}};
    const int64_t offsets[SEGMENTS + 1] = {0, 7, 7, COUNT};
    (void)state;
    if (backend != TALLY_BACKEND_SIMT) return;
    const int32_t ids[COUNT] = {1};
    const tally_segments unsorted = tally_unsorted_ids(ids, TALLY_I32, SEGMENTS, TALLY_OUTSIDE_REFUSED);
    for (int k = 0; k < 2; k++) {
        const subject *s = &subjects[k];
        const tally_segments segmentations[] = {tally_offsets(offsets, TALLY_I64, SEGMENTS),
                                                tally_rows(3, COUNT / 3, 1)};
        side g;
        open_side(&g, s, CANCELLATION, COUNT, k);
        g.context = context_of(backend);
        tally__cu_address out = device_copy(offsets, SEGMENTS * 8, 0);
        tally__simt_capture(true);
        EXPECT_STATUS(
            segments_nodes(g.context, s, address(g.x_there), NULL, COUNT, unsorted, nodes_of(&g), SEGMENTS * g.node),
            TALLY_BAD_ARGUMENT);
        tally__simt_capture(false);
        for (int c = 0; c < 2; c++) {
            char results[2][SEGMENTS * 8] = {{0}};
            EXPECT_OK(segments_nodes(g.host, s, g.x, g.y, COUNT, segmentations[c], g.wanted, SEGMENTS * g.node));
            tally__simt_capture(true);
            EXPECT_OK(segments_nodes(g.context, s, address(g.x_there), NULL, COUNT, segmentations[c], nodes_of(&g),
                                     SEGMENTS * g.node));
            EXPECT_OK(tally_merge_nodes(g.context, s->op, s->type, 1, nodes_of(&g), (char *)nodes_of(&g) + g.node));
            EXPECT_OK(tally_finish_nodes(g.context, s->op, s->type, SEGMENTS, nodes_of(&g),
                                         tally_out(address(out), TALLY_NATURAL, SEGMENTS)));
            EXPECT_STATUS(
                tally_finish_nodes(g.context, s->op, s->type, 1, nodes_of(&g), tally_out(results[1], TALLY_NATURAL, 1)),
                TALLY_BAD_ARGUMENT);
            tally__simt_capture(false);
            EXPECT_OK(tally_merge_nodes(g.host, s->op, s->type, 1, g.wanted, g.wanted + g.node));
            expect_nodes(&g, SEGMENTS, "nodes of a captured stream");
            const tally_status due = tally_finish_nodes(g.host, s->op, s->type, SEGMENTS, g.wanted,
                                                        tally_out(results[0], TALLY_NATURAL, SEGMENTS));
            EXPECT(due == TALLY_OK || due == TALLY_EMPTY, "%s", tally_message());
            device_read(results[1], out, SEGMENTS * result_bytes(s));
            EXPECT_BITS(results[1], results[0], SEGMENTS * result_bytes(s), "results of a captured stream");
        }
        driver->release(out);
        close_side(&g);
        tally_context_destroy(g.context);
    }
}

/* Memory for callers that know no CUDA. */
static void test_memory_there(void **state) {
    const float x[4] = {1, 2, 3, 4};
    const tally__cu_address far_x = device_copy(x, sizeof x, 0);
    tally_context *context = context_of(backend);
    void *memory = NULL, *none = &memory;
    float sum = 0;
    (void)state;
    EXPECT_OK(tally_open_node_memory(context, x, 128, &none));
    EXPECT(none == NULL, "memory of the host's is a GPU's");
    EXPECT_OK(tally_close_node_memory(context, none));
    EXPECT_OK(tally_await_nodes(context, x));
    EXPECT_OK(tally_open_node_memory(context, address(far_x), 128, &memory));
    EXPECT(memory != NULL, "no memory");
    EXPECT_OK(tally_reduce_node(context, TALLY_SUM, tally_in(address(far_x), TALLY_F32, 4), memory, 128));
    EXPECT_OK(tally_await_nodes(context, memory));
    EXPECT_OK(tally_finish_nodes(context, TALLY_SUM, TALLY_F32, 1, memory, tally_out(&sum, TALLY_F32, 1)));
    EXPECT(sum == 10, "%g", (double)sum);
    EXPECT_OK(tally_close_node_memory(context, memory));
    EXPECT_STATUS(tally_open_node_memory(context, address(far_x), 128, NULL), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_close_node_memory(context, &sum), TALLY_BAD_ARGUMENT);
    if (backend == TALLY_BACKEND_SIMT)
        EXPECT_STATUS(tally_open_node_memory(context, address(far_x), SIZE_MAX / 2, &memory), TALLY_NO_MEMORY);
    driver->release(far_x);
    tally_context_destroy(context);
}

/* Each call of the driver's fails in turn. Memory that a driver fails to tell anything of is taken for the host's, and
 * nodes there for those of another place. */
typedef struct failing {
    tally_array x;
    char *nodes;
} failing;
static tally_status make_merge_finish(tally_context *context, const void *of) {
    const failing *f = of;
    const int64_t offsets[SEGMENTS + 1] = {0, 3, 3, 40};
    const tally_segments segments = tally_offsets(offsets, TALLY_I64, SEGMENTS);
    float out[1];
    tally_status status =
        tally_reduce_segments_nodes(context, TALLY_SUM, f->x, segments, f->nodes, SEGMENTS * MOST_NODE);
    if (status == TALLY_OK) status = tally_merge_nodes(context, TALLY_SUM, TALLY_F32, 1, f->nodes, f->nodes + 256);
    if (status == TALLY_OK)
        status = tally_finish_nodes(context, TALLY_SUM, TALLY_F32, 1, f->nodes, tally_out(out, TALLY_F32, 1));
    return status == TALLY_BAD_ARGUMENT ? TALLY_DEVICE_FAILED : status;
}
static tally_status arrange_and_finish(tally_context *context, const void *of) {
    const failing *f = of;
    const tally_segments segments = tally_unsorted_ids(f->nodes + 4096, TALLY_I32, 2, TALLY_OUTSIDE_LEFT_OUT);
    float out[2];
    tally_status status = tally_reduce_segments_nodes(context, TALLY_SUM, f->x, segments, f->nodes, 256);
    if (status == TALLY_OK)
        status = tally_finish_nodes(context, TALLY_SUM, TALLY_F32, 2, f->nodes, tally_out(out, TALLY_F32, 2));
    return status == TALLY_BAD_ARGUMENT ? TALLY_DEVICE_FAILED : status;
}
static void test_failures(void **state) {
    const float x[40] = {1, 2, 3};
    const char empty[4 * MOST_NODE] = {0};
    const tally__cu_address far_x = device_copy(x, sizeof x, 0), nodes = device_copy(empty, sizeof empty, 0);
    const failing f = {tally_in(address(far_x), TALLY_F32, 40), address(nodes)};
    (void)state;
    fail_every_call(TALLY_BEST, make_merge_finish, &f);
    fail_every_call(TALLY_BEST, arrange_and_finish, &f);
    driver->release(nodes);
    driver->release(far_x);
}

/* ---- what stays on the host ---- */

static void test_values_and_refusals(void **state) {
    const double x[4] = {1, 2, 3, 4};
    double got[2] = {0};
    char nodes[4 * 584];
    tally_context *context = context_of(backend);
    tally__cu_address far_x = device_copy(x, sizeof x, 0);
    const tally_array apart = {address(far_x), TALLY_F64, 2, 16}, all = tally_in(address(far_x), TALLY_F64, 4);
    const tally_output spread = {address(far_x), TALLY_F64, 2, 16};
    (void)state;
    EXPECT_OK(tally_copy_values(context, TALLY_SUM, apart, got, sizeof got));
    EXPECT(got[0] == 1 && got[1] == 3, "%g %g", got[0], got[1]);
    EXPECT_OK(tally_reduce_segments_nodes(context, TALLY_SUM, all, tally_rows(4, 1, 1), nodes, sizeof nodes));
    EXPECT_STATUS(tally_finish_nodes(context, TALLY_SUM, TALLY_F64, 2, nodes, spread), TALLY_UNSUPPORTED);
    driver->release(far_x);
    tally_context_destroy(context);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes),         cmocka_unit_test(test_skipped),
        cmocka_unit_test(test_specials),      cmocka_unit_test(test_nodes_there),
        cmocka_unit_test(test_long_segments), cmocka_unit_test(test_many_segments),
        cmocka_unit_test(test_told),          cmocka_unit_test(test_refused_there),
        cmocka_unit_test(test_captured),      cmocka_unit_test(test_memory_there),
        cmocka_unit_test(test_failures),      cmocka_unit_test(test_values_and_refusals),
    };
    int skipped = begin_gpu_program(argc, argv);
    if (skipped) return skipped;
    compile_kernels(TALLY_OF_ARRAYS | TALLY_OF_RANKS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
