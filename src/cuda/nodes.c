/* Nodes on a GPU: kernels make them, merge them and finish them (kernels/production/nodes.h, part_nodes.h), all on the
 * caller's stream. */
#include "cuda/nodes.h"

#include "cuda/groups.h"
#include "cuda/shape.h"
#include "cuda/whole.h"
#include "cuda/windows.h"

#include <stdlib.h>
#include <string.h>

#include "grouping.h"
#include "state.h"

enum {
    LONG_BYTES = 1024 * 1024, /* a segment that is worth all blocks */
    MOST_BLOCKS = 64,         /* where each thread has copies of nodes */
    FLAG_BYTES = 64           /* in front of what else is in scratch memory */
};

static void *pointer(tally__cu_address address) { return (void *)(uintptr_t)address; }

static tally_status clear_flags(const tally__call *call, tally__cu_address flags) {
    return tally__call_clear(call, flags, FLAG_BYTES);
}

/* ---- production/nodes.h ---- */

tally_status tally__open_nodes_memory(tally__call *call, int64_t results, size_t bytes, tally__nodes_memory *memory) {
    const bool exact = call->spec->exact;
    tally__scratch scratch = {0};
    memory->blocks = tally__over(results, TALLY_THREADS);
    if (exact && memory->blocks > MOST_BLOCKS) memory->blocks = MOST_BLOCKS;
    const size_t copies =
        exact ? ((size_t)memory->blocks * TALLY_THREADS * 2 * tally__geometry_of(call->spec).node_bytes + 15) / 16 * 16
              : 0;
    TALLY_CHECK(!__builtin_add_overflow(bytes, FLAG_BYTES + copies, &bytes), NO_MEMORY,
                "%lld nodes are more than memory has room for", (long long)results);
    TALLY_TRY(tally__gpu_kernel(call->gpu, call->spec, TALLY_FORM_NODES, &memory->kernel));
    TALLY_TRY(tally__gpu_scratch(call->gpu, call->spec->context, call->stream, TALLY_FOR_NODES, bytes, 0, 0, &scratch));
    memory->flags = scratch.nodes;
    memory->copies = memory->flags + FLAG_BYTES;
    memory->more = memory->copies + copies;
    return clear_flags(call, memory->flags);
}

tally_status tally__launch_on_nodes(tally__call *call, const tally__nodes_memory *memory,
                                    const tally_nodes_work *work) {
    tally_nodes_work own = *work;
    own.most = TALLY_MOST_VALUES;
    own.out.flags = pointer(memory->flags);
    own.copies = pointer(memory->copies);
    return tally__call_launch_resident(call, &memory->kernel, memory->blocks, TALLY_START_BEHIND, &own);
}

/* ---- making ---- */

/* The number of a part's values behind its node, by the only write of the driver's that needs no host memory later. */
static tally_status put_count(const tally__call *call, tally__cu_address node, const tally__nodes_to *to,
                              int64_t count) {
    const tally__driver *driver = call->gpu->driver;
    for (unsigned byte = 0; to->count_at > 0 && byte < 8; byte++)
        TALLY_TRY(tally__gpu_check(
            driver, driver->fill(node + to->count_at + byte, (unsigned char)(count >> 8 * byte), 1, call->stream),
            "write a count"));
    return TALLY_OK;
}

/* One node of values of the call's at a time. A kernel has them in its own form, in which exact ones travel. */
typedef struct maker {
    tally__cu_address own; /* for a node in such a form */
    tally__loaded kernel;  /* that packs it */
} maker;

static tally_status open_maker(tally__call *call, tally__cu_address own, maker *m) {
    m->own = own;
    return call->spec->exact ? TALLY_OK : tally__gpu_kernel(call->gpu, call->spec, TALLY_FORM_NODES, &m->kernel);
}

