/* Segments by any operator, each with the bits that it has alone (docs/order.md), whatever their lengths
 * (docs/design/006-gpu-segments.md).
 *
 * production/partition.h has shared out values and end markers to tiles (segments/partition.h). Blocks stay and take
 * tile after tile. One warp, the producer, copies the next tile to shared memory, while the consumers reduce the one
 * before (segments/own_segments.h; producers and consumers: Bauer, Cook and Khailany, "CudaDMA", 2011). Of a segment
 * that crosses a boundary, each tile leaves the nodes of its leaves in memory. A second kernel, `spans`, combines
 * them, so that no block waits for another. The index is checked as it is used. */
#ifndef TALLY_FORM_SEGMENTS_H
#define TALLY_FORM_SEGMENTS_H

#define TALLY_LANE_AGAIN 1 /* or a compiler keeps some 20 registers, over all tiles, for what follows from the lane */
#include "types/types.h"

#include "accumulators/operator.h"

#include "segments/partition.h"
#include "order/fold.h"
#include "order/leaf.h"
#include "order/nodes.h"
#include "segments/segment_id_row.h"
#include "segments/shared_leaf.h"

#if TALLY_EXPANSIONS /* an exact sum, of values or of magnitudes alone */
#define TALLY_SEGMENTS expansions
#define TALLY_SPANS expansion_spans
#else
#define TALLY_SEGMENTS segments
#define TALLY_SPANS spans
#define TALLY_RESULT_SIZE(final) ((int32_t)sizeof(result_t))
#endif

/* Blocks that a multiprocessor holds: shared memory has room for three, and registers for as many of what takes few;
 * none may spill (tests/unit/test_compile.c). */
#if TALLY_PASSES == 2 && !TALLY_HAS_INDEX
#define TALLY_SEGMENTS_RESIDENT (sizeof(second_t) <= 8 ? 3 : 2)
#else
#define TALLY_SEGMENTS_RESIDENT (sizeof(node_t) <= (TALLY_KERNEL_INPUTS == 2 ? 24 : 40) ? 3 : 2)
#endif

/* ---- results ---- */

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

enum {
    values_capacity = TALLY_TILE_MOST(TALLY_KERNEL_INPUTS),
    /* Leaves that segments of more than one have in a tile: of its values, and one more of each, which are two leaves
       at least. */
    most_leaves = 2 * (values_capacity / (TALLY_DEVICE_LEAF * TALLY_SLOT)),
    /* Sorted, all segments of more than 8 values wait, and at most 4 shorter ones of each TALLY_WARP. If all others of
     * these wait, a segment has 8 values and an end on average; if all others are empty, a value and 8 ends. And there
     * may be fewer than TALLY_WARP, where a warp looks last. */
    bytes_of_value = TALLY_BYTES * TALLY_KERNEL_INPUTS,
    if_others_wait = 8 * bytes_of_value + TALLY_END_BYTES,
    if_others_are_empty = bytes_of_value + 8 * TALLY_END_BYTES,
    least_each = if_others_wait < if_others_are_empty ? if_others_wait : if_others_are_empty,
    most_sorted = values_capacity / least_each + 4 * TALLY_CONSUMER_WARPS,
    /* Else, of each warp, fewer than TALLY_WARP, and as many more at once. */
    most_waiting = TALLY_IS_SORTED ? most_sorted : 2 * TALLY_WARP,
    /* Those of more than 64 values wait, too, where quarters of a warp take them; with room to see that there are
       more. */
    most_longs = values_capacity / ((TALLY_DEVICE_SMALL + 1) * TALLY_BYTES) + TALLY_WARP,
    /* Segments of a tile that chunks pay for: others by lanes, or leaf by leaf, are as fast, but of f64 only those of
     * some hundreds of values; those of fewer than 4, on average, one by one. So a warp has so many at most. Measured.
     */
    least_in_chunks = TALLY_IS_F64 ? 28 : 48,
    few_in_chunks = TALLY_IS_F64 ? 6 : 0, /* or fewer than that */
    most_in_chunks =
        (TALLY_BOUNDARY_SLACK + TALLY_TILE_BYTES) / (4 * TALLY_BYTES + TALLY_END_BYTES), /* but for a leaf more */
    most_in_chunks_of_warp = (most_in_chunks + TALLY_CONSUMERS - 1) / TALLY_CONSUMERS * TALLY_WARP,
    most_listed = TALLY_IN_CHUNKS ? most_in_chunks_of_warp : most_waiting + (TALLY_BY_QUARTERS ? most_longs : 0),
    /* One list, or one of each warp's own. */
    list_capacity = TALLY_IS_SORTED ? most_waiting : TALLY_CONSUMER_WARPS * most_listed
};
typedef char list_is_enough[TALLY_IS_SORTED || (int32_t)most_listed >= (int32_t)most_waiting ? 1 : -1];
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
    int32_t is_none;   /* there is no tile any more, and no opening */
    int32_t iteration; /* which one of the block's it is: here, so that the consumers needs no register for it */
    tally_mbarrier come, left; /* it has been copied; the consumers's warps are done with it */
