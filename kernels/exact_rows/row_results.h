/* The result of a row's node (compensated/nodes.h), and of a row that is added up again (exact_segments/group_sums.h).
 */
#ifndef TALLY_ROW_RESULTS_H
#define TALLY_ROW_RESULTS_H

#define TALLY_LANE_LIMBS TALLY_LIMBS
#define TALLY_LANE_PRODUCT_LIMBS TALLY_PRODUCT_LIMBS
#include "exact_segments/group_sums.h"
#include "segments/results.h"

/* Writes the result of a row. False: it is not certain. */
TALLY_FN int32_t put_row(const tally_results *out, int64_t row, node_t node) {
    const int32_t flags = put_unmarked(out, results_from(out, row), 0, node),
                  is_certain = (flags & TALLY_FLAG_UNSURE) == 0;
    if (is_certain && flags != 0 && out->flags != 0) tally_or32(out->flags, flags);
    return is_certain;
}

#endif
