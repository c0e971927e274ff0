/* argmin and argmax; ties go to the lowest index. The including file defines TALLY_BETTER(a, b), whether key a is
 * better than b, TALLY_WORST_KEY, and TALLY_ARG_KEY(x), the key of an item. */
#ifndef TALLY_ARG_H
#define TALLY_ARG_H

#include "types/types.h"

#if !defined(TALLY_BETTER) || !defined(TALLY_WORST_KEY) || !defined(TALLY_ARG_KEY)
#error "define what the first comment lists"
#endif

#define TALLY_COLUMN(X) X(TALLY_K, key)
#define TALLY_START(a) (a).key = TALLY_WORST_KEY
#define TALLY_JOIN(a, b) (a).key = TALLY_BETTER((b).key, (a).key) ? (b).key : (a).key
#define TALLY_AIM(X) X(TALLY_K, key)
#define TALLY_SECOND(X) X(int32_t, at)
#define TALLY_START2(a) (a).at = INT32_MAX
#define TALLY_JOIN2(a, b) (a).at = (b).at < (a).at ? (b).at : (a).at
#define TALLY_NODE(X) X(TALLY_K, key) X(int64_t, at)
#define TALLY_CAN_SPARE 1
#define TALLY_HAS_INDEX 1
#define TALLY_IS_LONG TALLY_FLOAT
#include "accumulators/records.h"

TALLY_FN int32_t is_better(TALLY_K a, TALLY_K b) { return TALLY_BETTER(a, b); }
TALLY_FN column_t lift(item_t x, item_t y) {
    column_t a;
    (void)y;
    a.key = TALLY_ARG_KEY(x);
    return a;
}
TALLY_FN aim_t take_aim(column_t column, int64_t n) {
    aim_t aim;
    (void)n;
    aim.key = column.key;
    return aim;
}
/* A skipped NaN has the worst key, which a number may have, too: only a value that counts can be the place. */
TALLY_FN second_t lift2(item_t x, int32_t i, aim_t aim) {
    second_t a;
    a.at = TALLY_ARG_KEY(x) == aim.key && is_present(x.raw) ? i : INT32_MAX;
    return a;
}
TALLY_FN node_t nothing(void) {
    node_t a;
    a.n = 0;
    a.key = TALLY_WORST_KEY;
    a.at = INT64_MAX;
    return a;
}
TALLY_FN node_t to_node(column_t column, aim_t aim, second_t second, int64_t n, int64_t first) {
    node_t a;
    (void)aim;
    a.n = n;
    a.key = column.key;
    a.at = second.at == INT32_MAX ? INT64_MAX : first + second.at;
    return a;
}
TALLY_FN node_t merge(node_t a, node_t b) {
    int takes = TALLY_BETTER(b.key, a.key) || (b.key == a.key && b.at < a.at);
    a.n += b.n;
    a.key = takes ? b.key : a.key;
    a.at = takes ? b.at : a.at;
    return a;
}
TALLY_FN int spare(node_t node, column_t column) { return node.at != INT64_MAX && !TALLY_BETTER(column.key, node.key); }
TALLY_FN node_t shift(node_t a, int64_t by) {
    a.at = a.at == INT64_MAX ? a.at : (int64_t)((uint64_t)a.at + (uint64_t)by);
    return a;
}
typedef int64_t result_t;
TALLY_FN result_t finish(node_t a, const tally_final *final) {
    (void) final;
    return a.n == 0 ? -1 : a.at;
}

#endif
