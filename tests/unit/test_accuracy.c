/* Results that are rounded, against long double: sums within the bound of their tree, moments by two passes, logsumexp
 * by expl. And the rules around them: NaN, infinities, signed zeros, ddof. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "support.h"

enum { MOST = 30011 };

static long double unit_of(tally_type type) { return is_float(type) && type != TALLY_F64 ? 0x1p-24L : 0x1p-53L; }

static double real_result(const subject *s, tally_array x, tally_array y, tally_status wanted) {
    char got[64];
    tally_type type;
    tally_output out = tally_out(got, TALLY_NATURAL, 1);
    EXPECT_OK(tally_result_type(NULL, s->op, s->type, &type, NULL));
    EXPECT_STATUS(perform(context_for(s, TALLY_BACKEND_CPU, 2), s->op, x, y, NULL, out), wanted);
    return (double)number_at(type, got, 0);
}

static double real_of(tally_op op, tally_type type, tally_nan nan, const void *x, int64_t n, tally_status wanted) {
    subject s = {op, type, nan, 0, TALLY_FAST};
    now = (scene){.op = op, .type = type, .nan = nan, .size = n};
    return real_result(&s, tally_in(x, type, n), tally_in(x, type, n), wanted);
}

static void expect_near(const char *what, long double got, long double wanted, long double tolerance) {
    EXPECT(fabsl(got - wanted) <= tolerance, "%s: %.17Lg is further from %.17Lg than %Lg", what, got, wanted,
           tolerance);
}

/* ---- what long double says ---- */

typedef struct truth {
    long double sum, magnitudes, squares, dot, dot_magnitudes, product, mean, variance, log;
} truth;

static truth find_truth(tally_type type, const void *x, const void *y, int64_t n, int ddof) {
    truth t = {.product = 1};
    long double most = -HUGE_VALL, exponentials = 0, deviations = 0;
    for (int64_t i = 0; i < n; i++) {
        long double v = number_at(type, x, i), w = number_at(type, y, i);
        t.sum += v;
        t.magnitudes += fabsl(v);
        t.squares += v * v;
        t.dot += v * w;
        t.dot_magnitudes += fabsl(v * w);
        t.product *= v;
        most = v > most ? v : most;
    }
    t.mean = t.sum / (long double)n;
    for (int64_t i = 0; i < n; i++) {
        long double v = number_at(type, x, i);
        deviations += (v - t.mean) * (v - t.mean);
        exponentials += expl(v - most);
    }
    t.variance = deviations / (long double)(n - ddof);
    t.log = most + logl(exponentials);
    return t;
}

/* The additions that a value passes through: rows of a column, halves of columns, pairs of leaves. */
static long double depth_of(int64_t n) { return 8 + 9 + log2l((long double)n + 1) + 3; }

/* Leaves are joined by the difference of their f64 means: of the order of the deviation, each mean off by its own
 * rounding. */
static long double variance_tolerance(const truth *t, tally_type type, int64_t n) {
    return 2 * depth_of(n) * unit_of(type) * t->variance + 8 * 0x1p-53L * fabsl(t->mean) * sqrtl(t->variance);
}

static bool expectation(const subject *s, const truth *t, int64_t n, long double *wanted, long double *tolerance) {
    long double unit = unit_of(s->type), depth = depth_of(n);
    switch (s->op) {
    case TALLY_SUM: *wanted = t->sum, *tolerance = depth * unit * t->magnitudes; return true;
    case TALLY_NORM1: *wanted = t->magnitudes, *tolerance = depth * unit * t->magnitudes; return true;
    case TALLY_SUMSQ: *wanted = t->squares, *tolerance = depth * unit * t->squares; return true;
    case TALLY_DOT: *wanted = t->dot, *tolerance = depth * unit * t->dot_magnitudes; return true;
    case TALLY_MEAN: *wanted = t->mean, *tolerance = depth * unit * t->magnitudes / (long double)n; return true;
    case TALLY_VAR: *wanted = t->variance, *tolerance = variance_tolerance(t, s->type, n); return true;
    case TALLY_STD:
        *wanted = sqrtl(t->variance);
        *tolerance = t->variance > 0 ? variance_tolerance(t, s->type, n) / *wanted + unit * *wanted : 0;
        return true;
    case TALLY_NORM2: *wanted = sqrtl(t->squares), *tolerance = depth * unit * *wanted; return true;
    case TALLY_LOGSUMEXP: *wanted = t->log, *tolerance = depth * unit * (1 + fabsl(t->log)); return true;
    default: return false;
    }
}

