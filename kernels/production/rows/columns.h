/* Rows along an axis that is not the last, by any operator of kernels/operators, in the canonical order
 * (docs/order.md), or exactly, in two doubles for each sum. Their values lie `inner` apart, and their results side by
 * side (docs/design/007, 012).
 *
 * Neighbouring threads take neighbouring results, some each: together a panel. Where results are few or rows long,
 * several threads share a row: each takes some columns of a leaf, and they fold their partial results through shared
 * memory. A row is divided into chunks of leaves, or of any length where TALLY_ROWS_GO_ON. The last block to arrive at
 * a group of chunks combines them.
 *
 * Rows are read by whole vectors here. Others have production/rows/any_columns.h, which includes this file. */
#ifndef TALLY_FORM_COLUMNS_H
#define TALLY_FORM_COLUMNS_H

#include "types/types.h"

#include TALLY_KERNEL_FILE
#include "accumulators/operator.h"
#include "device/arrival.h"
#include "order/leaf.h"
#include "order/fold.h"
#include "order/put_result.h"
#include "partition/partition.h"

#if TALLY_EXPANSIONS && TALLY_ANY_ROWS /* exact sums */
#define TALLY_COLUMNS any_expansion_columns
#elif TALLY_EXPANSIONS
#define TALLY_COLUMNS expansion_columns
#elif TALLY_ANY_ROWS
#define TALLY_COLUMNS any_columns
#else
#define TALLY_COLUMNS columns
#endif

/* log2 of TALLY_DEVICE_COLUMNS. */
#define TALLY_LOG_COLUMNS (TALLY_BYTES == 1 ? 9 : TALLY_BYTES == 2 ? 8 : TALLY_BYTES == 4 ? 7 : 6)
/* Where order shows, leaves are those of docs/order.md. Otherwise the host chooses how many columns a leaf has, so that
 * all multiprocessors are busy. */
TALLY_FN int32_t log_columns_of(const tally_rows_work *work) {
    return TALLY_IS_FREE ? work->log_columns : TALLY_LOG_COLUMNS;
}
/* The values of a leaf, at most. Where its columns hold more than a leaf's, all of a chunk are one. */
TALLY_FN int32_t leaf_values(const tally_rows_work *work) {
    return TALLY_ROWS_GO_ON ? work->chunk_length : TALLY_DEVICE_STRIPES << log_columns_of(work);
}
/* log2 of the columns that a thread takes: at least 8 share a leaf. */
#define TALLY_FOLD_BITS (TALLY_LOG_COLUMNS - 3)
#define TALLY_LEAST_SUBS 8                   /* of a panel (src/cuda/rows.c) */
#define TALLY_DIGITS (TALLY_IS_FREE ? 1 : 5) /* of a number up to TALLY_CHUNK_LEAVES */

enum {
    results_across =
        TALLY_EXPANSIONS
            ? TALLY_EXACT_ACROSS_OF(TALLY_BYTES, TALLY_KERNEL_INPUTS, TALLY_HAS_SUM, TALLY_HAS_PRODUCTS)
            : TALLY_ACROSS_OF((sizeof(node_t) + 15) / 16 * 16, TALLY_BYTES, TALLY_KERNEL_INPUTS, !TALLY_IS_FREE)
};
#define TALLY_ACROSS results_across

#include "rows/batch.h"
#include "rows/exact_batch.h"
#include "rows/node_trees.h"

#if TALLY_HAS_INDEX
#include "rows/found.h"
#define TALLY_NAME(name) name
#define TALLY_TYPE_NAME(name) name##_t
#define TALLY_RECORD found_t
#define TALLY_COMBINE combine_found
#define TALLY_NOTHING nothing_found()
#define TALLY_LIFT(x, y, k, v) lift_found(item_of(x), k)
#else
#include "order/first_pass.h"
#endif
#define TALLY_FROM_LAST 0
#include "rows/fold_leaf.h"
#if TALLY_READS_TWICE
#include "order/second_pass.h"
#define TALLY_FROM_LAST 1 /* what was read last is still in a cache */
#include "rows/fold_leaf.h"
#endif

/* ---- one leaf ---- */

/* The shared memory of one warp: a panel within a warp need not wait for others. */
typedef union warp_columns_t {
    stage_t stage;
    char columns[TALLY_WARP * TALLY_APART(sizeof(across_t))];
#if TALLY_READS_TWICE
    char seconds[TALLY_WARP * TALLY_APART(sizeof(across2_t))];
    aims_t aims[TALLY_WARP];
#endif
    int32_t present[TALLY_WARP][TALLY_ACROSS];
} warp_columns_t __attribute__((aligned(16)));
/* Each thread of sub 0 has a row of digits. These rows are few: a panel of several leaves has TALLY_LEAST_SUBS or more
 * subs. */
