/* A small leaf by one thread, which keeps its 8 columns: one pass. No include guard; include with
 *
 *     TALLY_RECORD, TALLY_COMBINE, TALLY_IDENTITY   what a column is, how two combine, what changes nothing; undone here
 *     TALLY_LIFT(i)                                 value i as a column; undone here
 *     TALLY_SUFFIX, TALLY_AIMED                     what ends the name; that it takes an aim in place of a second input; undone here
 *
 * Lanes begin at different columns, so that segments of equal lengths do not ask for the same bank at once; halves of columns that have
 * moved on together are still the halves. */
#ifdef TALLY_AIMED
TALLY_FN TALLY_RECORD TALLY_N(TALLY_PASTE(thread_columns, TALLY_SUFFIX))(const TALLY_T *x, int32_t n, int32_t most, const TALLY_N(aim) *aim) {
#else
TALLY_FN TALLY_RECORD TALLY_N(TALLY_PASTE(thread_columns, TALLY_SUFFIX))(const TALLY_T *x, const TALLY_T *y, int32_t n, int32_t most) {
#endif
    int32_t at[TALLY_DEVICE_SMALL_COLUMNS];
    TALLY_RECORD columns[TALLY_DEVICE_SMALL_COLUMNS];
    TALLY_UNROLL
    for (int32_t c = 0; c < TALLY_DEVICE_SMALL_COLUMNS; c++) {
        at[c] = (c + tally_lane() / 4 + n) % TALLY_DEVICE_SMALL_COLUMNS; /* + n: or registers would keep them from call to call */
        columns[c] = TALLY_IDENTITY();
    }
    TALLY_UNROLL_THREAD_ROWS
    for (int32_t row = 0; row < TALLY_DEVICE_SMALL; row += TALLY_DEVICE_SMALL_COLUMNS) {
        if (row >= most) break;
        TALLY_UNROLL
        for (int32_t c = 0; c < TALLY_DEVICE_SMALL_COLUMNS; c++)
            if (at[c] < n - row) columns[c] = TALLY_COMBINE(columns[c], TALLY_LIFT(at[c] + row));
    }
    TALLY_UNROLL
    for (int32_t half = TALLY_DEVICE_SMALL_COLUMNS / 2; half > 0; half /= 2) {
        TALLY_UNROLL
        for (int32_t c = 0; c < TALLY_DEVICE_SMALL_COLUMNS / 2; c++)
            if (c < half) columns[c] = TALLY_COMBINE(columns[c], columns[c + half]);
    }
    return columns[0];
}
#undef TALLY_SUFFIX
#undef TALLY_RECORD
#undef TALLY_COMBINE
#undef TALLY_IDENTITY
#undef TALLY_LIFT
#undef TALLY_AIMED
