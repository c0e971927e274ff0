/* 005 one_block: threads fold first, then comes the tree.
 *
 * Idea. Combining needs no partner as long as there are more values than threads: each thread folds every B-th value by
 *   itself, in a register, and only the B results go through shared memory and barriers.
 * Source. SO, "Single-block parallel reduction for commutative operator".
 * Requires. An operator that commutes: a thread's values lie B apart. Any length, but one block: it is meant for a few
 *   thousand values, as a step of something larger.
 * Steps. Fold; store; then halves.
 * Work. n - 1 combinations, of which B - 1 in the tree; 12 barriers: one before the tree, ten in it, one behind it; n *
 *   size bytes read by one multiprocessor out of many.
 * Predict. One block of 1024 threads folds all of it. Which share of the bandwidth can it reach on 132 multiprocessors?
 * Answer. About one part in 132: a multiprocessor cannot have more reads on their way than its own.
 * Why. One multiprocessor of many works.
 * In short. one multiprocessor works
 * Next. Values change places. one_block_ordered keeps them in order. */
#include "gallery/kernels/contract.h"

#ifndef TALLY_GALLERY_ONE_BLOCK
#define TALLY_GALLERY_ONE_BLOCK
/* Every `step`-th input from `first` on, folded; then all of the block. The result is thread 0's. */
TALLY_FN TALLY_E reduce_striding(const tally_work *work, int64_t first, int64_t step) {
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_SHARED_one_block, partial);
    int32_t t = tally_thread();
    TALLY_E sum = take(work, first);
    for (int64_t i = first + step; tally_branch(i < work->count); i += step) sum = TALLY_OP(sum, take(work, i));
    TALLY_WRITE(partial[t], sum);
    tally_barrier();
    for (int32_t size = tally_threads() / 2; size > 0; size /= 2) {
        tally_step(size);
        if (tally_branch(t < size))
            TALLY_WRITE(partial[t], TALLY_OP(TALLY_READ(partial[t]), TALLY_READ(partial[t + size])));
        tally_barrier();
    }
    sum = TALLY_READ(partial[0]);
    tally_barrier();
    return sum;
}

TALLY_KERNEL_OF(one_block) {
    TALLY_E sum = reduce_striding(&work, tally_thread(), tally_threads());
    if (tally_thread() == 0) give(&work, 0, sum);
}
#endif
