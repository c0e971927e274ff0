/* mine: passes, 256 threads, 256 each, 256 shared, commutes
 * Every warp diverges in every step: threads that are left lie apart.
 * Solved.
 * want: 300 divergent
 */
#include "gallery/kernels/contract.h"

TALLY_KERNEL_OF(mine) {
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_SHARED_mine, partial);
    int32_t t = tally_thread(), threads = tally_threads();
    TALLY_WRITE(partial[t], take(&work, (int64_t)tally_block() * threads + t));
    tally_barrier();
    for (int32_t stride = threads / 2; stride > 0; stride /= 2) {
        if (tally_branch(t < stride))
            TALLY_WRITE(partial[t], TALLY_OP(TALLY_READ(partial[t]), TALLY_READ(partial[t + stride])));
        tally_barrier();
    }
    if (t == 0) give(&work, tally_block(), TALLY_READ(partial[0]));
}
