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
#if defined(TALLY_PRODUCTS) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800)
#define TALLY_RESIDENT 1
#else
#define TALLY_RESIDENT 2
#endif

typedef struct TALLY_N(shared) {
    TALLY_N(node) nodes[TALLY_WARPS]; /* for what is not held by levels */
    TALLY_N(partial) partials[TALLY_WARPS];
} TALLY_N(shared);

/* ---- short rows ---- */

/* n values of a row, apart, from value `at` on, by `lanes` lanes, which have `held` of them each, at most; both are constants. 0: there is no
 * row. All lanes of the warp take part. */
TALLY_FN TALLY_N(partial) TALLY_N(short_row)(const tally_work *work, int64_t at, int32_t n, const int32_t lanes, const int32_t held,
                                             TALLY_N(ruler) *ruler) {
    const tally_source from_x = tally_source_of(work->x, work->x_stride, TALLY_BYTES), from_y = tally_source_of(work->y, work->y_stride, TALLY_BYTES);
    TALLY_N(partial) p = TALLY_N(no_partial)();
    TALLY_N(extent) of_x, of_y;
    TALLY_T x[8], y[8];
    uint64_t there = 0;
    TALLY_UNROLL
    for (int32_t m = 0; m < held; m++) {
        const int32_t i = tally_lane() % lanes + lanes * m;
        x[m] = y[m] = 0;
        if (i >= n) continue;
        there |= (uint64_t)1 << m;
        x[m] = y[m] = TALLY_N(read_one)(&from_x, at + i * work->inner);
        if (TALLY_KERNEL_INPUTS == 2) y[m] = TALLY_N(read_one)(&from_y, at + i * work->inner);
    }
    there = TALLY_N(leave_out)(x, y, there, &p.absent, held, 1);
    of_x = of_y = TALLY_N(measure_warp)(TALLY_N(measure_some)(x, held, 1));
    if (TALLY_KERNEL_INPUTS == 2) of_y = TALLY_N(measure_warp)(TALLY_N(measure_some)(y, held, 1));
    *ruler = TALLY_N(plan_of)(of_x, of_y, work->length, 0);
    TALLY_N(add_some)(&p, ruler, x, y, there, held, 1);
    return TALLY_N(fold_partial)(p, lanes);
}

/* Row r is at outer index r / inner and inner index r % inner. */
TALLY_FN void TALLY_N(take_short_rows)(const tally_work *work, TALLY_N(node) *node) {
    const int64_t rows = work->outer * work->inner;
    const int32_t together = TALLY_WARP / work->lanes, mine = tally_lane() % work->lanes;
    int64_t first = ((int64_t)tally_block() * TALLY_WARPS + tally_warp()) * together << work->run;
    for (int32_t k = 0; k < 1 << work->run && first < rows; k++, first += together) {
        const int64_t row = first + tally_lane() / work->lanes;
        const int64_t at = work->inner == 1 ? row * work->length : row / work->inner * work->length * work->inner + row % work->inner;
        const int32_t n = row < rows ? (int32_t)work->length : 0;
        TALLY_N(ruler) ruler;
        TALLY_N(partial) p;
        if (work->lanes == 1 && work->length <= 4) p = TALLY_N(short_row)(work, at, n, 1, 4, &ruler);
        else if (work->lanes == 1) p = TALLY_N(short_row)(work, at, n, 1, 8, &ruler);
        else if (work->lanes == 2) p = TALLY_N(short_row)(work, at, n, 2, 8, &ruler);
        else if (work->lanes == 4) p = TALLY_N(short_row)(work, at, n, 4, 8, &ruler);
        else p = TALLY_N(short_row)(work, at, n, 8, 8, &ruler);
        TALLY_N(put_partials)(work, &p, &ruler, mine == 0 && row < rows ? row : -1, at, node);
    }
}

/* ---- long rows ---- */

/* A warp takes a leaf at a time, or half of one where it has more values than registers. */
#define TALLY_GULP_STRIPES (TALLY_BYTES == 2 ? 4 : TALLY_DEVICE_STRIPES)
#define TALLY_GULP (TALLY_GULP_STRIPES * TALLY_DEVICE_COLUMNS)
#define TALLY_EACH (TALLY_GULP_STRIPES * TALLY_PART) /* values of a lane */
typedef struct TALLY_N(pairs) {
    TALLY_T x[TALLY_EACH], y[TALLY_EACH];
    uint64_t there;
    int64_t absent;
} TALLY_N(pairs);

