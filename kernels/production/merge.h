/* Kernels that merge sorted arrays, stably. A pass makes one run of 2, 4 or 8; the first pass takes the arrays
 * themselves. A tile of the output is a block's. A kernel before finds where all tiles begin in all runs, each thread
 * one boundary, by merge path (Odeh, Green, Mwassi, Shmueli and Birk, "Merge path - parallel merging made simple",
 * 2012; Green, McColl and Bader, "GPU merge path", 2012), for several runs by middle values (Varman, Scheufler, Iyer
 * and Ricard, "Merging multiple lists on hierarchical-memory multiprocessors", 1991). The values come to shared memory,
 * where each thread finds its own part of a pair of runs by merge path and merges it one by one; of more
 * than two runs those that are made of pairs likewise.
 *
 * The first pass compares each value with the one in front of it. Arrays that are not sorted lead to no address outside
 * of them; report->unsorted says so. Takes what merge_values.h and merge_fan.h list. */
#include "merge/merge_values.h"
#include "merge/merge_fan.h"
