/* A cut that was made ready. */
#ifndef TALLY_PLAN_OF_CUT_H
#define TALLY_PLAN_OF_CUT_H

#include "grouping.h"

struct tally_plan {
    tally_allocator allocator;
    tally_backend backend; /* that it was made ready for */
    tally_segments cut;    /* of the host: offsets or rows */
    int64_t values;
    int64_t *offsets;          /* the plan's own, or NULL */
    tally__grouping *grouping; /* of begins and ends or unsorted ids, or NULL */
    void *gpu;                 /* what its backend made for a GPU, or NULL */
};

/* What can be said of a cut without reading its index; and how many results it has. (api.c) */
tally_status tally__check_cut(const tally_segments *cut, int64_t values, int64_t *results);

/* What a plan has for the host is a cut like any other; what it has for a GPU stays a plan. */
tally_status tally__look_behind_plan(tally_segments *cut, int64_t values, const tally_plan **plan);

#endif