#if TALLY_IS_SORTED
    waiting_t waiting;
#endif
    node_t leaves[most_leaves];
} shared_t;

typedef struct chunks_t chunks_t;
#if TALLY_IN_CHUNKS
#include "segments/chunk_sums.h"
#endif

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

/* Rows come here too: short ones that lie side by side, and of operators of the caller's own all, along any axis.
 * Whether the values of one lie apart; and where value i of all rows, one behind the other, lies. */
#define TALLY_IS_APART(work) (TALLY_IS_USER && (work)->inner > 1)
TALLY_FN int64_t lies_at(const tally_segments_work *work, int64_t i) {
    if (!TALLY_IS_APART(work)) return i;
    int64_t row = i / work->length, outer = row / work->inner;
    return (outer * work->length + (i - row * work->length)) * work->inner + (row - outer * work->inner);
}

/* Addresses are multiples of that. */
#if TALLY_IS_STRUCTURE
#define TALLY_PIECE TALLY_B
#else
#define TALLY_PIECE TALLY_T
#endif
TALLY_FN int32_t values_are_dense(const tally_segments_work *work, const char *values, int64_t stride) {
    return stride == TALLY_BYTES && tally_source_of(values, stride, TALLY_BYTES).is_aligned && !TALLY_IS_APART(work);
}
/* Offsets are copied as they lie, if they lie at multiples of their size; others become places in the tile as they are
 * read. */
TALLY_FN int32_t ends_are_offsets(const tally_partition *partition, int64_t origin) {
    return partition->offsets != 0 && (uint64_t)partition->offsets % (uint64_t)partition->offset_bytes == 0 &&
           (partition->offset_bytes == 8 || origin <= INT32_MAX);
}

/* What the tile's boundaries say, and where it will lie. It is within the arrays, whatever the index says, so that
 * nothing else is ever read. */
