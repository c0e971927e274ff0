/* Sums of integers and what is made of them, against GMP's integers rounded once by MPFR: all types, values of all
 * sizes, arrays around the edges of leaves, segments, rows, strides, states; what does not fit 64 bits, refused,
 * wrapped, or given as something wider. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rounding.h"

enum { MOST_DDOF = 2, MOST_SEGMENTS = 512 };

/* ---- the truth ---- */

typedef struct truth {
    mpz_t sum, magnitudes, squares, products;
    int64_t n;
} truth;

static void begin_truth(truth *t) { mpz_inits(t->sum, t->magnitudes, t->squares, t->products, NULL); }
static void end_truth(truth *t) { mpz_clears(t->sum, t->magnitudes, t->squares, t->products, NULL); }

static void read_integer(mpz_t z, tally_type type, const void *values, int64_t i) {
    long double number = number_at(type, values, i);
    mpz_set_ui(z, (unsigned long)(number < 0 ? -number : number));
    if (number < 0) mpz_neg(z, z);
}

/* Of values begin, begin + step, ... (n of them). */
static void find_truth(truth *t, tally_type type, const void *x, const void *y, int64_t begin, int64_t step,
                       int64_t n) {
    static mpz_t a, b;
    static bool ready;
    if (!ready) mpz_inits(a, b, NULL), ready = true;
    mpz_set_ui(t->sum, 0), mpz_set_ui(t->magnitudes, 0), mpz_set_ui(t->squares, 0), mpz_set_ui(t->products, 0);
    t->n = n;
    for (int64_t k = 0; k < n; k++) {
        read_integer(a, type, x, begin + k * step);
        read_integer(b, type, y, begin + k * step);
        mpz_add(t->sum, t->sum, a);
        mpz_addmul(t->squares, a, a);
        mpz_addmul(t->products, a, b);
        mpz_abs(a, a);
        mpz_add(t->magnitudes, t->magnitudes, a);
    }
}

/* ---- what a call must give ---- */

static const tally_op ops[] = {TALLY_SUM,  TALLY_NORM1, TALLY_SUMSQ, TALLY_DOT,
                               TALLY_MEAN, TALLY_VAR,   TALLY_STD,   TALLY_NORM2};
enum { OPS = sizeof ops / sizeof *ops };

static bool is_plain(tally_op op) {
    return op == TALLY_SUM || op == TALLY_NORM1 || op == TALLY_SUMSQ || op == TALLY_DOT;
}

static void limits_of(tally_type type, mpz_t low, mpz_t high) {
    mp_bitcnt_t bits = 8 * tally_type_size(type);
    mpz_set_ui(low, 0), mpz_set_ui(high, 1);
    if (type == TALLY_BOOL) return;
    mpz_mul_2exp(high, high, is_signed(type) ? bits - 1 : bits);
    if (is_signed(type)) mpz_neg(low, high);
    mpz_sub_ui(high, high, 1);
}

/* Writes z as an integer type, clamped; returns whether it had to be. */
static bool put_clamped(tally_type type, const mpz_t z, void *to) {
    static mpz_t low, high;
    static bool ready;
    const mpz_t *value = (const mpz_t *)z;
    uint64_t bits;
    if (!ready) mpz_inits(low, high, NULL), ready = true;
    limits_of(type, low, high);
    if (mpz_cmp(z, low) < 0) value = (const mpz_t *)&low;
    if (mpz_cmp(z, high) > 0) value = (const mpz_t *)&high;
    bits = mpz_get_ui(*value); /* of the magnitude */
    if (mpz_sgn(*value) < 0) bits = 0 - bits;
    memcpy(to, &bits, tally_type_size(type));
    return value != (const mpz_t *)z;
}

/* Into 64 bits, as `type` reads them. */
static void wrap(mpz_t z, tally_type type) {
    mpz_fdiv_r_2exp(z, z, 64);
    if (type == TALLY_I64 && mpz_tstbit(z, 63)) {
        mpz_t whole;
        mpz_init(whole);
        mpz_ui_pow_ui(whole, 2, 64);
        mpz_sub(z, z, whole);
        mpz_clear(whole);
    }
}

