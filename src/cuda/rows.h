/* Rows of an N-d array on a GPU. */
#ifndef TALLY_CUDA_ROWS_H
#define TALLY_CUDA_ROWS_H

#include "cuda/call.h"

tally_status tally__reduce_rows(tally__call *call, const tally_segments *segments, tally__report *report);

#endif
