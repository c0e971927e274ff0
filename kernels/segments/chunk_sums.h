/* What segments/chunks.h keeps of a tile in shared memory, in the place of its values and beside them, in units that
 * add up chunks (TALLY_IN_CHUNKS). */
#ifndef TALLY_CHUNK_SUMS_H
#define TALLY_CHUNK_SUMS_H

#include "accumulators/operator.h"
#include "segments/tile_sizes.h"

#if TALLY_IN_CHUNKS

/* Of some of a chunk's values: in one f64, or, of f64, in two, by an anchor that serves the whole tile. */
#if TALLY_IS_ANCHORED
typedef two_t chunk_sum_t;
TALLY_FN chunk_sum_t no_chunk_sum(void) {
    const chunk_sum_t none = {-0.0, -0.0};
    return none;
}
TALLY_FN void add_sum(chunk_sum_t *a, chunk_sum_t b, const int32_t sign) {
    a->above += sign * b.above;
    a->below += sign * b.below;
}
TALLY_FN void add_term(chunk_sum_t *a, double term, int32_t last) { put_in_two(a, term, tally_anchor(last)); }
TALLY_FN TALLY_EXPAND parts_of(chunk_sum_t a) {
    TALLY_EXPAND parts = TALLY_OF(a.above);
    parts.p[1] = a.below;
    return parts;
}
#define TALLY_SUM_BYTES 16
#else
typedef double chunk_sum_t;
TALLY_FN chunk_sum_t no_chunk_sum(void) { return -0.0; }
TALLY_FN void add_sum(chunk_sum_t *a, chunk_sum_t b, const int32_t sign) { *a += sign * b; }
TALLY_FN void add_term(chunk_sum_t *a, double term, int32_t last) { (void)last, *a += term; }
TALLY_FN TALLY_EXPAND parts_of(chunk_sum_t a) { return TALLY_OF(a); }
#define TALLY_SUM_BYTES 8
#endif

/* Of f64 there is no room for their heads among the sums: they stay where they were marked until the next tile in
 * chunks is added up, which marks others. */
#define TALLY_HEADS_BESIDE TALLY_IS_F64
enum {
    most_chunks = (values_capacity + 16 - 1) / TALLY_CHUNK_BYTES + 1,
    chunk_quads = TALLY_CHUNK_BYTES / 16,
    chunk_values = TALLY_CHUNK_BYTES /
                   TALLY_BYTES, /* values; an odd number of quads, so that lanes that read theirs ask for all banks */
    sums_capacity = (TALLY_CHUNK_BYTES - (TALLY_HEADS_BESIDE ? 0 : 4)) / TALLY_SUM_BYTES - 1,
    log_meet = 8,     /* of the values that meet in one f64: 9 chunks */
    few_chunks = 255, /* of which lanes of a warp have 8 each; where a tile may have more, twice as many values meet */
    most_alone = 7 * chunk_values - 1, /* values of a segment that one thread adds up, at most */
    log_many = 10,                     /* the same, where as many meet exactly */
    many_alone = 34 * chunk_values - 1,
    first_guess = 4, /* of `high` */
    guess_above = 2, /* what was found */
    most_guessed = 960
};
typedef char heads_are_bits[chunk_values <= 32 ? 1 : -1];
/* What takes the place of a chunk's values: sums of those left of each head, in turn, and of all. Segments of two
 * values and fewer have no heads of their own, so that two may be 1 apart, and the next is then 3: 14 of f32 would be
 * the most, 7 of f64, and there is room for 12, and 6, which are hardly ever exceeded. */
typedef struct chunk_sums_t {
    chunk_sum_t left[sums_capacity + 1];
#if !TALLY_HEADS_BESIDE
    uint32_t heads; /* head flags: a bit for each place but the first */
#endif
} chunk_sums_t;
typedef char sums_fit[sizeof(chunk_sums_t) <= TALLY_CHUNK_BYTES ? 1 : -1];

/* Beside them. */
typedef struct in_chunks_t {
    uint32_t heads[1 + TALLY_HEADS_BESIDE][most_chunks]; /* in each chunk, a bit for each place; 0 before */
    int32_t current, count;                              /* whose these are; chunks of the tile that had the others */
    uint32_t most[TALLY_CONSUMER_WARPS], least[TALLY_CONSUMER_WARPS]; /* the range that each warp has found */
    int32_t high; /* values are guessed to be below this power of two */
} in_chunks_t;
#endif

#endif
