/* finish of the operators whose node is one sum of floats: sum, norm1, sumsq, dot. */
#ifndef TALLY_FINISH_SUM_H
#define TALLY_FINISH_SUM_H

#include "types/types.h"

#ifndef TALLY_RECORDS_H
#error "include accumulators/plain.h or records.h before"
#endif

typedef TALLY_V result_t;
TALLY_FN result_t finish(node_t a, const tally_final *final) {
    (void) final;
    return a.n == 0 ? 0 : TALLY_REAL(clean)(a.sum);
}

#endif
