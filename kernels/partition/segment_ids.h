/* Offsets from sorted segment ids. Values and offsets are merged into one list, which blocks share out evenly (merge
 * path; see partition/partition.h). Ids are not trusted. */
#ifndef TALLY_SEGMENT_IDS_H
#define TALLY_SEGMENT_IDS_H

#include "partition/offsets.h"
#include "partition/segment_id_boundaries.h"
#include "partition/segment_id_row.h"

/* Values and offsets are merged into one list: offset s comes before the values of segment s, so value i is at position
 * i + segment_id(i) + 1. This finds the first value at `position` or behind it; by a warp. */
TALLY_FN int64_t tally_segment_id_search(const tally_partition *partition, int64_t values, int64_t position) {
    const tally_between all = {0, values};
    const tally_sought there = {position - 1, INT64_MAX};
    tally_partition by_count = *partition; /* here a value counts as much as an offset */
    by_count.weight = by_count.end_weight = 1;
    return tally_narrow_segment_ids(&by_count, there, all, 0).high;
}

/* A block takes TALLY_SEGMENT_IDS_BLOCK entries of the merged list of values and offsets, so that gaps between segment
 * ids are shared out like values. A warp finds the first value of a block, and the first behind the last block. */
TALLY_FN int64_t tally_segment_ids_before(const tally_offsets_work *work, int64_t block) {
    const int64_t all = work->partition.values + work->partition.count + 1, position = block * TALLY_SEGMENT_IDS_BLOCK;
    return position < all ? position : all;
}

/* Sets offsets before + 1 ... segment_id to `value`, as far as they are the block's: first ... last - 1. The whole warp
 * fills wide gaps. */
TALLY_FN void tally_fill_offsets(const tally_partition *partition, int64_t before, int64_t segment_id, int64_t value,
                                 int64_t first, int64_t last) {
    int64_t low = before < first ? first : tally_further(before, 1), high = segment_id >= last ? last - 1 : segment_id;
    uint32_t wide = tally_ballot(before < last && high - low >= 8);
    if (before < last && high - low < 8)
        for (int64_t s = low; s <= high; s++) tally_put_offset(partition, s, value);
    for (; wide != 0; wide &= wide - 1) {
        int32_t lane = __builtin_ffs((int32_t)wide) - 1, from = (int32_t)tally_shuffle((uint32_t)(low - first), lane);
        int32_t to = (int32_t)tally_shuffle((uint32_t)(high - first), lane);
        int64_t there = tally_of_lane64(value, lane);
        for (int32_t s = from + tally_lane(); s <= to; s += TALLY_WARP) tally_put_offset(partition, first + s, there);
    }
}

/* A block reads segment ids from ... to - 1 and writes offsets first ... last - 1. */
typedef struct tally_segment_ids_range {
    int64_t from, to, first, last;
} tally_segment_ids_range;

/* For value i of from ... to: sets the offsets after the previous segment id, up to its own, to i. For i = `to`, sets
 * those up to the last. All lanes take part; those without a value have is_there 0. True: the ids are bad. */
TALLY_FN int32_t tally_put_segment_id(const tally_partition *partition, const tally_segment_ids_range *o, int64_t i,
                                      int32_t is_there, int64_t before, int64_t segment_id) {
    const int32_t is_bad =
        is_there && i < o->to && (segment_id < 0 || segment_id >= partition->count || segment_id < before);
    if (i >= o->to) segment_id = o->last - 1;
    int32_t is_changed = is_there && segment_id != before;
    if (is_changed && segment_id == before + 1 && segment_id >= o->first &&
        segment_id < o->last) { /* no segment is empty */
        tally_put_offset(partition, segment_id, i);
        is_changed = 0;
    }
    if (tally_any(is_changed))
        tally_fill_offsets(partition, is_changed ? before : o->last, segment_id, i, o->first, o->last);
    return is_bad;
}

/* Takes segment ids at any address. */
TALLY_FN int32_t tally_take_segment_ids(const tally_partition *partition, const tally_segment_ids_range *o) {
    int32_t is_bad = 0;
    for (int64_t base = o->from + tally_warp() * TALLY_WARP; base <= o->to; base += TALLY_THREADS) {
        const int64_t i = base + tally_lane();
        const int64_t before = i > 0 && i <= o->to ? tally_entry(partition->index, partition->index_bytes, i - 1) : -1;
        const int64_t segment_id = i < o->to ? tally_entry(partition->index, partition->index_bytes, i) : -1;
        is_bad |= tally_put_segment_id(partition, o, i, i <= o->to, before, segment_id);
    }
    return is_bad;
}

