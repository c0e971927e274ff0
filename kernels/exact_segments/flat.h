/* Exact sums of many segments at a flat cost: whatever the lengths of segments and the values, a warp's work is shared
 * out by values.
 *
 * A warp takes a chunk of consecutive values and the ends of segments in it. Each lane adds up a strip of consecutive
 * values in levels (sums/levels.h), and at each end stores what it has counted since the last one. A segmented scan
 * over the lanes (Blelloch, "Prefix sums and their applications", 1990) completes the first sum of each strip. The
 * chunk is measured first, so that nothing is guessed: values too far apart for the levels are cut into windows of
 * binades, one pass each, and the counts of all windows make up the sum. Infinities and NaNs are noted apart and leave
 * zeros behind. */
#ifndef TALLY_FLAT_H
#define TALLY_FLAT_H

#include "exact_segments/flat_nodes.h"
#include "exact_sums/ruler.h"

/* Levels of a window, and the binades that it has room for. */
#define TALLY_WINDOW_VALUE_LEVELS 3
#define TALLY_WINDOW_PRODUCT_LEVELS (TALLY_IS_F64 ? 4 : 3)
enum {
    strip_values = TALLY_BYTES == 8   ? 15
                   : TALLY_BYTES == 4 ? 31
                                      : 62, /* odd words: lanes meet different banks */
    chunk_values = TALLY_WARP * strip_values,
    chunk_ends =
#ifdef TALLY_KEYS
        64,
#else
        128,
#endif
    chunk_words = 512, /* that the sums at ends have */
    strip_batch = 4,
    load_batch = TALLY_BYTES == 8 ? 8 : 16,
    window_binades = 3 * (TALLY_BINADE + 1 - TALLY_LANE_ADDITIONS) - 1,
    product_binades = TALLY_IS_F64 ? 4 * (TALLY_BINADE + 1 - TALLY_LANE_ADDITIONS) - 4 : window_binades
};
#define TALLY_FLAT_WARPS (TALLY_FLAT_THREADS / TALLY_WARP / TALLY_KERNEL_INPUTS)

/* What a warp has in shared memory. */
typedef struct flat_t {
    int64_t words[chunk_words]; /* word k of the sum at end number e: words[k * stride + e] */
#ifdef TALLY_KEYS
    int64_t low[chunk_ends], high[chunk_ends];
#endif
    int32_t seen[chunk_ends], absent[chunk_ends];
    int32_t ends[chunk_ends];       /* where segments end in the chunk */
    uint32_t marks[2 * TALLY_WARP]; /* of each strip a bit for each value that is a segment's last */
    int32_t first_end[TALLY_WARP];  /* the number of the first of these ends */
    accumulator_t node;             /* of the open segment what its words do not hold */
    TALLY_T x[chunk_values], y[TALLY_KERNEL_INPUTS == 2 ? chunk_values : 1];
} flat_t;

/* A chunk, the same in all lanes but for what is said to be the lane's. */
typedef struct chunk_t {
    int32_t values, ends;      /* how many */
    int32_t distinct;          /* ends at different values, behind the chunk's first */
    int32_t strip, stride;     /* values of a strip; ends that `words` has room for */
    int32_t at, n;             /* the lane's strip */
    uint64_t marks;            /* the lane's, */
    int32_t first_end;         /* and the number of its first */
    int32_t has_notes;         /* some values are infinite or NaN */
    int32_t windows;           /* 0: the ruler's levels hold all values */
    int32_t top, top_products; /* of the first window: magnitudes are below 2^top */
} chunk_t;

/* The part of m * 2^exponent, m an integer below 2^106, in the binades from 2^(top - binades) to 2^top, times 2^-top.
 */
TALLY_FN double lies_in_window(double m, int32_t exponent, int32_t top, const int32_t binades) {
    int32_t above = top - exponent;
    above = above < -2 ? -2 : above > 500 ? 500 : above;
    const double rest = m - tally_cut_below(m, above);
    return tally_cut_below(rest, above - binades) * tally_from_bits_f64((int64_t)(1023 - above) << 52);
}

/* ---- a chunk ---- */

TALLY_RARE extent_t measure_again(const TALLY_T *x, int32_t values) {
    extent_t e = {0, UINT32_MAX};
    for (int32_t i = tally_lane(); i < values; i += TALLY_WARP) {
        const uint32_t size = size_bits(x[i]);
        e.most = size > e.most ? size : e.most;
        e.least = tally_min_less_one(size, e.least);
    }
    return measure_warp(e);
}

