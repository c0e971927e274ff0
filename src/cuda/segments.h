/* Segments on a GPU; of rows those that cuda/rows.h leaves to it. */
#ifndef TALLY_CUDA_SEGMENTS_H
#define TALLY_CUDA_SEGMENTS_H

#include "cuda/call.h"

tally_status tally__reduce_cut(tally__call *call, const tally_segments *cut, tally__report *report);

#endif
