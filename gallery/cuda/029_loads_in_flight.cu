// 029 loads_in_flight: several loads before the first addition. Source: Little's law; V. Volkov,
// "Better Performance at Lower Occupancy", 2010, for reads: instruction-level parallelism in place
// of threads.
// Plain CUDA, made of gallery/kernels. nvcc -O3 029_loads_in_flight.cu && ./a.out
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

// The block's elements by a tree of halves; the result is thread 0's. `partial` has room for one of
// each thread.
__device__ float reduce_halves(float *partial, float sum) {
    int t = threadIdx.x;
    partial[t] = sum;
    __syncthreads();
    for (int size = blockDim.x / 2; size > 0; size /= 2) {
        if (t < size) partial[t] = op(partial[t], partial[t + size]);
        __syncthreads();
    }
    return partial[0];
}

__global__ void loads_in_flight(const float *x, int64_t count, float *out) {
    __shared__ float partial[256];
    enum { LOADS = 2048 / 256 };
    int64_t first = (int64_t)blockIdx.x * 2048 + threadIdx.x;
    float value[LOADS];
    for (int k = 0; k < LOADS; k++)
        value[k] = take(x, count, first + k * 256);
    // by halves, as CUDA 13.0 compiles one after the other wrongly for var of i32 (with
    // --ptxas-options=-O1 rightly)
    for (int half = LOADS / 2; half > 0; half /= 2)
        for (int k = 0; k < half; k++)
            value[k] = op(value[k], value[k + half]);
    float sum = reduce_halves(partial, value[0]);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
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
        loads_in_flight<<<blocks, 256>>>(x != nullptr ? x : next, count, out);
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
    std::printf("loads_in_flight of %lld values: %g, %s\n", (long long)n, got,
                got == wanted ? "right" : "WRONG");
    return got == wanted ? 0 : 1;
}
