/* An exact operator (kernels/exact) in the words of kernels/operators, for segments: columns and nodes are sums in few
 * doubles (sums/expansion.h), and sums/parts.h makes the result of them. If either is not certain, the result is left
 * to exact_segments: TALLY_FLAG_UNSURE. The order of additions does not show. */
#ifndef TALLY_EXPANSIONS_H
#define TALLY_EXPANSIONS_H

#include "types/types.h"

#include TALLY_KERNEL_FILE
#include "segments/partition.h"
#include "sums/expansion.h"
#include "sums/plan.h"

/* Sums alone, of more than a few values: of few (TALLY_EXPANSION_PARTS) the cost does not matter, and parts hold more.
 * Of narrow floats a column is their sum in f64 and their range, which tells whether all additions were exact. Of f64
 * it is two sums, with an anchor between them (shared/anchored.h). */
#if TALLY_IS_PLAIN
#if TALLY_IS_ANCHORED
#define TALLY_PLAIN double
#define TALLY_PLAIN_DIGITS 53
#define TALLY_CLEAN tally_clean_f64
#define TALLY_FIRST(sum) (sum).p[0]
#else
#define TALLY_PLAIN float
#define TALLY_PLAIN_DIGITS 24
#define TALLY_CLEAN tally_clean_f32
#define TALLY_FIRST(sum) (sum)
#endif
#include "exact_sums/width.h"
#endif

#if TALLY_IS_F64
#define TALLY_EXPAND tally_expansion3
#else
#define TALLY_EXPAND tally_expansion2
#endif
#define TALLY_OF TALLY_PASTE(TALLY_EXPAND, _of)
#define TALLY_PUT TALLY_PASTE(TALLY_EXPAND, _put)
#define TALLY_ADD TALLY_PASTE(TALLY_EXPAND, _join)
#define TALLY_TOTAL TALLY_PASTE(TALLY_EXPAND, _total)

/* A sum to be joined to another: beside a first double that is infinite the rest may be a NaN, and must not make one of
 * it. */
TALLY_FN TALLY_EXPAND first_alone(TALLY_EXPAND a) {
    if (!TALLY_IS_PLAIN || tally_is_finite(a.p[0])) return a;
    TALLY_EXPAND first = TALLY_OF(a.p[0]);
    first.lost = a.lost | TALLY_LOST_DIGITS;
    return first;
}

#if TALLY_IS_NARROW_SUM
#define TALLY_COLUMN(X) X(double, sum) X(uint32_t, most) X(uint32_t, least) /* their range */
#define TALLY_NODE(X) X(TALLY_EXPAND, sum)
#define TALLY_START(a) (a).sum = -0.0, (a).most = 0, (a).least = UINT32_MAX
#define TALLY_JOIN(a, b)                                           \
    do {                                                           \
        (a).sum += (b).sum;                                        \
        (a).most = (b).most > (a).most ? (b).most : (a).most;      \
        (a).least = (b).least < (a).least ? (b).least : (a).least; \
    } while (0)
#include "accumulators/records.h"

TALLY_FN node_t nothing(void) {
    node_t a;
    a.n = 0;
    a.sum = TALLY_OF(-0.0);
    return a;
}
TALLY_FN range_t range_of_column(column_t a) {
    const range_t range = {a.most, a.least};
    return range;
}
TALLY_FN int32_t column_is_exact(column_t a, int32_t n) { return width_of(range_of_column(a)) + log2_of(n) <= 53; }
TALLY_FN node_t to_node(column_t column, int64_t n) {
    node_t a;
    a.n = n;
    a.sum = TALLY_OF(column.sum);
    a.sum.lost = !column_is_exact(column, (int32_t)n); /* a leaf's, at most */
    return a;
}
TALLY_FN node_t merge(node_t a, node_t b) {
    a.n += b.n;
    a.sum = TALLY_ADD(a.sum, first_alone(b.sum));
    return a;
}
#else
#define TALLY_COLUMN(X)                          \
    TALLY_IF_SUM(X(TALLY_EXPAND, sum))           \
    TALLY_IF_PRODUCTS(X(TALLY_EXPAND, products)) \
    TALLY_IF_KEYS(X(TALLY_K, low) X(TALLY_K, high))
