/* What the node of an operator and type is made of, as numbers for tables: all 0 where it is not exact. No include
 * guard: once for each operator, type and NaN policy, behind TALLY_KERNEL_FILE. */
#ifdef TALLY_SUM_TERM
enum { kernel_adds_values = 1 };
#else
enum { kernel_adds_values = 0 };
#endif
#ifdef TALLY_PRODUCTS
enum { kernel_adds_products = 1 };
#else
enum { kernel_adds_products = 0 };
#endif
#ifdef TALLY_KEYS
enum { kernel_keeps_keys = 1 };
#else
enum { kernel_keeps_keys = 0 };
#endif
