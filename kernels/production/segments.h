/* Segments by any operator, each with the bits that it has alone (docs/order.md), whatever their lengths (docs/design/006-gpu-segments.md).
 *
 * production/cut.h has shared out values and end markers to tiles (lib/cut.h). A block reads its tile into shared memory, and its warps take
 * the segments that are its own: up to 8 values by one thread, up to 64 by 8 lanes, more by a warp. Of a segment that runs over an edge,
 * each tile leaves the nodes of its leaves in memory, and a second kernel, `spans`, combines them: nobody waits for anybody. What the cut
 * says is checked as it is read. No include guard: included once for each type. */
#include "lib/types.h"

#ifdef TALLY_QUICK /* an exact operator */
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

/* Writes the result of segment s; gives what is to be told of it. */
TALLY_FN int32_t TALLY_N(put_result)(const tally_work *work, int64_t s, TALLY_N(node) node) {
    TALLY_N(result) result;
    int32_t saw = TALLY_N(conclude)(node, &work->final, &result), size = TALLY_RESULT_SIZE(&work->final);
    const int32_t is_plain = (uint64_t)work->result % TALLY_ALIGN_OF(TALLY_N(result)) == 0 && work->cut.result_stride == size;
    uint8_t bytes[sizeof result];
    __builtin_memcpy(bytes, &result, sizeof result);
#if defined(TALLY_QUICK) && !defined(TALLY_KEYS)
    float narrow = (float)result;
    if (size == 4) __builtin_memcpy(bytes, &narrow, sizeof narrow);
    if (is_plain && size == 4) {
        ((float *)work->result)[s] = narrow;
    } else
#endif
    if (is_plain)
        ((TALLY_N(result) *)work->result)[s] = result;
    else {
        volatile uint8_t *to = (volatile uint8_t *)work->result + s * work->cut.result_stride;
        TALLY_UNROLL
        for (int32_t b = 0; b < (int32_t)sizeof result; b++)
            if (b < size) to[b] = bytes[b];
    }
    if ((saw & TALLY_SAW_UNSURE) != 0) tally_or32((int32_t *)work->cut.unsure + s / 32, (int32_t)((uint32_t)1 << s % 32));
    return saw;
}

/* What lanes have seen, to be told once. */
TALLY_FN void TALLY_N(tell)(const tally_work *work, int32_t saw) {
    int32_t all = 0;
    TALLY_UNROLL
    for (int32_t bit = TALLY_SAW_EMPTY; bit <= TALLY_SAW_BAD_CUT; bit *= 2) all |= tally_any(saw & bit) ? bit : 0;
    if (all != 0 && tally_lane() == 0 && (all & ~*(volatile int32_t *)work->saw) != 0) tally_or32(work->saw, all);
}

/* ---- a tile ---- */

enum {
    TALLY_N(values_room) = (TALLY_TILE_BYTES + TALLY_KERNEL_INPUTS * TALLY_LEAF_BYTES_EACH),
    TALLY_N(region) = TALLY_N(values_room) + 32 * TALLY_KERNEL_INPUTS + 2 * TALLY_END_BYTES
};
typedef struct TALLY_N(shared) {
    char bytes[(TALLY_N(region) + 15) / 16 * 16];
} TALLY_N(shared);

typedef struct TALLY_N(tile) {
    tally_edge from, to;
    int32_t values, own; /* values, segments of its own */
    const TALLY_T *x, *y;
    const int32_t *places; /* of its own segments and of the end of the last */
} TALLY_N(tile);

/* Rows by operators of the caller's own come here too, along any axis: whether the values of one lie apart; and where value i of all rows, one
 * behind the other, lies. */
#ifdef TALLY_USER_TEXT
#define TALLY_IS_APART(work) ((work)->inner > 1)
#else
#define TALLY_IS_APART(work) 0
#endif
TALLY_FN int64_t TALLY_N(lies_at)(const tally_work *work, int64_t i) {
    if (!TALLY_IS_APART(work)) return i;
    int64_t row = i / work->length, outer = row / work->inner;
    return (outer * work->length + (i - row * work->length)) * work->inner + (row - outer * work->inner);
}

