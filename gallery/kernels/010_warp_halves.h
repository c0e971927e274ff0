/* 010 warp_halves: one warp, without barriers of the block.
 *
 * Idea. A warp's 32 lanes are close: they need no barrier of the block to see one another's writes. Where a reduction
 *   of 32 values is part of something larger, one warp does it, in five steps.
 * Source. SO, "Single-warp parallel reduction for commutative operator", with conditions.
 * Requires. An operator that commutes. 32 values; here a block is one warp, and launches are repeated as in two_loads,
 *   so that any length will do. That shows the step, and not what it costs: to launch so many blocks takes longer.
 * Steps. Halves 16, 8, 4, 2, 1: lane l < half takes element l + half.
 * Work. 31 combinations in 5 steps; each step reads and writes shared memory.
 * Changed. The text has no synchronisation ("executes in a perfect sync") and a volatile array. Since Volta the lanes
 *   of a warp advance on their own: a __syncwarp ends each step, which also makes volatile unnecessary. The text's
 *   second form, one condition around all five steps, is warp_halves_once.
 * Predict. Blocks of one warp: two million of them for 2^26 values. What will bound this kernel?
 * Answer. Launching blocks. Each takes a place on a multiprocessor for one load and five steps.
 * Why. An H100 starts 1.6 blocks of one warp in a nanosecond, and no more, whatever they do: two_loads, tb2 and
 *   first_add with 32 threads have that rate too (tally race --sweep block). All kernels of one warp take the same
 *   time.
 * In short. too many tiny blocks
 * Next. The text says that the conditions take longer than the additions: warp_halves_padded drops them. */
#include "gallery/kernels/contract.h"

#ifndef TALLY_GALLERY_WARP_HALVES
#define TALLY_GALLERY_WARP_HALVES
/* 32 elements, by the warp; the result is elements[0]. */
TALLY_FN void reduce_warp_halves(TALLY_E *elements) {
    int32_t lane = tally_lane();
    for (int32_t half = TALLY_WARP / 2; half > 0; half /= 2) {
        tally_step(half);
        if (tally_branch(lane < half))
            TALLY_WRITE(elements[lane], TALLY_OP(TALLY_READ(elements[lane]), TALLY_READ(elements[lane + half])));
        tally_warp_barrier();
    }
}

TALLY_KERNEL_OF(warp_halves) {
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_SHARED_warp_halves, elements);
    TALLY_WRITE(elements[tally_lane()], take(&work, (int64_t)tally_block() * TALLY_WARP + tally_lane()));
    tally_warp_barrier();
    reduce_warp_halves(elements);
    if (tally_lane() == 0) give(&work, tally_block(), TALLY_READ(elements[0]));
}
#endif
