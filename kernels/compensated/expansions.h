/* An exact operator (kernels/exact) in the words of kernels/operators, for small arrays and features: columns and nodes
 * are sums in few doubles (sums/expansion.h), and sums/parts.h makes the result of them. If either is not certain,
 * `finalize` gives TALLY_FLAG_UNSURE, and the kernel adds up again. The order of additions does not show. */
#ifndef TALLY_EXPANSIONS_H
#define TALLY_EXPANSIONS_H

#include "types/types.h"

#include TALLY_KERNEL_FILE
#include "device/work.h"
#include "sums/expansion.h"
#include "sums/parts.h"
#include "sums/plan.h"

#if TALLY_IS_F64
#define TALLY_EXPAND tally_expansion3
#else
#define TALLY_EXPAND tally_expansion2
#endif
#define TALLY_OF TALLY_PASTE(TALLY_EXPAND, _of)
#define TALLY_PUT TALLY_PASTE(TALLY_EXPAND, _put)
#define TALLY_ADD TALLY_PASTE(TALLY_EXPAND, _join)
#define TALLY_TOTAL TALLY_PASTE(TALLY_EXPAND, _total)

#define TALLY_COLUMN(X)                          \
    TALLY_IF_SUM(X(TALLY_EXPAND, sum))           \
    TALLY_IF_PRODUCTS(X(TALLY_EXPAND, products)) \
    TALLY_IF_KEYS(X(TALLY_K, low) X(TALLY_K, high))
#define TALLY_NODE(X) TALLY_COLUMN(X)
#define TALLY_START(a)                                                 \
    do {                                                               \
        TALLY_IF_SUM((a).sum = TALLY_OF(-0.0);)                        \
        TALLY_IF_PRODUCTS((a).products = TALLY_OF(-0.0);)              \
        TALLY_IF_KEYS((a).low = TALLY_K_HIGH, (a).high = TALLY_K_LOW;) \
    } while (0)
#define TALLY_JOIN(a, b)                                                         \
    do {                                                                         \
        TALLY_IF_SUM((a).sum = TALLY_ADD((a).sum, (b).sum);)                     \
        TALLY_IF_PRODUCTS((a).products = TALLY_ADD((a).products, (b).products);) \
        TALLY_IF_KEYS((a).low = (b).low < (a).low ? (b).low : (a).low;)          \
        TALLY_IF_KEYS((a).high = (b).high > (a).high ? (b).high : (a).high;)     \
    } while (0)
#include "accumulators/plain.h"
TALLY_ASSERT(sizeof(node_t) <= TALLY_EXPANSION_NODE_BYTES, "a node is larger than TALLY_EXPANSION_NODE_BYTES");

/* x * y as terms; a product of f64 that loses digits below the smallest numbers is noticed. */
TALLY_FN TALLY_EXPAND product_of(double x, double y) {
    double product = x * y;
    TALLY_EXPAND a = TALLY_OF(product);
    if (TALLY_IS_F64) {
        double rest = __builtin_fma(x, y, -product);
        if (rest != 0) TALLY_PUT(&a, rest);
        a.lost |= x != 0 && y != 0 && !(tally_from_bits_f64(tally_bits_f64(product) & INT64_MAX) > 0x1p-900);
    }
    return a;
}

TALLY_FN column_t lift(item_t x, item_t y) {
    column_t a;
    int32_t is_there = is_present(x.raw) && is_present(y.raw);
#if TALLY_HAS_SUM
    double term = (double)x.value;
    if (TALLY_ADDS_MAGNITUDES) term = tally_from_bits_f64(tally_bits_f64(term) & INT64_MAX);
    a.sum = TALLY_OF(is_there ? term : -0.0);
#endif
    TALLY_IF_PRODUCTS(a.products = is_there ? product_of((double)x.value, (double)y.value) : TALLY_OF(-0.0);)
    TALLY_IF_KEYS(a.low = is_there ? order_key(x.raw) : TALLY_K_HIGH;)
    TALLY_IF_KEYS(a.high = is_there ? order_key(x.raw) : TALLY_K_LOW;)
    return a;
}

/* ---- results ---- */

