/* How far apart the values of an exact sum are, told from a few of their bits: whether one double, or two, hold sums of
 * them without loss. */
#ifndef TALLY_WIDTH_H
#define TALLY_WIDTH_H

#include "sums/plan.h"
#include "types/types.h"

/* Bits of the largest size, of f64 the high words; and of the smallest but 0, less one in the last place. */
typedef struct range_t {
    uint32_t most, least;
} range_t;

TALLY_FN range_t no_range(void) {
    const range_t none = {0, UINT32_MAX};
    return none;
}
TALLY_FN range_t range_of_value(TALLY_V x) {
    range_t range;
#if TALLY_IS_F64
    const uint64_t size = (uint64_t)tally_bits_f64(x) & INT64_MAX;
    range.most = (uint32_t)(size >> 32);
    range.least = (uint32_t)((size - 1) >> 32);
#else
    range.most = (uint32_t)tally_bits_f32((float)x) & 0x7fffffff;
    range.least = range.most - 1;
#endif
    return range;
}
TALLY_FN range_t range_of(double x) { return range_of_value((TALLY_V)x); }

TALLY_FN int32_t is_finite(range_t a) { return a.most < (TALLY_IS_F64 ? 0x7ff00000 : 0x7f800000); }

/* Sizes are below 2^high_of_range, and all values multiples of 2^unit_of_range. Of an exponent's bits 0 stands for 1.
 * What one in the last place took from the smallest f64 may have gone through to its exponent, which then counts as one
 * less. */
#define TALLY_DIGITS (TALLY_IS_F64 ? 53 : 24)
#define TALLY_BIAS (TALLY_IS_F64 ? 1022 : 126)
TALLY_FN int32_t high_of_range(range_t a) { return (int32_t)(a.most >> (TALLY_IS_F64 ? 20 : 23)) - TALLY_BIAS; }
TALLY_FN int32_t unit_of_range(range_t a) {
    const int32_t low = (int32_t)(TALLY_IS_F64 ? a.least >> 20 : (a.least + 1) >> 23);
    return (low > 1 ? low : 1) - TALLY_BIAS - TALLY_DIGITS;
}
#undef TALLY_DIGITS
#undef TALLY_BIAS
/* Bits from the one to the other; too many, if it is not finite. A sum of n has log2_of(n) more, at most. */
TALLY_FN int32_t width_of(range_t a) { return is_finite(a) ? high_of_range(a) - unit_of_range(a) : INT32_MAX / 2; }
TALLY_FN int32_t log2_of(int32_t n) { return 32 - __builtin_clz((uint32_t)(n - (n > 0)) | 1); }

/* Where values are too far apart for one double: what is a multiple of an anchor's last bit, and the rest (an anchored
 * level and what it leaves: docs/exact.md). */
typedef struct two_t {
    double above, below;
} two_t __attribute__((aligned(16))); /* which go to memory together */
TALLY_FN void put_in_two(two_t *a, double x, double anchor) {
    const double part = (x + anchor) - anchor;
    a->above += part;
    a->below += x - part;
}

/* The anchor's last bit, for sums of up to 2^log2_n values below 2^high: the sum of multiples of it has 53 bits at
 * most, log2_n being 2 or more. Larger ones than too_large would have no anchor. */
enum { too_large = 970 };
TALLY_FN int32_t last_bit(int32_t high, int32_t log2_n) {
    const int32_t last = high + log2_n - 53;
    return last < too_large ? last : too_large;
}
/* Whether there is such an anchor; and the sum of what each value leaves, half of that bit at most, has 53 bits at
 * most. */
TALLY_FN int32_t range_holds(range_t range, int32_t last, int32_t log2_n) {
    return is_finite(range) && last < too_large && last - 1 + log2_n - unit_of_range(range) <= 53;
}
TALLY_FN int32_t log2_meeting(int32_t n) { return n > 4 ? log2_of(n) : 2; }

#endif
