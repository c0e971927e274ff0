/* Vectors of features, begins and ends and ids in any order that lie in GPU memory, as their results do: each has the
 * bits of tally_reduce over its values. On the simulator as it is; with --cuda on a GPU. */
#include <stdlib.h>
#include <string.h>

#include "gpu_host.h"
#include "grouped_problems.h"

/* A problem's arrays on the device; to be released. */
typedef struct far {
    tally__cu_address x, y, index, ends, out;
    tally_array left, right;
    tally_segments segments;
} far;

static int64_t entries_of(const grouped *p) {
    return p->form == 0 ? p->count + 1 : p->form == 2 || p->form > 3 ? p->vectors : p->count;
}
static far send(const grouped *p, tally_type type, const char *x, const char *y, size_t out_bytes, int trial) {
    const size_t width = tally_type_size(type), index_bytes = tally_type_size(p->segments.index_type);
    const int64_t values = p->vectors * p->inner;
    const size_t offset = (size_t)(trial % 4) * (trial % 5 ? width : 1), behind = (size_t)(trial % 3) * index_bytes;
    far f = {.segments = p->segments};
    f.x = device_copy(x, (size_t)values * width, offset);
    f.y = device_copy(y, (size_t)values * width, 0);
    f.index = device_copy(p->segments.index, (size_t)entries_of(p) * index_bytes, behind);
    f.ends = device_copy(p->segments.ends, p->form == 3 ? (size_t)p->count * index_bytes : 0, behind);
    f.out = device_copy(scratch(GOT, out_bytes), out_bytes, 0);
    f.left = (tally_array){(const char *)(uintptr_t)f.x + offset, type, values, 0};
    f.right = (tally_array){(const void *)(uintptr_t)f.y, type, values, 0};
    if (trial % 7 == 2) return f; /* the index stays in host memory */
    f.segments.index = (const char *)(uintptr_t)f.index + behind;
    f.segments.ends = p->form == 3 ? (const char *)(uintptr_t)f.ends + behind : NULL;
    return f;
}
static void release(const far *f) {
    const tally__cu_address all[] = {f->x, f->y, f->index, f->ends, f->out};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) driver->release(all[k]);
}

static tally_status reduce(const grouped *p, tally_context *context, const subject *s, far *f, bool is_planned) {
    tally_plan *plan = NULL;
    const tally_output out = tally_out((void *)(uintptr_t)f->out, TALLY_NATURAL, p->count * p->inner);
    if (is_planned) {
        f->segments.inner = 0;
        EXPECT_OK(tally_plan_open(context, s->type, p->vectors, f->segments, &plan));
        f->segments = tally_features(tally_planned(plan), p->inner);
    }
    const tally_status status = perform(context, s->op, f->left, f->right, &f->segments, out);
    tally_plan_close(plan);
    return status;
}

static void compare(const grouped *p, const subject *s, data_class class, int trial) {
    const size_t width = tally_type_size(s->type), bytes = result_bytes(s),
                 space = bytes * (size_t)(p->count * p->inner);
    const char *const x = data_of(s->type, class, p->vectors * p->inner), *const y = data_of(s->type, SMALL_INTEGERS,
                                                                                             p->vectors * p->inner);
    const tally_array left = tally_in(x, s->type, p->vectors * p->inner),
                      right = tally_in(y, s->type, p->vectors * p->inner);
    char *const got = scratch(GOT, space + 1);
    now.data = class_names[class];
    memset(got, 0x5a, space);
    choose_schedule(trial);
    far f = send(p, s->type, x, y, space, trial);
    EXPECT_OK(reduce(p, context_for(s, backend, 1), s, &f, trial % 3 == 0));
    device_read(got, f.out, space);
    (void)expect_each_feature(p, context_for(s, TALLY_BACKEND_CPU, 1), s->op, left, right, width, got, bytes);
    release(&f);
}

static void test_all(void **state) {
    subject s = {.op = -1};
    uint64_t random = seed;
    (void)state;
    for (int trial = 0; next_subject(&s); trial++) {
        const int every = backend == TALLY_BACKEND_CUDA ? 1 : quick ? 61 : 7;
        if (trial % every != 0) continue;
        grouped p;
        now = (scene){.op = s.op, .type = s.type, .nan = s.nan, .accuracy = s.accuracy, .ddof = s.ddof};
        draw_grouped(&p, trial / every % GROUPED_FORMS, draw_inner(&random), &random);
        compare(&p, &s, (data_class)(trial % DATA_CLASSES), trial);
        free(p.members);
    }
}

