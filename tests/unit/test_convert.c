/* Values between types: f16 and bf16 in full, every type of output from every type of result, rounding and saturation,
 * against long double, which holds every value of every type exactly. */
#include <math.h>
#include <string.h>

#include "support.h"

enum { IN = 0, GOT = 1, WANTED = 2, MOST = 1 << 18 };

/* Each value alone through an operator that leaves it as it is; results as `to`. */
static tally_status pass_through(tally_op op, tally_type from, const void *values, int64_t n, tally_type to,
                                 void *got) {
    tally_segments each = tally_rows(n, 1, 1);
    tally_output out = tally_out(got, to, n);
    now = (scene){
        .op = op, .type = from, .index_type = to, .segments = "rows; the index type is the output's", .size = n};
    return tally_reduce_segments(NULL, op, tally_in(values, from, n), each, out);
}

/* ---- one value, the obvious way ---- */

typedef struct limits {
    long double low, high;
} limits;

static limits limits_of(tally_type type) {
    int bits = 8 * (int)tally_type_size(type);
    if (type == TALLY_BOOL) return (limits){0, 1};
    if (is_signed(type)) return (limits){-ldexpl(1, bits - 1), ldexpl(1, bits - 1) - 1};
    return (limits){0, ldexpl(1, bits) - 1};
}

static void put_integer(tally_type type, void *to, int64_t i, long double whole) {
    uint64_t bits = whole < 0 ? 0 - (uint64_t)-whole : (uint64_t)whole;
    size_t bytes = tally_type_size(type);
    memcpy((char *)to + i * (int64_t)bytes, &bits, bytes);
}

/* Writes the nearest value of a type; true when an integer type had to change it. */
static bool put_nearest(tally_type type, void *to, int64_t i, long double v) {
    limits l = limits_of(type);
    long double whole = isnan(v) ? 0 : nearbyintl(v);
    float single = (float)v;
    uint16_t half;
    if (isnan(v) && is_float(type)) {
        put_number(type, to, i, (double)NAN);
        return false;
    }
    switch (type) {
    case TALLY_F64: put_number(type, to, i, (double)v); return false;
    case TALLY_F32: memcpy((char *)to + 4 * i, &single, 4); return false;
    case TALLY_F16:
    case TALLY_BF16:
        half = type == TALLY_F16 ? slow_narrow(v, 10, 15) : slow_narrow(v, 7, 127);
        memcpy((char *)to + 2 * i, &half, 2);
        return false;
    default:
        if (whole < l.low) whole = l.low;
        if (whole > l.high) whole = l.high;
        put_integer(type, to, i, whole);
        return !(whole == v);
    }
}

static void check_conversion(tally_op op, tally_type from, const void *values, int64_t n, tally_type to) {
    size_t bytes = tally_type_size(to);
    char *got = scratch(GOT, (size_t)n * bytes), *wanted = scratch(WANTED, (size_t)n * bytes);
    tally_status status = pass_through(op, from, values, n, to, got);
    bool changed = false;
    for (int64_t i = 0; i < n; i++) changed |= put_nearest(to, wanted, i, number_at(from, values, i));
    EXPECT(status == (changed ? TALLY_OVERFLOW : TALLY_OK), "the status is %s", tally_status_name(status));
    for (int64_t i = 0; i < n; i++) {
        now.segment = i;
        if (memcmp(got + (size_t)i * bytes, wanted + (size_t)i * bytes, bytes) == 0) continue;
        EXPECT_BITS(got + (size_t)i * bytes, wanted + (size_t)i * bytes, bytes, "the converted value");
    }
    /* Alone, so that one overflow does not hide another's absence. */
    for (int64_t i = 0; i < n && i < 400; i++) {
        bool alone = put_nearest(to, wanted, 0, number_at(from, values, i));
        tally_array one = tally_in((const char *)values + i * (int64_t)tally_type_size(from), from, 1);
        tally_output out = tally_out(got, to, 1);
        EXPECT_STATUS(tally_reduce(NULL, op, one, out), alone ? TALLY_OVERFLOW : TALLY_OK);
    }
}

/* ---- f16 and bf16 ---- */

static void test_halves_widen(void **state) {
    uint16_t *halves = scratch(IN, 65536 * 2);
    (void)state;
    for (int i = 0; i < 65536; i++) halves[i] = (uint16_t)i;
    for (int t = TALLY_F16; t <= TALLY_BF16; t++) {
        check_conversion(TALLY_SUM, (tally_type)t, halves, 65536, TALLY_F32);
        check_conversion(TALLY_MAX, (tally_type)t, halves, 65536, TALLY_F64);
        check_conversion(TALLY_MIN, (tally_type)t, halves, 65536, TALLY_BF16);
        check_conversion(TALLY_MIN, (tally_type)t, halves, 65536, TALLY_I16);
    }
}

/* Every value of a half type, the midpoints between neighbours, and what lies nearest to these on both sides. */
static int64_t list_midpoints(tally_type half, tally_type from, void *values) {
    int64_t n = 0;
    for (int32_t bits = 0; bits < 0x7fff; bits++) {
        uint16_t pair[2] = {(uint16_t)bits, (uint16_t)(bits + 1)};
        double low = (double)number_at(half, pair, 0), high = (double)number_at(half, pair, 1), middle;
        if (isnan(low) || isnan(high)) continue;
        /* Behind the last finite value comes what would be next if there were room for it: from the middle on,
         * infinity. */
        if (isinf(high)) high = low + (low - (double)number_at(half, &(uint16_t){(uint16_t)(bits - 1)}, 0));
        middle = low + (high - low) / 2;
        if (bits % 2) low = -low, middle = -middle;
        put_number(from, values, n++, low);
        put_number(from, values, n++, middle);
        put_number(from, values, n++, from == TALLY_F32 ? (double)nextafterf((float)middle, 0) : nextafter(middle, 0));
        put_number(from, values, n++,
                   from == TALLY_F32 ? (double)nextafterf((float)middle, 2 * (float)middle)
                                     : nextafter(middle, 2 * middle));
    }
    return n;
}

