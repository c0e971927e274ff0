/* An exact operator (kernels/exact) in the words of kernels/operators, for segments and rows: a sum is two doubles, of
 * which the second has the errors of the first (sums/compensated.h). If they do not decide the result, `finalize` gives
 * TALLY_FLAG_UNSURE. The order of additions does not show. */
#ifndef TALLY_COMPENSATED_NODES_H
#define TALLY_COMPENSATED_NODES_H

#include "types/types.h"

#include TALLY_KERNEL_FILE
#include "compensated/results.h"
#include "compensated/ranged.h"
#include "compensated/width.h"

/* ---- columns and nodes ---- */

#if TALLY_NEEDS_LARGEST
#define TALLY_IF_LARGEST(...) __VA_ARGS__
#else
#define TALLY_IF_LARGEST(...)
#endif
#if TALLY_HAS_LEAST
#define TALLY_IF_LEAST(...) __VA_ARGS__
#else
#define TALLY_IF_LEAST(...)
#endif
#if TALLY_IS_F64
#define TALLY_IF_MARKS(...) __VA_ARGS__ /* of narrow floats the first double is infinite or a NaN where a value is */
#else
#define TALLY_IF_MARKS(...)
#endif
enum {
    seen_infinity = 1,
    seen_nan = 2,
    lost_digits = 4 /* of a product below the smallest f64 */
};
#define TALLY_COLUMN(X)                                                             \
    TALLY_IF_SUM(X(tally_compensated, sum))                                         \
    TALLY_IF_PRODUCTS(X(tally_compensated, products))                               \
    TALLY_IF_LARGEST(X(uint32_t, largest)) /* term, as range_of has it, or more */  \
    TALLY_IF_MARKS(X(int32_t, marks))                                               \
    TALLY_IF_LEAST(X(uint32_t, least)) /* size, as range_of has it; 0: not known */ \
    TALLY_IF_KEYS(X(TALLY_K, low) X(TALLY_K, high))
#define TALLY_NODE(X) TALLY_COLUMN(X)
#define TALLY_START(a)                                                 \
    do {                                                               \
        TALLY_IF_SUM((a).sum = tally_compensated_none();)              \
        TALLY_IF_PRODUCTS((a).products = tally_compensated_none();)    \
        TALLY_IF_LARGEST((a).largest = 0;)                             \
        TALLY_IF_MARKS((a).marks = 0;)                                 \
        TALLY_IF_LEAST((a).least = UINT32_MAX;)                        \
        TALLY_IF_KEYS((a).low = TALLY_K_HIGH, (a).high = TALLY_K_LOW;) \
    } while (0)
#define TALLY_JOIN(a, b)                                                                            \
    do {                                                                                            \
        TALLY_IF_SUM(join_sums_of_terms(&(a).sum, &(b).sum);)                                       \
        TALLY_IF_PRODUCTS(tally_compensated_join(&(a).products, &(b).products, are_products_told);) \
        TALLY_IF_LARGEST((a).largest = (b).largest > (a).largest ? (b).largest : (a).largest;)      \
        TALLY_IF_MARKS((a).marks |= (b).marks;)                                                     \
        TALLY_IF_LEAST((a).least = (b).least < (a).least ? (b).least : (a).least;)                  \
        TALLY_IF_KEYS((a).low = (b).low < (a).low ? (b).low : (a).low;)                             \
        TALLY_IF_KEYS((a).high = (b).high > (a).high ? (b).high : (a).high;)                        \
    } while (0)
TALLY_FN void join_sums_of_terms(tally_compensated *a, const tally_compensated *b) {
    if (sums_are_exact)
        a->sum += b->sum;
    else
        tally_compensated_join(a, b, is_told);
}
#include "accumulators/plain.h"
TALLY_ASSERT(sizeof(node_t) <= TALLY_EXPANSION_NODE_BYTES, "a node is larger than TALLY_EXPANSION_NODE_BYTES");

