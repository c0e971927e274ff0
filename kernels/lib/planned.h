/* Exact sums of many results at once: levels are planned once for a result, from a sample of its values, so that partial sums of threads, warps
 * and blocks are counts of the same units and join by integer addition. What the plan does not hold is noticed, and left to
 * lib/careful.h. Results follow from few doubles (lib/parts.h) where they can. No include guard; behind lib/ruler.h and lib/careful.h. */
#include "lib/parts.h"

#ifndef TALLY_PLANNED_H
#define TALLY_PLANNED_H
enum {
    TALLY_BEYOND = 1, /* a value that the plan does not hold */
    TALLY_NOT_MINUS_ZERO = 2,
    TALLY_SEEN_PLUS = 4, TALLY_SEEN_MINUS = 8, TALLY_SEEN_NAN = 16, /* +inf, -inf, a NaN, which is all three */
    /* binades by which a plan from a sample is wider than it, above and below, if it can be */
    TALLY_SAMPLE_ABOVE = 6, TALLY_SAMPLE_BELOW = 16
};
#endif

#if defined(TALLY_SUM_TERM) && defined(TALLY_PRODUCTS)
#define TALLY_IS_SPREAD_OF_SUMS 1
#else
#define TALLY_IS_SPREAD_OF_SUMS 0
#endif

/* What is known of some values of one result. */
typedef struct TALLY_N(partial) {
    TALLY_IF_SUM(int64_t sum[TALLY_MOST_LEVELS_OF_VALUES];) /* units of each level */
    TALLY_IF_PRODUCTS(int64_t products[TALLY_MOST_LEVELS_OF_PRODUCTS];)
    int64_t absent; /* values that the NaN policy leaves out */
#ifdef TALLY_KEYS
    int64_t low, high; /* keys of the type, not wide ones */
#endif
    int64_t seen;
} TALLY_N(partial);
enum { TALLY_N(partial_fits) = 1 / (sizeof(TALLY_N(partial)) <= TALLY_PARTIAL_BYTES) }; /* does not compile otherwise */

TALLY_FN TALLY_N(partial) TALLY_N(no_partial)(void) {
    TALLY_N(partial) a;
    __builtin_memset(&a, 0, sizeof a);
#ifdef TALLY_KEYS
    a.low = TALLY_K_HIGH;
    a.high = TALLY_K_LOW;
#endif
    return a;
}
/* Counts of values that no level holds are any numbers, which nobody looks at: they may wrap around. */
TALLY_FN void TALLY_N(join_partials)(TALLY_N(partial) *a, TALLY_N(partial) b) {
    TALLY_UNROLL
    for (int32_t k = 0; k < TALLY_MOST_LEVELS_OF_VALUES; k++) { TALLY_IF_SUM(a->sum[k] = tally_further(a->sum[k], b.sum[k]);) }
    TALLY_UNROLL
    for (int32_t k = 0; k < TALLY_MOST_LEVELS_OF_PRODUCTS; k++) { TALLY_IF_PRODUCTS(a->products[k] = tally_further(a->products[k], b.products[k]);) }
    a->absent += b.absent;
    a->seen |= b.seen;
#ifdef TALLY_KEYS
    a->low = b.low < a->low ? b.low : a->low;
    a->high = b.high > a->high ? b.high : a->high;
#endif
}
/* The sum over so many lanes, a constant, whose numbers follow one another; in each of them. */
TALLY_FN TALLY_N(partial) TALLY_N(fold_partial)(TALLY_N(partial) a, const int32_t lanes) {
    TALLY_UNROLL
    for (int32_t mask = lanes / 2; mask > 0; mask /= 2) {
        TALLY_N(partial) other = a;
        TALLY_UNROLL
        for (int32_t k = 0; k < TALLY_MOST_LEVELS_OF_VALUES; k++) { TALLY_IF_SUM(other.sum[k] = tally_shuffle64(a.sum[k], mask);) }
        TALLY_UNROLL
        for (int32_t k = 0; k < TALLY_MOST_LEVELS_OF_PRODUCTS; k++) { TALLY_IF_PRODUCTS(other.products[k] = tally_shuffle64(a.products[k], mask);) }
        if (TALLY_NAN == 1) other.absent = tally_shuffle64(a.absent, mask);
        other.seen = tally_shuffle_xor((uint32_t)a.seen, mask);
#ifdef TALLY_KEYS
        other.low = tally_shuffle64(a.low, mask);
        other.high = tally_shuffle64(a.high, mask);
#endif
        TALLY_N(join_partials)(&a, other);
    }
    return a;
}

