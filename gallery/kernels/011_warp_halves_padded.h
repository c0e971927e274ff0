/* 011 warp_halves_padded: the same without conditions.
 *
 * Idea. A lane that does nothing takes as long as one that adds. So let all lanes add: those above the half compute
 *   what nobody reads. The 16 elements behind the 32 are the identity, so that no lane reads beyond the array.
 * Source. SO, the same section: without conditions, and with elements 32 to 47 padded the first one can go too.
 * Requires. An operator that commutes; otherwise as warp_halves.
 * Steps. Halves 16, 8, 4, 2, 1: every lane l combines element l with element l + half.
 * Work. 160 combinations where 31 are needed, and no divergence.
 * Changed. Lane l reads what lane l + half writes in the same step. In lockstep all reads came first; now a __syncwarp
 *   stands between reading and writing, and another after it. That is two where warp_halves needs one: what was faster
 *   in 2013 need not be so now.
 * Predict. No divergence, five times the combinations. Faster?
 * Answer. No difference can be seen: both wait for blocks to be launched. The simulator counts what differs.
 * Why. As warp_halves.
 * In short. too many tiny blocks
 * Next. Between asking in each step and never asking lies asking once: warp_halves_once. */
#include "gallery/kernels/contract.h"

TALLY_KERNEL_OF(warp_halves_padded) {
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_SHARED_warp_halves_padded, elements);
    int32_t lane = tally_lane();
    TALLY_WRITE(elements[lane], take(&work, (int64_t)tally_block() * TALLY_WARP + lane));
    if (lane < TALLY_WARP / 2) TALLY_WRITE(elements[TALLY_WARP + lane], TALLY_NONE);
    tally_warp_barrier();
    for (int32_t half = TALLY_WARP / 2; half > 0; half /= 2) {
        tally_step(half);
        TALLY_E sum = TALLY_OP(TALLY_READ(elements[lane]), TALLY_READ(elements[lane + half]));
        tally_warp_barrier();
        TALLY_WRITE(elements[lane], sum);
        tally_warp_barrier();
    }
    if (lane == 0) give(&work, tally_block(), TALLY_READ(elements[0]));
}
