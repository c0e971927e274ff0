/* 007 grid: many such blocks, and a second launch.
 *
 * Idea. A grid of blocks fills the GPU; threads stride over the array together, and each block leaves one element. A
 *   second launch, of one block, reduces those: between two launches everybody waits for everybody, which blocks cannot
 *   do otherwise.
 * Source. SO, "Multi-block parallel reduction for commutative operator", with two launches.
 * Requires. An operator that commutes; any length.
 * Steps. Two blocks for each multiprocessor ("usually #SM*2 is a good number"), more would only shorten the cheap part,
 *   the fold. Then those of one_block in each.
 * Work. n - 1 combinations; n * size bytes read. All but 2048 of them on each multiprocessor are folds in registers.
 * Predict. Now two blocks on each multiprocessor. What is left of the tree's cost?
 * Answer. Almost nothing: all but 2048 values on each multiprocessor are folded in registers. It nears the plain read.
 * Why. Folding in registers needs no barrier, so that loads follow loads. What is missing is more of them in flight.
 * In short. folds in registers
 * Next. The second launch costs some microseconds and does almost nothing. last_block does without it. */
#include "gallery/kernels/005_one_block.h"

TALLY_KERNEL_OF(grid) {
    int64_t threads = tally_threads();
    TALLY_E sum = reduce_striding(&work, tally_block() * threads + tally_thread(), tally_blocks() * threads);
    if (tally_thread() == 0) give(&work, tally_block(), sum);
}
