/* Kernels that prepare a partition for production/segments.h, for any operator: they make offsets of lengths and of
 * segment ids, and find tile boundaries. The index is not trusted: one that does not fit leaves TALLY_FLAG_BAD_SEGMENTS
 * in *flags, here or when tiles read it. */
#define TALLY_BLOCK 256
#include "segments/partition.h"
#include "segments/segment_id_boundaries.h"
#include "segments/segment_id_row.h"

/* ---- offsets from lengths: sums of blocks, a scan of these sums, a scan of each block ---- */

enum {
    TALLY_PARTITION_WARPS = TALLY_BLOCK / TALLY_WARP,
    TALLY_PARTITION_EACH = 16 /* lengths that a thread has at once */
};

typedef struct tally_scan_shared {
    int64_t sums[TALLY_PARTITION_WARPS];
    int64_t total;
} tally_scan_shared;

/* The exclusive prefix sum of the threads' values, and the sum of all. */
TALLY_FN int64_t tally_sum_before(int64_t mine, tally_scan_shared *shared, int64_t *total) {
    const int64_t sum = tally_sum_until64(mine);
    int64_t before = 0;
    tally_barrier();
    if (tally_lane() == TALLY_WARP - 1) shared->sums[tally_warp()] = sum;
    tally_barrier();
    *total = 0;
    for (int32_t w = 0; w < TALLY_PARTITION_WARPS; w++) {
        if (w == tally_warp()) before = *total;
        *total += shared->sums[w];
    }
    return before + sum - mine;
}

/* Length i; 0 beyond the end; -1 for a length that no array can have. */
TALLY_FN int64_t tally_length(const tally_partition *partition, int64_t i) {
    int64_t length = i < partition->count ? tally_entry(partition->index, partition->index_bytes, i) : 0;
    return length < 0 || length >> 48 != 0 ? -1 : length;
}

/* An iteration of a block: each thread has rows of 4 neighbouring lengths. In a row, the lanes of a warp are
 * neighbours, too; the rows of a warp are consecutive. */
enum {
    TALLY_PARTITION_FOUR = 4,
    TALLY_PARTITION_ROW = TALLY_PARTITION_FOUR * TALLY_WARP,
    TALLY_PARTITION_ROWS = TALLY_PARTITION_EACH / TALLY_PARTITION_FOUR,
    TALLY_PARTITION_ITERATION = TALLY_BLOCK * TALLY_PARTITION_EACH
};
TALLY_FN int64_t tally_first_of_iteration(int32_t iteration) {
    return (int64_t)tally_block() * TALLY_LENGTHS_BLOCK + iteration * TALLY_PARTITION_ITERATION;
}
TALLY_FN int64_t tally_first_of_row(int32_t iteration, int32_t row) {
    return tally_first_of_iteration(iteration) + (tally_warp() * TALLY_PARTITION_ROWS + row) * TALLY_PARTITION_ROW +
           TALLY_PARTITION_FOUR * tally_lane();
}
/* Lengths i ... i + 3. A length that does not fit 31 bits (an odd one) gives a word that does not fit either. */
TALLY_FN tally_quad tally_four_lengths(const tally_partition *partition, int64_t i) {
    tally_quad four;
    if (partition->index_bytes == 4 && (uint64_t)partition->index % 16 == 0 &&
        i + TALLY_PARTITION_FOUR <= partition->count)
        four = tally_load16(partition->index + 4 * i);
    else {
        TALLY_UNROLL
        for (int32_t e = 0; e < TALLY_PARTITION_FOUR; e++) {
            const int64_t length = tally_length(partition, i + e);
            four.w[e] = length >> 31 == 0 ? (uint32_t)length : UINT32_MAX;
        }
    }
    return four;
}

