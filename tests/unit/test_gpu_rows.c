/* Rows along every axis on the GPU backend against the CPU backend, bit for bit: every operator, type and NaN policy,
 * over shapes at the boundaries of short rows, leaves, runs, tiles, panels and chunks, host and device memory, layouts,
 * schedules. On the simulator as it is; with --cuda on a GPU, where shapes are larger. */
#include <stdio.h>
#include <string.h>

#include "gpu_rows.h"

/* Lengths at every boundary, of rows side by side, a few and many of them. */
static int list_shapes(tally_type type, shape *shapes) {
    const int64_t leaf = tally_leaf_length(type), part = 16 / (int64_t)tally_type_size(type);
    const int64_t lengths[] = {0,
                               1,
                               2,
                               3,
                               4,
                               7,
                               8,
                               9,
                               16,
                               17,
                               32,
                               33,
                               63,
                               64,
                               65,
                               leaf / 8,
                               leaf / 8 + 1,
                               leaf / 4 + 3,
                               leaf / 2 + part,
                               leaf - 1,
                               leaf,
                               leaf + 1,
                               leaf + 64,
                               2 * leaf + 65,
                               5 * leaf};
    const int64_t inners[] = {1, 2, 3, 4, 5, 8, 17, 32, 33, 64, 128, 130, 255};
    int count = 0;
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
        for (size_t i = 0; i < sizeof inners / sizeof *inners; i++) {
            int64_t outer = lengths[k] * inners[i] > 4 * leaf ? 1 : 1 + (int64_t)(k + i) % 3;
            if (inners[i] == 1 && lengths[k] <= 64) outer = lengths[k] == 0 ? 5 : 257 + (int64_t)k;
            shapes[count++] = (shape){outer, lengths[k], inners[i]};
        }
    shapes[count++] = (shape){2, 9 * leaf + 5, 1}; /* tiles */
    shapes[count++] = (shape){1, 33 * leaf + 1, 1};
    shapes[count++] = (shape){1, 17 * leaf + 3, 2}; /* chunks, and groups of them */
    shapes[count++] = (shape){2, 3 * leaf + 9, 6};
    shapes[count++] = (shape){0, 5, 3};
    shapes[count++] = (shape){4, 5, 0};
    return count;
}

static void test_shapes(void **state) {
    static shape shapes[400];
    subject s = {.op = -1};
    (void)state;
    for (int trial = 0; next_subject(&s); trial++) {
        const int count = list_shapes(s.type, shapes);
        for (int i = 0; i < count; i++) {
            const int64_t values = shapes[i].outer * shapes[i].length * shapes[i].inner,
                          leaf = tally_leaf_length(s.type);
            const int every = (quick ? 12 : 1) * (backend != TALLY_BACKEND_SIMT ? 1
                                                  : values > 64 * leaf          ? 600
                                                  : values > 8 * leaf           ? 120
                                                  : values > leaf               ? 60
                                                                                : 20);
            if ((7 * trial + i) % every != 0) continue;
            compare_rows(&s, (trial + i) % (DATA_CLASSES + 1), shapes[i], trial + i, &layouts[0], false);
        }
    }
}

/* Every kind of data, on each way through the kernels. */
static void test_data(void **state) {
    subject s = {.op = -1};
    (void)state;
    for (int trial = 0; next_subject(&s); trial++) {
        const int64_t leaf = tally_leaf_length(s.type);
        const shape ways[] = {{40, 4, 1},        {7, 13, 1}, {3, 60, 5},   {3, 200, 1},
                              {2, leaf + 77, 1}, {2, 6, 70}, {1, 100, 40}, {1, leaf + 80, 3}};
        for (int c = 0; c <= ROUNDING; c++)
            for (int w = 0; w < 8; w++) {
                if (backend == TALLY_BACKEND_SIMT && (trial + c + 3 * w) % (is_exact_sum(&s) ? 8 : 24) != 0) continue;
                if (quick && (trial + c + w) % 5 != 0) continue;
                compare_rows(&s, c, ways[w], trial + c, &layouts[0], false);
            }
    }
}

