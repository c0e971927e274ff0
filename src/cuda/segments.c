/* Segments on a GPU: a cut becomes offsets, or stays owners, and tiles (kernels/production/cut.h), tiles give results and leaves of segments that run
 * over their edges, and those are combined (kernels/production/segments.h). All of it on one stream; nothing is asked of the GPU before the
 * results are wanted. */
#include "cuda/segments.h"

#include "lib/cut.h"
#include "plan.h"

/* What a GPU has of a plan: offsets, checked, and their edges for values of one size. */
struct tally__gpu_plan {
    tally__gpu *gpu;
    tally__cu_address memory, copy; /* its own; copy: of offsets that lie in host memory, or 0 */
    tally_cut_work cut;
};

/* A call with its cut, and what kernels are told. */
typedef struct job {
    tally__call *call;
    tally_segments cut;
    const tally__gpu_plan *plan; /* that it is made ready by, or NULL */
    bool reduces;                /* or makes a plan */
    int64_t results;
    tally__start_rows *start;    /* launches what comes first, or NULL: production/segments.h */
    const void *start_plan;
    size_t start_bytes;          /* for its nodes */
    tally_work work;
    tally__cu_address room; /* for results that do not go where they belong at once */
} job;

/* Whether production/flat.h has all segments, and nothing is tried before. */
#ifdef TALLY_FLAT_ALWAYS
static bool is_flat(const tally__spec *spec) { return spec->exact; }
#else
static bool is_flat(const tally__spec *spec) { return (void)spec, false; }
#endif

/* ---- memory ---- */

/* Whether tiles look at the owners themselves, which spares writing and reading an offset for each segment: where there are many, measured. For a plan, which is
 * for many calls, owners become offsets, and where a leaf's owners would take much of a tile. */
static bool tiles_look_at_owners(const job *j) {
    enum { FEW_VALUES = 6 }; /* in a segment, on average */
    const int64_t bytes = (int64_t)tally_type_size(j->cut.index_type);
    return j->cut.cut == TALLY_OWNERS && j->reduces && !is_flat(j->call->spec) && j->call->in.count / FEW_VALUES <= j->results && (uintptr_t)j->call->index % (uintptr_t)bytes == 0 &&
           j->call->spec->kernel->leaf * bytes <= TALLY_TILE_BYTES / 2;
}

/* What the kernels need to know of sizes. */
static tally_status measure(job *j) {
    const tally__kernel *kernel = j->call->spec->kernel;
    tally_cut_work *cut = &j->work.cut;
    int64_t count = j->call->in.count, bytes;
    /* Of a leaf a power of two is reckoned, though structs may leave some of it unused. */
    cut->weight = j->call->spec->type == TALLY_STRUCT ? TALLY_LEAF_BYTES_EACH / (int32_t)kernel->leaf
                                                      : (int32_t)kernel->value_bytes * j->call->spec->inputs;
    cut->leaf = (int32_t)kernel->leaf;
    cut->index_bytes = (int32_t)tally_type_size(j->cut.index_type);
    cut->owners = tiles_look_at_owners(j) ? j->call->index : NULL;
    cut->tile_bytes = TALLY_TILE_BYTES;
    if (cut->owners != NULL) cut->weight += cut->index_bytes, cut->tile_bytes -= cut->leaf * cut->index_bytes; /* rooms have so much for the values of a leaf, too */
    TALLY_CHECK(!__builtin_mul_overflow(count, (int64_t)cut->weight, &bytes) && j->results < INT64_MAX / 64 && bytes < INT64_MAX / 64, NO_MEMORY,
                "%lld values in %lld segments are more than a GPU has memory for", (long long)count, (long long)j->results);
    cut->offset_bytes = j->plan != NULL                       ? j->plan->cut.offset_bytes
                        : j->cut.cut == TALLY_OFFSETS          ? cut->index_bytes
                        : cut->owners != NULL                  ? TALLY_END_BYTES
                        : count <= INT32_MAX                   ? 4
                                                               : 8;
    bytes += cut->offset_bytes * j->results;
    cut->count = j->results;
    cut->tiles = bytes / cut->tile_bytes + 1;
    TALLY_CHECK(cut->tiles < INT32_MAX, UNSUPPORTED, "%lld values in %lld segments are more than this version reduces on a GPU at once",
                (long long)count, (long long)j->results);
    cut->cells = (cut->owners != NULL ? count / cut->leaf : bytes >> tally_leaf_shift(cut)) + 2;
    cut->index = j->call->index;
    cut->row = j->cut.cut == TALLY_ROWS ? j->cut.length : 0;
    return TALLY_OK;
}