TALLY_FN int32_t marks_of(double term) {
    const uint32_t size = tally_high_word(term), infinity = 0x7ff00000;
    return size < infinity ? 0 : size > infinity ? seen_nan : seen_infinity;
}
/* x * y: of f64 two doubles. */
TALLY_FN tally_compensated product_of(double x, double y) {
    tally_compensated a = tally_compensated_of(x * y);
    if (TALLY_IS_F64) tally_compensated_put_rest(&a, __builtin_fma(x, y, -a.sum), 0);
    return a;
}
TALLY_FN column_t lift(item_t x, item_t y) {
    column_t a;
    const int32_t is_there = is_present(x.raw) && is_present(y.raw);
    const double u = (double)x.value, w = (double)y.value;
    (void)u, (void)w;
#if TALLY_HAS_SUM
    const double size = tally_from_bits_f64(tally_bits_f64(u) & INT64_MAX), term = TALLY_ADDS_MAGNITUDES ? size : u;
    a.sum = tally_compensated_of(is_there ? term : -0.0);
    TALLY_IF_LARGEST(a.largest = is_there ? range_of(term).most : 0;)
    TALLY_IF_MARKS(a.marks = is_there ? marks_of(term) : 0;)
#endif
#if TALLY_HAS_PRODUCTS
    a.products = is_there ? product_of(u, w) : tally_compensated_of(-0.0);
    TALLY_IF_LARGEST(a.largest = is_there ? tally_high_word(u * w) & 0x7fffffff : 0;)
#if TALLY_IS_F64
    const int32_t is_small = tally_high_word(u * w) < (1023 - 900) << 20 && x.raw != 0 && y.raw != 0;
    a.marks = is_there ? marks_of(u) | marks_of(w) | (is_small ? lost_digits : 0) : 0;
#endif
#endif
    TALLY_IF_LEAST(a.least = is_there ? range_of(u).least : UINT32_MAX;)
    TALLY_IF_KEYS(a.low = is_there ? order_key(x.raw) : TALLY_K_HIGH;)
    TALLY_IF_KEYS(a.high = is_there ? order_key(x.raw) : TALLY_K_LOW;)
    return a;
}

#if TALLY_IS_RANGED
TALLY_FN column_t column_of_ranged(const ranged_t *a) {
    column_t column = identity();
    TALLY_IF_SUM(column.sum = tally_compensated_of(a->sum);)
    TALLY_IF_PRODUCTS(column.products = tally_compensated_of(a->products);)
#if TALLY_KERNEL_INPUTS == 2
    column.largest = a->most;
#else
    TALLY_IF_LARGEST(column.largest =
                         (uint32_t)tally_bits_f32((float)tally_from_bits_f64((int64_t)(a->most + 1) << 32));)
#endif
    return column;
}
#endif

/* ---- results ---- */

/* How far pairs may be from their sums at most, as a share of the sum of the sizes of n terms. A term takes part in at
 * most h additions that round, one after another: of a lane, of lanes, of leaves; h is n, or most_additions. Each
 * rounds by 2^-53 of a partial sum, and so does each addition of these errors, of which products of f64 have twice as
 * many: together 4 h^2 2^-106. A spread has three times as much, as its sum is at most the root of n times the squares
 * (docs/exact.md); four is taken. */