/* The sum of a block's lengths; -1: one of them is no length. */
TALLY_ENTRY(tally_partition_sums, tally_offsets_work, 4) {
    TALLY_SHARED(tally_scan_shared, shared);
    const tally_partition *partition = &work.partition;
    int64_t sum = 0, total, bad;
    int32_t is_bad = 0, is_odd = 0;
    for (int32_t iteration = 0; iteration < TALLY_LENGTHS_BLOCK / TALLY_PARTITION_ITERATION; iteration++) {
        TALLY_UNROLL
        for (int32_t row = 0; row < TALLY_PARTITION_ROWS; row++) {
            const tally_quad four = tally_four_lengths(partition, tally_first_of_row(iteration, row));
            is_odd |= (int32_t)((four.w[0] | four.w[1] | four.w[2] | four.w[3]) >> 31);
            sum += (int64_t)four.w[0] + four.w[1] + four.w[2] + four.w[3];
        }
    }
    if (is_odd) { /* once more, one by one */
        sum = 0;
        for (int32_t k = 0; k < TALLY_LENGTHS_BLOCK / TALLY_BLOCK; k++) {
            const int64_t length =
                tally_length(partition, tally_first_of_row(k / TALLY_PARTITION_EACH,
                                                           k / TALLY_PARTITION_FOUR % TALLY_PARTITION_ROWS) +
                                            k % TALLY_PARTITION_FOUR);
            is_bad |= length < 0;
            sum += length;
        }
    }
    if (tally_block() == 0 && tally_thread() == 0) *work.flags = 0;
    (void)tally_sum_before(is_bad, shared, &bad);
    (void)tally_sum_before(sum, shared, &total);
    if (tally_thread() == 0) partition->sums[tally_block()] = bad != 0 ? -1 : total;
}

/* By one block: the exclusive prefix sums of the blocks' sums, and the sum of all behind the last. */
TALLY_ENTRY(tally_partition_scan, tally_offsets_work, 1) {
    TALLY_SHARED(tally_scan_shared, shared);
    const tally_partition *partition = &work.partition;
    int64_t blocks = (partition->count + TALLY_LENGTHS_BLOCK - 1) / TALLY_LENGTHS_BLOCK, before = 0, total;
    int32_t is_bad = 0;
    for (int64_t first = 0; first <= blocks; first += TALLY_BLOCK * TALLY_PARTITION_EACH) {
        const int64_t mine = first + tally_thread() * TALLY_PARTITION_EACH;
        int64_t sums[TALLY_PARTITION_EACH], all = 0, at;
        TALLY_UNROLL
        for (int32_t k = 0; k < TALLY_PARTITION_EACH; k++) sums[k] = mine + k < blocks ? partition->sums[mine + k] : 0;
        TALLY_UNROLL
        for (int32_t k = 0; k < TALLY_PARTITION_EACH; k++) {
            is_bad |= sums[k] < 0;
            all += sums[k] < 0 ? 0 : sums[k];
        }
        at = before + tally_sum_before(all, shared, &total);
        TALLY_UNROLL
        for (int32_t k = 0; k < TALLY_PARTITION_EACH; k++) {
            if (mine + k <= blocks) partition->sums[mine + k] = at;
            at += sums[k] < 0 ? 0 : sums[k];
        }
        before += total;
        if (before > work.partition.values) is_bad = 1, before = work.partition.values;
    }
    if (is_bad) tally_or32(work.flags, TALLY_FLAG_BAD_SEGMENTS);
}

TALLY_FN void tally_put_offset(const tally_partition *partition, int64_t s, int64_t offset) {
    if (partition->offset_bytes == 4)
        ((int32_t *)(void *)partition->offsets)[s] = (int32_t)offset;
    else
        ((int64_t *)(void *)partition->offsets)[s] = offset;
}
/* Stores offsets i ... i + 3, where i is a multiple of 4 and `at` is offset i; at the end also the offset behind the
 * last length. */