/* One that another block wrote. */
TALLY_FN TALLY_N(partial) TALLY_N(fetch_partial)(const TALLY_N(partial) *from) {
    uint64_t w[sizeof *from / 8];
    TALLY_N(partial) p;
    TALLY_UNROLL
    for (uint32_t k = 0; k < sizeof w / 8; k++) w[k] = tally_load_fresh((const uint64_t *)(const void *)from + k);
    __builtin_memcpy(&p, w, sizeof p);
    return p;
}

/* ---- planning ---- */

/* log2 of the terms of n that may meet in one accumulator, such that counts of n terms' units stay below 2^63. */
TALLY_FN int32_t TALLY_N(additions_of)(int64_t n) {
    int32_t log = 1;
    while (n >> log != 0) log++;
    return log - 11 > TALLY_LOG_MEET ? log - 11 : log < TALLY_LOG_MEET ? log : TALLY_LOG_MEET;
}
/* The smallest size, minus 1, of values that the first level alone holds: they, or their squares, are multiples of its unit. */
TALLY_FN uint32_t TALLY_N(first_alone)(const tally_levels *levels, const int32_t is_square) {
    const int32_t unit = levels->unit[0];
    if (levels->count <= 1) return 0;
    return TALLY_N(least_above)(!is_square ? unit : unit >= 0 ? (unit + 1) / 2 : -(-unit / 2));
}

/* Levels for values of these extents, the same in all lanes, or for a wider range if `is_sample`. Where there are none, nothing is held. */
TALLY_FN TALLY_N(ruler) TALLY_N(plan_of)(TALLY_N(extent) x, TALLY_N(extent) y, int64_t n, int32_t is_sample) {
    TALLY_N(ruler) ruler;
    const int32_t additions = TALLY_N(additions_of)(n);
    const uint32_t one = ((uint32_t)(TALLY_SIZE_INFINITY >> TALLY_SIZE_FRACTION) / 2) << TALLY_SIZE_FRACTION;
    const uint32_t above = (uint32_t)TALLY_SAMPLE_ABOVE << TALLY_SIZE_FRACTION, below = (uint32_t)TALLY_SAMPLE_BELOW << TALLY_SIZE_FRACTION;
    if (x.most == 0) x.most = one, x.least = one - 1; /* nothing but zeros, which any levels hold */
    if (y.most == 0) y.most = one, y.least = one - 1;
    if (is_sample) {
        TALLY_N(extent) wide_x = x, wide_y = y;
        wide_x.most = x.most + above < TALLY_SIZE_INFINITY ? x.most + above : x.most < TALLY_SIZE_INFINITY ? TALLY_SIZE_INFINITY - 1 : x.most;
        wide_y.most = y.most + above < TALLY_SIZE_INFINITY ? y.most + above : y.most < TALLY_SIZE_INFINITY ? TALLY_SIZE_INFINITY - 1 : y.most;
        wide_x.least = x.least > below ? x.least - below : 0;
        wide_y.least = y.least > below ? y.least - below : 0;
        if (TALLY_N(choose)(&ruler, wide_x, wide_y, additions)) return ruler;
    }
    if (!TALLY_N(choose)(&ruler, x, y, additions)) TALLY_N(forget_levels)(&ruler);
    return ruler;
}

/* ---- adding ---- */

/* -0 for what the NaN policy leaves out: it adds nothing, has no size, and is no evidence. */
TALLY_FN TALLY_T TALLY_N(absent_value)(void) { return TALLY_N(from_bits)((TALLY_K)TALLY_K_LOW); }

