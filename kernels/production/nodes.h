/* Nodes that several GPUs have made: those of each result are merged and finished, by one thread. Party p's node of
 * result i is at nodes + (p * count + i) * x_stride; where indices count from a party's own first value, the number of
 * its values stands y_stride behind it. */
#ifndef TALLY_FORM_NODES_H
#define TALLY_FORM_NODES_H

#include "types/types.h"

#include TALLY_KERNEL_FILE
#include "device/device.h"

#define TALLY_BLOCK 256
#include "accumulators/conclude.h"
#include "order/put_result.h"

TALLY_KERNEL_ENTRY(TALLY_BLOCK, nodes, 1) {
    const int64_t step = (int64_t)tally_blocks() * tally_threads();
    for (int64_t i = (int64_t)tally_block() * tally_threads() + tally_thread(); i < work.count; i += step) {
        node_t all = nothing();
#ifdef TALLY_HAS_INDEX
        int64_t before = 0;
#endif
        for (int32_t p = 0; p < work.run; p++) {
            const char *from = work.nodes + (p * work.count + i) * work.x_stride;
            node_t node;
            __builtin_memcpy(&node, from, sizeof node);
#ifdef TALLY_HAS_INDEX
            node = shift(node, before);
            before += *(const int64_t *)(const void *)(from + work.y_stride);
#endif
            all = merge(all, node);
        }
        put_result(&work, i, all);
    }
}

#endif
