/* Exact segments by prefix sums, a block for each tile (lib/prefix.h): of all segments, or of those that production/segments.h was
 * not sure of. With TALLY_PREFIX_WIDE more levels, for the tiles that were left. What is left then, and segments whose result
 * doubles cannot tell, are for production/flat.h. No include guard. */
#include "lib/types.h"

#include TALLY_KERNEL_FILE

#include "lib/cut.h"
#include "lib/leaf.h"
#include "lib/levels.h"
#include "lib/extent.h"
#include "lib/terms.h"
#include "lib/ruler.h"
#include "lib/careful.h"
#include "lib/planned.h"
#include "lib/flat_nodes.h"
#include "lib/prefix.h"

#if TALLY_PREFIX_WIDE
#define TALLY_PREFIX_NAME wide_
#define TALLY_PREFIX_BLOCKS 3
#else
#define TALLY_PREFIX_NAME prefix_
#define TALLY_PREFIX_BLOCKS 8
#endif

#define TALLY_IS_LAST_STAGE (TALLY_PREFIX_WIDE || TALLY_PREFIX_IS_F16)
TALLY_FN void TALLY_N(mark)(uint32_t *marks, int64_t i) { tally_or32((int32_t *)marks + i / 32, (int32_t)((uint32_t)1 << i % 32)); }
TALLY_FN void TALLY_N(tell)(const tally_work *work, int32_t saw) {
    if ((tally_look32(work->saw) & saw) == 0) tally_or32(work->saw, saw);
}
/* Leaves a tile to the stage that follows, or one segment of it to the last. */
TALLY_RARE void TALLY_N(leave_tile)(const tally_work *work, int64_t t) {
    TALLY_N(mark)(TALLY_IS_LAST_STAGE ? work->cut.far : work->cut.left, t);
    TALLY_N(tell)(work, TALLY_IS_LAST_STAGE ? TALLY_SAW_FAR : TALLY_SAW_LEFT);
}
TALLY_RARE void TALLY_N(leave_segment)(const tally_work *work, int64_t t, int64_t s) {
    TALLY_N(mark)(work->cut.some, t);
    TALLY_N(mark)(work->cut.doubtful, s);
    TALLY_N(tell)(work, TALLY_SAW_FAR);
}

/* The first value's distance from a multiple of 16 bytes, if it can be kept. */
TALLY_FN int32_t TALLY_N(skew_of)(const tally_source *x, int64_t at) {
    const uint64_t apart = (uint64_t)(x->values + at * x->stride) % 16;
    return x->stride == TALLY_BYTES && apart % TALLY_BYTES == 0 ? (int32_t)(apart / TALLY_BYTES) : 0;
}

/* Where a tile's arrays lie in the room. False: the edges are none. */
TALLY_FN int32_t TALLY_N(place_tile)(const tally_work *work, const tally_edge *from, const tally_edge *to, const tally_source *x, char *room,
                                     TALLY_N(tile) *tile) {
    const int32_t runs_in = from->segment > 0 && from->end > from->value, runs_out = to->segment > 0 && to->end > to->value;
    const int64_t n = tally_apart(to->value, from->value), count = (to->segment - runs_out) - (from->segment - runs_in);
    int32_t is_good = from->segment >= 0 && to->segment >= from->segment && to->segment <= work->cut.count && from->value >= 0;
    is_good = is_good && to->value >= from->value && to->value <= work->count && from->end >= from->value && to->end >= to->value;
    is_good = is_good && (to->segment > from->segment ? from->end <= to->value : from->end >= to->value);
    is_good = is_good && count >= 0 && n <= TALLY_PREFIX_TILE_MOST && count <= TALLY_PREFIX_TILE_MOST;
    if (!is_good || n * work->cut.weight + count * work->cut.end_weight > TALLY_PREFIX_TILE_MOST - TALLY_PREFIX_SLACK) return 0;
    tile->s = from->segment - runs_in;
    tile->n = (int32_t)n;
    tile->count = (int32_t)count;
    tile->skew = TALLY_N(skew_of)(x, from->value);
    const int32_t parts = (tile->skew + tile->n + TALLY_PART - 1) / TALLY_PART;
    tile->strip = (parts / TALLY_PREFIX_THREADS + 1) | 1;
    tile->over = 65536 / tile->strip + 1;
    tile->room = tile->count < tile->n + 1 ? tile->count : tile->n + 1;
    tile->x = (TALLY_T *)(void *)room;
    tile->y = TALLY_KERNEL_INPUTS == 2 ? tile->x + parts * TALLY_PART : tile->x;
    tile->prefix = (int64_t *)(void *)(tile->y + parts * TALLY_PART);
    char *behind = (char *)(tile->prefix + TALLY_N(prefix_words) * tile->room);
#ifdef TALLY_KEYS
    tile->low = (TALLY_K *)(void *)behind;
    tile->high = tile->low + tile->room;
    behind += (2 * TALLY_BYTES * tile->room + 3) / 4 * 4;
#endif
    tile->ends = (int32_t *)(void *)behind;
    return 1;
}

