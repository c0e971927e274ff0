/* The cuda backend, and the same on the simulator: a whole array by one launch of a kernel of kernels/production. */
#include <stdio.h>
#include <string.h>

#include "cuda/cuda.h"
#include "cuda/gpu.h"
#include "cuda/nvidia.h"
#include "kernel_list.h"

/* ---- what is compiled ---- */

static const char *const kernel_names[] = {
#define TALLY_ROW(name) #name,
    TALLY_KERNELS(TALLY_ROW)
};
static const char *const exact_names[] = {TALLY_EXACT_KERNELS(TALLY_ROW)};
#undef TALLY_ROW

static const char *type_word(tally_type type) { return type == TALLY_BOOL ? "boolean" : tally_type_name(type); }

tally_nan tally__nan_of(const tally__spec *spec) {
    return tally__type_class(spec->type) == TALLY_CLASS_FLOAT ? spec->options.nan : TALLY_NAN_PROPAGATE;
}

static void unit_of_cut(tally__unit *unit) {
    static const char *const names[] = {"tally_cut_sums", "tally_cut_scan", "tally_cut_lengths", "tally_cut_owners"};
    unit->text = "production/cut.h";
    snprintf(unit->entry, sizeof unit->entry, "tally_cut_edges");
    for (int k = 0; k < TALLY_MOST_MORE; k++) snprintf(unit->more[k], sizeof unit->more[k], "%s", names[k]);
    snprintf(unit->preface, sizeof unit->preface, "/* what prepares a cut */\n");
}

/* What a kind of unit is made of, in canonical order and for exact sums: its text, and the words that its kernels' names begin with. */
static const struct {
    const char *text, *word, *more;
} kinds[][2] = {
    [TALLY_UNIT_WHOLE] = {{"production/reduce.h", "reduce", NULL}, {"production/reduce_exact.h", "exact", NULL}},
    [TALLY_UNIT_SEGMENTS] = {{"production/segments.h", "segments", "spans"}, {"production/segments.h", "quick", "quick_spans"}},
    [TALLY_UNIT_CAREFUL] = {{NULL, NULL, NULL}, {"production/careful.h", "careful", NULL}},
};

tally_status tally__unit_of(tally__unit_kind kind, const tally__spec *spec, tally__unit *unit) {
    tally_nan nan;
    const tally__operator_row *row;
    const char *word, *name;
    int exact;
    memset(unit, 0, sizeof *unit);
    unit->kind = kind;
    if (kind == TALLY_UNIT_CUT) return unit_of_cut(unit), TALLY_OK;
    nan = tally__nan_of(spec);
    row = tally__operator(spec->op);
    word = type_word(spec->type);
    exact = spec->exact;
    TALLY_CHECK(row != NULL, UNSUPPORTED, "operators of the caller's own run on the CPU only in this version");
    name = exact ? exact_names[spec->kernel_number] : kernel_names[spec->kernel_number];
    unit->kernel = spec->kernel_number;
    unit->type = spec->type;
    unit->nan = nan;
    unit->exact = exact;
    unit->text = kinds[kind][exact].text;
    snprintf(unit->entry, sizeof unit->entry, "tally_%s_%s_%s_%d", kinds[kind][exact].word, name, word, (int)nan);
    if (kinds[kind][exact].more != NULL)
        snprintf(unit->more[0], sizeof unit->more[0], "tally_%s_%s_%s_%d", kinds[kind][exact].more, name, word, (int)nan);
    snprintf(unit->preface, sizeof unit->preface,
             "/* %s of %s, %s */\n#define TALLY_TYPE %s\n#define TALLY_NAN %d\n#define TALLY_KERNEL %s\n#define TALLY_KERNEL_FILE \"%s/%s.h\"\n"
             "#define TALLY_KERNEL_ORDER %d\n#define TALLY_KERNEL_INPUTS %d\n%s",
             name, tally_type_name(spec->type), exact ? "exact" : "in canonical order", word, (int)nan, name,
             exact ? "exact" : "operators", name, row->order, row->inputs, exact && kind == TALLY_UNIT_SEGMENTS ? "#define TALLY_QUICK\n" : "");
    return TALLY_OK;
}

