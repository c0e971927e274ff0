/* Exact segments at a flat cost (exact_segments/flat.h): of those that production/segments.h was not sure of, or of
 * all.
 *
 * A warp takes a tile that production/cut.h has shared out. Of a segment that runs over edges of tiles, each of them
 * adds its part to a number of limbs in memory; integers commute, so nobody waits. That number is the one of the tile
 * in which the segment begins; beyond TALLY_FLAT_GROUP tiles each group of them has its own, and the last kernel adds
 * these up. */
#ifndef TALLY_FORM_FLAT_H
#define TALLY_FORM_FLAT_H

#include "types/types.h"

#include TALLY_KERNEL_FILE

#include "segments/cut.h"
#include "order/leaf.h"
#include "sums/levels.h"
#include "exact_sums/extent.h"
#include "exact_sums/terms.h"
#define TALLY_MOST_LEVELS_OF_VALUES (TALLY_IS_F64 ? 2 : 1)
#define TALLY_MOST_LEVELS_OF_PRODUCTS (TALLY_IS_F64 ? 4 : 2)
#include "exact_sums/ruler.h"
#include "exact_sums/pair_results.h"
#include "exact_segments/flat_nodes.h"
#include "exact_segments/flat.h"
#include "exact_segments/flat_results.h"
#define TALLY_LANE_LIMBS TALLY_LIMBS
#define TALLY_LANE_PRODUCT_LIMBS TALLY_PRODUCT_LIMBS
#include "exact_segments/lane_sums.h"

/* Numbers of limbs in memory. */
TALLY_FN int64_t count_nodes(const tally_segments_work *work) {
    return has_pieces(work) ? work->cut.count / work->cut.chunks * work->cut.groups : work->cut.tiles;
}
TALLY_KERNEL_ENTRY(TALLY_BLOCK, flat_clear, tally_segments_work, 1) {
    if (tally_is_idle(work.wanted)) return;
    tally_let_next_start();
    tally_await_before();
    if (tally_any(!block_has_work(&work))) return; /* others may be writing: all lanes of a warp go on, or none */
    const int64_t step = (int64_t)tally_blocks() * TALLY_WARPS, all = count_nodes(&work);
    for (int64_t i = (int64_t)tally_block() * TALLY_WARPS + tally_warp(); i < all; i += step)
        if (has_pieces(&work) || is_node_used(&work, i)) clear_node(node_of(&work, i));
}

/* ---- a tile ---- */

/* Ends of a chunk that `words` has room for, and what lies behind the last one. */
enum {
    ends_with_room = chunk_words / level_words - 1,
    ends_most = (int32_t)ends_with_room < (int32_t)chunk_ends ? (int32_t)ends_with_room : (int32_t)chunk_ends
};

/* What a warp goes through. */
typedef struct walk_t {
    int64_t at, stop;    /* values */
    int64_t s, until;    /* the open segment; the first that does not end here */
    int64_t tile, first; /* this tile; that in which the segment begins that runs into it, or -1 */
    int32_t most_ends;   /* of a chunk */
    int64_t leaf_until;  /* where the open segment ends, if leaves of it may be taken; or -1 */
} walk_t;

TALLY_FN open_t nothing_open(void) {
    open_t open;
    for (int32_t k = 0; k < TALLY_WINDOW_VALUE_LEVELS + TALLY_WINDOW_PRODUCT_LEVELS; k++) open.sum.of[k] = 0;
    open.noted = nothing_noted();
    open.n = 0;
    open.in_node = 0;
    return open;
}

