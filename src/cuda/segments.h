/* Segments other than rows on a GPU. */
#ifndef TALLY_CUDA_SEGMENTS_H
#define TALLY_CUDA_SEGMENTS_H

#include "cuda/call.h"

tally_status tally__reduce_cut(tally__call *call, const tally_segments *cut, tally__report *report);

#endif
