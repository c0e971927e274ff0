/* Results of short rows of narrow types, in few operations: an interval of doubles in which the result lies. If both of
 * its ends are rounded to the same, that is the result. Of ties, of sums that cancel, of infinities and NaNs they are
 * not: these are for exact_sums/pair_results.h. */
#ifndef TALLY_INTERVALS_H
#define TALLY_INTERVALS_H

#include "rows/pair_sums.h"

/* Whether results of rows of such a length are made here: those of f64 and of operators with several are not. */
TALLY_FN int32_t are_quick(int64_t length, const tally_final *final) {
    return !TALLY_IS_F64 && !TALLY_HAS_KEYS && kernel_result_bytes(final) == 4 &&
           (!TALLY_HAS_SPREAD || length > final->ddof);
}

/* What all rows have in common. */
typedef struct common_t {
    double n, reciprocal; /* of the divisor */
    double divisor, error;
} common_t;
TALLY_FN common_t common_of(int64_t length, const tally_final *final) {
    common_t c;
    c.n = (double)(int32_t)length;
    c.divisor = TALLY_HAS_SPREAD ? c.n * (c.n - (double) final->ddof) : final->mean ? c.n : 1;
    c.reciprocal = 1 / c.divisor;
    c.error = error_of(c.n);
    return c;
}
/* A result lies no further than `half` from q. */
typedef struct interval_t {
    double q, half;
} interval_t;
TALLY_FN double few_units(double q) { return (q < 0 ? -q : q) * 0x1p-50; }

#if TALLY_HAS_SPREAD
/* The root of what lies in an interval. That of two values' spread is half of what they differ by, which most often has
 * no more than 25 bits, and is a tie of f32 if it has as many: it is taken if its square is the spread. */
TALLY_FN interval_t root_in(interval_t square, tally_pair left, int32_t is_exact, double divisor) {
    const double root = tally_sqrt_f64(square.q), far = root * 268435457.0, of_25_bits = far - (far - root);
    const tally_pair back = tally_two_product(of_25_bits * of_25_bits, divisor);
    const int32_t is_root = is_exact && back.high == left.high && back.low == left.low;
    interval_t a = {root, few_units(root) + square.half / root};
    if (is_root) a.q = of_25_bits;
    if (is_root || square.q == 0) a.half = 0;
    return a;
}
/* As tally_rounded_spread. */
TALLY_FN interval_t interval_of(const row_sums_t *s, const common_t *c, const tally_final *final) {
    const tally_pair sum = tally_two_sum(s->sum.sum, s->sum.rest),
                     squares = tally_two_sum(s->products.sum, s->products.rest),
                     a = tally_two_product(c->n, squares.high), b = tally_two_product(sum.high, sum.high),
                     d = tally_two_sum(a.high, -b.high), lows = tally_two_sum(a.low, -b.low),
                     below = tally_two_sum(d.low, lows.high),
                     left = tally_two_sum(d.high,
                                          d.low + ((a.low - b.low) + (c->n * squares.low - 2 * sum.high * sum.low)));
    const int32_t are_whole = (s->sum.lost | s->products.lost) == 0,
                  is_exact = are_whole && lows.low == 0 && below.low == 0;
    const double q = left.high * c->reciprocal, error = 0x1p-98 + (are_whole ? 0 : c->error);
    const tally_pair back = tally_two_product(q, c->divisor);
    interval_t square = {q, few_units(q) + (a.high + b.high) * error * c->reciprocal};
    if (is_exact && back.high == left.high && back.low == left.low) square.half = 0;
    return final->root ? root_in(square, left, is_exact, c->divisor) : square;
}
#else
TALLY_FN interval_t interval_of(const row_sums_t *s, const common_t *c, const tally_final *final) {
#if TALLY_HAS_SUM
    const tally_compensated *const of = &s->sum;
#else
    const tally_compensated *const of = &s->products;
#endif
    const int32_t is_exact = of->lost == 0;
    const double sum = is_exact ? of->sum : of->sum + of->rest, /* -0 stays -0 */
        error = needs_largest ? c->error * largest_of(s) : c->error * sum;
    interval_t a = {sum, 0};
    if (final->root) {
        a.q = tally_sqrt_f64(sum);
        if (!is_exact || __builtin_fma(a.q, a.q, -sum) != 0) a.half = few_units(a.q) + (is_exact ? 0 : c->error * a.q);
    } else if (final->mean) {
        a.q = sum * c->reciprocal;
        if (!is_exact || __builtin_fma(a.q, c->divisor, -sum) != 0) a.half = few_units(a.q) + (is_exact ? 0 : error);
    } else if (!is_exact)
        a.half = few_units(sum) + error;
    return a;
}
#endif
TALLY_FN float rounded_to(double value, tally_format format) {
    if (format.digits < 24) tally_round_to(&value, format);
    return (float)value;
}
/* The result of a row of finite values, if it is certain: the same at both ends of its interval. */
TALLY_FN int32_t quick_result(const row_sums_t *s, const common_t *c, const tally_final *final, uint32_t *word) {
    const interval_t a = interval_of(s, c, final);
    const float low = rounded_to(a.q - a.half, final->format),
                high = a.half == 0 ? low : rounded_to(a.q + a.half, final->format);
    *word = (uint32_t)tally_bits_f32(low);
    return (s->seen | s->absent) == 0 && low == high && (a.half == 0 || (a.q < 0 ? -a.q : a.q) > a.half);
}

#endif
