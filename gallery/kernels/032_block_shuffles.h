/* 032 block_shuffles: a block reduced by shuffles.
 *
 * Idea. Each warp reduces its 32 elements by shuffles, in registers. One barrier, and the first warp reduces what the
 *   warps have left in the same way.
 * Source. J. Luitjens, "Faster Parallel Reductions on Kepler", NVIDIA, 2014.
 * Requires. An operator that commutes, for the loads; the block's tree keeps order. Any length, launched until one is
 *   left.
 * Steps. The loads of vector_loads; five shuffles in each warp; 8 elements in shared memory; a barrier; shuffles in the
 *   first warp.
 * Work. As vector_loads; 1 barrier for 2048 values, and 8 elements of shared memory in place of 256.
 * Predict. One barrier in place of four. Faster by how much? And what becomes of shared memory?
 * Answer. No difference can be seen. Shared memory all but vanishes: 8 elements a block, so that it never limits how
 *   many blocks a multiprocessor holds.
 * Why. Other blocks load while one reduces: unrolled had hidden its barriers already. Memory is the bound, and the
 *   two further launches.
 * In short. one barrier a block
 * Next. What the blocks leave takes further launches. atomic_finish combines it in this one. */
#include "gallery/kernels/014_warp_shuffles.h"
#include "gallery/kernels/030_vector_loads.h"

#ifndef TALLY_GALLERY_BLOCK_SHUFFLES
#define TALLY_GALLERY_BLOCK_SHUFFLES
/* The elements of the block's threads, in order; the result is thread 0's. */
TALLY_FN TALLY_E reduce_block(TALLY_E sum) {
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_WARP, of_warps);
    int32_t lane = tally_lane(), warps = tally_threads() / TALLY_WARP;
    sum = reduce_shuffling(sum);
    if (lane == 0) TALLY_WRITE(of_warps[tally_warp()], sum);
    tally_barrier();
    if (tally_branch(tally_warp() == 0)) {
        sum = TALLY_NONE;
        if (tally_branch(lane < warps)) sum = TALLY_READ(of_warps[lane]);
        sum = reduce_shuffling(sum);
    }
    return sum;
}

TALLY_KERNEL_OF(block_shuffles) {
    TALLY_E sum = reduce_block(fold_vectors(&work));
    if (tally_thread() == 0) give(&work, tally_block(), sum);
}
#endif
