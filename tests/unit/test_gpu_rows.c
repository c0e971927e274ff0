/* Rows along every axis on the GPU backend against the CPU backend, bit for bit: every operator, type and NaN policy,
 * over shapes at the boundaries of short rows, leaves, runs, tiles, panels and chunks, host and device memory, layouts,
 * schedules. On the simulator as it is; with --cuda on a GPU, where shapes are larger. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_host.h"

typedef struct shape {
    int64_t outer, length, inner;
} shape;

/* Numbers between -1 and 1 whose sums are rounded in every order: what the classes of data_of seldom are. */
static const char *rounding_data(tally_type type, int64_t count) {
    static struct {
        char *values;
        int64_t count;
    } pools[TALLY_TYPE_END]; /* each call takes another stretch: values made anew for every call took a third of the
                                time */
    static uint64_t random = 7;
    const int64_t bytes = (int64_t)tally_type_size(type);
    if (pools[type].count < 2 * count) {
        pools[type].count = 2 * count + 4096;
        pools[type].values = realloc(pools[type].values, (size_t)(pools[type].count * bytes));
        assert_non_null(pools[type].values);
        for (int64_t i = 0; i < pools[type].count; i++)
            put_number(type, pools[type].values, i, (double)(int64_t)(next_random(&random) >> 11) * 0x1p-52 - 1);
    }
    return pools[type].values + random_below(&random, pools[type].count - count + 1) * bytes;
}
enum { ROUNDING = DATA_CLASSES }; /* a class more: of floats, others have CANCELLATION */

/* Compares an array of that shape; the layout is one of host memory, or with on_device of the device's, as are then the
 * results. */
static void compare(const subject *s, int class, shape of, int trial, const layout *l, bool on_device) {
    const int64_t count = of.outer * of.length * of.inner, results = of.outer * of.inner;
    const size_t bytes = result_bytes(s), space = layout_bytes(l, tally_type_size(s->type), count),
                 all = (size_t)results * bytes;
    const char *y = data_of(s->type, (data_class)((class + 5) % DATA_CLASSES), count), *x;
    if (class == ROUNDING && !is_float(s->type)) class = CANCELLATION;
    x = class == ROUNDING ? rounding_data(s->type, count) : data_of(s->type, (data_class) class, count);
    tally_array left = lay_out(l, x, s->type, count, scratch(0, space + 64)), right = {y, s->type, count, 0};
    tally_segments segments = tally_rows(of.outer, of.length, of.inner);
    char *wanted = scratch(1, all + 64), *got = scratch(2, all + 64);
    tally_output out = {got, TALLY_NATURAL, results, 0};
    tally__cu_address copies[3] = {0, 0, 0};
    memset(wanted, 0x5a, all + 64);
    memset(got, 0x5a, all + 64);
    tally_status due = perform(context_for(s, TALLY_BACKEND_CPU, 1), s->op, left, right, &segments,
                               (tally_output){wanted, TALLY_NATURAL, results, 0});
    set_scene(s, class == ROUNDING ? ANY_BITS : (data_class) class, count);
    if (class == ROUNDING) now.data = "rounding";
    now.outer = of.outer, now.length = of.length, now.inner = of.inner;
    choose_schedule(trial);
    if (on_device) {
        const char *memory = scratch(0, 1);
        copies[0] = device_copy(memory, space, 0);
        copies[1] = device_copy(y, (size_t)count * tally_type_size(s->type), 0);
        copies[2] = device_copy(got, all + 64, 0);
        left.data = (const char *)(uintptr_t)copies[0] + ((const char *)left.data - memory);
        right.data = (const char *)(uintptr_t)copies[1];
        out.data = (void *)(uintptr_t)copies[2];
        if (due != TALLY_OK && of.length > 0) due = TALLY_OK; /* of the values nothing is known when the call returns */
    }
    EXPECT_STATUS(perform(context_for(s, backend, 1), s->op, left, right, &segments, out), due);
    if (on_device) {
        device_read(got, copies[2], all + 64);
        for (int i = 0; i < 3; i++) driver->release(copies[i]);
    }
    for (int64_t i = 0; i < results; i++) {
        now.segment = i;
        EXPECT_BITS(got + (size_t)i * bytes, wanted + (size_t)i * bytes, bytes, "a result");
    }
    for (int k = 0; k < 64; k++) EXPECT(got[all + (size_t)k] == 0x5a, "a write behind the results");
}

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
            compare(&s, (trial + i) % (DATA_CLASSES + 1), shapes[i], trial + i, &layouts[0], false);
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
                compare(&s, c, ways[w], trial + c, &layouts[0], false);
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
                compare(&s, ROUNDING, ways[w], trial, &layouts[0], w % 2 == 1);
    }
}

