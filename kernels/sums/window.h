/* From an exact number to its rounded value: a window on its leading 225 bits or more, whole-number division and square
 * root of that window, and one rounding to nearest even.
 *
 * Each step keeps the number as a floor and a sticky bit, which says whether anything is left below. Floors of
 * quotients and roots compose: floor(floor(x / a) / b) = floor(x / (a b)), and floor(sqrt(floor(x))) = floor(sqrt(x)).
 * So the last step rounds the leading bits of the true value, and knows whether there is a remainder: the result is
 * correctly rounded. docs/exact.md has the argument in full. */
#ifndef TALLY_WINDOW_H
#define TALLY_WINDOW_H

#include "sums/limbs.h"

enum { TALLY_WINDOW_WORDS = 8 };

/* (the words, least significant first, + something in [0, 1) that is 0 unless sticky) * 2^exponent */
typedef struct tally_window {
    uint32_t word[TALLY_WINDOW_WORDS];
    int32_t exponent;
    int32_t sticky;
    int32_t negative;
} tally_window;

/* Word i of a settled number in two's complement, sign included beyond both ends. */
TALLY_FN uint32_t tally_limb_word(const int64_t *limbs, int32_t count, int32_t i) {
    if (i < 0) return 0;
    if (i < count) return (uint32_t)(limbs[i] & 0xffffffff);
    return (uint32_t)((i == count ? limbs[count - 1] >> 32 : limbs[count - 1] >> 63) & 0xffffffff);
}

/* The leading words of a settled number. A negative number is negated: its magnitude is the complement plus 1, and that
 * 1 reaches the window only if everything below is 0. */
TALLY_LONG void tally_open_window(tally_window *a, const int64_t *limbs, int32_t count, int32_t origin) {
    int32_t top = count, low;
    uint32_t fill = limbs[count - 1] < 0 ? 0xffffffffu : 0, carry;
    int32_t below = 0;
    TALLY_ROLLED
    while (top >= 0 && tally_limb_word(limbs, count, top) == fill) top--;
    low = top + 2 - TALLY_WINDOW_WORDS; /* one word above the top takes the carry */
    TALLY_ROLLED
    for (int32_t i = 0; i < low && !below; i++) below = limbs[i] != 0;
    carry = fill & 1 & (uint32_t)!below;
    TALLY_ROLLED
    for (int32_t k = 0; k < TALLY_WINDOW_WORDS; k++) {
        uint64_t t = (uint64_t)(tally_limb_word(limbs, count, low + k) ^ fill) + carry;
        a->word[k] = (uint32_t)t;
        carry = (uint32_t)(t >> 32);
    }
    a->exponent = origin + 32 * low;
    a->sticky = below;
    a->negative = fill != 0;
}

/* The number of the highest bit that is set; -1: none. */
TALLY_FN int32_t tally_top_bit(const tally_window *a) {
    int32_t k = TALLY_WINDOW_WORDS - 1;
    TALLY_ROLLED
    while (k >= 0 && a->word[k] == 0) k--;
    return k < 0 ? -1 : 32 * k + 31 - __builtin_clz(a->word[k]);
}
/* 64 bits from bit `at` on; bits outside the window are 0. */
TALLY_FN uint64_t tally_bits_at(const tally_window *a, int32_t at) {
    int32_t k = at >> 5, s = at & 31;
    uint64_t w[3];
    TALLY_ROLLED
    for (int32_t i = 0; i < 3; i++) w[i] = k + i >= 0 && k + i < TALLY_WINDOW_WORDS ? a->word[k + i] : 0;
    return (w[0] | w[1] << 32) >> s | (s ? w[2] << (64 - s) : 0);
}
TALLY_FN int32_t tally_any_below(const tally_window *a, int32_t bit) {
    uint32_t any = 0;
    TALLY_ROLLED
    for (int32_t k = 0; k < TALLY_WINDOW_WORDS; k++)
        if (32 * k + 32 <= bit)
            any |= a->word[k];
        else if (32 * k < bit)
            any |= a->word[k] & (((uint32_t)1 << (bit & 31)) - 1);
    return any != 0 || a->sticky;
}

/* a / b, as a function: compilers for devices would inline the division in every place. */
TALLY_LONG tally_u128 tally_over(tally_u128 a, uint64_t b) { return a / b; }