#define TALLY_NODE(X) TALLY_COLUMN(X)
#define TALLY_START(a)                                                 \
    do {                                                               \
        TALLY_IF_SUM((a).sum = TALLY_OF(-0.0);)                        \
        TALLY_IF_PRODUCTS((a).products = TALLY_OF(-0.0);)              \
        TALLY_IF_KEYS((a).low = TALLY_K_HIGH, (a).high = TALLY_K_LOW;) \
    } while (0)
#define TALLY_JOIN(a, b)                                                         \
    do {                                                                         \
        TALLY_IF_SUM((a).sum = TALLY_ADD((a).sum, first_alone((b).sum));)        \
        TALLY_IF_PRODUCTS((a).products = TALLY_ADD((a).products, (b).products);) \
        TALLY_IF_KEYS((a).low = (b).low < (a).low ? (b).low : (a).low;)          \
        TALLY_IF_KEYS((a).high = (b).high > (a).high ? (b).high : (a).high;)     \
    } while (0)
#include "accumulators/plain.h"
#endif
typedef char node_fits[sizeof(node_t) <= TALLY_EXPANSION_NODE_BYTES ? 1 : -1];

/* x * y as terms; a product of f64 that loses digits below the smallest numbers is noticed. */
TALLY_FN TALLY_EXPAND product_of(double x, double y) {
    double product = x * y;
    TALLY_EXPAND a = TALLY_OF(product);
    if (TALLY_IS_F64) {
        double rest = __builtin_fma(x, y, -product);
        if (rest != 0) TALLY_PUT(&a, rest);
        a.lost |= x != 0 && y != 0 && !(tally_from_bits_f64(tally_bits_f64(product) & INT64_MAX) > 0x1p-900);
    }
    return a;
}

/* What an infinity or a NaN is to a sum: whole numbers cost less than doubles. */
TALLY_FN int32_t lost_of_special(double term) {
    const uint32_t size = tally_high_word(term), infinity = 0x7ff00000;
    return size < infinity ? 0 : size > infinity ? TALLY_LOST_INFINITY | TALLY_LOST_NAN : TALLY_LOST_INFINITY;
}
TALLY_FN column_t lift(item_t x, item_t y) {
    column_t a;
    int32_t is_there = is_present(x.raw) && is_present(y.raw);
#if TALLY_HAS_SUM
    double term = (double)x.value;
    if (TALLY_ADDS_MAGNITUDES) term = tally_from_bits_f64(tally_bits_f64(term) & INT64_MAX);
#if TALLY_IS_NARROW_SUM
    const range_t range = range_of(term), none = no_range();
    a.sum = is_there ? term : -0.0;
    a.most = is_there ? range.most : none.most;
    a.least = is_there ? range.least : none.least;
#else
    a.sum = TALLY_OF(is_there ? term : -0.0);
    if (TALLY_IS_ANCHORED) a.sum.lost = is_there ? lost_of_special(term) : 0; /* of one alone: no addition tells */
#endif
#endif
    TALLY_IF_PRODUCTS(a.products = is_there ? product_of((double)x.value, (double)y.value) : TALLY_OF(-0.0);)
    TALLY_IF_KEYS(a.low = is_there ? order_key(x.raw) : TALLY_K_HIGH;)
    TALLY_IF_KEYS(a.high = is_there ? order_key(x.raw) : TALLY_K_LOW;)
    return a;
}

#if TALLY_IS_PLAIN
/* What a value adds: -0, if it does not count. */
TALLY_FN double term_of(TALLY_T x) {
    const item_t item = item_of(x);
    const column_t term = lift(item, item);
    return TALLY_FIRST(term.sum);
}
/* Whether sums are all that is asked for, as TALLY_PLAIN, and lie side by side. */
TALLY_FN int32_t is_plain(int32_t digits) { return digits == TALLY_PLAIN_DIGITS; }
/* A sum of one or two values takes no proof: an addition is rounded once. */
TALLY_FN int32_t put_plain_sum(void *place, const TALLY_T *x, int32_t n) {
    TALLY_PLAIN sum = n > 0 ? (TALLY_PLAIN)value_of(x[0]) : 0;
    if (n > 1) sum += (TALLY_PLAIN)value_of(x[1]);
    *(TALLY_PLAIN *)place = TALLY_CLEAN(sum);
    return n == 0 ? TALLY_FLAG_EMPTY : 0;
}
/* Of some values, in as many parts as one addition can take: 1 as f32, and 2 as f64. */
TALLY_FN int32_t is_put_plainly(int32_t digits, void *place, node_t node) {
    const double rest = node.sum.p[TALLY_IS_F64 ? 2 : 1],
                 sum = TALLY_IS_F64 ? node.sum.p[0] + node.sum.p[1] : node.sum.p[0];
    if (!is_plain(digits) || node.n == 0 || node.sum.lost || rest != 0) return 0;
    *(TALLY_PLAIN *)place = (TALLY_PLAIN)sum;
    return 1;
}
/* Of `lanes` lanes side by side, a power of two. */
TALLY_FN double sum_of_lanes(double sum, int32_t lanes) {
    for (int32_t mask = lanes / 2; mask > 0; mask /= 2)
        sum += tally_from_bits_f64(tally_shuffle64(tally_bits_f64(sum), mask));
    return sum;
}
#endif

