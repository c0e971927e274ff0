/* Results of sums that are kept as two doubles each (sums/compensated.h), if these decide them. Those of narrow types
 * take few operations as a rule: an interval of doubles in which the result lies. If both of its ends are rounded to
 * the same, that is the result. Of ties, of sums that cancel, of infinities and NaNs they are not: these are for
 * pair_results.h. */
#ifndef TALLY_COMPENSATED_RESULTS_H
#define TALLY_COMPENSATED_RESULTS_H

#include "compensated/pair_results.h"
#include "sums/compensated.h"

enum {
    /* Many a sum of f64 is a tie, which is known only if the sum is. So is many an f64 spread of f32. */
    is_told = TALLY_IS_F64 && TALLY_HAS_SUM && (!TALLY_HAS_PRODUCTS || TALLY_HAS_KEYS),
    are_products_told = TALLY_HAS_KEYS && TALLY_NUMBER == TALLY_NUMBER_f32,
    sums_are_exact = TALLY_NUMBER == TALLY_NUMBER_f16 /* all f16 have 40 bits in common */
};

/* What a result is made of. */
typedef struct compensated_t {
    TALLY_IF_SUM(tally_compensated sum;)
    TALLY_IF_PRODUCTS(tally_compensated products;)
    double error; /* how far a sum of terms of both signs may be from its pair at most, */
    double share; /* and any other: as a share of it, or of the squares of a spread times their number */
    int64_t terms, present;
    int32_t power; /* of f64: sums count units of 2^power, squares units of its square, products of two inputs of
                      itself. 0, but for finalize_in_pairs */
    int32_t seen;  /* infinities and NaNs: TALLY_SEEN_... */
    TALLY_IF_KEYS(TALLY_K low; TALLY_K high;)
} compensated_t;

/* ---- in few operations ---- */

/* Whether results of n values are made so: those in the type's own width, but for operators with several. */
TALLY_FN int32_t are_quick(int64_t n, const tally_final *final) {
    return !TALLY_HAS_KEYS && kernel_result_bytes(final) == (TALLY_IS_F64 ? 8 : 4) &&
           (!TALLY_HAS_SPREAD || n > final->ddof);
}

/* What results of n values have in common. */
typedef struct common_t {
    double n, divisor, reciprocal; /* of the divisor */
} common_t;
TALLY_FN common_t common_of(int64_t n, const tally_final *final) {
    common_t c;
    c.n = (double)n;
    c.divisor = TALLY_HAS_SPREAD ? c.n * (c.n - (double) final->ddof) : final->mean ? c.n : 1;
    c.reciprocal = 1 / c.divisor;
    return c;
}
/* a / divisor: by a step of Newton's method exact, if that is a double. Then a tie is known as such. */
TALLY_FN double quotient_of(double a, const common_t *c) {
    const double q = a * c->reciprocal, rest = __builtin_fma(-q, c->divisor, a) * c->reciprocal;
    return rest != 0 ? q + rest : q; /* -0 stays -0 */
}
/* Doubles that are rounded as the ends of an interval in which a result lies. */
typedef struct interval_t {
    double low, high;
} interval_t;
/* From q - half to q + half, where half is 0, or four units of q's last place or more: then rounding to doubles first
 * crosses nothing. */
TALLY_FN interval_t interval_around(double q, double half) {
    interval_t a = {q, q};
    if (half != 0) a.low = q - half, a.high = q + half;
    return a;
}
/* From q + rest - slack to q + rest + slack. */
TALLY_FN interval_t interval_beside(double q, double rest, double slack) {
    const interval_t a = {tally_to_odd(tally_two_sum(q, rest - slack)), tally_to_odd(tally_two_sum(q, rest + slack))};
    return rest == 0 && slack == 0 ? interval_around(q, 0) : a; /* -0 stays -0 */
}
TALLY_FN double few_units(double q) { return (q < 0 ? -q : q) * 0x1p-50; }

#if TALLY_HAS_SPREAD
/* The root of what lies in an interval. That of two values' spread is half of what they differ by, which most often has
 * no more than 25 bits, and is a tie of f32 if it has as many: it is taken if its square is the spread. */
