/* Rows of at most 8 values, along any axis, by any operator of kernels/operators, in the canonical order
 * (docs/order.md, docs/design/007). */
#ifndef TALLY_FORM_SHORT_H
#define TALLY_FORM_SHORT_H

#include "types/types.h"

#include TALLY_KERNEL_FILE
#include "order/leaf_node.h"
#include "order/put_result.h"
#include "rows/short_rows.h"
#include "rows/short_row.h"

/* Blocks that a multiprocessor holds: as few as keep registers from spilling (tests/unit/test_compile.c). */
#define TALLY_RESIDENT (TALLY_HAS_SQUARES || TALLY_HAS_RANGE ? 1 : TALLY_PASSES == 2 || TALLY_BYTES == 8 ? 2 : 4)

TALLY_KERNEL_ENTRY(TALLY_BLOCK, short, tally_rows_work, TALLY_RESIDENT) {
    const short_rows_t rows = read_short_rows(&work);
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) {
        const row_t row = row_of(&rows, v);
        const node_t node = short_node(&row, (int32_t)work.length);
        if (row.row >= 0) put_result(&work.out, row.row, node);
    }
}

#endif
