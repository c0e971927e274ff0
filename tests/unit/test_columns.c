/* Exact reductions along the first axis on the CPU, bit for bit against the reference. The CPU adds up columns by plain
 * sums (src/cpu/exact_plain_rows_template.h) or by levels (src/cpu/exact_panel_template.h), in blocks of rows. Shapes
 * and data are chosen for the boundaries of these. */
#include <math.h>
#include <string.h>

#include "support.h"

enum { INPUTS, SECOND_INPUTS, GOT, WANTED };

/* ---- data ---- */

/* What single values or columns hold. */
typedef enum column_class {
    LIKE_OTHERS, /* of a few binades */
    FAR_APART,   /* more binades than levels hold */
    RISING,      /* binades rise from block to block, so that levels must be planned again */
    SOME_SPECIALS,
    NANS,       /* whole columns of NaNs among others */
    ZEROS,      /* of both signs; in some columns of one only */
    CANCELLING, /* pairs that leave zeros or little */
    SUBNORMAL,
    TINY, /* of few digits or many, so that results are ties or next to them; every other block of 33 columns is large
           */
    COLUMN_CLASSES
} column_class;
static const char *const names[] = {"like others", "far apart",  "rising",    "some specials", "NaNs",
                                    "zeros",       "cancelling", "subnormal", "tiny"};

/* Exponents of the least and the greatest numbers that are no subnormals and whose squares a sum can hold. */
static int most_binades(tally_type type) { return type == TALLY_F64 ? 450 : type == TALLY_F16 ? 6 : 55; }
static double draw(column_class class, tally_type type, int64_t row, int64_t column, uint64_t *random) {
    const int most = most_binades(type);
    const double sign = next_random(random) & 1 ? -1 : 1;
    const double number = sign * (1 + ldexp((double)random_below(random, 1 << 20), -20));
    switch (class) {
    case FAR_APART: return ldexp(number, (int)random_below(random, 2 * most + 1) - most);
    case RISING: return ldexp(number, (int)(row / 100 * 13 % (2 * most + 1)) - most);
    case SOME_SPECIALS:
        if (random_below(random, 400) != 0) return ldexp(number, (int)random_below(random, 4));
        return random_below(random, 2) ? (double)NAN : sign * (double)INFINITY;
    case NANS: return column % 3 == 1 || random_below(random, 50) == 0 ? (double)NAN : number;
    case ZEROS:
        return column % 3 == 0 ? -0.0 : column % 3 == 1 ? 0.0 : sign * (random_below(random, 300) == 0 ? 1 : 0.0);
    case CANCELLING: return ldexp(row % 2 ? -1.0 : 1.0, 3 + (int)(row / 2 % 5)) + (column % 4 == 0 ? number / 8 : 0);
    case SUBNORMAL: return ldexp(number, type == TALLY_F64 ? -1040 : type == TALLY_F16 ? -20 : -130);
    case TINY:
        return ldexp(sign * (double)(next_random(random) >> (63 - random_below(random, type == TALLY_F64 ? 53 : 8))),
                     (type == TALLY_F64   ? -1074
                      : type == TALLY_F32 ? -149
                      : type == TALLY_F16 ? -24
                                          : -133) +
                         (type == TALLY_F64 && row / 204 % 2 ? 1074 : 0));
    default: return ldexp(number, -(int)random_below(random, 4));
    }
}
static tally_array draw_columns(int memory, column_class class, tally_type type, int64_t rows, int64_t width,
                                uint64_t *random) {
    char *x = scratch(memory, (size_t)(rows * width) * tally_type_size(type));
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < width; c++) put_number(type, x, r * width + c, draw(class, type, r, c, random));
    return tally_in(x, type, rows * width);
}

/* ---- comparing ---- */

static const tally_op ops[] = {TALLY_SUM, TALLY_MEAN, TALLY_NORM1, TALLY_NORM2, TALLY_SUMSQ,
                               TALLY_VAR, TALLY_STD,  TALLY_STATS, TALLY_DOT};

