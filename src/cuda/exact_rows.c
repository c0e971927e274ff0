/* Exact rows of values side by side (kernels/production/rows/exact_lanes.h, exact_parts.h): how blocks share the array,
 * and the launches. They take one; or two, where several blocks share a row: what two doubles do not decide is left to
 * the second (kernels/production/rows/left_rows.h), which is also for rows that lie across others. */
#include "cuda/exact_rows.h"

#include "cuda/units.h"
#include "cuda/shape.h"
#include "partition/partition.h"

static tally_status launch(const tally__call *c, tally__form form, int64_t blocks, const void *work,
                           size_t work_bytes) {
    tally__loaded kernel;
    TALLY_CHECK(blocks <= INT32_MAX, UNSUPPORTED, "the array has too many rows for one launch");
    TALLY_TRY(tally__gpu_kernel(c->gpu, c->spec, form, &kernel));
    return tally__launch_kernel(c, &kernel, kernel.first, blocks, TALLY_START_BEHIND, work, work_bytes);
}

/* ---- rows that are left ---- */

enum { LEFT_BLOCKS = 4 /* on each multiprocessor */ };
int64_t tally__limb_bytes(const tally__call *call, int64_t rows) {
    enum { MOST_ROWS_WITH_LIMBS = 8192 };
    return rows > MOST_ROWS_WITH_LIMBS ? 0 : rows * (int64_t)tally__geometry_of(call->spec).node_size;
}
tally_status tally__launch_left(const tally__call *call, tally_left_work work) {
    tally__loaded kernel;
    work.x_stride = call->in.x_stride;
    work.y_stride = call->in.y_stride;
    work.wanted = call->wanted;
    TALLY_TRY(tally__gpu_kernel(call->gpu, call->spec, TALLY_FORM_LEFT, &kernel));
    return tally__call_launch(call, &kernel, kernel.first, LEFT_BLOCKS * call->gpu->multiprocessors, TALLY_START_EARLY,
                              &work);
}

/* ---- scratch memory, of which status flags come first ---- */

static tally_status open_scratch(tally__call *c, uint64_t bytes, uint64_t at_results, bool has_flags,
                                 tally_results *out) {
    TALLY_TRY(
        tally__gpu_scratch(c->gpu, c->spec->context, c->stream, TALLY_FOR_NODES, (size_t)bytes, 0, 0, &c->scratch));
    const tally__cu_address flags = has_flags ? c->scratch.nodes : 0;
    *out = tally__results_of(c, c->scratch.nodes + at_results, tally__pointer(flags));
    return has_flags ? tally__call_clear(c, flags, sizeof *out->flags) : TALLY_OK;
}
static tally_status close_scratch(tally__call *c, uint64_t at_results, int64_t rows, const tally_results *out,
                                  tally__report *report) {
    return tally__call_finalize(c, c->scratch.nodes + at_results, rows, tally__address(out->flags), report);
}

/* ---- rows of values side by side ---- */

enum { RESIDENT = 24 }; /* warps that a multiprocessor holds */
static int64_t value_bytes(const tally__call *c) { return (int64_t)tally__geometry_of(c->spec).value_bytes; }
static int64_t bytes_of_row(const tally__call *c, int64_t length) { return length * value_bytes(c) * c->spec->inputs; }

bool tally__are_alike(const tally__call *call) { return ((uintptr_t)call->in.x ^ (uintptr_t)call->in.y) % 16 == 0; }
bool tally__are_exact_rows(const tally__call *call, const tally_segments *segments) {
    return call->spec->exact && segments->inner == 1 && segments->length > TALLY_SHORT_APART &&
           tally__are_alike(call) && tally__are_packed(call, value_bytes(call));
}
/* Whether all warps of a block have a row: it is long, and rows are few, so that warps with a row each would not all
 * be done at the same time. */
static bool are_long(const tally__call *c, int64_t rows, int64_t length) {
    enum { WARP_BYTES = 16 << 10 /* up to which a warp has a row, however few rows there are */ };
    return length > TALLY_LANE_VALUES * TALLY_WARP ||
           (bytes_of_row(c, length) > WARP_BYTES && rows < 3 * RESIDENT * (int64_t)c->gpu->multiprocessors);
}