static tally_type natural(tally_op op, tally_type type) {
    tally_type given = TALLY_NATURAL;
    EXPECT_OK(tally_result_type(NULL, op, type, &given, NULL));
    return given;
}

static tally_status expected_sum(const truth *t, tally_op op, tally_type type, tally_type out, bool wraps, void *to) {
    static mpz_t z;
    static bool ready;
    if (!ready) mpz_init(z), ready = true;
    mpz_set(z, op == TALLY_SUM     ? t->sum
               : op == TALLY_NORM1 ? t->magnitudes
               : op == TALLY_SUMSQ ? t->squares
                                   : t->products);
    if (wraps) wrap(z, natural(op, type));
    if (!is_float(out)) return put_clamped(out, z, to) ? TALLY_OVERFLOW : TALLY_OK;
    put_number(out, to, 0, answer(PLAIN, z, t->sum, 0, t->n, 0, format_of(out)));
    return TALLY_OK;
}

static tally_status expected(const truth *t, tally_op op, tally_type type, tally_type out, bool wraps, int ddof,
                             void *to) {
    double result = (double)NAN;
    if (out == TALLY_NATURAL) out = natural(op, type);
    if (is_plain(op)) return expected_sum(t, op, type, out, wraps, to);
    if (op == TALLY_NORM2)
        result = answer(ROOT, t->squares, t->sum, 0, t->n, 0, format_of(out));
    else if (op == TALLY_MEAN && t->n > 0)
        result = answer(MEAN, t->sum, t->sum, 0, t->n, 0, format_of(out));
    else if (op != TALLY_MEAN && t->n > ddof)
        result = answer(op == TALLY_VAR ? SPREAD : SPREAD_ROOT, t->squares, t->sum, 0, t->n, ddof, format_of(out));
    put_number(out, to, 0, result);
    return t->n == 0 && op != TALLY_NORM2 ? TALLY_EMPTY : TALLY_OK;
}

static tally_status worse(tally_status a, tally_status b) { /* overflow goes before empty */
    return a == TALLY_OVERFLOW || b == TALLY_OVERFLOW ? TALLY_OVERFLOW : a != TALLY_OK ? a : b;
}

/* ---- contexts ---- */

static tally_context *context_of(tally_backend backend, bool wraps, int ddof, int threads) {
    static tally_context *made[3][2][MOST_DDOF + 1][6];
    tally_context **place = &made[backend][wraps][ddof][threads];
    tally_options options = TALLY_OPTIONS_INIT;
    if (*place != NULL) return *place;
    options.backend = backend;
    options.overflow = wraps ? TALLY_OVERFLOW_WRAPS : TALLY_OVERFLOW_REFUSED;
    options.ddof = ddof;
    options.threads = threads;
    EXPECT_OK(tally_context_create(NULL, place));
    EXPECT_OK(tally_set_options(*place, &options));
    return *place;
}

static int64_t cases;

static void expect_result(tally_context *context, tally_op op, tally_array x, tally_array y,
                          const tally_segments *segments, tally_type out, int64_t count, const char *wanted,
                          tally_status status) {
    size_t bytes = tally_type_size(out == TALLY_NATURAL ? natural(op, x.type) : out);
    char *got = scratch(4, (size_t)count * bytes + 1);
    now.op = op;
    EXPECT_STATUS(perform(context, op, x, y, segments, tally_out(got, out, count)), status);
    for (now.segment = 0; now.segment < count; now.segment++) {
        size_t at = (size_t)now.segment * bytes;
        if (memcmp(got + at, wanted + at, bytes) == 0) continue;
        EXPECT_BITS(got + at, wanted + at, bytes, tally_type_name(out) ? tally_type_name(out) : "natural");
    }
    cases += count;
}

/* ---- data ---- */

enum { CLASSES = 8 };
static const char *const names[CLASSES] = {"any bits", "all largest", "all smallest",    "extremes by turns",
                                           "small",    "halves",      "one among zeros", "around 2^53 and 2^32"};

static void put_bits(tally_type type, void *values, int64_t i, uint64_t bits) {
    size_t bytes = tally_type_size(type);
    if (type == TALLY_BOOL) bits = (bits & 1) ? bits | 1 : 0; /* any byte but 0 is true */
    memcpy((char *)values + i * (int64_t)bytes, &bits, bytes);
}

