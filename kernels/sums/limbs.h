/* The superaccumulator: a fixed-point number so wide that any sum of floats fits it exactly.
 *
 * Radix 2^32 in 64-bit limbs (Kulisch's long accumulator in the carry-save form of Neal, "Fast exact summation using
 * small and large superaccumulators", 2015): limb i counts units of 2^(origin + 32 i), and the upper half of each word
 * takes carries. So adding is integer addition without carries, for 2^31 deposits in a row. In a *settled* number the
 * carries have been propagated: limbs 0 to count - 2 lie in [0, 2^32), and the last limb has the sign. Settled numbers
 * are equal exactly when their words are equal.
 *
 * Before the limbs are four words of evidence, which count what limbs cannot hold; they merge by addition, too. */
#ifndef TALLY_LIMBS_H
#define TALLY_LIMBS_H

#include "device/dialect.h"

TALLY_EXTENSION typedef __int128 tally_i128;
TALLY_EXTENSION typedef unsigned __int128 tally_u128;

/* What a sum adds: values, their magnitudes, or products of two values. */
#define TALLY_TERM_VALUE 0
#define TALLY_TERM_MAGNITUDE 1
#define TALLY_TERM_PRODUCT 2
#define TALLY_TERMS 3

enum {
    TALLY_PLUS_INFINITY,  /* +inf was seen, or a NaN */
    TALLY_MINUS_INFINITY, /* -inf was seen, or a NaN: both together give a NaN, like inf - inf */
    TALLY_MINUS_ZERO,     /* -0 was seen */
    TALLY_OTHER,          /* anything else was seen */
    TALLY_EVIDENCE
};

/* The extents of numbers: the origin is the lowest exponent of a type's values or products, rounded down to a multiple
 * of 32, and there are enough limbs for 2^57 of the largest value. The origin of products is twice that of values. The
 * origin of integers is 0. */
#define TALLY_SMALL_ORIGIN (-160) /* f16, bf16, f32 */
#define TALLY_SMALL_LIMBS 11
#define TALLY_SMALL_PRODUCT_LIMBS 20
#define TALLY_LARGE_ORIGIN (-1088) /* f64 */
#define TALLY_LARGE_LIMBS 68
#define TALLY_LARGE_PRODUCT_LIMBS 134

/* A view of one number: evidence, then limbs. */
typedef struct tally_number {
    const int64_t *words;
    int32_t count;  /* limbs */
    int32_t origin; /* exponent of the lowest bit */
} tally_number;

/* Adds v * 2^(origin + offset). Changes limbs offset / 32 to offset / 32 + 2, each by less than 2^32. All three exist
 * if 2^offset is no more than the largest term (2^127 is in limb 8 of the 11 of a small number). So a count is
 * deposited as a whole: if it were divided in two, the sign of its upper half would go to limb offset / 32 + 3, which
 * need not exist. */
TALLY_FN void tally_deposit(int64_t *limbs, int64_t v, int32_t offset) {
    int32_t i = offset >> 5, s = offset & 31;
    uint64_t low = (uint64_t)v << s;
    limbs[i] += (int64_t)(low & 0xffffffff);
    limbs[i + 1] += (int64_t)(low >> 32);
    limbs[i + 2] += (v >> 32) >> (32 - s);
}

/* Where *offset is negative: shifts d, whose bits below 2^0 are zeros, and sets *offset to 0. */
TALLY_FN int64_t tally_from_origin(int64_t d, int32_t *offset) {
    const int32_t below = *offset < 0 ? -*offset : 0;
    *offset += below;
    return below > 63 ? 0 : d >> below;
}

/* a + b, wrapping: counts of real values never overflow, but the count that a loaded state claims may. */
TALLY_FN int64_t tally_plus(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }

/* Propagates carries. */
TALLY_FN void tally_carry(int64_t *limbs, int32_t count) {
    int64_t carry = 0;
    TALLY_ROLLED
    for (int32_t i = 0; i < count - 1; i++) {
        int64_t t = tally_plus(limbs[i], carry);
        carry = t >> 32;
        limbs[i] = t & 0xffffffff;
    }
    limbs[count - 1] = tally_plus(limbs[count - 1], carry);
}

