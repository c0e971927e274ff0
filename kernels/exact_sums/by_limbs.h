/* Exact sums of some values by one warp, whatever these are: each is deposited in the limbs of a number in shared
 * memory. Slow, and right for everything. For production/arrays/small_exact.h. */
#ifndef TALLY_BY_LIMBS_H
#define TALLY_BY_LIMBS_H

#define TALLY_PUT_NAME add_one
#define TALLY_PUT_TYPE accumulator_t
#define TALLY_PUT_DEPOSIT tally_deposit_shared
#include "exact_sums/pair_to_limbs.h"

/* The evidence that all lanes have noted, to the number. */
TALLY_FN void gather_notes(notes_t notes, accumulator_t *node) {
    for (int32_t mask = TALLY_WARP / 2; mask > 0; mask /= 2) {
        notes.seen_sum |= (int32_t)tally_shuffle_xor((uint32_t)notes.seen_sum, mask);
        notes.seen_products |= (int32_t)tally_shuffle_xor((uint32_t)notes.seen_products, mask);
    }
    if (tally_lane() != 0) return;
    for (int32_t k = 0; k < TALLY_EVIDENCE; k++) {
        TALLY_IF_SUM(node->sum[k] = notes.seen_sum >> k & 1;)
        TALLY_IF_PRODUCTS(node->products[k] = notes.seen_products >> k & 1;)
    }
}

/* Values at, at + 1, ...: n of them, at most 2^25, as a value makes at most six deposits in one limb, which takes 2^31.
 * The warp's number has their sums, settled, in the eyes of lane 0. */
TALLY_LONG void reduce_by_limbs(tally_source x, tally_source y, int64_t at, int64_t n, accumulator_t *node) {
    int64_t *words = (int64_t *)(void *)node;
    notes_t notes = no_notes();
    tally_warp_barrier();
    for (int32_t i = tally_lane(); i < (int32_t)(sizeof *node / 8); i += TALLY_WARP) words[i] = 0;
    tally_warp_barrier();
    for (int64_t i = tally_lane(); i < n; i += TALLY_WARP) {
        const TALLY_T vx = read_one(&x, at + i);
        add_one(&notes, node, vx, TALLY_KERNEL_INPUTS == 2 ? read_one(&y, at + i) : vx);
    }
    tally_warp_barrier();
    gather_notes(notes, node);
    if (tally_lane() == 0) settle_accumulator(node);
}

#endif
