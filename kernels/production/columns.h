/* Rows along an axis that is not the last, by any operator of kernels/operators, in the canonical order
 * (docs/order.md). Their values lie `inner` apart, and their results side by side (docs/design/007). No include guard:
 * included once for each type.
 *
 * Neighbouring threads take neighbouring results, some each: a panel. Where results are few or rows long, threads share
 * a row: each takes some columns of a leaf, and they fold what is left through shared memory. Runs of leaves are
 * chunks; the last block to arrive at a group of chunks combines them. */
#include "lib/types.h"

#include TALLY_KERNEL_FILE
#include "lib/leaf_node.h"
#include "lib/tile.h"
#include "lib/put_result.h"

/* Blocks that a multiprocessor holds: as few as keep registers from spilling (tests/unit/test_compile.c). */
#if TALLY_BYTES <= 2 || (TALLY_PASSES == 2 && TALLY_BYTES == 8)
#define TALLY_RESIDENT 1
#else
#define TALLY_RESIDENT 2
#endif
/* log2 of the columns that a thread visits: at least 8 share a leaf. */
#define TALLY_WALK_BITS (TALLY_BYTES == 1 ? 6 : TALLY_BYTES == 2 ? 5 : TALLY_BYTES == 4 ? 4 : 3)
#define TALLY_LEAST_SUBS 8                   /* of a panel (src/cuda/rows.c) */
#define TALLY_DIGITS (TALLY_IS_FREE ? 1 : 5) /* of a number up to TALLY_CHUNK_LEAVES */

enum {
    TALLY_N(results_across) =
        TALLY_ACROSS_OF((sizeof(TALLY_N(node)) + 15) / 16 * 16, TALLY_BYTES, TALLY_KERNEL_INPUTS, !TALLY_IS_FREE)
};
#define TALLY_ACROSS TALLY_N(results_across)

#include "lib/panel.h"

#if TALLY_PASSES == 2
typedef struct TALLY_N(aims) {
    TALLY_N(aim) v[TALLY_ACROSS];
} TALLY_N(aims);
#else
typedef char TALLY_N(aims);
#endif

#define TALLY_SUFFIX
#define TALLY_RECORD TALLY_N(column)
#define TALLY_COMBINE TALLY_N(combine)
#define TALLY_NOTHING TALLY_N(identity)()
#define TALLY_LIFT(x, y, k, v) TALLY_N(lift)(TALLY_N(item_of)(x), TALLY_N(item_of)(y))
#include "lib/walk.h"
#if TALLY_PASSES == 2
#define TALLY_SUFFIX 2
#define TALLY_RECORD TALLY_N(second)
#define TALLY_COMBINE TALLY_N(combine2)
#define TALLY_NOTHING TALLY_N(identity2)()
#define TALLY_LIFT(x, y, k, v) TALLY_N(lift2)(TALLY_N(item_of)(x), k, aims->v[v])
#include "lib/walk.h"
#endif

/* ---- one leaf ---- */

typedef struct TALLY_N(nodes) {
    TALLY_N(node) v[TALLY_ACROSS];
} TALLY_N(nodes);

/* A thread of sub 0 has a row of the digits: a panel has TALLY_LEAST_SUBS or more. */
typedef struct TALLY_N(shared_columns) {
    union {
        TALLY_N(across) columns[TALLY_BLOCK];
#if TALLY_PASSES == 2
        TALLY_N(across2) seconds[TALLY_BLOCK];
        TALLY_N(aims) aims[TALLY_BLOCK];
#endif
        int32_t present[TALLY_BLOCK][TALLY_ACROSS];
    } of;
    TALLY_N(nodes) digits[TALLY_BLOCK / TALLY_LEAST_SUBS][TALLY_DIGITS];
} TALLY_N(shared_columns);

/* Sums of `present` over the subs, for sub 0. */
TALLY_FN void TALLY_N(count_subs)(int32_t *present, const TALLY_N(panel) *panel, TALLY_N(shared_columns) *shared) {
    tally_barrier();
    for (int32_t v = 0; v < TALLY_ACROSS; v++) shared->of.present[tally_thread()][v] = present[v];
    tally_barrier();
    if (panel->sub != 0) return;
    for (int32_t sub = 1; sub < panel->subs; sub++)
        for (int32_t v = 0; v < TALLY_ACROSS; v++)
            present[v] += shared->of.present[tally_thread() + sub * panel->across][v];
}

