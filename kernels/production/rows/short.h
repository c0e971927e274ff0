/* Rows of at most 8 values, along any axis, by any operator of kernels/operators, in the canonical order
 * (docs/order.md). A thread loads all values of its rows before it reduces the first. */
#ifndef TALLY_FORM_SHORT_H
#define TALLY_FORM_SHORT_H

#include "types/types.h"

#include "order/put_result.h"

enum { short_across = TALLY_SHORT_ACROSS_OF(TALLY_BYTES) };
#define TALLY_ACROSS short_across
#include "rows/short_row.h"

/* Blocks that a multiprocessor holds: as few as keep registers from spilling (tests/unit/test_compile.c). */
#define TALLY_RESIDENT                                                       \
    (TALLY_HAS_SQUARES || TALLY_HAS_RANGE                                ? 1 \
     : TALLY_PASSES == 2 || TALLY_BYTES == 8 || TALLY_KERNEL_INPUTS == 2 ? 2 \
                                                                         : 4)

TALLY_KERNEL_ENTRY(TALLY_THREADS, short, tally_rows_work, TALLY_RESIDENT) {
    const short_rows_t rows = short_rows_of(&work);
    if (rows.count <= 0) return;
    const stripes_t x = read_stripes(&rows.x, 0, rows.length),
                    y = TALLY_KERNEL_INPUTS == 1 ? x : read_stripes(&rows.y, 0, rows.length);
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) {
        const node_t node = short_node(x.of[v], y.of[v], rows.length);
        const int64_t row = short_row_of(&rows, v);
        if (row >= 0) put_result(&work.out, row, node);
    }
}

#endif
