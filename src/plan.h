/* A cut that was made ready. */
#ifndef TALLY_PLAN_OF_CUT_H
#define TALLY_PLAN_OF_CUT_H

#include "internal.h"

typedef struct tally__gpu_plan tally__gpu_plan;
struct tally_plan {
    tally_allocator allocator;
    tally_backend backend; /* that it was made ready for */
    tally_segments cut;    /* of the host: offsets or rows */
    int64_t values;
    int64_t *offsets;      /* the plan's own, or NULL */
    tally__gpu_plan *gpu;  /* what a GPU has of it, or NULL */
};

/* What can be said of a cut without reading its index; and how many results it has. (api.c) */
tally_status tally__check_cut(const tally_segments *cut, int64_t values, int64_t *results);

/* Of offsets, lengths or segment ids, by the spec's backend and options. (cuda/segments.c) */
tally_status tally__gpu_plan_open(const tally__spec *spec, int64_t values, const tally_segments *cut,
                                  tally__gpu_plan **plan);
void tally__gpu_plan_close(tally__gpu_plan *plan); /* gives up what the GPU has; the plan is the caller's to release */

#endif
