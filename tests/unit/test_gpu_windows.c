/* Windows of nodes in GPU memory (extents, shrinking, restoring): those of the CPU, byte for byte, at each step. */
#include <string.h>

#include "node_side.h"

static void expect_each(const void *got, const void *wanted, int64_t count, size_t bytes, const char *what) {
    for (int64_t i = 0; i < count; i++) {
        now.segment = i;
        EXPECT_BITS((const char *)got + (size_t)i * bytes, (const char *)wanted + (size_t)i * bytes, bytes, what);
    }
}

/* Windows of two parties' nodes, there and here: the same bytes at each step, and the node of both at the end. */
static void check_windows(const side *g, int64_t count, int numbers) {
    enum { MANY = 300 };
    const size_t bytes = MANY * g->node, of_extents = (size_t)(MANY * numbers * TALLY_EXTENT) * sizeof(int16_t);
    const tally_segments rows = tally_rows(MANY, count / MANY, 1), columns = tally_rows(1, count / MANY, MANY);
    int64_t *here = scratch(0, bytes), *other = scratch(1, bytes), *seen = scratch(2, bytes), *both = scratch(3, bytes);
    int16_t *extents = scratch(4, of_extents), *others = scratch(5, of_extents), *seen_extents = scratch(6, of_extents);
    const tally_op op = g->s->op;
    const tally_type type = g->s->type;
    size_t shrunk[3];
    EXPECT_OK(segments_nodes(g->host, g->s, g->x, g->y, count, rows, here, bytes));
    EXPECT_OK(segments_nodes(g->host, g->s, g->x, g->y, count, columns, other, bytes));
    memcpy(both, here, bytes);
    EXPECT_OK(tally_merge_nodes(g->host, op, type, MANY, both, other));
    memset(seen_extents, 1, of_extents);
    tally__cu_address there = device_copy(here, bytes, 0), far = device_copy(seen_extents, of_extents, 0);
    EXPECT_OK(tally_find_extents(g->host, op, type, MANY, here, extents));
    EXPECT_OK(tally_find_extents(g->host, op, type, MANY, other, others));
    EXPECT_OK(tally_find_extents(g->context, op, type, MANY, address(there), address(far)));
    device_read(seen, there, bytes);
    device_read(seen_extents, far, of_extents);
    expect_each(seen, here, MANY, g->node, "nodes whose extents were found");
    expect_each(seen_extents, extents, MANY, of_extents / MANY, "extents");
    for (int i = 0; i < MANY * numbers * TALLY_EXTENT; i++)
        extents[i] = extents[i] > others[i] ? extents[i] : others[i];
    driver->copy_in(far, extents, of_extents, NULL);
    EXPECT_OK(tally_shrink_nodes(g->host, op, type, MANY, here, extents, &shrunk[0]));
    EXPECT_OK(tally_shrink_nodes(g->host, op, type, MANY, other, extents, &shrunk[1]));
    EXPECT_OK(tally_shrink_nodes(g->context, op, type, MANY, address(there), address(far), &shrunk[2]));
    EXPECT(shrunk[0] == shrunk[1] && shrunk[1] == shrunk[2], "%zu, %zu and %zu bytes", shrunk[0], shrunk[1], shrunk[2]);
    device_read(seen, there, shrunk[2]);
    expect_each(seen, here, (int64_t)(shrunk[0] / 8), 8, "windows");
    for (size_t k = 0; k < shrunk[0] / 8; k++) here[k] += other[k];
    driver->copy_in(there, here, shrunk[0], NULL);
    EXPECT_OK(tally_restore_nodes(g->host, op, type, MANY, here, extents));
    EXPECT_OK(tally_restore_nodes(g->context, op, type, MANY, address(there), address(far)));
    device_read(seen, there, bytes);
    expect_each(seen, here, MANY, g->node, "nodes of windows");
    memset(here, 0, bytes); /* nodes of nothing: merging settles */
    driver->copy_in(far, extents, of_extents, NULL);
    tally__cu_address nothing = device_copy(here, bytes, 0);
    EXPECT_OK(tally_merge_nodes(g->context, op, type, MANY, address(there), address(nothing)));
    device_read(seen, there, bytes);
    expect_each(seen, both, MANY, g->node, "nodes that went through windows");
    driver->release(nothing);
    driver->release(far);
    driver->release(there);
}

static void test_windows(void **state) {
    subject s = {.op = -1};
    (void)state;
    for (int trial = 0; next_subject(&s); trial++) {
        int numbers;
        side g;
        if (order_shows(&s)) continue;
        EXPECT_OK(tally_node_numbers(NULL, s.op, s.type, &numbers));
        if (s.accuracy == TALLY_FAST || numbers == 0 || trial % 3 != 0) continue;
        open_side(&g, &s, (data_class)(trial % DATA_CLASSES), COUNT, trial);
        check_windows(&g, COUNT, numbers);
        close_side(&g);
    }
}

/* Extents elsewhere, at an odd address, and such as there are none. */
static void test_refused(void **state) {
    const subject s = {.op = TALLY_SUM, .type = TALLY_F64};
    int16_t extents[TALLY_EXTENT] = {5, 3};
    size_t bytes;
    side g;
    (void)state;
    open_side(&g, &s, SMALL_INTEGERS, COUNT, 0);
    tally_context *c = g.context;
    tally__cu_address far = device_copy(extents, sizeof extents, 0);
    EXPECT_STATUS(tally_find_extents(c, s.op, s.type, 1, nodes_of(&g), extents), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_find_extents(c, s.op, s.type, 1, g.got, address(far)), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_find_extents(c, s.op, s.type, 1, nodes_of(&g), address(far + 1)), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_find_extents(c, TALLY_MAX, s.type, 1, nodes_of(&g), address(far)), TALLY_UNSUPPORTED);
    EXPECT_STATUS(tally_shrink_nodes(c, s.op, s.type, 1, nodes_of(&g), address(far), NULL), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_shrink_nodes(c, s.op, s.type, 1, nodes_of(&g), address(far), &bytes), TALLY_BAD_STATE);
    EXPECT_OK(tally_restore_nodes(c, s.op, s.type, 1, nodes_of(&g), address(far)));
    driver->release(far);
    close_side(&g);
}

/* Each call of the driver's fails in turn; see test_gpu_nodes. */
static tally_status make_windows(tally_context *context, const void *of) {
    char *const nodes = address(*(const tally__cu_address *)of), *const extents = nodes + 2048;
    size_t bytes = 0;
    tally_status status = tally_find_extents(context, TALLY_SUM, TALLY_F32, 2, nodes, (int16_t *)(void *)extents);
    if (status == TALLY_OK)
        status = tally_shrink_nodes(context, TALLY_SUM, TALLY_F32, 2, nodes, (int16_t *)(void *)extents, &bytes);
    if (status == TALLY_OK)
        status = tally_restore_nodes(context, TALLY_SUM, TALLY_F32, 2, nodes, (int16_t *)(void *)extents);
    return status == TALLY_BAD_ARGUMENT ? TALLY_DEVICE_FAILED : status;
}
static void test_failures(void **state) {
    const char empty[4096] = {0};
    const tally__cu_address nodes = device_copy(empty, sizeof empty, 0);
    (void)state;
    fail_every_call(TALLY_BEST, make_windows, &nodes);
    driver->release(nodes);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_windows), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_failures)};
    int skipped = begin_gpu_program(argc, argv);
    if (skipped) return skipped;
    compile_kernels(TALLY_OF_RANKS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