/* ---- results ---- */

/* Whether some value from one place on is anything but -0, where the sum is 0. */
TALLY_FN int32_t TALLY_N(has_other)(const TALLY_N(tile) *tile, int32_t at, int32_t end, int32_t step) {
    for (int32_t i = tile->skew + at; i < tile->skew + end; i += step)
        if (TALLY_N(is_other)(tile->x[i], tile->y[i])) return 1;
    return 0;
}

/* The result of a segment that lies in the tile, by one thread. */
TALLY_FN void TALLY_N(put_sums)(const tally_work *work, const TALLY_N(tile) *tile, int64_t t, int64_t s, int32_t begin, int32_t end, const int64_t *d, TALLY_N(noted) noted) {
    uint64_t result[6] = {0, 0, 0, 0, 0, 0};
    TALLY_N(in_pairs) a;
    __builtin_memset(&a, 0, sizeof a);
    a.present = end - begin - noted.absent;
    a.seen = noted.seen;
#ifdef TALLY_KEYS
    a.low = (TALLY_K)noted.low;
    a.high = (TALLY_K)noted.high;
#endif
    if (a.present == 0) {
        TALLY_N(put_nothing)(work, s);
        return;
    }
    TALLY_IF_SUM(a.sum = TALLY_N(scaled_pair)(d, TALLY_N(value_words), tile->scale_x);)
    TALLY_IF_PRODUCTS(a.products = TALLY_N(scaled_pair)(d + TALLY_N(value_words), TALLY_N(product_words), tile->scale_x + tile->scale_y);)
    if ((TALLY_N(has_sum) ? a.sum.high : a.products.high) != 0 || TALLY_N(has_other)(tile, begin, end, 1)) a.seen |= TALLY_NOT_MINUS_ZERO;
    if (TALLY_N(conclude_pairs)(&a, &work->final, result)) TALLY_N(put_bytes)(work, s, result, a.present);
    else TALLY_N(leave_segment)(work, t, s);
}

/* The segments that end in the tile: a warp takes 31 at a time, as each lane has the prefix at one end and its neighbour that at the end before. */
TALLY_FN void TALLY_N(put_segments)(const tally_work *work, const TALLY_N(tile) *tile, const TALLY_N(side) *side, int64_t t, int32_t runs_in) {
    for (int32_t first = tally_warp() * (TALLY_WARP - 1); first < tile->count; first += TALLY_N(prefix_warps) * (TALLY_WARP - 1)) {
        const int32_t e = first + tally_lane() - 1, last = e < tile->count ? e : tile->count - 1;
        const int32_t entry = last < 0 ? 0 : tile->ends[last], end = entry & TALLY_END_PLACE;
        const int32_t begin = (int32_t)tally_shuffle((uint32_t)end, tally_lane() == 0 ? 0 : tally_lane() - 1);
        int32_t strip = 0, rank = 0;
        int64_t d[TALLY_N(prefix_words)];
        if (last >= 0) rank = TALLY_N(end_at)(tile, side, tile->skew + end, &strip);
        TALLY_UNROLL
        for (int32_t k = 0; k < TALLY_N(prefix_words); k++) {
            const int64_t here = last < 0 ? tally_bits_f64(TALLY_N(prefix_anchor)(k)) : TALLY_N(prefix_at)(tile, side, k, rank, strip);
            d[k] = tally_apart(here, tally_of_lane64(here, tally_lane() == 0 ? 0 : tally_lane() - 1));
        }
        if (tally_lane() == 0 || e >= tile->count || (e == 0 && runs_in) || !TALLY_N(is_wanted)(work, tile->s + e)) continue;
        TALLY_N(noted) noted = TALLY_N(noted_at_end)(entry);
#ifdef TALLY_KEYS
        if (end > begin) TALLY_N(keys_at_end)(tile, side, tile->skew + begin, strip, rank, &noted);
#endif
        TALLY_N(put_sums)(work, tile, t, tile->s + e, begin, end, d, noted);
    }
}

