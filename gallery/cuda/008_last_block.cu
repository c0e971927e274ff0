// 008 last_block: the last block finishes. Source: SO, the same section, "with the help of last-
// block guard"; NVIDIA's sample threadFenceReduction.
// Plain CUDA, made of gallery/kernels. nvcc -O3 008_last_block.cu && ./a.out
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

// Every `step`-th input from `first` on, folded; then all of the block. The result is thread 0's.
__device__ float reduce_striding(const float *x, int64_t count, int64_t first, int64_t step) {
    __shared__ float partial[1024];
    int t = threadIdx.x;
    float sum = take(x, count, first);
    for (int64_t i = first + step; i < count; i += step)
        sum = op(sum, take(x, count, i));
    partial[t] = sum;
    __syncthreads();
    for (int size = blockDim.x / 2; size > 0; size /= 2) {
        if (t < size) partial[t] = op(partial[t], partial[t + size]);
        __syncthreads();
    }
    sum = partial[0];
    __syncthreads();
    return sum;
}

// Whether this block is the last of so many; then its threads see what thread 0 of each wrote
// before. Same for all threads.
__device__ int is_last(unsigned *counter, int blocks) {
    __shared__ int is_last;
    if (threadIdx.x == 0) {
        __threadfence();
        is_last = atomicInc(counter, (unsigned)blocks - 1) == (unsigned)blocks - 1;
        __threadfence();
    }
    __syncthreads();
    return is_last;
}

__global__ void last_block(const float *x, int64_t count, float *out, unsigned *counter) {
    int64_t threads = blockDim.x;
    float sum = reduce_striding(x, count, blockIdx.x * threads + threadIdx.x, gridDim.x * threads);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
    if (!is_last(counter, gridDim.x)) return;
    sum = reduce_striding(out, gridDim.x, threadIdx.x, threads);
    if (threadIdx.x == 0) out[0] = sum;
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
    last_block<<<blocks, 1024>>>(x, n, out, counter);
    float wanted = identity, got;
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(&got, last, sizeof got, cudaMemcpyDeviceToHost));
    for (float value : values)
        wanted = op(wanted, value);
    std::printf("last_block of %lld values: %g, %s\n", (long long)n, got,
                got == wanted ? "right" : "WRONG");
    return got == wanted ? 0 : 1;
}
