/* Results of sums in a few parts: the exact sum is the sum of up to three doubles. A fixed sequence of error-free
 * operations gives the result, cheap enough for vector lanes and GPU threads to run it for every segment.
 *
 * Knuth's two-sum and Dekker's product keep what rounding drops; rounding to odd keeps it visible in the last bit
 * (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008).
 * Where a quotient or a root is too close to a tie, `sure` is 0 and the caller uses sums/window.h.
 * docs/exact.md has the arguments. */
#ifndef TALLY_PARTS_H
#define TALLY_PARTS_H

#include "sums/plan.h"

/* high + low exactly, where high is their rounded sum. */
typedef struct tally_pair {
    double high, low;
} tally_pair;

TALLY_FN tally_pair tally_two_sum(double a, double b) {
    tally_pair p;
    double from_b;
    p.high = a + b;
    from_b = p.high - a;
    p.low = (a - (p.high - from_b)) + (b - from_b);
    return p;
}
TALLY_FN tally_pair tally_two_product(double a, double b) {
    tally_pair p;
    p.high = a * b;
#if TALLY_HAS_FMA
    p.low = __builtin_fma(a, b, -p.high);
#else
    {
        const double split = 134217729.0; /* 2^27 + 1 */
        double ta = split * a, tb = split * b;
        double ah = ta - (ta - a), bh = tb - (tb - b);
        double al = a - ah, bl = b - bh;
        p.low = ((ah * bh - p.high) + ah * bl + al * bh) + al * bl;
    }
#endif
    return p;
}
/* high + low rounded to odd: to the neighbour whose last bit is 1 unless it is exact. */
TALLY_FN double tally_to_odd(tally_pair p) {
    int64_t bits = tally_bits_f64(p.high);
    int64_t away = (bits ^ tally_bits_f64(p.low)) >> 63 | 1; /* from signs: comparisons become bytes in vector code */
    bits += p.low != 0 && (bits & 1) == 0 ? away : 0;
    return tally_from_bits_f64(bits);
}

/* a + b + c, in order of size or cancelling: the rounded sum, and the remainder rounded to odd. */
TALLY_FN tally_pair tally_three_sum(double a, double b, double c) {
    tally_pair low = tally_two_sum(b, c), high = tally_two_sum(a, low.high);
    double rest = tally_to_odd(tally_two_sum(high.low, low.low));
    return tally_two_sum(high.high, rest);
}

/* Whether a pair is known to be the sum of which it was made, by the two functions around this. One that lacks
 * something has an odd last bit, which is 2^-103 of it or less; this is for pairs of fewer bits. */
TALLY_FN int32_t tally_lacks_nothing(tally_pair p) {
    const double size = p.high < 0 ? -p.high : p.high, anchor = size * 0x1p-46;
    return (p.low + anchor) - anchor == p.low;
}

/* Rounds a value, which is already rounded to f64 (to nearest or to odd), to a narrower format. Gives whether the value
 * is not next to a tie of that format. */
TALLY_FN int32_t tally_round_to(double *value, tally_format format) {
    const double size = *value < 0 ? -*value : *value, infinity = tally_power_of_two(format.infinite);
    int32_t unit = (int32_t)(tally_bits_f64(size) >> 52) - 1023 - format.digits + 1;
    if (size == 0 || !(size < 2 * infinity)) return 1; /* narrowing gives 0, an infinity or a NaN */
    unit = unit < format.least ? format.least : unit;
    const double anchor = tally_anchor(unit);
    const double rounded = (size + anchor) - anchor, away = size - rounded;
    const double nearest = rounded >= infinity ? tally_infinity_f64() : rounded;
    *value = *value < 0 ? -nearest : nearest;
    return (away < 0 ? -away : away) * 2 != tally_power_of_two(unit);
}

/* A rounded result, and whether it is certain. */
typedef struct tally_rounded {
    double value; /* rounded to the wanted format, f32 or f64 */
    int32_t sure;
    double rest; /* for f64: true value minus rounded value. Its sign is right; a NaN if it is not known */
} tally_rounded;
/* q + c minus its rounded sum, where c has an error of at most `slack`. */
TALLY_FN double tally_rest(double q, double c, double slack) {
    const double rest = tally_two_sum(q, c).low;
    return (rest < 0 ? -rest : rest) > slack ? rest : tally_nan_f64();
}