/* The leaf of n values (0: none) that begins with value `at` of each row, for the threads of sub 0; all threads of the
 * block take part. */
TALLY_FN TALLY_N(nodes) TALLY_N(leaf_of_columns)(const TALLY_N(panel) *panel, int64_t at, int32_t n,
                                                 TALLY_N(shared_columns) *shared) {
    const int32_t columns = n <= TALLY_DEVICE_SMALL ? 8 : TALLY_DEVICE_COLUMNS;
    int32_t present[TALLY_ACROSS];
    TALLY_N(nodes) nodes;
    TALLY_N(across) sum;
#if TALLY_FLOAT && TALLY_NAN == 1
    for (int32_t v = 0; v < TALLY_ACROSS; v++) present[v] = 0;
    sum = TALLY_N(walk)(panel, at, n, columns, present, 0);
    TALLY_N(count_subs)(present, panel, shared);
#else
    for (int32_t v = 0; v < TALLY_ACROSS; v++) present[v] = n;
    sum = TALLY_N(walk)(panel, at, n, columns, 0, 0);
#endif
    sum = TALLY_N(fold_subs)(sum, panel, shared->of.columns);
#if TALLY_PASSES == 2
    TALLY_N(aims) aims;
    tally_barrier();
    if (panel->sub == 0)
        for (int32_t v = 0; v < TALLY_ACROSS; v++)
            shared->of.aims[tally_thread()].v[v] = TALLY_N(take_aim)(sum.v[v], present[v]);
    tally_barrier();
    aims = shared->of.aims[tally_thread() - panel->sub * panel->across];
    TALLY_N(across2) second = TALLY_N(walk2)(panel, at, n, columns, 0, &aims);
    second = TALLY_N(fold_subs2)(second, panel, shared->of.seconds);
    for (int32_t v = 0; v < TALLY_ACROSS; v++)
        nodes.v[v] = TALLY_N(seal)(sum.v[v], aims.v[v], second.v[v], present[v], at);
#else
    for (int32_t v = 0; v < TALLY_ACROSS; v++) nodes.v[v] = TALLY_N(seal)(sum.v[v], present[v]);
#endif
    return nodes;
}

/* ---- nodes that follow one another, as digits of a binary counter ---- */

TALLY_FN void TALLY_N(push)(TALLY_N(nodes) *digits, int64_t count, TALLY_N(nodes) nodes) {
    int32_t bit = 0;
    if (TALLY_IS_FREE) { /* one digit will do */
        for (int32_t v = 0; v < TALLY_ACROSS && count > 0; v++) nodes.v[v] = TALLY_N(merge)(digits[0].v[v], nodes.v[v]);
    } else
        for (; count >> bit & 1; bit++)
            for (int32_t v = 0; v < TALLY_ACROSS; v++) nodes.v[v] = TALLY_N(merge)(digits[bit].v[v], nodes.v[v]);
    digits[bit] = nodes;
}
TALLY_FN TALLY_N(nodes) TALLY_N(collect)(const TALLY_N(nodes) *digits, int64_t count) {
    TALLY_N(nodes) all;
    int32_t is_first = 1;
    if (TALLY_IS_FREE && count > 0) return digits[0];
    for (int32_t v = 0; v < TALLY_ACROSS; v++) all.v[v] = TALLY_N(nothing)();
    for (int32_t bit = 0; count >> bit != 0; bit++) {
        if (!(count >> bit & 1)) continue;
        for (int32_t v = 0; v < TALLY_ACROSS; v++)
            all.v[v] = is_first ? digits[bit].v[v] : TALLY_N(merge)(digits[bit].v[v], all.v[v]);
        is_first = 0;
    }
    return all;
}