/* The tile's part of a segment over its edges, from one place to another, goes to its number of limbs; by a warp. */
TALLY_RARE void TALLY_N(give_part)(const tally_work *work, const TALLY_N(tile) *tile, const TALLY_N(side) *side, int32_t begin, int32_t end, int32_t is_open,
                                   TALLY_N(node) *node) {
    int32_t strip = 0, rank = 0;
    TALLY_N(noted) noted = TALLY_N(noted_at_end)(tile->ends[is_open ? tile->count : 0]);
    (void)work;
    if (is_open ? begin > 0 : 1) rank = TALLY_N(end_at)(tile, side, tile->skew + (is_open ? begin : end), &strip);
    TALLY_UNROLL
    for (int32_t k = 0; k < TALLY_N(prefix_words); k++) {
        if (k % TALLY_WARP != tally_lane()) continue;
        const int32_t unit = TALLY_N(unit_of_prefix)(k) - TALLY_N(scale_of_prefix)(tile, k);
        int64_t d = 0;
        if (!is_open || begin > 0) d = tally_apart(TALLY_N(prefix_at)(tile, side, k, rank, strip), tally_bits_f64(TALLY_N(prefix_anchor)(k)));
        if (is_open) d = tally_apart(side->base[k][TALLY_N(base_pitch) - 1], d);
        TALLY_IF_SUM(if (k < TALLY_N(value_words)) tally_deposit_word(node->sum + TALLY_EVIDENCE, d, unit - TALLY_ORIGIN);)
        TALLY_IF_PRODUCTS(if (k >= TALLY_N(value_words)) tally_deposit_word(node->products + TALLY_EVIDENCE, d, unit - 2 * TALLY_ORIGIN);)
    }
    for (int32_t i = begin; i < end && !(noted.seen & TALLY_NOT_MINUS_ZERO); i += TALLY_WARP) {
        const int32_t at = i + tally_lane();
        if (tally_any(at < end && TALLY_N(has_other)(tile, at, at + 1, 1))) noted.seen |= TALLY_NOT_MINUS_ZERO;
    }
    if (tally_lane() != 0 || end <= begin) return;
#ifdef TALLY_KEYS
    if (is_open) TALLY_N(keys_behind)(tile, side, tile->skew + begin, &noted);
    else TALLY_N(keys_at_end)(tile, side, tile->skew + begin, strip, rank, &noted);
#endif
    TALLY_N(deposit_noted)(&noted, end - begin - noted.absent, node);
}

/* ---- a tile ---- */

TALLY_FN void TALLY_N(measure_tile)(const TALLY_N(tile) *tile, TALLY_N(side) *side, int32_t parts) {
    const int32_t begin = tally_thread() * tile->strip * TALLY_PART;
    TALLY_N(share_extent)(TALLY_N(measure_strip)(tile->x + begin, parts), side, 0);
    if (TALLY_KERNEL_INPUTS == 2) TALLY_N(share_extent)(TALLY_N(measure_strip)(tile->y + begin, parts), side, 1);
}

