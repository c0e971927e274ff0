/* Exact rows (kernels/production/exact_lanes.h, exact_rows.h, exact_columns.h): how blocks share the array, and the
 * launches. Lanes take one. Of the other two, a first kernel clears numbers of limbs in memory, the second adds to
 * them, and the last rounds them; the first and the last are those of segments (kernels/production/flat.h). */
#include "cuda/exact_rows.h"

#include "cuda/units.h"
#include "cuda/shape.h"

enum {
    BLOCKS = 2,       /* on each multiprocessor */
    MOST_GROUPS = 64, /* the most numbers of limbs of a row */
    NODES = 1024      /* about how many all rows have together, so that blocks seldom add to the same one */
};
static int64_t groups_of(int64_t rows, int64_t chunks) {
    return tally__least(tally__least(NODES / rows + 1, MOST_GROUPS), chunks);
}

/* ---- rows that lie across others ---- */

enum {
    MOST_ROWS = 256, /* the most rows that a lane takes in one chunk: kernels/production/exact_columns.h relies on it */
    LEAST_ROWS = 8,  /* the least: chunks are halved while multiprocessors have fewer than BLOCKS */
    ALONE_ROWS = 32  /* rows of a lane that are never divided, which saves launches */
};

bool tally__are_exact_columns(const tally__call *call, const tally_segments *segments) {
    enum { FEW = 8, LEAST = 8 };
    const bool are_few = segments->count * segments->inner <= FEW * (int64_t)call->gpu->multiprocessors;
    return call->spec->exact && segments->inner > 1 && segments->length > (are_few ? LEAST : TALLY__SHORT_ROW);
}

/* How many values side by side a block can have. */
static int64_t most_columns(const tally__geometry *sizes) {
    const int64_t bytes = (int64_t)sizes->value_bytes;
    return TALLY_EXACT_COLUMNS_ACROSS_OF(bytes, sizes->adds_values, sizes->adds_products) * (16 / bytes);
}
/* Sets whether 16 bytes can be read at once, how many rows of memory are read as one, and how many values side by side
 * a block has. */
static void shape_rows(const tally__call *c, tally_columns_work *work) {
    const tally__geometry sizes = tally__geometry_of(c->spec);
    const int64_t bytes = (int64_t)sizes.value_bytes, part = 16 / bytes, values = work->length * work->inner,
                  most = most_columns(&sizes);
    const bool are_packed = tally__are_packed(c, 16) && (work->outer == 1 || values % part == 0);
    int64_t together = 1; /* rows whose values end at a multiple of 16 bytes, if the first begins at one */
    while (work->inner * together % part != 0) together *= 2;
    work->is_even = are_packed && (together == 1 || work->inner * together <= most);
    if (!work->is_even) together = 1;
    const int64_t times = most / (work->inner * together);
    work->width = work->inner * (times > 0 ? together * times : 1);
    work->rows = tally__over(values, work->width);
    work->panels = tally__over(work->width, most);
    work->panel = (int32_t)(tally__over(tally__over(work->width, work->panels), part) * part);
    work->log_across = tally__log_above(work->panel / part);
}
static void divide_rows(const tally__call *c, tally_columns_work *work) {
    const int64_t at_once = TALLY_WARPS * (32 >> work->log_across), busy = BLOCKS * (int64_t)c->gpu->multiprocessors;
    int64_t each = MOST_ROWS;
    if (tally__over(work->rows, at_once) > ALONE_ROWS)
        while (each > LEAST_ROWS && work->outer * work->panels * tally__over(work->rows, each * at_once) < busy)
            each /= 2;
    work->chunk_rows = (int32_t)(each * at_once);
    work->chunks = tally__over(work->rows, work->chunk_rows);
    work->sums.groups = groups_of(work->outer * work->inner, work->chunks);
}
/* Whether a block has all values of its rows, and one slot for each: then it makes results. */
static bool are_whole(const tally__call *c, const tally_columns_work *work) {
    const tally__geometry sizes = tally__geometry_of(c->spec);
    return work->chunks == 1 && work->width == work->inner &&
           (16 / (int64_t)sizes.value_bytes) << work->log_across == most_columns(&sizes);
}

