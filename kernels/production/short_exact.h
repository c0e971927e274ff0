/* Exact results of short rows, a thread for each row; where rows lie across others, a thread has some neighbours. A sum
 * is three doubles and a bound (sums/bounded.h). A result that these leave uncertain is marked for the stages that
 * follow (docs/design/012). Of f64, a second attempt comes first: the values are scaled by a power of two, so that
 * products neither overflow nor lose digits. */
#ifndef TALLY_FORM_SHORT_EXACT_H
#define TALLY_FORM_SHORT_EXACT_H

#include "types/types.h"

#include TALLY_KERNEL_FILE

#include "segments/partition.h"
#include "order/leaf.h"
#include "exact_sums/extent.h"
#include "exact_sums/terms.h"
#include "exact_sums/pair_results.h"
#define TALLY_COLUMNS_ARE_THERE 2
#include "exact_segments/flat_nodes.h"
#include "sums/bounded.h"
#define TALLY_ACROSS TALLY_SHORT_EXACT_ACROSS_OF(TALLY_BYTES, TALLY_KERNEL_INPUTS, TALLY_HAS_SPREAD)
#include "rows/vector.h"

/* Blocks that a multiprocessor holds: as few as keep registers from spilling (tests/unit/test_compile.c). */
#define TALLY_RESIDENT (TALLY_HAS_KEYS ? 2 : 3)
enum { values_together = 4 }; /* of each row, on their way at once */

/* ---- what a thread reads ---- */

typedef struct rows_t {
    tally_source x, y;
    int64_t first[TALLY_ACROSS]; /* the first value of each, or -1 if there is no such row */
    int32_t is_whole;            /* they lie side by side, where 16 bytes or less can be read at once */
} rows_t;

/* The thread's row v, or -1. */
TALLY_FN int64_t row_of(const tally_segments_work *work, int32_t is_whole, int32_t v) {
    const int64_t row = (int64_t)tally_block() * TALLY_BLOCK * TALLY_ACROSS +
                        (is_whole ? tally_thread() * TALLY_ACROSS + v : tally_thread() + v * TALLY_BLOCK);
    return row < work->partition.count ? row : -1;
}
TALLY_FN int64_t first_of_row(const tally_segments_work *work, int64_t row) {
    return work->inner == 1 ? row * work->length : tally_begin_of_row(row, work->length, work->inner);
}
TALLY_FN rows_t rows_of(const tally_segments_work *work) {
    rows_t rows;
    rows.x = tally_source_of(work->x, work->x_stride, TALLY_BYTES);
    rows.y = tally_source_of(work->y, work->y_stride, TALLY_BYTES);
    rows.is_whole = rows.x.is_packed && rows.y.is_packed && work->inner % TALLY_ACROSS == 0;
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) {
        const int64_t row = row_of(work, rows.is_whole, v);
        rows.first[v] = row < 0 ? -1 : first_of_row(work, row);
    }
    return rows;
}
/* Value m of each row. */
TALLY_FN vector_t read_rows(const tally_segments_work *work, const rows_t *rows, const tally_source *from, int64_t m) {
    vector_t vector;
    if (rows->is_whole && rows->first[0] >= 0)
        return read_whole_vector(from->values + (rows->first[0] + m * work->inner) * TALLY_BYTES);
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++)
        vector.v[v] = rows->first[v] >= 0 ? read_one(from, rows->first[v] + m * work->inner) : plus_zero();
    return vector;
}

/* ---- sums ---- */

/* Of an infinity or a NaN, which are few: not in line. */
TALLY_RARE int32_t evidence_of_special(TALLY_T x, TALLY_T y) { return evidence_of(x, y); }

typedef struct row_sums_t {
    TALLY_IF_SUM(tally_bounded sum;)
    TALLY_IF_PRODUCTS(tally_bounded products;)
    TALLY_IF_KEYS(TALLY_K low, high;)
    int32_t seen, absent;
    uint32_t most_x, most_y; /* of f64: the largest sizes */
} row_sums_t;
/* Powers of two that values of f64 are multiplied by before they are added. */
typedef struct scales_t {
    int32_t x, y;
} scales_t;

