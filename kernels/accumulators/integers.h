/* Columns and nodes of an operator that is computed from exact sums of integers. A file of kernels/operators defines,
 * for integers,
 *
 *     TALLY_SUM_TERM   what its first number adds up: TALLY_TERM_VALUE, TALLY_TERM_MAGNITUDE or TALLY_TERM_PRODUCT
 *                      (none: no such number)
 *     TALLY_SQUARES    that it has a second number, the sum of squares
 *     TALLY_RANGE      that it keeps the smallest and the largest value
 *
 * and includes this, which writes all but finish. sum_of(node) and squares_of(node) are the numbers.
 *
 * The fields of a column are as narrow as they can be without overflow in a leaf: 4096 values of 8 bits, 2048 of 16,
 * 1024 of 32, 512 of 64. */
#ifndef TALLY_INTEGERS_H
#define TALLY_INTEGERS_H

#define TALLY_HAS_WIDE 1 /* needs_wide says where finish could be wrong; finish_wide is right */
#include "policy.h"
#include "sums/wide.h"

#ifndef TALLY_INTEGERS_SHARED_H
#define TALLY_INTEGERS_SHARED_H

/* Adds terms of 8 and 16 bits in 32 bits, or of 32 bits in 64: one lane. */
#define TALLY_NARROW_FIELDS(X, name) X(int32_t, name)
#define TALLY_NARROW_START(a, name) (a).name = 0
#define TALLY_NARROW_JOIN(a, b, name) (a).name = (a).name + (b).name
#define TALLY_NARROW_PUT(a, name, term, is_signed) (a).name = (int32_t)(term)
#define TALLY_NARROW_WIDE(a, name, n, is_signed) tally_wide_of((a).name)
#define TALLY_NARROW_NODE(X, name) X(uint64_t, name##0) X(uint64_t, name##1)
#define TALLY_SINGLE_FIELDS(X, name) X(int64_t, name)
#define TALLY_SINGLE_START(a, name) (a).name = 0
#define TALLY_SINGLE_JOIN(a, b, name) (a).name = (a).name + (b).name
#define TALLY_SINGLE_PUT(a, name, term, is_signed) (a).name = (int64_t)(term)
#define TALLY_SINGLE_WIDE(a, name, n, is_signed) tally_wide_of((a).name)
#define TALLY_SINGLE_NODE TALLY_NARROW_NODE
/* Adds terms of 64 bits: their sum modulo 2^64, and the sum of their upper halves. */
#define TALLY_HALVES_FIELDS(X, name) X(uint64_t, name) X(uint64_t, name##_upper)
#define TALLY_HALVES_START(a, name) (a).name = 0, (a).name##_upper = 0
#define TALLY_HALVES_JOIN(a, b, name) \
    (a).name = (a).name + (b).name, (a).name##_upper = (a).name##_upper + (b).name##_upper
#define TALLY_HALVES_PUT(a, name, term, is_signed) \
    (a).name = (uint64_t)(term), (a).name##_upper = tally_upper_half((uint64_t)(term), is_signed)
