/* 006 one_block_ordered: the same without a change of places.
 *
 * Idea. Shared memory has room for 2 B elements. The lower half holds what has been reduced, in order; the upper half
 *   is filled with the next B values; neighbours are combined, which packs everything into the lower half again.
 * Source. SO, "Single-block parallel reduction for non-commutative operator".
 * Requires. Any associative operator; any length, one block.
 * Steps. Fill the lower half. While values are left: fill the upper half, combine 2 t and 2 t + 1 into t. Then a tree
 *   of neighbours that leaves results where they are, which spares a barrier in each step.
 * Work. n - 1 combinations, but through shared memory each, with three barriers for each B values: that is the price of
 *   the order. Old results are combined again and again: the tree is lopsided, right for any associative operator, and
 *   deep in its first part.
 * Changed. The text keeps the offset of the next values in shared memory, written by thread 0; each thread can count
 *   for itself. Blocks have 512 threads in place of 1024, so that larger accumulators find room.
 * Predict. Each round takes B values through shared memory, with three barriers. Slower than one_block by how much?
 * Answer. By most of an order of magnitude. Each round waits for memory, and then for three barriers, and nothing
 *   overlaps.
 * Why. One multiprocessor, and it waits three times for each 512 values.
 * In short. three barriers a round
 * Next. One block is one multiprocessor. grid uses them all. */
#include "gallery/kernels/contract.h"

#ifndef TALLY_GALLERY_ONE_BLOCK_ORDERED
#define TALLY_GALLERY_ONE_BLOCK_ORDERED
/* The inputs from `first` to before `end`, by one block. The result is thread 0's. */
TALLY_FN TALLY_E reduce_in_order(const tally_work *work, int64_t first, int64_t end) {
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_SHARED_one_block_ordered, kept);
    int32_t t = tally_thread(), threads = tally_threads();
    TALLY_E sum;
    TALLY_WRITE(kept[t], first + t < end ? take(work, first + t) : TALLY_NONE);
    tally_barrier();
    for (int64_t at = first + threads; at < end; at += threads) {
        tally_step(0);
        TALLY_WRITE(kept[threads + t], at + t < end ? take(work, at + t) : TALLY_NONE);
        tally_barrier();
        sum = TALLY_OP(TALLY_READ(kept[2 * t]), TALLY_READ(kept[2 * t + 1]));
        tally_barrier();
        TALLY_WRITE(kept[t], sum);
        tally_barrier();
    }
    for (int32_t stride = 1; stride < threads; stride *= 2) {
        int32_t i = 2 * stride * t;
        tally_step(stride);
        if (tally_branch(i + stride < threads))
            TALLY_WRITE(kept[i], TALLY_OP(TALLY_READ(kept[i]), TALLY_READ(kept[i + stride])));
        tally_barrier();
    }
    sum = TALLY_READ(kept[0]);
    tally_barrier();
    return sum;
}

TALLY_KERNEL_OF(one_block_ordered) {
    TALLY_E sum = reduce_in_order(&work, 0, work.count);
    if (tally_thread() == 0) give(&work, 0, sum);
}
#endif