static tally_status make_node(tally__call *call, const maker *m, const tally__nodes_to *to, int64_t r) {
    const tally__cu_address at = to->at + (uint64_t)r * to->apart;
    const tally_nodes_work work = {
        .nodes = pointer(m->own), .count = 1, .parties = 1, .most = TALLY_MOST_VALUES, .merged = pointer(at)};
    if (call->spec->exact) return tally__launch_node(call, at); /* such nodes have no count beside them */
    TALLY_TRY(tally__launch_node(call, m->own));
    TALLY_TRY(tally__call_launch_resident(call, &m->kernel, 1, TALLY_START_BEHIND, &work));
    return put_count(call, at, to, call->in.count);
}

static int64_t long_length(const tally__spec *spec) {
    return LONG_BYTES / ((int64_t)tally__geometry_of(spec).value_bytes * spec->inputs);
}

/* Those of segments of so many values or more: the kernel leaves them. */
static tally_status make_long_nodes(tally__call *call, const tally__parts *parts, const maker *m, int64_t length,
                                    const tally__nodes_to *to) {
    const tally__input whole = call->in;
    tally_status status = TALLY_OK;
    for (int64_t r = 0; r < parts->count && status == TALLY_OK; r++) {
        if (tally__part_length(parts, r) < length) continue;
        (void)tally__part_input(parts, call->spec, &whole, r, &call->in);
        status = make_node(call, m, to, r);
        call->in = whole;
    }
    return status;
}

/* Begins and ends, by way of memory that is not pinned: the driver has read that when the copy returns (CUDA Driver API
 * reference, "API synchronization behavior"), and nothing waits for the GPU. */
static tally_status send_places(const tally__call *call, const tally__grouping *groups, tally__cu_address to,
                                size_t bytes) {
    const tally__driver *driver = call->gpu->driver;
    char *both = malloc(2 * bytes + 1);
    TALLY_CHECK(both != NULL, NO_MEMORY, "no memory for %zu bytes of an index", 2 * bytes);
    memcpy(both, groups->begins, bytes);
    memcpy(both + bytes, groups->ends, bytes);
    const tally_status status =
        tally__gpu_check(driver, driver->copy_in(to, both, 2 * bytes, call->stream), "copy the segments");
    free(both);
    return status;
}

/* Where segments begin and end that the host knows: begins and ends are copied to `copies`. */
static tally_status copy_parts(const tally__call *call, const tally__parts *parts, tally__cu_address copies,
                               tally_group_work *g) {
    const size_t bytes = (size_t)(parts->count / parts->inner) * sizeof(int64_t);
    *g = (tally_group_work){
        .inner = parts->inner, .vectors = call->in.count / parts->inner, .segments = parts->count / parts->inner};
    if (parts->groups == NULL) return TALLY_OK;
    TALLY_TRY(send_places(call, parts->groups, copies, bytes));
    g->index = pointer(copies);
    g->ends = pointer(copies + bytes);
    g->index_bytes = sizeof(int64_t);
    return TALLY_OK;
}

/* Few segments that the host does not know, of many values: pieces of them keep the device busy. */
static int32_t count_pieces(const tally__call *call, int64_t results, const tally__loaded *kernel) {
    enum { MOST = 64, LEAST_VALUES = 16 * 1024 }; /* of a segment, for each */
    const int64_t at_once = (int64_t)kernel->resident_blocks * (call->spec->exact ? 1 : TALLY_TILE_WARPS);
    int64_t pieces = call->in.count / results / LEAST_VALUES;
    if (pieces > at_once / results) pieces = at_once / results;
    return pieces > MOST ? MOST : pieces > 1 ? (int32_t)pieces : 1;
}

/* Scratch memory for what pieces leave. */
static tally_status open_pieces(tally__call *call, tally_part_nodes_work *work) {
    const tally__kernel *kernel = call->spec->kernel;
    const size_t counters = ((size_t)work->count * sizeof *work->arrivals + 15) / 16 * 16;
    tally__scratch scratch = {0};
    work->piece_bytes = (int64_t)(call->spec->exact ? kernel->node_bytes : kernel->node_size);
    TALLY_TRY(tally__gpu_scratch(call->gpu, call->spec->context, call->stream, TALLY_FOR_FEATURES,
                                 counters + (size_t)(work->count * work->pieces * work->piece_bytes), 0, 0, &scratch));
    work->arrivals = pointer(scratch.nodes);
    work->piece_nodes = pointer(scratch.nodes + counters);
    return tally__call_clear(call, scratch.nodes, counters);
}

