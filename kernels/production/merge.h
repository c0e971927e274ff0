/* Kernels that merge sorted arrays, stably. A pass merges 2, 4 or 8 runs into one; the runs of the first pass are the
 * arrays. A first kernel finds where each tile of the output begins in all runs, with a thread for each boundary: in
 * two runs by merge path (Odeh, Green, Mwassi, Shmueli and Birk, "Merge path - parallel merging made simple", 2012;
 * Green, McColl and Bader, "GPU merge path", 2012), in more by middle values (Varman, Scheufler, Iyer and Ricard,
 * "Merging multiple lists on hierarchical-memory multiprocessors", 1991). Then each block merges a tile. It reads the
 * values to shared memory, where each thread finds its part of a pair of runs by merge path and merges it value by
 * value. More than two runs are merged in pairs, and the results of these in pairs again.
 *
 * The first pass compares each value with the one in front of it. Arrays that are not sorted lead to no address outside
 * of them; report->unsorted says so. Takes what merge_values.h and merge_fan.h list. */
#include "merge/merge_values.h"
#include "merge/merge_fan.h"
