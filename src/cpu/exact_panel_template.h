/* Exact sums of columns side by side, one block of rows after another. Each column of a block adds up what lies below
 * it, by levels (columns_template.h). A column whose terms no levels hold is copied and reduced like a run. Once for
 * each type, as exact_runs_template.h.
 *
 * A panel is some columns side by side. Where a panel is narrow, several rows count as one row of lanes, so that
 * vectors are full: `fold` rows of `pitch` values each, the first `width` of which are columns. */
#ifndef TALLY_CPU_EXACT_PANEL_TEMPLATE_H
#define TALLY_CPU_EXACT_PANEL_TEMPLATE_H

#include "cpu/exact_batches_template.h"
#include "exact_functions.h"

enum {
    panel_width = TALLY_IS_F64 ? 256 : 1024, /* columns that go together */
    block_values = 32768 / sizeof(base_t),   /* values of a block that others follow: the first cache keeps it */
    alone_values = 131072 / sizeof(base_t),  /* of one that is a whole panel: wide, as memory is read well */
    /* Products of f64 that are few enough to be within three levels of each other nearly always. */
    near_values = TALLY_IS_F64 && TALLY_HAS_PRODUCTS ? 4096 : alone_values
};
typedef struct panel_t {
    _Alignas(64) base_t x[alone_values], y[TALLY_KERNEL_INPUTS == 2 ? alone_values : 1];
    _Alignas(64) double held[2][TALLY_COLUMN_LEVELS * TALLY_COLUMN_MOST_LANES]; /* by columns of values, of products */
    int64_t lows[TALLY_COLUMN_MOST_LANES], highs[TALLY_COLUMN_MOST_LANES];
    int32_t places[alone_values];      /* of what is taken out of a block */
    int32_t missing[panel_width];      /* values that are skipped */
    bool special[panel_width];         /* something was taken out of the column */
    bool taken;                        /* or of any */
    bool is_far;                       /* some terms are too far apart for levels */
    int32_t power, powers[2];          /* values are 2^power times as large; and those of columns */
    int64_t width, pitch, fold, lanes; /* lanes = pitch * fold */
    tally__next_rows next;             /* of the block that follows */
    tally__columns columns[2];
    tally__tile tile;
    tally__batch batch;
    union {
        accumulator_t node;
        char storage[(sizeof(accumulator_t) + 15) / 16 * 16];
    } nodes[panel_width];
} panel_t;

/* Dense rows stay as they lie where few of them fill whole vectors; others are padded. */
static void lay_out(panel_t *s, int64_t width, int64_t stride) {
    s->width = width;
    s->pitch = width > 256 ? (width + 31) / 32 * 32 : width > 4 ? (width + 7) / 8 * 8 : width == 3 ? 4 : width;
    if (stride == width && (width & -width) * TALLY_COLUMN_MOST_LANES >= width * TALLY_COLUMN_LANES) s->pitch = width;
    s->fold = TALLY_COLUMN_LANES / (s->pitch & -s->pitch);
    if (s->fold < 1) s->fold = 1;
    s->lanes = s->pitch * s->fold;
}
/* Whether rows lie one after the other as a block of them does. */
static bool values_are_dense(const panel_t *s, int64_t stride) { return s->width == stride && s->pitch == stride; }
static void copy_rows(const panel_t *s, base_t *to, const raw_t *x, int64_t rows, int64_t stride) {
    const int64_t together = values_are_dense(s, stride) ? rows : 1, n = together * s->width;
    const int64_t bytes = (int64_t)sizeof *to, last = (rows + s->fold - 1) / s->fold * s->lanes;
#if TALLY_BYTES == 2
    for (int64_t r = 0; r < rows; r += together) widen(to + r * s->pitch, x + r * stride, n);
#else
    tally__cpu_tiles()->copy_block((const char *)x, stride * bytes, rows / together, n * bytes, (char *)to,
                                   s->pitch * bytes);
#endif
    for (int64_t r = 0; r < rows && s->pitch > s->width; r++)
        __builtin_memset(to + r * s->pitch + s->width, 0, (size_t)((s->pitch - s->width) * bytes));
    __builtin_memset(to + rows * s->pitch, 0, (size_t)((last - rows * s->pitch) * bytes));
}
/* The most rows of a block of that many values. */
static int64_t block_rows(const panel_t *s, int64_t values) {
    const int64_t most = 1 << TALLY_COLUMN_ADDITIONS, rows = values / s->lanes * s->fold;
    return rows < most ? rows : most;
}
/* How many of `rows` rows are the next block. Last rows that do not fill a row of lanes are a block of their own, so
 * that the others can be read in place. */
