/* The node of an exact operator, for one type. A file of kernels/exact defines
 *
 *     TALLY_SUM_TERM   what its first number adds up: TALLY_TERM_VALUE or TALLY_TERM_MAGNITUDE (none: no such number)
 *     TALLY_PRODUCTS   that it has a second number, the sum of products x * y (squares, where there is one input)
 *     TALLY_KEYS       that it keeps the least and the greatest key
 *
 * includes this, and defines round_total. A node is a row of 64-bit words; all but the keys merge by addition. */
#ifndef TALLY_EXACT_H
#define TALLY_EXACT_H

#include "types/types.h"
#include "sums/sums.h"

#define TALLY_IS_F64 (TALLY_BYTES == 8)
#if TALLY_BYTES == 8
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
#ifdef TALLY_KEYS
    int64_t low, high; /* of values as f32 or f64; a NaN is INT64_MIN here and INT64_MAX there */
#endif
#ifdef TALLY_SUM_TERM
    int64_t sum[TALLY_EVIDENCE + TALLY_LIMBS];
#endif
#ifdef TALLY_PRODUCTS
    int64_t products[TALLY_EVIDENCE + TALLY_PRODUCT_LIMBS];
#endif
} accumulator_t;

/* What conclude makes a result of. */
typedef struct total_t {
    int64_t n, low, high;
    tally_number sum, products;
} total_t;

TALLY_FN total_t total_of(const accumulator_t *a) {
    total_t total = {a->n, 0, 0, {0, TALLY_LIMBS, TALLY_ORIGIN}, {0, TALLY_PRODUCT_LIMBS, 2 * TALLY_ORIGIN}};
#ifdef TALLY_KEYS
    total.low = a->low;
    total.high = a->high;
#endif
#ifdef TALLY_SUM_TERM
    total.sum.words = a->sum;
#endif
#ifdef TALLY_PRODUCTS
    total.products.words = a->products;
#endif
    return total;
}

TALLY_ONCE void clear_accumulator(accumulator_t *a) {
    __builtin_memset(a, 0, sizeof *a);
#ifdef TALLY_KEYS
    a->low = INT64_MAX;
    a->high = INT64_MIN;
#endif
}
TALLY_ONCE void settle_accumulator(accumulator_t *a) {
    (void)a;
#ifdef TALLY_SUM_TERM
    tally_settle(a->sum, TALLY_LIMBS);
#endif
#ifdef TALLY_PRODUCTS
    tally_settle(a->products, TALLY_PRODUCT_LIMBS);
#endif
}
/* Both settled; the result is too. */
TALLY_ONCE void join_accumulators(accumulator_t *a, const accumulator_t *b) {
    a->n += b->n;
#ifdef TALLY_KEYS
    a->low = b->low < a->low ? b->low : a->low;
    a->high = b->high > a->high ? b->high : a->high;
#endif
#ifdef TALLY_SUM_TERM
    for (int i = 0; i < TALLY_EVIDENCE + TALLY_LIMBS; i++) a->sum[i] = tally_plus(a->sum[i], b->sum[i]);
#endif
#ifdef TALLY_PRODUCTS
    for (int i = 0; i < TALLY_EVIDENCE + TALLY_PRODUCT_LIMBS; i++)
        a->products[i] = tally_plus(a->products[i], b->products[i]);
#endif
    settle_accumulator(a);
}

#endif
