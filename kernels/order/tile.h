/* The canonical tree (docs/order.md) over the consecutive leaves of a row, for several rows in one launch: warps reduce
 * runs of leaves, blocks reduce tiles of runs, and the last block to arrive at a group of tiles combines the group.
 * (Whole arrays have mailboxes in place of fences: production/arrays/reduce.h.) */
#ifndef TALLY_TILE_H
#define TALLY_TILE_H

#include "order/leaf_node.h"
#include "order/nodes.h"

/* A row. */
typedef struct row_values_t {
    tally_source x, y;
    int64_t count; /* how many values */
} row_values_t;

/* The tree over the leaves of the row from `begin` on, by a warp: `run` of them, a power of two and at most 32, or
 * fewer if the row ends. Lane 0 gets the result. */
TALLY_FN node_t take_run(const row_values_t *row, int64_t begin, int32_t run, tally_stage *stage) {
    const int64_t leaves = (row->count + TALLY_DEVICE_LEAF - 1) / TALLY_DEVICE_LEAF;
    /* the last place where a leaf may begin that is read in whole vectors */
    const int64_t whole = row->x.is_packed && row->y.is_packed ? row->count - TALLY_DEVICE_LEAF : INT64_MIN;
    node_t node = nothing();
    int32_t read = 0;
    for (; read < run && begin + read < leaves; read++) {
        int64_t at = (begin + read) * TALLY_DEVICE_LEAF;
        node_t leaf;
        int32_t is_spared = 0;
        if (at <= whole)
            leaf = plain_node(row->x.values, row->y.values, at, 0, &node, &is_spared);
        else if (TALLY_BYTES >= 4 && whole != INT64_MIN && row->count - at > TALLY_DEVICE_SMALL)
            leaf = part_node(&row->x, &row->y, at, row->count - at, 0);
        else
            leaf = slow_node(row->x, row->y, at, row->count - at, 0, stage);
        if (is_spared) continue;
        if (TALLY_IS_FREE)
            node = merge(node, leaf);
        else if (read == tally_lane()) /* lane i keeps leaf i of the run */
            node = leaf;
    }
    return TALLY_IS_FREE ? node : pair_lanes(node, read);
}

typedef struct shared_tile_t {
    tally_stage stage;
    node_t nodes[TALLY_WARPS];
} shared_tile_t;

/* A block reduces tile `tile` of `tiles`: 8 runs of 2^log_run leaves. True in the warp that has the node of the whole
 * row, in lane 0. */
TALLY_FN int32_t take_tile(const row_values_t *row, int32_t log_run, int64_t tile, int64_t tiles, char *nodes,
                           uint32_t *arrivals, shared_tile_t *shared, node_t *node) {
    const int64_t leaves = (row->count + TALLY_DEVICE_LEAF - 1) / TALLY_DEVICE_LEAF,
                  first = tile * TALLY_WARPS << log_run;
    const int64_t runs = (leaves - first + (1 << log_run) - 1) >> log_run;
    *node = take_run(row, first + ((int64_t)tally_warp() << log_run), 1 << log_run, &shared->stage);
    if (tally_lane() == 0) shared->nodes[tally_warp()] = *node;
    tally_barrier();
    if (tally_warp() != 0) return 0;
    *node = shared->nodes[tally_lane() % TALLY_WARPS];
    *node = pair_lanes(*node, (int32_t)(runs < TALLY_WARPS ? runs : TALLY_WARPS));
    return climb(ladder_of_run(nodes, arrivals, tiles), node, tile, tiles);
}

#endif