TALLY_FN void open_tile(const tally_segments_work *work, int64_t t, opening_t *o) {
    const tally_partition *partition = &work->partition;
    const tally_boundary from = partition->boundaries[t], to = partition->boundaries[t + 1];
    const int64_t values = tally_apart(to.value, from.value), begun = tally_apart(to.segment, from.segment);
    const int32_t ends_behind = begun > 0 && to.end > to.value; /* the last that begins in it does */
    const int64_t behind = ends_behind ? to.leaf * partition->leaf : 0;
    o->is_good = from.segment >= 0 && begun >= 0 && to.segment <= partition->count &&
                 begun <= (TALLY_BOUNDARY_SLACK + TALLY_TILE_BYTES) / TALLY_END_BYTES && from.value >= 0 &&
                 values >= 0 && to.value <= work->partition.values && values <= values_capacity &&
                 values * partition->weight + begun * partition->offset_bytes <= values_capacity;
    /* The segment that runs into it ends in it, or, if none begins, behind it or at its end; nobody else looks at that.
     */
    o->is_good = o->is_good && from.end >= from.value && to.end >= to.value &&
                 (begun > 0 ? from.end <= to.value : from.end >= to.value) && behind >= 0 && behind <= values;
    o->is_ready = 0; /* or it would say what it said of another tile */
    if (!o->is_good) return;
    const tally_piece x = {work->x, work->partition.values * TALLY_BYTES, from.value * TALLY_BYTES,
                           (int32_t)values * TALLY_BYTES, 0};
    const tally_piece offsets = {partition->offsets, partition->offset_bytes * (partition->count + 1),
                                 partition->offset_bytes * from.segment,
                                 begun > 0 ? partition->offset_bytes * ((int32_t)begun + 1) : 0, 0};
    const tally_piece segment_ids = {partition->segment_ids, partition->index_bytes * work->partition.values,
                                     partition->index_bytes * from.value, partition->index_bytes * (int32_t)values, 0};
    o->results = results_from(work, from.segment);
    o->from = from;
    o->to_place = to.place;
    o->values = (int32_t)values;
    o->begun = (int32_t)begun;
    o->own = (int32_t)begun - ends_behind;
    o->run_at[0] = 0;
    o->run_n[0] = from.place < 0 ? 0
                                 : (int32_t)(begun > 0 ? tally_apart(from.end, from.value)
                                                       : values); /* no place: of no segmentation, or none */
    o->run_at[1] = (int32_t)(values - behind);
    o->run_n[1] = to.place < 0 ? 0 : (int32_t)behind;
    o->x = o->y = x;
    o->x.buffer = o->y.buffer =
        (int32_t)((uint64_t)(x.memory + x.at) % TALLY_LINE_BYTES / 16 * 16); /* copies are faster so */
    if (TALLY_KERNEL_INPUTS == 2) {
        o->y.memory = work->y;
        o->y.buffer += (x.bytes + 31) / 16 * 16;
    }
    o->ends = partition->segment_ids != 0 ? segment_ids : offsets;
    o->ends.buffer = o->y.buffer + (x.bytes + 31) / 16 * 16 + TALLY_CHUNK_BYTES;
    const int32_t x_is_dense = values_are_dense(work, work->x, work->x_stride),
                  y_is_dense = values_are_dense(work, work->y, work->y_stride);
    const int32_t are_offsets = ends_are_offsets(partition, from.value);
    o->is_dense = x_is_dense;
    o->values_come = TALLY_HAS_BULK && x_is_dense && tally_is_inside(&o->x) &&
                     (TALLY_KERNEL_INPUTS == 1 || (y_is_dense && tally_is_inside(&o->y)));
    o->are_segment_ids = partition->segment_ids != 0;
    o->ends_come =
        o->ends.bytes == 0 || (TALLY_HAS_BULK && (are_offsets || o->are_segment_ids) && tally_is_inside(&o->ends));
    o->x_at = o->x.buffer +
              (x_is_dense ? tally_skew(&o->x) : 0); /* what threads copy value by value begins at a multiple of 16 */
    o->y_at = TALLY_KERNEL_INPUTS == 1 ? o->x_at : o->y.buffer + (y_is_dense ? tally_skew(&o->y) : 0);
    o->ends_at = o->ends.buffer + (o->are_segment_ids ? tally_padded_bytes(&o->ends)
                                   : are_offsets      ? tally_skew(&o->ends)
                                                      : 0); /* behind the segment ids */
    o->are_wide = (are_offsets ? partition->offset_bytes : o->are_segment_ids ? partition->index_bytes : 0) == 8;
    o->is_ready = o->values_come && o->ends_come && !o->are_wide && !o->are_segment_ids;
    o->origin = are_offsets && !o->are_wide ? (uint32_t)from.value : 0;
}
/* Begins the copies that one thread can begin. */
TALLY_FN void begin_copies(char *buffer, tally_mbarrier *mbarrier, const opening_t *o) {
    const int32_t each = o->values_come ? tally_padded_bytes(&o->x) : 0,
                  other = o->values_come && TALLY_KERNEL_INPUTS == 2 ? tally_padded_bytes(&o->y) : 0;
    const int32_t ends = o->ends_come && o->ends.bytes > 0 ? tally_padded_bytes(&o->ends) : 0;
    /* Where hardly anything is written, memory is faster if its caches let go of what was read; else slower. Measured.
     */
    const int32_t stays = o->values < 16 * o->begun;
    if (each + other + ends == 0) {
        tally_mbarrier_arrive(mbarrier);
        return;
    }
    tally_mbarrier_expect(mbarrier, each + other + ends);
    if (each > 0)
        tally_copy_bulk(buffer + o->x.buffer, o->x.memory + o->x.at - tally_skew(&o->x), each, stays, mbarrier);
    if (other > 0)
        tally_copy_bulk(buffer + o->y.buffer, o->y.memory + o->y.at - tally_skew(&o->y), other, stays, mbarrier);
    if (ends > 0)
        tally_copy_bulk(buffer + o->ends.buffer, o->ends.memory + o->ends.at - tally_skew(&o->ends), ends, stays,
                        mbarrier);
}