#if TALLY_IS_NARROW_SUM
/* n values too far apart for one f64, by a warp. Few registers: it stands beside the way of most. */
TALLY_FN TALLY_EXPAND run_in_more(const TALLY_T *x, int32_t n, range_t range) {
    const int32_t log2_n = log2_meeting(n), last = last_bit(high_of(range), log2_n);
    two_t sum = {-0.0, -0.0};
    TALLY_ROLLED
    for (int32_t i = tally_lane(); i < n; i += TALLY_WARP) put_in_two(&sum, term_of(x[i]), tally_anchor(last));
    TALLY_EXPAND all = TALLY_OF(sum_of_lanes(sum.above, TALLY_WARP));
    all.p[1] = sum_of_lanes(sum.below, TALLY_WARP);
    all.lost = !range_holds(range, last, log2_n);
    return all;
}
#endif

/* ---- results ---- */

#if TALLY_IS_NARROW_SUM
/* A sum or, with is_mean, the mean of the n values: a sum rounded to odd, which rounds to f32 as the sum itself; a
 * quotient of doubles, unless it is next to a tie of f32 or below its normal numbers. */
TALLY_FN tally_rounded expansion_mean(TALLY_EXPAND a, int64_t n, int32_t is_mean, int32_t is_f64) {
    tally_pair total = {a.p[0], a.p[1]};
    tally_rounded q = {tally_clean_f64(a.p[0]), 1, 0};
    if (!tally_is_finite(a.p[0])) return q; /* of values: narrow floats do not overflow f64 */
    if (a.p[1] != 0) total = tally_two_sum(a.p[0], a.p[1]);
    q.value = is_f64 || a.p[1] == 0 ? total.high : tally_to_odd(total);
    q.sure = !a.lost;
    if (is_mean) {
        q.value = total.high / (double)n;
        const uint64_t bits = (uint64_t)tally_bits_f64(q.value);
        const int32_t past_tie = (int32_t)((uint32_t)bits & 0x1fffffff) - 0x10000000;
        q.sure &= n < 2 || (a.p[1] == 0 && (is_f64 || q.value == 0 ||
                                            ((past_tie > 1 || past_tie < -1) && (bits >> 52 & 0x7ff) >= 1023 - 126)));
    }
    return q;
}
#else
/* Of a sum that is 0: its sign is that of its first part, unless parts cancel. */
TALLY_FN tally_rounded zero_of(TALLY_EXPAND a) {
    tally_rounded zero;
    zero.value = a.p[0] == 0 ? a.p[0] : 0.0;
    zero.sure = !a.lost;
    return zero;
}
/* Whether infinities and NaNs make the result: a first part that has overflown may be infinite, too, but another
 * infinity than that of a value makes it a NaN. */
