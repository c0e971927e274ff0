/* Plain sums of values and of their squares for segments that all have the same number of values: as plain_template.h
 * makes each of them, but in one pass. Gives plain_equal_f32 and _f64 (tiles.h). */
#ifndef TALLY_CPU_PLAIN_EQUAL_TEMPLATE_H
#define TALLY_CPU_PLAIN_EQUAL_TEMPLATE_H

#include "cpu/plain_template.h"

#ifdef TALLY_PLAIN_PRODUCTS
/* Of 1 to 4 values: across segments, as products_across. */
TALLY_INLINE TALLY_TARGET void both_across(const int is_f64, const int kind, const void *x, const int length, int count,
                                           const double *anchor, tally__plain_sums sums, tally__plain_sums products) {
    enum { GROUPS = ACROSS / WIDTH };
    const int of_values = TALLY_PLAIN_PARTS(is_f64, TALLY_TERM_VALUE), of_squares = TALLY_PLAIN_PARTS(is_f64, kind);
    const int64_t bytes = (is_f64 ? 8 : 4) * length;
    _Alignas(64) double transposed[4][ACROSS];
    for (int first = 0; first < count; first += ACROSS) {
        wide s[TALLY_PARTS * GROUPS], squares[TALLY_PARTS * GROUPS];
        transpose_equal(is_f64, transposed, (const char *)x + first * bytes, length);
        ask_for(is_f64, ACROSS * length, x, first * length + TALLY_PLAIN_AHEAD(is_f64));
        begin_plainly(s, of_values, GROUPS, TALLY_TERM_VALUE, anchor);
        begin_plainly(squares, of_squares, GROUPS, kind, anchor);
#pragma GCC unroll 4
        for (int k = 0; k < length; k++)
#pragma GCC unroll 8
            for (int g = 0; g < GROUPS; g++) {
                const wide a = *(const wide *)&transposed[k][g * WIDTH];
                take_plainly(s + g, GROUPS, is_f64, TALLY_TERM_VALUE, a, a);
                take_plainly(squares + g, GROUPS, is_f64, kind, a, a);
            }
#pragma GCC unroll 8
        for (int g = 0; g < GROUPS; g++) {
#pragma GCC unroll 4
            for (int k = 0; k < of_values; k++) *(wide_anywhere *)(sums[k] + first + g * WIDTH) = s[k * GROUPS + g];
#pragma GCC unroll 4
            for (int k = 0; k < of_squares; k++)
                *(wide_anywhere *)(products[k] + first + g * WIDTH) =
                    kind == TALLY_TERM_PRODUCT ? squares[k * GROUPS + g] - anchor[k] : squares[k * GROUPS + g];
        }
    }
}
/* Of more: row by row, as plain_alike. */
TALLY_INLINE TALLY_TARGET void both_alike(const int is_f64, const int kind, const void *x, const int64_t length,
                                          int count, const double *anchor, tally__plain_sums sums,
                                          tally__plain_sums products) {
    const int of_values = TALLY_PLAIN_PARTS(is_f64, TALLY_TERM_VALUE), of_squares = TALLY_PLAIN_PARTS(is_f64, kind),
              rest = (int)(length % ROW);
    for (int first = 0; first < count; first += 8) {
        const int from = first + 8 <= count ? first : count - 8;
        wide lanes[TALLY_PARTS][8], squares[TALLY_PARTS][8];
        ask_for(is_f64, 8 * (int)length, x, (from + 8) * length + TALLY_PLAIN_AHEAD(is_f64));
#pragma GCC unroll 8
        for (int k = 0; k < 8; k++) {
            const int64_t begin = (from + k) * length, end = begin + length;
            int64_t i = begin;
            wide s[TALLY_PARTS], q[TALLY_PARTS];
            begin_plainly(s, of_values, 1, TALLY_TERM_VALUE, anchor);
            begin_plainly(q, of_squares, 1, kind, anchor);
            for (; i + ROW <= end; i += ROW) {
                const wide a = load(is_f64, x, i);
                take_plainly(s, 1, is_f64, TALLY_TERM_VALUE, a, a);
                take_plainly(q, 1, is_f64, kind, a, a);
            }
            if (rest > 0) {
                const wide a = load_part(is_f64, x, i, rest);
                take_plainly(s, 1, is_f64, TALLY_TERM_VALUE, a, a);
                take_plainly(q, 1, is_f64, kind, a, a);
            }
#pragma GCC unroll 4
            for (int p = 0; p < of_values; p++) lanes[p][k] = s[p];
#pragma GCC unroll 4
            for (int p = 0; p < of_squares; p++)
                squares[p][k] = kind == TALLY_TERM_PRODUCT && p < 2 ? less(q[p], (wide){0} + anchor[p]) : q[p];
        }
#pragma GCC unroll 4
        for (int p = 0; p < of_values; p++) _mm512_storeu_pd(sums[p] + from, fold_eight((const __m512d *)lanes[p]));
#pragma GCC unroll 4
        for (int p = 0; p < of_squares; p++)
            _mm512_storeu_pd(products[p] + from, fold_eight((const __m512d *)squares[p]));
    }
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
    default: both_alike(is_f64, kind, x, length, count, anchor, sums, products);
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