/* ---- where things lie ---- */

tally__memory tally__memory_of(const tally__driver *driver, const void *address) {
    int type = 0, managed = 0, ordinal = 0;
    int wanted[] = {TALLY_CU_POINTER_MEMORY_TYPE, TALLY_CU_POINTER_IS_MANAGED, TALLY_CU_POINTER_DEVICE_ORDINAL};
    void *values[] = {&type, &managed, &ordinal};
    tally__memory found = {TALLY_IN_HOST, 0};
    if (driver == NULL || address == NULL) return found;
    if (driver->pointer_attributes(3, wanted, values, (tally__cu_address)(uintptr_t)address) != TALLY_CU_SUCCESS) return found;
    if (managed) found.kind = TALLY_IN_MANAGED;
    else if (type == TALLY_CU_MEMORY_DEVICE) found.kind = TALLY_IN_DEVICE;
    else if (type == TALLY_CU_MEMORY_HOST) found.kind = TALLY_IN_PINNED;
    found.ordinal = ordinal;
    return found;
}

/* Only a process that has libcuda loaded can have device memory. */
static const tally__driver *driver_in_use(void) {
    const char *why;
    return tally__driver_is_loaded() ? tally__nvidia_platform.driver(&why) : NULL;
}

bool tally__lies_on_gpu(const void *address) {
    tally__memory_kind kind = tally__memory_of(driver_in_use(), address).kind;
    return kind == TALLY_IN_DEVICE || kind == TALLY_IN_MANAGED;
}

/* ---- one launch ---- */

/* What a call runs with: a device whose context is current, the caller's stream. */
typedef struct call {
    tally__gpu *gpu;
    tally__cu_stream stream;
    const void *owner;
    const tally__spec *spec;
    tally__cu_address copies[2]; /* of inputs that lie in host memory */
} call;

static tally_status copy_input(call *c, int which, const char **data, int64_t *stride, int64_t count, tally__memory_kind kind) {
    const tally__driver *driver = c->gpu->driver;
    int64_t bytes = (int64_t)c->spec->kernel->value_bytes, span = *stride < 0 ? -*stride : *stride;
    size_t all = (size_t)((count - 1) * span + bytes);
    const char *low = *stride < 0 ? *data + (count - 1) * *stride : *data;
    if (kind != TALLY_IN_HOST || count == 0) return TALLY_OK;
    TALLY_TRY(tally__gpu_check(driver, driver->allocate(&c->copies[which], all), "give memory for a copy of the array"));
    TALLY_TRY(tally__gpu_check(driver, driver->copy_in(c->copies[which], low, all, c->stream), "copy the array"));
    *data = (const char *)(uintptr_t)c->copies[which] + (*data - low);
    return TALLY_OK;
}

static void shape_ordered(const call *c, int64_t count, tally_work *work, int64_t *blocks, size_t *node_bytes) {
    int64_t leaves = (count + c->spec->kernel->leaf - 1) / c->spec->kernel->leaf, nodes;
    work->run = 0;
    /* Long runs save arrivals, short ones share the work evenly (measured: docs/design/005). */
    while (work->run < 3 && leaves >> work->run > 16 * (int64_t)c->gpu->multiprocessors) work->run++;
    while (leaves >> work->run > (int64_t)TALLY_MOST_TILES * TALLY_TILE_WARPS) work->run++;
    *blocks = (leaves + ((int64_t)TALLY_TILE_WARPS << work->run) - 1) / ((int64_t)TALLY_TILE_WARPS << work->run);
    if (*blocks == 0) *blocks = 1;
    nodes = tally_all_pitches(*blocks);
    *node_bytes = (size_t)nodes * c->spec->kernel->node_size;
}
static void shape_exact(const call *c, const tally__loaded *loaded, int64_t count, int64_t *blocks) {
    int64_t leaves = (count + c->spec->kernel->leaf - 1) / c->spec->kernel->leaf;
    *blocks = (leaves + TALLY_TILE_WARPS - 1) / TALLY_TILE_WARPS;
    if (*blocks > loaded->resident_blocks) *blocks = loaded->resident_blocks;
    if (*blocks > TALLY_MOST_BLOCKS) *blocks = TALLY_MOST_BLOCKS;
    if (*blocks == 0) *blocks = 1;
}

