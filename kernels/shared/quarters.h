/* Leaves of more than 64 values that lie in shared memory, by the quarters of a warp, 8 lanes each, four at once.
 *
 * A row of a leaf (docs/order.md) has 32 parts of 16 bytes. Lane l of a quarter has parts l, l + 8, l + 16, l + 24 of
 * each row, and so their columns. Columns are counted from the multiple of 16 bytes before the leaf, not from its first
 * value. That moves all of them on by the same distance: those that are combined stay as far apart. */
#ifndef TALLY_SHARED_QUARTERS_H
#define TALLY_SHARED_QUARTERS_H

#include "order/fold.h"
#include "shared/values.h"

enum {
    quarter = 8, /* lanes */
    quarter_columns = TALLY_DEVICE_COLUMNS / quarter
};
#if TALLY_BY_QUARTERS

/* Combines values from ... to - 1 of a part with their columns, behind what is there. */
TALLY_FN void put_in_row(column_t *columns, const tally_quad *quad, int32_t from, int32_t to) {
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_PART; v++) {
        const item_t item = item_of(value_of_part(quad, v));
        if (v >= from && v < to) columns[v] = combine(columns[v], lift(item, item));
    }
}
/* Fills the lane's columns with n values. */
TALLY_FN void fill_quarter(column_t *columns, const TALLY_T *x, int32_t n) {
    enum { LANES = quarter, EACH = quarter_columns / TALLY_PART, ROW = EACH * LANES };
    const int32_t before = n > 0 ? (int32_t)((uint64_t)x % 16 / TALLY_BYTES) : 0, until = before + n;
    const int32_t whole = (int32_t)((uint32_t)until / TALLY_PART), rest = (int32_t)((uint32_t)until % TALLY_PART);
    const int32_t sub = tally_lane() % LANES, most = (int32_t)tally_warp_max((uint32_t)whole);
    const char *const begin = (const char *)(x - before), *p = begin + 16 * sub;
    int32_t left = whole - sub,
            comes = sub > 0 ||
                    before == 0; /* whole parts from the lane's next on; whether that one is whole at its begin, too */
    TALLY_UNROLL
    for (int32_t c = 0; c < quarter_columns; c++) columns[c] = identity();
    if (!comes) {
        const tally_quad quad = tally_take16(p);
        put_in_row(columns, &quad, before, TALLY_PART);
    }
    TALLY_ROLL
    for (int32_t done = 0; done < most; done += ROW) {
        TALLY_UNROLL
        for (int32_t k = 0; k < EACH; k++) {
            if (left <= k * LANES || (k == 0 && !comes)) continue;
            const tally_quad quad = tally_take16(p + 16 * k * LANES);
            put_in_row(columns + k * TALLY_PART, &quad, 0, TALLY_PART);
        }
        p += 16 * ROW;
        left -= ROW;
        comes = 1;
    }
    if (rest != 0 && whole % LANES == sub) { /* the last part, in one of the lane's places of a row */
        const tally_quad quad = tally_take16(begin + 16 * whole);
        column_t last[TALLY_PART];
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_PART; v++) last[v] = identity();
        put_in_row(last, &quad, 0, rest);
        TALLY_UNROLL
        for (int32_t c = 0; c < quarter_columns; c++)
            if (whole / LANES % EACH == c / TALLY_PART) columns[c] = combine(columns[c], last[c % TALLY_PART]);
    }
}
/* The node of n values by a quarter: 0, or 65 to those of a leaf. Each of its lanes gets it. All lanes of the warp call
 * this. */
TALLY_FN node_t quarter_node(const TALLY_T *x, int32_t n) {
    column_t columns[quarter_columns];
    int32_t present = n;
    fill_quarter(columns, x, n);
    halve(columns, quarter_columns, TALLY_PART);
    const column_t column = fold_lanes(columns, quarter);
    if (TALLY_MAY_SKIP) {
        present = count_from(x, x, n, tally_lane() % quarter, quarter);
        for (int32_t mask = quarter / 2; mask > 0; mask /= 2)
            present += (int32_t)tally_shuffle_xor((uint32_t)present, mask);
    }
    return to_node(column, present);
}
#endif

#endif
