/* Rows of at most 64 values, in the canonical order: a leaf of 8 columns each (docs/order.md), by 1, 2, 4 or 8 lanes. No include guard;
 * behind lib/leaf_node.h. */

/* The node of one row of n values by `lanes` lanes, a constant, of which this is number `mine`: it has columns mine, mine + lanes, ... n is
 * 0 for a row that is not there. Every lane of the warp takes part; each lane of the row gets the node. */
TALLY_FN TALLY_N(node) TALLY_N(short_node)(const tally_source *x, const tally_source *y, int64_t at, int64_t apart, int32_t n, int32_t most,
                                           int32_t mine, const int32_t lanes) {
    const int32_t held = TALLY_SHORT_COLUMNS / lanes;
    TALLY_T vx[TALLY_SHORT_COLUMNS], vy[TALLY_SHORT_COLUMNS];
    TALLY_N(column) columns[TALLY_SHORT_COLUMNS];
    int64_t present = n;
    TALLY_UNROLL
    for (int32_t m = 0; m < TALLY_SHORT_COLUMNS; m++) {
        int32_t i = mine + lanes * m;
        vx[m] = vy[m] = 0;
        if (lanes * m >= most) continue; /* of no row */
        if (i < n) vx[m] = vy[m] = TALLY_N(read_one)(x, at + i * apart);
        if (TALLY_KERNEL_INPUTS == 2 && i < n) vy[m] = TALLY_N(read_one)(y, at + i * apart);
    }
#if TALLY_FLOAT && TALLY_NAN == 1
    present = 0;
#endif
    TALLY_UNROLL
    for (int32_t m = 0; m < TALLY_SHORT_COLUMNS; m++) {
        TALLY_N(column) lifted = TALLY_N(lift)(TALLY_N(item_of)(vx[m]), TALLY_N(item_of)(vy[m]));
        if (m >= held && lanes * m >= most) continue;
        if (mine + lanes * m >= n) lifted = TALLY_N(identity)();
        columns[m % held] = m < held ? lifted : TALLY_N(combine)(columns[m % held], lifted);
#if TALLY_FLOAT && TALLY_NAN == 1
        present += mine + lanes * m < n && TALLY_N(present)(vx[m]) && TALLY_N(present)(vy[m]);
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
        TALLY_N(second) lifted = TALLY_N(lift2)(TALLY_N(item_of)(vx[m]), mine + lanes * m, aim);
        if (m >= held && lanes * m >= most) continue;
        if (mine + lanes * m >= n) lifted = TALLY_N(identity2)();
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
