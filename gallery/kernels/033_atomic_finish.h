/* 033 atomic_finish: each block combines its element into the result.
 *
 * Idea. The blocks' elements need no second launch and no last block: each block combines its own into the one result,
 *   one after another, behind a lock. For sums and minima of one word the hardware has atomic operations that do the
 *   same at once.
 * Source. J. Luitjens, "Faster Parallel Reductions on Kepler", NVIDIA, 2014, with atomicAdd; the lock is here for
 *   operators of any size.
 * Requires. An operator that commutes: blocks come in any order. So sums of floats differ from run to run. Two words
 *   that are 0.
 * Steps. A grid as in last_block; each thread folds; reduce_block; thread 0 takes the lock, combines, and gives the
 *   lock back.
 * Work. As last_block; as many turns at the lock as there are blocks.
 * Predict. 264 blocks take turns at one lock. Does that show?
 * Answer. It takes five times as long as last_block. All blocks have equal work and end at about the same time, so
 *   that they queue: each turn takes over a microsecond.
 * Why. A turn at the lock is a swap, a fence, a read and a write, one behind the other, through the second-level
 *   cache. 264 turns take longer than all of the reading.
 * In short. 264 turns at a lock
 * Next. Many small blocks overlap better than few that stay, but cannot all take turns: tree_one_launch has 32 at a
 *   counter. */
#include "gallery/kernels/032_block_shuffles.h"

TALLY_KERNEL_OF(atomic_finish) {
    int64_t threads = tally_threads(), step = tally_blocks() * threads;
    int64_t first = tally_block() * threads + tally_thread();
    int32_t *lock = (int32_t *)work.arrivals;
    TALLY_E sum = take(&work, first);
    for (int64_t i = first + step; tally_branch(i < work.count); i += step) sum = TALLY_OP(sum, take(&work, i));
    sum = reduce_block(sum);
    if (tally_thread() != 0) return;
    while (tally_swap32(lock, 1) != 0) continue;
    tally_fence();
    if (lock[1] > 0) sum = TALLY_OP(left_at(&work, 0), sum);
    give(&work, 0, sum);
    lock[1] = lock[1] + 1 == tally_blocks() ? 0 : lock[1] + 1;
    tally_fence();
    tally_swap32(lock, 0);
}
