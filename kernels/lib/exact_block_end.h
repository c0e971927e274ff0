/* Undoes lib/exact_block.h and lib/leaf.h. */
#include "lib/terms_end.h"
#undef TALLY_SUM_DIGITS
#undef TALLY_PRODUCT_DIGITS
#undef TALLY_SUM_COLUMNS
#undef TALLY_PRODUCT_COLUMNS
#undef TALLY_SCATTERS
#undef TALLY_AHEAD
#undef TALLY_RESIDENT
#undef TALLY_PART
#undef TALLY_SLOT
#undef TALLY_DEVICE_COLUMNS
#undef TALLY_DEVICE_LEAF
