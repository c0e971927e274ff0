/* Results of a batch of segments, from the parts of their sums, and those that parts do not tell: of sums that are 0,
 * of segments with infinities and NaNs, of results that are not sure. Once for each type, as exact_runs_template.h. */
#ifndef TALLY_CPU_EXACT_BATCHES_TEMPLATE_H
#define TALLY_CPU_EXACT_BATCHES_TEMPLATE_H

#include "cpu/exact_runs_template.h"

TALLY_FN void place_in_leaf(void *results, int64_t s, const void *result, int64_t bytes) {
    __builtin_memcpy((char *)results + s * bytes, result, (size_t)bytes);
}

/* Whether a sum may be -0, which it is where all terms are. */
#define TALLY_HAS_MINUS_ZEROS                  \
    (!TALLY_HAS_KEYS && !(TALLY_HAS_SPREAD) && \
     (TALLY_FIRST_TERM == TALLY_TERM_VALUE || (TALLY_FIRST_TERM == TALLY_TERM_PRODUCT && TALLY_KERNEL_INPUTS == 2)))

/* Puts a zero where result s is. */
TALLY_FN void put_signed_zero(char *results, int64_t s, double zero, const tally_final *final) {
    if (final->format.digits == 53)
        __builtin_memcpy(results + s * (int64_t)sizeof(double), &zero, sizeof(double));
    else
        __builtin_memcpy(results + s * (int64_t)sizeof(float), &(float){(float)zero}, sizeof(float));
}
/* Whether some result is 0. */
TALLY_FN bool has_zeros(const tally__batch *batch) {
    int zeros = 0;
    if (batch->is_f64)
        for (int s = 0; s < batch->count; s++) zeros |= batch->values[s] == 0;
    else
        for (int s = 0; s < batch->count; s++) zeros |= batch->narrow[s] == 0;
    return zeros != 0;
}
/* Whether any of some bits is set. */
TALLY_FN bool any_bit(const uint64_t *bits, int64_t from, int64_t to) {
    uint64_t any = 0;
    for (int64_t at = from, end; at < to; at = end) {
        end = (at | 63) + 1 < to ? (at | 63) + 1 : to;
        any |= bits[at / 64] >> at % 64 & ~(uint64_t)0 >> (64 - (end - at));
    }
    return any != 0;
}
/* Makes those of segments' results -0 that are made of nothing else; values and offsets begin with the first segment.
 */
static void sign_zeros(const void *x, const void *y, const int64_t *offsets, int count, const tally_final *final,
                       char *results) {
    uint64_t bits[TALLY_PLAIN_TERMS / 64 + 1];
    if (TALLY_KERNEL_INPUTS == 2 && x == y) return; /* no square is -0 */
    if (tally__cpu_tiles()->others[TALLY_IS_F64](x, y, offsets[count] - offsets[0], bits)) return;
    for (int s = 0; s < count; s++) {
        const int64_t from = offsets[s] - offsets[0], to = offsets[s + 1] - offsets[0];
        if (from < to && !any_bit(bits, from, to)) put_signed_zero(results, s, -0.0, final);
    }
}
/* The result of a segment that a batch leaves unsure. */
static void reduce_unsure(const tally__kernel *kernel, const raw_t *x, const raw_t *y, const tally__batch *batch, int s,
                          const tally_final *final, void *result) {
    int64_t n = batch->lengths[s];
    reduce_run(kernel, x + batch->places[s], y + batch->places[s], n, final, result);
}
/* Those results of a batch of segments, the first of which begins at x, that finalize_batch leaves; a and b: the values
 * as they were added up; or NULL, if none of the results is -0. */
static void finish_batch(const tally__kernel *kernel, const raw_t *x, const raw_t *y, const void *a, const void *b,
                         const tally__batch *batch, const tally_final *final, char *results, bool *empty) {
    int64_t bytes = (int64_t)tally__result_bytes(kernel, final);
    if (TALLY_HAS_MINUS_ZEROS && a != NULL && has_zeros(batch))
        sign_zeros(a, b, batch->places, batch->count, final, results);
    *empty |= batch->shortest == 0;
    for (int s = 0; s < batch->count && batch->unsure > 0; s++) {
        char result[TALLY_RESULT_BYTES];
        if (batch->sure[s]) continue;
        reduce_unsure(kernel, x, y, batch, s, final, result);
        place_in_leaf(results, s, result, bytes);
    }
}

/* The result of a segment with an infinity or a NaN, the first at value `first`. Gives whether nothing is left of it.
 */
static bool reduce_special(const tally__kernel *kernel, const raw_t *x, const raw_t *y, int64_t first, int64_t n,
                           const tally_final *final, void *result) {
    if (TALLY_HAS_KEYS || kernel->skips_nans) return reduce_run(kernel, x, y, n, final, result);
    double total = TALLY_HAS_SPREAD ? tally_nan_f64() : 0; /* of what is not finite, which alone decides */
    for (int64_t i = first; i < n && total == total; i++) {
        const double a = (double)value_of(x[i]), b = TALLY_KERNEL_INPUTS == 2 ? (double)value_of(y[i]) : a;
        if (a - a == 0 && b - b == 0) continue;
        total += TALLY_FIRST_TERM == TALLY_TERM_VALUE ? a : TALLY_FIRST_TERM == TALLY_TERM_PRODUCT ? a * b : a * a;
    }
    tally_put(result, total, final->format);
    return false;
}
/* The values of a batch with zeros that add nothing in place of infinities and NaNs, and where these were. */
typedef struct finite_t {
    base_t x[TALLY_BATCH_VALUES], y[TALLY_KERNEL_INPUTS == 2 ? TALLY_BATCH_VALUES : 1];
    int64_t specials;
    int32_t places[TALLY_BATCH_VALUES];
} finite_t;
/* Copies the n values at *x and *y, which then are the copies; of one array with itself one. */
static void take_finite(finite_t *finite, const void **x, const void **y, int64_t n) {
    const bool are_two = *x != *y;
    finite->specials = tally__cpu_tiles()->copy_finite[TALLY_IS_F64](*x, *y, n, finite->x, finite->y, finite->places);
    *x = finite->x;
    *y = are_two ? finite->y : finite->x;
}
/* Results of the segments that something was taken out of. */
static void redo_specials(const tally__kernel *kernel, const raw_t *x, const raw_t *y, const finite_t *finite,
                          const int64_t *offsets, int count, const tally_final *final, char *results, bool *empty) {
    const int64_t bytes = (int64_t)tally__result_bytes(kernel, final);
    for (int64_t k = 0; k < finite->specials;) {
        char result[TALLY_RESULT_BYTES];
        int s = 0; /* the last segment that begins at the place or before */
        for (int step = TALLY_PLAIN_MOST / 2; step > 0; step /= 2)
            s += s + step < count && offsets[s + step] - offsets[0] <= finite->places[k] ? step : 0;
        const int64_t from = offsets[s] - offsets[0], next = offsets[s + 1] - offsets[0];
        *empty |= reduce_special(kernel, x + from, y + from, finite->places[k] - from, next - from, final, result);
        place_in_leaf(results, s, result, bytes);
        while (k < finite->specials && finite->places[k] < next) k++;
    }
}

#endif
