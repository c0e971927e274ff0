/* The same of exact sums (production/nodes.h): nodes that have been added word by word, or are merged here. */
#ifndef TALLY_FORM_EXACT_NODES_H
#define TALLY_FORM_EXACT_NODES_H

#include "types/types.h"

#include TALLY_KERNEL_FILE

#include "device/device.h"

#define TALLY_BLOCK 256

TALLY_KERNEL_ENTRY(TALLY_BLOCK, exact_nodes, 1) {
    const int64_t step = (int64_t)tally_blocks() * tally_threads();
    for (int64_t i = (int64_t)tally_block() * tally_threads() + tally_thread(); i < work.count; i += step) {
        accumulator_t *all = (accumulator_t *)(void *)(work.nodes + i * work.x_stride);
        settle_accumulator(all);
        for (int32_t p = 1; p < work.run; p++)
            join_accumulators(all, (const accumulator_t *)(void *)(work.nodes + (p * work.count + i) * work.x_stride));
        total_t total = total_of(all);
        round_total(&total, &work.final, (char *)work.result + i * work.result_stride);
        if (work.saw != 0 && total.n == 0) tally_or32(work.saw, TALLY_SAW_EMPTY);
    }
}

#endif
