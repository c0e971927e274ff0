/* The cuda backend, and the same on the simulator: a whole array by one launch of a kernel of kernels/production, and segments. */
#include <stdio.h>
#include <string.h>

#include "cuda/call.h"
#include "cuda/cuda.h"
#include "cuda/rows.h"
#include "cuda/nvidia.h"
#include "kernel_list.h"

enum { FAN = 64 }; /* as kernels/production/reduce.h combines nodes */

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

static const struct form {
    const char *word, *text;
} ordered_forms[] = {
#define TALLY_ROW(ID, word, text) {#word, text},
    TALLY_ORDERED_FORMS(TALLY_ROW)
}, exact_forms[] = {TALLY_EXACT_FORMS(TALLY_ROW)};
#undef TALLY_ROW

tally_status tally__unit_of(const tally__spec *spec, tally__form form, tally__unit *unit) {
    tally_nan nan = tally__nan_of(spec);
    const tally__operator_row *row = tally__operator(spec->op);
    const char *word = type_word(spec->type), *name;
    const struct form *of = &(spec->exact ? exact_forms : ordered_forms)[form];
    TALLY_CHECK(row != NULL, UNSUPPORTED, "operators of the caller's own run on the CPU only in this version");
    memset(unit, 0, sizeof *unit);
    name = spec->exact ? exact_names[spec->kernel_number] : kernel_names[spec->kernel_number];
    unit->kernel = spec->kernel_number;
    unit->form = form;
    unit->type = spec->type;
    unit->nan = nan;
    unit->exact = spec->exact;
    unit->text = of->text;
    snprintf(unit->entry, sizeof unit->entry, "tally_%s_%s_%s_%d", of->word, name, word, (int)nan);
    snprintf(unit->preface, sizeof unit->preface,
             "/* %s of %s, %s */\n#define TALLY_TYPE %s\n#define TALLY_NAN %d\n#define TALLY_KERNEL %s\n#define TALLY_KERNEL_FILE \"%s/%s.h\"\n"
             "#define TALLY_KERNEL_ORDER %d\n#define TALLY_KERNEL_INPUTS %d\n",
             name, tally_type_name(spec->type), spec->exact ? "exact" : "in canonical order", word, (int)nan, name,
             spec->exact ? "exact" : "operators", name, row->order, row->inputs);
    return TALLY_OK;
}

/* ---- one launch ---- */

static void shape_ordered(const tally__call *c, int64_t count, tally_work *work, int64_t *blocks, size_t *node_bytes) {
    int64_t leaves = (count + c->spec->kernel->leaf - 1) / c->spec->kernel->leaf, nodes = 0;
    work->run = 0;
    /* Long runs save arrivals, short ones share the work evenly (measured: docs/design/005). */
    while (work->run < 3 && leaves >> work->run > 16 * (int64_t)c->gpu->multiprocessors) work->run++;
    while (leaves >> work->run > (int64_t)TALLY_MOST_TILES * TALLY_TILE_WARPS) work->run++;
    *blocks = (leaves + ((int64_t)TALLY_TILE_WARPS << work->run) - 1) / ((int64_t)TALLY_TILE_WARPS << work->run);
    if (*blocks == 0) *blocks = 1;
    for (int64_t level = *blocks; level > 1; level = (level + FAN - 1) / FAN) nodes += level;
    *node_bytes = (size_t)nodes * c->spec->kernel->node_size;
}
static void shape_exact(const tally__call *c, const tally__loaded *loaded, int64_t count, int64_t *blocks) {
    int64_t leaves = (count + c->spec->kernel->leaf - 1) / c->spec->kernel->leaf;
    *blocks = (leaves + TALLY_TILE_WARPS - 1) / TALLY_TILE_WARPS;
    if (*blocks > loaded->resident_blocks) *blocks = loaded->resident_blocks;
    if (*blocks > TALLY_MOST_BLOCKS) *blocks = TALLY_MOST_BLOCKS;
    if (*blocks == 0) *blocks = 1;
}

