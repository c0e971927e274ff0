/* Exact sums of integers: numbers of 192 bits in two's complement, and their results. Not a template.
 *
 * The result as a 64-bit integer is the lowest word: most sums need only addition modulo 2^64, and the words above say
 * whether that was enough. The code is plain 64-bit arithmetic, so that it can run in vector lanes, with a short
 * segment in each lane. */
#ifndef TALLY_WIDE_H
#define TALLY_WIDE_H

#include "sums/parts.h"
#include "sums/sums.h"

typedef struct tally_wide {
    uint64_t w0, w1, w2; /* least significant first */
} tally_wide;

TALLY_FN uint64_t tally_sign_word(uint64_t word) { return (int64_t)word < 0 ? UINT64_MAX : 0; }

TALLY_FN tally_wide tally_wide_of(int64_t value) {
    tally_wide a;
    a.w0 = (uint64_t)value;
    a.w1 = a.w2 = tally_sign_word(a.w0);
    return a;
}
/* The sum of up to 2^20 terms of 64 bits, from their sum modulo 2^64 and the sum of their upper halves. The sum of the
 * lower halves is the difference, which is small. The upper halves of signed terms count from -2^31 on, so they are
 * never negative and need no arithmetic shift, which vector units lack. */
#define TALLY_SIGN_BIT ((uint64_t)1 << 63)
TALLY_FN uint64_t tally_upper_half(uint64_t term, int is_signed) {
    return (is_signed ? term ^ TALLY_SIGN_BIT : term) >> 32;
}
TALLY_FN tally_wide tally_wide_of_halves(uint64_t sum, uint64_t upper, int64_t terms, int is_signed) {
    uint64_t high = is_signed ? upper - ((uint64_t)terms << 31) : upper;
    uint64_t low = sum - (high << 32);
    tally_wide a;
    high += low >> 32; /* in units of 2^32; below 2^53 in magnitude */
    a.w0 = sum;
    a.w1 = high >> 32 | (tally_sign_word(high) & ~(uint64_t)0xffffffff);
    a.w2 = tally_sign_word(high);
    return a;
}
/* low + high * 2^64; low is not negative. */
TALLY_FN tally_wide tally_wide_of_words(tally_wide low, tally_wide high) {
    tally_wide a;
    a.w0 = low.w0;
    a.w1 = low.w1 + high.w0;
    a.w2 = high.w1 + (a.w1 < low.w1);
    return a;
}
TALLY_FN tally_wide tally_wide_add(tally_wide a, tally_wide b) {
    uint64_t carry;
    a.w0 += b.w0;
    carry = a.w0 < b.w0;
    a.w1 += carry;
    carry = a.w1 < carry;
    a.w1 += b.w1;
    carry += a.w1 < b.w1;
    a.w2 += b.w2 + carry;
    return a;
}

/* Whether the number fits the lowest word, read as signed or unsigned. */
TALLY_FN int tally_fits_word(tally_wide a, int is_signed) {
    uint64_t above = is_signed ? tally_sign_word(a.w0) : 0;
    return ((a.w1 ^ above) | (a.w2 ^ above)) == 0;
}
/* Whether an f64 holds the number, and every integer between it and 0. */
TALLY_FN int tally_fits_double(tally_wide a) {
    return tally_fits_word(a, 1) & (a.w0 + ((uint64_t)1 << 53) <= (uint64_t)1 << 54);
}
TALLY_FN int tally_count_fits_double(int64_t n) { return n <= (int64_t)1 << 53; }

/* ---- results: the true value, rounded once ---- */

/* Most results are made of two doubles (sums/parts.h), without the windows of sums/window.h. */

/* -a, if every bit of `sign` is set; a, if none is. */
TALLY_FN tally_wide tally_wide_with_sign(tally_wide a, uint64_t sign) {
    const tally_wide flipped = {a.w0 ^ sign, a.w1 ^ sign, a.w2 ^ sign}, one = {sign & 1, 0, 0};
    return tally_wide_add(flipped, one);
}
TALLY_FN tally_wide tally_wide_magnitude(tally_wide a) { return tally_wide_with_sign(a, tally_sign_word(a.w2)); }
/* A number that is not negative, as two doubles. *relative is 0 if they are it exactly, and otherwise a bound for their
 * error, as a share of it. Its halves of words are added from the last to the first, and so is what that rounds off. */
