/* Segments on a GPU: a cut becomes offsets, offsets become tiles (kernels/production/cut.h), tiles give results and leaves of segments that run
 * over their edges, and those are combined (kernels/production/segments.h). All of it on one stream; nothing is asked of the GPU before the
 * results are wanted. */
#include <string.h>

#include "cuda/call.h"
#include "cuda/segments.h"
#include "lib/cut.h"

enum { SLOTS = 4 };
typedef struct call {
    tally__gpu *gpu;
    tally__cu_stream stream;
    const tally__spec *spec;
    const tally__sink *sink;
    bool sink_on_device;
    tally__input in;       /* as the GPU reaches it, as is the cut */
    tally_segments cut;
    tally__cu_address copies[SLOTS]; /* of what lies in host memory */
    int copy_count;
    tally_work work;
    tally__cu_address results; /* natural, for the host; 0: the kernels write to the sink */
} call;

/* ---- memory ---- */

/* Puts `bytes` at *data in reach of the GPU. */
static tally_status bring(call *c, const void **data, size_t bytes, const tally__memory *memory, const char *what) {
    const tally__driver *driver = c->gpu->driver;
    tally__cu_address *copy = &c->copies[c->copy_count];
    if (memory->kind != TALLY_IN_HOST || bytes == 0) return TALLY_OK;
    TALLY_TRY(tally__gpu_check(driver, driver->allocate(copy, bytes), "give memory for a copy"));
    c->copy_count++;
    TALLY_TRY(tally__gpu_check(driver, driver->copy_in(*copy, *data, bytes, c->stream), what));
    *data = (const void *)(uintptr_t)*copy;
    return TALLY_OK;
}

static tally_status bring_values(call *c, const char **data, int64_t stride, const tally__memory *memory) {
    int64_t span = stride < 0 ? -stride : stride, before = stride < 0 ? (c->in.count - 1) * span : 0;
    const void *low = *data;
    if (c->in.count == 0) return TALLY_OK;
    low = *data - before;
    TALLY_TRY(bring(c, &low, (size_t)((c->in.count - 1) * span) + c->spec->kernel->value_bytes, memory, "copy the array"));
    *data = (const char *)low + before;
    return TALLY_OK;
}

static tally_status bring_all(call *c, const tally__memory *x, const tally__memory *y, const tally__memory *index) {
    int64_t entries = c->cut.cut == TALLY_OWNERS ? c->in.count : c->cut.count + (c->cut.cut == TALLY_OFFSETS);
    TALLY_TRY(bring_values(c, &c->in.x, c->in.x_stride, x));
    if (c->spec->inputs == 2)
        TALLY_TRY(bring_values(c, &c->in.y, c->in.y_stride, y));
    else
        c->in.y = c->in.x, c->in.y_stride = c->in.x_stride;
    return bring(c, &c->cut.index, (size_t)entries * tally_type_size(c->cut.index_type), index, "copy the cut");
}

/* Parts of the scratch memory, one behind the other. */
static int64_t take(int64_t *at, int64_t bytes) {
    int64_t begin = *at;
    *at += (bytes + 15) / 16 * 16;
    return begin;
}

/* Of a bit for each segment. */
static int64_t mark_bytes(int64_t segments) { return (segments + 31) / 32 * 4; }