/* The chunk behind walk->at: its ends, and how many values. False: the segments are none. */
TALLY_FN int32_t find_ends(const tally_segments_work *work, const walk_t *walk, flat_t *flat, chunk_t *c) {
    const int64_t left = walk->stop - walk->at, ends = walk->until - walk->s;
    const int32_t some = (int32_t)(ends < walk->most_ends ? ends : walk->most_ends);
    int32_t within = 0, is_bad = 0;
    const uint64_t place = (uint64_t)(work->x + walk->at * TALLY_BYTES) /
                           TALLY_BYTES; /* what is read behind the chunk begins at 16 bytes, if it can */
    c->values = chunk_values - (int32_t)((place + chunk_values) % TALLY_PART);
    if (left < c->values) c->values = (int32_t)left;
    for (int32_t first = 0; first < some; first += TALLY_WARP) {
        const int32_t e = first + tally_lane();
        int64_t end = INT64_MAX;
        if (e < some) {
            end = tally_apart(begin_of(work, walk->s + e + 1), walk->at);
            is_bad |= end < 0 || end > left || (e > 0 && begin_of(work, walk->s + e) > end + walk->at);
            if (end >= 0 && end <= c->values) flat->ends[e] = (int32_t)end;
        }
        if (tally_any(is_bad)) return 0;
        within += __builtin_popcount(tally_ballot(end <= c->values));
        if (within < first + TALLY_WARP) break;
    }
    tally_warp_barrier();
    c->ends = within;
    if (within == walk->most_ends) c->values = flat->ends[within - 1];
    return c->values > 0 || c->ends > 0;
}
TALLY_FN int32_t chunk_is_wanted(const tally_segments_work *work, const walk_t *walk, const chunk_t *c) {
    int32_t is_wanted = 0;
    for (int32_t e = tally_lane(); e <= c->ends; e += TALLY_WARP)
        if (walk->s + e < work->cut.count) is_wanted |= wants_segment(work, walk->s + e);
    return tally_any(is_wanted);
}

/* Another ruler, or windows. */
TALLY_RARE void choose_other_levels(chunk_t *c, ruler_t *ruler, extent_t x, extent_t y, open_t *open, flat_t *flat) {
    const uint32_t one = ((uint32_t)(TALLY_SIZE_INFINITY >> TALLY_SIZE_FRACTION) / 2) << TALLY_SIZE_FRACTION;
    if (open->n > 0) { /* what is counted is counted by that ruler */
        deposit_counts(&open->sum, ruler, &flat->node);
        open->in_node = 1;
        for (int32_t k = 0; k < TALLY_WINDOW_VALUE_LEVELS + TALLY_WINDOW_PRODUCT_LEVELS; k++) open->sum.of[k] = 0;
        tally_warp_barrier();
    }
    if (x.most == 0) x.most = one, x.least = one - 1;
    if (y.most == 0) y.most = one, y.least = one - 1;
    if (choose_ruler(ruler, x, y, TALLY_LANE_ADDITIONS)) return;
    forget_levels(ruler);
    const int32_t high_x = high_of(x.most), high_y = high_of(y.most);
    const int32_t range = high_x - unit_of(x.least), range_y = high_y - unit_of(y.least);
    c->top = high_x;
    c->top_products = high_x + high_y;
    if (with_sum) c->windows = (range + window_binades - 1) / window_binades;
    const int32_t windows = (range + range_y + product_binades - 1) / product_binades;
    if (with_products && windows > c->windows) c->windows = windows;
}

/* Chooses how the chunk's values are cut. What functions that are not inlined are given are copies, here and below: the
 * rest stays in registers. */
TALLY_FN void choose_levels(chunk_t *c, ruler_t *ruler, extent_t x, extent_t y, open_t *open, flat_t *flat) {
    c->windows = 0;
    if (x.most <= ruler->most_x && x.least >= ruler->least_x && y.most <= ruler->most_y && y.least >= ruler->least_y)
        return;
    chunk_t its = *c;
    ruler_t other = *ruler;
    open_t its_open = *open;
    choose_other_levels(&its, &other, x, y, &its_open, flat);
    *c = its;
    *ruler = other;
    *open = its_open;
}

/* Whether some value from `at` on is anything but -0, where the sum is 0. */
TALLY_FN int32_t has_other(const flat_t *flat, int32_t at, int32_t end, int32_t step) {
    for (int32_t i = at; i < end; i += step)
        if (value_is_other(flat->x[i], flat->y[TALLY_KERNEL_INPUTS == 2 ? i : 0])) return 1;
    return 0;
}

