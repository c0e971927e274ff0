/* What the kernels of exact segments at a flat cost share (production/segments/flat.h): which segments are to be
 * reduced, what is noted of infinities, NaNs and keys, and the numbers of limbs of segments that cross tile boundaries.
 *
 * Of a segment that crosses tile boundaries, each tile adds its part to a number of limbs in memory; integers
 * commute, so nobody waits. That number is the one of the tile in which the segment begins. Beyond TALLY_FLAT_GROUP
 * tiles each group of them has its own, and the last kernel adds these up. */
#ifndef TALLY_FLAT_NODES_H
#define TALLY_FLAT_NODES_H

#include "partition/partition.h"
#include "compensated/pair_results.h"
#include "exact_sums/specials.h"

#define TALLY_FLAT_GROUP 256

/* ---- notes ---- */

typedef struct noted_t {
    int64_t low, high; /* keys */
    int32_t seen, absent;
} noted_t;
TALLY_FN noted_t nothing_noted(void) {
    const noted_t none = {TALLY_K_HIGH, TALLY_K_LOW, 0, 0};
    return none;
}
TALLY_FN void join_noted(noted_t *a, const noted_t *b) {
    a->low = b->low < a->low ? b->low : a->low;
    a->high = b->high > a->high ? b->high : a->high;
    a->seen |= b->seen;
    a->absent += b->absent;
}
TALLY_FN noted_t noted_of_lane(const noted_t *a, int32_t lane) {
    noted_t b = *a;
    if (TALLY_HAS_KEYS) {
        b.low = tally_of_lane64(a->low, lane);
        b.high = tally_of_lane64(a->high, lane);
    }
    b.seen = (int32_t)tally_shuffle((uint32_t)a->seen, lane);
    b.absent = (int32_t)tally_shuffle((uint32_t)a->absent, lane);
    return b;
}
/* What is noted of some values, added to a node by one lane; others may do so at the same time. */
TALLY_RARE void deposit_noted(const noted_t *a, int64_t present, accumulator_t *node) {
    const int32_t plus = (a->seen & TALLY_SEEN_PLUS) != 0, minus = (a->seen & TALLY_SEEN_MINUS) != 0;
    const int32_t other = present > 0 && (a->seen & TALLY_NOT_MINUS_ZERO) != 0, zero = present > 0 && !other;
    if (a->absent != 0) tally_add64(&node->n, -a->absent);
#if TALLY_HAS_SUM
    int64_t *const words = node->sum;
#else
    int64_t *const words = node->products;
#endif
    if (plus) tally_add64(words + TALLY_PLUS_INFINITY, 1);
    if (minus) tally_add64(words + TALLY_MINUS_INFINITY, 1);
    if (zero) tally_add64(words + TALLY_MINUS_ZERO, 1);
    if (other) tally_add64(words + TALLY_OTHER, 1);
#if TALLY_HAS_SPREAD
    if (plus || minus) tally_add64(node->products + TALLY_PLUS_INFINITY, 1);
    tally_add64(node->products + TALLY_OTHER, 1);
#endif
#if TALLY_HAS_KEYS
    if (present > 0) {
        notes_t notes = no_notes();
        widen_range(&notes, (TALLY_K)a->low, (TALLY_K)a->high);
        tally_min64(&node->low, a->seen & TALLY_SEEN_NAN ? INT64_MIN : notes.low);
        tally_max64(&node->high, a->seen & TALLY_SEEN_NAN ? INT64_MAX : notes.high);
    }
#endif
}
/* Empties a node, by the warp. */
TALLY_RARE void clear_node(accumulator_t *node) {
    int64_t *const words = (int64_t *)(void *)node;
    for (int32_t i = tally_lane(); i < (int32_t)(sizeof *node / 8); i += TALLY_WARP) words[i] = 0;
    tally_warp_barrier();
#if TALLY_HAS_KEYS
    if (tally_lane() == 0) node->low = INT64_MAX, node->high = INT64_MIN;
    tally_warp_barrier();
#endif
}

