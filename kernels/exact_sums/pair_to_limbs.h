/* One pair of values (one_pair.h), added to limbs, which stand behind the evidence in the `sum` and `products` of *to.
 * Include with
 *
 *     TALLY_PUT_NAME, TALLY_PUT_TYPE                  as there
 *     TALLY_PUT_DEPOSIT(limbs, significand, offset)   adds a significand that has a sign to limbs
 *
 * which are undone here. */
#if !defined(TALLY_PUT_DEPOSIT)
#error "define what the first comment lists"
#endif

#define TALLY_PUT_SUM(significand, is_negative, offset) \
    TALLY_PUT_DEPOSIT(to->sum + TALLY_EVIDENCE, with_sign(significand, is_negative), offset)
#define TALLY_PUT_PRODUCT(significand, is_negative, offset, digits) \
    TALLY_PUT_DEPOSIT(to->products + TALLY_EVIDENCE, with_sign(significand, is_negative), offset)
#include "exact_sums/one_pair.h"
#undef TALLY_PUT_DEPOSIT
