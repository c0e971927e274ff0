/* The structs of one operator, made of its field lists, and the functions made of its statements.
 *
 * An operator file defines TALLY_COLUMN, TALLY_NODE, TALLY_START(a), which sets a to the identity, and TALLY_JOIN(a,
 * b), which puts b, the later one, behind a; then, when a leaf is read twice, TALLY_AIM, TALLY_SECOND, TALLY_START2
 * and TALLY_JOIN2. */
#ifndef TALLY_RECORDS_H
#define TALLY_RECORDS_H

#include "device/dialect.h"
#include "policy.h"

#if !defined(TALLY_COLUMN) || !defined(TALLY_NODE) || !defined(TALLY_START) || !defined(TALLY_JOIN)
#error "define TALLY_COLUMN, TALLY_NODE, TALLY_START and TALLY_JOIN, as kernels/operators/README.md says"
#endif

#define TALLY_FIELD(type, name) type name;
typedef struct column_t {
    TALLY_COLUMN(TALLY_FIELD)
} column_t;
/* n: how many values the node stands for, without those that the NaN policy skips. */
typedef struct node_t {
    int64_t n;
    TALLY_NODE(TALLY_FIELD)
} node_t;

TALLY_FN column_t identity(void) {
    column_t a;
    TALLY_START(a);
    return a;
}
TALLY_FN column_t combine(column_t a, column_t b) {
    TALLY_JOIN(a, b);
    return a;
}

#if TALLY_PASSES == 2
typedef struct aim_t {
    TALLY_AIM(TALLY_FIELD)
} aim_t;
typedef struct second_t {
    TALLY_SECOND(TALLY_FIELD)
} second_t;
TALLY_FN second_t identity2(void) {
    second_t a;
    TALLY_START2(a);
    return a;
}
TALLY_FN second_t combine2(second_t a, second_t b) {
    TALLY_JOIN2(a, b);
    return a;
}
#endif
#undef TALLY_FIELD

#endif
