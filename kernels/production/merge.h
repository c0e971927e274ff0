/* Kernels that merge sorted arrays, stably. A pass makes one run of 2, 4 or 8; the first pass takes the arrays
 * themselves. First a kernel finds where the tiles of the output begin in all runs, a thread for each boundary: of two
 * runs by merge path (Odeh, Green, Mwassi, Shmueli and Birk, "Merge path - parallel merging made simple", 2012; Green,
 * McColl and Bader, "GPU merge path", 2012), of more by middle values (Varman, Scheufler, Iyer and Ricard, "Merging
 * multiple lists on hierarchical-memory multiprocessors", 1991). Then a block merges a tile. Its values come to shared
 * memory, where each thread finds its part of a pair of runs by merge path, and merges it value by value. If there are
 * more than two runs, pairs of them are merged first, and then what these give.
 *
 * The first pass compares each value with the one in front of it. Arrays that are not sorted lead to no address outside
 * of them; report->unsorted says so. Takes what merge_values.h and merge_fan.h list. */
#include "merge/merge_values.h"
#include "merge/merge_fan.h"
