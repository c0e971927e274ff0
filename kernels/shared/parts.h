/* Reduces values in shared memory where order does not show: one lane takes a few values, several lanes take more. A
 * lane reads 16 bytes, a part, at a time. */
#ifndef TALLY_SHARED_PARTS_H
#define TALLY_SHARED_PARTS_H

#include "compensated/anchored.h"
#include "order/fold.h"
#include "shared/values.h"

#if TALLY_IN_PARTS
/* What lanes fold: columns. Or, where TALLY_IS_RANGED, doubles first, and columns if those were not exact. Where
 * TALLY_MEASURES, they look how large values are, and fold doubles beside an anchor, if there is one. */
enum { look_columns, look_ranged, look_sizes, look_anchored };
typedef struct folded_t {
    column_t column;
#if TALLY_IS_RANGED
    ranged_t ranged;
#endif
#if TALLY_MEASURES
    measured_t measured;
    double anchor;
#endif
#if TALLY_MEASURES || TALLY_IS_SPLIT
    anchored_t anchored;
#endif
    int32_t present; /* values that the NaN policy counts */
} folded_t;
TALLY_FN folded_t nothing_folded(int32_t n) {
    folded_t folded;
    folded.column = identity();
#if TALLY_IS_RANGED
    folded.ranged = nothing_ranged();
#endif
#if TALLY_MEASURES
    folded.measured = nothing_measured();
#endif
    folded.present = TALLY_MAY_SKIP ? 0 : n;
    return folded;
}

#if TALLY_ADDS_BYTES
/* A byte for each of the lowest 4 bits: 1 if it is set. */
TALLY_FN uint32_t bytes_of_bits(uint32_t bits) { return (bits & 15) * 0x00204081 & 0x01010101; }
TALLY_FN void put_bytes(folded_t *to, const tally_quad *quad, const tally_quad *beside, uint32_t which,
                        const int32_t some) {
    TALLY_UNROLL
    for (int32_t w = 0; w < 4; w++) {
        uint32_t times = some ? bytes_of_bits(which >> 4 * w) : 0x01010101;
        if (TALLY_KERNEL_INPUTS == 2) times = beside->w[w] & times * 0xff;
        to->column.sum = TALLY_SIGNED ? tally_add_signed_bytes(quad->w[w], times, to->column.sum)
                                      : (int32_t)tally_add_bytes(quad->w[w], times, (uint32_t)to->column.sum);
    }
}
#endif

TALLY_FN void put_value(folded_t *to, TALLY_T x, TALLY_T y, const int32_t look) {
#if TALLY_IS_RANGED
    if (look == look_ranged) {
        put_ranged(&to->ranged, item_of(x), item_of(y));
        return;
    }
#endif
#if TALLY_MEASURES
    if (look == look_sizes) {
        put_in_measured(&to->measured, x, y);
        return;
    }
#endif
#if TALLY_MEASURES || TALLY_IS_SPLIT
    if (look == look_anchored) {
        put_anchored(&to->anchored, x, y);
        return;
    }
#endif
    (void)look;
    to->column = combine(to->column, lift(item_of(x), item_of(y)));
    if (TALLY_MAY_SKIP) to->present += is_present(x) && is_present(y);
}

/* What is reduced: both inputs from multiples of 16 bytes on. `look` is a constant. */
typedef struct parts_t {
    const char *x, *y;
    int32_t look;
} parts_t;
/* Combines those values of part i whose bits are set. some: a constant, 0 if all bits are set. */
TALLY_FN void put_part(folded_t *to, const parts_t *parts, int32_t i, uint32_t which, const int32_t some) {
    const tally_quad quad = tally_take16(parts->x + 16 * i),
                     beside = TALLY_KERNEL_INPUTS == 1 ? quad : tally_take16(parts->y + 16 * i);
#if TALLY_ADDS_BYTES
    put_bytes(to, &quad, &beside, which, some);
#else
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_PART; v++) {
        if (some && !(which >> v & 1)) continue;
        put_value(to, value_of_part(&quad, v), value_of_part(&beside, v), parts->look);
    }
#endif
}

/* Bits from ... to - 1. */
TALLY_FN uint32_t bits_between(int32_t from, int32_t to) {
    return (((uint32_t)1 << to) - 1) & ~(((uint32_t)1 << from) - 1);
}

/* Folds a lane's share of n values, which `lanes` lanes side by side have, a power of two above 1. The first and the
 * last part may also hold values of others. */
TALLY_FN void fold_share(folded_t *folded, const parts_t *parts, int32_t before, int32_t n, int32_t lanes) {
    const int32_t sub = tally_lane() & (lanes - 1), until = before + n, behind = until % TALLY_PART;
    const int32_t first = before != 0, last = until / TALLY_PART; /* of the parts that hold no others */
    const int32_t is_first = sub == 0 && first, is_last = sub == lanes - 1 && behind != 0 && first <= last;
    if (is_first || is_last) {
        const uint32_t which =
            is_first ? bits_between(before, until < TALLY_PART ? until : TALLY_PART) : bits_between(0, behind);
        put_part(folded, parts, is_first ? 0 : last, which, 1);
    }
    TALLY_UNROLL_PARTS
    for (int32_t i = first + sub; i < last; i += lanes) put_part(folded, parts, i, 0, 0);
}
/* Folds n values by one lane. Lanes begin at different parts, so that lanes whose segments have equal lengths do not
 * all ask for the same banks at once. */
