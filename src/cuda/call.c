/* One call of the cuda backend. */
#include "cuda/call.h"
#include "cuda/shape.h"
#include "cuda/units.h"

#include "grouping.h"

/* ---- where things lie ---- */

tally__memory tally__memory_of(const tally__driver *driver, const void *address) {
    int type = 0, managed = 0, ordinal = 0;
    int wanted[] = {TALLY_CU_POINTER_MEMORY_TYPE, TALLY_CU_POINTER_IS_MANAGED, TALLY_CU_POINTER_DEVICE_ORDINAL};
    void *values[] = {&type, &managed, &ordinal};
    tally__memory found = {TALLY_IN_HOST, 0};
    if (driver == NULL || address == NULL) return found;
    if (driver->pointer_attributes(3, wanted, values, tally__address(address)) != TALLY_CU_SUCCESS) return found;
    if (managed)
        found.kind = TALLY_IN_MANAGED;
    else if (type == TALLY_CU_MEMORY_DEVICE)
        found.kind = TALLY_IN_DEVICE;
    else if (type == TALLY_CU_MEMORY_HOST)
        found.kind = TALLY_IN_PINNED;
    found.ordinal = ordinal;
    return found;
}

/* ---- a call ---- */

/* Fails with TALLY_BAD_ARGUMENT and this sentence if the stream is captured. */
static tally_status check_not_captured(const tally__call *call, const char *sentence) {
    const tally__driver *driver = call->gpu->driver;
    int capture = TALLY_CU_CAPTURE_NONE;
    TALLY_TRY(tally__gpu_check(driver, driver->stream_capturing(call->stream, &capture),
                               "tell whether the stream is captured"));
    TALLY_CHECK(capture == TALLY_CU_CAPTURE_NONE, BAD_ARGUMENT, "%s", sentence);
    return TALLY_OK;
}
static tally_status check_waits(const tally__call *call) {
    return check_not_captured(
        call, "a captured reduction cannot wait for its results: give an output in device memory, unchecked");
}

/* If the `bytes` bytes at *data are in plain host memory, copies them to the GPU, and sets *data to the copy. */
static tally_status bring(tally__call *call, const void **data, size_t bytes, const tally__memory *memory,
                          const char *what) {
    const tally__driver *driver = call->gpu->driver;
    tally__cu_address *copy = &call->copies[call->copy_count];
    if (memory->kind != TALLY_IN_HOST || bytes == 0) return TALLY_OK;
    TALLY_TRY(check_not_captured(call, "a captured reduction copies nothing from host memory, which may be another's "
                                       "when the graph is launched: give arrays and index in device memory"));
    TALLY_TRY(tally__gpu_check(driver, driver->allocate(copy, bytes), "give memory for a copy"));
    call->copy_count++;
    TALLY_TRY(tally__gpu_check(driver, driver->copy_in(*copy, *data, bytes, call->stream), what));
    *data = tally__pointer(*copy);
    return TALLY_OK;
}

static tally_status bring_values(tally__call *call, const char **data, int64_t stride, const tally__memory *memory) {
    int64_t span = stride < 0 ? -stride : stride, before = stride < 0 ? (call->in.count - 1) * span : 0;
    const void *low;
    if (call->in.count == 0 || *data == NULL) return TALLY_OK; /* calls that make a plan have none */
    low = *data - before;
    TALLY_TRY(bring(call, &low, (size_t)((call->in.count - 1) * span) + tally__geometry_of(call->spec).value_bytes,
                    memory, "copy the array"));
    *data = (const char *)low + before;
    return TALLY_OK;
}

static tally_status bring_index(tally__call *call, const tally_segments *segments, const tally__memory *index,
                                const tally__memory *ends) {
    const int64_t entries = tally__index_entries(segments, call->in.count);
    const size_t bytes = tally_type_size(segments->index_type);
    call->index = segments->index;
    call->ends = segments->ends;
    TALLY_TRY(bring(call, &call->index, (size_t)entries * bytes, index, "copy the segments"));
    return segments->kind == TALLY_BEGIN_END
               ? bring(call, &call->ends, (size_t)entries * bytes, ends, "copy the segments")
               : TALLY_OK;
}

/* Sets *ordinal to the GPU that arrays lie on, if any does. */
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

