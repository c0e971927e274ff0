// CUB's ways to reduce segments, for bench_segments.cu.
#ifndef SEGMENTS_PEERS_H
#define SEGMENTS_PEERS_H

#include "bench_gpu.h"

struct SegmentPeer {
    const char *op, *type, *via;
    bool by_key;
    cudaError_t (*run)(void *temp, size_t *temp_bytes, const void *values, const void *offsets, const void *segment_ids,
                       void *results, int64_t segments, int64_t count, cudaStream_t stream);
};
int segment_peer_count();
const SegmentPeer *segment_peer(int k);

#endif
