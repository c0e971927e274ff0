/* Bins: sums of terms too far apart for levels (scatter_f32, scatter_f64).
 *
 * A value is a fraction times a power of two, and the power says which bin it goes to (as in Neal's large
 * superaccumulator, 2015). Fractions are all much of a size, so levels with fixed anchors cut them: into pieces,
 * integers so small that 64 bits have room for many tiles of them. All of that is vector work; what is left for each
 * term is to add its pieces to a bin. Neighbours add to different places of it, so that a term need not wait for the
 * one before, though their powers be equal. */
#ifndef TALLY_CPU_BINS_TEMPLATE_H
#define TALLY_CPU_BINS_TEMPLATE_H

#include "cpu/levels.h"

enum { SOME = 64 };

typedef struct fractions {
    wide fraction; /* below 2 in size */
    units bin;
} fractions;
/* The exponent's upper bits choose the bin, the others stay with the fraction. A field of 0 is a zero, or a subnormal
 * f64: it has no leading one, and the exponent of field 1. */
TALLY_INLINE TALLY_TARGET fractions take_apart(const int is_f64, wide x) {
    const tally__bin_layout layout = TALLY_BIN_LAYOUT(is_f64);
    const int64_t first = (int64_t)1 << 52, upper = (int64_t)(0x7ff >> layout.binades << layout.binades) << 52,
                  base = (int64_t)1023 << 52 & upper;
    units bits = (units)x, none = (bits & INT64_MAX) < first;
    fractions f;
    f.fraction = (wide)((bits & ~upper) | base | (none & first)) - (wide)(none & ((bits & INT64_MIN) | base | first));
    f.bin = (units)((words)(bits & upper) >> (52 + layout.binades)) - layout.first;
    if (!is_f64) f.bin &= ~none;
    return f;
}

/* SOME terms in pieces, the first the highest, and which places they go to. */
typedef struct pieces {
    _Alignas(64) int64_t place[SOME];
    int64_t piece[3][SOME];
} pieces;
TALLY_INLINE TALLY_TARGET void put_pieces(pieces *v, int i, const int first, const wide *s, const wide *anchors,
                                          const int levels) {
#pragma GCC unroll 4
    for (int k = 0; k < levels; k++) *(units *)(v->piece[first + k] + i) = (units)s[k] - (units)anchors[k];
}
typedef int64_t couple __attribute__((vector_size(16)));
typedef couple couple_anywhere __attribute__((aligned(8), may_alias));
/* A machine stores two words as fast as one. */
TALLY_INLINE TALLY_TARGET void add_pieces(const pieces *v, const int count, const int chains, const int apart,
                                          int64_t *bins) {
    for (int i = 0; i < SOME; i += chains)
#pragma GCC unroll 4
        for (int c = 0; c < chains; c++) {
            int64_t *to = bins + v->place[i + c] + c * apart;
            if (count == 1)
                to[0] += v->piece[0][i + c];
            else
                *(couple_anywhere *)to += (couple){v->piece[0][i + c], v->piece[1][i + c]};
            if (count == 3) to[2] += v->piece[2][i + c];
        }
}

