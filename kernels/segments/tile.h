/* A tile of segments, as production/segments.h has it in shared memory: what the producer says of it (opening_t), what
 * a block keeps of several at a time (all_shared_t), and what the consumers see (tile_t): its segments, which they
 * share out among warps, and where their results go. */
#ifndef TALLY_TILE_OF_SEGMENTS_H
#define TALLY_TILE_OF_SEGMENTS_H

#include "accumulators/operator.h"
#include "segments/chunk_sums.h"
#include "segments/tile_sizes.h"

/* ---- results ---- */

#if !TALLY_EXPANSIONS
#define TALLY_RESULT_SIZE(final) ((int32_t)sizeof(result_t))
#endif

/* Where results from segment s on lie. */
TALLY_FN char *results_from(const tally_segments_work *work, int64_t s) {
    return (char *)work->out.result + s * work->out.result_stride;
}
/* The place of one of `size` bytes, i behind those, where results lie side by side. */
TALLY_FN void *place_of(char *results, int32_t i, const int32_t size) {
    return results + (uint64_t)(uint32_t)i * (uint32_t)size;
}
/* Writes the result of segment s + i; those from s on lie at `results`. Gives its status flags. */
TALLY_FN int32_t put_at(const tally_segments_work *work, char *results, int64_t s, int32_t i, node_t node) {
#if TALLY_IS_PLAIN
    if (is_put_plainly(work->digits, place_of(results, i, (int32_t)sizeof(TALLY_PLAIN)), node))
        return 0; /* as a rule */
#endif
    result_t result;
    int32_t flags = finalize(node, &work->out.final, &result), size = TALLY_RESULT_SIZE(&work->out.final);
#if TALLY_EXPANSIONS
    const float narrow = (float)result;
    if (work->partition.are_packed && size == 4)
        *(float *)place_of(results, i, 4) = narrow;
    else
#endif
        if (work->partition.are_packed)
        *(result_t *)place_of(results, i, (int32_t)sizeof result) = result;
    else {
        volatile uint8_t *to = (volatile uint8_t *)results + i * work->out.result_stride;
        uint8_t bytes[sizeof result];
        __builtin_memcpy(bytes, &result, sizeof result);
#if TALLY_EXPANSIONS
        if (size == 4) __builtin_memcpy(bytes, &narrow, sizeof narrow);
#endif
        TALLY_UNROLL
        for (int32_t b = 0; b < (int32_t)sizeof result; b++)
            if (b < size) to[b] = bytes[b];
    }
    if ((flags & TALLY_FLAG_UNSURE) != 0) tally_mark(work->partition.unsure, s + i);
    return flags;
}

/* ---- a tile ---- */

/* Segments that wait for others of about their length, by numbers that say how long they are (segments/own_segments.h).
 */
typedef struct waiting_t {
    uint32_t counted[TALLY_WARP], listed[TALLY_WARP];
} waiting_t;
/* Runs of leaves over the tile's boundaries: the end of a segment that began before it, and the beginning of one that
 * ends behind it. */
enum { boundary_runs = 2 };
/* What the warp that brings tiles has found about one, for the consumers: first what this asks of every tile. */
typedef struct opening_t {
    int32_t is_ready, is_dense;                          /* all comes as it is taken; values of x lie side by side */
    int32_t values, own;                                 /* values; segments that begin and end in it */
    int32_t x_at, y_at, ends_at;                         /* where they will lie in shared memory */
    uint32_t origin;                                     /* as a tile has it */
    int32_t run_at[boundary_runs], run_n[boundary_runs]; /* first value and values of each run */
    char *results;                                       /* of its segments */
    tally_boundary from;
    int64_t to_place;
    tally_piece x, y, ends;
    int32_t begun;                     /* segments that begin in it: one end more comes, or is made */
    int32_t are_segment_ids, are_wide; /* segment ids come in place of ends; 8 bytes each: what comes becomes places */
    int32_t is_good, values_come, ends_come; /* it is a tile; what need not be copied by all */
} opening_t;

