/* Reduces all short segments of a tile at a price that hardly depends on their lengths, where order does not show. A
 * thread folds the values of its chunk from left to right. At each head it puts the partial result down and begins
 * anew. A segment is combined from the partial results that its chunks have of it (a segmented reduction by equal
 * chunks: Blelloch, "Prefix sums and their applications", 1990; Sengupta, Harris, Zhang and Owens, "Scan primitives for
 * GPU computing", 2007). Partial results take the place of a chunk's values. A chunk with more heads than there is room
 * for keeps its values and its head flags, and is read again. */
#ifndef TALLY_PARTIALS_H
#define TALLY_PARTIALS_H

#include "segments/own_segments.h"
#include "chunks/partial.h"

#if TALLY_IN_PARTIALS

/* A tile in chunks (chunks/chunk_places.h). */
typedef struct partials_t {
    char *values;
    uint32_t *heads;     /* head flags of each chunk: 0 where partial results have taken the place of values */
    int32_t before;      /* the place of the first value */
    int32_t count;       /* of chunks */
    int32_t has_crowded; /* some chunk has more heads than there is room for */
} partials_t;
TALLY_FN uint32_t *words_of_chunk(const partials_t *partials, int32_t chunk) {
    return (uint32_t *)(void *)(partials->values + chunk * chunk_bytes);
}

TALLY_FN void begin_partials(all_shared_t *all) {
    for (int32_t k = tally_thread(); k < most_chunks; k += TALLY_SEGMENTS_BLOCK) all->in_partials.heads[k] = 0;
}
TALLY_FN int32_t is_for_partials(const tile_t *tile) {
    return last_partial >= least_heads && !are_few(tile) && tile->values > least_for_partials * tile->own &&
           (TALLY_BYTES > 1 || tile->values < most_for_partials * tile->own);
}

/* ---- first: head flags, where segments end and where the first one begins ---- */

/* An end that is invalid marks nothing: close_partials tells of it. */
TALLY_FN void mark_heads(const tile_t *tile, const partials_t *partials) {
    TALLY_ROLLED
    for (int32_t i = tally_thread(); i <= tile->own; i += TALLY_CONSUMERS) { /* there are ends, as there are segments */
        const uint32_t end = end_of(tile, i);
        if (end <= (uint32_t)tile->values) set_head(partials->heads, partials->before + (int32_t)end);
    }
}

/* ---- then: chunks ---- */

/* A chunk's values as words, read so that lanes that read theirs ask for all banks. */
typedef struct chunk_words_t {
    uint32_t w[words_of_values];
} chunk_words_t;
TALLY_FN chunk_words_t read_chunk(const uint32_t *from) {
    chunk_words_t words;
    TALLY_UNROLL
    for (int32_t k = 0; k < 7; k++) {
#if TALLY_BYTES >= 4
        const tally_quad quad = tally_take16((const char *)(from + 4 * k));
        __builtin_memcpy(&words.w[4 * k], &quad, sizeof quad);
#elif TALLY_BYTES == 2
        const uint64_t two = ((const uint64_t *)(const void *)from)[k];
        __builtin_memcpy(&words.w[2 * k], &two, sizeof two);
#else
        words.w[k] = from[k];
#endif
    }
    return words;
}
/* Folds the chunk, whose partial results take the place of its values: one for each head, and the last. */
TALLY_FN void fold_chunk(uint32_t *words, uint32_t heads) {
    const chunk_words_t all = read_chunk(words);
    uint32_t *to = words;
    partial_t partial = no_partial(0);
    words[heads_word] = heads;
    TALLY_UNROLL
    for (int32_t v = 0; v < chunk_values; v++) {
        TALLY_T x;
        __builtin_memcpy(&x, (const char *)all.w + v * TALLY_BYTES, sizeof x);
        if (v > 0 && (heads >> v & 1) != 0) {
            put_partial(to, partial);
            to += partial_words;
            partial = no_partial(v);
        }
        put_in_partial(&partial, x, v);
    }
    put_partial(words + last_partial * partial_words, partial);
}
/* Folds all chunks. True: this thread had one with more heads than there is room for. */
TALLY_FN int32_t fold_chunks(const partials_t *partials) {
    int32_t is_crowded = 0;
    TALLY_ROLLED
    for (int32_t chunk = tally_thread(); chunk < partials->count; chunk += TALLY_CONSUMERS) {
        const uint32_t heads = partials->heads[chunk];
        if (__builtin_popcount(heads) > last_partial)
            is_crowded = 1;
        else {
            partials->heads[chunk] = 0;
            fold_chunk(words_of_chunk(partials, chunk), heads);
        }
    }
    return is_crowded;
}
/* Once all are done with the tile, the head flags of crowded chunks are cleared for the next one. */
TALLY_FN void clear_crowded(const partials_t *partials) {
    tally_consumer_barrier(TALLY_CONSUMERS);
    for (int32_t chunk = tally_thread(); chunk < partials->count; chunk += TALLY_CONSUMERS) partials->heads[chunk] = 0;
    tally_consumer_barrier(TALLY_CONSUMERS);
}

/* ---- at last: results ---- */

/* What a chunk has of a segment that has its values from place `from` on and before `to`: it ends there, or at the
 * chunk's end. */