/* Values of pieces of rows (segments/pieces.h), from number `at` on. */
TALLY_RARE void load_pieces(const tally_segments_work *work, const tally_source *from, int64_t s, int64_t at,
                            int32_t values, TALLY_T *to) {
    tally_piece_place piece = tally_piece_of(&work->cut, s);
    int64_t end = tally_further(piece.begin, piece.values);
    for (int32_t i = tally_lane(); i < values; i += TALLY_WARP) {
        while (at + i >= end) {
            tally_pass_pieces(&work->cut, &piece, 1);
            end = tally_further(piece.begin, piece.values);
        }
        to[i] = read_one(from, piece.first + (at + i - piece.begin) * work->cut.inner);
    }
    tally_warp_barrier();
}
/* Copies the chunk's values from number `at` on, which is of segment s, and measures them. */
TALLY_FN extent_t load_values(const tally_segments_work *work, const tally_source *from, int64_t s, int64_t at,
                              int32_t values, TALLY_T *to) {
    extent_t e = {0, UINT32_MAX};
    const char *const begin = from->values + at * from->stride;
    if (work->cut.inner > 1) {
        load_pieces(work, from, s, at, values, to);
        return measure_again(to, values);
    }
    if (!from->is_aligned) {
        TALLY_ROLLED
        for (int32_t i = tally_lane(); i < values; i += TALLY_WARP) to[i] = read_one(from, at + i);
        tally_warp_barrier();
        return measure_again(to, values);
    }
    for (int32_t first = 0; first < values; first += load_batch * TALLY_WARP) {
        TALLY_T v[load_batch];
        TALLY_UNROLL
        for (int32_t k = 0; k < load_batch; k++) {
            const int32_t i = first + k * TALLY_WARP + tally_lane();
            v[k] = i < values ? *(const TALLY_T *)(const void *)(begin + i * from->stride) : plus_zero();
        }
        TALLY_UNROLL
        for (int32_t k = 0; k < load_batch; k++) {
            const int32_t i = first + k * TALLY_WARP + tally_lane();
            const uint32_t size = size_bits(v[k]);
            if (i < values) to[i] = v[k];
            e.most = size > e.most ? size : e.most;
            e.least = tally_min_less_one(size, e.least);
        }
    }
    return measure_warp(e);
}
/* Shares the values out to lanes, and marks those that are a segment's last. */
TALLY_FN void share_out(flat_t *flat, chunk_t *c) {
    c->strip = (c->values + TALLY_WARP - 1) / TALLY_WARP;
    if (TALLY_BYTES == 2)
        c->strip = (c->strip + 1) / 4 * 4 + 2;
    else
        c->strip |= 1;
    if (c->strip > strip_values) c->strip = strip_values;
    c->at = tally_lane() * c->strip;
    c->n = c->values - c->at;
    c->n = c->n < 0 ? 0 : c->n > c->strip ? c->strip : c->n;
    flat->marks[tally_lane()] = flat->marks[TALLY_WARP + tally_lane()] = 0;
    tally_warp_barrier();
    for (int32_t e = tally_lane(); e < c->ends; e += TALLY_WARP) {
        const int32_t last = flat->ends[e] - 1;
        if (last < 0) continue;
        const int32_t strip = last / c->strip, bit = last - strip * c->strip;
        tally_or32((int32_t *)flat->marks + strip + (bit >> 5) * TALLY_WARP, (int32_t)((uint32_t)1 << (bit & 31)));
    }
    tally_warp_barrier();
    c->marks = flat->marks[tally_lane()] | (uint64_t)(TALLY_BYTES == 2 ? flat->marks[TALLY_WARP + tally_lane()] : 0)
                                               << 32;
    const int32_t mine = __builtin_popcountll(c->marks);
    c->first_end = tally_sums_before(mine);
    c->distinct = (int32_t)tally_shuffle((uint32_t)(c->first_end + mine), TALLY_WARP - 1);
    flat->first_end[tally_lane()] = c->first_end;
    tally_warp_barrier();
}
/* The number of the end behind value `last` of the chunk. */
TALLY_FN int32_t end_of_value(const flat_t *flat, const chunk_t *c, int32_t last) {
    const int32_t strip = last / c->strip, bit = last - strip * c->strip;
    const uint64_t marks = flat->marks[strip] | (uint64_t)flat->marks[TALLY_WARP + strip] << 32;
    return flat->first_end[strip] + __builtin_popcountll(marks & (((uint64_t)1 << bit) - 1));
}

/* ---- sums of strips ---- */

