/* Exact segments by prefix sums, a block for each tile (exact_segments/prefix.h). This kernel takes all segments, or
 * those that production/segments.h was not sure of. A second build, with TALLY_PREFIX_WIDE, has more levels and takes
 * tiles that the first one leaves. production/flat.h takes what is left after that. */
#ifndef TALLY_FORM_PREFIX_H
#define TALLY_FORM_PREFIX_H

#include "types/types.h"

#include TALLY_KERNEL_FILE

#include "segments/partition.h"
#include "order/leaf.h"
#include "sums/levels.h"
#include "exact_sums/extent.h"
#include "exact_sums/terms.h"
#include "exact_sums/ruler.h"
#include "exact_sums/pair_results.h"
#if TALLY_PREFIX_WIDE
#define TALLY_PREFIX_NAME wide
#define TALLY_PREFIX_BLOCKS 3
#else
#define TALLY_PREFIX_NAME prefix
#define TALLY_PREFIX_BLOCKS (TALLY_BYTES == 2 ? 6 : 12)
#endif
#include "exact_segments/flat_nodes.h"
#include "exact_segments/prefix.h"
/* Limbs for the counts of levels, the last of which is in unit 0 or 1. */
#define TALLY_LANE_LIMBS ((level_bits * (TALLY_PREFIX_LEVELS - 1) + 2) / 32 + 4)
#define TALLY_LANE_PRODUCT_LIMBS ((level_bits * (2 * TALLY_PREFIX_LEVELS - 1) + 4) / 32 + 4)
#include "exact_segments/lane_sums.h"

/* Leaves a tile to the build with more levels, or (is_far) to production/flat.h. */
TALLY_RARE void leave_tile(const tally_segments_work *work, int64_t t, int32_t is_far) {
    tally_mark(is_far ? work->partition.far : work->partition.left, t);
    tally_raise_flags(work->out.flags, is_far ? TALLY_FLAG_FAR : TALLY_FLAG_LEFT);
}
/* Whether a tile that this stage's levels do not hold is better off with production/flat.h than with more levels. */
TALLY_FN int32_t is_far(const tally_segments_work *work, const tile_t *tile, extent_t x, extent_t y) {
    enum { LONG = TALLY_HAS_SPREAD && !TALLY_HAS_KEYS ? 16 : 4 }; /* measured: docs/design/012 */
    const int32_t are_long = tile->n > LONG * tile->count;
    return TALLY_PREFIX_WIDE || work->partition.left == 0 || !are_long ||
           !levels_hold(tile, x, y, TALLY_BINADES_HELD(1));
}
/* Scales the tile for values of these extents, by all threads. False: the levels do not hold them; the tile is left. */
TALLY_FN int32_t fits_levels(const tally_segments_work *work, int64_t t, tile_t *tile, extent_t x, extent_t y) {
    choose_scales(tile, x, y);
    if (levels_hold(tile, x, y, TALLY_BINADES_HELD(TALLY_PREFIX_WIDE))) return 1;
    if (tally_thread() == 0) leave_tile(work, t, is_far(work, tile, x, y));
    return 0;
}

/* How far the first value is from a multiple of 16 bytes, if the copy can keep that distance. */
TALLY_FN int32_t skew_of(const tally_source *x, int64_t at) {
    const uint64_t apart = (uint64_t)(x->values + at * x->stride) % 16;
    return x->stride == TALLY_BYTES && apart % TALLY_BYTES == 0 ? (int32_t)(apart / TALLY_BYTES) : 0;
}

