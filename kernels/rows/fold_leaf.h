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

/* Adds some values of each of the thread's columns, a stripe apart, to `here`. The first is value k of the leaf, number
 * `first` of its column. */
TALLY_FN void TALLY_NAME(add_stripes)(const panel_t *panel, const char *from_x, const char *from_y, int32_t leaf,
                                      int32_t columns, int32_t k, int32_t first, TALLY_TYPE_NAME(across) * here,
                                      int32_t present[TALLY_ACROSS], const aims_t *aims, const how_t how) {
    const int32_t all = columns >> (how.is_joined ? panel->log_joined : 0);
    const int64_t step_x = all * panel->x.row, step_y = all * panel->y.row;
    vector_t x[TALLY_DEVICE_STRIPES], y[TALLY_DEVICE_STRIPES];
    (void)aims, (void)step_y;
    TALLY_UNROLL
    for (int32_t s = 0; s < how.together; s++, from_x += step_x, from_y += step_y) {
        const int32_t rows = leaf - (k + s * columns);
        if (!how.is_full && rows <= 0) continue;
        x[s] = how.is_tail ? read_tail(panel, from_x, panel->x.apart, rows)
                           : read_vector(panel, from_x, panel->x.apart, how.is_whole);
        if (TALLY_KERNEL_INPUTS == 2)
            y[s] = how.is_tail ? read_tail(panel, from_y, panel->y.apart, rows)
                               : read_vector(panel, from_y, panel->y.apart, how.is_whole);
    }
    TALLY_UNROLL
    for (int32_t s = 0; s < how.together; s++, k += columns) {
        if (!how.is_full && k >= leaf) continue;
        if (TALLY_KERNEL_INPUTS == 1) y[s] = x[s];
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_ACROSS; v++) {
            const int32_t its = how.is_joined ? k + row_in_panel(panel, v) : k;
            if (how.is_tail && its >= leaf) continue;
            TALLY_RECORD lifted = TALLY_LIFT(x[s].v[v], y[s].v[v], its, v);
            here->v[v] = first + s == 0 ? lifted : TALLY_COMBINE(here->v[v], lifted);
            if (present != 0) present[v] += is_present(x[s].v[v]) && is_present(y[s].v[v]);
        }
    }
}

/* Columns sub, sub + subs, ... of the leaf, of joined rows so many together, folded; `leaf` is at most
 * TALLY_DEVICE_LEAF values, `columns` its columns. */
TALLY_FN TALLY_TYPE_NAME(across)
    TALLY_NAME(fold_leaf_so)(const panel_t *panel, int64_t at, int32_t leaf, int32_t columns,
                             int32_t present[TALLY_ACROSS], const aims_t *aims, const how_t how) {
    TALLY_TYPE_NAME(across) sum, partial[TALLY_FOLD_BITS];
    const int32_t log_joined = how.is_joined ? panel->log_joined : 0, all = columns >> log_joined,
                  iterations = all > panel->subs ? all / panel->subs : 1;
    int32_t column = panel->sub;
    (void)partial;
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_ACROSS; v++) sum.v[v] = TALLY_NOTHING;
    if (panel->sub >= all) return sum;
    for (int32_t iteration = 0; iteration < iterations; iteration++) {
        TALLY_TYPE_NAME(across) here;
        const int64_t row = (at >> log_joined) + column;
        const char *from_x = panel->x.first + row * panel->x.row, *from_y = panel->y.first + row * panel->y.row;
        const int32_t k = column << log_joined;
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_ACROSS; v++) here.v[v] = TALLY_NOTHING;
        if (how.together == TALLY_DEVICE_STRIPES) {
            TALLY_NAME(add_stripes)(panel, from_x, from_y, leaf, columns, k, 0, &here, present, aims, how);
        } else {
            TALLY_ROLLED
            for (int32_t first = 0; first < TALLY_DEVICE_STRIPES; first += how.together) {
                const char *const x = from_x + first * all * panel->x.row, *const y =
                                                                               from_y + first * all * panel->y.row;
                TALLY_NAME(add_stripes)
                (panel, x, y, leaf, columns, k + first * columns, first, &here, present, aims, how);
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
        for (int32_t bit = all / 2; bit >= panel->subs; bit /= 2) { /* the next number with its bits reversed */
            column ^= bit;
            if (column & bit) break;
        }
    }
    return sum;
}

