/* Segments on the GPU backend: each has the bits that the CPU gives for that slice alone. Every operator, type and
 * policy, over segmentations of every shape and form, boundaries of leaves and tiles, layouts, schedules.
 * Segmentations that are none: bad_segmentations.c; sums that are hard: hard_sums.c. On the simulator as it is; with
 * --cuda on a GPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bad_segmentations.h"
#include "cuda/units.h"
#include "hard_sums.h"
#include "partition/partition.h"
#include "segment_problems.h"

/* Leaves other offsets in scratch memory than the next call is to make there. */
static void spoil_scratch(const subject *s) {
    enum { COUNT = 12000 };
    static int32_t ones[COUNT];
    static float x[COUNT], out[COUNT];
    for (int i = 0; i < COUNT; i++) ones[i] = 1;
    EXPECT_OK(tally_reduce_segments(context_for(s, backend, 1), TALLY_ANY, tally_in(x, TALLY_F32, COUNT),
                                    tally_lengths(ones, TALLY_I32, COUNT), tally_out(out, TALLY_F32, COUNT)));
}

/* The values of about three tiles, more on a GPU. */
static problem pose(const subject *s, shape which, data_class class, int64_t bytes, int trial) {
    problem p = pose_segments(s, make_ragged(which, s->type, bytes / (int64_t)tally_type_size(s->type), trial), class);
    now.data = shape_names[which];
    return p;
}

static void test_shapes(void **state) {
    subject s = {.op = -1};
    (void)state;
    for (int trial = 0; next_subject(&s); trial++)
        for (int which = 0; which < SHAPES; which++) {
            const int64_t bytes = backend == TALLY_BACKEND_SIMT
                                      ? (1 + (trial + which) / 5 % 2) * TALLY_TILE_BYTES + 12345
                                      : 12 * TALLY_TILE_BYTES;
            int every = quick ? 29 : backend == TALLY_BACKEND_SIMT ? 5 : 1;
            if ((trial + which) % every != 0) continue;
            problem p = pose(&s, (shape)which, (data_class)((trial + which) % DATA_CLASSES),
                             bytes / (which == ONES ? 4 : 1), trial + which);
            tally_segmentation form = (tally_segmentation)((trial / 5 + which) % 3);
            tally_type index_type = trial / 2 % 2 ? TALLY_I64 : TALLY_I32;
            if ((trial + which / 2) % 3 == 0)
                compare_host(&p, form, index_type, trial + which);
            else
                compare_device(&p, form, index_type, trial + which);
        }
}

/* Every form, index and shape, for few operators; segments of many leaves, whose nodes climb. */
static void test_forms(void **state) {
    static const subject some[] = {{TALLY_SUM, TALLY_F32, 0, 0, TALLY_FAST},
                                   {TALLY_ARGMIN, TALLY_I16, 0, 0, TALLY_BEST},
                                   {TALLY_PROD, TALLY_F64, 0, 0, TALLY_BEST}};
    (void)state;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        for (int which = 0; which < SHAPES; which++) {
            problem p =
                pose(&some[i], (shape)which, which % 2 ? SMALL_INTEGERS : CANCELLATION, 2 * TALLY_TILE_BYTES, which);
            for (int form = TALLY_OFFSETS; form <= TALLY_SEGMENT_IDS; form++)
                for (int wide = 0; wide < 2; wide++)
                    if (!quick || (which + form + wide) % 7 == 0) {
                        spoil_scratch(&some[i]);
                        compare_device(&p, (tally_segmentation)form, wide ? TALLY_I64 : TALLY_I32,
                                       which + 2 * form + wide);
                    }
        }
    for (int k = 0; k < (quick ? 1 : 4); k++) {
        static const shape wide[] = {ONE, HUGE_AND_THREES, POWER, ONE};
        int64_t leaves = backend == TALLY_BACKEND_SIMT ? 70 + 63 * k : 70 << 3 * k;
        problem p = pose(&some[k % 3], wide[k], SMALL_INTEGERS, 4096 * leaves + 8 * k, k);
        compare_device(&p, TALLY_OFFSETS, TALLY_I32, k);
    }
    /* lengths that a block of production/segments/partition.h takes, and no more: the last offset is behind them */
    ragged r = {.lengths = scratch(LENGTHS, TALLY_LENGTHS_BLOCK * sizeof(int64_t))};
    while (r.count < TALLY_LENGTHS_BLOCK) r.values += r.lengths[r.count] = r.count % 2, r.count++;
    const problem p = pose_segments(&some[0], r, SMALL_INTEGERS);
    now.data = "a block of lengths";
    spoil_scratch(&some[0]);
    compare_device(&p, TALLY_LENGTHS, TALLY_I32, 0);
}

