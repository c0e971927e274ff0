/* 025 segmented_diffwarps: loading beside folding, over many segments.
 *
 * Idea. diffwarps with segment ids: two matrices of elements and two of segment ids in shared memory.
 * Source. Martin, IV.B and V.B.
 * Requires. As segmented_persistent_matrix, and four matrices of shared memory.
 * Steps. Those of diffwarps, with the rows and the tree of segmented_matrix.
 * Work. As segmented_persistent_matrix. On the GTX 480 the four matrices left room for two blocks on a multiprocessor,
 *   and it was "not competitive"; the paper expected larger shared memories to change that (gallery/pages/paper.md).
 * Predict. Four matrices of shared memory. Do they limit the blocks of today?
 * Answer. No: a multiprocessor has 228 KB of it today; registers limit them first.
 * Why. Fewer blocks, but loading goes on while one warp folds.
 * In short. fewer blocks in flight
 * Next. segmented_diffwarps16 halves the matrices. */
#include "gallery/kernels/producing.h"

TALLY_KERNEL_OF(segmented_diffwarps) {
    TALLY_SHARED_ARRAY(TALLY_E, 2 * TALLY_MATRIX_ELEMENTS, data);
    TALLY_SHARED_ARRAY(int32_t, 2 * TALLY_MATRIX_ELEMENTS, segment_id);
    reduce_producing(&work, data, segment_id, TALLY_WIDTH);
}
