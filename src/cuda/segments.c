/* Segments on a GPU. A segmentation becomes offsets, unless tiles read its segment ids, and is shared out to tiles
 * (kernels/production/segments/partition.h). A tile gives the results of its own segments, and the nodes of the leaves
 * of those that cross its boundaries; then these nodes are combined (kernels/production/segments/spans.h). Exact sums
 * have more stages, below. All of it is on one stream; nothing is asked of the GPU before the results are wanted. */
#include "cuda/segments.h"

#include "cuda/units.h"
#include "cuda/exact_rows.h"
#include "cuda/shape.h"
#include "partition/partition.h"
#include "plan.h"

/* A call with its partition, and the parameters of its kernels. */
typedef struct job {
    tally__call *call;
    tally_segments segments;
    const tally__gpu_plan *plan; /* that it is made ready by, or NULL */
    bool reduces;                /* or makes a plan */
    int64_t results;
    tally__form first; /* that takes tiles, if one does */
    tally_segments_work work;
    tally__cu_address staging; /* for results that do not go where they belong at once */
} job;

/* Exact segments are tried in two doubles for each sum first (production/segments/segments.h or
 * exact_tiles.h, short rows short_exact.h); what these do not decide is left to production/segments/flat.h. A build for
 * tests may begin with that. */
#ifndef TALLY_FLAT_FIRST
#define TALLY_FLAT_FIRST 0
#endif
/* Whether the rows of an exact operator lie across others. */
static bool has_columns(const job *j) {
    return j->call->spec->exact && j->segments.kind == TALLY_ROWS && j->segments.inner > 1;
}
/* Whether each row is first reduced exactly by one thread (production/rows/short_exact.h), which leaves to the other
 * stages what it is not sure of. All rows across others are that come here (cuda/rows.c has long ones), and rows
 * side by side of few values; but means only of 3 of them or more, and sums of 6. Measured: docs/design/012. */
static bool are_short(const job *j) {
    enum { MEANS_FROM = 3, SUMS_FROM = 6 };
    const tally__spec *spec = j->call->spec;
    const int64_t length = j->segments.length, from = !tally__is_sum_alone(spec) ? 1
                                                      : spec->final.mean         ? MEANS_FROM
                                                                                 : SUMS_FROM;
    if (!j->reduces || !spec->exact || j->segments.kind != TALLY_ROWS || TALLY_FLAT_FIRST || length == 0) return false;
    return has_columns(j) || (length >= from && length <= TALLY_SHORT_APART);
}
/* Whether the first stage takes tiles: not for exact operators that begin with a later stage, nor for rows that a
 * thread has each. A plan is made for such tiles, too. */
static bool takes_tiles(const job *j) {
    return !j->reduces || !j->call->spec->exact || (!has_columns(j) && !are_short(j) && !TALLY_FLAT_FIRST);
}
/* The form that does so. Where exact segments have many values on average, and these lie side by side, a warp takes a
 * tile (production/segments/exact_tiles.h); but long plain sums, and those of f64, are faster by chunks. Measured:
 * docs/design/012. */
static tally__form form_of_tiles(const job *j) {
    enum { MANY = 64, LONG = 1536 };
    const tally__call *c = j->call;
    const int64_t mean = j->results > 0 ? c->in.count / j->results : 0;
    const bool are_many = mean >= MANY && (mean < LONG || tally__geometry_of(c->spec).adds_products);
    return j->reduces && takes_tiles(j) && tally__has_form(c->spec, TALLY_FORM_TILES) &&
                   j->segments.kind != TALLY_ROWS && are_many && tally__are_alike(c) &&
                   tally__are_packed(c, (int64_t)tally__geometry_of(c->spec).value_bytes)
               ? TALLY_FORM_TILES
               : TALLY_FORM_SEGMENTS;
}
/* Whether the first stage marks the segments that it leaves. */
static bool marks_segments(const job *j) { return takes_tiles(j) || are_short(j); }

/* ---- memory ---- */

/* Whether tiles look at the segment ids themselves, which spares writing and reading an offset for each segment. They
 * do where segments are many (measured). Segment ids become offsets for a plan, which is for many calls, for exact
 * sums, which have other work for shared memory, and where the ids of a leaf would take much of a tile. */
