/* 013 warp_pairs_padded: neighbours without conditions.
 *
 * Idea. After the step of `apart` every element is the reduction of 2 * apart elements from its own place on, with the
 *   identity beyond the end. Element 0 is then all of them, in order.
 * Source. SO, the same section, sumNoncommSingleWarpPadded.
 * Requires. Any associative operator; otherwise as warp_halves.
 * Steps. Apart 1, 2, 4, 8, 16: every lane l combines element l with element l + apart; elements 32 to 47 are the
 *   identity.
 * Work. 160 combinations where 31 are needed, and no divergence.
 * Changed. A __syncwarp between reading and writing, and one after it, as in warp_halves_padded.
 * Predict. What does lane 31 combine in step 1?
 * Answer. Its element with the identity behind the 32. What becomes of it nobody needs.
 * Why. As warp_halves.
 * In short. too many tiny blocks
 * Next. Shared memory is only the way from one lane to another: warp_shuffles goes without. */
#include "gallery/kernels/contract.h"

TALLY_KERNEL_OF(warp_pairs_padded) {
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_SHARED_warp_pairs_padded, elements);
    int32_t lane = tally_lane();
    TALLY_WRITE(elements[lane], take(&work, (int64_t)tally_block() * TALLY_WARP + lane));
    if (lane < TALLY_WARP / 2) TALLY_WRITE(elements[TALLY_WARP + lane], TALLY_NONE);
    tally_warp_barrier();
    for (int32_t apart = 1; apart < TALLY_WARP; apart *= 2) {
        tally_step(apart);
        TALLY_E sum = TALLY_OP(TALLY_READ(elements[lane]), TALLY_READ(elements[lane + apart]));
        tally_warp_barrier();
        TALLY_WRITE(elements[lane], sum);
        tally_warp_barrier();
    }
    if (lane == 0) give(&work, tally_block(), TALLY_READ(elements[0]));
}
