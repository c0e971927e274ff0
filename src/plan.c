/* Plans: segmentations that are prepared once. On the host a plan is offsets that were checked; on a GPU src/cuda has
 * one of its own. */
#include "plan.h"

static tally_status ready_grouping(tally_plan *plan, int threads) {
    plan->grouping = tally__allocate(&plan->allocator, sizeof *plan->grouping);
    TALLY_CHECK(plan->grouping != NULL, NO_MEMORY, "no memory for a plan");
    return tally__group(&plan->allocator, threads, &plan->segments, plan->values, plan->grouping);
}

static tally_status ready_host(tally_plan *plan, int threads) {
    const tally_segments given = plan->segments;
    if (given.kind == TALLY_OFFSETS) return tally__check_offsets(&given, plan->values);
    if (tally__is_grouped(&given)) return ready_grouping(plan, threads);
    plan->offsets = tally__allocate(&plan->allocator, ((size_t)given.count + 1) * sizeof *plan->offsets);
    TALLY_CHECK(plan->offsets != NULL, NO_MEMORY, "no memory for the offsets of %lld segments", (long long)given.count);
    plan->segments = tally_offsets(plan->offsets, TALLY_I64, given.count);
    return tally__find_offsets(&given, plan->values, plan->offsets);
}

/* Any operator that takes the type and every NaN policy will do: what is made ready is the same for all. */
static tally_status ready_gpu(tally_context *context, tally_type type, tally_plan *plan) {
    tally__spec spec;
    TALLY_TRY(tally__specify(context, TALLY_MIN, type == TALLY_STRUCT ? TALLY_U8 : type, &spec));
    spec.options.backend = plan->backend;
    return tally__backend_of(&spec.options)->open_plan(&spec, plan->values, &plan->segments, &plan->gpu);
}

static tally_status ready(tally_context *context, tally_type type, tally_plan *plan) {
    const bool on_gpu = plan->segments.kind != TALLY_ROWS &&
                        (tally__lies_on_gpu(plan->segments.index) || tally__lies_on_gpu(plan->segments.ends));
    if (plan->backend == TALLY_BACKEND_AUTO) plan->backend = on_gpu ? TALLY_BACKEND_CUDA : TALLY_BACKEND_CPU;
    TALLY_CHECK(!on_gpu || plan->backend == TALLY_BACKEND_CUDA, BAD_ARGUMENT,
                "the index lies in GPU memory: its plan is made by TALLY_BACKEND_AUTO or TALLY_BACKEND_CUDA only");
    if (plan->segments.kind == TALLY_ROWS || plan->segments.count == 0) return TALLY_OK;
    return tally__backend_is_gpu(plan->backend) ? ready_gpu(context, type, plan)
                                                : ready_host(plan, tally__context(context)->options.threads);
}

tally_status tally_plan_open(tally_context *context, tally_type type, int64_t values, tally_segments segments,
                             tally_plan **plan) {
    const tally_context *of = tally__context(context);
    tally_plan *made;
    tally_status status;
    int64_t results;
    TALLY_CHECK(plan != NULL, BAD_ARGUMENT, "tally_plan_open needs a place for the plan");
    *plan = NULL;
    TALLY_CHECK(values >= 0, BAD_ARGUMENT, "the number of values is %lld", (long long)values);
    TALLY_CHECK(type == TALLY_STRUCT || tally_type_size(type) > 0, BAD_TYPE, "type %d is unknown", (int)type);
    TALLY_CHECK(segments.kind != TALLY_PLANNED, BAD_ARGUMENT,
                "a plan is made of offsets, lengths, begins and ends, ids or rows, not of a plan");
    TALLY_CHECK(segments.kind == TALLY_ROWS || segments.inner <= 1, BAD_ARGUMENT,
                "a plan is made of numbers: give the %lld features with tally_features(tally_planned(plan), inner)",
                (long long)segments.inner);
    TALLY_TRY(tally__check_segments(&segments, values, &results));
    made = tally__allocate(&of->allocator, sizeof *made);
    TALLY_CHECK(made != NULL, NO_MEMORY, "no memory for a plan of %zu bytes", sizeof *made);
    *made = (tally_plan){
        .allocator = of->allocator, .backend = of->options.backend, .segments = segments, .values = values};
    status = ready(context, type, made);
    if (status == TALLY_OK)
        *plan = made;
    else
        tally_plan_close(made);
    return status;
}

void tally_plan_close(tally_plan *plan) {
    if (plan == NULL) return;
    if (plan->gpu != NULL) {
        const tally_options made_for = {.backend = plan->backend};
        tally__backend_of(&made_for)->close_plan(plan->gpu);
    }
    if (plan->grouping != NULL) tally__ungroup(plan->grouping);
    tally__release(&plan->allocator, plan->grouping);
    tally__release(&plan->allocator, plan->gpu);
    tally__release(&plan->allocator, plan->offsets);
    tally__release(&plan->allocator, plan);
}