typedef struct shared_columns_t {
    union {
        warp_columns_t of[TALLY_WARPS];
        node_t gathered[TALLY_THREADS]; /* by a thread, of the chunks of a panel */
    };
    int32_t is_last[TALLY_THREADS / TALLY_LEAST_SUBS]; /* a panel's chunk is the last of its group to arrive */
    nodes_t digits[TALLY_THREADS / TALLY_LEAST_SUBS][TALLY_DIGITS];
} shared_columns_t;

/* The thread of sub `sub` that has value `place` of the panel's row. */
TALLY_FN int32_t thread_of(const panel_t *panel, int32_t sub, int32_t place) {
    return tally_thread() - panel->lane + (sub - panel->sub) * panel->across + place / TALLY_ACROSS;
}
TALLY_FN int32_t *present_of(shared_columns_t *shared, int32_t thread) {
    return shared->of[thread / TALLY_WARP].present[thread % TALLY_WARP];
}
/* Adds up `present` over the subs and the joined rows, for sub 0. */
TALLY_FN void count_subs(int32_t *present, const panel_t *panel, shared_columns_t *shared) {
    await_panel(panel);
    for (int32_t v = 0; v < TALLY_ACROSS; v++) present_of(shared, tally_thread())[v] = present[v];
    await_panel(panel);
    if (panel->sub != 0) return;
    for (int32_t sub = 1; sub < panel->subs; sub++)
        for (int32_t v = 0; v < TALLY_ACROSS; v++)
            present[v] += present_of(shared, tally_thread() + sub * panel->across)[v];
    for (int32_t row = 1; row < 1 << panel->log_joined; row++)
        for (int32_t v = 0; v < TALLY_ACROSS; v++) {
            const int32_t place = place_in_panel(panel, v) + row * panel->results;
            if (row_in_panel(panel, v) > 0) continue;
            for (int32_t sub = 0; sub < panel->subs; sub++)
                present[v] += present_of(shared, thread_of(panel, sub, place))[place % TALLY_ACROSS];
        }
}

#if TALLY_READS_TWICE
TALLY_FN aims_t *aims_of(shared_columns_t *shared, int32_t thread) {
    return &shared->of[thread / TALLY_WARP].aims[thread % TALLY_WARP];
}
#endif

/* A thread's partial results. */
typedef struct held_t {
    across_t sum;
    int32_t present[TALLY_ACROSS]; /* values that count */
} held_t;
TALLY_FN held_t nothing_held(void) {
    held_t held;
    for (int32_t v = 0; v < TALLY_ACROSS; v++) held.present[v] = 0;
    begin_columns(&held.sum);
    return held;
}
/* Adds a leaf. All threads of the panel take part. */
TALLY_FN void add_leaf(const panel_t *panel, const leaf_t *leaf, shared_columns_t *shared, held_t *held) {
    fold_leaf(panel, leaf, &shared->of[tally_warp()].stage, &held->sum, TALLY_MAY_SKIP ? held->present : 0, 0);
    for (int32_t v = 0; v < TALLY_ACROSS && !TALLY_MAY_SKIP; v++) held->present[v] += leaf->n;
}
/* The nodes of what all subs hold, for the threads of sub 0. They stand for the leaf that begins with value `at` of
 * each row, or for all leaves from there on. All threads of the panel take part. */
TALLY_FN nodes_t nodes_of_subs(const panel_t *panel, const leaf_t *leaf, int64_t at, held_t *held,
                               shared_columns_t *shared) {
    int32_t *const present = held->present;
    nodes_t nodes;
    if (TALLY_MAY_SKIP) count_subs(present, panel, shared);
    const across_t sum = fold_subs(held->sum, panel, (char *)shared->of, sizeof shared->of[0]);
    (void)leaf;
    (void)at;
#if TALLY_READS_TWICE
    aims_t aims;
    across2_t second;
    await_panel(panel);
    if (panel->sub == 0)
        for (int32_t v = 0; v < TALLY_ACROSS; v++)
            aims_of(shared, tally_thread())->v[v] = take_aim(sum.v[v], present[v]);
    await_panel(panel);
    aims = *aims_of(shared, tally_thread() - panel->sub * panel->across);
    if (panel->log_joined > 0) {
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_ACROSS; v++) {
            const int32_t place = place_in_panel(panel, v) - row_in_panel(panel, v) * panel->results;
            aims.v[v] = aims_of(shared, thread_of(panel, 0, place))->v[place % TALLY_ACROSS];
        }
    }
    begin_columns2(&second);
    fold_leaf2(panel, leaf, &shared->of[tally_warp()].stage, &second, 0, &aims);
    second = fold_subs2(second, panel, (char *)shared->of, sizeof shared->of[0]);
    for (int32_t v = 0; v < TALLY_ACROSS; v++) nodes.v[v] = to_node(sum.v[v], aims.v[v], second.v[v], present[v], at);
