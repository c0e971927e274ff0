/* Exact sums of short rows by a thread, TALLY_ACROSS rows at once: a sum is two doubles, of which the second has the
 * errors of the first, and a bound of what both lack (sums/compensated.h). Nothing that is added waits for a branch:
 * infinities and NaNs are looked for in several values at once. */
#ifndef TALLY_PAIR_SUMS_H
#define TALLY_PAIR_SUMS_H

#include "device/work.h"
#include "exact_segments/flat_nodes.h"
#include "compensated/results.h"
#include "partition/partition.h"
#define TALLY_ACROSS TALLY_SHORT_EXACT_ACROSS_OF(TALLY_BYTES, TALLY_KERNEL_INPUTS, TALLY_HAS_SPREAD)
#include "rows/vector.h"

/* Blocks that a multiprocessor holds: as few as keep registers from spilling (tests/unit/test_compile.c). */
#define TALLY_RESIDENT (TALLY_HAS_KEYS ? 2 : 3)

/* Values of each row, on their way at once. */
enum { together = 4 };
typedef struct values_t {
    vector_t x[together], y[together];
} values_t;

/* ---- sums ---- */

typedef struct row_sums_t {
    TALLY_IF_SUM(tally_compensated sum;)
    TALLY_IF_PRODUCTS(tally_compensated products;)
    uint32_t largest; /* of a sum, as sizes_t has it; of products of two inputs, of these as doubles */
    int32_t is_small; /* some product of f64 may have lost digits */
    int32_t seen, absent;
    TALLY_IF_KEYS(TALLY_K low; TALLY_K high;)
} row_sums_t;

TALLY_FN row_sums_t no_row_sums(void) {
    row_sums_t a;
    TALLY_IF_SUM(a.sum = tally_compensated_none();)
    TALLY_IF_PRODUCTS(a.products = tally_compensated_none();)
    a.largest = 0;
    a.is_small = a.seen = a.absent = 0;
    TALLY_IF_KEYS(a.low = (TALLY_K)TALLY_K_HIGH; a.high = (TALLY_K)TALLY_K_LOW;)
    return a;
}
/* A value that is finite. */
TALLY_FN void add_to_row(row_sums_t *a, TALLY_T x, TALLY_T y) {
    (void)y;
#if TALLY_HAS_SUM
    if (sums_are_exact)
        a->sum.sum += term_in_double(x);
    else
        tally_compensated_put(&a->sum, term_in_double(x), is_told);
#endif
#if TALLY_HAS_PRODUCTS
    const double u = (double)value_of(x), w = TALLY_KERNEL_INPUTS == 1 ? u : (double)value_of(y), product = u * w;
    tally_compensated_put(&a->products, product, are_products_told);
    if (TALLY_KERNEL_INPUTS == 2 && tally_high_word(product) > a->largest) a->largest = tally_high_word(product);
    if (TALLY_IS_F64) {
        const uint32_t least = (1023 - 900) << 20;
        tally_compensated_put_rest(&a->products, __builtin_fma(u, w, -product), 0);
        a->is_small |= tally_high_word(product) < least && size_bits(x) != 0 && size_bits(y) != 0;
    }
#endif
}
/* ---- sizes ---- */

/* The largest of each row's values, but for their signs: bits, of f64 their upper half. */
typedef struct sizes_t {
    uint32_t w[TALLY_BYTES == 8 ? TALLY_ACROSS : vector_words];
} sizes_t;
TALLY_FN sizes_t no_sizes(void) {
    sizes_t a;
    __builtin_memset(&a, 0, sizeof a);
    return a;
}
TALLY_FN void widen_sizes(sizes_t *a, const uint32_t *w) {
    TALLY_UNROLL
    for (int32_t j = 0; j < (int32_t)(sizeof a->w / sizeof a->w[0]); j++)
        a->w[j] = TALLY_BYTES == 2 ? tally_max_halves(w[j], a->w[j]) : w[j] > a->w[j] ? w[j] : a->w[j];
}
TALLY_FN void add_sizes(sizes_t *a, const vector_t *x) {
    sizes_t of = no_sizes();
    TALLY_UNROLL
    for (int32_t j = 0; j < (int32_t)(sizeof of.w / sizeof of.w[0]); j++)
        of.w[j] = x->w[TALLY_BYTES == 8 ? 2 * j + 1 : j] & (TALLY_BYTES == 2 ? 0x7fff7fff : 0x7fffffff);
    widen_sizes(a, of.w);
}
TALLY_FN uint32_t size_in(const sizes_t *a, int32_t v) {
    return TALLY_BYTES == 2 ? a->w[v / 2] >> 16 * (v % 2) & 0xffff : a->w[v];
}
TALLY_FN void take_largest(row_sums_t *sums, const sizes_t *a) {
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS && TALLY_KERNEL_INPUTS == 1; v++) sums[v].largest = size_in(a, v);
}
TALLY_FN int32_t has_special(const sizes_t *a) {
    uint32_t most = 0;
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) most = size_in(a, v) > most ? size_in(a, v) : most;
    return most >= TALLY_SIZE_INFINITY;
}
/* ---- infinities and NaNs ---- */

