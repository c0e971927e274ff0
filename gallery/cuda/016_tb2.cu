// 016 tb2: a tree without bank conflicts. Source: Martin, Algorithm 1 (TB2, R = 2), after kernel 2
// of M. Harris, "Optimizing Parallel Reduction in CUDA", 2007.
// Plain CUDA, made of gallery/kernels. nvcc -O3 016_tb2.cu && ./a.out
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

// Where element i lies: one unused behind each 32, the number of banks and of lanes.
__device__ int padded(int i) { return i + (int)((unsigned)i / 32); }

__global__ void tb2(const float *x, int64_t count, float *out) {
    __shared__ float data[528];
    int t = threadIdx.x, threads = blockDim.x, stride = 1;
    int64_t start = (int64_t)2 * blockIdx.x * threads;
    for (int i = t; i < 2 * threads; i += threads)
        data[padded(i)] = take(x, count, start + i);
    for (int d = threads; d > 0; d /= 2) {
        __syncthreads();
        if (t < d) {
            int a = padded(2 * stride * t), b = padded(2 * stride * t + stride);
            data[a] = op(data[a], data[b]);
        }
        stride *= 2;
    }
    if (t == 0) out[blockIdx.x] = data[0];
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
    std::vector<float> values = random_values(n), left((n + 512 - 1) / 512);
    float *x = device(values), *out = device(left), *next = device(left);
    for (int64_t count = n; count > 1 || x != nullptr;) { // until one is left
        int64_t blocks = (count + 512 - 1) / 512;
        tb2<<<blocks, 256>>>(x != nullptr ? x : next, count, out);
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
    std::printf("tb2 of %lld values: %g, %s\n", (long long)n, got,
                got == wanted ? "right" : "WRONG");
    return got == wanted ? 0 : 1;
}
