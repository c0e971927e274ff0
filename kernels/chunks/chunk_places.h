/* Chunks of a tile: the consecutive values that one thread folds, whatever segments they are of. Each has head flags, a
 * bit for each place. Places count values from the 16 bytes on in which the tile's first one lies. For
 * chunks/chunks.h and chunks/partials.h. */
#ifndef TALLY_CHUNK_PLACES_H
#define TALLY_CHUNK_PLACES_H

#include "segments/tile_sizes.h"

#if TALLY_IN_CHUNKS || TALLY_IN_PARTIALS
enum {
    chunk_values = TALLY_BYTES == 8 ? 14 : 28, /* an odd number of vectors: lanes that read theirs ask for all banks */
    chunk_bytes = chunk_values * TALLY_BYTES,
    most_chunks = (values_capacity + 16 - 1) / chunk_bytes + 1
};
enum { log_folded = 5 }; /* log2 of the values that a chunk has, or a little more */
TALLY_ASSERT((int32_t)chunk_values <= 1 << log_folded, "log_folded is too small");
TALLY_ASSERT((int32_t)chunk_bytes <= (int32_t)TALLY_CHUNK_BYTES, "a chunk is larger than TALLY_CHUNK_BYTES");

/* The chunk of a place, by a multiplication in place of a division: 37450 * 28 = 2^20 + 24, so it is right below
 * 2^20 / 24. */
TALLY_FN int32_t chunk_of(int32_t place) { return (int32_t)((uint32_t)place * (37450 * 28 / chunk_values) >> 20); }
TALLY_ASSERT(28 % chunk_values == 0 && values_capacity / TALLY_BYTES + 16 < 43690,
             "the multiplication in chunk_of is wrong for these places");

TALLY_FN void set_head(uint32_t *heads, int32_t place) {
    const int32_t chunk = chunk_of(place), bit = place - chunk * chunk_values;
    if (bit > 0) tally_set_bit(heads + chunk, bit); /* nothing is left of a head at the first place */
}
/* A chunk's values as words, read so that lanes that read theirs ask for all banks. */
typedef struct chunk_words_t {
    uint32_t w[chunk_bytes / 4];
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
TALLY_FN TALLY_T value_of_chunk(const chunk_words_t *all, int32_t v) {
    TALLY_T x;
    __builtin_memcpy(&x, (const char *)all->w + v * TALLY_BYTES, sizeof x);
    return x;
}

/* Fills what lies around a tile's values with -0, which adds nothing, by one warp: from the beginning of the first
 * chunk, and to the end of the last of `count` chunks. */
TALLY_FN void clear_around(TALLY_T *first, int32_t before, int32_t values, int32_t count) {
    const int32_t lane = tally_lane(), behind = before + values + lane;
    const TALLY_T minus_zero = (TALLY_T)(-(TALLY_T)0);
    if (lane < before) first[lane] = minus_zero;
    if (behind < count * chunk_values) first[behind] = minus_zero;
}
#endif

#endif
