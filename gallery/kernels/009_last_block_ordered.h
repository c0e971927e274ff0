/* 009 last_block_ordered: the last block finishes, and nothing changes places.
 *
 * Idea. Each block has a section of consecutive values, and the blocks' elements are in the order of the sections.
 * Source. SO, "Multi-block parallel reduction for noncommutative operator".
 * Requires. Any associative operator; any length. A counter that is 0.
 * Steps. n / blocks values for each block, the rest for the last one; one_block_ordered on each section; the guard of
 *   last_block; then one_block_ordered on the elements.
 * Work. As one_block_ordered, on all multiprocessors.
 * Changed. Counter and flag as in last_block.
 * Predict. Order is kept, by one_block_ordered in each block. Which bound comes back?
 * Answer. Barriers: three for each 512 values, during which nothing is loaded.
 * Why. Every value goes through shared memory, and loading waits for it.
 * In short. three barriers a round
 * Next. Order is dear here because every value goes through shared memory. The kernels from warp_halves on look at 32
 *   threads alone. */
#include "gallery/kernels/006_one_block_ordered.h"
#include "gallery/kernels/block.h"

TALLY_KERNEL_OF(last_block_ordered) {
    int64_t each = work.count / tally_blocks(), first = each * tally_block();
    int64_t end = tally_block() == tally_blocks() - 1 ? work.count : first + each;
    TALLY_E sum = reduce_in_order(&work, first, end);
    tally_work left = work;
    if (tally_thread() == 0) give(&work, tally_block(), sum);
    if (!tally_gallery_is_last(work.arrivals, tally_blocks())) return;
    left.x = work.nodes;
    left.inputs = TALLY_OF_ELEMENTS;
    left.count = tally_blocks();
    sum = reduce_in_order(&left, 0, left.count);
    if (tally_thread() == 0) give(&work, 0, sum);
}
