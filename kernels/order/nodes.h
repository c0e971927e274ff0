/* Trees of nodes: over the lanes of a warp, and over nodes in memory in groups of TALLY_FAN, each combined by the last
 * warp to arrive. For the operator of accumulators/records.h. */
#ifndef TALLY_NODES_H
#define TALLY_NODES_H

#include "device/arrival.h"
#include "order/pairs.h"

#ifndef TALLY_NODES_SHARED_H
#define TALLY_NODES_SHARED_H

/* Where the nodes of runs are, and the counters of their groups, level by level. A run that begins at cell `at` of a
 * level has node i at 2 at + i and the counter of group g at at + g; on the next level it begins at at / TALLY_FAN.
 * Consecutive runs of two nodes or more never overlap, even where the last cell of one is the first of the next. A
 * whole array is one run, at 0. */
typedef struct tally_ladder {
    char *nodes;
    uint32_t *arrivals; /* 0 before and after a launch */
    int64_t at;
    int64_t pitch, counters; /* how many nodes this level has; how many counters its groups have */
} tally_ladder;
#endif

/* The tree over the n nodes of one run, from cell 0 on. `arrivals` has tally_all_counters(n) counters. */
TALLY_FN tally_ladder ladder_of_run(char *nodes, uint32_t *arrivals, int64_t n) {
    const tally_ladder ladder = {nodes, arrivals, 0, n, tally_next_pitch(n)};
    return ladder;
}
TALLY_FN node_t *node_at(char *nodes, int64_t i) { return (node_t *)(void *)(nodes + i * (int64_t)sizeof(node_t)); }

/* The tree over nodes at ... at + members - 1, at most TALLY_FAN. Lane 0 gets the result. */
TALLY_FN node_t gather_nodes(const char *nodes, int64_t at, int32_t members) {
    int32_t mine = 2 * tally_lane();
    node_t node = nothing();
    if (mine < members) node = fetch_node(nodes, at + mine);
    if (mine + 1 < members) node = merge(node, fetch_node(nodes, at + mine + 1));
    return pair_lanes(node, (members + 1) / 2);
}

/* A warp takes node `index` of a run of `count` nodes up the tree, as long as it is the last to arrive. True: it
 * reached the top, and lane 0 has the node of the whole run. */
TALLY_FN int32_t climb(tally_ladder ladder, node_t *node, int64_t index, int64_t count) {
    while (count > 1) {
        int64_t group = index / TALLY_FAN, first = 2 * ladder.at, at = group * TALLY_FAN;
        int32_t members = (int32_t)(count - at < TALLY_FAN ? count - at : TALLY_FAN);
        if (tally_lane() == 0) *node_at(ladder.nodes, first + index) = *node;
        if (!tally_is_last(ladder.arrivals + ladder.at + group, members)) return 0;
        *node = gather_nodes(ladder.nodes, first + at, members);
        ladder.nodes += ladder.pitch * (int64_t)sizeof *node;
        ladder.arrivals += ladder.counters;
        ladder.pitch = tally_next_pitch(ladder.pitch);
        ladder.counters = tally_next_pitch(ladder.counters);
        ladder.at /= TALLY_FAN;
        index = group;
        count = (count + TALLY_FAN - 1) / TALLY_FAN;
    }
    return 1;
}

#endif