/* Whether x is in a range where products and quotients neither overflow nor lose digits. Zero is not: its sign needs
 * other code. */
TALLY_FN int32_t tally_in_reach(double x) {
    int64_t exponent = tally_bits_f64(x) >> 52 & 0x7ff;
    return exponent > 1023 - 400 && exponent < 1023 + 400;
}
/* The same for quotients by n alone: their products with n are about as large as x. */
TALLY_FN int32_t tally_in_reach_of_quotients(double x) {
    const int64_t exponent = tally_bits_f64(x) >> 52 & 0x7ff;
    return exponent > 1023 - 400 && exponent < 1023 + 900;
}
TALLY_FN tally_rounded tally_nearest(tally_pair p, int32_t is_f64) {
    tally_rounded q;
    q.value = is_f64 ? p.high : (double)(float)tally_to_odd(p);
    q.sure = p.high != 0;
    q.rest = p.low;
    return q;
}
/* q + c rounded to f64, where c has an error of at most 2^-48 of itself plus `error`. */
TALLY_FN tally_rounded tally_corrected_within(double q, double c, double error) {
    tally_rounded rounded;
    double slack = (c < 0 ? -c : c) * 0x1p-47;
    if (error != 0) slack += 2 * error;
    rounded.value = q + (c - slack);
    rounded.sure = rounded.value == q + (c + slack);
    rounded.rest = tally_rest(q, c, slack);
    return rounded;
}
TALLY_FN tally_rounded tally_corrected(double q, double c) { return tally_corrected_within(q, c, 0); }
/* Rounds to f32 a value that is within slack / 2 of q. slack is at least four units in q's last place, so that rounding
 * q - slack and q + slack to f64 first keeps the value between them. */
TALLY_FN tally_rounded tally_around(double q, double slack) {
    tally_rounded rounded;
    rounded.value = (double)(float)(q - slack);
    rounded.sure = rounded.value == (double)(float)(q + slack);
    rounded.rest = tally_nan_f64();
    return rounded;
}
TALLY_FN double tally_four_units(double q) { return (q < 0 ? -q : q) * 0x1p-50; }

/* The functions below take sums that lie within `error` of the pair (0: the pair is exact). Whether the sign of such a
 * sum is certain: */
TALLY_FN int32_t tally_has_sign(tally_pair p, double error) {
    return error == 0 || (p.high < 0 ? -p.high : p.high) > 4 * error;
}
TALLY_FN tally_rounded tally_nearest_within(tally_pair p, double error, int32_t is_f64) {
    if (error == 0) return tally_nearest(p, is_f64);
    tally_rounded rounded = is_f64 ? tally_corrected_within(p.high, p.low, error)
                                   : tally_around(p.high, tally_four_units(p.high) + 2 * error);
    rounded.sure &= tally_has_sign(p, error);
    return rounded;
}
/* Up to this number of values quotients are right: the square of such a number is an f64, and n times a quotient is
 * two, of which the second has no more than 26 bits. */
enum { TALLY_MOST_DIVIDED = 1 << 26 };

