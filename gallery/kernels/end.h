/* Undoes gallery/kernels/contract.h and what kernels' texts keep others from including twice. */
#include "lib/operator_end.h"
#include "lib/types_end.h"
#undef TALLY_GALLERY_CONTRACT
#undef TALLY_KERNEL_OF
#undef TALLY_ROOM
#undef TALLY_E
#undef TALLY_OP
#undef TALLY_NONE
#undef TALLY_GALLERY_TWO_LOADS
#undef TALLY_GALLERY_ONE_BLOCK
#undef TALLY_GALLERY_ONE_BLOCK_ORDERED
#undef TALLY_GALLERY_WARP_HALVES
#undef TALLY_GALLERY_TB4_WARP
#undef TALLY_GALLERY_MATRIX
#undef TALLY_GALLERY_SEGMENTED_TB4_WARP
#undef TALLY_GALLERY_SEGMENTED_MATRIX
#undef TALLY_GALLERY_PRODUCING
