/* Exact rows on a GPU. */
#ifndef TALLY_CUDA_EXACT_ROWS_H
#define TALLY_CUDA_EXACT_ROWS_H

#include "cuda/call.h"

/* Whether the addresses of both inputs have the same remainder modulo 16. */
bool tally__are_alike(const tally__call *call);
/* Whether rows are such as have values side by side, more than TALLY_SHORT_APART. */
bool tally__are_exact_rows(const tally__call *call, const tally_segments *segments);
tally_status tally__reduce_exact_rows(tally__call *call, const tally_segments *segments, tally__report *report);

/* Whether large whole arrays are reduced as one such row, and whether this one is: in two launches, while
 * production/arrays/reduce_exact.h takes one, but whatever the data at the same speed. Not with the caller's scratch
 * memory. */
bool tally__may_be_exact_row(const tally__spec *spec);
bool tally__is_exact_row(const tally__call *call);

/* The bytes of numbers of limbs for what is left of rows (tally_left_rows), of which a launch has so many at most; 0:
 * they are too many. And the launch of the kernel that adds them up; it fills in strides and `wanted`. */
int64_t tally__limb_bytes(const tally__call *call, int64_t rows);
tally_status tally__launch_left(const tally__call *call, tally_left_work work);

#endif
