/* 031 unrolled: a tree without a loop.
 *
 * Idea. The number of threads is known when the kernel is compiled, so that the loop of the tree can be written out: no
 *   counter, no comparison, no jump. And the last 32 elements are one warp's, which needs no barrier of the block.
 * Source. M. Harris, "Optimizing Parallel Reduction in CUDA", 2007, kernels 5 and 6.
 * Requires. An operator that commutes. Any length, launched until one is left.
 * Steps. The loads of vector_loads; levels of more than a warp with a barrier each; then the first warp alone.
 * Work. As vector_loads; 4 barriers for 2048 values in place of 9.
 * Changed. The text's last warp has no synchronisation, which was right until Volta: a __syncwarp ends each level. The
 *   text writes the levels out by hand; here the bounds of the loop are constants, which compilers unroll.
 * Predict. Kernel 6 of the text was 1.4 times as fast as kernel 5 on a GPU of 2007. And today?
 * Answer. A few percent. Instructions were the bound then, at 86 GB/s; today a multiprocessor executes them while it
 *   waits for memory.
 * Why. Five barriers less, and instructions that were mostly hidden already.
 * In short. fewer barriers, no loop
 * Next. Shared memory is only the way between lanes: block_shuffles goes through registers. */
#include "gallery/kernels/030_vector_loads.h"

TALLY_KERNEL_OF(unrolled) {
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_SHARED_unrolled, partial);
    int32_t t = tally_thread();
    TALLY_WRITE(partial[t], fold_vectors(&work));
    tally_barrier();
    for (int32_t size = TALLY_THREADS_unrolled / 2; size >= TALLY_WARP; size /= 2) {
        tally_step(size);
        if (tally_branch(t < size))
            TALLY_WRITE(partial[t], TALLY_OP(TALLY_READ(partial[t]), TALLY_READ(partial[t + size])));
        tally_barrier();
    }
    if (tally_branch(t >= TALLY_WARP)) return;
    for (int32_t size = TALLY_WARP / 2; size > 0; size /= 2) {
        tally_step(size);
        if (tally_branch(t < size))
            TALLY_WRITE(partial[t], TALLY_OP(TALLY_READ(partial[t]), TALLY_READ(partial[t + size])));
        tally_warp_barrier();
    }
    if (t == 0) give(&work, tally_block(), TALLY_READ(partial[0]));
}
