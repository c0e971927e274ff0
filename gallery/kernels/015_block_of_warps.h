/* 015 block_of_warps: a block of warps.
 *
 * Idea. one_block spends ten steps with a barrier each on its tree. With warps that reduce by themselves, as
 *   warp_halves does, one barrier is left: 32 warps leave 32 elements, and the first warp reduces those.
 * Source. SO, "Single-warp parallel reduction for commutative operator", sumCommSingleBlockWithWarps.
 * Requires. An operator that commutes; any length, one block of 1024 threads.
 * Steps. Fold as one_block; warp_halves in each warp; a barrier; the first warp collects element 32 w of each warp w;
 *   warp_halves again.
 * Work. As one_block, with 1 barrier of the block in place of 12.
 * Changed. A __syncwarp where lanes of a warp exchange elements: after the fold and after collecting.
 * Predict. One barrier in place of twelve. How much faster than one_block at 2^26 values?
 * Answer. Hardly: the tree is a millionth of the work. Fewer barriers pay where trees are much of it.
 * Why. One multiprocessor of many works.
 * In short. one multiprocessor works
 * Next. tb2 begins the paper's kernels, which keep the order and take arrays of any length. */
#include "gallery/kernels/010_warp_halves.h"

TALLY_KERNEL_OF(block_of_warps) {
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_SHARED_block_of_warps, partial);
    int32_t t = tally_thread(), threads = tally_threads();
    TALLY_E sum = take(&work, t);
    for (int64_t i = t + threads; tally_branch(i < work.count); i += threads) sum = TALLY_OP(sum, take(&work, i));
    TALLY_WRITE(partial[t], sum);
    tally_warp_barrier();
    reduce_warp_halves(partial + t / TALLY_WARP * TALLY_WARP);
    tally_barrier();
    if (tally_branch(t >= TALLY_WARP)) return;
    sum = t * TALLY_WARP < threads ? TALLY_READ(partial[t * TALLY_WARP]) : TALLY_NONE;
    tally_warp_barrier();
    TALLY_WRITE(partial[t], sum);
    tally_warp_barrier();
    reduce_warp_halves(partial);
    if (t == 0) give(&work, 0, TALLY_READ(partial[0]));
}
