/* The cuda backend, and the same on the simulator: a whole array by one launch of a kernel of kernels/production. */
#include <stdio.h>
#include <string.h>

#include "cuda/call.h"
#include "cuda/groups.h"
#include "cuda/merge.h"
#include "cuda/units.h"
#include "cuda/plans.h"
#include "cuda/nodes.h"
#include "cuda/rows.h"
#include "cuda/segments.h"
#include "cuda/nvidia.h"
#include "segments/cut.h"
#include "plan.h"

enum { MAILBOX = 2 }; /* it has 64 bits for 32 (kernels/device/mailbox.h) */

/* ---- one launch ---- */

static void shape_ordered(const tally__call *c, int64_t count, tally_work *work, int64_t *blocks, size_t *node_bytes) {
    int64_t leaves = (count + c->spec->kernel->leaf - 1) / c->spec->kernel->leaf, nodes = 0;
    work->run = 0;
    /* Long runs save arrivals, short ones share the work evenly (measured: docs/design/005). */
    while (work->run < 3 && leaves >> work->run > 16 * (int64_t)c->gpu->multiprocessors) work->run++;
    while (leaves >> work->run > (int64_t)TALLY_MOST_TILES * TALLY_TILE_WARPS) work->run++;
    *blocks = (leaves + ((int64_t)TALLY_TILE_WARPS << work->run) - 1) / ((int64_t)TALLY_TILE_WARPS << work->run);
    if (*blocks == 0) *blocks = 1;
    for (int64_t level = *blocks; level > 1; level = (level + TALLY_FAN - 1) / TALLY_FAN) nodes += level;
    *node_bytes = (size_t)nodes * MAILBOX * c->spec->kernel->node_size;
}
/* Shorter runs make more tiles than these only of fewer values. */
size_t tally__node_bytes_at_most(const tally__spec *spec, int64_t count) {
    int64_t leaves = count / spec->kernel->leaf + 1, tiles = leaves / TALLY_TILE_WARPS + 1, nodes = 0;
    if (spec->exact) return 0;
    if (tiles > TALLY_MOST_TILES + 1) tiles = TALLY_MOST_TILES + 1;
    for (int64_t level = tiles; level > 1; level = (level + TALLY_FAN - 1) / TALLY_FAN) nodes += level;
    return (size_t)nodes * MAILBOX * spec->kernel->node_size;
}
static void shape_exact(const tally__call *c, const tally__loaded *loaded, int64_t count, int64_t *blocks) {
    int64_t leaves = (count + c->spec->kernel->leaf - 1) / c->spec->kernel->leaf;
    *blocks = (leaves + TALLY_TILE_WARPS - 1) / TALLY_TILE_WARPS;
    if (*blocks > loaded->resident_blocks) *blocks = loaded->resident_blocks;
    if (*blocks > TALLY_MOST_BLOCKS) *blocks = TALLY_MOST_BLOCKS;
    if (*blocks == 0) *blocks = 1;
}

/* Few values are added in a few doubles each way (kernels/production/small_exact.h), whose results have formats that
 * those can be rounded to. One block has up to SMALL_ALONE rounds; more than that are spread over as many blocks as
 * there may be. Measured: docs/design/005. */
enum { SMALL_ALONE = 8 };
static bool is_small(const tally__spec *spec, int64_t count) {
    const int32_t digits = spec->final.format.digits; /* none of a tally_stats, whose numbers are f64 */
    return spec->exact && (digits == 0 || digits >= 24) &&
           count <= (int64_t)TALLY_SMALL_BLOCKS * TALLY_SMALL_ROUNDS * TALLY_SMALL_ROUND_BYTES /
                        (int64_t)spec->kernel->value_bytes;
}
static void shape_small(const tally__call *c, int64_t count, tally_work *work, int64_t *blocks) {
    const int64_t round = TALLY_SMALL_ROUND_BYTES / (int64_t)c->spec->kernel->value_bytes,
                  rounds = count > 0 ? (count + round - 1) / round : 1;
    const int64_t each = rounds <= SMALL_ALONE ? rounds : (rounds + TALLY_SMALL_BLOCKS - 1) / TALLY_SMALL_BLOCKS;
    work->run = (int32_t)each;
    *blocks = (rounds + each - 1) / each;
}

/* What a launch gives: the node, or the natural result. */
typedef enum gives { GIVES_NODE, GIVES_RESULT } gives;

/* Launches the reduction of n values from `begin` on, the first of which has index `first`. `to` is device memory for
 * what it gives; 0: the scratch memory for a node. */
