#include "segments_peers.h"

#include <cub/cub.cuh>

template <class T>
static cudaError_t segmented(void *temp, size_t *bytes, const void *values, const void *offsets, const void *,
                             void *results, int64_t segments, int64_t, cudaStream_t stream) {
    const int32_t *at = static_cast<const int32_t *>(offsets);
    return cub::DeviceSegmentedReduce::Sum(temp, *bytes, static_cast<const T *>(values), static_cast<T *>(results),
                                           segments, at, at + 1, stream);
}
template <class T>
static cudaError_t segmented_argmin(void *temp, size_t *bytes, const void *values, const void *offsets, const void *,
                                    void *results, int64_t segments, int64_t, cudaStream_t stream) {
    const int32_t *at = static_cast<const int32_t *>(offsets);
    return cub::DeviceSegmentedReduce::ArgMin(temp, *bytes, static_cast<const T *>(values),
                                              static_cast<cub::KeyValuePair<int, T> *>(results), segments, at, at + 1,
                                              stream);
}
struct Plus { // what CUB calls its sum differs from version to version
    template <class T>
    __host__ __device__ T operator()(T a, T b) const {
        return a + b;
    }
};
// Its unique keys go to memory of their own, which grows, their number behind them.
template <class T>
static cudaError_t by_key(void *temp, size_t *bytes, const void *values, const void *, const void *segment_ids,
                          void *results, int64_t segments, int64_t count, cudaStream_t stream) {
    static int32_t *unique = nullptr;
    static int64_t room = 0;
    if (room < segments + 64) {
        cudaFree(unique);
        room = segments + 64;
        if (cudaMalloc(&unique, static_cast<size_t>(room) * 4) != cudaSuccess) return cudaErrorMemoryAllocation;
    }
    return cub::DeviceReduce::ReduceByKey(temp, *bytes, static_cast<const int32_t *>(segment_ids), unique,
                                          static_cast<const T *>(values), static_cast<T *>(results), unique + room - 1,
                                          Plus(), count, stream);
}

static const SegmentPeer peers[] = {
    {"sum", "f32", "CUB DeviceSegmentedReduce", false, segmented<float>},
    {"sum", "f32", "CUB ReduceByKey", true, by_key<float>},
    {"sum", "f64", "CUB DeviceSegmentedReduce", false, segmented<double>},
    {"sum", "f64", "CUB ReduceByKey", true, by_key<double>},
    {"argmin", "f32", "CUB DeviceSegmentedReduce", false, segmented_argmin<float>},
};
int segment_peer_count() { return sizeof peers / sizeof *peers; }
const SegmentPeer *segment_peer(int k) { return &peers[k]; }
