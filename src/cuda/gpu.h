/* One device as Tally uses it: its primary context, the kernels loaded into it, and scratch memory for launches.
 * Devices are opened at first use and stay open; all of this may be called by several threads at once. */
#ifndef TALLY_CUDA_GPU_H
#define TALLY_CUDA_GPU_H

#include "cuda/geometry.h"
#include "cuda/platform.h"
#include "device/work.h"

typedef struct tally__gpu {
    const tally__platform *platform;
    const tally__driver *driver;
    int ordinal, sm, multiprocessors;
    int tile_buffers; /* of a block of segments, in shared memory (kernels/partition/partition.h) */
    tally__cu_device device;
    tally__cu_context context;
} tally__gpu;

/* The loaded kernels of a unit: `first` and those after it. */
typedef struct tally__loaded {
    tally__entry first;
    tally__cu_function functions[TALLY_MOST_ENTRIES];
    int threads[TALLY_MOST_ENTRIES]; /* of a block, for each kernel */
    int resident_blocks;             /* how many of the first kernel the whole device holds at once */
    size_t shared_bytes;             /* dynamic shared memory for launches of it */
} tally__loaded;

/* Scratch memory of one launch on one stream, in this order. Parts that must be 0 before a launch are 0 again after
 * it. */
typedef struct tally__scratch {
    tally__cu_address node;     /* TALLY_NODE_BYTES, for a node that the host wants */
    tally__cu_address arrivals; /* TALLY_ARRIVALS counters, 0 */
    tally__cu_address sums;     /* TALLY_SUMS_BYTES; the bytes of a node in it are 0 */
    tally__cu_address nodes;    /* the rest: mailboxes of nodes, 0; see tally__scratch_use */
    bool is_captured;           /* the launch goes into a graph */
} tally__scratch;
/* The most bytes of `nodes` that reductions of a whole array of up to `count` values use. (whole.c) */
size_t tally__node_bytes_at_most(const tally__spec *spec, int64_t count);
enum {
    TALLY_ARRIVALS = 1 << 16,
    TALLY_SUMS_BYTES = 1 << 16,
    TALLY_MOST_TILES = 1 << 18, /* TALLY_ARRIVALS counters are enough for their groups */
    TALLY_MOST_BLOCKS = (TALLY_SUMS_BYTES - TALLY_KEYS_AT) / 16 /* that have space for their keys */
};
/* The size of scratch memory that has node_bytes bytes for nodes. */
size_t tally__scratch_bytes(size_t node_bytes);

/* The status of a driver call: TALLY_OK, TALLY_NO_MEMORY, or TALLY_DEVICE_FAILED with the driver's own sentence. `what`
 * ends "could not ..." */
tally_status tally__gpu_check(const tally__driver *driver, int error, const char *what);

/* TALLY_NO_DEVICE: no driver, or no such device. */
tally_status tally__gpu_open(const tally__platform *platform, int ordinal, tally__gpu **gpu);
/* Makes the device's context current; and back what was current before. */
tally_status tally__gpu_enter(const tally__gpu *gpu);
void tally__gpu_leave(const tally__gpu *gpu);

/* The kernels of a form for a spec, compiled and loaded at first use. For a general form, spec may be NULL. */
tally_status tally__gpu_kernel(tally__gpu *gpu, const tally__spec *spec, tally__form form, tally__loaded *loaded);

/* Compiles the kernels that the device does not have yet, in parallel, on up to `threads` threads (0: as many as
 * options.threads 0 means). They are loaded when they are first used. List those first that take longest. */
typedef struct tally__want {
    const tally__spec *spec; /* as tally__gpu_kernel takes them */
    tally__form form;
} tally__want;
enum { TALLY_MOST_WANTS = TALLY_FORMS + 1 };
tally_status tally__gpu_prepare(tally__gpu *gpu, const tally__want *wants, int count, int threads);

/* What the last part of scratch memory is used for: mailboxes, which are 0 before and after a launch; or nodes, groups
 * of vectors, nodes of their features, or copies of values, which need not be 0. Each use has memory of its own. */
typedef enum tally__scratch_use {
    TALLY_FOR_BOXES,
    TALLY_FOR_NODES,
    TALLY_FOR_GROUPS,
    TALLY_FOR_FEATURES,
    TALLY_FOR_COPIES
} tally__scratch_use;

/* Finds or makes scratch memory for a launch. It belongs to the context. Launches on one stream share it; a launch that
 * is captured into a graph has its own. given, if not 0: memory of the caller to use instead, of `given_bytes` bytes.
 * TALLY_NO_SPACE: these are too few. */
tally_status tally__gpu_scratch(tally__gpu *gpu, const void *context, tally__cu_stream stream, tally__scratch_use use,
                                size_t node_bytes, tally__cu_address given, size_t given_bytes,
                                tally__scratch *scratch);
/* Frees the scratch memory of a context on all devices of a platform, when launches that use it are done. only_given:
 * only forgets the memory that the context's options gave. */
void tally__gpu_forget(const tally__platform *platform, const void *context, bool only_given);
/* Closes the devices of a platform: for tests. */
void tally__gpu_close_all(const tally__platform *platform);

#endif