/* The tile's segments that are wanted. All threads of the block take part. */
TALLY_FN void TALLY_N(take_tile)(const tally_work *work, int64_t t, char *room, TALLY_N(side) *side) {
    const tally_edge from = work->cut.edges[t], to = work->cut.edges[t + 1];
    const int32_t runs_in = from.segment > 0 && from.end > from.value, runs_out = to.segment > 0 && to.end > to.value;
    const tally_source x = tally_source_of(work->x, work->x_stride, TALLY_BYTES), y = tally_source_of(work->y, work->y_stride, TALLY_BYTES);
    TALLY_N(tile) tile;
    if (!TALLY_N(place_tile)(work, &from, &to, &x, room, &tile)) {
        if (tally_thread() == 0) tally_or32(work->saw, TALLY_SAW_BAD_CUT);
        return;
    }
    for (int32_t i = tally_thread(); i < (int32_t)(sizeof side->marks / sizeof *side->marks); i += TALLY_PREFIX_THREADS) side->marks[i] = 0;
    if (tally_thread() == 0) side->is_bad = side->is_unordered = side->is_wanted = 0;
    tally_barrier();
    TALLY_N(copy_tile)(&x, from.value, tile.n, tile.skew, tile.x);
    if (TALLY_KERNEL_INPUTS == 2) TALLY_N(copy_tile)(&y, from.value, tile.n, tile.skew, tile.y);
    TALLY_N(copy_ends)(work, &tile, from.value, side);
    tally_copied();
    tally_barrier();
    if (!side->is_wanted || side->is_bad) {
        if (side->is_bad && tally_thread() == 0) tally_or32(work->saw, TALLY_SAW_BAD_CUT);
        tally_barrier();
        return;
    }
    const int32_t all = (tile.skew + tile.n + TALLY_PART - 1) / TALLY_PART, mine = all - tally_thread() * tile.strip;
    const int32_t parts = mine < 0 ? 0 : mine < tile.strip ? mine : tile.strip;
    TALLY_N(mark_ends)(&tile, side);
    TALLY_N(measure_tile)(&tile, side, parts);
    tally_barrier();
    TALLY_N(extent) of_x = TALLY_N(shared_extent)(side, 0), of_y = of_x;
    if (TALLY_KERNEL_INPUTS == 2) of_y = TALLY_N(shared_extent)(side, 1);
    const uint64_t marks = TALLY_N(marks_of)(side, tally_thread());
    const int32_t rank = TALLY_N(rank_strip)(side, marks), is_unordered = side->is_unordered;
    if (is_unordered) {
        if (tally_thread() == 0) tally_or32(work->saw, TALLY_SAW_BAD_CUT);
        tally_barrier();
        return;
    }
#ifdef TALLY_KEYS
    TALLY_N(take_keys)(&tile, side, marks, rank);
#endif
    if (of_x.most >= TALLY_SIZE_INFINITY || of_y.most >= TALLY_SIZE_INFINITY) {
        const TALLY_N(tile) its = tile; /* what functions that are not inlined are given are copies: the rest stays in registers */
        tally_barrier();
        TALLY_N(note_specials)(&its, tally_thread() * tile.strip * TALLY_PART, (tally_thread() * tile.strip + parts) * TALLY_PART);
        TALLY_N(measure_tile)(&tile, side, parts);
        tally_barrier();
        of_x = TALLY_N(shared_extent)(side, 0);
        of_y = TALLY_KERNEL_INPUTS == 2 ? TALLY_N(shared_extent)(side, 1) : of_x;
    }
    if (!TALLY_N(choose_scales)(&tile, of_x, of_y)) {
        if (tally_thread() == 0) TALLY_N(leave_tile)(work, t);
        tally_barrier();
        return;
    }
    TALLY_N(add_prefixes)(&tile, side, marks, rank);
    tally_barrier();
    TALLY_N(scan_strips)(side);
    tally_barrier();
    TALLY_N(put_segments)(work, &tile, side, t, runs_in);
    const int32_t last = tile.count > 0 ? tile.ends[tile.count - 1] & TALLY_END_PLACE : 0;
    const int32_t gives_first = runs_in && tile.count > 0 && tally_warp() == 0 && TALLY_N(is_wanted)(work, tile.s);
    const int32_t gives_last = runs_out && tally_warp() == 1 && TALLY_N(is_wanted)(work, to.segment - 1);
    if (gives_first || gives_last) {
        const TALLY_N(tile) its = tile;
        const int64_t s = gives_first ? tile.s : to.segment - 1;
        int64_t first = t;
        if (runs_in && s == tile.s) first = TALLY_N(tile_of)(work, s, TALLY_N(begin_of)(work, s));
        TALLY_N(node) *const node = TALLY_N(node_for)(work, t, first);
        TALLY_N(give_part)(work, &its, side, gives_first ? 0 : last, gives_first ? tile.ends[0] & TALLY_END_PLACE : tile.n, gives_last, node);
    }
    tally_barrier();
}

TALLY_ENTRY_OF(TALLY_PREFIX_THREADS, TALLY_N(TALLY_PASTE(TALLY_PREFIX_NAME, TALLY_KERNEL)), TALLY_PREFIX_BLOCKS) {
    TALLY_SHARED(TALLY_N(side), side);
    TALLY_SHARED_ROOM(room, TALLY_PREFIX_ROOM(TALLY_BYTES, TALLY_KERNEL_INPUTS, TALLY_N(has_sum), TALLY_N(has_products), TALLY_N(has_keys), TALLY_PREFIX_WIDE));
    tally_let_next_start();
    tally_await_before();
    if (tally_thread() == 0) { /* others may be writing: all threads of a block go on, or none */
        const int32_t saw = tally_look32(work.saw);
        const int32_t has_work = TALLY_PREFIX_WIDE ? (saw & TALLY_SAW_LEFT) != 0 : work.cut.unsure == 0 || (saw & TALLY_SAW_UNSURE) != 0;
        side->is_wanted = has_work && (saw & TALLY_SAW_BAD_CUT) == 0;
    }
    tally_barrier();
    const int32_t is_wanted = side->is_wanted;
    tally_barrier();
    if (!is_wanted) return;
    for (int64_t t = tally_block(); t < work.cut.tiles; t += tally_blocks())
        if (!TALLY_PREFIX_WIDE || (work.cut.left[t / 32] >> t % 32 & 1) != 0) TALLY_N(take_tile)(&work, t, room, side);
}

#undef TALLY_IS_LAST_STAGE
#undef TALLY_PREFIX_NAME
#undef TALLY_PREFIX_BLOCKS
#undef TALLY_PART
#undef TALLY_DEVICE_COLUMNS
#undef TALLY_DEVICE_LEAF
#include "lib/prefix_end.h"
#include "lib/terms_end.h"
#include "lib/exact_end.h"
#include "lib/types_end.h"
