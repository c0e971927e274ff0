/* Merges on a GPU (kernels/production/merge.h): two launches for each pass. A table in the device's memory describes
 * all passes. Passes write to scratch memory and to the output in turn, the last one to the output. */
#include "cuda/merge.h"

#include <stddef.h>
#include <string.h>

#include "cuda/call.h"
#include "cuda/shape.h"
#include "cuda/units.h"

enum { MOST_PASSES = 32 };

/* The table: what kernels report, the passes, and the arrays. */
typedef struct table {
    tally_merge_report report;
    tally_merge_work passes[MOST_PASSES];
    tally_merge_array arrays[]; /* behind them follows how many values are before each array */
} table;

typedef struct job {
    tally__call call;
    const tally__gpu_merge *merge;
    tally__merge_shape shape;
    int levels, passes; /* how often runs are joined in pairs; a pass does several of these levels */
    int64_t most_tiles;
    size_t table_bytes;
    tally__cu_address table, boundaries, values, origins; /* in scratch memory */
    tally__loaded kernels[4];                             /* by the levels of a pass */
} job;

/* Levels are divided evenly among passes; the first passes may have one more. */
static int levels_of(const job *j, int number) { return j->levels / j->passes + (number < j->levels % j->passes); }
static int log_run_of(const job *j, int number) {
    const int longer = j->levels % j->passes;
    return number * (j->levels / j->passes) + (number < longer ? number : longer);
}
static int64_t tiles_of(const job *j, int number) {
    return tally__over(j->merge->total, TALLY_MERGE_TILE_OF(j->shape.each, 1 << levels_of(j, number)));
}
static void plan(job *j) {
    const tally__gpu_merge *m = j->merge;
    j->shape = tally__merge_shape_of(m->width);
    if (j->call.gpu->platform == &tally__simt_platform) j->shape.each = TALLY_MERGE_EACH_OF(m->width);
    j->levels = m->count > 1 ? tally__log_above(m->count) : 1;
    j->passes = (int)tally__over(j->levels, tally__log_above(j->shape.fan));
    j->most_tiles = tally__over(m->total, TALLY_MERGE_TILE_OF(j->shape.each, j->shape.fan));
}

/* ---- where things lie ---- */

static tally_status check_reach(const job *j, const void *data, const char *what, int64_t number) {
    const tally__gpu *gpu = j->call.gpu;
    const tally__memory memory = tally__memory_of(gpu->driver, data);
    TALLY_CHECK(memory.kind != TALLY_IN_HOST, UNSUPPORTED,
                "%s %lld lies in host memory: a GPU merges what lies in its own or in managed memory", what,
                (long long)number);
    TALLY_CHECK(memory.kind != TALLY_IN_DEVICE || memory.ordinal == gpu->ordinal, BAD_ARGUMENT,
                "the arrays lie on different GPUs");
    return TALLY_OK;
}
static tally_status check_all(const job *j) {
    const tally__gpu_merge *m = j->merge;
    for (int64_t i = 0; i < m->count; i++)
        if (m->arrays[i].count > 0) TALLY_TRY(check_reach(j, m->arrays[i].data, "array", i));
    TALLY_TRY(check_reach(j, m->out, "output", 0));
    return m->origin != NULL ? check_reach(j, m->origin, "output", 1) : TALLY_OK;
}

/* ---- the table ---- */

static tally_status take_memory(job *j) {
    const tally__gpu_merge *m = j->merge;
    tally__call *c = &j->call;
    uint64_t bytes = 0;
    j->table_bytes = sizeof(table) + (size_t)m->count * sizeof(tally_merge_array) + 8 * ((size_t)m->count + 1);
    const uint64_t at_table = tally__take(&bytes, (int64_t)j->table_bytes);
    j->boundaries = tally__take(&bytes, (j->most_tiles + 1) * (int64_t)sizeof(tally_merge_boundary));
    j->values = tally__take(&bytes, j->passes > 1 ? m->total * m->width : 0);
    j->origins = tally__take(&bytes, j->passes > 1 && m->origin != NULL ? 8 * m->total : 0);
    TALLY_TRY(
        tally__gpu_scratch(c->gpu, c->spec->context, c->stream, TALLY_FOR_COPIES, (size_t)bytes, 0, 0, &c->scratch));
    j->table = c->scratch.nodes + at_table;
    j->boundaries += c->scratch.nodes;
    j->values += c->scratch.nodes;
    j->origins += c->scratch.nodes;
    return TALLY_OK;
}