/* ---- rows of values side by side ---- */

enum {
    SHARE = 8,              /* parts of 16 bytes that a lane reads at once */
    MOST_BYTES = 256 << 10, /* bytes that a block usually reads */
    LEAST_BYTES = 64 << 10  /* and the fewest */
};

/* Whether the addresses of both inputs have the same remainder modulo 16. */
static bool are_alike(const tally__call *call) { return ((uintptr_t)call->in.x ^ (uintptr_t)call->in.y) % 16 == 0; }
static int64_t most_rows(const tally__geometry *sizes) {
    return TALLY_EXACT_ROWS_OF((int64_t)sizes->value_bytes, sizes->adds_values, sizes->adds_products);
}

/* Sets how many rows a block has, and how many columns of digits each row: a block reads few enough bytes to keep all
 * blocks busy, has at most `most` columns, and adds to a column no more values than it holds. */
static void share_rows(tally_exact_rows_work *work, int64_t part_values, int64_t parts, int64_t most, int64_t busy) {
    enum { COLUMN_VALUES = 1 << 13, LOG_LANES = 5 };
    const int64_t at_once = 32 >> work->log_lanes, of_warps = at_once * TALLY_WARPS,
                  mean = work->rows * parts * 16 / busy,
                  bytes = mean < LEAST_BYTES ? LEAST_BYTES : tally__least(mean, MOST_BYTES);
    int64_t rows = tally__least(tally__over(bytes, parts * 16), tally__over(work->rows, busy));
    rows = rows > of_warps ? tally__over(rows, of_warps) * of_warps : tally__over(rows, at_once) * at_once;
    rows = tally__least(rows, most);
    work->log_copies = 0;
    for (;; rows = tally__over(rows, 2)) {
        while (work->log_copies < LOG_LANES && rows << (work->log_copies + 1) <= most) work->log_copies++;
        if (rows == 1 || parts * part_values <= (int64_t)COLUMN_VALUES << work->log_copies) break;
    }
    work->rows_each = (int32_t)rows;
    work->chunk_parts = tally__least(parts, ((int64_t)COLUMN_VALUES << work->log_copies) / part_values);
}
/* Divides a chunk into nearly equal pieces, with the same number for each warp. */
static void cut_chunk(tally_exact_rows_work *work, int64_t value_bytes) {
    enum { ENOUGH = 4 * TALLY_WARPS }; /* pieces: with as many it does not matter that some warps have one more */
    const int64_t lanes = 1 << work->log_lanes, stripes = tally__over(work->chunk_parts, lanes),
                  groups = tally__over(work->rows_each, 32 / lanes);
    int64_t pieces = tally__over(stripes, SHARE * TALLY_EXACT_ROWS_SHARES(value_bytes));
    while (groups * pieces % TALLY_WARPS != 0 && groups * pieces < ENOUGH && pieces * SHARE < stripes) pieces++;
    work->piece_parts = (int32_t)(tally__over(stripes, pieces) * lanes);
    work->pieces = (int32_t)tally__over(work->chunk_parts, work->piece_parts);
}
/* Divides rows into chunks. */
static void cut_rows(const tally__call *c, tally_exact_rows_work *work) {
    const tally__geometry sizes = tally__geometry_of(c->spec);
    const int64_t bytes = (int64_t)sizes.value_bytes, part = 16 / bytes,
                  busy = BLOCKS * (int64_t)c->gpu->multiprocessors,
                  parts = tally__over(work->length + (work->is_even ? 0 : part - 1), part);
    work->log_lanes = (int32_t)tally__least(5, tally__log_above(tally__over(parts, SHARE)));
    const int64_t share = SHARE << work->log_lanes;
    share_rows(work, part, parts, most_rows(&sizes), busy);
    while (tally__over(work->rows, work->rows_each) * tally__over(parts, work->chunk_parts) < busy &&
           work->chunk_parts > 4 * TALLY_WARPS * share)
        work->chunk_parts = tally__over(tally__over(work->chunk_parts, 2), share) * share;
    work->chunks = tally__over(parts, work->chunk_parts);
    cut_chunk(work, bytes);
    work->sums.groups = groups_of(work->rows, work->chunks);
    work->sums.are_whole = work->chunks == 1;
}

