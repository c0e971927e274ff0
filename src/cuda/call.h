/* One call of the cuda backend: where its arrays lie, the device that has them, and results on their way to the host. */
#ifndef TALLY_CUDA_CALL_H
#define TALLY_CUDA_CALL_H

#include "cuda/gpu.h"

typedef enum tally__memory_kind { TALLY_IN_HOST, TALLY_IN_DEVICE, TALLY_IN_PINNED, TALLY_IN_MANAGED } tally__memory_kind;
typedef struct tally__memory {
    tally__memory_kind kind;
    int ordinal;
} tally__memory;
/* What the driver knows of an address; without a driver it is the host's. */
tally__memory tally__memory_of(const tally__driver *driver, const void *address);

/* What a call runs with: a device whose context is current, the caller's stream, inputs that the device reaches. */
typedef struct tally__call {
    tally__gpu *gpu;
    tally__cu_stream stream;
    const void *owner;
    const tally__spec *spec;
    const char *x, *y;
    int64_t x_stride, y_stride;
    bool sink_on_device;
    tally__cu_address copies[3]; /* of inputs that lie in host memory; results for the host */
} tally__call;

/* Opens the device and copies what it does not reach. Whatever it returns, close the call. */
tally_status tally__call_open(tally__call *call, const tally__platform *platform, const tally__spec *spec, const tally__input *in,
                              const tally__sink *sink);
void tally__call_close(tally__call *call);

/* TALLY_BAD_ARGUMENT: the stream is captured, and nothing can be waited for. */
tally_status tally__call_may_wait(const tally__call *call);
/* Launches a kernel with so many blocks. */
tally_status tally__call_launch(const tally__call *call, const tally__loaded *loaded, int64_t blocks, tally_work *work);

#endif
