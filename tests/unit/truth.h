/* True sums: of floats, as integers of GMP. */
#ifndef TRUTH_H
#define TRUTH_H

#include "rounding.h"

typedef struct truth {
    mpz_t values, magnitudes, products; /* of what is finite */
    int64_t n;
    bool plus, minus, minus_zeros_only;                         /* infinities (both: NaN), of values */
    bool product_plus, product_minus, minus_zero_products_only; /* of products */
    bool nan;
    double least, greatest;
} truth;

void begin_truth(truth *t);
void end_truth(truth *t);
/* One value, and for products its partner: itself, where there is one input. */
void add_truth(truth *t, double x, double y);

/* What an operator gives, rounded once to the format. */
double truth_of(truth *t, tally_op op, int ddof, const format *f);

#endif