/* ---- launches ---- */

/* A launch of one of the three kernels. `out` and `sums` are parts of its parameters, `work`; lanes have no sums. */
typedef struct exact_launch {
    tally__form form;
    const void *work;
    size_t work_bytes;
    tally_results *out;
    tally_row_sums *sums;
    int64_t rows, length, blocks;
    int64_t slots; /* rows of a block, at most */
} exact_launch;

/* Whether blocks have all values of their rows, and make their results. */
static bool makes_results(const exact_launch *l) { return l->sums == NULL || l->sums->are_whole != 0; }
/* The parameters of the kernels that clear and round numbers of limbs. */
static tally_segments_work numbers_of(const tally__call *c, const exact_launch *l) {
    return (tally_segments_work){.nodes = l->sums->nodes,
                                 .out = *l->out,
                                 .partition = {.count = l->rows, .groups = l->sums->groups, .row = l->length},
                                 .wanted = c->wanted};
}
static tally_status launch_kernel(const tally__call *c, const exact_launch *l, tally__start start) {
    tally__loaded kernel;
    TALLY_CHECK(l->blocks <= INT32_MAX, UNSUPPORTED, "the array has too many rows for one launch");
    TALLY_TRY(tally__gpu_kernel(c->gpu, c->spec, l->form, &kernel));
    return tally__launch_kernel(c, &kernel, kernel.first, l->blocks, start, l->work, l->work_bytes);
}
/* The same between the kernels that clear numbers of limbs and round them. */
static tally_status launch_with_numbers(const tally__call *c, const exact_launch *l) {
    const int64_t node_bytes = (int64_t)tally__geometry_of(c->spec).node_size,
                  finishing = l->sums->groups > 1 ? TALLY_WARPS : TALLY_FINISHED_OF(node_bytes), /* by a block */
        clearing = tally__over(l->rows * l->sums->groups, TALLY_WARPS), most = 8 * c->gpu->multiprocessors;
    const tally_segments_work numbers = numbers_of(c, l);
    tally__loaded flat;
    TALLY_TRY(tally__gpu_kernel(c->gpu, c->spec, TALLY_FORM_FLAT, &flat));
    TALLY_TRY(tally__call_launch(c, &flat, TALLY_ENTRY_flat_clear, tally__least(clearing, most), TALLY_START_BEHIND,
                                 &numbers));
    TALLY_TRY(launch_kernel(c, l, TALLY_START_EARLY));
    return tally__call_launch(c, &flat, TALLY_ENTRY_flat_finish, tally__over(l->rows, finishing), TALLY_START_EARLY,
                              &numbers);
}
/* Sets *bytes to those of the nodes that the launch needs. */
static tally_status count_nodes(const tally__call *c, const exact_launch *l, int64_t *bytes) {
    const int64_t nodes = l->sums == NULL    ? 0
                          : makes_results(l) ? l->blocks * TALLY_SLOT_WARPS(l->slots)
                                             : l->rows * l->sums->groups;
    TALLY_CHECK(!__builtin_mul_overflow(nodes, (int64_t)tally__geometry_of(c->spec).node_size, bytes), NO_MEMORY,
                "%lld rows are more than a GPU has memory for", (long long)l->rows);
    return TALLY_OK;
}
static tally_status reduce(tally__call *c, const exact_launch *l, tally__report *report) {
    const tally__form forms[] = {l->form, TALLY_FORM_FLAT};
    uint64_t bytes = 0;
    int64_t node_bytes;
    TALLY_TRY(count_nodes(c, l, &node_bytes));
    const uint64_t at_flags = tally__take(&bytes, sizeof *l->out->flags), at_nodes = tally__take(&bytes, node_bytes),
                   at_results = tally__take(&bytes, tally__staging_bytes(c, l->rows));
    TALLY_TRY(
        tally__gpu_scratch(c->gpu, c->spec->context, c->stream, TALLY_FOR_NODES, (size_t)bytes, 0, 0, &c->scratch));
    const tally__cu_address flags = tally__call_waits(c) || !makes_results(l) ? c->scratch.nodes + at_flags : 0,
                            staging = c->scratch.nodes + at_results;
    if (l->sums != NULL) l->sums->nodes = (char *)(uintptr_t)(c->scratch.nodes + at_nodes);
    *l->out = tally__results_of(c, staging, (int32_t *)(uintptr_t)flags);
    TALLY_TRY(tally__call_prepare(c, forms, makes_results(l) ? 1 : 2));
    if (flags != 0) TALLY_TRY(tally__call_clear(c, flags, sizeof *l->out->flags));
    TALLY_TRY(makes_results(l) ? launch_kernel(c, l, TALLY_START_BEHIND) : launch_with_numbers(c, l));
    return tally__call_finalize(c, staging, l->rows, flags, report);
}

