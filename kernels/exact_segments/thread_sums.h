/* The sums of a few values by one thread: three doubles each and a bound of what these have dropped (sums/bounded.h),
 * and the result, if that cannot show in it. Values of f64 may be scaled by a power of two first, so that products
 * neither overflow nor lose digits. */
#ifndef TALLY_THREAD_SUMS_H
#define TALLY_THREAD_SUMS_H

#include "exact_sums/extent.h"
#include "exact_segments/flat_nodes.h"
#include "sums/bounded.h"

typedef struct thread_sums_t {
    TALLY_IF_SUM(tally_bounded sum;)
    TALLY_IF_PRODUCTS(tally_bounded products;)
    noted_t noted;
} thread_sums_t;
TALLY_FN thread_sums_t no_sums(void) {
    thread_sums_t a;
    __builtin_memset(&a, 0, sizeof a);
    a.noted = nothing_noted();
    return a;
}
enum { product_size_least = 4096 }; /* makes sizes of products positive */
/* How large a finite term of f64 is: grows with it, and is 0 where the term is. Of two inputs it tells the product. */
TALLY_FN uint32_t term_size(TALLY_T x, TALLY_T y) {
    const uint32_t of_x = size_bits(x), of_y = size_bits(y);
    if (TALLY_KERNEL_INPUTS == 1) return of_x;
    return of_x == 0 || of_y == 0 ? 0 : (uint32_t)(high_of(of_x) + high_of(of_y) + product_size_least);
}
/* The power of two that makes terms of at most such a size about 1: of one input it is the values', which are
 * multiplied by it as far as a normal number can, of two that of their product. */
TALLY_FN int32_t power_for(uint32_t most) {
    if (TALLY_KERNEL_INPUTS == 1) return power_of_size(most);
    return most == 0 ? 0 : product_size_least - (int32_t)most;
}
TALLY_FN double scaled_by(double x, int32_t power) { return power == 0 ? x : x * tally_power_of_two(power); }
/* What such a product or scaled value may have lost: where it is below 2^-900, less than 2^-1000. */
TALLY_FN double lost_below(double size, int32_t is_zero) {
    const double magnitude = size < 0 ? -size : size;
    return TALLY_IS_F64 && !is_zero && !(magnitude > 0x1p-900) ? 0x1p-1000 : 0;
}
/* A finite number that is not 0, between 1 and 2 or -1 and -2; its exponent is added. */
TALLY_FN double significand_in(double v, int32_t *exponent) {
    int64_t bits = tally_bits_f64(v);
    if ((bits >> 52 & 0x7ff) == 0) {
        bits = tally_bits_f64(v * 0x1p54);
        *exponent -= 54;
    }
    *exponent += (int32_t)(bits >> 52 & 0x7ff) - 1023;
    return tally_from_bits_f64((bits & ~((int64_t)0x7ff << 52)) | (int64_t)1023 << 52);
}
/* Adds a product of f64 of two inputs, which may be far apart, in units of a power of two. */
TALLY_FN void add_far_product(tally_bounded *a, double x, double y, int32_t power) {
    enum { LEAST = -800 }; /* of a term that is added */
    if (x == 0 || y == 0) return;
    const double u = significand_in(x, &power), w = significand_in(y, &power), product = u * w,
                 rest = __builtin_fma(u, w, -product);
    if (power < LEAST) {
        a->lost += 0x1p-798;
        return;
    }
    tally_bounded_put(a, scaled_by(product, power));
    if (rest != 0) tally_bounded_put(a, scaled_by(rest, power));
}
TALLY_FN void add_finite(thread_sums_t *a, TALLY_T x, TALLY_T y, int32_t power) {
    (void)y;
#if TALLY_HAS_SUM
    const double term = term_in_double(x), scaled = TALLY_IS_F64 ? scaled_by(term, power) : term;
    tally_bounded_put(&a->sum, scaled);
    if (TALLY_IS_F64 && power != 0) a->sum.lost += lost_below(scaled, term == 0);
#endif
#if TALLY_HAS_PRODUCTS
    if (TALLY_IS_F64 && TALLY_KERNEL_INPUTS == 2 && power != 0) {
        add_far_product(&a->products, (double)value_of(x), (double)value_of(y), power);
        return;
    }
    const double u = TALLY_IS_F64 && TALLY_KERNEL_INPUTS == 1 ? scaled_by((double)value_of(x), power)
                                                              : (double)value_of(x),
                 w = TALLY_KERNEL_INPUTS == 1 ? u : (double)value_of(y);
    const double product = u * w;
    tally_bounded_put(&a->products, product);
    if (TALLY_IS_F64) {
        const double rest = __builtin_fma(u, w, -product);
        if (rest != 0) tally_bounded_put(&a->products, rest);
        a->products.lost += lost_below(product, size_bits(x) == 0 || size_bits(y) == 0);
    }
#endif
}