static bool tiles_look_at_segment_ids(const job *j) {
    enum { FEW_VALUES = 6 }; /* in a segment, on average */
    const int64_t bytes = (int64_t)tally_type_size(j->segments.index_type);
    return j->segments.kind == TALLY_SEGMENT_IDS && j->reduces && !j->call->spec->exact &&
           j->call->in.count / FEW_VALUES <= j->results && (uintptr_t)j->call->index % (uintptr_t)bytes == 0 &&
           tally__geometry_of(j->call->spec).leaf * bytes <= TALLY_TILE_BYTES / 2;
}

/* Tiles of production/segments/exact_tiles.h: so many that all warps of a GPU have equally many, whether it holds 16 or
 * 24 on each multiprocessor. */
static void shape_for_exact_tiles(const job *j, int64_t bytes_of_values, tally_partition *partition) {
    enum { WARPS = 48, LEAST_BYTES = 8 << 10 };
    const int64_t bytes = bytes_of_values + TALLY_EXACT_END_BYTES * partition->count,
                  once = WARPS * (int64_t)j->call->gpu->multiprocessors,
                  turns = tally__over(bytes, once * TALLY_TILE_BYTES), each = tally__over(bytes, once * turns - 1);
    partition->end_weight = TALLY_EXACT_END_BYTES;
    partition->tile_bytes = each < LEAST_BYTES ? LEAST_BYTES : (int32_t)tally__least(each, TALLY_TILE_BYTES);
}
static tally_status count_tiles(const job *j, int64_t bytes_of_values, tally_partition *partition) {
    const int64_t bytes = bytes_of_values + partition->end_weight * partition->count;
    partition->tiles = bytes / partition->tile_bytes + 1;
    TALLY_CHECK(partition->tiles < INT32_MAX, UNSUPPORTED,
                "%lld values in %lld segments are more than this version reduces on a GPU at once",
                (long long)j->call->in.count, (long long)j->results);
    partition->cells =
        (partition->segment_ids != NULL ? j->call->in.count / partition->leaf : bytes >> tally_leaf_shift(partition)) +
        2;
    return TALLY_OK;
}

/* What the kernels need to know of sizes. */
static tally_status measure(job *j) {
    const tally__geometry sizes = tally__geometry_of(j->call->spec);
    tally_partition *partition = &j->work.partition;
    int64_t count = j->call->in.count, bytes;
    /* Of a leaf a power of two is reckoned, though structs may leave some of it unused. */
    partition->weight = j->call->spec->type == TALLY_STRUCT ? TALLY_LEAF_BYTES_EACH / (int32_t)sizes.leaf
                                                            : (int32_t)sizes.value_bytes * j->call->spec->inputs;
    partition->leaf = (int32_t)sizes.leaf;
    partition->index_bytes = (int32_t)tally_type_size(j->segments.index_type);
    partition->segment_ids = tiles_look_at_segment_ids(j) ? j->call->index : NULL;
    partition->tile_bytes = TALLY_TILE_BYTES;
    if (partition->segment_ids != NULL) {
        partition->weight += partition->index_bytes;
        partition->tile_bytes -= partition->leaf * partition->index_bytes; /* a buffer also holds a leaf's values */
    }
    TALLY_CHECK(!__builtin_mul_overflow(count, (int64_t)partition->weight, &bytes) && j->results < INT64_MAX / 64 &&
                    bytes < INT64_MAX / 64,
                NO_MEMORY, "%lld values in %lld segments are more than a GPU has memory for", (long long)count,
                (long long)j->results);
    partition->offset_bytes = j->plan != NULL                     ? j->plan->partition.offset_bytes
                              : j->segments.kind == TALLY_OFFSETS ? partition->index_bytes
                              : partition->segment_ids != NULL    ? TALLY_END_BYTES
                              : count <= INT32_MAX                ? 4
                                                                  : 8;
    partition->end_weight = partition->offset_bytes;
    partition->values = count;
    partition->count = j->results;
    partition->index = j->call->index;
    partition->row = j->segments.kind == TALLY_ROWS ? j->segments.length : 0;
    partition->inner = has_columns(j) ? j->segments.inner : 1;
    j->first = form_of_tiles(j);
    if (j->first == TALLY_FORM_TILES) shape_for_exact_tiles(j, bytes, partition);
    return count_tiles(j, bytes, partition);
}

