/* Sums of f64 in two doubles (exact_sums/width.h) by lanes. The anchor is guessed from a value of each lane. Where the
 * range of all values shows that the guess was wrong, they are added up again. */
#ifndef TALLY_SHARED_ANCHORED_H
#define TALLY_SHARED_ANCHORED_H

#include "accumulators/operator.h"
#include "order/leaf.h"

#if TALLY_IS_ANCHORED

typedef struct anchored_t {
    range_t range;
    int32_t last; /* the anchor's last bit */
    two_t sum;
} anchored_t;
TALLY_FN anchored_t nothing_anchored(void) {
    const anchored_t a = {no_range(), 0, {-0.0, -0.0}};
    return a;
}

/* Puts what the lane at `mask` from this one has found to this one's: the sum, and, at the first look, the range. */
TALLY_FN void meet_anchored(anchored_t *a, int32_t mask, const int32_t is_again) {
    a->sum.above += tally_from_bits_f64(tally_shuffle64(tally_bits_f64(a->sum.above), mask));
    a->sum.below += tally_from_bits_f64(tally_shuffle64(tally_bits_f64(a->sum.below), mask));
    if (!is_again) {
        const range_t other = {tally_shuffle_xor(a->range.most, mask), tally_shuffle_xor(a->range.least, mask)};
        widen(&a->range, other);
    }
}

/* The anchor for n values of a lane's segment, those of all lanes being about as large as one of each: some bits above
 * the largest of these. */
enum { above_first = 3 };
TALLY_FN void guess_anchor(anchored_t *a, double first, int32_t n) {
    const range_t all = {tally_warp_max(range_of(first).most), 0};
    a->last = last_bit(high_of(all) + above_first, log2_meeting(n));
}
/* The last bit that follows from their range; and whether the anchor has it, or a higher one that does. */
TALLY_FN int32_t last_of(anchored_t a, int32_t n) { return last_bit(high_of(a.range), log2_meeting(n)); }
TALLY_FN int32_t is_anchored(anchored_t a, int32_t n) {
    return last_of(a, n) <= a.last && range_holds(a.range, a.last, log2_meeting(n));
}
/* The node, of those of n values that count. Where all are 0, what is left of them has their sign. */
TALLY_FN node_t anchored_to_node(anchored_t a, int32_t n, int32_t present) {
    const int32_t are_zero = range_is_zero(a.range);
    node_t node = nothing();
    node.n = present;
    node.sum.p[0] = are_zero ? a.sum.below : a.sum.above;
    node.sum.p[1] = are_zero ? -0.0 : a.sum.below;
    node.sum.lost = !is_anchored(a, n);
    if (!is_finite(a.range)) { /* a NaN shows there as a rule; of others nothing is known */
        node.sum.p[1] = -0.0;
        node.sum.lost |= TALLY_LOST_INFINITY | (a.range.most > 0x7ff00000 ? TALLY_LOST_NAN : 0);
    }
    return node;
}

/* n values too far apart for that, by a warp, with another anchor for what the first leaves. Few registers: it stands
 * beside the way of most. */
TALLY_FN TALLY_EXPAND run_in_more(const TALLY_T *x, int32_t n, range_t range) {
    const int32_t log2_n = log2_meeting(n), last = last_bit(high_of(range), log2_n);
    const int32_t next = last_bit(last - 1, log2_n); /* -1074 at least, or one anchor would have done */
    const double anchor = tally_anchor(last), second = tally_anchor(next);
    TALLY_EXPAND all = TALLY_OF(-0.0);
    TALLY_UNROLL
    for (int32_t k = 0; k < 3; k++) { /* one after the other */
        double sum = -0.0;
        TALLY_ROLLED
        for (int32_t i = tally_lane(); i < n; i += TALLY_WARP) {
            const double v = term_of(x[i]), part = (v + anchor) - anchor, rest = v - part,
                         of_rest = (rest + second) - second;
            sum += k == 0 ? part : k == 1 ? of_rest : rest - of_rest;
        }
        all.p[k] = sum_of_lanes(sum, TALLY_WARP);
    }
    all.lost = last == too_large || !range_holds(range, next, log2_n);
    return all;
}
#endif

#endif
