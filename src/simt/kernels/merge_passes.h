/* All passes of merges of values of TALLY_MERGE_BITS bits that are read as TALLY_MERGE_READING says; both are undone
 * here. Included once for each. */
#if !defined(TALLY_MERGE_BITS) || !defined(TALLY_MERGE_READING)
#error "define TALLY_MERGE_BITS and TALLY_MERGE_READING"
#endif
#define TALLY_MERGE_EACH TALLY_MERGE_EACH_OF(TALLY_MERGE_BITS / 8)
#include "merge/merge_values.h"
#define TALLY_MERGE_FAN 2
#include "merge/merge_fan.h"
#undef TALLY_MERGE_FAN
#define TALLY_MERGE_FAN 4
#include "merge/merge_fan.h"
#undef TALLY_MERGE_FAN
#define TALLY_MERGE_FAN 8
#include "merge/merge_fan.h"
#undef TALLY_MERGE_FAN
#undef TALLY_MERGE_BITS
#undef TALLY_MERGE_READING
