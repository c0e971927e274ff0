/* Rows whose values lie side by side, by any operator of kernels/operators, in the canonical order (docs/order.md,
 * docs/design/007). Where there are many rows of at most a leaf, they are reduced as segments instead.
 *
 * A row has a warp, or several blocks, which take its tiles like those of a whole array. */
#ifndef TALLY_FORM_ROWS_H
#define TALLY_FORM_ROWS_H

#include "types/types.h"

#include TALLY_KERNEL_FILE
#include "order/leaf_node.h"
#include "order/tile.h"
#include "order/put_result.h"

/* Blocks that a multiprocessor holds: as few as keep registers from spilling (tests/unit/test_compile.c). */
#define TALLY_RESIDENT                                                                                            \
    (TALLY_BYTES == 1 || (TALLY_BYTES == 2 && (TALLY_PASSES == 2 || !TALLY_FLOAT)) || TALLY_KERNEL_INPUTS == 2 || \
             (TALLY_HAS_SQUARES && TALLY_HAS_RANGE) || (TALLY_BYTES == 8 && !TALLY_HAS_BULK)                      \
         ? 1                                                                                                      \
         : 2)

/* The values of a row, whose indices begin at 0. */
TALLY_FN row_values_t values_of_row(const tally_rows_work *work, int64_t row) {
    row_values_t values;
    values.x = tally_source_of(work->x + row * work->length * work->x_stride, work->x_stride, TALLY_BYTES);
    values.y = tally_source_of(work->y + row * work->length * work->y_stride, work->y_stride, TALLY_BYTES);
    values.count = work->length;
    return values;
}

/* A warp has a row of at most 32 leaves. */
TALLY_FN void take_row(const tally_rows_work *work, tally_stage *stage) {
    int64_t row = (int64_t)tally_block() * TALLY_WARPS + tally_warp();
    if (row >= work->outer) return;
    row_values_t values = values_of_row(work, row);
    node_t node = take_run(&values, 0, TALLY_WARP, stage);
    if (tally_lane() == 0) put_result(&work->out, row, node);
}

/* Several blocks have a row. Each row has nodes and counters of its own for its tree. */
TALLY_FN void take_row_tile(const tally_rows_work *work, shared_tile_t *shared) {
    const int64_t row = tally_block() / work->tiles, tile = tally_block() % work->tiles;
    row_values_t values = values_of_row(work, row);
    node_t node;
    char *nodes = work->nodes + row * work->row_nodes * (int64_t)sizeof node;
    if (!take_tile(&values, work->run, tile, work->tiles, nodes, work->arrivals + row * work->row_groups, shared,
                   &node))
        return;
    if (tally_lane() == 0) put_result(&work->out, row, node);
}

TALLY_KERNEL_ENTRY(TALLY_THREADS, rows, tally_rows_work, TALLY_RESIDENT) {
    TALLY_SHARED(shared_tile_t, shared);
    if (work.tiles > 0)
        take_row_tile(&work, shared);
    else
        take_row(&work, &shared->stage);
}

#endif
