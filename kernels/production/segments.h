/* Segments by any operator, each with the bits that it has alone (docs/order.md), whatever their lengths (docs/design/006-gpu-segments.md).
 *
 * production/cut.h has shared out values and end markers to tiles (lib/cut.h). A block reads its tile into shared memory, and its warps take
 * the segments that are its own (lib/own_segments.h). Of a segment that runs over an edge, each tile leaves the nodes of its leaves in memory,
 * and a second kernel, `spans`, combines them: nobody waits for anybody. What the cut says is checked as it is used. No include guard:
 * included once for each type. */
#include "lib/types.h"

#ifdef TALLY_QUICK /* an exact operator */
#include "lib/whole.h"
#include TALLY_KERNEL_FILE
#include "lib/whole_end.h"
#include "lib/quick.h"
#define TALLY_SEGMENTS quick_
#define TALLY_SPANS quick_spans_
#else
#include TALLY_KERNEL_FILE
#include "lib/conclude.h"
#define TALLY_SEGMENTS segments_
#define TALLY_SPANS spans_
#define TALLY_RESULT_SIZE(final) ((int32_t)sizeof(TALLY_N(result)))
#endif

#include "lib/cut.h"
#include "lib/leaf.h"
#include "lib/fold.h"
#include "lib/nodes.h"
#include "lib/shared_leaf.h"

/* Blocks that a multiprocessor holds: more for what takes few registers; none may spill (tests/unit/test_compile.c). */
#if defined(TALLY_QUICK) && defined(TALLY_KEYS)
#define TALLY_SEGMENTS_RESIDENT 1
#elif defined(TALLY_IS_NARROW_SUM) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)
#define TALLY_SEGMENTS_RESIDENT 4
#elif TALLY_PASSES == 2 && !defined(TALLY_HAS_INDEX)
#define TALLY_SEGMENTS_RESIDENT (TALLY_BYTES == 8 ? 1 : 2)
#elif TALLY_PASSES == 2 || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800)
#define TALLY_SEGMENTS_RESIDENT (sizeof(TALLY_N(node)) <= 24 ? 3 : 2)
#else
#define TALLY_SEGMENTS_RESIDENT \
    (sizeof(TALLY_N(node)) <= 16 ? (TALLY_BYTES <= 2 || TALLY_NAN == 1 ? 4 : 5) : sizeof(TALLY_N(node)) <= 32 ? 3 : 2)
#endif
#ifdef __CUDACC_RTC__
#define TALLY_UNROLL_SOME _Pragma("unroll 4")
#else
#define TALLY_UNROLL_SOME
#endif

/* ---- results ---- */

/* Writes the result of segment base + i; gives what is to be told of it. */
TALLY_FN int32_t TALLY_N(put_result)(const tally_work *work, int64_t base, int32_t i, TALLY_N(node) node) {
    TALLY_N(result) result;
    int32_t saw = TALLY_N(conclude)(node, &work->final, &result), size = TALLY_RESULT_SIZE(&work->final);
#if defined(TALLY_QUICK) && !defined(TALLY_KEYS)
    const float narrow = (float)result;
    if (work->cut.are_packed && size == 4)
        ((float *)work->result + base)[i] = narrow;
    else
#endif
        if (work->cut.are_packed)
        ((TALLY_N(result) *)work->result + base)[i] = result;
    else {
        volatile uint8_t *to = (volatile uint8_t *)work->result + (base + i) * work->cut.result_stride;
        uint8_t bytes[sizeof result];
        __builtin_memcpy(bytes, &result, sizeof result);
#if defined(TALLY_QUICK) && !defined(TALLY_KEYS)
        if (size == 4) __builtin_memcpy(bytes, &narrow, sizeof narrow);
#endif
        TALLY_UNROLL
        for (int32_t b = 0; b < (int32_t)sizeof result; b++)
            if (b < size) to[b] = bytes[b];
    }
    if ((saw & TALLY_SAW_UNSURE) != 0)
        tally_or32((int32_t *)work->cut.unsure + (base + i) / 32, (int32_t)((uint32_t)1 << (base + i) % 32));
    return saw;
}

