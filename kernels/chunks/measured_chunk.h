/* How a chunk of f32 is folded for exact sums of squares, and what is beside them (chunks/partial_chunks.h). The
 * thread looks how large its values are. If they are not too far apart, a square is divided at the last bit of an
 * anchor, so that both parts add up without rounding (an anchored level and what it leaves: docs/exact.md). Other
 * chunks are *wide*: there sums are pairs, as elsewhere (compensated/nodes.h). */
#ifndef TALLY_MEASURED_CHUNK_H
#define TALLY_MEASURED_CHUNK_H

#include "accumulators/operator.h"
#include "chunks/chunk_places.h"

#if TALLY_MEASURES_CHUNKS
/* ---- how large values are ---- */

enum {
    log_folded = 5,          /* log2 of the values that a chunk has, or a little more */
    above_sizes = 0x00800000 /* with which the bits of infinities and NaNs are negative */
};
typedef char chunk_is_counted[(int32_t)chunk_values <= 1 << log_folded ? 1 : -1];

/* Of finite values: bits of the largest size, plus above_sizes; and of the smallest but 0, less one. */
typedef struct measured_t {
    int32_t most;
    uint32_t least;
} measured_t;
TALLY_FN measured_t nothing_measured(void) {
    const measured_t none = {above_sizes, UINT32_MAX};
    return none;
}
TALLY_FN void put_in_measured(measured_t *a, TALLY_T x) {
    const range_t its = range_of_value(value_of(x));
    const int32_t size = (int32_t)(its.most + above_sizes);
    a->most = size > a->most ? size : a->most;
    a->least = its.least < a->least ? its.least : a->least;
}
/* The anchor for sums of the squares of a chunk, if there is one. Squares are below 2^(2 high), so that their sums are
 * below the anchor. What they leave is half of its last bit each, at most, which is 2^(log_folded - 52) of the largest
 * square, and a multiple of the last bit of the smallest square. */
TALLY_FN int32_t has_anchor(const measured_t *measured, double *anchor) {
    const range_t range = {(uint32_t)measured->most - above_sizes, measured->least};
    *anchor = tally_power_of_two(2 * high_of_range(range) + log_folded);
    return width_of(range) <= (53 + 52 + 1 - 2 * log_folded) / 2;
}

/* ---- what a thread has of a segment while it folds ---- */

typedef struct running_t {
    TALLY_IF_SUM(double sum;)
    double level, below; /* of squares: multiples of the anchor's last bit, beside the anchor; and what they leave */
    TALLY_IF_KEYS(TALLY_K low; TALLY_K high;)
} running_t;
TALLY_FN running_t no_running(double anchor, int32_t place) {
    running_t none;
    TALLY_IF_SUM(none.sum = -0.0;) /* as a sum of -0 alone is */
    none.level = anchor, none.below = 0;
    TALLY_IF_KEYS(none.low = TALLY_K_HIGH, none.high = TALLY_K_LOW;)
    return (void)place, none;
}
/* What a square leaves is a double: it has as many bits as a square at most. */
TALLY_FN void put_in_running(running_t *a, TALLY_T x, int32_t place) {
    const double term = (double)value_of(x), level = __builtin_fma(term, term, a->level), part = level - a->level;
    TALLY_IF_SUM(a->sum += term;)
    a->below += __builtin_fma(term, term, -part);
    a->level = level;
#if TALLY_HAS_KEYS
    const TALLY_K key = order_key(x);
    a->low = key < a->low ? key : a->low;
    a->high = key > a->high ? key : a->high;
#endif
    (void)place;
}

/* ---- partial results in memory: doubles, of wide chunks also the rests; keys; and of wide chunks which of the pairs
 * may lack something ---- */

enum {
    doubles_words = TALLY_HAS_SUM ? 6 : 4,
    wide_doubles_words = TALLY_HAS_SUM ? 8 : 4,
    keys_words = TALLY_HAS_KEYS ? 2 : 0,
    partial_words = doubles_words + keys_words,
    lost_word = wide_doubles_words + keys_words,
    wide_words = lost_word + 2, /* an even number */
    lost_of_products = 1,
    lost_of_sum = 2
};
TALLY_FN void put_running(uint32_t *to, const running_t *a, double anchor) {
    double *const doubles = (double *)(void *)to;
    doubles[0] = a->level - anchor;
    doubles[1] = a->below;
    TALLY_IF_SUM(doubles[2] = a->sum;)
    TALLY_IF_KEYS(to[doubles_words] = (uint32_t)a->low; to[doubles_words + 1] = (uint32_t)a->high;)
}
TALLY_FN void put_wide(uint32_t *to, const column_t *a) {
    double *const doubles = (double *)(void *)to;
    uint32_t lost = a->products.lost != 0 ? lost_of_products : 0;
    doubles[0] = a->products.sum;
    doubles[1] = a->products.rest;
    TALLY_IF_SUM(doubles[2] = a->sum.sum; doubles[3] = a->sum.rest;)
    TALLY_IF_SUM(lost |= a->sum.lost != 0 ? lost_of_sum : 0;)
    TALLY_IF_KEYS(to[wide_doubles_words] = (uint32_t)a->low; to[wide_doubles_words + 1] = (uint32_t)a->high;)
    to[lost_word] = lost;
}
TALLY_FN column_t take_stored(const uint32_t *from, int32_t is_wide) {
    const double *const doubles = (const double *)(const void *)from;
    const tally_pair squares = tally_two_sum(doubles[0], doubles[1]);
    const uint32_t lost = is_wide ? from[lost_word] : 0;
    column_t column = identity();
#if TALLY_HAS_SUM
    column.sum = tally_compensated_of(doubles[2]);
    if (is_wide) column.sum.rest = doubles[3];
    column.sum.lost = lost & lost_of_sum;
#endif
    column.products = tally_compensated_of(tally_is_finite(doubles[0]) ? squares.high : doubles[0]);
    column.products.rest = squares.low;
    column.products.lost = (lost & lost_of_products) | (!are_products_told && squares.low != 0);
#if TALLY_HAS_KEYS
    const uint32_t *const keys = from + (is_wide ? wide_doubles_words : doubles_words);
    column.low = (TALLY_K)keys[0], column.high = (TALLY_K)keys[1];
#endif
    return column;
}
#endif

#endif
