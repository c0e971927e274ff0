/* For operators whose nodes have the fields of a column, though they may keep a value in another way. The operator's
 * file defines TALLY_MAKE_NODE(a, column), which sets the fields of node a, TALLY_START_NODE(a), which sets them to the
 * identity, and TALLY_JOIN_NODES(a, b), which puts b behind a. Includes accumulators/records.h. */
#ifndef TALLY_COLUMN_NODES_H
#define TALLY_COLUMN_NODES_H

#include "accumulators/records.h"

#if !defined(TALLY_MAKE_NODE) || !defined(TALLY_START_NODE) || !defined(TALLY_JOIN_NODES)
#error "define TALLY_MAKE_NODE, TALLY_START_NODE and TALLY_JOIN_NODES, or include accumulators/plain.h"
#endif

TALLY_FN node_t nothing(void) {
    node_t a;
    a.n = 0;
    TALLY_START_NODE(a);
    return a;
}
TALLY_FN node_t to_node(column_t column, int64_t n) {
    node_t a;
    a.n = n;
    TALLY_MAKE_NODE(a, column);
    return a;
}
TALLY_FN node_t merge(node_t a, node_t b) {
    a.n += b.n;
    TALLY_JOIN_NODES(a, b);
    return a;
}

#endif
