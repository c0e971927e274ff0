// 026 segmented_diffwarps16: the same with narrower matrices. Source: Martin, V.B, DiffWarps16.
// Plain CUDA, made of gallery/kernels. nvcc -O3 026_segmented_diffwarps16.cu && ./a.out
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
__device__ void leave_before(float *out, int *out_ids, float *output, float e, int segment_id) {
    if (gridDim.x == 1) {
        output[segment_id] = op(e, output[segment_id]);
    } else {
        out[blockIdx.x] = e;
        out_ids[blockIdx.x] = segment_id;
    }
}

// An element and whose it is.
struct Owned {
    float e;
    int segment_id;
};

// The later of two stays; the earlier is put before its segment's output if that is another.
__device__ Owned later(float *output, Owned a, float e, int segment_id) {
    if (a.segment_id != segment_id) {
        output[a.segment_id] = op(a.e, output[a.segment_id]);
        a.segment_id = segment_id;
        a.e = e;
    } else
        a.e = op(a.e, e);
    return a;
}

__device__ void load_owned_matrix(const float *x, const int *segment_ids, int64_t count,
                                  float *data, int *segment_id, int width, int64_t start, int t,
                                  int threads) {
    for (int first = 0; first < 32 * width; first += threads) {
        int i = first + t;
        data[i + i / width] = take(x, count, start + i);
        segment_id[i + i / width] = segment_ids[start + i < count ? start + i : count - 1];
    }
}

// The suffix of the last segment id of 32 rows, by one warp; lane 0 has it.
__device__ Owned reduce_owned_matrix(float *output, float *data, int *segment_id, int width) {
    int lane = threadIdx.x % 32, row = lane * (width + 1);
    Owned a;
    a.e = data[row];
    a.segment_id = segment_id[row];
    for (int k = 1; k < width; k++) {
        a = later(output, a, data[row + k], segment_id[row + k]);
    }
    __syncwarp();
    data[lane] = a.e;
    segment_id[lane] = a.segment_id;
    __syncwarp();
    for (int apart = 1; apart < 32; apart *= 2) {
        if (lane % (2 * apart) == 0) {
            a = later(output, a, data[lane + apart], segment_id[lane + apart]);
            data[lane] = a.e;
            segment_id[lane] = a.segment_id;
        }
        __syncwarp();
    }
    return a;
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

// With matrices of `width` columns; `data` and `segment_id` have room for two.
__device__ void reduce_producing(const float *x, const int *segment_ids, int64_t count, float *out,
                                 int *out_ids, float *output, float *data, int *segment_id,
                                 int width) {
    int each = 32 * width, load = 0, capacity = 32 * (width + 1);
    int producer = threadIdx.x - 32,
        producers = 288 - 32; // below 0: of the consumer
    Share share = share_of(count, each);
    Owned so_far = {identity, 0}; // thread 0's
    for (int64_t piece = share.first; piece <= share.end; piece++) {
        int fold = capacity - load;
        if (producer >= 0) {
            if (piece < share.end)
                load_owned_matrix(x, segment_ids, count, data + load, segment_id + load, width,
                                  piece * each, producer, producers);
        } else if (piece > share.first) {
            Owned a = reduce_owned_matrix(output, data + fold, segment_id + fold, width);
            if (threadIdx.x == 0)
                so_far = piece == share.first + 1 ? a : later(output, so_far, a.e, a.segment_id);
        }
        __syncthreads();
        load = fold;
    }
    if (threadIdx.x == 0) leave_before(out, out_ids, output, so_far.e, so_far.segment_id);
}

__global__ void segmented_diffwarps16(const float *x, const int *segment_ids, int64_t count,
                                      float *out, int *out_ids, float *output) {
    __shared__ float data[2 * 32 * (32 / 2 + 1)];
    __shared__ int segment_id[2 * 32 * (32 / 2 + 1)];
    reduce_producing(x, segment_ids, count, out, out_ids, output, data, segment_id, 32 / 2);
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
    int resident;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, segmented_diffwarps16, 288, 0));
    for (bool first = true; first || count > 1; first = false) { // until one block is left
        int64_t blocks = std::min((count + 512 - 1) / 512, (int64_t)multiprocessors * resident);
        segmented_diffwarps16<<<blocks, 288>>>(first ? x : next, first ? segment_ids : next_ids,
                                               count, out, out_ids, output);
        std::swap(out, next);
        std::swap(out_ids, next_ids);
        count = blocks;
    }
    std::vector<float> wanted(segments, identity);
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(results.data(), output, segments * sizeof(float), cudaMemcpyDeviceToHost));
    for (int64_t i = 0; i < n; i++)
        wanted[ids[i]] = op(wanted[ids[i]], values[i]);
    std::printf("segmented_diffwarps16 of %lld values: %s\n", (long long)n,
                results == wanted ? "right" : "WRONG");
    return results == wanted ? 0 : 1;
}