enum {
    level_words = with_sum * TALLY_MOST_LEVELS_OF_VALUES + with_products * TALLY_MOST_LEVELS_OF_PRODUCTS,
    window_words = with_sum * TALLY_WINDOW_VALUE_LEVELS + with_products * TALLY_WINDOW_PRODUCT_LEVELS
};
/* Accumulators: levels of the sum, then of products. */
typedef struct levels_t {
    double at[TALLY_WINDOW_VALUE_LEVELS + TALLY_WINDOW_PRODUCT_LEVELS];
} levels_t;
typedef struct level_counts_t {
    int64_t of[TALLY_WINDOW_VALUE_LEVELS + TALLY_WINDOW_PRODUCT_LEVELS];
} level_counts_t;

/* The units of a window's levels, below its top. */
TALLY_FN void window_units(int32_t *values, int32_t *products) {
    tally_plan_levels(values, TALLY_WINDOW_VALUE_LEVELS, 0, -window_binades, TALLY_LANE_ADDITIONS, 1);
    tally_plan_levels(products, TALLY_WINDOW_PRODUCT_LEVELS, 0, -product_binades, TALLY_LANE_ADDITIONS,
                      TALLY_PRODUCT_PARTS);
}
TALLY_FN levels_t begin_strip(const ruler_t *ruler, const int32_t in_window) {
    levels_t a;
    int32_t value_units[TALLY_WINDOW_VALUE_LEVELS], product_units[TALLY_WINDOW_PRODUCT_LEVELS];
    (void)ruler;
    window_units(value_units, product_units);
    for (int32_t k = 0; k < TALLY_WINDOW_VALUE_LEVELS + TALLY_WINDOW_PRODUCT_LEVELS; k++) a.at[k] = 0;
    if (in_window) {
        TALLY_UNROLL
        for (int32_t k = 0; k < with_sum * TALLY_WINDOW_VALUE_LEVELS; k++) a.at[k] = tally_anchor(value_units[k]);
        TALLY_UNROLL
        for (int32_t k = 0; k < with_products * TALLY_WINDOW_PRODUCT_LEVELS; k++)
            a.at[with_sum * TALLY_WINDOW_VALUE_LEVELS + k] = tally_anchor(product_units[k]);
    } else {
        TALLY_IF_SUM(tally_begin_levels(&ruler->sum, a.at, TALLY_MOST_LEVELS_OF_VALUES);)
        TALLY_IF_PRODUCTS(tally_begin_levels(&ruler->products, a.at + with_sum * TALLY_MOST_LEVELS_OF_VALUES,
                                             TALLY_MOST_LEVELS_OF_PRODUCTS);)
    }
    return a;
}
#ifdef TALLY_SUM_TERM
TALLY_FN void put_values(double *at, const TALLY_T *x, const int32_t count, const int32_t apart, const int32_t most) {
    TALLY_UNROLL
    for (int32_t i = 0; i < count; i++) tally_put_term(at, term_in_double(x[i * apart]), 0, most);
}
#endif
#ifdef TALLY_PRODUCTS
TALLY_FN void put_products(double *at, const TALLY_T *x, const TALLY_T *y, const int32_t count, const int32_t apart,
                           const int32_t most) {
    TALLY_UNROLL
    for (int32_t i = 0; i < count; i++) {
        double a = (double)value_of(x[i * apart]), b = (double)value_of(y[i * apart]), product = a * b;
        tally_put_term(at, product, 0, most);
#if TALLY_IS_F64
        tally_put_term(at, __builtin_fma(a, b, -product), 1, most);
#endif
    }
}
#endif

TALLY_FN void add_to_levels(levels_t *a, TALLY_T tx, TALLY_T ty) {
    (void)ty;
    TALLY_IF_SUM(put_values(a->at, &tx, 1, 1, TALLY_MOST_LEVELS_OF_VALUES);)
    TALLY_IF_PRODUCTS(
        put_products(a->at + with_sum * TALLY_MOST_LEVELS_OF_VALUES, &tx, &ty, 1, 1, TALLY_MOST_LEVELS_OF_PRODUCTS);)
}
/* The part of a pair in window number w. */
TALLY_FN void add_to_window(levels_t *a, const chunk_t *c, int32_t w, TALLY_T tx, TALLY_T ty) {
    const taken_t x = take(tx);
    const double mx = (double)x.significand;
    (void)ty;
#ifdef TALLY_SUM_TERM
    const double part = lies_in_window(mx, x.offset + TALLY_ORIGIN, c->top - w * window_binades, window_binades);
    tally_put_term(a->at, TALLY_SUM_TERM == TALLY_TERM_VALUE && x.is_negative ? -part : part, 0,
                   TALLY_WINDOW_VALUE_LEVELS);
#endif
#ifdef TALLY_PRODUCTS
    const taken_t y = TALLY_KERNEL_INPUTS == 2 ? take(ty) : x;
    const double my = (double)y.significand, product = mx * my;
    const int32_t exponent = x.offset + y.offset + 2 * TALLY_ORIGIN, top = c->top_products - w * product_binades;
    double *const at = a->at + with_sum * TALLY_WINDOW_VALUE_LEVELS, sign = x.is_negative != y.is_negative ? -1 : 1;
    tally_put_term(at, sign * lies_in_window(product, exponent, top, product_binades), 0, TALLY_WINDOW_PRODUCT_LEVELS);
#if TALLY_IS_F64
    tally_put_term(at, sign * lies_in_window(__builtin_fma(mx, my, -product), exponent, top, product_binades), 0,
                   TALLY_WINDOW_PRODUCT_LEVELS);
#endif
#endif
}

