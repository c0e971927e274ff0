/* 022 segmented_tb4_warp: warps over many segments.
 *
 * Idea. tb4_warp, with the rule of segmented_tb2 for neighbours of different segment ids.
 * Source. Martin, IV.A, s_reducePair_toTheLeft in TB4-warp.
 * Requires. As segmented_tb2.
 * Steps. Levels 0 to 4 on 32 elements for each warp, four times; levels 5 to 9 on the 32 results and their segment ids.
 * Work. As tb4_warp, and a segment id for each value. Inside a warp now two conditions diverge, and the code under them
 *   is longer: in the paper a quarter of all branches (Table III), which is why it lost to TB2.
 * Changed. The paper keeps s_reducePair_toTheLeft for the last level too, where its result goes to `target`: with
 *   different segment ids nothing is written there. Here the result stays in place and is copied with its segment id. A
 *   __syncwarp ends each level.
 * Predict. Two conditions now diverge inside a warp. For which segments does that hurt most?
 * Answer. Short ones: every level has ends of segments, and the code under the condition is long.
 * Why. Divergence over a long path, at every end of a segment.
 * In short. divergence at segments' ends
 * Next. segmented_matrix folds rows. */
#include "gallery/kernels/contract.h"

#ifndef TALLY_GALLERY_SEGMENTED_TB4_WARP
#define TALLY_GALLERY_SEGMENTED_TB4_WARP
/* As reduce_warp; the prefix of the first segment id goes up. */
TALLY_FN void reduce_warp_owned(const tally_work *work, TALLY_E *data, const int32_t *segment_id, int32_t at,
                                int32_t level) {
    for (int32_t apart = 1; apart < TALLY_WARP; apart *= 2) {
        tally_step(level++);
        if (tally_branch(tally_lane() % (2 * apart) == 0)) {
            int32_t left = TALLY_READ(segment_id[at]), right = TALLY_READ(segment_id[at + apart]);
            if (tally_branch(left != right))
                put_behind(work, right, TALLY_READ(data[at + apart]));
            else
                TALLY_WRITE(data[at], TALLY_OP(TALLY_READ(data[at]), TALLY_READ(data[at + apart])));
        }
        tally_warp_barrier();
    }
}

TALLY_KERNEL_OF(segmented_tb4_warp) {
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_EACH_segmented_tb4_warp, data);
    TALLY_SHARED_ARRAY(int32_t, TALLY_EACH_segmented_tb4_warp, segment_id);
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_WARP, results);
    TALLY_SHARED_ARRAY(int32_t, TALLY_WARP, result_segment_id);
    int32_t t = tally_thread(), threads = TALLY_THREADS_segmented_tb4_warp, each = TALLY_EACH_segmented_tb4_warp;
    int64_t start = (int64_t)tally_block() * each;
    for (int32_t i = t; i < each; i += threads) {
        TALLY_WRITE(data[i], take(&work, start + i));
        TALLY_WRITE(segment_id[i], segment_id_of(&work, start + i));
    }
    tally_barrier();
    for (int32_t k = 0; k < each / threads; k++) {
        int32_t at = k * threads + t, to = at / TALLY_WARP;
        reduce_warp_owned(&work, data, segment_id, at, 0);
        if (tally_branch(tally_lane() == 0)) {
            TALLY_WRITE(results[to], TALLY_READ(data[at]));
            TALLY_WRITE(result_segment_id[to], TALLY_READ(segment_id[at]));
        }
    }
    tally_barrier();
    if (tally_branch(tally_warp() != 0)) return;
    reduce_warp_owned(&work, results, result_segment_id, t, 5);
    if (t == 0) leave_behind(&work, TALLY_READ(results[0]), TALLY_READ(result_segment_id[0]));
}
#endif
