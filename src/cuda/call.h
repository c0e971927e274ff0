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
/* What the driver knows of an address; without a driver it is the host's. */
tally__memory tally__memory_of(const tally__driver *driver, const void *address);

/* What a call runs with: a device whose context is current, the caller's stream, inputs that the device reaches. */
typedef struct tally__call {
    tally__gpu *gpu; /* NULL: not entered */
    tally__cu_stream stream;
    const tally__spec *spec;
    const tally__sink *sink;
    tally__input in;          /* as the GPU reaches it, y equal to x where there is one, */
    const void *index, *ends; /* as are those of the segments */
    bool sink_on_device;
    tally__cu_address copies[4]; /* of what lies in host memory */
    int copy_count;
    tally__scratch scratch;
    const int32_t *wanted; /* NULL, or what further kernels look at first (kernels/device/work.h) */
} tally__call;

/* Opens the device and copies what it does not reach. segments: NULL for a whole array. sink: NULL, or where results
 * go. Whatever it returns, close the call. */
tally_status tally__call_open(tally__call *call, const tally__platform *platform, const tally__spec *spec,
                              const tally__input *in, const tally_segments *segments, const tally__sink *sink);
void tally__call_close(tally__call *call);
/* Whether the values of each input lie side by side, the first at a multiple of so many bytes. */
bool tally__are_packed(const tally__call *call, int64_t bytes);

/* Compiles the kernels of these forms that the call will ask for, and the one that converts its results, side by side,
 * where they are not ready. */
tally_status tally__call_prepare(const tally__call *call, const tally__form *forms, int count);

/* When a kernel starts: behind what is in the stream; or as soon as the kernel before it, of the same call, has told
 * that it may and there is room, for which it waits itself (tally_let_next_start and tally_await_before of
 * kernels/device/device.h). */
typedef enum tally__start { TALLY_START_BEHIND, TALLY_START_EARLY } tally__start;
/* Starts a kernel of those loaded on so many blocks; *work: what kernels/forms.h says that it is launched with. */
#define tally__call_launch(call, loaded, entry, blocks, start, work) \
    tally__launch_kernel(call, loaded, entry, blocks, start, work, sizeof *(work))
tally_status tally__launch_kernel(const tally__call *call, const tally__loaded *loaded, tally__entry entry,
                                  int64_t blocks, tally__start start, const void *work, size_t work_bytes);
/* Starts the first on as many blocks as the device holds at once, at most `most`. */
#define tally__call_launch_resident(call, loaded, most, start, work)                                       \
    tally__launch_kernel(call, loaded, (loaded)->first, tally__resident_blocks(loaded, most), start, work, \
                         sizeof *(work))
int64_t tally__resident_blocks(const tally__loaded *loaded, int64_t most);
/* Fills bytes of the device with zeros. */
tally_status tally__call_clear(const tally__call *call, tally__cu_address memory, size_t bytes);
/* Copies bytes of the device to the host and waits for them. TALLY_BAD_ARGUMENT: the stream is captured, and nothing
 * can be waited for. */
tally_status tally__call_fetch(const tally__call *call, void *to, tally__cu_address from, size_t bytes);
/* The other way. */
tally_status tally__call_store(const tally__call *call, tally__cu_address to, const void *from, size_t bytes);

/* Whether the call waits for what kernels have seen: results go to the host, or the options say `checked`. */
bool tally__call_waits(const tally__call *call);
/* Whether kernels cannot write results where they belong: they go to scratch memory first, natural and side by side. */
bool tally__call_needs_staging(const tally__call *call);
/* Bytes of scratch memory for so many such results; 0 where kernels write them to their places. */
int64_t tally__staging_bytes(const tally__call *call, int64_t results);
/* Where kernels write results: to `staging`, if these need one, or to their places. flags: as kernels take them. */
tally_results tally__results_of(const tally__call *call, tally__cu_address staging, int32_t *flags);
/* `count` such results at `staging` (if they need one) go on to where they belong. *flags, on the device, is what
 * kernels have seen; it is reported if the call waits for it, and what is no segmentation (TALLY_FLAG_BAD_SEGMENTS) is
 * not fetched. 0: nobody asks. */
tally_status tally__call_finalize(const tally__call *call, tally__cu_address staging, int64_t count,
                                  tally__cu_address flags, tally__report *report);

#endif
