/* A whole array by any operator of kernels/operators, in the canonical order (docs/order.md), in one launch.
 *
 * A warp reads runs of leaves, a block has one tile of such runs, and the last block to arrive at a group of tiles combines the group: the
 * last-block guard of NVIDIA's threadFenceReduction sample, with a fixed fan-in so that the tree is the canonical one, counters that
 * wrap around to 0, and mailboxes in place of its fence: nothing has to be cleared or waited for. No include guard: included once for each
 * type. */
#include "lib/types.h"

#include TALLY_KERNEL_FILE

#include "lib/conclude.h"
#include "lib/leaf.h"
#include "lib/mailbox.h"

#define TALLY_FAN 64 /* nodes that one warp combines: two for each lane */

/* Where order cannot show, a lane folds what it holds as it likes: into TALLY_HELD columns, enough to keep adders busy. */
#define TALLY_IS_FREE (TALLY_KERNEL_ORDER == 0 || (TALLY_KERNEL_ORDER == 1 && !TALLY_FLOAT))
#define TALLY_HELD (TALLY_IS_FREE && TALLY_PART > 4 ? 4 : TALLY_PART)

#define TALLY_SUFFIX
#define TALLY_RECORD TALLY_N(column)
#define TALLY_COMBINE TALLY_N(combine)
#include "lib/halves.h"
#if TALLY_PASSES == 2
#define TALLY_SUFFIX 2
#define TALLY_RECORD TALLY_N(second)
#define TALLY_COMBINE TALLY_N(combine2)
#include "lib/halves.h"
#endif

/* Blocks that a multiprocessor holds: three, or two where three would have registers spill on every architecture. */
#if TALLY_PASSES == 2
#define TALLY_HELD_BYTES (TALLY_HELD * (sizeof(TALLY_N(column)) + sizeof(TALLY_N(second))))
#else
#define TALLY_HELD_BYTES (TALLY_HELD * sizeof(TALLY_N(column)))
#endif
#define TALLY_RESIDENT (TALLY_KERNEL_INPUTS == 2 || TALLY_HELD_BYTES >= 80 ? 2 : 3)

/* ---- one leaf ---- */

#ifdef TALLY_USER_TEXT
#include "lib/user_leaf.h"
#else
#define TALLY_IN_REGISTERS 1
#define TALLY_STAGE tally_stage
#endif

#if TALLY_IN_REGISTERS

/* Puts stripe s behind its columns; values beyond n are left out. */
TALLY_FN void TALLY_N(stack)(TALLY_N(column) *columns, const TALLY_N(part) *x, const TALLY_N(part) *y, int32_t s, int64_t n) {
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_PART; v++) {
        TALLY_N(column) lifted = TALLY_N(lift)(TALLY_N(item_of)(x->v[v]), TALLY_N(item_of)(y->v[v]));
        if (n < TALLY_DEVICE_LEAF && TALLY_N(place)(s, v) >= n) lifted = TALLY_N(identity)();
        columns[v % TALLY_HELD] = s == 0 && v < TALLY_HELD ? lifted : TALLY_N(combine)(columns[v % TALLY_HELD], lifted);
    }
}
#if TALLY_PASSES == 2
TALLY_FN void TALLY_N(stack2)(TALLY_N(second) *columns, const TALLY_N(part) *x, TALLY_N(aim) aim, int32_t s, int64_t n) {
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_PART; v++) {
        TALLY_N(second) lifted = TALLY_N(lift2)(TALLY_N(item_of)(x->v[v]), TALLY_N(place)(s, v), aim);
        if (n < TALLY_DEVICE_LEAF && TALLY_N(place)(s, v) >= n) lifted = TALLY_N(identity2)();
        columns[v % TALLY_HELD] = s == 0 && v < TALLY_HELD ? lifted : TALLY_N(combine2)(columns[v % TALLY_HELD], lifted);
    }
}
#define TALLY_SEAL(column, present, first, read_again) \
    do {                                               \
        TALLY_N(second) columns2[TALLY_HELD];          \
        TALLY_N(aim) aim = TALLY_N(take_aim)(column, present); \
        read_again;                                    \
        return TALLY_N(seal)(column, aim, TALLY_N(fold2)(columns2), present, first); \
    } while (0)