static bool plan_has_boundaries(const job *j) {
    const tally_partition *partition = &j->work.partition, *its = j->plan != NULL ? &j->plan->partition : NULL;
    return its != NULL && its->weight == partition->weight && its->leaf == partition->leaf &&
           its->end_weight == partition->end_weight;
}

static int64_t segment_id_blocks(int64_t values, int64_t segments) {
    return tally__over(values + segments + 1, TALLY_SEGMENT_IDS_BLOCK);
}

/* Parts of the scratch memory, or of a plan's, one behind the other; those before the boundaries are cleared. */
typedef struct parts {
    uint64_t flags, arrivals, next, unsure, boundaries, nodes, offsets, sums, results, bytes;
} parts;
static int64_t bytes_of_marks(int64_t count) { return (count + 31) / 32 * (int64_t)sizeof(uint32_t); }
static bool segment_ids_become_offsets(const job *j) {
    return j->segments.kind == TALLY_SEGMENT_IDS && j->work.partition.segment_ids == NULL;
}
static parts lay_out(const job *j) {
    const tally_partition *partition = &j->work.partition;
    const tally__spec *spec = j->call->spec;
    const bool makes_offsets = j->segments.kind == TALLY_LENGTHS || segment_ids_become_offsets(j);
    const int64_t arrivals = takes_tiles(j) ? tally_all_pitches(partition->cells / TALLY_FAN + 1) : 1;
    parts all = {0};
    all.flags = tally__take(&all.bytes, sizeof *j->work.out.flags);
    all.arrivals = tally__take(&all.bytes, arrivals * (int64_t)sizeof *j->work.arrivals);
    all.next = tally__take(&all.bytes, sizeof *partition->next);
    const bool has_stages = j->reduces && spec->exact;
    all.unsure = tally__take(&all.bytes, has_stages && marks_segments(j) ? bytes_of_marks(partition->count) : 0);
    all.boundaries = tally__take(
        &all.bytes, plan_has_boundaries(j) ? 0 : (partition->tiles + 1) * (int64_t)sizeof *partition->boundaries);
    all.offsets = tally__take(&all.bytes, makes_offsets ? (partition->count + 1) * partition->offset_bytes : 0);
    const int64_t blocks = j->segments.kind == TALLY_LENGTHS ? tally__over(partition->count, TALLY_LENGTHS_BLOCK)
                           : segment_ids_become_offsets(j)   ? segment_id_blocks(j->call->in.count, partition->count)
                                                             : -1;
    all.sums = tally__take(&all.bytes, (blocks + 1) * (int64_t)sizeof *partition->sums);
    if (!j->reduces) return all;
    const int64_t leaf_nodes =
        takes_tiles(j) ? tally_all_pitches(2 * partition->cells + 2) *
                             (spec->exact ? TALLY_EXPANSION_NODE_BYTES : (int64_t)tally__geometry_of(spec).node_size)
                       : 0;
    const int64_t tile_nodes = spec->exact ? partition->tiles * (int64_t)tally__geometry_of(spec).node_size
                                           : 0; /* when the others are done with */
    all.nodes = tally__take(&all.bytes, leaf_nodes > tile_nodes ? leaf_nodes : tile_nodes);
    all.results = tally__take(&all.bytes, tally__staging_bytes(j->call, j->results));
    return all;
}

