/* 026 segmented_diffwarps16: the same with narrower matrices.
 *
 * Idea. segmented_diffwarps with matrices of 16 columns in place of 32: half the shared memory, so that more blocks fit
 *   a multiprocessor.
 * Source. Martin, V.B, DiffWarps16.
 * Requires. As segmented_persistent_matrix.
 * Steps. Those of segmented_diffwarps, 512 values at a time.
 * Work. As segmented_diffwarps, with a barrier and a tree for 512 values in place of 1024. A warp that loads 32
 *   neighbours steps over an unused element, so that two of them lie in one bank.
 * Predict. Half the matrix, half the memory. Worth it?
 * Answer. At best it is equal, in segments of 3: a barrier and a tree for half as many values cost more than the memory
 *   gives.
 * Why. Twice as many barriers and trees for the same values.
 * In short. twice the barriers
 * Next. Segment ids cost as much to read as the values. Tally's production kernels take offsets, cut the work evenly
 *   among blocks whatever the segments, and write each result once (docs/design). Back to whole arrays: first_add
 *   begins the way from last_block to the speed of memory. */
#include "gallery/kernels/producing.h"

TALLY_KERNEL_OF(segmented_diffwarps16) {
    TALLY_SHARED_ARRAY(TALLY_E, 2 * TALLY_WARP * (TALLY_WARP / 2 + 1), data);
    TALLY_SHARED_ARRAY(int32_t, 2 * TALLY_WARP * (TALLY_WARP / 2 + 1), segment_id);
    reduce_producing(&work, data, segment_id, TALLY_WARP / 2);
}