/* Launches the reduction of n values. `result` is device memory for the natural result, or 0; then scratch->node gets the node. */
static tally_status launch(const tally__call *c, int64_t n, tally__cu_address result, tally__scratch *scratch) {
    tally_work work = {.x = c->x, .y = c->y, .x_stride = c->x_stride, .y_stride = c->y_stride, .count = n, .final = c->spec->final};
    tally__loaded loaded;
    int64_t blocks;
    size_t node_bytes = 0;
    TALLY_TRY(tally__gpu_kernel(c->gpu, c->spec, TALLY_FORM_WHOLE, &loaded));
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
    return tally__call_launch(c, &loaded, blocks, &work);
}

/* Waits, and gives the result to the host. */
static tally_status fetch(const tally__call *c, const tally__scratch *scratch, const tally__sink *sink, tally__report *report) {
    const tally__driver *driver = c->gpu->driver;
    const tally__kernel *kernel = c->spec->kernel;
    _Alignas(16) unsigned char result[TALLY_RESULT_BYTES];
    tally__room room;
    TALLY_TRY(tally__call_may_wait(c));
    TALLY_TRY(tally__gpu_check(driver, driver->copy_out(&room, scratch->node, kernel->node_size, c->stream), "copy the result"));
    TALLY_TRY(tally__gpu_check(driver, driver->stream_wait(c->stream), "finish the reduction"));
    report->saw = kernel->finish(kernel, &room.node, &c->spec->final, result);
    report->saw |= tally__store(c->spec, sink, 0, 1, result);
    return TALLY_OK;
}

static tally_status reduce_here(const tally__call *c, const tally__input *in, const tally__sink *sink, tally__report *report) {
    tally__scratch scratch;
    tally__cu_address result = c->sink_on_device ? (tally__cu_address)(uintptr_t)sink->data : 0;
    TALLY_TRY(launch(c, in->count, result, &scratch));
    if (!c->sink_on_device) return fetch(c, &scratch, sink, report);
    report->saw = in->count == 0 ? TALLY_SAW_EMPTY : 0; /* all that is known by now */
    return TALLY_OK;
}

static tally_status reduce_on(const tally__platform *platform, const tally__spec *spec, const tally__input *in, const tally__sink *sink,
                              tally__report *report) {
    tally__call c;
    tally_status status = tally__call_open(&c, platform, spec, in, sink);
    if (status == TALLY_OK) status = reduce_here(&c, in, sink, report);
    tally__call_close(&c);
    return status;
}

/* Rows are the only cut yet. */
static tally_status segments_on(const tally__platform *platform, const tally__spec *spec, const tally__input *in, const tally_segments *cut,
                                const tally__sink *sink, tally__report *report) {
    tally__call c;
    tally_status status;
    TALLY_CHECK(cut->cut == TALLY_ROWS, UNSUPPORTED, "segments other than rows are reduced on the CPU only in this version, and from host memory");
    status = tally__call_open(&c, platform, spec, in, sink);
    if (status == TALLY_OK) status = tally__reduce_rows(&c, cut, sink, report);
    tally__call_close(&c);
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
    return segments_on(&tally__nvidia_platform, spec, in, cut, sink, report);
}
static tally_status simt_segments(const tally__spec *spec, const tally__input *in, const tally_segments *cut, const tally__sink *sink,
                                  tally__report *report) {
    return segments_on(&tally__simt_platform, spec, in, cut, sink, report);
}

/* Host-side work on nodes is the CPU's: nodes are the same bytes. */
const tally__backend tally__cuda_backend = {"cuda", NULL, NULL, NULL, cuda_reduce, cuda_segments};
const tally__backend tally__simt_backend = {"simt", NULL, NULL, NULL, simt_reduce, simt_segments};
