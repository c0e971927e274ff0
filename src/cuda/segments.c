/* Segments on a GPU: a cut becomes offsets, offsets become tiles (kernels/production/cut.h), tiles give results and leaves of segments that run
 * over their edges, and those are combined (kernels/production/segments.h). All of it on one stream; nothing is asked of the GPU before the
 * results are wanted. */
#include "cuda/segments.h"

#include "lib/cut.h"

/* A call with its cut, as the GPU reaches it, and what kernels are told. */
typedef struct job {
    tally__call *call;
    tally_segments cut;
    int64_t results;
    tally_work work;
    tally__cu_address room; /* for results that do not go where they belong at once */
} job;

/* ---- memory ---- */

/* Parts of the scratch memory, one behind the other. */
static int64_t take(int64_t *at, int64_t bytes) {
    int64_t begin = *at;
    *at += (bytes + 15) / 16 * 16;
    return begin;
}

/* Of a bit for each segment. */
static int64_t mark_bytes(int64_t segments) { return (segments + 31) / 32 * 4; }

/* What the kernels need to know, and where they may write. */
static tally_status shape(job *j) {
    tally__call *c = j->call;
    tally_work *work = &j->work;
    tally_cut_work *cut = &work->cut;
    const tally__kernel *kernel = c->spec->kernel;
    int64_t count = c->in.count, segments = j->results, at = 0, bytes, rungs;
    int64_t saw, edges, nodes, arrivals, offsets, sums, results, unsure;
    const bool needs_room = tally__call_needs_room(c), is_rows = j->cut.cut == TALLY_ROWS;
    /* Of a leaf a power of two is reckoned, though structs may leave some of it unused. */
    cut->weight = c->spec->type == TALLY_STRUCT ? TALLY_LEAF_BYTES_EACH / (int32_t)kernel->leaf : (int32_t)kernel->value_bytes * c->spec->inputs;
    cut->leaf = (int32_t)kernel->leaf;
    TALLY_CHECK(!__builtin_mul_overflow(count, (int64_t)cut->weight, &bytes) && segments < INT64_MAX / 64 && bytes < INT64_MAX / 64, NO_MEMORY,
                "%lld values in %lld segments are more than a GPU has memory for", (long long)count, (long long)segments);
    bytes += TALLY_END_BYTES * segments;
    cut->count = segments;
    cut->tiles = bytes / TALLY_TILE_BYTES + 1;
    TALLY_CHECK(cut->tiles < INT32_MAX, UNSUPPORTED, "%lld values in %lld segments are more than this version reduces on a GPU at once",
                (long long)count, (long long)segments);
    cut->cells = (bytes >> tally_leaf_shift(cut)) + 2;
    cut->index = c->index;
    cut->index_bytes = (int32_t)tally_type_size(j->cut.index_type);
    cut->offset_bytes = j->cut.cut == TALLY_OFFSETS ? cut->index_bytes : count <= INT32_MAX ? 4 : 8;
    rungs = tally_all_pitches(2 * cut->cells + 2);
    saw = take(&at, sizeof *work->saw);
    edges = take(&at, (cut->tiles + 1) * (int64_t)sizeof *cut->edges);
    nodes = take(&at, rungs * (c->spec->exact ? TALLY_QUICK_NODE_BYTES : (int64_t)kernel->node_size));
    arrivals = take(&at, tally_all_pitches(cut->cells / TALLY_FAN + 1) * (int64_t)sizeof *work->arrivals);
    offsets = take(&at, j->cut.cut == TALLY_OFFSETS ? 0 : (segments + 1) * cut->offset_bytes);
    sums = take(&at, j->cut.cut == TALLY_LENGTHS ? (segments / TALLY_LENGTHS_BLOCK + 2) * (int64_t)sizeof *cut->sums : 0);
    unsure = take(&at, c->spec->exact ? mark_bytes(segments) : 0);
    results = take(&at, needs_room ? segments * (int64_t)c->spec->result_bytes : 0);
    TALLY_TRY(tally__gpu_scratch(c->gpu, c->spec->context, c->stream, TALLY_FOR_NODES, (size_t)at, 0, 0, &c->scratch));
#define PLACE(offset) ((void *)(uintptr_t)(c->scratch.nodes + (tally__cu_address)(offset)))
    *work = (tally_work){.x = c->in.x, .y = c->in.y, .x_stride = c->in.x_stride, .y_stride = c->in.y_stride, .count = count, .length = is_rows ? j->cut.length : 0,
                         .inner = is_rows ? j->cut.inner : 0, .final = c->spec->final,
                         .saw = PLACE(saw), .nodes = PLACE(nodes), .arrivals = PLACE(arrivals), .cut = *cut};
    cut->edges = PLACE(edges);
    cut->offsets = j->cut.cut == TALLY_OFFSETS ? (char *)(uintptr_t)cut->index : PLACE(offsets);
    cut->sums = PLACE(sums);
    cut->unsure = PLACE(unsure);
    j->room = (tally__cu_address)(uintptr_t)PLACE(results);
    work->result = needs_room ? PLACE(results) : c->sink->data;
    cut->result_stride = needs_room ? (int64_t)c->spec->result_bytes : c->sink->stride;
#undef PLACE
    return TALLY_OK;
}