/* Puts absent values where a pair is not counted: where `there` has no bit for it, or where the NaN policy says so, which takes its bit and
 * adds to *absent. */
TALLY_FN uint64_t TALLY_N(leave_out)(TALLY_T *x, TALLY_T *y, uint64_t there, int64_t *absent, const int32_t count, const int32_t apart) {
    (void)absent;
    TALLY_UNROLL
    for (int32_t i = 0; i < count; i++) {
#if TALLY_NAN == 1
        if ((there >> i & 1) && (TALLY_N(is_nan)(x[i * apart]) || TALLY_N(is_nan)(y[i * apart]))) {
            there &= ~((uint64_t)1 << i);
            *absent += 1;
        }
#endif
        if (there >> i & 1) continue;
        x[i * apart] = y[i * apart] = TALLY_N(absent_value)();
    }
    return there;
}

TALLY_FN TALLY_N(extent) TALLY_N(measure_some)(const TALLY_T *x, const int32_t count, const int32_t apart) {
    TALLY_N(extent) e = {0, UINT32_MAX};
    TALLY_UNROLL
    for (int32_t i = 0; i < count; i++) {
        uint32_t size = TALLY_N(size_bits)(x[i * apart]);
        e.most = size > e.most ? size : e.most;
        e.least = tally_min_less_one(size, e.least);
    }
    return e;
}
TALLY_FN TALLY_N(extent) TALLY_N(join_extents)(TALLY_N(extent) a, TALLY_N(extent) b) {
    a.most = b.most > a.most ? b.most : a.most;
    a.least = b.least < a.least ? b.least : a.least;
    return a;
}

/* Accumulators of a ruler's levels, which take up to TALLY_MOST_MEET pairs before they are counted. */
typedef struct TALLY_N(running) {
    TALLY_IF_SUM(double sum[TALLY_MOST_LEVELS_OF_VALUES];)
    TALLY_IF_PRODUCTS(double products[TALLY_MOST_LEVELS_OF_PRODUCTS];)
} TALLY_N(running);

TALLY_FN TALLY_N(running) TALLY_N(begin_running)(const TALLY_N(ruler) *ruler) {
    TALLY_N(running) a;
    TALLY_IF_SUM(tally_begin_levels(&ruler->sum, a.sum, TALLY_MOST_LEVELS_OF_VALUES);)
    TALLY_IF_PRODUCTS(tally_begin_levels(&ruler->products, a.products, TALLY_MOST_LEVELS_OF_PRODUCTS);)
    return a;
}
TALLY_FN void TALLY_N(count_running)(TALLY_N(partial) *p, const TALLY_N(ruler) *ruler, const TALLY_N(running) *a) {
    TALLY_UNROLL
    for (int32_t k = 0; k < TALLY_MOST_LEVELS_OF_VALUES; k++) { TALLY_IF_SUM(p->sum[k] = tally_further(p->sum[k], tally_moved(a->sum[k], ruler->sum.unit[k]));) }
    TALLY_UNROLL
    for (int32_t k = 0; k < TALLY_MOST_LEVELS_OF_PRODUCTS; k++) {
        TALLY_IF_PRODUCTS(p->products[k] = tally_further(p->products[k], tally_moved(a->products[k], ruler->products.unit[k]));)
    }
}

#ifdef TALLY_SUM_TERM
TALLY_FN void TALLY_N(put_values)(double *at, const TALLY_T *x, const int32_t count, const int32_t apart, const int32_t most) {
    TALLY_UNROLL
    for (int32_t i = 0; i < count; i++) tally_put_term(at, TALLY_N(term)(x[i * apart]), 0, most);
}
#endif
#ifdef TALLY_PRODUCTS
TALLY_FN void TALLY_N(put_products)(double *at, const TALLY_T *x, const TALLY_T *y, const int32_t count, const int32_t apart, const int32_t most) {
    TALLY_UNROLL
    for (int32_t i = 0; i < count; i++) {
        double a = (double)TALLY_N(value)(x[i * apart]), b = (double)TALLY_N(value)(y[i * apart]), product = a * b;
        tally_put_term(at, product, 0, most);
#if TALLY_IS_F64
        tally_put_term(at, __builtin_fma(a, b, -product), 1, most);
#endif
    }
}
#endif