/* The first warp of a panel takes its nodes up the tree over the panel's chunks, as far as it is the last to arrive. */
TALLY_FN int32_t TALLY_N(climb_panel)(const tally_work *work, const TALLY_N(panel) *panel, TALLY_N(nodes) *mine,
                                      TALLY_N(nodes) *digits) {
    const int32_t lane = panel->sub == 0 && panel->mine > 0 ? panel->lane : -1;
    int64_t chunk = panel->chunk;
    const int64_t width = (int64_t)TALLY_ACROSS << work->log_across;
    char *nodes = work->nodes + panel->index * work->row_nodes * (int64_t)sizeof(TALLY_N(node));
    uint32_t *arrivals = work->arrivals + panel->index * work->row_groups;
    for (int64_t count = work->tiles; count > 1;) {
        const int64_t group = chunk / TALLY_CHUNK_FAN, at = group * TALLY_CHUNK_FAN,
                      groups = (count + TALLY_CHUNK_FAN - 1) / TALLY_CHUNK_FAN;
        const int32_t members = (int32_t)(count - at < TALLY_CHUNK_FAN ? count - at : TALLY_CHUNK_FAN);
        if (lane >= 0)
            for (int32_t v = 0; v < TALLY_ACROSS; v++)
                *(TALLY_N(node) *)(void *)(nodes + (chunk * width + lane * TALLY_ACROSS + v) *
                                                       (int64_t)sizeof(TALLY_N(node))) = mine->v[v];
        tally_fence();
        tally_warp_barrier();
        if (!tally_is_last(arrivals + group, members)) return 0;
        for (int32_t m = 0; m < members && lane >= 0; m++) {
            TALLY_N(nodes) one;
            for (int32_t v = 0; v < TALLY_ACROSS; v++)
                one.v[v] = TALLY_N(fetch_node)(nodes, (at + m) * width + lane * TALLY_ACROSS + v);
            TALLY_N(push)(digits, m, one);
        }
        if (lane >= 0) *mine = TALLY_N(collect)(digits, members);
        nodes += count * width * (int64_t)sizeof(TALLY_N(node));
        arrivals += groups;
        chunk = group;
        count = groups;
    }
    return 1;
}

/* The results of the panel's chunk, of which sub 0 holds `taken` leaves in its digits; or of the panel, if it is the
 * last of its chunks. */
TALLY_FN void TALLY_N(conclude_panel)(const tally_work *work, int32_t taken, TALLY_N(nodes) *digits) {
    const TALLY_N(panel) panel = TALLY_N(panel_of)(work, tally_thread_again());
    if (panel.sub * panel.across >= TALLY_WARP || !panel.is_task) return;
    TALLY_N(nodes) nodes = TALLY_N(collect)(digits, panel.sub == 0 ? taken : 0);
    if (!TALLY_N(climb_panel)(work, &panel, &nodes, digits)) return;
    for (int32_t v = 0; v < TALLY_ACROSS; v++) {
        const int64_t i = TALLY_N(result_of)(&panel, v);
        if (i >= 0) TALLY_N(put_result)(work, i, nodes.v[v]);
    }
}

/* ---- the kernel ---- */

TALLY_ENTRY(TALLY_N(TALLY_PASTE(columns_, TALLY_KERNEL)), TALLY_RESIDENT) {
    TALLY_SHARED(TALLY_N(shared_columns), shared);
    const TALLY_N(panel) panel = TALLY_N(panel_of)(&work, tally_thread());
    const int64_t leaves = (work.length + TALLY_DEVICE_LEAF - 1) / TALLY_DEVICE_LEAF, run = (int64_t)1 << work.run;
    TALLY_N(nodes) *digits =
        shared->digits[(panel.slot * panel.across + panel.lane) % (TALLY_BLOCK / TALLY_LEAST_SUBS)];
    int32_t taken = 0;
    for (int64_t k = 0; k < run && k < leaves; k++) {
        const int64_t at = (panel.chunk * run + k) * TALLY_DEVICE_LEAF, left = work.length - at;
        const int32_t n = (int32_t)(panel.mine == 0 || left < 0 ? 0
                                    : left < TALLY_DEVICE_LEAF  ? left
                                                                : TALLY_DEVICE_LEAF);
        const TALLY_N(nodes) nodes = TALLY_N(leaf_of_columns)(&panel, at, n, shared);
        if (n > 0 && panel.sub == 0) TALLY_N(push)(digits, taken++, nodes);
    }
    TALLY_N(conclude_panel)(&work, taken, digits);
}

#undef TALLY_WALK_BITS
#undef TALLY_DIGITS
#undef TALLY_LEAST_SUBS
#undef TALLY_ACROSS
#include "lib/leaf_node_end.h"
#include "lib/operator_end.h"
#include "lib/types_end.h"
