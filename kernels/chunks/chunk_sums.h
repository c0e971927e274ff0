/* What chunks/chunks.h keeps in shared memory, in units that add up chunks (TALLY_IN_CHUNKS): sums in the place of a
 * tile's values, and more beside them. */
#ifndef TALLY_CHUNK_SUMS_H
#define TALLY_CHUNK_SUMS_H

#include "accumulators/operator.h"
#include "chunks/chunk_places.h"

#if TALLY_IN_CHUNKS

/* The sum of some of a chunk's values: one f64; of f64 two, with an anchor for the whole tile. */
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
TALLY_FN tally_compensated parts_of(chunk_sum_t a) {
    tally_compensated parts = tally_compensated_of(a.above);
    parts.rest = a.below;
    return parts;
}
#define TALLY_SUM_BYTES 16
#else
typedef double chunk_sum_t;
TALLY_FN chunk_sum_t no_chunk_sum(void) { return -0.0; }
TALLY_FN void add_sum(chunk_sum_t *a, chunk_sum_t b, const int32_t sign) { *a += sign * b; }
TALLY_FN void add_term(chunk_sum_t *a, double term, int32_t last) { (void)last, *a += term; }
TALLY_FN tally_compensated parts_of(chunk_sum_t a) { return tally_compensated_of(a); }
#define TALLY_SUM_BYTES 8
#endif

/* With f64 there is no room for head flags among the sums. They stay where they were set until the next tile is added
 * up in chunks; that tile sets others. */
#define TALLY_HEADS_BESIDE TALLY_IS_F64
enum {
    sums_capacity = (chunk_bytes - (TALLY_HEADS_BESIDE ? 0 : 4)) / TALLY_SUM_BYTES - 1,
    log_meet = 8,     /* log2 of how many values may meet in one f64: those of 9 chunks */
    few_chunks = 255, /* 8 for each lane of a warp; in tiles that may have more chunks, twice as many values meet */
    most_alone = 7 * chunk_values - 1, /* the longest segment that one thread adds up */
    log_many = 10,                     /* the same two, if sums of that many values are exact */
    many_alone = 34 * chunk_values - 1,
    first_guess = 4, /* the first value of `high` */
    guess_above = 2, /* how far above the range that was found the next guess is */
    most_guessed = 960,
    few_in_chunks = 2, /* segments of a tile, for which chunks do not pay */
    most_skipped = 15  /* tiles behind two that chunks did not do for */
};
/* What takes the place of a chunk's values: for each head the sum of the values left of it, and the sum of all.
 * Segments of one or two values have no heads of their own. So two heads may be 1 apart, and the next one is then at
 * least 2 further: at most 14 of f32, and 7 of f64. There is room for 12 and 6; more are very rare. */
typedef struct chunk_sums_t {
    chunk_sum_t left[sums_capacity + 1];
#if !TALLY_HEADS_BESIDE
    uint32_t heads; /* head flags: a bit for each place but the first */
#endif
} chunk_sums_t;
TALLY_ASSERT(sizeof(chunk_sums_t) <= chunk_bytes, "sums of a chunk take more room than its values");

/* What is beside the values. */
typedef struct in_chunks_t {
    uint32_t heads[1 + TALLY_HEADS_BESIDE][most_chunks]; /* a bit for each place of each chunk; 0 before a tile */
    int32_t current, count; /* which of the two this tile has; how many chunks the tile had that has the other */
    uint32_t most[TALLY_CONSUMER_WARPS], least[TALLY_CONSUMER_WARPS]; /* the range that each warp has found */
    int32_t to_skip[TALLY_CONSUMER_WARPS];        /* tiles that go another way before chunks are tried again */
    int32_t is_list_shared[TALLY_CONSUMER_WARPS]; /* whether the last tile's list was of all warps */
    int32_t high;                                 /* values are guessed to be below this power of two */
} in_chunks_t;
#endif

#endif
