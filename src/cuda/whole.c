/* Whole arrays: one launch of a kernel (kernels/production/arrays/reduce.h, reduce_exact.h, small_exact.h), and the way
 * of its result; or, of large exact products, as a row. */
#include "cuda/whole.h"

#include "cuda/exact_rows.h"
#include "cuda/shape.h"
#include "cuda/units.h"

enum { MAILBOX = 2 }; /* a mailbox has twice the size of a node: 64 bits for 32 (kernels/device/mailbox.h) */

static void shape_ordered(const tally__call *c, int64_t count, tally_array_work *work, int64_t *blocks,
                          size_t *node_bytes) {
    const int64_t leaves = tally__over(count, tally__geometry_of(c->spec).leaf);
    int64_t nodes, groups;
    work->run = 0;
    /* Long runs take fewer atomic operations, short ones share the work more evenly (measured: docs/design/005). */
    while (work->run < 3 && leaves >> work->run > 16 * (int64_t)c->gpu->multiprocessors) work->run++;
    while (leaves >> work->run > (int64_t)TALLY_MOST_TILES * TALLY_WARPS) work->run++;
    *blocks = tally__over(leaves, (int64_t)TALLY_WARPS << work->run);
    if (*blocks == 0) *blocks = 1;
    tally__count_tree(*blocks, TALLY_FAN, &nodes, &groups);
    *node_bytes = (size_t)nodes * MAILBOX * tally__geometry_of(c->spec).node_size;
}
/* An upper bound for any GPU: it assumes the shortest runs, up to the most tiles that there may be. */
size_t tally__node_bytes_at_most(const tally__spec *spec, int64_t count) {
    const int64_t leaves = count / tally__geometry_of(spec).leaf + 1,
                  tiles = tally__least(leaves / TALLY_WARPS, TALLY_MOST_TILES) + 1;
    int64_t nodes, groups;
    if (spec->exact) return 0;
    tally__count_tree(tiles, TALLY_FAN, &nodes, &groups);
    return (size_t)nodes * MAILBOX * tally__geometry_of(spec).node_size;
}
static void shape_exact(const tally__call *c, const tally__loaded *loaded, int64_t count, int64_t *blocks) {
    const int64_t leaves = tally__over(count, tally__geometry_of(c->spec).leaf),
                  most = tally__least(loaded->resident_blocks, TALLY_MOST_BLOCKS);
    *blocks = leaves == 0 ? 1 : tally__least(tally__over(leaves, TALLY_WARPS), most);
}

/* Small arrays are added up in a few doubles (kernels/production/arrays/small_exact.h), which can be rounded to f32 and
 * f64. One block does up to SMALL_ALONE iterations; more are spread over TALLY_SMALL_BLOCKS. See docs/design/005. */
enum { SMALL_ALONE = 8 };
static bool is_small(const tally__spec *spec, int64_t count) {
    const int32_t digits = spec->final.format.digits; /* 0 for a tally_stats, whose numbers are f64 */
    return spec->exact && (digits == 0 || digits >= 24) &&
           count <= (int64_t)TALLY_SMALL_BLOCKS * TALLY_SMALL_ITERATIONS * TALLY_SMALL_ITERATION_BYTES /
                        (int64_t)tally__geometry_of(spec).value_bytes;
}
static void shape_small(const tally__call *c, int64_t count, tally_array_work *work, int64_t *blocks) {
    const int64_t values = TALLY_SMALL_ITERATION_BYTES / (int64_t)tally__geometry_of(c->spec).value_bytes,
                  iterations = count > 0 ? tally__over(count, values) : 1;
    const int64_t each = iterations <= SMALL_ALONE ? iterations : tally__over(iterations, TALLY_SMALL_BLOCKS);
    work->iterations = (int32_t)each;
    *blocks = tally__over(iterations, each);
}

