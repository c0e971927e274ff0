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
/* What a GPU has of a plan: offsets, checked, and their edges for values of one size; and of begins and ends or ids in
 * any order where their vectors are, of which these are the offsets. */
typedef struct tally__gpu_plan {
    tally__gpu *gpu;
    tally__cu_address memory, copy; /* its own; copy: of offsets that lie in host memory, or 0 */
    tally__cu_address groups_memory;
    tally_cut_work cut;
    bool is_grouped;
    tally_group_work group;
} tally__gpu_plan;

/* work->cut.offsets of lengths or of sorted ids, by the kernels of production/cut.h; they clear *work->saw. */
tally_status tally__offsets_of_lengths(const tally__call *call, const tally_work *work);
tally_status tally__offsets_of_ids(const tally__call *call, const tally_work *work);

/* TALLY_BAD_SEGMENTS: what of such segments is wrong, of an array of so many "values" or "vectors". */
tally_status tally__refuse_segments(tally_segmentation kind, int64_t count, int64_t values, const char *name);

tally_status tally__reduce_cut(tally__call *call, const tally_segments *cut, tally__report *report);

/* As tally__backend has them; the platform is that of the spec's options. */
tally_status tally__open_plan(const tally__spec *spec, int64_t values, const tally_segments *cut, void **made);
void tally__close_plan(void *made);

#endif
