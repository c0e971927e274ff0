/* Rows of any values: those that production/rows/exact_parts.h and columns.h did not decide, which all warps reduce
 * together.
 *
 * Of few rows each has a number of limbs in memory. Warps add pieces of rows to it (exact_segments/digits.h). Of many
 * rows a lane has one, in three doubles, and in limbs if these do not decide it (exact_segments/group_sums.h). */
#ifndef TALLY_FORM_LEFT_ROWS_H
#define TALLY_FORM_LEFT_ROWS_H

#include "types/types.h"

#include TALLY_KERNEL_FILE

#include "exact_segments/flat_nodes.h"
#define TALLY_LANE_LIMBS TALLY_LIMBS
#define TALLY_LANE_PRODUCT_LIMBS TALLY_PRODUCT_LIMBS
#include "device/arrival.h"
#include "exact_segments/digits.h"
#include "exact_segments/group_sums.h"

/* The most values that digits hold. */
enum { values_of_digits = (56 << 10) / TALLY_BYTES };
TALLY_ASSERT(values_of_digits <= digit_columns << 14, "digits overflow");
/* How many of few rows are left. */
TALLY_FN int64_t count_left(const tally_left_work *work) {
    int64_t count = 0;
    for (int64_t first = 0; first < work->rows; first += TALLY_WARP) {
        const int64_t row = first + tally_lane();
        count += __builtin_popcount(tally_ballot(row < work->rows && work->left.unsure[row]));
    }
    return count;
}
/* How many values of a row a warp takes at once, of `all` that are left: so few that each of `warps` warps has some,
 * but not so few that moving digits to limbs takes longer than making them. */
TALLY_FN int64_t values_of_piece(int64_t all, int64_t warps) {
    enum { least = 32 * TALLY_WARP };
    const int64_t each = (all + warps - 1) / warps;
    return each < least ? least : each > values_of_digits ? values_of_digits : each;
}
TALLY_FN steps_t steps_of_left(const tally_left_work *work) {
    const tally_source x = tally_source_of(work->x, work->x_stride, TALLY_BYTES),
                       y = tally_source_of(work->y, work->y_stride, TALLY_BYTES);
    const steps_t steps = {work->inner * x.stride, work->inner * y.stride, x.is_aligned && y.is_aligned};
    return steps;
}
/* n values of a row from number `first` on. */
TALLY_FN values_t values_of_left(const tally_left_work *work, int64_t row, int64_t first, int64_t n) {
    const int64_t at = tally_begin_of_row(row, work->length, work->inner) + first * work->inner;
    const values_t of = {work->x + at * work->x_stride, work->y + at * work->y_stride, (int32_t)n};
    return of;
}
/* Few rows: each has a number of limbs. Warps take pieces of rows, and the last to add to a row's number makes its
 * result. */
TALLY_FN void put_few(const tally_left_work *work, int64_t warp, int64_t warps, digits_t *digits) {
    const steps_t steps = steps_of_left(work);
    const int64_t count = count_left(work), each = values_of_piece(count * work->length, 2 * warps),
                  pieces = (work->length + each - 1) / each;
    if (count == 0) return; /* as a rule */
    clear_digits(digits);
    for (int64_t i = warp; i < work->rows * pieces; i += warps) {
        const int64_t row = tally_divided(i, pieces), first = (i - row * pieces) * each, left = work->length - first;
        const values_t of = values_of_left(work, row, first, left < each ? left : each);
        accumulator_t *const node = (accumulator_t *)(void *)work->left.limbs + row;
        if (!work->left.unsure[row]) continue;
        add_part(&steps, &of, digits, node);
        if (!tally_is_last(work->left.arrivals + row * work->left.counters, (int32_t)pieces) || tally_lane() > 0)
            continue;
        node->n += work->length;
        put_node(&work->out, row, node);
    }
}
/* Many rows: a lane has a row (exact_segments/group_sums.h). Lanes read neighbouring values, where rows lie across
 * others. */
TALLY_FN void put_many(const tally_left_work *work, int64_t warp, int64_t warps) {
    const steps_t steps = steps_of_left(work);
    for (int64_t first = warp * TALLY_WARP; first < work->rows; first += warps * TALLY_WARP) {
        const int64_t row = first + tally_lane();
        const int32_t is_left = row < work->rows && work->left.unsure[row];
        if (!tally_any(is_left)) continue;
        const values_t of = values_of_left(work, is_left ? row : 0, 0, is_left ? work->length : 0);
        const int32_t power = TALLY_IS_F64 ? power_for(most_of_values(&steps, &of, 0)) : 0;
        const thread_sums_t sums = add_values(power, &steps, &of, 0);
        if (is_left) put_sums(&work->out, &steps, row, &of, &sums, power);
    }
}
TALLY_KERNEL_ENTRY(TALLY_FLAT_THREADS, left_rows, tally_left_work, 4) {
    TALLY_SHARED(all_digits_t, shared);
    if (tally_is_idle(work.wanted)) return;
    tally_let_next_start();
    tally_await_before();
    if (work.out.flags != 0 && tally_any((tally_look32(work.out.flags) & TALLY_FLAG_UNSURE) == 0)) return;
    const int64_t warps = (int64_t)tally_blocks() * TALLY_FLAT_WARPS,
                  warp = (int64_t)tally_block() * TALLY_FLAT_WARPS + tally_warp();
    if (work.left.limbs == 0)
        put_many(&work, warp, warps);
    else
        put_few(&work, warp, warps, &shared->of[tally_warp()]);
}

#endif