static void compare_columns_as(tally_type result, const subject *s, tally_array x, tally_array y, int64_t rows,
                               int64_t width, int threads) {
    const tally_segments segments = tally_rows(1, rows, width);
    const size_t bytes = result == TALLY_NATURAL ? result_bytes(s) : tally_type_size(result);
    char *got = scratch(GOT, bytes * (size_t)width), *wanted = scratch(WANTED, bytes * (size_t)width);
    now.op = s->op, now.type = s->type, now.nan = s->nan, now.ddof = s->ddof, now.threads = threads;
    const tally_status status =
        perform(context_for(s, TALLY_BACKEND_REFERENCE, 1), s->op, x, y, &segments, tally_out(wanted, result, width));
    EXPECT_STATUS(
        perform(context_for(s, TALLY_BACKEND_CPU, threads), s->op, x, y, &segments, tally_out(got, result, width)),
        status);
    for (now.segment = 0; now.segment < width; now.segment++) {
        const size_t at = (size_t)now.segment * bytes;
        EXPECT_BITS(got + at, wanted + at, bytes, "a column");
    }
}
static void compare_columns(const subject *s, tally_array x, tally_array y, int64_t rows, int64_t width, int threads) {
    compare_columns_as(TALLY_NATURAL, s, x, y, rows, width, threads);
}
static void check_columns(tally_type type, column_class class, int64_t rows, int64_t width, uint64_t *random) {
    const tally_array x = draw_columns(INPUTS, class, type, rows, width, random);
    const tally_array y = draw_columns(SECOND_INPUTS, class, type, rows, width, random);
    now = (scene){.data = names[class], .segments = "columns", .size = rows * width, .length = rows, .inner = width};
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
        const tally_nan nan = random_below(random, 2) ? TALLY_NAN_SKIP : TALLY_NAN_PROPAGATE;
        const subject s = {ops[k], type, nan, ops[k] == TALLY_VAR ? 1 : 0, TALLY_BEST};
        compare_columns(&s, x, y, rows, width, 1 + (int)random_below(random, 3));
    }
}

/* ---- tests ---- */

/* Widths that fill lanes with several rows or not, rows that leave a rest of these, and padded rows. */
static void test_narrow(void **state) {
    static const int64_t lengths[] = {1, 2, 31, 33, 100, 1023, 1025};
    uint64_t random = seed;
    int trial = 0;
    (void)state;
    for (tally_type type = TALLY_F16; type <= TALLY_F64; type++)
        for (int64_t width = 1; width <= 40; width += quick ? 7 : 1)
            for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
                if ((trial + (int)i) % 3 == 0 || !quick)
                    check_columns(type, (column_class)(trial++ % COLUMN_CLASSES), lengths[i], width, &random);
}
/* More columns than a panel has, blocks whose padded rows are as long as the row itself (62 of 288), and few columns of
 * many rows. */