/* Finds which values and segments a tile has, and places its arrays in the buffer; by one thread. */
TALLY_FN void place_tile(const tally_segments_work *work, const tally_boundary *from, const tally_boundary *to,
                         const tally_source *x, tile_t *tile) {
    const int32_t runs_in = from->segment > 0 && from->end > from->value,
                  runs_out = to->segment > 0 && to->end > to->value;
    const int64_t n = tally_apart(to->value, from->value), count = (to->segment - runs_out) - (from->segment - runs_in);
    int32_t is_good =
        from->segment >= 0 && to->segment >= from->segment && to->segment <= work->partition.count && from->value >= 0;
    is_good = is_good && to->value >= from->value && to->value <= work->partition.values && from->end >= from->value &&
              to->end >= to->value;
    is_good = is_good && (to->segment > from->segment ? from->end <= to->value : from->end >= to->value);
    is_good = is_good && count >= 0 && n <= TALLY_PREFIX_TILE_MOST && count <= TALLY_PREFIX_TILE_MOST;
    is_good = is_good && n * work->partition.weight + count * work->partition.end_weight <=
                             TALLY_PREFIX_TILE_MOST - TALLY_PREFIX_SLACK;
    tile->is_good = is_good;
    if (!is_good) return;
    tile->s = from->segment - runs_in;
    tile->origin = from->value;
    tile->runs_in = runs_in;
    tile->runs_out = runs_out;
    tile->n = (int32_t)n;
    tile->count = (int32_t)count;
    tile->skew = skew_of(x, from->value);
    const int32_t parts = (tile->skew + tile->n + TALLY_PART - 1) / TALLY_PART;
    tile->chunk = (parts / TALLY_PREFIX_THREADS + 1) | 1;
    tile->over = 65536 / tile->chunk + 1;
    tile->pitch = tile->count < tile->n + 1 ? tile->count : tile->n + 1;
    tile->y_at = 16 * parts;
    tile->prefixes_at = 16 * parts * TALLY_KERNEL_INPUTS;
    tile->keys_at = tile->prefixes_at + 8 * prefix_words * tile->pitch;
    tile->ends_at = tile->keys_at + (2 * TALLY_BYTES * TALLY_HAS_KEYS * tile->pitch + 3) / 4 * 4;
}
/* Starts the copy of the tile's values, if it can be a bulk copy, and finds where the segment that enters the tile
 * begins; by one thread. */
TALLY_FN void open_tile(const tally_segments_work *work, int64_t t, char *buffer, side_t *side) {
    const tally_source x = tally_source_of(work->x, work->x_stride, TALLY_BYTES),
                       y = tally_source_of(work->y, work->y_stride, TALLY_BYTES);
    const tally_boundary from = work->partition.boundaries[t], to = work->partition.boundaries[t + 1];
    tile_t tile;
    __builtin_memset(&tile, 0, sizeof tile);
    place_tile(work, &from, &to, &x, &tile);
    if (tile.is_good) {
        tile.is_bulk = copies_in_bulk(&x, tile.origin, tile.n, tile.skew, work->partition.values);
        if (TALLY_KERNEL_INPUTS == 2)
            tile.is_bulk = tile.is_bulk && copies_in_bulk(&y, tile.origin, tile.n, tile.skew, work->partition.values);
        if (tile.is_bulk) {
            tally_mbarrier_expect(&side->mbarrier, tile.prefixes_at);
            copy_in_bulk(&x, tile.origin, tile.n, tile.skew, x_in_buffer(buffer), &side->mbarrier);
            if (TALLY_KERNEL_INPUTS == 2)
                copy_in_bulk(&y, tile.origin, tile.n, tile.skew, y_in_buffer(&tile, buffer), &side->mbarrier);
        }
        tile.first = t;
        if (tile.runs_in) tile.first = tile_of(work, tile.s, begin_of(work, tile.s));
    }
    side->is_bad = side->is_unordered = side->is_wanted = 0;
    side->tile = tile;
}
/* Reads the tile's values and ends, by all threads, after a barrier. For bulk copies `phase` is that of the mbarrier.
 */
TALLY_FN void read_tile(const tally_segments_work *work, const tile_t *tile, char *buffer, side_t *side,
                        int32_t *phase) {
    copy_ends(work, tile, buffer, side);
    if (tile->is_bulk) {
        tally_mbarrier_wait(&side->mbarrier, (*phase)++);
        clear_around(tile, x_in_buffer(buffer));
        if (TALLY_KERNEL_INPUTS == 2) clear_around(tile, y_in_buffer(tile, buffer));
        return;
    }
    const tally_source x = tally_source_of(work->x, work->x_stride, TALLY_BYTES),
                       y = tally_source_of(work->y, work->y_stride, TALLY_BYTES);
    copy_tile(&x, tile->origin, tile->n, tile->skew, x_in_buffer(buffer));
    if (TALLY_KERNEL_INPUTS == 2) copy_tile(&y, tile->origin, tile->n, tile->skew, y_in_buffer(tile, buffer));
    tally_copied();
}