/* Divides by n, 1 to 2^63. A new window keeps at least 160 leading bits. */
TALLY_LONG void tally_divide(tally_window *a, uint64_t n) {
    uint64_t rest = 0;
    TALLY_ROLLED
    for (int32_t k = TALLY_WINDOW_WORDS - 1; k >= 0; k--) {
        if (n >> 32 == 0) {
            uint64_t t = rest << 32 | a->word[k];
            a->word[k] = (uint32_t)(t / n);
            rest = t % n;
        } else {
            tally_u128 t = (tally_u128)rest << 32 | a->word[k];
            tally_u128 whole = tally_over(t, n);
            a->word[k] = (uint32_t)whole;
            rest = (uint64_t)(t - whole * n);
        }
    }
    a->sticky |= rest != 0;
}

/* floor(sqrt(m)) for m of at least 126 bits. A root in doubles has an error below 2^12; after one step of Newton's
 * method it is below 2, and the rest is counted down. */
TALLY_LONG uint64_t tally_root_of(tally_u128 m) {
    double estimate = tally_sqrt_f64((double)(uint64_t)(m >> 64)) * 4294967296.0;
    uint64_t r = estimate >= 18446744073709549568.0 ? UINT64_MAX - 4095 : (uint64_t)estimate;
    tally_i128 rest = (tally_i128)(m - (tally_u128)r * r);
    int64_t step = (int64_t)((double)rest / (2.0 * (double)r));
    r = step > 0 && r > UINT64_MAX - (uint64_t)step ? UINT64_MAX : r + (uint64_t)step;
    TALLY_ROLLED
    while ((tally_u128)r * r > m) r--;
    TALLY_ROLLED
    while (r < UINT64_MAX && (tally_u128)(r + 1) * (r + 1) <= m) r++;
    return r;
}
/* The square root of a window of at least 110 leading bits, in at least 63 bits. Filling the window up to 128 bits with
 * zeros does not change the leading 54 bits of the root: the square of 54 bits is a multiple of the zeros' place
 * value. */
TALLY_LONG void tally_root(tally_window *a) {
    int32_t top = tally_top_bit(a), shift = top - 127;
    tally_u128 m;
    uint64_t r;
    if (top < 0) return;
    if ((a->exponent + shift) & 1) shift++;
    m = (tally_u128)tally_bits_at(a, shift + 64) << 64 | tally_bits_at(a, shift);
    if (shift > 0) a->sticky = tally_any_below(a, shift);
    r = tally_root_of(m);
    a->sticky |= (tally_u128)r * r != m;
    a->exponent = (a->exponent + shift) / 2;
    TALLY_ROLLED
    for (int32_t k = 0; k < TALLY_WINDOW_WORDS; k++) a->word[k] = 0;
    a->word[0] = (uint32_t)r;
    a->word[1] = (uint32_t)(r >> 32);
}

/* The window's value rounded to a format, to nearest, ties to even. Zero is +0. */
TALLY_LONG double tally_round(const tally_window *a, tally_format format) {
    int32_t top = tally_top_bit(a), cut = top - format.digits + 1;
    uint64_t m, half;
    double x;
    if (top < 0) return 0;
    if (cut < format.least - a->exponent) cut = format.least - a->exponent;
    if (cut > top + 1)
        m = half = 0;
    else {
        m = cut > top ? 0 : tally_bits_at(a, cut);
        half = tally_bits_at(a, cut - 1) & 1;
        m += half & ((m & 1) | (uint64_t)tally_any_below(a, cut - 1));
    }
    /* m has at most 53 bits, or is 2^53; below the normal numbers it has as many as they leave. */
    x = m == 0                                ? 0
        : top + a->exponent > format.infinite ? tally_infinity_f64()
                                              : tally_scale((double)m, cut + a->exponent);
    if (format.digits < 53 && x >= tally_scale(1, format.infinite)) x = tally_infinity_f64();
    return a->negative ? -x : x;
}

/* ---- results of two sums ---- */