/* Adds `count` pairs of values, x[0], x[apart], ... and so y; both numbers are constants. Values that are not there, by a bit of `there` each,
 * are given as absent ones. */
TALLY_FN void TALLY_N(add_some)(TALLY_N(partial) *p, TALLY_N(running) *at, const TALLY_N(ruler) *ruler, const TALLY_T *x, const TALLY_T *y,
                                uint64_t there, const int32_t count, const int32_t apart) {
    TALLY_N(extent) of_x = TALLY_N(measure_some)(x, count, apart), of_y = of_x;
    int32_t is_other = 0;
    if (TALLY_KERNEL_INPUTS == 2) of_y = TALLY_N(measure_some)(y, count, apart);
    if (of_x.most > ruler->most_x || of_x.least < ruler->least_x || of_y.most > ruler->most_y || of_y.least < ruler->least_y) p->seen |= TALLY_BEYOND;
    TALLY_UNROLL
    for (int32_t i = 0; i < count; i++) {
        if (of_x.most == 0) is_other |= TALLY_N(bits)(x[i * apart]) != TALLY_K_LOW;
#ifdef TALLY_KEYS
        if (!(there >> i & 1)) continue;
        TALLY_K key = TALLY_N(key)(x[i * apart]);
        p->low = key < p->low ? key : p->low;
        p->high = key > p->high ? key : p->high;
#endif
    }
    if (is_other || of_x.most != 0) p->seen |= TALLY_NOT_MINUS_ZERO;
    (void)there;
    /* Of narrow types the first level holds nearly all values, and the others have nothing to do then. */
#ifdef TALLY_SUM_TERM
    const int32_t sum_count = !TALLY_IS_F64 && of_x.least >= TALLY_N(first_alone)(&ruler->sum, 0) ? 1 : ruler->sum.count;
    if (TALLY_MOST_LEVELS_OF_VALUES == 1 || sum_count == 1) TALLY_N(put_values)(at->sum, x, count, apart, 1);
    else if (sum_count == 2) TALLY_N(put_values)(at->sum, x, count, apart, 2);
    else TALLY_N(put_values)(at->sum, x, count, apart, 3);
#endif
#ifdef TALLY_PRODUCTS
    const int32_t is_alone = !TALLY_IS_F64 && TALLY_KERNEL_INPUTS == 1 && of_x.least >= TALLY_N(first_alone)(&ruler->products, 1);
    const int32_t products_count = is_alone ? 1 : ruler->products.count;
    if (!TALLY_IS_F64 && products_count == 1) TALLY_N(put_products)(at->products, x, y, count, apart, 1);
    else if (!TALLY_IS_F64 && products_count == 2) TALLY_N(put_products)(at->products, x, y, count, apart, 2);
    else if (products_count <= 3) TALLY_N(put_products)(at->products, x, y, count, apart, 3);
#if TALLY_IS_F64
    else TALLY_N(put_products)(at->products, x, y, count, apart, 4);
#endif
#endif
}

/* ---- concluding ---- */

/* A count of units as a pair of doubles, by levels; sure if each level's count is a double. */
TALLY_FN tally_pair TALLY_N(pair_of)(const int64_t *counts, const tally_levels *levels, const int32_t most, int32_t *sure) {
    double part[TALLY_DEVICE_LEVELS] = {0, 0, 0, 0};
    TALLY_UNROLL
    for (int32_t k = 0; k < most; k++) {
        if (k >= levels->count) continue;
        int64_t size = counts[k] < 0 ? tally_apart(0, counts[k]) : counts[k];
        *sure &= size <= (int64_t)1 << 53;
        part[k] = tally_scale((double)counts[k], levels->unit[k]);
    }
    *sure &= part[3] == 0;
    return tally_three_sum(part[0], part[1], part[2]);
}
/* Units of a level may lie below what a scaled double can be: such levels are left to limbs. */
TALLY_FN int32_t TALLY_N(is_in_doubles)(const tally_levels *levels) {
    int32_t is_in = 1;
    TALLY_UNROLL
    for (int32_t k = 0; k < TALLY_DEVICE_LEVELS; k++)
        if (k < levels->count) is_in &= levels->unit[k] > -1000 && levels->unit[k] < 900;
    return is_in;
}

