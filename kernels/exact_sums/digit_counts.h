/* How many 16-bit digits (sums/levels.h) the numbers of a node have. */
#ifndef TALLY_DIGIT_COUNTS_H
#define TALLY_DIGIT_COUNTS_H

#include "exact_sums/exact.h"

enum {
    sum_digits = TALLY_HAS_SUM * 2 * TALLY_LIMBS,
    product_digits = TALLY_HAS_PRODUCTS * 2 * TALLY_PRODUCT_LIMBS,
    all_digits = sum_digits + product_digits
};

#endif
