// 021 segmented_tb2: a tree over many segments. Source: Martin, IV.A, TB2, after K. Zhou, Q. Hou,
// R. Wang, B. Guo, "Real-time kd-tree construction on graphics hardware", 2008.
// Plain CUDA, made of gallery/kernels. nvcc -O3 021_segmented_tb2.cu && ./a.out
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

// Where element i lies: one unused behind each 32, the number of banks and of lanes.
__device__ int padded(int i) { return i + (int)((unsigned)i / 32); }

__global__ void segmented_tb2(const float *x, const int *segment_ids, int64_t count, float *out,
                              int *out_ids, float *output) {
    __shared__ float data[528];
    __shared__ int segment_id[528];
    int t = threadIdx.x, threads = blockDim.x, stride = 1;
    int64_t start = (int64_t)2 * blockIdx.x * threads;
    for (int i = t; i < 2 * threads; i += threads) {
        data[padded(i)] = take(x, count, start + i);
        segment_id[padded(i)] = segment_ids[start + i < count ? start + i : count - 1];
    }
    for (int d = threads; d > 0; d /= 2) {
        __syncthreads();
        if (t < d) {
            int a = padded(2 * stride * t), b = padded(2 * stride * t + stride);
            int left = segment_id[a], right = segment_id[b];
            if (left != right)
                output[right] = op(output[right], data[b]);
            else
                data[a] = op(data[a], data[b]);
        }
        stride *= 2;
    }
    if (t == 0) leave_behind(out, out_ids, output, data[0], segment_id[0]);
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
    std::vector<float> values = random_values(n), left((n + 512 - 1) / 512),
                       results(segments, identity);
    std::vector<int> ids(n), left_ids(left.size());
    for (int64_t i = 0; i < n; i++)
        ids[i] = (int)(i / 3); // segments of 3
    float *x = device(values), *out = device(left), *next = device(left), *output = device(results);
    int *segment_ids = device(ids), *out_ids = device(left_ids), *next_ids = device(left_ids);
    int64_t count = n;
    for (bool first = true; first || count > 1; first = false) { // until one block is left
        int64_t blocks = (count + 512 - 1) / 512;
        segmented_tb2<<<blocks, 256>>>(first ? x : next, first ? segment_ids : next_ids, count, out,
                                       out_ids, output);
        std::swap(out, next);
        std::swap(out_ids, next_ids);
        count = blocks;
    }
    std::vector<float> wanted(segments, identity);
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(results.data(), output, segments * sizeof(float), cudaMemcpyDeviceToHost));
    for (int64_t i = 0; i < n; i++)
        wanted[ids[i]] = op(wanted[ids[i]], values[i]);
    std::printf("segmented_tb2 of %lld values: %s\n", (long long)n,
                results == wanted ? "right" : "WRONG");
    return results == wanted ? 0 : 1;
}
