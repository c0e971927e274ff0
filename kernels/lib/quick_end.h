/* Undoes lib/quick.h. */
#undef TALLY_EXPAND
#undef TALLY_OF
#undef TALLY_PUT
#undef TALLY_ADD
#undef TALLY_TOTAL
#undef TALLY_IS_SPREAD
#undef TALLY_SUM_FIELDS
#undef TALLY_SUM_START
#undef TALLY_SUM_JOIN
#undef TALLY_SQUARES_FIELDS
#undef TALLY_SQUARES_START
#undef TALLY_SQUARES_JOIN
#undef TALLY_KEPT_FIELDS
#undef TALLY_KEPT_START
#undef TALLY_KEPT_JOIN
#include "lib/exact_end.h"
