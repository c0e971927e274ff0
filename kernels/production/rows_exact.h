/* Rows by an operator of kernels/exact: of each the true sum, whatever the order (docs/exact.md). The values of a row lie side by side, or are
 * few (docs/design/007). No include guard. */
#include "lib/types.h"

#include TALLY_KERNEL_FILE

#include "lib/arrival.h"
#include "lib/leaf.h"
#include "lib/levels.h"
#include "lib/extent.h"
#include "lib/terms.h"
#include "lib/ruler.h"
#include "lib/careful.h"
#include "lib/planned.h"

/* Blocks that a multiprocessor holds: as few as keep registers from spilling (tests/unit/test_compile.c). */
#if TALLY_BYTES == 2 || defined(TALLY_PRODUCTS) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800)
#define TALLY_RESIDENT 1
#else
#define TALLY_RESIDENT 2
#endif

typedef struct TALLY_N(shared) {
    TALLY_N(node) nodes[TALLY_WARPS]; /* for what is not held by levels */
    TALLY_N(partial) partials[TALLY_WARPS];
} TALLY_N(shared);

/* ---- short rows ---- */

/* Row r is at outer index r / inner and inner index r % inner; `lanes` lanes have one, `held` values each; both are constants. */
TALLY_FN void TALLY_N(take_short_rows)(const tally_work *work, const int32_t lanes, const int32_t held, TALLY_N(node) *node) {
    const tally_source from_x = tally_source_of(work->x, work->x_stride, TALLY_BYTES), from_y = tally_source_of(work->y, work->y_stride, TALLY_BYTES);
    const int64_t rows = work->outer * work->inner;
    const int32_t together = TALLY_WARP / lanes, mine = tally_lane() % lanes, length = (int32_t)work->length;
    int64_t first = ((int64_t)tally_block() * TALLY_WARPS + tally_warp()) * together << work->run;
    for (int32_t k = 0; k < 1 << work->run && first < rows; k++, first += together) {
        const int64_t row = first + tally_lane() / lanes;
        const int32_t n = row < rows ? length : 0;
        int64_t at = row * length;
        TALLY_T x[8], y[8];
        uint64_t there = 0;
        if (work->inner > 1) at = row / work->inner * length * work->inner + row % work->inner;
        TALLY_UNROLL
        for (int32_t m = 0; m < held; m++) {
            const int32_t i = mine + lanes * m;
            x[m] = y[m] = 0;
            if (i >= n) continue;
            there |= (uint64_t)1 << m;
            x[m] = y[m] = TALLY_N(read_one)(&from_x, at + i * work->inner);
            if (TALLY_KERNEL_INPUTS == 2) y[m] = TALLY_N(read_one)(&from_y, at + i * work->inner);
        }
        there = TALLY_N(leave_out)(x, y, there, held, 1);
        TALLY_N(extent) of_x = TALLY_N(measure_warp)(TALLY_N(measure_some)(x, held, 1)), of_y = of_x;
        if (TALLY_KERNEL_INPUTS == 2) of_y = TALLY_N(measure_warp)(TALLY_N(measure_some)(y, held, 1));
        TALLY_N(ruler) ruler = TALLY_N(plan_of)(of_x, of_y, length, 0);
        TALLY_N(partial) p = TALLY_N(no_partial)();
        TALLY_N(add_some)(&p, &ruler, x, y, there, held, 1);
        p.present = tally_count_bits(there);
        p = TALLY_N(fold_partial)(p, lanes);
        TALLY_N(put_partials)(work, &p, &ruler, mine == 0 && row < rows ? row : -1, at, node);
    }
}

/* ---- long rows ---- */

typedef struct TALLY_N(pairs) {
    TALLY_N(share) x, y;
    uint64_t there;
} TALLY_N(pairs);

/* The lane's part of n values from value `at` on, whichever it is: packed ones as a leaf lies, others so that neighbouring lanes read
 * neighbouring values. */