/* Segments of a group of leaves, and hardly more or less: what runs over tiles is combined by groups. */
static void test_groups(void **state) {
    static const subject some[] = {{TALLY_SUM, TALLY_F32, 0, 0, TALLY_FAST},
                                   {TALLY_SUM, TALLY_F64, 0, 0, TALLY_BEST},
                                   {TALLY_ARGMIN, TALLY_I16, 0, 0, TALLY_BEST}};
    (void)state;
    for (int i = 0; i < (quick ? 1 : 3); i++) {
        const int64_t group = 64 * tally_leaf_length(some[i].type);
        const int64_t lengths[] = {3, group + 1, 2, group, group - 1, 1, 2 * group + 1, 0, group + 1, 7, 2 * group, 5};
        ragged r = {.lengths = scratch(LENGTHS, sizeof lengths)};
        for (; r.count < (int64_t)(sizeof lengths / sizeof *lengths); r.count++)
            r.values += r.lengths[r.count] = lengths[r.count];
        const problem p = pose_segments(&some[i], r, CANCELLATION);
        now.data = "groups of leaves";
        compare_device(&p, TALLY_OFFSETS, TALLY_I32, i);
    }
}

/* Lengths of segments that have many values on average: any; about what a lane, a warp or a leaf has; a long one among
 * short ones; so many empty ones that tiles end for their sake; and one segment. */
enum { MANY_VALUES = 5 };
static int64_t length_of_many(int which, int64_t leaf, int64_t left, int64_t i, uint64_t *random) {
    static const int64_t edges[] = {0, 1, 63, 64, 65, 127, 128, 129, 255, 257, 511, 512, 513, 1023, 1024, 1025, 2049};
    switch (which) {
    case 0: return 1 + random_below(random, 500);
    case 1: return edges[random_below(random, sizeof edges / sizeof *edges)] + (i % 9 == 0 ? leaf : 0);
    case 2: return i % 7 == 3 ? 3000 + random_below(random, 3000) : random_below(random, 20);
    case 3: return i % 40 == 9 ? 3 * leaf + random_below(random, 9000) - 1 : random_below(random, 30) == 0;
    default: return left;
    }
}
static void test_exact_tiles(void **state) {
    subject s = {.op = -1};
    (void)state;
    for (int trial = 0; next_subject(&s); trial++)
        for (int which = 0; which < MANY_VALUES; which++) {
            const int64_t leaf = tally_leaf_length(s.type),
                          values = (backend == TALLY_BACKEND_SIMT ? 3 : 40) * leaf * (1 + which % 2) * 3;
            uint64_t random = (uint64_t)trial;
            ragged r = {.lengths = scratch(LENGTHS, ((size_t)values + 1) * sizeof(int64_t))};
            if (!is_exact_sum(&s) || (trial + which) % (quick ? 23 : backend == TALLY_BACKEND_SIMT ? 2 : 1) != 0)
                continue;
            for (int64_t n; r.values < values; r.values += n, r.lengths[r.count++] = n) {
                n = length_of_many(which, leaf, values - r.values, r.count, &random);
                n = n < values - r.values ? n : values - r.values;
            }
            const problem p = pose_segments(&s, r, (data_class)((trial + which) % DATA_CLASSES));
            now.data = "segments of many values";
            compare_device(&p, (tally_segmentation)((trial + which) % 3), trial % 2 ? TALLY_I64 : TALLY_I32,
                           trial + which);
        }
}