static bool plan_has_edges(const job *j) {
    return j->plan != NULL && j->plan->cut.weight == j->work.cut.weight && j->plan->cut.leaf == j->work.cut.leaf;
}

static int64_t shares(int64_t all, int64_t each) { return (all + each - 1) / each; }
static int64_t owner_blocks(const job *j) { return shares(j->call->in.count + j->work.cut.count + 1, TALLY_OWNERS_BLOCK); }

/* Parts of the scratch memory, or of a plan's, one behind the other; those before the edges are cleared. */
typedef struct parts {
    int64_t saw, arrivals, next, unsure, edges, nodes, offsets, sums, results, bytes;
} parts;
static int64_t take(parts *all, int64_t bytes) {
    int64_t begin = all->bytes;
    all->bytes += (bytes + 15) / 16 * 16;
    return begin;
}
static bool owners_become_offsets(const job *j) { return j->cut.cut == TALLY_OWNERS && j->work.cut.owners == NULL; }
static parts lay_out(const job *j) {
    const tally_cut_work *cut = &j->work.cut;
    const tally__spec *spec = j->call->spec;
    const bool makes_offsets = j->cut.cut == TALLY_LENGTHS || owners_become_offsets(j);
    parts all = {0};
    all.saw = take(&all, sizeof *j->work.saw);
    all.arrivals = take(&all, tally_all_pitches(cut->cells / TALLY_FAN + 1) * (int64_t)sizeof *j->work.arrivals);
    all.next = take(&all, sizeof *cut->next);
    all.unsure = take(&all, j->reduces && spec->exact ? (cut->count + 31) / 32 * (int64_t)sizeof *cut->unsure : 0);
    all.edges = take(&all, plan_has_edges(j) ? 0 : (cut->tiles + 1) * (int64_t)sizeof *cut->edges);
    all.offsets = take(&all, makes_offsets ? (cut->count + 1) * cut->offset_bytes : 0);
    const int64_t blocks = j->cut.cut == TALLY_LENGTHS ? shares(cut->count, TALLY_LENGTHS_BLOCK) : owners_become_offsets(j) ? owner_blocks(j) : -1;
    all.sums = take(&all, (blocks + 1) * (int64_t)sizeof *cut->sums);
    if (!j->reduces) return all;
    const int64_t leaf_nodes = tally_all_pitches(2 * cut->cells + 2) * (spec->exact ? TALLY_QUICK_NODE_BYTES : (int64_t)spec->kernel->node_size);
    const int64_t tile_nodes = spec->exact ? cut->tiles * (int64_t)spec->kernel->node_size : 0; /* of production/flat.h, when the others are done with */
    const int64_t first_nodes = j->start != NULL ? (int64_t)j->start_bytes : leaf_nodes;
    all.nodes = take(&all, first_nodes > tile_nodes ? first_nodes : tile_nodes);
    all.results = take(&all, tally__call_needs_room(j->call) ? cut->count * (int64_t)spec->result_bytes : 0);
    return all;
}

