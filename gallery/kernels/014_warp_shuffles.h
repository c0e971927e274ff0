/* 014 warp_shuffles: one warp, registers only.
 *
 * Idea. A lane can read another lane's register (a shuffle), so 32 values need no shared memory at all.
 * Source. SO, "Single-warp parallel reduction using registers only".
 * Requires. Any associative operator: it is the tree of warp_pairs_padded.
 * Steps. Apart 1, 2, 4, 8, 16: every lane reads the lane `apart` above it; the last ones read themselves, and hold what
 *   nobody needs.
 * Work. 160 combinations where 31 are needed; no shared memory, no barrier. An element of more than 32 bits takes a
 *   shuffle for each 32.
 * Changed. __shfl_down is gone since CUDA 9: __shfl_sync names the lanes that take part, and waits for them. The text
 *   ends with __shfl(value, 0), which gives all lanes the result; here only lane 0 needs it.
 * Predict. No shared memory and no barrier. What is left?
 * Answer. One shuffle and one combination in each of five steps. No other kernel of one warp asks for so little, and in
 *   this race that does not show.
 * Why. As warp_halves: the step asks for less, but it is not what takes the time.
 * In short. too many tiny blocks
 * Next. block_of_warps makes a block of warps, those of warp_halves. */
#include "gallery/kernels/contract.h"

#ifndef TALLY_GALLERY_WARP_SHUFFLES
#define TALLY_GALLERY_WARP_SHUFFLES
TALLY_FN TALLY_E from_above(TALLY_E e, int32_t apart) {
    uint32_t w[(sizeof e + 3) / 4];
    int32_t from = tally_lane() + apart < TALLY_WARP ? tally_lane() + apart : tally_lane();
    w[(sizeof e + 3) / 4 - 1] = 0;
    __builtin_memcpy(w, &e, sizeof e);
    for (uint32_t k = 0; k < (sizeof e + 3) / 4; k++) w[k] = tally_shuffle(w[k], from);
    __builtin_memcpy(&e, w, sizeof e);
    return e;
}

/* The elements of the warp's lanes, in order; the result is lane 0's. */
TALLY_FN TALLY_E reduce_shuffling(TALLY_E sum) {
    for (int32_t apart = 1; apart < TALLY_WARP; apart *= 2) {
        tally_step(apart);
        sum = TALLY_OP(sum, from_above(sum, apart));
    }
    return sum;
}

TALLY_KERNEL_OF(warp_shuffles) {
    TALLY_E sum = take(&work, (int64_t)tally_block() * TALLY_WARP + tally_lane());
    sum = reduce_shuffling(sum);
    if (tally_lane() == 0) give(&work, tally_block(), sum);
}
#endif
