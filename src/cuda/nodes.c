/* Nodes on a GPU: kernels merge and finish them (kernels/production/ranks/nodes.h), all on the caller's stream.
 * make_nodes.c makes them. */
#include "cuda/nodes.h"

#include "cuda/shape.h"
#include "cuda/windows.h"
#include "state.h"

enum { MOST_BLOCKS = 64 }; /* where each thread has copies of nodes */

/* ---- production/ranks/nodes.h ---- */

tally_status tally__open_nodes_memory(tally__call *call, int64_t results, size_t bytes, tally__nodes_memory *memory) {
    const bool exact = call->spec->exact;
    tally__scratch scratch = {0};
    memory->blocks = tally__over(results, TALLY_THREADS);
    if (exact && memory->blocks > MOST_BLOCKS) memory->blocks = MOST_BLOCKS;
    const size_t copies =
        exact ? ((size_t)memory->blocks * TALLY_THREADS * 2 * tally__geometry_of(call->spec).node_bytes + 15) / 16 * 16
              : 0;
    TALLY_CHECK(!__builtin_add_overflow(bytes, TALLY_NODES_FLAGS + copies, &bytes), NO_MEMORY,
                "%lld nodes are more than memory has room for", (long long)results);
    TALLY_TRY(tally__gpu_kernel(call->gpu, call->spec, TALLY_FORM_NODES, &memory->kernel));
    TALLY_TRY(tally__gpu_scratch(call->gpu, call->spec->context, call->stream, TALLY_FOR_NODES, bytes, 0, 0, &scratch));
    memory->flags = scratch.nodes;
    memory->copies = memory->flags + TALLY_NODES_FLAGS;
    memory->more = memory->copies + copies;
    return tally__call_clear(call, memory->flags, TALLY_NODES_FLAGS);
}

tally_status tally__launch_on_nodes(tally__call *call, const tally__nodes_memory *memory,
                                    const tally_nodes_work *work) {
    tally_nodes_work own = *work;
    own.most = TALLY_MOST_VALUES;
    own.out.flags = tally__pointer(memory->flags);
    own.copies = tally__pointer(memory->copies);
    return tally__call_launch_resident(call, &memory->kernel, memory->blocks, TALLY_START_BEHIND, &own);
}

/* ---- for the core ---- */

static tally_status check_place(const tally__spec *spec, const void *nodes) {
    TALLY_CHECK(!spec->exact || (uintptr_t)nodes % sizeof(int64_t) == 0, BAD_ARGUMENT,
                "nodes of exact sums in GPU memory must begin at a multiple of %zu bytes", sizeof(int64_t));
    return TALLY_OK;
}

/* Opens the GPU that nodes lie on. The caller closes the call, also after a failure. in: the values, or NULL. */
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

/* Fetches the status flags that kernels set, if options.checked asks for that. */
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
    const tally__nodes_to to = {.at = tally__address(nodes), .apart = tally__geometry_of(call->spec).node_bytes};
    TALLY_TRY(check_reach(call, nodes, "nodes"));
    TALLY_TRY(tally__launch_nodes(call, what, &to, &flags));
    TALLY_TRY(fetch_flags(call, flags, &report));
    TALLY_CHECK((report.flags & TALLY_FLAG_BAD_SEGMENTS) == 0, BAD_SEGMENTS,
                "the segments are invalid: an offset, length or id does not fit the array");
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

/* Merges the `parties` nodes of each result, which lie `apart` bytes apart, into the first. by: NULL, or how far the
 * index in each is moved. */
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
    TALLY_CHECK((uintptr_t)extents % sizeof(int16_t) == 0, BAD_ARGUMENT, "extents must begin at a multiple of 2 bytes");
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
    *memory = tally__pointer(there);
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
    if (status == TALLY_OK) status = tally__call_fetch(&call, to, tally__address(nodes), bytes);
    tally__call_close(&call);
    return status;
}

static tally_status release(const tally__spec *spec, void *memory) {
    tally__call call;
    tally_status status = open_call(&call, spec, NULL, NULL, memory, NULL);
    if (status == TALLY_OK)
        status =
            tally__gpu_check(call.gpu->driver, call.gpu->driver->release(tally__address(memory)), "give memory back");
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
