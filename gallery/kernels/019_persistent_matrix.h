/* 019 persistent_matrix: blocks that stay.
 *
 * Idea. As many blocks as the GPU holds at once, and no more, share the matrices: N_D = q G + r of them, so that the
 *   first r blocks take q + 1 and the others q, one behind another. Few elements are left, and one more launch reduces
 *   them.
 * Source. Martin, III.B.1, "Persistent blocks".
 * Requires. Any associative operator; any length. The grid is the number of multiprocessors times the blocks that one
 *   holds, which the driver tells (the paper asked the occupancy calculator).
 * Steps. Those of matrix; then thread 0 puts the result behind what the block has so far; a barrier before the next
 *   matrix is loaded.
 * Work. As matrix; G elements written in place of n/1024.
 * Predict. Blocks that stay spare launches and partial results. What do they lose?
 * Answer. Blocks: they keep more in registers, so that fewer fit a multiprocessor, and a block that folds loads
 *   nothing.
 * Why. Fewer blocks on a multiprocessor, so fewer bytes in flight.
 * In short. fewer blocks in flight
 * Next. The warps that load wait while one folds, and it waits while they load. diffwarps does both at once. */
#include "gallery/kernels/018_matrix.h"
#include "gallery/kernels/block.h"

TALLY_KERNEL_OF(persistent_matrix) {
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_MATRIX_ELEMENTS, data);
    TALLY_SHARED(TALLY_E, so_far);
    tally_gallery_share share = tally_gallery_share_of(work.count, TALLY_MATRIX);
    if (tally_thread() == 0) TALLY_WRITE(*so_far, TALLY_NONE);
    for (int64_t piece = share.first; piece < share.end; piece++) {
        load_matrix(&work, data, TALLY_WIDTH, piece * TALLY_MATRIX, tally_thread(), TALLY_THREADS_persistent_matrix);
        tally_barrier();
        if (tally_branch(tally_warp() == 0)) {
            TALLY_E sum = reduce_high_matrix(data, TALLY_WIDTH);
            if (tally_branch(tally_thread() == 0)) TALLY_WRITE(*so_far, TALLY_OP(TALLY_READ(*so_far), sum));
        }
        tally_barrier();
    }
    if (tally_thread() == 0) give(&work, tally_block(), TALLY_READ(*so_far));
}
