#include "rounding.h"

#include <mpfr.h>

static const format formats[] = {
    {TALLY_F16, 11, -23, 16}, {TALLY_BF16, 8, -132, 128}, {TALLY_F32, 24, -148, 128}, {TALLY_F64, 53, -1073, 1024}};
const format *format_of(tally_type type) { return &formats[type - TALLY_F16]; }

/* x rounded once to the format, where `ternary` says on which side of x the truth lies. */
static double rounded(mpfr_t x, int ternary, const format *f) {
    double d;
    mpfr_set_emin(f->least);
    mpfr_set_emax(f->most);
    ternary = mpfr_check_range(x, ternary, MPFR_RNDN);
    mpfr_subnormalize(x, ternary, MPFR_RNDN);
    d = mpfr_get_d(x, MPFR_RNDN);
    mpfr_set_emin(mpfr_get_emin_min());
    mpfr_set_emax(mpfr_get_emax_max());
    return d;
}

double answer(int way, const mpz_t z, const mpz_t sum, long base, int64_t n, int ddof, const format *f) {
    enum { BITS = 6300 }; /* three times the binades of f64 */
    static mpfr_t exact, divisor, small;
    static mpz_t apart;
    static bool ready;
    int ternary;
    if (!ready) {
        mpfr_inits2(BITS, exact, divisor, NULL);
        mpfr_init2(small, 53);
        mpz_init(apart);
        ready = true;
    }
    mpfr_set_prec(small, f->digits);
    mpfr_set_si(divisor, n, MPFR_RNDN);
    mpz_set(apart, z);
    if (way == SPREAD || way == SPREAD_ROOT) {
        mpz_mul_si(apart, apart, n);
        mpz_submul(apart, sum, sum);
        mpfr_mul_si(divisor, divisor, n - ddof, MPFR_RNDN);
    }
    mpfr_set_z_2exp(exact, apart, -base, MPFR_RNDN);
    if (way == SPREAD_ROOT)
        mpfr_div(exact, exact, divisor, MPFR_RNDN); /* to thousands of digits: no tie is that close */
    ternary = way == PLAIN                   ? mpfr_set(small, exact, MPFR_RNDN)
              : way == MEAN || way == SPREAD ? mpfr_div(small, exact, divisor, MPFR_RNDN)
                                             : mpfr_sqrt(small, exact, MPFR_RNDN);
    return rounded(small, ternary, f);
}
