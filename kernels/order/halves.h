/* A warp folds the columns of one leaf as docs/order.md says: column c is combined with column c + half. For built-in
 * operators the operands may change sides; the combine of a user operator gets the earlier one on the left, as on the
 * CPU. Included once for each kind of column, with
 *
 *     TALLY_RECORD, TALLY_COMBINE     what a column is, and how two combine
 *     TALLY_NAME(name)                the name of a function for it
 *
 * which are undefined again here. Gives
 *
 *     halve        columns of one lane, each combined with one half of them further on
 *     fold         the fold of a leaf whose lanes have TALLY_HELD neighbouring columns each; every lane gets it
 *     fold_lanes   the same for the columns of some neighbouring lanes
 *     fold_apart   the same where the columns of a lane are TALLY_WARP apart */
#include "device/device.h"

#if !defined(TALLY_NAME) || !defined(TALLY_RECORD) || !defined(TALLY_COMBINE)
#error "define what the first comment lists"
#endif

/* Combines column c with column c + count / 2, then with c + count / 4, and so on, until `least` columns are left. Both
 * are constants. */
TALLY_FN void TALLY_NAME(halve)(TALLY_RECORD *columns, const int32_t count, const int32_t least) {
    TALLY_UNROLL
    for (int32_t half = count / 2; half >= least; half /= 2) {
        TALLY_UNROLL
        for (int32_t c = 0; c < count / 2; c++)
            if (c < half) columns[c] = TALLY_COMBINE(columns[c], columns[c + half]);
    }
}

TALLY_FN TALLY_RECORD TALLY_NAME(other)(TALLY_RECORD a, int32_t mask) {
    uint32_t w[(sizeof a + 3) / 4];
    w[(sizeof a + 3) / 4 - 1] = 0;
    __builtin_memcpy(w, &a, sizeof a);
    TALLY_UNROLL
    for (uint32_t k = 0; k < (sizeof a + 3) / 4; k++) w[k] = tally_shuffle_xor(w[k], mask);
    __builtin_memcpy(&a, w, sizeof a);
    return a;
}

/* Combines a column of this lane with one of another lane. is_upper: this lane's is the later one. */
TALLY_FN TALLY_RECORD TALLY_NAME(meet_lane)(TALLY_RECORD mine, TALLY_RECORD theirs, int32_t is_upper) {
    if (TALLY_IS_USER) {
        TALLY_RECORD early = is_upper ? theirs : mine, late = is_upper ? mine : theirs;
        return TALLY_COMBINE(early, late);
    } else
        return TALLY_COMBINE(mine, theirs);
}

/* While lanes have several columns, the two lanes of a pair share the work: one keeps the lower half of the columns,
 * the other the upper half. These halves are combined last, across the same lanes. lanes: a constant, at least the
 * number of columns of a lane. */
TALLY_FN TALLY_RECORD TALLY_NAME(fold_lanes)(const TALLY_RECORD *columns, const int32_t lanes) {
    TALLY_RECORD a[TALLY_HELD];
    int32_t held = TALLY_HELD;
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_HELD; v++) a[v] = columns[v];
    TALLY_UNROLL
    for (int32_t mask = lanes / 2; mask > 0; mask /= 2) {
        if (held > 1) {
            held /= 2;
            TALLY_UNROLL
            for (int32_t v = 0; v < TALLY_HELD / 2; v++) {
                if (v >= held) continue;
                TALLY_RECORD low = a[v], high = a[v + held];
                int32_t is_upper = (tally_lane() & mask) != 0;
                TALLY_RECORD mine = is_upper ? high : low, given = is_upper ? low : high;
                a[v] = TALLY_NAME(meet_lane)(mine, TALLY_NAME(other)(given, mask), is_upper);
            }
        } else
            a[0] = TALLY_NAME(meet_lane)(a[0], TALLY_NAME(other)(a[0], mask), tally_lane() & mask);
    }
    TALLY_UNROLL
    for (int32_t half = TALLY_HELD / 2, mask = lanes / 2; half > 0; half /= 2, mask /= 2)
        a[0] = TALLY_NAME(meet_lane)(a[0], TALLY_NAME(other)(a[0], mask), tally_lane() & mask);
    return a[0];
}
TALLY_FN TALLY_RECORD TALLY_NAME(fold)(const TALLY_RECORD *columns) {
    return TALLY_NAME(fold_lanes)(columns, TALLY_WARP);
}
/* The fold if lane l has columns l, l + TALLY_WARP, ... */
TALLY_FN TALLY_RECORD TALLY_NAME(fold_apart)(const TALLY_RECORD *columns) {
    TALLY_RECORD a[TALLY_HELD];
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_HELD; v++) a[v] = columns[v];
    TALLY_NAME(halve)(a, TALLY_HELD, 1);
    TALLY_UNROLL
    for (int32_t mask = TALLY_WARP / 2; mask > 0; mask /= 2) a[0] = TALLY_COMBINE(a[0], TALLY_NAME(other)(a[0], mask));
    return a[0];
}
/* The fold of a leaf of 8 columns: lane l has column l modulo 8. */
TALLY_FN TALLY_RECORD TALLY_NAME(fold_small)(TALLY_RECORD a) {
    TALLY_UNROLL
    for (int32_t mask = 4; mask > 0; mask /= 2)
        a = TALLY_NAME(meet_lane)(a, TALLY_NAME(other)(a, mask), tally_lane() & mask);
    return a;
}
#undef TALLY_NAME
#undef TALLY_TYPE_NAME
#undef TALLY_RECORD
#undef TALLY_COMBINE
#undef TALLY_NOTHING
#undef TALLY_LIFT
