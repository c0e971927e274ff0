/* What a thread keeps for TALLY_ACROSS neighbouring results: their nodes and, for operators with a second pass, their
 * aims. For the operator of accumulators/records.h. TALLY_ACROSS must be defined before. */
#ifndef TALLY_ACROSS_H
#define TALLY_ACROSS_H

#include "accumulators/operator.h"

#ifndef TALLY_ACROSS
#error "define TALLY_ACROSS, the results that a thread takes side by side"
#endif

#if TALLY_PASSES == 2
typedef struct aims_t {
    aim_t v[TALLY_ACROSS];
} aims_t;
#else
typedef char aims_t;
#endif

/* How many bytes apart such lie in shared memory: eight lanes that access 16 bytes each then meet in no bank, or two in
 * each. */
#define TALLY_APART(bytes) ((bytes) + ((bytes) % 32 == 0 ? 16 : 0))

typedef struct nodes_t {
    node_t v[TALLY_ACROSS];
} nodes_t;

#endif
