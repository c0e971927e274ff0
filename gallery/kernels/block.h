/* Steps of several kernels that know nothing of elements. */
#ifndef TALLY_GALLERY_BLOCK
#define TALLY_GALLERY_BLOCK

#include "device/device.h"

/* Where element i lies: one unused behind each 32, the number of banks and of lanes. */
TALLY_FN int32_t tally_gallery_padded(int32_t i) { return i + (int32_t)((uint32_t)i / TALLY_WARP); }

/* The pieces of a block: [first, end) of `pieces`. */
typedef struct tally_gallery_share {
    int64_t first, end;
} tally_gallery_share;
TALLY_FN tally_gallery_share tally_gallery_share_of(int64_t count, int32_t each) {
    tally_gallery_share share;
    int64_t pieces = (count + each - 1) / each, quotient = pieces / tally_blocks(), rest = pieces % tally_blocks(),
            block = tally_block();
    share.first = quotient * block + (block < rest ? block : rest);
    share.end = share.first + quotient + (block < rest);
    return share;
}

/* Whether this block is the last of so many; then its threads see what thread 0 of each wrote before. Same for all
 * threads. */
TALLY_FN int32_t tally_gallery_is_last(uint32_t *counter, int32_t blocks) {
    TALLY_SHARED(int32_t, is_last);
    if (tally_thread() == 0) {
        tally_fence();
        *is_last = tally_arrive(counter, (uint32_t)blocks - 1) == (uint32_t)blocks - 1;
        tally_fence();
    }
    tally_barrier();
    return *is_last;
}

#endif
