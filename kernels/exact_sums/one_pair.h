/* One pair of values, if it is there: noted, and taken apart. Include with
 *
 *     TALLY_PUT_NAME, TALLY_PUT_TYPE                    the function name(notes, to, x, y), and the type of *to
 *     TALLY_PUT_SUM(significand, is_negative, offset)   adds significand * 2^offset, in units of the origin, to the sum
 *     TALLY_PUT_PRODUCT(..., digits)                    the same to that of products: shifted to a multiple of 16, so
 *                                                       many digits of 16 bits
 *
 * which are undone here. */
#include "sums/levels.h"
#include "exact_sums/terms.h"

#if !defined(TALLY_PUT_NAME) || !defined(TALLY_PUT_TYPE) || !defined(TALLY_PUT_SUM) || !defined(TALLY_PUT_PRODUCT)
#error "define what the first comment lists"
#endif

TALLY_FN void TALLY_PUT_NAME(notes_t *notes, TALLY_PUT_TYPE *to, TALLY_T tx, TALLY_T ty) {
    taken_t x = take(tx), y = take(ty);
    (void)y, (void)to;
    if (TALLY_MAY_SKIP && (value_is_nan(tx) || value_is_nan(ty))) {
        notes->absent++;
        return;
    }
    widen_keys(notes, tx);
#if TALLY_HAS_SUM
    int32_t is_negative = TALLY_ADDS_MAGNITUDES ? 0 : x.is_negative;
    if (x.is_special)
        notes->seen_sum |= tally_special_evidence(term_in_double(tx));
    else {
        notes->seen_sum |= tally_finite_evidence(x.significand == 0, is_negative);
        TALLY_PUT_SUM(x.significand, is_negative, x.offset);
    }
#endif
#if TALLY_HAS_PRODUCTS
    if (x.is_special || y.is_special)
        notes->seen_products |= tally_special_evidence((double)value_of(tx) * (double)value_of(ty));
    else {
        int32_t sign = x.is_negative ^ y.is_negative, offset = x.offset + y.offset;
        notes->seen_products |= tally_finite_evidence(x.significand == 0 || y.significand == 0, sign);
#if TALLY_IS_F64
        tally_u128 product = (tally_u128)x.significand * y.significand;
        TALLY_PUT_PRODUCT((uint64_t)product & 0xffffffffffff, sign, offset, 4);
        TALLY_PUT_PRODUCT((uint64_t)(product >> 48), sign, offset + 48, 5);
#else
        TALLY_PUT_PRODUCT(x.significand * y.significand, sign, offset, 4);
#endif
    }
#endif
}
#undef TALLY_PUT_NAME
#undef TALLY_PUT_TYPE
#undef TALLY_PUT_SUM
#undef TALLY_PUT_PRODUCT
