/* The contract of the gallery's kernels: what all of them are written in. Includes the operator of TALLY_KERNEL_FILE
 * for the type of TALLY_TYPE, and gives
 *
 *     TALLY_KERNEL_OF(name)      begins kernel `name` of table.h; its one parameter is `work`, read as the table says.
 *                                With TALLY_REPEATED, and on the simulator, it runs work.repeats times in a launch, of
 *                                one block
 *     TALLY_E                    an element: the accumulator
 *     TALLY_OP(a, b)             a with b, the later one, behind it
 *     TALLY_NONE                 the element that changes nothing
 *     TALLY_SHARED_ARRAY(type, n, name)
 *                                `name`, n things in shared memory
 *     take(work, i)              input i as an element: a value, lifted, or what an earlier launch left; TALLY_NONE
 *                                beyond the input
 *     take_vector(work, i, n)    the n inputs from i on, folded; 16 bytes at a time where n of them are as many, and i
 *                                is a multiple of n
 *     give(work, i, e)           leaves element i
 *     left_at(work, i)           element i that this launch has left
 *
 * and for segments
 *
 *     segment_id_of(work, i)            the segment of input i; beyond the input that of the last
 *     put_behind(work, segment, e)      combines e into the output of a segment, behind what is there,
 *     put_before(work, segment, e)      or before it
 *     leave_behind(work, e, segment)    leaves the block's element with its segment id; the last block there is puts
 *     leave_before(work, e, segment)    it into the output, behind or before what is there
 *
 * An element is a column of the operator (kernels/operators/README.md) where one can hold a whole array: 4 bytes for
 * the min of f32, as in the texts. Where it cannot (operators of two passes, sums of narrow integers, whose columns
 * hold a leaf) it is a node.
 *
 * Included by each kernel's text, once for each type: gallery/kernels/end.h undoes it. */
#ifndef TALLY_GALLERY_CONTRACT
#define TALLY_GALLERY_CONTRACT
#include "types/types.h"

#include TALLY_KERNEL_FILE

#include "accumulators/finalize.h"
#include "device/device.h"
#include "gallery/kernels/table.h"

#ifdef TALLY_GALLERY_SMALL /* compiled for pictures; the simulator is told too */
#define TALLY_WARP 4
#define tally_lane() (tally_thread() % TALLY_WARP)
#define tally_warp() (tally_thread() / TALLY_WARP)
#endif

