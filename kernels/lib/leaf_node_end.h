/* Undoes lib/leaf_node.h. */
#undef TALLY_RESIDENT
#undef TALLY_UNROLL_WIDE
#undef TALLY_IN_REGISTERS
#undef TALLY_STAGE
#undef TALLY_LEAF_QUADS
#undef TALLY_SEAL
#undef TALLY_COUNT
#include "lib/fold_end.h"