/* Those of the pieces of each segment, where order does not show. */
static tally_status merge_pieces(tally__call *call, const tally__loaded *kernel, const tally_part_nodes_work *pieces,
                                 const tally__nodes_to *to) {
    const tally_nodes_work work = {.nodes = pieces->piece_nodes,
                                   .party_stride = pieces->piece_bytes,
                                   .node_stride = pieces->pieces * pieces->piece_bytes,
                                   .count = pieces->count,
                                   .parties = pieces->pieces,
                                   .most = TALLY_MOST_VALUES,
                                   .merged = pointer(to->at),
                                   .merged_stride = (int64_t)to->apart};
    return tally__call_launch_resident(call, kernel, tally__over(work.count, TALLY_THREADS), TALLY_START_BEHIND, &work);
}

/* Nodes of segments of fewer than `least_long` values; of rows, of `length` each. */
static tally_status make_parts(tally__call *call, int64_t results, const tally_group_work *group, int64_t length,
                               int64_t least_long, const tally__nodes_to *to, tally__cu_address flags) {
    const tally__input *in = &call->in;
    tally_part_nodes_work work = {.x = in->x,
                                  .y = in->y,
                                  .x_stride = in->x_stride,
                                  .y_stride = in->y_stride,
                                  .count = results,
                                  .length = length,
                                  .left_length = least_long,
                                  .count_at = (int32_t)to->count_at,
                                  .nodes = pointer(to->at),
                                  .node_stride = (int64_t)to->apart,
                                  .pieces = 1,
                                  .flags = pointer(flags),
                                  .group = *group};
    tally__loaded kernel, merging;
    TALLY_TRY(tally__gpu_kernel(call->gpu, call->spec, TALLY_FORM_PART_NODES, &kernel));
    if (!call->spec->exact) /* even if it is not needed yet: a stream that captures may need it later */
        TALLY_TRY(tally__gpu_kernel(call->gpu, call->spec, TALLY_FORM_NODES, &merging));
    if (least_long == INT64_MAX) work.pieces = count_pieces(call, results, &kernel);
    if (work.pieces > 1) TALLY_TRY(open_pieces(call, &work));
    const int64_t nodes = results * work.pieces, blocks = call->spec->exact ? nodes : nodes / TALLY_TILE_WARPS + 1;
    TALLY_TRY(tally__call_launch_resident(call, &kernel, blocks, TALLY_START_BEHIND, &work));
    return work.pieces > 1 && !call->spec->exact ? merge_pieces(call, &merging, &work, to) : TALLY_OK;
}

static bool has_short_parts(const tally__call *call, const tally__parts *parts) {
    return parts->groups != NULL || parts->length < long_length(call->spec);
}

/* Of segments that the host knows, and of a whole array: those of many values have launches of their own. */
static tally_status make_known(tally__call *call, const tally__parts *parts, const tally__nodes_to *to,
                               tally__cu_address *flags) {
    const size_t own = tally__geometry_of(call->spec).node_size,
                 index = parts != NULL && parts->groups != NULL ? 2 * sizeof(int64_t) * (size_t)parts->count : 0;
    const int64_t least_long = long_length(call->spec);
    tally__scratch scratch = {0};
    tally_group_work group;
    maker m;
    TALLY_TRY(tally__gpu_scratch(call->gpu, call->spec->context, call->stream, TALLY_FOR_COPIES,
                                 FLAG_BYTES + own + index, 0, 0, &scratch));
    *flags = scratch.nodes;
    TALLY_TRY(clear_flags(call, *flags));
    TALLY_TRY(open_maker(call, *flags + FLAG_BYTES, &m));
    if (parts == NULL) return make_node(call, &m, to, 0);
    if (index > 0 && scratch.is_captured) /* a graph would read the index again: each segment has a launch */
        return make_long_nodes(call, parts, &m, 0, to);
    TALLY_TRY(copy_parts(call, parts, *flags + FLAG_BYTES + own, &group));
    if (has_short_parts(call, parts))
        TALLY_TRY(make_parts(call, parts->count, &group, parts->length, least_long, to, *flags));
    return make_long_nodes(call, parts, &m, least_long, to);
}