/* Adds the sums of a node to another, by the warp. */
TALLY_FN void deposit_node(const accumulator_t *from, accumulator_t *to) {
    const int64_t *const words = (const int64_t *)(const void *)from;
    const int32_t first = (int32_t)(sizeof *to / 8) - with_sum * (TALLY_EVIDENCE + TALLY_LIMBS) -
                          with_products * (TALLY_EVIDENCE + TALLY_PRODUCT_LIMBS);
    for (int32_t i = first + tally_lane(); i < (int32_t)(sizeof *to / 8); i += TALLY_WARP)
        if (words[i] != 0) tally_add64((int64_t *)(void *)to + i, words[i]);
}
/* The part that the tile has of a segment over its edges. */
TALLY_RARE void give_open(const open_t *open, const ruler_t *ruler, const flat_t *flat, accumulator_t *to) {
    deposit_counts(&open->sum, ruler, to);
    if (open->in_node) deposit_node(&flat->node, to);
    if (tally_lane() == 0) deposit_noted(&open->noted, open->n, to);
}

/* What the lane's end has beside the words of the chunk. */
TALLY_FN noted_t noted_of_end(const flat_t *flat, const chunk_t *c, int32_t number, int32_t is_other) {
    noted_t noted = nothing_noted();
    if (c->has_notes) noted = noted_at(flat, number);
    noted.seen |= is_other ? TALLY_NOT_MINUS_ZERO : 0;
    return noted;
}
/* The sums of end e, a piece's, are added to its row's number of limbs, by the warp. */
TALLY_FN void add_piece(const tally_segments_work *work, const walk_t *walk, flat_t *flat, const chunk_t *c,
                        const ruler_t *ruler, const open_t *open, int32_t e, int32_t is_other) {
    const int32_t end = flat->ends[e], begin = e == 0 ? 0 : flat->ends[e - 1];
    const int32_t number = end_of_value(flat, c, end - 1);
    const int64_t n = end - begin + (e == 0 ? open->n : 0);
    accumulator_t *const node = node_of_piece(work, walk->s + e);
    deposit_end(flat, c, ruler, number, node);
    if (e == 0 && open->in_node) deposit_node(&flat->node, node);
    if (tally_lane() != 0) return;
    const noted_t noted = noted_of_end(flat, c, number, is_other);
    deposit_noted(&noted, n - noted.absent, node);
}
/* The result of end e, of whose sums doubles cannot tell it, by one lane: from limbs. */
TALLY_RARE void put_by_lane(const tally_segments_work *work, const walk_t *walk, const flat_t *flat, const chunk_t *c,
                            const ruler_t *ruler, const open_t *open, int32_t e, int32_t is_other) {
    const int32_t end = flat->ends[e], begin = e == 0 ? 0 : flat->ends[e - 1], number = end_of_value(flat, c, end - 1);
    const int32_t each = c->windows > 0 ? window_words : level_words, all = c->windows > 0 ? c->windows * each : each;
    const noted_t noted = noted_of_end(flat, c, number, is_other);
    lane_sums_t a;
    __builtin_memset(&a, 0, sizeof a);
    a.origin = TALLY_ORIGIN;
    TALLY_ROLLED
    for (int32_t i = 0; i < all; i++) {
        int32_t is_product;
        const int32_t unit = unit_of_word(c, ruler, i / each, i % each, &is_product);
        add_to_lane(&a, flat->words[i * c->stride + number], unit, is_product);
    }
    if (e == 0 && open->in_node) {
        TALLY_IF_SUM(for (int32_t i = 0; i < TALLY_EVIDENCE + TALLY_LIMBS; i++) a.sum[i] += flat->node.sum[i];)
        TALLY_IF_PRODUCTS(for (int32_t i = 0; i < TALLY_EVIDENCE + TALLY_PRODUCT_LIMBS; i++) a.products[i] +=
                          flat->node.products[i];)
    }
    put_lane_sums(work, walk->s + e, &a, end - begin + (e == 0 ? open->n : 0) - noted.absent, &noted);
}
/* What pairs of doubles gave no results of. A bit for each of the lane's ends says which, and whether some value is
 * not -0. */
TALLY_RARE void put_slowly_at_ends(const tally_segments_work *work, const walk_t *walk, flat_t *flat, const chunk_t *c,
                                   const ruler_t *ruler, const open_t *open, uint32_t slow, uint32_t others) {
    for (int32_t first = 0, round = 0; first < c->ends; first += TALLY_WARP, round++) {
        if (!has_pieces(work)) {
            if (slow >> round & 1)
                put_by_lane(work, walk, flat, c, ruler, open, first + tally_lane(), others >> round & 1);
            continue;
        }
        for (uint32_t some = tally_ballot(slow >> round & 1); some != 0; some &= some - 1) {
            const int32_t lane = __builtin_ffs((int32_t)some) - 1;
            add_piece(work, walk, flat, c, ruler, open, first + lane,
                      (int32_t)tally_shuffle(others >> round & 1, lane));
        }
    }
    tally_warp_barrier();
}