/* The sum over n, an integer up to TALLY_MOST_DIVIDED. */
TALLY_FN tally_rounded tally_rounded_mean_within(tally_pair sum, double error, double n, int32_t is_f64) {
    /* A quotient rounded to f64 only needs to be near: what it leaves is exact, and tells how far it is off. */
    const double reciprocal = is_f64 ? 1 / n : 0,
                 off = error == 0 ? 0
                       : is_f64   ? error * reciprocal
                                  : error / n,
                 q = is_f64 ? sum.high * reciprocal : sum.high / n;
    tally_pair product = tally_two_product(q, n);
    tally_rounded rounded;
    int32_t exact; /* the quotient is exact: a sum over a power of two is often a tie, which only this decides */
    if (is_f64) {
        tally_pair rest = tally_two_sum((sum.high - product.high) - product.low, sum.low); /* exact */
        const double near = rest.high * reciprocal; /* a step of Newton's method: exact, if the quotient is a double */
        double c = near + __builtin_fma(-near, n, rest.high) * reciprocal;
        tally_pair back = tally_two_product(c, n);
        rounded = tally_corrected_within(q, c, off);
        exact = (error == 0) & (back.high == rest.high) & (back.low == 0) & (rest.low == 0);
        rounded.value = exact ? q + c : rounded.value;
        rounded.rest = exact ? tally_two_sum(q, c).low : rounded.rest;
    } else {
        rounded = tally_around(q, error == 0 ? tally_four_units(q) : tally_four_units(q) + 2 * off);
        exact = (error == 0) & (product.high == sum.high) & (product.low == 0) & (sum.low == 0);
        rounded.value = exact ? (double)(float)q : rounded.value;
    }
    rounded.sure = (rounded.sure | exact) & tally_in_reach_of_quotients(sum.high) & tally_has_sign(sum, error);
    return rounded;
}
TALLY_FN tally_rounded tally_rounded_mean(tally_pair sum, double n, int32_t is_f64) {
    return tally_rounded_mean_within(sum, 0, n, is_f64);
}
/* The root of a positive sum. `relative`: the sum's error as a share of the sum. */
TALLY_FN tally_rounded tally_rounded_root_within(tally_pair sum, double relative, int32_t is_f64) {
    const double q = tally_sqrt_f64(sum.high), error = relative == 0 ? 0 : relative * q;
    tally_rounded rounded;
    if (is_f64) {
        tally_pair square = tally_two_product(q, q);
        double rest = ((sum.high - square.high) - square.low) + sum.low; /* exact up to the last addition */
        rounded = tally_corrected_within(q, rest / (2 * q), error);
    } else
        rounded = tally_around(q, error == 0 ? tally_four_units(q) : tally_four_units(q) + 2 * error);
    rounded.sure &= tally_in_reach(sum.high);
    return rounded;
}
TALLY_FN tally_rounded tally_rounded_root(tally_pair sum, int32_t is_f64) {
    return tally_rounded_root_within(sum, 0, is_f64);
}
/* The sum of squared deviations over n - ddof: (n squares - sum^2) / (n (n - ddof)), for n up to TALLY_MOST_DIVIDED.
 * `relative`: the error that both sums cause in n squares - sum^2, as a share of n squares. */
