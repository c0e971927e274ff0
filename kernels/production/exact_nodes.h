/* The same of exact sums (production/nodes.h). Nodes are words at multiples of 8, and travel as they are; they may have
 * been added word by word, and are settled in copies: of two nodes for each thread, at group.nodes_to. */
#ifndef TALLY_FORM_EXACT_NODES_H
#define TALLY_FORM_EXACT_NODES_H

#include "types/types.h"

#include TALLY_KERNEL_FILE

#include "device/device.h"

#define TALLY_BLOCK 256

enum { node_words = sizeof(accumulator_t) / 8 };

TALLY_FN void copy_words(void *to, const void *from) {
    for (int32_t k = 0; k < node_words; k++) ((int64_t *)to)[k] = ((const int64_t *)from)[k];
}

TALLY_FN void copy_sent(const tally_work *work, const char *from, accumulator_t *copy) {
    copy_words(copy, from);
    settle_accumulator(copy);
    if (copy->n >= 0 && copy->n <= work->length) return;
    if (work->saw != 0) tally_or32(work->saw, TALLY_SAW_BAD_SEGMENTS);
    clear_accumulator(copy);
}

TALLY_KERNEL_ENTRY(TALLY_BLOCK, exact_nodes, 1) {
    const int64_t step = (int64_t)tally_blocks() * tally_threads(),
                  me = (int64_t)tally_block() * tally_threads() + tally_thread();
    accumulator_t *const all = (accumulator_t *)(void *)work.group.nodes_to + 2 * me, *const other = all + 1;
    for (int64_t i = me; i < work.count; i += step) {
        for (int32_t p = 0; p < work.run; p++) {
            copy_sent(&work, work.nodes + p * work.first + i * work.x_stride, p == 0 ? all : other);
            if (p > 0) join_accumulators(all, other);
        }
        if (work.node != 0)
            copy_words((char *)work.node + i * work.result_stride, all);
        else {
            total_t total = total_of(all);
            round_total(&total, &work.final, (char *)work.result + i * work.result_stride);
            if (work.saw != 0 && total.n == 0) tally_or32(work.saw, TALLY_SAW_EMPTY);
        }
    }
}

#endif
