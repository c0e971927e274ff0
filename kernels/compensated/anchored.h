/* Exact sums of products of f32, and what is beside them, of values that are not too far apart; and of any products of
 * f16. A sum is one double. A product has two parts, which add up without rounding: a multiple of the last bit of an
 * anchor, and what that leaves (an anchored level: docs/exact.md). For f32 the anchor follows from how large the values
 * are, so they are read twice. */
#ifndef TALLY_ANCHORED_H
#define TALLY_ANCHORED_H

#include "accumulators/operator.h"

#if TALLY_HAS_MEASURED_CHUNKS
/* ---- how large values are ---- */

/* Of finite values: bits of the largest size, plus above_sizes; and of the smallest but 0, less one. The bits of
 * infinities and NaNs are negative, then. */
enum { above_sizes = 0x00800000 };
typedef struct sizes_t {
    int32_t most;
    uint32_t least;
} sizes_t;
/* Of each input. */
typedef struct measured_t {
    sizes_t of[TALLY_KERNEL_INPUTS];
} measured_t;
TALLY_FN measured_t nothing_measured(void) {
    const sizes_t none = {above_sizes, UINT32_MAX};
    measured_t a;
    TALLY_UNROLL
    for (int32_t i = 0; i < TALLY_KERNEL_INPUTS; i++) a.of[i] = none;
    return a;
}
TALLY_FN void join_sizes(sizes_t *a, sizes_t b) {
    a->most = b.most > a->most ? b.most : a->most;
    a->least = b.least < a->least ? b.least : a->least;
}
TALLY_FN void put_in_sizes(sizes_t *a, TALLY_T x) {
    const range_t its = range_of_value(value_of(x));
    const sizes_t size = {(int32_t)(its.most + above_sizes), its.least};
    join_sizes(a, size);
}
/* y is x where there is one input. */
TALLY_FN void put_in_measured(measured_t *a, TALLY_T x, TALLY_T y) {
    put_in_sizes(&a->of[0], x);
    if (TALLY_KERNEL_INPUTS == 2) put_in_sizes(&a->of[TALLY_KERNEL_INPUTS - 1], y);
}
/* What the lane at `mask` from this one has, too. */
TALLY_FN void meet_measured(measured_t *a, int32_t mask) {
    TALLY_UNROLL
    for (int32_t i = 0; i < TALLY_KERNEL_INPUTS; i++) {
        const sizes_t b = {(int32_t)tally_shuffle_xor((uint32_t)a->of[i].most, mask),
                           tally_shuffle_xor(a->of[i].least, mask)};
        join_sizes(&a->of[i], b);
    }
}
/* The anchor for sums of the products of 2^log2_n values, if there is one. Products are below 2^high, so that their
 * sums are below the anchor, and those of both signs are below half of it. What they leave is half of its last bit
 * each, at most, which is 2^(has_signs + log2_n - 52) of the largest product, and a multiple of the last bit of the
 * smallest. Sums of the values have fewer bits. */
TALLY_FN int32_t has_anchor(const measured_t *measured, int32_t log2_n, double *anchor) {
    enum { has_signs = TALLY_KERNEL_INPUTS == 2 };
    int32_t high = 0, width = 0;
    TALLY_UNROLL
    for (int32_t i = 0; i < 2; i++) {
        const sizes_t *const of = &measured->of[i % TALLY_KERNEL_INPUTS];
        const range_t range = {(uint32_t)of->most - above_sizes, of->least};
        high += high_of_range(range);
        width += width_of(range);
    }
    *anchor = tally_power_of_two(high + log2_n + has_signs);
    return width + 2 * log2_n + has_signs <= 53 + 52 + 1;
}
#endif

#if TALLY_HAS_MEASURED_CHUNKS || TALLY_IS_SPLIT
/* ---- sums ---- */

/* Of up to 2^13 products of f16: these are multiples of 2^-48 below 2^32, and what they leave is below 2^-7. */
#define TALLY_SPLIT_ANCHOR 0x1p45

typedef struct anchored_t {
    TALLY_IF_SUM(double sum;)
    double level, below; /* of squares: multiples of the anchor's last bit, beside the anchor; and what they leave */
    TALLY_IF_KEYS(TALLY_K low; TALLY_K high;)
} anchored_t;
TALLY_FN anchored_t nothing_anchored(double anchor) {
    anchored_t none;
    TALLY_IF_SUM(none.sum = -0.0;) /* as a sum of -0 alone is */
    none.level = anchor;
    none.below = TALLY_KERNEL_INPUTS == 2 ? -0.0 : 0; /* likewise: no square is -0 */
    TALLY_IF_KEYS(none.low = TALLY_K_HIGH; none.high = TALLY_K_LOW;)
    return none;
}
/* What a product leaves is a double: it has as many bits as a product at most. y is x where there is one input. */
TALLY_FN void put_anchored(anchored_t *a, TALLY_T x, TALLY_T y) {
    const double u = (double)value_of(x), w = (double)value_of(y), level = __builtin_fma(u, w, a->level),
                 part = level - a->level;
    TALLY_IF_SUM(a->sum += u;)
    a->below += __builtin_fma(u, w, -part);
    a->level = level;
#if TALLY_HAS_KEYS
    const TALLY_K key = order_key(x);
    a->low = key < a->low ? key : a->low;
    a->high = key > a->high ? key : a->high;
#endif
}
/* Adds what the lane at `mask` from this one has, beside the same anchor. */
TALLY_FN void meet_anchored(anchored_t *a, double anchor, int32_t mask) {
    const anchored_t b = *a;
    TALLY_IF_SUM(a->sum += tally_shuffle_f64(b.sum, mask);)
    a->level += tally_shuffle_f64(b.level - anchor, mask);
    a->below += tally_shuffle_f64(b.below, mask);
#if TALLY_HAS_KEYS
    const TALLY_K low = (TALLY_K)tally_shuffle_xor((uint32_t)b.low, mask),
                  high = (TALLY_K)tally_shuffle_xor((uint32_t)b.high, mask);
    a->low = low < a->low ? low : a->low;
    a->high = high > a->high ? high : a->high;
#endif
}
/* The sums that such have beside an anchor, as pairs; least: the size of the smallest value, or 0. */
TALLY_FN column_t column_of_anchored(const anchored_t *a, double anchor, uint32_t least) {
    (void)least;
    const double level = a->level - anchor;
    tally_pair squares = {a->below, 0}; /* of -0 alone -0 */
    if (level != 0) squares = tally_two_sum(level, a->below);
    column_t column = identity();
    TALLY_IF_SUM(column.sum = tally_compensated_of(a->sum);)
    column.products = tally_compensated_of(tally_is_finite(level) ? squares.high : level);
    column.products.rest = squares.low;
    column.products.lost = !are_products_told && squares.low != 0;
    TALLY_IF_LARGEST(column.largest = tally_high_word(TALLY_IS_SPLIT ? 0x1p32 : anchor);) /* of products, or more */
    TALLY_IF_LEAST(column.least = least;)
    TALLY_IF_KEYS(column.low = a->low; column.high = a->high;)
    return column;
}
#endif

#endif