#define TALLY_ENTRY_TO(name) \
    TALLY_ENTRY_OF(TALLY_THREADS_##name, TALLY_N(TALLY_PASTE(gallery_##name##_, TALLY_KERNEL)), tally_work, 1)
#if defined(TALLY_REPEATED) || !defined(__CUDACC_RTC__)
#define TALLY_KERNEL_OF(name)                                \
    TALLY_FN void TALLY_N(repeated_##name)(tally_work work); \
    TALLY_ENTRY_TO(name) {                                   \
        for (int64_t k = 0; k < work.repeats; k++) {         \
            if (k > 0) tally_barrier();                      \
            TALLY_N(repeated_##name)(work);                  \
        }                                                    \
    }                                                        \
    TALLY_FN void TALLY_N(repeated_##name)(tally_work work)
#else
#define TALLY_KERNEL_OF TALLY_ENTRY_TO
#endif
#define TALLY_SHARED_ARRAY(type, n, name)   \
    typedef type name##_array[n];           \
    TALLY_SHARED(name##_array, name##_all); \
    type *const name = *name##_all

/* What the launch reads, values or elements. A unit for a GPU is of the one or the other: with both in one kernel its
 * registers rise, and NVRTC may wait for each load of a loop before the next (it did in diffwarps, which took twice the
 * time). */
#ifndef TALLY_INPUTS
#define TALLY_INPUTS(work) (work)->inputs
#endif
#define TALLY_E element_t
#define TALLY_OP op
#define TALLY_NONE none()

#if TALLY_PASSES == 1 && !TALLY_HAS_SQUARES && (!TALLY_HAS_SUM || TALLY_BYTES >= 4)
typedef column_t TALLY_E;
TALLY_FN TALLY_E none(void) { return identity(); }
TALLY_FN TALLY_E op(TALLY_E a, TALLY_E b) { return combine(a, b); }
TALLY_FN TALLY_E lifted(item_t x, item_t y, int64_t at) { return (void)at, lift(x, y); }
TALLY_FN node_t node_of(TALLY_E e, int64_t n) { return to_node(e, n); }
#else
typedef node_t TALLY_E;
TALLY_FN TALLY_E none(void) { return nothing(); }
TALLY_FN TALLY_E op(TALLY_E a, TALLY_E b) { return merge(a, b); }
TALLY_FN TALLY_E lifted(item_t x, item_t y, int64_t at) {
    column_t column = lift(x, y);
#if TALLY_PASSES == 2
    aim_t aim = take_aim(column, 1);
    return to_node(column, aim, lift2(x, 0, aim), 1, at);
#else
    return (void)at, to_node(column, 1);
#endif
}
TALLY_FN node_t node_of(TALLY_E e, int64_t n) { return (void)n, e; }
#endif

TALLY_FN TALLY_E take(const tally_work *work, int64_t i) {
    if (!tally_branch(i < work->count)) return TALLY_NONE;
    if (TALLY_INPUTS(work) == TALLY_OF_ELEMENTS) return TALLY_READ(((const TALLY_E *)(const void *)work->x)[i]);
    TALLY_T x = TALLY_READ(((const TALLY_T *)(const void *)work->x)[i]), y = x;
    if (TALLY_KERNEL_INPUTS == 2) y = TALLY_READ(((const TALLY_T *)(const void *)work->y)[i]);
    return lifted(item_of(x), item_of(y), work->first + i);
}
TALLY_FN void give(const tally_work *work, int64_t i, TALLY_E e) {
    TALLY_WRITE(((TALLY_E *)(void *)work->nodes)[i], e);
}

TALLY_FN TALLY_E left_at(const tally_work *work, int64_t i) { return TALLY_READ(((TALLY_E *)(void *)work->nodes)[i]); }
TALLY_FN TALLY_E take_vector(const tally_work *work, int64_t i, int32_t n) {
    TALLY_E sum = TALLY_NONE;
    if (tally_branch(TALLY_KERNEL_INPUTS == 1 && n * TALLY_BYTES == 16 && TALLY_INPUTS(work) == TALLY_OF_VALUES &&
                     i + n <= work->count)) {
        tally_quad quad = tally_load16(work->x + i * TALLY_BYTES);
        TALLY_T value[16 / TALLY_BYTES];
        __builtin_memcpy(value, &quad, sizeof value);
        for (int32_t k = 0; k < 16 / TALLY_BYTES; k++) {
            item_t item = item_of(value[k]);
            sum = TALLY_OP(sum, lifted(item, item, work->first + i + k));
        }
        return sum;
    }
    for (int32_t k = 0; k < n; k++) sum = TALLY_OP(sum, take(work, i + k));
    return sum;
}

TALLY_FN int32_t segment_id_of(const tally_work *work, int64_t i) {
    return TALLY_READ(work->segment_ids[i < work->count ? i : work->count - 1]);
}
TALLY_FN void put_behind(const tally_work *work, int32_t segment, TALLY_E e) {
    TALLY_E *output = (TALLY_E *)work->output;
    TALLY_WRITE(output[segment], TALLY_OP(TALLY_READ(output[segment]), e));
}
TALLY_FN void put_before(const tally_work *work, int32_t segment, TALLY_E e) {
    TALLY_E *output = (TALLY_E *)work->output;
    TALLY_WRITE(output[segment], TALLY_OP(e, TALLY_READ(output[segment])));
}
TALLY_FN void leave(const tally_work *work, TALLY_E e, int32_t segment) {
    give(work, tally_block(), e);
    TALLY_WRITE(work->left_segment_ids[tally_block()], segment);
}
TALLY_FN void leave_behind(const tally_work *work, TALLY_E e, int32_t segment) {
    if (tally_blocks() == 1)
        put_behind(work, segment, e);
    else
        leave(work, e, segment);
}
TALLY_FN void leave_before(const tally_work *work, TALLY_E e, int32_t segment) {
    if (tally_blocks() == 1)
        put_before(work, segment, e);
    else
        leave(work, e, segment);
}
#endif
