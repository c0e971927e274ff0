/* A whole array by any operator of kernels/operators, in the canonical order (docs/order.md), in one launch.
 *
 * A warp reads runs of leaves, a block has one tile of such runs, and the last block to arrive at a group of tiles
 * combines the group. This is the last-block guard of NVIDIA's threadFenceReduction sample with three changes: a fixed
 * fan-in, so that the tree is the canonical one; counters that wrap around to 0, so that nothing has to be cleared; and
 * mailboxes in place of the fence, so that nothing has to be waited for. */
#ifndef TALLY_FORM_REDUCE_H
#define TALLY_FORM_REDUCE_H

#include "types/types.h"

#include TALLY_KERNEL_FILE

#include "order/leaf_node.h"
#include "order/node_boxes.h"

/* Blocks that a multiprocessor holds: three, or two where three would have registers spill on every architecture. */
#if TALLY_PASSES == 2
#define TALLY_HELD_BYTES (TALLY_HELD * (sizeof(column_t) + sizeof(second_t)))
#else
#define TALLY_HELD_BYTES (TALLY_HELD * sizeof(column_t))
#endif
#define TALLY_RESIDENT (TALLY_KERNEL_INPUTS == 2 || TALLY_HELD_BYTES >= 80 ? 2 : 3)

/* ---- the tree over tiles ---- */

/* A node of the tree: number `index` of the `count` on its level, and its group on that level. */
typedef struct rank_t {
    uint64_t *boxes;    /* of the level */
    uint32_t *arrivals; /* of its groups */
    int64_t index, count;
} rank_t;

TALLY_FN int32_t rank_members(rank_t rank) {
    int64_t left = rank.count - rank.index / TALLY_FAN * TALLY_FAN;
    return (int32_t)(left < TALLY_FAN ? left : TALLY_FAN);
}

/* Leaves lane 0's node for the last warp to arrive at the group. True: this warp is the last. */
TALLY_FN int32_t arrive(rank_t rank, node_t node) {
    return post_node(rank.boxes, rank.index, node, rank.arrivals + rank.index / TALLY_FAN,
                     (uint32_t)rank_members(rank) - 1);
}

/* Writes the result of the array from its node, which lane 0 has. */
TALLY_RARE void put_array_result(const tally_array_work *work, node_t node) {
    if (tally_lane() != 0) return;
    if (work->node != 0) __builtin_memcpy(work->node, &node, sizeof node);
    if (work->out.result != 0) {
        result_t result;
        int32_t flags = finalize(node, &work->out.final, &result);
        __builtin_memcpy(work->out.result, &result, sizeof result);
        if (work->out.flags != 0 && flags != 0) tally_or32(work->out.flags, flags);
    }
}

/* By the last warp to arrive at the group of `rank`: combines the group, and goes up the tree as long as the warp is
 * the last to arrive. */
TALLY_RARE void climb(const tally_array_work *work, rank_t rank) {
    node_t node;
    do {
        int64_t group = rank.index / TALLY_FAN, groups = (rank.count + TALLY_FAN - 1) / TALLY_FAN,
                at = group * TALLY_FAN;
        int32_t members = rank_members(rank), mine = 2 * tally_lane();
        node = nothing();
        if (mine < members) node = take_node(rank.boxes, at + mine);
        if (mine + 1 < members) node = merge(node, take_node(rank.boxes, at + mine + 1));
        node = pair_lanes(node, (members + 1) / 2);
        if (groups == 1) {
            put_array_result(work, node);
            return;
        }
        rank.boxes += rank.count * node_words;
        rank.arrivals += groups;
        rank.index = group;
        rank.count = groups;
    } while (arrive(rank, node));
}

/* ---- the kernel ---- */

typedef struct shared_t {
    TALLY_STAGE stage;
    node_t nodes[TALLY_WARPS];
} shared_t;

/* Reduces the warp's run of leaves: `leaves` of them from leaf `begin` on. Lane 0 gets the node. */
TALLY_FN node_t run_node(const tally_array_work *work, int64_t begin, int64_t leaves, TALLY_STAGE *stage) {
    tally_source x = tally_source_of(work->x, work->x_stride, TALLY_BYTES),
                 y = tally_source_of(work->y, work->y_stride, TALLY_BYTES);
    int64_t whole = x.is_packed && y.is_packed ? work->count - TALLY_DEVICE_LEAF
                                               : -1; /* where the last leaf may begin that is read in whole vectors */
    node_t node = nothing();
    for (int32_t read = 0; read < leaves; read++) {
        int64_t at = (begin + read) * TALLY_DEVICE_LEAF;
        node_t leaf;
        int32_t is_spared = 0;
        if (at > whole)
            leaf = slow_node(x, y, at, work->count - at, work->first, stage);
        else
#if TALLY_IN_REGISTERS
            leaf = plain_node(work->x, work->y, at, work->first, &node, &is_spared);
#else
            leaf = staged_node(work->x, at, stage);
#endif
        if (is_spared) continue;
        if (TALLY_IS_FREE)
            node = merge(node, leaf);
        else if (read == tally_lane()) /* lane i keeps leaf i of the run */
            node = leaf;
    }
    if (TALLY_IS_FREE)
        return node;
    else
        return pair_lanes(node, (int32_t)leaves);
}

TALLY_KERNEL_ENTRY(TALLY_THREADS, reduce, tally_array_work, TALLY_RESIDENT) {
    TALLY_SHARED(shared_t, shared);
    int64_t leaves = (work.count + TALLY_DEVICE_LEAF - 1) / TALLY_DEVICE_LEAF,
            runs = (leaves + (1 << work.run) - 1) >> work.run;
    int64_t mine = (int64_t)tally_block() * TALLY_WARPS + tally_warp(), begin = mine << work.run, left = leaves - begin;
    node_t node = run_node(&work, begin, left < 1 << work.run ? left : 1 << work.run, &shared->stage);
    rank_t rank;
    if (tally_lane() == 0) shared->nodes[tally_warp()] = node;
    tally_barrier();
    if (tally_warp() != 0) return;
    node = pair_lanes(shared->nodes[tally_lane() % TALLY_WARPS],
                      (int32_t)(runs - mine < TALLY_WARPS ? runs - mine : TALLY_WARPS));
    rank.boxes = (uint64_t *)(void *)work.nodes;
    rank.arrivals = work.arrivals;
    rank.index = tally_block();
    rank.count = tally_blocks();
    if (rank.count == 1)
        put_array_result(&work, node);
    else if (arrive(rank, node))
        climb(&work, rank);
}

#endif