/* So many empty segments behind all others that tiles look at segment ids themselves (src/cuda/segments.c). */
static void add_empty(ragged *r) {
    while (r->count <= r->values / 6) r->lengths[r->count++] = 0;
}
static void test_segment_ids(void **state) {
    static const subject some[] = {{TALLY_SUM, TALLY_F32, 0, 0, TALLY_FAST},
                                   {TALLY_SUM, TALLY_F64, 0, 0, TALLY_BEST},
                                   {TALLY_MAX, TALLY_BF16, 0, 0, TALLY_BEST},
                                   {TALLY_DOT, TALLY_F32, 0, 0, TALLY_FAST},
                                   {TALLY_PROD, TALLY_I64, 0, 0, TALLY_BEST}};
    (void)state;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        for (int which = 0; which < SHAPES; which++)
            for (int wide = 0; wide < 2; wide++) {
                const int trial = 2 * which + wide + (int)i;
                if (which == EMPTY || (quick && trial % 5 != 0)) continue;
                ragged r = make_ragged((shape)which, some[i].type,
                                       3 * TALLY_TILE_BYTES / (int64_t)tally_type_size(some[i].type), trial);
                add_empty(&r);
                problem p = pose_segments(&some[i], r, (data_class)(trial % DATA_CLASSES));
                now.data = shape_names[which];
                compare_device(&p, TALLY_SEGMENT_IDS, wide ? TALLY_I64 : TALLY_I32, 3 * trial);
            }
    /* One that crosses the boundaries at which a block of kernel tally_partition_segment_id_boundaries ends and the
     * next begins. */
    enum { VALUES = 600000, BEFORE = 100000, LONG = 400000 };
    static const subject sum = {TALLY_SUM, TALLY_F64, 0, 0, TALLY_FAST};
    ragged r = {.lengths = scratch(LENGTHS, VALUES * sizeof(int64_t))};
    for (; r.values < VALUES; r.values += r.lengths[r.count++])
        r.lengths[r.count] = r.values == BEFORE - 1 ? LONG : r.values % 3 == 0 ? 3 : 1 + r.values % 2;
    add_empty(&r);
    problem p = pose_segments(&sum, r, CANCELLATION);
    now.data = "a long one over many tiles";
    compare_device(&p, TALLY_SEGMENT_IDS, TALLY_I64, 0);
}

/* ---- plans ---- */

static const tally_segmentation forms[] = {TALLY_OFFSETS, TALLY_LENGTHS, TALLY_SEGMENT_IDS};

/* A plan serves operators, types and numbers of inputs of other sizes than its own, each time again; the index lies on
 * the host or the device. */
static void test_plans(void **state) {
    static const subject some[] = {
        {TALLY_SUM, TALLY_F32, 0, 0, TALLY_BEST},    {TALLY_SUM, TALLY_F32, 0, 0, TALLY_FAST},
        {TALLY_DOT, TALLY_F32, 0, 0, TALLY_BEST},    {TALLY_MAX, TALLY_U8, 0, 0, TALLY_BEST},
        {TALLY_ARGMIN, TALLY_F64, 0, 0, TALLY_BEST}, {TALLY_SUM, TALLY_I32, 0, 0, TALLY_BEST}};
    (void)state;
    for (int trial = 0; trial < (quick ? 3 : 12); trial++) {
        const ragged r = make_ragged(trial % 2 ? POWER : HUGE_AND_THREES, TALLY_F32, 30000, trial);
        tally__cu_address memory = 0;
        tally_plan *plan = NULL;
        int64_t skip, count;
        size_t index_bytes;
        now = (scene){.data = "a plan"};
        tally_segments segments = make_segments(forms[trial % 3], trial / 3 % 2 ? TALLY_I32 : TALLY_I64, &r, trial % 2,
                                                &skip, &count, &index_bytes);
        if (trial / 6 % 2 == 1) {
            memory = device_copy(segments.index, index_bytes, 0);
            segments.index = (const void *)(uintptr_t)memory;
        }
        choose_schedule(trial);
        EXPECT_OK(tally_plan_open(context_for(&some[0], backend, 1), TALLY_F32, count, segments, &plan));
        memset(scratch(INDEX, index_bytes + 1), 0x77, index_bytes); /* it is not read again */
        for (size_t i = 0; i < 2 * sizeof some / sizeof *some; i += 1 + i / 6) {
            const subject *s = &some[i % (sizeof some / sizeof *some)];
            const problem p = pose_segments(s, r, SMALL_INTEGERS);
            const size_t bytes = result_bytes(s);
            const int64_t at = skip * (int64_t)tally_type_size(s->type);
            char *out = scratch(OUT, bytes * (size_t)r.count + 1);
            const tally_segments planned = tally_planned(plan);
            memset(out, 0xa5, bytes * (size_t)r.count);
            choose_schedule(trial + (int)i);
            EXPECT_STATUS(perform(context_for(s, backend, 1), s->op, tally_in(p.x + at, s->type, count),
                                  tally_in(p.y + at, s->type, count), &planned, tally_out(out, TALLY_NATURAL, r.count)),
                          p.due);
            expect_results(out, (int64_t)bytes, p.wanted, bytes, r.count);
            EXPECT_STATUS(perform(context_for(s, TALLY_BACKEND_CPU, 1), s->op, tally_in(p.x + at, s->type, count),
                                  tally_in(p.y + at, s->type, count), &planned, tally_out(out, TALLY_NATURAL, r.count)),
                          TALLY_BAD_ARGUMENT); /* not for the host */
        }
        tally_plan_close(plan);
        if (memory != 0) driver->release(memory);
    }
}

