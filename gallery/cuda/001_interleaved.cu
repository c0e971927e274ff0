// 001 interleaved: a tree of neighbours. Source: Kandasamy, figure 1 and the first listing.
// Plain CUDA, made of gallery/kernels. nvcc -O3 001_interleaved.cu && ./a.out
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

__global__ void interleaved(const float *x, int64_t count, float *out) {
    __shared__ float partial[1024];
    int t = threadIdx.x, threads = blockDim.x;
    partial[t] = take(x, count, t);
    __syncthreads();
    for (int stride = 1; stride < threads; stride *= 2) {
        if (t % (2 * stride) == 0) partial[t] = op(partial[t], partial[t + stride]);
        __syncthreads();
    }
    if (t == 0) out[0] = partial[0];
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
    int64_t n = argc > 1 ? std::atoll(argv[1]) : 1000; // at most 1024
    std::vector<float> values = random_values(n), left(1);
    float *x = device(values), *out = device(left);
    int threads = 1;
    while (threads < n)
        threads *= 2;
    interleaved<<<1, threads>>>(x, n, out);
    float *last = out;
    float wanted = identity, got;
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(&got, last, sizeof got, cudaMemcpyDeviceToHost));
    for (float value : values)
        wanted = op(wanted, value);
    std::printf("interleaved of %lld values: %g, %s\n", (long long)n, got,
                got == wanted ? "right" : "WRONG");
    return got == wanted ? 0 : 1;
}