/* Of segments whose index the GPU alone looks at. */
static tally_status make_unknown(tally__call *call, int64_t results, const tally_segments *segments,
                                 const tally__nodes_to *to, tally__cu_address *flags) {
    tally__scratch scratch = {0};
    tally_group_work group = {.index = call->index,
                              .ends = segments->kind == TALLY_BEGIN_END ? call->ends : NULL,
                              .index_bytes = (int32_t)tally_type_size(segments->index_type),
                              .inner = tally__features(segments),
                              .vectors = call->in.count / tally__features(segments),
                              .segments = segments->count};
    if (segments->kind == TALLY_OFFSETS || segments->kind == TALLY_BEGIN_END) {
        TALLY_TRY(tally__gpu_scratch(call->gpu, call->spec->context, call->stream, TALLY_FOR_COPIES, FLAG_BYTES, 0, 0,
                                     &scratch));
        *flags = scratch.nodes;
        TALLY_TRY(clear_flags(call, *flags));
    } else
        TALLY_TRY(tally__find_places(call, segments, &group, flags));
    return make_parts(call, results, &group, 0, INT64_MAX, to, *flags);
}

tally_status tally__launch_nodes(tally__call *call, const tally__node_parts *what, const tally__nodes_to *to,
                                 tally__cu_address *flags) {
    TALLY_CHECK((uint64_t)what->results < PTRDIFF_MAX / 2 / sizeof(int64_t), NO_MEMORY,
                "%lld nodes are more than memory has room for", (long long)what->results);
    return what->segments != NULL ? make_unknown(call, what->results, what->segments, to, flags)
                                  : make_known(call, what->parts, to, flags);
}

/* ---- for the core ---- */

static tally_status check_place(const tally__spec *spec, const void *nodes) {
    TALLY_CHECK(!spec->exact || (uintptr_t)nodes % sizeof(int64_t) == 0, BAD_ARGUMENT,
                "nodes of exact sums in GPU memory begin at a multiple of %zu bytes", sizeof(int64_t));
    return TALLY_OK;
}

/* Opens the GPU that nodes lie on; to be closed. in: NULL, or the values. */
static tally_status open_call(tally__call *call, const tally__spec *spec, const tally__input *in,
                              const tally_segments *segments, const void *nodes, const tally__sink *sink) {
    const tally__input none = {.x = nodes, .y = nodes};
    *call = (tally__call){0};
    TALLY_TRY(check_place(spec, nodes));
    return tally__call_open(call, tally__platform_of(&spec->options), spec, in != NULL ? in : &none, segments, sink);
}

static tally_status check_reach(const tally__call *call, const void *address, const char *what) {
    const tally__memory memory = tally__memory_of(call->gpu->driver, address);
    TALLY_CHECK(memory.kind != TALLY_IN_HOST &&
                    (memory.kind != TALLY_IN_DEVICE || memory.ordinal == call->gpu->ordinal),
                BAD_ARGUMENT, "%s lie out of reach of GPU %d, where the nodes are", what, call->gpu->ordinal);
    return TALLY_OK;
}

/* What kernels have seen, if that is asked for. */
static tally_status fetch_flags(const tally__call *call, tally__cu_address flags, tally__report *report) {
    int32_t seen = 0;
    if (!call->spec->options.checked) return TALLY_OK;
    TALLY_TRY(tally__call_fetch(call, &seen, flags, sizeof seen));
    report->flags |= seen;
    return TALLY_OK;
}
static tally_status finalize_nodes(const tally__report *report) {
    TALLY_CHECK((report->flags & TALLY_FLAG_BAD_SEGMENTS) == 0, BAD_STATE,
                "a node is damaged: no node has so many values");
    return TALLY_OK;
}

