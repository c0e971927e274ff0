/* Brings tiles to shared memory. The producer copies what one thread can have copied (bring_tiles); the consumers copy
 * the rest, and get the tile (read_tile). */
#ifndef TALLY_COPY_TILE_H
#define TALLY_COPY_TILE_H

#include "segments/open_tile.h"
#include "segments/tile_ends.h"

/* ---- by the producer ---- */

/* Opens tile after tile, each the next that no block has taken, and begins to copy it as soon as there is a buffer. For
 * one thread. */
TALLY_FN void bring_tiles(const tally_segments_work *work, all_shared_t *all, char *buffers) {
    const tally_partition *partition = &work->partition;
    TALLY_ROLLED
    for (int32_t iteration = 0;; iteration++) {
        const int32_t here = buffer_of(partition, iteration), phase = phase_of(partition, iteration);
        const uint32_t tile = tally_arrive(partition->next, UINT32_MAX);
        const int32_t is_none = tile >= (uint64_t)partition->tiles;
        opening_t *const opening = opening_of(all, iteration);
        shared_t *const its = shared_of(partition, all, iteration);
        if (!is_none) open_tile(work, tile, opening);
        if (phase > 0) tally_mbarrier_wait(&its->left, phase - 1);
        /* Copies one tile at a time: two at once were never faster, and once slower. */
        if (iteration > 0)
            tally_mbarrier_wait(&shared_of(partition, all, iteration - 1)->come, phase_of(partition, iteration - 1));
        its->is_none = is_none;
        its->iteration = iteration;
        if (is_none) {
            tally_mbarrier_arrive(&its->come);
            return;
        }
        if (opening->is_good)
            begin_copies(buffers + here * TALLY_TILE_BUFFER(TALLY_KERNEL_INPUTS), &its->come, opening);
        else {
            tally_or32(work->out.flags, TALLY_FLAG_BAD_SEGMENTS);
            tally_mbarrier_arrive(&its->come);
        }
    }
}

/* ---- by the consumers ---- */

/* Copies values that the producer could not. */
TALLY_FN void copy_values(const tally_segments_work *work, const tally_piece *piece, int64_t stride, char *shared) {
    if (values_are_dense(work, piece->memory, stride)) {
        tally_copy_piece(piece, shared, (int32_t)sizeof(TALLY_PIECE), TALLY_CONSUMERS);
        return;
    }
    const tally_source from = tally_source_of(piece->memory, stride, TALLY_BYTES);
    TALLY_ROLLED
    for (int32_t i = tally_thread(); i < piece->bytes / TALLY_BYTES; i += TALLY_CONSUMERS)
        ((TALLY_T *)(void *)(shared + piece->buffer))[i] = read_one(&from, lies_at(work, piece->at / TALLY_BYTES + i));
}

/* Copies what the producer could not, and makes places of segment ids and offsets. is_again: copies the values once
 * more. False: it is no tile. */
TALLY_FN int32_t finish_copies(const tally_segments_work *work, const opening_t *o, char *buffer, int32_t is_again) {
    const int32_t values_come = o->values_come && !is_again, ends_come = o->ends_come || is_again;
    if (!o->is_good) return 0;
    if (!values_come) {
        copy_values(work, &o->x, work->x_stride, buffer);
        if (TALLY_KERNEL_INPUTS == 2) copy_values(work, &o->y, work->y_stride, buffer);
    }
    if (!ends_come) copy_ends(work, o, buffer);
    if (!values_come || !ends_come) {
        tally_copied();
        tally_consumer_barrier(TALLY_CONSUMERS);
    }
    if (TALLY_TAKES_SEGMENT_IDS && o->are_segment_ids && !is_again)
        place_segment_ids(work, o, buffer);
    else if (o->are_wide && !is_again)
        narrow_entries(buffer + o->ends_at, o->begun + 1, o->from.value);
    return 1;
}
/* Completes a tile that has been copied. is_again: its values were overwritten, and are copied again. False: it is no
 * tile. */
TALLY_FN int32_t read_tile(const tally_segments_work *work, tile_t *tile, const opening_t *o, char *buffer,
                           int32_t is_again) {
    if ((is_again || !o->is_ready) && !finish_copies(work, o, buffer, is_again)) return 0;
    tile->opening = o;
    tile->values = o->values;
    tile->own = o->own;
    tile->x = (const TALLY_T *)(const void *)(buffer + o->x_at);
    tile->y = TALLY_KERNEL_INPUTS == 1 ? tile->x : (const TALLY_T *)(const void *)(buffer + o->y_at);
    tile->ends = (const int32_t *)(const void *)(buffer + o->ends_at);
    tile->origin = o->origin;
    return 1;
}

#endif