static void put_one(tally_type type, int class, void *values, int64_t i, uint64_t *random) {
    uint64_t u = next_random(random), top = (uint64_t)1 << (8 * tally_type_size(type) - 1);
    uint64_t largest = is_signed(type) ? top - 1 : 2 * top - 1, smallest = is_signed(type) ? top : 0;
    switch (class) {
    case 0: put_bits(type, values, i, u); return;
    case 1: put_bits(type, values, i, largest); return;
    case 2: put_bits(type, values, i, smallest); return;
    case 3: put_bits(type, values, i, i % 2 ? smallest : largest); return;
    case 4: put_bits(type, values, i, u % 11 - (is_signed(type) ? 5 : 0)); return;
    case 5: put_bits(type, values, i, (u & 1 ? top / 2 : 0 - top / 2) + u % 5 - 2); return;
    case 6: put_bits(type, values, i, i % 97 == 41 ? u : 0); return;
    default: put_bits(type, values, i, ((uint64_t)1 << (u % 2 ? 53 : 32)) + u / 2 % 5 - 2); return;
    }
}

/* x and y of a class, y of another in part, so that signs of products differ. */
static void fill(tally_type type, int class, char *x, char *y, int64_t n, uint64_t *random) {
    now.type = type, now.data = names[class], now.size = n;
    for (int64_t i = 0; i < n; i++) {
        put_one(type, class, x, i, random);
        put_one(type, i % 2 ? class : (class + 1) % 4, y, i, random);
    }
}

/* ---- arrays ---- */

static const tally_type outs[] = {TALLY_NATURAL, TALLY_I64, TALLY_U64, TALLY_I8,  TALLY_U16,
                                  TALLY_BOOL,    TALLY_F64, TALLY_F32, TALLY_F16, TALLY_BF16};
enum { OUTS = sizeof outs / sizeof *outs };

static void check_array(const truth *t, tally_op op, tally_array x, tally_array y, tally_type out, int trial) {
    static const int teams[] = {1, 2, 5};
    int ddof = trial % (MOST_DDOF + 1);
    bool wraps = trial % 4 == 3;
    char wanted[8];
    tally_status status;
    if (!is_plain(op) && out != TALLY_NATURAL && !is_float(out)) return;
    status = expected(t, op, x.type, out, wraps, ddof, wanted);
    now.ddof = ddof, now.layout = wraps ? "wraps" : "refused";
    expect_result(context_of(TALLY_BACKEND_CPU, wraps, ddof, teams[trial % 3]), op, x, y, NULL, out, 1, wanted, status);
    expect_result(context_of(TALLY_BACKEND_REFERENCE, wraps, ddof, 1), op, x, y, NULL, out, 1, wanted, status);
}

static void check_stats(truth *t, tally_array x, const void *values, int trial) {
    int ddof = trial % (MOST_DDOF + 1);
    bool wraps = trial % 5 == 2;
    tally_stats got, again;
    char wanted[8];
    tally_status status = expected(t, TALLY_SUM, x.type, TALLY_NATURAL, wraps, ddof, wanted);
    long double least = 0, greatest = 0;
    now.op = TALLY_STATS, now.ddof = ddof;
    if (t->n == 0) return;
    EXPECT_STATUS(
        tally_reduce(context_of(TALLY_BACKEND_CPU, wraps, ddof, 2), TALLY_STATS, x, tally_out(&got, TALLY_NATURAL, 1)),
        status);
    EXPECT_STATUS(tally_reduce(context_of(TALLY_BACKEND_REFERENCE, wraps, ddof, 1), TALLY_STATS, x,
                               tally_out(&again, TALLY_NATURAL, 1)),
                  status);
    EXPECT_BITS(&got, &again, sizeof got, "stats of the reference");
    EXPECT_BITS(&got.sum, wanted, 8, "the sum of stats");
    expected(t, TALLY_MEAN, x.type, TALLY_F64, wraps, ddof, wanted);
    EXPECT_BITS(&got.mean, wanted, 8, "the mean of stats");
    expected(t, TALLY_VAR, x.type, TALLY_F64, wraps, ddof, wanted);
    EXPECT_BITS(&got.var, wanted, 8, "the variance of stats");
    for (int64_t i = 0; i < t->n; i++) {
        long double v = number_at(x.type, values, i);
        if (i == 0 || v < least) least = v;
        if (i == 0 || v > greatest) greatest = v;
    }
    if (is_signed(x.type) || x.type == TALLY_BOOL)
        EXPECT((long double)got.min.i == least && (long double)got.max.i == greatest, "the range of stats");
    else
        EXPECT((long double)got.min.u == least && (long double)got.max.u == greatest, "the range of stats");
    EXPECT(got.count == t->n, "the count of stats");
}

