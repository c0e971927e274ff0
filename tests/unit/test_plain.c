/* Sums that one f64 holds, of f64 two, and those that these nearly hold: segments of every length beside one another,
 * in which a value here and there takes more digits than there are, is infinite or NaN, or cancels what was. All bits
 * are those of the reference; and the caller's flag that something was rounded, which these sums look at, does not get
 * lost. */
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "support.h"

static const tally_op ops[] = {TALLY_SUM, TALLY_MEAN, TALLY_NORM1, TALLY_SUMSQ, TALLY_NORM2,
                               TALLY_DOT, TALLY_VAR,  TALLY_STD,   TALLY_STATS};
enum { OPS = sizeof ops / sizeof *ops };

/* ---- data ---- */

enum {
    EVEN,
    TOO_LONG,
    INFINITE,
    NOTS,
    CANCELLING,
    ZEROS,
    JUST_FITS,
    SUBNORMAL,
    LARGE,
    UNDERFLOWING,
    CLOSE,
    TINY,
    KINDS
};
static const char *const kind_names[KINDS] = {"even",       "too long",     "infinite",  "NaN",
                                              "cancelling", "zeros",        "just fits", "subnormal",
                                              "large",      "underflowing", "close",     "tiny"};

/* A subnormal, or nearly one, of any number of digits, so that means, roots and variances are ties or next to them; now
 * and then far larger. */
static double draw_tiny(tally_type type, int64_t rarity, uint64_t *random) {
    static const int least[] = {[TALLY_F16] = -24, [TALLY_BF16] = -133, [TALLY_F32] = -149, [TALLY_F64] = -1074};
    static const int digits[] = {[TALLY_F16] = 11, [TALLY_BF16] = 8, [TALLY_F32] = 24, [TALLY_F64] = 53};
    const double sign = random_below(random, 2) ? -1 : 1,
                 size = (double)(next_random(random) >> (63 - random_below(random, digits[type])));
    const int more = random_below(random, 8 * rarity) || type != TALLY_F64 ? 0 : (int)random_below(random, 260);
    return ldexp(sign * size, least[type] + more);
}
/* Multiples of 2^-30 below 1, of f64 of 2^-55; some of them are of another kind. One in `rarity` is. */
static double draw(tally_type type, int kind, int64_t rarity, double before, uint64_t *random) {
    double even = (double)((int64_t)(next_random(random) >> 33) - (1 << 30)) * 0x1p-30;
    if (type == TALLY_F64) even += (double)(next_random(random) >> 39) * 0x1p-55;
    if (kind == TINY) return draw_tiny(type, rarity, random);
    if (random_below(random, rarity) > 0) return kind == ZEROS ? -0.0 : even;
    switch (kind) {
    case TOO_LONG: return random_below(random, 2) ? ldexp(even, -30) : ldexp(even, 40);
    case INFINITE: return random_below(random, 2) ? INFINITY : -INFINITY;
    case NOTS: return NAN;
    case CANCELLING: return -before;
    case ZEROS: return random_below(random, 2) ? 0.0 : before == 0 ? even : -before;
    case JUST_FITS: /* 53 bits, or with the sum of a few more; of f64 in the upper digits, or in the lower ones */
        if (type == TALLY_F64 && random_below(random, 2))
            return random_below(random, 2) ? 0x1.0000008p-21 : 0x1.0000000000001p-28;
        return random_below(random, 2) ? 0x1p-45 : 0x1p7;
    case SUBNORMAL: return ldexp(even, -1060) * (double)random_below(random, 2); /* of f64 */
    case LARGE: return ldexp(even, 1024); /* of f64: sums may overflow though the total does not */
    case UNDERFLOWING:
        return ldexp(even, -(type == TALLY_F64 ? 520 : 60) -
                               (int)random_below(random, 30)); /* products lose digits, or all */
    case CLOSE:
        return 1 + (double)random_below(random, 4) *
                       (type == TALLY_F64 ? 0x1p-52 : 0x1p-23); /* variances of which most digits cancel */
    default: return even;
    }
}
static void draw_values(tally_type type, void *x, int64_t n, int kind, uint64_t *random) {
    int64_t rarity = kind == SUBNORMAL || kind == LARGE || kind == CLOSE ? 1
                     : kind == UNDERFLOWING && random_below(random, 2)   ? 1
                                                                         : (int64_t)1 << random_below(random, 13);
    double before = 0;
    for (int64_t i = 0; i < n; i++) {
        before = draw(type, kind, kind == ZEROS ? 20 : rarity, before, random);
        if (type == TALLY_F16 && fabs(before) > 60000) before = 60000;
        put_number(type, x, i, before);
    }
    for (int64_t i = kind == TINY && type == TALLY_F64 && random_below(random, 2) ? n / 3 : n; i < n - n / 3; i++)
        ((double *)x)[i] = ldexp(((double *)x)[i], 1074); /* others that are not, together */
    if (kind == ZEROS && random_below(random, 4) == 0)
        for (int64_t i = 0; i < n; i++) put_number(type, x, i, -0.0);
}