tally_status tally__reduce_exact_columns(tally__call *c, const tally_segments *segments, tally__report *report) {
    const tally__geometry sizes = tally__geometry_of(c->spec);
    tally_columns_work work = {.x = c->in.x,
                               .y = c->in.y,
                               .x_stride = c->in.x_stride,
                               .y_stride = c->in.y_stride,
                               .outer = segments->count,
                               .length = segments->length,
                               .inner = segments->inner,
                               .wanted = c->wanted};
    shape_rows(c, &work);
    divide_rows(c, &work);
    work.sums.are_whole = are_whole(c, &work);
    const exact_launch l = {.form = TALLY_FORM_COLUMNS,
                            .work = &work,
                            .work_bytes = sizeof work,
                            .out = &work.sums.out,
                            .sums = &work.sums,
                            .rows = segments->count * segments->inner,
                            .length = segments->length,
                            .blocks = work.outer * work.panels * work.chunks,
                            .slots = most_columns(&sizes)};
    return reduce(c, &l, report);
}

/* ---- rows of values side by side, by some lanes each ---- */

enum {
    LANE_VALUES = 480,     /* the most values of a lane: for these errors are bounded (kernels/compensated/nodes.h) */
    WARP_BYTES = 16 << 10, /* bytes of a row, up to which a warp has it, however few rows there are */
    RESIDENT = 24,         /* warps that a multiprocessor holds */
    FEW_ROWS = 8 /* rows that blocks have, for each multiprocessor: of fewer, several blocks had better share one */
};
static int64_t bytes_of_row(const tally__call *c, int64_t length) {
    return length * (int64_t)tally__geometry_of(c->spec).value_bytes * c->spec->inputs;
}
/* Whether all warps of a block have a row: it is long, and rows are few, so that warps with a row each would not all
 * be done at the same time. */
static bool are_long(const tally__call *c, int64_t rows, int64_t length) {
    return length > LANE_VALUES * TALLY_WARP ||
           (bytes_of_row(c, length) > WARP_BYTES && rows < 3 * RESIDENT * (int64_t)c->gpu->multiprocessors);
}
/* Whether lanes have rows, and not blocks parts of them (measured: docs/design/012). */
static bool are_for_lanes(const tally__call *c, int64_t rows, int64_t length) {
    return !are_long(c, rows, length) ||
           (length <= LANE_VALUES * TALLY_THREADS && rows >= FEW_ROWS * (int64_t)c->gpu->multiprocessors);
}
/* Sets how many lanes a row has, and how many rows a warp: few lanes for short rows, which then take fewer steps to
 * meet, and several rows, so that results cost less; but half as many warps as a GPU holds, or more, if there are
 * enough rows. Gives the blocks. */