TALLY_FN void fold_alone(folded_t *folded, const parts_t *parts, int32_t before, int32_t n) {
    const int32_t until = before + n, behind = until % TALLY_PART;
    const int32_t first = before != 0, last = until / TALLY_PART, count = last - first;
    int32_t i = first + tally_lane() * count / TALLY_WARP;
    if (first) put_part(folded, parts, 0, bits_between(before, until < TALLY_PART ? until : TALLY_PART), 1);
    TALLY_UNROLL_PARTS
    for (int32_t k = 0; k < count; k++) {
        put_part(folded, parts, i, 0, 0);
        i = i + 1 == last ? first : i + 1;
    }
    if (behind != 0 && count >= 0) put_part(folded, parts, last, bits_between(0, behind), 1);
}
/* Folds n values by one lane, one after another. Lanes begin at different ones, as above. */
TALLY_FN void fold_by_values(folded_t *folded, const TALLY_T *x, const TALLY_T *y, int32_t n, const int32_t look) {
    int32_t i = tally_lane() * n / TALLY_WARP;
    TALLY_UNROLL_PARTS
    for (int32_t k = 0; k < n; k++) {
        put_value(folded, x[i], TALLY_KERNEL_INPUTS == 1 ? x[i] : y[i], look);
        i = i + 1 == n ? 0 : i + 1;
    }
}
/* Where a value costs much, those of others in the first and the last part do, too: lanes wait for them. Types of 2
 * bytes lost by it. Measured. */
TALLY_FN int32_t pays_by_values(int32_t before, int32_t n) {
    return TALLY_IS_COMPENSATED && TALLY_BYTES >= 4 && tally_any((before | (before + n) % TALLY_PART) != 0);
}
/* Folds a lane's share of n values of inputs that do not lie alike. */
TALLY_FN void fold_unlike(folded_t *folded, const TALLY_T *x, const TALLY_T *y, int32_t n, int32_t lanes,
                          const int32_t look) {
    TALLY_ROLLED
    for (int32_t i = tally_lane() & (lanes - 1); i < n; i += lanes) put_value(folded, x[i], y[i], look);
}
/* Combines what `lanes` lanes have. Each of them gets the result. */
TALLY_FN void meet_lanes(folded_t *folded, int32_t lanes, const int32_t look) {
    TALLY_ROLLED
    for (int32_t mask = lanes / 2; mask > 0; mask /= 2) {
#if TALLY_IS_RANGED
        if (look == look_ranged) {
            meet_ranged(&folded->ranged, mask);
            continue;
        }
#endif
#if TALLY_MEASURES
        if (look == look_sizes) {
            meet_measured(&folded->measured, mask);
            continue;
        }
        if (look == look_anchored) {
            meet_anchored(&folded->anchored, folded->anchor, mask);
            continue;
        }
#endif
        (void)look;
        folded->column = combine(folded->column, other(folded->column, mask));
        if (TALLY_MAY_SKIP) folded->present += (int32_t)tally_shuffle_xor((uint32_t)folded->present, mask);
    }
}
/* Folds n values from x on by `lanes` lanes, or by one if they are few. */
TALLY_FN void fold_parts(folded_t *folded, const TALLY_T *x, const TALLY_T *y, int32_t n, int32_t lanes,
                         const int32_t look) {
    const int32_t before = (int32_t)((uint64_t)x % 16 / TALLY_BYTES);
    const parts_t parts = {(const char *)(x - before), (const char *)(y - before), look};
    if (!lie_alike(x, y)) {
        fold_unlike(folded, x, y, n, lanes, look);
        meet_lanes(folded, lanes, look);
    } else if (lanes == 1 && pays_by_values(before, n))
        fold_by_values(folded, x, y, n, look);
    else if (lanes == 1)
        fold_alone(folded, &parts, before, n);
    else {
        fold_share(folded, &parts, before, n, lanes);
        meet_lanes(folded, lanes, look);
    }
}

/* The node of n values from place `at` of x and y on, by `lanes` lanes, or by one if they are few. Each of them gets
 * it. All lanes of the warp call this. before: how many values of the segment precede them. */
TALLY_FN node_t parts_node(const TALLY_T *x, const TALLY_T *y, int32_t at, int32_t n, int32_t lanes, int64_t before) {
    folded_t folded = nothing_folded(n);
    (void)before;
#if TALLY_IS_RANGED
    if (!TALLY_MAY_SKIP && (TALLY_BYTES == 2 || lanes == TALLY_WARP)) {
        fold_parts(&folded, x + at, y + at, n, lanes, look_ranged);
        if (!tally_any(n > 0 && !ranged_is_exact(&folded.ranged, n)))
            return to_node(column_of_ranged(&folded.ranged), n);
    }
#endif
#if TALLY_MEASURES
    if (TALLY_HAS_SUM && lanes > 1) { /* squares alone gain nothing. Measured */
        fold_parts(&folded, x + at, y + at, n, lanes, look_sizes);
        if (!tally_any(n > 0 && !has_anchor(&folded.measured, log2_of(n), &folded.anchor))) {
            folded.anchored = nothing_anchored(folded.anchor);
            fold_parts(&folded, x + at, y + at, n, lanes, look_anchored);
            return to_node(column_of_anchored(&folded.anchored, folded.anchor, folded.measured.of[0].least), n);
        }
    }
#endif
    fold_parts(&folded, x + at, y + at, n, lanes, look_columns);
    return to_node(folded.column, folded.present);
}
#endif

#endif