/* Writes the offsets of a row of segment ids; i is the lane's first value. Takes only rows in which no step between ids
 * is larger than TALLY_SEGMENT_IDS_STEP and all ids are in range and within the block's offsets, from `first` on and
 * before `last`. False: nothing is done. */
enum { TALLY_SEGMENT_IDS_STEP = 32 };
TALLY_FN int32_t tally_put_near_segment_ids(int32_t *offsets, int32_t i, const tally_four_segment_ids *segment_ids,
                                            uint32_t first, uint32_t last) {
    const int32_t fits =
        segment_ids->left + 1 >= first &&
        segment_ids->w[TALLY_SEGMENT_IDS_EACH - 1] < last; /* ascending ids lie between the first and the last */
    if (!tally_any(tally_segment_ids_step(segment_ids) > 1 || !fits)) {
        tally_put_stepping(offsets, segment_ids, i);
        return 1;
    }
    if (tally_any(!fits || !tally_segment_ids_rise(segment_ids, TALLY_SEGMENT_IDS_STEP))) return 0;
    tally_put_rising(offsets, segment_ids, i);
    return 1;
}

/* Takes aligned segment ids of 4 bytes, and writes offsets of 4 bytes: in rows, several of them in flight. */
TALLY_FN int32_t tally_take_narrow_segment_ids(const tally_partition *partition, const tally_segment_ids_range *o) {
    enum { EACH = TALLY_SEGMENT_IDS_EACH, ROW = TALLY_SEGMENT_IDS_ROW, TOGETHER = 4 };
    const int32_t *index = (const int32_t *)(const void *)partition->index;
    int32_t *offsets = (int32_t *)(void *)partition->offsets;
    const int32_t from = (int32_t)o->from, to = (int32_t)o->to,
                  begin = from - (int32_t)((uint64_t)(index + from) % 16 / 4);
    const int64_t end = o->last < partition->count ? o->last : partition->count;
    const uint32_t first = o->first < INT32_MAX ? (uint32_t)o->first : INT32_MAX,
                   last = end < INT32_MAX ? (uint32_t)end : INT32_MAX;
    int32_t is_bad = 0;
    for (int64_t at = (int64_t)begin + tally_warp() * (ROW * TOGETHER); at <= to;
         at += TALLY_WARPS * (ROW * TOGETHER)) {
        tally_quad quads[TOGETHER];
        const int32_t is_whole = at >= from && at > 0 && at <= (int64_t)to - ROW * TOGETHER,
                      mine = is_whole ? (int32_t)at + EACH * tally_lane() : 0;
        uint32_t left = is_whole ? (uint32_t)index[at - 1] : 0;
        TALLY_UNROLL
        for (int32_t t = 0; t < TOGETHER; t++)
            if (is_whole) quads[t] = tally_load16((const char *)(index + mine + t * ROW));
        TALLY_UNROLL
        for (int32_t t = 0; t < TOGETHER; t++) {
            if (is_whole) {
                const uint32_t *w = quads[t].w,
                               next = tally_shuffle(w[EACH - 1], (tally_lane() + TALLY_WARP - 1) % TALLY_WARP);
                const tally_four_segment_ids segment_ids = {tally_lane() == 0 ? left : next, {w[0], w[1], w[2], w[3]}};
                left = next; /* for lane 0: the last id of the row before */
                if (!tally_any(tally_segment_ids_differ(&segment_ids) != 0)) continue;
                if (tally_put_near_segment_ids(offsets, mine + t * ROW, &segment_ids, first, last)) continue;
            }
            TALLY_ROLLED
            for (int32_t e = 0; e < EACH; e++) { /* at the ends, and where there are gaps: one by one */
                const int64_t i = at + EACH * tally_lane() + t * ROW + e;
                const int64_t earlier = i > 0 && i <= to ? index[i - 1] : -1,
                              segment_id = i >= 0 && i < to ? index[i] : -1;
                is_bad |= tally_put_segment_id(partition, o, i, i >= from && i <= to, earlier, segment_id);
            }
        }
    }
    return is_bad;
}

#endif