/* Sets how many lanes a row has, and how many rows a warp: few lanes for short rows, which then take fewer steps to
 * meet, and several rows, so that results cost less; but half as many warps as a GPU holds, or more, if there are
 * enough rows. Gives the blocks. */
static int64_t share_lanes(const tally__call *c, tally_lanes_work *work) {
    enum { LEAST = 1, MOST = 5, MOST_TURNS = 2, LANE_BYTES = 256, ENOUGH = RESIDENT / 2 };
    const int64_t bytes = bytes_of_row(c, work->length), lanes = (int64_t)c->gpu->multiprocessors * ENOUGH * TALLY_WARP;
    int32_t log = LEAST, turns;
    while (log < MOST && (bytes > (int64_t)LANE_BYTES << log || work->rows << log < lanes)) log++;
    turns = log == MOST || log < MOST_TURNS ? 1 : MOST_TURNS;
    while (turns > 0 && work->rows << log < lanes << turns) turns--;
    work->log_lanes = log;
    work->log_rows = MOST - log + turns;
    return tally__over(tally__over(work->rows, (int64_t)1 << work->log_rows), TALLY_WARPS);
}
static tally_status reduce_by_lanes(tally__call *c, const tally_segments *segments, tally__report *report) {
    static const tally__form forms[] = {TALLY_FORM_LANES};
    tally_lanes_work work = {
        .x = c->in.x, .y = c->in.y, .rows = segments->count, .length = segments->length, .wanted = c->wanted};
    const int64_t blocks = share_lanes(c, &work);
    uint64_t bytes = 0;
    tally__take(&bytes, sizeof *work.out.flags);
    const uint64_t at_results = tally__take(&bytes, tally__staging_bytes(c, work.rows));
    TALLY_TRY(tally__call_prepare(c, forms, 1));
    TALLY_TRY(open_scratch(c, bytes, at_results, tally__call_waits(c), &work.out));
    TALLY_TRY(launch(c, TALLY_FORM_LANES, blocks, &work, sizeof work));
    return close_scratch(c, at_results, work.rows, &work.out, report);
}

/* Divides long rows into parts. A block has a row, if rows are enough for blocks to be done at about the same time.
 * Else parts are so small that each multiprocessor has several for each block that it holds, one after another. Lanes
 * have whole batches of a part. */