TALLY_FN partial_t partial_within(const partials_t *partials, int32_t chunk, int32_t from, int32_t to) {
    const uint32_t *const words = words_of_chunk(partials, chunk);
    if (partials->has_crowded && partials->heads[chunk] != 0) {
        const TALLY_T *const x = (const TALLY_T *)(const void *)words;
        partial_t partial = no_partial(from);
        TALLY_ROLLED
        for (int32_t v = from; v < to; v++) put_in_partial(&partial, x[v], v);
        return partial;
    }
    const int32_t left =
        to == chunk_values ? last_partial : __builtin_popcount(words[heads_word] & (((uint32_t)1 << to) - 1));
    return take_partial(words + left * partial_words);
}
/* What it has where all its values are of the segment: then it has no heads. */
TALLY_FN partial_t partial_of_all(const partials_t *partials, int32_t chunk) {
    return take_partial(words_of_chunk(partials, chunk) + last_partial * partial_words);
}
/* Where a segment lies: from place `from` of its first chunk on, and before place `to` of its last. */
typedef struct placed_t {
    int32_t first, last, from, to;
} placed_t;
TALLY_FN placed_t placed_in_chunks(int32_t before, span_t span) {
    const int32_t begin = before + span.at, end = begin + span.n;
    placed_t placed;
    placed.first = chunk_of(begin);
    placed.last = chunk_of(end - 1);
    placed.from = begin - placed.first * chunk_values;
    placed.to = end - placed.last * chunk_values;
    return placed;
}
/* The node of a segment of n > 0 values that has few chunks, by one thread. */
TALLY_FN node_t node_alone(const partials_t *partials, const placed_t *placed, int32_t n) {
    const int32_t first = placed->first, last = placed->last;
    partial_t all = no_partial(placed->from);
    if (first < last) {
        all = partial_within(partials, first, placed->from, chunk_values);
        TALLY_ROLLED
        for (int32_t chunk = first + 1; chunk < last; chunk++)
            join_partials(&all, partial_of_all(partials, chunk), (chunk - first) * chunk_values);
    }
    const partial_t end = partial_within(partials, last, first < last ? 0 : placed->from, placed->to);
    join_partials(&all, end, (last - first) * chunk_values);
    return node_of_partial(all, n, placed->from);
}
/* Of one that has many, by a warp. Lane 0 gets it. */
TALLY_FN node_t node_of_warp(const partials_t *partials, const placed_t *placed) {
    node_t all = nothing();
    TALLY_ROLLED
    for (int32_t chunk = placed->first + tally_lane(); chunk <= placed->last; chunk += TALLY_WARP) {
        const int32_t skip = (chunk - placed->first) * chunk_values, from = chunk == placed->first ? placed->from : 0,
                      to = chunk == placed->last ? placed->to : chunk_values;
        all = merge(all, node_of_partial(partial_within(partials, chunk, from, to), to - from, placed->from - skip));
    }
    return pair_lanes(all, TALLY_WARP);
}
/* Of the segments of `many` lanes, one after another, each by the whole warp. */
TALLY_FN void nodes_of_warp(const partials_t *partials, uint32_t many, span_t span, node_t *node) {
    TALLY_ROLLED
    for (; many != 0; many &= many - 1) {
        const int32_t lane = __builtin_ffs((int32_t)many) - 1;
        const span_t its = {(int32_t)tally_shuffle((uint32_t)span.at, lane),
                            (int32_t)tally_shuffle((uint32_t)span.n, lane), 0};
        const placed_t placed = placed_in_chunks(partials->before, its);
        const node_t found = node_of_lane(node_of_warp(partials, &placed), 0);
        if (tally_lane() == lane) *node = found;
    }
}
/* Makes results of all segments. Returns status flags. */
TALLY_FN int32_t close_partials(const tally_segments_work *work, const tile_t *tile, const partials_t *partials) {
    int32_t flags = 0;
    TALLY_ROLLED
    for (int32_t first = tally_warp() * TALLY_WARP; first < tile->own; first += TALLY_CONSUMERS) {
        const int32_t i = first + tally_lane(), is_there = i < tile->own;
        const span_t span = span_of(tile, i, is_there);
        const placed_t placed = placed_in_chunks(partials->before, span);
        const uint32_t many = tally_ballot(span.n > most_by_thread);
        node_t mine = nothing();
        flags |= span.flags;
        if (span.n > 0 && span.n <= most_by_thread) mine = node_alone(partials, &placed, span.n);
        if (many != 0) nodes_of_warp(partials, many, span, &mine);
        if (is_there) flags |= put_result(work, tile->opening, i, mine);
    }
    return flags;
}

/* Reduces all segments of the tile that do not cross its boundaries. Returns status flags. */
TALLY_FN int32_t take_partials(const tally_segments_work *work, const tile_t *tile, all_shared_t *all) {
    in_partials_t *const in = &all->in_partials;
    partials_t partials;
    partials.before = (int32_t)((uint64_t)tile->x % 16 / TALLY_BYTES);
    partials.count = chunk_of(partials.before + tile->values - 1) + 1;
    partials.values = (char *)(uint64_t)(tile->x - partials.before);
    partials.heads = in->heads;
    mark_heads(tile, &partials);
    tally_consumer_barrier(TALLY_CONSUMERS);
    const int32_t is_crowded = tally_any(fold_chunks(&partials));
    if (tally_lane() == 0) in->is_crowded[tally_warp()] = is_crowded;
    tally_consumer_barrier(TALLY_CONSUMERS);
    partials.has_crowded = tally_any(tally_lane() < TALLY_CONSUMER_WARPS && in->is_crowded[tally_lane()]);
    const int32_t flags = close_partials(work, tile, &partials);
    if (partials.has_crowded) clear_crowded(&partials);
    return flags;
}
#else
TALLY_FN void begin_partials(all_shared_t *all) { (void)all; }
TALLY_FN int32_t is_for_partials(const tile_t *tile) { return (void)tile, 0; }
TALLY_FN int32_t take_partials(const tally_segments_work *work, const tile_t *tile, all_shared_t *all) {
    return (void)work, (void)tile, (void)all, 0;
}
#endif

#endif