/* ---- results ---- */

/* The largest unit for the limbs of a sum that divides the units of all levels; limbs of products count in its
 * square. */
TALLY_FN int32_t least_unit(int32_t scale_x, int32_t scale_y) {
    const int32_t of_sum = unit_of_prefix(TALLY_PREFIX_LEVELS - 1) - scale_x,
                  of_products = (unit_of_prefix(prefix_words - 1) - scale_x - scale_y) >> 1;
    return !TALLY_HAS_PRODUCTS || (TALLY_HAS_SUM && of_sum < of_products) ? of_sum : of_products;
}

/* A range of values of the tile: the first, and how many. */
typedef struct places_t {
    int32_t at, n;
} places_t;
/* Where the sum is 0: whether a value of the range is not -0. */
TALLY_FN int32_t has_other(const tile_t *tile, char *buffer, places_t of) {
    const TALLY_T *const x = x_in_buffer(buffer) + tile->skew + of.at, *const y = y_in_buffer(tile, buffer) +
                                                                                  tile->skew + of.at;
    for (int32_t i = 0; i < of.n; i++)
        if (value_is_other(x[i], y[i])) return 1;
    return 0;
}

/* Writes the result of the segment at end e, where pairs of doubles do not decide it, from its counts in limbs. */
TALLY_RARE void put_by_limbs(const tally_segments_work *work, const side_t *side, char *buffer, int32_t scale_x,
                             int32_t scale_y, int32_t e, places_t of, int32_t seen) {
    tile_t tile = side->tile;
    const int32_t *const ends = ends_of(&tile, buffer);
    int32_t chunk, chunk_before = 0, rank_before = 0;
    const int32_t rank = end_at(&tile, side, tile.skew + of.at + of.n, &chunk);
    noted_t noted = noted_at_end(ends[e]);
    lane_sums_t a;
    __builtin_memset(&a, 0, sizeof a);
    a.origin = least_unit(scale_x, scale_y);
    if (e > 0) rank_before = end_at(&tile, side, tile.skew + of.at, &chunk_before);
    TALLY_ROLLED
    for (int32_t k = 0; k < prefix_words; k++) {
        const int32_t is_product = k >= value_words;
        const int64_t d = tally_apart(prefix_at(&tile, buffer, side, k, rank, chunk),
                                      e == 0 ? tally_bits_f64(prefix_anchor(k))
                                             : prefix_at(&tile, buffer, side, k, rank_before, chunk_before));
        add_to_lane(&a, d, unit_of_prefix(k) - (is_product ? scale_x + scale_y : scale_x), is_product);
    }
    noted.seen = seen;
    TALLY_IF_KEYS(if (of.n > 0) keys_at_end(&tile, buffer, side, tile.skew + of.at, chunk, rank, &noted);)
    put_lane_sums(&work->out, tile.s + e, &a, of.n - noted.absent, &noted);
}
/* Writes the result of a segment that lies in the tile, by one thread. */
TALLY_FN void put_sums(const tally_segments_work *work, const tile_t *tile, char *buffer, const side_t *side, int32_t e,
                       places_t of, const int64_t *d, noted_t noted) {
    uint64_t result[6] = {0, 0, 0, 0, 0, 0};
    in_pairs_t a;
    __builtin_memset(&a, 0, sizeof a);
    a.present = of.n - noted.absent;
    a.seen = noted.seen;
    TALLY_IF_KEYS(a.low = (TALLY_K)noted.low; a.high = (TALLY_K)noted.high;)
    if (a.present == 0) {
        put_nothing(&work->out, tile->s + e);
        return;
    }
    const int32_t scale = tile->scale_x, scale_of_products = tile->scale_x + tile->scale_y;
    a.power = TALLY_IS_F64 ? -scale : 0;
    a.products_power = TALLY_IS_F64 ? -scale_of_products : 0;
    TALLY_IF_SUM(a.sum = scaled_pair(d, value_words, scale + a.power);)
    TALLY_IF_PRODUCTS(a.products = scaled_pair(d + value_words, product_words, scale_of_products + a.products_power);)
    if ((TALLY_HAS_SUM ? a.sum.high : a.products.high) != 0 || has_other(tile, buffer, of))
        a.seen |= TALLY_NOT_MINUS_ZERO;
    if (finalize_pairs(&a, &work->out.final, result))
        put_bytes(&work->out, tile->s + e, result, a.present);
    else
        put_by_limbs(work, side, buffer, tile->scale_x, tile->scale_y, e, of, a.seen);
}

