/* Results of short segments from plain sums in f64 (plain_template.h), where these are exact: sums, means and norm1 of f32, f16, bf16. Part of
 * exact_template.h; no include guard. */
#include "lib/parts.h"

/* Whether it is worth to try: of f16 and bf16 it nearly always is, and of few values it costs little. */
static bool TALLY_N(may_be_plain)(const TALLY_N(raw) *x, const int64_t *offsets, int64_t count) {
    const int64_t n = count > 0 ? offsets[count] - offsets[0] : 0;
    if (n == 0) return false;
    return TALLY_BYTES == 2 || (count == 1 && n <= TALLY_TILE) || tally__may_be_plain(x + offsets[0], n);
}
/* How many segments are summed together; 0: the first is too long. One alone needs no room for rows. */
static int TALLY_N(plain_fitting)(const int64_t *offsets, int64_t count) {
    const int64_t most = TALLY_BYTES == 4 && count == 1 ? TALLY_FEW_TILES * TALLY_N(tile) : TALLY_BUNCH_VALUES;
    int some = (int)(count < TALLY_PLAIN_MOST ? count : TALLY_PLAIN_MOST);
    if (offsets[some] - offsets[0] > TALLY_BUNCH_VALUES) some = tally__fitting(offsets, some, TALLY_PLAIN_MOST);
    return offsets[some] - offsets[0] <= most ? some : 0;
}

/* The mean of one segment. False: it takes another way. */
static bool TALLY_N(put_plain_mean)(double sum, int64_t n, const tally_final *final, void *result) {
    const tally_pair whole = {sum, 0};
    tally_quick mean = tally_quick_mean(whole, (double)n, final->format.digits == 53);
    if (mean.sure) tally_put(result, mean.value, final->format);
    return mean.sure;
}
/* Those of many, by bunches. */
static void TALLY_N(put_plain_means)(const tally__kernel *kernel, const TALLY_N(raw) *x, const double *sums, const int64_t *offsets, int count,
                                     const tally_final *final, char *results, bool *empty) {
    for (int s = 0; s < count; s += TALLY_BUNCH_MOST) {
        const TALLY_N(raw) *at = x + (offsets[s] - offsets[0]);
        tally__bunch bunch;
        tally__cpu_tiles()->begin_bunch(&bunch, offsets + s, count - s < TALLY_BUNCH_MOST ? count - s : TALLY_BUNCH_MOST);
        bunch.sum_parts = 1;
        bunch.product_parts = 0;
        __builtin_memcpy(bunch.sums[0], sums + s, (size_t)bunch.count * sizeof *sums);
        TALLY_N(finish_bunch)(kernel, at, at, &bunch, NULL, NULL, final, results + s * (int64_t)tally__result_bytes(kernel, final), empty);
    }
}
/* Segments that plain_fitting gives. False: nothing was done. That some are empty matters to means alone. */
static bool TALLY_N(reduce_plain)(const tally__kernel *kernel, const TALLY_N(raw) *x, const int64_t *offsets, int count, const tally_final *final,
                                  char *results, bool *empty) {
    const int64_t bytes = (int64_t)tally__result_bytes(kernel, final);
    _Alignas(64) double sums[TALLY_PLAIN_MOST];
    const void *values = x += offsets[0];
#if TALLY_BYTES == 2
    float wide[TALLY_BUNCH_VALUES];
    TALLY_N(widen)(wide, x, offsets[count] - offsets[0]);
    values = wide;
#endif
    if (!tally__sum_plainly(values, offsets, count, TALLY_SUM_TERM, sums)) return false;
    if (final->mean && count == 1) return TALLY_N(put_plain_mean)(sums[0], offsets[1] - offsets[0], final, results);
    if (final->mean)
        TALLY_N(put_plain_means)(kernel, x, sums, offsets, count, final, results, empty);
    else if (tally__cpu_tiles()->round_sums(sums, offsets, count, final->format.digits == 53, results))
        for (int s = 0; s < count; s++)
            if (sums[s] == 0) TALLY_N(put_zero)(x + (offsets[s] - offsets[0]), x, offsets[s + 1] - offsets[s], final, results + s * bytes);
    return true;
}