/* Ids of more bits than a pass of the sort takes, of several of its tiles; and a segment that has nearly all. */
static void test_many(void **state) {
    static const int64_t counts[] = {1, 2, 254, 255, 256, 257, 65535, 65536, 69999};
    enum { VECTORS = 13000 };
    const subject s = {TALLY_SUM, TALLY_F32, 0, 0, TALLY_FAST}; /* its order shows */
    uint64_t random = seed + 1;
    (void)state;
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        grouped p = {.form = 5, .vectors = VECTORS, .inner = 1 + (int64_t)k % 3, .count = counts[k]};
        int32_t *const ids = scratch(INDEX, VECTORS * sizeof *ids), *const taken = calloc((size_t)p.count + 1, 4);
        p.begins = scratch(BEGINS, (MOST_SEGMENTS + 1) * 8);
        p.members = malloc(VECTORS * sizeof *p.members);
        memset(p.begins, 0, (MOST_SEGMENTS + 1) * 8);
        for (int64_t i = 0; i < VECTORS; i++) {
            ids[i] = (int32_t)random_below(&random, k % 2 ? p.count : p.count / 900 + 1);
            if (random_below(&random, 9) == 0) ids[i] = random_below(&random, 2) ? INT32_MAX : -1;
            if (ids[i] >= 0 && ids[i] < p.count) p.begins[ids[i] + 1]++;
        }
        for (int64_t q = 0; q < p.count; q++) p.begins[q + 1] += p.begins[q];
        for (int64_t i = 0; i < VECTORS; i++)
            if (ids[i] >= 0 && ids[i] < p.count) p.members[p.begins[ids[i]] + taken[ids[i]]++] = i;
        p.segments = tally_features(tally_unsorted_ids(ids, TALLY_I32, p.count, TALLY_OUTSIDE_LEFT_OUT), p.inner);
        now =
            (scene){.op = s.op, .type = s.type, .accuracy = s.accuracy, .segments = grouped_forms[5], .outer = p.count};
        compare(&p, &s, CANCELLATION, (int)k);
        free(p.members);
        free(taken);
    }
}

/* ---- what is refused, and what fails ---- */

static float floats[64];
static void refuse(const char *what, tally_segments segments, int64_t entries, bool has_ends) {
    const size_t bytes = tally_type_size(segments.index_type);
    tally_options options = TALLY_OPTIONS_INIT;
    tally_context *const checked = context_of(backend);
    now = (scene){.segments = what, .type = TALLY_F32, .size = 64};
    options.backend = backend;
    options.checked = 1;
    EXPECT_OK(tally_set_options(checked, &options));
    const tally__cu_address x = device_copy(floats, sizeof floats, 0),
                            index = device_copy(segments.index, (size_t)entries * bytes, 0),
                            ends = device_copy(segments.ends, has_ends ? (size_t)entries * bytes : 0, 0),
                            out = device_copy(floats, sizeof floats, 0);
    segments.index = (const void *)(uintptr_t)index;
    segments.ends = has_ends ? (const void *)(uintptr_t)ends : NULL;
    EXPECT_STATUS(tally_reduce_segments(checked, TALLY_SUM, tally_in((const void *)(uintptr_t)x, TALLY_F32, 64),
                                        segments, tally_out((void *)(uintptr_t)out, TALLY_F32, 64)),
                  TALLY_BAD_SEGMENTS);
    EXPECT_STATUS(tally_reduce_segments(checked, TALLY_SUM, tally_in(floats, TALLY_F32, 64), segments,
                                        tally_out(floats, TALLY_F32, 64)),
                  TALLY_BAD_SEGMENTS);
    const tally__cu_address all[] = {x, index, ends, out};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) driver->release(all[k]);
    tally_context_destroy(checked);
}
static void test_refused(void **state) {
    static const int64_t begins[] = {0, 5, 12}, before[] = {3, 4, 12}, beyond[] = {3, 5, 33}, below[] = {-1, 5, 12},
                         ends[] = {3, 5, 12}, huge[] = {INT64_MAX, 5, INT64_MAX}, least[] = {INT64_MIN, 0, INT64_MIN};
    static const int64_t falls[] = {0, 9, 5, 32}, far_off[] = {0, 5, 9, 33}, minus[] = {0, -5, 9, 32},
                         wild[] = {INT64_MIN, INT64_MAX, INT64_MIN, INT64_MAX};
    int32_t ids[32] = {0};
    (void)state;
    refuse("an end before its begin", tally_features(tally_begin_end(begins, before, TALLY_I64, 3), 2), 3, true);
    refuse("an end beyond the array", tally_features(tally_begin_end(begins, beyond, TALLY_I64, 3), 2), 3, true);
    refuse("a begin below 0", tally_features(tally_begin_end(below, ends, TALLY_I64, 3), 2), 3, true);
    refuse("a huge end", tally_features(tally_begin_end(begins, huge, TALLY_I64, 3), 2), 3, true);
    refuse("a begin far below", tally_features(tally_begin_end(least, huge, TALLY_I64, 3), 2), 3, true);
    refuse("offsets that fall", tally_features(tally_offsets(falls, TALLY_I64, 3), 2), 4, false);
    refuse("an offset beyond", tally_features(tally_offsets(far_off, TALLY_I64, 3), 2), 4, false);
    refuse("a negative offset", tally_features(tally_offsets(minus, TALLY_I64, 3), 2), 4, false);
    refuse("wild offsets", tally_features(tally_offsets(wild, TALLY_I64, 3), 2), 4, false);
    refuse("wild lengths", tally_features(tally_lengths(wild, TALLY_I64, 4), 2), 4, false);
    refuse("lengths of too much", tally_features(tally_lengths(beyond, TALLY_I64, 3), 2), 3, false);
    ids[7] = 3;
    refuse("an id outside", tally_features(tally_unsorted_ids(ids, TALLY_I32, 3, TALLY_OUTSIDE_REFUSED), 2), 32, false);
    ids[7] = -1;
    refuse("a negative id", tally_features(tally_unsorted_ids(ids, TALLY_I32, 3, TALLY_OUTSIDE_REFUSED), 2), 32, false);
    ids[7] = 2;
    refuse("sorted ids that are not", tally_features(tally_segment_ids(ids, TALLY_I32, 3), 2), 32, false);
}

