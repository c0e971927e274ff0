/* Segments of vectors of features. Each feature of each segment has the bits that it has when it is reduced alone
 * (docs/order.md). Vectors are read where they lie (docs/design/015).
 *
 * A thread takes one leaf of one feature of a segment (of narrow types, of some neighbouring features) and walks along
 * its vectors. Neighbouring threads take neighbouring features, and no thread waits for another. Neighbouring threads
 * that cover all features, or a chunk of them, are a team; teams take tiles of leaves (features/feature_tiles.h). If a
 * segment has several leaves, each of them leaves a node in memory, and a second kernel combines these, TALLY_FAN at a
 * time. Where a few doubles do not decide an exact sum (compensated/expansions.h), its thread adds it up again in
 * limbs, if the sum is of one leaf and its type has few limbs. Otherwise it sets group.is_unsure, and all results are
 * made again another way. */
#ifndef TALLY_FORM_FEATURES_H
#define TALLY_FORM_FEATURES_H

#include "types/types.h"

#define TALLY_EXPANSION_PARTS 1
#include "accumulators/operator.h"

#define TALLY_OFFSETS_ANYWHERE 0
#include "features/feature_tiles.h"
#include "order/fold.h"
#include "order/leaf.h"
#include "order/put_result.h"

#if TALLY_EXPANSIONS
#include "sums/levels.h"
#include "exact_sums/extent.h"
#include "exact_sums/terms.h"
#define TALLY_PUT_NAME add_alone
#define TALLY_PUT_TYPE accumulator_t
#define TALLY_PUT_DEPOSIT tally_deposit
#include "exact_sums/pair_to_limbs.h"
/* Adds what the thread has noted of n values to their sum and settles it. */
TALLY_FN void add_notes(accumulator_t *node, const notes_t *notes, int64_t n) {
    node->n = n - notes->absent;
    TALLY_IF_KEYS(node->low = notes->low; node->high = notes->high;)
    for (int32_t k = 0; k < TALLY_EVIDENCE; k++) {
        TALLY_IF_SUM(node->sum[k] = notes->seen_sum >> k & 1;)
        TALLY_IF_PRODUCTS(node->products[k] = notes->seen_products >> k & 1;)
    }
    settle_accumulator(node);
}
#define TALLY_FEATURES_SHOW TALLY_FEATURES_EXACT
#define TALLY_FEATURES expansion_features
#define TALLY_FEATURE_NODES expansion_feature_nodes
#else
#define TALLY_FEATURES_SHOW (TALLY_IS_FREE ? TALLY_FEATURES_FREE : TALLY_FEATURES_ORDERED)
#define TALLY_FEATURES features
#define TALLY_FEATURE_NODES feature_nodes
#endif

/* Blocks that a multiprocessor holds: as few as keep registers from spilling (tests/unit/test_compile.c). More than
 * that would be compiled twice. */
#define TALLY_RESIDENT                                                                                      \
    (TALLY_EXPANSIONS                                       ? (TALLY_HAS_SPREAD && TALLY_BYTES < 8 ? 2 : 3) \
     : TALLY_READS_TWICE                                    ? (sizeof(node_t) > 24 ? 1 : 2)                 \
     : TALLY_KERNEL_INPUTS == 2                             ? (TALLY_BYTES < 4 ? 2 : 3)                     \
     : TALLY_HAS_SQUARES && TALLY_HAS_RANGE                 ? (TALLY_BYTES == 1 ? 1 : 2)                    \
     : TALLY_HAS_SQUARES && TALLY_HAS_SUM                   ? (TALLY_BYTES == 8 ? 3 : 2)                    \
     : TALLY_HAS_SQUARES && TALLY_BYTES != 2                ? 3                                             \
     : TALLY_PASSES == 2 || (TALLY_FLOAT && !TALLY_IS_FREE) ? 3                                             \
                                                            : 4)
