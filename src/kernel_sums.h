/* What the node of an operator and type is made of, as numbers for tables: all 0 where it is not exact. Once for each
 * type and NaN policy: instance.h forgets the include guard. */
#ifndef TALLY_KERNEL_SUMS_H
#define TALLY_KERNEL_SUMS_H

#include TALLY_KERNEL_FILE

enum {
    kernel_adds_values = TALLY_IS_EXACT && TALLY_HAS_SUM,
    kernel_adds_products = TALLY_IS_EXACT && TALLY_HAS_PRODUCTS,
    kernel_keeps_keys = TALLY_IS_EXACT && TALLY_HAS_KEYS
};

#endif
