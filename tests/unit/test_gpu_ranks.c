/* Ranks of NCCL: results have the bits of one process that has all values. On the simulator, with a stand-in for NCCL
 * whose ranks take turns (fake_nccl.c). */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_host.h"
#include "tally/tally_nccl.h"

enum { MOST_RANKS = 5, SEGMENTS = 4, MOST_VALUES = 4000 };

static void (*begin_ranks)(int count);
static void (*turn_of)(int rank);
static int *fails;
static bool captures; /* the stream */
static int device;    /* the communicator's; a pointer to it is the communicator */

static void *address(tally__cu_address at) { return (void *)(uintptr_t)at; }

/* Ranks that each have a part of the values on the GPU, and a place for results. */
typedef struct scene_of_ranks {
    subject what;
    tally_context *context, *host;
    const char *x, *y;
    int ranks;
    int64_t count, results, boundaries[MOST_RANKS + 1];
    tally__cu_address far_x[MOST_RANKS], far_y[MOST_RANKS], out[MOST_RANKS];
    size_t bytes, result;
    bool has_own_context;
} scene_of_ranks;

static void open_ranks(scene_of_ranks *g, const subject *s, data_class class, int64_t count, int64_t results,
                       uint64_t *random) {
    *g = (scene_of_ranks){.what = *s, .count = count, .results = results, .ranks = 1 + (int)random_below(random, 5)};
    g->context = context_for(s, backend, 1);
    g->has_own_context = captures; /* which keeps scratch memory for each captured launch, until it is destroyed */
    if (captures) {
        const tally_options options = tally_get_options(g->context);
        g->context = context_of(backend);
        EXPECT_OK(tally_set_options(g->context, &options));
    }
    g->host = context_for(s, TALLY_BACKEND_CPU, 1);
    g->x = data_of(s->type, class, count);
    g->y = data_of(s->type, TIES, count);
    g->bytes = tally_type_size(s->type);
    g->result = result_bytes(s);
    set_scene(s, class, count);
}
static void close_ranks(scene_of_ranks *g) {
    if (g->has_own_context) tally_context_destroy(g->context);
}
static void send_parts(scene_of_ranks *g) {
    for (int p = 0; p < g->ranks; p++) {
        const size_t from = (size_t)g->boundaries[p] * g->bytes,
                     n = (size_t)(g->boundaries[p + 1] - g->boundaries[p]) * g->bytes;
        g->far_x[p] = device_copy(g->x + from, n, 0);
        g->far_y[p] = device_copy(g->y + from, n, 0);
        g->out[p] = device_copy(g->x, 1, (size_t)g->results * g->result);
    }
    begin_ranks(g->ranks);
}
static void draw_boundaries(scene_of_ranks *g, uint64_t *random) {
    g->boundaries[g->ranks] = g->count;
    for (int p = 1; p < g->ranks; p++)
        g->boundaries[p] = g->boundaries[p - 1] +
                           (random_below(random, 4) ? random_below(random, g->count - g->boundaries[p - 1] + 1) : 0);
}

/* Every rank's results are those of one process. */
static void compare(scene_of_ranks *g, const tally_segments *segments, const char *what) {
    char *wanted = scratch(0, (size_t)g->results * g->result + 1),
         *got = scratch(1, (size_t)g->results * g->result + 1);
    now.segments = what;
    tally__simt_capture(false);
    tally_status due =
        perform(g->host, g->what.op, tally_in(g->x, g->what.type, g->count), tally_in(g->y, g->what.type, g->count),
                segments, tally_out(wanted, TALLY_NATURAL, g->results));
    EXPECT(due == TALLY_OK || due == TALLY_EMPTY || due == TALLY_OVERFLOW, "the CPU gives %d", (int)due);
    for (int p = 0; p < g->ranks; p++) {
        device_read(got, g->out[p], (size_t)g->results * g->result);
        for (int64_t r = 0; r < g->results; r++) {
            now.segment = r;
            EXPECT_BITS(got + (size_t)r * g->result, wanted + (size_t)r * g->result, g->result, what);
        }
        driver->release(g->far_x[p]);
        driver->release(g->far_y[p]);
        driver->release(g->out[p]);
    }
}

static tally_array part(const scene_of_ranks *g, const tally__cu_address *far, int p) {
    return tally_in(address(far[p]), g->what.type, g->boundaries[p + 1] - g->boundaries[p]);
}

/* One more turn of all than there are exchanges (fake_nccl.c). The stream captures, if it is to, but for the first,
 * which makes kernels ready. */