/* What did not come that way, by the consumers. */
TALLY_FN void copy_values(const tally_segments_work *work, const tally_piece *piece, int64_t stride, char *shared) {
    if (values_are_dense(work, piece->memory, stride)) {
        tally_copy_piece(piece, shared, (int32_t)sizeof(TALLY_PIECE), TALLY_CONSUMERS);
        return;
    }
    const tally_source from = tally_source_of(piece->memory, stride, TALLY_BYTES);
    TALLY_ROLLED
    for (int32_t i = tally_thread(); i < piece->bytes / TALLY_BYTES; i += TALLY_CONSUMERS)
        ((TALLY_T *)(void *)(shared + piece->buffer))[i] = read_one(&from, lies_at(work, piece->at / TALLY_BYTES + i));
}

#include "segments/tile_ends.h"

/* Opens tiles, whichever is the next that no block has taken, and begins to copy each as soon as there is a buffer. By
 * one thread. */
TALLY_FN void bring_tiles(const tally_segments_work *work, all_shared_t *all, char *buffers) {
    const tally_partition *partition = &work->partition;
    TALLY_ROLLED
    for (int32_t iteration = 0;; iteration++) {
        const int32_t here = buffer_of(partition, iteration), phase = phase_of(partition, iteration);
        const uint32_t tile = tally_arrive(partition->next, UINT32_MAX);
        const int32_t is_none = tile >= (uint64_t)partition->tiles;
        opening_t *const opening = opening_of(all, iteration);
        shared_t *const its = shared_of(partition, all, iteration);
        if (!is_none) open_tile(work, tile, opening);
        if (phase > 0) tally_mbarrier_wait(&its->left, phase - 1);
        /* One tile on its way at a time: memory that is asked for more was never faster, and once slower. */
        if (iteration > 0)
            tally_mbarrier_wait(&shared_of(partition, all, iteration - 1)->come, phase_of(partition, iteration - 1));
        its->is_none = is_none;
        its->iteration = iteration;
        if (is_none) {
            tally_mbarrier_arrive(&its->come);
            return;
        }
        if (opening->is_good)
            begin_copies(buffers + here * TALLY_TILE_BUFFER(TALLY_KERNEL_INPUTS), &its->come, opening);
        else {
            tally_or32(work->out.flags, TALLY_FLAG_BAD_SEGMENTS);
            tally_mbarrier_arrive(&its->come);
        }
    }
}

/* What has not come of a tile as the consumers takes it, or, once more, its values. False: it is none. */
TALLY_FN int32_t finish_copies(const tally_segments_work *work, const opening_t *o, char *buffer, int32_t is_again) {
    const int32_t values_come = o->values_come && !is_again, ends_come = o->ends_come || is_again;
    if (!o->is_good) return 0;
    if (!values_come) {
        copy_values(work, &o->x, work->x_stride, buffer);
        if (TALLY_KERNEL_INPUTS == 2) copy_values(work, &o->y, work->y_stride, buffer);
    }
    if (!ends_come) copy_ends(work, o, buffer);
    if (!values_come || !ends_come) {
        tally_copied();
        tally_consumer_barrier(TALLY_CONSUMERS);
    }
    if (o->are_segment_ids && !is_again)
        place_segment_ids(work, o, buffer);
    else if (o->are_wide && !is_again)
        narrow_entries(buffer + o->ends_at, o->begun + 1, o->from.value);
    return 1;
}
/* The tile, once it has come, or again, as its values are gone. False: it is none. */
TALLY_FN int32_t read_tile(const tally_segments_work *work, tile_t *tile, const opening_t *o, char *buffer,
                           int32_t is_again) {
    if ((is_again || !o->is_ready) && !finish_copies(work, o, buffer, is_again)) return 0;
    tile->opening = o;
    tile->values = o->values;
    tile->own = o->own;
    tile->x = (const TALLY_T *)(const void *)(buffer + o->x_at);
    tile->y = TALLY_KERNEL_INPUTS == 1 ? tile->x : (const TALLY_T *)(const void *)(buffer + o->y_at);
    tile->ends = (const int32_t *)(const void *)(buffer + o->ends_at);
    tile->origin = o->origin;
    return 1;
}

