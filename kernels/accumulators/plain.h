/* For operators whose nodes have the same fields as columns, perhaps of wider types: a column becomes a node of the
 * same values, and nodes are combined like columns. Includes accumulators/records.h. */
#ifndef TALLY_PLAIN_H
#define TALLY_PLAIN_H

#include "accumulators/records.h"

TALLY_FN node_t nothing(void) {
    node_t a;
    a.n = 0;
    TALLY_START(a);
    return a;
}
#define TALLY_FIELD(type, name) a.name = (type)column.name;
TALLY_FN node_t to_node(column_t column, int64_t n) {
    node_t a;
    a.n = n;
    TALLY_NODE(TALLY_FIELD)
    return a;
}
#undef TALLY_FIELD
TALLY_FN node_t merge(node_t a, node_t b) {
    a.n += b.n;
    TALLY_JOIN(a, b);
    return a;
}

#endif