/* The segments that end in the chunk, a lane each. Of the first, `open` has what lies before the chunk. */
TALLY_FN void put_ends(const tally_segments_work *work, const walk_t *walk, flat_t *flat, const chunk_t *c,
                       const ruler_t *ruler, const open_t *open) {
    uint32_t slow = 0, others = 0;            /* a bit for each of the lane's ends */
    const int32_t runs_in = walk->first >= 0; /* the first began in another tile */
    for (int32_t first = 0, round = 0; first < c->ends; first += TALLY_WARP, round++) {
        const int32_t e = first + tally_lane();
        if (e >= c->ends || (e == 0 && runs_in) || !wants_segment(work, walk->s + e)) continue;
        const int32_t end = flat->ends[e], begin = e == 0 ? 0 : flat->ends[e - 1];
        const int64_t n = end - begin + (e == 0 ? open->n : 0);
        if (has_pieces(work)) {
            const int32_t is_other =
                (e == 0 && (open->noted.seen & TALLY_NOT_MINUS_ZERO)) || has_other(flat, begin, end, 1);
            slow |= (uint32_t)1 << round, others |= (uint32_t)is_other << round;
            continue;
        }
        if (n <= 0) {
            put_nothing(work, walk->s + e);
            continue;
        }
        uint64_t result[6] = {0, 0, 0, 0, 0, 0};
        in_pairs_t a;
        const int32_t number = end_of_value(flat, c, end - 1);
        noted_t noted = nothing_noted();
        if (c->has_notes) noted = noted_at(flat, number);
        __builtin_memset(&a, 0, sizeof a);
        a.present = n - noted.absent;
        a.seen = noted.seen;
#ifdef TALLY_KEYS
        a.low = (TALLY_K)noted.low;
        a.high = (TALLY_K)noted.high;
#endif
        int32_t sure = pairs_at(flat, c, ruler, number, &a) && !(e == 0 && open->in_node);
        const int32_t may_be_zero = !sure || (with_sum ? a.sum.high : a.products.high) == 0;
        if (!may_be_zero || (e == 0 && (open->noted.seen & TALLY_NOT_MINUS_ZERO)) || has_other(flat, begin, end, 1))
            a.seen |= TALLY_NOT_MINUS_ZERO;
        if (a.present == 0) {
            put_nothing(work, walk->s + e);
            continue;
        }
        sure = sure && conclude_pairs(&a, &work->out.final, result);
        if (sure)
            put_bytes(&work->out, walk->s + e, result, a.present);
        else
            slow |= (uint32_t)1 << round, others |= (uint32_t)((a.seen & TALLY_NOT_MINUS_ZERO) != 0) << round;
    }
    tally_warp_barrier();
    if (tally_any(slow != 0)) {
        const walk_t its_walk = *walk;
        const chunk_t its = *c;
        const ruler_t its_ruler = *ruler;
        const open_t its_open = *open;
        put_slowly_at_ends(work, &its_walk, flat, &its, &its_ruler, &its_open, slow, others);
    }
}

