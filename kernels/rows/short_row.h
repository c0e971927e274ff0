/* The node of a row of at most 8 values, in the canonical order: a leaf of 8 columns (docs/order.md). */
#ifndef TALLY_SHORT_ROW_H
#define TALLY_SHORT_ROW_H

#include "rows/short_rows.h"
#include "order/fold.h"

TALLY_FN node_t short_node(const TALLY_T *x, const TALLY_T *y, int32_t length) {
    column_t columns[short_columns];
    int64_t present = TALLY_MAY_SKIP ? 0 : length;
    TALLY_UNROLL
    for (int32_t m = 0; m < short_columns; m++) {
        columns[m] = m < length ? lift(item_of(x[m]), item_of(y[m])) : identity();
        if (TALLY_MAY_SKIP) present += m < length && is_present(x[m]) && is_present(y[m]);
    }
    halve(columns, short_columns, 1);
#if TALLY_PASSES == 2
    second_t seconds[short_columns];
    aim_t aim = take_aim(columns[0], present);
    TALLY_UNROLL
    for (int32_t m = 0; m < short_columns; m++) seconds[m] = m < length ? lift2(item_of(x[m]), m, aim) : identity2();
    halve2(seconds, short_columns, 1);
    return to_node(columns[0], aim, seconds[0], present, 0);
#else
    return to_node(columns[0], present);
#endif
}

#endif