TALLY_FN row_sums_t no_sums(void) {
    row_sums_t a;
    __builtin_memset(&a, 0, sizeof a);
    TALLY_IF_KEYS(a.low = TALLY_K_HIGH; a.high = TALLY_K_LOW;)
    return a;
}
TALLY_FN double scaled_by(double x, int32_t power) {
    return power == 0 ? x : x * tally_from_bits_f64((int64_t)(1023 + power) << 52);
}
/* What such a product or scaled value may have lost: where it is below 2^-900, less than 2^-1000. */
TALLY_FN double lost_below(double size, int32_t is_zero) {
    const double magnitude = size < 0 ? -size : size;
    return TALLY_IS_F64 && !is_zero && !(magnitude > 0x1p-900) ? 0x1p-1000 : 0;
}
TALLY_FN void add_finite(row_sums_t *a, TALLY_T x, TALLY_T y, const scales_t *by) {
    (void)y;
#if TALLY_HAS_SUM
    const double term = term_in_double(x), scaled = TALLY_IS_F64 ? scaled_by(term, by->x) : term;
    tally_bounded_put(&a->sum, scaled);
    if (TALLY_IS_F64 && by->x != 0) a->sum.lost += lost_below(scaled, term == 0);
#endif
#if TALLY_HAS_PRODUCTS
    const double u = TALLY_IS_F64 ? scaled_by((double)value_of(x), by->x) : (double)value_of(x),
                 w = TALLY_KERNEL_INPUTS == 1 ? u
                     : TALLY_IS_F64           ? scaled_by((double)value_of(y), by->y)
                                              : (double)value_of(y);
    const double product = u * w;
    tally_bounded_put(&a->products, product);
    if (TALLY_IS_F64) {
        const double rest = __builtin_fma(u, w, -product);
        if (rest != 0) tally_bounded_put(&a->products, rest);
        a->products.lost += lost_below(product, size_bits(x) == 0 || size_bits(y) == 0);
    }
#endif
}
TALLY_FN void add_value(row_sums_t *a, TALLY_T x, TALLY_T y, const scales_t *by) {
    const int32_t is_special = term_is_special(x, y);
    if (is_special && term_is_absent(x, y)) {
        a->absent++;
        return;
    }
#if TALLY_HAS_KEYS
    const TALLY_K key = order_key(x);
    a->low = key < a->low ? key : a->low;
    a->high = key > a->high ? key : a->high;
#endif
    if (is_special) {
        a->seen |= evidence_of_special(x, y);
        return;
    }
    a->seen |= value_is_other(x, y) ? TALLY_NOT_MINUS_ZERO : 0;
    if (TALLY_IS_F64) {
        a->most_x = size_bits(x) > a->most_x ? size_bits(x) : a->most_x;
        a->most_y = size_bits(y) > a->most_y ? size_bits(y) : a->most_y;
    }
    add_finite(a, x, y, by);
}

/* ---- results ---- */

/* Of the middle of the intervals in which sums lie, or of what lies beyond their lower (-1) or upper ends (1). */
TALLY_FN in_pairs_t pairs_of_row(const row_sums_t *s, int64_t n, const scales_t *by, int32_t end) {
    in_pairs_t a;
    (void)end;
    __builtin_memset(&a, 0, sizeof a);
    a.present = n - s->absent;
    a.seen = s->seen;
    a.power = -by->x;
    a.products_power = -by->x - (TALLY_KERNEL_INPUTS == 2 ? by->y : by->x);
    TALLY_IF_SUM(a.sum = tally_bounded_pair(&s->sum, end);)
    TALLY_IF_PRODUCTS(a.products = tally_bounded_pair(&s->products, end);)
    TALLY_IF_KEYS(a.low = s->low; a.high = s->high;)
    return a;
}
TALLY_FN double lost_of_row(const row_sums_t *s) {
    double lost = 0;
    TALLY_IF_SUM(lost += s->sum.lost;)
    TALLY_IF_PRODUCTS(lost += s->products.lost;)
    return lost;
}
/* Whether what was dropped of a spread's sums is nothing beside the bound that it has of its own errors: some 2^-98 of
 * the sum of squares. */