/* Where kernels read and write, in memory laid out so. */
static void place(job *j, const parts *at, tally__cu_address memory) {
#define PLACE(part) tally__pointer(memory + at->part)
    const tally__call *c = j->call;
    const bool is_rows = j->segments.kind == TALLY_ROWS;
    tally_partition *partition = &j->work.partition;
    j->work = (tally_segments_work){.x = c->in.x,
                                    .y = c->in.y,
                                    .x_stride = c->in.x_stride,
                                    .y_stride = c->in.y_stride,
                                    .length = is_rows ? j->segments.length : 0,
                                    .inner = is_rows ? j->segments.inner : 0,
                                    .nodes = PLACE(nodes),
                                    .arrivals = PLACE(arrivals),
                                    .out = {.flags = PLACE(flags), .final = c->spec->final},
                                    .partition = *partition,
                                    .wanted = c->wanted};
    partition->boundaries = plan_has_boundaries(j) ? j->plan->partition.boundaries : PLACE(boundaries);
    partition->offsets = is_rows || partition->segment_ids != NULL ? NULL
                         : j->plan != NULL                         ? j->plan->partition.offsets
                         : j->segments.kind == TALLY_OFFSETS       ? (char *)(uintptr_t)partition->index
                                                                   : PLACE(offsets);
    if (is_rows || j->plan != NULL) partition->index = partition->offsets;
    partition->sums = PLACE(sums);
    partition->next = PLACE(next);
    partition->log_buffers = c->gpu->tile_buffers - 1; /* of 1 or 2 */
    partition->unsure = marks_segments(j) ? PLACE(unsure) : NULL;
    partition->cleared = (int64_t)((at->boundaries - at->arrivals) / sizeof *partition->unsure);
    if (!j->reduces) return;
    j->staging = memory + at->results;
    j->work.out = tally__results_of(c, j->staging, j->work.out.flags);
#undef PLACE
}

/* ---- kernels ---- */

tally_status tally__offsets_of_lengths(const tally__call *c, const tally_offsets_work *work) {
    const int64_t blocks = tally__over(work->partition.count, TALLY_LENGTHS_BLOCK);
    tally__loaded kernels;
    TALLY_TRY(tally__gpu_kernel(c->gpu, NULL, TALLY_FORM_PARTITION, &kernels));
    TALLY_TRY(tally__call_launch(c, &kernels, TALLY_ENTRY_partition_sums, blocks, TALLY_START_BEHIND, work));
    TALLY_TRY(tally__call_launch(c, &kernels, TALLY_ENTRY_partition_scan, 1, TALLY_START_BEHIND, work));
    return tally__call_launch(c, &kernels, TALLY_ENTRY_partition_lengths, blocks, TALLY_START_BEHIND, work);
}
tally_status tally__offsets_of_ids(const tally__call *c, const tally_offsets_work *work) {
    const int64_t blocks = segment_id_blocks(work->partition.values, work->partition.count);
    tally__loaded kernels;
    TALLY_TRY(tally__gpu_kernel(c->gpu, NULL, TALLY_FORM_PARTITION, &kernels));
    TALLY_TRY(tally__call_launch(c, &kernels, TALLY_ENTRY_partition_shares, tally__over(blocks + 1, TALLY_WARPS),
                                 TALLY_START_BEHIND, work));
    return tally__call_launch(c, &kernels, TALLY_ENTRY_partition_segment_ids, blocks, TALLY_START_BEHIND, work);
}

/* Parameters of the kernels of production/segments/partition.h. */
static tally_offsets_work offsets_work(const tally_segments_work *work) {
    return (tally_offsets_work){work->partition, work->arrivals, work->out.flags, work->wanted};
}
/* Starts the kernel that finds the boundaries of tiles. */
static tally_status find_boundaries(const tally__call *c, const tally_offsets_work *work) {
    const tally_partition *partition = &work->partition;
    const tally__entry entry =
        partition->segment_ids != NULL ? TALLY_ENTRY_partition_segment_id_boundaries : TALLY_ENTRY_partition_boundaries;
    tally__loaded kernels;
    TALLY_TRY(tally__gpu_kernel(c->gpu, NULL, TALLY_FORM_PARTITION, &kernels));
    return tally__call_launch(c, &kernels, entry, tally__over(partition->tiles + 1, TALLY_BOUNDARIES_BLOCK),
                              TALLY_START_BEHIND, work);
}

/* Finds the boundaries of tiles. The first kernel clears *flags, and that of boundaries the counters. With a plan's
 * boundaries no kernel runs: both are cleared here. For a plan the offsets are checked, too. */