static int64_t some_rows(const panel_t *s, int64_t rows) {
    const int64_t most = block_rows(s, block_values), some = rows < most ? rows : most;
    return some >= s->fold ? some - some % s->fold : some;
}

#if TALLY_HAS_KEYS
/* Widens the keys of each lane by a block. `all`: no value is NaN. Where NaNs are skipped and there may be some, values
 * are looked at one by one; otherwise the columns of NaNs are noted afterwards. */
static void widen_keys(const tally__kernel *kernel, panel_t *s, int64_t rows, bool all) {
    const int64_t whole = all || !kernel->skips_nans ? rows / s->fold : 0;
    tally__cpu_tiles()->column_range[TALLY_IS_F64](s->tile.x, whole, s->lanes, s->lows, s->highs);
    for (int64_t r = whole * s->fold; r < rows; r++)
        for (int64_t p = 0; p < s->width; p++) {
            const base_raw_t *value = (const base_raw_t *)s->tile.x + r * s->pitch + p;
            const tally__tile one = {.x = value, .given = value, .n = 1, .present = 1, .is_f64 = TALLY_IS_F64};
            if (*value == *value)
                tally__widen_range(&s->lows[p], &s->highs[p], &one);
            else if (!kernel->skips_nans)
                s->lows[p] = INT64_MIN, s->highs[p] = INT64_MAX;
        }
}
#endif

/* Whether rows can be read where they lie: one after the other, they fill rows of lanes, and need not be widened.
 * Others are copied: lines far apart in memory evict each other from caches. */
static bool lie_in_lanes(const panel_t *s, int64_t rows, int64_t stride) {
    return TALLY_BYTES > 2 && rows % s->fold == 0 && values_are_dense(s, stride);
}
static bool has_special(const tally__tile *tile) { return tile->x_extent.special || tile->y_extent.special; }
/* `follow`: the rows that begin at x and y are prefetched while those before them are added up. */
static void note_next(panel_t *s, const raw_t *x, const raw_t *y, int64_t stride, bool follow) {
    const bool asks = follow && (s->fold == 1 || values_are_dense(s, stride));
    const int64_t apart = stride * s->fold * TALLY_BYTES;
    s->next = (tally__next_rows){(const char *)x, (const char *)y, apart, asks ? TALLY_BYTES : 0};
}
/* Notes a value of column p that is infinite or NaN or stands beside one. */
static void note_special(const tally__kernel *kernel, panel_t *s, double a, double b, int64_t p, tally__node *nodes) {
    s->special[p] = s->taken = true;
    if (kernel->skips_nans && (a != a || b != b)) {
        s->missing[p]++;
        return;
    }
#if TALLY_HAS_KEYS
    if (a != a) s->lows[p] = INT64_MIN, s->highs[p] = INT64_MAX;
#endif
    if (nodes == NULL) return;
    accumulator_t *node = (void *)tally__node_at(kernel, nodes, p);
#if TALLY_HAS_SUM
    tally_witness(node->sum, TALLY_SUM_TERM == TALLY_TERM_MAGNITUDE ? __builtin_fabs(a) : a);
#endif
#if TALLY_HAS_PRODUCTS
    tally_witness(node->products, a * b);
#endif
}
/* Takes what is infinite or NaN out of a block, which lies at x and y or was copied from there: it is noted in the
 * nodes of its columns, and in `special`. The block is a copy afterwards. */
