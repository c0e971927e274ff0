/* Exact reductions along the first axis on the CPU, bit for bit against the reference. The CPU adds up columns by
 * levels, in blocks of rows (src/cpu/exact_panel_template.h). Shapes and data are chosen for the boundaries of these.
 */
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

static void compare_columns(const subject *s, tally_array x, tally_array y, int64_t rows, int64_t width, int threads) {
    const tally_segments segments = tally_rows(1, rows, width);
    const size_t bytes = result_bytes(s);
    char *got = scratch(GOT, bytes * (size_t)width), *wanted = scratch(WANTED, bytes * (size_t)width);
    now.op = s->op, now.type = s->type, now.nan = s->nan, now.ddof = s->ddof, now.threads = threads;
    const tally_status status = perform(context_for(s, TALLY_BACKEND_REFERENCE, 1), s->op, x, y, &segments,
                                        tally_out(wanted, TALLY_NATURAL, width));
    EXPECT_STATUS(perform(context_for(s, TALLY_BACKEND_CPU, threads), s->op, x, y, &segments,
                          tally_out(got, TALLY_NATURAL, width)),
                  status);
    for (now.segment = 0; now.segment < width; now.segment++) {
        const size_t at = (size_t)now.segment * bytes;
        EXPECT_BITS(got + at, wanted + at, bytes, "a column");
    }
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

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_single_values),
        cmocka_unit_test(test_full_lanes),
    };
    int skipped = begin_program(argc, argv);
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
