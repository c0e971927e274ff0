/* Reduces values in shared memory where order does not show: one lane takes a few values, several lanes take more. A
 * lane reads 16 bytes, a part, at a time. */
#ifndef TALLY_SHARED_PARTS_H
#define TALLY_SHARED_PARTS_H

#include "order/fold.h"
#include "shared/anchored.h"
#include "shared/values.h"

#if TALLY_IN_PARTS
/* How lanes look at values: a first time, and again for anchored sums whose anchor was wrong. */
enum { look_first, look_again };

typedef struct folded_t {
    column_t column;
#if TALLY_IS_ANCHORED
    anchored_t anchored;
#endif
    int32_t present; /* values that the NaN policy counts */
} folded_t;
TALLY_FN folded_t nothing_folded(int32_t n) {
    folded_t folded;
    folded.column = identity();
#if TALLY_IS_ANCHORED
    folded.anchored = nothing_anchored();
#endif
    folded.present = TALLY_MAY_SKIP ? 0 : n;
    return folded;
}

#if TALLY_ADDS_BYTES
/* A byte for each of the lowest 4 bits: 1 if it is set. */
TALLY_FN uint32_t bytes_of_bits(uint32_t bits) { return (bits & 15) * 0x00204081 & 0x01010101; }
TALLY_FN void put_bytes(folded_t *to, const tally_quad *quad, uint32_t which, const int32_t some) {
    TALLY_UNROLL
    for (int32_t w = 0; w < 4; w++) {
        const uint32_t ones = some ? bytes_of_bits(which >> 4 * w) : 0x01010101;
        to->column.sum = TALLY_SIGNED ? tally_add_signed_bytes(quad->w[w], ones, to->column.sum)
                                      : (int32_t)tally_add_bytes(quad->w[w], ones, (uint32_t)to->column.sum);
    }
}
#endif

/* `look` is a constant. */
TALLY_FN void put_value(folded_t *to, TALLY_T x, const int32_t look) {
    const item_t item = item_of(x);
    const column_t term = lift(item, item);
#if TALLY_IS_ANCHORED
    if (look == look_first) widen(&to->anchored.range, range_of(term.sum.p[0]));
    put_in_two(&to->anchored.sum, term.sum.p[0], tally_anchor(to->anchored.last));
#else
    to->column = combine(to->column, term);
#endif
    if (TALLY_MAY_SKIP && look == look_first) to->present += is_present(x);
}

/* Combines those values of a part whose bits are set. some: a constant, 0 if all bits are set. */
TALLY_FN void put_part(folded_t *to, const char *p, uint32_t which, const int32_t some, const int32_t look) {
    const tally_quad quad = tally_take16(p);
#if TALLY_ADDS_BYTES
    (void)look;
    put_bytes(to, &quad, which, some);
#else
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_PART; v++)
        if (!some || which >> v & 1) put_value(to, value_of_part(&quad, v), look);
#endif
}

/* Bits from ... to - 1. */
TALLY_FN uint32_t bits_between(int32_t from, int32_t to) {
    return (((uint32_t)1 << to) - 1) & ~(((uint32_t)1 << from) - 1);
}

/* Folds a lane's share of n values, which `lanes` lanes side by side have, a power of two above 1. The first and the
 * last part may also hold values of others. */
TALLY_FN void fold_share(folded_t *folded, const TALLY_T *x, int32_t n, int32_t lanes, const int32_t look) {
    const int32_t sub = tally_lane() & (lanes - 1), before = (int32_t)((uint64_t)x % 16 / TALLY_BYTES),
                  until = before + n, behind = until % TALLY_PART;
    const int32_t first = before != 0, last = until / TALLY_PART; /* of the parts that hold no others */
    const char *begin = (const char *)(x - before);
    const int32_t is_first = sub == 0 && first, is_last = sub == lanes - 1 && behind != 0 && first <= last;
    if (is_first || is_last) {
        const uint32_t which =
            is_first ? bits_between(before, until < TALLY_PART ? until : TALLY_PART) : bits_between(0, behind);
        put_part(folded, begin + (is_first ? 0 : 16 * last), which, 1, look);
    }
    TALLY_UNROLL_PARTS
    for (int32_t i = first + sub; i < last; i += lanes) put_part(folded, begin + 16 * i, 0, 0, look);
}
/* Folds n values by one lane. Lanes begin at different parts, so that lanes whose segments have equal lengths do not
 * all ask for the same banks at once. */