static void test_halves_narrow(void **state) {
    (void)state;
    for (int half = TALLY_F16; half <= TALLY_BF16; half++)
        for (int from = TALLY_F32; from <= TALLY_F64; from++) {
            char *values = scratch(IN, MOST * 8);
            int64_t n = list_midpoints((tally_type)half, (tally_type)from, values);
            check_conversion(TALLY_SUM, (tally_type)from, values, n, (tally_type)half);
        }
}

/* ---- all types to all types ---- */

/* Numbers around every power of two, halves between integers, extremes. */
static int64_t list_numbers(tally_type from, void *values) {
    int64_t n = 0;
    uint64_t random = seed;
    size_t bytes = tally_type_size(from);
    if (is_float(from)) {
        const double special[] = {
            0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 127.5, 255.5, (double)INFINITY, -(double)INFINITY, (double)NAN};
        for (size_t i = 0; i < sizeof special / sizeof *special; i++) put_number(from, values, n++, special[i]);
    }
    for (int k = 0; k < 8 * (int)(is_float(from) ? 17 : bytes); k++)
        for (int d = -2; d <= 2; d++)
            if (is_float(from))
                put_number(from, values, n++, (k % 2 ? -1 : 1) * (ldexp(1, k) + d));
            else
                put_integer(from, values, n++, (long double)(((uint64_t)1 << k) + (uint64_t)(int64_t)d));
    for (int i = 0; i < 1000; i++) {
        uint64_t bits = next_random(&random) >> (i % 60);
        memcpy((char *)values + n++ * (int64_t)bytes, &bits, bytes);
    }
    return n;
}

/* Sums of one value give it in the widest type, max in its own. */
static void test_all_pairs(void **state) {
    (void)state;
    for (int from = TALLY_BOOL; from <= TALLY_F64; from++) {
        char *values = scratch(IN, MOST * 8);
        int64_t n = list_numbers((tally_type)from, values);
        for (int to = TALLY_BOOL; to <= TALLY_F64; to++) {
            check_conversion(TALLY_SUM, (tally_type)from, values, n, (tally_type)to);
            check_conversion(TALLY_MAX, (tally_type)from, values, n, (tally_type)to);
        }
    }
}

/* 64-bit integers that an f64 in between would round a second time: just beside midpoints of the narrow type. */
static void test_double_rounding(void **state) {
    int64_t *values = scratch(IN, MOST * 8), n = 0;
    const int digits[] = {24, 11, 8, 53}; /* of f32, f16, bf16, f64 */
    (void)state;
    for (size_t t = 0; t < 4; t++)
        for (int top = digits[t] + 1; top < 63; top++)
            for (int64_t d = -1; d <= 1; d++)
                for (int odd = 0; odd < 2; odd++) {
                    int64_t middle = ((int64_t)1 << top) + ((int64_t)odd << (top - digits[t] + 1)) +
                                     ((int64_t)1 << (top - digits[t]));
                    values[n++] = middle + d;
                    values[n++] = -(middle + d);
                }
    for (int to = TALLY_F16; to <= TALLY_F64; to++) {
        check_conversion(TALLY_SUM, TALLY_I64, values, n, (tally_type)to);
        check_conversion(TALLY_SUM, TALLY_U64, values, n, (tally_type)to);
    }
}

/* ---- outputs of more than one number ---- */

static void test_pairs_convert(void **state) {
    int32_t x[3] = {-5, 300, 7};
    double wide[2];
    uint8_t narrow[2];
    (void)state;
    now = (scene){.op = TALLY_MINMAX, .type = TALLY_I32};
    EXPECT_OK(tally_reduce(NULL, TALLY_MINMAX, tally_in(x, TALLY_I32, 3), tally_out(wide, TALLY_F64, 1)));
    assert_true(wide[0] == -5 && wide[1] == 300);
    EXPECT_STATUS(tally_reduce(NULL, TALLY_MINMAX, tally_in(x, TALLY_I32, 3), tally_out(narrow, TALLY_U8, 1)),
                  TALLY_OVERFLOW);
    assert_true(narrow[0] == 0 && narrow[1] == 255);
}

static void test_stats_do_not_convert(void **state) {
    double x = 1, out[16];
    (void)state;
    now = (scene){.op = TALLY_STATS, .type = TALLY_F64};
    EXPECT_STATUS(tally_reduce(NULL, TALLY_STATS, tally_in(&x, TALLY_F64, 1), tally_out(out, TALLY_F64, 1)),
                  TALLY_BAD_TYPE);
    EXPECT_STATUS(tally_reduce(NULL, TALLY_SUM, tally_in(&x, TALLY_F64, 1), tally_out(out, TALLY_STRUCT, 1)),
                  TALLY_BAD_TYPE);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_halves_widen),  cmocka_unit_test(test_halves_narrow),
        cmocka_unit_test(test_all_pairs),     cmocka_unit_test(test_double_rounding),
        cmocka_unit_test(test_pairs_convert), cmocka_unit_test(test_stats_do_not_convert),
    };
    int skipped = begin_program(argc, argv);
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
