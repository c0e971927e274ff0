/* One call of the cuda backend: where its arrays lie, the device that has them, and results on their way to where they
 * are wanted. */
#ifndef TALLY_CUDA_CALL_H
#define TALLY_CUDA_CALL_H

#include "cuda/gpu.h"

typedef enum tally__memory_kind {
    TALLY_IN_HOST,
    TALLY_IN_DEVICE,
    TALLY_IN_PINNED,
    TALLY_IN_MANAGED
} tally__memory_kind;
typedef struct tally__memory {
    tally__memory_kind kind;
    int ordinal;
} tally__memory;
/* What the driver knows of an address. Without a driver every address is in host memory. */
tally__memory tally__memory_of(const tally__driver *driver, const void *address);

/* What a call runs with: a device whose context is current, the caller's stream, inputs that the device reaches. */
typedef struct tally__call {
    tally__gpu *gpu; /* NULL: its context is not current */
    tally__cu_stream stream;
    const tally__spec *spec;
    const tally__sink *sink;
    tally__input in;          /* as the GPU reaches it; y equals x if there is one input */
    const void *index, *ends; /* as the GPU reaches them: those of segments */
    bool sink_on_device;
    tally__cu_address copies[4]; /* on the GPU, of what lies in host memory */
    int copy_count;
    tally__scratch scratch;
    const int32_t *wanted; /* NULL, or what further kernels look at first (kernels/device/work.h) */
} tally__call;

/* Opens the device, and copies what it does not reach. segments: NULL for a whole array. sink: where results go, or
 * NULL. The caller closes the call, also after a failure. */
tally_status tally__call_open(tally__call *call, const tally__platform *platform, const tally__spec *spec,
                              const tally__input *in, const tally_segments *segments, const tally__sink *sink);
void tally__call_close(tally__call *call);
/* Whether the values of each input lie side by side, the first at a multiple of so many bytes. */
bool tally__are_packed(const tally__call *call, int64_t bytes);

/* Compiles the kernels of these forms, which the call is going to ask for, and the one that converts its results: those
 * that are not ready, side by side. */
tally_status tally__call_prepare(const tally__call *call, const tally__form *forms, int count);

/* When a kernel starts. BEHIND: when all that is in the stream is done. EARLY: as soon as the kernel before it, of the
 * same call, allows it (tally_let_next_start) and there is room; it waits for that kernel by itself
 * (tally_await_before). */
typedef enum tally__start { TALLY_START_BEHIND, TALLY_START_EARLY } tally__start;
/* Launches one of the loaded kernels on so many blocks. *work: the struct that kernels/forms.h names for it. */
#define tally__call_launch(call, loaded, entry, blocks, start, work) \
    tally__launch_kernel(call, loaded, entry, blocks, start, work, sizeof *(work))
tally_status tally__launch_kernel(const tally__call *call, const tally__loaded *loaded, tally__entry entry,
                                  int64_t blocks, tally__start start, const void *work, size_t work_bytes);
/* Launches the first of them on as many blocks as the device holds at once, but at most `most`. */
#define tally__call_launch_resident(call, loaded, most, start, work)                                       \
    tally__launch_kernel(call, loaded, (loaded)->first, tally__resident_blocks(loaded, most), start, work, \
                         sizeof *(work))
int64_t tally__resident_blocks(const tally__loaded *loaded, int64_t most);
/* Fills bytes of the device with zeros. */
tally_status tally__call_clear(const tally__call *call, tally__cu_address memory, size_t bytes);
/* Copies bytes of the device to the host and waits for them. TALLY_BAD_ARGUMENT: the stream is captured, and nothing
 * can be waited for. */
tally_status tally__call_fetch(const tally__call *call, void *to, tally__cu_address from, size_t bytes);
/* Copies bytes of the host to the device and waits for that. Errors as above. */
tally_status tally__call_store(const tally__call *call, tally__cu_address to, const void *from, size_t bytes);

/* Whether the call waits for results and status flags: results go to the host, or the options say `checked`. */
bool tally__call_waits(const tally__call *call);
/* Whether kernels cannot write results to their places. Then they write natural ones, side by side, to scratch memory.
 */
bool tally__call_needs_staging(const tally__call *call);
/* Bytes of scratch memory for so many of these; 0 if kernels write results to their places. */
int64_t tally__staging_bytes(const tally__call *call, int64_t results);
/* What kernels are told of results: to write them to `staging`, if they need it, or to their places, and status flags
 * to *flags. */
tally_results tally__results_of(const tally__call *call, tally__cu_address staging, int32_t *flags);
/* Brings `count` results from `staging`, if they need it, to their places. *flags, on the device, are the status flags;
 * 0: there are none. They are reported if the call waits. If they say that the segments are invalid, no results are
 * copied. */
tally_status tally__call_finalize(const tally__call *call, tally__cu_address staging, int64_t count,
                                  tally__cu_address flags, tally__report *report);

#endif
