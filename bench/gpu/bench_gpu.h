/* What the files of the GPU benchmark share: types, a case, a contender, and checked calls of the runtime. */
#ifndef BENCH_GPU_H
#define BENCH_GPU_H

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#define CHECK(call)                                                                       \
    do {                                                                                  \
        cudaError_t status_ = (call);                                                     \
        if (status_ != cudaSuccess) {                                                     \
            std::fprintf(stderr, "bench_gpu: %s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
                         cudaGetErrorString(status_));                                    \
            std::exit(2);                                                                 \
        }                                                                                 \
    } while (0)

/* The types that are measured: Tally's name, and what it is here. */
#define BENCH_TYPES(X) \
    X(f32, float)      \
    X(f64, double)     \
    X(i32, int32_t)    \
    X(i64, int64_t)    \
    X(u8, uint8_t)     \
    X(i16, int16_t)    \
    X(f16, __half)     \
    X(bf16, __nv_bfloat16)

enum { OUT_BYTES = 256 };            /* room for the result of any contender */
constexpr int64_t CHECKED = 1 << 26; /* bytes that the CPU reduces too, at most */

struct Case {
    std::string section, op, type, data;
    int64_t bytes; /* read by one call, over all inputs */
    bool graph;
    int priority; /* 0: quick runs too; the last are dropped first */
};

/* Something that can reduce. run() enqueues one call over the `bytes` at data; inputs of a pair are the two halves. */
struct Contender {
    std::string name, via;
    char *out = nullptr; /* OUT_BYTES of its own, on the device */
    virtual ~Contender() {}
    virtual const char *run(const char *data,
                            int64_t bytes) = 0; /* NULL, or what went wrong; valid until the next call */
};

/* One way to call CUB: with temp NULL it only says how many bytes it wants there. */
struct CubRow {
    const char *op, *via;
    const char *gives; /* type of the result, or NULL if it need not be the true one (it wraps or saturates) */
    cudaError_t (*run)(void *temp, size_t *temp_bytes, const void *in, void *out, int64_t count, cudaStream_t stream);
};
struct CubRows {
    const CubRow *row;
    int count;
};
#define X(name, type) CubRows cub_rows_##name();
BENCH_TYPES(X)
#undef X

#endif