/* `n` values from value `at` on, copied to shared memory at `room`, 16 bytes at a time where that is within the array. */
#if TALLY_NUMBER == TALLY_NUMBER_structure
#define TALLY_PIECE TALLY_B
#else
#define TALLY_PIECE TALLY_T
#endif
TALLY_FN const TALLY_T *TALLY_N(stage)(const tally_work *work, const char *values, int64_t stride, int64_t at, int32_t n, char *room) {
    tally_source from = tally_source_of(values, stride, TALLY_BYTES);
    const int64_t count = work->count;
    if (stride == TALLY_BYTES && from.is_aligned && !TALLY_IS_APART(work)) {
        const char *begin = values + at * TALLY_BYTES, *last = values + count * TALLY_BYTES;
        int32_t skew = (int32_t)((uint64_t)begin % 16), bytes = n * TALLY_BYTES, until = skew + bytes;
        const int32_t is_inside = begin - values >= skew && last - begin >= (int64_t)(until + 15) / 16 * 16 - skew;
        for (int32_t b = 16 * tally_thread(); b < until; b += 16 * TALLY_BLOCK_THREADS) {
            if (is_inside || (begin - values >= skew - b && last - begin >= b + 16 - skew))
                tally_copy16(room + b, begin + (b - skew));
            else
                for (int32_t k = b < skew ? skew : b; k < b + 16 && k < until; k += (int32_t)sizeof(TALLY_PIECE))
                    *(TALLY_PIECE *)(void *)(room + k) = *(const TALLY_PIECE *)(const void *)(begin + (k - skew));
        }
        return (const TALLY_T *)(const void *)(room + skew);
    }
    TALLY_ROLLED
    for (int32_t i = tally_thread(); i < n; i += TALLY_BLOCK_THREADS)
        ((TALLY_T *)(void *)room)[i] = TALLY_N(read_one)(&from, TALLY_N(lies_at)(work, at + i));
    return (const TALLY_T *)(const void *)room;
}

/* The places of the tile's own segments and of the end of the last, from the tile's first value on: 0 to its values, INT32_MAX for one that
 * lies behind, which only the last may. `read` gives offset i of the tile. True: some lie elsewhere. */
#define TALLY_STAGE_OFFSETS(read)                                                                        \
    for (int32_t i = tally_thread(); i <= tile->own; i += TALLY_BLOCK_THREADS) {                         \
        int64_t offset = (read);                                                                         \
        uint64_t at = (uint64_t)offset - (uint64_t)tile->from.value;                                     \
        int32_t is_behind = at > (uint64_t)tile->values;                                                 \
        is_bad |= offset < tile->from.value || (is_behind && i < tile->own);                             \
        places[i] = is_behind ? i < tile->own ? tile->values : INT32_MAX : (int32_t)at;                  \
    }
TALLY_FN int32_t TALLY_N(stage_offsets)(const tally_work *work, const TALLY_N(tile) *tile, int32_t *places) {
    const tally_cut_work *cut = &work->cut;
    const int32_t is_aligned = ((uint64_t)cut->offsets & (uint64_t)(cut->offset_bytes - 1)) == 0;
    int32_t is_bad = 0;
    if (is_aligned && cut->offset_bytes == 4) {
        const int32_t *offsets = (const int32_t *)(const void *)cut->offsets + tile->from.segment;
        TALLY_UNROLL_SOME
        TALLY_STAGE_OFFSETS(offsets[i])
    } else if (is_aligned) {
        const int64_t *offsets = (const int64_t *)(const void *)cut->offsets + tile->from.segment;
        TALLY_UNROLL_SOME
        TALLY_STAGE_OFFSETS(offsets[i])
    } else {
        TALLY_ROLLED
        TALLY_STAGE_OFFSETS(tally_offset(cut, tile->from.segment + i))
    }
    return is_bad;
}
#undef TALLY_STAGE_OFFSETS

