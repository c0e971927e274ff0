/* The loops of merges for any processor. */
#define TALLY_MERGE_KERNELS tally__merge_baseline
#include "merge/kernels_template.h"
