/* 008 last_block: the last block finishes.
 *
 * Idea. Blocks cannot wait for one another, but they can count: each adds 1 to a counter when its element is written,
 *   and who finds that all others have arrived knows that all elements are there. That block reduces them: one launch.
 * Source. SO, the same section, "with the help of last-block guard"; NVIDIA's sample threadFenceReduction.
 * Requires. An operator that commutes; any length. A counter that is 0.
 * Steps. Those of grid. Thread 0 writes the block's element, then a fence, so that nobody sees the count before the
 *   element; then the count. The block that is last reduces the elements as one_block does.
 * Work. As grid, in one launch.
 * Changed. The text compares the thread with `gridSize`, which by then is a number of threads, not of blocks, and reads
 *   beyond the elements (gallery/pages/errata.md). The counter goes back to 0 by itself (atomicInc), so nothing has to
 *   clear it. The text's __syncthreads_or is a flag in shared memory here. In the text every thread fences; here thread
 *   0 does, which wrote the element.
 * Predict. One launch in place of two. How much of the time is a launch?
 * Answer. About a microsecond: little at this length, and half of all at short ones.
 * Why. As grid, without the second launch.
 * In short. folds in registers, one launch
 * Next. Values change places: last_block_ordered. */
#include "gallery/kernels/005_one_block.h"
#include "gallery/kernels/block.h"

TALLY_KERNEL_OF(last_block) {
    int64_t threads = tally_threads();
    TALLY_E sum = reduce_striding(&work, tally_block() * threads + tally_thread(), tally_blocks() * threads);
    tally_work left = work;
    if (tally_thread() == 0) give(&work, tally_block(), sum);
    if (!tally_gallery_is_last(work.arrivals, tally_blocks())) return;
    left.x = work.nodes;
    left.inputs = TALLY_OF_ELEMENTS;
    left.count = tally_blocks();
    sum = reduce_striding(&left, tally_thread(), threads);
    if (tally_thread() == 0) give(&work, 0, sum);
}