/* Launches the reduction of n values. `result` is device memory for the natural result, or 0; then scratch->node gets the node. */
static tally_status launch(call *c, const char *x, int64_t x_stride, const char *y, int64_t y_stride, int64_t n, int64_t first,
                           tally__cu_address result, tally__scratch *scratch) {
    const tally__driver *driver = c->gpu->driver;
    tally_work work = {.x = x, .y = y, .x_stride = x_stride, .y_stride = y_stride, .count = n, .first = first, .final = c->spec->final};
    void *parameters[] = {&work};
    tally__loaded loaded;
    int64_t blocks;
    size_t node_bytes = 0;
    TALLY_TRY(tally__gpu_kernel(c->gpu, TALLY_UNIT_WHOLE, c->spec, &loaded));
    if (c->spec->exact)
        shape_exact(c, &loaded, n, &blocks);
    else
        shape_ordered(c, n, &work, &blocks, &node_bytes);
    TALLY_TRY(tally__gpu_scratch(c->gpu, c->owner, c->stream, node_bytes, 0, 0, scratch));
    work.nodes = (char *)(uintptr_t)(c->spec->exact ? scratch->sums : scratch->nodes);
    work.arrivals = (uint32_t *)(uintptr_t)scratch->arrivals;
    if (result != 0)
        work.result = (void *)(uintptr_t)result;
    else
        work.node = (void *)(uintptr_t)scratch->node;
    return tally__gpu_check(driver,
                            driver->launch(loaded.function, (unsigned)blocks, 1, 1, TALLY_THREADS, 1, 1, 0, c->stream, parameters, NULL),
                            "start a kernel");
}

/* Waits, and gives the result to the host. */
static tally_status fetch(const call *c, const tally__scratch *scratch, const tally__sink *sink, tally__report *report) {
    const tally__driver *driver = c->gpu->driver;
    const tally__kernel *kernel = c->spec->kernel;
    _Alignas(16) unsigned char result[TALLY_RESULT_BYTES];
    tally__room room;
    int capture = TALLY_CU_CAPTURE_NONE;
    TALLY_TRY(tally__gpu_check(driver, driver->stream_capturing(c->stream, &capture), "tell whether the stream is captured"));
    TALLY_CHECK(capture == TALLY_CU_CAPTURE_NONE, BAD_ARGUMENT,
                "a captured reduction cannot wait for its result: give an output in device memory");
    TALLY_TRY(tally__gpu_check(driver, driver->copy_out(&room, scratch->node, kernel->node_size, c->stream), "copy the result"));
    TALLY_TRY(tally__gpu_check(driver, driver->stream_wait(c->stream), "finish the reduction"));
    report->saw = kernel->finish(kernel, &room.node, &c->spec->final, result);
    report->saw |= tally__store(c->spec, sink, 0, 1, result);
    return TALLY_OK;
}