TALLY_FN void fold_alone(folded_t *folded, const TALLY_T *x, int32_t n, const int32_t look) {
    const int32_t before = (int32_t)((uint64_t)x % 16 / TALLY_BYTES), until = before + n, behind = until % TALLY_PART;
    const int32_t first = before != 0, last = until / TALLY_PART, count = last - first;
    const char *begin = (const char *)(x - before);
    int32_t i = first + tally_lane() * count / TALLY_WARP;
    if (first) put_part(folded, begin, bits_between(before, until < TALLY_PART ? until : TALLY_PART), 1, look);
    TALLY_UNROLL_PARTS
    for (int32_t k = 0; k < count; k++) {
        put_part(folded, begin + 16 * i, 0, 0, look);
        i = i + 1 == last ? first : i + 1;
    }
    if (behind != 0 && count >= 0) put_part(folded, begin + 16 * last, bits_between(0, behind), 1, look);
}
/* Combines what `lanes` lanes have. Each of them gets the result. */
TALLY_FN void meet_lanes(folded_t *folded, int32_t lanes, const int32_t look) {
#if TALLY_IS_NARROW_SUM
    if (lanes == TALLY_WARP && !TALLY_MAY_SKIP) {
        folded->column.sum = sum_of_lanes(folded->column.sum, TALLY_WARP);
        folded->column.most = tally_warp_max(folded->column.most);
        folded->column.least = tally_warp_min(folded->column.least);
        return;
    }
#endif
    TALLY_ROLLED
    for (int32_t mask = lanes / 2; mask > 0; mask /= 2) {
#if TALLY_IS_ANCHORED
        meet_anchored(&folded->anchored, mask, look == look_again);
#else
        folded->column = combine(folded->column, other(folded->column, mask));
#endif
        if (TALLY_MAY_SKIP && look == look_first)
            folded->present += (int32_t)tally_shuffle_xor((uint32_t)folded->present, mask);
    }
}
/* Folds n values from x on by `lanes` lanes, or by one if they are few. */
TALLY_FN void fold_parts(folded_t *folded, const TALLY_T *x, int32_t n, int32_t lanes, const int32_t look) {
    if (lanes == 1)
        fold_alone(folded, x, n, look);
    else {
        fold_share(folded, x, n, lanes, look);
        meet_lanes(folded, lanes, look);
    }
}

#if TALLY_IS_PLAIN
TALLY_FN range_t range_of_folded(folded_t folded) {
#if TALLY_IS_ANCHORED
    return folded.anchored.range;
#else
    return range_of_column(folded.column);
#endif
}
/* Returns the node, unless its values were too far apart for it: these segments are added up again by the whole warp,
 * one after the other. Rare. */
TALLY_FN node_t or_in_more(node_t node, const TALLY_T *x, int32_t at, int32_t n, int32_t lanes, range_t range) {
    uint32_t some = tally_ballot(n > 0 && node.sum.lost && is_finite(range));
    while (some != 0) {
        const int32_t lane = __builtin_ffs((int32_t)some) - 1, is_mine = (tally_lane() & -lanes) == lane;
        const int32_t there = (int32_t)tally_shuffle((uint32_t)at, lane),
                      length = (int32_t)tally_shuffle((uint32_t)n, lane);
        const range_t its = {tally_shuffle(range.most, lane), tally_shuffle(range.least, lane)};
        const TALLY_EXPAND sum = run_in_more(x + there, length, its);
        if (is_mine) node.sum = sum;
        some &= ~tally_ballot(is_mine);
    }
    return node;
}
#endif

/* The node of n values from place `at` of x on, by so many lanes, or by one if they are few. Each of them gets it. All
 * lanes of the warp call this. before: how many values of the segment precede them. */
TALLY_FN node_t parts_node(const TALLY_T *x, int32_t at, int32_t n, int32_t lanes, int64_t before) {
    folded_t folded = nothing_folded(n);
    (void)before;
#if TALLY_IS_ANCHORED
    const int32_t sub = tally_lane() & (lanes - 1);
    guess_anchor(&folded.anchored, n > 0 ? term_of(x[at + (sub < n ? sub : n - 1)]) : 0, n);
    fold_parts(&folded, x + at, n, lanes, look_first);
    const int32_t is_right = n == 0 || is_anchored(folded.anchored, n);
    if (tally_any(!is_right)) {
        folded.anchored.sum = nothing_anchored().sum;
        if (!is_right) folded.anchored.last = last_of(folded.anchored, n);
        fold_parts(&folded, x + at, n, lanes, look_again);
    }
    const node_t node = anchored_to_node(folded.anchored, n, folded.present);
#else
    fold_parts(&folded, x + at, n, lanes, look_first);
    const node_t node = to_node(folded.column, folded.present);
#endif
#if TALLY_IS_PLAIN
    return or_in_more(node, x, at, n, lanes, range_of_folded(folded));
#else
    return node;
#endif
}
#endif

#endif