/* Where kernels read and write, in memory laid out so. */
static void place(job *j, const parts *at, tally__cu_address memory) {
#define PLACE(part) ((void *)(uintptr_t)(memory + (tally__cu_address)at->part))
    const tally__call *c = j->call;
    const bool is_rows = j->cut.cut == TALLY_ROWS;
    tally_cut_work *cut = &j->work.cut;
    j->work = (tally_work){.x = c->in.x, .y = c->in.y, .x_stride = c->in.x_stride, .y_stride = c->in.y_stride, .count = c->in.count,
                           .length = is_rows ? j->cut.length : 0, .inner = is_rows ? j->cut.inner : 0, .final = c->spec->final,
                           .saw = PLACE(saw), .nodes = PLACE(nodes), .arrivals = PLACE(arrivals), .cut = *cut};
    cut->edges = plan_has_edges(j) ? j->plan->cut.edges : PLACE(edges);
    cut->offsets = is_rows || cut->owners != NULL ? NULL
                   : j->plan != NULL              ? j->plan->cut.offsets
                   : j->cut.cut == TALLY_OFFSETS ? (char *)(uintptr_t)cut->index
                                                  : PLACE(offsets);
    if (is_rows || j->plan != NULL) cut->index = cut->offsets;
    cut->sums = PLACE(sums);
    cut->next = PLACE(next);
    cut->log_rooms = c->gpu->rooms - 1; /* of 1 or 2 */
    cut->unsure = PLACE(unsure);
    cut->cleared = (at->edges - at->arrivals) / (int64_t)sizeof *cut->unsure;
    if (!j->reduces) return;
    const bool needs_room = tally__call_needs_room(c);
    j->room = memory + (tally__cu_address)at->results;
    j->work.result = needs_room ? PLACE(results) : c->sink->data;
    cut->result_stride = j->work.result_stride = needs_room ? (int64_t)c->spec->result_bytes : c->sink->stride;
    const size_t bytes = c->spec->result_bytes;
    cut->are_packed = cut->result_stride == (int64_t)bytes && (uintptr_t)j->work.result % (bytes & -bytes) == 0;
    j->work.user = c->spec->exact && c->spec->op == TALLY_SUM && cut->are_packed ? c->spec->final.format.digits : 0;
#undef PLACE
}

/* ---- kernels ---- */

size_t tally__segments_room(const tally__spec *spec) { return TALLY_TILE_ROOM((size_t)spec->inputs); }

static tally_status clear(const job *j, const void *memory, int64_t bytes) {
    const tally__call *c = j->call;
    return tally__gpu_check(c->gpu->driver, c->gpu->driver->fill((tally__cu_address)(uintptr_t)memory, 0, (size_t)bytes, c->stream), "clear memory");
}

/* The cut's edges; the first kernel clears *saw, but where it is the first to look at the index. */
static tally_status prepare(const job *j) {
    enum { SUMS, SCAN, LENGTHS, SHARES, OWNERS, CHECK, OWNER_EDGES };
    const tally__call *c = j->call;
    const tally_cut_work *cut = &j->work.cut;
    int64_t blocks = shares(cut->count, TALLY_LENGTHS_BLOCK);
    tally__loaded kernels;
    if (plan_has_edges(j)) return clear(j, j->work.saw, (const char *)(j->work.arrivals + cut->cleared) - (const char *)j->work.saw);
    TALLY_TRY(tally__gpu_kernel(c->gpu, NULL, TALLY_FORM_CUT, &kernels));
    if (j->cut.cut == TALLY_LENGTHS) {
        TALLY_TRY(tally__call_launch(c, kernels.more[SUMS], blocks, TALLY_START_BEHIND, &j->work));
        TALLY_TRY(tally__call_launch(c, kernels.more[SCAN], 1, TALLY_START_BEHIND, &j->work));
        TALLY_TRY(tally__call_launch(c, kernels.more[LENGTHS], blocks, TALLY_START_BEHIND, &j->work));
    } else if (owners_become_offsets(j)) {
        TALLY_TRY(tally__call_launch(c, kernels.more[SHARES], shares(owner_blocks(j) + 1, TALLY_TILE_WARPS), TALLY_START_BEHIND, &j->work));
        TALLY_TRY(tally__call_launch(c, kernels.more[OWNERS], owner_blocks(j), TALLY_START_BEHIND, &j->work));
    }
    TALLY_TRY(tally__call_launch(c, cut->owners != NULL ? kernels.more[OWNER_EDGES] : kernels.function, shares(cut->tiles + 1, TALLY_EDGES_BLOCK), TALLY_START_BEHIND,
                                 &j->work));
    return j->reduces ? TALLY_OK : tally__call_launch(c, kernels.more[CHECK], shares(cut->count + 1, TALLY_OFFSETS_BLOCK), TALLY_START_BEHIND, &j->work);
}

