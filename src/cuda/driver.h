/* The GPU driver as a table of functions. libcuda fills one (driver.c); the simulator in src/simt is another; tests put
 * one in front of either that fails on demand. Signatures and numbers are those of the CUDA driver API (CUDA Driver API
 * reference), declared here so that building needs no CUDA header. */
#ifndef TALLY_CUDA_DRIVER_H
#define TALLY_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int tally__cu_device;
typedef uint64_t tally__cu_address; /* CUdeviceptr */
/* A device address as kernels and callers have it, and back. */
static inline void *tally__pointer(tally__cu_address address) { return (void *)(uintptr_t)address; }
static inline tally__cu_address tally__address(const void *pointer) { return (uintptr_t)pointer; }
typedef struct CUctx_st *tally__cu_context;
typedef struct CUmod_st *tally__cu_module;
typedef struct CUfunc_st *tally__cu_function;
typedef struct CUstream_st *tally__cu_stream; /* what callers know as cudaStream_t and CUstream */

/* How a kernel is started (CUlaunchConfig), and attributes of the launch (CUlaunchAttribute). */
typedef struct tally__cu_launch_attribute {
    int number, unused, value, reserved[15];
} tally__cu_launch_attribute;
typedef struct tally__cu_launch {
    unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
    tally__cu_stream stream;
    const tally__cu_launch_attribute *attributes;
    unsigned attribute_count;
} tally__cu_launch;

/*    member             symbol in libcuda                        parameters; each returns a CUresult, 0 for success */
#define TALLY_DRIVER_CALLS(X)                                                                                          \
    X(init, "cuInit", (unsigned flags))                                                                                \
    X(driver_version, "cuDriverGetVersion", (int *version))                                                            \
    X(device_count, "cuDeviceGetCount", (int *count))                                                                  \
    X(device_get, "cuDeviceGet", (tally__cu_device * device, int ordinal))                                             \
    X(device_name, "cuDeviceGetName", (char *name, int length, tally__cu_device device))                               \
    X(device_memory, "cuDeviceTotalMem_v2", (size_t * bytes, tally__cu_device device))                                 \
    X(device_attribute, "cuDeviceGetAttribute", (int *value, int attribute, tally__cu_device device))                  \
    X(context_retain, "cuDevicePrimaryCtxRetain", (tally__cu_context * context, tally__cu_device device))              \
    X(context_release, "cuDevicePrimaryCtxRelease_v2", (tally__cu_device device))                                      \
    X(context_push, "cuCtxPushCurrent_v2", (tally__cu_context context))                                                \
    X(context_pop, "cuCtxPopCurrent_v2", (tally__cu_context * context))                                                \
    X(module_load, "cuModuleLoadData", (tally__cu_module * module, const void *image))                                 \
    X(module_unload, "cuModuleUnload", (tally__cu_module module))                                                      \
    X(module_function, "cuModuleGetFunction",                                                                          \
      (tally__cu_function * function, tally__cu_module module, const char *name))                                      \
    X(function_attribute, "cuFuncGetAttribute", (int *value, int attribute, tally__cu_function function))              \
    X(function_set, "cuFuncSetAttribute", (tally__cu_function function, int attribute, int value))                     \
    X(resident_blocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                                                  \
      (int *blocks, tally__cu_function function, int threads, size_t shared_bytes))                                    \
    X(launch, "cuLaunchKernelEx",                                                                                      \
      (const tally__cu_launch *how, tally__cu_function function, void **parameters, void **extra))                     \
    X(allocate, "cuMemAlloc_v2", (tally__cu_address * address, size_t bytes))                                          \
    X(release, "cuMemFree_v2", (tally__cu_address address))                                                            \
    X(copy_in, "cuMemcpyHtoDAsync_v2",                                                                                 \
      (tally__cu_address to, const void *from, size_t bytes, tally__cu_stream stream))                                 \
    X(copy_out, "cuMemcpyDtoHAsync_v2", (void *to, tally__cu_address from, size_t bytes, tally__cu_stream stream))     \
    X(fill, "cuMemsetD8Async", (tally__cu_address address, unsigned char byte, size_t bytes, tally__cu_stream stream)) \
    X(stream_create, "cuStreamCreate", (tally__cu_stream * stream, unsigned flags))                                    \
    X(stream_destroy, "cuStreamDestroy_v2", (tally__cu_stream stream))                                                 \
    X(stream_wait, "cuStreamSynchronize", (tally__cu_stream stream))                                                   \
    X(stream_capturing, "cuStreamIsCapturing", (tally__cu_stream stream, int *status))                                 \
    X(capture_mode, "cuThreadExchangeStreamCaptureMode", (int *mode))                                                  \
    X(pointer_attributes, "cuPointerGetAttributes",                                                                    \
      (unsigned count, int *attributes, void **values, tally__cu_address pointer))                                     \
    X(error_name, "cuGetErrorName", (int error, const char **name))                                                    \
    X(error_sentence, "cuGetErrorString", (int error, const char **sentence))

