/* mine: one, 256 threads, 256 each, 256 shared, commutes
 * Loads are not coalesced: each thread reads a stretch of its own.
 * want: 340 transactions
 */
#include "gallery/kernels/contract.h"

TALLY_KERNEL_OF(mine) {
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_SHARED_mine, partial);
    int32_t t = tally_thread(), threads = tally_threads();
    int64_t each = (work.count + threads - 1) / threads, first = each * t, step = 1, end = first + each;
    TALLY_E sum = TALLY_NONE;
    for (int64_t i = first; i < end; i += step) sum = TALLY_OP(sum, take(&work, i));
    TALLY_WRITE(partial[t], sum);
    tally_barrier();
    for (int32_t size = threads / 2; size > 0; size /= 2) {
        if (tally_branch(t < size))
            TALLY_WRITE(partial[t], TALLY_OP(TALLY_READ(partial[t]), TALLY_READ(partial[t + size])));
        tally_barrier();
    }
    if (t == 0) give(&work, 0, TALLY_READ(partial[0]));
}
