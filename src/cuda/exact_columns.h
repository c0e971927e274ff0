/* Exact rows that lie across others, on a GPU. */
#ifndef TALLY_CUDA_EXACT_COLUMNS_H
#define TALLY_CUDA_EXACT_COLUMNS_H

#include "cuda/call.h"

enum { TALLY__SHORT_ROW = 128 }; /* values of an exact row that a thread has alone, where rows lie across others */

/* Whether rows are such ones, and longer than that; or few, which take fewer launches so. */
bool tally__are_exact_columns(const tally__call *call, const tally_segments *segments);
tally_status tally__reduce_exact_columns(tally__call *call, const tally_segments *segments, tally__report *report);

#endif