/* Adds SOME values and products. Products of f64 have a rounded part and a rest, those of f32 are exact. */
TALLY_INLINE TALLY_TARGET void scatter_some(const int is_f64, const void *x, const void *y, const int two,
                                            const int magnitudes, const int has_values, const int has_products,
                                            int64_t *bins) {
    const tally__bin_layout layout = TALLY_BIN_LAYOUT(is_f64);
    const int together = !is_f64 && has_values && has_products; /* one couple for both */
    const wide none = {0};
    wide anchors[3], product_anchors[3], s[3];
    pieces of_values, of_products;
#pragma GCC unroll 4
    for (int k = 0; k < layout.levels; k++) anchors[k] = none + tally_anchor(layout.unit[k]);
#pragma GCC unroll 4
    for (int k = 0; k < layout.product_levels; k++) product_anchors[k] = none + tally_anchor(layout.product_unit[k]);
    for (int i = 0; i < SOME; i += WIDTH) {
        fractions a = take_apart(is_f64, load(is_f64, x, i)), b = a;
        units bin = a.bin;
        if (has_values) {
            memcpy(s, anchors, sizeof anchors);
            split_term(s, layout.levels, 1, magnitudes ? magnitude_of(a.fraction) : a.fraction, layout.levels - 1, none,
                       0);
            put_pieces(&of_values, i, 0, s, anchors, layout.levels);
            *(units *)(of_values.place + i) = bin * (layout.chains * layout.apart);
        }
        if (has_products) {
            if (two) { /* a bin of products has twice the binades: what is left of an odd number is for a fraction */
                b = take_apart(is_f64, load(is_f64, y, i));
                bin = (units)((words)(a.bin + b.bin) >> 1);
                a.fraction *= (wide)((((a.bin + b.bin) & 1) << (52 + layout.binades)) + ((int64_t)1023 << 52));
            }
            wide p = a.fraction * b.fraction;
            memcpy(s, product_anchors, sizeof s);
            split_term(s, layout.product_levels, 1, p, layout.product_levels - 1,
                       is_f64 ? product_rest(a.fraction, b.fraction, p) : none, is_f64);
            put_pieces(together ? &of_values : &of_products, i, together, s, product_anchors, layout.product_levels);
            if (!together) *(units *)(of_products.place + i) = bin * (layout.chains * layout.products_apart);
        }
    }
    if (has_values) add_pieces(&of_values, layout.levels + together, layout.chains, layout.apart, bins);
    if (has_products && !together)
        add_pieces(&of_products, layout.product_levels, layout.chains, layout.products_apart,
                   bins + layout.products_at);
}
TALLY_INLINE TALLY_TARGET void scatter(const int is_f64, const void *x, const void *y, const int two,
                                       const int magnitudes, const int has_values, const int has_products, int64_t n,
                                       int64_t *bins) {
    const int64_t bytes = is_f64 ? 8 : 4;
    double rest[2][SOME] = {{0}};
    for (; n >= SOME; n -= SOME, x = (const char *)x + SOME * bytes, y = (const char *)y + SOME * bytes) {
        fetch_ahead(is_f64, SOME, x, 0);
        if (two) fetch_ahead(is_f64, SOME, y, 0);
        scatter_some(is_f64, x, y, two, magnitudes, has_values, has_products, bins);
    }
    if (n == 0) return;
    memcpy(rest[0], x, (size_t)(n * bytes));
    memcpy(rest[1], y, (size_t)(n * bytes));
    scatter_some(is_f64, rest[0], rest[1], two, magnitudes, has_values, has_products, bins);
}
#define TALLY_SCATTER(type, is_f64)                                                                             \
    static TALLY_TARGET void scatter_##type(const void *x, const void *y, int64_t n, int values, bool products, \
                                            int64_t *bins) {                                                    \
        if (values == TALLY_TERM_VALUE && products)                                                             \
            scatter(is_f64, x, x, 0, 0, 1, 1, n, bins);                                                         \
        else if (values == TALLY_TERM_VALUE)                                                                    \
            scatter(is_f64, x, x, 0, 0, 1, 0, n, bins);                                                         \
        else if (values == TALLY_TERM_MAGNITUDE)                                                                \
            scatter(is_f64, x, x, 0, 1, 1, 0, n, bins);                                                         \
        else if (x != y)                                                                                        \
            scatter(is_f64, x, y, 1, 0, 0, 1, n, bins);                                                         \
        else                                                                                                    \
            scatter(is_f64, x, x, 0, 0, 0, 1, n, bins);                                                         \
    }
TALLY_SCATTER(f32, 0)
TALLY_SCATTER(f64, 1)

#endif
