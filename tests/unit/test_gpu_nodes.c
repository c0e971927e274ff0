/* Nodes of arrays in GPU memory: those of the CPU, byte for byte; and results, values and states that go between the
 * GPU's memory and the host's. */
#include <string.h>

#include "gpu_host.h"
#include "tally/tally_nodes.h"

enum { COUNT = 3000, SEGMENTS = 3, MOST_NODE = 1728 };

static void *address(tally__cu_address at) { return (void *)(uintptr_t)at; }

static tally_status segments_nodes(tally_context *context, const subject *s, const void *x, const void *y,
                                   tally_segments cut, void *nodes, size_t room) {
    const tally_array left = tally_in(x, s->type, COUNT), right = tally_in(y, s->type, COUNT);
    return tally_op_inputs(s->op) == 2 ? tally_reduce_segments_nodes_pair(context, s->op, left, right, cut, nodes, room)
                                       : tally_reduce_segments_nodes(context, s->op, left, cut, nodes, room);
}

static void check_nodes(const subject *s, data_class class, int turn) {
    const int64_t offsets[SEGMENTS + 1] = {0, 7, 7, COUNT};
    const tally_segments cut = turn % 2 ? tally_offsets(offsets, TALLY_I64, SEGMENTS) : tally_rows(1, COUNT / 3, 3);
    const char *x = data_of(s->type, class, COUNT), *y = data_of(s->type, TIES, COUNT);
    const size_t bytes = COUNT * tally_type_size(s->type), result = result_bytes(s);
    tally_context *context = context_for(s, backend, 1), *host = context_for(s, TALLY_BACKEND_CPU, 1);
    tally__cu_address far_x = device_copy(x, bytes, 0), far_y = device_copy(y, bytes, 0), out;
    char got[SEGMENTS * MOST_NODE], wanted[SEGMENTS * MOST_NODE], results[2][SEGMENTS * 64] = {{0}};
    size_t node;
    set_scene(s, class, COUNT);
    choose_schedule(turn);
    EXPECT_OK(tally_node_bytes(context, s->op, s->type, &node));
    EXPECT_OK(segments_nodes(context, s, address(far_x), address(far_y), cut, got, SEGMENTS * node));
    EXPECT_OK(segments_nodes(host, s, x, y, cut, wanted, SEGMENTS * node));
    EXPECT_BITS(got, wanted, SEGMENTS * node, "nodes of segments");
    if (tally_op_inputs(s->op) == 1) {
        EXPECT_OK(tally_reduce_node(context, s->op, tally_in(address(far_x), s->type, COUNT), got, node));
        EXPECT_OK(tally_reduce_node(host, s->op, tally_in(x, s->type, COUNT), wanted + 0, node));
        EXPECT_BITS(got, wanted, node, "the node of an array");
        EXPECT_OK(segments_nodes(host, s, x, y, cut, wanted, SEGMENTS * node));
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

static void test_nodes(void **state) {
    subject s = {.op = -1};
    (void)state;
    for (int turn = 0; next_subject(&s); turn++)
        if (!order_shows(&s) && (turn % 4 == 0 || s.op == TALLY_ARGMAX))
            check_nodes(&s, (data_class)(turn % DATA_CLASSES), turn);
}

/* Where order shows: states of segments that lie on a GPU. */
static void test_states(void **state) {
    const int64_t offsets[SEGMENTS + 1] = {0, 1500, 1501, COUNT};
    const float *x = data_of(TALLY_F32, CANCELLATION, COUNT);
    float got, wanted[SEGMENTS];
    const tally_segments cut = tally_offsets(offsets, TALLY_I64, SEGMENTS);
    tally_context *context = context_of(backend);
    tally__cu_address far_x = device_copy(x, COUNT * sizeof *x, 0);
    tally_state *states[SEGMENTS];
    (void)state;
    for (int s = 0; s < SEGMENTS; s++) EXPECT_OK(tally_state_open(context, TALLY_PROD, TALLY_F32, 0, &states[s]));
    EXPECT_OK(
        tally_push_segments(context, TALLY_PROD, tally_in(address(far_x), TALLY_F32, COUNT), cut, states, SEGMENTS));
    EXPECT_OK(tally_reduce_segments(NULL, TALLY_PROD, tally_in(x, TALLY_F32, COUNT), cut,
                                    tally_out(wanted, TALLY_F32, SEGMENTS)));
    for (int s = 0; s < SEGMENTS; s++) {
        EXPECT_OK(tally_state_finish(states[s], tally_out(&got, TALLY_F32, 1)));
        EXPECT_BITS(&got, &wanted[s], sizeof got, "a state of a GPU's segment");
        tally_state_close(states[s]);
    }
    driver->release(far_x);
    tally_context_destroy(context);
}

static void test_values_and_refusals(void **state) {
    const double x[4] = {1, 2, 3, 4};
    const int32_t ids[4] = {1, 0, 1, 0};
    double got[2] = {0};
    char nodes[4 * 584];
    tally_context *context = context_of(backend);
    tally__cu_address far_x = device_copy(x, sizeof x, 0);
    const tally_array apart = {address(far_x), TALLY_F64, 2, 16}, all = tally_in(address(far_x), TALLY_F64, 4);
    const tally_output spread = {address(far_x), TALLY_F64, 2, 16};
    (void)state;
    EXPECT_OK(tally_copy_values(context, TALLY_SUM, apart, got, sizeof got));
    EXPECT(got[0] == 1 && got[1] == 3, "%g %g", got[0], got[1]);
    EXPECT_STATUS(tally_reduce_segments_nodes(context, TALLY_SUM, all,
                                              tally_unsorted_ids(ids, TALLY_I32, 2, TALLY_OUTSIDE_REFUSED), nodes,
                                              sizeof nodes),
                  TALLY_UNSUPPORTED);
    EXPECT_OK(tally_reduce_segments_nodes(context, TALLY_SUM, all, tally_rows(4, 1, 1), nodes, sizeof nodes));
    EXPECT_STATUS(tally_finish_nodes(context, TALLY_SUM, TALLY_F64, 2, nodes, spread), TALLY_UNSUPPORTED);
    driver->release(far_x);
    tally_context_destroy(context);
}

static bool is_whole(tally__form form) { return form == TALLY_FORM_WHOLE; }

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_values_and_refusals),
    };
    int skipped = begin_gpu_program(argc, argv);
    if (skipped) return skipped;
    compile_kernels(is_whole);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