/* ---- data ---- */

enum {
    NARROW,
    SHIFTED,
    SPREAD,
    KINDS
}; /* near 1; with a mean far above the deviations; of both signs and many magnitudes */

static void fill(tally_type type, int kind, void *values, int64_t n) {
    uint64_t random = seed + (uint64_t)kind;
    for (int64_t i = 0; i < n; i++) {
        double r = (double)(next_random(&random) >> 11) * 0x1p-53, v;
        if (kind == NARROW)
            v = is_float(type) ? 0.5 + r : floor(8 * r);
        else if (kind == SHIFTED)
            v = is_float(type) ? 500 + r : floor(100 + 10 * r);
        else
            v = (is_signed(type) ? 2 * r - 1 : r) * (is_float(type) ? ldexp(1, (int)(i % 13) - 6) : 120);
        put_number(type, values, i, is_float(type) ? v : floor(v));
    }
}

/* Mean and variance of stats are f64 whatever the input; min, max and sum must be those of the operators. */
static void check_stats(tally_type type, const void *x, const truth *t, int64_t n) {
    tally_stats got;
    long double unit = unit_of(type);
    double parts[3] = {0};
    const tally_op ops[3] = {TALLY_MIN, TALLY_MAX, TALLY_SUM};
    subject s = {TALLY_STATS, type, TALLY_NAN_PROPAGATE, 0, TALLY_FAST};
    tally_output out = tally_out(&got, TALLY_NATURAL, 1);
    now = (scene){.op = TALLY_STATS, .type = type, .size = n};
    EXPECT_OK(tally_reduce(context_for(&s, TALLY_BACKEND_CPU, 2), TALLY_STATS, tally_in(x, type, n), out));
    EXPECT(got.count == n, "the count is %lld", (long long)got.count);
    expect_near("mean", (long double)got.mean, t->mean, depth_of(n) * unit * t->magnitudes / (long double)n);
    expect_near("var", (long double)got.var, t->variance, variance_tolerance(t, type, n));
    for (int i = 0; i < 3; i++) parts[i] = real_of(ops[i], type, TALLY_NAN_PROPAGATE, x, n, TALLY_OK);
    const tally_word words[3] = {got.min, got.max, got.sum};
    for (int i = 0; i < 3; i++) {
        double word = is_float(type)                          ? words[i].f
                      : is_signed(type) || type == TALLY_BOOL ? (double)words[i].i
                                                              : (double)words[i].u;
        EXPECT(memcmp(&word, &parts[i], sizeof word) == 0, "%s of stats is %.17g where the operator gives %.17g",
               tally_op_name(ops[i]), word, parts[i]);
    }
}

static void check_type(tally_type type, int kind, int64_t n) {
    char *x = scratch(0, MOST * 8), *y = scratch(1, MOST * 8);
    fill(type, kind, x, n);
    fill(type, SPREAD, y, n);
    for (tally_op op = 0; op < TALLY_OP_END; op++) {
        subject s = {op, type, TALLY_NAN_PROPAGATE, 0, TALLY_FAST};
        truth t = find_truth(type, x, y, n, 0);
        long double wanted, tolerance;
        if (!expectation(&s, &t, n, &wanted, &tolerance)) continue;
        if (tally_result_type(NULL, op, type, NULL, NULL) != TALLY_OK) continue;
        now = (scene){.op = op,
                      .type = type,
                      .size = n,
                      .data = kind == NARROW    ? "narrow"
                              : kind == SHIFTED ? "shifted"
                                                : "spread"};
        expect_near("the result", (long double)real_result(&s, tally_in(x, type, n), tally_in(y, type, n), TALLY_OK),
                    wanted, tolerance);
        if (op == TALLY_VAR) check_stats(type, x, &t, n);
    }
}

static void test_accuracy(void **state) {
    static const int64_t sizes[] = {1, 2, 3, 7, 50, 100, 513, 1000, 4097, MOST};
    (void)state;
    for (int type = TALLY_BOOL; type <= TALLY_F64;
         type++) /* integers too, though test_integers.c is stricter with them */
        for (int kind = 0; kind < KINDS; kind++)
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes - (quick ? 2 : 0);
                 i++) /* long doubles, emulated: minutes */
                check_type((tally_type)type, kind, sizes[i]);
}