/* The lane's strip: what lies before each end goes to words `first_word` and on; what lies behind the last is given.
 * With in_window, a constant, the part in window number w. */
TALLY_FN level_counts_t add_strip(flat_t *flat, const chunk_t *c, const ruler_t *ruler, const int32_t in_window,
                                  int32_t w) {
    const int32_t count = in_window ? window_words : level_words;
    const levels_t none = begin_strip(ruler, in_window);
    int64_t *to = flat->words + w * count * c->stride + c->first_end;
    levels_t a = none;
    level_counts_t rest;
    __builtin_memset(&rest, 0, sizeof rest);
    uint64_t marks = c->marks;
    const int32_t at = c->at, n = c->n, strip = c->strip, stride = c->stride;
    TALLY_ROLLED
    for (int32_t first = 0; first < strip;
         first += strip_batch) { /* values are read before sums are stored: they may be the same memory to a compiler */
        TALLY_T x[strip_batch], y[strip_batch];
        TALLY_UNROLL
        for (int32_t k = 0; k < strip_batch; k++) {
            const int32_t is_there = first + k < n;
            x[k] = y[k] = is_there ? flat->x[at + first + k] : plus_zero();
            if (TALLY_KERNEL_INPUTS == 2) y[k] = is_there ? flat->y[at + first + k] : plus_zero();
        }
        TALLY_UNROLL
        for (int32_t k = 0; k < strip_batch; k++) {
            if (in_window)
                add_to_window(&a, c, w, x[k], y[k]);
            else
                add_to_levels(&a, x[k], y[k]);
            if (marks >> k & 1) {
                TALLY_UNROLL
                for (int32_t i = 0; i < count; i++)
                    to[i * stride] = tally_apart(tally_bits_f64(a.at[i]), tally_bits_f64(none.at[i]));
                to++;
                a = none;
            }
        }
        marks >>= strip_batch;
    }
    TALLY_UNROLL
    for (int32_t k = 0; k < count; k++) rest.of[k] = tally_apart(tally_bits_f64(a.at[k]), tally_bits_f64(none.at[k]));
    return rest;
}

/* The segmented scan: completes the first end of each lane's strip by what lies before the strip, `before` at the
 * chunk's first value, and gives what lies behind the chunk's last end. */
TALLY_FN level_counts_t complete(flat_t *flat, const chunk_t *c, level_counts_t rest, const level_counts_t *before,
                                 const int32_t count, int32_t w) {
    int32_t has_end = c->marks != 0;
    int64_t *const to = flat->words + w * count * c->stride + c->first_end;
    TALLY_UNROLL
    for (int32_t d = 1; d < TALLY_WARP; d *= 2) {
        const int32_t from = tally_lane() < d ? tally_lane() : tally_lane() - d, takes = tally_lane() >= d;
        const int32_t other_has_end = (int32_t)tally_shuffle((uint32_t)has_end, from);
        TALLY_UNROLL
        for (int32_t k = 0; k < count; k++) {
            const int64_t other = tally_of_lane64(rest.of[k], from);
            rest.of[k] = tally_further(rest.of[k], takes && !has_end ? other : 0);
        }
        has_end |= takes && other_has_end;
    }
    const int32_t previous = tally_lane() == 0 ? 0 : tally_lane() - 1;
    const int32_t previous_has_end = (int32_t)tally_shuffle((uint32_t)has_end, previous), any = c->distinct > 0;
    level_counts_t last;
    __builtin_memset(&last, 0, sizeof last);
    TALLY_UNROLL
    for (int32_t k = 0; k < count; k++) {
        int64_t carry = tally_of_lane64(rest.of[k], previous);
        if (tally_lane() == 0)
            carry = before->of[k];
        else if (!previous_has_end)
            carry = tally_further(carry, before->of[k]);
        if (c->marks != 0) to[k * c->stride] = tally_further(to[k * c->stride], carry);
        last.of[k] = tally_of_lane64(rest.of[k], TALLY_WARP - 1);
        if (!any) last.of[k] = tally_further(last.of[k], before->of[k]);
    }
    return last;
}

