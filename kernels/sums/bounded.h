/* A sum of doubles as three doubles, and a bound for what these have dropped. Each addition passes its rounding error
 * to the next part (Ogita, Rump and Oishi, "Accurate sum and dot product", 2005; the error by Knuth's two-sum). The
 * last part usually drops nothing, and otherwise less than about 2^-150 of the largest partial sum. The true sum lies
 * in the interval that the bound gives: a result that is the same at both ends is certain. */
#ifndef TALLY_BOUNDED_H
#define TALLY_BOUNDED_H

#include "device/device.h"
#include "sums/parts.h"

typedef struct tally_bounded {
    double p[3];
    double lost; /* at least the magnitude of all that was dropped; a NaN if an addition overflowed */
} tally_bounded;

TALLY_FN void tally_bounded_put(tally_bounded *a, double term) {
    tally_pair sum = tally_two_sum(a->p[0], term);
    a->p[0] = sum.high;
    if (sum.low != 0) { /* seldom */
        sum = tally_two_sum(a->p[1], sum.low);
        a->p[1] = sum.high;
        if (sum.low != 0) { /* hardly ever, and where something is infinite or NaN */
            sum = tally_two_sum(a->p[2], sum.low);
            a->p[2] = sum.high;
            a->lost += sum.low < 0 ? -sum.low : sum.low;
        }
    }
}
TALLY_FN void tally_bounded_join(tally_bounded *a, const tally_bounded *b) {
    TALLY_UNROLL
    for (int32_t k = 0; k < 3; k++) tally_bounded_put(a, b->p[k]);
    a->lost += b->lost;
}
/* The rounded sum and its remainder, rounded to odd (sums/parts.h), in the middle of the interval (end 0), or just
 * beyond its lower (-1) or upper (1) end. */
TALLY_FN tally_pair tally_bounded_pair(const tally_bounded *a, int32_t end) {
    const double last = a->p[2] < 0 ? -a->p[2] : a->p[2], beyond = a->lost == 0 ? 0 : 2 * a->lost + last * 0x1p-51;
    return tally_three_sum(a->p[0], a->p[1], end == 0 ? a->p[2] : end < 0 ? a->p[2] - beyond : a->p[2] + beyond);
}

#endif
