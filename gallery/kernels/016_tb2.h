/* 016 tb2: a tree without bank conflicts.
 *
 * Idea. Let the threads that stay be the first ones, as in halves, and the elements neighbours, as in two_loads: thread
 *   t combines the elements 2 t * stride and (2 t + 1) * stride. Warps leave together and the order is kept. But
 *   elements 2 * stride apart fall into the same banks of shared memory, and wait for one another; so one unused
 *   element is laid behind each 32, and they fall into different ones.
 * Source. Martin, Algorithm 1 (TB2, R = 2), after kernel 2 of M. Harris, "Optimizing Parallel Reduction in CUDA", 2007.
 * Requires. Any associative operator; blocks of a power of two. Any length, launched until one is left.
 * Steps. Level 0, 1, 2, ...: d = B, B/2, ..., 1 threads are active, with stride 1, 2, 4, ...; a barrier before each.
 * Work. n - 1 combinations; log2(2 B) = 9 levels; n * size bytes read, n/512 elements written. Shared memory: 2 B + 2
 *   B/32 elements.
 * Predict. Padding removes the bank conflicts of two_loads, and the first threads stay. Which counts fall to almost
 *   nothing?
 * Answer. Bank conflicts fall to none, and divergence to that of the last warp. The barriers stay.
 * Why. Nine barriers for 512 values.
 * In short. nine barriers a block
 * Next. Nine barriers for 512 values. tb4_warp has two. */
#include "gallery/kernels/block.h"
#include "gallery/kernels/contract.h"

TALLY_KERNEL_OF(tb2) {
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_SHARED_tb2, data);
    int32_t t = tally_thread(), threads = tally_threads(), stride = 1, level = 0;
    int64_t start = (int64_t)2 * tally_block() * threads;
    for (int32_t i = t; i < 2 * threads; i += threads)
        TALLY_WRITE(data[tally_gallery_padded(i)], take(&work, start + i));
    for (int32_t d = threads; d > 0; d /= 2) {
        tally_barrier();
        tally_step(level++);
        if (tally_branch(t < d)) {
            int32_t a = tally_gallery_padded(2 * stride * t), b = tally_gallery_padded(2 * stride * t + stride);
            TALLY_WRITE(data[a], TALLY_OP(TALLY_READ(data[a]), TALLY_READ(data[b])));
        }
        stride *= 2;
    }
    if (t == 0) give(&work, tally_block(), TALLY_READ(data[0]));
}
