/* Plans on a GPU: opened, and closed. */
#include "cuda/plans.h"

#include "cuda/groups.h"
#include "grouping.h"

/* The places of groups form consecutive segments. */
static tally_status make_grouped_plan(tally__call *call, const tally_segments *segments, tally__gpu_plan *plan) {
    TALLY_TRY(tally__plan_groups(call, segments, plan));
    const tally_segments places =
        tally_offsets(plan->group.offsets, plan->group.offset_bytes == 4 ? TALLY_I32 : TALLY_I64, segments->count);
    call->in.count = plan->group.places;
    call->index = plan->group.offsets;
    return tally__prepare_plan(call, &places, plan);
}

tally_status tally__open_plan(const tally__spec *spec, int64_t values, const tally_segments *segments, void **made) {
    const tally__input none = {.count = values};
    tally__gpu_plan *plan = tally__allocate(&spec->allocator, sizeof *plan);
    tally__call call;
    tally_status status;
    *made = plan;
    TALLY_CHECK(plan != NULL, NO_MEMORY, "no memory for a plan");
    *plan = (tally__gpu_plan){.gpu = NULL};
    status = tally__call_open(&call, tally__platform_of(&spec->options), spec, &none, segments, NULL);
    if (status == TALLY_OK)
        status = tally__is_grouped(segments) ? make_grouped_plan(&call, segments, plan)
                                             : tally__prepare_plan(&call, segments, plan);
    tally__call_close(&call);
    return status;
}

void tally__close_plan(void *made) {
    tally__gpu_plan *plan = made;
    if (plan->gpu == NULL) return;
    /* Entering is tried twice: nobody else knows of this memory. */
    const bool entered = tally__gpu_enter(plan->gpu) == TALLY_OK || tally__gpu_enter(plan->gpu) == TALLY_OK;
    if (plan->memory != 0) plan->gpu->driver->release(plan->memory);
    if (plan->copy != 0) plan->gpu->driver->release(plan->copy);
    if (plan->groups_memory != 0) plan->gpu->driver->release(plan->groups_memory);
    if (entered) tally__gpu_leave(plan->gpu);
}
