// CUB's whole-array reductions over one type. CMake compiles this file once for each type, side by side: BENCH_NAME is
// Tally's name of the type, BENCH_TYPE the type. Counts are 32-bit, CUB's faster kind; ArgMin and ArgMax always
// take 64.
#include <cub/cub.cuh>
#include <cuda/functional>

#include <type_traits>

#include "bench_gpu.h"

#pragma nv_diag_suppress 186 // unsigned values are compared with zero too

namespace {

using T = BENCH_TYPE;
constexpr bool is_float = !std::is_integral<T>::value;
// What Tally adds in: 64-bit integers, f32 for narrow floats.
using Wide = std::conditional_t<is_float, std::conditional_t<std::is_same<T, double>::value, double, float>,
                                std::conditional_t<std::is_unsigned<T>::value, uint64_t, int64_t>>;
constexpr bool narrow = !std::is_same<T, Wide>::value;

#define N static_cast<int>(count)
#define ROW(name, call)                                                                                          \
    cudaError_t name(void *temp, size_t *bytes, const void *in, void *out, int64_t count, cudaStream_t stream) { \
        const T *x = static_cast<const T *>(in);                                                                 \
        return call;                                                                                             \
    }

struct Square {
    __device__ Wide operator()(T x) const { return static_cast<Wide>(x) * static_cast<Wide>(x); }
};
struct Magnitude {
    __device__ Wide operator()(T x) const {
        Wide wide = static_cast<Wide>(x);
        return wide < Wide(0) ? -wide : wide;
    }
};
struct NotZero {
    __device__ int64_t operator()(T x) const { return static_cast<Wide>(x) != Wide(0); }
};

#define TRANSFORMED(how, type) \
    cub::DeviceReduce::TransformReduce(temp, *bytes, x, (type *)out, N, ::cuda::std::plus<>{}, how{}, type(0), stream)

ROW(sum, cub::DeviceReduce::Sum(temp, *bytes, x, (T *)out, N, stream))
ROW(reduce, cub::DeviceReduce::Reduce(temp, *bytes, x, (Wide *)out, N, ::cuda::std::plus<Wide>{}, Wide(0), stream))
ROW(prod, cub::DeviceReduce::Reduce(temp, *bytes, x, (Wide *)out, N, ::cuda::std::multiplies<Wide>{}, Wide(1), stream))
ROW(min, cub::DeviceReduce::Min(temp, *bytes, x, (T *)out, N, stream))
ROW(max, cub::DeviceReduce::Max(temp, *bytes, x, (T *)out, N, stream))
// The index goes first, where the result is read; the extremum behind it.
ROW(argmin, cub::DeviceReduce::ArgMin(temp, *bytes, x, (T *)out + 16, (int64_t *)out, count, stream))
ROW(argmax, cub::DeviceReduce::ArgMax(temp, *bytes, x, (T *)out + 16, (int64_t *)out, count, stream))
ROW(sumsq, TRANSFORMED(Square, Wide))
ROW(norm1, TRANSFORMED(Magnitude, Wide))
ROW(count_of, TRANSFORMED(NotZero, int64_t))

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
constexpr const char *own_name = TEXT(BENCH_NAME);
constexpr const char *wide_name = std::is_same<Wide, double>::value    ? "f64"
                                  : std::is_same<Wide, float>::value   ? "f32"
                                  : std::is_same<Wide, int64_t>::value ? "i64"
                                                                       : "u64";

const CubRow rows[] = {
    {"sum", "Sum", narrow ? nullptr : own_name, sum},
    {"sum", narrow ? "Reduce into the wide type" : "Reduce with plus", wide_name, reduce},
    {"prod", "Reduce with multiplies", wide_name, prod},
    {"min", "Min", own_name, min},
    {"max", "Max", own_name, max},
    {"argmin", "ArgMin", "i64", argmin},
    {"argmax", "ArgMax", "i64", argmax},
    {"sumsq", "TransformReduce", wide_name, sumsq},
    {"norm1", "TransformReduce", wide_name, norm1},
    {"count", "TransformReduce", "i64", count_of},
};

} // namespace

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
CubRows JOIN(cub_rows_, BENCH_NAME)() { return {rows, static_cast<int>(sizeof rows / sizeof rows[0])}; }
