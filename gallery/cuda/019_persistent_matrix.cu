// 019 persistent_matrix: blocks that stay. Source: Martin, III.B.1, "Persistent blocks".
// Plain CUDA, made of gallery/kernels. nvcc -O3 019_persistent_matrix.cu && ./a.out
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

// Loads a matrix of `width` columns from input `start` on, by `threads` threads of which this is
// thread t. How often the loop runs does not depend on t: so a compiler unrolls it, and a thread
// has all its loads on their way at once.
__device__ void load_matrix(const float *x, int64_t count, float *data, int width, int64_t start,
                            int t, int threads) {
    for (int first = 0; first < 32 * width; first += threads) {
        int i = first + t;
        data[i + i / width] = take(x, count, start + i);
    }
}

// Reduces 32 rows by one warp; the result is lane 0's.
__device__ float reduce_matrix(float *data, int width) {
    const float *row = data + threadIdx.x % 32 * (width + 1);
    float sum = row[0];
    for (int k = 1; k < width; k++) {
        sum = op(sum, row[k]);
    }
    __syncwarp();
    data[threadIdx.x % 32] = sum;
    __syncwarp();
    reduce_warp(data, threadIdx.x % 32);
    return data[0];
}

// The pieces of a block: [first, end) of `pieces`.
struct Share {
    int64_t first, end;
};

__device__ Share share_of(int64_t count, int each) {
    Share share;
    int64_t pieces = (count + each - 1) / each, quotient = pieces / gridDim.x,
            rest = pieces % gridDim.x, block = blockIdx.x;
    share.first = quotient * block + (block < rest ? block : rest);
    share.end = share.first + quotient + (block < rest);
    return share;
}

__global__ void persistent_matrix(const float *x, int64_t count, float *out) {
    __shared__ float data[1056];
    __shared__ float so_far;
    Share share = share_of(count, 1024);
    if (threadIdx.x == 0) so_far = identity;
    for (int64_t piece = share.first; piece < share.end; piece++) {
        load_matrix(x, count, data, 32, piece * 1024, threadIdx.x, 256);
        __syncthreads();
        if (threadIdx.x / 32 == 0) {
            float sum = reduce_matrix(data, 32);
            if (threadIdx.x == 0) so_far = op(so_far, sum);
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = so_far;
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
    int resident;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, persistent_matrix, 256, 0));
    std::vector<float> values = random_values(n), left(multiprocessors * resident);
    float *x = device(values), *out = device(left), *next = device(left);
    for (int64_t count = n; count > 1 || x != nullptr;) { // until one is left
        int64_t blocks = std::min((count + 1024 - 1) / 1024, (int64_t)multiprocessors * resident);
        persistent_matrix<<<blocks, 256>>>(x != nullptr ? x : next, count, out);
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
    std::printf("persistent_matrix of %lld values: %g, %s\n", (long long)n, got,
                got == wanted ? "right" : "WRONG");
    return got == wanted ? 0 : 1;
}