/* ---- results of other types, in device memory ---- */

/* The bits and the status that the CPU gives, which what is checked knows too; what cannot be is refused alike. */
static void compare_type(const subject *s, const tally_segments *segments, const char *x, int64_t count,
                         tally_type type, int trial) {
    const int64_t results = segments->kind == TALLY_ROWS ? segments->count * segments->inner : segments->count,
                  stride = 16 + trial % 3;
    const size_t space = (size_t)(results * stride) + 1;
    char *wanted = scratch(WANTED, space), *got = scratch(OUT, space);
    tally_array host = tally_in(x, s->type, count), in = host;
    tally_context *context = checked_context_for(s, 1);
    now.layout = tally_type_name(type);
    memset(wanted, 0xa5, space);
    tally__cu_address values = device_copy(x, (size_t)count * tally_type_size(s->type), 0),
                      to = device_copy(wanted, space, 0), index = 0;
    tally_segments there = *segments;
    tally_status due = perform(context_for(s, TALLY_BACKEND_CPU, 1), s->op, host, host, segments,
                               (tally_output){wanted, type, results, stride});
    in.data = (const void *)(uintptr_t)values;
    if (segments->kind != TALLY_ROWS) {
        index = device_copy(segments->index, (size_t)(results + 1) * 4, 0);
        there.index = (const void *)(uintptr_t)index;
    }
    choose_schedule(trial);
    EXPECT_STATUS(
        perform(context, s->op, in, in, &there, (tally_output){(void *)(uintptr_t)(to + 1), type, results, stride}),
        due);
    device_read(got, to + 1, space - 1);
    for (now.segment = 0; (due == TALLY_OK || due == TALLY_EMPTY || due == TALLY_OVERFLOW) && now.segment < results;
         now.segment++)
        EXPECT_BITS(got + now.segment * stride, wanted + now.segment * stride, (size_t)stride,
                    "a result and what is behind it");
    driver->release(values);
    driver->release(to);
    if (index != 0) driver->release(index);
    tally_context_destroy(context);
}

static void test_types(void **state) {
    enum { COUNT = 60, VALUES = 360 };
    int32_t offsets[COUNT + 1];
    subject s = {.op = -1};
    (void)state;
    for (int i = 0; i <= COUNT; i++) offsets[i] = i == 0 ? 0 : i == COUNT ? VALUES : i * i / 10;
    for (int trial = 0; next_subject(&s); trial++)
        for (tally_type type = TALLY_NATURAL + 1; type < TALLY_STRUCT; type++) {
            const int at = trial + 3 * (int)type;
            const tally_segments ragged_segments = tally_offsets(offsets, TALLY_I32, COUNT),
                                 rows = at % 4 ? tally_rows(12, 30, 1) : tally_rows(2, 9, 20);
            const data_class class = (data_class)(at % DATA_CLASSES);
            if (at % (quick ? 97 : 11) != 0) continue;
            set_scene(&s, class, VALUES);
            compare_type(&s, at % 2 ? &rows : &ragged_segments, data_of(s.type, class, VALUES), VALUES, type, at);
        }
}

/* ---- kernels ahead of use ---- */

