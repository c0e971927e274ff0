/* Segments on a GPU; of rows those that cuda/rows.h leaves to it. */
#ifndef TALLY_CUDA_SEGMENTS_H
#define TALLY_CUDA_SEGMENTS_H

#include "cuda/call.h"

/* The bytes of a room for a tile, of which a launch of a spec's kernel of segments gives its blocks as many as the GPU has rooms. */
size_t tally__segments_room(const tally__spec *spec);
/* Rows whose values lie side by side: `start` launches a kernel that gives results or marks them in work->cut.unsure, and has node_bytes at work->nodes; those
 * that it marks are reduced again. */
typedef tally_status tally__start_rows(const tally__call *call, const tally_work *work, const void *plan);
tally_status tally__reduce_rows_again(tally__call *call, const tally_segments *cut, tally__start_rows *start, const void *plan, size_t node_bytes, tally__report *report);
tally_status tally__reduce_cut(tally__call *call, const tally_segments *cut, tally__report *report);

#endif
