/* A part of a segment, whatever its values, added to a number of limbs in memory by a warp: for what crosses tile
 * boundaries. A value goes to 16-bit digits in shared memory (sums/levels.h), and these to the limbs when the part is
 * done. Others may be adding to the limbs: integers commute, so nobody waits. Infinities and NaNs are noted apart. */
#ifndef TALLY_DIGITS_H
#define TALLY_DIGITS_H

#include "exact_segments/segment_values.h"
#include "exact_segments/thread_sums.h"
#include "exact_sums/digit_counts.h"
#include "exact_sums/terms.h"
#include "sums/levels.h"

/* Several columns of digits, so that lanes seldom meet. A product adds less than 2^17 to a digit, and a part is within
 * a tile: no digit overflows. */
enum {
    most_digits = 2048, /* of a warp */
    digit_columns = all_digits * 16 <= most_digits  ? 16
                    : all_digits * 8 <= most_digits ? 8
                    : all_digits * 4 <= most_digits ? 4
                                                    : 2
};
TALLY_ASSERT(TALLY_TILE_MOST(TALLY_KERNEL_INPUTS) / TALLY_BYTES / digit_columns < 1 << 14, "digits overflow");
typedef struct digits_t {
    int32_t at[all_digits * digit_columns];
} digits_t;
typedef struct all_digits_t { /* of the warps of a block */
    digits_t of[TALLY_FLAT_WARPS];
} all_digits_t;

#define TALLY_PUT_NAME scatter_pair
#define TALLY_PUT_TYPE digits_t
#define TALLY_PUT_SUM_DIGITS to->at + tally_lane() % digit_columns
#define TALLY_PUT_PRODUCT_DIGITS to->at + sum_digits *digit_columns + tally_lane() % digit_columns
#define TALLY_PUT_SUM_COLUMNS digit_columns
#define TALLY_PUT_PRODUCT_COLUMNS digit_columns
#include "exact_sums/pair_to_digits.h"

/* Adds the values to digits. Gives what the lane has noted of its own. */
TALLY_FN noted_t scatter_values(const steps_t *steps, const values_t *of, digits_t *digits) {
    const int32_t count = values_of_lane(of, tally_lane(), log_warp);
    const char *x = of->x + tally_lane() * steps->x, *y = of->y + tally_lane() * steps->y;
    noted_t noted = nothing_noted();
    notes_t notes = no_notes(); /* they are in `noted` */
    TALLY_ROLLED
    for (int32_t at = 0; at < count; at += values_together) {
        const some_values_t some = read_some(steps, x, y, count - at, TALLY_WARP);
        x += values_together * TALLY_WARP * steps->x;
        y += values_together * TALLY_WARP * steps->y;
        TALLY_UNROLL
        for (int32_t k = 0; k < values_together; k++)
            if (at + k < count && note_term(&noted, some.x[k], some.y[k]))
                scatter_pair(&notes, digits, some.x[k], some.y[k]);
    }
    return noted;
}
/* Moves the digits to the limbs of a node; zeros stay. */
TALLY_FN void drain_digits(digits_t *digits, accumulator_t *node) {
    (void)digits, (void)node;
    TALLY_IF_SUM(tally_drain(digits->at, sum_digits, digit_columns, node->sum + TALLY_EVIDENCE);)
    TALLY_IF_PRODUCTS(tally_drain(digits->at + sum_digits * digit_columns, product_digits, digit_columns,
                                  node->products + TALLY_EVIDENCE);)
}
TALLY_FN void clear_digits(digits_t *digits) {
    for (int32_t i = tally_lane(); i < all_digits * digit_columns; i += TALLY_WARP) digits->at[i] = 0;
    tally_warp_barrier();
}
/* Adds a part to a node. The digits are zeros before and behind it. */
TALLY_FN void add_part(const steps_t *steps, const values_t *of, digits_t *digits, accumulator_t *node) {
    noted_t noted = scatter_values(steps, of, digits);
    TALLY_ROLLED
    for (int32_t mask = TALLY_WARP / 2; mask > 0; mask /= 2) {
        const noted_t other = noted_of_lane(&noted, tally_lane() ^ mask);
        join_noted(&noted, &other);
    }
    tally_warp_barrier();
    drain_digits(digits, node);
    if (tally_lane() == 0) deposit_noted(&noted, of->n - noted.absent, node);
    tally_warp_barrier();
}

#endif