/* Lengths: all the same, short ones, 10 to 50, few of each, and some that fill what is kept of rows, now and then many
 * times. */
static int64_t draw_length(int segments, int64_t equal, uint64_t *random) {
    switch (segments) {
    case 0: return equal;
    case 1: return random_below(random, 6);
    case 2: return 10 + random_below(random, 41);
    case 3: return random_below(random, 5) ? 0 : random_below(random, 40);
    case 4: return equal - 1 + 2 * random_below(random, 2); /* the same on average */
    default:
        return random_below(random, 10) ? random_below(random, 300)
                                        : random_below(random, random_below(random, 50) ? 3000 : 100000);
    }
}
enum { SEGMENTATIONS = 6, COUNT = 700 };

/* ---- against the reference ---- */

static void check(const subject *s, tally_array in, tally_array other, const tally_segments *segments, int64_t count) {
    for (int k = 0; k < OPS; k++)
        for (int wide = 0; wide < (ops[k] == TALLY_STATS ? 1 : 2); wide++) {
            const size_t bytes = ops[k] == TALLY_STATS ? sizeof(tally_stats) : wide ? 8 : 4;
            const tally_type type = ops[k] == TALLY_STATS ? TALLY_NATURAL : wide ? TALLY_F64 : TALLY_F32;
            char *got = scratch(2, (size_t)count * bytes), *wanted = scratch(3, (size_t)count * bytes);
            now.op = ops[k];
            tally_status a = perform(context_for(s, TALLY_BACKEND_CPU, 1), ops[k], in, other, segments,
                                     (tally_output){got, type, count, 0});
            tally_status b = perform(context_for(s, TALLY_BACKEND_REFERENCE, 1), ops[k], in, other, segments,
                                     (tally_output){wanted, type, count, 0});
            EXPECT(a == b, "status %s, of the reference %s", tally_status_name(a), tally_status_name(b));
            for (now.segment = 0; now.segment < count; now.segment++)
                EXPECT_BITS(got + (size_t)now.segment * bytes, wanted + (size_t)now.segment * bytes, bytes,
                            segments ? "a segment" : "the whole");
        }
    now.segment = 0;
}
static void test_segments(void **unused) {
    uint64_t random = seed;
    (void)unused;
    for (int round = 0; round < (quick ? 1 : 2); round++)
        for (tally_type type = TALLY_F16; type <= TALLY_F64; type++)
            for (int kind = 0; kind < KINDS; kind++)
                for (int lengths = 0; lengths < SEGMENTATIONS; lengths++) {
                    const subject s = {TALLY_SUM, type, (tally_nan)random_below(&random, 2), 0, TALLY_BEST};
                    const int64_t equal = 1 + random_below(&random, random_below(&random, 4) ? 5 : 300),
                                  count = 1 + random_below(&random, COUNT);
                    int64_t offsets[COUNT + 1] = {random_below(&random, 9)};
                    for (int64_t i = 0; i < count; i++)
                        offsets[i + 1] = offsets[i] + draw_length(lengths, equal, &random);
                    void *x = scratch(0, (size_t)offsets[count] * 8);
                    const tally_segments segments = tally_offsets(offsets, TALLY_I64, count);
                    void *y = scratch(1, (size_t)offsets[count] * 8);
                    draw_values(type, x, offsets[count], kind, &random);
                    draw_values(type, y, offsets[count], random_below(&random, 2) ? kind : EVEN, &random);
                    now.type = type, now.nan = s.nan, now.data = kind_names[kind], now.size = offsets[count];
                    check(&s, tally_in(x, type, offsets[count]), tally_in(y, type, offsets[count]), &segments, count);
                }
}
/* Subnormals, and behind them values that are as large as subnormals are made to be added up. */
static void test_tiny_first(void **unused) {
    enum { LENGTH = 20, VALUES = 512 * LENGTH, TINY_VALUES = 4096 };
    const subject s = {TALLY_SUM, TALLY_F64, TALLY_NAN_PROPAGATE, 0, TALLY_BEST};
    static double x[VALUES];
    uint64_t random = seed;
    (void)unused;
    for (int i = 0; i < VALUES; i++)
        x[i] = ldexp((double)(1 + random_below(&random, (int64_t)1 << 40)), i < TINY_VALUES ? -1074 : 0);
    const tally_segments segments = tally_rows(VALUES / LENGTH, LENGTH, 1);
    const tally_array in = tally_in(x, TALLY_F64, VALUES);
    now.type = TALLY_F64, now.nan = s.nan, now.data = "tiny first", now.size = VALUES;
    check(&s, in, in, &segments, VALUES / LENGTH);
}
/* An infinity or a NaN, or many of them, among the few values that are looked at first. */
static void test_specials_first(void **unused) {
    enum { VALUES = 3000 };
    static const int64_t lengths[] = {4, 20, 300, VALUES};
    uint64_t random = seed + 3;
    (void)unused;
    for (tally_type type = TALLY_F16; type <= TALLY_F64; type++)
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
            for (int many = 0; many < 4; many++) {
                const subject s = {TALLY_SUM, type, (tally_nan)(k % 2), 0, TALLY_BEST};
                const int64_t count = VALUES / lengths[k];
                void *x = scratch(0, VALUES * 8);
                draw_values(type, x, VALUES, many % 2 ? EVEN : UNDERFLOWING, &random);
                for (int64_t i = 0; i < (many < 2 ? 1 : 40); i++)
                    put_number(type, x, i, i % 3 == 1 ? -INFINITY : many % 2 ? NAN : INFINITY);
                const tally_array in = tally_in(x, type, VALUES);
                const tally_segments rows = tally_rows(count, lengths[k], 1),
                                     columns = tally_rows(1, lengths[k], count);
                now.type = type, now.nan = s.nan, now.data = "specials first", now.size = lengths[k];
                check(&s, in, in, &rows, count);
                check(&s, in, in, &columns, count);
            }
}
/* f16 and bf16 of which f32 holds the sums of a few, or here and there does not; all -0; of which one is NaN or
 * infinite; that cancel. Short segments, long ones, and longer ones than are widened at a time. */