TALLY_FN tally_pair tally_pair_of_wide(tally_wide a, double *relative) {
    const double halves[6] = {(double)(uint32_t)a.w0,           (double)(uint32_t)(a.w0 >> 32) * 0x1p32,
                              (double)(uint32_t)a.w1 * 0x1p64,  (double)(uint32_t)(a.w1 >> 32) * 0x1p96,
                              (double)(uint32_t)a.w2 * 0x1p128, (double)(uint32_t)(a.w2 >> 32) * 0x1p160};
    tally_pair sum = {halves[0], 0}, rest = {0, 0};
    *relative = 0;
    for (int32_t k = 1; k < 6; k++) {
        if ((k == 2 && (a.w1 | a.w2) == 0) || (k == 4 && a.w2 == 0)) break;
        sum = tally_two_sum(halves[k], sum.high);
        rest = tally_two_sum(sum.low, rest.high);
        if (rest.low != 0) *relative = 0x1p-100;
    }
    return tally_two_sum(sum.high, rest.high);
}
/* n squares - sum^2, for up to TALLY_MOST_DIVIDED values of up to 64 bits. */
TALLY_FN tally_wide tally_wide_deviations(tally_wide sum, tally_wide squares, uint64_t n) {
    const tally_wide s = tally_wide_magnitude(sum); /* below 2^90 */
    const tally_u128 low = (tally_u128)squares.w0 * n, middle = (tally_u128)squares.w1 * n + (uint64_t)(low >> 64),
                     s_low = (tally_u128)s.w0 * s.w0,
                     s_middle = 2 * ((tally_u128)s.w0 * s.w1) + (uint64_t)(s_low >> 64);
    const tally_wide a = {(uint64_t)low, (uint64_t)middle, squares.w2 * n + (uint64_t)(middle >> 64)},
                     b = {(uint64_t)s_low, (uint64_t)s_middle, s.w1 * s.w1 + (uint64_t)(s_middle >> 64)};
    return tally_wide_add(a, tally_wide_with_sign(b, UINT64_MAX));
}
/* The root of a / b. The root of the rounded quotient is corrected by the remainder. */
TALLY_FN tally_rounded tally_root_of_quotient(tally_pair a, double relative, double b) {
    const double root = tally_sqrt_f64(a.high / b);
    const tally_pair square = tally_two_product(root, root), back = tally_two_product(b, square.high);
    const double rest = (((a.high - back.high) - back.low) + a.low) - b * square.low;
    tally_rounded rounded = tally_corrected_within(root, rest / (2 * b * root), relative * root);
    rounded.value = a.high == 0 ? 0 : rounded.value;
    rounded.sure |= a.high == 0;
    return rounded;
}