static int64_t share_lanes(const tally__call *c, tally_lanes_work *work) {
    enum { LEAST = 1, MOST = 5, MOST_TURNS = 2, LANE_BYTES = 256, ENOUGH = RESIDENT / 2 };
    const int64_t bytes = bytes_of_row(c, work->length), lanes = (int64_t)c->gpu->multiprocessors * ENOUGH * TALLY_WARP;
    int32_t log = LEAST, turns;
    if (are_long(c, work->rows, work->length)) {
        work->are_long = 1;
        work->log_lanes = MOST;
        return work->rows;
    }
    while (log < MOST && (bytes > (int64_t)LANE_BYTES << log || work->rows << log < lanes)) log++;
    turns = log == MOST || log < MOST_TURNS ? 1 : MOST_TURNS;
    while (turns > 0 && work->rows << log < lanes << turns) turns--;
    work->log_lanes = log;
    work->log_rows = MOST - log + turns;
    return tally__over(tally__over(work->rows, (int64_t)1 << work->log_rows), TALLY_WARPS);
}
static tally_status reduce_by_lanes(tally__call *c, int64_t rows, int64_t length, tally__report *report) {
    tally_lanes_work work = {.x = c->in.x, .y = c->in.y, .rows = rows, .length = length, .wanted = c->wanted};
    const exact_launch l = {.form = TALLY_FORM_LANES,
                            .work = &work,
                            .work_bytes = sizeof work,
                            .out = &work.out,
                            .rows = rows,
                            .length = length,
                            .blocks = share_lanes(c, &work)};
    return reduce(c, &l, report);
}

/* Of products of 2-byte floats, tiles of segments are faster than blocks that have parts of rows: measured. */
bool tally__are_exact_rows(const tally__call *call, const tally_segments *segments) {
    const int64_t bytes = (int64_t)tally__geometry_of(call->spec).value_bytes;
    if (!call->spec->exact || segments->inner > 1 || segments->length <= TALLY_SHORT_APART) return false;
    if (!tally__are_packed(call, bytes) || !are_alike(call)) return false;
    return are_for_lanes(call, segments->count, segments->length) || !(call->spec->inputs == 2 && bytes == 2);
}
tally_status tally__reduce_exact_rows(tally__call *c, const tally_segments *segments, tally__report *report) {
    if (are_for_lanes(c, segments->count, segments->length))
        return reduce_by_lanes(c, segments->count, segments->length, report);
    const tally__geometry sizes = tally__geometry_of(c->spec);
    const int64_t bytes = (int64_t)sizes.value_bytes, begin = (int64_t)((uintptr_t)c->in.x % 16);
    tally_exact_rows_work work = {.x = c->in.x - begin,
                                  .y = c->in.y - begin,
                                  .before = (int32_t)(begin / bytes),
                                  .rows = segments->count,
                                  .length = segments->length,
                                  .is_even = begin == 0 && segments->length * bytes % 16 == 0,
                                  .wanted = c->wanted};
    cut_rows(c, &work);
    const exact_launch l = {.form = TALLY_FORM_ROWS,
                            .work = &work,
                            .work_bytes = sizeof work,
                            .out = &work.sums.out,
                            .sums = &work.sums,
                            .rows = work.rows,
                            .length = work.length,
                            .blocks = tally__over(work.rows, work.rows_each) * work.chunks,
                            .slots = most_rows(&sizes)};
    return reduce(c, &l, report);
}
