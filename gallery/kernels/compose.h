/* compose: each value v is the map x -> (2v + 1) x + v^2 + 1 modulo 2^64, and maps are composed in order: associative,
 * and not commutative, so that a kernel that changes order is found out. An operator of the gallery's own, in the form
 * of kernels/operators. */
#ifndef TALLY_GALLERY_COMPOSE_H
#define TALLY_GALLERY_COMPOSE_H

#define TALLY_COLUMN(X) X(uint64_t, scale) X(uint64_t, offset)
#define TALLY_NODE(X) X(uint64_t, scale) X(uint64_t, offset)
#define TALLY_START(a) (a).scale = 1, (a).offset = 0
/* First a, then b. */
#define TALLY_JOIN(a, b) (a).offset = (a).offset * (b).scale + (b).offset, (a).scale = (a).scale * (b).scale
#include "accumulators/plain.h"

TALLY_FN column_t lift(item_t x, item_t y) {
    column_t a;
    TALLY_B bits;
    (void)y;
    __builtin_memcpy(&bits, &x.raw, sizeof bits);
    a.scale = 2 * (uint64_t)bits + 1;
    a.offset = (uint64_t)bits * (uint64_t)bits + 1;
    return a;
}
/* What becomes of 1. */
typedef uint64_t result_t;
TALLY_FN result_t finish(node_t a, const tally_final *final) {
    (void) final;
    return a.scale + a.offset;
}

#endif