/* Settles evidence and limbs: afterwards the words depend only on the values that were added. After an infinity the
 * finite part is cleared, and the sign of zeros counts only if nothing else was seen. */
TALLY_FN void tally_settle(int64_t *words, int32_t count) {
    int64_t *limbs = words + TALLY_EVIDENCE;
    TALLY_ROLLED
    for (int32_t k = 0; k < TALLY_EVIDENCE; k++) words[k] = words[k] != 0;
    if (words[TALLY_OTHER]) words[TALLY_MINUS_ZERO] = 0;
    if (words[TALLY_PLUS_INFINITY] | words[TALLY_MINUS_INFINITY]) {
        TALLY_ROLLED
        for (int32_t i = 0; i < count; i++) limbs[i] = 0;
    } else
        tally_carry(limbs, count);
}

/* ---- one value ---- */

/* A finite value is significand * 2^exponent. */
TALLY_FN int64_t tally_significand(double x) {
    int64_t bits = tally_bits_f64(x);
    int64_t m = bits & 0xfffffffffffff;
    if ((bits >> 52 & 0x7ff) != 0) m |= (int64_t)1 << 52;
    return bits < 0 ? -m : m;
}
TALLY_FN int32_t tally_exponent(double x) {
    int32_t biased = (int32_t)(tally_bits_f64(x) >> 52 & 0x7ff);
    return (biased != 0 ? biased : 1) - 1075;
}
TALLY_FN double tally_scale(double x, int32_t power) { /* by 2^power; the caller knows that the result is exact */
    TALLY_ROLLED
    while (power > 1000) x *= 0x1p1000, power -= 1000;
    TALLY_ROLLED
    while (power < -1000) x *= 0x1p-1000, power += 1000;
    return x * tally_power_of_two(power);
}
TALLY_FN int tally_is_finite(double x) { return x - x == 0; }

/* Adds the evidence of a term that is zero, infinite or a NaN. The term may be a rounded product: rounding keeps its
 * class. */
TALLY_FN void tally_witness(int64_t *words, double x) {
    if (tally_is_finite(x))
        words[x == 0 && tally_bits_f64(x) < 0 ? TALLY_MINUS_ZERO : TALLY_OTHER] = 1;
    else {
        words[TALLY_OTHER] = 1;
        if (!(x < 0)) words[TALLY_PLUS_INFINITY] = 1;
        if (!(x > 0)) words[TALLY_MINUS_INFINITY] = 1;
    }
}
TALLY_FN void tally_add_value(int64_t *words, int32_t origin, double x) {
    int32_t offset = tally_exponent(x) - origin, below = offset < 0 ? -offset : 0;
    tally_witness(words, x);
    /* As a double, a value of a narrow type ends in zeros, so no bit is below the origin. */
    if (tally_is_finite(x) && x != 0)
        tally_deposit(words + TALLY_EVIDENCE, tally_significand(x) >> below, offset + below);
}
/* x * y without rounding: 106 bits in two deposits. */
TALLY_FN void tally_add_product(int64_t *words, int32_t origin, double x, double y) {
    if (tally_is_finite(x) && tally_is_finite(y)) {
        tally_i128 product = (tally_i128)tally_significand(x) * tally_significand(y);
        int32_t offset = tally_exponent(x) + tally_exponent(y) - origin;
        int32_t below = offset < 0 ? -offset : 0;
        int negative = (tally_bits_f64(x) ^ tally_bits_f64(y)) < 0;
        words[(x == 0 || y == 0) && negative ? TALLY_MINUS_ZERO : TALLY_OTHER] = 1;
        if (product == 0) return;
        product >>= below;
        offset += below;
        tally_deposit(words + TALLY_EVIDENCE, (int64_t)(product & 0xffffffffffff), offset);
        tally_deposit(words + TALLY_EVIDENCE, (int64_t)(product >> 48), offset + 48);
    } else
        tally_witness(words, x * y);
}

#endif
