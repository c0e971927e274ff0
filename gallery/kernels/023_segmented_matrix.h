/* 023 segmented_matrix: rows over many segments.
 *
 * Idea. A thread that folds its row from left to right meets the ends of segments. At each end it puts what it has
 *   before what the output has of that segment, and begins anew. What is left at the end of the row is the suffix that
 *   belongs to the last segment id; it goes up.
 * Source. Martin, IV.A, the segmented form of Algorithm 3.
 * Requires. As segmented_tb2.
 * Steps. Columns 1 to 31 of the 32 rows with their segment ids; then 5 levels of a tree that is "right-storing": with
 *   different segment ids the left element is put before its segment's output, and the right one goes up.
 * Work. As matrix, and a segment id for each value. Rows lie 32 values apart, so each access to the output is a
 *   transfer of its own (Table IV).
 * Why no two threads write one output at once: a part is put where its segment ends, and a segment ends in one row
 *   only; parts of earlier rows come in the tree or in a later launch, and are put before it.
 * Changed. A __syncwarp between the rows and the tree, as in matrix, and after each level.
 * Predict. Rows lie 32 values apart. Do their accesses to the output share transactions?
 * Answer. Never: each is a transaction of its own. That is what trees had in their favour.
 * Why. As matrix; scattered accesses to the output add up in short segments.
 * In short. scattered writes, blocks overlap
 * Next. segmented_persistent_matrix stays. */
#include "gallery/kernels/contract.h"

#ifndef TALLY_GALLERY_SEGMENTED_MATRIX
#define TALLY_GALLERY_SEGMENTED_MATRIX
/* An element and whose it is. */
typedef struct owned_t {
    TALLY_E e;
    int32_t segment_id;
} owned_t;

/* The later of two stays; the earlier is put before its segment's output if that is another. */
TALLY_FN owned_t later(const tally_work *work, owned_t a, TALLY_E e, int32_t segment_id) {
    if (tally_branch(a.segment_id != segment_id)) {
        put_before(work, a.segment_id, a.e);
        a.segment_id = segment_id;
        a.e = e;
    } else
        a.e = TALLY_OP(a.e, e);
    return a;
}

TALLY_FN void load_owned_matrix(const tally_work *work, TALLY_E *data, int32_t *segment_id, int32_t width,
                                int64_t start, int32_t t, int32_t threads) {
    for (int32_t first = 0; first < TALLY_HEIGHT * width; first += threads) {
        int32_t i = first + t;
        TALLY_WRITE(data[i + i / width], take(work, start + i));
        TALLY_WRITE(segment_id[i + i / width], segment_id_of(work, start + i));
    }
}
/* The suffix of the last segment id of 32 rows, by one warp; lane 0 has it. */
TALLY_FN owned_t reduce_owned_matrix(const tally_work *work, TALLY_E *data, int32_t *segment_id, int32_t width) {
    int32_t lane = tally_lane(), row = lane * (width + 1), level = width - 1;
    owned_t a;
    a.e = TALLY_READ(data[row]);
    a.segment_id = TALLY_READ(segment_id[row]);
    for (int32_t k = 1; k < width; k++) {
        tally_step(k - 1);
        a = later(work, a, TALLY_READ(data[row + k]), TALLY_READ(segment_id[row + k]));
    }
    tally_warp_barrier();
    TALLY_WRITE(data[lane], a.e);
    TALLY_WRITE(segment_id[lane], a.segment_id);
    tally_warp_barrier();
    for (int32_t apart = 1; apart < TALLY_WARP; apart *= 2) {
        tally_step(level++);
        if (tally_branch(lane % (2 * apart) == 0)) {
            a = later(work, a, TALLY_READ(data[lane + apart]), TALLY_READ(segment_id[lane + apart]));
            TALLY_WRITE(data[lane], a.e);
            TALLY_WRITE(segment_id[lane], a.segment_id);
        }
        tally_warp_barrier();
    }
    return a;
}
/* The same of a matrix that may be higher: 32 rows after 32. */
TALLY_FN owned_t reduce_high_owned_matrix(const tally_work *work, TALLY_E *data, int32_t *segment_id, int32_t width) {
    owned_t a = reduce_owned_matrix(work, data, segment_id, width);
    for (int32_t top = TALLY_WARP; top < TALLY_HEIGHT; top += TALLY_WARP) {
        owned_t b = reduce_owned_matrix(work, data + top * (width + 1), segment_id + top * (width + 1), width);
        if (tally_lane() == 0) a = later(work, a, b.e, b.segment_id);
    }
    return a;
}

TALLY_KERNEL_OF(segmented_matrix) {
    TALLY_SHARED_ARRAY(TALLY_E, TALLY_MATRIX_ELEMENTS, data);
    TALLY_SHARED_ARRAY(int32_t, TALLY_MATRIX_ELEMENTS, segment_id);
    owned_t a;
    load_owned_matrix(&work, data, segment_id, TALLY_WIDTH, (int64_t)tally_block() * TALLY_MATRIX, tally_thread(),
                      TALLY_THREADS_segmented_matrix);
    tally_barrier();
    if (tally_branch(tally_warp() != 0)) return;
    a = reduce_high_owned_matrix(&work, data, segment_id, TALLY_WIDTH);
    if (tally_thread() == 0) leave_before(&work, a.e, a.segment_id);
}
#endif
