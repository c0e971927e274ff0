/* Merges the nodes of several parties (tally_nodes_work). One thread merges the nodes of one result, and finishes the
 * result or stores the merged node. A damaged node counts as a node of no values and sets TALLY_FLAG_BAD_SEGMENTS. */
#ifndef TALLY_FORM_NODES_H
#define TALLY_FORM_NODES_H

#include "types/types.h"

#include TALLY_KERNEL_FILE
#include "device/device.h"
#include "accumulators/finalize.h"
#include "accumulators/packed_nodes.h"
#include "order/put_result.h"

TALLY_FN node_t take_sent(const tally_nodes_work *work, const char *from) {
    node_t node;
    if (work->are_packed)
        node = take_packed(from);
    else
        __builtin_memcpy(&node, from, sizeof node);
    if (node.n >= 0 && node.n <= work->most) return node;
    if (work->out.flags != 0) tally_or32(work->out.flags, TALLY_FLAG_BAD_SEGMENTS);
    return nothing();
}

TALLY_KERNEL_ENTRY(TALLY_THREADS, nodes, tally_nodes_work, 1) {
    const int64_t step = (int64_t)tally_blocks() * tally_threads();
    for (int64_t i = (int64_t)tally_block() * tally_threads() + tally_thread(); i < work.count; i += step) {
        node_t all = nothing();
#if TALLY_HAS_INDEX
        int64_t before = work.shifts != 0 ? work.shifts[i] : 0;
#endif
        for (int32_t p = 0; p < work.parties; p++) {
            const char *from = work.nodes + p * work.party_stride + i * work.node_stride;
            node_t node = take_sent(&work, from);
#if TALLY_HAS_INDEX
            node = shift(node, before);
            if (work.count_at != 0) before += *(const int64_t *)(const void *)(from + work.count_at);
#endif
            all = merge(all, node);
        }
        if (work.merged != 0)
            put_packed(all, (char *)work.merged + i * work.merged_stride);
        else
            put_result(&work.out, i, all);
    }
}

#endif