/* Every operator where the order of columns shows most: threads that visit several columns of a leaf each, and share
 * it; rows of every kernel. */
static void test_ways(void **state) {
    subject s = {.op = -1};
    (void)state;
    for (int trial = 0; next_subject(&s); trial++) {
        const int64_t leaf = tally_leaf_length(s.type);
        const shape ways[] = {{1, leaf / 4 + 5, 36},       {33, 8, 1}, {1, 9, 33}, {1, leaf / 2 + 3, 2}, {9, 23, 1},
                              {2, leaf + leaf / 8 + 1, 1}, {3, 64, 3}, {1, 65, 5}};
        const int every = order_shows(&s) ? 1 : 3;
        for (int w = 0; w < 8; w++)
            if ((trial + w) % ((w == 0 ? 1 : 3) * every * (quick ? 9 : 1)) == 0)
                compare_rows(&s, ROUNDING, ways[w], trial, &layouts[0], w % 2 == 1);
    }
}

/* Every operator over rows of memory that are wide and begin within a vector: with one panel or several, the array's
 * last row in a full batch, arrays at any address. */
static void test_wide_rows(void **state) {
    static const subject mean = {TALLY_MEAN, TALLY_F32, TALLY_NAN_SKIP, 0, TALLY_FAST};
    subject s = {.op = -1};
    (void)state;
    compare_rows(&mean, ANY_BITS, (shape){2, 128, 515}, 0, &layouts[0], false); /* results have other numbers of NaNs */
    for (int trial = 0; next_subject(&s); trial++) {
        const int64_t leaf = tally_leaf_length(s.type);
        const shape ways[] = {{1, 65, 513}, {2, 128, 515}, {3, 70, 1021}, {1, leaf / 2, 517}, {2, leaf + 9, 514}};
        for (int w = 0; w < 5; w++)
            if ((trial + w) % (quick ? 40 : backend == TALLY_BACKEND_SIMT ? 20 : 1) == 0)
                compare_rows(&s, (trial + w) % (DATA_CLASSES + 1), ways[w], trial,
                             &layouts[w % 2 == 0 ? 0 : (trial + w / 2) % LAYOUTS], w % 2 == 1);
    }
}

/* Every operator over rows that a thread reduces stripe by stripe, which are many. */
static void test_stripes(void **state) {
    subject s = {.op = -1};
    const int64_t rows = 1024 * gpu->multiprocessors;
    (void)state;
    for (int trial = 0; next_subject(&s); trial++) {
        const shape ways[] = {
            {1, 9, rows + 1}, {1, 16, rows}, {1, 63, rows + 5}, {32, 23, rows / 32 + 1}, {1, 64, rows}};
        for (int w = 0; w < 5; w++)
            if ((trial + w) % (quick ? 20 : backend == TALLY_BACKEND_SIMT ? 10 : 5) == 0)
                compare_rows(&s, (trial + w) % (DATA_CLASSES + 1), ways[w], trial, &layouts[(trial / 5 + w) % LAYOUTS],
                             w % 2 == 1);
    }
}

/* Arrays at any address and stride, results in device memory. */
static void test_device_memory(void **state) {
    subject s = {.op = -1};
    (void)state;
    for (int trial = 0; next_subject(&s); trial++) {
        const int64_t leaf = tally_leaf_length(s.type);
        const shape ways[] = {{50, 3, 1},       {9, 24, 1}, {2, 41, 7},  {3, 131, 1},     {1, leaf / 2 + 1, 261},
                              {2, leaf + 3, 1}, {1, 5, 90}, {2, 80, 36}, {1, leaf + 9, 5}};
        for (int w = 0; w < 9; w++) {
            if ((trial + w) % (quick ? 48 : backend == TALLY_BACKEND_SIMT ? 12 : 1) != 0) continue;
            compare_rows(&s, (trial + w) % (DATA_CLASSES + 1), ways[w], trial, &layouts[(trial + w / 2) % LAYOUTS],
                         true);
        }
    }
}

/* Few rows so long that each has several chunks, and these several leaves where order shows. An index is counted from
 * the row's first value. */