#define ON_DEVICE(j, member) tally__pointer((j)->table + offsetof(table, member))

static bool is_packed(const char *data, int64_t stride, int64_t width) {
    return stride == width && (uintptr_t)data % (uintptr_t)width == 0;
}
static bool are_packed(const tally__gpu_merge *m) {
    for (int64_t i = 0; i < m->count; i++) {
        const tally_array *const array = &m->arrays[i];
        if (array->count > 0 && !is_packed(array->data, array->stride ? array->stride : m->width, m->width))
            return false;
    }
    return true;
}

static tally_merge_work pass_of(const job *j, int number) {
    const tally__gpu_merge *m = j->merge;
    const bool to_output = (j->passes - 1 - number) % 2 == 0, has_origins = m->origin != NULL;
    char *const values = tally__pointer(j->values), *const origins = tally__pointer(j->origins);
    char *const arrays = ON_DEVICE(j, arrays);
    tally_merge_work pass = {.arrays = (const tally_merge_array *)(void *)arrays,
                             .before =
                                 (const int64_t *)(void *)(arrays + m->count * (int64_t)sizeof(tally_merge_array)),
                             .count = m->count,
                             .total = m->total,
                             .to = to_output ? m->out : values,
                             .to_stride = to_output ? m->out_stride : m->width,
                             .origins_to = !has_origins ? NULL
                                           : to_output  ? m->origin
                                                        : origins,
                             .origins_to_stride = to_output ? m->origin_stride : 8,
                             .infinity = m->infinity,
                             .log_run = log_run_of(j, number),
                             .boundaries = tally__pointer(j->boundaries),
                             .tiles = tiles_of(j, number),
                             .report = ON_DEVICE(j, report)};
    if (is_packed(pass.to, pass.to_stride, m->width)) pass.packed |= TALLY_MERGE_TO_PACKED;
    if (number == 0) {
        if (are_packed(m)) pass.packed |= TALLY_MERGE_FROM_PACKED;
        return pass;
    }
    pass.from = to_output ? values : m->out;
    pass.from_stride = to_output ? m->width : m->out_stride;
    if (is_packed(pass.from, pass.from_stride, m->width)) pass.packed |= TALLY_MERGE_FROM_PACKED;
    pass.origins_from = !has_origins ? NULL : to_output ? origins : m->origin;
    pass.origins_from_stride = to_output ? 8 : m->origin_stride;
    return pass;
}

/* Fails for a stream that is captured. */
static tally_status send_table(const job *j) {
    const tally__gpu_merge *m = j->merge;
    const tally_allocator *allocator = &j->call.spec->allocator;
    table *const t = tally__allocate(allocator, j->table_bytes);
    TALLY_CHECK(t != NULL, NO_MEMORY, "no memory for a table of %lld arrays", (long long)m->count);
    memset(t, 0, j->table_bytes);
    int64_t *const before = (int64_t *)(void *)(t->arrays + m->count), sum = 0;
    t->report.misplaced = m->total;
    for (int number = 0; number < j->passes; number++) t->passes[number] = pass_of(j, number);
    for (int64_t i = 0; i < m->count; i++) {
        const tally_array *const array = &m->arrays[i];
        t->arrays[i] = (tally_merge_array){array->data, array->stride ? array->stride : m->width};
        before[i] = sum;
        sum += array->count;
    }
    before[m->count] = sum;
    const tally_status status = tally__call_store(&j->call, j->table, t, j->table_bytes);
    tally__release(allocator, t);
    return status;
}

/* ---- the merge ---- */

