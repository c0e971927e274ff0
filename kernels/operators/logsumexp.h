/* logsumexp: log(e^x0 + e^x1 + ...), without overflow. A leaf is read twice: for its maximum m, and for the sum of
 * e^(x - m). Runs are joined by rescaling the sums to the larger maximum (Milakov and Gimelshein, "Online normalizer
 * calculation for softmax", 2018). A NaN does not take part in the maximum; the sum becomes a NaN. */
#ifndef TALLY_OPERATOR_LOGSUMEXP_H
#define TALLY_OPERATOR_LOGSUMEXP_H

#include "accumulators/elementary.h"
#define TALLY_IS_LONG 1
#define TALLY_IS_DEAR 1
#define TALLY_COLUMN(X) X(TALLY_K, key)
#define TALLY_START(a) (a).key = order_key(from_bits((TALLY_K)(TALLY_INFINITY_BITS | TALLY_K_LOW)))
#define TALLY_JOIN(a, b) (a).key = (b).key > (a).key ? (b).key : (a).key
#define TALLY_AIM(X) X(TALLY_V, pivot)
#define TALLY_SECOND(X) X(TALLY_V, sum)
#define TALLY_START2(a) (a).sum = 0
#define TALLY_JOIN2(a, b) (a).sum = (a).sum + (b).sum
#define TALLY_NODE(X) X(double, most) X(double, sum)
#include "accumulators/records.h"

TALLY_FN column_t lift(item_t x, item_t y) {
    column_t a = identity();
    (void)y;
    a.key = value_is_nan(x.raw) ? a.key : order_key(x.raw);
    return a;
}
/* The pivot is the maximum, or 0 if the maximum is infinite: inf - inf would make a NaN. A tiny maximum is replaced by
 * a small number, which changes no e^(x - pivot): with either pivot, x - pivot rounds to x, or is so small that e^x
 * rounds to 1. With the small number no difference is subnormal; products of subnormals cost a CPU over 100 cycles
 * each. */
TALLY_FN aim_t take_aim(column_t column, int64_t n) {
    const TALLY_V least = (TALLY_V)(TALLY_IS_F64 ? 0x1p-120 : 0x1p-60);
    aim_t aim;
    TALLY_V most = value_of(from_key(column.key));
    (void)n;
    most = most > -least && most < least ? least : most;
    aim.pivot = most - most == 0 ? most : 0;
    return aim;
}
TALLY_FN second_t lift2(item_t x, int32_t i, aim_t aim) {
    second_t a;
    (void)i;
    a.sum = TALLY_REAL(exp)(x.value - aim.pivot);
    a.sum = is_present(x.raw) ? a.sum : 0;
    return a;
}
TALLY_FN node_t nothing(void) {
    node_t a;
    a.n = 0;
    a.most = -tally_infinity_f64();
    a.sum = 0;
    return a;
}
TALLY_FN node_t to_node(column_t column, aim_t aim, second_t second, int64_t n, int64_t first) {
    node_t a;
    (void)aim;
    (void)first;
    a.n = n;
    a.most = value_of(from_key(column.key));
    a.sum = second.sum;
    return a;
}
TALLY_FN double rescaled(node_t a, double most) {
    return a.most == most ? a.sum : a.sum * tally_exp_f64(a.most - most);
}
TALLY_FN node_t merge(node_t a, node_t b) {
    double most = b.most > a.most ? b.most : a.most;
    a.n += b.n;
    a.sum = rescaled(a, most) + rescaled(b, most);
    a.most = most;
    return a;
}
typedef TALLY_R result_t;
TALLY_FN result_t finish(node_t a, const tally_final *final) {
    (void) final;
    return TALLY_REAL(clean)((TALLY_R)(a.sum == 0             ? -tally_infinity_f64()
                                       : a.most - a.most == 0 ? a.most + tally_log_f64(a.sum)
                                                              : tally_log_f64(a.sum)));
}

#endif