#else
#define TALLY_SEAL(column, present, first, read_again) return (void)(first), TALLY_N(seal)(column, present)
#endif

/* How many of the lane's values of stripe s are there, and counted by the NaN policy. */
TALLY_FN uint32_t TALLY_N(count_part)(const TALLY_N(part) *x, const TALLY_N(part) *y, int32_t s, int64_t n) {
    uint32_t present = 0;
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_PART; v++)
        present += TALLY_N(place)(s, v) < n && TALLY_N(present)(x->v[v]) && TALLY_N(present)(y->v[v]);
    return present;
}
/* Their number in the warp; without such a policy it is n. */
#if TALLY_FLOAT && TALLY_NAN == 1
#define TALLY_COUNT(present, x, y, s, n) (present) += TALLY_N(count_part)(x, y, s, n)
TALLY_FN int64_t TALLY_N(count)(uint32_t present, int64_t n) {
    (void)n;
    for (int32_t mask = TALLY_WARP / 2; mask > 0; mask /= 2) present += tally_shuffle_xor(present, mask);
    return (int64_t)present;
}
#else
#define TALLY_COUNT(present, x, y, s, n) (void)(present)
TALLY_FN int64_t TALLY_N(count)(uint32_t present, int64_t n) { return (void)present, n; }
#endif

#if TALLY_BYTES == 1
#define TALLY_UNROLL_WIDE TALLY_ROLL
#else
#define TALLY_UNROLL_WIDE TALLY_UNROLL
#endif
/* A whole leaf, from registers. A second pass over many narrow values reads them again, which keeps registers from spilling. An operator
 * that may spare the second pass does so when the leaf cannot be better than `best`, the node so far; the leaf is then counted in it. */
TALLY_FN TALLY_N(node) TALLY_N(plain_node)(const char *from_x, const char *from_y, int64_t at, int64_t first, TALLY_N(node) *best,
                                           int32_t *is_spared) {
    const int64_t n = TALLY_DEVICE_LEAF;
    TALLY_N(share) x = TALLY_N(read_leaf)(from_x, at), y = x;
    TALLY_N(column) columns[TALLY_HELD], column;
    uint32_t present = 0;
    if (TALLY_KERNEL_INPUTS == 2) y = TALLY_N(read_leaf)(from_y, at);
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
        TALLY_N(stack)(columns, &x.part[s], &y.part[s], s, n);
        TALLY_COUNT(present, &x.part[s], &y.part[s], s, n);
    }
    column = TALLY_N(fold)(columns);
    (void)best, (void)is_spared;
#ifdef TALLY_CAN_SPARE
    if (TALLY_N(spare)(*best, column)) {
        best->n += TALLY_N(count)(present, n);
        *is_spared = 1;
        return *best;
    }
#endif
    TALLY_SEAL(column, TALLY_N(count)(present, n), first + at, {
        if (TALLY_BYTES == 2) x = TALLY_N(read_leaf)(from_x, at);
        TALLY_UNROLL_WIDE
        for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
            if (TALLY_BYTES == 1) x.part[0] = TALLY_N(read_part)(from_x, at, s);
            TALLY_N(stack2)(columns2, &x.part[TALLY_BYTES == 1 ? 0 : s], aim, s, n);
        }
    });
}

#endif