static void test_arrays(void **state) {
    uint64_t random = seed;
    int trial = 0;
    truth t;
    (void)state;
    begin_truth(&t);
    for (tally_type type = TALLY_BOOL; type <= TALLY_U64; type++) {
        int64_t leaf = tally_leaf_length(type);
        int64_t sizes[] = {0,
                           1,
                           2,
                           3,
                           7,
                           8,
                           9,
                           17,
                           64,
                           65,
                           leaf / 8 - 1,
                           leaf / 8 + 1,
                           leaf - 1,
                           leaf,
                           leaf + 1,
                           3 * leaf + 5,
                           40 * leaf + 9,
                           300007};
        for (int class = 0; class < CLASSES; class ++)
            for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++, trial++) {
                int64_t n = sizes[k];
                char *x = (char *)scratch(0, (size_t)n * 8 + 16) + trial % 3,
                     *y = (char *)scratch(1, (size_t)n * 8 + 16) + trial % 2;
                if (quick && trial % 5 != 0) continue;
                if (n > 100000 && ((int)type * 3 + class) % 8 != 0) continue;
                now = (scene){0};
                fill(type, class, x, y, n, &random);
                find_truth(&t, type, x, y, 0, 1, n);
                for (int o = 0; o < OPS; o++)
                    for (int out = 0; out < OUTS; out++)
                        if (n < 100 || (out + trial) % 4 == 0)
                            check_array(&t, ops[o], tally_in(x, type, n), tally_in(y, type, n), outs[out],
                                        trial + o + out);
                check_stats(&t, tally_in(x, type, n), x, trial);
            }
    }
    end_truth(&t);
}

/* ---- segments ---- */

/* Segment s is values at[s], at[s] + step, ... lengths[s] of them. */
static void check_segments(tally_array x, tally_array y, const char *xs, const char *ys, const tally_segments *segments,
                           int64_t count, const int64_t *at, const int64_t *lengths, int64_t step, int trial) {
    static truth truths[MOST_SEGMENTS];
    static bool ready;
    for (int s = 0; s < MOST_SEGMENTS && !ready; s++) begin_truth(&truths[s]);
    ready = true;
    for (int64_t s = 0; s < count; s++) find_truth(&truths[s], x.type, xs, ys, at[s], step, lengths[s]);
    for (int o = 0; o < OPS; o++) {
        tally_op op = ops[o];
        tally_type out = outs[(trial + o) % OUTS];
        if (trial % 2 || (!is_plain(op) && !is_float(out))) out = TALLY_NATURAL;
        size_t bytes = tally_type_size(out == TALLY_NATURAL ? natural(op, x.type) : out);
        char *wanted = scratch(5, (size_t)count * bytes + 1);
        int ddof = (trial + o) % (MOST_DDOF + 1);
        bool wraps = (trial + o) % 4 == 3;
        tally_status status = TALLY_OK;
        for (int64_t s = 0; s < count; s++)
            status = worse(status, expected(&truths[s], op, x.type, out, wraps, ddof, wanted + (size_t)s * bytes));
        now.ddof = ddof;
        expect_result(context_of(TALLY_BACKEND_CPU, wraps, ddof, 1 + trial % 2), op, x, y, segments, out, count, wanted,
                      status);
        if (trial % 3 == 0)
            expect_result(context_of(TALLY_BACKEND_REFERENCE, wraps, ddof, 1), op, x, y, segments, out, count, wanted,
                          status);
    }
}