static void test_long_columns(void **state) {
    static const subject some[] = {{TALLY_ARGMIN, TALLY_I16, 0, 0, TALLY_BEST},
                                   {TALLY_ARGMAX, TALLY_F32, 1, 0, TALLY_BEST},
                                   {TALLY_MAX, TALLY_U8, 0, 0, TALLY_BEST},
                                   {TALLY_SUM, TALLY_F32, 0, 0, TALLY_FAST}};
    enum { EACH = 263000 /* values for each multiprocessor */ };
    (void)state;
    for (int k = 0; k < 4; k++)
        compare_rows(&some[k], ANY_BITS, (shape){1, EACH * (int64_t)gpu->multiprocessors + 7, 2}, k, &layouts[0], true);
}

/* So many chunks of wide panels that each thread has the nodes of many of a result. */
static void test_chunks(void **state) {
    static const subject some[] = {{TALLY_SUM, TALLY_F64, 0, 0, TALLY_FAST},
                                   {TALLY_VAR, TALLY_F64, 1, 1, TALLY_FAST},
                                   {TALLY_ARGMIN, TALLY_F64, 0, 0, TALLY_BEST}};
    (void)state;
    for (int k = 0; k < 3; k++) {
        const int64_t leaf = tally_leaf_length(some[k].type);
        compare_rows(&some[k], ROUNDING, (shape){1, 19 * leaf + 70, 64}, k, &layouts[0], true);
        compare_rows(&some[k], ROUNDING, (shape){2, 9 * leaf, 33}, k, &layouts[0], false);
    }
}

/* Many rows, long ones, and panels and chunks enough for every level of their trees. */
static void test_many(void **state) {
    (void)state;
    for (size_t i = 0; i < FEW_SUBJECTS; i++) {
        const int64_t leaf = tally_leaf_length(few_subjects[i].type),
                      big = backend == TALLY_BACKEND_SIMT || quick ? 1 : 60;
        const int64_t some_warps = 16 * gpu->multiprocessors, four_each = 64 * gpu->multiprocessors;
        const shape shapes[] = {{3000 * big, 5, 1},        {2200, 65, 1},           {2, 65 * leaf * big, 1},
                                {1, 37 * leaf * big, 3},   {2, 20 * leaf, 9 * big}, {1, 70, 3000 * big},
                                {four_each + 3, 80, 1},    {four_each, 128, 1},     {some_warps + 1, 2 * leaf + 9, 1},
                                {some_warps, 3 * leaf, 1}, {300 * big, 7, 40},      {1, 3, 5000 * big},
                                {1, 10, 160 * four_each},  {5, 64, 12 * four_each}, {3, 21, 50 * four_each + 1}};
        for (int w = 0; w < 15; w++)
            if (backend != TALLY_BACKEND_SIMT || (i + (size_t)w) % (quick ? 15 : 3) == 0)
                compare_rows(&few_subjects[i], ROUNDING, shapes[w], (int)i + w, &layouts[0], w % 2 == 0);
    }
}

/* Rows of several tiles beside one another: each has nodes and counters of its own, also where the nodes of tiles are
 * combined twice (65 tiles of 64 leaves). */
static void test_tiles(void **state) {
    static const subject some[] = {{TALLY_SUM, TALLY_F32, 0, 0, TALLY_FAST},
                                   {TALLY_SUM, TALLY_F64, 0, 0, TALLY_BEST},
                                   {TALLY_ARGMAX, TALLY_I32, 0, 0, TALLY_BEST}};
    (void)state;
    compare_rows(&some[0], ROUNDING, (shape){3, 65 * 64 * (int64_t)tally_leaf_length(TALLY_F32), 1}, 0, &layouts[0],
                 false);
    for (size_t i = 0; i < (quick ? 1 : sizeof some / sizeof *some); i++)
        for (int trial = 0; trial < 6; trial++) {
            const int64_t leaf = tally_leaf_length(some[i].type);
            compare_rows(&some[i], ROUNDING, (shape){3, 9 * leaf + 5, 1}, trial, &layouts[0], false);
            compare_rows(&some[i], ROUNDING, (shape){2, 5 * leaf + 5, 3}, trial, &layouts[0], false);
        }
}

