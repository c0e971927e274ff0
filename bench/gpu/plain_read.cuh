// The plain read: kernels that load every byte and do next to nothing with it. They write only if the xor of all they
// read is a key of 128 bits that it never is. Several shapes; the fastest for a size is the measure of everything else.
#ifndef PLAIN_READ_CUH
#define PLAIN_READ_CUH

#include "bench_gpu.h"

__device__ inline void take(uint4 &all, uint4 x) {
    all.x ^= x.x;
    all.y ^= x.y;
    all.z ^= x.z;
    all.w ^= x.w;
}

__device__ inline void never(uint4 all, uint4 key, uint4 *out) {
    if (all.x == key.x && all.y == key.y && all.z == key.z && all.w == key.w) {
        *out = all;
    }
}

// One tile per block: LOADS 16-byte loads per thread, all in flight at once.
template <int THREADS, int LOADS>
__global__ __launch_bounds__(THREADS) void read_tiles(const uint4 *__restrict__ data, int64_t words, uint4 key,
                                                      uint4 *out) {
    int64_t first = static_cast<int64_t>(blockIdx.x) * (THREADS * LOADS) + threadIdx.x;
    uint4 got[LOADS], all = make_uint4(0, 0, 0, 0);
    if (first - threadIdx.x + THREADS * LOADS <= words) {
#pragma unroll
        for (int k = 0; k < LOADS; k++) {
            got[k] = __ldg(data + first + k * THREADS);
        }
#pragma unroll
        for (int k = 0; k < LOADS; k++) {
            take(all, got[k]);
        }
    } else {
        for (int64_t k = first; k < words; k += THREADS) {
            take(all, __ldg(data + k));
        }
    }
    never(all, key, out);
}

// A grid that fills the device once and strides over the array.
template <int THREADS, int LOADS>
__global__ __launch_bounds__(THREADS) void read_strided(const uint4 *__restrict__ data, int64_t words, uint4 key,
                                                        uint4 *out) {
    int64_t stride = static_cast<int64_t>(gridDim.x) * THREADS,
            k = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
    uint4 got[LOADS], all = make_uint4(0, 0, 0, 0);
    for (; k + (LOADS - 1) * stride < words; k += LOADS * stride) {
#pragma unroll
        for (int l = 0; l < LOADS; l++) {
            got[l] = __ldg(data + k + l * stride);
        }
#pragma unroll
        for (int l = 0; l < LOADS; l++) {
            take(all, got[l]);
        }
    }
    for (; k < words; k += stride) {
        take(all, __ldg(data + k));
    }
    never(all, key, out);
}

typedef void (*ReadKernel)(const uint4 *, int64_t, uint4, uint4 *);
struct ReadShape {
    const char *name;
    ReadKernel kernel;
    int threads, loads, blocks_per_sm; /* 0: one tile per block */
};
static const ReadShape READ_SHAPES[] = {
    {"tile 256x4", read_tiles<256, 4>, 256, 4, 0},       {"tile 256x8", read_tiles<256, 8>, 256, 8, 0},
    {"tile 512x4", read_tiles<512, 4>, 512, 4, 0},       {"tile 1024x4", read_tiles<1024, 4>, 1024, 4, 0},
    {"stride 256x4x8", read_strided<256, 4>, 256, 4, 8}, {"stride 256x8x4", read_strided<256, 8>, 256, 8, 4},
    {"stride 512x4x4", read_strided<512, 4>, 512, 4, 4},
};
enum { READ_SHAPE_COUNT = sizeof READ_SHAPES / sizeof READ_SHAPES[0] };

struct PlainRead : Contender {
    ReadShape shape;
    int sms;
    cudaStream_t stream;

    PlainRead(const ReadShape &shape_, int sms_, cudaStream_t stream_) : shape(shape_), sms(sms_), stream(stream_) {
        name = "plain";
        via = shape.name;
    }
    const char *run(const char *data, int64_t bytes) override {
        int64_t words = bytes / 16, tile = static_cast<int64_t>(shape.threads) * shape.loads;
        int64_t blocks = (words + tile - 1) / tile, most = static_cast<int64_t>(sms) * shape.blocks_per_sm;
        if (shape.blocks_per_sm && blocks > most) {
            blocks = most;
        }
        shape.kernel<<<static_cast<unsigned>(blocks), shape.threads, 0, stream>>>(
            reinterpret_cast<const uint4 *>(data), words, make_uint4(0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344),
            reinterpret_cast<uint4 *>(out));
        cudaError_t status = cudaGetLastError();
        return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
    }
};

#endif
