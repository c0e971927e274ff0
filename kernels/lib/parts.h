/* Results from sums in few parts: the exact sum is the sum of up to three doubles, and the result follows by a fixed sequence of
 * error-free operations, which vector lanes and GPU threads can afford for every segment.
 *
 * Knuth's two-sum and Dekker's product keep what rounding drops; rounding to odd keeps it visible in the last bit (Boldo and
 * Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008). Where a quotient or
 * a root lies too close to a tie to tell, `sure` is 0 and the caller takes lib/window.h. docs/exact.md has the arguments. */
#ifndef TALLY_PARTS_H
#define TALLY_PARTS_H

#include "lib/dialect.h"

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
#ifdef TALLY_HAS_FMA
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
    int64_t away = (p.low > 0) == (p.high > 0) ? 1 : -1;
    bits += p.low != 0 && (bits & 1) == 0 ? away : 0;
    return tally_from_bits_f64(bits);
}

/* a + b + c, in order of size or cancelling: the rounded sum and what is left of it, itself rounded to odd. */
TALLY_FN tally_pair tally_three_sum(double a, double b, double c) {
    tally_pair low = tally_two_sum(b, c), high = tally_two_sum(a, low.high);
    double rest = tally_to_odd(tally_two_sum(high.low, low.low));
    return tally_two_sum(high.high, rest);
}

/* What a fast result is, and whether it is certain. */
typedef struct tally_quick {
    double value; /* rounded to the format wanted, f32 or f64 */
    int32_t sure;
} tally_quick;

/* Where products and quotients of such numbers neither overflow nor lose digits. Zero is not in it: its sign takes another look. */
TALLY_FN int32_t tally_in_reach(double x) {
    int64_t exponent = tally_bits_f64(x) >> 52 & 0x7ff;
    return exponent > 1023 - 400 && exponent < 1023 + 400;
}
TALLY_FN tally_quick tally_nearest(tally_pair p, int32_t is_f64) {
    tally_quick q;
    q.value = is_f64 ? p.high : (double)(float)tally_to_odd(p);
    q.sure = p.high != 0;
    return q;
}
/* q + c, where c is right to 2^-48 of itself, and 0 exactly when the truth is q. */
TALLY_FN tally_quick tally_corrected(double q, double c, int32_t is_f64) {
    tally_quick quick;
    double slack = (c < 0 ? -c : c) * 0x1p-47;
    double low = q + (c - slack), high = q + (c + slack);
    tally_pair p = tally_two_sum(q, c);
    quick.value = is_f64 ? low : (double)(float)tally_to_odd(p);
    quick.sure = is_f64 ? low == high : (c == 0 || p.low > slack || -p.low > slack);
    return quick;
}
/* The sum over n, an integer below 2^20. */
TALLY_FN tally_quick tally_quick_mean(tally_pair sum, double n, int32_t is_f64) {
    double q = sum.high / n;
    tally_pair product = tally_two_product(q, n);
    tally_pair rest = tally_two_sum((sum.high - product.high) - product.low, sum.low); /* exact */
    double c = rest.high / n;
    tally_quick quick = tally_corrected(q, c, is_f64);
    if (is_f64) { /* many a sum over a power of two is a tie: right, if c is exact */
        tally_pair back = tally_two_product(c, n);
        int32_t exact = (back.high == rest.high) & (back.low == 0) & (rest.low == 0);
        quick.value = exact ? q + c : quick.value;
        quick.sure |= exact;
    }
    quick.sure &= tally_in_reach(sum.high);
    return quick;
}
/* The root of a sum that is positive. */
TALLY_FN tally_quick tally_quick_root(tally_pair sum, int32_t is_f64) {
    double q = tally_sqrt_f64(sum.high);
    tally_pair square = tally_two_product(q, q);
    double rest = ((sum.high - square.high) - square.low) + sum.low;
    tally_quick quick = tally_corrected(q, rest / (2 * q), is_f64);
    quick.sure &= tally_in_reach(sum.high);
    return quick;
}
/* The sum of squared deviations over n - ddof: (n squares - sum^2) / (n (n - ddof)), n below 2^20. */
TALLY_FN tally_quick tally_quick_spread(tally_pair sum, tally_pair squares, double n, double ddof, int32_t root,
                                        int32_t is_f64) {
    tally_pair a = tally_two_product(n, squares.high), b = tally_two_product(sum.high, sum.high);
    tally_pair d = tally_two_sum(a.high, -b.high);
    /* Where much cancels, what is left is not small beside d: it is made a pair again. */
    tally_pair left = tally_two_sum(d.high, d.low + ((a.low - b.low) + (n * squares.low - 2 * sum.high * sum.low)));
    double divisor = n * (n - ddof);
    double slack = (a.high + b.high) * 0x1p-98 / divisor;
    double q = left.high / divisor;
    tally_pair product = tally_two_product(q, divisor);
    double c = (((left.high - product.high) - product.low) + left.low) / divisor;
    double low, high;
    tally_quick quick;
    if (root) { /* of q + c */
        double r = tally_sqrt_f64(q);
        tally_pair square = tally_two_product(r, r);
        c = (((q - square.high) - square.low) + c) / (2 * r);
        slack = slack / r;
        q = r;
    }
    slack += (c < 0 ? -c : c) * 0x1p-40 + q * 0x1p-98;
    low = q + (c - slack);
    high = q + (c + slack);
    if (!is_f64) { /* a tie of f32 is a double, and must not hide what lies beside it */
        low = (double)(float)tally_to_odd(tally_two_sum(q, c - slack));
        high = (double)(float)tally_to_odd(tally_two_sum(q, c + slack));
    }
    {
        int32_t some = tally_in_reach(squares.high), whole = (sum.low == 0) & (squares.low == 0);
        int32_t none = (n == 1) | (squares.high == 0) | (some & whole & (a.high == b.high) & (a.low == b.low)); /* nothing deviates */
        int32_t told = (low == high) & some & tally_in_reach(left.high) & ((sum.high == 0) | tally_in_reach(sum.high));
        quick.value = none ? 0 : low;
        quick.sure = (n > ddof) & (none | told);
    }
    return quick;
}

#endif