/* A reduction loads nothing that was warmed. */
static void test_warm(void **state) {
    static const subject some[] = {{TALLY_SUM, TALLY_F32, 0, 0, TALLY_BEST},
                                   {TALLY_SUM, TALLY_F32, 0, 0, TALLY_FAST},
                                   {TALLY_ARGMAX, TALLY_U8, 0, 0, TALLY_BEST}};
    const int64_t offsets[] = {0, 3, 3, 12};
    (void)state;
    now = (scene){.segments = "warm"};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        const subject *s = &some[i];
        const tally_segments segmentations[] = {tally_offsets(offsets, TALLY_I64, 3), tally_rows(3, 4, 1),
                                                tally_rows(1, 4, 3)};
        for (size_t k = 0; k < sizeof segmentations / sizeof *segmentations; k++) {
            const tally_array in = tally_in(data_of(s->type, SMALL_INTEGERS, 12), s->type, 12);
            char out[64];
            int64_t loaded = 0;
            if (backend == TALLY_BACKEND_SIMT) {
                tally__gpu_leave(gpu);
                tally__gpu_close_all(platform);
            }
            EXPECT_OK(tally_warm_segments(context_for(s, backend, 1), s->op, s->type, segmentations[k].kind));
            if (backend == TALLY_BACKEND_SIMT) loaded = tally__simt_live_now().modules;
            tally_status status = tally_reduce_segments(context_for(s, backend, 1), s->op, in, segmentations[k],
                                                        tally_out(out, TALLY_NATURAL, 3));
            EXPECT(status == TALLY_OK || status == TALLY_EMPTY, "it gave %s", tally_status_name(status));
            if (backend != TALLY_BACKEND_SIMT) continue;
            EXPECT(tally__simt_live_now().modules == loaded && loaded > 1, "%lld modules, then %lld", (long long)loaded,
                   (long long)tally__simt_live_now().modules);
            EXPECT_OK(tally__gpu_open(platform, 0, &gpu));
            EXPECT_OK(tally__gpu_enter(gpu));
        }
        EXPECT_STATUS(tally_warm_segments(context_for(s, TALLY_BACKEND_CPU, 1), s->op, s->type, TALLY_OFFSETS),
                      TALLY_BAD_ARGUMENT);
        EXPECT_STATUS(tally_warm_segments(context_for(s, backend, 1), s->op, s->type, (tally_segmentation)7),
                      TALLY_BAD_ARGUMENT);
        EXPECT_STATUS(tally_warm_segments(context_for(s, backend, 1), TALLY_XOR, TALLY_F32, TALLY_ROWS),
                      TALLY_BAD_TYPE);
    }
}

/* ---- failures ---- */

typedef struct segments_problem {
    const problem *p;
    tally_array array;
    tally_segments segments;
} segments_problem;

static tally_status sum_segments(tally_context *context, const void *of) {
    const segments_problem *c = of;
    float *out = scratch(OUT, (size_t)c->p->r.count * 4);
    tally_status status;
    EXPECT_STATUS(tally_reduce_segments(context, TALLY_SUM, c->array, c->segments, tally_out(out, TALLY_F64, 0)),
                  TALLY_BAD_ARGUMENT); /* calls nothing */
    status = tally_reduce_segments(context, TALLY_SUM, c->array, c->segments, tally_out(out, TALLY_F32, c->p->r.count));
    if (status == TALLY_OK) expect_results((const char *)out, 4, c->p->wanted, 4, c->p->r.count);
    return status;
}

static tally_status sum_by_plan(tally_context *context, const void *of) {
    segments_problem by_plan = *(const segments_problem *)of;
    tally_plan *plan;
    tally_status status = tally_plan_open(context, TALLY_F32, by_plan.array.count, by_plan.segments, &plan);
    if (status != TALLY_OK) return status;
    by_plan.segments = tally_planned(plan);
    status = sum_segments(context, &by_plan);
    tally_plan_close(plan);
    return status;
}

static void test_failing_driver(void **state) {
    subject s = {TALLY_SUM, TALLY_F32, 0, 0, TALLY_FAST};
    (void)state;
    if (backend != TALLY_BACKEND_SIMT) return;
    for (int f = 0; f < 3; f++) {
        problem p = pose(&s, THREES, SMALL_INTEGERS, 3000, f);
        int64_t skip, count;
        size_t bytes;
        segments_problem c = {.p = &p, .segments = make_segments(forms[f], TALLY_I32, &p.r, 0, &skip, &count, &bytes)};
        c.array = tally_in(p.x + 4 * skip, TALLY_F32, count);
        fail_every_call(s.accuracy, sum_segments, &c);
        fail_every_call(s.accuracy, sum_by_plan, &c);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest of_subjects[] = {cmocka_unit_test(test_shapes), cmocka_unit_test(test_types),
                                             cmocka_unit_test(test_exact_tiles)};
    const struct CMUnitTest others[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_segment_ids),
        cmocka_unit_test(test_quarters),
        cmocka_unit_test(test_specials),
        cmocka_unit_test(test_near_values),
        cmocka_unit_test(test_cancelling_powers),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_partials),
        cmocka_unit_test(test_small_beside_large),
        cmocka_unit_test(test_cancelling_products),
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_warm),
        cmocka_unit_test(test_bad_segmentations),
        cmocka_unit_test(test_bad_segment_ids),
        cmocka_unit_test(test_failing_driver),
    };
    int skipped = begin_gpu_program(argc, argv);
    if (skipped) return skipped;
    compile_kernels(TALLY_OF_SEGMENTS);
    return RUN_GPU_TESTS(of_subjects, others);
}
