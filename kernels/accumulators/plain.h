/* For operators whose nodes have the same fields as columns, perhaps of wider types: a column becomes a node of the
 * same values, and nodes are combined like columns. Includes accumulators/records.h. */
#ifndef TALLY_PLAIN_H
#define TALLY_PLAIN_H

#define TALLY_WIDENED(type, name) a.name = (type)column.name;
#define TALLY_MAKE_NODE(a, column) TALLY_NODE(TALLY_WIDENED)
#define TALLY_START_NODE(a) TALLY_START(a)
#define TALLY_JOIN_NODES(a, b) TALLY_JOIN(a, b)
#include "accumulators/column_nodes.h"

#endif
