/* The chunks of a tile, folded: a thread folds the values of its chunk from left to right. At each head it puts the
 * partial result down and begins anew. Partial results take the place of a chunk's values. A chunk with more heads than
 * there is room for keeps its values and its head flags, and is read again. For chunks/partials.h. */
#ifndef TALLY_PARTIAL_CHUNKS_H
#define TALLY_PARTIAL_CHUNKS_H

#include "chunks/partial.h"
#include "segments/tile.h"

#if TALLY_IN_PARTIALS

/* A tile in chunks (chunks/chunk_places.h). */
typedef struct partials_t {
    in_partials_t *in;
    char *values;
    int64_t apart;    /* bytes from values to those of the second input, which lie alike; 0: there is none */
    int32_t before;   /* the place of the first value */
    int32_t count;    /* of chunks */
    int32_t has_kept; /* some chunk has more heads than there is room for, and keeps its values */
} partials_t;
TALLY_FN uint32_t *words_of_chunk(const partials_t *partials, int32_t chunk) {
    return (uint32_t *)(void *)(partials->values + chunk * chunk_bytes);
}

/* ---- folding ---- */

TALLY_FN const uint32_t *words_beside(const partials_t *partials, const uint32_t *words) {
    return (const uint32_t *)(const void *)((const char *)words + partials->apart);
}
/* Folds values: a partial result for each head, from `to` on, and one for the chunk's end, at `last`. */
TALLY_FN void fold_values(const chunk_words_t *all, const chunk_words_t *beside, uint32_t heads, double anchor,
                          uint32_t *to, uint32_t *last) {
    running_t running = no_running(anchor, 0);
    TALLY_UNROLL
    for (int32_t v = 0; v < chunk_values; v++) {
        if (v > 0 && (heads >> v & 1) != 0) {
            put_running(to, &running, anchor);
            to += partial_words;
            running = no_running(anchor, v);
        }
        put_in_running(&running, value_of_chunk(all, v), value_of_chunk(beside, v), v);
    }
    put_running(last, &running, anchor);
}
#if TALLY_MEASURES_CHUNKS
/* Four values of a chunk: 16 bytes, or 8. */
TALLY_FN tally_quad four_of_chunk(const uint32_t *words, int32_t k) {
    tally_quad four = {{0, 0, 0, 0}};
    if (TALLY_BYTES == 4) return tally_take16((const char *)(words + 4 * k));
    const uint64_t two = ((const uint64_t *)(const void *)words)[k];
    __builtin_memcpy(&four, &two, sizeof two);
    return four;
}
/* The same of values that are far apart. They stay where they are until all are folded. */
TALLY_FN void fold_wide(uint32_t *words, const uint32_t *others, uint32_t heads, uint32_t *to) {
    column_t running = identity();
    TALLY_ROLLED
    for (int32_t k = 0; k < chunk_values / 4; k++) {
        const tally_quad four = four_of_chunk(words, k), beside = four_of_chunk(others, k);
        TALLY_UNROLL
        for (int32_t v = 0; v < 4; v++) {
            if ((heads >> (4 * k + v) & 1) != 0) {
                put_wide(to, &running);
                to += wide_words;
                running = identity();
            }
            running = combine(running, lift(item_of(value_of_part(&four, v)), item_of(value_of_part(&beside, v))));
        }
    }
    put_wide(words, &running);
}
/* Takes words of the pool. Returns the first one's place, or has_no_room. */
enum { has_no_room = -1, is_wide = 1 };
TALLY_FN int32_t take_room(in_partials_t *in, int32_t words) {
    const int32_t first = words == 0 ? 0 : tally_fetch_add32(&in->pooled, words);
    return first + words <= pool_words ? first : has_no_room;
}
/* Folds a chunk. False: it has more heads than there is room for. */
TALLY_FN int32_t fold_chunk(const partials_t *partials, uint32_t *words, uint32_t heads) {
    in_partials_t *const in = partials->in;
    const uint32_t *const others = words_beside(partials, words);
    const chunk_words_t all = read_chunk(words), beside = TALLY_KERNEL_INPUTS == 2 ? read_chunk(others) : all;
    const int32_t count = __builtin_popcount(heads);
    double anchor;
    uint32_t bound;
    const int32_t is_narrow = is_narrow_chunk(&all, &beside, &anchor, &bound),
                  is_in_place = is_narrow && count <= last_partial,
                  room = take_room(in, is_in_place ? 0 : count * (is_narrow ? partial_words : wide_words));
    if (room == has_no_room) return 0;
    if (is_narrow)
        fold_values(&all, &beside, heads, anchor, is_in_place ? words : in->pool + room,
                    words + last_partial * partial_words);
    else
        fold_wide(words, others, heads, in->pool + room);
    if (has_bound) words[bound_word] = bound;
    words[heads_word] = heads;
    words[way_word] = (uint32_t)(2 * room) | (is_narrow ? 0 : is_wide);
    return 1;
}
/* The partial result of the values left of a head, before which there are `left` others; or of those at the chunk's
 * end. */
