/* mine: passes, 32 threads, 32 each, 48 shared, commutes
 * A warp that trusts its lanes to advance together: they have not since Volta.
 */
#include "gallery/kernels/contract.h"

TALLY_KERNEL_OF(mine) {
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_SHARED_mine, partial);
    int32_t lane = tally_lane();
    TALLY_WRITE(partial[lane], take(&work, (int64_t)tally_block() * 32 + lane));
    tally_warp_barrier();
    for (int32_t half = 16; half > 0; half /= 2) {
        if (tally_branch(lane < half))
            TALLY_WRITE(partial[lane], TALLY_OP(TALLY_READ(partial[lane]), TALLY_READ(partial[lane + half])));
    }
    if (lane == 0) give(&work, tally_block(), TALLY_READ(partial[0]));
}
