/* Nodes of several parties: those of each result are merged, and finished or written down, by one thread. Party p's
 * node of result i is at nodes + p * first + i * x_stride, as kernels have it or, with `user`, as it travels. Indices
 * move by x[i] where there is an x; where they count from a party's own first value, the number of its values stands
 * y_stride behind the node. The node of all goes to node + i * result_stride as it travels, if there is a `node`; else
 * its result goes to result + i * result_stride. A node of more than `length` values is damaged: it counts as one of
 * none, and TALLY_SAW_BAD_SEGMENTS is told. */
#ifndef TALLY_FORM_NODES_H
#define TALLY_FORM_NODES_H

#include "types/types.h"

#include TALLY_KERNEL_FILE
#include "device/device.h"

#define TALLY_BLOCK 256
#include "accumulators/conclude.h"
#include "accumulators/packed_nodes.h"
#include "order/put_result.h"

TALLY_FN node_t take_sent(const tally_work *work, const char *from) {
    node_t node;
    if (work->user)
        node = take_packed(from);
    else
        __builtin_memcpy(&node, from, sizeof node);
    if (node.n >= 0 && node.n <= work->length) return node;
    if (work->saw != 0) tally_or32(work->saw, TALLY_SAW_BAD_SEGMENTS);
    return nothing();
}

TALLY_KERNEL_ENTRY(TALLY_BLOCK, nodes, 1) {
    const int64_t step = (int64_t)tally_blocks() * tally_threads();
    for (int64_t i = (int64_t)tally_block() * tally_threads() + tally_thread(); i < work.count; i += step) {
        node_t all = nothing();
#ifdef TALLY_HAS_INDEX
        int64_t before = work.x != 0 ? *(const int64_t *)(const void *)(work.x + 8 * i) : 0;
#endif
        for (int32_t p = 0; p < work.run; p++) {
            const char *from = work.nodes + p * work.first + i * work.x_stride;
            node_t node = take_sent(&work, from);
#ifdef TALLY_HAS_INDEX
            node = shift(node, before);
            if (work.y_stride != 0) before += *(const int64_t *)(const void *)(from + work.y_stride);
#endif
            all = merge(all, node);
        }
        if (work.node != 0)
            put_packed(all, (char *)work.node + i * work.result_stride);
        else
            put_result(&work, i, all);
    }
}

#endif
