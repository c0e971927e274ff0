/* The partial result of values that lie side by side, for chunks/partials.h, and what that keeps of it in shared
 * memory. */
#ifndef TALLY_PARTIAL_H
#define TALLY_PARTIAL_H

#include "accumulators/operator.h"
#include "chunks/chunk_places.h"
#include "chunks/measured_chunk.h"
#include "chunks/narrow_chunk.h"
#include "shared/search.h"

#if TALLY_IN_PARTIALS

#if TALLY_HAS_INDEX /* the best value, and its place */
typedef struct partial_t {
    TALLY_COMPARED best;
    int32_t at;
} partial_t;
TALLY_FN partial_t no_partial(int32_t place) {
    const partial_t none = {is_better(0, 1) ? TALLY_MOST : TALLY_LEAST, place};
    return none;
}
TALLY_FN void join_compared(partial_t *a, TALLY_COMPARED b, int32_t at) {
#if TALLY_COMPARES_FLOATS
    const float best = better_of(a->best, b);
    a->at = tally_bits_f32(best) != tally_bits_f32(a->best) ? at : a->at;
    a->best = best;
#else
    const int32_t takes = is_better(b, a->best);
    a->best = takes ? b : a->best;
    a->at = takes ? at : a->at;
#endif
}
TALLY_FN void put_in_partial(partial_t *a, TALLY_T x, TALLY_T y, int32_t place) {
    (void)y, join_compared(a, compared_of(x), place);
}
/* b lies behind a; its places count from `by` on. */
TALLY_FN void join_partials(partial_t *a, partial_t b, int32_t by) { join_compared(a, b.best, b.at + by); }
/* Of n values, the first one at place `first`. */
TALLY_FN node_t node_of_partial(partial_t a, int32_t n, int32_t first) {
    node_t node;
    node.n = n;
    node.key = key_of_compared(a.best);
    node.at = a.at - first;
    return node;
}
/* In words: types of up to 2 bytes share one with the place. */
enum { partial_words = TALLY_BYTES <= 2 ? 1 : (TALLY_BYTES + 4) / 4 };
TALLY_FN void put_partial(uint32_t *to, partial_t a) {
#if TALLY_BYTES <= 2 && TALLY_COMPARES_FLOATS
    to[0] = (uint32_t)of_compared(a.best) << 16 | (uint32_t)a.at;
#elif TALLY_BYTES <= 2
    to[0] = (uint32_t)a.best << 16 | (uint32_t)a.at;
#else
    uint32_t w[TALLY_BYTES / 4];
    __builtin_memcpy(w, &a.best, sizeof w);
    TALLY_UNROLL
    for (int32_t k = 0; k < TALLY_BYTES / 4; k++) to[k] = w[k];
    to[partial_words - 1] = (uint32_t)a.at;
#endif
}
TALLY_FN partial_t take_partial(const uint32_t *from) {
    partial_t a;
#if TALLY_BYTES <= 2
    a.at = (int32_t)(from[0] & 0xffff);
#if TALLY_COMPARES_FLOATS
    a.best = compared_of((TALLY_T)(from[0] >> 16));
    a.best = better_of(a.best, a.best); /* a NaN with the bits that it had, or it would not be the same as itself */
#else
    a.best = (TALLY_K)(from[0] >> 16);
#endif
#else
    uint32_t w[TALLY_BYTES / 4];
    TALLY_UNROLL
    for (int32_t k = 0; k < TALLY_BYTES / 4; k++) w[k] = from[k];
    __builtin_memcpy(&a.best, w, sizeof w);
    a.at = (int32_t)from[partial_words - 1];
#endif
    return a;
}
#else
typedef column_t partial_t;
TALLY_FN partial_t no_partial(int32_t place) { return (void)place, identity(); }
TALLY_FN void put_in_partial(partial_t *a, TALLY_T x, TALLY_T y, int32_t place) {
    (void)place;
    *a = combine(*a, lift(item_of(x), item_of(y)));
}
TALLY_FN void join_partials(partial_t *a, partial_t b, int32_t by) { (void)by, *a = combine(*a, b); }
TALLY_FN node_t node_of_partial(partial_t a, int32_t n, int32_t first) { return (void)first, to_node(a, n); }
#if !TALLY_MEASURES_CHUNKS
enum { partial_words = (sizeof(column_t) + 3) / 4 };
TALLY_FN void put_partial(uint32_t *to, partial_t a) {
    uint32_t w[partial_words];
    __builtin_memcpy(w, &a, sizeof a);
    TALLY_UNROLL
    for (int32_t k = 0; k < partial_words; k++) to[k] = w[k];
}
TALLY_FN partial_t take_partial(const uint32_t *from) {
    uint32_t w[partial_words];
    partial_t a;
    TALLY_UNROLL
    for (int32_t k = 0; k < partial_words; k++) w[k] = from[k];
    __builtin_memcpy(&a, w, sizeof a);
    return a;
}
#endif
#endif

#if !TALLY_MEASURES_CHUNKS /* what a thread has of a segment while it folds a chunk */
typedef partial_t running_t;
TALLY_FN running_t no_running(double anchor, int32_t place) { return (void)anchor, no_partial(place); }
TALLY_FN void put_in_running(running_t *a, TALLY_T x, TALLY_T y, int32_t place) { put_in_partial(a, x, y, place); }
TALLY_FN void put_running(uint32_t *to, const running_t *a, double anchor) { (void)anchor, put_partial(to, *a); }
#endif

/* What takes the place of a chunk's values, in words. */
enum {
    heads_word = chunk_bytes / 4 - 1,              /* the chunk's head flags; */
    way_word = heads_word - TALLY_MEASURES_CHUNKS, /* of measured chunks, where else partial results are; */
    has_bound = TALLY_MEASURES_CHUNKS && TALLY_NEEDS_LARGEST,
    bound_word = way_word - has_bound,             /* and what no term of theirs is larger than; */
    last_partial = bound_word / partial_words - 1, /* that of its end, and those before it */
    /* For partial results that have no room there. Where a multiprocessor holds three blocks
     * (production/segments/segments.h), shared memory has no more. */
    pool_words = sizeof(node_t) > (TALLY_KERNEL_INPUTS == 2 ? 24 : 40) ? 4096 : 2
};
/* For which segments chunks pay, and who combines them. Measured. */
enum {
    least_heads = 3, /* for which a chunk has room in the place of values */
    /* Values of a segment on average: from so many on, and to so many. */
    least_for_partials = TALLY_HAS_SUM || TALLY_HAS_SQUARES || TALLY_MEASURES_CHUNKS ? 10 : 4,
    most_for_partials = 200,
    least_segments = 4,                 /* where few of them go by chunks, too */
    most_by_thread = 20 * chunk_values, /* the longest segment that one thread combines; */
    few_by_thread = 3 * chunk_values    /* and where there are few segments, and so idle lanes */
};
typedef struct in_partials_t {
    /* A bit for each place of each chunk: 0 before a tile, and where partial results have taken the place of values. */
    uint32_t heads[most_chunks];
    int32_t keeps[TALLY_CONSUMER_WARPS]; /* whether a warp met a chunk that keeps its values */
#if TALLY_MEASURES_CHUNKS
    int32_t pooled; /* words of the pool that are in use: for partial results that have no room there */
    uint32_t pool[pool_words] __attribute__((aligned(8)));
#endif
} in_partials_t;
#endif

#endif
