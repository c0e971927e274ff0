/* 002 halves: a tree of halves.
 *
 * Idea. In each step the upper half of the elements is combined into the lower half. The threads that stay are the
 *   first ones, so whole warps leave together, and none diverges until fewer than 32 threads are left.
 * Source. Kandasamy, figure 2 and the second listing.
 * Requires. An operator that commutes: element 0 meets element n/2 first. At most 1024 values, padded as in
 *   interleaved.
 * Steps. With stride threads/2, threads/4, ..., 1 thread t < stride takes element t + stride.
 * Work. As interleaved; divergence in the last five steps alone, and of one warp. Neighbouring threads touch
 *   neighbouring elements, so no banks collide.
 * Changed. The text halves by `stride /= stride`, which never ends (gallery/pages/errata.md).
 * Predict. As many additions, as many steps. Which warps diverge now?
 * Answer. Only the first, and only in the last steps, when fewer threads are left than a warp has lanes. All others
 *   leave whole.
 * Why. As interleaved in all but divergence: it too is one block.
 * In short. whole warps leave
 * Next. Arrays are no longer than a block, and each thread loads one value only: two_loads takes arrays of any length.
 */
#include "gallery/kernels/contract.h"

TALLY_KERNEL_OF(halves) {
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_SHARED_halves, partial);
    int32_t t = tally_thread();
    TALLY_WRITE(partial[t], take(&work, t));
    tally_barrier();
    for (int32_t stride = tally_threads() / 2; stride > 0; stride /= 2) {
        tally_step(stride);
        if (tally_branch(t < stride))
            TALLY_WRITE(partial[t], TALLY_OP(TALLY_READ(partial[t]), TALLY_READ(partial[t + stride])));
        tally_barrier();
    }
    if (t == 0) give(&work, 0, TALLY_READ(partial[0]));
}
