/* How a chunk of f32 is folded for exact sums of products, and what is beside them (chunks/partial_chunks.h). The
 * thread looks how large its values are. If they are not too far apart, sums take one double each, beside an anchor
 * (compensated/anchored.h). Other chunks are *wide*: there sums are pairs, as elsewhere (compensated/nodes.h). */
#ifndef TALLY_MEASURED_CHUNK_H
#define TALLY_MEASURED_CHUNK_H

#include "chunks/chunk_places.h"
#include "compensated/anchored.h"

#if TALLY_HAS_MEASURED_CHUNKS
/* Whether there is an anchor for a chunk, and *bound: no product is larger, as columns have it. */
TALLY_FN int32_t is_narrow_chunk(const chunk_words_t *all, const chunk_words_t *beside, double *anchor,
                                 uint32_t *bound) {
    measured_t measured = nothing_measured();
    TALLY_UNROLL
    for (int32_t v = 0; v < chunk_values; v++)
        put_in_measured(&measured, value_of_chunk(all, v), value_of_chunk(beside, v));
    const int32_t is_narrow = has_anchor(&measured, log_folded, anchor);
    *bound = tally_high_word(*anchor);
    return is_narrow;
}

/* What a thread has of a segment while it folds. */
typedef anchored_t running_t;
TALLY_FN running_t no_running(double anchor, int32_t place) { return (void)place, nothing_anchored(anchor); }
TALLY_FN void put_in_running(running_t *a, TALLY_T x, TALLY_T y, int32_t place) { (void)place, put_anchored(a, x, y); }

/* ---- partial results in memory: doubles, of wide chunks also the rests; keys; and of wide chunks which of the pairs
 * may lack something, and the largest product ---- */

enum {
    doubles_words = TALLY_HAS_SUM ? 6 : 4,
    wide_doubles_words = TALLY_HAS_SUM ? 8 : 4,
    keys_words = TALLY_HAS_KEYS ? 2 : 0,
    partial_words = doubles_words + keys_words,
    lost_word = wide_doubles_words + keys_words,
    largest_word, /* of other chunks: bound_word */
    wide_words,   /* an even number */
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
    doubles[1] = a->products.rest != 0 || a->products.sum != 0 ? a->products.rest : a->products.sum; /* -0 stays -0 */
    TALLY_IF_SUM(doubles[2] = a->sum.sum; doubles[3] = a->sum.rest;)
    TALLY_IF_SUM(lost |= a->sum.lost != 0 ? lost_of_sum : 0;)
    TALLY_IF_KEYS(to[wide_doubles_words] = (uint32_t)a->low; to[wide_doubles_words + 1] = (uint32_t)a->high;)
    to[lost_word] = lost;
    TALLY_IF_LARGEST(to[largest_word] = a->largest;)
}
/* bound: no product of a chunk that is not wide is larger. */
TALLY_FN column_t take_stored(const uint32_t *from, int32_t is_wide, uint32_t bound) {
    const double *const doubles = (const double *)(const void *)from;
    const uint32_t lost = is_wide ? from[lost_word] : 0;
    anchored_t stored;
    stored.level = doubles[0], stored.below = doubles[1];
    TALLY_IF_SUM(stored.sum = doubles[2];)
#if TALLY_HAS_KEYS
    const uint32_t *const keys = from + (is_wide ? wide_doubles_words : doubles_words);
    stored.low = (TALLY_K)keys[0], stored.high = (TALLY_K)keys[1];
#endif
    column_t column = column_of_anchored(&stored, 0, 0);
    column.products.lost |= lost & lost_of_products;
    TALLY_IF_LARGEST(column.largest = is_wide ? from[largest_word] : bound;)
    (void)bound;
#if TALLY_HAS_SUM
    if (is_wide) column.sum.rest = doubles[3];
    column.sum.lost = lost & lost_of_sum;
#endif
    return column;
}
#endif

#endif