static tally_status reduce_some(tally_context *context, const void *of) {
    const tally_segments *segments = of;
    float out[64];
    return tally_reduce_segments(context, TALLY_SUM, tally_in(floats, TALLY_F32, 64), *segments,
                                 tally_out(out, TALLY_F32, 64));
}
static tally_status plan_some(tally_context *context, const void *of) {
    const tally_segments *segments = of;
    float out[64];
    tally_plan *plan;
    tally_status status = tally_plan_open(context, TALLY_F32, 32, tally_features(*segments, 1), &plan);
    if (status != TALLY_OK) return status;
    status = tally_reduce_segments(context, TALLY_SUM, tally_in(floats, TALLY_F32, 64),
                                   tally_features(tally_planned(plan), 2), tally_out(out, TALLY_F32, 64));
    tally_plan_close(plan);
    return status;
}
static void test_failures(void **state) {
    static const int32_t begins[] = {0, 5, 12}, ends[] = {3, 5, 12}, ids[32] = {1, 2, 0};
    const tally_segments pairs = tally_features(tally_begin_end(begins, ends, TALLY_I32, 3), 2),
                         unsorted = tally_features(tally_unsorted_ids(ids, TALLY_I32, 3, TALLY_OUTSIDE_REFUSED), 2);
    (void)state;
    if (backend == TALLY_BACKEND_CUDA) return; /* a GPU's driver does not fail on demand */
    fail_every_call(TALLY_FAST, reduce_some, &pairs);
    fail_every_call(TALLY_FAST, reduce_some, &unsorted);
    fail_every_call(TALLY_FAST, plan_some, &pairs);
    fail_every_call(TALLY_FAST, plan_some, &unsorted);
}

/* A plan is for the backend that made it ready. */
static void test_plan_of_another(void **state) {
    const float x[4] = {1, 2, 3, 4};
    const int64_t offsets[3] = {0, 1, 4};
    tally_context *context = context_of(backend), *host = context_of(TALLY_BACKEND_CPU);
    float out[2];
    tally_plan *plan;
    (void)state;
    EXPECT_OK(tally_plan_open(context, TALLY_F32, 4, tally_offsets(offsets, TALLY_I64, 2), &plan));
    EXPECT_STATUS(tally_reduce_segments(host, TALLY_SUM, tally_in(x, TALLY_F32, 4), tally_planned(plan),
                                        tally_out(out, TALLY_F32, 2)),
                  TALLY_BAD_ARGUMENT);
    EXPECT_OK(tally_reduce_segments(context, TALLY_SUM, tally_in(x, TALLY_F32, 4), tally_planned(plan),
                                    tally_out(out, TALLY_F32, 2)));
    EXPECT(out[0] == 1 && out[1] == 9, "%g %g", (double)out[0], (double)out[1]);
    tally_plan_close(plan);
    tally_context_destroy(host);
    tally_context_destroy(context);
}

int main(int argc, char **argv) {
    const struct CMUnitTest of_subjects[] = {cmocka_unit_test(test_all)};
    const struct CMUnitTest others[] = {cmocka_unit_test(test_many), cmocka_unit_test(test_refused),
                                        cmocka_unit_test(test_failures), cmocka_unit_test(test_plan_of_another)};
    const int ended = begin_gpu_program(argc, argv);
    return ended ? ended : RUN_GPU_TESTS(of_subjects, others);
}