static void test_wide(void **state) {
    static const int64_t shapes[][2] = {{62, 288},  {16, 1100}, {128, 129}, {3, 2100}, {300, 130},
                                        {64, 512},  {33, 520},  {31, 64},   {257, 96}, {1500, 40},
                                        {5000, 33}, {40000, 3}, {20000, 8}, {9, 1280}, {40, 1025},
                                        {256, 150}, {130, 300}, {1024, 70}, {640, 300}};
    uint64_t random = seed + 1;
    (void)state;
    for (tally_type type = TALLY_F16; type <= TALLY_F64; type++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            for (int class = (int)i % 2; class < COLUMN_CLASSES; class += quick ? 8 : 2)
                check_columns(type, (column_class) class, shapes[i][0], shapes[i][1], &random);
}
/* One value that is unlike all others, anywhere. */
static void test_single_values(void **state) {
    static const double values[] = {(double)INFINITY, (double)NAN, -0.0, 1e-7, 60000};
    uint64_t random = seed + 2;
    (void)state;
    for (tally_type type = TALLY_F16; type <= TALLY_F64; type++)
        for (int round = 0; round < (quick ? 3 : 30); round++) {
            const int64_t rows = 1 + random_below(&random, 2000), width = 1 + random_below(&random, 70);
            const tally_array x = draw_columns(INPUTS, LIKE_OTHERS, type, rows, width, &random);
            const subject s = {ops[random_below(&random, 9)], type, round % 2 ? TALLY_NAN_SKIP : TALLY_NAN_PROPAGATE, 0,
                               TALLY_BEST};
            put_number(type, scratch(INPUTS, 1), random_below(&random, rows * width), values[random_below(&random, 5)]);
            now = (scene){.data = "one unlike others", .segments = "columns", .length = rows, .inner = width};
            compare_columns(&s, x, x, rows, width, 1);
        }
}

/* Lanes that are filled to the limit. What the first level leaves of most values has one sign and fills the last level,
 * whose unit some small values need; with more rows than planned it would be rounded. The second half of the rows is
 * the first with the other sign, in reverse: sums are 0, so that any rounding shows. */
static void test_full_lanes(void **state) {
    enum { ROWS = 1 << 17, WIDTH = 32, COUNT = ROWS * WIDTH };
    float *x = scratch(INPUTS, sizeof(float) * COUNT);
    uint64_t random = seed + 3;
    (void)state;
    for (int64_t i = 0; i < COUNT / 2; i++) {
        const double number = 1 + ldexp((double)random_below(&random, 1 << 23), -23);
        const int64_t row = i / WIDTH % 4, mirrored = (ROWS - 1 - i / WIDTH) * WIDTH + i % WIDTH;
        x[i] = row == 0 ? 1.5f : (float)ldexp(number, row == 1 ? -59 : -43);
        x[mirrored] = -x[i];
    }
    for (size_t k = 0; k < 2; k++) {
        const subject s = {ops[k], TALLY_F32, TALLY_NAN_PROPAGATE, 0, TALLY_BEST};
        now = (scene){.data = "full lanes", .segments = "columns", .length = ROWS, .inner = WIDTH};
        compare_columns(&s, tally_in(x, TALLY_F32, COUNT), tally_in(x, TALLY_F32, COUNT), ROWS, WIDTH, 1);
    }
}

/* ---- plain sums, and what ends them ---- */

/* The value of an input (0, or 1: the second of two) at a place. */
typedef double value_at(tally_type type, int input, int64_t row, int64_t column);
static double small_integer(int64_t row, int64_t column) { return (double)((row * 7 + column * 13) % 31 - 15); }

/* All operators, as f32 and as f64. */
static void check_values(const char *data, value_at *at, tally_type type, int64_t rows, int64_t width, tally_nan nan) {
    tally_array in[2];
    for (int k = 0; k < 2; k++) {
        char *to = scratch(INPUTS + k, (size_t)(rows * width) * tally_type_size(type));
        for (int64_t i = 0; i < rows * width; i++) put_number(type, to, i, at(type, k, i / width, i % width));
        in[k] = tally_in(to, type, rows * width);
    }
    now = (scene){.data = data, .segments = "columns", .size = rows * width, .length = rows, .inner = width};
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
        for (int wide = 0; wide < 2; wide++) {
            const subject s = {ops[k], type, nan, 0, TALLY_BEST};
            if (ops[k] != TALLY_STATS)
                compare_columns_as(wide ? TALLY_F64 : TALLY_F32, &s, in[0], in[1], rows, width, 1);
        }
}
/* More rows than results are made of at once (a leaf: 4 KB of each column). */
static int64_t many_rows(tally_type type) { return 4096 / (int64_t)tally_type_size(type) + 90; }

/* Some rows have digits far below those of others: of the first block of a panel, of one in the middle, of two one
 * after the other. */
static int64_t far_from, far_until;
static double far_in_some_rows(tally_type type, int input, int64_t row, int64_t column) {
    const bool is_far = row >= far_from && row < far_until && (row + column) % 5 == 0;
    (void)input;
    return is_far ? ldexp(1 + 0x1p-5, type == TALLY_F16 ? -20 : -90) : small_integer(row, column);
}
/* Each block is exact, but not with those before it; and some values are infinite or NaN. */
static double smaller_in_later_blocks(tally_type type, int input, int64_t row, int64_t column) {
    const int fall = type == TALLY_F16 ? 8 : type == TALLY_F64 ? 24 : 44;
    if (column == 9 && row == 30) return (double)INFINITY;
    if (column == 7 && (row == 20 || row == 1250) && input == 0) return (double)NAN;
    return ldexp(small_integer(row, column), row < 300 ? 0 : row < 700 ? -fall : row < 1100 ? -2 * fall : 0);
}
static void test_blocks_that_round(void **state) {
    static const int64_t places[][2] = {{40, 60}, {400, 420}, {300, 560}};
    (void)state;
    for (tally_type type = TALLY_F16; type <= TALLY_F64; type++)
        for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
            far_from = places[k][0], far_until = places[k][1];
            check_values("far in some rows", far_in_some_rows, type, many_rows(type), type == TALLY_F64 ? 131 : 43,
                         TALLY_NAN_PROPAGATE);
            check_values("smaller in later blocks", smaller_in_later_blocks, type, 1300 + 1000 * (int)k,
                         type == TALLY_F64 ? 131 : 43, k % 2 ? TALLY_NAN_SKIP : TALLY_NAN_PROPAGATE);
        }
}

