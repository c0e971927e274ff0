/* A whole array by an operator of kernels/exact, in one launch: the true sum, in any order (docs/exact.md has the
 * method and its proof). Each block adds its share in limbs (exact_sums/exact_block.h) and adds these to limbs in
 * memory. The last block rounds. */
#ifndef TALLY_FORM_REDUCE_EXACT_H
#define TALLY_FORM_REDUCE_EXACT_H

#include "types/types.h"

#include TALLY_KERNEL_FILE

#include "exact_sums/exact_block.h"
#include "sums/trim.h"

/* Adds the block's words to those in memory. True: this is the last block; it has taken all words and left zeros. */
TALLY_FN int32_t gather_blocks(const tally_array_work *work, shared_t *shared) {
    int64_t *words = (int64_t *)(void *)&shared->node, *all = (int64_t *)(void *)work->nodes;
    TALLY_IF_KEYS(int64_t *keys = all + TALLY_KEYS_AT / 8;)
    for (int32_t i = tally_thread(); i < node_words; i += tally_threads())
        if (words[i] != 0) tally_add64(all + i, words[i]);
    TALLY_IF_KEYS(if (tally_thread() == 0) keys[2 * tally_block()] = shared->low[0],
                  keys[2 * tally_block() + 1] = shared->high[0];)
    if (!is_last_block(work->arrivals, tally_blocks(), shared)) return 0;
    for (int32_t i = tally_thread(); i < node_words; i += tally_threads()) {
        words[i] = (int64_t)tally_load_fresh((const uint64_t *)(all + i));
        all[i] = 0;
    }
#if TALLY_HAS_KEYS
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (int32_t b = tally_thread(); b < tally_blocks(); b += tally_threads()) {
        int64_t low_there = (int64_t)tally_load_fresh((const uint64_t *)(keys + 2 * b));
        int64_t high_there = (int64_t)tally_load_fresh((const uint64_t *)(keys + 2 * b + 1));
        low = low_there < low ? low_there : low;
        high = high_there > high ? high_there : high;
    }
    share_range(shared, low, high);
    if (tally_thread() == 0) shared->node.low = shared->low[0], shared->node.high = shared->high[0];
#endif
    tally_barrier();
    return 1;
}

/* Writes the node or its result; by warp 0 of the last block. */
TALLY_FN void put_array_result(const tally_array_work *work, shared_t *shared) {
    accumulator_t *node = &shared->node;
    int32_t first = TALLY_IS_F64 ? TALLY_LIMBS - 2 : 0; /* narrow types have short numbers */
    TALLY_IF_SUM(tally_used_limbs sum = tally_find_limbs(node->sum + TALLY_EVIDENCE, TALLY_LIMBS);
                 if (sum.end > 0 && sum.first < first) first = sum.first;)
    TALLY_IF_PRODUCTS(tally_used_limbs products =
                          tally_find_limbs(node->products + TALLY_EVIDENCE, TALLY_PRODUCT_LIMBS);
                      if (products.end > 0 && products.first / 2 < first) first = products.first / 2;)
    if (tally_lane() != 0) return;
    node->n += work->count;
    if (work->node != 0) {
        settle_accumulator(node);
        __builtin_memcpy(work->node, node, sizeof *node);
    } else if (work->out.result != 0) {
        total_t total = total_of(node);
        /* The origin of products stays twice that of values. */
        TALLY_IF_SUM(tally_trim(&total.sum, node->sum, first, sum.end);
                     tally_settle(node->sum + first, total.sum.count);)
        TALLY_IF_PRODUCTS(tally_trim(&total.products, node->products, 2 * first, products.end);
                          tally_settle(node->products + 2 * first, total.products.count);)
        round_total(&total, &work->out.final, work->out.result);
        if (work->out.flags != 0 && total.n == 0) tally_or32(work->out.flags, TALLY_FLAG_EMPTY);
    }
}

TALLY_KERNEL_ENTRY(TALLY_THREADS, exact, tally_array_work, TALLY_RESIDENT) {
    TALLY_SHARED(shared_t, shared);
    state_t state = begin_state();
    clear_shared(shared);
    int64_t leaf = (int64_t)tally_block() * TALLY_WARPS + tally_warp(), step = (int64_t)tally_blocks() * TALLY_WARPS;
    take_leaves(tally_source_of(work.x, work.x_stride, TALLY_BYTES),
                tally_source_of(work.y, work.y_stride, TALLY_BYTES), leaf * TALLY_DEVICE_LEAF, step * TALLY_DEVICE_LEAF,
                work.count, &state, shared);
    gather_warps(&state, shared);
    if (!gather_blocks(&work, shared) || tally_warp() != 0) return;
    put_array_result(&work, shared);
}

#endif
