/* finish of the operators that give one sum of integers, TALLY_WHOLE(node), in 64 bits: sum, norm1, sumsq, dot. */
#ifndef TALLY_FINISH_INTEGERS_H
#define TALLY_FINISH_INTEGERS_H

#include "sums/wide.h"

#ifndef TALLY_WHOLE
#error "define TALLY_WHOLE(node) and TALLY_WHOLE_IS_SIGNED before, behind accumulators/integers.h"
#endif

typedef uint64_t result_t;
TALLY_FN result_t finish(node_t a, const tally_final *final) {
    (void) final;
    return TALLY_WHOLE(a).w0;
}
TALLY_FN int needs_wide(node_t a, const tally_final *final) {
    return (final->as != TALLY_AS_NATURAL) | (!final->wraps & !tally_fits_word(TALLY_WHOLE(a), TALLY_WHOLE_IS_SIGNED));
}
TALLY_FN int finish_wide(node_t a, const tally_final *final, result_t *result) {
    int flags = 0;
    *result = tally_wide_sum(TALLY_WHOLE(a), TALLY_WHOLE_IS_SIGNED, final, &flags);
    return flags;
}

#endif
