/* Exact nodes of segments (segments/node_parts.h): a block has a segment, and adds it as it adds its share of a whole
 * array (exact_sums/exact_block.h). */
#ifndef TALLY_FORM_EXACT_PART_NODES_H
#define TALLY_FORM_EXACT_PART_NODES_H

#include "types/types.h"

#include TALLY_KERNEL_FILE

#include "exact_sums/exact_block.h"
#include "segments/node_parts.h"

/* Makes the block's words a node of `count` values; by one thread. */
TALLY_FN void seal_block(shared_t *shared, int64_t count) {
    shared->node.n += count;
#ifdef TALLY_KEYS
    shared->node.low = shared->low[0];
    shared->node.high = shared->high[0];
#endif
    settle_accumulator(&shared->node);
}

TALLY_KERNEL_ENTRY(TALLY_BLOCK, exact_part_nodes, tally_part_nodes_work, TALLY_RESIDENT) {
    TALLY_SHARED(shared_t, shared);
    const int64_t inner = work.group.inner, step = (int64_t)TALLY_WARPS * TALLY_DEVICE_LEAF;
    for (int64_t r = tally_block(); r < work.count; r += tally_blocks()) {
        const tally_node_part part = tally_node_part_of(&work, r);
        const tally_source x = tally_source_of(tally_part_values(work.x, work.x_stride, part), work.x_stride * inner,
                                               TALLY_BYTES),
                           y = tally_source_of(tally_part_values(work.y, work.y_stride, part), work.y_stride * inner,
                                               TALLY_BYTES);
        const int64_t *words = (const int64_t *)(const void *)&shared->node;
        int64_t *to = (int64_t *)(void *)(work.nodes + r * work.node_stride);
        state_t state = begin_state();
        if (part.is_left) continue;
        clear_shared(shared);
        take_leaves(x, y, (int64_t)tally_warp() * TALLY_DEVICE_LEAF, step, part.count, &state, shared);
        gather_warps(&state, shared);
        if (tally_thread() == 0) seal_block(shared, part.count);
        tally_barrier();
        for (int32_t k = tally_thread(); k < node_words; k += tally_threads()) to[k] = words[k];
        tally_barrier(); /* before the words are cleared again */
    }
}

#endif