/* Writes the results of the segments that end in the tile. A warp takes 31 at a time: each lane has the prefix at one
 * end, and takes the prefix at the end before from its neighbour. */
TALLY_FN void put_segments(const tally_segments_work *work, const tile_t *tile, char *buffer, const side_t *side) {
    const int32_t *const ends = ends_of(tile, buffer);
    TALLY_ROLLED
    for (int32_t first = tally_warp() * (TALLY_WARP - 1); first < tile->count;
         first += prefix_warps * (TALLY_WARP - 1)) {
        const int32_t e = first + tally_lane() - 1, last = e < tile->count ? e : tile->count - 1;
        const int32_t entry = last < 0 ? 0 : ends[last], end = entry & TALLY_END_PLACE;
        const int32_t begin = (int32_t)tally_shuffle((uint32_t)end, tally_lane() == 0 ? 0 : tally_lane() - 1);
        int32_t chunk = 0, rank = 0;
        int64_t d[prefix_words];
        if (last >= 0) rank = end_at(tile, side, tile->skew + end, &chunk);
        TALLY_UNROLL
        for (int32_t k = 0; k < prefix_words; k++) {
            const int64_t here =
                last < 0 ? tally_bits_f64(prefix_anchor(k)) : prefix_at(tile, buffer, side, k, rank, chunk);
            d[k] = tally_apart(here, tally_of_lane64(here, tally_lane() == 0 ? 0 : tally_lane() - 1));
        }
        if (tally_lane() == 0 || e >= tile->count || (e == 0 && tile->runs_in) || !wants_segment(work, tile->s + e))
            continue;
        noted_t noted = noted_at_end(entry);
        TALLY_IF_KEYS(if (end > begin) keys_at_end(tile, buffer, side, tile->skew + begin, chunk, rank, &noted);)
        const places_t of = {begin, end - begin};
        put_sums(work, tile, buffer, side, e, of, d, noted);
    }
}

/* Adds the tile's part of a segment that crosses its boundary to the segment's number of limbs, by a warp. The part is
 * what lies before the first end, or with is_open what lies behind the last. */
TALLY_RARE void give_part(const side_t *side, char *buffer, int32_t scale_x, int32_t scale_y, int32_t is_open,
                          accumulator_t *node) {
    tile_t tile = side->tile;
    tile.scale_x = scale_x;
    tile.scale_y = scale_y;
    const int32_t *const ends = ends_of(&tile, buffer);
    const int32_t begin = is_open && tile.count > 0 ? ends[tile.count - 1] & TALLY_END_PLACE : 0,
                  entry = ends[is_open ? tile.count : 0];
    const int32_t end = is_open ? tile.n : entry & TALLY_END_PLACE, has_rank = !is_open || begin > 0;
    int32_t chunk = 0, rank = 0;
    noted_t noted = noted_at_end(entry);
    if (has_rank) rank = end_at(&tile, side, tile.skew + (is_open ? begin : end), &chunk);
    if (tally_lane() < prefix_words) { /* one word for each lane */
        const int32_t k = tally_lane(), unit = unit_of_prefix(k) - scale_of_prefix(&tile, k);
        int64_t d = 0;
        if (has_rank) d = tally_apart(prefix_at(&tile, buffer, side, k, rank, chunk), tally_bits_f64(prefix_anchor(k)));
        if (is_open) d = tally_apart(side->base[k][base_pitch - 1], d);
        TALLY_IF_SUM(if (k < value_words) tally_deposit_word(node->sum + TALLY_EVIDENCE, d, unit - TALLY_ORIGIN);)
        TALLY_IF_PRODUCTS(if (k >= value_words)
                              tally_deposit_word(node->products + TALLY_EVIDENCE, d, unit - 2 * TALLY_ORIGIN);)
    }
    for (int32_t i = begin; i < end && !(noted.seen & TALLY_NOT_MINUS_ZERO); i += TALLY_WARP) {
        const int32_t at = i + tally_lane();
        const places_t one = {at, 1};
        if (tally_any(at < end && has_other(&tile, buffer, one))) noted.seen |= TALLY_NOT_MINUS_ZERO;
    }
    if (tally_lane() != 0 || end <= begin) return;
#if TALLY_HAS_KEYS
    if (is_open)
        keys_behind(&tile, side, tile.skew + begin, &noted);
    else
        keys_at_end(&tile, buffer, side, tile.skew + begin, chunk, rank, &noted);
#endif
    deposit_noted(&noted, end - begin - noted.absent, node);
}

