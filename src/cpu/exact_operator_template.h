/* An exact operator for one type and both NaN policies: the functions that TALLY_MEMBERS names. The body of
 * foreach_type.h. */
#include "cpu/exact_plain_rows_template.h"
#include "cpu/exact_runs_template.h"
#include "cpu/exact_segments_template.h"
#include "exact_functions.h"

#ifndef TALLY_MEMBERS
#define TALLY_MEMBERS(type, nan)                                                                                  \
    {                                                                                                             \
        .leaf = TALLY_LEAF_BYTES / (int64_t)sizeof(TALLY_N2(input_t, type, 0)), .lanes = 1,                       \
        .value_bytes = sizeof(TALLY_N2(input_t, type, 0)), TALLY_NODE_MEMBERS(type, 0), .skips_nans = (nan) == 1, \
        .run = TALLY_N2(reduce_leaves, type, 0), .segments = TALLY_N2(reduce_segments, type, 0),                  \
        .rows = TALLY_N2(reduce_rows, type, 0), .rows_scratch = sizeof(TALLY_N2(panel_t, type, 0)) + 64,          \
        .rows_most = 16 * TALLY_LEAF_BYTES / (int64_t)sizeof(TALLY_N2(input_t, type, 0)),                         \
    }
#endif
