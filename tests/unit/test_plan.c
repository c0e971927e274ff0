/* Plans of segmentations, in host memory: reductions by a plan against those by the segmentation itself, bit for bit
 * and status for status, and what is refused. (Those of GPUs: test_gpu_segments.c. Allocations that fail:
 * test_memory.c.) */
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { COUNT = 700 };

/* One segmentation in every notation. */
static int64_t offsets[COUNT + 1], values;
static int32_t lengths[COUNT];
static int64_t *segment_ids;

static void make_segments(void) {
    uint64_t random = seed;
    for (int s = 0; s < COUNT; s++) {
        uint64_t r = next_random(&random) >> 16;
        lengths[s] = (int32_t)(s == 333 ? 50000 : r % 5 == 0 ? 0 : r % 40);
        offsets[s + 1] = values += lengths[s];
    }
    segment_ids = malloc((size_t)values * sizeof *segment_ids);
    for (int s = 0; s < COUNT; s++)
        for (int64_t i = offsets[s]; i < offsets[s + 1]; i++) segment_ids[i] = s;
}

static void compare(const subject *s, const tally_segments *segments, int64_t results, tally_type wanted_type) {
    const size_t bytes = wanted_type == TALLY_NATURAL ? result_bytes(s) : 2 * tally_type_size(wanted_type),
                 space = bytes * (size_t)results;
    const void *x = data_of(s->type, SPECIALS, values), *y = data_of(s->type, CANCELLATION, values);
    char *wanted = scratch(0, space + 1), *got = scratch(1, space + 1);
    tally_context *context = context_for(s, TALLY_BACKEND_CPU, 2);
    tally_plan *plan = NULL;
    memset(wanted, 0x5a, space);
    memset(got, 0x5a, space);
    tally_status due = perform(context, s->op, tally_in(x, s->type, values), tally_in(y, s->type, values), segments,
                               tally_out(wanted, wanted_type, results));
    EXPECT_OK(tally_plan_open(context, s->type, values, *segments, &plan));
    tally_segments planned = tally_planned(plan);
    EXPECT_STATUS(perform(context, s->op, tally_in(x, s->type, values), tally_in(y, s->type, values), &planned,
                          tally_out(got, wanted_type, results)),
                  due);
    EXPECT(memcmp(got, wanted, space) == 0, "other bits by a plan");
    tally_plan_close(plan);
}

static void test_equal(void **state) {
    subject s = {.op = -1};
    (void)state;
    for (int trial = 0; next_subject(&s); trial++) {
        if (quick && trial % 9 != 0) continue;
        now = (scene){.op = s.op,
                      .type = s.type,
                      .nan = s.nan,
                      .accuracy = s.accuracy,
                      .ddof = s.ddof,
                      .size = values,
                      .segments = "a plan"};
        const tally_segments segmentations[] = {
            tally_offsets(offsets, TALLY_I64, COUNT), tally_lengths(lengths, TALLY_I32, COUNT),
            tally_segment_ids(segment_ids, TALLY_I64, COUNT), tally_rows(1, values, 1)};
        const tally_segments *segments = &segmentations[trial % 4];
        compare(&s, segments, segments->kind == TALLY_ROWS ? 1 : COUNT, trial % 3 == 0 ? TALLY_F32 : TALLY_NATURAL);
    }
}

/* One plan for several operators, types, numbers of inputs and contexts. */
static void test_reused(void **state) {
    static const subject some[] = {{TALLY_SUM, TALLY_F32, 0, 0, TALLY_BEST},
                                   {TALLY_ARGMAX, TALLY_U8, 0, 0, TALLY_BEST},
                                   {TALLY_DOT, TALLY_F64, 0, 0, TALLY_BEST},
                                   {TALLY_STATS, TALLY_I16, 0, 0, TALLY_BEST}};
    tally_plan *plan;
    (void)state;
    EXPECT_OK(tally_plan_open(NULL, TALLY_F32, values, tally_segment_ids(segment_ids, TALLY_I64, COUNT), &plan));
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        const subject *s = &some[i];
        const void *x = data_of(s->type, SMALL_INTEGERS, values);
        tally_array in = tally_in(x, s->type, values);
        size_t bytes = result_bytes(s) * COUNT;
        char *wanted = scratch(0, bytes), *got = scratch(1, bytes);
        tally_segments segments = tally_lengths(lengths, TALLY_I32, COUNT), planned = tally_planned(plan);
        tally_context *context = context_for(s, TALLY_BACKEND_CPU, 1);
        now = (scene){.op = s->op, .type = s->type, .size = values, .segments = "one plan for all"};
        tally_status due = perform(context, s->op, in, in, &segments, tally_out(wanted, TALLY_NATURAL, COUNT));
        EXPECT_STATUS(perform(context, s->op, in, in, &planned, tally_out(got, TALLY_NATURAL, COUNT)), due);
        EXPECT(memcmp(got, wanted, bytes) == 0, "other bits by a plan");
    }
    tally_plan_close(plan);
}

static void refuse(tally_type type, int64_t count, tally_segments segments, tally_status due) {
    tally_plan *plan = (tally_plan *)(uintptr_t)&count;
    EXPECT_STATUS(tally_plan_open(NULL, type, count, segments, &plan), due);
    EXPECT(plan == NULL, "a plan of what is no segmentation");
}