typedef struct shared_t {
    int32_t is_none;           /* there is no tile any more, and no opening */
    int32_t iteration;         /* which one of the block's it is: here, so that the consumers need no register for it */
    tally_mbarrier come, left; /* it has been copied; the consumers' warps are done with it */
#if TALLY_IS_SORTED
    waiting_t waiting;
#endif
    node_t leaves[most_leaves];
} shared_t;

/* Of the tiles that a block has at a time. Warps are a tile apart at most, and none lists segments, or adds up chunks,
 * before all have come to that tile: one list will do. */
typedef struct all_shared_t {
    opening_t openings[2 * TALLY_MOST_BUFFERS]; /* of tiles in turn: the next is written while the block has
                                                          those of all buffers */
    shared_t of[TALLY_MOST_BUFFERS];
    int32_t flags; /* that all blocks have */
    uint16_t list[list_capacity];
#if TALLY_IN_CHUNKS
    in_chunks_t in_chunks;
#endif
} all_shared_t;
/* The tile of iteration number `iteration` of a block goes where the one `buffers` before it was, which is 1 or 2, and
 * there it is the phase-th. */
TALLY_FN int32_t buffer_of(const tally_partition *partition, int32_t iteration) {
    return iteration & partition->log_buffers;
}
TALLY_FN int32_t phase_of(const tally_partition *partition, int32_t iteration) {
    return iteration >> partition->log_buffers;
}
TALLY_FN shared_t *shared_of(const tally_partition *partition, all_shared_t *all, int32_t iteration) {
    return &all->of[buffer_of(partition, iteration)];
}
TALLY_FN opening_t *opening_of(all_shared_t *all, int32_t iteration) {
    return &all->openings[iteration & (2 * TALLY_MOST_BUFFERS - 1)];
}

typedef struct tile_t {
    const opening_t *opening;
    int32_t values, own;
    const TALLY_T *x, *y;
    const int32_t *
        ends; /* less `origin`: where its own segments begin, and where the last ends, from the tile's first value on */
    uint32_t origin;
} tile_t;

/* Place i of the tile's ends; more than its values: behind it, or of what is no segmentation. */
TALLY_FN uint32_t end_of(const tile_t *tile, int32_t i) { return (uint32_t)tile->ends[i] - tile->origin; }

/* A segment within the tile. */
typedef struct span_t {
    int32_t at, n, flags;
} span_t;

/* Segment i of the tile's own, of no values where the segmentation is none; of none where there is no such segment. */
TALLY_FN span_t span_of(const tile_t *tile, int32_t i, int32_t is_there) {
    span_t none = {0, 0, 0}, span = none;
    uint32_t at = 0, end = 0;
    if (is_there) at = end_of(tile, i), end = end_of(tile, i + 1);
    span.at = (int32_t)at;
    span.n = (int32_t)(end - at);
    if (at > end || end > (uint32_t)tile->values) {
        span = none;
        span.flags = TALLY_FLAG_BAD_SEGMENTS;
    }
    return span;
}

/* Writes the result of segment i of the tile's, and gives its status flags. */
TALLY_FN int32_t put_result(const tally_segments_work *work, const opening_t *o, int32_t i, node_t node) {
    return put_at(work, o->results, o->from.segment, i, node);
}

/* ---- what warps share out ---- */

/* A warp's first segment of each iteration is TALLY_CONSUMERS behind that of the iteration before, and its lanes' are
 * `apart`: where there are few, warps take them one by one. */
#define TALLY_FEW_OWN (TALLY_CONSUMERS / 2)
typedef struct iterations_t {
    int32_t first, apart;
} iterations_t;
TALLY_FN iterations_t iterations_of(int32_t own) {
    const iterations_t few = {tally_warp(), TALLY_CONSUMER_WARPS}, many = {tally_warp() * TALLY_WARP, 1};
    return own <= TALLY_FEW_OWN ? few : many;
}

/* Puts the lanes' i, if they are wanted, behind the `count` that the warp has in its list. */
TALLY_FN void put_in_list(uint16_t *list, int32_t *count, int32_t is_wanted, int32_t i, int32_t lane) {
    const uint32_t wanted = tally_ballot(is_wanted);
    if (is_wanted) list[*count + __builtin_popcount(wanted & (((uint32_t)1 << lane) - 1))] = (uint16_t)i;
    *count += __builtin_popcount(wanted);
}

#endif
