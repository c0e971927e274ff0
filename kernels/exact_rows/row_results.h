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

/* Adds up again the rows or segments of lanes that have one, row or -1: n values from byte `at` of each input on. */
TALLY_LONG void put_rows_again(const tally_results *out, const char *x, const char *y, int64_t row, int64_t at,
                               int32_t n) {
    const steps_t steps = {TALLY_BYTES, TALLY_BYTES, 1};
    uint32_t left = tally_ballot(row >= 0);
    TALLY_ROLLED
    for (int32_t k = 0; k < tally_lane(); k++) left &= left - 1; /* the rows of the first lanes, side by side */
    const int32_t lane = left == 0 ? 0 : __builtin_ffs((int32_t)left) - 1;
    const int64_t its = tally_of_lane64(row, lane), skip = tally_of_lane64(at, lane);
    const int32_t count = (int32_t)tally_shuffle((uint32_t)n, lane);
    const values_t of = {x + skip, y + skip, left == 0 ? 0 : count};
    put_group(out, &steps, left == 0 ? -1 : its, of);
}

#endif
