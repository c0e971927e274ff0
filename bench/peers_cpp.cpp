// The C++ standard library: std::reduce and its relatives under std::execution::par_unseq (libstdc++ on TBB).
#include "bench.h"

#include <algorithm>
#include <cmath>
#include <execution>
#include <functional>
#include <memory>
#include <numeric>
#include <type_traits>

#include <tbb/global_control.h>

namespace {

// Keeps TBB to the job's threads; the limit lives until another number is asked for.
void use_threads(int threads) {
    static int current = 0;
    static std::unique_ptr<tbb::global_control> limit;
    if (threads == current)
        return;
    limit.reset();
    limit = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism, threads);
    current = threads;
}

template <class T>
using wide =
    std::conditional_t<std::is_floating_point_v<T>, T, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

// Runs body(first, last, second input) on the job's values.
template <class T, class Body> double on(const bench_job *job, Body body) {
    use_threads(job->threads);
    const T *x = static_cast<const T *>(job->left);
    return static_cast<double>(body(x, x + job->count, static_cast<const T *>(job->right)));
}

constexpr auto par = std::execution::par_unseq;

template <class T> double sum(const bench_job *job) {
    return on<T>(job, [](auto x, auto end, auto) { return std::reduce(par, x, end, wide<T>(0)); });
}
template <class T> double prod(const bench_job *job) {
    return on<T>(
        job, [](auto x, auto end, auto) { return std::reduce(par, x, end, wide<T>(1), std::multiplies<wide<T>>()); });
}
template <class T> double min(const bench_job *job) {
    return on<T>(job, [](auto x, auto end, auto) {
        return std::reduce(par, x, end, *x, [](T a, T b) { return b < a ? b : a; });
    });
}
template <class T> double max(const bench_job *job) {
    return on<T>(job, [](auto x, auto end, auto) {
        return std::reduce(par, x, end, *x, [](T a, T b) { return b > a ? b : a; });
    });
}
template <class T> double argmin(const bench_job *job) {
    return on<T>(job, [](auto x, auto end, auto) { return std::min_element(par, x, end) - x; });
}
template <class T> double argmax(const bench_job *job) {
    return on<T>(job, [](auto x, auto end, auto) { return std::max_element(par, x, end) - x; });
}
template <class T> double count(const bench_job *job) {
    return on<T>(job, [](auto x, auto end, auto) { return std::count_if(par, x, end, [](T v) { return v != 0; }); });
}
template <class T> wide<T> magnitude(T v) {
    if constexpr (std::is_unsigned_v<T>)
        return v;
    else
        return v < 0 ? -wide<T>(v) : wide<T>(v);
}
template <class T> double norm1(const bench_job *job) {
    return on<T>(job, [](auto x, auto end, auto) {
        return std::transform_reduce(par, x, end, wide<T>(0), std::plus<wide<T>>(), magnitude<T>);
    });
}
template <class T> double sumsq(const bench_job *job) {
    return on<T>(job, [](auto x, auto end, auto) {
        return std::transform_reduce(par, x, end, wide<T>(0), std::plus<wide<T>>(),
                                     [](T v) { return wide<T>(v) * wide<T>(v); });
    });
}
template <class T> double dot(const bench_job *job) {
    return on<T>(job, [](auto x, auto end, auto y) {
        return std::transform_reduce(par, x, end, y, wide<T>(0), std::plus<wide<T>>(),
                                     [](T a, T b) { return wide<T>(a) * wide<T>(b); });
    });
}

} // namespace

#define ROW(op, type, via, run) \
    { "std", via, TALLY_##op, TALLY_##type, 0, run }
#define ROWS(id, T)                                                                                                  \
    ROW(SUM, id, "std::reduce", sum<T>), ROW(PROD, id, "std::reduce", prod<T>), ROW(MIN, id, "std::reduce", min<T>), \
        ROW(MAX, id, "std::reduce", max<T>), ROW(ARGMIN, id, "std::min_element", argmin<T>),                         \
        ROW(ARGMAX, id, "std::max_element", argmax<T>), ROW(COUNT, id, "std::count_if", count<T>),                   \
        ROW(NORM1, id, "std::transform_reduce", norm1<T>), ROW(SUMSQ, id, "std::transform_reduce", sumsq<T>),        \
        ROW(DOT, id, "std::transform_reduce", dot<T>)

extern "C" const bench_row bench_cpp_rows[] = {
    ROWS(F32, float),   ROWS(F64, double), ROWS(I32, int32_t),
    ROWS(I64, int64_t), ROWS(U8, uint8_t), {nullptr, nullptr, 0, 0, 0, nullptr},
};