/* What this lane has seen, and what all have, to be told once: a look spares most of the atomic operations. */
TALLY_FN void TALLY_N(tell_seldom)(const tally_work *work, int32_t saw) {
    if (saw != 0 && (saw & ~tally_look32(work->saw)) != 0) tally_or32(work->saw, saw);
}
TALLY_FN void TALLY_N(tell)(const tally_work *work, int32_t saw) {
    int32_t all = 0;
    if (!tally_any(saw != 0)) return;
    TALLY_UNROLL
    for (int32_t bit = TALLY_SAW_EMPTY; bit <= TALLY_SAW_BAD_CUT; bit *= 2) all |= tally_any(saw & bit) ? bit : 0;
    if (tally_lane() == 0) TALLY_N(tell_seldom)(work, all);
}

/* ---- a tile ---- */

enum {
    TALLY_N(values_room) = TALLY_EDGE_SLACK + TALLY_TILE_BYTES + TALLY_KERNEL_INPUTS * TALLY_LEAF_BYTES_EACH,
    TALLY_N(region) = TALLY_N(values_room) + 32 * (TALLY_KERNEL_INPUTS + 1) + 2 * TALLY_END_BYTES,
    /* Leaves that segments of more than one have in a tile: of its values, and one more of each, which are two leaves at least. */
    TALLY_N(most_leaves) = 2 * (TALLY_N(values_room) / (TALLY_DEVICE_LEAF * TALLY_SLOT)),
    /* Segments of more than 8 values, or at most 4 of each TALLY_WARP of which the others are empty or longer. */
    TALLY_N(most_waiting) = TALLY_N(values_room) / (9 * (TALLY_BYTES * TALLY_KERNEL_INPUTS < 4 ? TALLY_BYTES * TALLY_KERNEL_INPUTS : 4))
};
/* Segments that wait for others of about their length, by numbers that say how long they are (lib/own_segments.h). */
typedef struct TALLY_N(waiting) {
    uint32_t counted[TALLY_WARP], listed_of[TALLY_WARP];
    uint16_t listed[TALLY_N(most_waiting)];
} TALLY_N(waiting);
/* What thread 0 has found about the tile, for all. */
typedef struct TALLY_N(opening) {
    tally_edge from;
    int64_t to_place;
    tally_piece x, y, ends;
    int32_t values, own; /* values, segments of its own */
    int32_t x_at, y_at, ends_at; /* where they will lie in shared memory */
    uint32_t origin;             /* as a tile has it */
    int32_t is_good, values_come, ends_come; /* it is a tile; what need not be copied by all */
} TALLY_N(opening);

typedef struct TALLY_N(shared) {
    char bytes[(TALLY_N(region) + 15) / 16 * 16];
    TALLY_N(opening) opening;
    uint64_t gate;
    TALLY_N(waiting) waiting;
    TALLY_N(node) leaves[TALLY_N(most_leaves)];
} TALLY_N(shared);

typedef struct TALLY_N(tile) {
    const TALLY_N(opening) *opening;
    int32_t values, own;
    const TALLY_T *x, *y;
    const int32_t *ends; /* less `origin`: where its own segments begin, and where the last ends, from the tile's first value on */
    uint32_t origin;
} TALLY_N(tile);

/* Place i of the tile's ends; more than its values: behind it, or of what is no cut. */
TALLY_FN uint32_t TALLY_N(end_of)(const TALLY_N(tile) *tile, int32_t i) { return (uint32_t)tile->ends[i] - tile->origin; }

/* A segment within the tile. */
typedef struct TALLY_N(span) {
    int32_t at, n, saw;
} TALLY_N(span);

