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
    int shared_bytes; /* that a block may have */
    int tile_buffers; /* that its blocks have in shared memory (kernels/segments/partition.h) */
    tally__cu_device device;
    tally__cu_context context;
} tally__gpu;

/* The kernels of a unit, loaded: `first` and those behind it. */
typedef struct tally__loaded {
    tally__entry first;
    tally__cu_function functions[TALLY_MOST_ENTRIES];
    int threads[TALLY_MOST_ENTRIES]; /* of a block of each */
    int resident_blocks;             /* of one launch of the first, on the whole device, */
    size_t shared_bytes;             /* that launches of it give */
} tally__loaded;

/* Scratch memory of one launch on one stream, in this order; what must be 0 before a launch is 0 after it. */
typedef struct tally__scratch {
    tally__cu_address node;     /* TALLY_NODE_BYTES, for a node that the host wants */
    tally__cu_address arrivals; /* TALLY_ARRIVALS counters, 0 */
    tally__cu_address sums;     /* TALLY_SUMS_BYTES, of which a node's are 0 */
    tally__cu_address nodes;    /* mailboxes of nodes, 0: the rest */
    bool is_captured;           /* what uses it goes into a graph */
} tally__scratch;
/* Of a spec's reductions of up to `count` values, at most. (cuda.c) */
size_t tally__node_bytes_at_most(const tally__spec *spec, int64_t count);
enum {
    TALLY_THREADS = 256,
    TALLY_TILE_WARPS = 8, /* of a block, as kernels/order/leaf.h has them */
    TALLY_ARRIVALS = 1 << 16,
    TALLY_SUMS_BYTES = 1 << 16,
    TALLY_MOST_TILES = 1 << 18,                                 /* their groups fit TALLY_ARRIVALS */
    TALLY_MOST_BLOCKS = (TALLY_SUMS_BYTES - TALLY_KEYS_AT) / 16 /* their keys fit */
};
/* The bytes of such memory with so many for nodes. */
size_t tally__scratch_bytes(size_t node_bytes);

/* The status of a driver call: TALLY_OK, TALLY_NO_MEMORY, or TALLY_DEVICE_FAILED with the driver's own sentence. `what`
 * ends "could not ..." */
tally_status tally__gpu_check(const tally__driver *driver, int error, const char *what);

/* TALLY_NO_DEVICE: no driver, or no such device. */
tally_status tally__gpu_open(const tally__platform *platform, int ordinal, tally__gpu **gpu);
/* Makes the device's context current, and what was current before that again. */
tally_status tally__gpu_enter(const tally__gpu *gpu);
void tally__gpu_leave(const tally__gpu *gpu);

/* The kernels of that form for a spec, or of a general form for any or NULL, compiled and loaded at first use. */
tally_status tally__gpu_kernel(tally__gpu *gpu, const tally__spec *spec, tally__form form, tally__loaded *loaded);

/* Compiles what of these kernels the device has not, side by side on up to `threads` threads (as options.threads has
 * them); each is then loaded where it is asked for. Those that take longest come first. */
typedef struct tally__want {
    const tally__spec *spec; /* as tally__gpu_kernel takes them */
    tally__form form;
} tally__want;
enum { TALLY_MOST_WANTS = TALLY_FORMS + 1 };
tally_status tally__gpu_prepare(tally__gpu *gpu, const tally__want *wants, int count, int threads);

/* What lies in the last part of scratch memory: mailboxes, which are 0 before and after a launch; or what a launch
 * leaves as it is: nodes, groups of vectors, nodes of their features, or copies of their values. No two are ever the
 * same memory. */
typedef enum tally__scratch_use {
    TALLY_FOR_BOXES,
    TALLY_FOR_NODES,
    TALLY_FOR_GROUPS,
    TALLY_FOR_FEATURES,
    TALLY_FOR_COPIES
} tally__scratch_use;

/* Scratch memory for a launch on a stream, the context's own until it gives it up: launches on one stream share,
 * those that are captured into a graph have their own each. `given` of `given_bytes`, the caller's, is used instead if
 * it is not 0. TALLY_NO_SPACE: it is too small. */
tally_status tally__gpu_scratch(tally__gpu *gpu, const void *context, tally__cu_stream stream, tally__scratch_use use,
                                size_t node_bytes, tally__cu_address given, size_t given_bytes,
                                tally__scratch *scratch);
/* Frees the scratch memory of a context on all devices of a platform, when what was launched with it is done; or only
 * forgets what the context's options gave. */
void tally__gpu_forget(const tally__platform *platform, const void *context, bool only_given);
/* Closes the devices of a platform: for tests. */
void tally__gpu_close_all(const tally__platform *platform);

#endif
