/* mine: one, 256 threads, 256 each, 512 shared, commutes
 * Ten barriers for each 256 values, where ten do for all: threads can fold first.
 * Solved.
 * want: 12 barriers
 */
#include "gallery/kernels/contract.h"

TALLY_KERNEL_OF(mine) {
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_SHARED_mine, partial);
    int32_t t = tally_thread(), threads = tally_threads();
    TALLY_E sum = TALLY_NONE;
    for (int64_t i = t; i < work.count; i += threads) sum = TALLY_OP(sum, take(&work, i));
    TALLY_WRITE(partial[t], sum);
    tally_barrier();
    for (int32_t size = threads / 2; size > 0; size /= 2) {
        if (tally_branch(t < size))
            TALLY_WRITE(partial[t], TALLY_OP(TALLY_READ(partial[t]), TALLY_READ(partial[t + size])));
        tally_barrier();
    }
    if (t == 0) give(&work, 0, TALLY_READ(partial[0]));
}
