/* Rows of more than a leaf that lie side by side, by an operator of kernels/exact: of each the true sum, whatever the order (docs/exact.md,
 * docs/design/007); shorter ones are segments. No include guard. */
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
#if defined(TALLY_PRODUCTS) || TALLY_BYTES == 8 || TALLY_NAN == 1 || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800)
#define TALLY_RESIDENT 1
#else
#define TALLY_RESIDENT 2
#endif

typedef struct TALLY_N(shared) {
    TALLY_N(node) nodes[TALLY_WARPS]; /* for what is not held by levels */
    TALLY_N(partial) partials[TALLY_WARPS];
} TALLY_N(shared);

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

/* The lane's part of n values from value `at` on, which lie as a leaf's: rows that do not are segments (src/cuda/rows.c). */
TALLY_FN TALLY_N(gulp) TALLY_N(read_gulp)(const tally_source *from, int64_t at, int64_t n) {
    TALLY_N(gulp) gulp;
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_GULP_STRIPES; s++) {
        if (n >= TALLY_GULP)
            gulp.part[s] = TALLY_N(read_part)(from->values, at, s);
        else if (s * TALLY_DEVICE_COLUMNS >= n)
            __builtin_memset(&gulp.part[s], 0, sizeof gulp.part[s]);
        else
            gulp.part[s] = TALLY_N(read_part_of)(from, at, s, n);
    }
    return gulp;
}
/* A gulp of n values, or as many as there are. */
TALLY_FN TALLY_N(pairs) TALLY_N(read_pairs)(const tally_source *x, const tally_source *y, int64_t at, int64_t n) {
    TALLY_N(pairs) pairs;
    TALLY_N(gulp) gulp = TALLY_N(read_gulp)(x, at, n);
    __builtin_memcpy(pairs.x, &gulp, sizeof gulp);
    if (TALLY_KERNEL_INPUTS == 2) gulp = TALLY_N(read_gulp)(y, at, n);
    __builtin_memcpy(pairs.y, &gulp, sizeof gulp);
    pairs.there = UINT64_MAX >> (64 - TALLY_EACH);
    pairs.absent = 0;
    if (n < TALLY_GULP) {
        TALLY_UNROLL
        for (int32_t i = 0; i < TALLY_EACH; i++)
            if (TALLY_N(place)(i / TALLY_PART, i % TALLY_PART) >= n) pairs.there &= ~((uint64_t)1 << i);
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
    TALLY_N(running) running;
    int64_t at = 0;
    int32_t met = 0; /* terms of a lane that the accumulators hold */
    for (int32_t is_planned = 0; at < work->length; is_planned = 1) {
        const TALLY_N(pairs) pairs = TALLY_N(read_pairs)(&x, &y, at, work->length - at);
        if (!is_planned) {
            *ruler = TALLY_N(plan_pairs)(&pairs, work->length, work->length > TALLY_GULP);
            running = TALLY_N(begin_running)(ruler);
            at = first * TALLY_GULP;
            if (first > 0) continue; /* another warp's */
        }
        if ((met += TALLY_EACH) > TALLY_MOST_MEET) {
            TALLY_N(count_running)(&p, ruler, &running);
            running = TALLY_N(begin_running)(ruler);
            met = TALLY_EACH;
        }
        TALLY_N(add_some)(&p, &running, ruler, pairs.x, pairs.y, pairs.there, TALLY_EACH, 1);
        p.absent += pairs.absent;
        at += step * TALLY_GULP;
    }
    TALLY_N(count_running)(&p, ruler, &running);
    return TALLY_N(fold_partial)(p, TALLY_WARP);
}

/* Of several blocks that have a row, the last adds up what all have counted: true for its first warp. */
TALLY_LONG int32_t TALLY_N(join_tiles)(const tally_work *work, int64_t row, TALLY_N(shared) *shared, TALLY_N(partial) *p) {
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

/* A warp has up to 32 rows, one after another, of which lane k concludes the k-th; or several blocks have one. */
TALLY_FN void TALLY_N(take_rows)(const tally_work *work, TALLY_N(shared) *shared) {
    const int32_t is_tiled = work->tiles > 0;
    const int64_t first = is_tiled ? tally_block() / work->tiles : ((int64_t)tally_block() * TALLY_WARPS + tally_warp()) << work->run;
    const int64_t gulp = is_tiled ? tally_block() % work->tiles * TALLY_WARPS + tally_warp() : 0, step = is_tiled ? work->tiles * TALLY_WARPS : 1;
    const int64_t left = work->outer - first;
    const int32_t count = (int32_t)(left < 1 << work->run ? left : 1 << work->run);
    TALLY_N(partial) mine = TALLY_N(no_partial)();
    TALLY_N(ruler) of_mine;
    if (count <= 0) return;
    TALLY_N(forget_levels)(&of_mine);
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
    TALLY_N(take_rows)(&work, shared);
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
