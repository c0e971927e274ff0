/* mine: passes, 256 threads, 512 each, 512 shared, commutes
 * A barrier is missing: the result depends on who runs first.
 * Solved.
 */
#include "gallery/kernels/contract.h"

TALLY_KERNEL_OF(mine) {
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_SHARED_mine, partial);
    int32_t t = tally_thread(), threads = tally_threads();
    int64_t first = (int64_t)2 * tally_block() * threads;
    TALLY_WRITE(partial[t], take(&work, first + t));
    TALLY_WRITE(partial[threads + t], take(&work, first + threads + t));
    tally_barrier();
    for (int32_t size = threads; size > 0; size /= 2) {
        if (tally_branch(t < size))
            TALLY_WRITE(partial[t], TALLY_OP(TALLY_READ(partial[t]), TALLY_READ(partial[t + size])));
        tally_barrier();
    }
    if (t == 0) give(&work, tally_block(), TALLY_READ(partial[0]));
}