static void test_refused(void **state) {
    const int64_t down[] = {0, 5, 4, 6}, below[] = {-1, 5, 6, 6}, beyond[] = {0, 5, 6, 7},
                  unsorted[] = {0, 1, 1, 0, 2, 2}, outside[] = {0, 0, 1, 1, 2, 3};
    const int64_t negative[] = {3, -1, 4}, large[] = {3, 2, 2}, huge[] = {INT64_MAX, INT64_MAX, 2},
                  minus[] = {-1, 0, 1, 1, 2, 2};
    double x[6] = {1, 2, 3, 4, 5, 6}, out[3];
    tally_plan *plan;
    tally_context *reference =
        context_for(&(subject){TALLY_SUM, TALLY_F64, 0, 0, TALLY_BEST}, TALLY_BACKEND_REFERENCE, 1);
    (void)state;
    now = (scene){.segments = "refused plans", .type = TALLY_F64, .size = 6};
    refuse(TALLY_F64, 6, tally_offsets(down, TALLY_I64, 3), TALLY_BAD_SEGMENTS);
    refuse(TALLY_F64, 6, tally_offsets(below, TALLY_I64, 3), TALLY_BAD_SEGMENTS);
    refuse(TALLY_F64, 6, tally_offsets(beyond, TALLY_I64, 3), TALLY_BAD_SEGMENTS);
    refuse(TALLY_F64, 6, tally_lengths(negative, TALLY_I64, 3), TALLY_BAD_SEGMENTS);
    refuse(TALLY_F64, 6, tally_lengths(large, TALLY_I64, 3), TALLY_BAD_SEGMENTS);
    refuse(TALLY_F64, 6, tally_lengths(huge, TALLY_I64, 3), TALLY_BAD_SEGMENTS);
    refuse(TALLY_F64, 6, tally_segment_ids(unsorted, TALLY_I64, 3), TALLY_BAD_SEGMENTS);
    refuse(TALLY_F64, 6, tally_segment_ids(outside, TALLY_I64, 3), TALLY_BAD_SEGMENTS);
    refuse(TALLY_F64, 6, tally_segment_ids(minus, TALLY_I64, 3), TALLY_BAD_SEGMENTS);
    refuse(TALLY_F64, 6, tally_segment_ids(minus, TALLY_I64, 0), TALLY_BAD_SEGMENTS);
    refuse(TALLY_F64, 6, tally_rows(2, 2, 2), TALLY_BAD_SEGMENTS);
    refuse(TALLY_F64, -1, tally_rows(2, 2, 2), TALLY_BAD_ARGUMENT);
    refuse(TALLY_F64, 6, tally_offsets(NULL, TALLY_I64, 3), TALLY_BAD_ARGUMENT);
    refuse(TALLY_F64, 6, tally_offsets(down, TALLY_F64, 3), TALLY_BAD_ARGUMENT);
    refuse(TALLY_F64, 6, tally_offsets(down, TALLY_I64, -3), TALLY_BAD_ARGUMENT);
    refuse(TALLY_F64, 6, tally_offsets(down, TALLY_I64, INT64_MAX), TALLY_BAD_ARGUMENT);
    refuse(TALLY_NATURAL, 6, tally_rows(1, 6, 1), TALLY_BAD_TYPE);
    refuse((tally_type)99, 6, tally_rows(1, 6, 1), TALLY_BAD_TYPE);
    EXPECT_STATUS(tally_plan_open(NULL, TALLY_F64, 6, tally_rows(1, 6, 1), NULL), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_reduce_segments(NULL, TALLY_SUM, tally_in(x, TALLY_F64, 6), tally_planned(NULL),
                                        tally_out(out, TALLY_F64, 3)),
                  TALLY_BAD_ARGUMENT);
    EXPECT_OK(tally_plan_open(NULL, TALLY_F64, 6, tally_rows(3, 2, 1), &plan));
    refuse(TALLY_F64, 6, tally_planned(plan), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_reduce_segments(NULL, TALLY_SUM, tally_in(x, TALLY_F64, 5), tally_planned(plan),
                                        tally_out(out, TALLY_F64, 3)),
                  TALLY_BAD_SEGMENTS);
    EXPECT_STATUS(tally_reduce_segments(NULL, TALLY_SUM, tally_in(x, TALLY_F64, 6), tally_planned(plan),
                                        tally_out(out, TALLY_F64, 2)),
                  TALLY_BAD_ARGUMENT);
    EXPECT_OK(tally_reduce_segments(reference, TALLY_SUM, tally_in(x, TALLY_F64, 6), tally_planned(plan),
                                    tally_out(out, TALLY_F64, 3)));
    EXPECT(out[0] == 3 && out[1] == 7 && out[2] == 11, "%g %g %g", out[0], out[1], out[2]);
    tally_plan_close(plan);
    EXPECT_OK(tally_plan_open(NULL, TALLY_STRUCT, 0, tally_offsets(NULL, TALLY_I64, 0), &plan));
    EXPECT_OK(tally_reduce_segments(NULL, TALLY_SUM, tally_in(NULL, TALLY_F64, 0), tally_planned(plan),
                                    tally_out(NULL, TALLY_F64, 0)));
    tally_plan_close(plan);
    tally_plan_close(NULL);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_equal), cmocka_unit_test(test_reused),
                                       cmocka_unit_test(test_refused)};
    int skipped = begin_program(argc, argv);
    if (skipped) return skipped;
    make_segments();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