/* Products of factors near 1 lose at most a unit for each factor. */
static void test_products(void **state) {
    (void)state;
    for (int type = TALLY_F16; type <= TALLY_F64; type++) {
        enum { N = 200 };
        char *x = scratch(0, N * 8);
        fill((tally_type)type, NARROW, x, N);
        truth t = find_truth((tally_type)type, x, x, N, 0);
        now = (scene){.op = TALLY_PROD, .type = (tally_type)type, .size = N};
        expect_near("the product", (long double)real_of(TALLY_PROD, (tally_type)type, 0, x, N, TALLY_OK), t.product,
                    N * unit_of((tally_type)type) * fabsl(t.product));
    }
}

/* ---- rules ---- */

static void test_ddof(void **state) {
    double x[3] = {1, 2, 6}, got;
    tally_context *context;
    tally_options options = TALLY_OPTIONS_INIT;
    const double wanted[5] = {14.0 / 3, 14.0 / 2, 14.0, (double)NAN, (double)NAN};
    (void)state;
    EXPECT_OK(tally_context_create(NULL, &context));
    for (options.ddof = 0; options.ddof < 5; options.ddof++) {
        EXPECT_OK(tally_set_options(context, &options));
        EXPECT_OK(tally_reduce(context, TALLY_VAR, tally_in(x, TALLY_F64, 3), tally_out(&got, TALLY_F64, 1)));
        now = (scene){.op = TALLY_VAR, .type = TALLY_F64, .ddof = options.ddof};
        EXPECT(isnan(wanted[options.ddof]) ? isnan(got) : fabs(got - wanted[options.ddof]) < 1e-14,
               "the variance is %g", got);
    }
    tally_context_destroy(context);
}

/* Sums and what is made of them follow IEEE 754 addition. */
static void check_special(tally_op op, tally_type type, double a, double b, double wanted) {
    enum { N = 1500 };
    char *x = scratch(0, N * 8);
    int64_t places[][2] = {{0, 1}, {3, 700}, {1498, 1499}, {0, 1499}, {64, 65}};
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        double got;
        for (int64_t i = 0; i < N; i++) put_number(type, x, i, 1);
        put_number(type, x, places[k][0], a);
        put_number(type, x, places[k][1], b);
        got = real_of(op, type, 0, x, N, TALLY_OK);
        EXPECT(isnan(wanted) ? isnan(got) : got == wanted, "%g and %g among ones give %g, not %g", a, b, got, wanted);
    }
}

static void test_specials(void **state) {
    const double inf = (double)INFINITY, nan = (double)NAN;
    (void)state;
    for (int t = TALLY_F16; t <= TALLY_F64; t++) {
        tally_type type = (tally_type)t;
        check_special(TALLY_SUM, type, inf, 1, inf);
        check_special(TALLY_SUM, type, inf, -inf, nan);
        check_special(TALLY_SUM, type, nan, 1, nan);
        check_special(TALLY_PROD, type, inf, -1, -inf);
        check_special(TALLY_PROD, type, inf, 0, nan);
        check_special(TALLY_MEAN, type, -inf, 1, -inf);
        check_special(TALLY_MEAN, type, inf, -inf, nan);
        check_special(TALLY_VAR, type, inf, 1, nan);
        check_special(TALLY_STD, type, nan, 1, nan);
        check_special(TALLY_NORM1, type, -inf, inf, inf);
        check_special(TALLY_NORM2, type, -inf, inf, inf);
        check_special(TALLY_NORM2, type, nan, inf, nan);
        check_special(TALLY_NORMINF, type, -inf, 1, inf);
        check_special(TALLY_NORMINF, type, nan, inf, nan);
        check_special(TALLY_NORMINF, type, -3, 2, 3);
        check_special(TALLY_SUMSQ, type, -inf, 1, inf);
        check_special(TALLY_DOT, type, nan, 1, nan);
        check_special(TALLY_LOGSUMEXP, type, inf, 1, inf);
        check_special(TALLY_LOGSUMEXP, type, inf, -inf, inf);
        check_special(TALLY_LOGSUMEXP, type, nan, inf, nan);
    }
}

