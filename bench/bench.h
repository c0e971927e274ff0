/* What the benchmark measures with: contenders, each a C function that does one job, and a loop that times it.
 *
 * Everything is compiled into libtallybench.so, which bench/run.py drives, so that Tally, the plain read, OpenBLAS,
 * OpenMP, std::reduce and NumPy take turns in one process, on the same memory.
 */
#ifndef TALLY_BENCH_H
#define TALLY_BENCH_H

#include <stdint.h>

#include "tally/tally.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BENCH_EXPORT __attribute__((visibility("default")))
#define BENCH_WHOLE (-1) /* bench_job.kind: no segments */
#define BENCH_ANY (-1)   /* bench_row.op, .type: takes all of them */

/* One reduction. The layout is repeated in harness.py (class Job). */
typedef struct bench_job {
    const void *left, *right, *index; /* right: second input of dot, or NULL; index: of the segments, or NULL */
    void *out;
    int64_t count;                                           /* values in left, and in right */
    int64_t left_bytes, right_bytes, index_bytes, out_bytes; /* what a pass over the job reads, and writes */
    int64_t segments, length, inner;                         /* as in tally_segments */
    int32_t op, type;                                        /* TALLY_SUM ..., TALLY_F32 ... */
    int32_t kind, index_type;                                /* TALLY_OFFSETS ..., or BENCH_WHOLE */
    int32_t threads, accuracy;
    int32_t streams, ahead; /* shape of the plain read: streams per thread (1, 2, 4, 8), bytes prefetched ahead */
} bench_job;

/* Does the job. Peers return the result (of the first segment); Tally writes it to out and returns its status. */
typedef double (*bench_function)(const bench_job *job);

/* One contender: `family` is the column of the table it competes in, `via` the function behind it. */
typedef struct bench_row {
    const char *family, *via;
    int32_t op, type;
    int32_t segmented; /* 0: whole arrays; 32, 64: offsets of that number of bits; BENCH_ANY: every segmentation */
    bench_function run;
} bench_row;

/* Each list ends with a row whose family is NULL. */
extern const bench_row bench_plain_rows[], bench_tally_rows[], bench_blas_rows[], bench_openmp_rows[], bench_cpp_rows[];

#ifdef __cplusplus
}
#endif

#endif
