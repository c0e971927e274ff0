/* Exact results of short rows. A thread has a row, or some neighbouring rows where rows lie across others. A sum is two
 * doubles, the second of which has the errors of the first, and a bound for the error that remains
 * (sums/compensated.h). If these do not decide the result, the thread adds the row up again in three doubles; values of
 * f64 are scaled by a power of two, so that products neither overflow nor lose digits. If the result is still
 * uncertain, the thread marks the row for the stages that follow (docs/design/012). */
#ifndef TALLY_FORM_SHORT_EXACT_H
#define TALLY_FORM_SHORT_EXACT_H

#include "types/types.h"

#include TALLY_KERNEL_FILE

#include "partition/partition.h"
#include "order/leaf.h"
#include "exact_segments/thread_sums.h"
#include "exact_rows/pair_sums.h"

/* ---- what a thread reads ---- */

/* Where a thread's rows begin. In place of rows that do not exist it reads the last row. */
typedef struct rows_t {
    const char *x[TALLY_ACROSS], *y[TALLY_ACROSS]; /* of whole rows (below) the first alone */
} rows_t;

/* The index of the thread's row v, which need not exist. Rows are whole (is_whole) where the values of the thread's
 * rows are neighbours and can be read at once, 16 bytes or less. */
TALLY_FN int64_t row_of(int32_t is_whole, int32_t v) {
    const int64_t first = (int64_t)tally_block() * TALLY_THREADS * TALLY_ACROSS;
    return first + (is_whole ? tally_thread() * TALLY_ACROSS + v : tally_thread() + v * TALLY_THREADS);
}
TALLY_FN int64_t first_of_row(const tally_segments_work *work, int64_t row) {
    if (work->inner == 1) return row * work->length;
    return row < work->inner ? row : tally_begin_of_row(row, work->length, work->inner);
}
TALLY_FN rows_t rows_of(const tally_segments_work *work, const int32_t is_whole) {
    rows_t rows;
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) {
        if (v > 0 && is_whole) continue;
        const int64_t row = row_of(is_whole, v), last = work->partition.count - 1,
                      first = first_of_row(work, row < last ? row : last);
        rows.x[v] = work->x + first * work->x_stride;
        rows.y[v] = TALLY_KERNEL_INPUTS == 1 ? rows.x[v] : work->y + first * work->y_stride;
    }
    return rows;
}
/* Reads from each row the value that is `at` bytes behind its first. */
TALLY_FN vector_t read_rows(const char *const *rows, int64_t at, const int32_t is_whole) {
    if (is_whole) return read_whole_vector(rows[0] + at);
    vector_t vector = no_values();
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) set_value(&vector, v, *(const TALLY_T *)(const void *)(rows[v] + at));
    return vector;
}
/* Adds all values of the thread's rows; they are aligned. */
TALLY_FN void add_rows(const tally_segments_work *work, const rows_t *rows, row_sums_t *sums, const int32_t is_whole) {
    const int32_t length = (int32_t)work->length;
    const int64_t step_x = work->inner * work->x_stride, step_y = work->inner * work->y_stride;
    sizes_t sizes = no_sizes();
    int64_t at_x = 0, at_y = 0;
    TALLY_ROLLED
    for (int32_t first = 0; first < length; first += together) {
        values_t values;
        TALLY_UNROLL
        for (int32_t k = 0; k < together; k++) {
            const int32_t is_there = first + k < length;
            values.x[k] = is_there ? read_rows(rows->x, at_x, is_whole) : vector_of(absent_value());
            values.y[k] = TALLY_KERNEL_INPUTS == 1 ? values.x[k]
                          : is_there               ? read_rows(rows->y, at_y, is_whole)
                                                   : vector_of(plus_zero());
            TALLY_UNROLL
            for (int32_t v = 0; v < TALLY_ACROSS; v++) add_key(&sums[v], value_in(&values.x[k], v), is_there);
            at_x += step_x;
            at_y += step_y;
        }
        add_values_to_rows(sums, &sizes, &values);
    }
    take_largest(sums, &sizes);
}

/* ---- results ---- */