typedef struct TALLY_N(gulp) {
    TALLY_N(part) part[TALLY_GULP_STRIPES];
} TALLY_N(gulp);

/* The lane's part of n values from value `at` on, whichever it is: packed ones as a leaf lies, others so that neighbouring lanes read
 * neighbouring values. */
TALLY_FN TALLY_N(gulp) TALLY_N(read_gulp)(const tally_source *from, int64_t at, int64_t n) {
    TALLY_N(gulp) gulp;
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_GULP_STRIPES; s++) {
        const int32_t row = s * TALLY_DEVICE_COLUMNS;
        if (from->is_packed && n >= TALLY_GULP)
            gulp.part[s] = TALLY_N(read_part)(from, at, s);
        else if (row >= n)
            __builtin_memset(&gulp.part[s], 0, sizeof gulp.part[s]);
        else if (from->is_packed)
            gulp.part[s] = TALLY_N(read_part_of)(from, at, s, n);
        else {
            TALLY_UNROLL
            for (int32_t v = 0; v < TALLY_PART; v++) {
                const int32_t i = row + v * TALLY_WARP + tally_lane();
                gulp.part[s].v[v] = i < n ? TALLY_N(read_one)(from, at + i) : (TALLY_T)0;
            }
        }
    }
    return gulp;
}
/* A gulp of n values, or as many as there are; both sources are read the same way. */
TALLY_FN TALLY_N(pairs) TALLY_N(read_pairs)(tally_source x, tally_source y, int64_t at, int64_t n) {
    TALLY_N(pairs) pairs;
    const int32_t is_packed = x.is_packed && y.is_packed;
    x.is_packed = y.is_packed = is_packed;
    TALLY_N(gulp) gulp = TALLY_N(read_gulp)(&x, at, n);
    __builtin_memcpy(pairs.x, &gulp, sizeof gulp);
    if (TALLY_KERNEL_INPUTS == 2) gulp = TALLY_N(read_gulp)(&y, at, n);
    __builtin_memcpy(pairs.y, &gulp, sizeof gulp);
    pairs.there = UINT64_MAX >> (64 - TALLY_EACH);
    pairs.absent = 0;
    if (n < TALLY_GULP) {
        TALLY_UNROLL
        for (int32_t i = 0; i < TALLY_EACH; i++) {
            const int32_t s = i / TALLY_PART, v = i % TALLY_PART;
            if ((is_packed ? TALLY_N(place)(s, v) : s * TALLY_DEVICE_COLUMNS + v * TALLY_WARP + tally_lane()) >= n) pairs.there &= ~((uint64_t)1 << i);
        }
    }
    if (n < TALLY_GULP || TALLY_NAN == 1) pairs.there = TALLY_N(leave_out)(pairs.x, pairs.y, pairs.there, &pairs.absent, TALLY_EACH, 1);
    return pairs;
}

TALLY_FN TALLY_N(ruler) TALLY_N(plan_pairs)(const TALLY_N(pairs) *pairs, int64_t n, int32_t is_sample) {
    TALLY_N(extent) of_x = TALLY_N(measure_warp)(TALLY_N(measure_some)(pairs->x, TALLY_EACH, 1)), of_y = of_x;
    if (TALLY_KERNEL_INPUTS == 2) of_y = TALLY_N(measure_warp)(TALLY_N(measure_some)(pairs->y, TALLY_EACH, 1));
    return TALLY_N(plan_of)(of_x, of_y, n, is_sample);
}