TALLY_FN interval_t root_in(double q, double half, tally_pair left, int32_t is_exact, double divisor) {
    const double root = tally_sqrt_f64(q), far = root * 268435457.0, of_25_bits = far - (far - root);
    const tally_pair back = tally_two_product(of_25_bits * of_25_bits, divisor);
    const int32_t is_root = is_exact && back.high == left.high && back.low == left.low;
    if (is_root) return interval_around(of_25_bits, 0);
    return interval_around(root, few_units(root) + half / root);
}
/* As tally_rounded_spread. */
TALLY_FN interval_t interval_of(const compensated_t *s, const common_t *c, const tally_final *final) {
    const tally_pair sum = tally_two_sum(s->sum.sum, s->sum.rest),
                     squares = tally_two_sum(s->products.sum, s->products.rest),
                     a = tally_two_product(c->n, squares.high), b = tally_two_product(sum.high, sum.high),
                     d = tally_two_sum(a.high, -b.high), lows = tally_two_sum(a.low, -b.low),
                     below = tally_two_sum(d.low, lows.high),
                     left = tally_two_sum(d.high,
                                          d.low + ((a.low - b.low) + (c->n * squares.low - 2 * sum.high * sum.low)));
    const int32_t are_whole = (s->sum.lost | s->products.lost) == 0,
                  is_exact = are_whole && sum.low == 0 && squares.low == 0 && lows.low == 0 && below.low == 0 &&
                             s->terms <= TALLY_MOST_DIVIDED;
    const double q = quotient_of(left.high, c), share = 0x1p-98 + (are_whole ? 0 : s->share);
    const tally_pair back = tally_two_product(q, c->divisor);
    /* Of two f32 that differ the spread is no smaller than (n - 1) / n^2 2^-48 of n squares. */
    if (!TALLY_IS_F64 && left.high < a.high * 0x1p-77) return interval_around(0, 0);
    const int32_t is_quotient = is_exact && back.high == left.high && back.low == left.low;
    const double half = is_quotient ? 0 : few_units(q) + (a.high + b.high) * share * c->reciprocal;
    return final->root ? root_in(q, half, left, is_exact, c->divisor) : interval_around(q, half);
}
#else
TALLY_FN interval_t interval_of(const compensated_t *s, const common_t *c, const tally_final *final) {
#if TALLY_HAS_SUM
    const tally_compensated *const of = &s->sum;
#else
    const tally_compensated *const of = &s->products;
#endif
    const int32_t is_exact = of->lost == 0;
    /* Most sums of values are a double. -0 stays -0. */
    if (!TALLY_HAS_PRODUCTS && is_exact && of->rest == 0) {
        const double q = final->mean ? quotient_of(of->sum, c) : of->sum;
        const int32_t is_quotient = !final->mean || __builtin_fma(q, c->divisor, -of->sum) == 0;
        return interval_around(q, is_quotient ? 0 : few_units(q));
    }
    tally_pair sum = {of->sum, 0};
    if (of->rest != 0) sum = tally_two_sum(of->sum, of->rest);
    const double error = is_exact ? 0 : TALLY_NEEDS_LARGEST ? s->error : s->share * sum.high;
    if (final->root) {
        const double q = tally_sqrt_f64(sum.high);
        const int32_t is_root = is_exact && sum.low == 0 && __builtin_fma(q, q, -sum.high) == 0;
        return interval_around(q, is_root ? 0 : few_units(q) + (is_exact ? 0 : s->share * q));
    }
    if (final->mean) {
        const double q = quotient_of(sum.high, c),
                     rest = (sum.low - __builtin_fma(q, c->divisor, -sum.high)) * c->reciprocal;
        return interval_beside(q, rest, (rest < 0 ? -rest : rest) * 0x1p-48 + error * c->reciprocal * 2);
    }
    return interval_beside(sum.high, sum.low, error);
}
#endif
TALLY_FN float rounded_to(double value, tally_format format) {
    if (format.digits < 24) tally_round_to(&value, format);
    return (float)value;
}
/* The result of finite values, all present, if it is certain: the same at both ends of its interval, which has a sign.
 */
TALLY_FN int32_t quick_result(const compensated_t *s, const common_t *c, const tally_final *final, uint32_t *word) {
    const interval_t a = interval_of(s, c, final);
    const float low = rounded_to(a.low, final->format), high = rounded_to(a.high, final->format);
    *word = (uint32_t)tally_bits_f32(low);
    return s->seen == 0 && s->present == s->terms && low == high &&
           (a.low == a.high || (a.low < 0 ? a.high < 0 : a.low > 0));
}

/* ---- in any case ---- */