/* Segment i of the tile's own, of no values where the cut is none; of none where there is no such segment. */
TALLY_FN TALLY_N(span) TALLY_N(span_of)(const TALLY_N(tile) *tile, int32_t i, int32_t is_there) {
    TALLY_N(span) none = {0, 0, 0}, span = none;
    uint32_t at = 0, end = 0;
    if (is_there) at = TALLY_N(end_of)(tile, i), end = TALLY_N(end_of)(tile, i + 1);
    span.at = (int32_t)at;
    span.n = (int32_t)(end - at);
    if (at > end || end > (uint32_t)tile->values) {
        span = none;
        span.saw = TALLY_SAW_BAD_CUT;
    }
    return span;
}

/* Rows come here too: short ones that lie side by side, and of operators of the caller's own all, along any axis. Whether the values of one lie apart;
 * and where value i of all rows, one behind the other, lies. */
#ifdef TALLY_USER_TEXT
#define TALLY_IS_APART(work) ((work)->inner > 1)
#else
#define TALLY_IS_APART(work) ((void)(work), 0)
#endif
TALLY_FN int64_t TALLY_N(lies_at)(const tally_work *work, int64_t i) {
    if (!TALLY_IS_APART(work)) return i;
    int64_t row = i / work->length, outer = row / work->inner;
    return (outer * work->length + (i - row * work->length)) * work->inner + (row - outer * work->inner);
}

/* Addresses are multiples of that. */
#if TALLY_NUMBER == TALLY_NUMBER_structure
#define TALLY_PIECE TALLY_B
#else
#define TALLY_PIECE TALLY_T
#endif
TALLY_FN int32_t TALLY_N(is_dense)(const tally_work *work, const char *values, int64_t stride) {
    return stride == TALLY_BYTES && tally_source_of(values, stride, TALLY_BYTES).is_aligned && !TALLY_IS_APART(work);
}
/* Offsets of 4 bytes are read as they lie; others become places in the tile. */
TALLY_FN int32_t TALLY_N(ends_are_offsets)(const tally_cut_work *cut, int64_t origin) {
    return cut->offset_bytes == 4 && cut->offsets != 0 && (uint64_t)cut->offsets % 4 == 0 && origin <= INT32_MAX;
}

