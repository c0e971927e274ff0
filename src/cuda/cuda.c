/* The table of the cuda backend, and the same for the simulator; whole arrays, by a kernel of their own or as a row. */
#include <stdio.h>
#include <string.h>

#include "cuda/call.h"
#include "cuda/exact_rows.h"
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

/* The GPU makes a node, and the host finishes it, so it knows all flags. Operators given as text are finished on the
 * GPU. */
static tally_status reduce_to_host(tally__call *c, tally__report *report) {
    const tally__kernel *kernel = c->spec->kernel;
    _Alignas(16) unsigned char result[TALLY_RESULT_BYTES];
    tally__node_storage storage;
    bool finished = c->spec->user != NULL;
    TALLY_TRY(tally__launch_whole(c, 0, c->in.count, 0, finished ? TALLY_GIVES_RESULT : TALLY_GIVES_NODE, 0));
    TALLY_TRY(tally__call_fetch(c, finished ? (void *)result : &storage, c->scratch.node,
                                finished ? kernel->result_bytes : tally__geometry_of(c->spec).node_size));
    if (!finished) report->flags = kernel->finish_node(kernel, &storage.node, &c->spec->final, result);
    report->flags |= tally__store(c->spec, c->sink, 0, 1, result);
    return TALLY_OK;
}

/* The status flags of a result of no values; none for a user operator. */
static int flags_of_nothing(const tally__spec *spec, const tally__sink *sink) {
    _Alignas(16) unsigned char result[TALLY_RESULT_BYTES];
    char written[TALLY_RESULT_BYTES];
    tally__sink here = {written, sink->type, TALLY_RESULT_BYTES, false};
    tally__node_storage storage;
    int flags;
    if (spec->user != NULL) return 0;
    spec->kernel->give_nothing(spec->kernel, &storage.node);
    flags = spec->kernel->finish_node(spec->kernel, &storage.node, &spec->final, result);
    return flags | tally__store(spec, &here, 0, 1, result);
}

/* Checks that the caller's scratch memory is on the GPU of the call. */
static tally_status check_given(const tally__call *c) {
    const void *given = c->spec->options.scratch;
    tally__memory of_given =
        given != NULL ? tally__memory_of(c->gpu->driver, given) : (tally__memory){TALLY_IN_DEVICE, c->gpu->ordinal};
    TALLY_CHECK(of_given.kind == TALLY_IN_DEVICE && of_given.ordinal == c->gpu->ordinal, BAD_ARGUMENT,
                "options.scratch is no memory of GPU %d", c->gpu->ordinal);
    return TALLY_OK;
}

static tally_status reduce_here(tally__call *c, tally__report *report) {
    const bool needs_staging = tally__call_needs_staging(c);
    const tally_segments row = tally_rows(1, c->in.count, 1);
    TALLY_TRY(check_given(c));
    if (tally__is_exact_row(c)) return tally__reduce_exact_rows(c, &row, report);
    if (!c->sink_on_device) return reduce_to_host(c, report);
    TALLY_TRY(tally__launch_whole(c, 0, c->in.count, 0, TALLY_GIVES_RESULT,
                                  needs_staging ? 0 : (tally__cu_address)(uintptr_t)c->sink->data));
    if (c->in.count == 0) report->flags = flags_of_nothing(c->spec, c->sink); /* known without waiting */
    return tally__call_finalize(c, c->scratch.node, 1, 0, report);
}

static tally_status reduce_on(const tally__platform *platform, const tally__spec *spec, const tally__input *in,
                              const tally__sink *sink, tally__report *report) {
    tally__call c;
    tally_status status = tally__call_open(&c, platform, spec, in, NULL, sink);
    if (status == TALLY_OK) status = reduce_here(&c, report);
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

/* ---- for states ---- */

/* Opens a call for arrays that lie on a GPU. The caller closes it, also after a failure. */
static tally_status begin_far(const tally__spec *spec, const tally__input *in, tally__call *c) {
    TALLY_TRY(tally__call_open(c, tally__platform_of(&spec->options), spec, in, NULL, NULL));
    TALLY_CHECK(c->copy_count == 0, BAD_ARGUMENT,
                "the two arrays lie in different memory: both must be in that of one GPU, or both in the host's");
    return check_given(c);
}

static tally_status far_tree(const tally__spec *spec, const tally__input *in, int64_t begin, int64_t n, int64_t first,
                             tally__node *node) {
    tally__call c;
    tally_status status = begin_far(spec, in, &c);
    if (status == TALLY_OK) status = tally__launch_whole(&c, begin, n, first, TALLY_GIVES_NODE, 0);
    if (status == TALLY_OK) status = tally__call_fetch(&c, node, c.scratch.node, tally__geometry_of(spec).node_size);
    tally__call_close(&c);
    return status;
}

/* Copies n values, fewer than a leaf, that lie `stride` bytes apart: at once if they lie side by side, otherwise one by
 * one. */
static tally_status copy_far(const tally__call *c, const char *from, int64_t stride, int64_t n, char *to) {
    const tally__driver *driver = c->gpu->driver;
    int64_t bytes = (int64_t)tally__geometry_of(c->spec).value_bytes, pieces = stride == bytes ? 1 : n;
    for (int64_t i = 0; i < pieces; i++)
        TALLY_TRY(tally__gpu_check(driver,
                                   driver->copy_out(to + i * bytes, (tally__cu_address)(uintptr_t)(from + i * stride),
                                                    (size_t)(n / pieces * bytes), c->stream),
                                   "copy values"));
    return TALLY_OK;
}

static tally_status far_values(const tally__spec *spec, const tally__input *in, int64_t begin, int64_t n, void *x,
                               void *y) {
    tally__call c;
    tally_status status;
    if (n == 0) return TALLY_OK;
    status = begin_far(spec, in, &c);
    if (status == TALLY_OK) status = copy_far(&c, in->x + begin * in->x_stride, in->x_stride, n, x);
    if (status == TALLY_OK && spec->inputs == 2)
        status = copy_far(&c, in->y + begin * in->y_stride, in->y_stride, n, y);
    if (status == TALLY_OK)
        status = tally__gpu_check(c.gpu->driver, c.gpu->driver->stream_wait(c.stream), "copy values");
    tally__call_close(&c);
    return status;
}

static tally_status far_store(const tally__spec *spec, void *to, const void *bytes, size_t count) {
    const tally__input none = {.count = 0};
    const tally__sink sink = {.data = to};
    tally__call c;
    tally_status status = tally__call_open(&c, tally__platform_of(&spec->options), spec, &none, NULL, &sink);
    if (status == TALLY_OK) status = tally__call_store(&c, (tally__cu_address)(uintptr_t)to, bytes, count);
    tally__call_close(&c);
    return status;
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
        .far_tree = far_tree, .far_values = far_values, .far_store = far_store, .holds = platform##_holds,          \
        .may_hold = platform##_may_hold, .nodes = &tally__cuda_nodes, .open_plan = tally__open_plan,                \
        .close_plan = tally__close_plan, .forget = platform##_forget,                                               \
    }
const tally__backend tally__cuda_backend = TALLY_GPU_BACKEND(cuda);
const tally__backend tally__simt_backend = TALLY_GPU_BACKEND(simt);