/* The same, by what is known when the kernel is compiled. */
TALLY_FN TALLY_TYPE_NAME(across) TALLY_NAME(fold_leaf)(const panel_t *panel, int64_t at, int32_t leaf, int32_t columns,
                                                       int32_t present[TALLY_ACROSS], const aims_t *aims) {
    const how_t full = {1, 1, 0, 0, TALLY_DEVICE_STRIPES}, full_joined = {1, 1, 1, 0, TALLY_DEVICE_STRIPES},
                whole = {1, 0, 0, 0, TALLY_DEVICE_STRIPES}, apart = {0, 0, 0, 0, TALLY_DEVICE_STRIPES},
                tail = {1, 0, 1, 1, 1}, narrow = {panel->is_whole, 0, 0, 0, 2}; /* whose code is long */
    const int32_t is_full = panel->is_whole && leaf == TALLY_DEVICE_LEAF, is_joined = panel->log_joined > 0;
    if (is_full && (is_joined || TALLY_BYTES <= 2))
        return TALLY_NAME(fold_leaf_so)(panel, at, leaf, TALLY_DEVICE_COLUMNS, present, aims, full_joined);
    if (is_joined) return TALLY_NAME(fold_leaf_so)(panel, at, leaf, columns, present, aims, tail);
    if (TALLY_BYTES <= 2) return TALLY_NAME(fold_leaf_so)(panel, at, leaf, columns, present, aims, narrow);
    if (is_full) return TALLY_NAME(fold_leaf_so)(panel, at, leaf, TALLY_DEVICE_COLUMNS, present, aims, full);
    if (panel->is_whole) return TALLY_NAME(fold_leaf_so)(panel, at, leaf, columns, present, aims, whole);
    return TALLY_NAME(fold_leaf_so)(panel, at, leaf, columns, present, aims, apart);
}

/* The same of all subs and of all joined rows, for the threads of sub 0. All threads of the block take part. */
TALLY_FN TALLY_TYPE_NAME(across)
    TALLY_NAME(fold_subs)(TALLY_TYPE_NAME(across) mine, const panel_t *panel, TALLY_TYPE_NAME(across) * shared) {
    const int32_t apart = panel->across;
    if (panel->subs > 1 || panel->log_joined > 0) tally_barrier(); /* something else may lie there */
    for (int32_t half = panel->subs / 2; half > 0; half /= 2) {
        const int32_t is_of_warp = 2 * half * apart <= TALLY_WARP;
        shared[tally_thread()] = mine;
        await_threads(is_of_warp);
        if (panel->sub < half) {
            TALLY_TYPE_NAME(across) later = shared[tally_thread() + half * apart];
            TALLY_UNROLL
            for (int32_t v = 0; v < TALLY_ACROSS; v++) mine.v[v] = TALLY_COMBINE(mine.v[v], later.v[v]);
        }
        await_threads(is_of_warp);
    }
    for (int32_t half = 1 << panel->log_joined >> 1; half > 0; half /= 2) { /* lanes of a warp have them */
        const TALLY_TYPE_NAME(across) *const row = shared + tally_thread() - panel->lane;
        shared[tally_thread()] = mine;
        tally_warp_barrier();
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_ACROSS; v++) {
            const int32_t later = place_in_panel(panel, v) + half * panel->results;
            if (panel->sub == 0 && row_in_panel(panel, v) < half && v < panel->mine)
                mine.v[v] = TALLY_COMBINE(mine.v[v], row[later / TALLY_ACROSS].v[later % TALLY_ACROSS]);
        }
        tally_warp_barrier();
    }
    return mine;
}
#undef TALLY_NAME
#undef TALLY_TYPE_NAME
#undef TALLY_RECORD
#undef TALLY_COMBINE
#undef TALLY_NOTHING
#undef TALLY_LIFT
