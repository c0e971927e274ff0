// 005 one_block: threads fold first, then comes the tree. Source: SO, "Single-block parallel
// reduction for commutative operator".
// Plain CUDA, made of gallery/kernels. nvcc -O3 005_one_block.cu && ./a.out
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

__global__ void one_block(const float *x, int64_t count, float *out) {
    float sum = reduce_striding(x, count, threadIdx.x, blockDim.x);
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
    std::vector<float> values = random_values(n), left(1);
    float *x = device(values), *out = device(left);
    one_block<<<1, 1024>>>(x, n, out);
    float *last = out;
    float wanted = identity, got;
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(&got, last, sizeof got, cudaMemcpyDeviceToHost));
    for (float value : values)
        wanted = op(wanted, value);
    std::printf("one_block of %lld values: %g, %s\n", (long long)n, got,
                got == wanted ? "right" : "WRONG");
    return got == wanted ? 0 : 1;
}