/* What the kernels need to know, and where they may write. */
static tally_status shape(call *c) {
    tally_work *work = &c->work;
    tally_cut_work *cut = &work->cut;
    const tally__kernel *kernel = c->spec->kernel;
    int64_t count = c->in.count, segments = c->cut.count, at = 0, bytes, rungs;
    int64_t saw, edges, nodes, arrivals, offsets, sums, results, unsure;
    tally__scratch scratch;
    cut->weight = (int32_t)kernel->value_bytes * c->spec->inputs;
    cut->leaf = (int32_t)kernel->leaf;
    TALLY_CHECK(!__builtin_mul_overflow(count, (int64_t)cut->weight, &bytes) && segments < INT64_MAX / 64 && bytes < INT64_MAX / 64, NO_MEMORY,
                "%lld values in %lld segments are more than a GPU has memory for", (long long)count, (long long)segments);
    bytes += TALLY_END_BYTES * segments;
    cut->count = segments;
    cut->tiles = bytes / TALLY_TILE_BYTES + 1;
    TALLY_CHECK(cut->tiles < INT32_MAX, UNSUPPORTED, "%lld values in %lld segments are more than this version reduces on a GPU at once",
                (long long)count, (long long)segments);
    cut->cells = (bytes >> tally_leaf_shift(cut)) + 2;
    cut->index = c->cut.index;
    cut->index_bytes = (int32_t)tally_type_size(c->cut.index_type);
    cut->offset_bytes = c->cut.cut == TALLY_OFFSETS ? cut->index_bytes : count <= INT32_MAX ? 4 : 8;
    rungs = tally_all_pitches(2 * cut->cells + 2);
    saw = take(&at, sizeof *work->saw);
    edges = take(&at, (cut->tiles + 1) * (int64_t)sizeof *cut->edges);
    nodes = take(&at, rungs * (c->spec->exact ? TALLY_QUICK_NODE_BYTES : (int64_t)kernel->node_size));
    arrivals = take(&at, tally_all_pitches(cut->cells / TALLY_FAN + 1) * (int64_t)sizeof *work->arrivals);
    offsets = take(&at, c->cut.cut == TALLY_OFFSETS ? 0 : (segments + 1) * cut->offset_bytes);
    sums = take(&at, c->cut.cut == TALLY_LENGTHS ? (segments / TALLY_LENGTHS_BLOCK + 2) * (int64_t)sizeof *cut->sums : 0);
    unsure = take(&at, c->spec->exact ? mark_bytes(segments) : 0);
    results = take(&at, c->sink_on_device ? 0 : segments * (int64_t)c->spec->result_bytes);
    TALLY_TRY(tally__gpu_scratch(c->gpu, c->spec->context, c->stream, TALLY_FOR_NODES, (size_t)at, 0, 0, &scratch));
#define PLACE(offset) ((void *)(uintptr_t)(scratch.nodes + (tally__cu_address)(offset)))
    *work = (tally_work){.x = c->in.x, .y = c->in.y, .x_stride = c->in.x_stride, .y_stride = c->in.y_stride, .count = count, .final = c->spec->final,
                         .saw = PLACE(saw), .nodes = PLACE(nodes), .arrivals = PLACE(arrivals), .cut = *cut};
    cut->edges = PLACE(edges);
    cut->offsets = c->cut.cut == TALLY_OFFSETS ? (char *)(uintptr_t)cut->index : PLACE(offsets);
    cut->sums = PLACE(sums);
    cut->unsure = PLACE(unsure);
    c->results = c->sink_on_device ? 0 : (tally__cu_address)(uintptr_t)PLACE(results);
    work->result = c->sink_on_device ? c->sink->data : PLACE(results);
    cut->result_stride = c->sink_on_device ? c->sink->stride : (int64_t)c->spec->result_bytes;
#undef PLACE
    return TALLY_OK;
}

/* ---- kernels ---- */

static tally_status start(const call *c, tally__cu_function function, int64_t blocks) {
    tally_work work = c->work;
    void *parameters[] = {&work};
    return tally__gpu_check(c->gpu->driver,
                            c->gpu->driver->launch(function, (unsigned)blocks, 1, 1, TALLY_THREADS, 1, 1, 0, c->stream, parameters, NULL),
                            "start a kernel");
}

static int64_t shares(int64_t all, int64_t each) { return (all + each - 1) / each; }