/* Each of the lanes that a column has is exact, but not their sum on its way: 2^30, 2^-25, -2^30. */
static double round_when_joined(tally_type type, int input, int64_t row, int64_t column) {
    (void)type;
    if (input == 1) return 1;
    return row == 5 ? 0x1p30 : row == 6 ? 0x1p-25 * (double)(column + 1) : row == 7 ? -0x1p30 : 0;
}
/* Products of one sign, later ones larger than the first are: sums pass zero, and have other digits than what they
 * began with. */
static double falling(tally_type type, int input, int64_t row, int64_t column) {
    const double large = row < 4 ? 0.25 : 1;
    if (type == TALLY_F16) return small_integer(row, column);
    return input == 0 ? large * (3 + 0x1p-20 * (double)((row * 911 + column * 77) % 1021)) : -large;
}
static void test_lanes_that_round(void **state) {
    (void)state;
    for (tally_type type = TALLY_BF16; type <= TALLY_F32; type++) {
        check_values("round when joined", round_when_joined, type, 40, 8, TALLY_NAN_PROPAGATE);
        check_values("round when joined", round_when_joined, type, many_rows(type), 8, TALLY_NAN_PROPAGATE);
    }
    for (tally_type type = TALLY_BF16; type <= TALLY_F64; type++) {
        check_values("falling", falling, type, 100, type == TALLY_F64 ? 130 : 8, TALLY_NAN_PROPAGATE);
        check_values("falling", falling, type, many_rows(type), type == TALLY_F64 ? 130 : 8, TALLY_NAN_PROPAGATE);
    }
}

/* Some products of f64 are far smaller than others: a few in each block, and more than are left out in one of them. Of
 * two inputs the others cancel. */
static bool have_few_digits; /* the small ones: then other sums hold them, too */
static double small_here_and_there(tally_type type, int input, int64_t row, int64_t column) {
    const bool is_small = (row / 2 * 31 + column * 7) % 1009 == 0 || (row >= 300 && row < 304);
    const double sign = input == 1 && row % 2 ? -1 : 1, small = type == TALLY_F16 ? 0x1p-12 : 0x1p-24;
    const int64_t size = (row + column) % 5;
    if (is_small) return sign * (have_few_digits ? ldexp(small, -(int)size) : small / (double)(3 + size));
    return sign * small_integer(row / 2 + input, column);
}
static void test_small_products(void **state) {
    (void)state;
    for (tally_type type = TALLY_F16; type <= TALLY_F64; type++)
        for (tally_nan nan = TALLY_NAN_PROPAGATE; nan <= TALLY_NAN_SKIP; nan++) {
            have_few_digits = nan == TALLY_NAN_SKIP;
            check_values("small here and there", small_here_and_there, type, 60, 200, nan);
            check_values("small here and there", small_here_and_there, type, many_rows(type), 131, nan);
        }
    for (int k = 0; k < (quick ? 0 : 2); k++) {
        have_few_digits = k > 0;
        check_values("small here and there", small_here_and_there, TALLY_F64, 8300, 40, TALLY_NAN_PROPAGATE);
    }
}

/* Infinities and NaNs in some columns of the first panel, not of the next. A NaN whose only digits are the last ones
 * looks like an infinity in its upper half. Products of f64 overflow, and others cancel them. */
static double specials_in_some_columns(tally_type type, int input, int64_t row, int64_t column) {
    const double infinity = (double)INFINITY, sign = row % 2 ? -1 : 1;
    if (row == 2 && column == 33) return infinity;
    if (row == 3 && (column == 35 || column == 37)) return -infinity;
    if (row == 4 && column == 37) return infinity;
    if (row == 5 && (column == 39 || column == 60) && (input == 0 || column == 60)) return (double)NAN;
    if (column == 41 && type == TALLY_F64) return (input == 1 ? sign : 1) * 0x1p600;
    if (column == 42 && type == TALLY_F64 && row < 4) return sign * 0x1.8p1023;
    return small_integer(row, column);
}
static void test_specials_in_panels(void **state) {
    (void)state;
    for (tally_type type = TALLY_F16; type <= TALLY_F64; type++)
        for (tally_nan nan = TALLY_NAN_PROPAGATE; nan <= TALLY_NAN_SKIP; nan++) {
            check_values("specials in some columns", specials_in_some_columns, type, 20, 560, nan);
            check_values("specials in some columns", specials_in_some_columns, type, 50, 64, nan);
            check_values("specials in some columns", specials_in_some_columns, type, many_rows(type),
                         type == TALLY_F64 ? 300 : 64, nan);
        }
}
/* A signalling NaN, whose only digit is its last. */
static void test_last_digit_of_nan(void **state) {
    enum { WIDTH = 140, MOST = 700 };
    static double x[MOST * WIDTH];
    static const int64_t lengths[] = {20, MOST};
    const uint64_t nan = 0x7ff0000000000001;
    (void)state;
    for (int64_t i = 0; i < MOST * WIDTH; i++) x[i] = small_integer(i / WIDTH, i % WIDTH);
    memcpy(&x[7 * WIDTH + 50], &nan, sizeof nan);
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
        for (int i = 0; i < 2; i++) {
            const subject s = {ops[k], TALLY_F64, TALLY_NAN_PROPAGATE, 0, TALLY_BEST};
            const tally_array in = tally_in(x, TALLY_F64, lengths[i] * WIDTH);
            now =
                (scene){.data = "a NaN of the last digit", .segments = "columns", .length = lengths[i], .inner = WIDTH};
            compare_columns(&s, in, in, lengths[i], WIDTH, 1);
        }
}