static void test_segments(void **state) {
    enum { COUNT = 300 };
    uint64_t random = seed + 1;
    int trial = 0;
    (void)state;
    for (tally_type type = TALLY_BOOL; type <= TALLY_U64; type++)
        for (int class = 0; class < CLASSES; class ++)
            for (int kind = 0; kind < 6; kind++, trial++) {
                int64_t offsets[COUNT + 1], lengths[COUNT], n = 0;
                const layout *l = &layouts[trial % LAYOUTS];
                if (quick && trial % 5 != 0) continue;
                for (int64_t s = 0; s < COUNT; s++) {
                    static const int most[] = {4, 9, 40, 0, 0, 200};
                    lengths[s] = most[kind] ? random_below(&random, most[kind]) : kind == 3 ? 3 : 8;
                    if (kind == 5 && s % 100 == 50) lengths[s] = tally_leaf_length(type) + random_below(&random, 700);
                    offsets[s] = n;
                    n += lengths[s];
                }
                offsets[COUNT] = n;
                char *x = scratch(0, (size_t)n * 8 + 8), *y = scratch(1, (size_t)n * 8 + 8);
                now = (scene){.segments = "offsets", .layout = l->name};
                fill(type, class, x, y, n, &random);
                tally_array left = lay_out(l, x, type, n, scratch(2, layout_bytes(l, 8, n)));
                tally_array right = lay_out(l, y, type, n, scratch(3, layout_bytes(l, 8, n)));
                tally_segments segments = tally_offsets(offsets, TALLY_I64, COUNT);
                check_segments(left, right, x, y, &segments, COUNT, offsets, lengths, 1, trial);
            }
}

static void test_rows(void **state) {
    uint64_t random = seed + 2;
    int trial = 0;
    (void)state;
    for (tally_type type = TALLY_BOOL; type <= TALLY_U64; type++) {
        int64_t leaf = tally_leaf_length(type);
        int64_t shapes[][3] = {{100, 4, 1},          {40, 8, 5},        {3, 8, 70}, {1, leaf / 4, 20},
                               {2, 2 * leaf + 3, 3}, {1, leaf + 1, 17}, {5, 1, 33}, {3, 0, 4}};
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
            for (int class = 0; class < CLASSES; class ++, trial++) {
                int64_t outer = shapes[k][0], length = shapes[k][1], inner = shapes[k][2], n = outer * length * inner;
                int64_t at[MOST_SEGMENTS], lengths[MOST_SEGMENTS];
                const layout *l = &layouts[trial % 3 ? 0 : trial % LAYOUTS];
                if (trial % (quick ? 10 : 2) != 0) continue;
                char *x = scratch(0, (size_t)n * 8 + 8), *y = scratch(1, (size_t)n * 8 + 8);
                for (int64_t r = 0; r < outer * inner; r++)
                    at[r] = r / inner * length * inner + r % inner, lengths[r] = length;
                now = (scene){.segments = "rows", .layout = l->name, .outer = outer, .length = length, .inner = inner};
                fill(type, class, x, y, n, &random);
                tally_array left = lay_out(l, x, type, n, scratch(2, layout_bytes(l, 8, n)));
                tally_array right = lay_out(l, y, type, n, scratch(3, layout_bytes(l, 8, n)));
                tally_segments segments = tally_rows(outer, length, inner);
                check_segments(left, right, x, y, &segments, outer * inner, at, lengths, inner, trial);
            }
    }
}

/* ---- limits ---- */

static void check_limit(tally_type type, const void *x, const void *y, int64_t n, tally_op op, tally_status wanted) {
    truth t;
    char result[8];
    begin_truth(&t);
    now = (scene){.op = op, .type = type, .size = n, .data = "at a limit"};
    find_truth(&t, type, x, y, 0, 1, n);
    EXPECT(expected(&t, op, type, TALLY_NATURAL, false, 0, result) == wanted, "the case is not what it should be");
    for (int out = 0; out < OUTS; out++)
        for (int trial = 0; trial < 12; trial++)
            check_array(&t, op, tally_in(x, type, n), tally_in(y, type, n), outs[out], trial);
    end_truth(&t);
}