tally_status tally__call_open(tally__call *call, const tally__platform *platform, const tally__spec *spec,
                              const tally__input *in, const tally_segments *segments, const tally__sink *sink) {
    enum { X, Y, INDEX, ENDS, OUT, ALL };
    const char *why;
    const tally__driver *driver = platform->driver(&why);
    const void *index = segments != NULL && segments->kind != TALLY_PLANNED ? segments->index : NULL;
    tally__memory memory[ALL];
    tally__gpu *gpu;
    int ordinal = spec->options.device;
    *call = (tally__call){.stream = (tally__cu_stream)spec->options.stream, .spec = spec, .sink = sink, .in = *in};
    TALLY_CHECK(driver != NULL, NO_DEVICE, "%s", why);
    memory[X] = tally__memory_of(driver, in->x);
    memory[Y] = spec->inputs == 2 ? tally__memory_of(driver, in->y) : memory[X];
    memory[INDEX] = tally__memory_of(driver, index);
    memory[ENDS] =
        tally__memory_of(driver, index != NULL && segments->kind == TALLY_BEGIN_END ? segments->ends : index);
    memory[OUT] = tally__memory_of(driver, sink != NULL ? sink->data : NULL);
    call->sink_on_device = memory[OUT].kind == TALLY_IN_DEVICE;
    TALLY_TRY(find_gpu(memory, ALL, &ordinal));
    TALLY_CHECK(!call->sink_on_device || in->count == 0 ||
                    (memory[X].kind != TALLY_IN_HOST && memory[Y].kind != TALLY_IN_HOST),
                BAD_ARGUMENT, "the array lies in host memory and the output on a GPU: the GPU cannot reach the array");
    TALLY_TRY(tally__gpu_open(platform, ordinal, &gpu));
    TALLY_TRY(tally__gpu_enter(gpu));
    call->gpu = gpu;
    TALLY_TRY(bring_values(call, &call->in.x, in->x_stride, &memory[X]));
    if (spec->inputs == 2)
        TALLY_TRY(bring_values(call, &call->in.y, in->y_stride, &memory[Y]));
    else
        call->in.y = call->in.x, call->in.y_stride = in->x_stride;
    return index != NULL ? bring_index(call, segments, &memory[INDEX], &memory[ENDS]) : TALLY_OK;
}

void tally__call_close(tally__call *call) {
    if (call->gpu == NULL) return;
    for (int k = 0; k < call->copy_count; k++) call->gpu->driver->release(call->copies[k]);
    tally__gpu_leave(call->gpu);
}

bool tally__are_packed(const tally__call *call, int64_t bytes) {
    const int64_t each = (int64_t)tally__geometry_of(call->spec).value_bytes;
    return call->in.x_stride == each && call->in.y_stride == each &&
           ((uintptr_t)call->in.x | (uintptr_t)call->in.y) % (uintptr_t)bytes == 0;
}

static bool converts(const tally__call *call) { return call->sink_on_device && tally__call_needs_staging(call); }

tally_status tally__call_prepare(const tally__call *call, const tally__form *forms, int count) {
    tally__want wants[TALLY_MOST_WANTS];
    for (int k = 0; k < count; k++) wants[k] = (tally__want){call->spec, forms[k]};
    if (converts(call)) wants[count++] = (tally__want){NULL, TALLY_FORM_CONVERT};
    return count < 2 ? TALLY_OK : tally__gpu_prepare(call->gpu, wants, count, call->spec->options.threads);
}

/* Kernels start early from sm_90 on, but not in graphs: older drivers cannot express it there. */
tally_status tally__launch_kernel(const tally__call *call, const tally__loaded *loaded, tally__entry entry,
                                  int64_t blocks, tally__start start, const void *work, size_t work_bytes) {
    const tally__driver *driver = call->gpu->driver;
    const int place = (int)entry - (int)loaded->first;
    TALLY_CHECK(work_bytes == tally__work_bytes(entry), DEVICE_FAILED,
                "a kernel is launched with another one's parameters: please report this mistake of Tally's");
    const tally__cu_launch_attribute overlaps = {.number = TALLY_CU_LAUNCH_OVERLAPS, .value = 1};
    const bool is_early = start == TALLY_START_EARLY && call->gpu->sm >= 90 && !call->scratch.is_captured;
    const tally__cu_launch how = {.grid_x = (unsigned)blocks,
                                  1,
                                  1,
                                  (unsigned)loaded->threads[place],
                                  1,
                                  1,
                                  place == 0 ? (unsigned)loaded->shared_bytes : 0,
                                  call->stream,
                                  &overlaps,
                                  is_early ? 1 : 0};
    void *parameters[] = {(void *)(uintptr_t)work}; /* the driver only reads it */
    return tally__gpu_check(driver, driver->launch(&how, loaded->functions[place], parameters, NULL), "start a kernel");
}
int64_t tally__resident_blocks(const tally__loaded *loaded, int64_t most) {
    return most < loaded->resident_blocks ? most : loaded->resident_blocks;
}

tally_status tally__call_fetch(const tally__call *call, void *to, tally__cu_address from, size_t bytes) {
    const tally__driver *driver = call->gpu->driver;
    TALLY_TRY(check_waits(call));
    TALLY_TRY(tally__gpu_check(driver, driver->copy_out(to, from, bytes, call->stream), "copy results"));
    return tally__gpu_check(driver, driver->stream_wait(call->stream), "finish the reduction");
}