/* The cut's edges; the first kernel clears *saw, but where it is the first to look at the index. */
static tally_status prepare(const call *c) {
    enum { SUMS, SCAN, LENGTHS, OWNERS };
    const tally_cut_work *cut = &c->work.cut;
    int64_t blocks = shares(cut->count, TALLY_LENGTHS_BLOCK);
    tally__loaded kernels;
    TALLY_TRY(tally__gpu_kernel(c->gpu, NULL, TALLY_FORM_CUT, &kernels));
    if (c->cut.cut == TALLY_LENGTHS) {
        TALLY_TRY(start(c, kernels.more[SUMS], blocks));
        TALLY_TRY(start(c, kernels.more[SCAN], 1));
        TALLY_TRY(start(c, kernels.more[LENGTHS], blocks));
    } else if (c->cut.cut == TALLY_OWNERS) {
        tally__cu_address saw = (tally__cu_address)(uintptr_t)c->work.saw;
        TALLY_TRY(tally__gpu_check(c->gpu->driver, c->gpu->driver->fill(saw, 0, sizeof *c->work.saw, c->stream), "clear a word"));
        TALLY_TRY(start(c, kernels.more[OWNERS], shares(c->in.count + cut->count + 1, TALLY_OWNERS_BLOCK)));
    }
    return start(c, kernels.function, shares(cut->tiles + 1, TALLY_EDGES_BLOCK));
}

/* Exact sums in few doubles first; where they are not sure they mark segments for a kernel that is. */
static tally_status reduce(const call *c) {
    const tally__driver *driver = c->gpu->driver;
    const tally_cut_work *cut = &c->work.cut;
    tally__cu_address marks = (tally__cu_address)(uintptr_t)cut->unsure;
    tally__loaded kernels, careful;
    TALLY_TRY(tally__gpu_kernel(c->gpu, c->spec, TALLY_FORM_SEGMENTS, &kernels));
    if (c->spec->exact) {
        TALLY_TRY(tally__gpu_kernel(c->gpu, c->spec, TALLY_FORM_CAREFUL, &careful));
        TALLY_TRY(tally__gpu_check(driver, driver->fill(marks, 0, (size_t)mark_bytes(cut->count), c->stream), "clear marks"));
    }
    TALLY_TRY(start(c, kernels.function, cut->tiles));
    TALLY_TRY(start(c, kernels.more[0], shares(cut->tiles, TALLY_TILE_WARPS)));
    return c->spec->exact ? start(c, careful.function, careful.resident_blocks) : TALLY_OK;
}

/* ---- what comes of it ---- */

static tally_status refuse(const call *c) {
    static const char *const whys[] = {[TALLY_OFFSETS] = "an offset is negative, below the one before it or beyond the array",
                                       [TALLY_LENGTHS] = "a length is negative or the lengths add up to too much",
                                       [TALLY_OWNERS] = "an owner is below the one before it or not one of the segments"};
    return tally__fail(TALLY_BAD_CUT, "%s (%lld segments of an array of %lld values)", whys[c->cut.cut], (long long)c->cut.count,
                       (long long)c->in.count);
}

/* Waits, and learns what was seen. */
static tally_status learn(const call *c, tally__report *report) {
    const tally__driver *driver = c->gpu->driver;
    int32_t saw = 0;
    int capture = TALLY_CU_CAPTURE_NONE;
    TALLY_TRY(tally__gpu_check(driver, driver->stream_capturing(c->stream, &capture), "tell whether the stream is captured"));
    TALLY_CHECK(capture == TALLY_CU_CAPTURE_NONE, BAD_ARGUMENT,
                "a captured reduction cannot wait for its results: give an output in device memory, unchecked");
    TALLY_TRY(tally__gpu_check(driver, driver->copy_out(&saw, (tally__cu_address)(uintptr_t)c->work.saw, sizeof saw, c->stream), "copy a word"));
    TALLY_TRY(tally__gpu_check(driver, driver->stream_wait(c->stream), "finish the reduction"));
    if (saw & TALLY_SAW_BAD_CUT) return refuse(c);
    report->saw |= saw & (TALLY_SAW_EMPTY | TALLY_SAW_OVERFLOW);
    return TALLY_OK;
}

static tally_status copy_results(const call *c, void *to, int64_t first, int64_t count) {
    const tally__driver *driver = c->gpu->driver;
    size_t bytes = c->spec->result_bytes;
    TALLY_TRY(tally__gpu_check(driver, driver->copy_out(to, c->results + (size_t)first * bytes, (size_t)count * bytes, c->stream), "copy results"));
    return tally__gpu_check(driver, driver->stream_wait(c->stream), "copy results");
}

