/* Exact rows that lie across others (kernels/production/exact_columns.h): how blocks share the array, and the launches.
 * Numbers of limbs in memory are emptied, added to, and rounded; the first and the last kernel are those of segments
 * (kernels/production/flat.h). */
#include "cuda/exact_columns.h"

#include "cuda/units.h"
#include "cuda/shape.h"

enum {
    MOST_ROWS = 256, /* of a lane in one chunk: kernels/production/exact_columns.h counts on it */
    LEAST_ROWS = 8,  /* chunks are halved down to these, until a multiprocessor has BLOCKS */
    BLOCKS = 2,
    ALONE_ROWS = 32,  /* so few rows of a lane are never divided, which saves launches */
    MOST_GROUPS = 64, /* numbers of limbs of a row, */
    NODES = 1024      /* so that there are so many: blocks seldom meet */
};

bool tally__are_exact_columns(const tally__call *call, const tally_segments *segments) {
    enum { FEW = 8, LEAST = 8 };
    const bool are_few = segments->count * segments->inner <= FEW * (int64_t)call->gpu->multiprocessors;
    return call->spec->exact && call->spec->user == NULL && segments->inner > 1 &&
           segments->length > (are_few ? LEAST : TALLY__SHORT_ROW);
}

/* Rows of memory: whether 16 bytes can be read at once, how many are read as one, and how many values side by side a
 * block has. */
static void shape_rows(const tally__call *c, tally_columns_work *work) {
    const tally__geometry sizes = tally__geometry_of(c->spec);
    const int64_t bytes = (int64_t)sizes.value_bytes, part = 16 / bytes, values = work->length * work->inner,
                  most = TALLY_EXACT_COLUMNS_ACROSS_OF(bytes, sizes.adds_values, sizes.adds_products) * part;
    const bool is_packed = ((uintptr_t)work->x | (uintptr_t)work->y) % 16 == 0 && work->x_stride == bytes &&
                           work->y_stride == bytes && (work->outer == 1 || values % part == 0);
    int64_t together = 1; /* rows that begin as evenly as the first */
    while (work->inner * together % part != 0) together *= 2;
    work->is_even = is_packed && (together == 1 || work->inner * together <= most);
    if (!work->is_even) together = 1;
    const int64_t times = most / (work->inner * together);
    work->width = work->inner * (times > 0 ? together * times : 1);
    work->rows = tally__over(values, work->width);
    work->panels = tally__over(work->width, most);
    work->panel = (int32_t)(tally__over(tally__over(work->width, work->panels), part) * part);
    work->log_across = tally__log_above(work->panel / part);
}
static void divide_rows(const tally__call *c, tally_columns_work *work) {
    const int64_t at_once = TALLY_TILE_WARPS * (32 >> work->log_across),
                  busy = BLOCKS * (int64_t)c->gpu->multiprocessors;
    int64_t each = MOST_ROWS;
    if (tally__over(work->rows, at_once) > ALONE_ROWS)
        while (each > LEAST_ROWS && work->outer * work->panels * tally__over(work->rows, each * at_once) < busy)
            each /= 2;
    work->chunk_rows = (int32_t)(each * at_once);
    work->chunks = tally__over(work->rows, work->chunk_rows);
    work->groups = tally__least(tally__least(NODES / (work->outer * work->inner) + 1, MOST_GROUPS), work->chunks);
}
/* Whether a block has all values of its rows, and one slot for each: then it makes results. */
static bool are_whole(const tally__call *c, const tally_columns_work *work) {
    const tally__geometry sizes = tally__geometry_of(c->spec);
    return work->chunks == 1 && work->width == work->inner &&
           1 << work->log_across ==
               TALLY_EXACT_COLUMNS_ACROSS_OF((int64_t)sizes.value_bytes, sizes.adds_values, sizes.adds_products);
}

/* The numbers of limbs, for the kernels that empty and round them. */
static tally_segments_work numbers_of(const tally_columns_work *work) {
    return (tally_segments_work){.nodes = work->nodes,
                                 .out = work->out,
                                 .partition = {.count = work->outer * work->inner,
                                               .groups = work->groups,
                                               .unsure = work->unsure,
                                               .row = work->length},
                                 .wanted = work->wanted};
}