/* The end of a segment that began in another tile. */
TALLY_RARE void give_first(const tally_segments_work *work, const walk_t *walk, const flat_t *flat, const chunk_t *c,
                           const ruler_t *ruler, const open_t *open) {
    accumulator_t *const node = node_for_part(work, walk->tile, walk->first, walk->s);
    open_t its = *open;
    const int32_t end = flat->ends[0];
    if (end > 0) {
        const int32_t number = end_of_value(flat, c, end - 1);
        for (int32_t i = 0; !(its.noted.seen & TALLY_NOT_MINUS_ZERO) && i < end; i += TALLY_WARP)
            if (tally_any(i + tally_lane() < end && has_other(flat, i + tally_lane(), i + tally_lane() + 1, 1)))
                its.noted.seen |= TALLY_NOT_MINUS_ZERO;
        if (c->has_notes) {
            const int32_t seen = its.noted.seen;
            its.noted = noted_at(flat, number);
            its.noted.seen |= seen;
        }
        its.n += end;
        its.sum = nothing_open().sum; /* they are in the words */
        deposit_end(flat, c, ruler, number, node);
    }
    give_open(&its, ruler, flat, node);
}
/* All windows, a pass each. What lies behind the last end is stored as if there were one. */
TALLY_RARE void take_windows(flat_t *flat, const chunk_t *c, const ruler_t *ruler, const level_counts_t *before) {
    TALLY_ROLLED
    for (int32_t w = 0; w < c->windows; w++) {
        const level_counts_t behind = complete(flat, c, add_strip(flat, c, ruler, 1, w), before, window_words, w);
        TALLY_UNROLL
        for (int32_t k = 0; k < window_words; k++)
            if (tally_lane() == k) flat->words[(w * window_words + k) * c->stride + c->distinct] = behind.of[k];
    }
}
/* A chunk whose values are there. */
TALLY_FN int32_t take_chunk(const tally_segments_work *work, walk_t *walk, flat_t *flat, chunk_t *c, ruler_t *ruler,
                            open_t *open) {
    const tally_source x = tally_source_of(work->x, work->x_stride, TALLY_BYTES),
                       y = tally_source_of(work->y, work->y_stride, TALLY_BYTES);
    extent_t of_x = load_values(work, &x, walk->s, walk->at, c->values, flat->x), of_y = of_x;
    if (TALLY_KERNEL_INPUTS == 2) of_y = load_values(work, &y, walk->s, walk->at, c->values, flat->y);
    c->has_notes = of_x.most >= TALLY_SIZE_INFINITY || of_y.most >= TALLY_SIZE_INFINITY || open->noted.absent != 0 ||
                   (open->noted.seen & ~TALLY_NOT_MINUS_ZERO) != 0;
#ifdef TALLY_KEYS
    c->has_notes = 1;
#endif
    share_out(flat, c);
    noted_t noted = open->noted; /* of what lies behind the last end */
    if (c->distinct > 0) noted = nothing_noted();
    if (c->has_notes) {
        const chunk_t its = *c;
        const noted_t before = open->noted;
        noted = note_values(flat, &its, &before);
        if (of_x.most >= TALLY_SIZE_INFINITY || of_y.most >= TALLY_SIZE_INFINITY) {
            of_x = of_y = measure_again(flat->x, c->values);
            if (TALLY_KERNEL_INPUTS == 2) of_y = measure_again(flat->y, c->values);
        }
    }
    choose_levels(c, ruler, of_x, of_y, open, flat);
    c->stride = c->distinct + 1;
    if (c->windows > 0 && c->windows * window_words * c->stride > chunk_words) { /* once more, with fewer ends */
        walk->most_ends = chunk_words / (c->windows * window_words) - 1;
        return 0;
    }
    level_counts_t last = open->sum;
    if (c->windows == 0) {
        last = complete(flat, c, add_strip(flat, c, ruler, 0, 0), &open->sum, level_words, 0);
    } else {
        const chunk_t its = *c;
        const ruler_t its_ruler = *ruler;
        const level_counts_t before = open->sum;
        take_windows(flat, &its, &its_ruler, &before);
        last = nothing_open().sum;
    }
    tally_warp_barrier();
    /* what is left open */
    const int32_t from = c->ends > 0 ? flat->ends[c->ends - 1] : 0, rest = c->values - from;
    int32_t is_other = c->ends == 0 && (open->noted.seen & TALLY_NOT_MINUS_ZERO) != 0;
    for (int32_t i = from; !is_other && i < c->values; i += TALLY_WARP)
        is_other =
            tally_any(i + tally_lane() < c->values && has_other(flat, i + tally_lane(), i + tally_lane() + 1, 1));
    noted.seen |= is_other ? TALLY_NOT_MINUS_ZERO : 0;
    if (c->ends > 0 && walk->first >= 0 &&
        wants_segment(work, walk->s)) { /* the end of a segment that began in another tile */
        const walk_t its_walk = *walk;
        const chunk_t its = *c;
        const ruler_t its_ruler = *ruler;
        const open_t its_open = *open;
        give_first(work, &its_walk, flat, &its, &its_ruler, &its_open);
    }
    put_ends(work, walk, flat, c, ruler, open);
    tally_warp_barrier();
    if (c->ends > 0) {
        if (open->in_node) clear_node(&flat->node);
        open->in_node = 0;
        open->n = 0;
        walk->first = -1;
    }
    if (c->windows > 0) {
        const chunk_t its = *c;
        const ruler_t its_ruler = *ruler;
        deposit_end(flat, &its, &its_ruler, its.distinct, &flat->node);
        open->in_node = 1;
        tally_warp_barrier();
    }
    open->n += rest;
    open->sum = last;
    open->noted = noted;
    return 1;
}