static void test_halves(void **unused) {
    enum { VALUES = 12000, EACH = 5 };
    static const int64_t lengths[] = {16, 17, 33, 64, 150, 167, 2500, 5000};
    static const double odd[] = {0x1p-24, 0x1p15, NAN, INFINITY, -0.0};
    uint64_t random = seed + 2;
    (void)unused;
    for (tally_type type = TALLY_F16; type <= TALLY_BF16; type++)
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
            for (int what = 0; what < EACH; what++) {
                const subject s = {TALLY_SUM, type, (tally_nan)(what % 2), 0, TALLY_BEST};
                const int64_t count = VALUES / lengths[k], n = count * lengths[k];
                void *x = scratch(0, VALUES * 8);
                for (int64_t i = 0; i < n; i++) {
                    const double even = (double)(random_below(&random, 255) - 127) / 128;
                    put_number(type, x, i, what == 4 ? -0.0 : i % 2 == 1 && what == 3 ? -1 : even + (what == 3));
                }
                for (int some = 0; some < 6; some++) put_number(type, x, random_below(&random, n), odd[what]);
                const tally_segments segments = tally_rows(count, lengths[k], 1);
                now.type = type, now.nan = s.nan, now.data = "halves", now.size = lengths[k];
                check(&s, tally_in(x, type, n), tally_in(x, type, n), &segments, count);
                check(&s, tally_in(x, type, n), tally_in(x, type, n), NULL, 1);
            }
}
/* Two values are a tie, and others decide it that fall below their digits: they add up to something that their rounded
 * sum has another sign than, or that it does not see. */
