/* Nodes of segments (segments/node_parts.h), as they travel, by operators whose order does not show: a warp has a
 * segment. With `count_at` the number of the segment's values goes so many bytes behind the node. */
#ifndef TALLY_FORM_PART_NODES_H
#define TALLY_FORM_PART_NODES_H

#include "types/types.h"

#include TALLY_KERNEL_FILE

#include "accumulators/packed_nodes.h"
#include "order/leaf_node.h"
#include "segments/node_parts.h"

typedef struct shared_t {
    TALLY_STAGE stage;
} shared_t;

TALLY_KERNEL_ENTRY(TALLY_BLOCK, part_nodes, tally_part_nodes_work, 2) {
    TALLY_SHARED(shared_t, shared);
    const int64_t step = (int64_t)tally_blocks() * TALLY_WARPS, inner = work.group.inner;
    for (int64_t r = (int64_t)tally_block() * TALLY_WARPS + tally_warp(); r < work.count; r += step) {
        const tally_node_part part = tally_node_part_of(&work, r);
        const tally_source x = tally_source_of(tally_part_values(work.x, work.x_stride, part), work.x_stride * inner,
                                               TALLY_BYTES),
                           y = tally_source_of(tally_part_values(work.y, work.y_stride, part), work.y_stride * inner,
                                               TALLY_BYTES);
        node_t node = nothing();
        if (work.count_at != 0 && tally_lane() == 0)
            *(int64_t *)(void *)(work.nodes + r * work.node_stride + work.count_at) = part.count;
        if (part.is_left) continue;
        for (int64_t at = 0; at < part.count; at += TALLY_DEVICE_LEAF)
            node = merge(node, slow_node(x, y, at, part.count - at, 0, &shared->stage));
        if (tally_lane() == 0) put_packed(node, work.nodes + r * work.node_stride);
    }
}

#endif
