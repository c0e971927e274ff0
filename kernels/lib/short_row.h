/* The node of a row of at most 8 values, in the canonical order: a leaf of 8 columns (docs/order.md). No include guard;
 * behind lib/leaf_node.h and lib/batch.h. */
TALLY_FN TALLY_N(node) TALLY_N(short_node)(const TALLY_N(row) *row, int32_t length) {
    TALLY_N(column) columns[TALLY_SHORT_COLUMNS];
    int64_t present = length;
#if TALLY_FLOAT && TALLY_NAN == 1
    present = 0;
#endif
    TALLY_UNROLL
    for (int32_t m = 0; m < TALLY_SHORT_COLUMNS; m++) {
        columns[m] =
            m < length ? TALLY_N(lift)(TALLY_N(item_of)(row->x[m]), TALLY_N(item_of)(row->y[m])) : TALLY_N(identity)();
#if TALLY_FLOAT && TALLY_NAN == 1
        present += m < length && TALLY_N(present)(row->x[m]) && TALLY_N(present)(row->y[m]);
#endif
    }
    TALLY_UNROLL
    for (int32_t half = TALLY_SHORT_COLUMNS / 2; half > 0; half /= 2) {
        TALLY_UNROLL
        for (int32_t k = 0; k < half; k++) columns[k] = TALLY_N(combine)(columns[k], columns[k + half]);
    }
#if TALLY_PASSES == 2
    TALLY_N(second) seconds[TALLY_SHORT_COLUMNS];
    TALLY_N(aim) aim = TALLY_N(take_aim)(columns[0], present);
    TALLY_UNROLL
    for (int32_t m = 0; m < TALLY_SHORT_COLUMNS; m++)
        seconds[m] = m < length ? TALLY_N(lift2)(TALLY_N(item_of)(row->x[m]), m, aim) : TALLY_N(identity2)();
    TALLY_UNROLL
    for (int32_t half = TALLY_SHORT_COLUMNS / 2; half > 0; half /= 2) {
        TALLY_UNROLL
        for (int32_t k = 0; k < half; k++) seconds[k] = TALLY_N(combine2)(seconds[k], seconds[k + half]);
    }
    return TALLY_N(seal)(columns[0], aim, seconds[0], present, 0);
#else
    return TALLY_N(seal)(columns[0], present);
#endif
}
