/* 035 warp_halves_once: one condition for all steps.
 *
 * Idea. Between warp_halves, which asks in each step, and warp_halves_padded, which never asks: the lower half of the
 *   lanes takes part in all five steps, and what its upper lanes compute after the first nobody needs.
 * Source. SO, "Single-warp parallel reduction for commutative operator": "one can simplify the code even further".
 * Requires. An operator that commutes; otherwise as warp_halves. No padding: lane 15 reads element 31 at most.
 * Steps. Lanes below 16 combine element l with element l + 16, then l + 8, l + 4, l + 2, l + 1.
 * Work. 80 combinations where 31 are needed; one branch, which diverges.
 * Changed. As warp_halves_padded: a lane reads what another writes in the same step, so that a __syncwarp stands
 *   between reading and writing, and another after it. All lanes of the warp have to reach it, so it cannot stand under
 *   the text's `if (idx<16)`: the answer is kept, and guards each access.
 * Predict. One branch in place of five, two barriers of the warp for each step in place of one. Which counts more?
 * Answer. Neither shows: it takes as long as warp_halves, in a race and alone.
 * Why. In a race the launch of blocks bounds it, as warp_halves. Alone, a thousand times in one launch, they differ by
 *   a percent or less.
 * In short. too many tiny blocks
 * Next. Values change places: warp_pairs. */
#include "gallery/kernels/contract.h"

TALLY_KERNEL_OF(warp_halves_once) {
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_SHARED_warp_halves_once, elements);
    int32_t lane = tally_lane();
    TALLY_WRITE(elements[lane], take(&work, (int64_t)tally_block() * TALLY_WARP + lane));
    tally_warp_barrier();
    int32_t is_lower = tally_branch(lane < TALLY_WARP / 2);
    TALLY_E sum = TALLY_NONE;
    for (int32_t half = TALLY_WARP / 2; half > 0; half /= 2) {
        tally_step(half);
        if (is_lower) sum = TALLY_OP(TALLY_READ(elements[lane]), TALLY_READ(elements[lane + half]));
        tally_warp_barrier();
        if (is_lower) TALLY_WRITE(elements[lane], sum);
        tally_warp_barrier();
    }
    if (lane == 0) give(&work, tally_block(), TALLY_READ(elements[0]));
}
