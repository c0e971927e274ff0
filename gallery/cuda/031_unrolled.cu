// 031 unrolled: a tree without a loop. Source: M. Harris, "Optimizing Parallel Reduction in CUDA",
// 2007, kernels 5 and 6.
// Plain CUDA, made of gallery/kernels. nvcc -O3 031_unrolled.cu && ./a.out
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

// Four neighbours, folded: one load of 16 bytes where all are there.
__device__ float take_vector(const float *x, int64_t count, int64_t i) {
    if (i + 4 <= count) {
        float4 v = *(const float4 *)(x + i);
        return op(op(op(v.x, v.y), v.z), v.w);
    }
    float sum = identity;
    for (int k = 0; k < 4; k++)
        sum = op(sum, take(x, count, i + k));
    return sum;
}

// What the thread folds of the block's piece: vectors of neighbours, a block of vectors apart.
__device__ float fold_vectors(const float *x, int64_t count) {
    enum { VECTORS = 2048 / 256 / 4 };
    int64_t first = (int64_t)blockIdx.x * 2048 + threadIdx.x * 4;
    float sum = take_vector(x, count, first);
    for (int k = 1; k < VECTORS; k++)
        sum = op(sum, take_vector(x, count, first + k * 256 * 4));
    return sum;
}

__global__ void unrolled(const float *x, int64_t count, float *out) {
    __shared__ float partial[256];
    int t = threadIdx.x;
    partial[t] = fold_vectors(x, count);
    __syncthreads();
    for (int size = 256 / 2; size >= 32; size /= 2) {
        if (t < size) partial[t] = op(partial[t], partial[t + size]);
        __syncthreads();
    }
    if (t >= 32) return;
    for (int size = 32 / 2; size > 0; size /= 2) {
        if (t < size) partial[t] = op(partial[t], partial[t + size]);
        __syncwarp();
    }
    if (t == 0) out[blockIdx.x] = partial[0];
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
    std::vector<float> values = random_values(n), left((n + 2048 - 1) / 2048);
    float *x = device(values), *out = device(left), *next = device(left);
    for (int64_t count = n; count > 1 || x != nullptr;) { // until one is left
        int64_t blocks = (count + 2048 - 1) / 2048;
        unrolled<<<blocks, 256>>>(x != nullptr ? x : next, count, out);
        x = nullptr;
        count = blocks;
        std::swap(out, next);
    }
    float *last = next;
    float wanted = identity, got;
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(&got, last, sizeof got, cudaMemcpyDeviceToHost));
    for (float value : values)
        wanted = op(wanted, value);
    std::printf("unrolled of %lld values: %g, %s\n", (long long)n, got,
                got == wanted ? "right" : "WRONG");
    return got == wanted ? 0 : 1;
}
