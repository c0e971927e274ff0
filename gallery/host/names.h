/* The names of the gallery that a unit for several types needs, as src/names.h. */
#ifndef TALLY_GALLERY_NAMES_H
#define TALLY_GALLERY_NAMES_H

#include "device/entry.h"

#define comes_first TALLY_N(comes_first)
#define element_t TALLY_N(element_t)
#define fold_vectors TALLY_N(fold_vectors)
#define from_above TALLY_N(from_above)
#define give_input TALLY_N(give_input)
#define give_none TALLY_N(give_none)
#define give_result TALLY_N(give_result)
#define host TALLY_N(host)
#define leave TALLY_N(leave)
#define leave_before TALLY_N(leave_before)
#define leave_behind TALLY_N(leave_behind)
#define load_matrix TALLY_N(load_matrix)
#define load_owned_matrix TALLY_N(load_owned_matrix)
#define owned_t TALLY_N(owned_t)
#define put_before TALLY_N(put_before)
#define put_behind TALLY_N(put_behind)
#define put_later TALLY_N(put_later)
#define reduce_all TALLY_N(reduce_all)
#define reduce_halves TALLY_N(reduce_halves)
#define reduce_high_matrix TALLY_N(reduce_high_matrix)
#define reduce_high_owned_matrix TALLY_N(reduce_high_owned_matrix)
#define reduce_in_order TALLY_N(reduce_in_order)
#define reduce_matrix TALLY_N(reduce_matrix)
#define reduce_owned_matrix TALLY_N(reduce_owned_matrix)
#define reduce_producing TALLY_N(reduce_producing)
#define reduce_shuffling TALLY_N(reduce_shuffling)
#define reduce_striding TALLY_N(reduce_striding)
#define reduce_two_loads TALLY_N(reduce_two_loads)
#define reduce_warp TALLY_N(reduce_warp)
#define reduce_warp_halves TALLY_N(reduce_warp_halves)
#define reduce_warp_owned TALLY_N(reduce_warp_owned)
#define take_vector TALLY_N(take_vector)

#endif
