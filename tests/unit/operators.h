/* Operators of the caller's own that several tests define. Their callbacks note what breaks the promises of
 * tally_operator (alignment, overlap, counts), since an assertion must not fail on a thread of the library's. */
#ifndef TALLY_TESTS_OPERATORS_H
#define TALLY_TESTS_OPERATORS_H

#include <stdatomic.h>

#include "support.h"

extern _Atomic int broken_promises;

/* Sum of the squares of the integer in the first bytes (at most 2) of each struct. Commutes, exact, has a finish. */
tally_operator squares_operator(size_t input_size);
int64_t integer_of(const void *value, size_t input_size);

/* Affine maps x -> a x + b modulo AFFINE_PRIME, composed: the first value is applied first. Does not commute. */
enum { AFFINE_PRIME = 1000003 };
typedef struct affine {
    uint32_t a, b;
} affine;
tally_operator affine_operator(void);
affine compose(affine first, affine then);

/* The run of indices that was lifted, without a finish: `whole` is 1 as long as every combine met neighbours in order.
 */
typedef struct index_run {
    int64_t first, last, whole;
} index_run;
tally_operator run_operator(tally_type type);

/* The sum of f32, which shows the order it is computed in. */
tally_operator float_sum_operator(int commutative);

tally_op define(tally_context *context, tally_operator definition);

#endif