/* Exact segments at a flat cost, of those that are marked. */
static tally_status reduce_marked(const job *j, const tally__loaded *flat) {
    enum { CLEAR, FINISH };
    const tally__call *c = j->call;
    const int64_t tiles = j->work.cut.tiles, warps = flat->threads / TALLY_WARP, clearing = shares(tiles, 8 * TALLY_TILE_WARPS);
    TALLY_TRY(tally__call_launch(c, flat->more[CLEAR], clearing < 4 * c->gpu->multiprocessors ? clearing : 4 * c->gpu->multiprocessors, TALLY_START_EARLY, &j->work));
    TALLY_TRY(tally__call_launch_resident(c, flat, shares(tiles, warps), TALLY_START_EARLY, &j->work));
    return tally__call_launch(c, flat->more[FINISH], shares(tiles, TALLY_TILE_WARPS * TALLY_WARP), TALLY_START_EARLY, &j->work);
}

/* Exact sums in few doubles first; where they are not sure they mark segments for kernels that are. */
static tally_status reduce(const job *j) {
    const tally__call *c = j->call;
    const tally_cut_work *cut = &j->work.cut;
    tally__loaded kernels, flat;
    if (is_flat(c->spec)) {
        job all = *j;
        all.work.cut.unsure = NULL;
        TALLY_TRY(tally__gpu_kernel(c->gpu, c->spec, TALLY_FORM_FLAT, &flat));
        return reduce_marked(&all, &flat);
    }
    if (j->start != NULL) {
        TALLY_TRY(tally__gpu_kernel(c->gpu, c->spec, TALLY_FORM_FLAT, &flat));
        TALLY_TRY(j->start(c, &j->work, j->start_plan));
        return reduce_marked(j, &flat);
    }
    TALLY_TRY(tally__gpu_kernel(c->gpu, c->spec, TALLY_FORM_SEGMENTS, &kernels));
    if (c->spec->exact) TALLY_TRY(tally__gpu_kernel(c->gpu, c->spec, TALLY_FORM_FLAT, &flat));
    TALLY_TRY(tally__call_launch_resident(c, &kernels, cut->tiles, plan_has_edges(j) ? TALLY_START_BEHIND : TALLY_START_EARLY, &j->work));
    TALLY_TRY(tally__call_launch(c, kernels.more[0], shares(cut->tiles, TALLY_TILE_WARPS * TALLY_SPAN_TILES), TALLY_START_EARLY, &j->work));
    return c->spec->exact ? reduce_marked(j, &flat) : TALLY_OK;
}

/* All kernels of the call, the slowest to compile first. */
static tally_status prepare_kernels(const job *j) {
    tally__form forms[3];
    int count = 0;
    if (j->call->spec->exact) forms[count++] = TALLY_FORM_FLAT;
    if (j->start != NULL) forms[count++] = TALLY_FORM_ROWS;
    else if (!is_flat(j->call->spec)) forms[count++] = TALLY_FORM_SEGMENTS;
    if (!plan_has_edges(j)) forms[count++] = TALLY_FORM_CUT;
    return tally__call_prepare(j->call, forms, count);
}

static tally_status refuse(const job *j) {
    static const char *const whys[] = {[TALLY_OFFSETS] = "an offset is negative, below the one before it or beyond the array",
                                       [TALLY_LENGTHS] = "a length is negative or the lengths add up to too much",
                                       [TALLY_OWNERS] = "an owner is below the one before it or not one of the segments",
                                       [TALLY_ROWS] = "the rows do not make up the array",
                                       [TALLY_PLANNED] = "the index has changed since its plan was made"};
    return tally__fail(TALLY_BAD_CUT, "%s (%lld segments of an array of %lld values)", whys[j->cut.cut], (long long)j->results,
                       (long long)j->call->in.count);
}