/* What the tile's edges say, and where it will lie. It is within the arrays, whatever the cut says, so that nothing else is ever read. */
TALLY_FN void TALLY_N(open_tile)(const tally_work *work, TALLY_N(opening) *o) {
    const tally_cut_work *cut = &work->cut;
    const tally_edge from = cut->edges[tally_block()], to = cut->edges[tally_block() + 1];
    const int64_t values = tally_apart(to.value, from.value), own = tally_apart(to.segment, from.segment);
    o->is_good = from.segment >= 0 && own >= 0 && to.segment <= cut->count && own <= (TALLY_EDGE_SLACK + TALLY_TILE_BYTES) / TALLY_END_BYTES &&
                 from.value >= 0 && values >= 0 && to.value <= work->count && values <= TALLY_N(values_room) &&
                 values * cut->weight + own * TALLY_END_BYTES <= TALLY_N(values_room);
    if (!o->is_good) return;
    const tally_piece x = {work->x, work->count * TALLY_BYTES, from.value * TALLY_BYTES, (int32_t)values * TALLY_BYTES, 0};
    const tally_piece ends = {cut->offsets, 4 * (cut->count + 1), 4 * from.segment, 4 * (int32_t)own + 4, 0};
    o->from = from;
    o->to_place = to.place;
    o->values = (int32_t)values;
    o->own = (int32_t)own;
    o->x = o->y = x;
    if (TALLY_KERNEL_INPUTS == 2) {
        o->y.memory = work->y;
        o->y.room = (x.bytes + 31) / 16 * 16;
    }
    o->ends = ends;
    o->ends.room = o->y.room + (x.bytes + 31) / 16 * 16;
    const int32_t x_is_dense = TALLY_N(is_dense)(work, work->x, work->x_stride), y_is_dense = TALLY_N(is_dense)(work, work->y, work->y_stride);
    const int32_t are_offsets = TALLY_N(ends_are_offsets)(cut, from.value);
    o->values_come = TALLY_HAS_BULK && x_is_dense && tally_is_inside(&o->x) && (TALLY_KERNEL_INPUTS == 1 || (y_is_dense && tally_is_inside(&o->y)));
    o->ends_come = TALLY_HAS_BULK && are_offsets && tally_is_inside(&o->ends);
    o->x_at = o->x.room + (x_is_dense ? tally_skew(&o->x) : 0); /* what threads copy value by value begins at a multiple of 16 */
    o->y_at = TALLY_KERNEL_INPUTS == 1 ? o->x_at : o->y.room + (y_is_dense ? tally_skew(&o->y) : 0);
    o->ends_at = o->ends.room + (are_offsets ? tally_skew(&o->ends) : 0);
    o->origin = are_offsets ? (uint32_t)from.value : 0;
}
/* Begins the copies that one thread can begin. */
TALLY_FN void TALLY_N(begin_copies)(TALLY_N(shared) *shared, const TALLY_N(opening) *o) {
    const int32_t each = o->values_come ? tally_rounded(&o->x) : 0, other = o->values_come && TALLY_KERNEL_INPUTS == 2 ? tally_rounded(&o->y) : 0;
    const int32_t ends = o->ends_come ? tally_rounded(&o->ends) : 0;
    tally_open_gate(&shared->gate, each + other + ends);
    if (each > 0) tally_copy_bulk(shared->bytes + o->x.room, o->x.memory + o->x.at - tally_skew(&o->x), each, &shared->gate);
    if (other > 0) tally_copy_bulk(shared->bytes + o->y.room, o->y.memory + o->y.at - tally_skew(&o->y), other, &shared->gate);
    if (ends > 0) tally_copy_bulk(shared->bytes + o->ends.room, o->ends.memory + o->ends.at - tally_skew(&o->ends), ends, &shared->gate);
}

/* What did not come that way, by all threads. */
TALLY_FN void TALLY_N(copy_values)(const tally_work *work, const tally_piece *piece, int64_t stride, char *shared) {
    if (TALLY_N(is_dense)(work, piece->memory, stride)) {
        tally_copy_piece(piece, shared, (int32_t)sizeof(TALLY_PIECE), TALLY_BLOCK_THREADS);
        return;
    }
    const tally_source from = tally_source_of(piece->memory, stride, TALLY_BYTES);
    TALLY_ROLLED
    for (int32_t i = tally_thread(); i < piece->bytes / TALLY_BYTES; i += TALLY_BLOCK_THREADS)
        ((TALLY_T *)(void *)(shared + piece->room))[i] = TALLY_N(read_one)(&from, TALLY_N(lies_at)(work, piece->at / TALLY_BYTES + i));
}
TALLY_FN void TALLY_N(copy_ends)(const tally_work *work, const TALLY_N(opening) *o, char *shared) {
    const tally_cut_work *cut = &work->cut;
    int32_t *places = (int32_t *)(void *)(shared + o->ends.room);
    if (TALLY_N(ends_are_offsets)(cut, o->from.value))
        tally_copy_piece(&o->ends, shared, 4, TALLY_BLOCK_THREADS);
    else if (cut->offsets == 0) { /* of rows */
        const int64_t before = tally_apart(o->from.segment * cut->row, o->from.value);
        for (int32_t i = tally_thread(); i <= o->own; i += TALLY_BLOCK_THREADS) places[i] = tally_place_of(before + i * cut->row);
    } else if ((uint64_t)cut->offsets % 8 == 0 && cut->offset_bytes == 8) {
        const int64_t *offsets = (const int64_t *)(const void *)cut->offsets + o->from.segment;
        TALLY_UNROLL_SOME
        for (int32_t i = tally_thread(); i <= o->own; i += TALLY_BLOCK_THREADS)
            places[i] = tally_place_of(tally_apart(offsets[i], o->from.value));
    } else {
        TALLY_ROLLED
        for (int32_t i = tally_thread(); i <= o->own; i += TALLY_BLOCK_THREADS)
            places[i] = tally_place_of(tally_apart(tally_offset(cut, o->from.segment + i), o->from.value));
    }
}

