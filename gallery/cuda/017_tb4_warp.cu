// 017 tb4_warp: warps reduce 32 elements each, four times. Source: Martin, Algorithm 2 (TB4-warp, R
// = 4), after S. Sengupta, M. Harris, M. Garland, "Efficient Parallel Scan Algorithms for GPUs",
// 2008.
// Plain CUDA, made of gallery/kernels. nvcc -O3 017_tb4_warp.cu && ./a.out
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

// Elements at, at + 1, ..., of which lane l names at = first + l, by the warp. The result is
// elements[first].
__device__ void reduce_warp(float *elements, int at) {
    for (int apart = 1; apart < 32; apart *= 2) {
        if (threadIdx.x % 32 % (2 * apart) == 0)
            elements[at] = op(elements[at], elements[at + apart]);
        __syncwarp();
    }
}

__global__ void tb4_warp(const float *x, int64_t count, float *out) {
    __shared__ float data[1024];
    __shared__ float results[32];
    int t = threadIdx.x, warps = 256 / 32;
    int64_t start = (int64_t)blockIdx.x * 1024;
    for (int i = t; i < 1024; i += 256)
        data[i] = take(x, count, start + i);
    __syncthreads();
    for (int k = 0; k < 1024 / 256; k++) {
        int at = k * 256 + t;
        reduce_warp(data, at);
        if (threadIdx.x % 32 == 0) results[k * warps + threadIdx.x / 32] = data[at];
    }
    __syncthreads();
    if (threadIdx.x / 32 != 0) return;
    reduce_warp(results, t);
    if (t == 0) out[blockIdx.x] = results[0];
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
    std::vector<float> values = random_values(n), left((n + 1024 - 1) / 1024);
    float *x = device(values), *out = device(left), *next = device(left);
    for (int64_t count = n; count > 1 || x != nullptr;) { // until one is left
        int64_t blocks = (count + 1024 - 1) / 1024;
        tb4_warp<<<blocks, 256>>>(x != nullptr ? x : next, count, out);
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
    std::printf("tb4_warp of %lld values: %g, %s\n", (long long)n, got,
                got == wanted ? "right" : "WRONG");
    return got == wanted ? 0 : 1;
}
