/* Makes the nodes of values on a GPU (kernels/production/ranks/part_nodes.h, nodes.h), all on the caller's stream. */
#include "cuda/groups.h"
#include "cuda/nodes.h"
#include "cuda/shape.h"
#include "cuda/whole.h"

#include <stdlib.h>
#include <string.h>

#include "grouping.h"
#include "state.h"

enum { LONG_BYTES = 1024 * 1024 }; /* of a segment that gets a launch of its own */

/* Writes the count of a node's values behind the node, byte by byte. A fill is the driver's only write that reads no
 * host memory: such memory might be gone when the stream gets there. */
static tally_status put_count(const tally__call *call, tally__cu_address node, const tally__nodes_to *to,
                              int64_t count) {
    const tally__driver *driver = call->gpu->driver;
    for (unsigned byte = 0; to->count_at > 0 && byte < 8; byte++)
        TALLY_TRY(tally__gpu_check(
            driver, driver->fill(node + to->count_at + byte, (unsigned char)(count >> 8 * byte), 1, call->stream),
            "write a count"));
    return TALLY_OK;
}

/* Makes nodes one at a time. The kernel of exact sums writes packed nodes; nodes of other kernels are packed by a
 * second kernel. */
typedef struct maker {
    tally__cu_address own; /* room for a node that is not packed yet */
    tally__loaded kernel;  /* packs it */
} maker;

static tally_status open_maker(tally__call *call, tally__cu_address own, maker *m) {
    m->own = own;
    return call->spec->exact ? TALLY_OK : tally__gpu_kernel(call->gpu, call->spec, TALLY_FORM_NODES, &m->kernel);
}

static tally_status make_node(tally__call *call, const maker *m, const tally__nodes_to *to, int64_t r) {
    const tally__cu_address at = to->at + (uint64_t)r * to->apart;
    const tally_nodes_work work = {.nodes = tally__pointer(m->own),
                                   .count = 1,
                                   .parties = 1,
                                   .most = TALLY_MOST_VALUES,
                                   .merged = tally__pointer(at)};
    if (call->spec->exact) return tally__launch_node(call, at); /* its count is in it */
    TALLY_TRY(tally__launch_node(call, m->own));
    TALLY_TRY(tally__call_launch_resident(call, &m->kernel, 1, TALLY_START_BEHIND, &work));
    return put_count(call, at, to, call->in.count);
}

static int64_t long_length(const tally__spec *spec) {
    return LONG_BYTES / ((int64_t)tally__geometry_of(spec).value_bytes * spec->inputs);
}

/* Makes the nodes of segments of `length` or more values, which the kernel of segments leaves out. */
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

/* Copies begins and ends to the GPU without waiting for it. They are in pageable memory, which the driver has read when
 * the copy returns (CUDA Driver API reference, "API synchronization behavior"). */
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

/* Describes segments that the host knows: rows, or begins and ends, which are copied to `copies`. */
static tally_status copy_parts(const tally__call *call, const tally__parts *parts, tally__cu_address copies,
                               tally_group_work *g) {
    const size_t bytes = (size_t)(parts->count / parts->inner) * sizeof(int64_t);
    *g = (tally_group_work){
        .inner = parts->inner, .vectors = call->in.count / parts->inner, .segments = parts->count / parts->inner};
    if (parts->groups == NULL) return TALLY_OK;
    TALLY_TRY(send_places(call, parts->groups, copies, bytes));
    g->index = tally__pointer(copies);
    g->ends = tally__pointer(copies + bytes);
    g->index_bytes = sizeof(int64_t);
    return TALLY_OK;
}

/* How many pieces each segment is divided into, where the host does not know lengths: a few segments of many values
 * would leave multiprocessors idle. */
static int32_t count_pieces(const tally__call *call, int64_t results, const tally__loaded *kernel) {
    enum { MOST = 64, LEAST_VALUES = 16 * 1024 }; /* pieces of a segment; values of a piece, on average */
    const int64_t at_once = (int64_t)kernel->resident_blocks * (call->spec->exact ? 1 : TALLY_WARPS);
    int64_t pieces = call->in.count / results / LEAST_VALUES;
    if (pieces > at_once / results) pieces = at_once / results;
    return pieces > MOST ? MOST : pieces > 1 ? (int32_t)pieces : 1;
}

