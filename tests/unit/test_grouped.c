/* Segments as people hold them: vectors of features, begins and ends, ids in any order. Every result is compared with
 * tally_reduce over the values of its segment and feature, which the test copies by itself, bit for bit and status for
 * status: on the CPU, the reference and the simulator, strided, by plans, for operators of the caller's own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grouped_problems.h"

#ifdef TEST_NO_SEGMENTS
static const bool has_simulator = false;
#else
static const bool has_simulator = true; /* its kernels of segments */
#endif

/* The call itself, by a plan if that is asked for. */
static tally_status reduce(const grouped *p, tally_context *context, tally_op op, tally_array x, tally_array y,
                           bool is_planned, void *out) {
    tally_segments segments = p->segments;
    tally_plan *plan = NULL;
    tally_status status;
    if (is_planned) {
        segments.inner = 0;
        EXPECT_OK(tally_plan_open(context, x.type, p->vectors, segments, &plan));
        segments = tally_features(tally_planned(plan), p->inner);
    }
    status = perform(context, op, x, y, &segments, tally_out(out, TALLY_NATURAL, p->count * p->inner));
    tally_plan_close(plan);
    return status;
}

static void compare(const grouped *p, const subject *s, tally_backend backend, int threads, int trial) {
    const size_t width = tally_type_size(s->type), bytes = result_bytes(s),
                 space = bytes * (size_t)(p->count * p->inner);
    const int64_t values = p->vectors * p->inner;
    const layout *const l = &layouts[trial % 3 ? 0 : (trial / 3) % LAYOUTS];
    const data_class class = (data_class)(trial % DATA_CLASSES);
    const tally_array x = lay_out(l, data_of(s->type, class, values), s->type, values,
                                  scratch(PLACED, layout_bytes(l, width, values))),
                      y = lay_out(l, data_of(s->type, SMALL_INTEGERS, values), s->type, values,
                                  scratch(PLACED_Y, layout_bytes(l, width, values)));
    char *const got = scratch(GOT, space + 1);
    tally_context *const context = context_for(s, backend, threads);
    now.data = class_names[class];
    now.layout = l->name;
    now.threads = threads;
    memset(got, 0x5a, space + 1);
    const tally_status status = reduce(p, context, s->op, x, y, trial % 5 == 0, got);
    EXPECT(got[space] == 0x5a, "a byte behind the results was written");
    const tally_status due =
        expect_each_feature(p, context_for(s, TALLY_BACKEND_CPU, 1), s->op, x, y, width, got, bytes);
    EXPECT(status == due, "the status is %d where %d is due: %s", (int)status, (int)due, tally_message());
}

static void test_all(void **state) {
    subject s = {.op = -1};
    uint64_t random = seed;
    (void)state;
    for (int trial = 0; next_subject(&s); trial++) {
        if (quick && trial % 7 != 0) continue;
        grouped p;
        now = (scene){.op = s.op, .type = s.type, .nan = s.nan, .accuracy = s.accuracy, .ddof = s.ddof};
        draw_grouped(&p, trial % GROUPED_FORMS, draw_inner(&random), &random);
        compare(&p, &s, trial % 11 == 0 ? TALLY_BACKEND_REFERENCE : TALLY_BACKEND_CPU, trial % 2 + 1, trial);
        free(p.members);
    }
}

/* The GPU backend on the simulator. */
static void test_simulator(void **state) {
    subject s = {.op = -1};
    uint64_t random = seed + 1;
    (void)state;
    if (!has_simulator) {
        printf("SKIPPED: the simulator has no kernels of segments in this build\n");
        skip();
    }
    for (int trial = 0; next_subject(&s); trial++) {
        if (trial % (quick ? 97 : 23) != 0) continue;
        grouped p;
        now = (scene){.op = s.op, .type = s.type, .nan = s.nan, .accuracy = s.accuracy, .ddof = s.ddof};
        draw_grouped(&p, (int)random_below(&random, GROUPED_FORMS), draw_inner(&random), &random);
        compare(&p, &s, TALLY_BACKEND_SIMT, 1, trial);
        free(p.members);
    }
}