static tally_status run(job *j, tally__report *report) {
    tally__call *c = j->call;
    parts at;
    TALLY_TRY(measure(j));
    at = lay_out(j);
    TALLY_TRY(tally__gpu_scratch(c->gpu, c->spec->context, c->stream, TALLY_FOR_NODES, (size_t)at.bytes, 0, 0, &c->scratch));
    place(j, &at, c->scratch.nodes);
    TALLY_TRY(prepare_kernels(j));
    TALLY_TRY(prepare(j));
    TALLY_TRY(reduce(j));
    TALLY_TRY(tally__call_deliver(c, j->room, j->results, (tally__cu_address)(uintptr_t)j->work.saw, report));
    return report->saw & TALLY_SAW_BAD_CUT ? refuse(j) : TALLY_OK;
}

tally_status tally__reduce_cut(tally__call *call, const tally_segments *cut, tally__report *report) {
    const tally_plan *planned = cut->cut == TALLY_PLANNED ? cut->index : NULL;
    job j = {.call = call, .cut = *cut, .reduces = true, .results = cut->cut == TALLY_ROWS ? cut->count * cut->inner : cut->count};
    if (planned != NULL) {
        j.plan = planned->gpu;
        j.results = planned->cut.count;
        TALLY_CHECK(j.plan->gpu == call->gpu, BAD_ARGUMENT, "the plan was made ready for another GPU");
    }
    return run(&j, report);
}

tally_status tally__reduce_rows_again(tally__call *call, const tally_segments *cut, tally__start_rows *start, const void *plan, size_t node_bytes, tally__report *report) {
    job j = {.call = call, .cut = *cut, .reduces = true, .results = cut->count, .start = start, .start_plan = plan, .start_bytes = node_bytes};
    return run(&j, report);
}

/* ---- plans ---- */

static tally_status make_plan(tally__call *call, const tally_segments *cut, tally__gpu_plan *plan) {
    const tally__driver *driver = call->gpu->driver;
    job j = {.call = call, .cut = *cut, .results = cut->count};
    int32_t saw = 0;
    parts at;
    plan->gpu = call->gpu;
    TALLY_TRY(measure(&j));
    at = lay_out(&j);
    TALLY_TRY(tally__gpu_check(driver, driver->allocate(&plan->memory, (size_t)at.bytes), "give memory for a plan"));
    place(&j, &at, plan->memory);
    TALLY_TRY(prepare(&j));
    TALLY_TRY(tally__call_fetch(call, &saw, plan->memory + (tally__cu_address)at.saw, sizeof saw));
    if (saw & TALLY_SAW_BAD_CUT) return refuse(&j);
    plan->cut = j.work.cut;
    if (cut->cut == TALLY_OFFSETS && call->copy_count > 0) plan->copy = call->copies[--call->copy_count]; /* it is read as long as the plan lives */
    return TALLY_OK;
}

tally_status tally__gpu_plan_open(const tally__spec *spec, int64_t values, const tally_segments *cut, tally__gpu_plan **plan) {
    const tally__input none = {.count = values};
    tally__call call;
    tally_status status;
    *plan = tally__allocate(&spec->allocator, sizeof **plan);
    TALLY_CHECK(*plan != NULL, NO_MEMORY, "no memory for a plan");
    **plan = (tally__gpu_plan){.gpu = NULL};
    status = tally__call_open(&call, tally__platform_of(&spec->options), spec, &none, cut, NULL);
    if (status == TALLY_OK) status = make_plan(&call, cut, *plan);
    tally__call_close(&call);
    return status;
}

void tally__gpu_plan_close(tally__gpu_plan *plan) {
    if (plan->gpu == NULL) return;
    /* What fails here is asked for twice: nobody else knows of this memory. */
    const bool entered = tally__gpu_enter(plan->gpu) == TALLY_OK || tally__gpu_enter(plan->gpu) == TALLY_OK;
    if (plan->memory != 0) plan->gpu->driver->release(plan->memory);
    if (plan->copy != 0) plan->gpu->driver->release(plan->copy);
    if (entered) tally__gpu_leave(plan->gpu);
}
