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
typedef char chunk_has_room[(int32_t)chunk_bytes <= (int32_t)TALLY_CHUNK_BYTES ? 1 : -1];

/* The chunk of a place, by a multiplication in place of a division: 37450 * 28 = 2^20 + 24, so it is right below
 * 2^20 / 24. */
TALLY_FN int32_t chunk_of(int32_t place) { return (int32_t)((uint32_t)place * (37450 * 28 / chunk_values) >> 20); }
typedef char chunk_is[28 % chunk_values == 0 && values_capacity / TALLY_BYTES + 16 < 43690 ? 1 : -1];

TALLY_FN void set_head(uint32_t *heads, int32_t place) {
    const int32_t chunk = chunk_of(place), bit = place - chunk * chunk_values;
    if (bit > 0) tally_set_bit(heads + chunk, bit); /* nothing is left of a head at the first place */
}
/* Fills what lies around a tile's values with -0, which adds nothing, by one warp: from the beginning of the first
 * chunk, and to the end of the last of `count` chunks. */
TALLY_FN void clear_around(TALLY_T *first, int32_t before, int32_t values, int32_t count) {
    const int32_t lane = tally_lane(), behind = before + values + lane;
    if (lane < before) first[lane] = (TALLY_T) - (TALLY_T)0;
    if (behind < count * chunk_values) first[behind] = (TALLY_T) - (TALLY_T)0;
}
#endif

#endif
