/* OpenBLAS: its sums, norms, dot products and index searches. With threads where it has them (asum, dot). */
#include "bench.h"

#include <cblas.h>
#include <math.h>

/* T: type, x: left, y: right, n: count. */
#define PEER(name, T, result)                                                                   \
    static double name(const bench_job *job) {                                                  \
        const T *x = job->left, *y = job->right;                                                \
        const blasint n = (blasint)job->count;                                                  \
        (void)y;                                                                                \
        if (openblas_get_num_threads() != job->threads) openblas_set_num_threads(job->threads); \
        return (double)(result);                                                                \
    }

PEER(cblas_ssum_peer, float, cblas_ssum(n, x, 1))
PEER(cblas_dsum_peer, double, cblas_dsum(n, x, 1))
PEER(cblas_sasum_peer, float, cblas_sasum(n, x, 1))
PEER(cblas_dasum_peer, double, cblas_dasum(n, x, 1))
PEER(cblas_snrm2_peer, float, cblas_snrm2(n, x, 1))
PEER(cblas_dnrm2_peer, double, cblas_dnrm2(n, x, 1))
PEER(cblas_sdot_peer, float, cblas_sdot(n, x, 1, y, 1))
PEER(cblas_ddot_peer, double, cblas_ddot(n, x, 1, y, 1))
PEER(cblas_ismax_peer, float, cblas_ismax(n, x, 1))
PEER(cblas_idmax_peer, double, cblas_idmax(n, x, 1))
PEER(cblas_ismin_peer, float, cblas_ismin(n, x, 1))
PEER(cblas_idmin_peer, double, cblas_idmin(n, x, 1))
PEER(cblas_isamax_peer, float, fabsf(x[cblas_isamax(n, x, 1)]))
PEER(cblas_idamax_peer, double, fabs(x[cblas_idamax(n, x, 1)]))

/* Sums both ways: asum does a sum's work, and which kernel is the better one depends on the processor. */
/* clang-format off */
#define ROW(op, type, name) {"openblas", #name, TALLY_##op, TALLY_##type, 0, name##_peer}
const bench_row bench_blas_rows[] = {
    ROW(SUM, F32, cblas_ssum),       ROW(SUM, F64, cblas_dsum),
    ROW(SUM, F32, cblas_sasum),      ROW(SUM, F64, cblas_dasum),
    ROW(NORM1, F32, cblas_sasum),    ROW(NORM1, F64, cblas_dasum),
    ROW(NORM2, F32, cblas_snrm2),    ROW(NORM2, F64, cblas_dnrm2),
    ROW(NORMINF, F32, cblas_isamax), ROW(NORMINF, F64, cblas_idamax),
    ROW(ARGMAX, F32, cblas_ismax),   ROW(ARGMAX, F64, cblas_idmax),
    ROW(ARGMIN, F32, cblas_ismin),   ROW(ARGMIN, F64, cblas_idmin),
    ROW(DOT, F32, cblas_sdot),       ROW(DOT, F64, cblas_ddot),
    {0},
};
/* clang-format on */
