// 027 merge_lists: sorted lists become one. Source: Cook, merge_array5 and figure 6.12.
// Plain CUDA, made of gallery/kernels. nvcc -O3 027_merge_lists.cu && ./a.out
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

// The operator: any associative one.
__host__ __device__ inline float op(float a, float b) { return fminf(a, b); }
#define identity INFINITY

// The head of a list.
struct Head {
    float value;
    int list; // INT32_MAX: empty
};

__device__ int comes_first(Head a, Head b) {
    return a.list != INT32_MAX && (b.list == INT32_MAX || a.value < b.value);
}

__global__ void merge_lists(const float *x, int64_t count, int lists, float *out) {
    __shared__ Head heads[1024];
    __shared__ int taken[1024];
    int t = threadIdx.x;
    taken[t] = 0;
    for (int64_t n = 0; n < count; n++) {
        int64_t at = (int64_t)taken[t] * lists + t;
        Head head = {0, INT32_MAX};
        if (t < lists && at < count) {
            head.value = x[at];
            head.list = t;
        }
        heads[t] = head;
        __syncthreads();
        for (int half = blockDim.x / 2; half > 0; half /= 2) {
            if (t < half) {
                Head mine = heads[t], other = heads[t + half];
                if (comes_first(other, mine)) heads[t] = other;
            }
            __syncthreads();
        }
        if (t == 0) {
            head = heads[0];
            out[n] = head.value;
            taken[head.list] = taken[head.list] + 1;
        }
        __syncthreads();
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
    const int lists = 32;
    int64_t n = argc > 1 ? std::atoll(argv[1]) : 1003;
    std::vector<float> values = random_values(n), left(n), wanted = values;
    for (int l = 0; l < lists; l++) { // list l: values l, l + lists, ...
        std::vector<float> list;
        for (int64_t i = l; i < n; i += lists)
            list.push_back(values[i]);
        std::sort(list.begin(), list.end());
        for (int64_t i = l, k = 0; i < n; i += lists)
            values[i] = list[k++];
    }
    float *x = device(values), *out = device(left);
    (void)multiprocessors;
    merge_lists<<<1, lists>>>(x, n, lists, out);
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(left.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost));
    std::sort(wanted.begin(), wanted.end());
    std::printf("merge_lists of %lld values: %s\n", (long long)n,
                left == wanted ? "right" : "WRONG");
    return left == wanted ? 0 : 1;
}
