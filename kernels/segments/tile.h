/* A tile of segments, as production/segments/segments.h has it in shared memory: what the producer says of it
 * (opening_t), what a block keeps of several at a time (all_shared_t), and what the consumers see (tile_t): its
 * segments, which they share out among warps, and where their results go. */
#ifndef TALLY_TILE_OF_SEGMENTS_H
#define TALLY_TILE_OF_SEGMENTS_H

#include "accumulators/operator.h"
#include "chunks/chunk_sums.h"
#include "chunks/partial.h"
#include "segments/results.h"
#include "segments/tile_sizes.h"

/* ---- a tile ---- */

/* Segments that wait for others of about their length: how many of each class of length (segments/sorted_segments.h).
 */
typedef struct waiting_t {
    uint32_t counted[TALLY_WARP], listed[TALLY_WARP];
    int32_t taken; /* of those listed */
} waiting_t;
/* Parts of segments that cross the tile's boundaries: the end of one that began before it, and the beginning of one
 * that ends behind it. */
enum { boundary_runs = 2 };
/* What the producer has found out about a tile, for the consumers. What they need for every tile comes first. */
typedef struct opening_t {
    int32_t is_ready, is_dense;  /* copies bring all as it is needed; values of x lie side by side */
    int32_t values, own;         /* values of the tile; segments that begin and end in it */
    int32_t x_at, y_at, ends_at; /* where they will lie in shared memory */
    uint32_t origin;             /* see tile_t */
    int32_t run_at[boundary_runs], run_n[boundary_runs]; /* of the parts that cross: the first value, and how many */
    char *results;                                       /* of the segments that begin in the tile */
    tally_boundary from;
    int64_t to_place;
    tally_piece x, y, ends;
    int32_t begun;                  /* segments that begin in the tile; there is one end more */
    int32_t are_segment_ids;        /* these are copied, and ends are made of them */
    int32_t are_wide;               /* entries that are copied have 8 bytes */
    int32_t is_good;                /* the boundaries can be those of a tile */
    int32_t values_come, ends_come; /* one thread can have them copied */
} opening_t;

typedef struct shared_t {
    int32_t is_none;   /* there are no more tiles */
    int32_t iteration; /* its number among those of the block: here, so that consumers need no register for it */
    tally_mbarrier come, left; /* arrived at when it is copied; when the warps of consumers are done with it */
#if TALLY_IS_SORTED
    waiting_t waiting;
#endif
    node_t leaves[most_leaves];
} shared_t;

/* What a block has of its tiles. Warps are at most a tile apart, and none lists segments or adds up chunks of a tile
 * before all have come to it, or are done with a list of all warps: so there is one list for all tiles. */
typedef struct all_shared_t {
    opening_t openings[2 * TALLY_MOST_BUFFERS]; /* in turn: the next is written while all buffers are in use */
    shared_t of[TALLY_MOST_BUFFERS];
    int32_t flags; /* status flags */
    uint16_t list[list_capacity];
#if TALLY_IN_CHUNKS
    in_chunks_t in_chunks;
#endif
#if TALLY_IN_PARTIALS
    in_partials_t in_partials;
#endif
} all_shared_t;
/* Buffers, 1 or 2, take tiles in turn: which one an iteration uses, and how often that was used before. */
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
    const int32_t
        *ends; /* where segments begin, and where the last one ends, plus `origin`; 0 is the tile's first value */
    uint32_t origin;
} tile_t;

/* Place i of the tile's ends. If it is larger than the number of values, it lies behind the tile, or the segments are
 * invalid. */
TALLY_FN uint32_t end_of(const tile_t *tile, int32_t i) { return (uint32_t)tile->ends[i] - tile->origin; }

/* A segment within the tile. */
typedef struct slice_t {
    int32_t at, n, flags;
} slice_t;

/* Segment i of the tile. It has no values if there is no such segment, or with a status flag if it is invalid. */
TALLY_FN slice_t slice_of(const tile_t *tile, int32_t i, int32_t is_there) {
    slice_t none = {0, 0, 0}, slice = none;
    uint32_t at = 0, end = 0;
    if (is_there) at = end_of(tile, i), end = end_of(tile, i + 1);
    slice.at = (int32_t)at;
    slice.n = (int32_t)(end - at);
    if (at > end || end > (uint32_t)tile->values) {
        slice = none;
        slice.flags = TALLY_FLAG_BAD_SEGMENTS;
    }
    return slice;
}

/* That of another lane. All lanes of the warp call this. */
TALLY_FN slice_t slice_of_lane(slice_t slice, int32_t lane) {
    const slice_t its = {(int32_t)tally_shuffle((uint32_t)slice.at, lane),
                         (int32_t)tally_shuffle((uint32_t)slice.n, lane), 0};
    return its;
}

/* Writes the result of segment i of the tile, and returns its status flags. */
TALLY_FN int32_t put_result(const tally_segments_work *work, const opening_t *o, int32_t i, node_t node) {
    return put_at(work, o->results, o->from.segment, i, node);
}

#if TALLY_IN_CHUNKS || TALLY_IN_PARTIALS
/* Marks the leaves of the two segments that cross the tile's boundaries, a lane for each leaf. */
TALLY_FN void mark_leaves(uint32_t *heads, int32_t before, const opening_t *o) {
    TALLY_UNROLL
    for (int32_t run = 0; run < boundary_runs; run++) {
        const int32_t at = o->run_at[run], n = o->run_n[run], skip = tally_lane() * TALLY_DEVICE_LEAF;
        if (n > 0 && skip < n + TALLY_DEVICE_LEAF) set_head(heads, before + at + (skip < n ? skip : n));
    }
}
#endif

/* ---- what warps share out ---- */

/* How warps share out segments: `first` is that of a warp's first lane; the next lane's is `apart` further, and the
 * next iteration's TALLY_CONSUMERS. If there are few, consecutive segments go to different warps. */
#define TALLY_FEW_OWN (TALLY_CONSUMERS / 2)
typedef struct iterations_t {
    int32_t first, apart;
} iterations_t;
TALLY_FN iterations_t iterations_of(int32_t own) {
    const iterations_t few = {tally_warp(), TALLY_CONSUMER_WARPS}, many = {tally_warp() * TALLY_WARP, 1};
    return own <= TALLY_FEW_OWN ? few : many;
}

/* Appends i of the lanes that want it to the warp's list, which has `count` entries. */
TALLY_FN void put_in_list(uint16_t *list, int32_t *count, int32_t is_wanted, int32_t i, int32_t lane) {
    const uint32_t wanted = tally_ballot(is_wanted);
    if (is_wanted) list[*count + __builtin_popcount(wanted & (((uint32_t)1 << lane) - 1))] = (uint16_t)i;
    *count += __builtin_popcount(wanted);
}

#endif