/* ---- a tile ---- */

TALLY_FN void measure_tile(const tile_t *tile, char *buffer, side_t *side, int32_t parts) {
    const int32_t begin = tally_thread() * tile->chunk * TALLY_PART;
    share_extent(measure_chunk(x_in_buffer(buffer) + begin, parts), side, 0);
    if (TALLY_KERNEL_INPUTS == 2) share_extent(measure_chunk(y_in_buffer(tile, buffer) + begin, parts), side, 1);
}
TALLY_RARE void take_specials(side_t *side, char *buffer, int32_t parts) {
    const tile_t tile = side->tile;
    const int32_t begin = tally_thread() * tile.chunk;
    tally_barrier();
    note_specials(&tile, buffer, begin * TALLY_PART, (begin + parts) * TALLY_PART);
    measure_tile(&tile, buffer, side, parts);
    tally_barrier();
}

/* Reduces those segments of the tile that are wanted. All threads of the block take part, between barriers. */
TALLY_FN void take_tile(const tally_segments_work *work, int64_t t, char *buffer, side_t *side, int32_t *phase) {
    for (int32_t i = tally_thread(); i < (int32_t)(sizeof side->marks / sizeof *side->marks); i += TALLY_PREFIX_THREADS)
        side->marks[i] = 0;
    if (tally_thread() == 0) open_tile(work, t, buffer, side);
    tally_barrier();
    tile_t tile = side->tile;
    if (tile.is_good) read_tile(work, &tile, buffer, side, phase);
    tally_barrier();
    if (!side->is_wanted || side->is_bad) {
        if ((side->is_bad || !tile.is_good) && tally_thread() == 0)
            tally_or32(work->out.flags, TALLY_FLAG_BAD_SEGMENTS);
        return;
    }
    const int32_t all = (tile.skew + tile.n + TALLY_PART - 1) / TALLY_PART, mine = all - tally_thread() * tile.chunk;
    const int32_t parts = mine < 0 ? 0 : mine < tile.chunk ? mine : tile.chunk;
    if (tile.count > 0) mark_ends(&tile, buffer, side);
    measure_tile(&tile, buffer, side, parts);
    tally_barrier();
    extent_t of_x = shared_extent(side, 0), of_y = of_x;
    if (TALLY_KERNEL_INPUTS == 2) of_y = shared_extent(side, 1);
    uint64_t marks = 0;
    int32_t rank = 0;
    if (tile.count > 0) {
        marks = marks_of(side, tally_thread());
        rank = rank_chunk(side, marks);
        if (side->is_unordered) {
            if (tally_thread() == 0) tally_or32(work->out.flags, TALLY_FLAG_BAD_SEGMENTS);
            return;
        }
    }
    TALLY_IF_KEYS(take_keys(&tile, buffer, side, marks, rank);)
    const int32_t has_notes = of_x.most >= TALLY_SIZE_INFINITY || of_y.most >= TALLY_SIZE_INFINITY;
    if (has_notes) {
        take_specials(side, buffer, parts);
        of_x = shared_extent(side, 0);
        of_y = TALLY_KERNEL_INPUTS == 2 ? shared_extent(side, 1) : of_x;
    }
    if (!fits_levels(work, t, &tile, of_x, of_y)) return;
    add_prefixes(&tile, buffer, side, marks, rank);
    tally_barrier();
    scan_chunks(side);
    tally_barrier();
    if (tile.runs_in && tile.count > 0 && tally_warp() == 0 && wants_segment(work, tile.s))
        give_part(side, buffer, tile.scale_x, tile.scale_y, 0, node_for(work, t, tile.first));
    if (tile.runs_out && tally_warp() == 1 && wants_segment(work, tile.s + tile.count))
        give_part(side, buffer, tile.scale_x, tile.scale_y, 1, node_for(work, t, tile.count > 0 ? t : tile.first));
    put_segments(work, &tile, buffer, side);
}