/* Segments that all threads take: of many vectors, some scattered. */
static void test_long(void **state) {
    static const subject some[] = {{TALLY_SUM, TALLY_F32, 0, 0, TALLY_BEST},
                                   {TALLY_SUM, TALLY_F32, 0, 0, TALLY_FAST},
                                   {TALLY_ARGMAX, TALLY_I16, 0, 0, TALLY_BEST},
                                   {TALLY_VAR, TALLY_F64, 0, 1, TALLY_BEST}};
    enum { VECTORS = 90000 };
    (void)state;
    for (size_t k = 0; k < sizeof some / sizeof *some; k++)
        for (int form = 0; form < 4; form++) {
            const subject *s = &some[k];
            grouped p = {.begins = scratch(BEGINS, 4 * 8),
                         .form = form == 0   ? 0
                                 : form == 1 ? 3
                                             : 4,
                         .vectors = VECTORS,
                         .inner = form == 3 ? 1 : 7,
                         .count = 3};
            int64_t *index = scratch(INDEX, (VECTORS + 1) * 8), *ends = scratch(ENDS, 3 * 8);
            const int64_t bounds[4] = {0, 5, VECTORS - 3, VECTORS};
            int64_t total = 0;
            p.members = malloc((3 * VECTORS + 1) * sizeof *p.members);
            for (int64_t i = 0; i < VECTORS; i++) index[i] = i % 97 == 0 ? i % 3 : 1;
            if (p.form != 4)
                memcpy(index, bounds, sizeof bounds), memcpy(ends, (int64_t[]){5, VECTORS - 3, VECTORS}, 24);
            for (int64_t q = 0; q < 3; q++) {
                p.begins[q] = total;
                for (int64_t i = 0; i < VECTORS; i++)
                    if (p.form == 4 ? index[i] == q : i >= bounds[q] && i < bounds[q + 1]) p.members[total++] = i;
            }
            p.begins[3] = total;
            p.segments = tally_features(p.form == 0   ? tally_offsets(index, TALLY_I64, 3)
                                        : p.form == 3 ? tally_begin_end(index, ends, TALLY_I64, 3)
                                                      : tally_unsorted_ids(index, TALLY_I64, 3, TALLY_OUTSIDE_REFUSED),
                                        p.inner);
            now = (scene){.op = s->op,
                          .type = s->type,
                          .accuracy = s->accuracy,
                          .segments = grouped_forms[p.form],
                          .inner = p.inner};
            compare(&p, s, TALLY_BACKEND_CPU, 2, 3 * (int)k + (form == 2 ? 0 : 1));
            if (has_simulator && k == 1 && !quick) compare(&p, s, TALLY_BACKEND_SIMT, 1, 1);
            free(p.members);
        }
}

/* More segments than the sort has buckets. */
static void test_many(void **state) {
    static const int64_t counts[] = {1023, 1024, 1025, 2048, 2049, 5000, 65536, 69999};
    enum { VECTORS = 20000 };
    const subject s = {TALLY_SUM, TALLY_F32, 0, 0, TALLY_FAST}; /* its order shows */
    uint64_t random = seed + 3;
    (void)state;
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        grouped p = {.form = k % 3 == 0 ? 5 : 4, .vectors = VECTORS, .inner = 1, .count = counts[k]};
        int32_t *const ids = scratch(INDEX, VECTORS * sizeof *ids), *const taken =
                                                                        calloc((size_t)p.count + 1, sizeof *taken);
        p.begins = scratch(BEGINS, (MOST_SEGMENTS + 1) * 8);
        p.members = malloc(VECTORS * sizeof *p.members);
        memset(p.begins, 0, (MOST_SEGMENTS + 1) * 8);
        for (int64_t i = 0; i < VECTORS; i++) {
            ids[i] = (int32_t)random_below(&random, random_below(&random, 2) ? p.count : 40);
            if (p.form == 5 && random_below(&random, 9) == 0) ids[i] = INT32_MAX;
            if (ids[i] < p.count) p.begins[ids[i] + 1]++;
        }
        for (int64_t q = 0; q < p.count; q++) p.begins[q + 1] += p.begins[q];
        for (int64_t i = 0; i < VECTORS; i++)
            if (ids[i] < p.count) p.members[p.begins[ids[i]] + taken[ids[i]]++] = i;
        p.segments =
            tally_unsorted_ids(ids, TALLY_I32, p.count, p.form == 5 ? TALLY_OUTSIDE_LEFT_OUT : TALLY_OUTSIDE_REFUSED);
        now = (scene){
            .op = s.op, .type = s.type, .accuracy = s.accuracy, .segments = grouped_forms[p.form], .outer = p.count};
        compare(&p, &s, TALLY_BACKEND_CPU, 2, CANCELLATION + DATA_CLASSES);
        if (has_simulator && k % 4 == 1) compare(&p, &s, TALLY_BACKEND_SIMT, 1, CANCELLATION + DATA_CLASSES);
        free(p.members);
        free(taken);
    }
}