static void take_specials(const tally__kernel *kernel, panel_t *s, const raw_t *x, const raw_t *y, int64_t stride,
                          tally__node *nodes) {
    tally__tile *tile = &s->tile;
    const bool are_two = tile->x != tile->y;
    const int64_t specials =
        tally__cpu_tiles()->copy_finite[TALLY_IS_F64](tile->x, tile->y, tile->n, s->x, s->y, s->places);
    for (int64_t k = 0; k < specials; k++) {
        const int64_t p = s->places[k] % s->pitch, i = s->places[k] / s->pitch * stride + p;
        const double a = (double)value_of(x[i]);
        note_special(kernel, s, a, TALLY_KERNEL_INPUTS == 2 ? (double)value_of(y[i]) : a, p, nodes);
    }
    tile->x = s->x;
    tile->y = are_two ? s->y : s->x;
    tally__measure_tile(tile);
}
/* Measures a block, where it lies or copied. What is infinite or NaN is taken out. */
static void read_block(const tally__kernel *kernel, panel_t *s, const raw_t *x, const raw_t *y, int64_t rows,
                       int64_t stride, tally__node *nodes) {
    const bool in_place = lie_in_lanes(s, rows, stride);
    tally__tile *tile = &s->tile;
    tile->is_f64 = TALLY_IS_F64;
    tile->n = (rows + s->fold - 1) / s->fold * s->lanes;
    if (in_place) {
        tile->x = x;
        tile->y = TALLY_KERNEL_INPUTS == 2 ? y : x;
    } else {
        copy_rows(s, s->x, x, rows, stride);
        if (TALLY_KERNEL_INPUTS == 2) copy_rows(s, s->y, y, rows, stride);
        tile->x = s->x;
        tile->y = TALLY_KERNEL_INPUTS == 2 ? s->y : s->x;
    }
    tally__measure_tile(tile);
#if TALLY_HAS_KEYS
    widen_keys(kernel, s, rows, !has_special(tile));
#endif
    if (has_special(tile)) take_specials(kernel, s, x, y, stride, nodes);
#if TALLY_IS_F64
    s->power = tally__is_tiny(tile) ? TALLY_ENLARGED : 0;
    if (s->power != 0) tally__enlarge_tile(tile, s->x, s->y);
#else
    s->power = 0;
#endif
    if (TALLY_BYTES == 2) {
        tile->x_extent.unit += spared;
        tile->y_extent.unit += spared;
    }
}

static void clear_panel(panel_t *s) {
    __builtin_memset(s->missing, 0, (size_t)s->width * sizeof *s->missing);
    __builtin_memset(s->special, 0, (size_t)s->width * sizeof *s->special);
    s->taken = false;
#if TALLY_HAS_KEYS
    for (int64_t j = 0; j < s->lanes; j++) s->lows[j] = INT64_MAX, s->highs[j] = INT64_MIN;
#endif
}
/* The keys of the lanes of a column become its own. */
static void fold_keys(panel_t *s) {
#if TALLY_HAS_KEYS
    for (int64_t j = s->pitch; j < s->lanes; j++) {
        const int64_t p = j % s->pitch;
        s->lows[p] = s->lows[j] < s->lows[p] ? s->lows[j] : s->lows[p];
        s->highs[p] = s->highs[j] > s->highs[p] ? s->highs[j] : s->highs[p];
    }
#else
    (void)s;
#endif
}
static void widen_nodes(const tally__kernel *kernel, panel_t *s, tally__node *nodes) {
    fold_keys(s);
#if TALLY_HAS_KEYS
    for (int64_t p = 0; p < s->width; p++) {
        accumulator_t *node = (void *)tally__node_at(kernel, nodes, p);
        node->low = s->lows[p] < node->low ? s->lows[p] : node->low;
        node->high = s->highs[p] > node->high ? s->highs[p] : node->high;
    }
#else
    (void)kernel, (void)nodes;
#endif
}

