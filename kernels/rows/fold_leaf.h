/* One pass down a leaf whose values lie `inner` apart, a column of TALLY_ACROSS results for each thread: the folds of
 * docs/order.md. Included for each kind of column, with
 *
 *     TALLY_RECORD, TALLY_COMBINE, TALLY_NOTHING   what a column is, how two combine, the identity
 *     TALLY_LIFT(x, y, k, v)                       value k of the leaf of result v
 *     TALLY_NAME(name), TALLY_TYPE_NAME(name)      the names of functions and types for it
 *
 * which are undone here. Halves that are folded first hold neighbours in the order of reversed bits: a thread that
 * takes its columns in that order keeps one partial result for each bit, as a binary counter keeps digits. */
#include "order/fold.h"
#include "rows/panel.h"

#if !defined(TALLY_NAME) || !defined(TALLY_RECORD) || !defined(TALLY_COMBINE) || !defined(TALLY_NOTHING) || \
    !defined(TALLY_LIFT)
#error "define what the first comment lists"
#endif

typedef struct TALLY_TYPE_NAME(across) {
    TALLY_RECORD v[TALLY_ACROSS];
} TALLY_TYPE_NAME(across);

/* Columns sub, sub + subs, ... of the leaf, folded; `leaf` is at most TALLY_DEVICE_LEAF values, `columns` its columns;
 * is_full, a constant: it has 8 values in each. */
TALLY_FN TALLY_TYPE_NAME(across)
    TALLY_NAME(fold_leaf_so)(const panel_t *panel, int64_t at, int32_t leaf, int32_t columns,
                             int32_t present[TALLY_ACROSS], const aims_t *aims, const int32_t is_whole,
                             const int32_t is_full) {
    TALLY_TYPE_NAME(across) sum, partial[TALLY_FOLD_BITS];
    const int32_t iterations = columns > panel->subs ? columns / panel->subs : 1;
    const int64_t step_x = columns * panel->x.row, step_y = columns * panel->y.row;
    int32_t column = panel->sub;
    (void)aims, (void)partial, (void)step_y;
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) sum.v[v] = TALLY_NOTHING;
    if (panel->sub >= columns) return sum;
    for (int32_t iteration = 0; iteration < iterations; iteration++) {
        vector_t x[TALLY_DEVICE_STRIPES], y[TALLY_DEVICE_STRIPES];
        TALLY_TYPE_NAME(across) here;
        const char *from_x = panel->x.first + (at + column) * panel->x.row,
                   *from_y = panel->y.first + (at + column) * panel->y.row;
        TALLY_UNROLL
        for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++, from_x += step_x, from_y += step_y) {
            if (!is_full && column + s * columns >= leaf) continue;
            x[s] = read_vector(panel, from_x, panel->x.apart, is_whole);
            if (TALLY_KERNEL_INPUTS == 2) y[s] = read_vector(panel, from_y, panel->y.apart, is_whole);
        }
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_ACROSS; v++) here.v[v] = TALLY_NOTHING;
        TALLY_UNROLL
        for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
            int32_t k = column + s * columns;
            if (!is_full && k >= leaf) continue;
            if (TALLY_KERNEL_INPUTS == 1) y[s] = x[s];
            TALLY_UNROLL
            for (int32_t v = 0; v < TALLY_ACROSS; v++) {
                TALLY_RECORD lifted = TALLY_LIFT(x[s].v[v], y[s].v[v], k, v);
                here.v[v] = s == 0 ? lifted : TALLY_COMBINE(here.v[v], lifted);
                if (present != 0) present[v] += is_present(x[s].v[v]) && is_present(y[s].v[v]);
            }
        }
        if (TALLY_IS_FREE) {
            TALLY_UNROLL
            for (int32_t v = 0; v < TALLY_ACROSS; v++) sum.v[v] = TALLY_COMBINE(sum.v[v], here.v[v]);
        } else {
            int32_t carries = 1;
            TALLY_UNROLL
            for (int32_t bit = 0; bit < TALLY_FOLD_BITS; bit++) {
                if (carries && !(iteration >> bit & 1)) {
                    partial[bit] = here;
                    carries = 0;
                } else if (carries) {
                    TALLY_UNROLL
                    for (int32_t v = 0; v < TALLY_ACROSS; v++) here.v[v] = TALLY_COMBINE(partial[bit].v[v], here.v[v]);
                }
            }
            sum = here; /* after the last iteration, whose bits are all 1, that is all of them */
        }
        for (int32_t bit = columns / 2; bit >= panel->subs; bit /= 2) { /* the next number with its bits reversed */
            column ^= bit;
            if (column & bit) break;
        }
    }
    return sum;
}

/* The same, by what is known when the kernel is compiled; of narrow types, whose code is long, nothing is. */
TALLY_FN TALLY_TYPE_NAME(across) TALLY_NAME(fold_leaf)(const panel_t *panel, int64_t at, int32_t leaf, int32_t columns,
                                                       int32_t present[TALLY_ACROSS], const aims_t *aims) {
    if (TALLY_BYTES <= 2) return TALLY_NAME(fold_leaf_so)(panel, at, leaf, columns, present, aims, panel->is_whole, 0);
    if (panel->is_whole && leaf == TALLY_DEVICE_LEAF)
        return TALLY_NAME(fold_leaf_so)(panel, at, leaf, TALLY_DEVICE_COLUMNS, present, aims, 1, 1);
    if (panel->is_whole) return TALLY_NAME(fold_leaf_so)(panel, at, leaf, columns, present, aims, 1, 0);
    return TALLY_NAME(fold_leaf_so)(panel, at, leaf, columns, present, aims, 0, 0);
}

/* The same of all subs, in every thread. */
TALLY_FN TALLY_TYPE_NAME(across)
    TALLY_NAME(fold_subs)(TALLY_TYPE_NAME(across) mine, const panel_t *panel, TALLY_TYPE_NAME(across) * shared) {
    const int32_t apart = panel->across;
    for (int32_t half = panel->subs / 2; half > 0; half /= 2) {
        tally_barrier();
        shared[tally_thread()] = mine;
        tally_barrier();
        if (panel->sub < half) {
            TALLY_TYPE_NAME(across) later = shared[tally_thread() + half * apart];
            TALLY_UNROLL
            for (int32_t v = 0; v < TALLY_ACROSS; v++) mine.v[v] = TALLY_COMBINE(mine.v[v], later.v[v]);
        }
    }
    return mine;
}
#undef TALLY_NAME
#undef TALLY_TYPE_NAME
#undef TALLY_RECORD
#undef TALLY_COMBINE
#undef TALLY_NOTHING
#undef TALLY_LIFT