/* ---- kernels ---- */

static int64_t shares(int64_t all, int64_t each) { return (all + each - 1) / each; }

/* The cut's edges; the first kernel clears *saw, but where it is the first to look at the index. */
static tally_status prepare(const job *j) {
    enum { SUMS, SCAN, LENGTHS, OWNERS, ROWS };
    const tally__call *c = j->call;
    const tally_cut_work *cut = &j->work.cut;
    int64_t blocks = shares(cut->count, TALLY_LENGTHS_BLOCK);
    tally__loaded kernels;
    TALLY_TRY(tally__gpu_kernel(c->gpu, NULL, TALLY_FORM_CUT, &kernels));
    if (j->cut.cut == TALLY_LENGTHS) {
        TALLY_TRY(tally__call_launch(c, kernels.more[SUMS], blocks, &j->work));
        TALLY_TRY(tally__call_launch(c, kernels.more[SCAN], 1, &j->work));
        TALLY_TRY(tally__call_launch(c, kernels.more[LENGTHS], blocks, &j->work));
    } else if (j->cut.cut == TALLY_OWNERS) {
        tally__cu_address saw = (tally__cu_address)(uintptr_t)j->work.saw;
        TALLY_TRY(tally__gpu_check(c->gpu->driver, c->gpu->driver->fill(saw, 0, sizeof *j->work.saw, c->stream), "clear a word"));
        TALLY_TRY(tally__call_launch(c, kernels.more[OWNERS], shares(c->in.count + cut->count + 1, TALLY_OWNERS_BLOCK), &j->work));
    } else if (j->cut.cut == TALLY_ROWS)
        TALLY_TRY(tally__call_launch(c, kernels.more[ROWS], shares(j->results + 1, TALLY_OFFSETS_BLOCK), &j->work));
    return tally__call_launch(c, kernels.function, shares(cut->tiles + 1, TALLY_EDGES_BLOCK), &j->work);
}

/* Exact sums in few doubles first; where they are not sure they mark segments for a kernel that is. */
static tally_status reduce(const job *j) {
    const tally__call *c = j->call;
    const tally__driver *driver = c->gpu->driver;
    const tally_cut_work *cut = &j->work.cut;
    tally__cu_address marks = (tally__cu_address)(uintptr_t)cut->unsure;
    tally__loaded kernels, careful;
    TALLY_TRY(tally__gpu_kernel(c->gpu, c->spec, TALLY_FORM_SEGMENTS, &kernels));
    if (c->spec->exact) {
        TALLY_TRY(tally__gpu_kernel(c->gpu, c->spec, TALLY_FORM_CAREFUL, &careful));
        TALLY_TRY(tally__gpu_check(driver, driver->fill(marks, 0, (size_t)mark_bytes(cut->count), c->stream), "clear marks"));
    }
    TALLY_TRY(tally__call_launch(c, kernels.function, cut->tiles, &j->work));
    TALLY_TRY(tally__call_launch(c, kernels.more[0], shares(cut->tiles, TALLY_TILE_WARPS), &j->work));
    return c->spec->exact ? tally__call_launch(c, careful.function, careful.resident_blocks, &j->work) : TALLY_OK;
}

static tally_status refuse(const job *j) {
    static const char *const whys[] = {[TALLY_OFFSETS] = "an offset is negative, below the one before it or beyond the array",
                                       [TALLY_LENGTHS] = "a length is negative or the lengths add up to too much",
                                       [TALLY_OWNERS] = "an owner is below the one before it or not one of the segments",
                                       [TALLY_ROWS] = "the rows do not make up the array"};
    return tally__fail(TALLY_BAD_CUT, "%s (%lld segments of an array of %lld values)", whys[j->cut.cut], (long long)j->results,
                       (long long)j->call->in.count);
}

tally_status tally__reduce_cut(tally__call *call, const tally_segments *cut, tally__report *report) {
    job j = {.call = call, .cut = *cut, .results = cut->cut == TALLY_ROWS ? cut->count * cut->inner : cut->count};
    TALLY_TRY(shape(&j));
    TALLY_TRY(prepare(&j));
    TALLY_TRY(reduce(&j));
    TALLY_TRY(tally__call_deliver(call, j.room, j.results, (tally__cu_address)(uintptr_t)j.work.saw, report));
    return report->saw & TALLY_SAW_BAD_CUT ? refuse(&j) : TALLY_OK;
}
