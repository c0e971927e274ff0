// 033 atomic_finish: each block combines its element into the result. Source: J. Luitjens, "Faster
// Parallel Reductions on Kepler", NVIDIA, 2014, with atomicAdd; the lock is here for operators of
// any size.
// Plain CUDA, made of gallery/kernels. nvcc -O3 033_atomic_finish.cu && ./a.out
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

// The operator: any associative one.
__host__ __device__ inline float op(float a, float b) { return fminf(a, b); }
#define identity INFINITY

// Value i, or what changes nothing where there is none.
__device__ float take(const float *x, int64_t count, int64_t i) {
    return i < count ? x[i] : identity;
}

// The elements of the warp's lanes, in order; the result is lane 0's.
__device__ float reduce_shuffling(float sum) {
    for (int apart = 1; apart < 32; apart *= 2) {
        sum = op(sum, __shfl_down_sync(0xffffffff, sum, apart));
    }
    return sum;
}

// The elements of the block's threads, in order; the result is thread 0's.
__device__ float reduce_block(float sum) {
    __shared__ float of_warps[32];
    int lane = threadIdx.x % 32, warps = blockDim.x / 32;
    sum = reduce_shuffling(sum);
    if (lane == 0) of_warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x / 32 == 0) {
        sum = identity;
        if (lane < warps) sum = of_warps[lane];
        sum = reduce_shuffling(sum);
    }
    return sum;
}

__global__ void atomic_finish(const float *x, int64_t count, float *out, unsigned *counter) {
    int64_t threads = blockDim.x, step = gridDim.x * threads;
    int64_t first = blockIdx.x * threads + threadIdx.x;
    int *lock = (int *)counter;
    float sum = take(x, count, first);
    for (int64_t i = first + step; i < count; i += step)
        sum = op(sum, take(x, count, i));
    sum = reduce_block(sum);
    if (threadIdx.x != 0) return;
    while (atomicExch(lock, 1) != 0)
        continue;
    __threadfence();
    if (lock[1] > 0) sum = op(out[0], sum);
    out[0] = sum;
    lock[1] = lock[1] + 1 == gridDim.x ? 0 : lock[1] + 1;
    __threadfence();
    atomicExch(lock, 0);
}

// ---- the host: runs it over random values, and checks the result

static void check(cudaError_t error) {
    if (error != cudaSuccess) {
        std::printf("%s\n", cudaGetErrorString(error));
        std::exit(1);
    }
}
template <typename T> static T *device(const std::vector<T> &values) {
    T *copy;
    check(cudaMalloc(&copy, (values.size() + 1) * sizeof(T)));
    check(cudaMemcpy(copy, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return copy;
}
static std::vector<float> random_values(int64_t count) {
    std::vector<float> values(count);
    uint32_t state = 1;
    for (float &value : values) {
        state = state * 1664525u + 1013904223u;
        value = (float)(state >> 8) / (1 << 24);
    }
    return values;
}

int main(int argc, char **argv) {
    int multiprocessors, device_number = 0;
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device_number));
    int64_t n = argc > 1 ? std::atoll(argv[1]) : 100003;
    int blocks = 2 * multiprocessors;
    std::vector<float> values = random_values(n), left(blocks);
    float *x = device(values), *out = device(left), *last = out;
    unsigned *counter = device(std::vector<unsigned>(2, 0));
    atomic_finish<<<blocks, 1024>>>(x, n, out, counter);
    float wanted = identity, got;
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(&got, last, sizeof got, cudaMemcpyDeviceToHost));
    for (float value : values)
        wanted = op(wanted, value);
    std::printf("atomic_finish of %lld values: %g, %s\n", (long long)n, got,
                got == wanted ? "right" : "WRONG");
    return got == wanted ? 0 : 1;
}
