/* The node of an exact operator, for one type. A file of kernels/exact defines
 *
 *     TALLY_SUM_TERM   what its first number adds up: TALLY_TERM_VALUE or TALLY_TERM_MAGNITUDE (none: no such number)
 *     TALLY_PRODUCTS   that it has a second number, the sum of products x * y (squares, where there is one input)
 *     TALLY_KEYS       that it keeps the least and the greatest key
 *
 * includes this, and defines round_total. A node is a row of 64-bit words; all but the keys merge by addition. */
#ifndef TALLY_EXACT_H
#define TALLY_EXACT_H

#include "policy.h"
#include "types/types.h"
#include "sums/sums.h"

#if TALLY_IS_F64
#define TALLY_ORIGIN TALLY_LARGE_ORIGIN
#define TALLY_LIMBS TALLY_LARGE_LIMBS
#define TALLY_PRODUCT_LIMBS TALLY_LARGE_PRODUCT_LIMBS
#define TALLY_NATURAL_FORMAT TALLY_FORMAT_f64
#else
#define TALLY_ORIGIN TALLY_SMALL_ORIGIN
#define TALLY_LIMBS TALLY_SMALL_LIMBS
#define TALLY_PRODUCT_LIMBS TALLY_SMALL_PRODUCT_LIMBS
#define TALLY_NATURAL_FORMAT TALLY_FORMAT_f32
#endif

typedef struct accumulator_t {
    int64_t n;
    TALLY_IF_KEYS(int64_t low, high;) /* of values as f32 or f64; a NaN is INT64_MIN here and INT64_MAX there */
    TALLY_IF_SUM(int64_t sum[TALLY_EVIDENCE + TALLY_LIMBS];)
    TALLY_IF_PRODUCTS(int64_t products[TALLY_EVIDENCE + TALLY_PRODUCT_LIMBS];)
} accumulator_t;

/* What round_total makes a result of. */
typedef struct total_t {
    int64_t n, low, high;
    tally_number sum, products;
} total_t;

TALLY_FN total_t total_of(const accumulator_t *a) {
    total_t total = {a->n, 0, 0, {0, TALLY_LIMBS, TALLY_ORIGIN}, {0, TALLY_PRODUCT_LIMBS, 2 * TALLY_ORIGIN}};
    TALLY_IF_KEYS(total.low = a->low; total.high = a->high;)
    TALLY_IF_SUM(total.sum.words = a->sum;)
    TALLY_IF_PRODUCTS(total.products.words = a->products;)
    return total;
}

TALLY_ONCE void clear_accumulator(accumulator_t *a) {
    __builtin_memset(a, 0, sizeof *a);
    TALLY_IF_KEYS(a->low = INT64_MAX; a->high = INT64_MIN;)
}
TALLY_ONCE void settle_accumulator(accumulator_t *a) {
    (void)a;
    TALLY_IF_SUM(tally_settle(a->sum, TALLY_LIMBS);)
    TALLY_IF_PRODUCTS(tally_settle(a->products, TALLY_PRODUCT_LIMBS);)
}
/* Both settled; the result is too. */
TALLY_ONCE void join_accumulators(accumulator_t *a, const accumulator_t *b) {
    a->n += b->n;
    TALLY_IF_KEYS(a->low = b->low < a->low ? b->low : a->low; a->high = b->high > a->high ? b->high : a->high;)
    TALLY_IF_SUM(for (int i = 0; i < TALLY_EVIDENCE + TALLY_LIMBS; i++) a->sum[i] = tally_plus(a->sum[i], b->sum[i]);)
    TALLY_IF_PRODUCTS(for (int i = 0; i < TALLY_EVIDENCE + TALLY_PRODUCT_LIMBS; i++) a->products[i] =
                          tally_plus(a->products[i], b->products[i]);)
    settle_accumulator(a);
}

#endif