TALLY_FN partial_t take_from_chunk(const partials_t *partials, const uint32_t *words, int32_t left, int32_t is_end) {
    const uint32_t way = words[way_word], its_wide = way & is_wide;
    const uint32_t *from = way != 0 ? partials->in->pool + way / 2 : words;
    from += left * (its_wide ? wide_words : partial_words);
    if (is_end) from = words + (its_wide ? 0 : last_partial * partial_words);
    return take_stored(from, (int32_t)its_wide, words[bound_word]);
}
#else
TALLY_FN int32_t fold_chunk(const partials_t *partials, uint32_t *words, uint32_t heads) {
    if (__builtin_popcount(heads) > last_partial) return 0;
    const chunk_words_t all = read_chunk(words),
                        beside = TALLY_KERNEL_INPUTS == 2 ? read_chunk(words_beside(partials, words)) : all;
    words[heads_word] = heads;
    fold_values(&all, &beside, heads, 0, words, words + last_partial * partial_words);
    return 1;
}
TALLY_FN partial_t take_from_chunk(const partials_t *partials, const uint32_t *words, int32_t left, int32_t is_end) {
    return (void)partials, take_partial(words + (is_end ? (int32_t)last_partial : left) * partial_words);
}
#endif
/* Folds all chunks. True: this thread had one that keeps its values. */
TALLY_FN int32_t fold_chunks(const partials_t *partials) {
    int32_t keeps = 0;
    TALLY_ROLLED
    for (int32_t chunk = tally_thread(); chunk < partials->count; chunk += TALLY_CONSUMERS) {
        if (fold_chunk(partials, words_of_chunk(partials, chunk), partials->in->heads[chunk]))
            partials->in->heads[chunk] = 0;
        else
            keeps = 1;
    }
    return keeps;
}
/* Once all are done with the tile, the head flags of chunks that kept their values are cleared for the next one. */
TALLY_FN void clear_kept(const partials_t *partials) {
    tally_consumer_barrier(TALLY_CONSUMERS);
    for (int32_t chunk = tally_thread(); chunk < partials->count; chunk += TALLY_CONSUMERS)
        partials->in->heads[chunk] = 0;
    tally_consumer_barrier(TALLY_CONSUMERS);
}

/* ---- what a chunk has of a segment ---- */

/* What a chunk has of a segment that has its values from place `from` on and before `to`: it ends there, or at the
 * chunk's end. */
TALLY_FN partial_t partial_within(const partials_t *partials, int32_t chunk, int32_t from, int32_t to) {
    const uint32_t *const words = words_of_chunk(partials, chunk);
    if (partials->has_kept && partials->in->heads[chunk] != 0) {
        const TALLY_T *const x = (const TALLY_T *)(const void *)words;
        const TALLY_T *const y = (const TALLY_T *)(const void *)words_beside(partials, words);
        partial_t partial = no_partial(from);
        TALLY_ROLLED
        for (int32_t v = from; v < to; v++) put_in_partial(&partial, x[v], y[v], v);
        return partial;
    }
    const int32_t is_end = to == chunk_values,
                  left = is_end ? 0 : __builtin_popcount(words[heads_word] & (((uint32_t)1 << to) - 1));
    return take_from_chunk(partials, words, left, is_end);
}
/* What it has where all its values are of the segment: then it has no heads. */
TALLY_FN partial_t partial_of_all(const partials_t *partials, int32_t chunk) {
    return take_from_chunk(partials, words_of_chunk(partials, chunk), 0, 1);
}
#endif

#endif