/* Sums of minus zeros are -0, and -0 is lost to +0; nothing is +0. */
static void test_zeros(void **state) {
    static const tally_op ops[] = {TALLY_SUM, TALLY_MEAN};
    (void)state;
    for (int t = TALLY_F16; t <= TALLY_F64; t++)
        for (size_t o = 0; o < 2; o++)
            for (int64_t n = 1; n <= 5000; n = n * 2 + n % 3) {
                const void *zeros = data_of((tally_type)t, MINUS_ZEROS, n);
                char *mixed = scratch(0, 5000 * 8);
                double got = real_of(ops[o], (tally_type)t, TALLY_NAN_PROPAGATE, zeros, n, TALLY_OK);
                EXPECT(got == 0 && signbit(got), "minus zeros do not give -0");
                memcpy(mixed, zeros, (size_t)n * tally_type_size((tally_type)t));
                put_number((tally_type)t, mixed, n / 2, 0.0);
                got = real_of(ops[o], (tally_type)t, TALLY_NAN_PROPAGATE, mixed, n, TALLY_OK);
                EXPECT(got == 0 && !signbit(got), "a +0 among minus zeros does not give +0");
            }
    EXPECT(!signbit(real_of(TALLY_SUM, TALLY_F64, 0, NULL, 0, TALLY_OK)), "nothing does not give +0");
}

/* Skipped NaNs are as if absent: with numbers whose sums are exact, the result is that of the numbers alone. */
static void test_skipping(void **state) {
    static const tally_op ops[] = {TALLY_SUM, TALLY_MEAN,    TALLY_NORM1, TALLY_SUMSQ,
                                   TALLY_DOT, TALLY_NORMINF, TALLY_PROD};
    enum { N = 2500 };
    (void)state;
    for (int t = TALLY_F16; t <= TALLY_F64; t++)
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
            tally_type type = (tally_type)t;
            char *with = scratch(0, 2 * N * 8), *without = scratch(1, 2 * N * 8);
            int64_t n = 0, m = 0;
            for (int64_t i = 0; i < N; i++) {
                double v = ops[o] == TALLY_PROD ? (i % 100 ? 1 : -2) : (double)(i % 9) - 4;
                put_number(type, without, n++, v);
                put_number(type, with, m++, v);
                if (i % 5 == 0 || i % 700 < 100) put_number(type, with, m++, (double)NAN);
            }
            double got = real_of(ops[o], type, TALLY_NAN_SKIP, with, m, TALLY_OK);
            double wanted = real_of(ops[o], type, TALLY_NAN_SKIP, without, n, TALLY_OK);
            EXPECT(got == wanted, "with NaNs %.17g, without %.17g", got, wanted);
        }
}

/* A pair of dot is absent when either of its values is. */
static void test_skipped_pairs(void **state) {
    float x[4] = {1, NAN, 3, 4}, y[4] = {5, 6, NAN, 7}, got;
    subject s = {TALLY_DOT, TALLY_F32, TALLY_NAN_SKIP, 0, TALLY_FAST};
    tally_output out = tally_out(&got, TALLY_F32, 1);
    (void)state;
    EXPECT_OK(tally_reduce_pair(context_for(&s, TALLY_BACKEND_CPU, 1), TALLY_DOT, tally_in(x, TALLY_F32, 4),
                                tally_in(y, TALLY_F32, 4), out));
    assert_true(got == 33);
}

/* Differences of thousands neither overflow nor vanish wrongly. */
static void test_log_of_extremes(void **state) {
    double x[3] = {1000, 1000, -1e308}, low[2] = {-1e6, -1e6}, none[2] = {-INFINITY, -INFINITY};
    float wide[2] = {3e38f, -3e38f};
    (void)state;
    expect_near("two thousands", (long double)real_of(TALLY_LOGSUMEXP, TALLY_F64, 0, x, 3, TALLY_OK), 1000 + logl(2),
                1e-12L);
    expect_near("two millions below", (long double)real_of(TALLY_LOGSUMEXP, TALLY_F64, 0, low, 2, TALLY_OK),
                -1e6L + logl(2), 1e-9L);
    assert_true(real_of(TALLY_LOGSUMEXP, TALLY_F64, 0, none, 2, TALLY_OK) == -(double)INFINITY);
    assert_true(real_of(TALLY_LOGSUMEXP, TALLY_F32, 0, wide, 2, TALLY_OK) == (double)3e38f);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accuracy),      cmocka_unit_test(test_products),        cmocka_unit_test(test_ddof),
        cmocka_unit_test(test_specials),      cmocka_unit_test(test_zeros),           cmocka_unit_test(test_skipping),
        cmocka_unit_test(test_skipped_pairs), cmocka_unit_test(test_log_of_extremes),
    };
    int skipped = begin_program(argc, argv);
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