/* Reads the tile. False: it is none. Places are within the tile whatever the cut says, so that nothing else is ever read. */
TALLY_FN int32_t TALLY_N(read_tile)(const tally_work *work, TALLY_N(tile) *tile, TALLY_N(shared) *shared) {
    const tally_cut_work *cut = &work->cut;
    int64_t values, own;
    int32_t is_good;
    char *room = shared->bytes;
    tile->from = cut->edges[tally_block()];
    tile->to = cut->edges[tally_block() + 1];
    values = tally_apart(tile->to.value, tile->from.value);
    own = tally_apart(tile->to.segment, tile->from.segment);
    is_good = tile->from.segment >= 0 && own >= 0 && tile->to.segment <= cut->count && own <= TALLY_TILE_BYTES / TALLY_END_BYTES &&
              tile->from.value >= 0 && values >= 0 && tile->to.value <= work->count && values <= TALLY_N(values_room) &&
              values * cut->weight + own * TALLY_END_BYTES <= TALLY_N(values_room);
    if (!is_good) { /* the same in all threads */
        if (tally_thread() == 0) tally_or32(work->saw, TALLY_SAW_BAD_CUT);
        return 0;
    }
    tile->values = (int32_t)values;
    tile->own = (int32_t)own;
    tile->x = TALLY_N(stage)(work, work->x, work->x_stride, tile->from.value, tile->values, room);
    tile->y = tile->x;
    room += (values * TALLY_BYTES + 31) / 16 * 16;
    if (TALLY_KERNEL_INPUTS == 2) {
        tile->y = TALLY_N(stage)(work, work->y, work->y_stride, tile->from.value, tile->values, room);
        room += (values * TALLY_BYTES + 31) / 16 * 16;
    }
    tile->places = (const int32_t *)(const void *)room;
    if (TALLY_N(stage_offsets)(work, tile, (int32_t *)(void *)room)) tally_or32(work->saw, TALLY_SAW_BAD_CUT);
    tally_copied();
    tally_barrier();
    return 1;
}

/* ---- segments that run over an edge ---- */

/* Leaves of one segment that lie in one tile, from value `at` of the tile on: leaf `first` and those behind it. */
typedef struct TALLY_N(part_run) {
    int64_t first, place;
    int32_t at, values, count;
} TALLY_N(part_run);

TALLY_FN TALLY_N(part_run) TALLY_N(run_of)(int64_t place, int64_t first, int32_t at, int32_t values) {
    TALLY_N(part_run) run = {first, place, at, values, (values + TALLY_DEVICE_LEAF - 1) / TALLY_DEVICE_LEAF};
    if (place < 0) run.count = 0; /* no cut: some tile tells */
    return run;
}

/* The end of a segment that began before the tile, and the beginning of one that ends behind it: leaf by leaf, by all warps. Gives how many
 * segments are the tile's own and end in it. */
TALLY_FN int32_t TALLY_N(put_leaves)(const tally_work *work, const TALLY_N(tile) *tile) {
    int32_t own = tile->own, until = tile->places[0] < tile->values ? tile->places[0] : tile->values;
    TALLY_N(part_run) head = TALLY_N(run_of)(tile->from.place, tile->from.leaf, 0, until), tail = TALLY_N(run_of)(-1, 0, 0, 0);
    if (own > 0 && tile->places[own] > tile->values) {
        int32_t at = tile->places[--own];
        tail = TALLY_N(run_of)(tile->to.place, 0, at, tile->values - at);
    }
    for (int32_t k = tally_warp(); k < head.count + tail.count; k += TALLY_WARPS) {
        const int32_t is_head = k < head.count;
        const TALLY_N(part_run) run = is_head ? head : tail;
        int64_t leaf = run.first + (is_head ? k : k - head.count);
        int32_t skip = (is_head ? k : k - head.count) * TALLY_DEVICE_LEAF, left = run.values - skip, at = run.at + skip;
        TALLY_N(node) node = TALLY_N(shared_leaf)(tile->x + at, tile->y + at, left < TALLY_DEVICE_LEAF ? left : TALLY_DEVICE_LEAF,
                                                  leaf * TALLY_DEVICE_LEAF);
        if (tally_lane() == 0) *TALLY_N(node_at)(work->nodes, run.place + leaf) = node;
    }
    return own;
}

/* ---- segments within the tile ---- */

