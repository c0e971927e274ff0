/* Devices, kernels loaded into them, and scratch memory. */
#include "cuda/gpu.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/cache.h"
#include "cuda/units.h"
#include "partition/partition.h"
#include "pool.h"

enum { MOST_DEVICES = 32, ENOUGH_SHARED = 160 << 10 /* for two blocks of two tile buffers */ };

typedef struct kernel_entry {
    struct kernel_entry *next;
    tally__unit unit;
    tally__cu_module module;
    tally__loaded loaded;
} kernel_entry;

typedef struct scratch_entry {
    struct scratch_entry *next;
    const void *context;
    tally__cu_stream stream;
    tally__scratch_use use;
    bool is_given;
    tally__cu_address memory;
    size_t node_bytes;
} scratch_entry;

typedef struct device_entry {
    tally__gpu gpu;
    bool is_open;
    kernel_entry *kernels;
    scratch_entry *scratch;
    scratch_entry *captured; /* that graphs use: there may be thousands, and none is ever looked up */
} device_entry;

/* By platform (NVIDIA's first) and ordinal. Whoever reads or changes the lists holds the lock. Kernels are compiled
 * without it. */
static device_entry devices[2][MOST_DEVICES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static device_entry *devices_of(const tally__platform *platform) { return devices[platform == &tally__simt_platform]; }

tally_status tally__gpu_check(const tally__driver *driver, int error, const char *what) {
    const char *name = NULL, *sentence = NULL;
    if (error == TALLY_CU_SUCCESS) return TALLY_OK;
    driver->error_name(error, &name);
    driver->error_sentence(error, &sentence);
    return tally__fail(error == TALLY_CU_OUT_OF_MEMORY ? TALLY_NO_MEMORY : TALLY_DEVICE_FAILED,
                       "the GPU could not %s: %s (%s)", what, sentence ? sentence : "unknown error",
                       name ? name : "no name");
}

/* ---- opening ---- */

static tally_status ask(const tally__gpu *gpu, int attribute, const char *what, int *value) {
    return tally__gpu_check(gpu->driver, gpu->driver->device_attribute(value, attribute, gpu->device), what);
}

static tally_status retain(device_entry *entry, const tally__platform *platform, const tally__driver *driver,
                           int ordinal) {
    tally__gpu *gpu = &entry->gpu;
    int major = 0, minor = 0, count = 0, shared = 0;
    TALLY_TRY(tally__gpu_check(driver, driver->init(0), "start"));
    TALLY_TRY(tally__gpu_check(driver, driver->device_count(&count), "count its devices"));
    TALLY_CHECK(count > 0, NO_DEVICE, "the driver finds no GPU: is one visible (CUDA_VISIBLE_DEVICES)?");
    TALLY_CHECK(ordinal >= 0 && ordinal < count && ordinal < MOST_DEVICES, NO_DEVICE,
                "there is no GPU %d: the driver has %d, counted from 0", ordinal, count);
    *gpu = (tally__gpu){.platform = platform, .driver = driver, .ordinal = ordinal};
    TALLY_TRY(tally__gpu_check(driver, driver->device_get(&gpu->device, ordinal), "be opened"));
    TALLY_TRY(ask(gpu, TALLY_CU_DEVICE_MAJOR, "tell its architecture", &major));
    TALLY_TRY(ask(gpu, TALLY_CU_DEVICE_MINOR, "tell its architecture", &minor));
    TALLY_TRY(ask(gpu, TALLY_CU_DEVICE_MULTIPROCESSORS, "tell its multiprocessors", &gpu->multiprocessors));
    TALLY_TRY(ask(gpu, TALLY_CU_DEVICE_SHARED_OPT_IN, "tell its shared memory", &shared));
    gpu->sm = 10 * major + minor;
    /* With two buffers a block copies the next tile while it reduces one. */
    gpu->tile_buffers = gpu->sm >= 90 && shared >= ENOUGH_SHARED ? TALLY_MOST_BUFFERS : 1;
    TALLY_CHECK(gpu->sm >= 75, NO_DEVICE, "GPU %d has compute capability %d.%d; Tally needs 7.5 (Turing) or later",
                ordinal, major, minor);
    TALLY_TRY(tally__gpu_check(driver, driver->context_retain(&gpu->context, gpu->device), "make its context"));
    entry->is_open = true;
    return TALLY_OK;
}

tally_status tally__gpu_open(const tally__platform *platform, int ordinal, tally__gpu **gpu) {
    const char *why = "";
    const tally__driver *driver = platform->driver(&why);
    device_entry *entry = &devices_of(platform)[ordinal >= 0 && ordinal < MOST_DEVICES ? ordinal : 0];
    tally_status status = TALLY_OK;
    TALLY_CHECK(driver != NULL, NO_DEVICE, "%s", why);
    pthread_mutex_lock(&lock);
    if (!entry->is_open || entry->gpu.ordinal != ordinal) status = retain(entry, platform, driver, ordinal);
    pthread_mutex_unlock(&lock);
    *gpu = &entry->gpu;
    return status;
}

tally_status tally__gpu_enter(const tally__gpu *gpu) {
    return tally__gpu_check(gpu->driver, gpu->driver->context_push(gpu->context), "make its context current");
}
void tally__gpu_leave(const tally__gpu *gpu) {
    tally__cu_context before;
    gpu->driver->context_pop(&before);
}

/* ---- kernels ---- */

/* Whether this is the unit of that spec and form. */
static bool is_of_spec(const tally__unit *unit, const tally__spec *spec, tally__form form) {
    if (unit->form != form || tally__is_general(form)) return unit->form == form;
    if (spec->user != NULL) return unit->kernel == TALLY_USERS && strcmp(unit->user_key, spec->user->key) == 0;
    return unit->kernel == spec->kernel_number && unit->type == spec->type && unit->exact == spec->exact &&
           unit->nan == tally__nan_of(spec);
}

static kernel_entry *find_kernel(const device_entry *device, const tally__spec *spec, tally__form form) {
    kernel_entry *entry = device->kernels;
    while (entry != NULL && !is_of_spec(&entry->unit, spec, form)) entry = entry->next;
    return entry;
}

static tally_status load(const tally__gpu *gpu, kernel_entry *entry) {
    const tally__driver *driver = gpu->driver;
    const tally__unit *unit = &entry->unit;
    tally__loaded *loaded = &entry->loaded;
    const tally__image *image;
    char name[TALLY_MOST_ENTRY];
    int blocks = 0;
    TALLY_TRY(tally__image_of(gpu->platform, unit, gpu->sm, &image));
    TALLY_TRY(tally__gpu_check(driver, driver->module_load(&entry->module, image->bytes), "load a kernel"));
    loaded->first = unit->first;
    memcpy(loaded->threads, unit->threads, sizeof loaded->threads);
    for (int k = 0; k < unit->entries; k++) {
        tally__name_entry(unit, (tally__entry)((int)unit->first + k), name);
        TALLY_TRY(tally__gpu_check(driver, driver->module_function(&loaded->functions[k], entry->module, name),
                                   "find a kernel"));
    }
    loaded->shared_bytes = unit->buffer_bytes * (size_t)gpu->tile_buffers;
    if (loaded->shared_bytes > 0)
        TALLY_TRY(tally__gpu_check(
            driver,
            driver->function_set(loaded->functions[0], TALLY_CU_FUNCTION_MAX_DYNAMIC_SHARED, (int)loaded->shared_bytes),
            "give a kernel shared memory"));
    /* Some devices reserve shared memory for one block only, unless they are asked for more. */
    if (unit->form == TALLY_FORM_FLAT)
        TALLY_TRY(tally__gpu_check(driver,
                                   driver->function_set(loaded->functions[0], TALLY_CU_FUNCTION_SHARED_CARVEOUT, 100),
                                   "give a kernel shared memory"));
    TALLY_TRY(tally__gpu_check(
        driver, driver->resident_blocks(&blocks, loaded->functions[0], loaded->threads[0], loaded->shared_bytes),
        "tell how many blocks it holds"));
    loaded->resident_blocks = (blocks > 0 ? blocks : 1) * gpu->multiprocessors;
    return TALLY_OK;
}

static void unload(const tally__gpu *gpu, kernel_entry *entry) {
    if (entry->module != NULL) gpu->driver->module_unload(entry->module);
    free(entry);
}

tally_status tally__gpu_kernel(tally__gpu *gpu, const tally__spec *spec, tally__form form, tally__loaded *loaded) {
    device_entry *device = &devices_of(gpu->platform)[gpu->ordinal];
    kernel_entry *entry, *first;
    tally_status status;
    pthread_mutex_lock(&lock);
    entry = find_kernel(device, spec, form);
    if (entry != NULL) *loaded = entry->loaded;
    pthread_mutex_unlock(&lock);
    if (entry != NULL) return TALLY_OK;
    entry = calloc(1, sizeof *entry);
    TALLY_CHECK(entry != NULL, NO_MEMORY, "no memory for a kernel's description");
    status = tally__unit_of(spec, form, &entry->unit);
    if (status == TALLY_OK) status = load(gpu, entry);
    entry->unit.user_text = NULL; /* belongs to a context, which may be closed before the kernel is unloaded */
    if (status != TALLY_OK) {
        unload(gpu, entry);
        return status;
    }
    *loaded = entry->loaded;
    pthread_mutex_lock(&lock);
    first = find_kernel(device, spec, form);
    if (first == NULL) {
        entry->next = device->kernels;
        device->kernels = entry;
    } else
        *loaded = first->loaded; /* another thread has loaded it meanwhile */
    pthread_mutex_unlock(&lock);
    if (first != NULL) unload(gpu, entry);
    return TALLY_OK;
}

/* Lists in `places` the indices of the wanted kernels that are not loaded. Returns how many. */
static int list_missing(const tally__gpu *gpu, const tally__want *wants, int count, int *places) {
    const device_entry *device = &devices_of(gpu->platform)[gpu->ordinal];
    int missing = 0;
    pthread_mutex_lock(&lock);
    for (int k = 0; k < count; k++)
        if (find_kernel(device, wants[k].spec, wants[k].form) == NULL) places[missing++] = k;
    pthread_mutex_unlock(&lock);
    return missing;
}

tally_status tally__gpu_prepare(tally__gpu *gpu, const tally__want *wants, int count, int threads) {
    int places[TALLY_MOST_WANTS];
    const int missing = list_missing(gpu, wants, count, places);
    tally_status status = TALLY_OK;
    tally__unit *units;
    if (missing < 2) return TALLY_OK; /* one alone gains nothing by being compiled ahead */
    units = malloc((size_t)missing * sizeof *units);
    TALLY_CHECK(units != NULL, NO_MEMORY, "no memory for the descriptions of %d kernels", missing);
    if (threads <= 0) threads = tally__pool_threads();
    for (int k = 0; k < missing && status == TALLY_OK; k++)
        status = tally__unit_of(wants[places[k]].spec, wants[places[k]].form, &units[k]);
    if (status == TALLY_OK) status = tally__images_ahead(gpu->platform, units, missing, gpu->sm, threads);
    free(units);
    return status;
}

/* ---- scratch ---- */

enum { HEAD_BYTES = 4096, FIXED_BYTES = HEAD_BYTES + TALLY_ARRIVALS * 4 + TALLY_SUMS_BYTES };
_Static_assert((int)TALLY_NODE_BYTES <= (int)HEAD_BYTES, "a node does not fit");

size_t tally__scratch_bytes(size_t node_bytes) { return FIXED_BYTES + node_bytes; }

static tally__scratch lay_out(tally__cu_address memory, bool is_captured) {
    tally__scratch scratch = {memory, memory + HEAD_BYTES, memory + HEAD_BYTES + TALLY_ARRIVALS * 4,
                              memory + FIXED_BYTES, is_captured};
    return scratch;
}

/* Allocates scratch memory and clears it on a stream of its own: the caller's stream may be captured, and then nothing
 * may wait for it. */
static tally_status make_scratch(const tally__gpu *gpu, scratch_entry *entry) {
    const tally__driver *driver = gpu->driver;
    tally__cu_stream stream = NULL;
    int mode = TALLY_CU_CAPTURE_MODE_RELAXED;
    size_t bytes = tally__scratch_bytes(entry->node_bytes);
    tally_status status;
    TALLY_TRY(tally__gpu_check(driver, driver->capture_mode(&mode), "prepare for a capture"));
    status = tally__gpu_check(driver, driver->allocate(&entry->memory, bytes), "give scratch memory");
    if (status == TALLY_OK) {
        status =
            tally__gpu_check(driver, driver->stream_create(&stream, TALLY_CU_STREAM_NON_BLOCKING), "make a stream");
        if (status == TALLY_OK)
            status = tally__gpu_check(driver, driver->fill(entry->memory, 0, bytes, stream), "clear scratch memory");
        if (status == TALLY_OK) status = tally__gpu_check(driver, driver->stream_wait(stream), "clear scratch memory");
        if (stream != NULL) driver->stream_destroy(stream);
        if (status != TALLY_OK) driver->release(entry->memory);
    }
    driver->capture_mode(&mode); /* back to what it was */
    return status;
}

/* Clears the caller's scratch memory on the stream of the first launch that uses it; an entry notes that. A capture
 * gets no entry: its graph clears the memory at each launch. */
static tally_status use_given(device_entry *device, const scratch_entry *fresh, bool is_captured, size_t given_bytes,
                              tally__scratch *scratch) {
    const tally__driver *driver = device->gpu.driver;
    scratch_entry *entry;
    tally_status status = TALLY_OK;
    size_t needed = tally__scratch_bytes(fresh->node_bytes);
    TALLY_CHECK(given_bytes >= needed, NO_SPACE,
                "the scratch memory has %zu bytes, %zu are needed: see tally_scratch_bytes", given_bytes, needed);
    pthread_mutex_lock(&lock);
    for (entry = device->scratch; entry != NULL; entry = entry->next)
        if (entry->is_given && entry->context == fresh->context && entry->memory == fresh->memory) break;
    if (entry == NULL) {
        entry = is_captured ? NULL : malloc(sizeof *entry);
        if (entry == NULL && !is_captured)
            status = tally__fail(TALLY_NO_MEMORY, "no memory for a note on scratch memory");
        if (status == TALLY_OK)
            status = tally__gpu_check(driver,
                                      driver->fill(fresh->memory, 0, is_captured ? needed : given_bytes, fresh->stream),
                                      "clear scratch memory");
        if (status == TALLY_OK && entry != NULL) {
            *entry = *fresh;
            entry->next = device->scratch;
            device->scratch = entry;
        } else
            free(entry);
    }
    pthread_mutex_unlock(&lock);
    *scratch = lay_out(fresh->memory, is_captured);
    return status;
}

/* Makes the memory that `fresh` describes, and an entry for it at the head of the list. */
static tally_status add_scratch(const tally__gpu *gpu, scratch_entry **list, scratch_entry *fresh,
                                scratch_entry **entry) {
    scratch_entry *added = malloc(sizeof *added);
    TALLY_CHECK(added != NULL, NO_MEMORY, "no memory for a note on scratch memory");
    const tally_status status = make_scratch(gpu, fresh);
    if (status != TALLY_OK) {
        free(added);
        return status;
    }
    *added = *fresh;
    added->next = *list;
    *list = *entry = added;
    return TALLY_OK;
}
/* Gives the entry larger memory, after the work that uses the smaller memory. */
static tally_status grow_scratch(const tally__gpu *gpu, scratch_entry *entry, scratch_entry *fresh) {
    TALLY_TRY(tally__gpu_check(gpu->driver, gpu->driver->stream_wait(entry->stream), "finish its work"));
    TALLY_TRY(make_scratch(gpu, fresh));
    gpu->driver->release(entry->memory);
    entry->memory = fresh->memory;
    entry->node_bytes = fresh->node_bytes;
    return TALLY_OK;
}

tally_status tally__gpu_scratch(tally__gpu *gpu, const void *context, tally__cu_stream stream, tally__scratch_use use,
                                size_t node_bytes, tally__cu_address given, size_t given_bytes,
                                tally__scratch *scratch) {
    device_entry *device = &devices_of(gpu->platform)[gpu->ordinal];
    scratch_entry *entry, fresh = {.context = context,
                                   .stream = stream,
                                   .use = use,
                                   .is_given = given != 0,
                                   .memory = given,
                                   .node_bytes = node_bytes};
    int capture = TALLY_CU_CAPTURE_NONE;
    tally_status status = TALLY_OK;
    TALLY_TRY(tally__gpu_check(gpu->driver, gpu->driver->stream_capturing(stream, &capture),
                               "tell whether the stream is captured"));
    const bool is_captured = capture != TALLY_CU_CAPTURE_NONE;
    if (given != 0) return use_given(device, &fresh, is_captured, given_bytes, scratch);
    for (fresh.node_bytes = 1 << 20; fresh.node_bytes < node_bytes;) fresh.node_bytes *= 2;
    pthread_mutex_lock(&lock);
    entry = is_captured ? NULL : device->scratch;
    while (entry != NULL &&
           (entry->context != context || entry->stream != stream || entry->use != use || entry->is_given))
        entry = entry->next;
    if (entry == NULL)
        status = add_scratch(gpu, is_captured ? &device->captured : &device->scratch, &fresh, &entry);
    else if (entry->node_bytes < node_bytes)
        status = grow_scratch(gpu, entry, &fresh);
    if (status == TALLY_OK) *scratch = lay_out(entry->memory, is_captured);
    pthread_mutex_unlock(&lock);
    return status;
}

/* Forgets the scratch memory of a context (NULL: of all contexts). only_given: only memory that callers gave. Otherwise
 * also frees the library's own, for which the device's context must be current. */
static void forget_in(const device_entry *device, scratch_entry **place, const void *context, bool only_given) {
    while (*place != NULL) {
        scratch_entry *entry = *place;
        if ((context == NULL || entry->context == context) && (entry->is_given || !only_given)) {
            if (!entry->is_given) device->gpu.driver->release(entry->memory); /* waits for what uses it */
            *place = entry->next;
            free(entry);
        } else
            place = &entry->next;
    }
}
static void forget_on(device_entry *device, const void *context, bool only_given) {
    forget_in(device, &device->scratch, context, only_given);
    if (!only_given) forget_in(device, &device->captured, context, false);
}

void tally__gpu_forget(const tally__platform *platform, const void *context, bool only_given) {
    pthread_mutex_lock(&lock);
    for (int d = 0; d < MOST_DEVICES; d++) {
        device_entry *device = &devices_of(platform)[d];
        if (only_given) { /* frees nothing: no device need be entered */
            forget_on(device, context, true);
            continue;
        }
        if ((device->scratch == NULL && device->captured == NULL) || tally__gpu_enter(&device->gpu) != TALLY_OK)
            continue;
        forget_on(device, context, false);
        tally__gpu_leave(&device->gpu);
    }
    pthread_mutex_unlock(&lock);
}

void tally__gpu_close_all(const tally__platform *platform) {
    pthread_mutex_lock(&lock);
    for (int d = 0; d < MOST_DEVICES; d++) {
        device_entry *device = &devices_of(platform)[d];
        if (!device->is_open || tally__gpu_enter(&device->gpu) != TALLY_OK) continue;
        forget_on(device, NULL, false);
        while (device->kernels != NULL) {
            kernel_entry *next = device->kernels->next;
            unload(&device->gpu, device->kernels);
            device->kernels = next;
        }
        tally__gpu_leave(&device->gpu);
        device->gpu.driver->context_release(device->gpu.device);
        device->is_open = false;
    }
    pthread_mutex_unlock(&lock);
}