/* The number as limbs (sums/limbs.h) with origin 0. */
typedef struct tally_wide_words {
    int64_t words[TALLY_EVIDENCE + 6];
} tally_wide_words;
TALLY_LONG tally_number tally_number_of(tally_wide a, tally_wide_words *space) {
    tally_number number = {space->words, 6, 0};
    int64_t *limbs = space->words + TALLY_EVIDENCE;
    for (int k = 0; k < TALLY_EVIDENCE; k++) space->words[k] = k == TALLY_OTHER;
    limbs[0] = (int64_t)(a.w0 & 0xffffffff);
    limbs[1] = (int64_t)(a.w0 >> 32);
    limbs[2] = (int64_t)(a.w1 & 0xffffffff);
    limbs[3] = (int64_t)(a.w1 >> 32);
    limbs[4] = (int64_t)(a.w2 & 0xffffffff);
    limbs[5] = (int64_t)a.w2 >> 32;
    return number;
}
/* sum / n */
TALLY_RARE double tally_wide_mean_of_many(tally_wide sum, uint64_t n, tally_format format) {
    tally_wide_words space;
    return tally_clean_f64(tally_sum_result(tally_number_of(sum, &space), n, format));
}
TALLY_RARE double tally_wide_mean(tally_wide sum, uint64_t n, tally_format format) {
    if (format.digits == 53 && n > 0 && n <= TALLY_MOST_DIVIDED) {
        if ((sum.w0 | sum.w1 | sum.w2) == 0) return 0;
        double relative;
        const tally_pair pair = tally_pair_of_wide(tally_wide_magnitude(sum), &relative);
        const tally_rounded mean = tally_rounded_mean_within(pair, relative * pair.high, (double)n, 1);
        if (mean.sure) return (int64_t)sum.w2 < 0 ? -mean.value : mean.value;
    }
    return tally_wide_mean_of_many(sum, n, format);
}
TALLY_RARE double tally_wide_root(tally_wide squares, tally_format format) {
    tally_wide_words space;
    if (format.digits == 53) {
        double relative;
        const tally_pair pair = tally_pair_of_wide(squares, &relative);
        const tally_rounded root = tally_root_of_quotient(pair, relative, 1);
        if (root.sure) return root.value;
    }
    return tally_root_result(tally_number_of(squares, &space), format);
}
/* The variance, or its root, of n values. */
TALLY_RARE double tally_wide_spread(tally_wide sum, tally_wide squares, int64_t n, const tally_final *final) {
    tally_wide_words space, more_space;
    if (final->format.digits == 53 && n > final->ddof && n <= TALLY_MOST_DIVIDED) {
        const tally_wide deviations = tally_wide_deviations(sum, squares, (uint64_t)n);
        if ((deviations.w0 | deviations.w1 | deviations.w2) == 0) return 0;
        double relative;
        const tally_pair pair = tally_pair_of_wide(deviations, &relative);
        const double divisor = (double)n * (double)(n - final->ddof);
        const tally_rounded spread = final->root ? tally_root_of_quotient(pair, relative, divisor)
                                                 : tally_rounded_mean_within(pair, relative * pair.high, divisor, 1);
        if (spread.sure) return spread.value;
    }
    return tally_clean_f64(tally_spread_result(tally_number_of(sum, &space), tally_number_of(squares, &more_space), n,
                                               final, final->format));
}
/* The sum in 64 bits, as final.as says: an integer, or the bits of a double. If an integer does not fit, it is the
 * nearest that does, and *flags says so. */
TALLY_RARE uint64_t tally_wide_sum(tally_wide sum, int is_signed, const tally_final *final, int *flags) {
    if (final->as == TALLY_AS_FLOAT) return (uint64_t)tally_bits_f64(tally_wide_mean(sum, 1, final->format));
    if (final->as == TALLY_AS_U64) is_signed = 0;
    if (final->wraps || tally_fits_word(sum, is_signed)) return sum.w0;
    *flags |= TALLY_FLAG_OVERFLOW;
    if ((int64_t)sum.w2 < 0) return is_signed ? TALLY_SIGN_BIT : 0;
    return is_signed ? TALLY_SIGN_BIT - 1 : UINT64_MAX;
}

/* Whether the variance is a quotient of two integers that an f64 holds: sum^2 <= n squares <= 2^53. */
TALLY_FN int tally_is_small_spread(tally_wide squares, int64_t n) {
    int is_short = ((squares.w0 >> 53 | squares.w1 | squares.w2) == 0) & (n <= 1 << 10);
    return is_short & (squares.w0 * (uint64_t)n <= (uint64_t)1 << 53);
}
TALLY_FN tally_rounded tally_small_spread(tally_wide sum, tally_wide squares, int64_t n, const tally_final *final) {
    double apart = (double)(int64_t)((uint64_t)n * squares.w0 - sum.w0 * sum.w0);
    double over = (double)(int64_t)((uint64_t)n * (uint64_t)(n - final->ddof));
    const tally_pair pair = {apart, 0};
    tally_rounded rounded;
    if (final->root)
        rounded = tally_root_of_quotient(pair, 0, over);
    else {
        rounded.value = apart / over;
        rounded.sure = 1;
    }
    rounded.value = n > final->ddof ? rounded.value : tally_nan_f64();
    rounded.sure |= n <= final->ddof;
    return rounded;
}

#endif