static tally_status reduce_here(tally__call *call, const tally__node_parts *what, void *nodes) {
    tally__report report = {0};
    tally__cu_address flags;
    const tally__nodes_to to = {.at = (tally__cu_address)(uintptr_t)nodes,
                                .apart = tally__geometry_of(call->spec).node_bytes};
    TALLY_TRY(check_reach(call, nodes, "nodes"));
    TALLY_TRY(tally__launch_nodes(call, what, &to, &flags));
    TALLY_TRY(fetch_flags(call, flags, &report));
    TALLY_CHECK((report.flags & TALLY_FLAG_BAD_SEGMENTS) == 0, BAD_SEGMENTS,
                "the segments are no segments of the array");
    return TALLY_OK;
}

static tally_status reduce(const tally__spec *spec, const tally__input *in, const tally__node_parts *what,
                           void *nodes) {
    const tally__sink sink = {.data = nodes};
    tally__call call;
    tally_status status = open_call(&call, spec, in, what->segments, nodes, &sink);
    if (status == TALLY_OK) status = reduce_here(&call, what, nodes);
    tally__call_close(&call);
    return status;
}

/* Of `parties` nodes of each result, at `nodes` and `apart` bytes behind them, one there; moved by `by`, or NULL. */
static tally_status change_here(tally__call *call, int64_t count, char *nodes, int parties, int64_t apart,
                                const int64_t *by) {
    const int64_t bytes = (int64_t)tally__geometry_of(call->spec).node_bytes;
    const tally_nodes_work work = {.nodes = nodes,
                                   .party_stride = apart,
                                   .node_stride = bytes,
                                   .parties = parties,
                                   .are_packed = 1,
                                   .count = count,
                                   .shifts = by,
                                   .merged = nodes,
                                   .merged_stride = bytes};
    tally__nodes_memory memory;
    tally__report report = {0};
    TALLY_TRY(check_reach(call, nodes, "nodes"));
    TALLY_TRY(tally__open_nodes_memory(call, count, 0, &memory));
    TALLY_TRY(tally__launch_on_nodes(call, &memory, &work));
    TALLY_TRY(fetch_flags(call, memory.flags, &report));
    return finalize_nodes(&report);
}

static tally_status merge(const tally__spec *spec, int64_t count, void *into, const void *from) {
    const int64_t apart = (int64_t)((uintptr_t)from - (uintptr_t)into);
    tally__call call;
    tally_status status = open_call(&call, spec, NULL, NULL, into, NULL);
    if (status == TALLY_OK) status = check_place(spec, from);
    if (status == TALLY_OK) status = check_reach(&call, from, "other nodes");
    if (status == TALLY_OK) status = change_here(&call, count, into, 2, apart, NULL);
    tally__call_close(&call);
    return status;
}

static tally_status shift(const tally__spec *spec, int64_t count, void *nodes, const int64_t *by) {
    tally__call call;
    tally_status status = open_call(&call, spec, NULL, NULL, nodes, NULL);
    if (status == TALLY_OK) status = check_reach(&call, by, "what indices move by");
    if (status == TALLY_OK) status = change_here(&call, count, nodes, 1, 0, by);
    tally__call_close(&call);
    return status;
}

static tally_status finish_here(tally__call *call, int64_t count, const void *nodes, tally__report *report) {
    tally__nodes_memory memory;
    TALLY_TRY(check_reach(call, nodes, "nodes"));
    TALLY_TRY(tally__open_nodes_memory(call, count, (size_t)tally__staging_bytes(call, count), &memory));
    const tally_nodes_work work = {.nodes = nodes,
                                   .node_stride = (int64_t)tally__geometry_of(call->spec).node_bytes,
                                   .parties = 1,
                                   .are_packed = 1,
                                   .count = count,
                                   .out = tally__results_of(call, memory.more, NULL)};
    TALLY_TRY(tally__launch_on_nodes(call, &memory, &work));
    TALLY_TRY(tally__call_finalize(call, memory.more, count, memory.flags, report));
    return finalize_nodes(report);
}