/* Of a sum that is 0: its sign is that of its first part, unless parts cancel. */
TALLY_FN tally_rounded zero_of(TALLY_EXPAND a) {
    tally_rounded zero;
    zero.value = a.p[0] == 0 ? a.p[0] : 0.0;
    zero.sure = !a.lost;
    return zero;
}
TALLY_FN tally_rounded expansion_mean(TALLY_EXPAND a, int64_t n, int32_t is_mean, int32_t is_f64) {
    const int64_t by = is_mean ? n : 1;
    tally_pair total = TALLY_TOTAL(a);
    tally_rounded q = total.high == 0 ? zero_of(a)
                      : by == 1       ? tally_nearest(total, is_f64)
                                      : tally_rounded_mean(total, (double)by, is_f64);
    if (!q.sure && !is_f64 && by > 1 && total.high != 0) q = tally_mean_again(total, (double)by);
    q.sure &= !a.lost && by < 1 << 20 && tally_is_finite(q.value);
    return q;
}
TALLY_FN tally_rounded expansion_root(TALLY_EXPAND a, int32_t is_f64) {
    tally_pair total = TALLY_TOTAL(a);
    tally_rounded q = total.high == 0 ? zero_of(a) : tally_rounded_root(total, is_f64);
    if (!q.sure && !is_f64 && total.high != 0) q = tally_root_again(total);
    q.sure &= !a.lost && tally_is_finite(q.value);
    return q;
}
#if TALLY_HAS_SPREAD
TALLY_FN tally_rounded expansion_spread(node_t a, const tally_final *final, int32_t is_f64) {
    tally_rounded q;
    q.value = tally_nan_f64();
    q.sure = 1;
    if (a.n > final->ddof) {
        tally_pair sum = TALLY_TOTAL(a.sum), squares = TALLY_TOTAL(a.products);
        tally_pair left = tally_two_product((double)a.n, squares.high), right = tally_two_product(sum.high, sum.high);
        q = tally_rounded_spread(sum, squares, (double)a.n, final->ddof, final->root, is_f64);
        if (!q.sure && !is_f64) q = tally_spread_again(sum, squares, (double)a.n, final->ddof, final->root);
        /* Equal values: n times their squares is the square of their sum, exactly. */
        if (!q.sure && sum.low == 0 && squares.low == 0 && left.high == right.high && left.low == right.low &&
            (squares.high == 0 || (tally_in_reach(squares.high) && tally_in_reach(sum.high))))
            q.value = 0, q.sure = 1;
        if (a.n == 1) q.value = 0, q.sure = tally_is_finite(a.sum.p[0]);
    }
    q.sure &= !a.sum.lost && !a.products.lost && a.n < 1 << 20;
    return q;
}
#endif

/* As accumulators/finalize.h; results have the size of final->format, or are a tally_stats. */
#if TALLY_HAS_KEYS
typedef struct result_t {
    int64_t n;
    double floats[5];
} result_t;
TALLY_FN int finalize(node_t a, const tally_final *final, result_t *result) {
    const tally_format natural = TALLY_NATURAL_FORMAT;
    tally_rounded sum = expansion_mean(a.sum, a.n, 0, natural.digits == 53), mean = expansion_mean(a.sum, a.n, 1, 1);
    tally_rounded var = expansion_spread(a, final, 1);
    result->n = a.n;
    result->floats[0] = (double)value_of(from_key(a.low));
    result->floats[1] = (double)value_of(from_key(a.high));
    result->floats[2] = sum.value;
    result->floats[3] = mean.value;
    result->floats[4] = var.value;
    if (a.n == 0) {
        for (int32_t k = 0; k < 5; k++) result->floats[k] = k == 2 ? 0 : tally_nan_f64();
        return TALLY_FLAG_EMPTY;
    }
    return sum.sure && mean.sure && var.sure ? 0 : TALLY_FLAG_UNSURE;
}
#define TALLY_RESULT_SIZE(final) ((int32_t)sizeof(result_t))
#else
typedef double result_t;
TALLY_FN int finalize(node_t a, const tally_final *final, result_t *result) {
    const int32_t is_f64 = final->format.digits == 53;
    tally_rounded q;
#if TALLY_HAS_SPREAD
    q = expansion_spread(a, final, is_f64);
#elif TALLY_HAS_SUM
    q = expansion_mean(a.sum, a.n, final->mean, is_f64);
#else
    q = final->root ? expansion_root(a.products, is_f64) : expansion_mean(a.products, a.n, 0, is_f64);
#endif
    *result = q.value;
    if (a.n == 0) { /* sums/sums.h says the same of no values */
        *result = final->mean || TALLY_HAS_SPREAD ? tally_nan_f64() : 0.0;
        return TALLY_FLAG_EMPTY | (is_f64 || final->format.digits == 24 ? 0 : TALLY_FLAG_UNSURE);
    }
    return q.sure && (is_f64 || final->format.digits == 24) ? 0 : TALLY_FLAG_UNSURE;
}
#define TALLY_RESULT_SIZE(final) ((final)->format.digits == 53 ? 8 : 4)
#endif

#endif
