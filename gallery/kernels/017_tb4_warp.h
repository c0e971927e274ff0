/* 017 tb4_warp: warps reduce 32 elements each, four times.
 *
 * Idea. A warp reduces 32 elements without a barrier of the block. A block of 8 warps takes 1024 elements: each warp
 *   four times 32, which leaves 32 results, and one warp reduces those.
 * Source. Martin, Algorithm 2 (TB4-warp, R = 4), after S. Sengupta, M. Harris, M. Garland, "Efficient Parallel Scan
 *   Algorithms for GPUs", 2008.
 * Requires. Any associative operator; any length.
 * Steps. Levels 0 to 4: lane l takes part if it is a multiple of 2, 4, 8, 16, 32. Levels 5 to 9: the same on the
 *   results.
 * Work. n - 1 combinations; 2 barriers for 1024 values; in the levels most lanes wait. Shared memory: 4 B + 32
 *   elements.
 * Changed. The paper's listing reduces s_data again in its last line, where the results are in s_result
 *   (gallery/pages/errata.md). A __syncwarp ends each level: "implicitly synchronized in SIMD fashion" has not been so
 *   since Volta.
 * Predict. Two barriers in place of nine, but most branches diverge. Better or worse?
 * Answer. Better: a divergent branch costs its warp a few cycles, a barrier costs all warps the slowest one's time.
 * Why. Fewer barriers, but most lanes wait in most levels.
 * In short. two barriers, idle lanes
 * Next. matrix has threads that fold by themselves, without any level. */
#include "gallery/kernels/contract.h"

#ifndef TALLY_GALLERY_TB4_WARP
#define TALLY_GALLERY_TB4_WARP
/* Elements at, at + 1, ..., of which lane l names at = first + l, by the warp. The result is elements[first]. */
TALLY_FN void reduce_warp(TALLY_E *elements, int32_t at, int32_t level) {
    for (int32_t apart = 1; apart < TALLY_WARP; apart *= 2) {
        tally_step(level++);
        if (tally_branch(tally_lane() % (2 * apart) == 0))
            TALLY_WRITE(elements[at], TALLY_OP(TALLY_READ(elements[at]), TALLY_READ(elements[at + apart])));
        tally_warp_barrier();
    }
}

TALLY_KERNEL_OF(tb4_warp) {
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_EACH_tb4_warp, data);
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_WARP, results);
    int32_t t = tally_thread(), warps = TALLY_THREADS_tb4_warp / TALLY_WARP;
    int64_t start = (int64_t)tally_block() * TALLY_EACH_tb4_warp;
    for (int32_t i = t; i < TALLY_EACH_tb4_warp; i += TALLY_THREADS_tb4_warp)
        TALLY_WRITE(data[i], take(&work, start + i));
    tally_barrier();
    for (int32_t k = 0; k < TALLY_EACH_tb4_warp / TALLY_THREADS_tb4_warp; k++) {
        int32_t at = k * TALLY_THREADS_tb4_warp + t;
        reduce_warp(data, at, 0);
        if (tally_branch(tally_lane() == 0)) TALLY_WRITE(results[k * warps + tally_warp()], TALLY_READ(data[at]));
    }
    tally_barrier();
    if (tally_branch(tally_warp() != 0)) return;
    reduce_warp(results, t, 5);
    if (t == 0) give(&work, tally_block(), TALLY_READ(results[0]));
}
#endif