/* The power of two that makes the largest term of a row about 1; 0 but for f64. */
TALLY_FN int32_t power_of_row(const tally_segments_work *work, const tally_source *x, const tally_source *y,
                              int64_t first) {
    uint32_t most = 0;
    TALLY_ROLLED
    for (int64_t m = 0; TALLY_IS_F64 && m < work->length; m++) {
        const TALLY_T a = read_one(x, first + m * work->inner),
                      b = TALLY_KERNEL_INPUTS == 1 ? a : read_one(y, first + m * work->inner);
        if (!term_is_special(a, b)) most = term_size(a, b) > most ? term_size(a, b) : most;
    }
    return TALLY_IS_F64 ? power_for(most) : 0;
}
/* Adds up a row again, in three doubles; values of f64 are scaled. */
TALLY_LONG void put_again(const tally_segments_work *work, int64_t row) {
    const tally_source x = tally_source_of(work->x, work->x_stride, TALLY_BYTES),
                       y = tally_source_of(work->y, work->y_stride, TALLY_BYTES);
    const int64_t first = first_of_row(work, row);
    const int32_t power = power_of_row(work, &x, &y, first);
    thread_sums_t sums = no_sums();
    uint64_t result[6] = {0, 0, 0, 0, 0, 0};
    TALLY_ROLLED
    for (int64_t m = 0; m < work->length; m++) {
        const TALLY_T a = read_one(&x, first + m * work->inner);
        add_value(&sums, a, TALLY_KERNEL_INPUTS == 1 ? a : read_one(&y, first + m * work->inner), power);
    }
    if (sums.noted.absent == work->length)
        put_nothing(&work->out, row);
    else if (finalize_sums(&sums, work->length, power, &work->out.final, result))
        put_bytes(&work->out, row, result, work->length - sums.noted.absent);
    else
        mark_row(work, row);
}
/* A result as it lies in memory. */
#if TALLY_IS_F64
typedef uint64_t word_t;
#else
typedef uint32_t word_t;
#endif
enum { words_bytes = TALLY_ACROSS * sizeof(word_t) };
/* Whether results are neighbouring words: then those of a thread are stored at once. */
TALLY_FN int32_t are_words(const tally_results *out) {
    return out->result_stride == sizeof(word_t) && (uint64_t)out->result % words_bytes == 0;
}
/* The result of n values, if few operations make it certain. `share` is their error_of. */
TALLY_FN int32_t quick_word(const row_sums_t *sums, int64_t n, double share, const common_t *common,
                            const tally_final *final, word_t *word) {
    const compensated_t all = compensated_of_row(sums, n, share);
#if TALLY_IS_F64
    return (void)common, !sums->is_small && wide_result(&all, final, word);
#else
    return quick_result(&all, common, final, word);
#endif
}
/* Stores results of the thread's rows: those whose bit in `certain` is set. */
TALLY_FN void store_words(const tally_segments_work *work, int32_t is_whole, const word_t *words, uint32_t certain) {
    word_t *const to = (word_t *)(void *)work->out.result, *const at = to + row_of(is_whole, 0);
    if (is_whole && certain == ((uint32_t)1 << TALLY_ACROSS) - 1) {
        if (words_bytes == 16) {
            tally_quad quad;
            __builtin_memcpy(&quad, words, words_bytes);
            tally_put16((char *)at, &quad);
        } else if (words_bytes == 8) {
            uint64_t two;
            __builtin_memcpy(&two, words, words_bytes);
            *(uint64_t *)(void *)at = two;
        } else
            at[0] = words[0];
        return;
    }
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++)
        if (certain >> v & 1) to[row_of(is_whole, v)] = words[v];
}
/* Writes the results of the thread's rows. `sums` are theirs if are_added; otherwise the rows have not been added up.
 */
TALLY_FN void put_rows(const tally_segments_work *work, row_sums_t *sums, int32_t is_whole, int32_t are_added) {
    const tally_results *const out = &work->out;
    uint32_t there = 0, certain = 0, unsure = 0;
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++)
        there |= row_of(is_whole, v) < work->partition.count ? (uint32_t)1 << v : 0;
    if (are_added && are_words(out) && are_quick(work->length, &out->final)) {
        const common_t common = common_of(work->length, &out->final);
        const double share = error_of(common.n);
        word_t words[TALLY_ACROSS];
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_ACROSS; v++)
            certain |=
                quick_word(&sums[v], work->length, share, &common, &out->final, &words[v]) ? (uint32_t)1 << v : 0;
        certain &= there;
        store_words(work, is_whole, words, certain);
        if (certain == there) return;
    }
    TALLY_ROLLED /* the code that makes a result is long, so it stands once: sums move up */
        for (int32_t v = 0; v < TALLY_ACROSS; v++) {
        const int64_t row = row_of(is_whole, v), present = work->length - sums[0].absent;
        uint64_t result[6] = {0, 0, 0, 0, 0, 0};
        if ((there & ~certain) >> v & 1) {
            if (are_added && present == 0)
                put_nothing(out, row);
            else if (are_added && finalize_row(&sums[0], work->length, &out->final, result))
                put_bytes(out, row, result, present);
            else
                unsure |= (uint32_t)1 << v;
        }
        TALLY_UNROLL
        for (int32_t w = 1; w < TALLY_ACROSS; w++) sums[w - 1] = sums[w];
    }
    TALLY_ROLLED
    for (; unsure != 0; unsure &= unsure - 1) put_again(work, row_of(is_whole, __builtin_ffs((int32_t)unsure) - 1));
}

TALLY_KERNEL_ENTRY(TALLY_THREADS, exact_short, tally_segments_work, TALLY_RESIDENT) {
    if (tally_is_idle(work.wanted)) return;
    tally_let_next_start();
    tally_await_before();
    const tally_source x = tally_source_of(work.x, work.x_stride, TALLY_BYTES),
                       y = tally_source_of(work.y, work.y_stride, TALLY_BYTES);
    const int32_t is_whole = x.is_packed && y.is_packed && work.inner % TALLY_ACROSS == 0;
    row_sums_t sums[TALLY_ACROSS];
    if (row_of(is_whole, 0) >= work.partition.count) return;
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) sums[v] = no_row_sums();
    if (is_whole) {
        const rows_t rows = rows_of(&work, 1);
        add_rows(&work, &rows, sums, 1);
    } else if (x.is_aligned && y.is_aligned) {
        const rows_t rows = rows_of(&work, 0);
        add_rows(&work, &rows, sums, 0);
    }
    put_rows(&work, sums, is_whole, x.is_aligned && y.is_aligned);
}

#endif