#define TALLY_HALVES_WIDE(a, name, n, is_signed) tally_wide_of_halves((a).name, (a).name##_upper, n, is_signed)
#define TALLY_HALVES_NODE TALLY_NARROW_NODE
/* Adds products of 64 by 64 bits: two such pairs, for the lower and the upper words. */
#define TALLY_PAIRS_FIELDS(X, name) \
    X(uint64_t, name) X(uint64_t, name##_upper) X(uint64_t, name##2) X(uint64_t, name##2_upper)
#define TALLY_PAIRS_START(a, name) TALLY_HALVES_START(a, name), TALLY_HALVES_START(a, name##2)
#define TALLY_PAIRS_JOIN(a, b, name) TALLY_HALVES_JOIN(a, b, name), TALLY_HALVES_JOIN(a, b, name##2)
#define TALLY_PAIRS_PUT(a, name, term, is_signed)               \
    do {                                                        \
        tally_product product_ = (term);                        \
        TALLY_HALVES_PUT(a, name, product_.low, 0);             \
        TALLY_HALVES_PUT(a, name##2, product_.high, is_signed); \
    } while (0)
#define TALLY_PAIRS_WIDE(a, name, n, is_signed)                                 \
    tally_wide_of_words(tally_wide_of_halves((a).name, (a).name##_upper, n, 0), \
                        tally_wide_of_halves((a).name##2, (a).name##2_upper, n, is_signed))
#define TALLY_PAIRS_NODE(X, name) X(uint64_t, name##0) X(uint64_t, name##1) X(uint64_t, name##2)

typedef struct tally_product {
    uint64_t low, high;
} tally_product;
TALLY_FN tally_product tally_multiply(uint64_t x, uint64_t y) {
    uint64_t x0 = x & 0xffffffff, x1 = x >> 32, y0 = y & 0xffffffff, y1 = y >> 32;
    uint64_t left = x1 * y0 + (x0 * y0 >> 32), right = x0 * y1 + (left & 0xffffffff);
    tally_product a;
    a.low = right << 32 | (x0 * y0 & 0xffffffff);
    a.high = x1 * y1 + (left >> 32) + (right >> 32);
    return a;
}
/* In two's complement a negative factor reads as itself plus 2^64. */
TALLY_FN tally_product tally_multiply_signed(int64_t x, int64_t y) {
    tally_product a = tally_multiply((uint64_t)x, (uint64_t)y);
    a.high -= x < 0 ? (uint64_t)y : 0;
    a.high -= y < 0 ? (uint64_t)x : 0;
    return a;
}

#define TALLY_OF_LANES_(lanes, what) TALLY_##lanes##_##what
#define TALLY_OF_LANES(lanes, what) TALLY_OF_LANES_(lanes, what)
#endif

/* ---- lanes for this type ---- */

#if TALLY_BYTES == 8
#define TALLY_VALUE_LANES HALVES
#define TALLY_PRODUCT_LANES PAIRS
#elif TALLY_BYTES == 4
#define TALLY_VALUE_LANES SINGLE
#define TALLY_PRODUCT_LANES HALVES
#elif TALLY_BYTES == 2
#define TALLY_VALUE_LANES NARROW
#define TALLY_PRODUCT_LANES SINGLE
#else
#define TALLY_VALUE_LANES NARROW
#define TALLY_PRODUCT_LANES NARROW
#endif
#if TALLY_BYTES == 8
#define TALLY_PRODUCT_TOP(a, name) (a).name##2
#define TALLY_SET_PRODUCT_TOP(a, name, wide) (a).name##2 = (wide).w2
#else /* nodes of two words */
#define TALLY_PRODUCT_TOP(a, name) tally_sign_word((a).name##1)
#define TALLY_SET_PRODUCT_TOP(a, name, wide) (void)0
#endif

#if TALLY_BYTES == 8 && TALLY_SIGNED
TALLY_FN tally_product wide_product(TALLY_V v, TALLY_V w) { return tally_multiply_signed(v, w); }
#elif TALLY_BYTES == 8
TALLY_FN tally_product wide_product(TALLY_V v, TALLY_V w) { return tally_multiply(v, w); }
#elif TALLY_BYTES == 4 && TALLY_SIGNED
TALLY_FN int64_t wide_product(TALLY_V v, TALLY_V w) { return (int64_t)v * (int64_t)w; }
#elif TALLY_BYTES == 4
TALLY_FN uint64_t wide_product(TALLY_V v, TALLY_V w) { return (uint64_t)v * (uint64_t)w; }
#elif TALLY_BYTES == 2 && TALLY_SIGNED
TALLY_FN int64_t wide_product(TALLY_V v, TALLY_V w) { return tally_multiply_shorts(v, w); }
#elif TALLY_SIGNED
TALLY_FN int32_t wide_product(TALLY_V v, TALLY_V w) { return (int32_t)v * (int32_t)w; }
#else
TALLY_FN uint32_t wide_product(TALLY_V v, TALLY_V w) { return (uint32_t)v * (uint32_t)w; }
#endif

#if TALLY_BYTES == 8
#define TALLY_SQUARE_OF(x) tally_multiply(magnitude_of((x).value), magnitude_of((x).value))
#else
#define TALLY_SQUARE_OF(x) wide_product((x).value, (x).value)
#endif

/* ---- the first number ---- */

#if TALLY_HAS_SUM && TALLY_SUM_TERM == TALLY_TERM_PRODUCT
#define TALLY_SUM_LANES TALLY_PRODUCT_LANES
#define TALLY_SUM_OF(x, y) wide_product((x).value, (y).value)
#define TALLY_SUM_IS_SIGNED TALLY_SIGNED
#define TALLY_SUM_TOP TALLY_PRODUCT_TOP
#define TALLY_SET_SUM_TOP TALLY_SET_PRODUCT_TOP
#else
#define TALLY_SUM_LANES TALLY_VALUE_LANES
#if TALLY_ADDS_VALUES
#define TALLY_SUM_OF(x, y) (x).value
#define TALLY_SUM_IS_SIGNED TALLY_SIGNED
#else
#define TALLY_SUM_OF(x, y) magnitude_of((x).value)
#define TALLY_SUM_IS_SIGNED 0
#endif
#define TALLY_SUM_TOP(a, name) tally_sign_word((a).name##1)
#define TALLY_SET_SUM_TOP(a, name, wide) (void)0
#endif

/* ---- columns and nodes ---- */

#if TALLY_HAS_RANGE
#include "accumulators/range.h"
#endif

#define TALLY_COLUMN(X)                                           \
    TALLY_IF_RANGE(TALLY_RANGE_FIELDS(X))                         \
    TALLY_IF_SUM(TALLY_OF_LANES(TALLY_SUM_LANES, FIELDS)(X, sum)) \
    TALLY_IF_SQUARES(TALLY_OF_LANES(TALLY_PRODUCT_LANES, FIELDS)(X, squares))
#define TALLY_NODE(X)                                           \
    TALLY_IF_RANGE(TALLY_RANGE_FIELDS(X))                       \
    TALLY_IF_SUM(TALLY_OF_LANES(TALLY_SUM_LANES, NODE)(X, sum)) \
    TALLY_IF_SQUARES(TALLY_OF_LANES(TALLY_PRODUCT_LANES, NODE)(X, squares))
#define TALLY_START(a)                                                            \
    do {                                                                          \
        TALLY_IF_RANGE(TALLY_RANGE_START(a);)                                     \
        TALLY_IF_SUM(TALLY_OF_LANES(TALLY_SUM_LANES, START)(a, sum);)             \
        TALLY_IF_SQUARES(TALLY_OF_LANES(TALLY_PRODUCT_LANES, START)(a, squares);) \
    } while (0)
#define TALLY_JOIN(a, b)                                                            \
    do {                                                                            \
        TALLY_IF_RANGE(TALLY_RANGE_JOIN(a, b);)                                     \
        TALLY_IF_SUM(TALLY_OF_LANES(TALLY_SUM_LANES, JOIN)(a, b, sum);)             \
        TALLY_IF_SQUARES(TALLY_OF_LANES(TALLY_PRODUCT_LANES, JOIN)(a, b, squares);) \
    } while (0)
#include "accumulators/records.h"

TALLY_FN column_t lift(item_t x, item_t y) {
    column_t a;
    (void)y;
    TALLY_IF_RANGE(TALLY_RANGE_LIFT(a, x);)
    TALLY_IF_SUM(TALLY_OF_LANES(TALLY_SUM_LANES, PUT)(a, sum, TALLY_SUM_OF(x, y), TALLY_SUM_IS_SIGNED);)
    TALLY_IF_SQUARES(TALLY_OF_LANES(TALLY_PRODUCT_LANES, PUT)(a, squares, TALLY_SQUARE_OF(x), 0);)
    return a;
}

#if TALLY_HAS_SUM
TALLY_FN tally_wide sum_of(node_t a) {
    tally_wide sum = {a.sum0, a.sum1, TALLY_SUM_TOP(a, sum)};
    return sum;
}
TALLY_FN void set_sum(node_t *a, tally_wide sum) {
    a->sum0 = sum.w0;
    a->sum1 = sum.w1;
    TALLY_SET_SUM_TOP(*a, sum, sum);
}
#endif
#if TALLY_HAS_SQUARES
TALLY_FN tally_wide squares_of(node_t a) {
    tally_wide squares = {a.squares0, a.squares1, TALLY_PRODUCT_TOP(a, squares)};
    return squares;
}
TALLY_FN void set_squares(node_t *a, tally_wide squares) {
    a->squares0 = squares.w0;
    a->squares1 = squares.w1;
    TALLY_SET_PRODUCT_TOP(*a, squares, squares);
}
#endif

TALLY_FN node_t nothing(void) {
    node_t a;
    __builtin_memset(&a, 0, sizeof a);
    TALLY_IF_RANGE(TALLY_RANGE_START(a);)
    return a;
}
TALLY_FN node_t to_node(column_t column, int64_t n) {
    node_t a;
    a.n = n;
    TALLY_IF_RANGE(a.low = column.low; a.high = column.high;)
    TALLY_IF_SUM(set_sum(&a, TALLY_OF_LANES(TALLY_SUM_LANES, WIDE)(column, sum, n, TALLY_SUM_IS_SIGNED));)
    TALLY_IF_SQUARES(set_squares(&a, TALLY_OF_LANES(TALLY_PRODUCT_LANES, WIDE)(column, squares, n, 0));)
    return a;
}
TALLY_FN node_t merge(node_t a, node_t b) {
    a.n += b.n;
    TALLY_IF_RANGE(TALLY_RANGE_JOIN(a, b);)
    TALLY_IF_SUM(set_sum(&a, tally_wide_add(sum_of(a), sum_of(b)));)
    TALLY_IF_SQUARES(set_squares(&a, tally_wide_add(squares_of(a), squares_of(b)));)
    return a;
}

#endif
