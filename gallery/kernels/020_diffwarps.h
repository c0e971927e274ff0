/* 020 diffwarps: some warps load while another folds.
 *
 * Idea. Two matrices in shared memory. While the consumer, warp 0, folds one, the producers, warps 1 to 8, load the
 *   next: loading hides behind folding. After a barrier the two change roles.
 * Source. Martin, Algorithm 4 (DiffWarps: C = 1 consumer, P = 8 producers).
 * Requires. As persistent_matrix; twice the shared memory.
 * Steps. Load the first matrix. For each further one: swap; fold the old one, load the new one; a barrier. Fold the
 *   last.
 * Work. As persistent_matrix. 288 threads; shared memory: 2 * 32 * 33 elements, so that fewer blocks fit a
 *   multiprocessor.
 * Predict. Eight warps load while one folds. Is it the fastest now, as it was in 2012?
 * Answer. No: matrix is, and persistent_matrix takes as long as this. The hardware overlaps many small blocks better
 *   than two buffers do.
 * Why. Fewer blocks on a multiprocessor, so fewer bytes in flight. It took twice as long when it was compiled for
 *   values and for elements at once: the compiler did not unroll the loop that loads, so that each producer had one
 *   load on its way in place of four.
 * In short. fewer blocks in flight
 * Next. This was the fastest of the paper. The segmented kernels take the same ideas to arrays of many segments:
 *   segmented_tb2. */
#include "gallery/kernels/018_matrix.h"
#include "gallery/kernels/block.h"

TALLY_KERNEL_OF(diffwarps) {
    TALLY_SHARED_ARRAY(TALLY_E, 2 * TALLY_MATRIX_ELEMENTS, data);
    TALLY_SHARED(TALLY_E, so_far);
    TALLY_E *load = data, *fold = data + TALLY_MATRIX_ELEMENTS;
    int32_t producer = tally_thread() - TALLY_WARP,
            producers = TALLY_THREADS_diffwarps - TALLY_WARP; /* below 0: of the consumer */
    tally_gallery_share share = tally_gallery_share_of(work.count, TALLY_MATRIX);
    if (tally_thread() == 0) TALLY_WRITE(*so_far, TALLY_NONE);
    for (int64_t piece = share.first; piece <= share.end; piece++) {
        TALLY_E *loaded = load;
        if (tally_branch(producer >= 0)) {
            if (piece < share.end) load_matrix(&work, load, TALLY_WIDTH, piece * TALLY_MATRIX, producer, producers);
        } else if (piece > share.first) {
            TALLY_E sum = reduce_high_matrix(fold, TALLY_WIDTH);
            if (tally_branch(tally_thread() == 0)) TALLY_WRITE(*so_far, TALLY_OP(TALLY_READ(*so_far), sum));
        }
        tally_barrier();
        load = fold;
        fold = loaded;
    }
    if (tally_thread() == 0) give(&work, tally_block(), TALLY_READ(*so_far));
}