/* Gulps first, first + step, ... of a row, planned from its first one; the same in every lane. */
TALLY_FN TALLY_N(partial) TALLY_N(take_gulps)(const tally_work *work, int64_t row, int64_t first, int64_t step, TALLY_N(ruler) *ruler) {
    const tally_source x = tally_source_of(work->x + row * work->length * work->x_stride, work->x_stride, TALLY_BYTES);
    const tally_source y = tally_source_of(work->y + row * work->length * work->y_stride, work->y_stride, TALLY_BYTES);
    TALLY_N(partial) p = TALLY_N(no_partial)();
    int64_t at = 0;
    for (int32_t is_planned = 0; at < work->length; is_planned = 1) {
        const TALLY_N(pairs) pairs = TALLY_N(read_pairs)(x, y, at, work->length - at);
        if (!is_planned) {
            *ruler = TALLY_N(plan_pairs)(&pairs, work->length, work->length > TALLY_GULP);
            at = first * TALLY_GULP;
            if (first > 0) continue; /* another warp's */
        }
        TALLY_N(add_some)(&p, ruler, pairs.x, pairs.y, pairs.there, TALLY_EACH, 1);
        p.absent += pairs.absent;
        at += step * TALLY_GULP;
    }
    return TALLY_N(fold_partial)(p, TALLY_WARP);
}

/* Of several blocks that have a row, the last adds up what all have counted: true for its first warp. */
TALLY_FN int32_t TALLY_N(join_tiles)(const tally_work *work, int64_t row, TALLY_N(shared) *shared, TALLY_N(partial) *p) {
    TALLY_N(partial) *partials = (TALLY_N(partial) *)(void *)work->nodes + row * work->tiles;
    if (tally_lane() == 0) shared->partials[tally_warp()] = *p;
    tally_barrier();
    if (tally_warp() != 0) return 0;
    *p = TALLY_N(no_partial)();
    if (tally_lane() < TALLY_WARPS) *p = shared->partials[tally_lane()];
    *p = TALLY_N(fold_partial)(*p, TALLY_WARP);
    if (work->tiles == 1) return 1;
    if (tally_lane() == 0) partials[tally_block() % work->tiles] = *p;
    if (!tally_is_last(work->arrivals + row, (int32_t)work->tiles)) return 0;
    *p = TALLY_N(no_partial)();
    for (int64_t t = tally_lane(); t < work->tiles; t += TALLY_WARP) TALLY_N(join_partials)(p, TALLY_N(fetch_partial)(partials + t));
    *p = TALLY_N(fold_partial)(*p, TALLY_WARP);
    return 1;
}

/* A warp has up to 32 rows, one after another, and lane k concludes the k-th; or several blocks have one. */
TALLY_FN void TALLY_N(take_long_rows)(const tally_work *work, TALLY_N(shared) *shared) {
    const int32_t is_tiled = work->tiles > 0;
    const int64_t first = is_tiled ? tally_block() / work->tiles : ((int64_t)tally_block() * TALLY_WARPS + tally_warp()) << work->run;
    const int64_t gulp = is_tiled ? tally_block() % work->tiles * TALLY_WARPS + tally_warp() : 0, step = is_tiled ? work->tiles * TALLY_WARPS : 1;
    const int64_t left = work->outer - first;
    const int32_t count = (int32_t)(left < 1 << work->run ? left : 1 << work->run);
    TALLY_N(partial) mine = TALLY_N(no_partial)();
    TALLY_N(ruler) of_mine;
    if (count <= 0) return;
    for (int32_t k = 0; k < count; k++) {
        TALLY_N(ruler) ruler;
        const TALLY_N(partial) p = TALLY_N(take_gulps)(work, first + k, gulp, step, &ruler);
        if (k == 0 || tally_lane() == k) mine = p, of_mine = ruler;
    }
    if (is_tiled && !TALLY_N(join_tiles)(work, first, shared, &mine)) return;
    const int64_t row = tally_lane() < count ? first + tally_lane() : -1;
    TALLY_N(put_partials)(work, &mine, &of_mine, row, row * work->length, &shared->nodes[tally_warp()]);
}

TALLY_ENTRY(TALLY_N(TALLY_PASTE(exact_rows_, TALLY_KERNEL)), TALLY_RESIDENT) {
    TALLY_SHARED(TALLY_N(shared), shared);
    if (work.lanes > 0)
        TALLY_N(take_short_rows)(&work, &shared->nodes[tally_warp()]);
    else
        TALLY_N(take_long_rows)(&work, shared);
}

#undef TALLY_EACH
#undef TALLY_GULP
#undef TALLY_GULP_STRIPES
#undef TALLY_RESIDENT
#undef TALLY_PART
#undef TALLY_DEVICE_COLUMNS
#undef TALLY_DEVICE_LEAF
#include "lib/terms_end.h"
#include "lib/exact_end.h"
#include "lib/types_end.h"
