#include "truth.h"

#include <math.h>
#include <string.h>

enum { BASE = 1100 }; /* sums are kept as integers times 2^-BASE, products times 2^-2 BASE */

/* x is the integer returned times 2^exponent. */
static long digits_of(double x, int *exponent) {
    double m = frexp(x, exponent);
    *exponent -= 53;
    return (long)ldexp(m, 53);
}
static void shift(mpz_t z, int by) {
    if (by >= 0)
        mpz_mul_2exp(z, z, (mp_bitcnt_t)by);
    else
        mpz_tdiv_q_2exp(z, z, (mp_bitcnt_t)-by); /* exact: subnormals end in zeros */
}

void begin_truth(truth *t) {
    memset(t, 0, sizeof *t);
    mpz_inits(t->values, t->magnitudes, t->products, NULL);
    t->minus_zeros_only = t->minus_zero_products_only = true;
    t->least = INFINITY;
    t->greatest = -INFINITY;
}
void end_truth(truth *t) { mpz_clears(t->values, t->magnitudes, t->products, NULL); }

void add_truth(truth *t, double x, double y) {
    static mpz_t a, b;
    static bool ready;
    int x_exponent, y_exponent;
    long x_digits;
    double sign = x * y; /* its class; its digits do not count */
    if (!ready) mpz_inits(a, b, NULL), ready = true;
    t->n++;
    t->nan |= isnan(x);
    if (!isnan(x) && (x < t->least || (x == t->least && signbit(x)))) t->least = x;
    if (!isnan(x) && (x > t->greatest || (x == t->greatest && !signbit(x)))) t->greatest = x;
    if (!(x == 0 && signbit(x))) t->minus_zeros_only = false;
    if (isfinite(x) && isfinite(y)) {
        if (x != 0 && y != 0)
            t->minus_zero_products_only = false;
        else if (!signbit(sign))
            t->minus_zero_products_only = false;
    } else {
        t->minus_zero_products_only = false;
        t->product_plus |= !(sign < 0);
        t->product_minus |= !(sign > 0);
    }
    if (!isfinite(x)) {
        t->plus |= !(x < 0);
        t->minus |= !(x > 0);
        return;
    }
    x_digits = digits_of(x, &x_exponent);
    mpz_set_si(a, x_digits);
    shift(a, x_exponent + BASE);
    mpz_add(t->values, t->values, a);
    if (x_digits < 0)
        mpz_sub(t->magnitudes, t->magnitudes, a);
    else
        mpz_add(t->magnitudes, t->magnitudes, a);
    if (!isfinite(y)) return;
    mpz_set_si(b, x_digits); /* digits first: the product of two integers of 2,000 bits takes ten times as long */
    mpz_mul_si(b, b, digits_of(y, &y_exponent));
    shift(b, x_exponent + y_exponent + 2 * BASE);
    mpz_add(t->products, t->products, b);
}

static double special(bool plus, bool minus) { return plus && minus ? NAN : plus ? INFINITY : -INFINITY; }

double truth_of(truth *t, tally_op op, int ddof, const format *f) {
    double x;
    switch (op) {
    case TALLY_SUM:
    case TALLY_MEAN:
        if (op == TALLY_MEAN && t->n == 0) return NAN;
        if (t->plus || t->minus) return special(t->plus, t->minus);
        x = answer(op == TALLY_MEAN ? MEAN : PLAIN, t->values, t->values, BASE, t->n, 0, f);
        return mpz_sgn(t->values) == 0 && t->minus_zeros_only && t->n > 0 ? -0.0 : x;
    case TALLY_NORM1:
        return t->nan                ? NAN
               : t->plus || t->minus ? INFINITY
                                     : answer(PLAIN, t->magnitudes, t->values, BASE, t->n, 0, f);
    case TALLY_SUMSQ:
    case TALLY_NORM2:
    case TALLY_DOT:
        if (t->product_plus || t->product_minus) return special(t->product_plus, t->product_minus);
        x = answer(op == TALLY_NORM2 ? ROOT : PLAIN, t->products, t->values, 2 * BASE, t->n, 0, f);
        return mpz_sgn(t->products) == 0 && t->minus_zero_products_only && t->n > 0 ? -0.0 : x;
    default:
        if (t->n <= ddof || t->plus || t->minus) return NAN;
        return answer(op == TALLY_VAR ? SPREAD : SPREAD_ROOT, t->products, t->values, 2 * BASE, t->n, ddof, f);
    }
}