static const struct {
    tally__form form;
    tally__entry boundaries, values, origins, check;
} of_levels[] = {
#define OF_FAN(FAN, fan)                                                                            \
    {                                                                                               \
        TALLY_FORM_MERGE_##FAN, TALLY_ENTRY_merge_boundaries_##fan, TALLY_ENTRY_merge_values_##fan, \
            TALLY_ENTRY_merge_origins_##fan, TALLY_ENTRY_merge_check_##fan                          \
    }
    [1] = OF_FAN(TWO, 2), [2] = OF_FAN(FOUR, 4), [3] = OF_FAN(EIGHT, 8)};

static tally_status launch(const job *j, tally__entry entry, int number, int64_t blocks, tally__start start) {
    const tally_merge_pass work = {(const tally_merge_work *)ON_DEVICE(j, passes) + number};
    return tally__call_launch(&j->call, &j->kernels[levels_of(j, number)], entry, blocks, start, &work);
}
static tally_status launch_pass(const job *j, int number) {
    const int levels = levels_of(j, number);
    const int64_t tiles = tiles_of(j, number);
    TALLY_TRY(launch(j, of_levels[levels].boundaries, number, tally__over(tiles + 1, TALLY_MERGE_BOUNDARIES_BLOCK),
                     number == 0 ? TALLY_START_BEHIND : TALLY_START_EARLY));
    return launch(j, j->merge->origin != NULL ? of_levels[levels].origins : of_levels[levels].values, number, tiles,
                  TALLY_START_EARLY);
}
static tally_status hear(const job *j, tally_merge_report *report) {
    return tally__call_fetch(&j->call, report, tally__address(ON_DEVICE(j, report)), sizeof *report);
}

static tally_status merge_here(job *j, int64_t *misplaced) {
    const tally__gpu_merge *m = j->merge;
    const int64_t most = 16 * (int64_t)j->call.gpu->multiprocessors;
    tally_merge_report report;
    plan(j);
    TALLY_CHECK(j->most_tiles <= INT32_MAX, UNSUPPORTED, "%lld values are more than this version merges on a GPU",
                (long long)m->total);
    TALLY_TRY(check_all(j));
    for (int number = 0; number < j->passes; number++)
        TALLY_TRY(tally__gpu_kernel(j->call.gpu, j->call.spec, of_levels[levels_of(j, number)].form,
                                    &j->kernels[levels_of(j, number)]));
    TALLY_TRY(take_memory(j));
    TALLY_TRY(send_table(j));
    for (int number = 0; number < j->passes; number++) TALLY_TRY(launch_pass(j, number));
    TALLY_TRY(hear(j, &report));
    *misplaced = -1;
    if (!report.unsorted) return TALLY_OK;
    const int64_t blocks = tally__over(m->total, TALLY_MERGE_BLOCK);
    TALLY_TRY(launch(j, of_levels[levels_of(j, 0)].check, 0, blocks < most ? blocks : most, TALLY_START_BEHIND));
    TALLY_TRY(hear(j, &report));
    *misplaced = report.misplaced;
    return TALLY_OK;
}

/* The first array in a GPU's memory, which says what GPU it is if the output does not. */
static const char *array_on_gpu(const tally__platform *platform, const tally__gpu_merge *m) {
    const char *why;
    const tally__driver *driver = platform->driver(&why);
    for (int64_t i = 0; i < m->count; i++)
        if (m->arrays[i].count > 0 && tally__memory_of(driver, m->arrays[i].data).kind == TALLY_IN_DEVICE)
            return m->arrays[i].data;
    return NULL;
}

tally_status tally__merge_arrays(const tally__platform *platform, const tally_context *context,
                                 const tally__gpu_merge *merge, int64_t *misplaced) {
    const tally__spec spec = {.type = merge->type,
                              .options = context->options,
                              .allocator = context->allocator,
                              .context = context,
                              .inputs = 1};
    const tally__input none = {.x = array_on_gpu(platform, merge)};
    const tally__sink sink = {.data = merge->out};
    job j = {.merge = merge};
    tally_status status = tally__call_open(&j.call, platform, &spec, &none, NULL, &sink);
    if (status == TALLY_OK) status = merge_here(&j, misplaced);
    tally__call_close(&j.call);
    return status;
}