#elif TALLY_HAS_INDEX
    for (int32_t v = 0; v < TALLY_ACROSS; v++) {
        const found_t found = sum.v[v];
        nodes.v[v] = to_node(found.best, take_aim(found.best, present[v]), found.where, present[v], at);
    }
#else
#if TALLY_ARE_BYTE_STATS
    TALLY_ROLLED /* in registers, such large nodes would leave too few for columns */
#endif
        for (int32_t v = 0; v < TALLY_ACROSS; v++) nodes.v[v] = to_node(sum.v[v], present[v]);
#endif
    return nodes;
}

/* ---- consecutive nodes, kept as the digits of a binary counter ---- */

TALLY_FN void push(nodes_t *digits, int64_t count, nodes_t nodes) {
    int32_t bit = 0;
    if (TALLY_IS_FREE) { /* order does not show: one digit is enough */
        for (int32_t v = 0; v < TALLY_ACROSS && count > 0; v++) nodes.v[v] = merge(digits[0].v[v], nodes.v[v]);
    } else
        for (; count >> bit & 1; bit++)
            for (int32_t v = 0; v < TALLY_ACROSS; v++) nodes.v[v] = merge(digits[bit].v[v], nodes.v[v]);
    digits[bit] = nodes;
}
TALLY_FN nodes_t collect(const nodes_t *digits, int64_t count) {
    nodes_t all;
    int32_t is_first = 1;
    if (TALLY_IS_FREE && count > 0) return digits[0];
    for (int32_t v = 0; v < TALLY_ACROSS; v++) all.v[v] = nothing();
    for (int32_t bit = 0; count >> bit != 0; bit++) {
        if (!(count >> bit & 1)) continue;
        for (int32_t v = 0; v < TALLY_ACROSS; v++)
            all.v[v] = is_first ? digits[bit].v[v] : merge(digits[bit].v[v], all.v[v]);
        is_first = 0;
    }
    return all;
}

/* Writes a result. An exact one that is not certain is left to production/rows/left_rows.h. */
TALLY_FN void put_or_leave(const tally_rows_work *work, int64_t i, node_t node) {
    const int32_t is_put = put_result(&work->out, i, node);
#if TALLY_EXPANSIONS
    work->left.unsure[i] = !is_put;
    if (is_put) return;
    if (work->left.limbs != 0) clear_accumulator((accumulator_t *)(void *)work->left.limbs + i);
    tally_raise_flags(work->out.flags, TALLY_FLAG_UNSURE);
#endif
    (void)is_put;
}
TALLY_FN void put_results(const tally_rows_work *work, const panel_t *panel, const nodes_t *nodes) {
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) {
        const int64_t i = result_of(panel, v);
        if (i >= 0) put_or_leave(work, i, nodes->v[v]);
    }
}

/* ---- the tree over the chunks of a panel ---- */

/* The panels of a block go up the tree over their chunks together, each as long as it is the last to arrive. At the
 * root it has its results written. All threads take part: each has a share of the nodes of one result. The threads of
 * sub 0 have the chunk's nodes in *mine. */
