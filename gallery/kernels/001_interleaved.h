/* 001 interleaved: a tree of neighbours.
 *
 * Idea. Combine neighbours, 0 with 1, 2 with 3, all pairs at the same time; then those results by neighbours, until one
 *   is left: log2(n) steps in place of n - 1. A block keeps the values in shared memory, where its threads see what the
 *   others wrote.
 * Source. Kandasamy, figure 1 and the first listing.
 * Requires. Any associative operator: operands stay in order. At most as many values as a block may have threads, 1024;
 *   shorter arrays are padded with the identity to a power of two (the text pads with zeros, which is right for sums
 *   only).
 * Steps. A thread for each value loads it. With stride 1, 2, 4, ... thread t takes part if t is a multiple of 2 *
 *   stride, and puts element t + stride behind its own. A barrier ends each step: nobody may read what is not written
 *   yet.
 * Work. n - 1 combinations in log2(n) steps; n * size bytes read, one element written. Half of the threads do nothing
 *   but load.
 * Predict. In step 1 every second thread combines. How many warps have work, and how many could be idle?
 * Answer. All have work and all diverge: each has lanes that combine and lanes that wait. No warp can leave until the
 *   step in which its threads are done.
 * Why. One block and one value a thread: it is timed in no large race. Count its divergent branches, and compare with
 *   halves.
 * In short. every warp diverges
 * Next. The threads that take part lie 2 * stride apart, so that in each of the first five steps every warp diverges:
 *   some of its lanes take part and the others wait. halves lets neighbouring threads stay. */
#include "gallery/kernels/contract.h"

TALLY_KERNEL_OF(interleaved) {
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_SHARED_interleaved, partial);
    int32_t t = tally_thread(), threads = tally_threads();
    TALLY_WRITE(partial[t], take(&work, t));
    tally_barrier();
    for (int32_t stride = 1; stride < threads; stride *= 2) {
        tally_step(stride);
        if (tally_branch(t % (2 * stride) == 0))
            TALLY_WRITE(partial[t], TALLY_OP(TALLY_READ(partial[t]), TALLY_READ(partial[t + stride])));
        tally_barrier();
    }
    if (t == 0) give(&work, 0, TALLY_READ(partial[0]));
}