TALLY_FN TALLY_N(share) TALLY_N(read_some)(const tally_source *from, int64_t at, int64_t n) {
    TALLY_N(share) share;
    if (from->is_packed && n >= TALLY_DEVICE_LEAF) return TALLY_N(read_leaf)(from, at);
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
        const int32_t row = s * TALLY_DEVICE_COLUMNS;
        if (row >= n)
            __builtin_memset(&share.part[s], 0, sizeof share.part[s]);
        else if (from->is_packed)
            share.part[s] = TALLY_N(read_part_of)(from, at, s, n);
        else {
            TALLY_UNROLL
            for (int32_t v = 0; v < TALLY_PART; v++) {
                const int32_t i = row + v * TALLY_WARP + tally_lane();
                share.part[s].v[v] = i < n ? TALLY_N(read_one)(from, at + i) : (TALLY_T)0;
            }
        }
    }
    return share;
}
/* A leaf of n values, or as many as there are; both sources are read the same way. */
TALLY_FN TALLY_N(pairs) TALLY_N(read_pairs)(tally_source x, tally_source y, int64_t at, int64_t n) {
    TALLY_N(pairs) pairs;
    const int32_t is_packed = x.is_packed && y.is_packed;
    x.is_packed = y.is_packed = is_packed;
    pairs.there = TALLY_DEVICE_STRIPES * TALLY_PART == 64 ? UINT64_MAX : ((uint64_t)1 << TALLY_DEVICE_STRIPES * TALLY_PART % 64) - 1;
    pairs.x = TALLY_N(read_some)(&x, at, n);
    pairs.y = pairs.x;
    if (TALLY_KERNEL_INPUTS == 2) pairs.y = TALLY_N(read_some)(&y, at, n);
    if (n < TALLY_DEVICE_LEAF) {
        TALLY_UNROLL
        for (int32_t i = 0; i < TALLY_DEVICE_STRIPES * TALLY_PART; i++) {
            const int32_t s = i / TALLY_PART, v = i % TALLY_PART;
            if ((is_packed ? TALLY_N(place)(s, v) : s * TALLY_DEVICE_COLUMNS + v * TALLY_WARP + tally_lane()) >= n) pairs.there &= ~((uint64_t)1 << i);
        }
    }
    if (n < TALLY_DEVICE_LEAF || TALLY_NAN == 1)
        pairs.there = TALLY_N(leave_out)(pairs.x.part[0].v, pairs.y.part[0].v, pairs.there, TALLY_DEVICE_STRIPES * TALLY_PART, 1);
    return pairs;
}

TALLY_FN TALLY_N(ruler) TALLY_N(plan_pairs)(const TALLY_N(pairs) *pairs, int64_t n, int32_t is_sample) {
    TALLY_N(extent) of_x = TALLY_N(measure_warp)(TALLY_N(measure)(&pairs->x)), of_y = of_x;
    if (TALLY_KERNEL_INPUTS == 2) of_y = TALLY_N(measure_warp)(TALLY_N(measure)(&pairs->y));
    return TALLY_N(plan_of)(of_x, of_y, n, is_sample);
}

/* Leaves first, first + step, ... of a row, planned from its first leaf; the same in every lane. */
TALLY_FN TALLY_N(partial) TALLY_N(take_leaves)(const tally_work *work, int64_t row, int64_t first, int64_t step, TALLY_N(ruler) *ruler) {
    const tally_source x = tally_source_of(work->x + row * work->length * work->x_stride, work->x_stride, TALLY_BYTES);
    const tally_source y = tally_source_of(work->y + row * work->length * work->y_stride, work->y_stride, TALLY_BYTES);
    TALLY_N(pairs) pairs = TALLY_N(read_pairs)(x, y, 0, work->length);
    TALLY_N(partial) p = TALLY_N(no_partial)();
    *ruler = TALLY_N(plan_pairs)(&pairs, work->length, work->length > TALLY_DEVICE_LEAF);
    for (int64_t at = first * TALLY_DEVICE_LEAF; at < work->length; at += step * TALLY_DEVICE_LEAF) {
        if (at > 0) pairs = TALLY_N(read_pairs)(x, y, at, work->length - at);
        TALLY_N(add_some)(&p, ruler, pairs.x.part[0].v, pairs.y.part[0].v, pairs.there, TALLY_DEVICE_STRIPES * TALLY_PART, 1);
        p.present += tally_count_bits(pairs.there);
    }
    return TALLY_N(fold_partial)(p, TALLY_WARP);
}