/* Every operator over rows of memory that are wide and begin within a vector (TALLY_READS_SHIFTED of
 * kernels/rows/panel.h): with one panel or several, the array's last row in a full batch, arrays at any address. */
static void test_wide_rows(void **state) {
    static const subject mean = {TALLY_MEAN, TALLY_F32, TALLY_NAN_SKIP, 0, TALLY_FAST};
    subject s = {.op = -1};
    (void)state;
    compare(&mean, ANY_BITS, (shape){2, 128, 515}, 0, &layouts[0], false); /* results have other numbers of NaNs */
    for (int trial = 0; next_subject(&s); trial++) {
        const int64_t leaf = tally_leaf_length(s.type);
        const shape ways[] = {{1, 65, 513}, {2, 128, 515}, {3, 70, 1021}, {1, leaf / 2, 517}, {2, leaf + 9, 514}};
        for (int w = 0; w < 5; w++)
            if ((trial + w) % (quick ? 40 : backend == TALLY_BACKEND_SIMT ? 20 : 1) == 0)
                compare(&s, (trial + w) % (DATA_CLASSES + 1), ways[w], trial,
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
                compare(&s, (trial + w) % (DATA_CLASSES + 1), ways[w], trial, &layouts[(trial / 5 + w) % LAYOUTS],
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
            compare(&s, (trial + w) % (DATA_CLASSES + 1), ways[w], trial, &layouts[(trial + w / 2) % LAYOUTS], true);
        }
    }
}

/* Exact sums of floats over such shapes: every operator and kind of data, any address and stride. */
static void compare_exact(const shape *ways, int count) {
    enum { LARGE = 1 << 16, LARGER = 1 << 17, LARGEST = 1 << 20 };
    subject s = {.op = -1};
    for (int trial = 0; next_subject(&s); trial++) {
        if (!is_exact_sum(&s) || !is_float(s.type)) continue;
        for (int c = 0; c <= ROUNDING; c++)
            for (int w = 0; w < count; w++) {
                const int64_t values = ways[w].outer * ways[w].length * ways[w].inner;
                const int on_simulator = values > LARGER  ? 48
                                         : values > LARGE ? 24
                                                          : 12,
                          on_gpu = values > LARGEST ? 12 : 1;
                const int every = quick ? 60 : backend == TALLY_BACKEND_SIMT ? on_simulator : on_gpu;
                if ((trial + 5 * c + 3 * w) % every != 0) continue;
                compare(&s, c, ways[w], trial + c, &layouts[(c + w) % 2 == 0 ? 0 : (trial + c + w) % LAYOUTS],
                        (c + w) % 3 == 0);
            }
    }
}

/* Exact rows that lie across others, and are too long for a thread each (kernels/production/exact_columns.h, and of
 * products columns.h): read 16
 * bytes at a time and value by value, several rows of memory as one, rows that a block has to itself and that it shares
 * with others. */
static void test_exact_columns(void **state) {
    const shape ways[] = {{2, 131, 3},
                          {1, 1029, 8},
                          {1, 129, 24},
                          {1, 135, 128},
                          {2, 140, 132},
                          {1, 133, 257},
                          {3, 129, 50},
                          {1, 601, 132},
                          {1, 2100, 2},
                          {gpu->multiprocessors + 1, 129, 257},
                          {gpu->multiprocessors + 1, 129, 264}};
    (void)state;
    compare_exact(ways, (int)(sizeof ways / sizeof *ways));
}

/* Exact rows of values side by side, by some lanes of a warp (kernels/production/exact_lanes.h), by a warp, by a
 * block and by several blocks; rows that begin at any address. */
static void test_exact_rows(void **state) {
    const shape ways[] = {{70, 64, 1},
                          {33, 65, 1},
                          {19, 255, 1},
                          {11, 1000, 1},
                          {9, 1025, 1},
                          {300, 130, 1},
                          {3, 4099, 1},
                          {1, 20011, 1},
                          {2, 33000, 1},
                          {1, 150001, 1},
                          {1, 70, 1},
                          {5, 16391, 1},
                          {gpu->multiprocessors * 2 + 1, 700, 1}};
    (void)state;
    compare_exact(ways, (int)(sizeof ways / sizeof *ways));
}

/* Rows that `fill` makes: their values begin at place `first`, and lie `inner` apart. */
typedef void (*fill_row)(tally_type type, char *x, int64_t row, int64_t first, int64_t inner, int64_t length);
static void compare_filled(const subject *s, fill_row fill, int64_t outer, int64_t length, int64_t inner) {
    const int64_t rows = outer * inner;
    const size_t bytes = tally_type_size(s->type), each = result_bytes(s);
    char *x = scratch(0, (size_t)(length * rows) * bytes), *wanted = scratch(1, (size_t)rows * each),
         *got = scratch(2, (size_t)rows * each);
    tally_segments segments = tally_rows(outer, length, inner);
    memset(x, 0, (size_t)(length * rows) * bytes);
    for (int64_t r = 0; r < rows; r++) fill(s->type, x, r, r / inner * length * inner + r % inner, inner, length);
    const tally_array in = {x, s->type, length * rows, 0};
    const tally_output due = {wanted, TALLY_NATURAL, rows, 0}, out = {got, TALLY_NATURAL, rows, 0};
    set_scene(s, ANY_BITS, length * rows);
    EXPECT_OK(perform(context_for(s, TALLY_BACKEND_REFERENCE, 1), s->op, in, in, &segments, due));
    EXPECT_OK(perform(context_for(s, backend, 1), s->op, in, in, &segments, out));
    for (int64_t i = 0; i < rows; i++) EXPECT_BITS(got + (size_t)i * each, wanted + (size_t)i * each, each, "a result");
}
/* A sum of a type's own that is a tie but for a value 220 binades below; and one of f64. */
static void fill_tie(tally_type type, char *x, int64_t row, int64_t first, int64_t inner, int64_t length, double half) {
    const double signs[] = {1, 0, -1};
    put_number(type, x, first, ldexp(1, 100));
    put_number(type, x, first + (7 + row % 100) % length * inner, half);
    put_number(type, x, first + (length / 2 + 3 * (row % 2)) * inner, signs[row % 3] * ldexp(1, -120));
}
static void fill_far_tie(tally_type type, char *x, int64_t row, int64_t first, int64_t inner, int64_t length) {
    fill_tie(type, x, row, first, inner, length, ldexp(1, type == TALLY_F32 ? 76 : 47));
}
static void fill_far_tie_f64(tally_type type, char *x, int64_t row, int64_t first, int64_t inner, int64_t length) {
    fill_tie(type, x, row, first, inner, length, ldexp(1, 47));
}
/* Multiples of 2^-20 whose sum, 2^30 and a half of its last bit in f64, is a tie, and so is the mean of 2^k of them. */
static void fill_near_tie(tally_type type, char *x, int64_t row, int64_t first, int64_t inner, int64_t length) {
    put_number(type, x, first + row % length * inner, ldexp(1, 30));
    for (int64_t m = 1; m < length; m++)
        put_number(type, x, first + (m + row) % length * inner, m % 2 ? ldexp(1, -20) : -ldexp(1, -20));
    put_number(type, x, first + (length - 1 + row) % length * inner, ldexp(1, -23));
}
/* Values next to the largest, and an infinity or a NaN among those of most rows. */
static void fill_largest(tally_type type, char *x, int64_t row, int64_t first, int64_t inner, int64_t length) {
    const double specials[] = {INFINITY, NAN, -INFINITY, 1};
    for (int64_t m = 0; m < length; m++)
        put_number(type, x, first + m * inner,
                   ldexp((double)((uint64_t)1 << 52 | (uint64_t)(m + row) * 0x9e3779b97f4a7c15 >> 12), 971) *
                       (m % 3 ? 1 : -1));
    put_number(type, x, first + (5 + 37 * row) % length * inner, specials[row % 4]);
    put_number(type, x, first + (60 + 101 * row) % length * inner, specials[(row + 1) % 4]);
}
/* Means that are ties of f32, or next to them: two values, the length times an odd number of 25 bits, and a little. */
static void fill_tied_mean(tally_type type, char *x, int64_t row, int64_t first, int64_t inner, int64_t length) {
    put_number(type, x, first + row % length * inner, ldexp((double)length, 24));
    put_number(type, x, first + (row + 7) % length * inner, (double)(length * (2 * row + 1)));
    put_number(type, x, first + (row + 11) % length * inner, (double)(row % 3 - 1) * ldexp(1, -24));
}
/* Zeros, and a value whose square is none of f64. */
static void fill_tiny(tally_type type, char *x, int64_t row, int64_t first, int64_t inner, int64_t length) {
    put_number(type, x, first + row % length * inner, ldexp(1, -600));
}
/* Equal values, or nearly equal ones, whose squares have as many bits as two doubles. */
static void fill_near(tally_type type, char *x, int64_t row, int64_t first, int64_t inner, int64_t length) {
    const double value = 0.1 * (double)(row % 50 + 1);
    for (int64_t m = 0; m < length; m++)
        put_number(type, x, first + m * inner, value + (double)(m * 7 % ((int64_t)1 << row % 5)) * 0x1p-52 * value);
}
/* Values whose squares differ in bits that only their exact sums have. */
static void fill_close(tally_type type, char *x, int64_t row, int64_t first, int64_t inner, int64_t length) {
    for (int64_t m = 0; m < length; m++)
        put_number(type, x, first + m * inner, 1 + ldexp((double)((m * 37 + row) % 64), -20));
}
/* A dot product of which two terms cancel that are far larger than the others, of rows `inner` apart. */
static void compare_cancelling_dot(tally_type type, int64_t length, int64_t inner) {
    const subject s = {TALLY_DOT, type, 0, 0, TALLY_BEST};
    const size_t bytes = tally_type_size(type), each = result_bytes(&s);
    const int64_t count = length * inner;
    char *x = scratch(0, (size_t)count * bytes), *y = scratch(3, (size_t)count * bytes),
         *wanted = scratch(1, (size_t)inner * each), *got = scratch(2, (size_t)inner * each);
    const tally_segments segments = tally_rows(1, length, inner);
    for (int64_t i = 0; i < count; i++) {
        const int64_t m = i / inner, row = i % inner;
        const bool is_large = m == row + 1 || m == length - 1 - row;
        put_number(type, x, i, is_large ? ldexp(1, 60) : 1 + (double)(m % 7) / 8);
        put_number(type, y, i, m == row + 1 ? -1 : 1);
    }
    set_scene(&s, CANCELLATION, count);
    const tally_array in = {x, type, count, 0}, beside = {y, type, count, 0};
    EXPECT_OK(perform(context_for(&s, TALLY_BACKEND_REFERENCE, 1), s.op, in, beside, &segments,
                      (tally_output){wanted, TALLY_NATURAL, inner, 0}));
    EXPECT_OK(perform(context_for(&s, backend, 1), s.op, in, beside, &segments,
                      (tally_output){got, TALLY_NATURAL, inner, 0}));
    for (int64_t r = 0; r < inner; r++)
        EXPECT_BITS(got + (size_t)r * each, wanted + (size_t)r * each, each, "a result");
}
static void test_filled(void **state) {
    static const subject ties[] = {{TALLY_SUM, TALLY_F32, 0, 0, TALLY_BEST}, {TALLY_SUM, TALLY_F64, 0, 0, TALLY_BEST}},
                         large[] = {{TALLY_VAR, TALLY_F64, 0, 0, TALLY_BEST},
                                    {TALLY_STATS, TALLY_F64, 0, 0, TALLY_BEST},
                                    {TALLY_NORM2, TALLY_F64, 1, 0, TALLY_BEST}},
                         mean = {TALLY_MEAN, TALLY_F32, 0, 0, TALLY_BEST},
                         deviation = {TALLY_STD, TALLY_F64, 0, 0, TALLY_BEST},
                         stats = {TALLY_STATS, TALLY_F32, 0, 0, TALLY_BEST},
                         close = {TALLY_VAR, TALLY_F32, 0, 1, TALLY_BEST};
    (void)state;
    compare_filled(&mean, fill_tied_mean, 1000, 20, 1); /* exact_lanes.h, and short_exact.h */
    compare_filled(&mean, fill_tied_mean, 3, 12, 400);
    compare_filled(&close, fill_close, 1, 3000, 16);
    compare_cancelling_dot(TALLY_BF16, 3000, 16);
    compare_cancelling_dot(TALLY_F32, 1500, 33);
    compare_filled(&stats, fill_far_tie_f64, 2, 300, 60); /* columns.h, and few or many rows that it leaves */
    compare_filled(&stats, fill_far_tie_f64, 1, 130, 8200);
    compare_filled(&large[1], fill_largest, 1, 131, 8200);
    compare_filled(&deviation, fill_tiny, 400, 20, 1);
    compare_filled(&deviation, fill_tiny, 2, 12, 300);
    for (int k = 0; k < 2; k++) {
        compare_filled(&ties[k], fill_far_tie, gpu->multiprocessors + 1, 300,
                       260); /* enough that blocks have all of each */
        compare_filled(&ties[k], fill_far_tie, 300, 300, 1);
    }
    for (int k = 0; k < 2; k++) {
        const shape ways[] = {{1, 128, 32}, {1, 1024, 40}, {3, 1 << 17, 1}, {300, 64, 1}, {200, 4, 1}};
        for (int w = 0; w < 5; w++) compare_filled(&large[k], fill_near, ways[w].outer, ways[w].length, ways[w].inner);
    }
    for (int k = 0; k < 3; k++) {
        compare_filled(&large[k], fill_largest, 3, 300, 40);
        compare_filled(&large[k], fill_largest, 100, 300, 1);
    }
}

/* Exact rows of values side by side, so many that a warp has several for each of its groups of lanes
 * (kernels/production/exact_lanes.h); and long ones, of which a block has each (exact_parts.h). Also such as are added
 * up again. */
static void test_lanes(void **state) {
    static const subject some[] = {
        {TALLY_SUM, TALLY_F32, 0, 0, TALLY_BEST},   {TALLY_VAR, TALLY_F32, 1, 1, TALLY_BEST},
        {TALLY_STATS, TALLY_F64, 0, 0, TALLY_BEST}, {TALLY_NORM2, TALLY_F16, 0, 0, TALLY_BEST},
        {TALLY_DOT, TALLY_BF16, 1, 0, TALLY_BEST},  {TALLY_MEAN, TALLY_F64, 1, 0, TALLY_BEST},
        {TALLY_STATS, TALLY_F32, 0, 1, TALLY_BEST}, {TALLY_DOT, TALLY_F16, 0, 0, TALLY_BEST}};
    const int64_t all = gpu->multiprocessors;
    const shape ways[] = {{800 * all + 3, 19, 1}, {420 * all, 131, 1}, {8 * all + 1, 8201, 1}, {8 * all, 20011, 1}};
    (void)state;
    for (int k = 0; k < 8; k++)
        for (int w = k % 2; w < 4; w += 2) compare(&some[k], (k + w) % (ROUNDING + 1), ways[w], k, &layouts[0], w < 2);
    compare(&some[4], MIXED_ZEROS, (shape){20000, 17, 1}, 0, &layouts[0], true);
    compare(&some[7], MIXED_ZEROS, (shape){20000, 17, 1}, 0, &layouts[0], true);
    for (int k = 0; k < 3; k++) {
        static const subject unsure[] = {{TALLY_SUM, TALLY_F32, 0, 0, TALLY_BEST},
                                         {TALLY_SUM, TALLY_F64, 0, 0, TALLY_BEST},
                                         {TALLY_STATS, TALLY_F64, 1, 0, TALLY_BEST}};
        compare_filled(&unsure[k], fill_far_tie, 400, 120, 1);
        compare_filled(&unsure[k], k < 2 ? fill_far_tie : fill_largest, 8 * all, 8201, 1);
    }
}

/* Exact rows that several blocks share (kernels/production/exact_parts.h), up to so many that their nodes are combined
 * twice. Also such as the second kernel adds up again (flat.h). */
static void test_parts(void **state) {
    static const subject some[] = {
        {TALLY_SUM, TALLY_F32, 0, 0, TALLY_BEST},   {TALLY_VAR, TALLY_F64, 1, 1, TALLY_BEST},
        {TALLY_STATS, TALLY_F32, 0, 0, TALLY_BEST}, {TALLY_NORM2, TALLY_BF16, 0, 0, TALLY_BEST},
        {TALLY_DOT, TALLY_F16, 0, 0, TALLY_BEST},   {TALLY_MEAN, TALLY_F64, 1, 0, TALLY_BEST},
        {TALLY_STATS, TALLY_F32, 1, 0, TALLY_BEST}, {TALLY_STATS, TALLY_F64, 0, 0, TALLY_BEST}};
    static const fill_row fills[] = {fill_far_tie, fill_far_tie_f64, fill_near_tie, fill_largest};
    (void)state;
    for (int k = 0; k < 8; k++) {
        const bool simt = backend == TALLY_BACKEND_SIMT;
        const int64_t size = (int64_t)tally_type_size(some[k].type), part_bytes = simt ? 256 << 10 : 64 << 10;
        compare(&some[k], k % (ROUNDING + 1), (shape){3, 70001, 1}, k, &layouts[0], true);
        if (k % 4 == 0 || !simt)
            compare(&some[k], ROUNDING, (shape){simt ? 1 : 3, 65 * (part_bytes / size) + 5, 1}, k, &layouts[0], false);
        if (some[k].op == TALLY_DOT || some[k].op == TALLY_NORM2) continue;
        for (int f = 0; f < 4; f++) compare_filled(&some[k], fills[f], 5, f % 2 ? 65536 : 40003, 1);
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
        compare(&some[k], ANY_BITS, (shape){1, EACH * (int64_t)gpu->multiprocessors + 7, 2}, k, &layouts[0], true);
}

/* So many chunks of wide panels that each thread has the nodes of many of a result. */
static void test_chunks(void **state) {
    static const subject some[] = {{TALLY_SUM, TALLY_F64, 0, 0, TALLY_FAST},
                                   {TALLY_VAR, TALLY_F64, 1, 1, TALLY_FAST},
                                   {TALLY_ARGMIN, TALLY_F64, 0, 0, TALLY_BEST}};
    (void)state;
    for (int k = 0; k < 3; k++) {
        const int64_t leaf = tally_leaf_length(some[k].type);
        compare(&some[k], ROUNDING, (shape){1, 19 * leaf + 70, 64}, k, &layouts[0], true);
        compare(&some[k], ROUNDING, (shape){2, 9 * leaf, 33}, k, &layouts[0], false);
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
                compare(&few_subjects[i], ROUNDING, shapes[w], (int)i + w, &layouts[0], w % 2 == 0);
    }
}

/* Rows of several tiles beside one another: each has nodes and counters of its own, also where the nodes of tiles are
 * combined twice (65 tiles of 64 leaves). */
static void test_tiles(void **state) {
    static const subject some[] = {{TALLY_SUM, TALLY_F32, 0, 0, TALLY_FAST},
                                   {TALLY_SUM, TALLY_F64, 0, 0, TALLY_BEST},
                                   {TALLY_ARGMAX, TALLY_I32, 0, 0, TALLY_BEST}};
    (void)state;
    compare(&some[0], ROUNDING, (shape){3, 65 * 64 * (int64_t)tally_leaf_length(TALLY_F32), 1}, 0, &layouts[0], false);
    for (size_t i = 0; i < (quick ? 1 : sizeof some / sizeof *some); i++)
        for (int trial = 0; trial < 6; trial++) {
            const int64_t leaf = tally_leaf_length(some[i].type);
            compare(&some[i], ROUNDING, (shape){3, 9 * leaf + 5, 1}, trial, &layouts[0], false);
            compare(&some[i], ROUNDING, (shape){2, 5 * leaf + 5, 3}, trial, &layouts[0], false);
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

/* The root of a spread over two is half of what two values differ by: often a tie, and as often all but one. Values
 * side by side and apart; the second is within some binades of the first, and then in its last places. */
static void test_halves(void **state) {
    enum { ROWS = 3000 };
    static double x[2][2 * ROWS], wanted[ROWS], got[ROWS];
    const subject s = {TALLY_STD, TALLY_F64, 0, 0, TALLY_BEST};
    uint64_t random = seed;
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        static const int gaps[] = {0, 0, 1, 2, 5, 51, 52, 53, 54};
        const int place = (int)random_below(&random, i < ROWS / 2 ? 6 : 500) - 250,
                  gap = gaps[random_below(&random, 9)];
        const double first = 1 + (double)(next_random(&random) >> 12) * 0x1p-52,
                     second = 1 + (double)(next_random(&random) >> (gap > 5 ? 60 : 12)) * 0x1p-52;
        x[0][2 * i] = x[1][i] = ldexp(first, place);
        x[0][2 * i + 1] = x[1][ROWS + i] = ldexp(i % 2 ? second : -second, place - gap);
    }
    for (int across = 0; across < 2; across++) {
        const tally_segments rows = across ? tally_rows(1, 2, ROWS) : tally_rows(ROWS, 2, 1);
        const tally_array in = {x[across], TALLY_F64, 2 * ROWS, 0};
        set_scene(&s, ANY_BITS, 2 * ROWS);
        EXPECT_OK(tally_reduce_segments(context_for(&s, TALLY_BACKEND_CPU, 1), TALLY_STD, in, rows,
                                        (tally_output){wanted, TALLY_F64, ROWS, 0}));
        EXPECT_OK(tally_reduce_segments(context_for(&s, backend, 1), TALLY_STD, in, rows,
                                        (tally_output){got, TALLY_F64, ROWS, 0}));
        for (now.segment = 0; now.segment < ROWS; now.segment++)
            EXPECT_BITS(got + now.segment, wanted + now.segment, sizeof *got, "half a difference");
    }
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
    const struct CMUnitTest of_subjects[] = {cmocka_unit_test(test_shapes),        cmocka_unit_test(test_ways),
                                             cmocka_unit_test(test_stripes),       cmocka_unit_test(test_wide_rows),
                                             cmocka_unit_test(test_data),          cmocka_unit_test(test_device_memory),
                                             cmocka_unit_test(test_exact_columns), cmocka_unit_test(test_exact_rows)};
    const struct CMUnitTest others[] = {cmocka_unit_test(test_filled), cmocka_unit_test(test_lanes),
                                        cmocka_unit_test(test_parts),  cmocka_unit_test(test_long_columns),
                                        cmocka_unit_test(test_chunks), cmocka_unit_test(test_many),
                                        cmocka_unit_test(test_tiles),  cmocka_unit_test(test_outputs),
                                        cmocka_unit_test(test_halves), cmocka_unit_test(test_failing_driver)};
    int skipped = begin_gpu_program(argc, argv);
    if (skipped) return skipped;
    compile_kernels(TALLY_OF_ROWS);
    return RUN_GPU_TESTS(of_subjects, others);
}