enum { most_additions = TALLY_LANE_VALUES + 64 /* of lanes and leaves */ };
TALLY_FN double share_of_sizes(int64_t n) {
    const double additions = n < most_additions ? (double)n : most_additions;
    return (TALLY_HAS_SPREAD ? 4 : 1) * 0x1p-104 * additions * additions;
}
TALLY_FN double largest_of_node(const node_t *a) {
#if TALLY_HAS_KEYS
    const double low = (double)value_of(from_key(a->low)), high = (double)value_of(from_key(a->high));
    return -low > high ? -low : high;
#elif TALLY_KERNEL_INPUTS == 1 && !TALLY_IS_F64
    TALLY_IF_LARGEST(return (double)tally_from_bits_f32((int32_t)a->largest);)
#else
    TALLY_IF_LARGEST(return tally_from_bits_f64((int64_t)(a->largest + 1) << 32);)
#endif
    return (void)a, 0;
}
/* What infinities and NaNs make of the first double: evidence of them, or -1 if they decide nothing. */
TALLY_FN int32_t seen_in(const node_t *a) {
#if TALLY_HAS_SUM
    const double first = a->sum.sum;
#else
    const double first = a->products.sum;
#endif
    int32_t seen = (first < 0 ? 0 : TALLY_SEEN_PLUS) | (first > 0 ? 0 : TALLY_SEEN_MINUS);
#if TALLY_IS_F64 /* which may have overflown, too: another infinity than that of a value makes it a NaN */
    const int32_t has_nan = (a->marks & seen_nan) != 0;
    if (!(a->marks & (seen_nan | seen_infinity))) return 0;
    if (has_nan || (TALLY_HAS_SPREAD && !TALLY_HAS_KEYS))
        seen = TALLY_SEEN_PLUS | TALLY_SEEN_MINUS;
    else if (tally_is_finite(first) || first != first)
        return -1;
#else
    const int32_t has_nan = TALLY_HAS_KEYS && first != first;
    if (tally_is_finite(first)) return 0;
#endif
#if TALLY_HAS_KEYS
    if (has_nan && (value_is_nan(from_key(a->low)) || value_is_nan(from_key(a->high)))) seen |= TALLY_SEEN_NAN;
#else
    (void)has_nan;
#endif
    return seen;
}
TALLY_FN int32_t is_unfit(const node_t *a) {
    TALLY_IF_MARKS(return TALLY_HAS_PRODUCTS && (a->marks & lost_digits) != 0;)
    return (void)a, 0;
}

typedef struct result_t {
    uint64_t words[TALLY_HAS_KEYS ? 6 : 1];
} result_t;
#define TALLY_RESULT_SIZE(final) kernel_result_bytes(final)
TALLY_FN uint64_t word_of(double value, const tally_final *final) {
    return kernel_result_bytes(final) == 8 ? (uint64_t)tally_bits_f64(value) : (uint32_t)tally_bits_f32((float)value);
}
#if TALLY_HAS_LEAST
/* Whether the pair is the sum. All terms, and all errors, are multiples of the last bit of the smallest term. Errors
 * are at most half of the last bit of n times the largest term, and there are two for each of n terms at most
 * (additions of what is joined included): so the sum of errors has no more than 53 bits. */
TALLY_FN int32_t is_whole_sum(const node_t *a) {
    const uint32_t low = (uint32_t)value_bits(from_key(a->low)) & 0x7fffffff,
                   high = (uint32_t)value_bits(from_key(a->high)) & 0x7fffffff;
    const range_t range = {low > high ? low : high, a->least};
    const int32_t log2_n = 64 - __builtin_clzll((uint64_t)a->n | 1);
    return width_of(range) + 2 * log2_n <= 53 + 53;
}
#endif
TALLY_FN compensated_t sums_of_node(const node_t *node, int32_t seen) {
    const double share = share_of_sizes(node->n);
    compensated_t a;
    TALLY_IF_SUM(a.sum = node->sum;)
    TALLY_IF_LEAST(if (a.sum.lost != 0) a.sum.lost = !is_whole_sum(node);)
    TALLY_IF_PRODUCTS(a.products = node->products;)
    a.error = share * (double)node->n * largest_of_node(node);
    a.share = share;
    a.terms = a.present = node->n;
    a.power = 0;
    a.seen = seen;
    TALLY_IF_KEYS(a.low = node->low; a.high = node->high;)
    return a;
}
/* Writes the result's words; gives status flags. */
TALLY_FN int finalize(node_t node, const tally_final *final, result_t *result) {
    uint64_t words[6] = {0, 0, 0, 0, 0, 0};
    int32_t is_sure = 1;
    if (node.n == 0) { /* as sums/sums.h says */
        const double none = final->mean || TALLY_HAS_SPREAD ? tally_nan_f64() : 0;
        words[0] = word_of(none, final);
        if (TALLY_HAS_KEYS) {
            for (int32_t k = 0; k < 6; k++) words[k] = k == 0 || k == 3 ? 0 : (uint64_t)tally_bits_f64(tally_nan_f64());
        }
    } else {
        const int32_t seen = seen_in(&node);
        const compensated_t a = sums_of_node(&node, seen);
        is_sure = seen >= 0 && !is_unfit(&node) && finalize_quickly(&a, final, words);
        if (!TALLY_HAS_KEYS && (seen > 0 || (TALLY_HAS_SPREAD && node.n <= final->ddof)))
            words[0] = word_of(TALLY_HAS_SPREAD ? tally_nan_f64() : decided_sum(seen), final), is_sure = 1;
    }
    __builtin_memcpy(result, words, sizeof *result);
    return (node.n == 0 ? TALLY_FLAG_EMPTY : 0) | (is_sure ? 0 : TALLY_FLAG_UNSURE);
}

