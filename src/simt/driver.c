/* The driver's table over the simulator: one device named "simt". Streams do their work at once. It is stricter than a
 * real one: whatever is handed in must be live, and a context must be current where the driver API asks for one. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/driver.h"
#include "simt/memory.h"
#include "simt/simt.h"

enum {
    NOT_INITIALIZED = 3,
    INVALID_CONTEXT = 201,
    NO_BINARY = 209,
    INVALID_HANDLE = 400,
    UNKNOWN = 999,

    MOST_CONTEXTS = 8 /* current on one thread, on top of one another */
};
#define DEVICE_BYTES ((size_t)4 << 30)

/* What all objects begin with: a link in the list of those of their kind. */
typedef struct object {
    struct object *next;
} object;

struct CUfunc_st {
    tally__simt_entry *entry;
    char name[64];
    int dynamic_shared;
};
enum { MOST_FUNCTIONS = 8 };
struct CUmod_st {
    object in_list;
    struct CUfunc_st functions[MOST_FUNCTIONS]; /* the one that the image names, then those asked for by name */
};
struct CUstream_st {
    object in_list;
};
struct CUctx_st {
    int unused;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* for all variables below */
static object *modules, *streams;
static int64_t calls, failing_call;
static int64_t retained;
static bool initialized;
static struct CUctx_st primary;
static _Thread_local int pushed;
static _Thread_local char launch_sentence[512];

/* ---- lists ---- */

static void add(object **list, object *made) {
    made->next = *list;
    *list = made;
}
static bool holds(const object *list, const void *wanted) {
    while (list != NULL && list != wanted) list = list->next;
    return list != NULL;
}
static void take_out(object **list, const object *old) {
    while (*list != old) list = &(*list)->next;
    *list = old->next;
}
static int64_t length_of(const object *list) {
    int64_t length = 0;
    for (; list != NULL; list = list->next) length++;
    return length;
}

/* ---- what every call begins with ---- */

static bool fails(void) { return ++calls == failing_call; }
static pthread_mutex_t *lock(void) {
    pthread_mutex_lock(&mutex);
    return &mutex;
}
static void unlock(pthread_mutex_t *const *locked) { pthread_mutex_unlock(*locked); }

#define LOCKED __attribute__((cleanup(unlock), unused)) pthread_mutex_t *const locked = lock()
#define REQUIRE(condition, error) \
    if (!(condition)) return error
/* Counts the call, which fails with `error` if it is to. */
#define BEGIN(error) \
    LOCKED;          \
    REQUIRE(!fails(), error)
/* For calls that need an initialized driver; and for most, which also need a current context. */
#define BEGIN_INITIALIZED(error) \
    BEGIN(error);                \
    REQUIRE(initialized, NOT_INITIALIZED)
#define BEGIN_IN_CONTEXT(error) \
    BEGIN_INITIALIZED(error);   \
    REQUIRE(pushed > 0, INVALID_CONTEXT)
/* For calls that release something. They do so even when they fail: a real driver then reports an earlier failure. */
#define BEGIN_RELEASE()                                       \
    LOCKED;                                                   \
    const int outcome = fails() ? UNKNOWN : TALLY_CU_SUCCESS; \
    REQUIRE(initialized, NOT_INITIALIZED)

static bool captures;
void tally__simt_capture(bool all) {
    LOCKED;
    captures = all;
}
void tally__simt_fail_call(int64_t n) {
    LOCKED;
    failing_call = n > 0 ? calls + n : 0;
}

int64_t tally__simt_calls(void) {
    LOCKED;
    return calls;
}

tally__simt_live tally__simt_live_now(void) {
    LOCKED;
    tally__simt_live live = {
        .streams = length_of(streams), .modules = length_of(modules), .retained = retained, .pushed = pushed};
    tally__simt_count_memory(&live.allocations, &live.bytes);
    return live;
}

/* ---- device and context ---- */

static int init(unsigned flags) {
    BEGIN(TALLY_CU_NO_DEVICE);
    REQUIRE(flags == 0, TALLY_CU_INVALID_VALUE);
    initialized = true;
    return TALLY_CU_SUCCESS;
}

static int driver_version(int *version) {
    BEGIN(TALLY_CU_INVALID_VALUE);
    *version = 13000;
    return TALLY_CU_SUCCESS;
}

static int device_count(int *count) {
    BEGIN_INITIALIZED(UNKNOWN);
    *count = 1;
    return TALLY_CU_SUCCESS;
}

static int device_get(tally__cu_device *device, int ordinal) {
    BEGIN_INITIALIZED(TALLY_CU_INVALID_DEVICE);
    REQUIRE(ordinal == 0, TALLY_CU_INVALID_DEVICE);
    *device = 0;
    return TALLY_CU_SUCCESS;
}

static int device_name(char *name, int length, tally__cu_device device) {
    BEGIN_INITIALIZED(TALLY_CU_INVALID_DEVICE);
    REQUIRE(device == 0, TALLY_CU_INVALID_DEVICE);
    REQUIRE(length > 0, TALLY_CU_INVALID_VALUE);
    snprintf(name, (size_t)length, "simt");
    return TALLY_CU_SUCCESS;
}

static int device_memory(size_t *bytes, tally__cu_device device) {
    BEGIN_INITIALIZED(TALLY_CU_INVALID_DEVICE);
    REQUIRE(device == 0, TALLY_CU_INVALID_DEVICE);
    *bytes = DEVICE_BYTES;
    return TALLY_CU_SUCCESS;
}

/* Kernels whose blocks wait for one another count on multiprocessors * resident blocks at once: the machine runs so
 * many. */
static int device_attribute(int *value, int attribute, tally__cu_device device) {
    BEGIN_INITIALIZED(TALLY_CU_INVALID_VALUE);
    REQUIRE(device == 0, TALLY_CU_INVALID_DEVICE);
    switch (attribute) {
    case TALLY_CU_DEVICE_MAX_SHARED_PER_BLOCK: *value = TALLY_SIMT_SHARED_BYTES; break;
    case TALLY_CU_DEVICE_CLOCK_KHZ: *value = 1000000; break;
    case TALLY_CU_DEVICE_MULTIPROCESSORS: *value = tally__simt_configured().live_blocks; break;
    case TALLY_CU_DEVICE_THREADS_PER_MULTIPROCESSOR: *value = TALLY_SIMT_MOST_THREADS; break;
    case TALLY_CU_DEVICE_L2_BYTES: *value = 4 << 20; break;
    case TALLY_CU_DEVICE_MAJOR: *value = 9; break;
    case TALLY_CU_DEVICE_MINOR: *value = 0; break;
    case TALLY_CU_DEVICE_SHARED_OPT_IN:
        *value = getenv("TALLY_SIMT_LITTLE_SHARED") != NULL ? TALLY_SIMT_SHARED_BYTES : TALLY_SIMT_MOST_DYNAMIC_SHARED;
        break;
    default: return TALLY_CU_INVALID_VALUE;
    }
    return TALLY_CU_SUCCESS;
}

static int context_retain(tally__cu_context *context, tally__cu_device device) {
    BEGIN_INITIALIZED(TALLY_CU_OUT_OF_MEMORY);
    REQUIRE(device == 0, TALLY_CU_INVALID_DEVICE);
    retained++;
    *context = &primary;
    return TALLY_CU_SUCCESS;
}

static int context_release(tally__cu_device device) {
    BEGIN_RELEASE();
    REQUIRE(device == 0, TALLY_CU_INVALID_DEVICE);
    REQUIRE(retained > 0, INVALID_CONTEXT);
    retained--;
    return outcome;
}

static int context_push(tally__cu_context context) {
    BEGIN_INITIALIZED(INVALID_CONTEXT);
    REQUIRE(context == &primary && retained > 0 && pushed < MOST_CONTEXTS, INVALID_CONTEXT);
    pushed++;
    return TALLY_CU_SUCCESS;
}

static int context_pop(tally__cu_context *context) {
    BEGIN_RELEASE();
    REQUIRE(pushed > 0, INVALID_CONTEXT);
    pushed--;
    if (context != NULL) *context = &primary;
    return outcome;
}

/* ---- modules ---- */

static int module_load(tally__cu_module *module, const void *image) {
    const char *name = tally__simt_entry_of(image);
    tally__simt_entry *entry;
    struct CUmod_st *made;
    BEGIN_IN_CONTEXT(NO_BINARY);
    REQUIRE(name != NULL && strlen(name) < sizeof made->functions[0].name, TALLY_CU_INVALID_IMAGE);
    entry = tally__simt_find(name);
    REQUIRE(entry != NULL, NO_BINARY);
    made = calloc(1, sizeof *made);
    REQUIRE(made != NULL, TALLY_CU_OUT_OF_MEMORY);
    made->functions[0].entry = entry;
    strcpy(made->functions[0].name, name);
    add(&modules, &made->in_list);
    *module = made;
    return TALLY_CU_SUCCESS;
}

static int module_unload(tally__cu_module module) {
    BEGIN_RELEASE();
    REQUIRE(pushed > 0, INVALID_CONTEXT);
    REQUIRE(holds(modules, module), INVALID_HANDLE);
    take_out(&modules, &module->in_list);
    free(module);
    return outcome;
}

static int module_function(tally__cu_function *function, tally__cu_module module, const char *name) {
    BEGIN_IN_CONTEXT(TALLY_CU_NOT_FOUND);
    REQUIRE(holds(modules, module), INVALID_HANDLE);
    REQUIRE(strlen(name) < sizeof module->functions[0].name, TALLY_CU_NOT_FOUND);
    for (int k = 0; k < MOST_FUNCTIONS; k++) {
        struct CUfunc_st *f = &module->functions[k];
        if (f->entry == NULL && (f->entry = tally__simt_beside(module->functions[0].name, name)) != NULL)
            strcpy(f->name, name);
        if (f->entry == NULL || strcmp(name, f->name) != 0) continue;
        *function = f;
        return TALLY_CU_SUCCESS;
    }
    return TALLY_CU_NOT_FOUND;
}

static bool is_function(tally__cu_function function) {
    for (object *o = modules; o != NULL; o = o->next)
        for (int k = 0; k < MOST_FUNCTIONS; k++)
            if (&((struct CUmod_st *)o)->functions[k] == function) return function->entry != NULL;
    return false;
}

static int function_attribute(int *value, int attribute, tally__cu_function function) {
    BEGIN_IN_CONTEXT(TALLY_CU_INVALID_VALUE);
    REQUIRE(is_function(function), INVALID_HANDLE);
    switch (attribute) {
    case TALLY_CU_FUNCTION_SHARED_BYTES: *value = 0; break; /* not known before it has run */
    case TALLY_CU_FUNCTION_LOCAL_BYTES: *value = 0; break;
    case TALLY_CU_FUNCTION_REGISTERS: *value = 32; break;
    case TALLY_CU_FUNCTION_MAX_DYNAMIC_SHARED: *value = function->dynamic_shared; break;
    default: return TALLY_CU_INVALID_VALUE;
    }
    return TALLY_CU_SUCCESS;
}

static int function_set(tally__cu_function function, int attribute, int value) {
    BEGIN_IN_CONTEXT(TALLY_CU_INVALID_VALUE);
    REQUIRE(is_function(function), INVALID_HANDLE);
    if (attribute == TALLY_CU_FUNCTION_SHARED_CARVEOUT && value >= -1 && value <= 100)
        return TALLY_CU_SUCCESS; /* there is no cache to share with */
    REQUIRE(attribute == TALLY_CU_FUNCTION_MAX_DYNAMIC_SHARED && value >= 0 && value <= TALLY_SIMT_MOST_DYNAMIC_SHARED,
            TALLY_CU_INVALID_VALUE);
    function->dynamic_shared = value;
    return TALLY_CU_SUCCESS;
}

static bool fits(tally__cu_function function, size_t shared_bytes) {
    size_t dynamic = (size_t)function->dynamic_shared;
    return shared_bytes <= (dynamic > TALLY_SIMT_SHARED_BYTES ? dynamic : TALLY_SIMT_SHARED_BYTES);
}

static int resident_blocks(int *blocks, tally__cu_function function, int threads, size_t shared_bytes) {
    BEGIN_IN_CONTEXT(TALLY_CU_INVALID_VALUE);
    REQUIRE(is_function(function), INVALID_HANDLE);
    REQUIRE(threads > 0, TALLY_CU_INVALID_VALUE);
    *blocks = threads <= TALLY_SIMT_MOST_THREADS && fits(function, shared_bytes); /* a multiprocessor holds one */
    return TALLY_CU_SUCCESS;
}

/* ---- streams ---- */

static bool is_stream(tally__cu_stream stream) {
    return (uintptr_t)stream <= 2 /* none, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD */ || holds(streams, stream);
}

static int stream_create(tally__cu_stream *stream, unsigned flags) {
    struct CUstream_st *made;
    BEGIN_IN_CONTEXT(TALLY_CU_OUT_OF_MEMORY);
    REQUIRE(flags <= TALLY_CU_STREAM_NON_BLOCKING, TALLY_CU_INVALID_VALUE);
    made = calloc(1, sizeof *made);
    REQUIRE(made != NULL, TALLY_CU_OUT_OF_MEMORY);
    add(&streams, &made->in_list);
    *stream = made;
    return TALLY_CU_SUCCESS;
}

static int stream_destroy(tally__cu_stream stream) {
    BEGIN_RELEASE();
    REQUIRE(pushed > 0, INVALID_CONTEXT);
    REQUIRE(holds(streams, stream), INVALID_HANDLE);
    take_out(&streams, &stream->in_list);
    free(stream);
    return outcome;
}

static int stream_wait(tally__cu_stream stream) {
    BEGIN_IN_CONTEXT(TALLY_CU_LAUNCH_FAILED);
    REQUIRE(is_stream(stream), INVALID_HANDLE);
    REQUIRE(!captures || stream != NULL, TALLY_CU_LAUNCH_FAILED);
    return TALLY_CU_SUCCESS;
}

static int stream_capturing(tally__cu_stream stream, int *status) {
    BEGIN_IN_CONTEXT(TALLY_CU_INVALID_VALUE);
    REQUIRE(is_stream(stream), INVALID_HANDLE);
    *status = captures && stream == NULL ? TALLY_CU_CAPTURE_ACTIVE : TALLY_CU_CAPTURE_NONE;
    return TALLY_CU_SUCCESS;
}

static int capture_mode(int *mode) {
    static _Thread_local int current;
    int before = current;
    BEGIN(TALLY_CU_INVALID_VALUE);
    REQUIRE(*mode >= 0 && *mode <= TALLY_CU_CAPTURE_MODE_RELAXED, TALLY_CU_INVALID_VALUE);
    current = *mode;
    *mode = before;
    return TALLY_CU_SUCCESS;
}

/* ---- memory ---- */

static int allocate(tally__cu_address *address, size_t bytes) {
    BEGIN_IN_CONTEXT(TALLY_CU_OUT_OF_MEMORY);
    REQUIRE(bytes > 0, TALLY_CU_INVALID_VALUE);
    REQUIRE(bytes <= DEVICE_BYTES && tally__simt_take_memory(address, bytes), TALLY_CU_OUT_OF_MEMORY);
    return TALLY_CU_SUCCESS;
}

static int release(tally__cu_address address) {
    bool whole;
    BEGIN_RELEASE();
    REQUIRE(pushed > 0, INVALID_CONTEXT);
    REQUIRE(address != 0, TALLY_CU_SUCCESS);
    REQUIRE(tally__simt_give_memory_back(address, &whole), TALLY_CU_INVALID_VALUE);
    return whole ? outcome : TALLY_CU_LAUNCH_FAILED;
}

static void *memory_at(tally__cu_address address) { return (void *)(uintptr_t)address; }

static int copy_in(tally__cu_address to, const void *from, size_t bytes, tally__cu_stream stream) {
    BEGIN_IN_CONTEXT(TALLY_CU_LAUNCH_FAILED);
    REQUIRE(is_stream(stream), INVALID_HANDLE);
    REQUIRE(!captures || stream != NULL, TALLY_CU_LAUNCH_FAILED);
    REQUIRE(bytes == 0 || tally__simt_has_memory(to, bytes), TALLY_CU_INVALID_VALUE);
    if (bytes > 0) memcpy(memory_at(to), from, bytes);
    return TALLY_CU_SUCCESS;
}

static int copy_out(void *to, tally__cu_address from, size_t bytes, tally__cu_stream stream) {
    BEGIN_IN_CONTEXT(TALLY_CU_LAUNCH_FAILED);
    REQUIRE(is_stream(stream), INVALID_HANDLE);
    REQUIRE(!captures || stream != NULL, TALLY_CU_LAUNCH_FAILED);
    REQUIRE(bytes == 0 || tally__simt_has_memory(from, bytes), TALLY_CU_INVALID_VALUE);
    if (bytes > 0) memcpy(to, memory_at(from), bytes);
    return TALLY_CU_SUCCESS;
}

static int fill(tally__cu_address address, unsigned char byte, size_t bytes, tally__cu_stream stream) {
    BEGIN_IN_CONTEXT(TALLY_CU_LAUNCH_FAILED);
    REQUIRE(is_stream(stream), INVALID_HANDLE);
    REQUIRE(bytes == 0 || tally__simt_has_memory(address, bytes), TALLY_CU_INVALID_VALUE);
    if (bytes > 0) memset(memory_at(address), byte, bytes);
    return TALLY_CU_SUCCESS;
}

/* As with a real driver, an unknown pointer is no error: its attributes are 0. */
static int pointer_attributes(unsigned count, int *attributes, void **values, tally__cu_address pointer) {
    BEGIN_INITIALIZED(TALLY_CU_INVALID_VALUE);
    const bool known = tally__simt_has_memory(pointer, 1);
    for (unsigned i = 0; i < count; i++) switch (attributes[i]) {
        case TALLY_CU_POINTER_CONTEXT: *(tally__cu_context *)values[i] = known ? &primary : NULL; break;
        case TALLY_CU_POINTER_MEMORY_TYPE: *(unsigned *)values[i] = known ? TALLY_CU_MEMORY_DEVICE : 0; break;
        case TALLY_CU_POINTER_IS_MANAGED: *(unsigned *)values[i] = 0; break;
        case TALLY_CU_POINTER_DEVICE_ORDINAL: *(int *)values[i] = 0; break;
        default: return TALLY_CU_INVALID_VALUE;
        }
    return TALLY_CU_SUCCESS;
}

/* ---- launches ---- */

/* An early start may be asked for. It changes nothing: kernels run one after the other. */
static bool is_known(const tally__cu_launch *how) {
    return how->attribute_count == 0 ||
           (how->attribute_count == 1 && how->attributes->number == TALLY_CU_LAUNCH_OVERLAPS);
}
static int launch(const tally__cu_launch *how, tally__cu_function function, void **parameters, void **extra) {
    tally__simt_job job;
    int error;
    LOCKED;
    if (fails()) {
        snprintf(launch_sentence, sizeof launch_sentence, "unspecified launch failure (injected)");
        return TALLY_CU_LAUNCH_FAILED;
    }
    REQUIRE(initialized, NOT_INITIALIZED);
    REQUIRE(pushed > 0, INVALID_CONTEXT);
    REQUIRE(is_function(function) && is_stream(how->stream), INVALID_HANDLE);
    REQUIRE(how->grid_x > 0 && how->grid_x <= INT32_MAX && how->grid_y == 1 && how->grid_z == 1,
            TALLY_CU_INVALID_VALUE);
    REQUIRE(how->block_x > 0 && how->block_x <= TALLY_SIMT_MOST_THREADS && how->block_y == 1 && how->block_z == 1,
            TALLY_CU_INVALID_VALUE);
    REQUIRE(fits(function, how->shared_bytes) && is_known(how) && parameters != NULL && extra == NULL,
            TALLY_CU_INVALID_VALUE);
    job = (tally__simt_job){function->name,    function->entry, (int)how->grid_x,     (int)how->block_x,
                            how->shared_bytes, parameters[0],   tally__simt_may_touch};
    error = tally__simt_launch(&job, launch_sentence, sizeof launch_sentence);
    if (error == TALLY_CU_SUCCESS && tally__simt_find_damage(launch_sentence, sizeof launch_sentence, function->name))
        error = TALLY_CU_LAUNCH_FAILED;
    return error;
}

/* ---- errors ---- */

static const struct {
    int error;
    const char *name, *sentence;
} errors[] = {
    {TALLY_CU_SUCCESS, "CUDA_SUCCESS", "no error"},
    {TALLY_CU_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {TALLY_CU_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {TALLY_CU_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {TALLY_CU_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {TALLY_CU_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {NO_BINARY, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {TALLY_CU_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {TALLY_CU_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};
enum { ERRORS = sizeof errors / sizeof errors[0] };

static int error_name(int error, const char **name) {
    *name = NULL;
    BEGIN(TALLY_CU_INVALID_VALUE);
    for (int i = 0; i < ERRORS; i++)
        if (errors[i].error == error) *name = errors[i].name;
    return *name != NULL ? TALLY_CU_SUCCESS : TALLY_CU_INVALID_VALUE;
}

/* For a failed launch: what the calling thread's last one did wrong. */
static int error_sentence(int error, const char **sentence) {
    *sentence = NULL;
    BEGIN(TALLY_CU_INVALID_VALUE);
    for (int i = 0; i < ERRORS; i++)
        if (errors[i].error == error) *sentence = errors[i].sentence;
    if (error == TALLY_CU_LAUNCH_FAILED && launch_sentence[0] != '\0') *sentence = launch_sentence;
    return *sentence != NULL ? TALLY_CU_SUCCESS : TALLY_CU_INVALID_VALUE;
}

const tally__driver tally__simt_driver = {
#define TALLY_ROW(member, symbol, parameters) .member = member,
    TALLY_DRIVER_CALLS(TALLY_ROW)
#undef TALLY_ROW
};
