/* Results made of exact sums, each the true value rounded once. Not a template: it does not matter of what type the
 * terms are. */
#ifndef TALLY_SUMS_H
#define TALLY_SUMS_H

#include "sums/window.h"

/* Whether evidence alone decides the result of a sum. */
TALLY_FN int tally_decided(tally_number a, double *result) {
    int plus = a.words[TALLY_PLUS_INFINITY] != 0, minus = a.words[TALLY_MINUS_INFINITY] != 0;
    *result = plus && minus ? tally_nan_f64() : plus ? tally_infinity_f64() : -tally_infinity_f64();
    return plus || minus;
}

/* sum / n */
TALLY_LONG double tally_sum_result(tally_number sum, uint64_t n, tally_format format) {
    tally_window window;
    double result;
    if (n == 0) return tally_nan_f64();
    if (tally_decided(sum, &result)) return result;
    tally_open_window(&window, sum.words + TALLY_EVIDENCE, sum.count, sum.origin);
    if (n > 1) tally_divide(&window, n);
    result = tally_round(&window, format);
    /* A sum that is 0 is -0 if all its values are; a sum that rounds to 0 keeps its sign. */
    return result == 0 && !window.negative && sum.words[TALLY_MINUS_ZERO] && !sum.words[TALLY_OTHER] ? -0.0 : result;
}

/* The square root of a sum that is not negative. */
TALLY_LONG double tally_root_result(tally_number squares, tally_format format) {
    tally_window window;
    double result;
    if (tally_decided(squares, &result)) return result;
    tally_open_window(&window, squares.words + TALLY_EVIDENCE, squares.count, squares.origin);
    tally_root(&window);
    return tally_round(&window, format);
}

/* The sum of squared deviations over n - ddof, or its root: (n squares - sum^2) / (n (n - ddof)). */
TALLY_LONG double tally_spread_result(tally_number sum, tally_number squares, int64_t n, const tally_final *final,
                                      tally_format format) {
    tally_window window;
    double result;
    if (n <= final->ddof || tally_decided(squares, &result)) return tally_nan_f64();
    tally_open_spread(&window, sum, squares, (uint64_t)n);
    tally_divide(&window, (uint64_t)n);
    tally_divide(&window, (uint64_t)(n - final->ddof));
    if (final->root) tally_root(&window);
    return tally_round(&window, format);
}

/* Writes a rounded result: formats up to f32 as a float, f64 as a double. */
TALLY_FN void tally_put(void *to, double result, tally_format format) {
    float narrow = (float)result;
    if (format.digits == 53) {
        result = tally_clean_f64(result);
        __builtin_memcpy(to, &result, sizeof result);
    } else {
        narrow = tally_clean_f32(narrow);
        __builtin_memcpy(to, &narrow, sizeof narrow);
    }
}

#endif