/* Takes scratch memory for the nodes of pieces, and for counters of finished pieces. */
static tally_status open_pieces(tally__call *call, tally_part_nodes_work *work) {
    const tally__kernel *kernel = call->spec->kernel;
    const size_t counters = ((size_t)work->count * sizeof *work->arrivals + 15) / 16 * 16;
    tally__scratch scratch = {0};
    work->piece_bytes = (int64_t)(call->spec->exact ? kernel->node_bytes : kernel->node_size);
    TALLY_TRY(tally__gpu_scratch(call->gpu, call->spec->context, call->stream, TALLY_FOR_FEATURES,
                                 counters + (size_t)(work->count * work->pieces * work->piece_bytes), 0, 0, &scratch));
    work->arrivals = tally__pointer(scratch.nodes);
    work->piece_nodes = tally__pointer(scratch.nodes + counters);
    return tally__call_clear(call, scratch.nodes, counters);
}

/* Merges the nodes of the pieces of each segment. */
static tally_status merge_pieces(tally__call *call, const tally__loaded *kernel, const tally_part_nodes_work *pieces,
                                 const tally__nodes_to *to) {
    const tally_nodes_work work = {.nodes = pieces->piece_nodes,
                                   .party_stride = pieces->piece_bytes,
                                   .node_stride = pieces->pieces * pieces->piece_bytes,
                                   .count = pieces->count,
                                   .parties = pieces->pieces,
                                   .most = TALLY_MOST_VALUES,
                                   .merged = tally__pointer(to->at),
                                   .merged_stride = (int64_t)to->apart};
    return tally__call_launch_resident(call, kernel, tally__over(work.count, TALLY_THREADS), TALLY_START_BEHIND, &work);
}

/* Makes the nodes of segments of fewer than `least_long` values. length: of rows, the values of each. */
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
                                  .nodes = tally__pointer(to->at),
                                  .node_stride = (int64_t)to->apart,
                                  .pieces = 1,
                                  .flags = tally__pointer(flags),
                                  .group = *group};
    tally__loaded kernel, merging;
    TALLY_TRY(tally__gpu_kernel(call->gpu, call->spec, TALLY_FORM_PART_NODES, &kernel));
    if (!call->spec->exact) /* even if it is not needed yet: a captured stream may need it later */
        TALLY_TRY(tally__gpu_kernel(call->gpu, call->spec, TALLY_FORM_NODES, &merging));
    if (least_long == INT64_MAX) work.pieces = count_pieces(call, results, &kernel);
    if (work.pieces > 1) TALLY_TRY(open_pieces(call, &work));
    const int64_t nodes = results * work.pieces, blocks = call->spec->exact ? nodes : nodes / TALLY_WARPS + 1;
    TALLY_TRY(tally__call_launch_resident(call, &kernel, blocks, TALLY_START_BEHIND, &work));
    return work.pieces > 1 && !call->spec->exact ? merge_pieces(call, &merging, &work, to) : TALLY_OK;
}

static bool has_short_parts(const tally__call *call, const tally__parts *parts) {
    return parts->groups != NULL || parts->length < long_length(call->spec);
}

/* For segments that the host knows, and a whole array: long ones get launches of their own. */
static tally_status make_known(tally__call *call, const tally__parts *parts, const tally__nodes_to *to,
                               tally__cu_address *flags) {
    const size_t own = tally__geometry_of(call->spec).node_size,
                 index = parts != NULL && parts->groups != NULL ? 2 * sizeof(int64_t) * (size_t)parts->count : 0;
    const int64_t least_long = long_length(call->spec);
    tally__scratch scratch = {0};
    tally_group_work group;
    maker m;
    TALLY_TRY(tally__gpu_scratch(call->gpu, call->spec->context, call->stream, TALLY_FOR_COPIES,
                                 TALLY_NODES_FLAGS + own + index, 0, 0, &scratch));
    *flags = scratch.nodes;
    TALLY_TRY(tally__call_clear(call, *flags, TALLY_NODES_FLAGS));
    TALLY_TRY(open_maker(call, *flags + TALLY_NODES_FLAGS, &m));
    if (parts == NULL) return make_node(call, &m, to, 0);
    if (index > 0 &&
        scratch.is_captured) /* a graph would copy the index again, when it is gone: each segment gets a launch */
        return make_long_nodes(call, parts, &m, 0, to);
    TALLY_TRY(copy_parts(call, parts, *flags + TALLY_NODES_FLAGS + own, &group));
    if (has_short_parts(call, parts))
        TALLY_TRY(make_parts(call, parts->count, &group, parts->length, least_long, to, *flags));
    return make_long_nodes(call, parts, &m, least_long, to);
}

/* For segments whose index only the GPU reads. */
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
        TALLY_TRY(tally__gpu_scratch(call->gpu, call->spec->context, call->stream, TALLY_FOR_COPIES, TALLY_NODES_FLAGS,
                                     0, 0, &scratch));
        *flags = scratch.nodes;
        TALLY_TRY(tally__call_clear(call, *flags, TALLY_NODES_FLAGS));
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