static tally_status launch(const tally__call *c, const tally_columns_work *work) {
    const int64_t rows = work->outer * work->inner, blocks = work->outer * work->panels * work->chunks,
                  node_bytes = (int64_t)tally__geometry_of(c->spec).node_size,
                  finishing = work->groups > 1 ? TALLY_TILE_WARPS : TALLY_FINISHED_OF(node_bytes), /* by a block */
        clearing = tally__over(rows * work->groups, TALLY_TILE_WARPS), most = 8 * c->gpu->multiprocessors;
    const tally_segments_work numbers = numbers_of(work);
    tally__loaded columns, flat;
    TALLY_CHECK(blocks <= INT32_MAX, UNSUPPORTED, "the array has too many rows for one launch");
    TALLY_TRY(tally__gpu_kernel(c->gpu, c->spec, TALLY_FORM_COLUMNS, &columns));
    TALLY_TRY(tally__gpu_kernel(c->gpu, c->spec, TALLY_FORM_FLAT, &flat));
    if (work->unsure == NULL)
        TALLY_TRY(tally__call_launch(c, &flat, TALLY_ENTRY_flat_clear, tally__least(clearing, most), TALLY_START_BEHIND,
                                     &numbers));
    TALLY_TRY(tally__call_launch(c, &columns, columns.first, blocks,
                                 work->unsure == NULL ? TALLY_START_EARLY : TALLY_START_BEHIND, work));
    return tally__call_launch(c, &flat, TALLY_ENTRY_flat_finish, tally__over(rows, finishing), TALLY_START_EARLY,
                              &numbers);
}

tally_status tally__reduce_exact_columns(tally__call *c, const tally_segments *segments, tally__report *report) {
    static const tally__form forms[] = {TALLY_FORM_COLUMNS, TALLY_FORM_FLAT};
    const tally__driver *driver = c->gpu->driver;
    const int64_t rows = segments->count * segments->inner;
    tally_columns_work work = {.x = c->in.x,
                               .y = c->in.y,
                               .x_stride = c->in.x_stride,
                               .y_stride = c->in.y_stride,
                               .outer = segments->count,
                               .length = segments->length,
                               .inner = segments->inner,
                               .wanted = c->wanted};
    uint64_t bytes = 0;
    int64_t node_bytes;
    shape_rows(c, &work);
    divide_rows(c, &work);
    TALLY_CHECK(
        !__builtin_mul_overflow(rows * work.groups, (int64_t)tally__geometry_of(c->spec).node_size, &node_bytes),
        NO_MEMORY, "%lld rows are more than a GPU has memory for", (long long)rows);
    const int64_t marks = are_whole(c, &work) ? tally__over(rows, 32) : 0, words = 1 + marks;
    const uint64_t at_words = tally__take(&bytes, words * 4), at_nodes = tally__take(&bytes, node_bytes),
                   at_results = tally__take(&bytes, tally__staging_bytes(c, rows));
    TALLY_TRY(
        tally__gpu_scratch(c->gpu, c->spec->context, c->stream, TALLY_FOR_NODES, (size_t)bytes, 0, 0, &c->scratch));
    const tally__cu_address flags = c->scratch.nodes + at_words, staging = c->scratch.nodes + at_results;
    work.nodes = (char *)(uintptr_t)(c->scratch.nodes + at_nodes);
    work.unsure = marks > 0 ? (uint32_t *)(uintptr_t)flags + 1 : NULL;
    work.out = tally__results_of(c, staging, (int32_t *)(uintptr_t)flags);
    TALLY_TRY(tally__call_prepare(c, forms, sizeof forms / sizeof *forms));
    TALLY_TRY(tally__gpu_check(driver, driver->fill(flags, 0, (size_t)words * 4, c->stream), "clear memory"));
    TALLY_TRY(launch(c, &work));
    return tally__call_finalize(c, staging, rows, flags, report);
}
