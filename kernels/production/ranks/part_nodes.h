/* Nodes of segments (partition/node_parts.h), in the form in which they travel, for operators whose order does not
 * show. A warp has a segment or a piece of one; production/ranks/nodes.h merges the nodes of pieces. */
#ifndef TALLY_FORM_PART_NODES_H
#define TALLY_FORM_PART_NODES_H

#include "types/types.h"

#include TALLY_KERNEL_FILE

#include "accumulators/packed_nodes.h"
#include "order/leaf_node.h"
#include "partition/node_parts.h"

typedef struct shared_t {
    TALLY_STAGE stage;
} shared_t;

TALLY_KERNEL_ENTRY(TALLY_THREADS, part_nodes, tally_part_nodes_work, 2) {
    TALLY_SHARED(shared_t, shared);
    const int64_t step = (int64_t)tally_blocks() * TALLY_WARPS, inner = work.group.inner;
    for (int64_t q = (int64_t)tally_block() * TALLY_WARPS + tally_warp(); q < work.count * work.pieces; q += step) {
        const int64_t r = q / work.pieces;
        const int32_t piece = (int32_t)(q % work.pieces);
        const tally_node_part part = tally_node_part_of(&work, r, piece);
        const tally_source x = tally_source_of(tally_part_values(work.x, work.x_stride, part), work.x_stride * inner,
                                               TALLY_BYTES),
                           y = tally_source_of(tally_part_values(work.y, work.y_stride, part), work.y_stride * inner,
                                               TALLY_BYTES);
        node_t node = nothing();
        if (work.count_at != 0 && piece == 0 && tally_lane() == 0)
            *(int64_t *)(void *)(work.nodes + r * work.node_stride + work.count_at) = part.length;
        if (part.is_left) continue;
        for (int64_t at = 0; at < part.count; at += TALLY_DEVICE_LEAF)
            node = merge(node, slow_node(x, y, at, part.count - at, part.first, &shared->stage));
        if (tally_lane() != 0) continue;
        if (work.pieces > 1)
            __builtin_memcpy(work.piece_nodes + q * work.piece_bytes, &node, sizeof node);
        else
            put_packed(node, work.nodes + r * work.node_stride);
    }
}

#endif