/* The magnitude of a sum: all words outside `first` to `last` are 0. */
typedef struct tally_magnitude {
    uint32_t word[TALLY_LARGE_LIMBS + 1];
    int32_t first, last;
} tally_magnitude;
TALLY_FN void tally_open_magnitude(tally_magnitude *a, const int64_t *limbs, int32_t count) {
    uint32_t fill = limbs[count - 1] < 0 ? 0xffffffffu : 0, carry = fill & 1;
    a->first = count + 1;
    a->last = -1;
    TALLY_ROLLED
    for (int32_t i = 0; i <= count; i++) {
        uint64_t w = (uint64_t)(tally_limb_word(limbs, count, i) ^ fill) + carry;
        a->word[i] = (uint32_t)w;
        carry = (uint32_t)(w >> 32);
        if (a->word[i] == 0) continue;
        if (a->last < 0) a->first = i;
        a->last = i;
    }
}

/* n * squares - sum^2, exactly: n times the sum of squared deviations, never negative. */
typedef struct tally_spread {
    uint32_t word[TALLY_LARGE_PRODUCT_LIMBS + 6];
    int32_t count, top; /* number of words; the highest word that is not 0 */
} tally_spread;
/* Computes the words from `from` on, from the columns of the product from `from` on. */
TALLY_LONG void tally_spread_columns(tally_spread *a, const tally_magnitude *sum, tally_number squares, uint64_t n,
                                     int32_t from) {
    const int64_t *const q = squares.words + TALLY_EVIDENCE;
    const int32_t first = sum->first, last = sum->last;
    tally_i128 column = 0;
    TALLY_ROLLED
    for (int32_t at = from; at < a->count; at++) {
        column += (tally_i128)((uint64_t)tally_limb_word(q, squares.count, at) * (n & 0xffffffff));
        column += (tally_i128)((uint64_t)tally_limb_word(q, squares.count, at - 1) * (n >> 32));
        TALLY_ROLLED
        for (int32_t i = at - last > first ? at - last : first; i <= last && at - i >= first; i++)
            column -= (tally_i128)((uint64_t)sum->word[i] * sum->word[at - i]);
        a->word[at] = (uint32_t)(column & 0xffffffff);
        column >>= 32;
    }
    a->top = a->count - 1;
    TALLY_ROLLED
    while (a->top >= from && a->word[a->top] == 0) a->top--;
}
/* Whether the columns from `from` on decide the window. What the other columns add is less than 2^(32 * (from + 3)):
 * sums have fewer than 2^7 words, and n is below 2^64. If some word in between is neither 0 nor all ones, that does not
 * reach the window, and does not make everything below the window 0. */
TALLY_FN int32_t tally_spread_is_decided(const tally_spread *a, int32_t from) {
    int32_t is_decided = 0;
    TALLY_ROLLED
    for (int32_t i = from + 3; i < a->top + 1 - TALLY_WINDOW_WORDS; i++)
        is_decided |= a->word[i] != 0 && a->word[i] != 0xffffffff;
    return is_decided;
}

/* The leading words of n * squares - sum^2. Both numbers are settled, and the origin of squares is twice that of sum.
 * The square of a long sum is not computed in full where its leading words decide. */
TALLY_LONG void tally_open_spread(tally_window *a, tally_number sum, tally_number squares, uint64_t n) {
    enum { COLUMNS = TALLY_WINDOW_WORDS + 6 };
    const int64_t *const q = squares.words + TALLY_EVIDENCE;
    tally_magnitude x;
    tally_spread t;
    int32_t from = 0;
    tally_open_magnitude(&x, sum.words + TALLY_EVIDENCE, sum.count);
    t.count = squares.count + 4;
    if (x.last - x.first > COLUMNS) {
        from = 2 * x.last + 2 - COLUMNS;
        tally_spread_columns(&t, &x, squares, n, from);
        if (!tally_spread_is_decided(&t, from)) from = 0;
    }
    if (from == 0) {
        TALLY_ROLLED
        while (from < squares.count && q[from] == 0 && from < 2 * x.first) from++;
        tally_spread_columns(&t, &x, squares, n, from);
    }
    a->exponent = squares.origin + 32 * (t.top + 1 - TALLY_WINDOW_WORDS);
    a->sticky = a->negative = 0;
    TALLY_ROLLED
    for (int32_t k = 0; k < TALLY_WINDOW_WORDS; k++) {
        int32_t i = t.top + 1 - TALLY_WINDOW_WORDS + k;
        a->word[k] = i >= from ? t.word[i] : 0;
    }
    TALLY_ROLLED
    for (int32_t i = from; i < t.top + 1 - TALLY_WINDOW_WORDS && !a->sticky; i++) a->sticky = t.word[i] != 0;
}

#endif
