/* The exact result of one row by one warp, whatever its values: each is deposited in the limbs of a number in shared
 * memory. Slow, and right for everything. */
#ifndef TALLY_BY_LIMBS_H
#define TALLY_BY_LIMBS_H

#define TALLY_PUT_NAME add_one
#define TALLY_PUT_TYPE accumulator_t
#define TALLY_PUT_DEPOSIT tally_deposit_shared
#include "exact_sums/pair_to_limbs.h"

/* The notes of all lanes, to the node. */
TALLY_FN void gather_notes(notes_t notes, accumulator_t *node) {
    notes.absent = tally_warp_sum(notes.absent);
    for (int32_t mask = TALLY_WARP / 2; mask > 0; mask /= 2) {
        notes.seen_sum |= (int32_t)tally_shuffle_xor((uint32_t)notes.seen_sum, mask);
        notes.seen_products |= (int32_t)tally_shuffle_xor((uint32_t)notes.seen_products, mask);
#if TALLY_HAS_KEYS
        int64_t low = tally_shuffle64(notes.low, mask), high = tally_shuffle64(notes.high, mask);
        notes.low = low < notes.low ? low : notes.low;
        notes.high = high > notes.high ? high : notes.high;
#endif
    }
    if (tally_lane() != 0) return;
    node->n -= notes.absent;
    TALLY_IF_KEYS(node->low = notes.low; node->high = notes.high;)
    for (int32_t k = 0; k < TALLY_EVIDENCE; k++) {
        TALLY_IF_SUM(node->sum[k] = notes.seen_sum >> k & 1;)
        TALLY_IF_PRODUCTS(node->products[k] = notes.seen_products >> k & 1;)
    }
}

/* Values at, at + apart, ...: n of them. The warp's node has them, settled, in the eyes of lane 0. */
TALLY_LONG void reduce_by_limbs(tally_source x, tally_source y, int64_t at, int64_t apart, int64_t n,
                                accumulator_t *node) {
    enum { SETTLE = 1 << 25 }; /* a value makes at most six deposits in one limb, of which it takes 2^31 */
    int64_t *words = (int64_t *)(void *)node;
    notes_t notes = no_notes();
    tally_warp_barrier();
    for (int32_t i = tally_lane(); i < (int32_t)(sizeof *node / 8); i += TALLY_WARP) words[i] = 0;
    tally_warp_barrier();
    for (int64_t first = 0; first < n; first += TALLY_WARP) {
        int64_t i = first + tally_lane();
        if (i < n) {
            TALLY_T vx = read_one(&x, at + i * apart);
            add_one(&notes, node, vx, TALLY_KERNEL_INPUTS == 2 ? read_one(&y, at + i * apart) : vx);
        }
        if ((first & (SETTLE - 1)) != 0 || first == 0) continue;
        tally_warp_barrier();
        if (tally_lane() == 0) settle_accumulator(node);
        tally_warp_barrier();
    }
    tally_warp_barrier();
    if (tally_lane() == 0) node->n = n;
    gather_notes(notes, node);
    if (tally_lane() == 0) settle_accumulator(node);
}

#endif