/* Whether a thread has room for all columns, and how many of a warp's segments must have more than 8 values for that to be the way. */
#ifdef TALLY_USER_TEXT
#define TALLY_COLUMNS_FIT (!TALLY_USER_KEEPS_ORDER && sizeof(TALLY_N(column)) <= 8)
#else
#define TALLY_COLUMNS_FIT (TALLY_IS_FREE || sizeof(TALLY_N(column)) <= 8)
#endif
#define TALLY_COLUMNS_PAY 12

/* Up to TALLY_WARP segments of the tile, from `first` on: one for each lane. Gives what was seen. */
TALLY_FN int32_t TALLY_N(take_segments)(const tally_work *work, const TALLY_N(tile) *tile, int32_t first, int32_t count) {
    int32_t lane = tally_lane(), is_there = lane < count, at = is_there ? tile->places[first + lane] : 0;
    int32_t n = is_there ? tile->places[first + lane + 1] - at : 0, saw = n < 0 ? TALLY_SAW_BAD_CUT : 0;
    int64_t segment = tile->from.segment + first;
    n = n < 0 ? 0 : n;
    if (!tally_any(n > 4)) {
        TALLY_N(node) node = TALLY_N(thread_node)(tile->x + at, tile->y + at, n, 4);
        if (is_there) saw |= TALLY_N(put_result)(work, segment + lane, node);
        return saw;
    }
    uint32_t some = tally_ballot(n > 8 && n <= TALLY_DEVICE_SMALL), many = tally_ballot(n > TALLY_DEVICE_SMALL);
    if (TALLY_COLUMNS_FIT && __builtin_popcount(some) >= TALLY_COLUMNS_PAY) {
        int32_t is_mine = n <= TALLY_DEVICE_SMALL, mine = is_mine ? n : 0;
        TALLY_N(node) node = TALLY_N(columns_node)(tile->x + at, tile->y + at, mine, (int32_t)tally_warp_max((uint32_t)mine));
        if (is_there && is_mine) saw |= TALLY_N(put_result)(work, segment + lane, node);
        some = 0;
    } else if (tally_any(is_there && n <= 8)) {
        int32_t few = n <= 8 ? n : 0;
        TALLY_N(node) node = TALLY_N(thread_node)(tile->x + at, tile->y + at, few, 8);
        if (is_there && n <= 8) saw |= TALLY_N(put_result)(work, segment + lane, node);
    }
    while (some != 0) { /* four at a time: 8 lanes take the segment of lane `from` */
        int32_t from = 0, begin, length, has = 0;
        TALLY_UNROLL
        for (int32_t g = 0; g < TALLY_WARP / TALLY_DEVICE_SMALL_COLUMNS; g++) {
            int32_t next = __builtin_ffs((int32_t)some) - 1;
            if (lane / TALLY_DEVICE_SMALL_COLUMNS == g) from = next < 0 ? 0 : next, has = next >= 0;
            some &= some - 1;
        }
        begin = (int32_t)tally_shuffle((uint32_t)at, from);
        length = (int32_t)tally_shuffle((uint32_t)n, from);
        TALLY_N(node) node = TALLY_N(lanes_node)(tile->x + begin, tile->y + begin, has ? length : 0, 0);
        if (has && lane % TALLY_DEVICE_SMALL_COLUMNS == 0) saw |= TALLY_N(put_result)(work, segment + from, node);
    }
    while (many != 0) {
        int32_t from = __builtin_ffs((int32_t)many) - 1;
        int32_t begin = (int32_t)tally_shuffle((uint32_t)at, from), length = (int32_t)tally_shuffle((uint32_t)n, from);
        TALLY_N(node) node = TALLY_N(shared_run)(tile->x + begin, tile->y + begin, length);
        if (lane == 0) saw |= TALLY_N(put_result)(work, segment + from, node);
        many &= many - 1;
    }
    return saw;
}

