/* The entry points that are about GPUs themselves: which there are, their kernels as text, and compiling them before
 * they are needed. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/cache.h"
#include "cuda/exact_rows.h"
#include "cuda/units.h"
#include "cuda/gpu.h"
#include "cuda/nvidia.h"

/* ---- what there is ---- */

static tally_status count_gpus(const tally__driver **driver, int *count) {
    const char *why = "";
    *count = 0;
    *driver = tally__nvidia_platform.driver(&why);
    TALLY_CHECK(*driver != NULL, NO_DEVICE, "%s", why);
    TALLY_TRY(tally__gpu_check(*driver, (*driver)->device_count(count), "count its devices"));
    TALLY_CHECK(*count > 0, NO_DEVICE, "the driver finds no GPU: is one visible (CUDA_VISIBLE_DEVICES)?");
    return TALLY_OK;
}

tally_status tally_gpu_count(int *count) {
    const tally__driver *driver;
    TALLY_CHECK(count != NULL, BAD_ARGUMENT, "tally_gpu_count needs a place for the number");
    return count_gpus(&driver, count);
}

/* Makes no context: the question costs nothing on the GPU. */
tally_status tally_gpu_describe(int ordinal, tally_gpu_info *info) {
    const tally__driver *driver;
    tally__cu_device device = 0;
    int count, major = 0, minor = 0;
    size_t bytes = 0;
    TALLY_CHECK(info != NULL, BAD_ARGUMENT, "tally_gpu_describe needs a place for the description");
    memset(info, 0, sizeof *info);
    TALLY_TRY(count_gpus(&driver, &count));
    TALLY_CHECK(ordinal >= 0 && ordinal < count, NO_DEVICE, "there is no GPU %d: the driver has %d, counted from 0",
                ordinal, count);
#define ASK(call, what) TALLY_TRY(tally__gpu_check(driver, driver->call, "tell its " what))
    ASK(device_get(&device, ordinal), "number");
    ASK(device_name(info->name, (int)sizeof info->name, device), "name");
    ASK(device_attribute(&major, TALLY_CU_DEVICE_MAJOR, device), "architecture");
    ASK(device_attribute(&minor, TALLY_CU_DEVICE_MINOR, device), "architecture");
    ASK(device_attribute(&info->multiprocessors, TALLY_CU_DEVICE_MULTIPROCESSORS, device), "multiprocessors");
    ASK(device_memory(&bytes, device), "memory");
    ASK(driver_version(&info->driver), "driver's version");
#undef ASK
    info->name[sizeof info->name - 1] = '\0';
    info->sm = 10 * major + minor;
    info->memory = bytes;
    return TALLY_OK;
}

static pthread_once_t compiler_once = PTHREAD_ONCE_INIT;
static char compiler[32]; /* "": there is none */

static void name_compiler(void) {
    const tally__nvrtc *nvrtc;
    if (tally__nvrtc_open(&nvrtc) == TALLY_OK)
        snprintf(compiler, sizeof compiler, "NVRTC %d.%d", nvrtc->major, nvrtc->minor);
}

const char *tally_gpu_compiler(void) {
    const tally__nvrtc *nvrtc;
    pthread_once(&compiler_once, name_compiler);
    if (compiler[0] != '\0') return compiler;
    return tally__nvrtc_open(&nvrtc) == TALLY_OK ? compiler : NULL; /* for this thread's sentence */
}

const char *tally_cache_folder(void) {
    static _Thread_local char path[TALLY_MOST_PATH];
    return tally__disk_folder(path) == TALLY_OK ? path : NULL;
}

/* ---- kernels ---- */

tally_status tally_emit(const tally_context *context, tally_op op, tally_type type, char *buffer, size_t capacity,
                        size_t *size) {
    tally__spec spec;
    tally__unit unit;
    char *text;
    TALLY_CHECK(size != NULL, BAD_ARGUMENT, "tally_emit needs a place for the size");
    *size = 0;
    TALLY_TRY(tally__specify(context, op, type, &spec));
    TALLY_TRY(tally__unit_of(&spec, TALLY_FORM_WHOLE, &unit));
    TALLY_TRY(tally__emit_readable(&unit, &text));
    *size = strlen(text) + 1;
    if (buffer != NULL && capacity >= *size) memcpy(buffer, text, *size);
    free(text);
    TALLY_CHECK(buffer == NULL || capacity >= *size, NO_SPACE, "the source takes %zu bytes, the buffer has %zu", *size,
                capacity);
    return TALLY_OK;
}

