/* mine: guard, 256 threads, 256 each, 257 shared, commutes
 * The last block begins too early: it is the last but one.
 * Solved.
 */
#include "gallery/kernels/contract.h"

TALLY_FN TALLY_E reduce_all(const tally_work *work, TALLY_E *partial, int64_t first, int64_t step) {
    int32_t t = tally_thread();
    TALLY_E sum = TALLY_NONE;
    for (int64_t i = first; i < work->count; i += step) sum = TALLY_OP(sum, take(work, i));
    TALLY_WRITE(partial[t], sum);
    tally_barrier();
    for (int32_t size = tally_threads() / 2; size > 0; size /= 2) {
        if (tally_branch(t < size))
            TALLY_WRITE(partial[t], TALLY_OP(TALLY_READ(partial[t]), TALLY_READ(partial[t + size])));
        tally_barrier();
    }
    sum = TALLY_READ(partial[0]);
    tally_barrier();
    return sum;
}

TALLY_KERNEL_OF(mine) {
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_SHARED_mine, partial);
    TALLY_SHARED(int32_t, is_last);
    int32_t t = tally_thread(), threads = tally_threads();
    int64_t step = (int64_t)tally_blocks() * threads;
    uint32_t last = (uint32_t)tally_blocks() - 1;
    tally_work left = work;
    TALLY_E sum = reduce_all(&work, partial, (int64_t)tally_block() * threads + t, step);
    if (t == 0) {
        give(&work, tally_block(), sum);
        tally_fence();
        *is_last = tally_arrive(work.arrivals, last) == last;
        tally_fence();
    }
    tally_barrier();
    if (!*is_last) return;
    left.x = work.nodes;
    left.inputs = TALLY_OF_ELEMENTS;
    left.count = tally_blocks();
    sum = reduce_all(&left, partial, t, threads);
    if (t == 0) give(&work, 0, sum);
}
