/* One pass down a leaf of vectors, TALLY_ACROSS features for each thread: the folds of docs/order.md. Included
 * for each kind of column, with
 *
 *     TALLY_RECORD, TALLY_COMBINE, TALLY_NOTHING   what a column is, how two combine, the identity
 *     TALLY_LIFT(x, y, k, v)                       value k of the leaf of feature v
 *     TALLY_NAME(name), TALLY_TYPE_NAME(name)      the names of functions and types for it
 *
 * which are undone here. */
#include "features/feature_tiles.h"
#include "order/across.h"
#include "order/fold.h"

#if !defined(TALLY_NAME) || !defined(TALLY_RECORD) || !defined(TALLY_COMBINE) || !defined(TALLY_NOTHING) || \
    !defined(TALLY_LIFT)
#error "define what the first comment lists"
#endif

typedef struct TALLY_TYPE_NAME(across) {
    TALLY_RECORD v[TALLY_ACROSS];
} TALLY_TYPE_NAME(across);

/* Combines `count` vectors with columns, behind what is there. Vector `first` + b * apart of the leaf (b with its bits
 * reversed, if `is_tree`) goes to column b % 8, or to column 0 if `is_one`. Vectors beyond n are left out. */
TALLY_FN void TALLY_NAME(stack_vectors)(const reader_t *from, int32_t first, int32_t apart, int32_t n,
                                        TALLY_TYPE_NAME(across) * columns, const int32_t count, const int32_t is_one,
                                        const int32_t is_tree, int32_t *present, const aims_t *aims) {
    const abreast_t x = read_abreast(from, &from->x, first, apart, n, count, is_tree),
                    y = TALLY_KERNEL_INPUTS == 1 ? x : read_abreast(from, &from->y, first, apart, n, count, is_tree);
    (void)aims;
    TALLY_UNROLL
    for (int32_t b = 0; b < count; b++) {
        const int32_t k = first + tally_place_abreast(b, is_tree) * apart, c = is_one ? 0 : b % TALLY_ABREAST;
        if (k >= n) continue;
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_ACROSS; v++) {
            columns[c].v[v] = TALLY_COMBINE(columns[c].v[v], TALLY_LIFT(x.v[b].v[v], y.v[b].v[v], k, v));
            if (present != 0) present[v] += is_present(x.v[b].v[v]) && is_present(y.v[b].v[v]);
        }
    }
}
TALLY_FN void TALLY_NAME(clear_columns)(TALLY_TYPE_NAME(across) * columns, const int32_t count) {
    TALLY_UNROLL
    for (int32_t b = 0; b < count; b++) {
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_ACROSS; v++) columns[b].v[v] = TALLY_NOTHING;
    }
}
TALLY_FN void TALLY_NAME(combine_across)(TALLY_TYPE_NAME(across) * a, const TALLY_TYPE_NAME(across) * early,
                                         const TALLY_TYPE_NAME(across) * late) {
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) a->v[v] = TALLY_COMBINE(early->v[v], late->v[v]);
}

/* Folds a leaf of at most TALLY_DEVICE_SMALL vectors, which has 8 columns; or any leaf, if order does not matter. */
TALLY_FN TALLY_TYPE_NAME(across)
    TALLY_NAME(fold_leaf_rows)(const reader_t *from, int32_t n, int32_t *present, const aims_t *aims) {
    TALLY_TYPE_NAME(across) columns[TALLY_IS_FREE ? 1 : TALLY_ABREAST];
    TALLY_NAME(clear_columns)(columns, TALLY_IS_FREE ? 1 : TALLY_ABREAST);
    TALLY_ROLL
    for (int32_t first = 0; first < n; first += TALLY_ROWS_ABREAST)
        TALLY_NAME(stack_vectors)(from, first, 1, n, columns, TALLY_ROWS_ABREAST, TALLY_IS_FREE, 0, present, aims);
    TALLY_UNROLL
    for (int32_t half = TALLY_IS_FREE ? 0 : TALLY_ABREAST / 2; half > 0; half /= 2) {
        TALLY_UNROLL
        for (int32_t b = 0; b < half; b++) TALLY_NAME(combine_across)(&columns[b], &columns[b], &columns[b + half]);
    }
    return columns[0];
}

/* Folds a longer leaf, in order. Halves that are folded first hold neighbours in the order of reversed bits: a thread
 * that takes its columns in that order keeps one partial result for each bit, as a binary counter keeps digits. An
 * iteration takes one column of more than two values, or as many as have TALLY_ABREAST values, with the tree above
 * them. */
TALLY_FN TALLY_TYPE_NAME(across)
    TALLY_NAME(fold_leaf_columns)(const reader_t *from, int32_t n, int32_t *present, const aims_t *aims) {
    TALLY_TYPE_NAME(across) here[TALLY_ABREAST], partial[TALLY_FOLD_BITS];
    const int32_t log_taken = n <= TALLY_DEVICE_COLUMNS       ? 3 /* columns per iteration */
                              : n <= 2 * TALLY_DEVICE_COLUMNS ? 2
                                                              : 0;
    int32_t column = 0;
    TALLY_ROLL
    for (int32_t iteration = 0; iteration < TALLY_DEVICE_COLUMNS; iteration += 1 << log_taken) {
        int32_t carries = 1;
        TALLY_NAME(clear_columns)(here, TALLY_ABREAST);
        if (log_taken == 0)
            TALLY_NAME(stack_vectors)(from, column, TALLY_DEVICE_COLUMNS, n, here, TALLY_ABREAST, 1, 0, present, aims);
        else {
            TALLY_NAME(stack_vectors)
            (from, column, TALLY_DEVICE_COLUMNS >> log_taken, n, here, TALLY_ABREAST, 0, 1, present, aims);
            TALLY_UNROLL
            for (int32_t step = 1; step < TALLY_ABREAST; step *= 2) {
                TALLY_UNROLL
                for (int32_t b = 0; b < TALLY_ABREAST; b += 2 * step)
                    TALLY_NAME(combine_across)(&here[b], &here[b], &here[b + step]);
            }
        }
        TALLY_UNROLL
        for (int32_t bit = 0; bit < TALLY_FOLD_BITS; bit++) {
            if (bit < log_taken) continue;
            if (carries && !(iteration >> bit & 1)) {
                partial[bit] = here[0];
                carries = 0;
            } else if (carries)
                TALLY_NAME(combine_across)(&here[0], &partial[bit], &here[0]);
        }
        /* the next number with its bits reversed */
        for (int32_t bit = TALLY_DEVICE_COLUMNS / 2 >> log_taken; bit > 0; bit /= 2) {
            column ^= bit;
            if (column & bit) break;
        }
    }
    return here[0]; /* the last iteration, whose bits are all 1, has combined all */
}

TALLY_FN TALLY_TYPE_NAME(across)
    TALLY_NAME(fold_leaf)(const reader_t *from, int32_t n, int32_t *present, const aims_t *aims) {
    if (TALLY_IS_FREE || n <= TALLY_DEVICE_SMALL) return TALLY_NAME(fold_leaf_rows)(from, n, present, aims);
    return TALLY_NAME(fold_leaf_columns)(from, n, present, aims);
}
#undef TALLY_NAME
#undef TALLY_TYPE_NAME
#undef TALLY_RECORD
#undef TALLY_COMBINE
#undef TALLY_NOTHING
#undef TALLY_LIFT