static tally_status prepare(const job *j) {
    const tally__call *c = j->call;
    const tally_partition *partition = &j->work.partition;
    const tally_offsets_work work = offsets_work(&j->work);
    tally__loaded kernels;
    if (plan_has_boundaries(j))
        return tally__call_clear(
            c, tally__address(j->work.out.flags),
            (size_t)((const char *)(j->work.arrivals + partition->cleared) - (const char *)j->work.out.flags));
    if (j->segments.kind == TALLY_LENGTHS) TALLY_TRY(tally__offsets_of_lengths(c, &work));
    if (segment_ids_become_offsets(j)) TALLY_TRY(tally__offsets_of_ids(c, &work));
    TALLY_TRY(find_boundaries(c, &work));
    if (j->reduces) return TALLY_OK;
    TALLY_TRY(tally__gpu_kernel(c->gpu, NULL, TALLY_FORM_PARTITION, &kernels));
    return tally__call_launch(c, &kernels, TALLY_ENTRY_partition_check,
                              tally__over(partition->count + 1, TALLY_OFFSETS_BLOCK), TALLY_START_BEHIND, &work);
}

/* Exact segments of any values (docs/design/012): all, or those that are marked; as a rule there are none. Several
 * times as many blocks look for them as the device holds at once, so that others make up for blocks that start late. */
static tally_status reduce_exactly(const job *j) {
    enum { WHOLE_BLOCKS = 5 }; /* that a multiprocessor holds */
    const tally__call *c = j->call;
    const tally_segments_work *work = &j->work;
    const int64_t tiles = work->partition.tiles,
                  most = (marks_segments(j) ? 2 : 4) * WHOLE_BLOCKS * c->gpu->multiprocessors;
    const int64_t node_bytes = (int64_t)tally__geometry_of(c->spec).node_size,
                  finishing = TALLY_FINISHED_OF(node_bytes); /* by a block */
    tally__loaded flat;
    TALLY_TRY(tally__gpu_kernel(c->gpu, c->spec, TALLY_FORM_FLAT, &flat));
    TALLY_TRY(
        tally__call_launch(c, &flat, TALLY_ENTRY_flat_whole, tiles < most ? tiles : most, TALLY_START_EARLY, work));
    TALLY_TRY(tally__call_launch_resident(c, &flat, tally__over(tiles, flat.threads[0] / TALLY_WARP), TALLY_START_EARLY,
                                          work));
    return tally__call_launch(c, &flat, TALLY_ENTRY_flat_finish, tally__over(tiles, finishing), TALLY_START_EARLY,
                              work);
}
/* Short rows, each by a thread. */
static tally_status reduce_short(const job *j) {
    const tally__spec *spec = j->call->spec;
    const tally__geometry sizes = tally__geometry_of(spec);
    const int64_t rows = TALLY_THREADS * TALLY_SHORT_EXACT_ACROSS_OF((int64_t)sizes.value_bytes, spec->inputs,
                                                                     sizes.adds_values && sizes.adds_products);
    tally__loaded kernel;
    TALLY_TRY(tally__gpu_kernel(j->call->gpu, spec, TALLY_FORM_SHORT, &kernel));
    return tally__call_launch(j->call, &kernel, kernel.first, tally__over(j->results, rows), TALLY_START_EARLY,
                              &j->work);
}
static tally_status reduce(const job *j) {
    const tally__call *c = j->call;
    const tally_partition *partition = &j->work.partition;
    tally__loaded tiles, spans;
    if (are_short(j)) TALLY_TRY(reduce_short(j));
    if (!takes_tiles(j)) return reduce_exactly(j);
    TALLY_TRY(tally__gpu_kernel(c->gpu, c->spec, j->first, &tiles));
    TALLY_TRY(tally__gpu_kernel(c->gpu, c->spec, TALLY_FORM_SPANS, &spans));
    TALLY_TRY(tally__call_launch(c, &tiles, tiles.first,
                                 j->first == TALLY_FORM_TILES ? tally__over(partition->tiles, TALLY_FLAT_WARPS)
                                                              : tally__resident_blocks(&tiles, partition->tiles),
                                 plan_has_boundaries(j) ? TALLY_START_BEHIND : TALLY_START_EARLY, &j->work));
    TALLY_TRY(tally__call_launch(c, &spans, spans.first, tally__over(partition->tiles, TALLY_WARPS * TALLY_SPAN_TILES),
                                 TALLY_START_EARLY, &j->work));
    return c->spec->exact ? reduce_exactly(j) : TALLY_OK;
}

