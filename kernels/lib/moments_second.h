/* The second pass of var and stats, once the structs exist. No include guard. */
TALLY_FN TALLY_N(aim) TALLY_N(take_aim)(TALLY_N(column) column, int64_t n) {
    TALLY_N(aim) aim;
    aim.pivot = TALLY_MOMENT_PIVOT(column.sum, n);
    return aim;
}
TALLY_FN TALLY_N(second) TALLY_N(lift2)(TALLY_N(item) x, int32_t i, TALLY_N(aim) aim) {
    TALLY_N(second) a;
    TALLY_R rest = (TALLY_R)x.value - aim.pivot;
    (void)i;
    rest = TALLY_N(present)(x.raw) ? rest : 0;
    a.rest = rest;
    a.squares = rest * rest;
    return a;
}
