/* A sum of doubles in two: the rounded sum, and the sum of its rounding errors (Ogita, Rump and Oishi, "Accurate sum
 * and dot product", 2005, Sum2; the error of an addition by Knuth's two-sum). No addition waits for a branch. What the
 * second double lacks is bounded, and it is known whether it lacks anything. */
#ifndef TALLY_COMPENSATED_H
#define TALLY_COMPENSATED_H

#include "sums/parts.h"

typedef struct tally_compensated {
    double sum, rest;
    uint32_t lost; /* not 0 if the rest may lack something */
} tally_compensated;

/* Of one term. To a rest of -0 another adds without an operation. */
TALLY_FN tally_compensated tally_compensated_of(double term) {
    const tally_compensated one = {term, -0.0, 0};
    return one;
}
/* Of no values: -0, to which a sum adds as it must for zeros. */
TALLY_FN tally_compensated tally_compensated_none(void) {
    const tally_compensated none = {-0.0, 0, 0};
    return none;
}
/* What is far below the terms. It takes five operations more to tell whether the rest is exact (`is_told`) than
 * whether it is 0. */
TALLY_FN void tally_compensated_put_rest(tally_compensated *a, double rest, const int32_t is_told) {
    const tally_pair sum = tally_two_sum(a->rest, rest);
    const uint64_t bits = (uint64_t)tally_bits_f64(is_told ? sum.low : rest);
    a->rest = sum.high;
    a->lost |= (uint32_t)bits | (uint32_t)(bits >> 32);
}
TALLY_FN void tally_compensated_put(tally_compensated *a, double term, const int32_t is_told) {
    const tally_pair sum = tally_two_sum(a->sum, term);
    a->sum = sum.high;
    tally_compensated_put_rest(a, sum.low, is_told);
}
/* A rest that is not 0 has been noticed, if it is not told whether it is exact. */
TALLY_FN void tally_compensated_join(tally_compensated *a, const tally_compensated *b, const int32_t is_told) {
    tally_compensated_put(a, b->sum, is_told);
    if (is_told)
        tally_compensated_put_rest(a, b->rest, is_told);
    else
        a->rest += b->rest;
    a->lost |= b->lost;
}
/* How far at most the sum of n terms is from its pair, as a share of the largest of them. Partial sums are at most n
 * times that, errors 2^-53 of partial sums, and so are rests of products; of 2 n such errors each addition rounds
 * their partial sums by 2^-53 of these: together 4 n^3 2^-106. Four times as much holds for n squares - sum^2 of a
 * spread, too, as a share of n squares: the sum is at most the root of n squares, and its terms are at most that of
 * squares. Sums that are joined count as two terms. */
TALLY_FN double tally_compensated_error(double n) { return n * n * n * 0x1p-102; }

#endif