TALLY_FN int32_t is_decided(TALLY_EXPAND a) {
    const int32_t is_infinite = !tally_is_finite(a.p[0]) && a.p[0] == a.p[0];
    return (a.lost & TALLY_LOST_NAN) != 0 || ((a.lost & TALLY_LOST_INFINITY) != 0 && is_infinite);
}
TALLY_FN tally_rounded expansion_mean(TALLY_EXPAND a, int64_t n, int32_t is_mean, int32_t is_f64) {
    const int64_t by = is_mean ? n : 1;
    const tally_rounded decided = {tally_clean_f64(a.p[0]), 1, 0};
    if (TALLY_IS_ANCHORED && is_decided(a)) return decided; /* later, registers would have to keep what it asks for */
    tally_pair total = TALLY_TOTAL(a);
    tally_rounded q = total.high == 0 ? zero_of(a)
                      : by == 1       ? tally_nearest(total, is_f64)
                                      : tally_rounded_mean(total, (double)by, is_f64);
    if (!q.sure && !is_f64 && by > 1 && total.high != 0) q = tally_mean_again(total, (double)by);
    q.sure &= !a.lost && by < 1 << 20 && tally_is_finite(q.value);
    return q;
}
TALLY_FN tally_rounded expansion_root(TALLY_EXPAND a, int32_t is_f64) {
    tally_pair total = TALLY_TOTAL(a);
    tally_rounded q = total.high == 0 ? zero_of(a) : tally_rounded_root(total, is_f64);
    if (!q.sure && !is_f64 && total.high != 0) q = tally_root_again(total);
    q.sure &= !a.lost && tally_is_finite(q.value);
    return q;
}
#endif
#if TALLY_HAS_SPREAD
TALLY_FN tally_rounded expansion_spread(node_t a, const tally_final *final, int32_t is_f64) {
    tally_rounded q;
    q.value = tally_nan_f64();
    q.sure = 1;
    if (a.n > final->ddof) {
        tally_pair sum = TALLY_TOTAL(a.sum), squares = TALLY_TOTAL(a.products);
        tally_pair left = tally_two_product((double)a.n, squares.high), right = tally_two_product(sum.high, sum.high);
        q = tally_rounded_spread(sum, squares, (double)a.n, final->ddof, final->root, is_f64);
        if (!q.sure && !is_f64) q = tally_spread_again(sum, squares, (double)a.n, final->ddof, final->root);
        /* Equal values: n times their squares is the square of their sum, exactly. */
        if (!q.sure && sum.low == 0 && squares.low == 0 && left.high == right.high && left.low == right.low &&
            (squares.high == 0 || (tally_in_reach(squares.high) && tally_in_reach(sum.high))))
            q.value = 0, q.sure = 1;
        if (a.n == 1) q.value = 0, q.sure = tally_is_finite(a.sum.p[0]);
    }
    q.sure &= !a.sum.lost && !a.products.lost && a.n < 1 << 20;
    return q;
}
#endif

/* As accumulators/finalize.h; results have the size of final->format, or are a tally_stats. */
#if TALLY_HAS_KEYS
typedef struct result_t {
    int64_t n;
    double floats[5];
} result_t;
TALLY_FN int finalize(node_t a, const tally_final *final, result_t *result) {
    const tally_format natural = TALLY_NATURAL_FORMAT;
    tally_rounded sum = expansion_mean(a.sum, a.n, 0, natural.digits == 53), mean = expansion_mean(a.sum, a.n, 1, 1);
    tally_rounded var = expansion_spread(a, final, 1);
    result->n = a.n;
    result->floats[0] = (double)value_of(from_key(a.low));
    result->floats[1] = (double)value_of(from_key(a.high));
    result->floats[2] = sum.value;
    result->floats[3] = mean.value;
    result->floats[4] = var.value;
    if (a.n == 0) {
        for (int32_t k = 0; k < 5; k++) result->floats[k] = k == 2 ? 0 : tally_nan_f64();
        return TALLY_FLAG_EMPTY;
    }
    return sum.sure && mean.sure && var.sure ? 0 : TALLY_FLAG_UNSURE;
}
#define TALLY_RESULT_SIZE(final) ((int32_t)sizeof(result_t))
#else
typedef double result_t;
TALLY_FN int finalize(node_t a, const tally_final *final, result_t *result) {
    const int32_t is_f64 = final->format.digits == 53;
    tally_rounded q;
#if TALLY_HAS_SPREAD
    q = expansion_spread(a, final, is_f64);
#elif TALLY_HAS_SUM
    q = expansion_mean(a.sum, a.n, final->mean, is_f64);
#else
    q = final->root ? expansion_root(a.products, is_f64) : expansion_mean(a.products, a.n, 0, is_f64);
#endif
    *result = q.value;
    if (a.n == 0) { /* sums/sums.h says the same of no values */
        *result = final->mean || TALLY_HAS_SPREAD ? tally_nan_f64() : 0.0;
        return TALLY_FLAG_EMPTY | (is_f64 || final->format.digits == 24 ? 0 : TALLY_FLAG_UNSURE);
    }
    return q.sure && (is_f64 || final->format.digits == 24) ? 0 : TALLY_FLAG_UNSURE;
}
#define TALLY_RESULT_SIZE(final) ((final)->format.digits == 53 ? 8 : 4)
#endif

#endif
