/* Merges nodes of exact sums; production/ranks/nodes.h merges others. Nodes are 8-byte words, aligned to 8, and travel
 * as they are. They may have been added word by word, so they are settled first, in copies: two for each thread, at
 * `copies`. */
#ifndef TALLY_FORM_EXACT_NODES_H
#define TALLY_FORM_EXACT_NODES_H

#include "types/types.h"

#include TALLY_KERNEL_FILE

#include "device/device.h"

enum { node_words = sizeof(accumulator_t) / 8 };

TALLY_FN void copy_words(void *to, const void *from) {
    for (int32_t k = 0; k < node_words; k++) ((int64_t *)to)[k] = ((const int64_t *)from)[k];
}

TALLY_FN void copy_sent(const tally_nodes_work *work, const char *from, accumulator_t *copy) {
    copy_words(copy, from);
    settle_accumulator(copy);
    if (copy->n >= 0 && copy->n <= work->most) return;
    if (work->out.flags != 0) tally_or32(work->out.flags, TALLY_FLAG_BAD_SEGMENTS);
    clear_accumulator(copy);
}

TALLY_KERNEL_ENTRY(TALLY_THREADS, exact_nodes, tally_nodes_work, 1) {
    const int64_t step = (int64_t)tally_blocks() * tally_threads(),
                  me = (int64_t)tally_block() * tally_threads() + tally_thread();
    accumulator_t *const all = (accumulator_t *)(void *)work.copies + 2 * me, *const other = all + 1;
    for (int64_t i = me; i < work.count; i += step) {
        for (int32_t p = 0; p < work.parties; p++) {
            copy_sent(&work, work.nodes + p * work.party_stride + i * work.node_stride, p == 0 ? all : other);
            if (p > 0) join_accumulators(all, other);
        }
        if (work.merged != 0)
            copy_words((char *)work.merged + i * work.merged_stride, all);
        else {
            total_t total = total_of(all);
            round_total(&total, &work.out.final, (char *)work.out.result + i * work.out.result_stride);
            if (work.out.flags != 0 && total.n == 0) tally_or32(work.out.flags, TALLY_FLAG_EMPTY);
        }
    }
}

#endif
