/* Mean and sum of squared deviations of a leaf of floats, and how two runs of them join: shared by var and stats.
 *
 * A leaf is read twice: the mean of the first pass is the pivot of the second, which sums x - pivot and its square;
 * the first of these corrects both results (the corrected two-pass algorithm: Chan, Golub, LeVeque, "Algorithms for
 * computing the sample variance", 1983). Runs are joined by their pairwise update. */
#ifndef TALLY_MOMENTS_H
#define TALLY_MOMENTS_H

#include "types/types.h"

#ifndef TALLY_MOMENTS_SHARED_H
#define TALLY_MOMENTS_SHARED_H
typedef struct tally_moments {
    double mean, squares; /* squares: the sum of (x - mean)^2 */
} tally_moments;

TALLY_FN tally_moments tally_join_moments(int64_t na, tally_moments a, int64_t nb, tally_moments b) {
    tally_moments both;
    double share = (double)nb / (double)(na + nb);
    double apart = b.mean - a.mean;
    if (na == 0) return b;
    if (nb == 0) return a;
    /* Infinite means add up as IEEE says; a pairwise update would make a NaN of them. */
    both.mean = apart - apart == 0 ? a.mean + apart * share : a.mean + b.mean;
    both.squares = a.squares + b.squares + apart * apart * ((double)na * share);
    return both;
}
TALLY_FN double tally_variance(int64_t n, double squares, const tally_final *final) {
    return n > final->ddof ? squares / (double)(n - final->ddof) : tally_nan_f64();
}
#endif

#define TALLY_MOMENT_FIELDS(X) X(TALLY_V, sum)
#define TALLY_MOMENT_START(a) (a).sum = TALLY_ZERO
#define TALLY_MOMENT_JOIN(a, b) (a).sum = (a).sum + (b).sum
#define TALLY_MOMENT_LIFT(a, x) (a).sum = is_present(x.raw) ? x.value : TALLY_ZERO
#define TALLY_AIM(X) X(TALLY_R, pivot)
#define TALLY_SECOND(X) X(TALLY_R, rest) X(TALLY_R, squares)
#define TALLY_START2(a) (a).rest = 0, (a).squares = 0
#define TALLY_JOIN2(a, b) (a).rest = (a).rest + (b).rest, (a).squares = (a).squares + (b).squares

/* n is 0 when a leaf holds skipped NaNs only. */
#define TALLY_MOMENT_PIVOT(sum, n) ((n) == 0 ? 0 : (sum) / (TALLY_R)(n))

TALLY_FN tally_moments leaf_moments(TALLY_R pivot, TALLY_R rest, TALLY_R squares, int64_t n) {
    tally_moments m;
    double shift = (double)rest / (double)n;
    m.mean = pivot;
    m.squares = tally_nan_f64();
    if (pivot - pivot == 0) {
        m.mean = (double)pivot + shift;
        m.squares = (double)squares - (double)rest * shift;
        if (m.squares < 0) m.squares = 0;
    }
    if (n == 0) m.mean = m.squares = 0;
    return m;
}

#endif
