/* 034 tree_one_launch: many small blocks, and a tree over them in the same launch.
 *
 * Idea. Blocks form groups of 32. The last block of a group to arrive combines the group's elements and stands for it
 *   in the next level, and so on, until one is left: the guard of last_block at each node of a tree.
 * Source. Tally's production kernel (docs/design/005-gpu-whole-arrays.md), without its canonical order.
 * Requires. An operator that commutes, for the loads; the tree keeps order whoever comes last. A counter for each node,
 *   that is 0.
 * Steps. block_shuffles in each block. Then, level by level: write the element, fence, count; who is not the last of
 *   the group ends; the last one's first warp combines the group.
 * Work. As block_shuffles, in one launch. Counters go back to 0 by themselves.
 * Predict. 32768 blocks of 2048 values at 2^26. How many levels, and how many blocks see more than one?
 * Answer. Three levels: one block of 32 goes on at each, 1024 and then 32 of them. All others end after counting.
 * Why. Each of 32768 blocks writes its element, waits at a fence until the second-level cache has it, and counts,
 *   before its place is free for the next. That costs more than the two launches that it saves: block_shuffles is
 *   faster at this length.
 * In short. a fence in every block
 * Next. Tally's own kernel reads more at a time, combines in an order that is the same on every machine, and has a form
 *   for each type. merge_lists is another use of a reduction. */
#include "gallery/kernels/032_block_shuffles.h"
#include "gallery/kernels/block.h"

TALLY_KERNEL_OF(tree_one_launch) {
    int32_t t = tally_thread();
    int64_t at = tally_block(), members = tally_blocks(), apart = 1;
    uint32_t *arrivals = work.arrivals;
    TALLY_E sum = reduce_block(fold_vectors(&work));
    if (t == 0) give(&work, at, sum);
    while (members > 1) {
        int64_t group = at / TALLY_WARP, groups = (members + TALLY_WARP - 1) / TALLY_WARP, first = group * TALLY_WARP;
        int32_t size = group + 1 < groups ? TALLY_WARP : (int32_t)(members - first);
        if (!tally_gallery_is_last(arrivals + group, size)) return;
        if (tally_branch(tally_warp() == 0)) {
            sum = TALLY_NONE;
            if (tally_branch(t < size)) sum = left_at(&work, (first + t) * apart);
            sum = reduce_shuffling(sum);
            if (t == 0) give(&work, first * apart, sum);
        }
        tally_barrier(); /* before the next level tells its last */
        arrivals += groups;
        members = groups;
        at = group;
        apart *= TALLY_WARP;
    }
}