/* Whether the stage before left the tile, or a segment in it. */
TALLY_FN int32_t tile_is_wanted(const tally_segments_work *work, int64_t t) {
    const tally_partition *const partition = &work->partition;
    if (TALLY_PREFIX_WIDE) return (int32_t)(partition->left[t / 32] >> t % 32 & 1);
    const int64_t from = partition->boundaries[t].segment, to = partition->boundaries[t + 1].segment;
    const int64_t first = from > 0 ? from - 1 : 0, last = to < partition->count ? to : partition->count - 1;
    uint32_t some = from < 0 || to < from || to > partition->count; /* the tile reports bad segments */
    TALLY_ROLLED
    for (int64_t word = first / 32; some == 0 && word <= last / 32; word++) {
        some = partition->unsure[word];
        if (word == first / 32) some &= ~(uint32_t)0 << first % 32;
        if (word == last / 32) some &= ~(uint32_t)0 >> (31 - last % 32);
    }
    return some != 0;
}

/* The block's first wanted tile from t on; lanes look for it together. Not inlined: the kernel's loop has registers for
 * little more than a tile. */
TALLY_RARE int64_t next_wanted_tile(const tally_segments_work *work, int64_t t) {
    for (const int64_t blocks = tally_blocks(); t < work->partition.tiles; t += TALLY_WARP * blocks) {
        const int64_t its = t + tally_lane() * blocks;
        const uint32_t wanted = tally_ballot(its < work->partition.tiles && tile_is_wanted(work, its));
        if (wanted != 0) return t + (__builtin_ffs((int32_t)wanted) - 1) * blocks;
    }
    return t;
}

TALLY_KERNEL_ENTRY(TALLY_PREFIX_THREADS, TALLY_PREFIX_NAME, tally_segments_work, TALLY_PREFIX_BLOCKS) {
    TALLY_SHARED(side_t, side);
    TALLY_SHARED_BUFFER(buffer, TALLY_PREFIX_BUFFER(TALLY_BYTES, TALLY_KERNEL_INPUTS, TALLY_HAS_SUM, TALLY_HAS_PRODUCTS,
                                                    TALLY_HAS_KEYS, TALLY_PREFIX_WIDE));
    if (tally_is_idle(work.wanted)) return;
    int32_t phase = 0;
    tally_let_next_start();
    tally_await_before();
    if (tally_thread() == 0) { /* others may be writing: all threads of a block go on, or none */
        const int32_t flags = tally_look32(work.out.flags);
        const int32_t has_work = TALLY_PREFIX_WIDE ? (flags & TALLY_FLAG_LEFT) != 0
                                                   : work.partition.unsure == 0 || (flags & TALLY_FLAG_UNSURE) != 0;
        side->is_wanted = has_work && (flags & TALLY_FLAG_BAD_SEGMENTS) == 0;
        tally_mbarrier_init(&side->mbarrier, 1);
    }
    tally_barrier();
    const int32_t is_wanted = side->is_wanted;
    if (!is_wanted) return;
    for (int64_t t = tally_block();; t += tally_blocks()) {
        if (TALLY_PREFIX_WIDE || work.partition.unsure != 0) t = next_wanted_tile(&work, t);
        if (t >= work.partition.tiles) break;
        tally_barrier();
        take_tile(&work, t, buffer, side, &phase);
    }
}

#endif
