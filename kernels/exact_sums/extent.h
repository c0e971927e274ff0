/* How large the values of a leaf are, for exact sums on a device: what a lane measures, and the bounds that levels are
 * planned from. For the type of exact_sums/exact.h and order/leaf.h. */
#ifndef TALLY_EXTENT_H
#define TALLY_EXTENT_H

#include TALLY_KERNEL_FILE
#include "order/leaf.h"

/* The magnitude of a value as bits, of an f64 the upper half; not 0 unless the value is. */
TALLY_FN uint32_t size_bits(TALLY_T t) {
#if TALLY_IS_F64
    return tally_high_word(t) | ((uint32_t)tally_bits_f64(t) != 0);
#else
    return (uint32_t)((TALLY_B)value_bits(t) & (TALLY_B)TALLY_K_HIGH);
#endif
}
#if TALLY_IS_F64
#define TALLY_SIZE_INFINITY 0x7ff00000u
#define TALLY_SIZE_FRACTION 20
#define TALLY_SIZE_LEAST (-1074)
#elif TALLY_NUMBER == TALLY_NUMBER_f32
#define TALLY_SIZE_INFINITY 0x7f800000u
#define TALLY_SIZE_FRACTION 23
#define TALLY_SIZE_LEAST (-149)
#elif TALLY_NUMBER == TALLY_NUMBER_f16
#define TALLY_SIZE_INFINITY 0x7c00u
#define TALLY_SIZE_FRACTION 10
#define TALLY_SIZE_LEAST (-24)
#else
#define TALLY_SIZE_INFINITY 0x7f80u
#define TALLY_SIZE_FRACTION 7
#define TALLY_SIZE_LEAST (-133)
#endif
#define TALLY_DIGITS_OF_TYPE (TALLY_IS_F64 ? 53 : TALLY_SIZE_FRACTION + 1)

/* What a lane, then a warp, knows of a leaf: sizes minus 1 wrap around for 0, so that it counts as large. */
typedef struct extent_t {
    uint32_t most, least; /* the largest size; the smallest that is not 0, minus 1 */
} extent_t;

#if TALLY_BYTES == 2
/* Two sizes at a time. All f16 have levels in common, so that only the largest matters. */
TALLY_FN extent_t measure(const share_t *x) {
    extent_t e = {0, 0};
    uint32_t most = 0, least = UINT32_MAX;
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
        tally_quad quad;
        __builtin_memcpy(&quad, &x->part[s], sizeof quad);
        TALLY_UNROLL
        for (int32_t k = 0; k < 4; k++) {
            most = tally_max_halves(quad.w[k] & 0x7fff7fff, most);
            if (TALLY_NUMBER != TALLY_NUMBER_f16) least = tally_min_halves_less_one(quad.w[k] & 0x7fff7fff, least);
        }
    }
    e.most = (most & 0xffff) > most >> 16 ? most & 0xffff : most >> 16;
    if (TALLY_NUMBER != TALLY_NUMBER_f16) {
        e.least = (least & 0xffff) < least >> 16 ? least & 0xffff : least >> 16;
        if (e.least == 0xffff) e.least = UINT32_MAX;
    }
    return e;
}
#else
TALLY_FN extent_t measure(const share_t *x) {
    extent_t e = {0, UINT32_MAX};
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_PART; v++) {
            uint32_t size = size_bits(x->part[s].v[v]);
            e.most = size > e.most ? size : e.most;
            e.least = tally_min_less_one(size, e.least);
        }
    }
    return e;
}
#endif
TALLY_FN extent_t measure_warp(extent_t e) {
    e.most = tally_warp_max(e.most);
    e.least = tally_warp_min(e.least);
    return e;
}
/* Magnitudes are below 2^high, values multiples of 2^unit; and back: the sizes that are so. */
TALLY_FN int32_t high_of(uint32_t most) {
    int32_t e = (int32_t)(most >> TALLY_SIZE_FRACTION);
    return (e > 0 ? e : 1) + TALLY_SIZE_LEAST - 1 + TALLY_DIGITS_OF_TYPE;
}
TALLY_FN int32_t unit_of(uint32_t least) {
    int32_t e = (int32_t)((least + 1) >> TALLY_SIZE_FRACTION);
    return (e > 0 ? e : 1) + TALLY_SIZE_LEAST - 1;
}
TALLY_FN uint32_t most_below(int32_t high) {
    int32_t e = high - (TALLY_SIZE_LEAST - 1) - TALLY_DIGITS_OF_TYPE;
    uint32_t most = e < 0 ? 0 : ((uint32_t)(e + 1) << TALLY_SIZE_FRACTION) - 1;
    return most < TALLY_SIZE_INFINITY ? most : TALLY_SIZE_INFINITY - 1;
}
TALLY_FN uint32_t least_above(int32_t unit) { /* minus 1, as extents have it */
    int32_t e = unit - (TALLY_SIZE_LEAST - 1);
    return e <= 1 ? 0 : ((uint32_t)e << TALLY_SIZE_FRACTION) - 1;
}
/* The power of two that makes values of at most such a size about 1, as far as it is a normal number itself. */
TALLY_FN int32_t power_of_size(uint32_t most) {
    if (most == 0) return 0;
    const int32_t high = high_of(most);
    return high > 1022 ? -1022 : high < -900 ? 900 : -high;
}

#endif