/* Of an infinity or a NaN, which are few: not in line. */
TALLY_RARE int32_t evidence_of_special(TALLY_T x, TALLY_T y) { return evidence_of(x, y); }
/* Notes a term. Gives whether it is to be added: it is finite, and not left out. */
TALLY_FN int32_t note_term(noted_t *a, TALLY_T x, TALLY_T y) {
    const int32_t is_special = term_is_special(x, y);
    if (is_special && term_is_absent(x, y)) {
        a->absent++;
        return 0;
    }
#if TALLY_HAS_KEYS
    const TALLY_K key = order_key(x);
    a->low = key < a->low ? key : a->low;
    a->high = key > a->high ? key : a->high;
#endif
    if (is_special)
        a->seen |= evidence_of_special(x, y);
    else
        a->seen |= value_is_other(x, y) ? TALLY_NOT_MINUS_ZERO : 0;
    return !is_special;
}
TALLY_FN void add_value(thread_sums_t *a, TALLY_T x, TALLY_T y, int32_t power) {
    if (note_term(&a->noted, x, y)) add_finite(a, x, y, power);
}

/* ---- sums of several threads ---- */

TALLY_FN tally_bounded bounded_of_lane(const tally_bounded *a, int32_t lane) {
    tally_bounded b;
    TALLY_UNROLL
    for (int32_t k = 0; k < 3; k++) b.p[k] = tally_from_bits_f64(tally_of_lane64(tally_bits_f64(a->p[k]), lane));
    b.lost = tally_from_bits_f64(tally_of_lane64(tally_bits_f64(a->lost), lane));
    return b;
}
TALLY_FN thread_sums_t sums_of_lane(const thread_sums_t *a, int32_t lane) {
    thread_sums_t b;
    TALLY_IF_SUM(b.sum = bounded_of_lane(&a->sum, lane);)
    TALLY_IF_PRODUCTS(b.products = bounded_of_lane(&a->products, lane);)
    b.noted = noted_of_lane(&a->noted, lane);
    return b;
}
TALLY_FN void join_sums(thread_sums_t *a, const thread_sums_t *b) {
    TALLY_IF_SUM(tally_bounded_join(&a->sum, &b->sum);)
    TALLY_IF_PRODUCTS(tally_bounded_join(&a->products, &b->products);)
    join_noted(&a->noted, &b->noted);
}

/* ---- results ---- */

/* Of the middle of the intervals in which sums lie, or of what lies beyond their lower (-1) or upper ends (1). */
TALLY_FN in_pairs_t pairs_of(const thread_sums_t *s, int64_t n, int32_t power, int32_t end) {
    in_pairs_t a;
    (void)end;
    __builtin_memset(&a, 0, sizeof a);
    a.present = n - s->noted.absent;
    a.seen = s->noted.seen;
    a.power = -power;
    a.products_power = TALLY_KERNEL_INPUTS == 2 ? -power : -2 * power;
    TALLY_IF_SUM(a.sum = tally_bounded_pair(&s->sum, end);)
    TALLY_IF_PRODUCTS(a.products = tally_bounded_pair(&s->products, end);)
    TALLY_IF_KEYS(a.low = (TALLY_K)s->noted.low; a.high = (TALLY_K)s->noted.high;)
    return a;
}
TALLY_FN double lost_of(const thread_sums_t *s) {
    double lost = 0;
    TALLY_IF_SUM(lost += s->sum.lost;)
    TALLY_IF_PRODUCTS(lost += s->products.lost;)
    return lost;
}
/* Whether what was dropped of a spread's sums is nothing beside the bound that it has of its own errors: some 2^-98 of
 * the sum of squares. */
TALLY_FN int32_t spread_is_bounded(const thread_sums_t *s) {
#if TALLY_HAS_SPREAD
    return s->products.lost <= s->products.p[0] * 0x1p-112 && s->sum.lost * s->sum.lost <= s->products.p[0] * 0x1p-224;
#else
    (void)s;
    return 1;
#endif
}
/* The result of n values, some of them present, if it is certain: the same at both ends of the interval, if something
 * was dropped. */
TALLY_LONG int32_t finalize_sums(const thread_sums_t *s, int64_t n, int32_t power, const tally_final *final,
                                 uint64_t *result) {
    enum { is_spread = TALLY_HAS_SPREAD && !TALLY_HAS_KEYS };
    const double lost = lost_of(s);
    const int32_t has_ends = lost != 0 && !is_spread;
    uint64_t other[6] = {0, 0, 0, 0, 0, 0};
    int32_t sure = lost - lost == 0 && spread_is_bounded(s);
    TALLY_ROLLED /* what follows is long */
        for (int32_t end = has_ends ? -1 : 0; sure && end <= has_ends; end += 2) {
        in_pairs_t a = pairs_of(s, n, power, end);
        if (is_spread) { /* nothing is known to be exact */
            TALLY_IF_SUM(if (a.sum.low == 0) a.sum.low = s->sum.lost;)
            TALLY_IF_PRODUCTS(if (a.products.low == 0) a.products.low = s->products.lost;)
        }
        sure = finalize_pairs(&a, final, result);
        TALLY_IF_SUM(sure &= is_spread || s->sum.lost == 0 || a.sum.high != 0;) /* whose sign is not known */
        TALLY_IF_PRODUCTS(sure &= is_spread || s->products.lost == 0 || a.products.high != 0;)
        for (int32_t k = 0; k < 6; k++) {
            sure &= end <= 0 || result[k] == other[k];
            other[k] = result[k];
        }
    }
    return sure;
}

#endif