enum { features_across = TALLY_FEATURES_ACROSS_OF(TALLY_BYTES, TALLY_KERNEL_INPUTS, TALLY_FEATURES_SHOW) };
#define TALLY_ACROSS features_across /* features of a thread */
#define TALLY_ABREAST 8              /* vectors in flight at once; for short leaves as many as these: */
#define TALLY_ROWS_ABREAST (TALLY_BYTES * TALLY_ACROSS * TALLY_KERNEL_INPUTS <= 4 ? 16 : 8)
#define TALLY_FOLD_BITS (TALLY_BYTES == 1 ? 9 : TALLY_BYTES == 2 ? 8 : TALLY_BYTES == 4 ? 7 : 6) /* of a column */
#define TALLY_DIGITS (TALLY_IS_FREE ? 1 : 7)                                                     /* up to TALLY_FAN */

/* ---- one leaf ---- */

#include "features/reader.h"
#include "order/first_pass.h"
#include "features/fold_features.h"
#if TALLY_PASSES == 2
#include "order/second_pass.h"
#include "features/fold_features.h"
#endif

/* The nodes of a leaf of n vectors; `at` is the place of the first in its segment. */
TALLY_FN nodes_t leaf_of_vectors(const reader_t *reader, int32_t n, int64_t at) {
    int32_t present[TALLY_ACROSS];
    nodes_t nodes;
    across_t sum;
    (void)at;
    for (int32_t v = 0; v < TALLY_ACROSS; v++) present[v] = TALLY_MAY_SKIP ? 0 : n;
    sum = fold_leaf(reader, n, TALLY_MAY_SKIP ? present : 0, 0);
#if TALLY_PASSES == 2
    aims_t aims;
    for (int32_t v = 0; v < TALLY_ACROSS; v++) aims.v[v] = take_aim(sum.v[v], present[v]);
    const across2_t second = fold_leaf2(reader, n, 0, &aims);
    for (int32_t v = 0; v < TALLY_ACROSS; v++) nodes.v[v] = to_node(sum.v[v], aims.v[v], second.v[v], present[v], at);
#else
    for (int32_t v = 0; v < TALLY_ACROSS; v++) nodes.v[v] = to_node(sum.v[v], present[v]);
#endif
    return nodes;
}

/* ---- results and nodes ---- */

TALLY_FN nodes_t no_nodes(void) {
    nodes_t nodes;
    for (int32_t v = 0; v < TALLY_ACROSS; v++) nodes.v[v] = nothing();
    return nodes;
}
#if TALLY_EXPANSIONS
enum { has_few_limbs = sizeof(accumulator_t) <= 256 }; /* local memory is reserved for all threads of the GPU */
/* Writes the result of feature v of a leaf of n vectors, for any values: slow and always right. */
TALLY_RARE void put_by_limbs(const tally_features_work *work, int64_t i, const reader_t *reader, int32_t v, int32_t n) {
    accumulator_t node;
    notes_t notes = no_notes();
    uint64_t result[(sizeof(result_t) + 7) / 8];
    char *to = (char *)work->out.result + i * work->out.result_stride;
    clear_accumulator(&node);
    TALLY_ROLLED
    for (int32_t k = 0; k < n; k++) {
        const uint64_t vector = reader->order != 0 ? reader->order[k] : (uint32_t)k;
        const char *x = reader->x.first + vector * reader->x.vector + (uint32_t)v * reader->x.apart,
                   *y = reader->y.first + vector * reader->y.vector + (uint32_t)v * reader->y.apart;
        add_alone(&notes, &node, *(const TALLY_T *)(const void *)x, *(const TALLY_T *)(const void *)y);
    }
    add_notes(&node, &notes, n);
    const total_t total = total_of(&node);
    round_total(&total, &work->out.final, result);
    for (int32_t k = 0; k < TALLY_RESULT_SIZE(&work->out.final); k++) to[k] = ((const char *)result)[k];
}
#endif
/* Writes results: of one leaf of n vectors that `reader` reads, or, if it is NULL, of the nodes of several leaves. */
TALLY_FN void put_results(const tally_features_work *work, int64_t s, int64_t feature, int32_t mine,
                          const nodes_t *nodes, const reader_t *reader, int32_t n) {
    (void)reader, (void)n;
    for (int32_t v = 0; v < TALLY_ACROSS; v++) {
        const int64_t i = s * work->group.inner + feature + v;
        if (v >= mine || put_result(&work->out, i, nodes->v[v])) continue;
#if TALLY_EXPANSIONS
        if (has_few_limbs && reader != 0)
            put_by_limbs(work, i, reader, v, n);
        else if (tally_look32(work->group.is_unsure) == 0)
            tally_or32(work->group.is_unsure, 1);
#endif
    }
}
TALLY_FN node_t *nodes_at(char *nodes, int64_t inner, int64_t slot, int64_t feature) {
    return (node_t *)(void *)nodes + slot * inner + feature;
}
TALLY_FN void put_nodes(const tally_features_work *work, const tally_leaf_at *at, int64_t leaf, int32_t log_leaf,
                        int64_t slots, int64_t feature, int32_t mine, const nodes_t *nodes) {
    node_t *to = nodes_at(work->group.nodes_to, work->group.inner, tally_node_slot(at, leaf, log_leaf, slots), feature);
    for (int32_t v = 0; v < TALLY_ACROSS; v++)
        if (v < mine) to[v] = nodes->v[v];
    if (tally_look32(work->group.has_nodes) == 0) tally_or32(work->group.has_nodes, 1);
}

