// 000 plain_read: no reduction at all. Source: Tally; bench/gpu/plain_read.cuh is the same in CUDA
// C++.
// Plain CUDA, made of gallery/kernels. nvcc -O3 000_plain_read.cu && ./a.out
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

// The operator: any associative one.
__host__ __device__ inline float op(float a, float b) { return fminf(a, b); }
#define identity INFINITY

__global__ void plain_read(const float *x, int64_t count, float *out) {
    float seen = 0;
    for (int k = 0; k < 8; k++) {
        int64_t at = ((int64_t)blockIdx.x * 8 + k) * blockDim.x + threadIdx.x;
        if (at < count / 4) {
            float4 v = ((const float4 *)x)[at]; // 16 bytes at a time
            seen += v.x + v.y + v.z + v.w;
        }
    }
    if (seen == -1.25f) out[0] = seen; // so that the reads are not left out
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
    int64_t n = argc > 1 ? std::atoll(argv[1]) : 1 << 26;
    std::vector<float> values = random_values(n);
    float *x = device(values), *out = device(std::vector<float>(1)), milliseconds;
    cudaEvent_t before, after;
    check(cudaEventCreate(&before));
    check(cudaEventCreate(&after));
    int64_t blocks = (n + 8192 - 1) / 8192;
    (void)multiprocessors;
    plain_read<<<blocks, 256>>>(x, n, out);
    check(cudaEventRecord(before));
    plain_read<<<blocks, 256>>>(x, n, out);
    check(cudaEventRecord(after));
    check(cudaDeviceSynchronize());
    check(cudaEventElapsedTime(&milliseconds, before, after));
    std::printf("plain_read of %lld values: %.1f us, %.0f GB/s\n", (long long)n, 1e3 * milliseconds,
                4e-6 * n / milliseconds);
    return 0;
}