/* Which terms there are sums of: k = 0, values or magnitudes, and 1, products. */
static const int terms_of_kinds[2] = {TALLY_FIRST_TERM, TALLY_TERM_PRODUCT};
enum { first_kind = TALLY_HAS_SUM ? 0 : 1, term_kinds = TALLY_HAS_PRODUCTS ? 2 : 1 };

static void begin_columns(panel_t *s, int kind) {
    const tally__columns *c = &s->columns[kind];
    for (int k = 0; k < c->count; k++)
        for (int64_t j = 0; j < s->lanes; j++) s->held[kind][k * s->lanes + j] = c->anchor[k];
}
/* Level k of column p, exactly. */
static inline double column_total(const panel_t *s, int kind, int k, int64_t p) {
    const double *held = s->held[kind] + k * s->lanes + p;
    double total = 0;
    for (int64_t f = 0; f < s->fold; f++) total += held[f * s->pitch] - s->columns[kind].anchor[k];
    return total;
}
/* Adds the block that was read to the columns. */
static void add_block(panel_t *s, int kind, int64_t rows) {
    const int64_t lines = (rows + s->fold - 1) / s->fold;
    const tally__next_rows none = {0};
    const tally__next_rows *next = kind == first_kind ? &s->next : &none; /* memory is asked once */
    s->columns[kind].sum(s->tile.x, s->tile.y, lines, s->lanes, next, s->held[kind]);
    s->columns[kind].rows += (int32_t)rows;
}
/* What columns hold goes to the limbs. */
static void flush_columns(const tally__kernel *kernel, panel_t *s, int kind, tally__node *nodes) {
    tally__columns *c = &s->columns[kind];
    for (int64_t p = 0; p < s->width && c->rows > 0; p++) {
        accumulator_t *node = (void *)tally__node_at(kernel, nodes, p);
        int64_t *words = kind == 0 ? TALLY_SUM_OR_NONE(node->sum) : TALLY_PRODUCTS_OR_NONE(node->products);
        for (int k = 0; k < c->count; k++) {
            const double total = column_total(s, kind, k, p);
            if (total != 0) tally_add_value(words, (kind + 1) * (TALLY_ORIGIN + s->powers[kind]), total);
        }
    }
    c->count = c->rows = 0;
}
static bool no_terms(const panel_t *s, int kind) {
    return s->tile.x_extent.zeros || (kind == 1 && s->tile.y_extent.zeros);
}

/* Adds a measured block by the levels that there are, or by new ones. `follow`: more blocks do. False: some of its
 * terms are too far apart. */
