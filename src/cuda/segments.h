/* Segments on a GPU; of rows those that cuda/rows.h leaves to it. */
#ifndef TALLY_CUDA_SEGMENTS_H
#define TALLY_CUDA_SEGMENTS_H

#include "cuda/call.h"

/* The bytes of a tile's buffer. A launch of a spec's kernel of segments gives its blocks as many buffers as
 * gpu->tile_buffers says. */
size_t tally__segments_buffer(const tally__spec *spec);
/* Whether an exact operator adds up values and nothing else: few doubles are tried first then. */
bool tally__is_sum_alone(const tally__spec *spec);
/* The bytes of a tile's buffer of production/prefix.h. */
size_t tally__prefix_buffer(const tally__spec *spec, bool is_wide);
tally_status tally__reduce_cut(tally__call *call, const tally_segments *cut, tally__report *report);

/* As tally__backend has them; the platform is that of the spec's options. */
tally_status tally__open_plan(const tally__spec *spec, int64_t values, const tally_segments *cut, void **made);
void tally__close_plan(void *made);

#endif