#include "segments/own_segments.h"
#include "segments/tile_chunks.h"

/* A tile's segments, by the consumers; gives status flags. */
TALLY_FN int32_t take_tile(const tally_segments_work *work, all_shared_t *all, shared_t *its, const opening_t *opening,
                           char *buffer) {
    int32_t flags = 0;
    tile_t tile;
    TALLY_ROLLED
    for (int32_t is_again = 0;; is_again = 1) {
        if (!read_tile(work, &tile, opening, buffer, is_again)) return 0;
        if (!TALLY_IN_CHUNKS || !TALLY_ADDS_VALUES) break; /* norm1 would need more registers than there are */
        if (is_again || !opening->is_dense || !is_for_chunks(&tile)) break;
        if (take_chunks(work, &tile, all, &flags)) return flags;
    }
    if (put_leaves(work, &tile, its->leaves)) return flags;
    return flags | take_own(work, &tile, its, all);
}
TALLY_FN void take_tiles(const tally_segments_work *work, all_shared_t *shared, char *buffers) {
    for (int32_t iteration = 0, next;; iteration = next) {
        shared_t *const its = shared_of(&work->partition, shared, iteration);
        const opening_t *const opening = opening_of(shared, iteration);
        tally_mbarrier_wait(&its->come, phase_of(&work->partition, iteration));
        if (its->is_none) return;
        const int32_t flags =
            take_tile(work, shared, its, opening,
                      buffers + buffer_of(&work->partition, iteration) * TALLY_TILE_BUFFER(TALLY_KERNEL_INPUTS));
        if (flags != 0 &&
            (flags & ~tally_look32(&shared->flags)) != 0) { /* once for each that there is, more or less */
            tally_raise_flags(work->out.flags, flags);
            tally_or32(&shared->flags, flags);
        }
        next = its->iteration + 1;
        tally_warp_barrier(); /* no lane is ahead of the others in the warp's list, nor a tile ahead: shuffles would not
                                 meet */
        tally_mbarrier_arrive(&its->left);
    }
}

TALLY_KERNEL_ENTRY(TALLY_SEGMENTS_BLOCK, TALLY_SEGMENTS, tally_segments_work, TALLY_SEGMENTS_RESIDENT) {
    TALLY_SHARED(all_shared_t, shared);
    TALLY_SHARED_BUFFER(buffers, TALLY_TILE_BUFFER(TALLY_KERNEL_INPUTS) << work.partition.log_buffers);
    if (tally_is_idle(work.wanted)) return;
    if (tally_warp() < TALLY_MOST_BUFFERS) {
        begin_lists(&shared->of[tally_warp()]);
        if (tally_lane() == 0) {
            tally_mbarrier_init(&shared->of[tally_warp()].come, 1);
            tally_mbarrier_init(&shared->of[tally_warp()].left, TALLY_CONSUMERS);
        }
    }
    begin_chunks(shared);
    if (tally_thread() == 0) shared->flags = 0;
    tally_let_next_start();
    tally_barrier();
    tally_await_before();
    if (tally_warp() < TALLY_CONSUMER_WARPS)
        take_tiles(&work, shared, buffers);
    else if (tally_lane() == 0)
        bring_tiles(&work, shared, buffers);
}

/* ---- spans ---- */