TALLY_ENTRY(TALLY_N(TALLY_PASTE(TALLY_SEGMENTS, TALLY_KERNEL)), TALLY_SEGMENTS_RESIDENT) {
    TALLY_SHARED(TALLY_N(shared), shared);
    TALLY_N(tile) tile;
    int32_t own, rounds, share, saw = 0;
    if (!TALLY_N(read_tile)(&work, &tile, shared)) return;
    own = TALLY_N(put_leaves)(&work, &tile);
    /* Equal shares of at most TALLY_WARP segments for each warp, in as few rounds as there can be. */
    rounds = (own + TALLY_BLOCK_THREADS - 1) / TALLY_BLOCK_THREADS;
    share = rounds == 0 ? 1 : (own + TALLY_WARPS * rounds - 1) / (TALLY_WARPS * rounds);
    for (int32_t first = tally_warp() * share; first < own; first += TALLY_WARPS * share)
        saw |= TALLY_N(take_segments)(&work, &tile, first, own - first < share ? own - first : share);
    TALLY_N(tell)(&work, saw);
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
    if (tally_lane() == 0) saw = TALLY_N(put_result)(work, group->s, node);
    TALLY_N(tell)(work, saw);
}

/* The groups that lanes have found, one after the other by the whole warp. */
TALLY_FN void TALLY_N(close_groups)(const tally_work *work, int32_t is_there, TALLY_N(group_of_leaves) mine) {
    for (uint32_t some = tally_ballot(is_there); some != 0; some &= some - 1) {
        const int32_t lane = __builtin_ffs((int32_t)some) - 1;
        const TALLY_N(group_of_leaves) group = {tally_shuffle_wide(mine.s, lane), tally_shuffle_wide(mine.count, lane),
                                                tally_shuffle_wide(mine.leaf, lane), tally_shuffle_wide(mine.place, lane)};
        TALLY_N(close_group)(work, &group);
    }
}

/* A lane for each tile, and a warp for the groups that begin in TALLY_SPAN_TILES of them; few tiles of short segments have any. */
TALLY_ENTRY(TALLY_N(TALLY_PASTE(TALLY_SPANS, TALLY_KERNEL)), 1) {
    const tally_cut_work *cut = &work.cut;
    const int64_t t = ((int64_t)tally_block() * TALLY_WARPS + tally_warp()) * TALLY_SPAN_TILES + tally_lane();
    TALLY_N(group_of_leaves) before = {0, 0, 0, 0}, behind = before;
    int32_t has_before = 0, has_behind = 0;
    if ((*work.saw & TALLY_SAW_BAD_CUT) != 0) return;
    if (tally_lane() < TALLY_SPAN_TILES && t < cut->tiles) {
        const tally_edge from = cut->edges[t], to = cut->edges[t + 1];
        if (from.value != to.value && from.segment > 0) { /* of a segment that began before */
            int64_t leaf = (from.leaf + TALLY_FAN - 1) / TALLY_FAN * TALLY_FAN, begin = from.value - from.leaf * TALLY_DEVICE_LEAF;
            int64_t end = tally_offset(cut, from.segment), until = end < to.value ? end : to.value;
            const TALLY_N(group_of_leaves) found = {from.segment - 1, end - begin, leaf, from.place};
            before = found;
            has_before = end > from.value && begin + leaf * TALLY_DEVICE_LEAF < until;
        }
        if (from.value != to.value && to.segment > from.segment) { /* of one that ends behind */
            int64_t begin = tally_offset(cut, to.segment - 1), end = tally_offset(cut, to.segment);
            const TALLY_N(group_of_leaves) found = {to.segment - 1, end - begin, 0, to.place};
            behind = found;
            has_behind = end > to.value;
        }
    }
    TALLY_N(close_groups)(&work, has_before, before);
    TALLY_N(close_groups)(&work, has_behind, behind);
}

#undef TALLY_SEGMENTS_RESIDENT
#undef TALLY_COLUMNS_FIT
#undef TALLY_COLUMNS_PAY
#undef TALLY_PIECE
#undef TALLY_IS_APART
#undef TALLY_UNROLL_SOME
#undef TALLY_SEGMENTS
#undef TALLY_SPANS
#undef TALLY_RESULT_SIZE
#ifdef TALLY_QUICK
#include "lib/quick_end.h"
#endif
#include "lib/fold_end.h"
#include "lib/operator_end.h"
#include "lib/types_end.h"