/* What a thread takes: its block's first tile, its team's tile, and its features. Blocks that take the same tiles for
 * different chunks of the features have the same number. */
typedef struct team_t {
    int64_t first, tile, feature;
    int32_t block, chunk;
} team_t;
TALLY_FN team_t team_of(const tally_features_work *work) {
    const int32_t log_across = work->group.log_across, lane = tally_thread() & ((1 << log_across) - 1);
    const int32_t block = (int32_t)((uint32_t)tally_block() / (uint32_t)work->group.chunks);
    team_t team;
    team.block = block;
    team.chunk = tally_block() - block * work->group.chunks;
    team.first = (int64_t)block * (TALLY_THREADS >> log_across);
    team.tile = team.first + (tally_thread() >> log_across);
    team.feature = ((int64_t)team.chunk * (TALLY_ACROSS << log_across)) + lane * TALLY_ACROSS;
    return team;
}
typedef struct shared_tile_t {
    int64_t segments[2];
} shared_tile_t;

/* ---- the kernels ---- */

/* Checks the block's share of all offsets. Tiles check offsets that they use; this finds offsets that leave out
 * values. */
TALLY_FN void check_offsets(const tally_features_work *work, const team_t *team) {
    const int64_t begin = team->block * work->group.share, all = work->group.segments,
                  end = begin + work->group.share < all ? begin + work->group.share : all;
    int32_t is_bad = 0;
    if (team->chunk != 0) return;
    for (int64_t s = begin + tally_thread(); s < end; s += TALLY_THREADS) {
        int64_t from, to;
        is_bad |= !tally_find_places(&work->group, s, &from, &to);
    }
    if (is_bad) tally_or32(work->out.flags, TALLY_FLAG_BAD_SEGMENTS);
}

TALLY_KERNEL_ENTRY(TALLY_THREADS, TALLY_FEATURES, tally_features_work, TALLY_RESIDENT) {
    TALLY_SHARED(shared_tile_t, shared);
    const tally_group_work *group = &work.group;
    const team_t team = team_of(&work);
    const int64_t leaf = (int64_t)1 << group->log_leaf;
    const reader_t all = open_reader(&work, team.feature);
    tally_leaf_at at = tally_open_tile(group, group->log_leaf, team.tile, team.first,
                                       TALLY_THREADS >> group->log_across, shared->segments);
    check_offsets(&work, &team);
    for (; all.mine > 0 && tally_find_leaf(group, &at); tally_step_leaf(&at)) {
        const int64_t length = at.end - at.begin, behind = at.leaf << group->log_leaf, left = length - behind;
        const reader_t reader = reader_of_leaf(&all, group, &at, behind);
        nodes_t nodes = no_nodes();
        const int32_t n = (int32_t)(left < leaf ? left : leaf);
        if (n > 0) nodes = leaf_of_vectors(&reader, n, behind);
        if (length <= leaf)
            put_results(&work, at.segment, team.feature, reader.mine, &nodes, &reader, n);
        else
            put_nodes(&work, &at, at.leaf, group->log_leaf, group->slots_to, team.feature, reader.mine, &nodes);
    }
}