/* Few features: more values than the buffer of a thread has room for, in segments that fit it. */
static void test_full_buffers(void **state) {
    enum { SEGMENTS = 40, LENGTH = 1500, INNER = 2 };
    const subject s = {TALLY_SUM, TALLY_F64, 0, 0, TALLY_FAST};
    grouped p = {.form = 4, .vectors = SEGMENTS * LENGTH, .inner = INNER, .count = SEGMENTS};
    int32_t *const ids = scratch(INDEX, SEGMENTS * LENGTH * sizeof *ids);
    (void)state;
    p.begins = scratch(BEGINS, (MOST_SEGMENTS + 1) * 8);
    p.members = malloc(SEGMENTS * LENGTH * sizeof *p.members);
    for (int64_t q = 0; q <= SEGMENTS; q++) p.begins[q] = q * LENGTH;
    for (int64_t i = 0; i < SEGMENTS * LENGTH; i++) {
        ids[i] = (int32_t)(i % SEGMENTS);
        p.members[i % SEGMENTS * LENGTH + i / SEGMENTS] = i;
    }
    p.segments = tally_features(tally_unsorted_ids(ids, TALLY_I32, SEGMENTS, TALLY_OUTSIDE_REFUSED), INNER);
    now = (scene){.op = s.op, .type = s.type, .accuracy = s.accuracy, .segments = "full buffers", .outer = p.count};
    for (int threads = 1; threads <= 2; threads++)
        compare(&p, &s, TALLY_BACKEND_CPU, threads, CANCELLATION + DATA_CLASSES);
    free(p.members);
}

/* Its order shows: the grouping must be a stable one. */
static void test_own_operators(void **state) {
    uint64_t random = seed + 2;
    tally_context *context;
    (void)state;
    EXPECT_OK(tally_context_create(NULL, &context));
    const tally_op op = define(context, affine_operator());
    for (int trial = 0; trial < (quick ? 12 : 120); trial++) {
        grouped p;
        now = (scene){.op = op, .type = TALLY_STRUCT};
        draw_grouped(&p, trial % GROUPED_FORMS, draw_inner(&random), &random);
        const int64_t values = p.vectors * p.inner;
        affine *const maps = scratch(X, (size_t)(values + 1) * sizeof *maps);
        for (int64_t i = 0; i < values; i++)
            maps[i] =
                (affine){(uint32_t)random_below(&random, AFFINE_PRIME), (uint32_t)random_below(&random, AFFINE_PRIME)};
        const tally_array x = {maps, TALLY_STRUCT, values, 0};
        const size_t space = (size_t)(p.count * p.inner) * sizeof(uint32_t);
        char *const got = scratch(GOT, space + 1);
        EXPECT_OK(reduce(&p, context, op, x, x, trial % 3 == 0, got));
        EXPECT_OK(expect_each_feature(&p, context, op, x, x, sizeof *maps, got, sizeof(uint32_t)));
        free(p.members);
    }
    EXPECT(broken_promises == 0, "%d broken promises", (int)broken_promises);
    tally_context_destroy(context);
}

/* ---- what is refused ---- */