tally_status tally__launch_whole(tally__call *c, int64_t begin, int64_t n, int64_t first, tally__writes what,
                                 tally__cu_address to) {
    const tally__input *in = &c->in;
    /* x and y may be NULL where there are no values: nothing is added to NULL. */
    tally_array_work work = {.x = begin > 0 ? in->x + begin * in->x_stride : in->x,
                             .y = begin > 0 ? in->y + begin * in->y_stride : in->y,
                             .x_stride = in->x_stride,
                             .y_stride = in->y_stride,
                             .count = n,
                             .first = first,
                             .out.final = c->spec->final};
    const bool small = what == TALLY_WRITES_RESULT && is_small(c->spec, n);
    tally__loaded loaded;
    int64_t blocks;
    size_t node_bytes = 0;
    const tally__form form = small ? TALLY_FORM_SMALL : TALLY_FORM_WHOLE;
    if (what == TALLY_WRITES_RESULT && c->sink != NULL) TALLY_TRY(tally__call_prepare(c, &form, 1));
    TALLY_TRY(tally__gpu_kernel(c->gpu, c->spec, form, &loaded));
    if (small)
        shape_small(c, n, &work, &blocks);
    else if (c->spec->exact)
        shape_exact(c, &loaded, n, &blocks);
    else
        shape_ordered(c, n, &work, &blocks, &node_bytes);
    TALLY_TRY(tally__gpu_scratch(c->gpu, c->spec->context, c->stream, TALLY_FOR_BOXES, node_bytes,
                                 tally__address(c->spec->options.scratch), c->spec->options.scratch_bytes,
                                 &c->scratch));
    work.nodes = tally__pointer(c->spec->exact ? c->scratch.sums : c->scratch.nodes);
    work.arrivals = tally__pointer(c->scratch.arrivals);
    *(what == TALLY_WRITES_NODE ? &work.node : &work.out.result) = tally__pointer(to != 0 ? to : c->scratch.node);
    return tally__call_launch(c, &loaded, loaded.first, blocks, TALLY_START_BEHIND, &work);
}

tally_status tally__launch_node(tally__call *call, tally__cu_address to) {
    return tally__launch_whole(call, 0, call->in.count, 0, TALLY_WRITES_NODE, to);
}

/* ---- a call ---- */

/* The GPU makes a node, and the host finishes it, so it knows all flags. Operators given as text are finished on the
 * GPU. */
static tally_status reduce_to_host(tally__call *c, tally__report *report) {
    const tally__kernel *kernel = c->spec->kernel;
    _Alignas(16) unsigned char result[TALLY_RESULT_BYTES];
    tally__node_storage storage;
    bool finished = c->spec->user != NULL;
    TALLY_TRY(tally__launch_whole(c, 0, c->in.count, 0, finished ? TALLY_WRITES_RESULT : TALLY_WRITES_NODE, 0));
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

tally_status tally__check_given(const tally__call *c) {
    const void *given = c->spec->options.scratch;
    tally__memory of_given =
        given != NULL ? tally__memory_of(c->gpu->driver, given) : (tally__memory){TALLY_IN_DEVICE, c->gpu->ordinal};
    TALLY_CHECK(of_given.kind == TALLY_IN_DEVICE && of_given.ordinal == c->gpu->ordinal, BAD_ARGUMENT,
                "options.scratch is no memory of GPU %d", c->gpu->ordinal);
    return TALLY_OK;
}

tally_status tally__reduce_whole(tally__call *c, tally__report *report) {
    const bool needs_staging = tally__call_needs_staging(c);
    const tally_segments row = tally_rows(1, c->in.count, 1);
    TALLY_TRY(tally__check_given(c));
    if (tally__is_exact_row(c)) return tally__reduce_exact_rows(c, &row, report);
    if (!c->sink_on_device) return reduce_to_host(c, report);
    TALLY_TRY(tally__launch_whole(c, 0, c->in.count, 0, TALLY_WRITES_RESULT,
                                  needs_staging ? 0 : tally__address(c->sink->data)));
    if (c->in.count == 0) report->flags = flags_of_nothing(c->spec, c->sink); /* known without waiting */
    return tally__call_finalize(c, c->scratch.node, 1, 0, report);
}
