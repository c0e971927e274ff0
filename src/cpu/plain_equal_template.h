/* Plain sums of values and of their squares for segments that all have the same number of values: as plain_template.h
 * makes each of them, but in one pass. Gives plain_equal_f32 and _f64 (tiles.h). */
#ifndef TALLY_CPU_PLAIN_EQUAL_TEMPLATE_H
#define TALLY_CPU_PLAIN_EQUAL_TEMPLATE_H

#include "cpu/plain_template.h"

#ifdef TALLY_PLAIN_PRODUCTS
TALLY_INLINE TALLY_TARGET void both_across(const int is_f64, const int kind, const void *x, const int length, int count,
                                           const double *anchor, tally__plain_sums sums, tally__plain_sums products) {
    sums_across(is_f64, TALLY_TERM_VALUE, kind, x, x, 0, length, count, anchor, sums, products);
}
TALLY_INLINE TALLY_TARGET bool both_equal(const int is_f64, const int kind, const void *x, const int length, int count,
                                          const double *anchor, tally__plain_sums sums, tally__plain_sums products) {
    enum { MOST_F64 = 32 }; /* more are faster in two passes: the registers do not suffice for five sums and anchors */
    if (length == 0 || (length <= 4 ? count % ACROSS != 0 : count < 8 || (is_f64 && length > MOST_F64))) return false;
    switch (length) {
    case 1: both_across(is_f64, kind, x, 1, count, anchor, sums, products); break;
    case 2: both_across(is_f64, kind, x, 2, count, anchor, sums, products); break;
    case 3: both_across(is_f64, kind, x, 3, count, anchor, sums, products); break;
    case 4: both_across(is_f64, kind, x, 4, count, anchor, sums, products); break;
    default: plain_alike(is_f64, TALLY_TERM_VALUE, kind, x, x, 0, length, count, anchor, sums, products);
    }
    return true;
}
static TALLY_TARGET int plain_equal_f32(const void *x, const int64_t *offsets, int count, bool narrow,
                                        const double *anchor, tally__plain_sums sums, tally__plain_sums products) {
    const int length = equal_length(offsets, count);
    if (!(narrow ? both_equal(0, PLAIN_SQUARE, x, length, count, anchor, sums, products)
                 : both_equal(0, TALLY_TERM_PRODUCT, x, length, count, anchor, sums, products)))
        return -1;
    if (narrow) memset(products[1], 0, (size_t)count * sizeof products[1][0]);
    return are_finite(products, count);
}
static TALLY_TARGET int plain_equal_f64(const void *x, const int64_t *offsets, int count, bool narrow,
                                        const double *anchor, tally__plain_sums sums, tally__plain_sums products) {
    (void)narrow;
    return both_equal(1, TALLY_TERM_PRODUCT, x, equal_length(offsets, count), count, anchor, sums, products)
               ? are_finite(products, count)
               : -1;
}
#endif

#endif