/* Reads the tile. False: it is none. */
TALLY_FN int32_t TALLY_N(read_tile)(const tally_work *work, TALLY_N(tile) *tile, TALLY_N(shared) *shared) {
    const TALLY_N(opening) *o = &shared->opening;
    if (tally_thread() == 0) {
        TALLY_N(opening) mine;
        TALLY_N(open_tile)(work, &mine);
        if (mine.is_good)
            TALLY_N(begin_copies)(shared, &mine);
        else
            tally_or32(work->saw, TALLY_SAW_BAD_CUT);
        shared->opening = mine;
    }
    if (tally_warp() == TALLY_WARPS - 1) shared->waiting.counted[tally_lane()] = shared->waiting.listed_of[tally_lane()] = 0;
    tally_barrier();
    if (!o->is_good) return 0;
    if (!o->values_come) {
        TALLY_N(copy_values)(work, &o->x, work->x_stride, shared->bytes);
        if (TALLY_KERNEL_INPUTS == 2) TALLY_N(copy_values)(work, &o->y, work->y_stride, shared->bytes);
    }
    if (!o->ends_come) TALLY_N(copy_ends)(work, o, shared->bytes);
    if (!o->values_come || !o->ends_come) {
        tally_copied();
        tally_barrier();
    }
    tally_pass_gate(&shared->gate);
    tile->opening = o;
    tile->values = o->values;
    tile->own = o->own;
    tile->x = (const TALLY_T *)(const void *)(shared->bytes + o->x_at);
    tile->y = TALLY_KERNEL_INPUTS == 1 ? tile->x : (const TALLY_T *)(const void *)(shared->bytes + o->y_at);
    tile->ends = (const int32_t *)(const void *)(shared->bytes + o->ends_at);
    tile->origin = o->origin;
    return 1;
}

#include "lib/own_segments.h"

TALLY_ENTRY(TALLY_N(TALLY_PASTE(TALLY_SEGMENTS, TALLY_KERNEL)), TALLY_SEGMENTS_RESIDENT) {
    TALLY_SHARED(TALLY_N(shared), shared);
    TALLY_N(tile) tile;
    int32_t is_closed;
    if (!TALLY_N(read_tile)(&work, &tile, shared)) return;
    is_closed = TALLY_N(put_leaves)(&work, &tile, shared);
    TALLY_N(tell)(&work, TALLY_N(take_own)(&work, &tile, is_closed, shared));
}

/* ---- spans ---- */

/* A group of TALLY_FAN leaves, from leaf `leaf` of segment s on, which has `count` values and its nodes at `place`. */
typedef struct TALLY_N(group_of_leaves) {
    int64_t s, count, leaf, place;
} TALLY_N(group_of_leaves);

/* Combines it; the last of a segment's groups gives the result. */
TALLY_FN void TALLY_N(close_group)(const tally_work *work, const TALLY_N(group_of_leaves) *group) {
    const tally_cut_work *cut = &work->cut;
    int64_t leaves = (group->count + TALLY_DEVICE_LEAF - 1) / TALLY_DEVICE_LEAF, pitch = 2 * cut->cells + 2, left = leaves - group->leaf;
    tally_ladder ladder = {work->nodes + pitch * (int64_t)sizeof(TALLY_N(node)), work->arrivals, group->place / (2 * TALLY_FAN),
                           tally_next_pitch(pitch), cut->cells / TALLY_FAN + 1};
    TALLY_N(node) node = TALLY_N(gather_nodes)(work->nodes, group->place + group->leaf, (int32_t)(left < TALLY_FAN ? left : TALLY_FAN));
    int32_t saw = 0;
    if (!TALLY_N(climb)(ladder, &node, group->leaf / TALLY_FAN, (leaves + TALLY_FAN - 1) / TALLY_FAN)) return;
    if (tally_lane() == 0) saw = TALLY_N(put_result)(work, group->s, 0, node);
    TALLY_N(tell)(work, saw);
}

