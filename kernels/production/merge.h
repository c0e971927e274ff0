/* Kernels that merge sorted arrays, stably. A pass merges runs in pairs, the first pass the arrays themselves, so that
 * log2 of their number pass over the values. A block makes a tile of the output: two of its warps find where the tile
 * begins and ends in both runs, by merge path (Odeh, Green, Mwassi, Shmueli and Birk, "Merge path - parallel merging
 * made simple", 2012; Green, McColl and Bader, "GPU merge path", 2012). The values come to shared memory, where each
 * thread finds its own part in the same way and merges it one by one.
 *
 * The first pass compares each value with the one in front of it. Arrays that are not sorted lead to no address outside
 * of them; told->unsorted says so. */
#define TALLY_BLOCK 256
#include "merge/merge_runs.h"

#define TALLY_MERGE_BITS 8
#include "merge/merge_width.h"
#undef TALLY_MERGE_BITS
#define TALLY_MERGE_BITS 16
#include "merge/merge_width.h"
#undef TALLY_MERGE_BITS
#define TALLY_MERGE_BITS 32
#include "merge/merge_width.h"
#undef TALLY_MERGE_BITS
#define TALLY_MERGE_BITS 64
#include "merge/merge_width.h"
#undef TALLY_MERGE_BITS

/* Whether value i of an array belongs before the one in front of it. */
TALLY_FN int32_t tally_is_misplaced(const tally_merge_work *merge, const tally_run *array, int64_t i) {
#define TALLY_LATER(bits) tally_merge_key_at_##bits(merge, array, i - 1) > tally_merge_key_at_##bits(merge, array, i)
    if (merge->bytes == 1) return TALLY_LATER(8);
    if (merge->bytes == 2) return TALLY_LATER(16);
    if (merge->bytes == 4) return TALLY_LATER(32);
    return TALLY_LATER(64);
#undef TALLY_LATER
}

/* The first place of such a value, for a message: told->misplaced. */
TALLY_ENTRY(tally_merge_check, 4) {
    const tally_merge_work *merge = (const tally_merge_work *)(const void *)work.x;
    for (int64_t place = (int64_t)tally_block() * TALLY_BLOCK + tally_thread(); place < merge->total;
         place += (int64_t)tally_blocks() * TALLY_BLOCK) {
        const int64_t array = tally_merge_array_at(merge, place);
        const tally_run run = tally_run_of(merge, array, array + 1);
        if (place > run.place && tally_is_misplaced(merge, &run, place - run.place))
            tally_min64(&merge->told->misplaced, place);
    }
}
