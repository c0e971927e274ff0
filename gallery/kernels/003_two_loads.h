/* 003 two_loads: two values a thread, one result a block.
 *
 * Idea. The first step of a tree needs n/2 threads for n values, so a block of B threads takes 2 B values. Many blocks
 *   take a piece of the array each and leave one element; the kernel is launched again for those elements, until one is
 *   left.
 * Source. Hwu: the block's design, its mapping of threads to elements (t % stride), and the first of its two ways to
 *   finish.
 * Requires. Any associative operator. Any length: pieces beyond the end are filled with the identity, which the text
 *   leaves out.
 * Steps. Thread t loads the elements t and B + t of the block's piece, side by side with its neighbours' loads. With
 *   stride 1, 2, 4, ..., B thread t takes part if t is a multiple of stride: it combines the elements 2 t and 2 t +
 *   stride. The barrier stands at the beginning of a step, where it also waits for the loads.
 * Work. n - 1 combinations, log2(2 B) steps a launch, log(n) / log(2 B) launches; n * size bytes read, and n/512
 *   elements written and read again, and so on.
 * Predict. Neighbours are combined again, as in interleaved. Which two counts get worse with the stride?
 * Answer. Divergence, and bank conflicts: elements 2 * stride apart share banks.
 * Why. Nine barriers for 512 values, and between them memory has nothing to do: latency is not hidden.
 * In short. barriers, divergence, bank conflicts
 * Next. Threads that stay still lie apart. What is left after the first launch is little work for a GPU: host_finish
 *   leaves it to the host. */
#include "gallery/kernels/contract.h"

#ifndef TALLY_GALLERY_TWO_LOADS
#define TALLY_GALLERY_TWO_LOADS
TALLY_FN void reduce_two_loads(const tally_work *work) {
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_SHARED_two_loads, partial);
    int32_t t = tally_thread(), threads = tally_threads();
    int64_t start = (int64_t)2 * tally_block() * threads;
    TALLY_WRITE(partial[t], take(work, start + t));
    TALLY_WRITE(partial[threads + t], take(work, start + threads + t));
    for (int32_t stride = 1; stride <= threads; stride *= 2) {
        tally_barrier();
        tally_step(stride);
        if (tally_branch(t % stride == 0))
            TALLY_WRITE(partial[2 * t], TALLY_OP(TALLY_READ(partial[2 * t]), TALLY_READ(partial[2 * t + stride])));
    }
    if (t == 0) give(work, tally_block(), TALLY_READ(partial[0]));
}

TALLY_KERNEL_OF(two_loads) { reduce_two_loads(&work); }
#endif
