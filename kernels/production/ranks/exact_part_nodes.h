/* Exact nodes of segments (partition/node_parts.h). A block has a segment or a piece of one, and adds it like its share
 * of a whole array (exact_sums/exact_block.h). The last block of a segment to arrive adds the nodes of the pieces. */
#ifndef TALLY_FORM_EXACT_PART_NODES_H
#define TALLY_FORM_EXACT_PART_NODES_H

#include "types/types.h"

#include TALLY_KERNEL_FILE

#include "exact_sums/exact_block.h"
#include "partition/node_parts.h"

/* Makes a node of `count` values of the block's words; by one thread. */
TALLY_FN void block_to_node(shared_t *shared, int64_t count) {
    shared->node.n += count;
    TALLY_IF_KEYS(shared->node.low = shared->low[0]; shared->node.high = shared->high[0];)
    settle_accumulator(&shared->node);
}

/* Adds the nodes of all pieces, which lie side by side. */
TALLY_FN void add_pieces(const int64_t *nodes, int32_t pieces, shared_t *shared) {
    int64_t *words = (int64_t *)(void *)&shared->node;
    for (int32_t k = tally_thread(); k < node_words; k += tally_threads()) {
        int64_t sum = 0;
        for (int32_t p = 0; p < pieces; p++)
            sum = tally_plus(sum, (int64_t)tally_load_fresh((const uint64_t *)nodes + p * node_words + k));
        words[k] = sum;
    }
    tally_barrier();
    if (tally_thread() != 0) return;
#if TALLY_HAS_KEYS
    shared->node.low = INT64_MAX;
    shared->node.high = INT64_MIN;
    for (int32_t p = 0; p < pieces; p++) {
        const accumulator_t *piece = (const accumulator_t *)(const void *)(nodes + p * node_words);
        const int64_t low = (int64_t)tally_load_fresh((const uint64_t *)&piece->low),
                      high = (int64_t)tally_load_fresh((const uint64_t *)&piece->high);
        shared->node.low = low < shared->node.low ? low : shared->node.low;
        shared->node.high = high > shared->node.high ? high : shared->node.high;
    }
#endif
    settle_accumulator(&shared->node);
}

TALLY_FN void put_words(int64_t *to, const shared_t *shared) {
    const int64_t *words = (const int64_t *)(const void *)&shared->node;
    tally_barrier();
    for (int32_t k = tally_thread(); k < node_words; k += tally_threads()) to[k] = words[k];
}

TALLY_KERNEL_ENTRY(TALLY_THREADS, exact_part_nodes, tally_part_nodes_work, TALLY_RESIDENT) {
    TALLY_SHARED(shared_t, shared);
    const int64_t inner = work.group.inner, step = (int64_t)TALLY_WARPS * TALLY_DEVICE_LEAF;
    for (int64_t q = tally_block(); q < work.count * work.pieces; q += tally_blocks()) {
        const int64_t r = q / work.pieces;
        const tally_node_part part = tally_node_part_of(&work, r, (int32_t)(q % work.pieces));
        const tally_source x = tally_source_of(tally_part_values(work.x, work.x_stride, part), work.x_stride * inner,
                                               TALLY_BYTES),
                           y = tally_source_of(tally_part_values(work.y, work.y_stride, part), work.y_stride * inner,
                                               TALLY_BYTES);
        int64_t *to = (int64_t *)(void *)(work.nodes + r * work.node_stride);
        state_t state = begin_state();
        if (part.is_left) continue;
        clear_shared(shared);
        take_leaves(x, y, (int64_t)tally_warp() * TALLY_DEVICE_LEAF, step, part.count, &state, shared);
        gather_warps(&state, shared);
        if (tally_thread() == 0) block_to_node(shared, part.count);
        if (work.pieces > 1) {
            int64_t *pieces = (int64_t *)(void *)work.piece_nodes;
            put_words(pieces + q * node_words, shared);
            if (is_last_block(work.arrivals + r, work.pieces, shared)) {
                add_pieces(pieces + r * work.pieces * node_words, work.pieces, shared);
                put_words(to, shared);
            }
        } else
            put_words(to, shared);
        tally_barrier(); /* before the words are cleared again */
    }
}

#endif