static tally_status finish(const tally__spec *spec, int64_t count, const void *nodes, const tally__sink *sink,
                           tally__report *report) {
    tally__call call;
    tally_status status = open_call(&call, spec, NULL, NULL, nodes, sink);
    if (status == TALLY_OK) status = finish_here(&call, count, nodes, report);
    tally__call_close(&call);
    return status;
}

/* ---- windows ---- */

static tally_status open_windows(tally__call *call, const tally__spec *spec, const void *nodes, const void *extents) {
    TALLY_TRY(open_call(call, spec, NULL, NULL, nodes, NULL));
    TALLY_TRY(check_reach(call, nodes, "nodes"));
    TALLY_CHECK((uintptr_t)extents % sizeof(int16_t) == 0, BAD_ARGUMENT, "extents begin at a multiple of 2 bytes");
    return check_reach(call, extents, "extents");
}

static tally_status find_extents(const tally__spec *spec, const tally__node_windows *w, void *nodes, int16_t *extents) {
    tally__call call;
    tally_status status = open_windows(&call, spec, nodes, extents);
    if (status == TALLY_OK) status = tally__launch_extents(&call, w, nodes, extents);
    tally__call_close(&call);
    return status;
}
static tally_status shrink(const tally__spec *spec, const tally__node_windows *w, void *nodes, const int16_t *extents,
                           size_t *bytes) {
    tally__call call;
    tally_status status = open_windows(&call, spec, nodes, extents);
    if (status == TALLY_OK) status = tally__launch_shrink(&call, w, nodes, extents, bytes);
    tally__call_close(&call);
    return status;
}
static tally_status restore(const tally__spec *spec, const tally__node_windows *w, void *nodes,
                            const int16_t *extents) {
    tally__call call;
    tally_status status = open_windows(&call, spec, nodes, extents);
    if (status == TALLY_OK) status = tally__launch_restore(&call, w, nodes, extents);
    tally__call_close(&call);
    return status;
}

/* ---- memory ---- */

static tally_status allocate(const tally__spec *spec, const void *beside, size_t bytes, void **memory) {
    tally__cu_address there = 0;
    tally__call call;
    tally_status status = open_call(&call, spec, NULL, NULL, beside, NULL);
    if (status == TALLY_OK)
        status = tally__gpu_check(call.gpu->driver, call.gpu->driver->allocate(&there, bytes > 0 ? bytes : 1),
                                  "give memory for nodes");
    tally__call_close(&call);
    *memory = pointer(there);
    return status;
}

static tally_status wait(const tally__spec *spec, const void *there) {
    tally__call call;
    tally_status status = open_call(&call, spec, NULL, NULL, there, NULL);
    if (status == TALLY_OK)
        status = tally__gpu_check(call.gpu->driver, call.gpu->driver->stream_wait(call.stream), "finish its work");
    tally__call_close(&call);
    return status;
}

static tally_status fetch(const tally__spec *spec, void *to, const void *nodes, size_t bytes) {
    tally__call call;
    tally_status status = open_call(&call, spec, NULL, NULL, nodes, NULL);
    if (status == TALLY_OK) status = tally__call_fetch(&call, to, (tally__cu_address)(uintptr_t)nodes, bytes);
    tally__call_close(&call);
    return status;
}

static tally_status release(const tally__spec *spec, void *memory) {
    tally__call call;
    tally_status status = open_call(&call, spec, NULL, NULL, memory, NULL);
    if (status == TALLY_OK)
        status = tally__gpu_check(call.gpu->driver, call.gpu->driver->release((tally__cu_address)(uintptr_t)memory),
                                  "give memory back");
    tally__call_close(&call);
    return status;
}

const tally__gpu_nodes tally__cuda_nodes = {.reduce = reduce,
                                            .merge = merge,
                                            .shift = shift,
                                            .finish = finish,
                                            .find_extents = find_extents,
                                            .shrink = shrink,
                                            .restore = restore,
                                            .fetch = fetch,
                                            .allocate = allocate,
                                            .wait = wait,
                                            .release = release};
