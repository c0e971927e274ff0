/* Results of short segments from plain sums in f64 (plain_template.h), where these are exact. Part of exact_template.h;
 * no include guard. */

/* How many segments are summed together; 0: the first is too long. */
static int TALLY_N(plain_fitting)(const int64_t *offsets, int64_t count) {
    const int64_t most =
        TALLY_BYTES >= 4 && count == 1 ? TALLY_N(together) : TALLY_BUNCH_VALUES; /* one alone needs no room for rows */
    int some = (int)(count < TALLY_PLAIN_MOST ? count : TALLY_PLAIN_MOST);
    if (offsets[some] - offsets[0] > TALLY_BUNCH_VALUES) some = tally__fitting(offsets, some, TALLY_PLAIN_MOST);
    return offsets[some] - offsets[0] <= most ? some : 0;
}

/* The sums of a bunch of segments from segment s. What makes it up to eight is zeros: subnormals that nobody asked for
 * would cost their time. */
TALLY_FN int TALLY_N(take_parts)(tally__parts to, tally__plain_sums sums, int parts, int s, const tally__bunch *bunch) {
    for (int k = 0; k < parts; k++) {
        __builtin_memcpy(to[k], sums[k] + s, (size_t)bunch->count * sizeof *sums[k]);
        for (int i = bunch->count; i < bunch->padded; i++) to[k][i] = 0;
    }
    return parts;
}
/* Results that are more than a sum, by bunches. */
static void TALLY_N(conclude_plain)(const tally__kernel *kernel, const TALLY_N(raw) *x, const TALLY_N(raw) *y,
                                    const TALLY_N(base_raw) *values, tally__plain_made *made, const int64_t *offsets,
                                    int count, const tally_final *final, char *results, bool *empty) {
    int64_t lows[TALLY_BUNCH_MOST], highs[TALLY_BUNCH_MOST];
    (void)values;
    for (int s = 0; s < count; s += TALLY_BUNCH_MOST) {
        const int some = count - s < TALLY_BUNCH_MOST ? count - s : TALLY_BUNCH_MOST;
        const int64_t at = offsets[s] - offsets[0];
        tally__bunch bunch;
        tally__cpu_tiles()->begin_bunch(&bunch, offsets + s, some);
        if (some == 1) bunch.padded = 1; /* no vector of eight */
        bunch.ddof = final->ddof;
        bunch.product_parts = 0;
#if !defined(TALLY_SUM_TERM)
        bunch.sum_parts = TALLY_N(take_parts)(bunch.sums, made->products, TALLY_N(product_parts), s, &bunch);
#else
        bunch.sum_parts = TALLY_N(take_parts)(bunch.sums, made->sums, TALLY_N(sum_parts), s, &bunch);
#if defined(TALLY_PRODUCTS)
        bunch.product_parts = TALLY_N(take_parts)(bunch.products, made->products, TALLY_N(product_parts), s, &bunch);
#endif
#endif
#ifdef TALLY_KEYS
        tally__cpu_tiles()->ranges[TALLY_IS_F64](values + at, &bunch, lows, highs);
#endif
        TALLY_N(finish_bunch)(kernel, x + at, y + at, &bunch, lows, highs, final,
                              results + s * (int64_t)tally__result_bytes(kernel, final), empty);
    }
}
/* Segments that plain_fitting gives. False: nothing was done. That some are empty matters to what is more than a sum
 * alone. */
static bool TALLY_N(reduce_plain)(const tally__kernel *kernel, const tally__plain *plain, const TALLY_N(raw) *x,
                                  const TALLY_N(raw) *y, const int64_t *offsets, int count, const tally_final *final,
                                  char *results, bool *empty) {
    tally__plain_made made;
    const void *a = x += offsets[0], *b = y += offsets[0];
#if TALLY_BYTES == 2
    float wide[TALLY_KERNEL_INPUTS][TALLY_BUNCH_VALUES];
    TALLY_N(widen)(wide[0], x, offsets[count] - offsets[0]);
    if (TALLY_KERNEL_INPUTS == 2) TALLY_N(widen)(wide[TALLY_KERNEL_INPUTS - 1], y, offsets[count] - offsets[0]);
    a = wide[0], b = wide[TALLY_KERNEL_INPUTS - 1];
#endif
    if (!tally__sum_plainly(plain, a, TALLY_KERNEL_INPUTS == 2 ? b : a, offsets, count, &made)) return false;
#if !defined(TALLY_KEYS) && !(defined(TALLY_SUM_TERM) && defined(TALLY_PRODUCTS))
    if (!final->mean && !final->root) {
        double(*const of)[TALLY_PLAIN_MOST] = TALLY_IF_SUM(true) ? made.sums : made.products;
        const int parts = TALLY_IF_SUM(true) ? TALLY_N(sum_parts) : TALLY_N(product_parts);
        const int64_t bytes = (int64_t)tally__result_bytes(kernel, final);
        if (tally__cpu_tiles()->round_sums(of, parts, offsets, count, final->format.digits == 53, results))
            for (int s = 0; s < count; s++) {
                const int64_t at = offsets[s] - offsets[0], n = offsets[s + 1] - offsets[s];
                if (tally__plain_total(of, parts, s) == 0)
                    TALLY_N(put_zero)(x + at, y + at, n, 1, final, results + s * bytes);
            }
        return true;
    }
#endif
    TALLY_N(conclude_plain)(kernel, x, y, a, &made, offsets, count, final, results, empty);
    return true;
}
