/* The gallery for one operator and type, compiled for the host. No include guard; included by foreach_type.h. */
#if TALLY_NAN == 0
#include "gallery/kernels/contract.h"
#if TALLY_IS_SIMULATED
#include "gallery/kernels/000_plain_read.h"
#include "gallery/kernels/001_interleaved.h"
#include "gallery/kernels/002_halves.h"
#include "gallery/kernels/003_two_loads.h"
#include "gallery/kernels/004_host_finish.h"
#include "gallery/kernels/005_one_block.h"
#include "gallery/kernels/006_one_block_ordered.h"
#include "gallery/kernels/007_grid.h"
#include "gallery/kernels/008_last_block.h"
#include "gallery/kernels/009_last_block_ordered.h"
#include "gallery/kernels/010_warp_halves.h"
#include "gallery/kernels/011_warp_halves_padded.h"
#include "gallery/kernels/012_warp_pairs.h"
#include "gallery/kernels/013_warp_pairs_padded.h"
#include "gallery/kernels/014_warp_shuffles.h"
#include "gallery/kernels/015_block_of_warps.h"
#include "gallery/kernels/016_tb2.h"
#include "gallery/kernels/017_tb4_warp.h"
#include "gallery/kernels/018_matrix.h"
#include "gallery/kernels/019_persistent_matrix.h"
#include "gallery/kernels/020_diffwarps.h"
#include "gallery/kernels/021_segmented_tb2.h"
#include "gallery/kernels/022_segmented_tb4_warp.h"
#include "gallery/kernels/023_segmented_matrix.h"
#include "gallery/kernels/024_segmented_persistent_matrix.h"
#include "gallery/kernels/025_segmented_diffwarps.h"
#include "gallery/kernels/026_segmented_diffwarps16.h"
#include "gallery/kernels/027_merge_lists.h"
#include "gallery/kernels/028_first_add.h"
#include "gallery/kernels/029_loads_in_flight.h"
#include "gallery/kernels/030_vector_loads.h"
#include "gallery/kernels/031_unrolled.h"
#include "gallery/kernels/032_block_shuffles.h"
#include "gallery/kernels/033_atomic_finish.h"
#include "gallery/kernels/034_tree_one_launch.h"
#include "gallery/kernels/035_warp_halves_once.h"
#endif

static void give_none(void *element) {
    TALLY_E e = TALLY_NONE;
    memcpy(element, &e, sizeof e);
}
static void give_input(const tally_work *work, int64_t i, void *element) {
    TALLY_E e = take(work, i);
    memcpy(element, &e, sizeof e);
}
static void put_later(void *element, const void *later) {
    TALLY_E a, b;
    memcpy(&a, element, sizeof a);
    memcpy(&b, later, sizeof b);
    a = TALLY_OP(a, b);
    memcpy(element, &a, sizeof a);
}
static void give_result(const void *element, int64_t count, const tally_final *final, void *result) {
    TALLY_E e;
    result_t r;
    memcpy(&e, element, sizeof e);
    finalize(node_of(e, count), final, &r);
    memcpy(result, &r, sizeof r);
}
static const tally__gallery_type host = {
    .element_bytes = sizeof(TALLY_E),
    .result_bytes = sizeof(result_t),
    .write_none = give_none,
    .read_input = give_input,
    .combine_later = put_later,
    .write_result = give_result,
#if TALLY_IS_SIMULATED
    .kernels =
        {
#define TALLY_FUNCTION(name) TALLY_N(TALLY_PASTE(gallery_##name##_, TALLY_KERNEL))
#define TALLY_ROW(number, name, plan, needs, threads, least, each, shared, segment_ids, source, what) \
    {TALLY_SIMT_TEXT(TALLY_FUNCTION(name)), TALLY_FUNCTION(name)},
            TALLY_GALLERY(TALLY_ROW)
#undef TALLY_ROW
#undef TALLY_FUNCTION
        },
#endif
};
#include "gallery/kernels/end.h"
#else /* no other policy than "propagate" */
#undef TALLY_TYPE
#undef TALLY_NAN
#endif