TALLY_FN int32_t spread_is_bounded(const row_sums_t *s) {
#if TALLY_HAS_SPREAD
    return s->products.lost <= s->products.p[0] * 0x1p-112 && s->sum.lost * s->sum.lost <= s->products.p[0] * 0x1p-224;
#else
    (void)s;
    return 1;
#endif
}
/* The result of n values of which something was dropped, if it cannot show: if the result is the same at both ends. */
TALLY_LONG int32_t finalize_bounded(const row_sums_t *s, int64_t n, const scales_t *by, const tally_final *final,
                                    uint64_t *result) {
    enum { is_spread = TALLY_HAS_SPREAD && !TALLY_HAS_KEYS };
    const double lost = lost_of_row(s);
    uint64_t other[6] = {0, 0, 0, 0, 0, 0};
    int32_t sure = lost - lost == 0 && spread_is_bounded(s);
    TALLY_ROLLED /* what follows is long */
        for (int32_t end = is_spread ? 0 : -1; sure && end <= !is_spread; end += 2) {
        in_pairs_t a = pairs_of_row(s, n, by, end);
        if (is_spread) { /* nothing is known to be exact */
            TALLY_IF_SUM(if (a.sum.low == 0) a.sum.low = s->sum.lost;)
            TALLY_IF_PRODUCTS(if (a.products.low == 0) a.products.low = s->products.lost;)
        }
        sure = finalize_pairs(&a, final, result);
        TALLY_IF_SUM(sure &= is_spread || s->sum.lost == 0 || a.sum.high != 0;) /* whose sign is not known */
        TALLY_IF_PRODUCTS(sure &= is_spread || s->products.lost == 0 || a.products.high != 0;)
        for (int32_t k = 0; k < 6; k++) {
            sure &= end <= 0 || result[k] == other[k];
            other[k] = result[k];
        }
    }
    return sure;
}
TALLY_FN int32_t finalize_row(const row_sums_t *s, int64_t n, const scales_t *by, const tally_final *final,
                              uint64_t *result) {
    if (lost_of_row(s) != 0) return finalize_bounded(s, n, by, final, result);
    const in_pairs_t a = pairs_of_row(s, n, by, 0);
    return finalize_pairs(&a, final, result);
}
TALLY_FN void mark_row(const tally_segments_work *work, int64_t row) {
    tally_mark(work->partition.unsure, row);
    tally_raise_flags(work->out.flags, TALLY_FLAG_UNSURE);
}
/* The power that makes values of at most such a size about 1, as far as a normal number can. */
TALLY_FN int32_t power_for(uint32_t most) {
    const int32_t high = most == 0 ? 0 : high_of(most);
    return high > 1022 ? -1022 : high < -900 ? 900 : -high;
}
/* A row again, in other units: of f64. */
TALLY_LONG void put_scaled(const tally_segments_work *work, int64_t row, uint32_t most_x, uint32_t most_y) {
    const tally_source x = tally_source_of(work->x, work->x_stride, TALLY_BYTES),
                       y = tally_source_of(work->y, work->y_stride, TALLY_BYTES);
    const scales_t by = {power_for(most_x), power_for(most_y)};
    const int64_t first = first_of_row(work, row);
    row_sums_t sums = no_sums();
    uint64_t result[6] = {0, 0, 0, 0, 0, 0};
    TALLY_ROLLED
    for (int64_t m = 0; m < work->length; m++) {
        const TALLY_T a = read_one(&x, first + m * work->inner);
        add_value(&sums, a, TALLY_KERNEL_INPUTS == 1 ? a : read_one(&y, first + m * work->inner), &by);
    }
    if (finalize_row(&sums, work->length, &by, &work->out.final, result))
        put_bytes(&work->out, row, result, work->length - sums.absent);
    else
        mark_row(work, row);
}
TALLY_FN void put_row(const tally_segments_work *work, int64_t row, const row_sums_t *sums) {
    const scales_t by = {0, 0};
    const int64_t present = work->length - sums->absent;
    uint64_t result[6] = {0, 0, 0, 0, 0, 0};
    if (present == 0)
        put_nothing(work, row);
    else if (finalize_row(sums, work->length, &by, &work->out.final, result))
        put_bytes(&work->out, row, result, present);
    else if (TALLY_IS_F64)
        put_scaled(work, row, sums->most_x, sums->most_y);
    else
        mark_row(work, row);
}

TALLY_KERNEL_ENTRY(TALLY_BLOCK, exact_short, tally_segments_work, TALLY_RESIDENT) {
    if (tally_is_idle(work.wanted)) return;
    tally_let_next_start();
    tally_await_before();
    const rows_t rows = rows_of(&work);
    const scales_t by = {0, 0};
    row_sums_t sums[TALLY_ACROSS], done[TALLY_ACROSS];
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) sums[v] = no_sums();
    TALLY_ROLLED
    for (int64_t first = 0; first < work.length; first += values_together) {
        vector_t x[values_together], y[values_together];
        TALLY_UNROLL
        for (int32_t k = 0; k < values_together; k++) {
            if (first + k >= work.length) continue;
            x[k] = read_rows(&work, &rows, &rows.x, first + k);
            if (TALLY_KERNEL_INPUTS == 2) y[k] = read_rows(&work, &rows, &rows.y, first + k);
        }
        TALLY_UNROLL
        for (int32_t k = 0; k < values_together; k++) {
            if (first + k >= work.length) continue;
            TALLY_UNROLL
            for (int32_t v = 0; v < TALLY_ACROSS; v++)
                add_value(&sums[v], x[k].v[v], TALLY_KERNEL_INPUTS == 1 ? x[k].v[v] : y[k].v[v], &by);
        }
    }
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) done[v] = sums[v];
    TALLY_ROLLED /* what follows is long: it is there once, and reads copies, so that the sums stay in registers */
        for (int32_t v = 0; v < TALLY_ACROSS; v++) {
        const int64_t row = row_of(&work, rows.is_whole, v);
        if (row >= 0) put_row(&work, row, &done[v]);
    }
}

#endif