TALLY_FN void tally_put_four(const tally_partition *partition, int64_t i, int64_t at, const tally_quad *lengths) {
    tally_quad from;
    from.w[0] = 0;
    TALLY_UNROLL
    for (int32_t e = 1; e < TALLY_PARTITION_FOUR; e++) from.w[e] = from.w[e - 1] + lengths->w[e - 1];
    if (partition->offset_bytes == 4 && i + TALLY_PARTITION_FOUR < partition->count) {
        TALLY_UNROLL
        for (int32_t e = 0; e < TALLY_PARTITION_FOUR; e++) from.w[e] += (uint32_t)at;
        tally_put16(partition->offsets + 4 * i, &from);
        return;
    }
    TALLY_UNROLL
    for (int32_t e = 0; e < TALLY_PARTITION_FOUR; e++) {
        if (i + e < partition->count) tally_put_offset(partition, i + e, at + from.w[e]);
        if (i + e == partition->count - 1)
            tally_put_offset(partition, partition->count, at + from.w[e] + lengths->w[e]);
    }
}
/* An iteration over lengths of any size, where a thread takes one length at a time. Gives the offset behind it. */
TALLY_FN int64_t tally_put_iteration(const tally_partition *partition, int32_t iteration, int64_t before,
                                     tally_scan_shared *shared) {
    for (int32_t k = 0; k < TALLY_PARTITION_EACH; k++) {
        const int64_t i = tally_first_of_iteration(iteration) + k * TALLY_BLOCK + tally_thread(),
                      length = tally_length(partition, i);
        int64_t total, at = before + tally_sum_before(length < 0 ? 0 : length, shared, &total);
        if (i < partition->count) tally_put_offset(partition, i, at);
        if (i == partition->count - 1) tally_put_offset(partition, i + 1, at + length);
        before += total;
    }
    return before;
}

TALLY_ENTRY(tally_partition_lengths, tally_offsets_work, 4) {
    TALLY_SHARED(tally_scan_shared, shared);
    const tally_partition *partition = &work.partition;
    int64_t before = partition->sums[tally_block()];
    for (int32_t iteration = 0; iteration < TALLY_LENGTHS_BLOCK / TALLY_PARTITION_ITERATION; iteration++) {
        tally_quad lengths[TALLY_PARTITION_ROWS];
        uint32_t sums[TALLY_PARTITION_ROWS];
        int64_t mine = 0, total, at;
        TALLY_UNROLL
        for (int32_t row = 0; row < TALLY_PARTITION_ROWS; row++)
            lengths[row] = tally_four_lengths(partition, tally_first_of_row(iteration, row));
        TALLY_UNROLL
        for (int32_t row = 0; row < TALLY_PARTITION_ROWS; row++) {
            const uint32_t *w = lengths[row].w;
            sums[row] = w[0] + w[1] + w[2] + w[3];
            mine += (int64_t)w[0] + w[1] + w[2] + w[3];
        }
        at = before + tally_sum_before(mine, shared, &total);
        if (total > INT32_MAX) { /* the same in all threads: a large sum, or an odd length */
            before = tally_put_iteration(partition, iteration, before, shared);
            continue;
        }
        at = tally_of_lane64(at, 0); /* the offset of the warp's first length */
        TALLY_UNROLL
        for (int32_t row = 0; row < TALLY_PARTITION_ROWS; row++) {
            const uint32_t until = tally_sum_until(sums[row]);
            tally_put_four(partition, tally_first_of_row(iteration, row), at + (until - sums[row]), &lengths[row]);
            at += tally_shuffle(until, TALLY_WARP - 1);
        }
        before += total;
    }
}

