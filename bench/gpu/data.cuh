// Random data, made where it is reduced. A value depends on its index and the seed alone.
#ifndef DATA_CUH
#define DATA_CUH

#include <type_traits>

#include "bench_gpu.h"

enum Kind { RANDOM, UNIFORM, NORMAL, LOGNORMAL, BITS, OUTLIERS, ZEROS, NONZERO, SIGNS, SMALL, KINDS };
static const char *const KIND_NAMES[KINDS] = {
    "random",    // integers: all values (64-bit: of 33 bits, so that their sum fits)
    "uniform",   // floats in [0, 1)
    "normal",    // mean 0, deviation 1
    "lognormal", // 2^(10 normal): some 60 binades between the ends
    "bits",      // any finite bit pattern
    "outliers",  // every second value is huge, of alternating sign; the rest uniform
    "zeros",     "nonzero", "signs",
    "small", // integers whose products add up within 64 bits
};

__device__ inline uint64_t scramble(uint64_t x) { // splitmix64
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

__device__ inline double standard_normal(uint64_t h) { // Box and Muller, in f32: shape matters here, not the last bit
    float u = (static_cast<float>(h >> 40) + 0.5f) * 0x1p-24f, v = static_cast<float>(h & 0xffffff) * 0x1p-24f;
    return sqrtf(-2.0f * logf(u)) * cospif(2.0f * v);
}

template <class T, bool = std::is_integral<T>::value> struct Maker;

template <class T> struct Maker<T, true> {
    __device__ static T make(Kind kind, uint64_t h, int64_t) {
        switch (kind) {
        case ZEROS: return T(0);
        case NONZERO: return static_cast<T>(h | 1);
        case SIGNS: return std::is_signed<T>::value && (h & 1) ? static_cast<T>(-1) : T(1);
        case SMALL:
            return std::is_signed<T>::value ? static_cast<T>(static_cast<int16_t>(h)) : static_cast<T>(h & 0xff);
        default: return sizeof(T) == 8 ? static_cast<T>(static_cast<int64_t>(h) >> 31) : static_cast<T>(h);
        }
    }
};

template <class T> __device__ inline T finite_bits(uint64_t h) { // an exponent of all ones loses its lowest bit
    if constexpr (sizeof(T) == 8) {
        h &= (h >> 52 & 0x7ff) == 0x7ff ? ~(uint64_t(1) << 52) : ~uint64_t(0);
        return __longlong_as_double(static_cast<long long>(h));
    } else if constexpr (std::is_same<T, float>::value) {
        uint32_t w = static_cast<uint32_t>(h);
        return __uint_as_float((w >> 23 & 0xff) == 0xff ? w & ~(1u << 23) : w);
    } else {
        constexpr int shift = std::is_same<T, __half>::value ? 10 : 7, ones = (1 << (15 - shift)) - 1;
        uint16_t w = static_cast<uint16_t>(h);
        if ((w >> shift & ones) == ones) {
            w = static_cast<uint16_t>(w & ~(1 << shift));
        }
        T value;
        memcpy(&value, &w, 2);
        return value;
    }
}

template <class T> struct Maker<T, false> {
    __device__ static T make(Kind kind, uint64_t h, int64_t index) {
        constexpr bool f64 = sizeof(T) == 8;
        double uniform = f64 ? static_cast<double>(h >> 11) * 0x1p-53 : static_cast<double>(h >> 40) * 0x1p-24;
        switch (kind) {
        case ZEROS: return T(0.0f);
        case NONZERO: return static_cast<T>(static_cast<float>(uniform) * 0.5f + 0.5f);
        case SIGNS: return T(h & 1 ? -1.0f : 1.0f);
        case NORMAL: return static_cast<T>(standard_normal(h));
        case LOGNORMAL: return static_cast<T>(exp2(10 * standard_normal(h)));
        case BITS: return finite_bits<T>(h);
        case OUTLIERS:
            if (index & 1) {
                double huge = f64 ? 0x1p900 : 0x1p100;
                return static_cast<T>(index & 2 ? -huge : huge);
            }
            return static_cast<T>(uniform);
        default: return static_cast<T>(uniform);
        }
    }
};

template <class T> __global__ void fill_kernel(T *data, int64_t count, Kind kind, uint64_t seed) {
    int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t k = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; k < count; k += stride) {
        data[k] = Maker<T>::make(kind, scramble(static_cast<uint64_t>(k) + seed), k);
    }
}

static inline void fill(const std::string &type, const std::string &kind_name, char *data, int64_t bytes, int sms,
                        cudaStream_t stream) {
    int kind = 0;
    while (kind < KINDS && kind_name != KIND_NAMES[kind]) {
        kind++;
    }
#define X(name, real)                                                                                               \
    if (type == #name) {                                                                                            \
        fill_kernel<<<static_cast<unsigned>(sms * 8), 256, 0, stream>>>(reinterpret_cast<real *>(data),             \
                                                                        bytes / static_cast<int64_t>(sizeof(real)), \
                                                                        static_cast<Kind>(kind), 20261121);         \
    }
    BENCH_TYPES(X)
#undef X
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(stream));
}

#endif
