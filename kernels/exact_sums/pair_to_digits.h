/* One pair of values (one_pair.h), added to 16-bit digits (sums/levels.h). Include with
 *
 *     TALLY_PUT_NAME, TALLY_PUT_TYPE                   as there
 *     TALLY_PUT_SUM_DIGITS, TALLY_PUT_PRODUCT_DIGITS   where digit 0 of the sum, and of that of products, is in *to
 *     TALLY_PUT_SUM_COLUMNS, TALLY_PUT_PRODUCT_COLUMNS how far apart the digits of each are
 *
 * which are undone here. */
#if !defined(TALLY_PUT_SUM_DIGITS) || !defined(TALLY_PUT_PRODUCT_DIGITS) || !defined(TALLY_PUT_SUM_COLUMNS) || \
    !defined(TALLY_PUT_PRODUCT_COLUMNS)
#error "define what the first comment lists"
#endif

#define TALLY_PUT_SUM(significand, is_negative, offset) \
    tally_scatter(TALLY_PUT_SUM_DIGITS, TALLY_PUT_SUM_COLUMNS, significand, is_negative, offset, TALLY_IS_F64 ? 5 : 3)
#define TALLY_PUT_PRODUCT(significand, is_negative, offset, digits) \
    tally_scatter(TALLY_PUT_PRODUCT_DIGITS, TALLY_PUT_PRODUCT_COLUMNS, significand, is_negative, offset, digits)
#include "exact_sums/one_pair.h"
#undef TALLY_PUT_SUM_DIGITS
#undef TALLY_PUT_PRODUCT_DIGITS
#undef TALLY_PUT_SUM_COLUMNS
#undef TALLY_PUT_PRODUCT_COLUMNS
