/* Sums of f64 in two doubles (lib/width.h) by lanes. The anchor is guessed from a value of each lane; where the range
 * of all tells that it was not right, they are looked at once more. No include guard; a part of lib/shared_parts.h. */
typedef struct TALLY_N(anchored) {
    TALLY_N(range) range;
    int32_t last; /* the anchor's last bit */
    TALLY_N(two) sum;
} TALLY_N(anchored);
TALLY_FN TALLY_N(anchored) TALLY_N(nothing_anchored)(void) {
    const TALLY_N(anchored) a = {TALLY_N(no_range)(), 0, {-0.0, -0.0}};
    return a;
}

/* Puts what the lane at `mask` from this one has found to this one's: the sum, and, at the first look, the range. */
TALLY_FN void TALLY_N(meet_anchored)(TALLY_N(anchored) *a, int32_t mask, const int32_t is_again) {
    a->sum.above += tally_from_bits_f64(tally_shuffle64(tally_bits_f64(a->sum.above), mask));
    a->sum.below += tally_from_bits_f64(tally_shuffle64(tally_bits_f64(a->sum.below), mask));
    if (!is_again) {
        const TALLY_N(range) other = {tally_shuffle_xor(a->range.most, mask), tally_shuffle_xor(a->range.least, mask)};
        TALLY_N(widen)(&a->range, other);
    }
}

/* The anchor for n values of a lane's segment, those of all lanes being about as large as one of each: some bits above
 * the largest of these. */
enum { TALLY_N(above_first) = 3 };
TALLY_FN void TALLY_N(guess_anchor)(TALLY_N(anchored) *a, double first, int32_t n) {
    const TALLY_N(range) all = {tally_warp_max(TALLY_N(range_of)(first).most), 0};
    a->last = TALLY_N(last_bit)(TALLY_N(high_of)(all) + TALLY_N(above_first), TALLY_N(log2_meeting)(n));
}
/* The last bit that follows from their range; and whether the anchor has it, or a higher one that does. */
TALLY_FN int32_t TALLY_N(last_of)(TALLY_N(anchored) a, int32_t n) {
    return TALLY_N(last_bit)(TALLY_N(high_of)(a.range), TALLY_N(log2_meeting)(n));
}
TALLY_FN int32_t TALLY_N(is_anchored)(TALLY_N(anchored) a, int32_t n) {
    return TALLY_N(last_of)(a, n) <= a.last && TALLY_N(holds)(a.range, a.last, TALLY_N(log2_meeting)(n));
}
/* The node, of those of n values that count. Where all are 0, what is left of them has their sign. */
TALLY_FN TALLY_N(node) TALLY_N(seal_anchored)(TALLY_N(anchored) a, int32_t n, int32_t present) {
    const int32_t are_zero = TALLY_N(are_zero)(a.range);
    TALLY_N(node) node = TALLY_N(nothing)();
    node.n = present;
    node.sum.p[0] = are_zero ? a.sum.below : a.sum.above;
    node.sum.p[1] = are_zero ? -0.0 : a.sum.below;
    node.sum.lost = !TALLY_N(is_anchored)(a, n);
    return node;
}

/* n values too far apart for that, by a warp, with another anchor for what the first leaves. Few registers: it stands
 * beside the way of most. */
TALLY_FN TALLY_EXPAND TALLY_N(run_in_more)(const TALLY_T *x, int32_t n, TALLY_N(range) range) {
    const int32_t log2_n = TALLY_N(log2_meeting)(n), last = TALLY_N(last_bit)(TALLY_N(high_of)(range), log2_n);
    const int32_t next = TALLY_N(last_bit)(last - 1, log2_n); /* -1074 at least, or one anchor would have done */
    const double anchor = tally_anchor(last), second = tally_anchor(next);
    TALLY_EXPAND all = TALLY_OF(-0.0);
    TALLY_UNROLL
    for (int32_t k = 0; k < 3; k++) { /* one after the other */
        double sum = -0.0;
        TALLY_ROLLED
        for (int32_t i = tally_lane(); i < n; i += TALLY_WARP) {
            const double v = TALLY_N(term_of)(x[i]), part = (v + anchor) - anchor, rest = v - part,
                         of_rest = (rest + second) - second;
            sum += k == 0 ? part : k == 1 ? of_rest : rest - of_rest;
        }
        all.p[k] = TALLY_N(sum_of_lanes)(sum, TALLY_WARP);
    }
    all.lost = last == TALLY_N(too_large) || !TALLY_N(holds)(range, next, log2_n);
    return all;
}
