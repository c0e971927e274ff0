/* A segmentation that was checked and prepared. */
#ifndef TALLY_PLAN_INTERNAL_H
#define TALLY_PLAN_INTERNAL_H

#include "grouping.h"

struct tally_plan {
    tally_allocator allocator;
    tally_backend backend;   /* the backend that it was prepared for */
    tally_segments segments; /* on the host: offsets or rows */
    int64_t values;
    int64_t *offsets;          /* memory of the plan's own, or NULL */
    tally__grouping *grouping; /* of begins and ends, and of unsorted ids; else NULL */
    void *gpu;                 /* what a GPU backend made, or NULL */
};

/* Checks what can be checked without reading the index, and counts the results. (segmentation.c) */
tally_status tally__check_segments(const tally_segments *segments, int64_t values, int64_t *results);

/* Replaces segments of a plan for the host by what the plan has: offsets, rows or a grouping. A plan for a GPU stays a
 * plan. *plan: the plan, or NULL if the segments are of none. */
tally_status tally__look_behind_plan(tally_segments *segments, int64_t values, const tally_plan **plan);

#endif
