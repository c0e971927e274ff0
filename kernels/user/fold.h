/* Folds the values of a leaf, or of a segment of at most a leaf, by a user operator (docs/order.md), which may keep the
 * order: a warp reads them value by value. */
#ifndef TALLY_USER_FOLD_H
#define TALLY_USER_FOLD_H

#include "accumulators/operator.h"
#include "order/fold.h"
#include "order/leaf.h"

/* A source of values that lie side by side here. */
TALLY_FN tally_source source_here(const TALLY_T *x) {
    tally_source from = tally_source_of((const char *)x, TALLY_BYTES, TALLY_BYTES);
    from.is_aligned = 1; /* like the words */
    return from;
}

TALLY_FN column_t lift_at(const tally_source *from, int64_t i) {
    item_t item = item_of(read_one(from, i));
    return lift(item, item);
}

#if TALLY_USER_KEEPS_ORDER
enum { user_group = 7 };

/* The adjacent-pair tree over the accumulators of lanes 0 ... count - 1 of a group of `width` lanes, a constant. Every
 * lane of the group gets the result. */
TALLY_FN column_t pairs(column_t mine, int32_t count, const int32_t width) {
    TALLY_UNROLL
    for (int32_t apart = 1; apart < width; apart *= 2) {
        column_t theirs = other(mine, apart), both = meet_lane(mine, theirs, tally_lane() & apart);
        int32_t first = tally_lane() % width & -apart, first_of_theirs = first ^ apart;
        if (first_of_theirs < count) mine = first < count ? both : theirs;
    }
    return mine;
}

/* Folds the seven values from `first` on, or those of them below n. */
TALLY_FN column_t fold_group(const tally_source *from, int32_t first, int32_t n) {
    column_t fold = identity();
    TALLY_UNROLL
    for (int32_t k = 0; k < user_group; k++) {
        if (first + k >= n) continue;
        column_t lifted = lift_at(from, first + k);
        fold = k == 0 ? lifted : combine(fold, lifted);
    }
    return fold;
}

/* Folds values, 32 groups of seven at a time, one group in each lane. Lane l keeps the result of the l-th such set of
 * groups. */
TALLY_FN column_t fold_values(const tally_source *from, int32_t n) {
    column_t kept = identity();
    int32_t groups = (n + user_group - 1) / user_group, iteration = 0;
    TALLY_ROLL
    for (int32_t done = 0; done < groups; done += TALLY_WARP, iteration++) {
        column_t fold = fold_group(from, (done + tally_lane()) * user_group, n);
        fold = pairs(fold, groups - done, TALLY_WARP);
        if (tally_lane() == iteration) kept = fold;
    }
    return pairs(kept, iteration, TALLY_WARP);
}

/* Folds at most 64 values by 8 lanes: lane c takes groups c and c + 8. */
TALLY_FN column_t fold_few(const tally_source *from, int32_t n) {
    const int32_t width = TALLY_DEVICE_SMALL_COLUMNS;
    int32_t c = tally_lane() % width, groups = (n + user_group - 1) / user_group;
    column_t early = pairs(fold_group(from, c * user_group, n), groups, width);
    column_t late = pairs(fold_group(from, (width + c) * user_group, n), groups - width, width);
    return groups > width ? combine(early, late) : early;
}

/* Folds at most 64 values by one thread, group after group. For each level of the tree it keeps the node that waits for
 * its right neighbour. most: the most values that a lane of the warp has. */
TALLY_FN column_t fold_groups(const tally_source *from, int32_t n, int32_t most) {
    enum { LEVELS = 4, GROUPS = 1 << LEVELS };
    const int32_t groups = (n + user_group - 1) / user_group;
    column_t waiting[LEVELS], all = identity();
    TALLY_UNROLL
    for (int32_t g = 0; g < GROUPS; g++) {
        int32_t carries = 1;
        column_t fold = all;
        if (g * user_group < TALLY_DEVICE_SMALL && g * user_group < most) fold = fold_group(from, g * user_group, n);
        TALLY_UNROLL
        for (int32_t level = 0; level < LEVELS; level++) {
            if (carries && (g >> level & 1) == 0)
                waiting[level] = fold, carries = 0;
            else if (carries)
                fold = g + 1 - (1 << level) < groups ? combine(waiting[level], fold) : waiting[level];
        }
        all = fold;
    }
    return all;
}
#else
/* Folds values by columns. Lane l has columns l, l + 32, ...; if there are fewer than 32 columns, lane l has column l
 * modulo their number. */
TALLY_FN column_t fold_values(const tally_source *from, int32_t n) {
    column_t held[TALLY_PART];
    int32_t columns = n <= TALLY_DEVICE_SMALL ? 8 : TALLY_DEVICE_COLUMNS, own = (columns + TALLY_WARP - 1) / TALLY_WARP;
    TALLY_ROLL
    for (int32_t v = 0; v < own; v++) {
        int32_t c = v * TALLY_WARP + tally_lane() % columns;
        held[v] = identity();
        for (int32_t i = c; i < n; i += columns) {
            column_t lifted = lift_at(from, i);
            held[v] = i == c ? lifted : combine(held[v], lifted);
        }
    }
    for (int32_t half = own / 2; half > 0; half /= 2)
        for (int32_t v = 0; v < half; v++) held[v] = combine(held[v], held[v + half]);
    for (int32_t mask = columns < TALLY_WARP ? columns / 2 : TALLY_WARP / 2; mask > 0; mask /= 2)
        held[0] = meet_lane(held[0], other(held[0], mask), tally_lane() & mask);
    return held[0];
}
#endif

#endif