/* All kernels of the call, the slowest to compile first. */
static tally_status prepare_kernels(const job *j) {
    tally__form forms[5];
    int count = 0;
    const bool is_exact = j->call->spec->exact;
    if (takes_tiles(j)) forms[count++] = j->first;
    if (is_exact) forms[count++] = TALLY_FORM_FLAT;
    if (takes_tiles(j)) forms[count++] = TALLY_FORM_SPANS;
    if (are_short(j)) forms[count++] = TALLY_FORM_SHORT;
    if (is_exact || !plan_has_boundaries(j)) forms[count++] = TALLY_FORM_PARTITION;
    return tally__call_prepare(j->call, forms, count);
}

tally_status tally__refuse_segments(tally_segmentation kind, int64_t count, int64_t values, const char *name) {
    static const char *const whys[] = {
        [TALLY_OFFSETS] = "an offset is negative, below the one before it or beyond the array",
        [TALLY_LENGTHS] = "a length is negative or the lengths add up to too much",
        [TALLY_SEGMENT_IDS] = "a segment id is below the one before it or not one of the segments",
        [TALLY_ROWS] = "the rows do not make up the array",
        [TALLY_PLANNED] = "the index has changed since its plan was made",
        [TALLY_BEGIN_END] = "a segment begins before the array, ends behind it, or ends before it begins",
        [TALLY_UNSORTED_IDS] = "a segment id is not one of the segments"};
    return tally__fail(TALLY_BAD_SEGMENTS, "%s (%lld segments of an array of %lld %s)", whys[kind], (long long)count,
                       (long long)values, name);
}
static tally_status refuse(const job *j) {
    return tally__refuse_segments(j->segments.kind, j->results, j->call->in.count, "values");
}

static tally_status run(job *j, tally__report *report) {
    tally__call *c = j->call;
    parts at;
    TALLY_TRY(measure(j));
    at = lay_out(j);
    TALLY_TRY(
        tally__gpu_scratch(c->gpu, c->spec->context, c->stream, TALLY_FOR_NODES, (size_t)at.bytes, 0, 0, &c->scratch));
    place(j, &at, c->scratch.nodes);
    TALLY_TRY(prepare_kernels(j));
    TALLY_TRY(prepare(j));
    TALLY_TRY(reduce(j));
    TALLY_TRY(tally__call_finalize(c, j->staging, j->results, tally__address(j->work.out.flags), report));
    return report->flags & TALLY_FLAG_BAD_SEGMENTS ? refuse(j) : TALLY_OK;
}

tally_status tally__reduce_ragged(tally__call *call, const tally_segments *segments, tally__report *report) {
    const tally_plan *planned = segments->kind == TALLY_PLANNED ? segments->plan : NULL;
    job j = {.call = call,
             .segments = *segments,
             .reduces = true,
             .results = segments->kind == TALLY_ROWS ? segments->count * segments->inner : segments->count};
    if (planned != NULL) {
        j.plan = planned->gpu;
        j.results = planned->segments.count;
        TALLY_CHECK(j.plan->gpu == call->gpu, BAD_ARGUMENT, "the plan was made ready for another GPU");
    }
    return run(&j, report);
}

tally_status tally__prepare_plan(tally__call *call, const tally_segments *segments, tally__gpu_plan *plan) {
    const tally__driver *driver = call->gpu->driver;
    job j = {.call = call, .segments = *segments, .results = segments->count};
    int32_t flags = 0;
    parts at;
    plan->gpu = call->gpu;
    TALLY_TRY(measure(&j));
    at = lay_out(&j);
    TALLY_TRY(tally__gpu_check(driver, driver->allocate(&plan->memory, (size_t)at.bytes), "give memory for a plan"));
    place(&j, &at, plan->memory);
    TALLY_TRY(prepare(&j));
    TALLY_TRY(tally__call_fetch(call, &flags, plan->memory + at.flags, sizeof flags));
    if (flags & TALLY_FLAG_BAD_SEGMENTS) return refuse(&j);
    plan->partition = j.work.partition;
    if (segments->kind == TALLY_OFFSETS && call->copy_count > 0 && !plan->is_grouped)
        plan->copy = call->copies[--call->copy_count]; /* it is read as long as the plan lives */
    return TALLY_OK;
}
