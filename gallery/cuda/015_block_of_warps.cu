// 015 block_of_warps: a block of warps. Source: SO, "Single-warp parallel reduction for commutative
// operator", sumCommSingleBlockWithWarps.
// Plain CUDA, made of gallery/kernels. nvcc -O3 015_block_of_warps.cu && ./a.out
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

// 32 elements, by the warp; the result is elements[0].
__device__ void reduce_warp_halves(float *elements) {
    int lane = threadIdx.x % 32;
    for (int half = 32 / 2; half > 0; half /= 2) {
        if (lane < half) elements[lane] = op(elements[lane], elements[lane + half]);
        __syncwarp();
    }
}

__global__ void block_of_warps(const float *x, int64_t count, float *out) {
    __shared__ float partial[1024];
    int t = threadIdx.x, threads = blockDim.x;
    float sum = take(x, count, t);
    for (int64_t i = t + threads; i < count; i += threads)
        sum = op(sum, take(x, count, i));
    partial[t] = sum;
    __syncwarp();
    reduce_warp_halves(partial + t / 32 * 32);
    __syncthreads();
    if (t >= 32) return;
    sum = t * 32 < threads ? partial[t * 32] : identity;
    __syncwarp();
    partial[t] = sum;
    __syncwarp();
    reduce_warp_halves(partial);
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
    int64_t n = argc > 1 ? std::atoll(argv[1]) : 100003;
    std::vector<float> values = random_values(n), left(1);
    float *x = device(values), *out = device(left);
    block_of_warps<<<1, 1024>>>(x, n, out);
    float *last = out;
    float wanted = identity, got;
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(&got, last, sizeof got, cudaMemcpyDeviceToHost));
    for (float value : values)
        wanted = op(wanted, value);
    std::printf("block_of_warps of %lld values: %g, %s\n", (long long)n, got,
                got == wanted ? "right" : "WRONG");
    return got == wanted ? 0 : 1;
}