/* Sums that are 0, of either sign, and those of f64 of which one half is: of upper halves that cancel, and of values
 * that have none. */
static double zeros_of_columns(tally_type type, int input, int64_t row, int64_t column) {
    if (input == 1) return column % 8 < 4 ? 1 : -1;
    switch (column % 5) {
    case 0: return -0.0;
    case 1: return row == 1 ? 0.0 : -0.0;
    case 2: return row % 2 ? -3.0 : 3.0;
    case 3: return type == TALLY_F64 && row % 2 ? -1 - 0x1p-52 : row % 2 ? -1 : 1;
    default: return type == TALLY_F64 && column > 32 ? -0x1p-1074 : 0.0;
    }
}
static double minus_zero(tally_type type, int input, int64_t row, int64_t column) {
    (void)type, (void)row, (void)column;
    return input == 1 ? 2 : -0.0;
}
static void test_signs_of_zeros(void **state) {
    static const int64_t shapes[][2] = {{2, 3}, {7, 3}, {45, 3}, {100, 5}, {3, 20}, {21, 40}, {20, 70}, {8, 133}};
    (void)state;
    for (tally_type type = TALLY_F16; type <= TALLY_F64; type++) {
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
            check_values("zeros", zeros_of_columns, type, shapes[k][0], shapes[k][1], TALLY_NAN_PROPAGATE);
            check_values("minus zeros", minus_zero, type, shapes[k][0], shapes[k][1], TALLY_NAN_PROPAGATE);
        }
        const int64_t width = type == TALLY_F64 ? 133 : 21;
        check_values("zeros", zeros_of_columns, type, many_rows(type), width, TALLY_NAN_PROPAGATE);
        check_values("minus zeros", minus_zero, type, many_rows(type), width, TALLY_NAN_PROPAGATE);
    }
}

/* Values that differ in their last digits, of which means and variances are ties or next to them; and, of f64, columns
 * whose means are scaled beside others: 128 are finished together. */
static double close_together(tally_type type, int input, int64_t row, int64_t column) {
    static const int digits[] = {[TALLY_F16] = 10, [TALLY_BF16] = 7, [TALLY_F32] = 23, [TALLY_F64] = 52};
    const uint64_t mixed = (uint64_t)(row * 37 + column * 11 + input) * 0x9e3779b97f4a7c15;
    if (type == TALLY_F64 && column >= 128 && column < 256) return ldexp((double)(mixed >> 40), -1070);
    return 1 + ldexp((double)(mixed >> 62), -digits[type]);
}
static void test_ties_of_columns(void **state) {
    static const int64_t lengths[] = {2, 3, 4, 6, 17, 100};
    (void)state;
    for (tally_type type = TALLY_F16; type <= TALLY_F64; type++)
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
            check_values("close together", close_together, type, lengths[k], 300, TALLY_NAN_PROPAGATE);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_single_values),
        cmocka_unit_test(test_full_lanes),
        cmocka_unit_test(test_blocks_that_round),
        cmocka_unit_test(test_lanes_that_round),
        cmocka_unit_test(test_small_products),
        cmocka_unit_test(test_specials_in_panels),
        cmocka_unit_test(test_last_digit_of_nan),
        cmocka_unit_test(test_signs_of_zeros),
        cmocka_unit_test(test_ties_of_columns),
    };
    int skipped = begin_program(argc, argv);
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