static void test_ties(void **unused) {
    enum { LENGTH = 6, VALUES = 48 * LENGTH };
    static const double ties[2][LENGTH] = {{0x1p120, 0x1p67, 1, 0x1.8p-54, -1, -0x1p-60},
                                           {0x1p120, 0x1p67, 1, 0x1p-60, -1, 0}};
    const subject s = {TALLY_SUM, TALLY_F64, TALLY_NAN_PROPAGATE, 0, TALLY_BEST};
    double x[VALUES];
    (void)unused;
    for (int i = 0; i < VALUES; i++) x[i] = ties[i / LENGTH % 2][i % LENGTH];
    const tally_segments segments = tally_rows(VALUES / LENGTH, LENGTH, 1);
    const tally_array in = tally_in(x, TALLY_F64, VALUES);
    now.type = TALLY_F64, now.nan = s.nan, now.data = "ties", now.size = VALUES;
    check(&s, in, in, &segments, VALUES / LENGTH);
}
/* Small integers times powers of two far apart: sums, means and variances are ties of f32 but for rests of any size. */
static void test_rests(void **unused) {
    enum { SEGMENTS = 500, LONGEST = 12 };
    static const int powers[] = {60, 48, 60, 47, 49, 36, 6, -20, -44, -60};
    static float x[SEGMENTS * LONGEST], y[SEGMENTS * LONGEST];
    uint64_t random = seed;
    (void)unused;
    for (tally_type type = TALLY_BF16; type <= TALLY_F32; type++)
        for (int length = 2; length <= LONGEST; length++) {
            const subject s = {TALLY_SUM, type, TALLY_NAN_PROPAGATE, (int)random_below(&random, 2), TALLY_BEST};
            const int64_t n = SEGMENTS * length, few = 7 + random_below(&random, 4);
            const tally_segments segments = tally_rows(SEGMENTS, length, 1);
            for (int64_t i = 0; i < 2 * n; i++)
                put_number(type, i < n ? x : y, i % n,
                           ldexp((double)(random_below(&random, 17) - 8), powers[random_below(&random, few)]));
            now.type = type, now.nan = s.nan, now.data = "ties but for rests", now.size = n;
            check(&s, tally_in(x, type, n), tally_in(y, type, n), &segments, SEGMENTS);
        }
}
static void test_wholes(void **unused) {
    static const int64_t most[] = {20, 1100, 4200, 30000};
    uint64_t random = seed + 1;
    (void)unused;
    for (int round = 0; round < (quick ? 1 : 4); round++)
        for (tally_type type = TALLY_F16; type <= TALLY_F64; type++)
            for (int kind = 0; kind < KINDS; kind++)
                for (size_t k = 0; k < sizeof most / sizeof *most; k++) {
                    const subject s = {TALLY_SUM, type, (tally_nan)random_below(&random, 2), 0, TALLY_BEST};
                    const int64_t n = 1 + random_below(&random, most[k]);
                    void *x = scratch(0, (size_t)n * 8);
                    void *y = scratch(1, (size_t)n * 8);
                    draw_values(type, x, n, kind, &random);
                    draw_values(type, y, n, random_below(&random, 2) ? kind : EVEN, &random);
                    now.type = type, now.nan = s.nan, now.data = kind_names[kind], now.size = n;
                    check(&s, tally_in(x, type, n), tally_in(y, type, n), NULL, 1);
                }
}

/* Upper halves whose sum is finite, with lower ones that take it beyond the largest number; behind them one that takes
 * another look to be rounded to f32: it is subnormal, or as f64 a tie of f32, but lies above. */
static void test_overflow(void **unused) {
    enum { PAIRS = 17 };
    double beyond[PAIRS][2];
    float narrow[PAIRS];
    double wide[PAIRS];
    const tally_segments pairs = tally_rows(PAIRS, 2, 1);
    (void)unused;
    for (int s = 0; s < PAIRS; s++) {
        beyond[s][0] = s % 2 ? 0x1.fffffffffffffp1022 : -0x1.fffffffffffffp1022;
        beyond[s][1] = s % 2 ? 0x1.0000007ffffffp1023 : -0x1.0000007ffffffp1023;
    }
    beyond[PAIRS - 1][0] = 0x1p-140, beyond[PAIRS - 1][1] = 0x1p-150;
    EXPECT_OK(tally_reduce_segments(NULL, TALLY_SUM, tally_in(beyond, TALLY_F64, 2 * PAIRS), pairs,
                                    tally_out(narrow, TALLY_F32, PAIRS)));
    EXPECT_OK(tally_reduce_segments(NULL, TALLY_SUM, tally_in(beyond, TALLY_F64, 2 * PAIRS), pairs,
                                    tally_out(wide, TALLY_F64, PAIRS)));
    for (int s = 0; s < PAIRS - 1; s++) {
        const double due = s % 2 ? (double)INFINITY : -(double)INFINITY;
        EXPECT((double)narrow[s] == due && wide[s] == due, "the sums are %g and %g", (double)narrow[s], wide[s]);
    }
    EXPECT(narrow[PAIRS - 1] == 0x1p-140f, "the sum is %a", (double)narrow[PAIRS - 1]);
    EXPECT_OK(tally_reduce(NULL, TALLY_SUM, tally_in(beyond, TALLY_F64, 2), tally_out(narrow, TALLY_F32, 1)));
    EXPECT((double)narrow[0] == -(double)INFINITY, "the sum is %g", (double)narrow[0]);
    for (int s = 0; s < PAIRS; s++) beyond[s][0] = 1.5, beyond[s][1] = 2.25;
    beyond[PAIRS - 1][0] = 1 + 0x1p-24 + 0x1p-26, beyond[PAIRS - 1][1] = -0x1.fffffff8p-27;
    EXPECT_OK(tally_reduce_segments(NULL, TALLY_SUM, tally_in(beyond, TALLY_F64, 2 * PAIRS), pairs,
                                    tally_out(narrow, TALLY_F32, PAIRS)));
    EXPECT(narrow[PAIRS - 1] == 0x1.000002p0f, "the sum is %a", (double)narrow[PAIRS - 1]);
}