static void divide_rows_into_parts(const tally__call *c, tally_parts_work *work) {
    enum { FEW_ROWS = 8, TURNS = 4, LEAST_BYTES = 64 << 10, MOST_BYTES = 256 << 10, BATCH = TALLY_THREADS * 64 };
    const int64_t multiprocessors = c->gpu->multiprocessors, batch = BATCH / value_bytes(c),
                  mean =
                      bytes_of_row(c, work->rows * work->length) / (multiprocessors * (RESIDENT / TALLY_WARPS) * TURNS),
                  bytes = mean < LEAST_BYTES ? LEAST_BYTES : tally__least(mean, MOST_BYTES);
    int64_t most = TALLY_LANE_VALUES * TALLY_THREADS;
    if (work->rows < FEW_ROWS * multiprocessors) most = tally__least(bytes / bytes_of_row(c, 1), most);
    const int64_t parts = tally__over(work->length, most),
                  even = tally__over(tally__over(work->length, parts), batch) * batch;
    work->part_values = (int32_t)even;
    work->parts = (int32_t)tally__over(work->length, even);
    work->last_values = (int32_t)(work->length - (work->parts - 1) * even);
}
/* Launches the kernels; the second, if several blocks share a row, adds up again what the first leaves. */
static tally_status launch_parts(const tally__call *c, const tally_parts_work *work) {
    const tally_left_work left = {.x = work->x,
                                  .y = work->y,
                                  .rows = work->rows,
                                  .length = work->length,
                                  .inner = 1,
                                  .left = work->left,
                                  .out = work->out};
    TALLY_TRY(launch(c, TALLY_FORM_ROWS, work->rows * work->parts, work, sizeof *work));
    return work->parts > 1 ? tally__launch_left(c, left) : TALLY_OK;
}
/* The same of `each` rows at a time: for as many there are counters. */
static tally_status launch_some(const tally__call *c, const tally_parts_work *work, int64_t each) {
    for (int64_t first = 0; first < work->rows; first += each) {
        const int64_t at = first * work->length * value_bytes(c);
        tally_parts_work some = *work;
        some.rows = tally__least(each, work->rows - first);
        some.x += at;
        some.y += at;
        some.out.result = (char *)work->out.result + first * work->out.result_stride;
        TALLY_TRY(launch_parts(c, &some));
    }
    return TALLY_OK;
}
static tally_status reduce_by_parts(tally__call *c, const tally_segments *segments, tally__report *report) {
    static const tally__form forms[] = {TALLY_FORM_ROWS, TALLY_FORM_LEFT};
    tally_parts_work work = {
        .x = c->in.x, .y = c->in.y, .rows = segments->count, .length = segments->length, .wanted = c->wanted};
    uint64_t bytes = 0;
    divide_rows_into_parts(c, &work);
    work.row_nodes = tally_all_pitches(work.parts);
    work.left.counters = tally_all_counters(work.parts);
    const int64_t each = tally__least(work.rows, work.parts == 1 ? INT32_MAX : TALLY_ARRIVALS / work.left.counters),
                  shared = work.parts == 1 ? 0 : each, limb_bytes = tally__limb_bytes(c, shared);
    tally__take(&bytes, sizeof *work.out.flags);
    const uint64_t at_nodes = tally__take(&bytes, shared * work.row_nodes * TALLY_EXPANSION_NODE_BYTES),
                   at_limbs = tally__take(&bytes, limb_bytes),
                   at_unsure = tally__take(&bytes, shared * (int64_t)sizeof *work.left.unsure),
                   at_results = tally__take(&bytes, tally__staging_bytes(c, work.rows));
    TALLY_TRY(tally__call_prepare(c, forms, work.parts == 1 ? 1 : 2));
    TALLY_TRY(open_scratch(c, bytes, at_results, tally__call_waits(c), &work.out));
    const tally__cu_address memory = c->scratch.nodes;
    work.nodes = tally__pointer(memory + at_nodes);
    work.left.arrivals = tally__pointer(c->scratch.arrivals);
    work.left.limbs = limb_bytes > 0 ? tally__pointer(memory + at_limbs) : NULL;
    work.left.unsure = tally__pointer(memory + at_unsure);
    TALLY_TRY(launch_some(c, &work, each));
    return close_scratch(c, at_results, work.rows, &work.out, report);
}

tally_status tally__reduce_exact_rows(tally__call *c, const tally_segments *segments, tally__report *report) {
    return are_long(c, segments->count, segments->length) ? reduce_by_parts(c, segments, report)
                                                          : reduce_by_lanes(c, segments, report);
}

/* ---- whole arrays ---- */

bool tally__may_be_exact_row(const tally__spec *spec) {
    const tally__geometry sizes = tally__geometry_of(spec);
    const bool are_squares = !sizes.adds_values && spec->inputs == 1; /* of f32 and f64 levels are faster */
    return spec->exact && sizes.adds_products && !(are_squares && sizes.value_bytes > 2) &&
           spec->options.scratch == NULL;
}
bool tally__is_exact_row(const tally__call *call) {
    enum { LEAST_BYTES = 4 << 20, LEAST_OF_EACH = 1 << 17 /* for each multiprocessor: then two launches pay */ };
    const tally_segments row = tally_rows(1, call->in.count, 1);
    const int64_t bytes = bytes_of_row(call, row.length);
    return tally__may_be_exact_row(call->spec) && tally__are_exact_rows(call, &row) && bytes >= LEAST_BYTES &&
           bytes >= LEAST_OF_EACH * (int64_t)call->gpu->multiprocessors;
}
