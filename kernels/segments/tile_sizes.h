/* How much a tile of segments may have: values, leaves, and segments that wait or are listed (segments/tile.h). */
#ifndef TALLY_TILE_SIZES_H
#define TALLY_TILE_SIZES_H

#include "accumulators/operator.h"
#include "order/leaf.h"
#include "partition/partition.h"

enum {
    values_capacity = TALLY_TILE_MOST(TALLY_KERNEL_INPUTS),
    /* Leaves that segments of more than one have in a tile: of its values, and one more of each, which are two leaves
       at least. */
    most_leaves = 2 * (values_capacity / (TALLY_DEVICE_LEAF * TALLY_SLOT)),
    /* Sorted, all segments of more than 8 values wait, and beside one of these up to 7 shorter ones of TALLY_WARP. Of 8
     * that wait, then, one has 9 values, the others have one each, and there are TALLY_WARP ends. And there may be
     * fewer than TALLY_WARP, where a warp looks last. More room would cost a block. */
    most_beside = 7,
    bytes_of_8 = (9 + most_beside) * TALLY_BYTES * TALLY_KERNEL_INPUTS + TALLY_WARP * TALLY_END_BYTES,
    most_sorted = (values_capacity / bytes_of_8 + 1 + TALLY_CONSUMER_WARPS) * (most_beside + 1),
    /* Else, of each warp, fewer than TALLY_WARP, and as many more at once. */
    most_waiting = TALLY_IS_SORTED ? most_sorted : 2 * TALLY_WARP,
    /* Those of more than 64 values wait, too, where quarters of a warp take them; with room to see that there are
       more. */
    most_longs = values_capacity / ((TALLY_DEVICE_SMALL + 1) * TALLY_BYTES) + TALLY_WARP,
    /* Segments of a tile that chunks pay for: not those of fewer than 4 values on average, which a thread takes one by
     * one. So this is the most that a warp has. Measured. */
    most_in_chunks =
        (TALLY_BOUNDARY_SLACK + TALLY_TILE_BYTES) / (4 * TALLY_BYTES + TALLY_END_BYTES), /* but for a leaf more */
    most_in_chunks_of_warp = (most_in_chunks + TALLY_CONSUMERS - 1) / TALLY_CONSUMERS * TALLY_WARP,
    most_listed = TALLY_IN_CHUNKS ? most_in_chunks_of_warp : most_waiting + (TALLY_BY_QUARTERS ? most_longs : 0),
    /* One list, or one of each warp's own. */
    of_all_warps = TALLY_CONSUMER_WARPS * most_listed,
    list_capacity = !TALLY_IS_SORTED                                 ? of_all_warps
                    : TALLY_IN_CHUNKS && of_all_warps > most_waiting ? of_all_warps
                                                                     : most_waiting
};
TALLY_ASSERT(TALLY_IS_SORTED || (int32_t)most_listed >= (int32_t)most_waiting, "a list has less room than may wait");

#endif