#if !defined(TALLY_KEYS) && !(TALLY_KERNEL_INPUTS == 2 && TALLY_IS_F64) /* or registers are too few */
/* A leaf of finite values in which no segment ends goes from memory to registers. False: it is none. */
TALLY_FN int32_t take_leaf(const tally_segments_work *work, const walk_t *walk, flat_t *flat, ruler_t *ruler,
                           open_t *open) {
    const share_t x = read_leaf(work->x, walk->at), y = TALLY_KERNEL_INPUTS == 2 ? read_leaf(work->y, walk->at) : x;
    extent_t of_x = measure_warp(measure(&x)), of_y = of_x;
    chunk_t c;
    if (TALLY_KERNEL_INPUTS == 2) of_y = measure_warp(measure(&y));
    if (of_x.most >= TALLY_SIZE_INFINITY || of_y.most >= TALLY_SIZE_INFINITY) return 0;
    choose_levels(&c, ruler, of_x, of_y, open, flat);
    if (c.windows > 0) return 0;
    const levels_t none = begin_strip(ruler, 0);
    levels_t a = none;
    int32_t is_other = TALLY_KERNEL_INPUTS == 1 && of_x.most != 0;
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_PART; v++) {
            add_to_levels(&a, x.part[s].v[v], y.part[s].v[v]);
            if (!is_other) is_other = value_is_other(x.part[s].v[v], y.part[s].v[v]);
        }
    }
    TALLY_UNROLL
    for (int32_t k = 0; k < level_words; k++)
        open->sum.of[k] = tally_further(
            open->sum.of[k], tally_warp_sum(tally_apart(tally_bits_f64(a.at[k]), tally_bits_f64(none.at[k]))));
    if (tally_any(is_other)) open->noted.seen |= TALLY_NOT_MINUS_ZERO;
    open->n += TALLY_DEVICE_LEAF;
    return 1;
}
TALLY_FN int32_t is_leaf_ahead(const tally_segments_work *work, const walk_t *walk, int64_t open_end) {
    const tally_source x = tally_source_of(work->x + walk->at * TALLY_BYTES, work->x_stride, TALLY_BYTES),
                       y = tally_source_of(work->y + walk->at * TALLY_BYTES, work->y_stride, TALLY_BYTES);
    return x.is_packed && y.is_packed && work->cut.inner == 1 && walk->stop - walk->at >= TALLY_DEVICE_LEAF &&
           open_end - walk->at > TALLY_DEVICE_LEAF;
}
#endif

enum { no_leaves = -2 };
/* Where the open segment ends, INT64_MAX for behind the tile; -1: it is not wanted. */
TALLY_FN int64_t open_until(const tally_segments_work *work, const walk_t *walk) {
    if (walk->s >= work->cut.count || !wants_segment(work, walk->s)) return -1;
    return walk->s < walk->until ? begin_of(work, walk->s + 1) : INT64_MAX;
}

