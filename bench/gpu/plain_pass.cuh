// The plain pass: `quads` of 16 bytes read, `written` of them written, both shared out evenly to blocks.
#ifndef PLAIN_PASS_CUH
#define PLAIN_PASS_CUH

#include "bench_gpu.h"

template <int LOADS>
__global__ __launch_bounds__(256) void plain_pass(const uint4 *from, int64_t quads, uint4 *to, int64_t written) {
    int64_t first = static_cast<int64_t>(blockIdx.x) * 256 * LOADS + threadIdx.x;
    uint4 got[LOADS], all = make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int k = 0; k < LOADS; k++) {
        got[k] = first + k * 256 < quads ? __ldcs(from + first + k * 256) : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (int k = 0; k < LOADS; k++) {
        all.x ^= got[k].x, all.y ^= got[k].y, all.z ^= got[k].z, all.w ^= got[k].w;
    }
    int64_t begin = written * blockIdx.x / gridDim.x, end = written * (blockIdx.x + 1) / gridDim.x;
    for (int64_t k = begin + threadIdx.x; k < end; k += 256) {
        __stcs(to + k, all);
    }
    if (written == 0 && all.x == 0x243f6a88 && all.y == 0x85a308d3 && all.z == 0x13198a2e && all.w == 0x03707344) {
        *to = all;
    }
}

static inline void enqueue_plain_pass(const void *from, int64_t read, void *to, int64_t written, cudaStream_t stream) {
    const int64_t quads = read / 16, blocks = (quads + 2047) / 2048; // bytes until here
    plain_pass<8><<<static_cast<unsigned>(blocks), 256, 0, stream>>>(static_cast<const uint4 *>(from), quads,
                                                                     static_cast<uint4 *>(to), written / 16);
}

#endif
