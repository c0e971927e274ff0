/* One call of the cuda backend: where its arrays are, the device that has them, and the way of results to their
 * places. */
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
/* What the driver knows about an address. Without a driver every address is in host memory. */
tally__memory tally__memory_of(const tally__driver *driver, const void *address);

/* What a call runs with: a device whose context is current, the caller's stream, inputs that the device reaches. */
typedef struct tally__call {
    tally__gpu *gpu; /* NULL: its context is not current */
    tally__cu_stream stream;
    const tally__spec *spec;
    const tally__sink *sink;
    tally__input in;          /* at addresses that the GPU reaches; y equals x if there is one input */
    const void *index, *ends; /* those of segments, at addresses that the GPU reaches */
    bool sink_on_device;
    tally__cu_address copies[4]; /* copies on the GPU of arrays in host memory */
    int copy_count;
    tally__scratch scratch;
    const int32_t *wanted; /* NULL, or the word that says whether further kernels have work (kernels/device/work.h) */
} tally__call;

/* Opens the device, and copies arrays that it does not reach. segments: NULL for a whole array. sink: where results go,
 * or NULL. The caller closes the call, also after a failure. */
tally_status tally__call_open(tally__call *call, const tally__platform *platform, const tally__spec *spec,
                              const tally__input *in, const tally_segments *segments, const tally__sink *sink);
void tally__call_close(tally__call *call);
/* Whether the values of each input lie side by side, the first at a multiple of `bytes`. */
bool tally__are_packed(const tally__call *call, int64_t bytes);

/* Compiles the kernels that the call is going to use, in parallel: those of these forms, and the one that converts its
 * results. Kernels that are ready are left out. */
tally_status tally__call_prepare(const tally__call *call, const tally__form *forms, int count);

/* When a kernel starts. BEHIND: when all work in the stream is done. EARLY: as soon as the kernel before it, of the
 * same call, allows it (tally_let_next_start) and there is room on the device; the kernel itself waits for the one
 * before (tally_await_before). */
typedef enum tally__start { TALLY_START_BEHIND, TALLY_START_EARLY } tally__start;
/* Launches one of the loaded kernels on `blocks` blocks. *work: the struct that kernels/forms.h names for it. */
#define tally__call_launch(call, loaded, entry, blocks, start, work) \
    tally__launch_kernel(call, loaded, entry, blocks, start, work, sizeof *(work))
tally_status tally__launch_kernel(const tally__call *call, const tally__loaded *loaded, tally__entry entry,
                                  int64_t blocks, tally__start start, const void *work, size_t work_bytes);
/* Launches the first of the loaded kernels on as many blocks as the device holds at once, but at most `most`. */
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
/* Whether kernels cannot write results to their places. Then they write results of the natural type, side by side, to
 * scratch memory (staging). */
bool tally__call_needs_staging(const tally__call *call);
/* The size of staging for `results` results; 0 if kernels write results to their places. */
int64_t tally__staging_bytes(const tally__call *call, int64_t results);
/* Tells kernels where results go: to `staging`, if the call needs it, or to their places; and status flags to *flags.
 */
tally_results tally__results_of(const tally__call *call, tally__cu_address staging, int32_t *flags);
/* Moves `count` results from `staging`, if the call needs it, to their places. flags: the address on the device of the
 * status flags, or 0. They are reported if the call waits. If they say that the segments are invalid, no results are
 * copied. */
tally_status tally__call_finalize(const tally__call *call, tally__cu_address staging, int64_t count,
                                  tally__cu_address flags, tally__report *report);

#endif