#ifndef TALLY_USER_TEXT
/* A leaf that is short, or whose values lie apart: stripe by stripe. */
TALLY_FN TALLY_N(node) TALLY_N(staged_node)(const tally_source *from_x, const tally_source *from_y, int64_t at, int64_t n, int64_t first,
                                            tally_stage *stage) {
    TALLY_N(column) columns[TALLY_HELD], column;
    uint32_t present = 0;
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
        int64_t row = s * TALLY_DEVICE_COLUMNS;
        TALLY_N(part) x = TALLY_N(read_stripe)(from_x, at + row, n - row, stage), y = x;
        if (TALLY_KERNEL_INPUTS == 2) y = TALLY_N(read_stripe)(from_y, at + row, n - row, stage);
        TALLY_N(stack)(columns, &x, &y, s, n);
        TALLY_COUNT(present, &x, &y, s, n);
    }
    column = TALLY_N(fold)(columns);
    TALLY_SEAL(column, TALLY_N(count)(present, n), first + at, {
        for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
            int64_t row = s * TALLY_DEVICE_COLUMNS;
            TALLY_N(part) x = TALLY_N(read_stripe)(from_x, at + row, n - row, stage);
            TALLY_N(stack2)(columns2, &x, aim, s, n);
        }
    });
}

/* A leaf of 1 to 64 values has rows of 8: lane l has column l % 8. */
TALLY_FN TALLY_N(node) TALLY_N(small_node)(const tally_source *x, const tally_source *y, int64_t at, int64_t n, int64_t first) {
    TALLY_N(column) column = TALLY_N(identity)();
    int64_t present = n;
    int32_t c = tally_lane() % 8;
    for (int32_t i = c; i < n; i += 8) {
        TALLY_N(column) lifted = TALLY_N(lift)(TALLY_N(item_of)(TALLY_N(read_one)(x, at + i)), TALLY_N(item_of)(TALLY_N(read_one)(y, at + i)));
        column = i == c ? lifted : TALLY_N(combine)(column, lifted);
    }
    column = TALLY_N(fold_small)(column);
#if TALLY_FLOAT && TALLY_NAN == 1
    present = 0;
    for (int32_t i = 0; i < n; i++)
        present += TALLY_N(present)(TALLY_N(read_one)(x, at + i)) && TALLY_N(present)(TALLY_N(read_one)(y, at + i));
#endif
#if TALLY_PASSES == 2
    TALLY_N(aim) aim = TALLY_N(take_aim)(column, present);
    TALLY_N(second) second = TALLY_N(identity2)();
    for (int32_t i = c; i < n; i += 8) {
        TALLY_N(second) lifted = TALLY_N(lift2)(TALLY_N(item_of)(TALLY_N(read_one)(x, at + i)), i, aim);
        second = i == c ? lifted : TALLY_N(combine2)(second, lifted);
    }
    return TALLY_N(seal)(column, aim, TALLY_N(fold_small2)(second), present, first);
#else
    (void)first;
    return TALLY_N(seal)(column, present);
#endif
}

/* The leaf that begins at value `at`, which cannot be read at once; the same node in every lane. */
TALLY_RARE TALLY_N(node) TALLY_N(slow_node)(const tally_work *work, int64_t at, tally_stage *stage) {
    tally_source x = tally_source_of(work->x, work->x_stride, TALLY_BYTES), y = tally_source_of(work->y, work->y_stride, TALLY_BYTES);
    int64_t n = work->count - at;
    if (n <= TALLY_DEVICE_SMALL) return TALLY_N(small_node)(&x, &y, at, n, work->first + at);
    return TALLY_N(staged_node)(&x, &y, at, n < TALLY_DEVICE_LEAF ? n : TALLY_DEVICE_LEAF, work->first, stage);
}
#endif

/* ---- trees of nodes ---- */

typedef struct TALLY_N(words) {
    uint32_t w[sizeof(TALLY_N(node)) / 4];
} TALLY_N(words);

