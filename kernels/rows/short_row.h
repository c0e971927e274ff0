/* The node of a row of at most 8 values, in the canonical order: a leaf of 8 columns (docs/order.md). */
#ifndef TALLY_SHORT_ROW_H
#define TALLY_SHORT_ROW_H

#include "rows/short_rows.h"
#include "accumulators/operator.h"

TALLY_FN node_t short_node(const row_t *row, int32_t length) {
    column_t columns[TALLY_SHORT_COLUMNS];
    int64_t present = length;
#if TALLY_FLOAT && TALLY_NAN == 1
    present = 0;
#endif
    TALLY_UNROLL
    for (int32_t m = 0; m < TALLY_SHORT_COLUMNS; m++) {
        columns[m] = m < length ? lift(item_of(row->x[m]), item_of(row->y[m])) : identity();
#if TALLY_FLOAT && TALLY_NAN == 1
        present += m < length && is_present(row->x[m]) && is_present(row->y[m]);
#endif
    }
    TALLY_UNROLL
    for (int32_t half = TALLY_SHORT_COLUMNS / 2; half > 0; half /= 2) {
        TALLY_UNROLL
        for (int32_t k = 0; k < half; k++) columns[k] = combine(columns[k], columns[k + half]);
    }
#if TALLY_PASSES == 2
    second_t seconds[TALLY_SHORT_COLUMNS];
    aim_t aim = take_aim(columns[0], present);
    TALLY_UNROLL
    for (int32_t m = 0; m < TALLY_SHORT_COLUMNS; m++)
        seconds[m] = m < length ? lift2(item_of(row->x[m]), m, aim) : identity2();
    TALLY_UNROLL
    for (int32_t half = TALLY_SHORT_COLUMNS / 2; half > 0; half /= 2) {
        TALLY_UNROLL
        for (int32_t k = 0; k < half; k++) seconds[k] = combine2(seconds[k], seconds[k + half]);
    }
    return to_node(columns[0], aim, seconds[0], present, 0);
#else
    return to_node(columns[0], present);
#endif
}

#endif