/* The groups that lanes have found, one after the other by the whole warp. */
TALLY_FN void TALLY_N(close_groups)(const tally_work *work, int32_t is_there, TALLY_N(group_of_leaves) mine) {
    for (uint32_t some = tally_ballot(is_there); some != 0; some &= some - 1) {
        const int32_t lane = __builtin_ffs((int32_t)some) - 1;
        const TALLY_N(group_of_leaves) group = {tally_of_lane64(mine.s, lane), tally_of_lane64(mine.count, lane),
                                                tally_of_lane64(mine.leaf, lane), tally_of_lane64(mine.place, lane)};
        TALLY_N(close_group)(work, &group);
    }
}

/* A lane for each tile, and a warp for the groups that begin in TALLY_SPAN_TILES of them; few tiles of short segments have any. */
TALLY_ENTRY(TALLY_N(TALLY_PASTE(TALLY_SPANS, TALLY_KERNEL)), 1) {
    const tally_cut_work *cut = &work.cut;
    const int64_t t = ((int64_t)tally_block() * TALLY_WARPS + tally_warp()) * TALLY_SPAN_TILES + tally_lane();
    TALLY_N(group_of_leaves) before = {0, 0, 0, 0}, behind = before;
    int32_t has_before = 0, has_behind = 0;
    const int32_t is_there = tally_lane() < TALLY_SPAN_TILES && t < cut->tiles, saw = *work.saw;
    tally_edge from = {0, 0, 0, 0}, to = from;
    if (is_there) from = cut->edges[t], to = cut->edges[t + 1];
    if ((saw & TALLY_SAW_BAD_CUT) != 0) return;
    if (is_there) {
        if (from.value != to.value && from.segment > 0) { /* of a segment that began before */
            int64_t leaf = (from.leaf + TALLY_FAN - 1) / TALLY_FAN * TALLY_FAN, begin = from.value - from.leaf * TALLY_DEVICE_LEAF;
            int64_t end = tally_offset(cut, from.segment), until = end < to.value ? end : to.value;
            const TALLY_N(group_of_leaves) found = {from.segment - 1, end - begin, leaf, from.place};
            before = found;
            has_before = from.place >= 0 && end > from.value && begin + leaf * TALLY_DEVICE_LEAF < until;
        }
        if (from.value != to.value && to.segment > from.segment) { /* of one that ends behind */
            int64_t begin = tally_offset(cut, to.segment - 1), end = tally_offset(cut, to.segment);
            const TALLY_N(group_of_leaves) found = {to.segment - 1, end - begin, 0, to.place};
            behind = found;
            has_behind = to.place >= 0 && end > to.value;
        }
    }
    TALLY_N(close_groups)(&work, has_before, before);
    TALLY_N(close_groups)(&work, has_behind, behind);
}

#undef TALLY_SEGMENTS_RESIDENT
#undef TALLY_PIECE
#undef TALLY_IS_APART
#undef TALLY_UNROLL_SOME
#undef TALLY_SEGMENTS
#undef TALLY_SPANS
#undef TALLY_RESULT_SIZE
#undef TALLY_IN_PARTS
#ifdef TALLY_QUICK
#include "lib/quick_end.h"
#endif
#include "lib/fold_end.h"
#include "lib/operator_end.h"
#include "lib/types_end.h"