/* The result of no value. */
TALLY_RARE void put_nothing(const tally_results *out, int64_t s) {
    uint64_t result[6] = {0, 0, 0, 0, 0, 0};
#if TALLY_HAS_KEYS
    for (int32_t k = 1; k < 6; k++) result[k] = k == 3 ? 0 : (uint64_t)tally_bits_f64(tally_nan_f64());
#else
    if (out->final.mean || TALLY_HAS_SPREAD)
        result[0] = out->final.format.digits == 53 ? (uint64_t)tally_bits_f64(tally_nan_f64())
                                                   : (uint64_t)(uint32_t)tally_bits_f32(tally_nan_f32());
#endif
    put_bytes(out, s, result, 0);
}
/* The result of a number of limbs, by one lane. It is settled by this. */
TALLY_LONG void put_node(const tally_results *out, int64_t s, accumulator_t *node) {
    uint64_t result[6] = {0, 0, 0, 0, 0, 0};
    settle_accumulator(node);
    const total_t total = total_of(node);
    round_total(&total, &out->final, result);
    put_bytes(out, s, result, total.n);
}
/* ---- segments across tile boundaries ---- */

TALLY_RARE int64_t begin_of_any(const tally_segments_work *work, int64_t s) {
    return tally_offset(&work->partition, s);
}
TALLY_FN int64_t begin_of(const tally_segments_work *work, int64_t s) {
    const tally_partition *partition = &work->partition;
    if (((uint64_t)partition->offsets & (uint64_t)(partition->offset_bytes - 1)) != 0) return begin_of_any(work, s);
    if (partition->offsets == 0) return s * partition->row;
    return partition->offset_bytes == 4 ? ((const int32_t *)(const void *)partition->offsets)[s]
                                        : ((const int64_t *)(const void *)partition->offsets)[s];
}
TALLY_FN int32_t wants_segment(const tally_segments_work *work, int64_t s) {
    return work->partition.unsure == 0 || (work->partition.unsure[s / 32] >> s % 32 & 1) != 0;
}
/* Whether any of segments first to until - 1 is to be reduced, or one close to them; for the warp. */
TALLY_FN int32_t wants_any(const tally_segments_work *work, int64_t first, int64_t until) {
    const uint32_t *const unsure = work->partition.unsure;
    uint32_t some = unsure == 0;
    for (int64_t w = first / 32 + tally_lane(); some == 0 && w * 32 < until; w += TALLY_WARP) some = unsure[w];
    return tally_any(some != 0);
}
/* The tile in which segment s begins. */
TALLY_RARE int64_t tile_of(const tally_segments_work *work, int64_t s, int64_t begin) {
    const tally_partition *partition = &work->partition;
    int64_t t = tally_position(partition, begin_of(work, 0), s, begin) / partition->tile_bytes;
    t = t < 0 ? 0 : t >= partition->tiles ? partition->tiles - 1 : t;
    while (t > 0 && partition->boundaries[t].segment > s) t--;
    while (t + 1 < partition->tiles && partition->boundaries[t + 1].segment <= s) t++;
    return t;
}
TALLY_FN accumulator_t *node_of(const tally_segments_work *work, int64_t tile) {
    return (accumulator_t *)(void *)work->nodes + tile;
}
/* Where tile t adds its part of a segment that begins in tile `first`. A group's first tile has no other segment that
 * crosses its boundary: it is within this one. */
TALLY_FN accumulator_t *node_for(const tally_segments_work *work, int64_t t, int64_t first) {
    const int64_t group = t == 0 ? 0 : (t - 1) / TALLY_FLAT_GROUP * TALLY_FLAT_GROUP;
    return node_of(work, group > first ? group : first);
}
/* Of the segment that crosses the boundary behind tile t: its number, if it is one to be reduced, or -1. */
TALLY_FN int64_t runs_over(const tally_segments_work *work, const tally_boundary *to) {
    return to->segment > 0 && to->end > to->value && wants_segment(work, to->segment - 1) ? to->segment - 1 : -1;
}
TALLY_FN int32_t thread_sees_work(const tally_segments_work *work) {
    const int32_t flags = tally_look32(work->out.flags);
    return (flags & TALLY_FLAG_BAD_SEGMENTS) == 0 && (work->partition.unsure == 0 || (flags & TALLY_FLAG_UNSURE) != 0);
}

/* Whether some tile adds to the number of tile t: a segment that crosses its boundary begins in it, or the tile is a
 * group's. */
TALLY_FN int32_t is_node_used(const tally_segments_work *work, int64_t t) {
    const tally_boundary *const boundaries = work->partition.boundaries + t;
    return (boundaries[0].segment < boundaries[1].segment || t % TALLY_FLAT_GROUP == 0) &&
           runs_over(work, &boundaries[1]) >= 0;
}

#endif
