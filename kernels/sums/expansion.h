/* Exact sums of doubles as a few doubles. Each addition passes its rounding error to the next part (Ogita, Rump and
 * Oishi, "Accurate sum and dot product", 2005; the error by Knuth's two-sum). What the last part drops is noted. If
 * nothing was dropped, the sum of the parts is exact: so it is for segments of ordinary data. Other segments are added
 * another way. */
#ifndef TALLY_EXPANSION_H
#define TALLY_EXPANSION_H

#include "sums/parts.h"

/* Usually two parts are enough for sums of values of up to 32 bits and of their products, and three for f64. */
typedef struct tally_expansion2 {
    double p[2];
    int32_t lost; /* not 0 if the parts lack something */
} tally_expansion2;
typedef struct tally_expansion3 {
    double p[3];
    int32_t lost;
} tally_expansion3;

/* The first part is the sum in double arithmetic, so it is infinite or a NaN if the sum is; the other parts never are.
 * A sum begins as -0, which adds nothing, and stays -0 if only -0 is added. */
#define TALLY_EXPANSION(type, parts)                                          \
    TALLY_FN type TALLY_PASTE(type, _of)(double term) {                       \
        type a;                                                               \
        a.p[0] = term;                                                        \
        for (int32_t k = 1; k < parts; k++) a.p[k] = -0.0;                    \
        a.lost = 0;                                                           \
        return a;                                                             \
    }                                                                         \
    TALLY_FN void TALLY_PASTE(type, _put)(type * a, double term) {            \
        tally_pair sum = tally_two_sum(a->p[0], term);                        \
        a->p[0] = sum.high;                                                   \
        if (sum.low != 0) { /* seldom, and for all that is infinite or NaN */ \
            for (int32_t k = 1; k < parts; k++) {                             \
                sum = tally_two_sum(a->p[k], sum.low);                        \
                a->p[k] = sum.high;                                           \
            }                                                                 \
            a->lost |= sum.low != 0;                                          \
        }                                                                     \
    }                                                                         \
    TALLY_FN type TALLY_PASTE(type, _join)(type a, type b) {                  \
        for (int32_t k = 0; k < parts; k++)                                   \
            if (k == 0 || b.p[k] != 0) TALLY_PASTE(type, _put)(&a, b.p[k]);   \
        a.lost |= b.lost;                                                     \
        return a;                                                             \
    }
TALLY_EXPANSION(tally_expansion2, 2)
TALLY_EXPANSION(tally_expansion3, 3)

/* The rounded sum and its remainder, as sums/parts.h takes them. */
TALLY_FN tally_pair tally_expansion2_total(tally_expansion2 a) { return tally_two_sum(a.p[0], a.p[1]); }
TALLY_FN tally_pair tally_expansion3_total(tally_expansion3 a) { return tally_three_sum(a.p[0], a.p[1], a.p[2]); }

#endif
