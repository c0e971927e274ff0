/* The result of a node of an operator of kernels/operators, and what is to be told of it (TALLY_SAW_...). */
#ifndef TALLY_CONCLUDE_H
#define TALLY_CONCLUDE_H

#include TALLY_KERNEL_FILE
#include "device/dialect.h"

TALLY_FN int conclude(node_t a, const tally_final *final, result_t *result) {
    int saw = a.n == 0 ? TALLY_SAW_EMPTY : 0;
#if TALLY_HAS_WIDE
    if (__builtin_expect(needs_wide(a, final), 0)) return saw | finish_wide(a, final, result);
#endif
    *result = finish(a, final);
    return saw;
}

#endif
