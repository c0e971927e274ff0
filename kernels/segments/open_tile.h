/* The producer opens a tile: it works out from the boundaries which segments and values the tile has, whether that is
 * possible, and where they will lie in shared memory. Then it begins the copies that one thread can begin. */
#ifndef TALLY_OPEN_TILE_H
#define TALLY_OPEN_TILE_H

#include "segments/tile.h"

/* Rows come here, too: short ones that lie side by side, and with operators of the caller's own all, along any axis.
 * TALLY_IS_APART: whether the values of a row lie apart. lies_at: where value i lies, counting row after row. */
#define TALLY_IS_APART(work) (TALLY_IS_USER && (work)->inner > 1)
TALLY_FN int64_t lies_at(const tally_segments_work *work, int64_t i) {
    if (!TALLY_IS_APART(work)) return i;
    int64_t row = i / work->length, outer = row / work->inner;
    return (outer * work->length + (i - row * work->length)) * work->inner + (row - outer * work->inner);
}

/* A type of whose size all addresses are multiples. */
#if TALLY_IS_STRUCTURE
#define TALLY_PIECE TALLY_B
#else
#define TALLY_PIECE TALLY_T
#endif
TALLY_FN int32_t values_are_dense(const tally_segments_work *work, const char *values, int64_t stride) {
    return stride == TALLY_BYTES && tally_source_of(values, stride, TALLY_BYTES).is_aligned && !TALLY_IS_APART(work);
}
/* Offsets are copied as they are if they lie at multiples of their size. Others are turned into places in the tile as
 * they are read. */
TALLY_FN int32_t ends_are_offsets(const tally_partition *partition, int64_t origin) {
    return partition->offsets != 0 && (uint64_t)partition->offsets % (uint64_t)partition->offset_bytes == 0 &&
           (partition->offset_bytes == 8 || origin <= INT32_MAX);
}

/* Works out what the tile has, and where it will lie. Whatever the index says, that is within the arrays: nothing else
 * is ever read. */
TALLY_FN void open_tile(const tally_segments_work *work, int64_t t, opening_t *o) {
    const tally_partition *partition = &work->partition;
    const tally_boundary from = partition->boundaries[t], to = partition->boundaries[t + 1];
    const int64_t values = tally_apart(to.value, from.value), begun = tally_apart(to.segment, from.segment);
    const int32_t ends_behind = begun > 0 && to.end > to.value; /* the last one that begins here does */
    const int64_t behind = ends_behind ? to.leaf * partition->leaf : 0;
    o->is_good = from.segment >= 0 && begun >= 0 && to.segment <= partition->count &&
                 begun <= (TALLY_BOUNDARY_SLACK + TALLY_TILE_BYTES) / TALLY_END_BYTES && from.value >= 0 &&
                 values >= 0 && to.value <= work->partition.values && values <= values_capacity &&
                 values * partition->weight + begun * partition->offset_bytes <= values_capacity;
    /* The segment that runs into the tile must end in it or, if no segment begins in the tile, at its end or behind it.
     * This is checked nowhere else. */
    o->is_good = o->is_good && from.end >= from.value && to.end >= to.value &&
                 (begun > 0 ? from.end <= to.value : from.end >= to.value) && behind >= 0 && behind <= values;
    o->is_ready = 0; /* in case this returns: the opening may have said so of another tile */
    if (!o->is_good) return;
    const tally_piece x = {work->x, work->partition.values * TALLY_BYTES, from.value * TALLY_BYTES,
                           (int32_t)values * TALLY_BYTES, 0};
    const tally_piece offsets = {partition->offsets, partition->offset_bytes * (partition->count + 1),
                                 partition->offset_bytes * from.segment,
                                 begun > 0 ? partition->offset_bytes * ((int32_t)begun + 1) : 0, 0};
    const tally_piece segment_ids = {partition->segment_ids, partition->index_bytes * work->partition.values,
                                     partition->index_bytes * from.value, partition->index_bytes * (int32_t)values, 0};
    o->results = results_from(&work->out, from.segment);
    o->from = from;
    o->to_place = to.place;
    o->values = (int32_t)values;
    o->begun = (int32_t)begun;
    o->own = (int32_t)begun - ends_behind;
    o->run_at[0] = 0;
    /* There is no place for nodes if no segment runs into the tile, or if segments are invalid. */
    o->run_n[0] = from.place < 0 ? 0 : (int32_t)(begun > 0 ? tally_apart(from.end, from.value) : values);
    o->run_at[1] = (int32_t)(values - behind);
    o->run_n[1] = to.place < 0 ? 0 : (int32_t)behind;
    o->x = o->y = x;
    /* Copies are faster if both sides lie equally far behind the beginning of a cache line. */
    o->x.buffer = o->y.buffer = (int32_t)((uint64_t)(x.memory + x.at) % TALLY_LINE_BYTES / 16 * 16);
    if (TALLY_KERNEL_INPUTS == 2) {
        o->y.memory = work->y;
        o->y.buffer += (x.bytes + 31) / 16 * 16 + TALLY_CHUNK_BYTES;
    }
    o->are_segment_ids = TALLY_TAKES_SEGMENT_IDS && partition->segment_ids != 0;
    o->ends = o->are_segment_ids ? segment_ids : offsets;
    o->ends.buffer = o->y.buffer + (x.bytes + 31) / 16 * 16 + TALLY_CHUNK_BYTES;
    const int32_t x_is_dense = values_are_dense(work, work->x, work->x_stride),
                  y_is_dense = values_are_dense(work, work->y, work->y_stride);
    const int32_t are_offsets = ends_are_offsets(partition, from.value);
    o->is_dense = x_is_dense;
    o->values_come = TALLY_HAS_BULK && x_is_dense && tally_is_inside(&o->x) &&
                     (TALLY_KERNEL_INPUTS == 1 || (y_is_dense && tally_is_inside(&o->y)));
    o->ends_come =
        o->ends.bytes == 0 || (TALLY_HAS_BULK && (are_offsets || o->are_segment_ids) && tally_is_inside(&o->ends));
    o->x_at = o->x.buffer +
              (x_is_dense ? tally_skew(&o->x) : 0); /* values that threads copy one by one begin at a multiple of 16 */
    o->y_at = TALLY_KERNEL_INPUTS == 1 ? o->x_at : o->y.buffer + (y_is_dense ? tally_skew(&o->y) : 0);
    o->ends_at = o->ends.buffer + (o->are_segment_ids ? tally_padded_bytes(&o->ends)
                                   : are_offsets      ? tally_skew(&o->ends)
                                                      : 0); /* made of segment ids: behind these */
    o->are_wide = (are_offsets ? partition->offset_bytes : o->are_segment_ids ? partition->index_bytes : 0) == 8;
    o->is_ready = o->values_come && o->ends_come && !o->are_wide && !o->are_segment_ids;
    o->origin = are_offsets && !o->are_wide ? (uint32_t)from.value : 0;
}
/* Begins the copies that one thread can begin. */
TALLY_FN void begin_copies(char *buffer, tally_mbarrier *mbarrier, const opening_t *o) {
    const int32_t each = o->values_come ? tally_padded_bytes(&o->x) : 0,
                  other = o->values_come && TALLY_KERNEL_INPUTS == 2 ? tally_padded_bytes(&o->y) : 0;
    const int32_t ends = o->ends_come && o->ends.bytes > 0 ? tally_padded_bytes(&o->ends) : 0;
    /* If hardly anything is written, memory is faster when its cache evicts what was read first; else slower.
     * Measured. */
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

#endif
