/* Producers and a consumer over owned matrices: the step that segmented_diffwarps and segmented_diffwarps16 share. */
#include "gallery/kernels/023_segmented_matrix.h"
#include "gallery/kernels/block.h"

#ifndef TALLY_GALLERY_PRODUCING
#define TALLY_GALLERY_PRODUCING
/* With matrices of `width` columns; `data` and `segment_id` have room for two. */
TALLY_FN void reduce_producing(const tally_work *work, TALLY_E *data, int32_t *segment_id, int32_t width) {
    int32_t each = TALLY_HEIGHT * width, load = 0, capacity = TALLY_HEIGHT * (width + 1);
    int32_t producer = tally_thread() - TALLY_WARP,
            producers = TALLY_THREADS_segmented_diffwarps - TALLY_WARP; /* below 0: of the consumer */
    tally_gallery_share share = tally_gallery_share_of(work->count, each);
    owned_t so_far = {TALLY_NONE, 0}; /* thread 0's */
    for (int64_t piece = share.first; piece <= share.end; piece++) {
        int32_t fold = capacity - load;
        if (tally_branch(producer >= 0)) {
            if (piece < share.end)
                load_owned_matrix(work, data + load, segment_id + load, width, piece * each, producer, producers);
        } else if (piece > share.first) {
            owned_t a = reduce_high_owned_matrix(work, data + fold, segment_id + fold, width);
            if (tally_branch(tally_thread() == 0))
                so_far = piece == share.first + 1 ? a : later(work, so_far, a.e, a.segment_id);
        }
        tally_barrier();
        load = fold;
    }
    if (tally_thread() == 0) leave_before(work, so_far.e, so_far.segment_id);
}
#endif