tally_status tally_scratch_bytes(const tally_context *context, tally_op op, tally_type type, int64_t count,
                                 size_t *bytes) {
    tally__spec spec;
    TALLY_CHECK(bytes != NULL && count >= 0, BAD_ARGUMENT,
                "tally_scratch_bytes needs a place for the size, and a count that is not negative");
    *bytes = 0;
    TALLY_TRY(tally__specify(context, op, type, &spec));
    *bytes = tally__scratch_bytes(tally__node_bytes_at_most(&spec, count));
    return TALLY_OK;
}

/* Opens and enters the context's GPU. The caller leaves it. */
static tally_status begin_warming(const tally_context *context, tally_op op, tally_type type, tally__spec *spec,
                                  tally__gpu **gpu) {
    TALLY_TRY(tally__specify(context, op, type, spec));
    TALLY_CHECK(spec->options.backend != TALLY_BACKEND_CPU && spec->options.backend != TALLY_BACKEND_REFERENCE,
                BAD_ARGUMENT,
                "the context's backend has nothing to compile: choose TALLY_BACKEND_AUTO, TALLY_BACKEND_CUDA or "
                "TALLY_BACKEND_SIMT");
    TALLY_TRY(tally__gpu_open(tally__platform_of(&spec->options), spec->options.device, gpu));
    return tally__gpu_enter(*gpu);
}

/* Whether a form is for one of the purposes. */
static bool is_for(const tally__spec *spec, tally__form form, unsigned of_call) {
    const bool is_of_rows = form == TALLY_FORM_ROWS || form == TALLY_FORM_LEFT;
    return (tally__purpose_of(form) & of_call) != 0 ||
           ((of_call & TALLY_OF_ARRAYS) != 0 && is_of_rows && tally__may_be_exact_row(spec));
}
/* Compiles and loads the forms, and the kernel that converts results. Loading is included, as it is not allowed while a
 * stream is captured. */
static tally_status warm_forms(tally__gpu *gpu, const tally__spec *spec, unsigned of_call) {
    const unsigned wanted_purposes = spec->result_type != TALLY_STRUCT ? of_call | TALLY_OF_RESULTS : of_call;
    tally__want wants[TALLY_MOST_WANTS];
    tally__loaded loaded;
    int wanted = 0;
    for (int form = 0; form < TALLY_FORMS; form++)
        if (is_for(spec, (tally__form)form, wanted_purposes) &&
            (tally__is_general((tally__form)form) || tally__has_form(spec, (tally__form)form)))
            wants[wanted++] = (tally__want){spec, (tally__form)form};
    TALLY_TRY(tally__gpu_prepare(gpu, wants, wanted, spec->options.threads));
    for (int k = 0; k < wanted; k++) TALLY_TRY(tally__gpu_kernel(gpu, wants[k].spec, wants[k].form, &loaded));
    return TALLY_OK;
}
static tally_status warm(const tally_context *context, tally_op op, tally_type type, unsigned wanted_purposes) {
    tally__spec spec;
    tally__gpu *gpu;
    tally_status status;
    TALLY_TRY(begin_warming(context, op, type, &spec, &gpu));
    status = warm_forms(gpu, &spec, wanted_purposes);
    tally__gpu_leave(gpu);
    return status;
}

tally_status tally_warm(const tally_context *context, tally_op op, tally_type type) {
    return warm(context, op, type, TALLY_OF_ARRAYS);
}

tally_status tally_warm_segments(const tally_context *context, tally_op op, tally_type type, tally_segmentation kind) {
    TALLY_CHECK((int)kind >= TALLY_OFFSETS && kind <= TALLY_UNSORTED_IDS, BAD_ARGUMENT, "segmentation %d is unknown",
                (int)kind);
    return warm(context, op, type, kind == TALLY_ROWS ? TALLY_OF_SEGMENTS | TALLY_OF_ROWS : TALLY_OF_SEGMENTS);
}