/* The adjacent-pair tree over one node in each of lanes 0 ... count - 1; the result is lane 0's. */
TALLY_FN TALLY_N(node) TALLY_N(pair_lanes)(TALLY_N(node) mine, int32_t count) {
    for (int32_t apart = 1; apart < count; apart *= 2) {
        TALLY_N(words) words;
        TALLY_N(node) later;
        int32_t from = tally_lane() + apart;
        __builtin_memcpy(&words, &mine, sizeof words);
        TALLY_UNROLL
        for (uint32_t k = 0; k < sizeof words / 4; k++) words.w[k] = tally_shuffle(words.w[k], from % TALLY_WARP);
        __builtin_memcpy(&later, &words, sizeof later);
        if (from < count && tally_lane() % (2 * apart) == 0) mine = TALLY_N(merge)(mine, later);
    }
    return mine;
}

/* ---- the tree over tiles ---- */

/* Node `index` of the `count` of one level, and the group that it is combined in. */
typedef struct TALLY_N(rank) {
    uint64_t *boxes;    /* of the level */
    uint32_t *arrivals; /* of its groups */
    int64_t index, count;
} TALLY_N(rank);

TALLY_FN int32_t TALLY_N(members)(TALLY_N(rank) rank) {
    int64_t left = rank.count - rank.index / TALLY_FAN * TALLY_FAN;
    return (int32_t)(left < TALLY_FAN ? left : TALLY_FAN);
}

enum { TALLY_N(node_words) = sizeof(TALLY_N(node)) / 4 };

/* Lane 0's node is left for whoever arrives last at the group. True: that is this warp. */
TALLY_FN int32_t TALLY_N(arrive)(TALLY_N(rank) rank, TALLY_N(node) node) {
    uint32_t before = 0, most = (uint32_t)TALLY_N(members)(rank) - 1;
    TALLY_N(words) words;
    __builtin_memcpy(&words, &node, sizeof node);
    if (tally_lane() == 0) {
        tally_post(rank.boxes + rank.index * TALLY_N(node_words), words.w, TALLY_N(node_words));
        before = tally_arrive(rank.arrivals + rank.index / TALLY_FAN, most);
    }
    return tally_shuffle(before, 0) == most;
}

TALLY_FN TALLY_N(node) TALLY_N(take_node)(TALLY_N(rank) rank, int64_t index) {
    TALLY_N(node) node;
    TALLY_N(words) words;
    tally_take(rank.boxes + index * TALLY_N(node_words), words.w, TALLY_N(node_words));
    __builtin_memcpy(&node, &words, sizeof node);
    return node;
}

/* Lane 0 has the node of the whole. */
TALLY_RARE void TALLY_N(deliver)(const tally_work *work, TALLY_N(node) node) {
    if (tally_lane() != 0) return;
    if (work->node != 0) __builtin_memcpy(work->node, &node, sizeof node);
    if (work->result != 0) {
        TALLY_N(result) result;
        int32_t saw = TALLY_N(conclude)(node, &work->final, &result);
        __builtin_memcpy(work->result, &result, sizeof result);
        if (work->saw != 0 && saw != 0) tally_or32(work->saw, saw);
    }
}

/* By the last warp to arrive at the group of `rank`: it combines the group, and goes up the tree as far as it is the last. */
TALLY_RARE void TALLY_N(climb)(const tally_work *work, TALLY_N(rank) rank) {
    TALLY_N(node) node;
    do {
        int64_t group = rank.index / TALLY_FAN, groups = (rank.count + TALLY_FAN - 1) / TALLY_FAN, at = group * TALLY_FAN;
        int32_t members = TALLY_N(members)(rank), mine = 2 * tally_lane();
        node = TALLY_N(nothing)();
        if (mine < members) node = TALLY_N(take_node)(rank, at + mine);
        if (mine + 1 < members) node = TALLY_N(merge)(node, TALLY_N(take_node)(rank, at + mine + 1));
        node = TALLY_N(pair_lanes)(node, (members + 1) / 2);
        if (groups == 1) {
            TALLY_N(deliver)(work, node);
            return;
        }
        rank.boxes += rank.count * TALLY_N(node_words);
        rank.arrivals += groups;
        rank.index = group;
        rank.count = groups;
    } while (TALLY_N(arrive)(rank, node));
}