#define EVERY_TURN(g, p, exchanges)                    \
    for (int turn_ = 0; turn_ <= (exchanges); turn_++) \
        for (int p = 0; p < (g)->ranks && (turn_of(p), tally__simt_capture(captures && turn_ > 0), 1); p++)

static void check_whole(const subject *s, data_class class, int64_t count, uint64_t *random) {
    scene_of_ranks g;
    open_ranks(&g, s, class, count, 1, random);
    draw_boundaries(&g, random);
    send_parts(&g);
    EVERY_TURN(&g, p, 1) {
        const tally_output out = tally_out(address(g.out[p]), TALLY_NATURAL, 1);
        EXPECT_OK(
            tally_op_inputs(s->op) == 2
                ? tally_nccl_allreduce_pair(g.context, s->op, part(&g, g.far_x, p), part(&g, g.far_y, p), out, &device)
                : tally_nccl_allreduce(g.context, s->op, part(&g, g.far_x, p), out, &device));
    }
    compare(&g, NULL, "whole arrays of ranks");
    close_ranks(&g);
}

/* Each rank's array is laid out segment after segment; the whole is each segment's parts, rank after rank. */
static void check_segments(const subject *s, data_class class, int64_t count, uint64_t *random) {
    int64_t offsets[SEGMENTS + 1] = {0}, begins[MOST_RANKS][SEGMENTS], ends[MOST_RANKS][SEGMENTS];
    tally__cu_address far_begins[MOST_RANKS], far_ends[MOST_RANKS];
    scene_of_ranks g;
    open_ranks(&g, s, class, count, SEGMENTS, random);
    for (int k = 1; k <= SEGMENTS; k++)
        offsets[k] = k == SEGMENTS ? count : offsets[k - 1] + random_below(random, (count - offsets[k - 1]) / 2 + 1);
    for (int k = 0; k < SEGMENTS; k++) {
        int64_t at = offsets[k];
        for (int p = 0; p < g.ranks; p++) {
            begins[p][k] = at;
            at = p == g.ranks - 1 ? offsets[k + 1] : at + random_below(random, offsets[k + 1] - at + 1);
            ends[p][k] = at;
        }
    }
    for (int p = 0; p < g.ranks; p++) {
        g.far_x[p] = device_copy(g.x, (size_t)count * g.bytes, 0);
        g.far_y[p] = device_copy(g.y, (size_t)count * g.bytes, 0);
        g.out[p] = device_copy(g.x, 1, (size_t)g.results * g.result);
    }
    begin_ranks(g.ranks);
    const bool is_far = random_below(random, 2);
    for (int p = 0; p < g.ranks; p++) {
        far_begins[p] = device_copy(begins[p], sizeof begins[p], 0);
        far_ends[p] = device_copy(ends[p], sizeof ends[p], 0);
    }
    EVERY_TURN(&g, p, 1) {
        const tally_segments own =
            is_far ? tally_begin_end(address(far_begins[p]), address(far_ends[p]), TALLY_I64, SEGMENTS)
                   : tally_begin_end(begins[p], ends[p], TALLY_I64, SEGMENTS);
        const tally_array x = tally_in(address(g.far_x[p]), s->type, count),
                          y = tally_in(address(g.far_y[p]), s->type, count);
        const tally_output out = tally_out(address(g.out[p]), TALLY_NATURAL, SEGMENTS);
        EXPECT_OK(tally_op_inputs(s->op) == 2
                      ? tally_nccl_allreduce_segments_pair(g.context, s->op, x, y, own, out, &device)
                      : tally_nccl_allreduce_segments(g.context, s->op, x, own, out, &device));
    }
    const tally_segments all = tally_offsets(offsets, TALLY_I64, SEGMENTS);
    compare(&g, &all, is_far ? "segments of ranks, index in GPU memory" : "segments of ranks");
    for (int p = 0; p < g.ranks; p++) driver->release(far_begins[p]), driver->release(far_ends[p]);
    close_ranks(&g);
}

