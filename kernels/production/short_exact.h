/* Rows of at most 64 values along any axis, by an operator of kernels/exact: of each the true sum, whatever the order (docs/exact.md,
 * docs/design/007). No include guard.
 *
 * 1, 2, 4 or 8 lanes have a row. Where adding in f64 drops nothing, which error-free additions tell, that sum is the true one; else levels are
 * planned for the batch of a warp. */
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
#if defined(TALLY_KEYS) || TALLY_KERNEL_INPUTS == 2 || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800)
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
/* The sum of the row's values if f64 holds it, and all are finite; the same in each of its lanes. */
TALLY_FN int32_t TALLY_N(add_plainly)(const TALLY_T *x, const int32_t lanes, const int32_t held, TALLY_N(partial) *p, double *sum) {
    int32_t is_rounded = 0;
    *sum = -0.0;
    TALLY_UNROLL
    for (int32_t m = 0; m < held; m++) *sum = TALLY_N(plus)(*sum, TALLY_N(term)(x[m]), &is_rounded);
    TALLY_UNROLL
    for (int32_t mask = lanes / 2; mask > 0; mask /= 2) {
        *sum = TALLY_N(plus)(*sum, tally_from_bits_f64(tally_shuffle64(tally_bits_f64(*sum), mask)), &is_rounded);
        if (TALLY_NAN == 1) p->absent += tally_shuffle64(p->absent, mask);
    }
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

/* One batch of rows; lanes that have none take part. `lanes` and `held`, values of a lane at most, are constants. */
TALLY_FN void TALLY_N(take_batch)(const tally_work *work, TALLY_N(batch) *batch, const int32_t lanes, const int32_t held, TALLY_N(node) *node) {
    int64_t i = tally_lane() % lanes == 0 ? batch->row : -1;
    TALLY_N(partial) p = TALLY_N(no_partial)();
    TALLY_N(ruler) ruler;
    TALLY_N(extent) of_x, of_y;
    uint64_t there = 0;
    TALLY_UNROLL
    for (int32_t m = 0; m < held; m++)
        if (batch->row >= 0 && tally_lane() % lanes + lanes * m < work->length) there |= (uint64_t)1 << m;
    there = TALLY_N(leave_out)(batch->x, batch->y, there, &p.absent, held, 1);
#if defined(TALLY_SUM_TERM) && !defined(TALLY_PRODUCTS) && !TALLY_IS_F64
    TALLY_N(partial) plain = p;
    uint64_t result[6] = {0, 0, 0, 0, 0, 0};
    double sum;
    const int32_t is_exact = TALLY_N(add_plainly)(batch->x, lanes, held, &plain, &sum);
    if (i >= 0 && is_exact && TALLY_N(conclude_plainly)(sum, work->length - plain.absent, &work->final, result)) {
        TALLY_N(put_bytes)(work, i, result, work->length - plain.absent);
        i = -1;
    }
    if (!tally_any(i >= 0)) return;
#endif
    of_x = of_y = TALLY_N(measure_warp)(TALLY_N(measure_some)(batch->x, held, 1));
    if (TALLY_KERNEL_INPUTS == 2) of_y = TALLY_N(measure_warp)(TALLY_N(measure_some)(batch->y, held, 1));
    ruler = TALLY_N(plan_of)(of_x, of_y, work->length, 0);
    TALLY_N(add_some)(&p, &ruler, batch->x, batch->y, there, held, 1);
    p = TALLY_N(fold_partial)(p, lanes);
    TALLY_N(put_partials)(work, &p, &ruler, i, batch->at, node);
}

TALLY_FN void TALLY_N(take_batches)(const tally_work *work, const int32_t lanes, const int32_t held, TALLY_N(node) *node) {
    TALLY_N(batch) next = TALLY_N(read_batch)(work, 0, lanes);
    for (int32_t k = 0; k < 1 << work->run; k++) {
        TALLY_N(batch) batch = next;
        if (k + 1 < 1 << work->run) next = TALLY_N(read_batch)(work, k + 1, lanes);
        TALLY_N(take_batch)(work, &batch, lanes, held, node);
    }
}

TALLY_ENTRY(TALLY_N(TALLY_PASTE(exact_short_, TALLY_KERNEL)), TALLY_RESIDENT) {
    TALLY_SHARED(TALLY_N(shared), shared);
    TALLY_N(node) *node = &shared->nodes[tally_warp()];
    if (work.lanes == 1 && work.length <= 4)
        TALLY_N(take_batches)(&work, 1, 4, node);
    else if (work.lanes == 1)
        TALLY_N(take_batches)(&work, 1, 8, node);
    else if (work.lanes == 2)
        TALLY_N(take_batches)(&work, 2, 8, node);
    else if (work.lanes == 4)
        TALLY_N(take_batches)(&work, 4, 8, node);
    else
        TALLY_N(take_batches)(&work, 8, 8, node);
}

#undef TALLY_RESIDENT
#undef TALLY_PART
#undef TALLY_DEVICE_COLUMNS
#undef TALLY_DEVICE_LEAF
#include "lib/terms_end.h"
#include "lib/exact_end.h"
#include "lib/types_end.h"
