/* logsumexp: log(e^x0 + e^x1 + ...), without overflow: a leaf is read for its maximum m, then for the sum of e^(x - m);
 * runs are joined by rescaling the sums to the larger maximum (Milakov and Gimelshein, "Online normalizer calculation
 * for softmax", 2018). A NaN does not take part in the maximum: it is in the sum. */
#include "lib/elementary.h"
#define TALLY_COLUMN(X) X(TALLY_K, key)
#define TALLY_START(a) (a).key = TALLY_N(key)(TALLY_N(from_bits)((TALLY_K)(TALLY_INFINITY_BITS | TALLY_K_LOW)))
#define TALLY_JOIN(a, b) (a).key = (b).key > (a).key ? (b).key : (a).key
#define TALLY_AIM(X) X(TALLY_V, pivot)
#define TALLY_SECOND(X) X(TALLY_V, sum)
#define TALLY_START2(a) (a).sum = 0
#define TALLY_JOIN2(a, b) (a).sum = (a).sum + (b).sum
#define TALLY_NODE(X) X(double, most) X(double, sum)
#include "lib/records.h"

TALLY_FN TALLY_N(column) TALLY_N(lift)(TALLY_N(item) x, TALLY_N(item) y) {
    TALLY_N(column) a = TALLY_N(identity)();
    (void)y;
    a.key = TALLY_N(is_nan)(x.raw) ? a.key : TALLY_N(key)(x.raw);
    return a;
}
/* The pivot is the maximum, or 0 when that is infinite: inf - inf would make a NaN. */
TALLY_FN TALLY_N(aim) TALLY_N(take_aim)(TALLY_N(column) column, int64_t n) {
    TALLY_N(aim) aim;
    TALLY_V most = TALLY_N(value)(TALLY_N(from_key)(column.key));
    (void)n;
    aim.pivot = most - most == 0 ? most : 0;
    return aim;
}
TALLY_FN TALLY_N(second) TALLY_N(lift2)(TALLY_N(item) x, int32_t i, TALLY_N(aim) aim) {
    TALLY_N(second) a;
    (void)i;
    a.sum = TALLY_REAL(exp)(x.value - aim.pivot);
    a.sum = TALLY_N(present)(x.raw) ? a.sum : 0;
    return a;
}
TALLY_FN TALLY_N(node) TALLY_N(nothing)(void) {
    TALLY_N(node) a;
    a.n = 0;
    a.most = -tally_infinity_f64();
    a.sum = 0;
    return a;
}
TALLY_FN TALLY_N(node) TALLY_N(seal)(TALLY_N(column) column, TALLY_N(aim) aim, TALLY_N(second) second, int64_t n,
                                     int64_t first) {
    TALLY_N(node) a;
    (void)aim;
    (void)first;
    a.n = n;
    a.most = TALLY_N(value)(TALLY_N(from_key)(column.key));
    a.sum = second.sum;
    return a;
}
TALLY_FN double TALLY_N(rescaled)(TALLY_N(node) a, double most) {
    return a.most == most ? a.sum : a.sum * tally_exp_f64(a.most - most);
}
TALLY_FN TALLY_N(node) TALLY_N(merge)(TALLY_N(node) a, TALLY_N(node) b) {
    double most = b.most > a.most ? b.most : a.most;
    a.n += b.n;
    a.sum = TALLY_N(rescaled)(a, most) + TALLY_N(rescaled)(b, most);
    a.most = most;
    return a;
}
typedef TALLY_R TALLY_N(result);
TALLY_FN TALLY_N(result) TALLY_N(finish)(TALLY_N(node) a, const tally_final *final) {
    (void) final;
    return TALLY_REAL(clean)((TALLY_R)(a.sum == 0             ? -tally_infinity_f64()
                                       : a.most - a.most == 0 ? a.most + tally_log_f64(a.sum)
                                                              : tally_log_f64(a.sum)));
}