/* The tile's segments that are wanted. */
TALLY_FN void take_tile(const tally_segments_work *work, int64_t t, flat_t *flat) {
    const tally_edge from = work->cut.edges[t], to = work->cut.edges[t + 1];
    const int32_t runs_in = from.segment > 0 && from.end > from.value, runs_out = to.segment > 0 && to.end > to.value;
    walk_t walk = {from.value, to.value, from.segment - runs_in, to.segment - runs_out, t, -1, ends_most, -1};
    open_t open = nothing_open();
    ruler_t ruler;
    int32_t is_good = from.segment >= 0 && to.segment >= from.segment && to.segment <= work->cut.count &&
                      from.value >= 0 && to.value >= from.value && to.value <= work->cut.values;
    is_good = is_good && from.end >= from.value && to.end >= to.value &&
              (to.segment > from.segment ? from.end <= to.value : from.end >= to.value);
    if (!is_good) {
        tally_or32(work->out.saw, TALLY_SAW_BAD_SEGMENTS);
        return;
    }
    if (runs_in) walk.first = has_pieces(work) ? 0 : tile_of(work, walk.s, begin_of(work, walk.s));
    walk.leaf_until = open_until(work, &walk);
    forget_levels(&ruler);
    clear_node(&flat->node);
    while (walk.at < walk.stop || walk.s < walk.until) {
        chunk_t c;
#if !defined(TALLY_KEYS) && !(TALLY_KERNEL_INPUTS == 2 && TALLY_IS_F64) /* or registers are too few */
        if (walk.leaf_until >= 0 && is_leaf_ahead(work, &walk, walk.leaf_until)) {
            if (take_leaf(work, &walk, flat, &ruler, &open)) {
                walk.at += TALLY_DEVICE_LEAF;
                continue;
            }
            walk.leaf_until = no_leaves; /* the tile's values are not what leaves are for */
        }
#endif
        if (!find_ends(work, &walk, flat, &c)) {
            tally_or32(work->out.saw, TALLY_SAW_BAD_SEGMENTS);
            return;
        }
        const int32_t is_wanted = chunk_is_wanted(work, &walk, &c);
        if (is_wanted && !take_chunk(work, &walk, flat, &c, &ruler, &open)) continue;
        if (!is_wanted) { /* nor is what was open */
            if (open.in_node) clear_node(&flat->node);
            open = nothing_open();
            if (c.ends > 0) walk.first = -1;
        }
        walk.at += c.values;
        walk.s += c.ends;
        if (c.ends < 8 && walk.leaf_until != no_leaves)
            walk.leaf_until = open_until(work, &walk); /* it is long, perhaps */
        else if (walk.leaf_until >= 0)
            walk.leaf_until = -1;
        tally_warp_barrier();
    }
    if (runs_out && wants_segment(work, to.segment - 1)) {
        const int64_t first = walk.first >= 0 ? walk.first : t;
        const ruler_t its_ruler = ruler;
        const open_t its_open = open;
        give_open(&its_open, &its_ruler, flat, node_for_part(work, t, first, to.segment - 1));
    }
    tally_warp_barrier();
}

typedef struct all_flat_t {
    flat_t of[TALLY_FLAT_WARPS];
} all_flat_t;
TALLY_KERNEL_ENTRY(TALLY_FLAT_WARPS *TALLY_WARP, flat, tally_segments_work, 3 - TALLY_IS_SPREAD_OF_SUMS) {
    TALLY_SHARED(all_flat_t, shared);
    if (tally_is_idle(work.wanted)) return;
    tally_let_next_start();
    tally_await_before();
    const int32_t is_asked = work.cut.far == 0 || (tally_look32(work.out.saw) & TALLY_SAW_FAR) != 0;
    if (tally_any(!is_asked || !block_has_work(&work)))
        return; /* others may be writing: all lanes of a warp go on, or none */
    const int64_t step = (int64_t)tally_blocks() * TALLY_FLAT_WARPS;
    for (int64_t first = (int64_t)tally_block() * TALLY_FLAT_WARPS + tally_warp(); first < work.cut.tiles;
         first += TALLY_WARP * step) {
        const int64_t its = first + tally_lane() * step; /* lanes look for tiles that were left */
        for (uint32_t left =
                 tally_ballot(its < work.cut.tiles && (work.cut.far == 0 || (work.cut.far[its / 32] >> its % 32 & 1)));
             left != 0; left &= left - 1)
            take_tile(&work, first + (__builtin_ffs((int32_t)left) - 1) * step, &shared->of[tally_warp()]);
    }
}

/* ---- segments over edges, at last ---- */

/* Word i of a node: all are added up, but for keys. */
TALLY_FN int64_t empty_word(int64_t i) { return !with_keys || i < 1 || i > 2 ? 0 : i == 1 ? INT64_MAX : INT64_MIN; }
TALLY_FN int64_t join_words(int64_t i, int64_t a, int64_t b) {
    if (!with_keys || i < 1 || i > 2) return tally_plus(a, b);
    return (i == 1) == (b < a) ? b : a;
}