#if TALLY_IS_PLAIN
/* ---- sums and means of a type's own format, side by side ---- */

#if TALLY_IS_F64
#define TALLY_PLAIN double
#define TALLY_PLAIN_DIGITS 53
#define TALLY_CLEAN tally_clean_f64
#else
#define TALLY_PLAIN float
#define TALLY_PLAIN_DIGITS 24
#define TALLY_CLEAN tally_clean_f32
#endif

/* What a value adds: -0, if it does not count. */
TALLY_FN double term_of(TALLY_T x) {
    const item_t item = item_of(x);
    return lift(item, item).sum.sum;
}
/* Whether results are such. */
TALLY_FN int32_t is_plain(int32_t digits) { return digits == TALLY_PLAIN_DIGITS; }
/* The mean of two values: of narrow floats their sum as f64 has lost nothing that shows. A sum of f64 may overflow. */
TALLY_FN double mean_of_two(double a, double b) {
    const double sum = a + b;
    return TALLY_IS_F64 && !tally_is_finite(sum) ? a * 0.5 + b * 0.5 : sum * 0.5;
}
/* A sum, a mean or norm1 of one or two values takes no proof: it is rounded once. */
TALLY_FN int32_t put_plain_few(void *place, const TALLY_T *x, int32_t n, int32_t is_mean) {
    TALLY_PLAIN result = n > 0 ? (TALLY_PLAIN)term_of(x[0]) : is_mean ? (TALLY_PLAIN)tally_nan_f64() : 0;
    if (n > 1) {
        const TALLY_PLAIN second = (TALLY_PLAIN)term_of(x[1]);
        result = is_mean ? (TALLY_PLAIN)mean_of_two((double)result, (double)second) : result + second;
    }
    *(TALLY_PLAIN *)place = TALLY_CLEAN(result);
    return n == 0 ? TALLY_FLAG_EMPTY : 0;
}
/* Whether the result takes one addition, or of narrow floats one division. A quotient of f64 is rounded twice, then,
 * and right: it is a tie of f32 only if it is exact, as n times a tie is an f64, and another sum is too far from that
 * one (docs/exact.md). */
TALLY_FN int32_t is_put_plainly(int32_t digits, void *place, const node_t *node, int32_t is_mean) {
    const double first = node->sum.sum;
    if (!is_plain(digits) || (is_mean && TALLY_IS_F64) || node->n == 0 || node->sum.lost != 0 ||
        !tally_is_finite(first) || (!TALLY_IS_F64 && node->sum.rest != 0))
        return 0;
    if (is_mean) {
        *(TALLY_PLAIN *)place = (TALLY_PLAIN)(first / (double)node->n);
        return node->n <= TALLY_MOST_DIVIDED;
    }
    *(TALLY_PLAIN *)place = (TALLY_PLAIN)(node->sum.rest == 0 ? first : first + node->sum.rest); /* -0 stays -0 */
    return 1;
}
#endif

#endif
