/* Sums of doubles as three doubles, and a bound of what these have dropped. Each addition keeps its rounding error for
 * the next part (Ogita, Rump and Oishi, "Accurate sum and dot product", 2005; the error by Knuth's two-sum). The last
 * part most often drops nothing, and else less than 2^-150 or so of the largest partial sum. A result that is the same
 * at both ends of that interval is certain. */
#ifndef TALLY_BOUNDED_H
#define TALLY_BOUNDED_H

#include "device/device.h"
#include "sums/parts.h"

typedef struct tally_bounded {
    double p[3];
    double lost; /* at least the magnitude of all that was dropped; a NaN where additions have overflown */
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
/* The rounded sum and what is left of it, rounded to odd (sums/parts.h): of the middle of the interval, or of what lies
 * beyond its lower (-1) or upper end (1). */
TALLY_FN tally_pair tally_bounded_pair(const tally_bounded *a, int32_t end) {
    const double last = a->p[2] < 0 ? -a->p[2] : a->p[2], beyond = a->lost == 0 ? 0 : 2 * a->lost + last * 0x1p-51;
    return tally_three_sum(a->p[0], a->p[1], end == 0 ? a->p[2] : end < 0 ? a->p[2] - beyond : a->p[2] + beyond);
}

#endif