/* ---- the kernel ---- */

typedef struct TALLY_N(shared) {
    TALLY_STAGE stage;
    TALLY_N(node) nodes[TALLY_WARPS];
} TALLY_N(shared);

/* The warp's run of leaves, of which there are `leaves` from leaf `begin` on; lane 0's is the node. */
TALLY_FN TALLY_N(node) TALLY_N(run_node)(const tally_work *work, int64_t begin, int64_t leaves, TALLY_STAGE *stage) {
    tally_source x = tally_source_of(work->x, work->x_stride, TALLY_BYTES), y = tally_source_of(work->y, work->y_stride, TALLY_BYTES);
    int64_t whole = x.is_packed && y.is_packed ? work->count - TALLY_DEVICE_LEAF : -1; /* the last place of a leaf that can be read at once */
    TALLY_N(node) node = TALLY_N(nothing)();
    for (int32_t read = 0; read < leaves; read++) {
        int64_t at = (begin + read) * TALLY_DEVICE_LEAF;
        TALLY_N(node) leaf;
        int32_t is_spared = 0;
        if (at > whole)
            leaf = TALLY_N(slow_node)(work, at, stage);
        else
#if TALLY_IN_REGISTERS
            leaf = TALLY_N(plain_node)(work->x, work->y, at, work->first, &node, &is_spared);
#else
            leaf = TALLY_N(staged_node)(work->x, at, stage);
#endif
        if (is_spared) continue;
        if (TALLY_IS_FREE)
            node = TALLY_N(merge)(node, leaf);
        else if (read == tally_lane()) /* lane i keeps leaf i of the run */
            node = leaf;
    }
    return TALLY_IS_FREE ? node : TALLY_N(pair_lanes)(node, (int32_t)leaves);
}

TALLY_ENTRY(TALLY_N(TALLY_PASTE(reduce_, TALLY_KERNEL)), TALLY_RESIDENT) {
    TALLY_SHARED(TALLY_N(shared), shared);
    int64_t leaves = (work.count + TALLY_DEVICE_LEAF - 1) / TALLY_DEVICE_LEAF, runs = (leaves + (1 << work.run) - 1) >> work.run;
    int64_t mine = (int64_t)tally_block() * TALLY_WARPS + tally_warp(), begin = mine << work.run, left = leaves - begin;
    TALLY_N(node) node = TALLY_N(run_node)(&work, begin, left < 1 << work.run ? left : 1 << work.run, &shared->stage);
    TALLY_N(rank) rank;
    if (tally_lane() == 0) shared->nodes[tally_warp()] = node;
    tally_barrier();
    if (tally_warp() != 0) return;
    node = TALLY_N(pair_lanes)(shared->nodes[tally_lane() % TALLY_WARPS], (int32_t)(runs - mine < TALLY_WARPS ? runs - mine : TALLY_WARPS));
    rank.boxes = (uint64_t *)(void *)work.nodes;
    rank.arrivals = work.arrivals;
    rank.index = tally_block();
    rank.count = tally_blocks();
    if (rank.count == 1)
        TALLY_N(deliver)(&work, node);
    else if (TALLY_N(arrive)(rank, node))
        TALLY_N(climb)(&work, rank);
}

#undef TALLY_FAN
#undef TALLY_RESIDENT
#undef TALLY_HELD_BYTES
#undef TALLY_UNROLL_WIDE
#undef TALLY_IN_REGISTERS
#undef TALLY_STAGE
#undef TALLY_LEAF_QUADS
#undef TALLY_SEAL
#undef TALLY_COUNT
#undef TALLY_IS_FREE
#undef TALLY_HELD
#undef TALLY_PART
#undef TALLY_SLOT
#undef TALLY_DEVICE_COLUMNS
#undef TALLY_DEVICE_LEAF
#include "lib/operator_end.h"
#include "lib/types_end.h"
