/* Rows along an axis that is not the last whose values cannot be read by whole vectors: production/rows/columns.h with
 * the other ways of reading (rows/batch.h). They take registers and code, so whole vectors go without them. */
#define TALLY_ANY_ROWS 1
#include "production/rows/columns.h"
