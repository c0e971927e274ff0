/* Sums in one double each, and the range of their terms, which tells whether all additions were exact: most are, for
 * terms of 2-byte floats have few bits, and those of f32 are near each other. Others are added up again in two doubles
 * (compensated/nodes.h). */
#ifndef TALLY_RANGED_H
#define TALLY_RANGED_H

#include "types/types.h"

#include TALLY_KERNEL_FILE
#include "device/lanes.h"

#if TALLY_IS_RANGED
typedef struct ranged_t {
    TALLY_IF_SUM(double sum;)
    TALLY_IF_PRODUCTS(double products;)
    /* Of the terms, or of the products if there are both, whose range is twice as large: the high word of the largest
     * size, and that of the smallest but 0, less one. */
    uint32_t most, least;
} ranged_t;
TALLY_FN ranged_t nothing_ranged(void) {
    ranged_t a;
    TALLY_IF_SUM(a.sum = -0.0;)
    TALLY_IF_PRODUCTS(a.products = -0.0;)
    a.most = 0, a.least = UINT32_MAX;
    return a;
}
TALLY_FN void put_ranged(ranged_t *a, item_t x, item_t y) {
    const double u = (double)x.value, w = (double)y.value;
    double term = u;
    (void)w;
#if TALLY_HAS_SUM
    if (TALLY_ADDS_MAGNITUDES) term = tally_from_bits_f64(tally_bits_f64(u) & INT64_MAX);
    a->sum += term;
#endif
    TALLY_IF_PRODUCTS(term = u * w; a->products += term;)
    const uint32_t size = tally_high_word(term) & 0x7fffffff;
    a->most = size > a->most ? size : a->most;
    a->least = tally_min_less_one(size, a->least);
}
/* Adds what the lane at `mask` from this one has. */
TALLY_FN void meet_ranged(ranged_t *a, int32_t mask) {
    TALLY_IF_SUM(a->sum += tally_shuffle_f64(a->sum, mask);)
    TALLY_IF_PRODUCTS(a->products += tally_shuffle_f64(a->products, mask);)
    const uint32_t most = tally_shuffle_xor(a->most, mask), least = tally_shuffle_xor(a->least, mask);
    a->most = most > a->most ? most : a->most;
    a->least = least < a->least ? least : a->least;
}
/* All terms are multiples of the last bit of the smallest, and their sums have no more than 53 bits from that one on.
 * An infinity or a NaN decides the sum, whatever was rounded. */
TALLY_FN int32_t ranged_is_exact(const ranged_t *a, int32_t n) {
    enum {
        DIGITS = TALLY_BYTES == 4                   ? 24
                 : TALLY_NUMBER == TALLY_NUMBER_f16 ? 11
                                                    : 8,
        OF_TERM = TALLY_HAS_PRODUCTS ? 2 * DIGITS : DIGITS
    };
    const int32_t high = (int32_t)(a->most >> 20) + 1, last = (int32_t)((a->least + 1) >> 20) - (OF_TERM - 1),
                  log2_n = 32 - __builtin_clz((uint32_t)n);
    return a->least == UINT32_MAX || a->most >= 0x7ff00000 || high - last + log2_n <= 53;
}
#endif

#endif