/* What a result is made of, where each sum is a pair of doubles. */
typedef struct TALLY_N(in_pairs) {
    tally_pair sum, products; /* exact, but for a last bit that is odd where more is left */
    int64_t present;
    TALLY_K low, high;
    int32_t seen;
} TALLY_N(in_pairs);

/* The result, if it is certain. */
TALLY_FN int32_t TALLY_N(conclude_pairs)(const TALLY_N(in_pairs) *a, const tally_final *final, uint64_t *result) {
    const double n = (double)a->present;
    const int32_t is_f64 = final->format.digits == 53, is_short = a->present < 1 << 20; /* as quotients need it */
    const int32_t is_decided = a->seen & (TALLY_SEEN_PLUS | TALLY_SEEN_MINUS);
    const double decided = is_decided == TALLY_SEEN_PLUS ? tally_infinity_f64() : is_decided == TALLY_SEEN_MINUS ? -tally_infinity_f64() : tally_nan_f64();
    int32_t sure = a->present > 0;
    tally_quick quick;
    (void)n, (void)is_f64, (void)is_short, (void)decided;
    if (!sure) return 0;
#if defined(TALLY_KEYS)
    sure &= is_short;
    const tally_format natural = TALLY_NATURAL_FORMAT;
    double floats[5];
    TALLY_N(notes) notes = TALLY_N(no_notes)();
    TALLY_N(widen_range)(&notes, a->low, a->high);
    floats[0] = a->seen & TALLY_SEEN_NAN ? tally_nan_f64() : TALLY_N(from_wide_key)(notes.low);
    floats[1] = a->seen & TALLY_SEEN_NAN ? tally_nan_f64() : TALLY_N(from_wide_key)(notes.high);
    if (is_decided) {
        floats[2] = floats[3] = decided;
        floats[4] = tally_nan_f64();
        sure = 1;
    } else {
        const int32_t is_minus = a->sum.high == 0 && !(a->seen & TALLY_NOT_MINUS_ZERO);
        const double zero = is_minus ? -0.0 : 0;
        quick = tally_nearest(a->sum, natural.digits == 53);
        floats[2] = a->sum.high == 0 ? zero : quick.value, sure &= quick.sure || a->sum.high == 0;
        quick = tally_quick_mean(a->sum, n, 1);
        floats[3] = a->sum.high == 0 ? zero : quick.value, sure &= quick.sure || a->sum.high == 0;
        quick = tally_quick_spread(a->sum, a->products, n, (double)final->ddof, final->root, 1);
        if (a->present <= final->ddof) quick.value = tally_nan_f64(), quick.sure = 1;
        floats[4] = quick.value, sure &= quick.sure;
        sure &= tally_is_finite(floats[2]) && tally_is_finite(floats[3]) && (tally_is_finite(floats[4]) || a->present <= final->ddof);
    }
    result[0] = (uint64_t)a->present;
    for (int32_t k = 0; k < 5; k++) result[1 + k] = (uint64_t)tally_bits_f64(floats[k]);
#else
#if defined(TALLY_SUM_TERM) && defined(TALLY_PRODUCTS)
    const int32_t is_none = is_decided || a->present <= final->ddof;
    quick = tally_quick_spread(a->sum, a->products, n, (double)final->ddof, final->root, is_f64 || final->format.digits < 24);
    sure &= is_short || is_none;
    if (is_none) quick.value = tally_nan_f64(), quick.sure = 1;
    sure &= quick.sure && (is_none || tally_is_finite(quick.value));
#else
#ifdef TALLY_PRODUCTS
    const tally_pair sum = a->products;
#else
    const tally_pair sum = a->sum;
#endif
    const int32_t is_wide = is_f64 || final->format.digits < 24;
    if (is_decided) quick.value = decided, quick.sure = 1;
    else if (sum.high == 0) quick.value = a->seen & TALLY_NOT_MINUS_ZERO ? 0 : -0.0, quick.sure = 1;
    else if (final->root) quick = tally_quick_root(sum, is_wide);
    else if (final->mean) quick = tally_quick_mean(sum, n, is_wide), quick.sure &= is_short;
    else if (is_wide && !is_f64) quick.value = tally_to_odd(sum), quick.sure = 1;
    else quick = tally_nearest(sum, is_f64);
    sure &= quick.sure && (is_decided || tally_is_finite(quick.value));
#endif
    if (final->format.digits < 24) {
        const int32_t is_exact = !final->root && !final->mean && !(TALLY_IS_SPREAD_OF_SUMS);
        sure &= tally_round_to(&quick.value, final->format) || is_exact;
    }
    result[0] = is_f64 ? (uint64_t)tally_bits_f64(tally_clean_f64(quick.value)) : (uint64_t)(uint32_t)tally_bits_f32(tally_clean_f32((float)quick.value));
#endif
    return sure;
}

