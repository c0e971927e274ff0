/* What an operator and type needs, as numbers for tables: what its node is made of, all 0 where it is not exact, and
 * how rows that lie across others are read. Once for each type and NaN policy: instance.h forgets the include
 * guard. */
#ifndef TALLY_KERNEL_SUMS_H
#define TALLY_KERNEL_SUMS_H

#include TALLY_KERNEL_FILE

enum {
    kernel_adds_values = TALLY_IS_EXACT && TALLY_HAS_SUM,
    kernel_adds_products = TALLY_IS_EXACT && TALLY_HAS_PRODUCTS,
    kernel_keeps_keys = TALLY_IS_EXACT && TALLY_HAS_KEYS,
    kernel_reads_twice = TALLY_READS_TWICE,
    kernel_rows_go_on = TALLY_ROWS_GO_ON
};

#endif