TALLY_LONG void climb_panels(const tally_rows_work *work, const nodes_t *mine, shared_columns_t *shared) {
    const panel_t panel = panel_of(work, tally_thread_again());
    const int32_t width = TALLY_ACROSS * work->across, threads = panel.across * panel.subs,
                  here = panel.sub * panel.across + panel.lane, place = here % width, share = here / width,
                  shares = threads / width, least = TALLY_CHUNK_FAN / shares, each = least > 1 ? least : 1;
    char *nodes = work->nodes + panel.index * work->row_nodes * (int64_t)sizeof(node_t);
    uint32_t *arrivals = work->arrivals + panel.index * work->row_groups;
    const panel_t its = panel_at(&panel, place / TALLY_ACROSS); /* of the thread that has columns of this place */
    int32_t is_here = panel.is_task;
    int64_t chunk = panel.chunk;
    node_t node = nothing();
    if (is_here && panel.sub == 0 && panel.mine > 0)
        for (int32_t v = 0; v < TALLY_ACROSS; v++)
            *(node_t *)(void *)(nodes + (chunk * width + panel.lane * TALLY_ACROSS + v) * (int64_t)sizeof(node_t)) =
                mine->v[v];
    for (int64_t count = work->tiles; count > 1;) {
        const int64_t group = chunk / TALLY_CHUNK_FAN, at = group * TALLY_CHUNK_FAN,
                      groups = (count + TALLY_CHUNK_FAN - 1) / TALLY_CHUNK_FAN;
        const int32_t members = (int32_t)(count - at < TALLY_CHUNK_FAN ? count - at : TALLY_CHUNK_FAN),
                      left = members - share * each;
        tally_fence();
        tally_barrier();
        if (is_here && here == 0)
            shared->is_last[panel.slot] =
                tally_arrive(arrivals + group, (uint32_t)members - 1) == (uint32_t)members - 1;
        tally_barrier();
        is_here = is_here && shared->is_last[panel.slot];
        tally_fence();
        if (is_here && its.mine > 0)
            node = fetch_trees(nodes, (at + share * each) * width + place, width, left < each ? left : each);
        for (int32_t step = 1; step < shares; step *= 2) {
            shared->gathered[tally_thread()] = node;
            tally_barrier();
            if (is_here && share % (2 * step) == 0 && (share + step) * each < members)
                node = merge(node, shared->gathered[tally_thread() + step * width]);
            tally_barrier();
        }
        nodes += count * width * (int64_t)sizeof(node_t);
        arrivals += groups;
        chunk = group;
        count = groups;
        if (is_here && share == 0 && count > 1)
            *(node_t *)(void *)(nodes + (chunk * width + place) * (int64_t)sizeof(node_t)) = node;
    }
    const int64_t i = is_here && share == 0 ? result_of(&its, place % TALLY_ACROSS) : -1;
    if (i >= 0) put_or_leave(work, i, node);
}

/* Finishes the panel's chunk. Sub 0 holds its `taken` leaves as digits, or all of it in `alone`. */
TALLY_FN void finalize_panel(const tally_rows_work *work, int32_t taken, nodes_t alone, nodes_t *digits,
                             shared_columns_t *shared) {
    const panel_t panel = panel_of(work, tally_thread_again());
    const int32_t is_alone = work->length > 0 && (TALLY_ROWS_GO_ON || work->length <= leaf_values(work));
    const nodes_t nodes = is_alone ? alone : collect(digits, panel.sub == 0 ? taken : 0);
    if (work->tiles > 1) { /* with a copy: the nodes of a panel of one chunk stay in registers */
        nodes_t mine = nodes;
        climb_panels(work, &mine, shared);
    } else if (panel.is_task)
        put_results(work, &panel, &nodes);
}

/* ---- the kernel ---- */

TALLY_KERNEL_ENTRY(TALLY_THREADS, TALLY_COLUMNS, tally_rows_work, TALLY_COLUMNS_RESIDENT) {
    TALLY_SHARED(shared_columns_t, shared);
    const panel_t panel = panel_of(&work, tally_thread());
    const int64_t begin = panel.chunk * work.chunk_length;
    const int32_t log_columns = log_columns_of(&work), most = leaf_values(&work),
                  values = work.length < work.chunk_length ? (int32_t)work.length : work.chunk_length;
    nodes_t nodes,
        *digits = shared->digits[(panel.slot * panel.across + panel.lane) % (TALLY_THREADS / TALLY_LEAST_SUBS)];
    int32_t taken = 0, first = 0;
    do {
        const int64_t left = work.length - begin - first;
        const int32_t n = (int32_t)(left < 0 ? 0 : left < most ? left : most);
        const leaf_t leaf = leaf_of(&panel, begin + first, n, n <= TALLY_DEVICE_SMALL ? 3 : log_columns);
        held_t held = nothing_held();
        add_leaf(&panel, &leaf, shared, &held);
        nodes = nodes_of_subs(&panel, &leaf, begin + first, &held, shared);
        if (!TALLY_ROWS_GO_ON && n > 0 && panel.sub == 0 && panel.mine > 0 && work.length > most)
            push(digits, taken++, nodes);
        first += most;
    } while (!TALLY_ROWS_GO_ON && first < values);
    finalize_panel(&work, taken, nodes, digits, shared);
}

#endif
