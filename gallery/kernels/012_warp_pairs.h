/* 012 warp_pairs: one warp, neighbours.
 *
 * Idea. warp_halves, with neighbours combined in place of halves, which keeps the order.
 * Source. SO, "Single-warp parallel reduction for noncommutative operator", with conditions.
 * Requires. Any associative operator; otherwise as warp_halves.
 * Steps. Apart 1, 2, 4, 8, 16: lane l takes part if it is a multiple of 2 * apart, and puts element l + apart behind
 *   its own.
 * Work. 31 combinations in 5 steps. The lanes that take part lie apart; in one warp that costs nothing that halves
 *   would not.
 * Changed. A __syncwarp ends each step.
 * Predict. Lanes that take part lie apart. Does a warp care?
 * Answer. No: a warp takes the branch if any lane does. And 32 elements lie in 32 different banks.
 * Why. As warp_halves.
 * In short. too many tiny blocks
 * Next. warp_pairs_padded drops the conditions. */
#include "gallery/kernels/contract.h"

TALLY_KERNEL_OF(warp_pairs) {
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_SHARED_warp_pairs, elements);
    int32_t lane = tally_lane();
    TALLY_WRITE(elements[lane], take(&work, (int64_t)tally_block() * TALLY_WARP + lane));
    tally_warp_barrier();
    for (int32_t apart = 1; apart < TALLY_WARP; apart *= 2) {
        tally_step(apart);
        if (tally_branch(lane % (2 * apart) == 0))
            TALLY_WRITE(elements[lane], TALLY_OP(TALLY_READ(elements[lane]), TALLY_READ(elements[lane + apart])));
        tally_warp_barrier();
    }
    if (lane == 0) give(&work, tally_block(), TALLY_READ(elements[0]));
}