/* Results to the host, through a buffer where they are converted. */
static tally_status fetch(const call *c, tally__report *report) {
    enum { BATCH = 1 << 16 };
    tally_status status = TALLY_OK;
    char *buffer;
    if (c->sink->direct) return copy_results(c, c->sink->data, 0, c->cut.count);
    buffer = tally__allocate(&c->spec->allocator, BATCH * c->spec->result_bytes);
    TALLY_CHECK(buffer != NULL, NO_MEMORY, "no memory for some results");
    for (int64_t first = 0; first < c->cut.count && status == TALLY_OK; first += BATCH) {
        int64_t count = c->cut.count - first < BATCH ? c->cut.count - first : BATCH;
        status = copy_results(c, buffer, first, count);
        if (status == TALLY_OK) report->saw |= tally__store(c->spec, c->sink, first, count, buffer);
    }
    tally__release(&c->spec->allocator, buffer);
    return status;
}

static tally_status run(call *c, tally__report *report) {
    TALLY_TRY(shape(c));
    TALLY_TRY(prepare(c));
    TALLY_TRY(reduce(c));
    if (c->sink_on_device && !c->spec->options.checked) return TALLY_OK;
    TALLY_TRY(learn(c, report));
    return c->sink_on_device ? TALLY_OK : fetch(c, report);
}

/* ---- the call ---- */

/* The one GPU that all of them lie on, or `ordinal`. */
static tally_status find_gpu(const tally__memory *memory, int count, int *ordinal) {
    bool found = false;
    for (int k = 0; k < count; k++) {
        if (memory[k].kind != TALLY_IN_DEVICE) continue;
        TALLY_CHECK(!found || memory[k].ordinal == *ordinal, BAD_ARGUMENT, "the arrays lie on different GPUs");
        *ordinal = memory[k].ordinal;
        found = true;
    }
    return TALLY_OK;
}

tally_status tally__gpu_segments(const tally__platform *platform, const tally__spec *spec, const tally__input *in, const tally_segments *cut,
                                 const tally__sink *sink, tally__report *report) {
    enum { X, Y, INDEX, OUT, ALL };
    const char *why;
    const tally__driver *driver = platform->driver(&why);
    call c = {.stream = (tally__cu_stream)spec->options.stream, .spec = spec, .sink = sink, .in = *in, .cut = *cut};
    tally__memory memory[ALL];
    int ordinal = spec->options.device;
    tally_status status;
    TALLY_CHECK(driver != NULL, NO_DEVICE, "%s", why);
    memory[X] = tally__memory_of(driver, in->x);
    memory[Y] = spec->inputs == 2 ? tally__memory_of(driver, in->y) : memory[X];
    memory[INDEX] = tally__memory_of(driver, cut->index);
    memory[OUT] = tally__memory_of(driver, sink->data);
    c.sink_on_device = memory[OUT].kind == TALLY_IN_DEVICE;
    TALLY_TRY(find_gpu(memory, ALL, &ordinal));
    TALLY_CHECK(!c.sink_on_device || ((in->count == 0 || (memory[X].kind != TALLY_IN_HOST && memory[Y].kind != TALLY_IN_HOST)) &&
                                      (cut->index == NULL || memory[INDEX].kind != TALLY_IN_HOST)),
                BAD_ARGUMENT, "the array or the cut lies in host memory and the output on a GPU: all must be in reach of it");
    TALLY_CHECK(!c.sink_on_device || sink->type == spec->result_type, UNSUPPORTED,
                "results in device memory have their natural type in this version: ask for TALLY_NATURAL");
    TALLY_TRY(tally__gpu_open(platform, ordinal, &c.gpu));
    TALLY_TRY(tally__gpu_enter(c.gpu));
    status = bring_all(&c, &memory[X], &memory[Y], &memory[INDEX]);
    if (status == TALLY_OK) status = run(&c, report);
    for (int k = 0; k < c.copy_count; k++) driver->release(c.copies[k]);
    tally__gpu_leave(c.gpu);
    return status;
}