/* Consecutive parts, with an id for each value in GPU memory, or a plan of them. */
static void check_ids(const subject *s, data_class class, int64_t count, uint64_t *random) {
    const bool is_planned = random_below(random, 2), are_sorted = random_below(random, 2);
    int32_t *ids = scratch(2, (size_t)count * sizeof *ids + 1);
    tally__cu_address far[MOST_RANKS];
    tally_plan *plans[MOST_RANKS] = {NULL};
    scene_of_ranks g;
    open_ranks(&g, s, class, count, SEGMENTS, random);
    draw_boundaries(&g, random);
    send_parts(&g);
    for (int64_t i = 0; i < count; i++)
        ids[i] = are_sorted ? (int32_t)(i * SEGMENTS / count) : (int32_t)random_below(random, SEGMENTS);
    for (int p = 0; p < g.ranks; p++)
        far[p] = device_copy(ids + g.boundaries[p], (size_t)(g.boundaries[p + 1] - g.boundaries[p]) * sizeof *ids, 0);
    EVERY_TURN(&g, p, 1) {
        const tally_array x = part(&g, g.far_x, p), y = part(&g, g.far_y, p);
        const tally_segments own =
            are_sorted ? tally_segment_ids(address(far[p]), TALLY_I32, SEGMENTS)
                       : tally_unsorted_ids(address(far[p]), TALLY_I32, SEGMENTS, TALLY_OUTSIDE_REFUSED);
        if (is_planned && plans[p] == NULL) EXPECT_OK(tally_plan_open(g.context, s->type, x.count, own, &plans[p]));
        const tally_segments used = is_planned ? tally_planned(plans[p]) : own;
        const tally_output out = tally_out(address(g.out[p]), TALLY_NATURAL, SEGMENTS);
        EXPECT_OK(tally_op_inputs(s->op) == 2
                      ? tally_nccl_allreduce_segments_pair(g.context, s->op, x, y, used, out, &device)
                      : tally_nccl_allreduce_segments(g.context, s->op, x, used, out, &device));
    }
    const tally_segments all = tally_unsorted_ids(ids, TALLY_I32, SEGMENTS, TALLY_OUTSIDE_REFUSED);
    compare(&g, &all, "ids of ranks");
    for (int p = 0; p < g.ranks; p++) driver->release(far[p]), tally_plan_close(plans[p]);
    close_ranks(&g);
}

/* One segment by offsets in GPU memory, so long that ranks reduce it in pieces; indices count the values before. */
static void check_long(const subject *s, data_class class, int64_t count, uint64_t *random) {
    const int64_t whole[2] = {0, count};
    tally__cu_address far[MOST_RANKS];
    scene_of_ranks g;
    open_ranks(&g, s, class, count, 1, random);
    for (int p = 0; p <= g.ranks; p++) g.boundaries[p] = count * p / g.ranks;
    send_parts(&g);
    for (int p = 0; p < g.ranks; p++) {
        const int64_t own[2] = {0, g.boundaries[p + 1] - g.boundaries[p]};
        far[p] = device_copy(own, sizeof own, 0);
    }
    EVERY_TURN(&g, p, 1)
    EXPECT_OK(tally_nccl_allreduce_segments(g.context, s->op, part(&g, g.far_x, p),
                                            tally_offsets(address(far[p]), TALLY_I64, 1),
                                            tally_out(address(g.out[p]), TALLY_NATURAL, 1), &device));
    const tally_segments all = tally_offsets(whole, TALLY_I64, 1);
    compare(&g, &all, "a long segment of ranks");
    for (int p = 0; p < g.ranks; p++) driver->release(far[p]);
    close_ranks(&g);
}

static void test_long(void **state) {
    const subject some[] = {{.op = TALLY_ARGMAX, .type = TALLY_F32, .nan = TALLY_NAN_SKIP},
                            {.op = TALLY_ARGMIN, .type = TALLY_I16},
                            {.op = TALLY_SUM, .type = TALLY_F32}};
    uint64_t random = seed;
    (void)state;
    for (size_t k = 0; k < sizeof some / sizeof *some; k++) {
        choose_schedule((int)k);
        captures = k % 2 == 0;
        check_long(&some[k], ANY_BITS, 250000, &random);
    }
}

static void check_elements(const subject *s, data_class class, int64_t n, uint64_t *random) {
    scene_of_ranks g;
    open_ranks(&g, s, class, 0, n, random);
    g.count = n * g.ranks;
    g.x = data_of(s->type, class, g.count);
    g.y = data_of(s->type, TIES, g.count);
    for (int p = 0; p <= g.ranks; p++) g.boundaries[p] = n * p;
    send_parts(&g);
    EVERY_TURN(&g, p, 3) {
        const tally_output out = tally_out(address(g.out[p]), TALLY_NATURAL, n);
        EXPECT_OK(tally_op_inputs(s->op) == 2
                      ? tally_nccl_allreduce_elements_pair(g.context, s->op, part(&g, g.far_x, p), part(&g, g.far_y, p),
                                                           out, &device)
                      : tally_nccl_allreduce_elements(g.context, s->op, part(&g, g.far_x, p), out, &device));
    }
    const tally_segments columns = tally_rows(1, g.ranks, n);
    compare(&g, &columns, "elements of ranks");
    close_ranks(&g);
}

