/* CUDA enough to compile the gallery's kernels as C++20 and run them: blocks one after another, a thread for each of
 * CUDA's. Warps have 32 lanes; who ends is no longer waited for. */
#pragma once
#include <barrier>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#define __global__ static
#define __device__ static
#define __host__
#define __shared__ static /* one block at a time */

struct Extent {
    unsigned x;
};
struct float4 {
    float x, y, z, w;
};
struct uint4 {
    unsigned x, y, z, w;
};
static thread_local Extent threadIdx, blockIdx, blockDim, gridDim;

struct Warp {
    std::barrier<> meeting;
    float given[32];
    explicit Warp(unsigned lanes) : meeting(lanes) {}
};
static thread_local Warp *warp;
static thread_local std::barrier<> *block;
static inline void __syncthreads() { block->arrive_and_wait(); }
static inline void __syncwarp() { warp->meeting.arrive_and_wait(); }
static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline float __shfl_down_sync(unsigned, float value, int apart) {
    unsigned lane = threadIdx.x % 32;
    warp->given[lane] = value;
    __syncwarp();
    float other = warp->given[lane + apart < 32 ? lane + apart : lane];
    __syncwarp();
    return other;
}
static inline unsigned atomicInc(unsigned *counter, unsigned most) {
    unsigned before = *counter; /* one block at a time, and one thread of it */
    *counter = before >= most ? 0 : before + 1;
    return before;
}
static inline int atomicExch(int *at, int value) { return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST); }

template <typename Kernel, typename... Given>
static void launch(int64_t blocks, int64_t threads, Kernel kernel, Given... given) {
    for (int64_t b = 0; b < blocks; b++) {
        std::barrier<> all(threads);
        std::vector<std::unique_ptr<Warp>> warps;
        std::vector<std::thread> running;
        for (int64_t w = 0; w < threads; w += 32)
            warps.push_back(std::make_unique<Warp>((unsigned)(threads - w < 32 ? threads - w : 32)));
        for (int64_t t = 0; t < threads; t++)
            running.emplace_back([&, t] {
                threadIdx = {(unsigned)t}, blockIdx = {(unsigned)b};
                blockDim = {(unsigned)threads}, gridDim = {(unsigned)blocks};
                block = &all, warp = warps[t / 32].get();
                kernel(given...);
                warp->meeting.arrive_and_drop();
                block->arrive_and_drop();
            });
        for (std::thread &thread : running) thread.join();
    }
}

/* ---- the host's part ---- */

typedef int cudaError_t;
typedef int cudaEvent_t;
enum { cudaSuccess, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaDevAttrMultiProcessorCount };
static inline const char *cudaGetErrorString(int) { return "no memory"; }
template <typename T> static int cudaMalloc(T **at, size_t bytes) { return (*at = (T *)malloc(bytes)) == nullptr; }
static inline int cudaMemcpy(void *to, const void *from, size_t bytes, int) { return memcpy(to, from, bytes), 0; }
static inline int cudaDeviceGetAttribute(int *value, int, int) { return *value = 2, 0; }
static inline int cudaDeviceSynchronize() { return 0; }
static inline int cudaEventCreate(int *) { return 0; }
static inline int cudaEventRecord(int) { return 0; }
static inline int cudaEventElapsedTime(float *milliseconds, int, int) { return *milliseconds = 1, 0; }
template <typename Kernel> static int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Kernel, int, int) {
    return *blocks = 2, 0;
}
