/* A segmentation that was checked and prepared. */
#ifndef TALLY_PLAN_INTERNAL_H
#define TALLY_PLAN_INTERNAL_H

#include "grouping.h"

struct tally_plan {
    tally_allocator allocator;
    tally_backend backend;   /* that it was prepared for */
    tally_segments segments; /* of the host: offsets or rows */
    int64_t values;
    int64_t *offsets;          /* the plan's own, or NULL */
    tally__grouping *grouping; /* of begins and ends or unsorted ids, or NULL */
    void *gpu;                 /* what its backend made for a GPU, or NULL */
};

/* What can be said of segments without reading their index, and how many results they have. (segmentation.c) */
tally_status tally__check_segments(const tally_segments *segments, int64_t values, int64_t *results);

/* What a plan has for the host is a segmentation like any other; what it has for a GPU stays a plan. */
tally_status tally__look_behind_plan(tally_segments *segments, int64_t values, const tally_plan **plan);

#endif
