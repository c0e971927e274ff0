/* What a C programmer writes: one loop under `#pragma omp parallel for simd reduction`, compiled for this machine
 * (-O3 -march=native). Integers are added in 64 bits, floats in their own type, as Tally does when fast.
 */
#include "bench.h"

#include <limits.h>
#include <math.h>

#define PRAGMA(text) _Pragma(#text)

/* One loop: the value is x[i] (and y[i]), the result a. */
#define LOOP(name, T, A, fold, first, statement)                                                     \
    static double name(const bench_job *job) {                                                       \
        const T *x = job->left, *y = job->right;                                                     \
        A a = first;                                                                                 \
        (void)y;                                                                                     \
        PRAGMA(omp parallel for simd num_threads(job->threads) reduction(fold : a) schedule(static)) \
        for (int64_t i = 0; i < job->count; i++) statement;                                          \
        return (double)a;                                                                            \
    }

/* Segments: one thread takes a run of them, as a ragged loop is usually written. */
#define SEGMENTS(name, T, A, I)                                                   \
    static double name(const bench_job *job) {                                    \
        const T *x = job->left;                                                   \
        const I *offsets = job->index;                                            \
        A *out = job->out;                                                        \
        PRAGMA(omp parallel for num_threads(job->threads) schedule(dynamic, 256)) \
        for (int64_t s = 0; s < job->segments; s++) {                             \
            A a = 0;                                                              \
            PRAGMA(omp simd reduction(+ : a))                                     \
            for (int64_t i = offsets[s]; i < offsets[s + 1]; i++) a += x[i];      \
            out[s] = a;                                                           \
        }                                                                         \
        return (double)out[0];                                                    \
    }

/*             id, value type, accumulator, magnitude, least and greatest accumulator */
#define TYPES(X)                                                                       \
    X(F32, float, float, fabsf(x[i]), -INFINITY, INFINITY)                             \
    X(F64, double, double, fabs(x[i]), -INFINITY, INFINITY)                            \
    X(I32, int32_t, int64_t, (x[i] < 0 ? -(int64_t)x[i] : x[i]), INT64_MIN, INT64_MAX) \
    X(I64, int64_t, int64_t, (x[i] < 0 ? -x[i] : x[i]), INT64_MIN, INT64_MAX)          \
    X(U8, uint8_t, uint64_t, x[i], 0, UINT64_MAX)

#define FUNCTIONS(id, T, A, magnitude, least, greatest)                       \
    LOOP(sum_##id, T, A, +, 0, a += (A)x[i])                                  \
    LOOP(prod_##id, T, A, *, 1, a *= (A)x[i])                                 \
    LOOP(min_##id, T, A, min, greatest, a = x[i] < a ? x[i] : a)              \
    LOOP(max_##id, T, A, max, least, a = x[i] > a ? x[i] : a)                 \
    LOOP(any_##id, T, int, |, 0, a |= x[i] != 0)                              \
    LOOP(all_##id, T, int, &, 1, a &= x[i] != 0)                              \
    LOOP(count_##id, T, int64_t, +, 0, a += x[i] != 0)                        \
    LOOP(norm1_##id, T, A, +, 0, a += (A)magnitude)                           \
    LOOP(norminf_##id, T, A, max, 0, a = (A)magnitude > a ? (A)magnitude : a) \
    LOOP(sumsq_##id, T, A, +, 0, a += (A)x[i] * (A)x[i])                      \
    LOOP(dot_##id, T, A, +, 0, a += (A)x[i] * (A)y[i])                        \
    SEGMENTS(segments32_##id, T, A, int32_t)                                  \
    SEGMENTS(segments64_##id, T, A, int64_t)
TYPES(FUNCTIONS)

#define ROW(op, type, segmented, run) \
    { "openmp", "parallel for simd reduction", TALLY_##op, TALLY_##type, segmented, run }
#define ROWS(id, T, A, magnitude, least, greatest)                                                                \
    ROW(SUM, id, 0, sum_##id), ROW(PROD, id, 0, prod_##id), ROW(MIN, id, 0, min_##id), ROW(MAX, id, 0, max_##id), \
        ROW(ANY, id, 0, any_##id), ROW(ALL, id, 0, all_##id), ROW(COUNT, id, 0, count_##id),                      \
        ROW(NORM1, id, 0, norm1_##id), ROW(NORMINF, id, 0, norminf_##id), ROW(SUMSQ, id, 0, sumsq_##id),          \
        ROW(DOT, id, 0, dot_##id),                                                                                \
        {"openmp", "parallel for, i32 offsets", TALLY_SUM, TALLY_##id, 32, segments32_##id},                      \
        {"openmp", "parallel for, i64 offsets", TALLY_SUM, TALLY_##id, 64, segments64_##id},

const bench_row bench_openmp_rows[] = {TYPES(ROWS){0}};
