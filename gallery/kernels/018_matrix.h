/* 018 matrix: 32 threads fold a row each.
 *
 * Idea. 1024 elements lie in shared memory as a matrix of 32 rows. All threads load it; then 32 of them fold one row
 *   each, from left to right, and need nobody for that: no barrier, no lane that waits. One warp is enough. The others
 *   have ended, but their registers and the block's shared memory stay taken until it has, too.
 * Source. Martin, Algorithm 3 (Matrix), after Y. Dotsenko, N. Govindaraju, P. Sloan, C. Boyd, J. Manferdelli, "Fast
 *   scan algorithms on graphics processors", 2008.
 * Requires. Any associative operator; any length.
 * Steps. Columns 1 to 31 of the 32 rows; then 5 levels on the 32 results. One unused element behind each row puts a
 *   column's elements into different banks.
 * Work. n - 1 combinations, 31 + 5 steps for 1024 values with one barrier. Shared memory: 32 * 33 elements. Matrices of
 *   8 or 16 columns have bank conflicts while they are loaded: a warp's 32 neighbours step over unused elements (tally
 *   race --device simt --sweep width).
 * Changed. The results overwrite row 0, which thread 0 may still be folding now that warps are not in lockstep: a
 *   __syncwarp stands between.
 * Predict. 32 threads fold 32 values each, while 224 do nothing. Better or worse than a tree?
 * Answer. Better: nobody waits for anybody while folding, and other blocks on the multiprocessor load meanwhile.
 * Why. Many small blocks overlap loading with folding; only one warp of eight folds.
 * In short. blocks overlap each other
 * Next. A block loads, then folds, then is gone, and the next one begins from nothing. persistent_matrix stays. */
#include "gallery/kernels/017_tb4_warp.h"

#ifndef TALLY_GALLERY_MATRIX
#define TALLY_GALLERY_MATRIX
/* Loads a matrix of `width` columns from input `start` on, by `threads` threads of which this is thread t. How often
 * the loop runs does not depend on t: so a compiler unrolls it, and a thread has all its loads on their way at once. */
TALLY_FN void load_matrix(const tally_work *work, TALLY_E *data, int32_t width, int64_t start, int32_t t,
                          int32_t threads) {
    for (int32_t first = 0; first < TALLY_HEIGHT * width; first += threads) {
        int32_t i = first + t;
        TALLY_WRITE(data[i + i / width], take(work, start + i));
    }
}
/* Reduces 32 rows by one warp; the result is lane 0's. */
TALLY_FN TALLY_E reduce_matrix(TALLY_E *data, int32_t width) {
    const TALLY_E *row = data + tally_lane() * (width + 1);
    TALLY_E sum = TALLY_READ(row[0]);
    for (int32_t k = 1; k < width; k++) {
        tally_step(k - 1);
        sum = TALLY_OP(sum, TALLY_READ(row[k]));
    }
    tally_warp_barrier();
    TALLY_WRITE(data[tally_lane()], sum);
    tally_warp_barrier();
    reduce_warp(data, tally_lane(), width - 1);
    return TALLY_READ(data[0]);
}
/* The same of a matrix that may be higher: 32 rows after 32. */
TALLY_FN TALLY_E reduce_high_matrix(TALLY_E *data, int32_t width) {
    TALLY_E sum = reduce_matrix(data, width);
    for (int32_t top = TALLY_WARP; top < TALLY_HEIGHT; top += TALLY_WARP)
        sum = TALLY_OP(sum, reduce_matrix(data + top * (width + 1), width));
    return sum;
}

TALLY_KERNEL_OF(matrix) {
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_MATRIX_ELEMENTS, data);
    TALLY_E sum;
    load_matrix(&work, data, TALLY_WIDTH, (int64_t)tally_block() * TALLY_MATRIX, tally_thread(), TALLY_THREADS_matrix);
    tally_barrier();
    if (tally_branch(tally_warp() != 0)) return;
    sum = reduce_high_matrix(data, TALLY_WIDTH);
    if (tally_thread() == 0) give(&work, tally_block(), sum);
}
#endif