/* Sums that just fit, and those that just do not. */
static void test_limits(void **state) {
    (void)state;
    for (int over = 0; over <= 1; over++) {
        tally_status wanted = over ? TALLY_OVERFLOW : TALLY_OK;
        int64_t high[] = {INT64_MAX - 7, 5, -3, 5 + over}, low[] = {INT64_MIN, 4, -4 - over}, ones[] = {1, 1, 1, 1};
        uint64_t most[] = {UINT64_MAX - 9, 4, 5 + (uint64_t)over};
        int64_t one_of_each[] = {INT64_MIN, INT64_MAX, over}; /* magnitudes: 2^64 - 1, and 1 more */
        check_limit(TALLY_I64, high, ones, 4, TALLY_SUM, wanted);
        check_limit(TALLY_I64, high, ones, 4, TALLY_DOT, wanted);
        check_limit(TALLY_I64, low, ones, 3, TALLY_SUM, wanted);
        check_limit(TALLY_I64, low, ones, 3, TALLY_DOT, wanted);
        check_limit(TALLY_U64, most, ones, 3, TALLY_SUM, wanted);
        check_limit(TALLY_U64, most, ones, 3, TALLY_NORM1, wanted);
        check_limit(TALLY_U64, most, ones, 3, TALLY_DOT, wanted);
        check_limit(TALLY_I64, one_of_each, ones, 3, TALLY_NORM1, wanted);
        uint64_t left = UINT64_MAX;
        int32_t squares[16] = {0};
        for (int k = 0; k < 16; k++) { /* the largest root that is left, until nothing is */
            uint64_t root = (uint64_t)sqrtl((long double)left);
            if (root > INT32_MAX) root = (uint64_t)INT32_MAX;
            squares[k] = (int32_t)root;
            left -= root * root;
        }
        EXPECT(left == 0, "sixteen squares do not add up to 2^64 - 1");
        if (over) squares[15] = 1;
        check_limit(TALLY_I32, squares, squares, 16, TALLY_SUMSQ, wanted);
    }
    int64_t least = INT64_MIN, minus = -1, one = 1;
    check_limit(TALLY_I64, &least, &minus, 1, TALLY_DOT, TALLY_OVERFLOW); /* 2^63 */
    check_limit(TALLY_I64, &least, &one, 1, TALLY_DOT, TALLY_OK);
    check_limit(TALLY_I64, &least, &one, 1, TALLY_NORM1, TALLY_OK);
    check_limit(TALLY_I64, &least, &one, 1, TALLY_SUMSQ, TALLY_OVERFLOW);
    /* What leaves the range on the way comes back: only the sum counts. */
    int64_t there[] = {INT64_MAX, INT64_MAX, INT64_MIN, INT64_MIN, 5};
    check_limit(TALLY_I64, there, there, 5, TALLY_SUM, TALLY_OK);
}

/* The sentence says what to do, and an unknown choice is refused. */
static void test_option(void **state) {
    int64_t x[2] = {INT64_MAX, 1}, got = 0;
    double wide = 0;
    tally_context *context;
    tally_options options = TALLY_OPTIONS_INIT;
    (void)state;
    now = (scene){.op = TALLY_SUM, .type = TALLY_I64, .size = 2};
    EXPECT_STATUS(tally_reduce(NULL, TALLY_SUM, tally_in(x, TALLY_I64, 2), tally_out(&got, TALLY_NATURAL, 1)),
                  TALLY_OVERFLOW);
    EXPECT(got == INT64_MAX, "not the nearest value");
    EXPECT(strstr(tally_message(), "64 bits") != NULL, "the message is %s", tally_message());
    EXPECT_OK(tally_reduce(NULL, TALLY_SUM, tally_in(x, TALLY_I64, 2), tally_out(&wide, TALLY_F64, 1)));
    EXPECT(wide == 0x1p63, "not the sum");
    EXPECT_OK(tally_context_create(NULL, &context));
    for (options.overflow = (tally_overflow)-1; (int)options.overflow <= 2; options.overflow++)
        EXPECT_STATUS(tally_set_options(context, &options),
                      options.overflow == TALLY_OVERFLOW_REFUSED || options.overflow == TALLY_OVERFLOW_WRAPS
                          ? TALLY_OK
                          : TALLY_BAD_ARGUMENT);
    EXPECT(tally_get_options(context).overflow == TALLY_OVERFLOW_WRAPS, "a refused option was kept");
    EXPECT_OK(tally_reduce(context, TALLY_SUM, tally_in(x, TALLY_I64, 2), tally_out(&got, TALLY_NATURAL, 1)));
    EXPECT(got == INT64_MIN, "not wrapped");
    tally_context_destroy(context);
}

