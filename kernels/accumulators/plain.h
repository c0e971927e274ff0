/* For operators whose nodes have the same fields as columns, perhaps of wider types: a column becomes a node of the
 * same values, and nodes are combined like columns. An operator whose nodes differ in how they keep a value says so by
 * TALLY_MAKE_NODE(a, column), TALLY_START_NODE(a) and TALLY_JOIN_NODES(a, b). Includes accumulators/records.h. */
#ifndef TALLY_PLAIN_H
#define TALLY_PLAIN_H

#include "accumulators/records.h"

#ifndef TALLY_MAKE_NODE
#define TALLY_WIDENED(type, name) a.name = (type)column.name;
#define TALLY_MAKE_NODE(a, column) TALLY_NODE(TALLY_WIDENED)
#define TALLY_START_NODE TALLY_START
#define TALLY_JOIN_NODES TALLY_JOIN
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
