/* Levels: accumulators that take a vector of terms apart, exactly (docs/exact.md).
 *
 * A level is the first half of Dekker's and Knuth's two-sum with an accumulator that is known to be the larger operand,
 * anchored so that it never leaves its binade (the pre-rounding of Demmel and Nguyen, "Fast reproducible floating-point
 * summation", 2013; there the last rest is dropped, here it is known to be 0). */
#ifndef TALLY_CPU_LEVELS_H
#define TALLY_CPU_LEVELS_H

#include "cpu/vectors.h"

_Static_assert(TALLY_TILE_BYTES / 4 / WIDTH / CHAINS <= 1 << TALLY_TILE_ADDITIONS, "too many terms meet in one lane");

/* Cuts one vector of terms into levels. Products of f64 come in two parts, the rounded product and its rest, which is
 * so small that it joins at level 1. `ends`: the level that leaves nothing of the term. */
TALLY_INLINE TALLY_TARGET void split_term(wide *s, const int levels, const int step, wide term, const int ends,
                                          wide rest, const int has_rest) {
#pragma GCC unroll 16
    for (int k = 0; k + 1 < levels; k++) {
        if (k < ends) {
            wide t = s[k * step] + term;
            if (k == 0 && !has_rest)
                term = less(term, less(t, s[k * step]));
            else
                term -= less(t, s[k * step]);
            s[k * step] = t;
        } else if (k == ends)
            s[k * step] += term;
        if (has_rest && k > 0) {
            wide t = s[k * step] + rest;
            rest = less(rest, less(t, s[k * step]));
            s[k * step] = t;
        }
    }
    if (has_rest && ends == levels - 1) term += rest;
    s[(levels - 1) * step] += has_rest && ends < levels - 1 ? rest : term;
}
TALLY_INLINE TALLY_TARGET void take(wide *s, const int levels, const int step, const int is_f64, const int kind, wide x,
                                    wide y) {
    wide none = {0};
#ifdef TALLY_VECTOR_FMA
    if (kind == TALLY_TERM_PRODUCT && !is_f64 &&
        levels > 1) { /* the product is exact: fused it needs no step of its own */
        wide t = TALLY_VECTOR_FMA(x, y, s[0]), h = t - s[0];
        s[0] = t;
        split_term(s + step, levels - 1, step, TALLY_VECTOR_FMA(x, y, -h), levels - 2, none, 0);
        return;
    }
#endif
    if (kind == TALLY_TERM_PRODUCT) {
        const int ends = is_f64 && levels == TALLY_SHORT_PRODUCTS ? 1 : levels - 1; /* docs/exact.md */
        wide p = x * y;
        split_term(s, levels, step, p, ends, is_f64 ? product_rest(x, y, p) : none, is_f64);
    } else
        split_term(s, levels, step, kind == TALLY_TERM_MAGNITUDE ? magnitude_of(x) : x, levels - 1, none, 0);
}

TALLY_INLINE TALLY_TARGET void begin_levels(wide *s, const int levels, const int chains, const double *anchor) {
#pragma GCC unroll 16
    for (int k = 0; k < levels; k++)
#pragma GCC unroll 8
        for (int c = 0; c < chains; c++) s[k * chains + c] = (wide){0} + anchor[k];
}
/* Within its binade an accumulator's bits count units. */
TALLY_INLINE TALLY_TARGET void end_levels(const wide *s, const int levels, const int chains, const double *anchor,
                                          tally__units *counts) {
#pragma GCC unroll 16
    for (int k = 0; k < levels; k++) {
        words sum = *(const words *)counts[k] - (uint64_t)chains * (uint64_t)tally_bits_f64(anchor[k]);
#pragma GCC unroll 8
        for (int c = 0; c < chains; c++) sum += (words)s[k * chains + c];
        *(words *)counts[k] = sum;
    }
}

#endif