/* The result of `present` values, if it is certain. */
TALLY_FN int32_t TALLY_N(conclude_quickly)(const TALLY_N(partial) *p, const TALLY_N(ruler) *ruler, int64_t present, const tally_final *final,
                                              uint64_t *result) {
    TALLY_N(in_pairs) a;
    int32_t sure = !(p->seen & TALLY_BEYOND) && present > 0;
    __builtin_memset(&a, 0, sizeof a);
    a.present = present;
    a.seen = (int32_t)p->seen;
#ifdef TALLY_KEYS
    a.low = (TALLY_K)p->low;
    a.high = (TALLY_K)p->high;
#endif
    if (!sure) return 0;
#ifdef TALLY_SUM_TERM
    if (!TALLY_N(is_in_doubles)(&ruler->sum)) return 0;
    a.sum = TALLY_N(pair_of)(p->sum, &ruler->sum, TALLY_MOST_LEVELS_OF_VALUES, &sure);
    if (TALLY_SUM_TERM == TALLY_TERM_MAGNITUDE) a.seen |= TALLY_NOT_MINUS_ZERO;
#endif
#ifdef TALLY_PRODUCTS
    if (!TALLY_N(is_in_doubles)(&ruler->products)) return 0;
    a.products = TALLY_N(pair_of)(p->products, &ruler->products, TALLY_MOST_LEVELS_OF_PRODUCTS, &sure);
    if (TALLY_KERNEL_INPUTS == 2) sure &= a.products.high != 0; /* nothing tells the sign of a zero */
#if !defined(TALLY_SUM_TERM)
    a.seen |= TALLY_NOT_MINUS_ZERO;
#endif
#endif
    return sure && TALLY_N(conclude_pairs)(&a, final, result);
}

/* What the plan has held, to limbs, by one lane; false: nothing tells the sign of a zero. */
TALLY_LONG int32_t TALLY_N(limbs_of)(const TALLY_N(partial) *p, const TALLY_N(ruler) *ruler, int64_t present, TALLY_N(node) *node) {
    const int32_t is_other = (p->seen & TALLY_NOT_MINUS_ZERO) != 0;
    int32_t is_known = 1;
    (void)is_other;
    TALLY_N(clear)(node);
    node->n = present;
#ifdef TALLY_SUM_TERM
    for (int32_t k = 0; k < TALLY_MOST_LEVELS_OF_VALUES && k < ruler->sum.count; k++) {
        tally_deposit(node->sum + TALLY_EVIDENCE, p->sum[k], ruler->sum.unit[k] - TALLY_ORIGIN);
    }
    if (present > 0) node->sum[TALLY_SUM_TERM == TALLY_TERM_VALUE && !is_other ? TALLY_MINUS_ZERO : TALLY_OTHER] = 1;
#endif
#ifdef TALLY_PRODUCTS
    int64_t any = 0;
    for (int32_t k = 0; k < TALLY_MOST_LEVELS_OF_PRODUCTS && k < ruler->products.count; k++) {
        tally_deposit(node->products + TALLY_EVIDENCE, p->products[k], ruler->products.unit[k] - 2 * TALLY_ORIGIN);
        any |= p->products[k];
    }
    if (present > 0) node->products[TALLY_OTHER] = 1;
    is_known = TALLY_KERNEL_INPUTS == 1 || any != 0;
#endif
#ifdef TALLY_KEYS
    TALLY_N(notes) notes = TALLY_N(no_notes)();
    if (present > 0) TALLY_N(widen_range)(&notes, (TALLY_K)p->low, (TALLY_K)p->high);
    node->low = notes.low;
    node->high = notes.high;
#endif
    TALLY_N(settle)(node);
    return is_known;
}