/* Strided results, another type for them, and what a status tells of them. */
static void test_outputs(void **state) {
    subject s = {TALLY_MIN, TALLY_I32, 0, 0, TALLY_BEST};
    const int32_t x[6] = {5, 3, 9, 2, 8, 1};
    const float nans[4] = {__builtin_nanf(""), __builtin_nanf(""), 1, 2};
    tally_array in = {x, TALLY_I32, 6, 0};
    tally_segments segments = tally_rows(2, 3, 1), none = tally_rows(3, 0, 1), pairs = tally_rows(2, 2, 1);
    double wide[4] = {-1, -1, -1, -1};
    float least[2];
    int8_t narrow[2];
    (void)state;
    EXPECT_OK(tally_reduce_segments(context_for(&s, backend, 1), TALLY_MIN, in, segments,
                                    (tally_output){wide, TALLY_F64, 2, 2 * sizeof *wide}));
    EXPECT(wide[0] == 3 && wide[1] == -1 && wide[2] == 1 && wide[3] == -1, "%g %g %g %g", wide[0], wide[1], wide[2],
           wide[3]);
    EXPECT_STATUS(tally_reduce_segments(context_for(&s, backend, 1), TALLY_SUM,
                                        (tally_array){(const int32_t[]){200, 1, 1}, TALLY_I32, 3, 0},
                                        tally_rows(1, 3, 1), (tally_output){narrow, TALLY_I8, 1, 0}),
                  TALLY_OVERFLOW);
    EXPECT_STATUS(tally_reduce_segments(context_for(&s, backend, 1), TALLY_MIN, (tally_array){x, TALLY_I32, 0, 0}, none,
                                        (tally_output){wide, TALLY_F64, 3, 0}),
                  TALLY_EMPTY);
    s = (subject){TALLY_MIN, TALLY_F32, TALLY_NAN_SKIP, 0, TALLY_BEST};
    EXPECT_STATUS(tally_reduce_segments(context_for(&s, backend, 1), TALLY_MIN, (tally_array){nans, TALLY_F32, 4, 0},
                                        pairs, (tally_output){least, TALLY_NATURAL, 2, 0}),
                  TALLY_EMPTY);
    EXPECT(least[1] == 1, "%g", (double)least[1]);
}

static tally_status sum_rows(tally_context *context, const void *of) {
    const tally_segments *rows = of;
    const tally_array in = {data_of(TALLY_F32, SMALL_INTEGERS, 6000), TALLY_F32, 6000, 0};
    float got[4];
    return tally_reduce_segments(context, TALLY_SUM, in, *rows,
                                 (tally_output){got, TALLY_NATURAL, rows->count * rows->inner, 0});
}

static void test_failing_driver(void **state) {
    const tally_segments across = tally_rows(2, 1500, 2), along = tally_rows(3, 2000, 1);
    (void)state;
    fail_every_call(TALLY_FAST, sum_rows, &across);
    fail_every_call(TALLY_BEST, sum_rows, &along);
}

int main(int argc, char **argv) {
    const struct CMUnitTest of_subjects[] = {cmocka_unit_test(test_shapes),  cmocka_unit_test(test_ways),
                                             cmocka_unit_test(test_stripes), cmocka_unit_test(test_wide_rows),
                                             cmocka_unit_test(test_data),    cmocka_unit_test(test_device_memory)};
    const struct CMUnitTest others[] = {cmocka_unit_test(test_long_columns), cmocka_unit_test(test_chunks),
                                        cmocka_unit_test(test_many),         cmocka_unit_test(test_tiles),
                                        cmocka_unit_test(test_outputs),      cmocka_unit_test(test_failing_driver)};
    int skipped = begin_gpu_program(argc, argv);
    if (skipped) return skipped;
    compile_kernels(TALLY_OF_ROWS);
    return RUN_GPU_TESTS(of_subjects, others);
}