TALLY_FN tally_rounded tally_rounded_spread_within(tally_pair sum, tally_pair squares, double relative, double n,
                                                   double ddof, int32_t root, int32_t is_f64) {
    tally_pair a = tally_two_product(n, squares.high), b = tally_two_product(sum.high, sum.high);
    tally_pair d = tally_two_sum(a.high, -b.high);
    tally_pair lows = tally_two_sum(a.low, -b.low), more = tally_two_product(n, squares.low);
    tally_pair below = tally_two_sum(lows.high, more.high), behind = tally_two_sum(d.low, below.high);
    /* Where much cancels, the remainder is not small beside d: make a pair again. */
    tally_pair left = tally_two_sum(d.high, d.low + ((a.low - b.low) + (n * squares.low - 2 * sum.high * sum.low)));
    double divisor = n * (n - ddof);
    double slack = (a.high + b.high) * (0x1p-98 + relative) / divisor;
    double q = left.high / divisor, r = root ? tally_sqrt_f64(q) : q;
    int32_t some = tally_in_reach(squares.high),
            whole = (relative == 0) & (sum.low == 0) & tally_lacks_nothing(squares);
    int32_t exact = whole & (lows.low == 0) & (more.low == 0) & (below.low == 0) & (behind.low == 0); /* left is */
    int32_t none = /* nothing deviates */
        (n == 1) | (squares.high == 0) | (some & whole & (squares.low == 0) & (a.high == b.high) & (a.low == b.low));
    tally_rounded rounded;
    if (root) slack = slack / r;
    if (is_f64) {
        const tally_pair product = tally_two_product(q, divisor);
        tally_pair rest = tally_two_sum((left.high - product.high) - product.low, left.low), square, back;
        double c = rest.high / divisor;
        back = tally_two_product(c, divisor);
        exact &= (root == 0) & (back.high == rest.high) & (back.low == 0) & (rest.low == 0);
        if (root) { /* of q + c */
            square = tally_two_product(r, r);
            c = (((q - square.high) - square.low) + c) / (2 * r);
        }
        slack += (c < 0 ? -c : c) * 0x1p-40 + r * 0x1p-98;
        rounded.value = exact ? r + c : r + (c - slack);
        rounded.sure = exact | (rounded.value == r + (c + slack));
        rounded.rest = exact ? tally_two_sum(r, c).low : tally_rest(r, c, slack);
        /* The root of two values' spread is half their difference: it is r, or, if the sum is exact, further than
         * 2^-57 r from r. */
        if ((root != 0) & (divisor == 4) & (n == 2) & (sum.low == 0) & (slack + (c < 0 ? -c : c) < r * 0x1p-60))
            rounded.value = r, rounded.sure = 1, rounded.rest = 0;
    } else {
        /* A quotient is often a tie. So is the root of two values' spread, which is half their difference. */
        const double far = r * 268435457.0, root_of_25_bits = far - (far - r); /* 2^28 + 1 */
        const tally_pair back = tally_two_product(root ? root_of_25_bits * root_of_25_bits : q, divisor);
        rounded = tally_around(r, tally_four_units(r) + 2 * slack);
        exact &= (back.high == left.high) & (back.low == left.low);
        rounded.value = exact ? (double)(float)(root ? root_of_25_bits : q) : rounded.value;
        rounded.sure |= exact;
    }
    rounded.sure &= some & tally_in_reach(left.high) & ((sum.high == 0) | tally_in_reach(sum.high));
    rounded.value = none ? 0 : rounded.value;
    rounded.sure = (n > ddof) & (none | rounded.sure);
    return rounded;
}
TALLY_FN tally_rounded tally_rounded_spread(tally_pair sum, tally_pair squares, double n, double ddof, int32_t root,
                                            int32_t is_f64) {
    return tally_rounded_spread_within(sum, squares, 0, n, ddof, root, is_f64);
}

/* ---- a second look, where a result is not certain as f32 ---- */

/* Rounds a certain f64 to f32: rounding twice is right unless the f64 is a tie of f32. */
TALLY_FN tally_rounded tally_as_f32(tally_rounded q) {
    const uint64_t bits = (uint64_t)tally_bits_f64(q.value);
    const int32_t exponent = (int32_t)(bits >> 52 & 0x7ff) - 1023;
    q.sure &= (bits & 0x1fffffff) != 0x10000000 && exponent >= -126 && exponent < 127;
    q.value = (double)(float)q.value;
    return q;
}
/* The sum over n, where the quotient is a tie of f32 or next to one. A tie has 25 bits, so n * tie is exact, and so is
 * the difference of the sum and n * tie. The tie, rounded to odd by the sign of that difference, rounds to f32 as the
 * quotient does. */
TALLY_RARE tally_rounded tally_mean_by_tie(tally_pair sum, double n) {
    const double q = sum.high / n, far = q * 268435457.0, tie = far - (far - q); /* 2^28 + 1 */
    const tally_pair near = {tie, (sum.high - tie * n) + sum.low};
    const int64_t exponent = (tally_bits_f64(q) >> 52 & 0x7ff) - 1023;
    tally_rounded rounded;
    rounded.value = (double)(float)tally_to_odd(near);
    rounded.sure = exponent >= -126 && exponent < 127 && n < 0x1p20;
    rounded.rest = tally_nan_f64();
    return rounded;
}
TALLY_RARE tally_rounded tally_mean_again(tally_pair sum, double n) {
    return tally_as_f32(tally_rounded_mean(sum, n, 1));
}
TALLY_RARE tally_rounded tally_root_again(tally_pair sum) { return tally_as_f32(tally_rounded_root(sum, 1)); }
TALLY_RARE tally_rounded tally_spread_again(tally_pair sum, tally_pair squares, double n, double ddof, int32_t root) {
    return tally_as_f32(tally_rounded_spread(sum, squares, n, ddof, root, 1));
}

#endif