typedef struct tally__driver {
#define TALLY_ROW(member, symbol, parameters) int(*member) parameters;
    TALLY_DRIVER_CALLS(TALLY_ROW)
#undef TALLY_ROW
} tally__driver;

/* Numbers of the driver API that Tally uses. */
enum {
    TALLY_CU_SUCCESS = 0,
    TALLY_CU_INVALID_VALUE = 1,
    TALLY_CU_OUT_OF_MEMORY = 2,
    TALLY_CU_NO_DEVICE = 100,
    TALLY_CU_INVALID_DEVICE = 101,
    TALLY_CU_INVALID_IMAGE = 200,
    TALLY_CU_NOT_FOUND = 500,
    TALLY_CU_LAUNCH_FAILED = 719,

    TALLY_CU_DEVICE_MAX_SHARED_PER_BLOCK = 8,
    TALLY_CU_DEVICE_CLOCK_KHZ = 13,
    TALLY_CU_DEVICE_MULTIPROCESSORS = 16,
    TALLY_CU_DEVICE_L2_BYTES = 38,
    TALLY_CU_DEVICE_THREADS_PER_MULTIPROCESSOR = 39,
    TALLY_CU_DEVICE_MAJOR = 75,
    TALLY_CU_DEVICE_MINOR = 76,
    TALLY_CU_DEVICE_SHARED_OPT_IN = 97,

    TALLY_CU_FUNCTION_SHARED_BYTES = 1,
    TALLY_CU_FUNCTION_LOCAL_BYTES = 3,
    TALLY_CU_FUNCTION_REGISTERS = 4,
    TALLY_CU_FUNCTION_MAX_DYNAMIC_SHARED = 8,
    TALLY_CU_FUNCTION_SHARED_CARVEOUT = 9, /* percent of the cache that is shared memory */

    TALLY_CU_POINTER_CONTEXT = 1,
    TALLY_CU_POINTER_MEMORY_TYPE = 2, /* gives 0 for memory the driver does not know, or one of: */
    TALLY_CU_MEMORY_HOST = 1,         /* pinned */
    TALLY_CU_MEMORY_DEVICE = 2,
    TALLY_CU_POINTER_IS_MANAGED = 8,
    TALLY_CU_POINTER_DEVICE_ORDINAL = 9,

    TALLY_CU_LAUNCH_OVERLAPS = 6, /* a launch attribute, for programmatic dependent launch: it waits for the kernel
                                     before it when it asks to */
    TALLY_CU_STREAM_NON_BLOCKING = 1,
    TALLY_CU_CAPTURE_NONE = 0,
    TALLY_CU_CAPTURE_ACTIVE = 1,
    TALLY_CU_CAPTURE_MODE_RELAXED = 2
};

#endif
