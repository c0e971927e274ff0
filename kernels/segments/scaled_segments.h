/* Results of the segments that lie in a tile. Where products of f64 overflow, lose digits or are too far from 1 for the
 * result to be certain, the segment is reduced again, with values times a power of two that makes the largest about 1.
 * That is out of line and has no code but loops: of ordinary values few segments come here. */
#ifndef TALLY_SCALED_SEGMENTS_H
#define TALLY_SCALED_SEGMENTS_H

#include "segments/tile.h"
#include "shared/parts.h"

#if TALLY_RESCALES
#include "exact_sums/specials.h"

/* The powers of two to multiply the values of each input by, so that the largest is about 1: then no product overflows,
 * and what a value or a product loses is less than 2^-1000. */
typedef struct powers_t {
    int32_t x, y;
} powers_t;
/* Those of n values, of which `lanes` lanes side by side have every lanes-th. If these are several, all lanes of the
 * warp call this, likewise below. */
TALLY_FN powers_t powers_of_values(const TALLY_T *x, const TALLY_T *y, int32_t n, int32_t lanes) {
    uint32_t most_x = 0, most_y = 0;
    TALLY_ROLLED
    for (int32_t i = tally_lane() & (lanes - 1); i < n; i += lanes) {
        const TALLY_T its_x = x[i], its_y = TALLY_KERNEL_INPUTS == 1 ? its_x : y[i];
        if (term_is_special(its_x, its_y)) continue;
        most_x = size_bits(its_x) > most_x ? size_bits(its_x) : most_x;
        most_y = size_bits(its_y) > most_y ? size_bits(its_y) : most_y;
    }
    TALLY_ROLLED
    for (int32_t mask = lanes / 2; mask > 0; mask /= 2) {
        const uint32_t other_x = tally_shuffle_xor(most_x, mask), other_y = tally_shuffle_xor(most_y, mask);
        most_x = other_x > most_x ? other_x : most_x;
        most_y = other_y > most_y ? other_y : most_y;
    }
    const powers_t powers = {power_of_size(most_x), power_of_size(most_y)};
    return powers;
}
/* The node of values times these powers. Each of the lanes gets it. */
TALLY_FN node_t scaled_node(const TALLY_T *x, const TALLY_T *y, int32_t n, int32_t lanes, powers_t powers) {
    const double of_x = tally_power_of_two(powers.x), of_y = tally_power_of_two(powers.y);
    folded_t folded = nothing_folded(n);
    TALLY_ROLLED
    for (int32_t i = tally_lane() & (lanes - 1); i < n; i += lanes) {
        item_t its_x = item_of(x[i]), its_y = TALLY_KERNEL_INPUTS == 1 ? its_x : item_of(y[i]);
        if (TALLY_MAY_SKIP) folded.present += is_present(its_x.raw) && is_present(its_y.raw);
        its_x.value *= of_x;
        its_y.value *= of_y;
        folded.column = combine(folded.column, lift(its_x, its_y));
    }
    meet_lanes(&folded, lanes, look_columns);
    return to_node(folded.column, folded.present);
}
/* Whether what products have lost may show, beside the largest of them. */
TALLY_FN int32_t has_lost_much(const node_t *a) {
    enum { LEAST = 1023 - 800 };
#if TALLY_KERNEL_INPUTS == 2
    const uint32_t size = a->largest;
#else
    const uint32_t size = tally_high_word(a->products.sum);
#endif
    return (a->marks & lost_digits) != 0 && size < LEAST << 20;
}
/* Writes the result, if it is certain. What was lost of some terms, or by scaling one of two inputs, makes sums
 * inexact. */
TALLY_FN int32_t put_scaled_node(const tally_segments_work *work, const opening_t *o, int32_t i, const node_t *node,
                                 powers_t powers) {
    const int32_t seen = seen_in(node), has_lost = TALLY_KERNEL_INPUTS == 2 || (node->marks & lost_digits) != 0;
    compensated_t sums = sums_of_node(node, seen < 0 ? 0 : seen);
    uint64_t word = 0;
    result_t result;
    TALLY_IF_SUM(sums.sum.lost |= (uint32_t)has_lost;)
    sums.products.lost |= (uint32_t)has_lost;
    sums.power = TALLY_KERNEL_INPUTS == 2 ? -(powers.x + powers.y) : -powers.x;
    if (node->n == 0 || seen < 0 || has_lost_much(node) || !finalize_in_pairs(&sums, &work->out.final, &word)) return 0;
    __builtin_memcpy(&result, &word, sizeof result);
    store_result(&work->out, o->results, i, &result);
    return 1;
}
/* Reduces a segment of n values again, whose result is unsure, and marks it if that does not decide the result. Where
 * squares were near 1 and nothing was lost, it cannot: the result is near a tie. Gives status flags. */
TALLY_RARE int32_t put_scaled(const tally_segments_work *work, const opening_t *o, tally_shared_address from_x,
                              tally_shared_address from_y, int32_t i, int32_t n, int32_t lanes, int32_t is_unsure,
                              int32_t has_lost) {
    enum { NEAR = 190 };
    const TALLY_T *const x = (const TALLY_T *)tally_at_address(from_x);
    const TALLY_T *const y = (const TALLY_T *)tally_at_address(from_y);
    const powers_t powers = powers_of_values(x, y, n, lanes);
    const int32_t helps = is_unsure && (has_lost || TALLY_KERNEL_INPUTS == 2 || powers.x < -NEAR || powers.x > NEAR);
    if (lanes == 1 ? helps : tally_any(helps)) {
        const node_t node = scaled_node(x, y, n, lanes, powers);
        if (helps && put_scaled_node(work, o, i, &node, powers)) return 0;
    }
    if (!is_unsure) return 0;
    tally_mark(work->partition.unsure, o->from.segment + i);
    return TALLY_FLAG_UNSURE;
}
/* Writes the result of segment i, whose node `lanes` lanes side by side have; the one for which is_mine is set does so.
 * If these are several, all lanes of the warp call this. Gives status flags. */
TALLY_FN int32_t put_own(const tally_segments_work *work, const tile_t *tile, int32_t i, slice_t slice, int32_t lanes,
                         int32_t is_mine, node_t node) {
    const opening_t *const o = tile->opening;
    const int32_t flags = is_mine ? put_unmarked(&work->out, o->results, i, node) : 0,
                  is_unsure = (flags & TALLY_FLAG_UNSURE) != 0;
    if (lanes == 1 ? !is_unsure : !tally_any(is_unsure)) return flags;
    const int32_t again =
        put_scaled(work, o, tally_address_of(tile->x + slice.at), tally_address_of(tile->y + slice.at), i, slice.n,
                   lanes, is_unsure, node.marks & lost_digits);
    return is_unsure ? again : flags;
}
#else
TALLY_FN int32_t put_own(const tally_segments_work *work, const tile_t *tile, int32_t i, slice_t slice, int32_t lanes,
                         int32_t is_mine, node_t node) {
    (void)slice, (void)lanes;
    return is_mine ? put_result(work, tile->opening, i, node) : 0;
}
#endif

#endif