static void test_operators(void **state) {
    subject s = {.op = -1};
    uint64_t random = seed;
    (void)state;
    for (int trial = 0; next_subject(&s); trial++) {
        const data_class class = (data_class)((trial + trial / DATA_CLASSES) % DATA_CLASSES);
        choose_schedule(trial);
        captures = trial % 2 == 1;
        if (!order_shows(&s)) {
            check_whole(&s, class, random_below(&random, 5) ? random_below(&random, MOST_VALUES) : 0, &random);
            if (trial % 3 == 0) check_segments(&s, class, random_below(&random, MOST_VALUES), &random);
            if (trial % 6 == 2) check_ids(&s, class, random_below(&random, MOST_VALUES), &random);
        }
        if (trial % 3 == 1) check_elements(&s, class, 1 + random_below(&random, 60), &random);
    }
}

static void test_refused(void **state) {
    const float x[4] = {1, 2, 3, 4};
    const int32_t ids[4] = {0, 1, 0, 1};
    tally__cu_address far_x = device_copy(x, sizeof x, 0);
    const tally_array in = tally_in(address(far_x), TALLY_F32, 4), host = tally_in(x, TALLY_F32, 4);
    float there[2];
    const tally_output out = tally_out(address(far_x), TALLY_F32, 2), here = tally_out(there, TALLY_F32, 2);
    tally_context *context = context_of(backend), *cpu = context_of(TALLY_BACKEND_CPU);
    int other = 1;
    (void)state;
    begin_ranks(1);
    turn_of(0);
    EXPECT_STATUS(tally_nccl_allreduce(context, TALLY_SUM, in, out, NULL), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_nccl_allreduce(context, TALLY_SUM, host, out, &device), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_nccl_allreduce(context, TALLY_SUM, in, here, &device), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_nccl_allreduce(cpu, TALLY_SUM, in, out, &device), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_nccl_allreduce(context, TALLY_SUM, in, out, &other), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_nccl_allreduce(context, TALLY_PROD, in, out, &device), TALLY_UNSUPPORTED);
    EXPECT_STATUS(tally_nccl_allreduce(context, TALLY_XOR, in, out, &device), TALLY_BAD_TYPE);
    EXPECT_STATUS(tally_nccl_allreduce(context, TALLY_DOT, in, out, &device), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_nccl_allreduce_segments(context, TALLY_SUM, in,
                                                tally_unsorted_ids(ids, TALLY_I32, 2, TALLY_OUTSIDE_REFUSED), out,
                                                &device),
                  TALLY_UNSUPPORTED);
    EXPECT_STATUS(tally_nccl_allreduce_segments(context, TALLY_SUM, in, tally_rows(3, 1, 1), out, &device),
                  TALLY_BAD_SEGMENTS);
    EXPECT_STATUS(
        tally_nccl_allreduce_elements(context, TALLY_SUM, (tally_array){address(far_x), TALLY_F32, 2, 8}, out, &device),
        TALLY_UNSUPPORTED);
    /* NCCL itself: each of its calls fails in turn */
    int failed = 0;
    for (int call = 1; call < 20; call++) {
        turn_of(0);
        *fails = call;
        const tally_status status =
            call % 2 ? tally_nccl_allreduce(context, TALLY_SUM, in, out, &device)
                     : tally_nccl_allreduce_elements(context, TALLY_SUM, (tally_array){in.data, in.type, 2, 0}, out,
                                                     &device);
        if (*fails == 0) {
            EXPECT(status == TALLY_DEVICE_FAILED && strstr(tally_message(), "told to fail") != NULL, "status %d: %s",
                   (int)status, tally_message());
            failed++;
        } else
            EXPECT_OK(status);
        *fails = 0;
    }
    EXPECT(failed > 5, "%d calls failed", failed);
    driver->release(far_x);
    tally_context_destroy(context);
    tally_context_destroy(cpu);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_operators), cmocka_unit_test(test_long),
                                       cmocka_unit_test(test_refused)};
    setenv("TALLY_NCCL", FAKE_NCCL, 1);
    int skipped = begin_gpu_program(argc, argv);
    if (skipped) return skipped;
    if (backend != TALLY_BACKEND_SIMT) {
        printf("SKIPPED: on a GPU the stand-in for NCCL cannot read its memory\n");
        return SKIPPED;
    }
    void *fake = dlopen(FAKE_NCCL, RTLD_NOW);
    if (fake == NULL) return 1;
    *(void **)&begin_ranks = dlsym(fake, "fake_nccl_begin");
    *(void **)&turn_of = dlsym(fake, "fake_nccl_turn");
    fails = dlsym(fake, "fake_nccl_fails");
    compile_kernels(TALLY_OF_ARRAYS | TALLY_OF_RANKS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
