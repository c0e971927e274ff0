/* The result of a node of an operator of kernels/operators, and its status flags (TALLY_FLAG_...). */
#ifndef TALLY_FINALIZE_H
#define TALLY_FINALIZE_H

#include TALLY_KERNEL_FILE
#include "device/dialect.h"

TALLY_FN int finalize(node_t a, const tally_final *final, result_t *result) {
    int flags = a.n == 0 ? TALLY_FLAG_EMPTY : 0;
#if TALLY_HAS_WIDE
    if (__builtin_expect(needs_wide(a, final), 0)) return flags | finish_wide(a, final, result);
#endif
    *result = finish(a, final);
    return flags;
}

#endif