/* ---- states ---- */

static void push(tally_state *s, tally_op op, tally_array x, tally_array y) {
    EXPECT_OK(op == TALLY_DOT ? tally_state_push_pair(s, x, y) : tally_state_push(s, x));
}

/* Any split, merged from either side: the same bytes, and the result of the whole. */
static void check_states(tally_op op, tally_type type, const char *x, const char *y, int64_t n, bool wraps,
                         uint64_t *random) {
    static unsigned char whole[1024], parts[1024];
    size_t bytes = tally_type_size(type), size, other;
    tally_context *context = context_of(TALLY_BACKEND_CPU, wraps, 0, 2);
    tally_state *one, *sum;
    char wanted[64] = {0}, got[64] = {0};
    tally_output out = tally_out(got, TALLY_NATURAL, 1), due = tally_out(wanted, TALLY_NATURAL, 1);
    now.op = op;
    EXPECT_OK(tally_state_open(context, op, type, 0, &one));
    EXPECT_OK(tally_state_open(context, op, type, 0, &sum));
    push(one, op, tally_in(x, type, n), tally_in(y, type, n));
    for (int64_t at = 0; at < n;) {
        int64_t count = 1 + random_below(random, n - at);
        tally_state *piece;
        EXPECT_OK(tally_state_open(context, op, type, 0, &piece));
        push(piece, op, tally_in(x + (size_t)at * bytes, type, count), tally_in(y + (size_t)at * bytes, type, count));
        if (next_random(random) % 2)
            EXPECT_OK(tally_state_merge(sum, piece));
        else {
            tally_state *swap = sum;
            EXPECT_OK(tally_state_merge(piece, sum));
            sum = piece, piece = swap;
        }
        tally_state_close(piece);
        at += count;
    }
    EXPECT_OK(tally_state_save(one, whole, sizeof whole, &size));
    EXPECT_OK(tally_state_save(sum, parts, sizeof parts, &other));
    EXPECT(size == other && memcmp(whole, parts, size) == 0, "states of %s differ by their split", now.data);
    tally_state_close(sum);
    EXPECT_OK(tally_state_load(context, whole, size, &sum));
    tally_status status = perform(context, op, tally_in(x, type, n), tally_in(y, type, n), NULL, due);
    EXPECT_STATUS(tally_state_finish(one, out), status);
    EXPECT_BITS(got, wanted, op == TALLY_STATS ? sizeof(tally_stats) : 8, "the result of a state");
    EXPECT_STATUS(tally_state_finish(sum, out), status); /* the option is that of the context it was loaded in */
    EXPECT_BITS(got, wanted, op == TALLY_STATS ? sizeof(tally_stats) : 8, "the result of a loaded state");
    tally_state_close(one);
    tally_state_close(sum);
    cases++;
}

static void test_states(void **state) {
    uint64_t random = seed + 3;
    (void)state;
    for (tally_type type = TALLY_BOOL; type <= TALLY_U64; type++)
        for (int class = 0; class < CLASSES; class ++)
            for (int o = 0; o <= OPS; o++) {
                int64_t n = 1 + random_below(&random, 5 * tally_leaf_length(type));
                char *x = scratch(0, (size_t)n * 8 + 8), *y = scratch(1, (size_t)n * 8 + 8);
                if (quick && (o + class) % 5 != 0) continue;
                now = (scene){.segments = "states"};
                fill(type, class, x, y, n, &random);
                check_states(o < OPS ? ops[o] : TALLY_STATS, type, x, y, n, (o + class) % 3 == 0, &random);
            }
    print_message("%lld cases\n", (long long)cases);
}

int main(int argc, char **argv) {
    int skipped = begin_program(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrays), cmocka_unit_test(test_segments), cmocka_unit_test(test_rows),
        cmocka_unit_test(test_limits), cmocka_unit_test(test_option),   cmocka_unit_test(test_states),
    };
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
