/* stats: count, min, max, sum, mean and var in one pass; min, max and sum have the bits that min, max and sum give. */
#ifndef TALLY_OPERATOR_STATS_H
#define TALLY_OPERATOR_STATS_H

#if TALLY_FLOAT
#include "accumulators/moments.h"
#include "accumulators/range.h"
#define TALLY_COLUMN(X) TALLY_MOMENT_FIELDS(X) TALLY_RANGE_FIELDS(X)
#define TALLY_START(a) TALLY_MOMENT_START(a), TALLY_RANGE_START(a)
#define TALLY_JOIN(a, b) TALLY_MOMENT_JOIN(a, b), TALLY_RANGE_JOIN(a, b)
#define TALLY_NODE(X) TALLY_RANGE_NODE_FIELDS(X) X(TALLY_V, sum) X(double, mean) X(double, squares)
#include "accumulators/records.h"
#include "accumulators/moments_second.h"

TALLY_FN column_t lift(item_t x, item_t y) {
    column_t a;
    (void)y;
    TALLY_MOMENT_LIFT(a, x);
    TALLY_RANGE_LIFT(a, x);
    return a;
}
TALLY_FN node_t nothing(void) {
    node_t a;
    a.n = 0;
    TALLY_RANGE_NODE_START(a);
    a.sum = TALLY_ZERO;
    a.mean = 0;
    a.squares = 0;
    return a;
}
TALLY_FN node_t node_with(column_t column, int64_t n, tally_moments m) {
    node_t a;
    a.n = n;
    TALLY_RANGE_TO_NODE(a, column);
    a.sum = column.sum;
    a.mean = m.mean;
    a.squares = m.squares;
    return a;
}
TALLY_FN node_t to_node(column_t column, aim_t aim, second_t second, int64_t n, int64_t first) {
    (void)first;
    return node_with(column, n, leaf_moments(aim.pivot, second.rest, second.squares, n));
}
TALLY_FN node_t merge(node_t a, node_t b) {
    tally_moments early, late, both;
    early.mean = a.mean;
    early.squares = a.squares;
    late.mean = b.mean;
    late.squares = b.squares;
    both = tally_join_moments(a.n, early, b.n, late);
    a.n += b.n;
    TALLY_RANGE_NODE_JOIN(a, b);
    a.sum = a.sum + b.sum;
    a.mean = both.mean;
    a.squares = both.squares;
    return a;
}
#else
#define TALLY_SUM_TERM TALLY_TERM_VALUE
#define TALLY_SQUARES
#define TALLY_RANGE
#include "accumulators/integers.h"
#endif

/* The words of tally_stats (include/tally/tally.h), in its order. */
typedef union word_t {
    int64_t i;
    uint64_t u;
    double f;
} word_t;
typedef struct result_t {
    int64_t count;
    word_t min, max, sum;
    double mean, var;
} result_t;
#if TALLY_FLOAT
#define TALLY_SET_WORD(word, value) (word).f = tally_clean_f64((double)(value))
#elif TALLY_SIGNED || TALLY_BOOLEAN
#define TALLY_SET_WORD(word, value) (word).i = (int64_t)(value)
#else
#define TALLY_SET_WORD(word, value) (word).u = (uint64_t)(value)
#endif
#if TALLY_FLOAT
TALLY_FN result_t finish(node_t a, const tally_final *final) {
    result_t r;
    r.count = a.n;
    TALLY_SET_WORD(r.min, value_of(winner(a.low, a.n)));
    TALLY_SET_WORD(r.max, value_of(winner(a.high, a.n)));
    TALLY_SET_WORD(r.sum, a.n == 0 ? 0 : a.sum);
    r.mean = a.n == 0 ? tally_nan_f64() : tally_clean_f64(a.mean);
    r.var = a.n == 0 ? tally_nan_f64() : tally_clean_f64(tally_variance(a.n, a.squares, final));
    return r;
}
#else
TALLY_FN result_t with_range(node_t a) {
    result_t r;
    r.count = a.n;
    TALLY_SET_WORD(r.min, winner(a.low, a.n));
    TALLY_SET_WORD(r.max, winner(a.high, a.n));
    return r;
}
TALLY_FN result_t finish(node_t a, const tally_final *final) {
    result_t r = with_range(a);
    r.sum.u = a.sum0;
    r.mean = tally_clean_f64((double)(int64_t)a.sum0 / (double)a.n);
    r.var = tally_small_spread(sum_of(a), squares_of(a), a.n, final).value;
    return r;
}
/* Where the variance is small, the other numbers are smaller: |x| <= x^2. */
TALLY_FN int needs_wide(node_t a, const tally_final *final) {
    (void) final;
    return !tally_is_small_spread(squares_of(a), a.n);
}
TALLY_FN int finish_wide(node_t a, const tally_final *final, result_t *result) {
    result_t r = with_range(a);
    int flags = 0;
    r.sum.u = tally_wide_sum(sum_of(a), TALLY_SIGNED || TALLY_BOOLEAN, final, &flags);
    r.mean = tally_wide_mean(sum_of(a), (uint64_t)a.n, final->format);
    r.var = tally_wide_spread(sum_of(a), squares_of(a), a.n, final);
    *result = r;
    return flags;
}
#endif
#undef TALLY_SET_WORD

#endif
