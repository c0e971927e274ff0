/* 028 first_add: the first addition while loading.
 *
 * Idea. In a tree half of the threads do nothing but load. Let each thread combine the two values that it loads before
 *   anything is stored: half of the shared memory, and one level less.
 * Source. M. Harris, "Optimizing Parallel Reduction in CUDA", 2007, kernel 4.
 * Requires. An operator that commutes: a thread's two values lie a block apart. Any length, launched until one is left.
 * Steps. Thread t takes the values t and B + t of the block's piece, combines them and stores one element. Then the
 *   tree of halves.
 * Work. n - 1 combinations, half of them in registers; log2(B) levels; n * size bytes read.
 * Predict. One level of the tree less, for as many values by as many threads. What do the counts say against
 *   two_loads?
 * Answer. As many barriers, nine, but no bank conflicts, and divergence in the last warp alone.
 * Why. Two loads of a thread in flight, and nine barriers in which a block loads nothing. It takes half the time of
 *   two_loads, whose divergence and bank conflicts are gone.
 * In short. nine barriers a block
 * Next. Two loads in flight are few. loads_in_flight has eight. */
#include "gallery/kernels/contract.h"

#ifndef TALLY_GALLERY_FIRST_ADD
#define TALLY_GALLERY_FIRST_ADD
/* The block's elements by a tree of halves; the result is thread 0's. `partial` has room for one of each thread. */
TALLY_FN TALLY_E reduce_halves(TALLY_E *partial, TALLY_E sum) {
    int32_t t = tally_thread();
    TALLY_WRITE(partial[t], sum);
    tally_barrier();
    for (int32_t size = tally_threads() / 2; size > 0; size /= 2) {
        tally_step(size);
        if (tally_branch(t < size))
            TALLY_WRITE(partial[t], TALLY_OP(TALLY_READ(partial[t]), TALLY_READ(partial[t + size])));
        tally_barrier();
    }
    return TALLY_READ(partial[0]);
}

TALLY_KERNEL_OF(first_add) {
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_SHARED_first_add, partial);
    int32_t threads = tally_threads();
    int64_t first = (int64_t)2 * tally_block() * threads + tally_thread();
    TALLY_E sum = take(&work, first);
    sum = TALLY_OP(sum, take(&work, first + threads));
    sum = reduce_halves(partial, sum);
    if (tally_thread() == 0) give(&work, tally_block(), sum);
}
#endif
