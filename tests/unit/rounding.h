/* What sums that GMP has as integers become in a float type: rounded once, by MPFR. */
#ifndef ROUNDING_H
#define ROUNDING_H

#include <gmp.h>

#include "support.h"

typedef struct format {
    tally_type type;
    int digits;
    long least, most; /* MPFR's exponents of the smallest subnormal and of infinity */
} format;
const format *format_of(tally_type type);

enum { PLAIN, MEAN, ROOT, SPREAD, SPREAD_ROOT };

/* z * 2^-base, over n, or its root; or the spread of n values, (n z - sum^2) / (n (n - ddof)), of which z are the
 * squares, or its root. */
double answer(int way, const mpz_t z, const mpz_t sum, long base, int64_t n, int ddof, const format *f);

#endif
