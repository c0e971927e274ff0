/* Kernels that prepare a partition for production/segments/segments.h, for any operator: they make offsets of lengths
 * and of segment ids, and find tile boundaries (kernels/partition). The index is not trusted: one that does not fit
 * leaves TALLY_FLAG_BAD_SEGMENTS in *flags, here or when tiles read it. */
#include "device/grid.h"
#include "partition/boundaries.h"
#include "partition/lengths.h"
#include "partition/segment_ids.h"

/* ---- offsets from lengths: sums of blocks, a scan of these sums, a scan of each block ---- */

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
        for (int32_t k = 0; k < TALLY_LENGTHS_BLOCK / TALLY_THREADS; k++) {
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
    for (int64_t first = 0; first <= blocks; first += TALLY_THREADS * TALLY_PARTITION_EACH) {
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

TALLY_ENTRY(tally_partition_shares, tally_offsets_work, 4) {
    const tally_partition *partition = &work.partition;
    const int64_t block = (int64_t)tally_block() * TALLY_WARPS + tally_warp(),
                  position = tally_segment_ids_before(&work, block);
    if (block == 0 && tally_lane() == 0) *work.flags = 0;
    if (block > 0 && tally_segment_ids_before(&work, block - 1) == position) return; /* there is no such block */
    const int64_t first = position == work.partition.values + partition->count + 1
                              ? work.partition.values
                              : tally_segment_id_search(partition, work.partition.values, position);
    if (tally_lane() == 0) partition->sums[block] = first;
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
    int64_t step = tally_threads_of_all();
    int32_t is_bad = 0;
    for (int64_t s = tally_thread_of_all(); s <= partition->count; s += step) {
        int64_t offset = tally_offset(partition, s);
        is_bad |= offset < 0 || offset > work.partition.values || (s > 0 && offset < tally_offset(partition, s - 1));
    }
    if (is_bad) tally_or32(work.flags, TALLY_FLAG_BAD_SEGMENTS);
}

/* ---- boundaries ---- */

/* Clears the counters of tiles. */
TALLY_FN void tally_clear_counters(const tally_offsets_work *work) {
    for (int64_t k = tally_thread_of_all(); k < work->partition.cleared; k += tally_threads_of_all())
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
    if (i == 0 && partition->index == partition->offsets) *work.flags = 0;
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
    if (i == 0) *work.flags = 0;
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