static bool add_terms(const tally__kernel *kernel, panel_t *s, int kind, int64_t rows, bool follow,
                      tally__node *nodes) {
    tally__columns *c = &s->columns[kind];
    const int term = terms_of_kinds[kind];
    if (no_terms(s, kind)) return true;
    if (s->powers[kind] != s->power || !tally__columns_suit(c, &s->tile, term, rows)) {
        flush_columns(kernel, s, kind, nodes);
        s->powers[kind] = s->power;
        if (!tally__plan_columns(c, &s->tile, term, TALLY_COLUMN_ADDITIONS, TALLY_COLUMN_LEVELS, follow)) return false;
        begin_columns(s, kind);
    }
    add_block(s, kind, rows);
    return true;
}
/* Adds a panel to nodes, which are clear. False: some of its terms are too far apart, and nodes hold nothing of use. */
static bool add_panel(const tally__kernel *kernel, panel_t *s, const raw_t *x, const raw_t *y, int64_t rows,
                      int64_t stride, tally__node *nodes) {
    s->columns[0].count = s->columns[1].count = s->columns[0].rows = s->columns[1].rows = 0;
    s->powers[0] = s->powers[1] = 0;
    for (int64_t at = 0, some; at < rows; at += some) {
        some = some_rows(s, rows - at);
        read_block(kernel, s, x + at * stride, y + at * stride, some, stride, nodes);
        note_next(s, x + (at + some) * stride, y + (at + some) * stride, stride, rows - at >= 2 * some);
        for (int kind = first_kind; kind < term_kinds; kind++)
            if (!add_terms(kernel, s, kind, some, rows > some, nodes)) return false;
    }
    for (int kind = first_kind; kind < term_kinds; kind++) flush_columns(kernel, s, kind, nodes);
    for (int64_t p = 0; p < s->width; p++) {
        accumulator_t *node = (void *)tally__node_at(kernel, nodes, p);
        node->n = rows - s->missing[p];
        /* A sum that is 0 takes its sign from its terms. */
#if TALLY_HAS_SUM
        witness(kernel, node->sum, TALLY_SUM_TERM, x + p, y + p, rows, stride);
#endif
#if TALLY_HAS_PRODUCTS
        witness(kernel, node->products, TALLY_TERM_PRODUCT, x + p, y + p, rows, stride);
#endif
        settle_accumulator(node);
    }
    return true;
}

/* ---- columns copied together ---- */

/* A row of `count` columns that lie `apart` values apart. */
static inline __attribute__((always_inline)) void copy_row(TALLY_T *restrict to, const int64_t apart,
                                                           const raw_t *restrict from, int64_t count) {
    for (int64_t k = 0; k < count; k++) to[k * apart] = from[k];
}
/* Some at a time, so that a cache line is read once, or twice; as many rows as a panel has space for, as bins are
 * cleared and read for each run (of f16 and bf16 they are few, and runs that the first cache holds are faster). Columns
 * lie a line more or less than a power of two apart, or the first cache would keep no more of them than it has ways. */
static void add_copied(const tally__kernel *kernel, panel_t *s, const raw_t *x, const raw_t *y, int64_t rows,
                       int64_t stride, tally__node *nodes) {
    enum { TOGETHER = TALLY_BYTES == 2 ? 16 : 8 };
    enum { APART = TALLY_BYTES == 2 ? 2 * tile_values + 32 : (int)(sizeof s->x / TOGETHER - 64) / TALLY_BYTES };
    enum { MOST = TALLY_BYTES == 2 ? 2 * tile_values : TALLY_BYTES == 4 ? APART / 2 : APART };
    TALLY_T *const a = (void *)s->x, *const b = (void *)s->y;
    union {
        accumulator_t node;
        tally__node head;
    } run;
    for (int64_t at = 0; at < rows; at += MOST) /* rows that a cache keeps for all columns */
        for (int64_t p = 0; p < s->width; p += TOGETHER) {
            const int64_t together = s->width - p < TOGETHER ? s->width - p : TOGETHER;
            const int64_t some = rows - at < MOST ? rows - at : MOST;
            for (int64_t r = 0; r < some; r++) {
                const raw_t *from = x + (at + r) * stride + p;
                if (together == TOGETHER)
                    copy_row(a + r, APART, from, TOGETHER);
                else
                    copy_row(a + r, APART, from, together);
                if (TALLY_KERNEL_INPUTS == 2) copy_row(b + r, APART, y + (at + r) * stride + p, together);
            }
            for (int64_t k = 0; k < together; k++) {
                const TALLY_T *other = TALLY_KERNEL_INPUTS == 2 ? b : a;
                reduce_leaves(kernel, a + k * APART, other + k * APART, some, 0, &run.head);
                join_accumulators((void *)tally__node_at(kernel, nodes, p + k), &run.node);
            }
        }
}

#endif