/* Adds a node to consecutive nodes that are kept as the digits of a binary counter: `count` are there already. */
TALLY_FN void push(node_t *digits, int32_t count, node_t node) {
    int32_t carries = 1;
    if (TALLY_IS_FREE) digits[0] = count > 0 ? merge(digits[0], node) : node;
    TALLY_UNROLL
    for (int32_t bit = 0; bit < TALLY_DIGITS && !TALLY_IS_FREE; bit++) {
        if (carries && !(count >> bit & 1)) {
            digits[bit] = node;
            carries = 0;
        } else if (carries)
            node = merge(digits[bit], node);
    }
}
TALLY_FN node_t collect(const node_t *digits, int32_t count) {
    node_t all = digits[0];
    int32_t is_first = 1;
    TALLY_UNROLL
    for (int32_t bit = 0; bit < TALLY_DIGITS && !TALLY_IS_FREE; bit++) {
        if (!(count >> bit & 1)) continue;
        all = is_first ? digits[bit] : merge(digits[bit], all);
        is_first = 0;
    }
    return all;
}
/* Combines the nodes of consecutive leaves, for one feature. */
TALLY_FN node_t combine_leaves(const tally_group_work *group, const tally_leaf_at *at, int64_t first, int32_t members,
                               int64_t feature) {
    node_t digits[TALLY_DIGITS];
    TALLY_ROLL
    for (int32_t m = 0; m < members; m++) {
        const int64_t slot = tally_node_slot(at, first + m, group->log_leaf, group->slots_from);
        push(digits, m, *nodes_at(group->nodes_from, group->inner, slot, feature));
    }
    return collect(digits, members);
}

TALLY_KERNEL_ENTRY(TALLY_THREADS, TALLY_FEATURE_NODES, tally_features_work, 1) {
    TALLY_SHARED(shared_tile_t, shared);
    const tally_group_work *group = &work.group;
    if (tally_look32(group->has_nodes) == 0) return;
    const team_t team = team_of(&work);
    const int64_t left = group->inner - team.feature;
    const int32_t mine = (int32_t)(left < 0              ? 0
                                   : left < TALLY_ACROSS ? left
                                                         : TALLY_ACROSS),
                  log_above = group->log_leaf + TALLY_LOG_FAN;
    tally_leaf_at at =
        tally_open_tile(group, log_above, team.tile, team.first, TALLY_THREADS >> group->log_across, shared->segments);
    for (; mine > 0 && tally_find_leaf(group, &at); tally_step_leaf(&at)) {
        const int64_t length = at.end - at.begin, leaf = (int64_t)1 << group->log_leaf,
                      leaves = (length + leaf - 1) >> group->log_leaf, first = at.leaf << TALLY_LOG_FAN;
        const int32_t members = (int32_t)(leaves - first < TALLY_FAN ? leaves - first : TALLY_FAN);
        nodes_t nodes;
        if (leaves <= 1) continue;
        TALLY_ROLL
        for (int32_t v = 0; v < mine; v++) nodes.v[v] = combine_leaves(group, &at, first, members, team.feature + v);
        if (leaves <= TALLY_FAN)
            put_results(&work, at.segment, team.feature, mine, &nodes, 0, 0);
        else
            put_nodes(&work, &at, at.leaf, log_above, group->slots_to, team.feature, mine, &nodes);
    }
}

#endif