/* ---- notes ---- */

TALLY_FN noted_t noted_of_lane(noted_t a, int32_t lane) {
    noted_t b = a;
#ifdef TALLY_KEYS
    b.low = tally_of_lane64(a.low, lane);
    b.high = tally_of_lane64(a.high, lane);
#endif
    b.seen = (int32_t)tally_shuffle((uint32_t)a.seen, lane);
    b.absent = (int32_t)tally_shuffle((uint32_t)a.absent, lane);
    return b;
}
TALLY_FN void store_noted(flat_t *flat, int32_t end, const noted_t *a) {
#ifdef TALLY_KEYS
    flat->low[end] = a->low;
    flat->high[end] = a->high;
#endif
    flat->seen[end] = a->seen;
    flat->absent[end] = a->absent;
}
TALLY_FN noted_t noted_at(const flat_t *flat, int32_t end) {
    noted_t a = nothing_noted();
#ifdef TALLY_KEYS
    a.low = flat->low[end];
    a.high = flat->high[end];
#endif
    a.seen = flat->seen[end];
    a.absent = flat->absent[end];
    return a;
}

/* The keys of values, and what infinities and NaNs tell, for each end; the latter leave zeros behind. Gives what lies
 * behind the last end. */
TALLY_LONG noted_t note_values(flat_t *flat, const chunk_t *c, const noted_t *before) {
    noted_t a = nothing_noted();
    uint64_t marks = c->marks;
    int32_t end = c->first_end, has_end = marks != 0;
    for (int32_t i = c->at; i < c->at + c->n; i++) {
        TALLY_T *const x = &flat->x[i], *const y = TALLY_KERNEL_INPUTS == 2 ? &flat->y[i] : x;
        const int32_t is_special = value_is_special(*x) || value_is_special(*y);
        const int32_t is_absent = TALLY_NAN == 1 && is_special && (value_is_nan(*x) || value_is_nan(*y));
#ifdef TALLY_KEYS
        if (!is_absent) {
            const TALLY_K key = order_key(*x);
            a.low = key < a.low ? key : a.low;
            a.high = key > a.high ? key : a.high;
        }
#endif
        if (is_absent) {
            a.absent++;
            *x = absent_value();
            if (TALLY_KERNEL_INPUTS == 2) *y = plus_zero();
        } else if (is_special) {
            a.seen |= evidence_of(*x, *y);
            *x = *y = plus_zero();
        }
        if (marks & 1) {
            store_noted(flat, end++, &a);
            a = nothing_noted();
        }
        marks >>= 1;
    }
    TALLY_UNROLL
    for (int32_t d = 1; d < TALLY_WARP; d *= 2) {
        const int32_t from = tally_lane() < d ? tally_lane() : tally_lane() - d, takes = tally_lane() >= d;
        const int32_t other_has_end = (int32_t)tally_shuffle((uint32_t)has_end, from);
        const noted_t other = noted_of_lane(a, from);
        if (takes && !has_end) join_noted(&a, &other);
        has_end |= takes && other_has_end;
    }
    const int32_t previous = tally_lane() == 0 ? 0 : tally_lane() - 1,
                  previous_has_end = (int32_t)tally_shuffle((uint32_t)has_end, previous);
    noted_t carry = noted_of_lane(a, previous), last = noted_of_lane(a, TALLY_WARP - 1);
    if (tally_lane() == 0)
        carry = *before;
    else if (!previous_has_end)
        join_noted(&carry, before);
    if (c->marks != 0) {
        noted_t first = noted_at(flat, c->first_end);
        join_noted(&first, &carry);
        store_noted(flat, c->first_end, &first);
    }
    if (c->distinct == 0) join_noted(&last, before);
    tally_warp_barrier();
    return last;
}

/* The segment that a chunk leaves open. */
typedef struct open_t {
    level_counts_t sum; /* in the ruler's levels, the same in all lanes */
    noted_t noted;
    int64_t n;       /* values so far */
    int32_t in_node; /* the node has some of them */
} open_t;

#endif