/* ---- offsets from segment ids ---- */

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
TALLY_ENTRY(tally_partition_shares, tally_offsets_work, 4) {
    const tally_partition *partition = &work.partition;
    const int64_t block = (int64_t)tally_block() * TALLY_PARTITION_WARPS + tally_warp(),
                  position = tally_segment_ids_before(&work, block);
    if (block == 0 && tally_lane() == 0) *work.flags = 0;
    if (block > 0 && tally_segment_ids_before(&work, block - 1) == position) return; /* there is no such block */
    const int64_t first = position == work.partition.values + partition->count + 1
                              ? work.partition.values
                              : tally_segment_id_search(partition, work.partition.values, position);
    if (tally_lane() == 0) partition->sums[block] = first;
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
    for (int64_t base = o->from + tally_warp() * TALLY_WARP; base <= o->to; base += TALLY_BLOCK) {
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
         at += TALLY_BLOCK / TALLY_WARP * (ROW * TOGETHER)) {
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

TALLY_ENTRY(tally_partition_segment_ids, tally_offsets_work, 4) {
    const tally_partition *partition = &work.partition;
    tally_segment_ids_range mine;
    int32_t is_bad;
    mine.from = partition->sums[tally_block()];
    mine.to = partition->sums[tally_block() + 1];
    mine.first = tally_segment_ids_before(&work, tally_block()) - mine.from;
    mine.last = tally_segment_ids_before(&work, tally_block() + 1) - mine.to;
    if (mine.from > mine.to || mine.first > mine.last || mine.first < 0 ||
        mine.last > partition->count + 1) /* the same in all threads */
        is_bad = 1;
    else if (partition->index_bytes == 4 && (uint64_t)partition->index % 4 == 0 && partition->offset_bytes == 4)
        is_bad = tally_take_narrow_segment_ids(partition, &mine);
    else
        is_bad = tally_take_segment_ids(partition, &mine);
    if (is_bad) tally_or32(work.flags, TALLY_FLAG_BAD_SEGMENTS);
}

/* ---- checking offsets, for plans, before anything uses them ---- */

TALLY_ENTRY(tally_partition_check, tally_offsets_work, 4) {
    const tally_partition *partition = &work.partition;
    int64_t step = (int64_t)tally_blocks() * TALLY_BLOCK;
    int32_t is_bad = 0;
    for (int64_t s = (int64_t)tally_block() * TALLY_BLOCK + tally_thread(); s <= partition->count; s += step) {
        int64_t offset = tally_offset(partition, s);
        is_bad |= offset < 0 || offset > work.partition.values || (s > 0 && offset < tally_offset(partition, s - 1));
    }
    if (is_bad) tally_or32(work.flags, TALLY_FLAG_BAD_SEGMENTS);
}

/* ---- boundaries ---- */

/* A bracket for the first segment at some position or behind it: it is `high`, or one from `low` on. With the positions
 * of these two. */
typedef struct tally_bracket {
    int64_t low, high, low_position, high_position;
} tally_bracket;

/* Narrows a bracket until it is no wider than `width`; by a warp, which reads 32 segments at once. */
TALLY_FN void tally_narrow_bracket(const tally_partition *partition, int64_t origin, int64_t position, int64_t width,
                                   tally_bracket *b) {
    while (b->high - b->low > width) {
        int64_t step = (b->high - b->low + TALLY_WARP - 1) / TALLY_WARP, at = b->low + (tally_lane() + 1) * step;
        int64_t here =
            at >= b->high ? b->high_position : tally_position(partition, origin, at, tally_offset(partition, at));
        uint32_t behind = tally_ballot(at >= b->high || here >= position);
        int32_t first = __builtin_ffs((int32_t)behind) - 1;
        int64_t low = b->low + first * step, high = low + step;
        b->high_position = tally_of_lane64(here, first);
        if (first > 0) b->low_position = tally_of_lane64(here, first - 1);
        b->high = high < b->high ? high : b->high;
        b->low = low;
    }
}

/* Finds the boundary at a position (*segment and *value) by one thread: an interpolation search. True: a segment begins
 * there or a little before, and that is the boundary. False: *segment is the first one at the position or behind it,
 * and the boundary is inside the segment before it. The search looks near both ends first, for a segment longer than
 * all others together, and every other step bisects, so that no segmentation takes long. */
TALLY_FN int32_t tally_find_boundary(const tally_partition *partition, int64_t origin, tally_bracket b,
                                     int64_t position, int64_t *segment, int64_t *value) {
    for (int32_t step = 0; b.low < b.high; step++) {
        const int64_t width = b.high - b.low;
        int64_t at = b.low + width / 2, apart;
        if (step < 2 || (step > 4 && step % 2 != 0)) {
            const double rise = (double)tally_apart(b.high_position, b.low_position);
            const double part = ((double)tally_apart(position, b.low_position) - TALLY_BOUNDARY_SLACK / 2) / rise;
            at = part > 0 && part < 1 ? b.low + (int64_t)(part * (double)width) : part > 0 ? b.high - 1 : b.low;
        } else if (step < 4)
            at = b.low;
        else if (step == 4)
            at = b.high - 1;
        *value = tally_offset(partition, at);
        const int64_t here = tally_position(partition, origin, at, *value);
        apart = tally_apart(position, here);
        if (apart >= 0 && apart < TALLY_BOUNDARY_SLACK) {
            *segment = at;
            return 1;
        }
        if (apart <= 0)
            b.high = at, b.high_position = here;
        else
            b.low = at + 1, b.low_position = here;
    }
    *segment = b.low;
    return 0;
}

TALLY_FN tally_boundary tally_boundary_at(const tally_offsets_work *work, int64_t origin, int64_t segment,
                                          int64_t position) {
    const tally_partition *partition = &work->partition;
    const int32_t shift = tally_leaf_shift(partition);
    tally_boundary boundary = {segment, origin, origin, 0, -1};
    if (segment > 0) {
        int64_t begin = tally_offset(partition, segment - 1),
                length = tally_apart(tally_offset(partition, segment), begin);
        int64_t at = tally_position(partition, origin, segment - 1, begin);
        uint64_t into = (uint64_t)tally_apart(position, at), leaves = (into + ((uint64_t)1 << shift) - 1) >> shift;
        int64_t whole = (int64_t)(leaves * (uint64_t)partition->leaf);
        boundary.leaf = (int64_t)leaves;
        boundary.end = tally_further(begin, length);
        boundary.value = tally_further(begin, whole < length ? whole : length);
        if (origin >= 0 && begin >= origin && begin <= work->partition.values && boundary.value >= begin &&
            boundary.value <= work->partition.values)
            boundary.place = 2 * (at >> shift);
    }
    return boundary;
}

enum { TALLY_BOUNDARY_SAMPLES = 4 * TALLY_BOUNDARIES_BLOCK };
typedef struct tally_boundaries_shared {
    tally_bracket ends[2];                   /* for the block's first boundary, and for the first one behind it */
    int64_t sampled[TALLY_BOUNDARY_SAMPLES]; /* positions of equally spaced segments between these two */
} tally_boundaries_shared;

/* The block's threads read samples of the segments between its boundaries, all at once. Then each thread's boundary
 * lies between two consecutive samples. */
TALLY_FN tally_bracket tally_sample_bracket(const tally_partition *partition, int64_t origin, int64_t position,
                                            tally_bracket all, int64_t *sampled) {
    const int64_t width = all.high > all.low ? all.high - all.low : 0, step = width / TALLY_BOUNDARY_SAMPLES + 1;
    const int32_t count = (int32_t)(width / step);
    int32_t low = 0, high = count;
    TALLY_UNROLL
    for (int32_t k = 0; k < TALLY_BOUNDARY_SAMPLES / TALLY_BOUNDARIES_BLOCK; k++) {
        const int32_t i = k * TALLY_BOUNDARIES_BLOCK + tally_thread();
        const int64_t at = all.low + i * step;
        if (i < count) sampled[i] = tally_position(partition, origin, at, tally_offset(partition, at));
    }
    tally_barrier();
    while (low < high) { /* samples below `low` are before the position; those from `high` on are not */
        const int32_t middle = (low + high) / 2;
        if (sampled[middle] < position)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < count) all.high = all.low + low * step, all.high_position = sampled[low];
    if (low > 0) all.low += (low - 1) * step + 1, all.low_position = sampled[low - 1];
    return all;
}

/* Clears the counters of tiles. */
TALLY_FN void tally_clear_counters(const tally_offsets_work *work) {
    for (int64_t k = (int64_t)tally_block() * TALLY_BLOCK + tally_thread(); k < work->partition.cleared;
         k += (int64_t)tally_blocks() * TALLY_BLOCK)
        work->arrivals[k] = 0;
}

/* A thread for each boundary. The boundaries of a block lie between two brackets that warps have narrowed. */
TALLY_ENTRY(tally_partition_boundaries, tally_offsets_work, 4) {
    TALLY_SHARED(tally_boundaries_shared, shared);
    if (tally_is_idle(work.wanted)) return;
    tally_let_next_start();
    const tally_partition *partition = &work.partition;
    const int64_t origin = tally_offset(partition, 0), block = (int64_t)tally_block() * TALLY_BOUNDARIES_BLOCK,
                  i = block + tally_thread();
    const int64_t position = i * partition->tile_bytes;
    int64_t segment, value;
    if (partition->cleared == 0 && (tally_look32(work.flags) & TALLY_FLAG_UNSURE) == 0) return;
    if (i == 0 && partition->cleared > 0 && partition->index == partition->offsets) *work.flags = 0;
    tally_clear_counters(&work);
    if (tally_warp() < 2) {
        const int64_t at = (block + tally_warp() * TALLY_BOUNDARIES_BLOCK) * partition->tile_bytes;
        tally_bracket b = {
            0, partition->count, 0,
            tally_position(partition, origin, partition->count, tally_offset(partition, partition->count))};
        if (at == 0)
            b.high = b.high_position = 0;
        else if (b.high_position >= at)
            tally_narrow_bracket(partition, origin, at, partition->count / tally_blocks() / 4 + 1, &b);
        else
            b.low = b.high; /* beyond all segments */
        if (tally_lane() == 0) shared->ends[tally_warp()] = b;
    }
    tally_barrier();
    const tally_bracket all = {shared->ends[0].low, shared->ends[1].high, shared->ends[0].low_position,
                               shared->ends[1].high_position};
    const tally_bracket between = tally_sample_bracket(partition, origin, position, all, shared->sampled);
    if (i > partition->tiles) return;
    if (i == 0 || i == partition->tiles) /* even with a bad index, every segment is in some tile */
        segment = i == 0 ? 0 : partition->count;
    else if (tally_find_boundary(partition, origin, between, position, &segment, &value)) {
        const tally_boundary boundary = {segment, value, value, 0, -1};
        partition->boundaries[i] = boundary;
        return;
    }
    partition->boundaries[i] = tally_boundary_at(&work, origin, segment, position);
    if (i == partition->tiles) partition->boundaries[i].value = partition->boundaries[i].end;
}

/* The same, where tiles read segment ids. */
TALLY_ENTRY(tally_partition_segment_id_boundaries, tally_offsets_work, 4) {
    TALLY_SHARED(tally_segment_ids_shared, shared);
    tally_let_next_start();
    const tally_partition *partition = &work.partition;
    const int64_t block = (int64_t)tally_block() * TALLY_BOUNDARIES_BLOCK, i = block + tally_thread();
    if (partition->cleared == 0 && (tally_look32(work.flags) & TALLY_FLAG_UNSURE) == 0) return;
    if (i == 0 && partition->cleared > 0) *work.flags = 0;
    tally_clear_counters(&work);
    if (tally_warp() < 2)
        tally_view_segment_ids(partition, shared,
                               (block + tally_warp() * TALLY_BOUNDARIES_BLOCK) * partition->tile_bytes);
    tally_barrier();
    const tally_segment_ids_view view = tally_sample_segment_ids(partition, shared);
    if (i > partition->tiles) return;
    const tally_boundary first = {0, 0, 0, 0, -1},
                         last = {partition->count, work.partition.values, work.partition.values, 0,
                                 -1}; /* even with bad segment ids */
    partition->boundaries[i] = i == 0 ? first
                               : i == partition->tiles
                                   ? last
                                   : tally_segment_id_boundary(partition, &view, i * partition->tile_bytes);
}