/* A warp has up to 32 rows, one after another, and lane k concludes the k-th. */
TALLY_FN void TALLY_N(take_rows)(const tally_work *work, TALLY_N(node) *node) {
    const int64_t first = ((int64_t)tally_block() * TALLY_WARPS + tally_warp()) << work->run, left = work->outer - first;
    const int32_t count = (int32_t)(left < 1 << work->run ? left : 1 << work->run);
    TALLY_N(partial) mine = TALLY_N(no_partial)();
    TALLY_N(ruler) of_mine;
    if (count <= 0) return;
    for (int32_t k = 0; k < count; k++) {
        TALLY_N(ruler) ruler;
        TALLY_N(partial) p = TALLY_N(take_leaves)(work, first + k, 0, 1, &ruler);
        if (k == 0 || tally_lane() == k) mine = p, of_mine = ruler;
    }
    const int64_t row = tally_lane() < count ? first + tally_lane() : -1;
    TALLY_N(put_partials)(work, &mine, &of_mine, row, row * work->length, node);
}

/* Several blocks have a row; the last of them adds up what all have counted. */
TALLY_FN void TALLY_N(take_row_tile)(const tally_work *work, TALLY_N(shared) *shared) {
    const int64_t row = tally_block() / work->tiles, tile = tally_block() % work->tiles;
    TALLY_N(partial) *partials = (TALLY_N(partial) *)(void *)work->nodes + row * work->tiles;
    TALLY_N(ruler) ruler;
    TALLY_N(partial) p = TALLY_N(take_leaves)(work, row, tile * TALLY_WARPS + tally_warp(), work->tiles * TALLY_WARPS, &ruler);
    if (tally_lane() == 0) shared->partials[tally_warp()] = p;
    tally_barrier();
    if (tally_warp() != 0) return;
    p = TALLY_N(no_partial)();
    if (tally_lane() < TALLY_WARPS) p = shared->partials[tally_lane()];
    p = TALLY_N(fold_partial)(p, TALLY_WARP);
    if (work->tiles > 1) {
        if (tally_lane() == 0) partials[tile] = p;
        if (!tally_is_last(work->arrivals + row, (int32_t)work->tiles)) return;
        p = TALLY_N(no_partial)();
        for (int64_t t = tally_lane(); t < work->tiles; t += TALLY_WARP) TALLY_N(join_partials)(&p, TALLY_N(fetch_partial)(partials + t));
        p = TALLY_N(fold_partial)(p, TALLY_WARP);
    }
    TALLY_N(put_partials)(work, &p, &ruler, tally_lane() == 0 ? row : -1, row * work->length, &shared->nodes[0]);
}

TALLY_ENTRY(TALLY_N(TALLY_PASTE(exact_rows_, TALLY_KERNEL)), TALLY_RESIDENT) {
    TALLY_SHARED(TALLY_N(shared), shared);
    TALLY_N(node) *node = &shared->nodes[tally_warp()];
    if (work.lanes == 1 && work.length <= 4)
        TALLY_N(take_short_rows)(&work, 1, 4, node);
    else if (work.lanes == 1)
        TALLY_N(take_short_rows)(&work, 1, 8, node);
    else if (work.lanes == 2)
        TALLY_N(take_short_rows)(&work, 2, 8, node);
    else if (work.lanes == 4)
        TALLY_N(take_short_rows)(&work, 4, 8, node);
    else if (work.lanes == 8)
        TALLY_N(take_short_rows)(&work, 8, 8, node);
    else if (work.tiles == 0)
        TALLY_N(take_rows)(&work, node);
    else
        TALLY_N(take_row_tile)(&work, shared);
}

#undef TALLY_RESIDENT
#undef TALLY_PART
#undef TALLY_DEVICE_COLUMNS
#undef TALLY_DEVICE_LEAF
#include "lib/terms_end.h"
#include "lib/exact_end.h"
#include "lib/types_end.h"
