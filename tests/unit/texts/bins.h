/* How many values of each residue modulo 8, without a finish of its own: accumulators of 64 bytes. */
#define TALLY_COLUMN(X) \
    X(int64_t, n0)      \
    X(int64_t, n1) X(int64_t, n2) X(int64_t, n3) X(int64_t, n4) X(int64_t, n5) X(int64_t, n6) X(int64_t, n7)
#define TALLY_NODE(X) TALLY_COLUMN(X)
#define TALLY_START(a) (a).n0 = (a).n1 = (a).n2 = (a).n3 = (a).n4 = (a).n5 = (a).n6 = (a).n7 = 0
#define TALLY_JOIN(a, b)                                                                                        \
    (a).n0 += (b).n0, (a).n1 += (b).n1, (a).n2 += (b).n2, (a).n3 += (b).n3, (a).n4 += (b).n4, (a).n5 += (b).n5, \
        (a).n6 += (b).n6, (a).n7 += (b).n7
#include "accumulators/plain.h"

TALLY_FN column_t lift(item_t x, item_t y) {
    column_t a;
    int32_t bin = x.value & 7;
    (void)y;
    a.n0 = bin == 0, a.n1 = bin == 1, a.n2 = bin == 2, a.n3 = bin == 3;
    a.n4 = bin == 4, a.n5 = bin == 5, a.n6 = bin == 6, a.n7 = bin == 7;
    return a;
}
typedef column_t result_t;
TALLY_FN result_t finish(node_t a, const tally_final *final) {
    result_t r;
    (void) final;
    r.n0 = a.n0, r.n1 = a.n1, r.n2 = a.n2, r.n3 = a.n3, r.n4 = a.n4, r.n5 = a.n5, r.n6 = a.n6, r.n7 = a.n7;
    return r;
}