/* Adds `count` numbers, `apart` nodes from one to the next, to another, by the warp. Lanes have words of their own,
 * several on their way at once. */
TALLY_FN void gather_nodes(accumulator_t *to, const accumulator_t *others, int64_t count, int64_t apart) {
    enum { TOGETHER = 8 };
    const int64_t words = sizeof *to / 8, step = apart * words;
    int64_t *const own = (int64_t *)(void *)to;
    for (int64_t i = tally_lane(); i < words; i += TALLY_WARP) {
        const int64_t *from = (const int64_t *)(const void *)others + i;
        int64_t sum = own[i];
        for (int64_t first = 0; first < count; first += TOGETHER, from += TOGETHER * step) {
            int64_t some[TOGETHER];
            TALLY_UNROLL
            for (int32_t k = 0; k < TOGETHER; k++) some[k] = first + k < count ? from[k * step] : empty_word(i);
            TALLY_UNROLL
            for (int32_t k = 0; k < TOGETHER; k++) sum = join_words(i, sum, some[k]);
        }
        own[i] = sum;
    }
    tally_fence();
    tally_warp_barrier();
}

/* The numbers of a segment's groups, from tile `first` to `last`. */
TALLY_FN void gather_groups(const tally_segments_work *work, int64_t first, int64_t last) {
    const int64_t begin = (first / TALLY_FLAT_GROUP + 1) * TALLY_FLAT_GROUP;
    gather_nodes(node_of(work, first), node_of(work, begin), (last - begin + TALLY_FLAT_GROUP - 1) / TALLY_FLAT_GROUP,
                 TALLY_FLAT_GROUP);
}
/* The results of rows that were cut into pieces: a lane for each, or a warp where a row has several numbers. */
TALLY_FN void put_rows(const tally_segments_work *work) {
    const tally_cut_work *const cut = &work->cut;
    const int64_t rows = cut->count / cut->chunks, warp = (int64_t)tally_block() * TALLY_WARPS + tally_warp();
    const int64_t row = cut->groups > 1 ? warp : warp * TALLY_WARP + tally_lane();
    if (row >= rows) return;
    accumulator_t *const node = node_of(work, row * cut->groups);
    if (cut->groups > 1) {
        gather_nodes(node, node + 1, cut->groups - 1, 1);
        if (tally_lane() != 0) return;
    }
    node->n += cut->length;
    put_node(work, row, node);
}

/* A lane for each tile in which a segment begins that runs over its edge. */
TALLY_KERNEL_ENTRY(TALLY_BLOCK, flat_finish, tally_segments_work, 1) {
    if (tally_is_idle(work.wanted)) return;
    tally_let_next_start();
    tally_await_before();
    if (tally_any(!block_has_work(&work))) return; /* others may be writing: all lanes of a warp go on, or none */
    if (has_pieces(&work)) {
        put_rows(&work);
        return;
    }
    const tally_cut_work *const cut = &work.cut;
    const int64_t t = ((int64_t)tally_block() * TALLY_WARPS + tally_warp()) * TALLY_WARP + tally_lane();
    int64_t s = -1, begin = 0, end = 0, last = 0;
    if (t < cut->tiles && cut->edges[t].segment < cut->edges[t + 1].segment) s = runs_over(&work, &cut->edges[t + 1]);
    if (s >= 0) {
        begin = begin_of(&work, s);
        end = cut->edges[t + 1].end;
        last = s + 1 < cut->count ? tile_of(&work, s + 1, end) : cut->tiles - 1;
    }
    for (uint32_t some = tally_ballot(s >= 0 && (t / TALLY_FLAT_GROUP + 1) * TALLY_FLAT_GROUP < last); some != 0;
         some &= some - 1) {
        const int32_t lane = __builtin_ffs((int32_t)some) - 1;
        gather_groups(&work, tally_of_lane64(t, lane), tally_of_lane64(last, lane));
    }
    if (s < 0) return;
    accumulator_t *const node = node_of(&work, t);
    node->n += end - begin;
    put_node(&work, s, node);
}

#endif