static tally_status launch(tally__call *c, int64_t begin, int64_t n, int64_t first, gives what, tally__cu_address to) {
    const tally__input *in = &c->in;
    /* Of no values there need be no address. */
    tally_work work = {.x = begin > 0 ? in->x + begin * in->x_stride : in->x,
                       .y = begin > 0 ? in->y + begin * in->y_stride : in->y,
                       .x_stride = in->x_stride,
                       .y_stride = in->y_stride,
                       .count = n,
                       .first = first,
                       .final = c->spec->final};
    const bool small = what == GIVES_RESULT && is_small(c->spec, n);
    tally__loaded loaded;
    int64_t blocks;
    size_t node_bytes = 0;
    const tally__form form = small ? TALLY_FORM_SMALL : TALLY_FORM_WHOLE;
    if (what == GIVES_RESULT && c->sink != NULL) TALLY_TRY(tally__call_prepare(c, &form, 1));
    TALLY_TRY(tally__gpu_kernel(c->gpu, c->spec, form, &loaded));
    if (small)
        shape_small(c, n, &work, &blocks);
    else if (c->spec->exact)
        shape_exact(c, &loaded, n, &blocks);
    else
        shape_ordered(c, n, &work, &blocks, &node_bytes);
    TALLY_TRY(tally__gpu_scratch(c->gpu, c->spec->context, c->stream, TALLY_FOR_BOXES, node_bytes,
                                 (tally__cu_address)(uintptr_t)c->spec->options.scratch, c->spec->options.scratch_bytes,
                                 &c->scratch));
    work.nodes = (char *)(uintptr_t)(c->spec->exact ? c->scratch.sums : c->scratch.nodes);
    work.arrivals = (uint32_t *)(uintptr_t)c->scratch.arrivals;
    *(what == GIVES_NODE ? &work.node : &work.result) = (void *)(uintptr_t)(to != 0 ? to : c->scratch.node);
    return tally__call_launch(c, loaded.function, blocks, TALLY_START_BEHIND, &work);
}

tally_status tally__launch_node(tally__call *call, tally__cu_address to) {
    return launch(call, 0, call->in.count, 0, GIVES_NODE, to);
}

/* The host finishes a node, and so knows all that is to be told; the text of an operator of the caller's own finishes
 * its own. */
static tally_status reduce_to_host(tally__call *c, tally__report *report) {
    const tally__kernel *kernel = c->spec->kernel;
    _Alignas(16) unsigned char result[TALLY_RESULT_BYTES];
    tally__room room;
    bool finished = c->spec->user != NULL;
    TALLY_TRY(launch(c, 0, c->in.count, 0, finished ? GIVES_RESULT : GIVES_NODE, 0));
    TALLY_TRY(tally__call_fetch(c, finished ? (void *)result : &room, c->scratch.node,
                                finished ? kernel->result_bytes : kernel->node_size));
    if (!finished) report->saw = kernel->finish_node(kernel, &room.node, &c->spec->final, result);
    report->saw |= tally__store(c->spec, c->sink, 0, 1, result);
    return TALLY_OK;
}

/* What is to be told of the result of no values; a result of the caller's own operator is fine. */
static int saw_of_nothing(const tally__spec *spec, const tally__sink *sink) {
    _Alignas(16) unsigned char result[TALLY_RESULT_BYTES];
    char written[TALLY_RESULT_BYTES];
    tally__sink here = {written, sink->type, TALLY_RESULT_BYTES, false};
    tally__room room;
    int saw;
    if (spec->user != NULL) return 0;
    spec->kernel->give_nothing(spec->kernel, &room.node);
    saw = spec->kernel->finish_node(spec->kernel, &room.node, &spec->final, result);
    return saw | tally__store(spec, &here, 0, 1, result);
}

/* Scratch memory of the caller's is that GPU's. */
static tally_status check_given(const tally__call *c) {
    const void *given = c->spec->options.scratch;
    tally__memory of_given =
        given != NULL ? tally__memory_of(c->gpu->driver, given) : (tally__memory){TALLY_IN_DEVICE, c->gpu->ordinal};
    TALLY_CHECK(of_given.kind == TALLY_IN_DEVICE && of_given.ordinal == c->gpu->ordinal, BAD_ARGUMENT,
                "options.scratch is no memory of GPU %d", c->gpu->ordinal);
    return TALLY_OK;
}

static tally_status reduce_here(tally__call *c, tally__report *report) {
    bool needs_staging = tally__call_needs_staging(c);
    TALLY_TRY(check_given(c));
    if (!c->sink_on_device) return reduce_to_host(c, report);
    TALLY_TRY(
        launch(c, 0, c->in.count, 0, GIVES_RESULT, needs_staging ? 0 : (tally__cu_address)(uintptr_t)c->sink->data));
    if (c->in.count == 0) report->saw = saw_of_nothing(c->spec, c->sink); /* all that is known by now */
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

/* For arrays that lie on a GPU; to be closed. */
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
    if (status == TALLY_OK) status = launch(&c, begin, n, first, GIVES_NODE, 0);
    if (status == TALLY_OK) status = tally__call_fetch(&c, node, c.scratch.node, spec->kernel->node_size);
    tally__call_close(&c);
    return status;
}

/* n values that lie `stride` bytes apart, less than a leaf of them: one by one, unless they lie side by side. */
static tally_status copy_far(const tally__call *c, const char *from, int64_t stride, int64_t n, char *to) {
    const tally__driver *driver = c->gpu->driver;
    int64_t bytes = (int64_t)c->spec->kernel->value_bytes, pieces = stride == bytes ? 1 : n;
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

/* Host-side work on nodes is the CPU's: nodes are the same bytes. */
#define TALLY_GPU_BACKEND(platform)                                                                                 \
    {                                                                                                               \
        .name = #platform, .reduce = platform##_reduce, .segments = platform##_segments, .merge = platform##_merge, \
        .far_tree = far_tree, .far_values = far_values, .far_store = far_store, .holds = platform##_holds,          \
        .nodes = &tally__cuda_nodes, .open_plan = tally__open_plan, .close_plan = tally__close_plan,                \
        .forget = platform##_forget,                                                                                \
    }
const tally__backend tally__cuda_backend = TALLY_GPU_BACKEND(cuda);
const tally__backend tally__simt_backend = TALLY_GPU_BACKEND(simt);
