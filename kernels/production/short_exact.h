/* Rows of at most 8 values along an axis that is not the last, or of none, by an operator of kernels/exact: of each the true sum, whatever the
 * order (docs/exact.md, docs/design/007). No include guard.
 *
 * Where adding in f64 drops nothing, which error-free additions tell, that sum is the true one; else levels are planned for the rows of a warp. */
#include "lib/types.h"

#include TALLY_KERNEL_FILE

#include "lib/leaf.h"
#include "lib/levels.h"
#include "lib/extent.h"
#include "lib/terms.h"
#include "lib/ruler.h"
#include "lib/careful.h"
#include "lib/planned.h"
#include "lib/batch.h"

/* Blocks that a multiprocessor holds: as few as keep registers from spilling (tests/unit/test_compile.c). */
#if defined(TALLY_KEYS) || TALLY_KERNEL_INPUTS == 2 || TALLY_BYTES == 8 || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800)
#define TALLY_RESIDENT 1
#else
#define TALLY_RESIDENT 2
#endif

typedef struct TALLY_N(shared) {
    TALLY_N(node) nodes[TALLY_WARPS]; /* for what is not held by levels */
} TALLY_N(shared);

#if defined(TALLY_SUM_TERM) && !defined(TALLY_PRODUCTS) && !TALLY_IS_F64
/* a + b, and whether something was dropped. */
TALLY_FN double TALLY_N(plus)(double a, double b, int32_t *is_rounded) {
    const tally_pair p = tally_two_sum(a, b);
    *is_rounded |= p.low != 0;
    return p.high;
}
/* The sum of the row's values if f64 holds it, and all are finite. */
TALLY_FN int32_t TALLY_N(add_plainly)(const TALLY_T *x, double *sum) {
    int32_t is_rounded = 0;
    *sum = -0.0;
    TALLY_UNROLL
    for (int32_t m = 0; m < TALLY_SHORT_COLUMNS; m++) *sum = TALLY_N(plus)(*sum, TALLY_N(term)(x[m]), &is_rounded);
    return !is_rounded; /* of infinities and NaNs the low part is a NaN */
}
/* The result of such a sum, if it is certain. */
TALLY_FN int32_t TALLY_N(conclude_plainly)(double sum, int64_t present, const tally_final *final, uint64_t *result) {
    const tally_pair pair = {sum, 0};
    const tally_quick quick = final->mean ? tally_quick_mean(pair, (double)present, 0) : tally_nearest(pair, 0);
    result[0] = (uint64_t)(uint32_t)tally_bits_f32((float)quick.value);
    return final->format.digits == 24 && !final->root && present > 0 && quick.sure && quick.value - quick.value == 0;
}
#endif

/* A row of each lane; lanes that have none take part. */
TALLY_FN void TALLY_N(take_row)(const tally_work *work, TALLY_N(row) *row, TALLY_N(node) *node) {
    const int32_t held = TALLY_SHORT_COLUMNS;
    int64_t i = row->row;
    TALLY_N(partial) p = TALLY_N(no_partial)();
    TALLY_N(ruler) ruler;
    TALLY_N(extent) of_x, of_y;
    uint64_t there = i < 0 ? 0 : ((uint64_t)1 << work->length) - 1;
    there = TALLY_N(leave_out)(row->x, row->y, there, &p.absent, held, 1);
#if defined(TALLY_SUM_TERM) && !defined(TALLY_PRODUCTS) && !TALLY_IS_F64
    uint64_t result[6] = {0, 0, 0, 0, 0, 0};
    double sum;
    if (TALLY_N(add_plainly)(row->x, &sum) && i >= 0 && TALLY_N(conclude_plainly)(sum, work->length - p.absent, &work->final, result)) {
        TALLY_N(put_bytes)(work, i, result, work->length - p.absent);
        i = -1;
    }
    if (!tally_any(i >= 0)) return;
#endif
    of_x = of_y = TALLY_N(measure_warp)(TALLY_N(measure_some)(row->x, held, 1));
    if (TALLY_KERNEL_INPUTS == 2) of_y = TALLY_N(measure_warp)(TALLY_N(measure_some)(row->y, held, 1));
    ruler = TALLY_N(plan_of)(of_x, of_y, work->length, 0);
    TALLY_N(running) running = TALLY_N(begin_running)(&ruler);
    TALLY_N(add_some)(&p, &running, &ruler, row->x, row->y, there, held, 1);
    TALLY_N(count_running)(&p, &ruler, &running);
    TALLY_N(put_partials)(work, &p, &ruler, i, i < 0 ? 0 : TALLY_N(begin_of_row)(work, i), node);
}

TALLY_ENTRY(TALLY_N(TALLY_PASTE(exact_short_, TALLY_KERNEL)), TALLY_RESIDENT) {
    TALLY_SHARED(TALLY_N(shared), shared);
    const TALLY_N(batch) batch = TALLY_N(read_batch)(&work);
    TALLY_ROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) {
        TALLY_N(row) row = TALLY_N(row_of)(&batch, v);
        TALLY_N(take_row)(&work, &row, &shared->nodes[tally_warp()]);
    }
}

#undef TALLY_RESIDENT
#undef TALLY_ACROSS
#undef TALLY_PART
#undef TALLY_DEVICE_COLUMNS
#undef TALLY_DEVICE_LEAF
#include "lib/terms_end.h"
#include "lib/exact_end.h"
#include "lib/types_end.h"
