/* Rows of at most 64 values along any axis, by any operator of kernels/operators, in the canonical order (docs/order.md, docs/design/007). No
 * include guard: included once for each type.
 *
 * A row is a leaf of 8 columns, and 1, 2, 4 or 8 lanes have it, so that neighbouring lanes read neighbouring values. While one batch of rows is
 * reduced the values of the next are on their way. */
#include "lib/types.h"

#include TALLY_KERNEL_FILE
#include "lib/leaf_node.h"
#include "lib/put_result.h"
#include "lib/batch.h"
#include "lib/short_row.h"

/* Blocks that a multiprocessor holds: as few as keep registers from spilling (tests/unit/test_compile.c). */
#if defined(TALLY_SQUARES) || defined(TALLY_RANGE)
#define TALLY_RESIDENT 1
#elif TALLY_PASSES == 2 || TALLY_BYTES == 8
#define TALLY_RESIDENT 2
#else
#define TALLY_RESIDENT 4
#endif

TALLY_FN void TALLY_N(take_batches)(const tally_work *work, const int32_t lanes) {
    TALLY_N(batch) next = TALLY_N(read_batch)(work, 0, lanes);
    for (int32_t k = 0; k < 1 << work->run; k++) {
        const TALLY_N(batch) batch = next;
        if (k + 1 < 1 << work->run) next = TALLY_N(read_batch)(work, k + 1, lanes);
        const TALLY_N(node) node = TALLY_N(short_node)(&batch, (int32_t)work->length, lanes);
        if (batch.row >= 0 && tally_lane() % lanes == 0) TALLY_N(put_result)(work, batch.row, node);
    }
}

TALLY_ENTRY(TALLY_N(TALLY_PASTE(short_, TALLY_KERNEL)), TALLY_RESIDENT) {
    if (work.lanes == 1)
        TALLY_N(take_batches)(&work, 1);
    else if (work.lanes == 2)
        TALLY_N(take_batches)(&work, 2);
    else if (work.lanes == 4)
        TALLY_N(take_batches)(&work, 4);
    else
        TALLY_N(take_batches)(&work, 8);
}

#include "lib/leaf_node_end.h"
#include "lib/operator_end.h"
#include "lib/types_end.h"