/* ---- the flag ---- */

/* The sum of three values, by each function that adds up. */
enum { WHOLE, SEGMENTS, ROWS, COLUMNS, PUSHED, WAYS };
static float sum_by(int way, const float *x) {
    static const int32_t offsets[] = {0, 0, 3};
    const tally_array in = tally_in(x, TALLY_F32, 3);
    float out[2] = {0};
    tally_state *state;
    switch (way) {
    case WHOLE: EXPECT_OK(tally_reduce(NULL, TALLY_SUM, in, tally_out(out, TALLY_F32, 1))); break;
    case SEGMENTS:
        EXPECT_OK(tally_reduce_segments(NULL, TALLY_SUM, in, tally_offsets(offsets, TALLY_I32, 2),
                                        tally_out(out, TALLY_F32, 2)));
        return out[1];
    case ROWS:
    case COLUMNS: {
        const float twice[6] = {
            x[0], x[way == ROWS ? 1 : 0], x[way == ROWS ? 2 : 1], x[way == ROWS ? 0 : 1], x[way == ROWS ? 1 : 2], x[2]};
        EXPECT_OK(tally_reduce_segments(NULL, TALLY_SUM, tally_in(twice, TALLY_F32, 6),
                                        way == ROWS ? tally_rows(2, 3, 1) : tally_rows(1, 3, 2),
                                        tally_out(out, TALLY_F32, 2)));
        return out[1];
    }
    default:
        EXPECT_OK(tally_state_open(NULL, TALLY_SUM, TALLY_F32, 0, &state));
        EXPECT_OK(tally_state_push(state, in));
        EXPECT_OK(tally_state_finish(state, tally_out(out, TALLY_F32, 1)));
        tally_state_close(state);
    }
    return out[0];
}
/* A sum that is exact, and one that is rounded, by a caller whose flag is down and by one whose flag is up. */
static void test_flag(void **unused) {
    static const float exact[3] = {1, 2, 3}, rounded[3] = {1, 0x1p-40f, 3};
    volatile double third = 1;
    (void)unused;
    for (int way = 0; way < WAYS; way++)
        for (int was = 0; was < 2; was++)
            for (int is_rounded = 0; is_rounded < 2; is_rounded++) {
                feclearexcept(FE_ALL_EXCEPT);
                third = 1;
                if (was) third = third / 3; /* feraiseexcept may raise another unit's flag */
                const float sum = sum_by(way, is_rounded ? rounded : exact);
                EXPECT((fetestexcept(FE_INEXACT) != 0) == was, "way %d: the caller's flag has changed", way);
                EXPECT(sum == (is_rounded ? 4 : 6), "way %d: the sum is %g", way, (double)sum);
            }
    feclearexcept(FE_ALL_EXCEPT);
    EXPECT(third < 1, "1 / 3 is %g", third);
}

int main(int argc, char **argv) {
    int skipped = begin_program(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_segments),       cmocka_unit_test(test_tiny_first), cmocka_unit_test(test_halves),
        cmocka_unit_test(test_specials_first), cmocka_unit_test(test_ties),       cmocka_unit_test(test_rests),
        cmocka_unit_test(test_wholes),         cmocka_unit_test(test_overflow),   cmocka_unit_test(test_flag)};
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
