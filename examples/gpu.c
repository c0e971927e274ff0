/* Sums of an array in GPU memory: on a stream, and in a graph that is captured once and launched again for new data.
 * Built by a C compiler alone: the functions of NVIDIA's driver that it needs are declared here, as the CUDA driver API
 * has them, and opened at run time. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tally/tally.h>

typedef uint64_t address; /* CUdeviceptr */

/*    name               symbol                          parameters */
#define DRIVER_CALLS(X)                                                                              \
    X(device_get,        "cuDeviceGet",                  (int *device, int ordinal))                 \
    X(context_retain,    "cuDevicePrimaryCtxRetain",     (void **context, int device))               \
    X(context_use,       "cuCtxSetCurrent",              (void *context))                            \
    X(allocate,          "cuMemAlloc_v2",                (address * memory, size_t bytes))           \
    X(copy_in,           "cuMemcpyHtoDAsync_v2",         (address to, const void *from, size_t bytes, void *stream)) \
    X(copy_out,          "cuMemcpyDtoH_v2",              (void *to, address from, size_t bytes))     \
    X(release,           "cuMemFree_v2",                 (address memory))                           \
    X(stream_create,     "cuStreamCreate",               (void **stream, unsigned flags))            \
    X(stream_wait,       "cuStreamSynchronize",          (void *stream))                             \
    X(stream_destroy,    "cuStreamDestroy_v2",           (void *stream))                             \
    X(capture,           "cuStreamBeginCapture_v2",      (void *stream, int mode))                   \
    X(end_capture,       "cuStreamEndCapture",           (void *stream, void **graph))               \
    X(graph_instantiate, "cuGraphInstantiateWithFlags",  (void **ready, void *graph, unsigned long long flags)) \
    X(graph_launch,      "cuGraphLaunch",                (void *ready, void *stream))                \
    X(ready_destroy,     "cuGraphExecDestroy",           (void *ready))                              \
    X(graph_destroy,     "cuGraphDestroy",               (void *graph))

static struct driver {
#define X(name, symbol, parameters) int(*name) parameters;
    DRIVER_CALLS(X)
#undef X
} cu;

static int open_driver(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == NULL) return 0;
#define X(name, symbol, parameters)                                  \
    do {                                                             \
        void *found = dlsym(library, symbol);                        \
        if (found == NULL) return 0;                                 \
        memcpy(&cu.name, &found, sizeof found);                      \
    } while (0);
    DRIVER_CALLS(X)
#undef X
    return 1;
}

static void check(int error, const char *what) { /* of the driver */
    if (error == 0) return;
    fprintf(stderr, "%s failed: CUDA error %d\n", what, error);
    exit(1);
}
static void must(tally_status status) {
    if (status == TALLY_OK) return;
    fprintf(stderr, "%s: %s\n", tally_status_name(status), tally_message());
    exit(1);
}

enum { COUNT = 1 << 20 };
static float values[COUNT];

static void fill(float scale) {
    for (int i = 0; i < COUNT; i++) values[i] = scale / (float)(i + 1);
}

/* The CPU's sum of the same values has the same bits. */
static void compare(const char *where, address on_gpu) {
    float there, here;
    check(cu.copy_out(&there, on_gpu, sizeof there), "copying the sum");
    must(tally_reduce(NULL, TALLY_SUM, tally_in(values, TALLY_F32, COUNT), tally_out(&here, TALLY_F32, 1)));
    printf("%s: %.9g, %s\n", where, (double)there,
           memcmp(&there, &here, sizeof here) == 0 ? "the CPU's bits" : "OTHER BITS");
}

int main(void) {
    tally_options options = TALLY_OPTIONS_INIT;
    tally_context *context = NULL;
    tally_gpu_info gpu;
    void *device_context = NULL, *stream = NULL, *graph = NULL, *ready = NULL;
    address memory = 0, sum = 0;
    int device = 0;

    if (tally_gpu_describe(0, &gpu) != TALLY_OK) return printf("SKIPPED: %s\n", tally_message()) < 0;
    if (tally_gpu_compiler() == NULL) return printf("SKIPPED: %s\n", tally_message()) < 0;
    if (!open_driver()) return printf("SKIPPED: libcuda.so.1 is not the driver that Tally found\n") < 0;
    printf("%s, sm_%d\n", gpu.name, gpu.sm);

    check(cu.device_get(&device, 0), "finding the GPU");
    check(cu.context_retain(&device_context, device), "making its context");
    check(cu.context_use(device_context), "using its context");
    check(cu.stream_create(&stream, 1 /* does not wait for the default stream */), "making a stream");
    check(cu.allocate(&memory, sizeof values), "allocating");
    check(cu.allocate(&sum, sizeof(float)), "allocating");
    fill(1); /* copied on the stream: work on others is not waited for */
    check(cu.copy_in(memory, values, sizeof values, stream), "copying the values");

    must(tally_context_create(NULL, &context));
    options.stream = stream;
    must(tally_set_options(context, &options));
    must(tally_warm(context, TALLY_SUM, TALLY_F32)); /* compiled, or taken from the cache */

    /* The array's address says where to compute. With the output there too, the call returns at once. */
    tally_array in = tally_in((const void *)(uintptr_t)memory, TALLY_F32, COUNT);
    tally_output out = tally_out((void *)(uintptr_t)sum, TALLY_F32, 1);
    must(tally_reduce(context, TALLY_SUM, in, out));
    check(cu.stream_wait(stream), "the stream");
    compare("stream", sum);

    check(cu.capture(stream, 0 /* global */), "capturing");
    must(tally_reduce(context, TALLY_SUM, in, out));
    check(cu.end_capture(stream, &graph), "capturing");
    check(cu.graph_instantiate(&ready, graph, 0), "making the graph");
    for (int round = 2; round <= 3; round++) {
        fill((float)round);
        check(cu.copy_in(memory, values, sizeof values, stream), "copying the values");
        check(cu.graph_launch(ready, stream), "launching the graph");
        check(cu.stream_wait(stream), "the stream");
        compare("graph", sum);
    }

    cu.ready_destroy(ready);
    cu.graph_destroy(graph);
    tally_context_destroy(context); /* after the graph: it has scratch memory of this context */
    cu.release(sum);
    cu.release(memory);
    cu.stream_destroy(stream);
    return 0;
}