static double twelve[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
static void refuse(const char *what, tally_segments segments, tally_status due) {
    double out[64];
    now = (scene){.segments = what, .type = TALLY_F64, .size = 12};
    for (tally_backend backend = TALLY_BACKEND_CPU; backend <= TALLY_BACKEND_REFERENCE; backend++) {
        tally_context *const context = context_for(&(subject){TALLY_SUM, TALLY_F64, 0, 0, TALLY_BEST}, backend, 1);
        EXPECT_STATUS(tally_reduce_segments(context, TALLY_SUM, tally_in(twelve, TALLY_F64, 12), segments,
                                            tally_out(out, TALLY_NATURAL, 64)),
                      due);
    }
}

static void test_refused(void **state) {
    const int64_t begins[] = {0, 5, 12}, ends[] = {3, 5, 12}, before[] = {3, 4, 12}, beyond[] = {3, 5, 13},
                  below[] = {-1, 5, 12}, offsets[] = {0, 2, 6, 6}, ids[] = {2, 0, 1, 1, 0, 2};
    const int64_t outside[] = {2, 0, 3, 1, 0, 2}, minus[] = {2, 0, -1, 1, 0, 2},
                  far[] = {2, 0, INT64_MIN, INT64_MAX, 0, 2}, two[] = {2, 7, 0, 9, 1, 0, 2, 1, 0, 1, 2, 0};
    tally_segments segments;
    tally_plan *plan;
    double out[6];
    (void)state;
    refuse("an end before its begin", tally_begin_end(begins, before, TALLY_I64, 3), TALLY_BAD_SEGMENTS);
    refuse("an end beyond the array", tally_begin_end(begins, beyond, TALLY_I64, 3), TALLY_BAD_SEGMENTS);
    refuse("a begin below 0", tally_begin_end(below, ends, TALLY_I64, 3), TALLY_BAD_SEGMENTS);
    refuse("ends counted in numbers, not vectors", tally_features(tally_begin_end(begins, ends, TALLY_I64, 3), 2),
           TALLY_BAD_SEGMENTS);
    refuse("no ends", tally_begin_end(begins, NULL, TALLY_I64, 3), TALLY_BAD_ARGUMENT);
    refuse("no begins", tally_begin_end(NULL, ends, TALLY_I64, 3), TALLY_BAD_ARGUMENT);
    refuse("begins of u32", tally_begin_end(begins, ends, TALLY_U32, 3), TALLY_BAD_ARGUMENT);
    refuse("huge begins", tally_begin_end(begins, ends, TALLY_I64, INT64_MAX / 2), TALLY_BAD_ARGUMENT);
    refuse("an id outside", tally_features(tally_unsorted_ids(outside, TALLY_I64, 3, TALLY_OUTSIDE_REFUSED), 2),
           TALLY_BAD_SEGMENTS);
    refuse("a negative id", tally_features(tally_unsorted_ids(minus, TALLY_I64, 3, TALLY_OUTSIDE_REFUSED), 2),
           TALLY_BAD_SEGMENTS);
    refuse("two ids outside", tally_unsorted_ids(two, TALLY_I64, 3, TALLY_OUTSIDE_REFUSED), TALLY_BAD_SEGMENTS);
    EXPECT(strstr(tally_message(), "segment id 1 ") != NULL, "it is not the first that is named: %s", tally_message());
    refuse("ids of no segments", tally_features(tally_unsorted_ids(ids, TALLY_I64, 0, TALLY_OUTSIDE_REFUSED), 2),
           TALLY_BAD_SEGMENTS);
    refuse("another option", tally_features(tally_unsorted_ids(ids, TALLY_I64, 3, (tally_outside)2), 2),
           TALLY_BAD_ARGUMENT);
    refuse("sorted ids that are not", tally_features(tally_segment_ids(ids, TALLY_I64, 3), 2), TALLY_BAD_SEGMENTS);
    refuse("values that make no vectors", tally_features(tally_offsets(offsets, TALLY_I64, 3), 5), TALLY_BAD_SEGMENTS);
    refuse("a negative number of features", tally_features(tally_offsets(offsets, TALLY_I64, 3), -1),
           TALLY_BAD_ARGUMENT);
    refuse("too many results", tally_features(tally_offsets(offsets, TALLY_I64, INT64_MAX / 17), 12),
           TALLY_BAD_ARGUMENT);
    refuse("too little space", tally_features(tally_begin_end(begins, begins, TALLY_I64, 3), 12), TALLY_BAD_SEGMENTS);
    /* left out, however far outside */
    segments = tally_features(tally_unsorted_ids(far, TALLY_I64, 3, TALLY_OUTSIDE_LEFT_OUT), 2);
    EXPECT_OK(tally_reduce_segments(NULL, TALLY_SUM, tally_in(twelve, TALLY_F64, 12), segments,
                                    tally_out(out, TALLY_F64, 6)));
    EXPECT(out[0] == 3 + 9 && out[1] == 4 + 10 && out[2] == 0 && out[4] == 1 + 11, "others than left out are wrong");
    /* plans */
    now.segments = "a plan of features";
    EXPECT_STATUS(tally_plan_open(NULL, TALLY_F64, 6, tally_features(tally_offsets(offsets, TALLY_I64, 3), 2), &plan),
                  TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(
        tally_plan_open(NULL, TALLY_F64, 6, tally_unsorted_ids(outside, TALLY_I64, 3, TALLY_OUTSIDE_REFUSED), &plan),
        TALLY_BAD_SEGMENTS);
    EXPECT_OK(tally_plan_open(NULL, TALLY_F64, 12, tally_rows(3, 4, 1), &plan));
    refuse("features of planned rows", tally_features(tally_planned(plan), 2), TALLY_BAD_ARGUMENT);
    tally_plan_close(plan);
    EXPECT_OK(tally_plan_open(NULL, TALLY_F64, 6, tally_unsorted_ids(ids, TALLY_I64, 3, TALLY_OUTSIDE_REFUSED), &plan));
    refuse("a plan of fewer vectors", tally_planned(plan), TALLY_BAD_SEGMENTS);
    refuse("a plan of more vectors", tally_features(tally_planned(plan), 3), TALLY_BAD_SEGMENTS);
    EXPECT_OK(tally_reduce_segments(NULL, TALLY_SUM, tally_in(twelve, TALLY_F64, 12),
                                    tally_features(tally_planned(plan), 2), tally_out(out, TALLY_F64, 6)));
    tally_plan_close(plan);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all),          cmocka_unit_test(test_simulator),
                                       cmocka_unit_test(test_long),         cmocka_unit_test(test_many),
                                       cmocka_unit_test(test_full_buffers), cmocka_unit_test(test_own_operators),
                                       cmocka_unit_test(test_refused)};
    int skipped = begin_program(argc, argv);
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
