// 022 segmented_tb4_warp: warps over many segments. Source: Martin, IV.A, s_reducePair_toTheLeft in
// TB4-warp.
// Plain CUDA, made of gallery/kernels. nvcc -O3 022_segmented_tb4_warp.cu && ./a.out
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

// The block's element and its segment id. The last block there is puts it into the output.
__device__ void leave_behind(float *out, int *out_ids, float *output, float e, int segment_id) {
    if (gridDim.x == 1) {
        output[segment_id] = op(output[segment_id], e);
    } else {
        out[blockIdx.x] = e;
        out_ids[blockIdx.x] = segment_id;
    }
}

// As reduce_warp; the prefix of the first segment id goes up.
__device__ void reduce_warp_owned(float *output, float *data, const int *segment_id, int at) {
    for (int apart = 1; apart < 32; apart *= 2) {
        if (threadIdx.x % 32 % (2 * apart) == 0) {
            int left = segment_id[at], right = segment_id[at + apart];
            if (left != right)
                output[right] = op(output[right], data[at + apart]);
            else
                data[at] = op(data[at], data[at + apart]);
        }
        __syncwarp();
    }
}

__global__ void segmented_tb4_warp(const float *x, const int *segment_ids, int64_t count,
                                   float *out, int *out_ids, float *output) {
    __shared__ float data[1024];
    __shared__ int segment_id[1024];
    __shared__ float results[32];
    __shared__ int result_segment_id[32];
    int t = threadIdx.x, threads = 256, each = 1024;
    int64_t start = (int64_t)blockIdx.x * each;
    for (int i = t; i < each; i += threads) {
        data[i] = take(x, count, start + i);
        segment_id[i] = segment_ids[start + i < count ? start + i : count - 1];
    }
    __syncthreads();
    for (int k = 0; k < each / threads; k++) {
        int at = k * threads + t, to = at / 32;
        reduce_warp_owned(output, data, segment_id, at);
        if (threadIdx.x % 32 == 0) {
            results[to] = data[at];
            result_segment_id[to] = segment_id[at];
        }
    }
    __syncthreads();
    if (threadIdx.x / 32 != 0) return;
    reduce_warp_owned(output, results, result_segment_id, t);
    if (t == 0) leave_behind(out, out_ids, output, results[0], result_segment_id[0]);
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
    int64_t n = argc > 1 ? std::atoll(argv[1]) : 100003, segments = (n + 2) / 3;
    std::vector<float> values = random_values(n), left((n + 1024 - 1) / 1024),
                       results(segments, identity);
    std::vector<int> ids(n), left_ids(left.size());
    for (int64_t i = 0; i < n; i++)
        ids[i] = (int)(i / 3); // segments of 3
    float *x = device(values), *out = device(left), *next = device(left), *output = device(results);
    int *segment_ids = device(ids), *out_ids = device(left_ids), *next_ids = device(left_ids);
    int64_t count = n;
    for (bool first = true; first || count > 1; first = false) { // until one block is left
        int64_t blocks = (count + 1024 - 1) / 1024;
        segmented_tb4_warp<<<blocks, 256>>>(first ? x : next, first ? segment_ids : next_ids, count,
                                            out, out_ids, output);
        std::swap(out, next);
        std::swap(out_ids, next_ids);
        count = blocks;
    }
    std::vector<float> wanted(segments, identity);
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(results.data(), output, segments * sizeof(float), cudaMemcpyDeviceToHost));
    for (int64_t i = 0; i < n; i++)
        wanted[ids[i]] = op(wanted[ids[i]], values[i]);
    std::printf("segmented_tb4_warp of %lld values: %s\n", (long long)n,
                results == wanted ? "right" : "WRONG");
    return results == wanted ? 0 : 1;
}