/* A group of TALLY_FAN leaves, from leaf `leaf` of segment s on, which has `count` values and its nodes at `place`. */
typedef struct group_of_leaves_t {
    int64_t s, count, leaf, place;
} group_of_leaves_t;

/* Combines it; the last of a segment's groups gives the result. */
TALLY_FN void close_group(const tally_segments_work *work, const group_of_leaves_t *group) {
    const tally_partition *partition = &work->partition;
    int64_t leaves = (group->count + TALLY_DEVICE_LEAF - 1) / TALLY_DEVICE_LEAF, pitch = 2 * partition->cells + 2,
            left = leaves - group->leaf;
    tally_ladder ladder = {work->nodes + pitch * (int64_t)sizeof(node_t), work->arrivals,
                           group->place / (2 * TALLY_FAN), tally_next_pitch(pitch), partition->cells / TALLY_FAN + 1};
    node_t node = gather_nodes(work->nodes, group->place + group->leaf, (int32_t)(left < TALLY_FAN ? left : TALLY_FAN));
    int32_t flags = 0;
    if (!climb(ladder, &node, group->leaf / TALLY_FAN, (leaves + TALLY_FAN - 1) / TALLY_FAN)) return;
    if (tally_lane() == 0) flags = put_at(work, results_from(work, group->s), group->s, 0, node);
    tally_raise_flags(work->out.flags, flags);
}

/* The groups that lanes have found, one after the other by the whole warp. */
TALLY_FN void close_groups(const tally_segments_work *work, int32_t is_there, group_of_leaves_t mine) {
    for (uint32_t some = tally_ballot(is_there); some != 0; some &= some - 1) {
        const int32_t lane = __builtin_ffs((int32_t)some) - 1;
        const group_of_leaves_t group = {tally_of_lane64(mine.s, lane), tally_of_lane64(mine.count, lane),
                                         tally_of_lane64(mine.leaf, lane), tally_of_lane64(mine.place, lane)};
        close_group(work, &group);
    }
}

/* A lane for each tile, and a warp for the groups that begin in TALLY_SPAN_TILES of them; few tiles of short segments
 * have any. */
TALLY_KERNEL_ENTRY(TALLY_BLOCK, TALLY_SPANS, tally_segments_work, 1) {
    if (tally_is_idle(work.wanted)) return;
    tally_let_next_start();
    tally_await_before();
    const tally_partition *partition = &work.partition;
    const int64_t t = ((int64_t)tally_block() * TALLY_WARPS + tally_warp()) * TALLY_SPAN_TILES + tally_lane();
    group_of_leaves_t before = {0, 0, 0, 0}, behind = before;
    int32_t has_before = 0, has_behind = 0;
    const int32_t is_there = tally_lane() < TALLY_SPAN_TILES && t < partition->tiles,
                  flags = tally_look32(work.out.flags);
    tally_boundary from = {0, 0, 0, 0, 0}, to = from;
    if (is_there) from = partition->boundaries[t], to = partition->boundaries[t + 1];
    if ((flags & TALLY_FLAG_BAD_SEGMENTS) != 0) return;
    if (is_there) {
        if (from.value != to.value && from.segment > 0) { /* of a segment that began before */
            int64_t leaf = (from.leaf + TALLY_FAN - 1) / TALLY_FAN * TALLY_FAN,
                    begin = from.value - from.leaf * TALLY_DEVICE_LEAF;
            int64_t until = from.end < to.value ? from.end : to.value;
            const group_of_leaves_t found = {from.segment - 1, from.end - begin, leaf, from.place};
            before = found;
            has_before = from.place >= 0 && from.end > from.value && begin + leaf * TALLY_DEVICE_LEAF < until;
        }
        if (from.value != to.value && to.segment > from.segment) { /* of one that ends behind */
            const group_of_leaves_t found = {to.segment - 1, to.end - to.value + to.leaf * TALLY_DEVICE_LEAF, 0,
                                             to.place};
            behind = found;
            has_behind = to.place >= 0 && to.end > to.value;
        }
    }
    close_groups(&work, has_before, before);
    close_groups(&work, has_behind, behind);
}

#endif
