/* The table of the cuda backend, and the same for the simulator. */
#include "cuda/call.h"
#include "cuda/far.h"
#include "cuda/groups.h"
#include "cuda/merge.h"
#include "cuda/units.h"
#include "cuda/plans.h"
#include "cuda/nodes.h"
#include "cuda/rows.h"
#include "cuda/segments.h"
#include "cuda/whole.h"
#include "cuda/nvidia.h"
#include "plan.h"

static tally_status reduce_on(const tally__platform *platform, const tally__spec *spec, const tally__input *in,
                              const tally__sink *sink, tally__report *report) {
    tally__call c;
    tally_status status = tally__call_open(&c, platform, spec, in, NULL, sink);
    if (status == TALLY_OK) status = tally__reduce_whole(&c, report);
    tally__call_close(&c);
    return status;
}

static tally_status cuda_reduce(const tally__spec *spec, const tally__input *in, const tally__sink *sink,
                                tally__report *report) {
    return reduce_on(&tally__nvidia_platform, spec, in, sink, report);
}
static tally_status simt_reduce(const tally__spec *spec, const tally__input *in, const tally__sink *sink,
                                tally__report *report) {
    return reduce_on(&tally__simt_platform, spec, in, sink, report);
}

/* ---- segments ---- */

static tally_status segments_on(const tally__platform *platform, const tally__spec *spec, const tally__input *in,
                                const tally_segments *segments, const tally__sink *sink, tally__report *report) {
    const tally_plan *plan = segments->kind == TALLY_PLANNED ? segments->plan : NULL;
    const bool is_grouped = tally__is_grouped(segments) || (plan != NULL && tally__is_grouped(&plan->segments));
    tally__call c;
    tally_status status = tally__call_open(&c, platform, spec, in, segments, sink);
    if (status == TALLY_OK)
        status = (is_grouped                     ? tally__reduce_groups
                  : segments->kind == TALLY_ROWS ? tally__reduce_rows
                                                 : tally__reduce_ragged)(&c, segments, report);
    tally__call_close(&c);
    return status;
}

static tally_status cuda_segments(const tally__spec *spec, const tally__input *in, const tally_segments *segments,
                                  const tally__sink *sink, tally__report *report) {
    return segments_on(&tally__nvidia_platform, spec, in, segments, sink, report);
}
static tally_status simt_segments(const tally__spec *spec, const tally__input *in, const tally_segments *segments,
                                  const tally__sink *sink, tally__report *report) {
    return segments_on(&tally__simt_platform, spec, in, segments, sink, report);
}

/* ---- merges ---- */

static tally_status cuda_merge(const tally_context *context, const tally__gpu_merge *merge, int64_t *misplaced) {
    return tally__merge_arrays(&tally__nvidia_platform, context, merge, misplaced);
}
static tally_status simt_merge(const tally_context *context, const tally__gpu_merge *merge, int64_t *misplaced) {
    return tally__merge_arrays(&tally__simt_platform, context, merge, misplaced);
}

/* ---- memory, and what is kept ---- */

/* Only a process that has libcuda loaded can have device memory. */
static bool cuda_holds(const void *address) {
    const char *why;
    const tally__driver *driver = tally__driver_is_loaded() ? tally__nvidia_platform.driver(&why) : NULL;
    const tally__memory_kind kind = tally__memory_of(driver, address).kind;
    return kind == TALLY_IN_DEVICE || kind == TALLY_IN_MANAGED;
}
static bool cuda_may_hold(void) { return tally__driver_is_loaded(); }
static bool simt_may_hold(void) { return true; }
static bool simt_holds(const void *address) {
    const char *why;
    return tally__memory_of(tally__simt_platform.driver(&why), address).kind == TALLY_IN_DEVICE;
}
static void cuda_forget(const tally_context *context, bool only_given) {
    tally__gpu_forget(&tally__nvidia_platform, context, only_given);
}
static void simt_forget(const tally_context *context, bool only_given) {
    tally__gpu_forget(&tally__simt_platform, context, only_given);
}

/* Work on nodes in host memory is left to the CPU: nodes are the same bytes. */
#define TALLY_GPU_BACKEND(platform)                                                                                 \
    {                                                                                                               \
        .name = #platform, .reduce = platform##_reduce, .segments = platform##_segments, .merge = platform##_merge, \
        .far_tree = tally__far_tree, .far_values = tally__far_values, .far_store = tally__far_store,                \
        .holds = platform##_holds, .may_hold = platform##_may_hold, .nodes = &tally__cuda_nodes,                    \
        .open_plan = tally__open_plan, .close_plan = tally__close_plan, .forget = platform##_forget,                \
    }
const tally__backend tally__cuda_backend = TALLY_GPU_BACKEND(cuda);
const tally__backend tally__simt_backend = TALLY_GPU_BACKEND(simt);
