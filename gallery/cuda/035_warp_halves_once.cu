// 035 warp_halves_once: one condition for all steps. Source: SO, "Single-warp parallel reduction
// for commutative operator": "one can simplify the code even further".
// Plain CUDA, made of gallery/kernels. nvcc -O3 035_warp_halves_once.cu && ./a.out
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

__global__ void warp_halves_once(const float *x, int64_t count, float *out) {
    __shared__ float elements[32];
    int lane = threadIdx.x % 32;
    elements[lane] = take(x, count, (int64_t)blockIdx.x * 32 + lane);
    __syncwarp();
    int is_lower = lane < 32 / 2;
    float sum = identity;
    for (int half = 32 / 2; half > 0; half /= 2) {
        if (is_lower) sum = op(elements[lane], elements[lane + half]);
        __syncwarp();
        if (is_lower) elements[lane] = sum;
        __syncwarp();
    }
    if (lane == 0) out[blockIdx.x] = elements[0];
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
    std::vector<float> values = random_values(n), left((n + 32 - 1) / 32);
    float *x = device(values), *out = device(left), *next = device(left);
    for (int64_t count = n; count > 1 || x != nullptr;) { // until one is left
        int64_t blocks = (count + 32 - 1) / 32;
        warp_halves_once<<<blocks, 32>>>(x != nullptr ? x : next, count, out);
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
    std::printf("warp_halves_once of %lld values: %g, %s\n", (long long)n, got,
                got == wanted ? "right" : "WRONG");
    return got == wanted ? 0 : 1;
}
