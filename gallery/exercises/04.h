/* mine: passes, 256 threads, 256 each, 264 shared
 * Banks collide: neighbours of one step lie 2 * stride apart. The order must stay.
 * want: 0 conflicts
 */
#include "gallery/kernels/contract.h"

TALLY_KERNEL_OF(mine) {
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_SHARED_mine, partial);
    int32_t t = tally_thread(), threads = tally_threads();
    int64_t first = (int64_t)tally_block() * threads;
    TALLY_WRITE(partial[t], take(&work, first + t));
    tally_barrier();
    for (int32_t stride = 1; stride < threads; stride *= 2) {
        int32_t at = 2 * stride * t;
        if (tally_branch(at + stride < threads))
            TALLY_WRITE(partial[at], TALLY_OP(TALLY_READ(partial[at]), TALLY_READ(partial[at + stride])));
        tally_barrier();
    }
    if (t == 0) give(&work, tally_block(), TALLY_READ(partial[0]));
}
