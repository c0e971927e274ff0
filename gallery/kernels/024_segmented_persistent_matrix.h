/* 024 segmented_persistent_matrix: blocks that stay, over many segments.
 *
 * Idea. persistent_matrix with segment ids: what a block has so far is the suffix of its matrices up to here. If the
 *   next matrix ends with another segment id, that suffix is put before its segment's output; else they are combined.
 * Source. Martin, IV.B.
 * Requires. As segmented_tb2; the grid of persistent_matrix.
 * Steps. Those of segmented_matrix for each matrix of the block's share.
 * Work. As segmented_matrix; G elements with segment ids written in place of n/1024.
 * Predict. As persistent_matrix. Which limit is tighter now?
 * Answer. Registers: 40 a thread leave six blocks of eight.
 * Why. Fewer blocks on a multiprocessor.
 * In short. fewer blocks in flight
 * Next. segmented_diffwarps loads and folds at once. */
#include "gallery/kernels/023_segmented_matrix.h"
#include "gallery/kernels/block.h"

TALLY_KERNEL_OF(segmented_persistent_matrix) {
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_MATRIX_ELEMENTS, data);
    TALLY_SHARED_ARRAY(int32_t, TALLY_MATRIX_ELEMENTS, segment_id);
    tally_gallery_share share = tally_gallery_share_of(work.count, TALLY_MATRIX);
    owned_t so_far = {TALLY_NONE, 0}; /* thread 0's */
    for (int64_t piece = share.first; piece < share.end; piece++) {
        load_owned_matrix(&work, data, segment_id, TALLY_WIDTH, piece * TALLY_MATRIX, tally_thread(),
                          TALLY_THREADS_segmented_persistent_matrix);
        tally_barrier();
        if (tally_branch(tally_warp() == 0)) {
            owned_t a = reduce_high_owned_matrix(&work, data, segment_id, TALLY_WIDTH);
            if (tally_branch(tally_thread() == 0))
                so_far = piece == share.first ? a : later(&work, so_far, a.e, a.segment_id);
        }
        tally_barrier();
    }
    if (tally_thread() == 0) leave_before(&work, so_far.e, so_far.segment_id);
}
