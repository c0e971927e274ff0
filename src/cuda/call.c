/* One call of the cuda backend. */
#include "cuda/call.h"

#include <string.h>

#include "cuda/nvidia.h"

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

/* ---- a call ---- */

static tally_status copy_input(tally__call *call, int which, const char **data, int64_t *stride, int64_t count, tally__memory_kind kind) {
    const tally__driver *driver = call->gpu->driver;
    int64_t bytes = (int64_t)call->spec->kernel->value_bytes, span = *stride < 0 ? -*stride : *stride;
    size_t all = (size_t)((count - 1) * span + bytes);
    const char *low = *stride < 0 ? *data + (count - 1) * *stride : *data;
    if (kind != TALLY_IN_HOST || count == 0) return TALLY_OK;
    TALLY_TRY(tally__gpu_check(driver, driver->allocate(&call->copies[which], all), "give memory for a copy of the array"));
    TALLY_TRY(tally__gpu_check(driver, driver->copy_in(call->copies[which], low, all, call->stream), "copy the array"));
    *data = (const char *)(uintptr_t)call->copies[which] + (*data - low);
    return TALLY_OK;
}

tally_status tally__call_open(tally__call *call, const tally__platform *platform, const tally__spec *spec, const tally__input *in,
                              const tally__sink *sink) {
    const char *why;
    const tally__driver *driver = platform->driver(&why);
    tally__gpu *gpu;
    *call = (tally__call){.stream = (tally__cu_stream)spec->options.stream, .owner = spec->context, .spec = spec};
    TALLY_CHECK(driver != NULL, NO_DEVICE, "%s", why);
    tally__memory of_x = tally__memory_of(driver, in->x), of_y = spec->inputs == 2 ? tally__memory_of(driver, in->y) : of_x;
    tally__memory of_out = tally__memory_of(driver, sink->data);
    call->sink_on_device = of_out.kind == TALLY_IN_DEVICE;
    int ordinal = of_x.kind == TALLY_IN_DEVICE ? of_x.ordinal : call->sink_on_device ? of_out.ordinal : spec->options.device;
    TALLY_CHECK((of_y.kind != TALLY_IN_DEVICE || of_y.ordinal == ordinal) && (!call->sink_on_device || of_out.ordinal == ordinal), BAD_ARGUMENT,
                "the arrays lie on different GPUs");
    TALLY_CHECK(!call->sink_on_device || (of_x.kind != TALLY_IN_HOST && of_y.kind != TALLY_IN_HOST) || in->count == 0, BAD_ARGUMENT,
                "the array lies in host memory and the output on a GPU: both must be in reach of it");
    TALLY_TRY(tally__gpu_open(platform, ordinal, &gpu));
    TALLY_TRY(tally__gpu_enter(gpu));
    call->gpu = gpu;
    TALLY_CHECK(!call->sink_on_device || sink->type == spec->result_type, UNSUPPORTED,
                "a result in device memory has its natural type in this version: ask for TALLY_NATURAL");
    call->x = in->x;
    call->y = in->y;
    call->x_stride = in->x_stride;
    call->y_stride = in->y_stride;
    TALLY_TRY(copy_input(call, 0, &call->x, &call->x_stride, in->count, of_x.kind));
    if (spec->inputs == 2) return copy_input(call, 1, &call->y, &call->y_stride, in->count, of_y.kind);
    call->y = call->x;
    return TALLY_OK;
}

void tally__call_close(tally__call *call) {
    if (call->gpu == NULL) return;
    for (int i = 0; i < 3; i++)
        if (call->copies[i] != 0) call->gpu->driver->release(call->copies[i]);
    tally__gpu_leave(call->gpu);
}

tally_status tally__call_may_wait(const tally__call *call) {
    int capture = TALLY_CU_CAPTURE_NONE;
    const tally__driver *driver = call->gpu->driver;
    TALLY_TRY(tally__gpu_check(driver, driver->stream_capturing(call->stream, &capture), "tell whether the stream is captured"));
    TALLY_CHECK(capture == TALLY_CU_CAPTURE_NONE, BAD_ARGUMENT,
                "a captured reduction cannot wait for its result: give an output in device memory");
    return TALLY_OK;
}

tally_status tally__call_launch(const tally__call *call, const tally__loaded *loaded, int64_t blocks, tally_work *work) {
    const tally__driver *driver = call->gpu->driver;
    void *parameters[] = {work};
    return tally__gpu_check(driver, driver->launch(loaded->function, (unsigned)blocks, 1, 1, TALLY_THREADS, 1, 1, 0, call->stream, parameters, NULL),
                            "start a kernel");
}