/* A sum of f64 that is tiny counts units of a power of two, so that quotients do not lose digits. */
TALLY_FN void scale_tiny_sum(in_pairs_t *a) {
    enum { power = 680 }; /* of 2^-1074 it makes what tally_in_reach takes, and of 2^-400 */
    const double size = a->sum.high < 0 ? -a->sum.high : a->sum.high, scale = tally_power_of_two(power);
    if (size == 0 || !(size < 0x1p-400)) return;
    a->sum.high *= scale, a->sum.low *= scale, a->error *= scale;
    a->power = -power;
}
/* The sums, as finalize_pairs takes them. */
TALLY_FN in_pairs_t in_pairs(const compensated_t *s) {
    in_pairs_t a;
    __builtin_memset(&a, 0, sizeof a);
    a.present = s->present;
    a.seen = s->seen;
    a.power = s->power;
    a.products_power = TALLY_KERNEL_INPUTS == 2 ? s->power : 2 * s->power;
#if TALLY_HAS_SUM
    const int32_t is_exact = s->sum.lost == 0 || s->terms <= 2; /* one addition may have an error */
    a.sum = tally_two_sum(s->sum.sum, s->sum.rest);
    a.seen |= tally_bits_f64(s->sum.sum) != INT64_MIN ? TALLY_NOT_MINUS_ZERO : 0;
    if (!is_exact && (TALLY_NEEDS_LARGEST || TALLY_HAS_KEYS)) a.error = s->error + 0x1p-1074;
    if (!is_exact && !TALLY_NEEDS_LARGEST) a.relative = s->share;
#endif
#if TALLY_HAS_PRODUCTS
    const int32_t are_exact = s->products.lost == 0 || (s->terms <= 2 && !TALLY_IS_F64);
    a.products = tally_two_sum(s->products.sum, s->products.rest);
    a.seen |= !TALLY_HAS_SUM && tally_bits_f64(s->products.sum) != INT64_MIN ? TALLY_NOT_MINUS_ZERO : 0;
    if (!are_exact && TALLY_NEEDS_LARGEST) a.error = s->error + 0x1p-1074;
    if (!are_exact && !TALLY_NEEDS_LARGEST) a.relative = s->share;
#endif
    TALLY_IF_KEYS(a.low = s->low; a.high = s->high;)
    if (TALLY_IS_F64 && !TALLY_HAS_PRODUCTS) scale_tiny_sum(&a);
    return a;
}
/* The result of any values, if it is certain. */
TALLY_FN int32_t finalize_in_pairs(const compensated_t *s, const tally_final *final, uint64_t *result) {
    const in_pairs_t a = in_pairs(s);
    return finalize_pairs(&a, final, result);
}
/* A result of f64 in its own format, if it is certain: of finite values, all present, that are not tiny. */
TALLY_FN int32_t wide_result(const compensated_t *s, const tally_final *final, uint64_t *word) {
    tally_rounded rounded;
#if TALLY_HAS_SPREAD
    const in_pairs_t a = in_pairs(s);
    rounded = spread_of(&a, final, 1);
#else
#if TALLY_HAS_SUM
    const tally_compensated of = s->sum;
#else
    const tally_compensated of = s->products;
#endif
    const tally_pair sum = tally_two_sum(of.sum, of.rest);
    const int32_t is_exact = of.lost == 0;
    const double error = is_exact ? 0 : TALLY_NEEDS_LARGEST ? s->error + 0x1p-1074 : s->share * sum.high;
    if (final->root)
        rounded = tally_rounded_root_within(sum, is_exact ? 0 : s->share, 1);
    else if (final->mean)
        rounded = tally_rounded_mean_within(sum, error, (double)s->present, 1);
    else
        rounded = tally_nearest_within(sum, error, 1);
    if (of.sum == 0 && of.rest == 0 && is_exact) rounded.value = of.sum, rounded.sure = 1; /* -0 stays -0 */
#endif
    *word = (uint64_t)tally_bits_f64(rounded.value);
    return s->seen == 0 && s->present == s->terms && rounded.sure && s->present <= TALLY_MOST_DIVIDED &&
           tally_is_finite(rounded.value);
}
/* The result, if few operations make it certain: of finite values. Operators with several results take more. */
TALLY_FN int32_t finalize_quickly(const compensated_t *s, const tally_final *final, uint64_t *result) {
#if TALLY_HAS_KEYS
    return finalize_in_pairs(s, final, result);
#else
    if (kernel_result_bytes(final) == 8) return wide_result(s, final, result);
    const common_t common = common_of(s->terms, final);
    uint32_t word;
    const int32_t is_sure = quick_result(s, &common, final, &word);
    result[0] = word;
    return is_sure;
#endif
}

#endif
