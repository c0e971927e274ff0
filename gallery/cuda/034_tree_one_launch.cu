// 034 tree_one_launch: many small blocks, and a tree over them in the same launch. Source: Tally's
// production kernel (docs/design/005-gpu-whole-arrays.md), without its canonical order.
// Plain CUDA, made of gallery/kernels. nvcc -O3 034_tree_one_launch.cu && ./a.out
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

// The elements of the warp's lanes, in order; the result is lane 0's.
__device__ float reduce_shuffling(float sum) {
    for (int apart = 1; apart < 32; apart *= 2) {
        sum = op(sum, __shfl_down_sync(0xffffffff, sum, apart));
    }
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

// The elements of the block's threads, in order; the result is thread 0's.
__device__ float reduce_block(float sum) {
    __shared__ float of_warps[32];
    int lane = threadIdx.x % 32, warps = blockDim.x / 32;
    sum = reduce_shuffling(sum);
    if (lane == 0) of_warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x / 32 == 0) {
        sum = identity;
        if (lane < warps) sum = of_warps[lane];
        sum = reduce_shuffling(sum);
    }
    return sum;
}

// Whether this block is the last of so many; then its threads see what thread 0 of each wrote
// before. Same for all threads.
__device__ int is_last(unsigned *counter, int blocks) {
    __shared__ int is_last;
    if (threadIdx.x == 0) {
        __threadfence();
        is_last = atomicInc(counter, (unsigned)blocks - 1) == (unsigned)blocks - 1;
        __threadfence();
    }
    __syncthreads();
    return is_last;
}

__global__ void tree_one_launch(const float *x, int64_t count, float *out, unsigned *counter) {
    int t = threadIdx.x;
    int64_t at = blockIdx.x, members = gridDim.x, apart = 1;
    unsigned *arrivals = counter;
    float sum = reduce_block(fold_vectors(x, count));
    if (t == 0) out[at] = sum;
    while (members > 1) {
        int64_t group = at / 32, groups = (members + 32 - 1) / 32, first = group * 32;
        int size = group + 1 < groups ? 32 : (int)(members - first);
        if (!is_last(arrivals + group, size)) return;
        if (threadIdx.x / 32 == 0) {
            sum = identity;
            if (t < size) sum = out[(first + t) * apart];
            sum = reduce_shuffling(sum);
            if (t == 0) out[first * apart] = sum;
        }
        __syncthreads(); // before the next level tells its last
        arrivals += groups;
        members = groups;
        at = group;
        apart *= 32;
    }
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
    int64_t n = argc > 1 ? std::atoll(argv[1]) : 100003, blocks = (n + 2048 - 1) / 2048;
    std::vector<float> values = random_values(n), left(blocks);
    float *x = device(values), *out = device(left), *last = out;
    unsigned *counter = device(std::vector<unsigned>(blocks + 32, 0));
    tree_one_launch<<<blocks, 256>>>(x, n, out, counter);
    float wanted = identity, got;
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(&got, last, sizeof got, cudaMemcpyDeviceToHost));
    for (float value : values)
        wanted = op(wanted, value);
    std::printf("tree_one_launch of %lld values: %g, %s\n", (long long)n, got,
                got == wanted ? "right" : "WRONG");
    return got == wanted ? 0 : 1;
}
