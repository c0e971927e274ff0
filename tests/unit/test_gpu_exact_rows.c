/* Exact sums of rows along every axis on the GPU backend against the CPU backend, and of rows that are hard to round
 * against the reference, bit for bit: every exact operator, float type and NaN policy, over shapes of every kernel. On
 * the simulator as it is; with --cuda on a GPU. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gpu_rows.h"

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
                compare_rows(&s, c, ways[w], trial + c, &layouts[(c + w) % 2 == 0 ? 0 : (trial + c + w) % LAYOUTS],
                             (c + w) % 3 == 0);
            }
    }
}

/* Exact rows that lie across others, and are too long for a thread each (kernels/production/rows/columns.h): read 16
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

/* Exact rows of values side by side, by some lanes of a warp (kernels/production/rows/exact_lanes.h), by a warp, by a
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
 * (kernels/production/rows/exact_lanes.h); and long ones, of which a block has each (exact_parts.h). Also such as are
 * added up again. */
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
        for (int w = k % 2; w < 4; w += 2)
            compare_rows(&some[k], (k + w) % (ROUNDING + 1), ways[w], k, &layouts[0], w < 2);
    compare_rows(&some[4], MIXED_ZEROS, (shape){20000, 17, 1}, 0, &layouts[0], true);
    compare_rows(&some[7], MIXED_ZEROS, (shape){20000, 17, 1}, 0, &layouts[0], true);
    for (int k = 0; k < 3; k++) {
        static const subject unsure[] = {{TALLY_SUM, TALLY_F32, 0, 0, TALLY_BEST},
                                         {TALLY_SUM, TALLY_F64, 0, 0, TALLY_BEST},
                                         {TALLY_STATS, TALLY_F64, 1, 0, TALLY_BEST}};
        compare_filled(&unsure[k], fill_far_tie, 400, 120, 1);
        compare_filled(&unsure[k], k < 2 ? fill_far_tie : fill_largest, 8 * all, 8201, 1);
    }
}

/* Exact rows that several blocks share (kernels/production/rows/exact_parts.h), up to so many that their nodes are
 * combined twice. Also such as the second kernel adds up again (flat.h). */
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
        compare_rows(&some[k], k % (ROUNDING + 1), (shape){3, 70001, 1}, k, &layouts[0], true);
        if (k % 4 == 0 || !simt)
            compare_rows(&some[k], ROUNDING, (shape){simt ? 1 : 3, 65 * (part_bytes / size) + 5, 1}, k, &layouts[0],
                         false);
        if (some[k].op == TALLY_DOT || some[k].op == TALLY_NORM2) continue;
        for (int f = 0; f < 4; f++) compare_filled(&some[k], fills[f], 5, f % 2 ? 65536 : 40003, 1);
    }
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

int main(int argc, char **argv) {
    const struct CMUnitTest of_subjects[] = {cmocka_unit_test(test_exact_columns), cmocka_unit_test(test_exact_rows)};
    const struct CMUnitTest others[] = {cmocka_unit_test(test_filled), cmocka_unit_test(test_lanes),
                                        cmocka_unit_test(test_parts), cmocka_unit_test(test_halves)};
    int skipped = begin_gpu_program(argc, argv);
    if (skipped) return skipped;
    compile_kernels(TALLY_OF_ROWS);
    return RUN_GPU_TESTS(of_subjects, others);
}
