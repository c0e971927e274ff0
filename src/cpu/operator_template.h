/* One operator, one type, one NaN policy: the functions that TALLY_MEMBERS names. The body of foreach_type.h. */
#include "cpu/leaves_template.h"
#include "cpu/rows_template.h"
#include "cpu/segments_template.h"
#include "node_functions.h"

#ifndef TALLY_MEMBERS
#define TALLY_MEMBERS(type, nan)                                                                                 \
    {                                                                                                            \
        .leaf = TALLY_LEAF_BYTES / (int64_t)sizeof(TALLY_N2(input_t, type, nan)),                                \
        .lanes = TALLY_N2(kernel_lanes, type, nan), .least_lanes = TALLY_N2(kernel_least_lanes, type, nan),      \
        .value_bytes = sizeof(TALLY_N2(input_t, type, nan)), .row_bytes = TALLY_N2(kernel_row_bytes, type, nan), \
        TALLY_NODE_MEMBERS(type, nan), .run = TALLY_N2(reduce_leaves, type, nan),                                \
        .segments = TALLY_N2(reduce_segments, type, nan), .rows = TALLY_N2(reduce_rows, type, nan),              \
        .copies_rows = TALLY_N2(kernel_copies_rows, type, nan),                                                  \
        .rows_of_few = TALLY_N2(kernel_rows_of_few, type, nan),                                                  \
    }
#endif

static TALLY_TARGET void reduce_leaves(const tally__kernel *kernel, const void *x, const void *y, int64_t n,
                                       int64_t first, tally__node *out) {
    node_t node = tree(x, y, n, n, first);
    (void)kernel;
    __builtin_memcpy((void *)out, &node, sizeof node);
}