static tally_status reduce_here(call *c, const tally__input *in, const tally__memory *of_x, const tally__memory *of_y, const tally__sink *sink,
                                bool sink_on_device, tally__report *report) {
    const char *x = in->x, *y = in->y;
    int64_t x_stride = in->x_stride, y_stride = in->y_stride;
    tally__scratch scratch;
    tally__cu_address result = sink_on_device ? (tally__cu_address)(uintptr_t)sink->data : 0;
    TALLY_CHECK(!sink_on_device || sink->type == c->spec->result_type, UNSUPPORTED,
                "a result in device memory has its natural type in this version: ask for TALLY_NATURAL");
    TALLY_TRY(copy_input(c, 0, &x, &x_stride, in->count, of_x->kind));
    if (c->spec->inputs == 2) {
        TALLY_TRY(copy_input(c, 1, &y, &y_stride, in->count, of_y->kind));
    } else
        y = x;
    TALLY_TRY(launch(c, x, x_stride, y, y_stride, in->count, 0, result, &scratch));
    if (!sink_on_device) return fetch(c, &scratch, sink, report);
    report->saw = in->count == 0 ? TALLY_SAW_EMPTY : 0; /* all that is known by now */
    return TALLY_OK;
}

static tally_status reduce_on(const tally__platform *platform, const tally__spec *spec, const tally__input *in, const tally__sink *sink,
                              tally__report *report) {
    const char *why;
    const tally__driver *driver = platform->driver(&why);
    call c = {.stream = (tally__cu_stream)spec->options.stream, .owner = spec->context, .spec = spec};
    tally_status status;
    TALLY_CHECK(driver != NULL, NO_DEVICE, "%s", why);
    tally__memory of_x = tally__memory_of(driver, in->x), of_y = spec->inputs == 2 ? tally__memory_of(driver, in->y) : of_x;
    tally__memory of_out = tally__memory_of(driver, sink->data);
    bool sink_on_device = of_out.kind == TALLY_IN_DEVICE;
    int ordinal = of_x.kind == TALLY_IN_DEVICE ? of_x.ordinal : sink_on_device ? of_out.ordinal : spec->options.device;
    TALLY_CHECK((of_y.kind != TALLY_IN_DEVICE || of_y.ordinal == ordinal) && (!sink_on_device || of_out.ordinal == ordinal), BAD_ARGUMENT,
                "the arrays lie on different GPUs");
    TALLY_CHECK(!sink_on_device || (of_x.kind != TALLY_IN_HOST && of_y.kind != TALLY_IN_HOST) || in->count == 0, BAD_ARGUMENT,
                "the array lies in host memory and the output on a GPU: both must be in reach of it");
    TALLY_TRY(tally__gpu_open(platform, ordinal, &c.gpu));
    TALLY_TRY(tally__gpu_enter(c.gpu));
    status = reduce_here(&c, in, &of_x, &of_y, sink, sink_on_device, report);
    for (int i = 0; i < 2; i++)
        if (c.copies[i] != 0) driver->release(c.copies[i]);
    tally__gpu_leave(c.gpu);
    return status;
}

static tally_status cuda_reduce(const tally__spec *spec, const tally__input *in, const tally__sink *sink, tally__report *report) {
    return reduce_on(&tally__nvidia_platform, spec, in, sink, report);
}
static tally_status simt_reduce(const tally__spec *spec, const tally__input *in, const tally__sink *sink, tally__report *report) {
    return reduce_on(&tally__simt_platform, spec, in, sink, report);
}

static tally_status cuda_segments(const tally__spec *spec, const tally__input *in, const tally_segments *cut, const tally__sink *sink,
                                  tally__report *report) {
    return tally__gpu_segments(&tally__nvidia_platform, spec, in, cut, sink, report);
}
static tally_status simt_segments(const tally__spec *spec, const tally__input *in, const tally_segments *cut, const tally__sink *sink,
                                  tally__report *report) {
    return tally__gpu_segments(&tally__simt_platform, spec, in, cut, sink, report);
}

/* Host-side work on nodes is the CPU's: nodes are the same bytes. */
const tally__backend tally__cuda_backend = {"cuda", NULL, NULL, NULL, cuda_reduce, cuda_segments};
const tally__backend tally__simt_backend = {"simt", NULL, NULL, NULL, simt_reduce, simt_segments};