tally_status tally__call_clear(const tally__call *call, tally__cu_address memory, size_t bytes) {
    const tally__driver *driver = call->gpu->driver;
    return tally__gpu_check(driver, driver->fill(memory, 0, bytes, call->stream), "clear memory");
}

tally_status tally__call_store(const tally__call *call, tally__cu_address to, const void *from, size_t bytes) {
    const tally__driver *driver = call->gpu->driver;
    TALLY_TRY(check_waits(call));
    TALLY_TRY(tally__gpu_check(driver, driver->copy_in(to, from, bytes, call->stream), "copy the result"));
    return tally__gpu_check(driver, driver->stream_wait(call->stream), "copy the result");
}

/* ---- results ---- */

bool tally__call_waits(const tally__call *call) { return !call->sink_on_device || call->spec->options.checked; }

bool tally__call_needs_staging(const tally__call *call) {
    return !call->sink_on_device || call->sink->type != call->spec->result_type;
}

int64_t tally__staging_bytes(const tally__call *call, int64_t results) {
    return tally__call_needs_staging(call) ? results * (int64_t)call->spec->result_bytes : 0;
}
tally_results tally__results_of(const tally__call *call, tally__cu_address staging, int32_t *flags) {
    const tally__spec *spec = call->spec;
    const bool is_staged = tally__call_needs_staging(call), is_sum = spec->exact && tally__is_sum_alone(spec);
    const size_t bytes = spec->result_bytes;
    tally_results out = {.result = is_staged ? tally__pointer(staging) : call->sink->data,
                         .result_stride = is_staged ? (int64_t)bytes : call->sink->stride,
                         .flags = flags,
                         .final = spec->final};
    out.are_packed = out.result_stride == (int64_t)bytes && (uintptr_t)out.result % (bytes & -bytes) == 0;
    out.digits = is_sum && out.are_packed ? spec->final.format.digits : 0;
    return out;
}

/* Launches the kernel that converts natural results to the type and place of the output in device memory. */
static tally_status convert(const tally__call *call, tally__cu_address staging, int64_t count,
                            tally__cu_address flags) {
    const tally__spec *spec = call->spec;
    const int64_t blocks = tally__over(count, TALLY_THREADS);
    const tally_convert_work work = {.from = tally__pointer(staging),
                                     .from_stride = (int64_t)spec->result_bytes,
                                     .count = count,
                                     .from_type = (int32_t)spec->result_type,
                                     .to_type = (int32_t)call->sink->type,
                                     .components = spec->components,
                                     .to = call->sink->data,
                                     .to_stride = call->sink->stride,
                                     .flags = tally__pointer(flags),
                                     .wanted = call->wanted};
    tally__loaded loaded;
    TALLY_TRY(tally__gpu_kernel(call->gpu, NULL, TALLY_FORM_CONVERT, &loaded));
    return tally__call_launch_resident(call, &loaded, blocks, TALLY_START_BEHIND, &work);
}

/* Copies results to the host; those that need another type or place pass through a buffer. */
static tally_status store(const tally__call *call, tally__cu_address staging, int64_t count, tally__report *report) {
    enum { BATCH = 1 << 16 };
    const size_t bytes = call->spec->result_bytes;
    tally_status status = TALLY_OK;
    char *buffer;
    if (call->sink->direct) return tally__call_fetch(call, call->sink->data, staging, (size_t)count * bytes);
    buffer = tally__allocate(&call->spec->allocator, (size_t)(count < BATCH ? count : BATCH) * bytes);
    TALLY_CHECK(buffer != NULL, NO_MEMORY, "no memory for some results");
    for (int64_t first = 0; first < count && status == TALLY_OK; first += BATCH) {
        int64_t some = count - first < BATCH ? count - first : BATCH;
        status = tally__call_fetch(call, buffer, staging + (size_t)first * bytes, (size_t)some * bytes);
        if (status == TALLY_OK) report->flags |= tally__store(call->spec, call->sink, first, some, buffer);
    }
    tally__release(&call->spec->allocator, buffer);
    return status;
}

tally_status tally__call_finalize(const tally__call *call, tally__cu_address staging, int64_t count,
                                  tally__cu_address flags, tally__report *report) {
    int32_t seen = 0;
    if (converts(call)) TALLY_TRY(convert(call, staging, count, flags));
    if (!tally__call_waits(call) || (call->sink_on_device && flags == 0)) return TALLY_OK;
    TALLY_TRY(tally__call_fetch(call, &seen, flags, sizeof seen));
    report->flags |= seen;
    return call->sink_on_device || (seen & TALLY_FLAG_BAD_SEGMENTS) != 0 ? TALLY_OK
                                                                         : store(call, staging, count, report);
}