/* What is not done quickly: from limbs, one lane after another; what levels do not hold is marked for another kernel, or reduced carefully, by all lanes for one. */
TALLY_RARE void TALLY_N(put_slowly)(const tally_work *work, const TALLY_N(partial) *p, const TALLY_N(ruler) *ruler, int64_t i, int64_t at,
                                      TALLY_N(node) *node) {
    const int64_t present = work->length - p->absent;
    uint32_t left = tally_ballot(i >= 0);
    int32_t is_held = 1;
    for (int32_t lane = 0; lane < TALLY_WARP; lane++) {
        if (!(left >> lane & 1)) continue;
        tally_warp_barrier();
        if (tally_lane() != lane) continue;
        is_held = !(p->seen & TALLY_BEYOND) && TALLY_N(limbs_of)(p, ruler, present, node);
        if (is_held) {
            uint64_t result[6] = {0, 0, 0, 0, 0, 0};
            TALLY_N(total) total = TALLY_N(total_of)(node);
            TALLY_N(conclude)(&total, &work->final, result);
            TALLY_N(put_bytes)(work, i, result, present);
        }
    }
    if (work->cut.unsure != 0) { /* production/flat.h follows */
        if (i < 0 || is_held) return;
        tally_or32((int32_t *)work->cut.unsure + i / 32, (int32_t)((uint32_t)1 << i % 32));
        if ((tally_look32(work->saw) & TALLY_SAW_UNSURE) == 0) tally_or32(work->saw, TALLY_SAW_UNSURE);
        return;
    }
    left = tally_ballot(i >= 0 && !is_held);
    for (int32_t lane = 0; lane < TALLY_WARP; lane++)
        if (left >> lane & 1)
            TALLY_N(conclude_carefully)(work, tally_of_lane64(i, lane), tally_of_lane64(at, lane), work->inner, node);
}

/* Writes the results that lanes hold, each for its row: number `i` of results, from value `at` on; -1: none. All lanes take part. */
TALLY_FN void TALLY_N(put_partials)(const tally_work *work, const TALLY_N(partial) *p, const TALLY_N(ruler) *ruler, int64_t i, int64_t at,
                                    TALLY_N(node) *node) {
    const int64_t present = work->length - p->absent;
    uint64_t result[6] = {0, 0, 0, 0, 0, 0};
    if (i >= 0 && TALLY_N(conclude_quickly)(p, ruler, present, &work->final, result)) {
        TALLY_N(put_bytes)(work, i, result, present);
        i = -1;
    }
    if (tally_any(i >= 0)) {
        TALLY_N(partial) copy = *p;
        TALLY_N(ruler) units; /* nothing else of the ruler is needed any more, nor kept in registers till here */
        TALLY_N(forget_levels)(&units);
        TALLY_UNROLL
        for (int32_t k = 0; k < TALLY_DEVICE_LEVELS; k++) {
            TALLY_IF_SUM(units.sum.unit[k] = ruler->sum.unit[k];)
            TALLY_IF_PRODUCTS(units.products.unit[k] = ruler->products.unit[k];)
        }
        TALLY_IF_SUM(units.sum.count = ruler->sum.count;)
        TALLY_IF_PRODUCTS(units.products.count = ruler->products.count;)
        TALLY_N(put_slowly)(work, &copy, &units, i, at, node);
    }
}
