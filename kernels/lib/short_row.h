/* The node of a row of at most 64 values, in the canonical order: a leaf of 8 columns (docs/order.md), by 1, 2, 4 or 8 lanes, of which number j
 * has columns j, j + lanes, ... No include guard; behind lib/leaf_node.h and lib/batch.h. */

/* Every lane of the warp takes part; each lane of the row gets the node. `lanes` is a constant. */
TALLY_FN TALLY_N(node) TALLY_N(short_node)(const TALLY_N(batch) *batch, int32_t length, const int32_t lanes) {
    const int32_t held = TALLY_SHORT_COLUMNS / lanes;
    TALLY_N(column) columns[TALLY_SHORT_COLUMNS];
    int64_t present = length;
#if TALLY_FLOAT && TALLY_NAN == 1
    present = 0;
#endif
    TALLY_UNROLL
    for (int32_t m = 0; m < TALLY_SHORT_COLUMNS; m++) {
        TALLY_N(column) lifted = TALLY_N(lift)(TALLY_N(item_of)(batch->x[m]), TALLY_N(item_of)(batch->y[m]));
        if (m >= held && lanes * m >= length) continue;
        if (!TALLY_N(lane_has)(batch, length, m, lanes)) lifted = TALLY_N(identity)();
        columns[m % held] = m < held ? lifted : TALLY_N(combine)(columns[m % held], lifted);
#if TALLY_FLOAT && TALLY_NAN == 1
        present += TALLY_N(lane_has)(batch, length, m, lanes) && TALLY_N(present)(batch->x[m]) && TALLY_N(present)(batch->y[m]);
#endif
    }
#if TALLY_FLOAT && TALLY_NAN == 1
    for (int32_t mask = lanes / 2; mask > 0; mask /= 2) present += tally_shuffle_xor((uint32_t)present, mask);
#endif
    TALLY_UNROLL
    for (int32_t half = TALLY_SHORT_COLUMNS / 2; half > 0; half /= 2) {
        if (half >= lanes) {
            TALLY_UNROLL
            for (int32_t k = 0; k < half / lanes; k++) columns[k] = TALLY_N(combine)(columns[k], columns[k + half / lanes]);
        } else
            columns[0] = TALLY_N(combine)(columns[0], TALLY_N(other)(columns[0], half));
    }
#if TALLY_PASSES == 2
    TALLY_N(second) seconds[TALLY_SHORT_COLUMNS];
    TALLY_N(aim) aim = TALLY_N(take_aim)(columns[0], present);
    TALLY_UNROLL
    for (int32_t m = 0; m < TALLY_SHORT_COLUMNS; m++) {
        TALLY_N(second) lifted = TALLY_N(lift2)(TALLY_N(item_of)(batch->x[m]), tally_lane() % lanes + lanes * m, aim);
        if (m >= held && lanes * m >= length) continue;
        if (!TALLY_N(lane_has)(batch, length, m, lanes)) lifted = TALLY_N(identity2)();
        seconds[m % held] = m < held ? lifted : TALLY_N(combine2)(seconds[m % held], lifted);
    }
    TALLY_UNROLL
    for (int32_t half = TALLY_SHORT_COLUMNS / 2; half > 0; half /= 2) {
        if (half >= lanes) {
            TALLY_UNROLL
            for (int32_t k = 0; k < half / lanes; k++) seconds[k] = TALLY_N(combine2)(seconds[k], seconds[k + half / lanes]);
        } else
            seconds[0] = TALLY_N(combine2)(seconds[0], TALLY_N(other2)(seconds[0], half));
    }
    return TALLY_N(seal)(columns[0], aim, seconds[0], present, 0);
#else
    return TALLY_N(seal)(columns[0], present);
#endif
}
