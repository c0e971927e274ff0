/* 021 segmented_tb2: a tree over many segments.
 *
 * Idea. Every element carries its segment id, the number of its segment; segment ids ascend. Two neighbours with the
 *   same segment id are combined as ever. Two with different segment ids are not: the left one goes up the tree, the
 *   right one's segment begins in between, and its part is put behind what the output has of it already. What goes up
 *   is always the prefix that belongs to the first segment id.
 * Source. Martin, IV.A, TB2, after K. Zhou, Q. Hou, R. Wang, B. Guo, "Real-time kd-tree construction on graphics
 *   hardware", 2008.
 * Requires. Any associative operator; segment ids that ascend. The output is filled with the identity first, and stays
 *   so for empty segments.
 * Steps. Those of tb2. Each block leaves an element with its segment id; the kernel is launched again for those, until
 *   one block is left.
 * Work. As tb2, and a segment id of 4 bytes read for each value. A write to the output for each change of segment ids
 *   that a level meets: they are irregular accesses, which neighbours with small segments make to the same 128 bytes
 *   (Table IV of the paper).
 * Why no two threads write one output at once: within a level, both would have the same segment id on the right and
 *   another on the left of it, but everything between them has that segment id too. Later parts come at higher levels,
 *   behind a barrier, or in a later launch.
 * Predict. Segment ids are read too. What else is read and written where segments end?
 * Answer. The output: a read and a write in the middle of a level, next to those of neighbours.
 * Why. Nine barriers, twice the bytes, and accesses to the output.
 * In short. nine barriers, twice the bytes
 * Next. segmented_tb4_warp has fewer barriers. */
#include "gallery/kernels/block.h"
#include "gallery/kernels/contract.h"

TALLY_KERNEL_OF(segmented_tb2) {
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_SHARED_segmented_tb2, data);
    TALLY_SHARED_ARRAY(int32_t, TALLY_SHARED_segmented_tb2, segment_id);
    int32_t t = tally_thread(), threads = tally_threads(), stride = 1, level = 0;
    int64_t start = (int64_t)2 * tally_block() * threads;
    for (int32_t i = t; i < 2 * threads; i += threads) {
        TALLY_WRITE(data[tally_gallery_padded(i)], take(&work, start + i));
        TALLY_WRITE(segment_id[tally_gallery_padded(i)], segment_id_of(&work, start + i));
    }
    for (int32_t d = threads; d > 0; d /= 2) {
        tally_barrier();
        tally_step(level++);
        if (tally_branch(t < d)) {
            int32_t a = tally_gallery_padded(2 * stride * t), b = tally_gallery_padded(2 * stride * t + stride);
            int32_t left = TALLY_READ(segment_id[a]), right = TALLY_READ(segment_id[b]);
            if (tally_branch(left != right))
                put_behind(&work, right, TALLY_READ(data[b]));
            else
                TALLY_WRITE(data[a], TALLY_OP(TALLY_READ(data[a]), TALLY_READ(data[b])));
        }
        stride *= 2;
    }
    if (t == 0) leave_behind(&work, TALLY_READ(data[0]), TALLY_READ(segment_id[0]));
}