/* Puts what adds nothing in the place of infinities and NaNs. */
TALLY_FN void note_specials(row_sums_t *sums, values_t *values) {
    TALLY_UNROLL
    for (int32_t k = 0; k < together; k++) {
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_ACROSS; v++) {
            TALLY_T x = value_in(&values->x[k], v), y = TALLY_KERNEL_INPUTS == 1 ? x : value_in(&values->y[k], v);
            const int32_t is_absent = term_is_absent(x, y);
            if (!term_is_special(x, y)) continue;
            if (is_absent)
                sums[v].absent++;
            else
                sums[v].seen |= evidence_of(x, y);
            clear_term(&x, &y, is_absent);
            replace_value(&values->x[k], v, x);
            if (TALLY_KERNEL_INPUTS == 2) replace_value(&values->y[k], v, y);
        }
    }
}
TALLY_FN void add_key(row_sums_t *a, TALLY_T x, int32_t is_there) {
#if TALLY_HAS_KEYS
    const TALLY_K key = order_key(x);
    is_there &= !term_is_absent(x, x);
    a->low = key < a->low && is_there ? key : a->low;
    a->high = key > a->high && is_there ? key : a->high;
#else
    (void)a, (void)x, (void)is_there;
#endif
}
TALLY_FN void take_sizes(sizes_t *of_x, sizes_t *of_y, const values_t *values) {
    *of_x = *of_y = no_sizes();
    TALLY_UNROLL
    for (int32_t k = 0; k < together; k++) {
        add_sizes(of_x, &values->x[k]);
        if (TALLY_KERNEL_INPUTS == 2) add_sizes(of_y, &values->y[k]);
    }
}
/* Adds values of each row, but for their keys. */
TALLY_FN void add_values_to_rows(row_sums_t *sums, sizes_t *sizes, values_t *values) {
    sizes_t of_x, of_y;
    take_sizes(&of_x, &of_y, values);
    if (has_special(&of_x) || has_special(&of_y)) {
        note_specials(sums, values);
        take_sizes(&of_x, &of_y, values);
    }
    widen_sizes(sizes, of_x.w);
    TALLY_UNROLL
    for (int32_t k = 0; k < together; k++) {
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_ACROSS; v++)
            add_to_row(&sums[v], value_in(&values->x[k], v), value_in(&values->y[k], v));
    }
}

/* ---- results ---- */

/* The largest finite term, or a little more. */
TALLY_FN double largest_of(const row_sums_t *s) {
    if (!TALLY_IS_F64 && TALLY_KERNEL_INPUTS == 1) return (double)value_of(from_bits((TALLY_K)s->largest));
    return tally_from_bits_f64((int64_t)(s->largest + 1) << 32);
}
/* How far the sums of n values may be from their pairs, as a share (sums/compensated.h). */
TALLY_FN double error_of(double n) { return tally_compensated_error(n); }
/* Of n values, some of them absent; `share` is their error_of. */
TALLY_FN compensated_t compensated_of_row(const row_sums_t *s, int64_t n, double share) {
    compensated_t a;
    TALLY_IF_SUM(a.sum = s->sum;)
    TALLY_IF_PRODUCTS(a.products = s->products;)
    a.error = share * largest_of(s);
    a.share = share;
    a.terms = n;
    a.present = n - s->absent;
    a.power = 0;
    a.seen = s->seen;
    TALLY_IF_KEYS(a.low = s->low; a.high = s->high;)
    return a;
}
/* The result, if it is certain. */
TALLY_FN int32_t finalize_row(const row_sums_t *s, int64_t n, const tally_final *final, uint64_t *result) {
    const compensated_t sums = compensated_of_row(s, n, error_of((double)(int32_t)n));
    return finalize_in_pairs(&sums, final, result) && !s->is_small;
}
/* A row is left to the stages that follow. */
TALLY_FN void mark_row(const tally_segments_work *work, int64_t row) {
    tally_mark(work->partition.unsure, row);
    tally_raise_flags(work->out.flags, TALLY_FLAG_UNSURE);
}

#endif
