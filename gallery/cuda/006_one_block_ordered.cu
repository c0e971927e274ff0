// 006 one_block_ordered: the same without a change of places. Source: SO, "Single-block parallel
// reduction for non-commutative operator".
// Plain CUDA, made of gallery/kernels. nvcc -O3 006_one_block_ordered.cu && ./a.out
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

// The inputs from `first` to before `end`, by one block. The result is thread 0's.
__device__ float reduce_in_order(const float *x, int64_t count, int64_t first, int64_t end) {
    __shared__ float kept[1024];
    int t = threadIdx.x, threads = blockDim.x;
    float sum;
    kept[t] = first + t < end ? take(x, count, first + t) : identity;
    __syncthreads();
    for (int64_t at = first + threads; at < end; at += threads) {
        kept[threads + t] = at + t < end ? take(x, count, at + t) : identity;
        __syncthreads();
        sum = op(kept[2 * t], kept[2 * t + 1]);
        __syncthreads();
        kept[t] = sum;
        __syncthreads();
    }
    for (int stride = 1; stride < threads; stride *= 2) {
        int i = 2 * stride * t;
        if (i + stride < threads) kept[i] = op(kept[i], kept[i + stride]);
        __syncthreads();
    }
    sum = kept[0];
    __syncthreads();
    return sum;
}

__global__ void one_block_ordered(const float *x, int64_t count, float *out) {
    float sum = reduce_in_order(x, count, 0, count);
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
    one_block_ordered<<<1, 512>>>(x, n, out);
    float *last = out;
    float wanted = identity, got;
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(&got, last, sizeof got, cudaMemcpyDeviceToHost));
    for (float value : values)
        wanted = op(wanted, value);
    std::printf("one_block_ordered of %lld values: %g, %s\n", (long long)n, got,
                got == wanted ? "right" : "WRONG");
    return got == wanted ? 0 : 1;
}
