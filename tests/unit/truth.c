#include "truth.h"

#include <math.h>
#include <string.h>

enum { BASE = 1100 }; /* sums are kept as integers times 2^-BASE, products times 2^-2 BASE */

static void to_integer(mpz_t z, double x) {
    int e;
    double m = frexp(x, &e);
    mpz_set_si(z, (long)ldexp(m, 53));
    if (e - 53 + BASE >= 0)
        mpz_mul_2exp(z, z, (mp_bitcnt_t)(e - 53 + BASE));
    else
        mpz_tdiv_q_2exp(z, z, (mp_bitcnt_t)(53 - e - BASE)); /* exact: subnormals end in zeros */
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
    to_integer(a, x);
    mpz_add(t->values, t->values, a);
    if (mpz_sgn(a) < 0)
        mpz_sub(t->magnitudes, t->magnitudes, a);
    else
        mpz_add(t->magnitudes, t->magnitudes, a);
    if (!isfinite(y)) return;
    to_integer(b, y);
    mpz_addmul(t->products, a, b);
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
    case TALLY_NORM1: return t->nan ? NAN : t->plus || t->minus ? INFINITY : answer(PLAIN, t->magnitudes, t->values, BASE, t->n, 0, f);
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
