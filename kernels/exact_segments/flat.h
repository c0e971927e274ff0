/* Exact sums of many segments at a flat cost: whatever the lengths of segments and the values, a warp's work is shared
 * out by values.
 *
 * A warp takes a chunk of consecutive values and the ends of segments in it. Of a segment that lies in the chunk only
 * the leading binades are added up, a window below its largest term. They nearly always decide the result, as what is
 * cut off has a bound. Each lane adds up a share of the values in levels (sums/levels.h), and at each
 * end stores what it has counted since the last one. A segmented scan over the lanes (Blelloch, "Prefix sums and their
 * applications", 1990) completes the first sum of each share. Values of a segment that crosses boundaries of the chunk
 * are scattered: added to 16-bit digits (sums/levels.h), whatever their exponents. Infinities and NaNs are noted apart
 * and leave zeros behind. */
#ifndef TALLY_FLAT_H
#define TALLY_FLAT_H

#include "exact_segments/flat_nodes.h"
#include "exact_sums/terms.h"
#include "order/leaf.h"
#include "sums/levels.h"

/* Levels of a window. */
#define TALLY_WINDOW_VALUE_LEVELS 3
#define TALLY_WINDOW_PRODUCT_LEVELS (TALLY_IS_F64 ? 4 : 3)
#define TALLY_WINDOW_PARTS (TALLY_IS_F64 ? 2 : 1) /* of a product */
/* log2 of the terms that meet in one accumulator of a lane */
#define TALLY_SHARE_ADDITIONS (TALLY_BYTES == 8 ? 4 : TALLY_BYTES == 4 ? 5 : 6)
enum {
    share_values = TALLY_BYTES == 8   ? 15
                   : TALLY_BYTES == 4 ? 31
                                      : 62, /* odd words: lanes meet different banks */
    chunk_values = TALLY_WARP * share_values,
    chunk_ends = 16 * TALLY_WARP, /* of segments that have values or not */
    value_batch = 4,
    load_batch = 8,
    /* binades that a window has room for */
    value_binades = 3 * (TALLY_BINADE + 1 - TALLY_SHARE_ADDITIONS) - 1,
    product_binades = TALLY_IS_F64 ? 4 * (TALLY_BINADE + 1 - TALLY_SHARE_ADDITIONS) - 4 : value_binades,
    value_words = TALLY_HAS_SUM * TALLY_WINDOW_VALUE_LEVELS,
    product_words = TALLY_HAS_PRODUCTS * TALLY_WINDOW_PRODUCT_LEVELS,
    window_words = value_words + product_words,
    ends_most = TALLY_HAS_KEYS || (TALLY_IS_F64 && window_words > 4) ? 64
                : window_words > 3                                   ? 96
                                   : 128, /* of segments that have values in the chunk */
    chunk_words = (ends_most + 1) * window_words > 512 ? (ends_most + 1) * window_words : 512 /* or digits */
};
#define TALLY_FLAT_WARPS (TALLY_FLAT_THREADS / TALLY_WARP / TALLY_KERNEL_INPUTS)

/* Digits of scattered values lie where words do, a lane has one of so many columns. */
enum {
    sum_digits = TALLY_HAS_SUM * 2 * TALLY_LIMBS,
    product_digits = TALLY_HAS_PRODUCTS * 2 * TALLY_PRODUCT_LIMBS,
    digit_columns = (sum_digits + product_digits) * 16 <= 2 * chunk_words  ? 16
                    : (sum_digits + product_digits) * 8 <= 2 * chunk_words ? 8
                    : (sum_digits + product_digits) * 4 <= 2 * chunk_words ? 4
                                                                           : 2,
    scattered_most = 8 /* chunks, before a digit can overflow: a product adds less than 2^17 to one */
};

/* What a warp has in shared memory. */
typedef struct flat_t {
    int64_t words[chunk_words]; /* word k of the sum at end number e: words[k * stride + e]; or digits */
    TALLY_IF_KEYS(int64_t low[ends_most], high[ends_most];)
    int32_t seen[ends_most], absent[ends_most];
    int32_t tops[ends_most + 1];             /* by end number: the largest term_size, */
    int32_t lost[ends_most + 1];             /* and whether the window cuts something off */
    int16_t ends[ends_most];                 /* where they end in the chunk, */
    int16_t segments[ends_most];             /* and which they are, from the chunk's first on */
    uint32_t empty[chunk_ends / TALLY_WARP]; /* a bit for each segment that ends and has no values in the chunk */
    uint32_t marks[2 * TALLY_WARP];          /* of each share a bit for each value that is a segment's last */
    accumulator_t node;                      /* the open segment's sums, but for what digits have */
    TALLY_T x[chunk_values], y[TALLY_KERNEL_INPUTS == 2 ? chunk_values : 1];
} flat_t;

/* What value i is multiplied by: itself, if there is one input. */
TALLY_FN TALLY_T second_of(const flat_t *flat, int32_t i) { return TALLY_KERNEL_INPUTS == 2 ? flat->y[i] : flat->x[i]; }

/* A chunk, the same in all lanes but for what is said to be the lane's. */
typedef struct chunk_t {
    int32_t values, ends;  /* how many */
    int32_t distinct;      /* ends of segments that have values in the chunk */
    int32_t share, stride; /* values of a lane; ends that `words` has room for */
    int32_t at, n;         /* the lane's share */
    uint64_t marks;        /* the lane's, */
    int32_t first_end;     /* and the number of its first */
    int32_t has_notes;     /* some values are infinite or NaN */
} chunk_t;

/* ---- a chunk ---- */

/* Values of pieces of rows (segments/pieces.h), from number `at` on, which is of piece s: as they lie side by side in
 * memory, a place of each piece before the next places. */
TALLY_RARE void load_pieces(const tally_segments_work *work, const tally_source *from, int64_t s, int64_t at,
                            int32_t values, TALLY_T *to) {
    for (int32_t n; values > 0; values -= n, at += n, to += n) { /* pieces that are alike */
        const tally_piece_place piece = tally_piece_of(&work->partition, s);
        const int64_t skipped = at - piece.begin, all = (work->partition.inner - piece.column) * piece.values - skipped;
        n = all < values ? (int32_t)all : values;
        const int32_t before = (int32_t)skipped, length = (int32_t)piece.values,
                      columns = (before + n + length - 1) / length, end = columns == 1 ? before + n : columns * length;
        for (int32_t first = tally_lane() + (columns == 1 ? before : 0); first < end;
             first += load_batch * TALLY_WARP) {
            TALLY_T v[load_batch];
            int32_t place[load_batch];
            TALLY_UNROLL
            for (int32_t k = 0; k < load_batch; k++) {
                const int32_t i = first + k * TALLY_WARP, row = i / columns, column = i - row * columns;
                place[k] = column * length + row - before;
                if (i >= end || place[k] >= n) place[k] = -1;
                if (place[k] >= 0) v[k] = read_one(from, piece.first + row * work->partition.inner + column);
            }
            TALLY_UNROLL
            for (int32_t k = 0; k < load_batch; k++)
                if (place[k] >= 0) to[place[k]] = v[k];
        }
        s += work->partition.inner - piece.column;
    }
}
/* Copies the chunk's values from number `at` on, which is of segment s. Gives whether one is infinite or NaN. */
TALLY_FN int32_t load_values(const tally_segments_work *work, const tally_source *from, int64_t s, int64_t at,
                             int32_t values, TALLY_T *to) {
    const char *const begin = from->values + at * from->stride;
    int32_t is_special = 0;
    if (work->partition.inner > 1 || !from->is_aligned) {
        if (work->partition.inner > 1)
            load_pieces(work, from, s, at, values, to);
        else {
            TALLY_ROLLED
            for (int32_t i = tally_lane(); i < values; i += TALLY_WARP) to[i] = read_one(from, at + i);
        }
        tally_warp_barrier();
        for (int32_t i = tally_lane(); i < values; i += TALLY_WARP) is_special |= value_is_special(to[i]);
        return tally_any(is_special);
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
            if (i < values) to[i] = v[k];
            is_special |= value_is_special(v[k]);
        }
    }
    is_special = tally_any(is_special);
    tally_warp_barrier();
    return is_special;
}
/* Shares the values out to lanes, and marks those that are a segment's last. */
TALLY_FN void share_out(flat_t *flat, chunk_t *c) {
    c->share = (c->values + TALLY_WARP - 1) / TALLY_WARP;
    if (TALLY_BYTES == 2)
        c->share = (c->share + 1) / 4 * 4 + 2;
    else
        c->share |= 1;
    if (c->share > share_values) c->share = share_values;
    c->at = tally_lane() * c->share;
    c->n = c->values - c->at;
    c->n = c->n < 0 ? 0 : c->n > c->share ? c->share : c->n;
    flat->marks[tally_lane()] = flat->marks[TALLY_WARP + tally_lane()] = 0;
    tally_warp_barrier();
    for (int32_t e = tally_lane(); e < c->distinct; e += TALLY_WARP) {
        const int32_t last = flat->ends[e] - 1, share = last / c->share, bit = last - share * c->share;
        tally_set_bit(flat->marks + share + (bit >> 5) * TALLY_WARP, bit & 31);
    }
    tally_warp_barrier();
    c->marks = flat->marks[tally_lane()] | (uint64_t)(TALLY_BYTES == 2 ? flat->marks[TALLY_WARP + tally_lane()] : 0)
                                               << 32;
    c->first_end = tally_sums_before(__builtin_popcountll(c->marks));
    c->stride = c->distinct + 1;
}

/* ---- windows ---- */

/* Accumulators: levels of the sum, then of products; and what they have counted. */
typedef struct levels_t {
    double at[window_words];
} levels_t;
typedef struct level_counts_t {
    int64_t of[window_words];
} level_counts_t;

/* The units of a window's levels, below its top. */
TALLY_FN void window_units(int32_t *values, int32_t *products) {
    tally_plan_levels(values, TALLY_WINDOW_VALUE_LEVELS, 0, -value_binades, TALLY_SHARE_ADDITIONS, 1);
    tally_plan_levels(products, TALLY_WINDOW_PRODUCT_LEVELS, 0, -product_binades, TALLY_SHARE_ADDITIONS,
                      TALLY_WINDOW_PARTS);
}
TALLY_FN levels_t begin_share(void) {
    levels_t a;
    int32_t value_units[TALLY_WINDOW_VALUE_LEVELS], product_units[TALLY_WINDOW_PRODUCT_LEVELS];
    window_units(value_units, product_units);
    TALLY_UNROLL
    for (int32_t k = 0; k < value_words; k++) a.at[k] = tally_anchor(value_units[k]);
    TALLY_UNROLL
    for (int32_t k = 0; k < product_words; k++) a.at[value_words + k] = tally_anchor(product_units[k]);
    return a;
}
TALLY_FN level_counts_t counts_of(const levels_t *a, const levels_t *none) {
    level_counts_t counts;
    TALLY_UNROLL
    for (int32_t k = 0; k < window_words; k++)
        counts.of[k] = tally_apart(tally_bits_f64(a->at[k]), tally_bits_f64(none->at[k]));
    return counts;
}

enum { term_size_least = 4096 }; /* makes sizes of products positive */
/* How large a term is, for a window's top: grows with it, and is 0 where the term is. Terms of one input count by their
 * value, those of two by their product. */
TALLY_FN int32_t term_size(TALLY_T x, TALLY_T y) {
    const uint32_t of_x = size_bits(x), of_y = size_bits(y);
    if (TALLY_KERNEL_INPUTS == 1) return (int32_t)of_x;
    return of_x == 0 || of_y == 0 ? 0 : high_of(of_x) + high_of(of_y) + term_size_least;
}
/* Terms of at most such a size are below 2^top; of one input their squares below 2^(2 * top). */
TALLY_FN int32_t top_of(int32_t size) {
    if (size == 0) return 0;
    return TALLY_KERNEL_INPUTS == 1 ? high_of((uint32_t)size) : size - term_size_least;
}
TALLY_FN int32_t top_of_products(int32_t top) { return TALLY_KERNEL_INPUTS == 1 ? 2 * top : top; }

/* The largest terms of segments, by end number. */
TALLY_FN void measure_segments(flat_t *flat, const chunk_t *c) {
    uint64_t marks = c->marks;
    int32_t number = c->first_end, most = 0;
    for (int32_t e = tally_lane(); e <= c->distinct; e += TALLY_WARP) flat->tops[e] = flat->lost[e] = 0;
    tally_warp_barrier();
    for (int32_t i = c->at; i < c->at + c->n; i++, marks >>= 1) {
        const int32_t size = term_size(flat->x[i], second_of(flat, i));
        most = size > most ? size : most;
        if (!(marks & 1)) continue;
        tally_max32(&flat->tops[number++], most);
        most = 0;
    }
    if (most != 0) tally_max32(&flat->tops[number], most);
    tally_warp_barrier();
}

/* m * 2^exponent, m an integer below 2^106, below 2^top: times 2^-top, without its binades below 2^(top - binades). */
TALLY_FN double part_in_window(double m, int32_t exponent, int32_t top, const int32_t binades, int32_t *is_lost) {
    int32_t above = top - exponent; /* of a zero anything */
    above = above < 0 ? 0 : above > 700 ? 700 : above;
    const double part = tally_truncate_below(m, above - binades);
    *is_lost |= part != m;
    return part * tally_from_bits_f64((int64_t)(1023 - above) << 52);
}
/* Adds a pair's terms to levels; one that is not wholly in the window is lost in part. */
TALLY_FN void add_to_window(levels_t *a, int32_t top, TALLY_T tx, TALLY_T ty, int32_t *is_lost) {
    const taken_t x = take(tx);
    const double mx = (double)x.significand;
    (void)ty;
#if TALLY_HAS_SUM
    const double part = part_in_window(mx, x.offset + TALLY_ORIGIN, top, value_binades, is_lost);
    tally_put_term(a->at, TALLY_SUM_TERM == TALLY_TERM_VALUE && x.is_negative ? -part : part, 0,
                   TALLY_WINDOW_VALUE_LEVELS);
#endif
#if TALLY_HAS_PRODUCTS
    const taken_t y = TALLY_KERNEL_INPUTS == 2 ? take(ty) : x;
    const double my = (double)y.significand, product = mx * my, sign = x.is_negative != y.is_negative ? -1 : 1;
    const int32_t exponent = x.offset + y.offset + 2 * TALLY_ORIGIN, high = top_of_products(top);
    double *const at = a->at + value_words;
    tally_put_term(at, sign * part_in_window(product, exponent, high, product_binades, is_lost), 0,
                   TALLY_WINDOW_PRODUCT_LEVELS);
#if TALLY_IS_F64
    tally_put_term(at, sign * part_in_window(__builtin_fma(mx, my, -product), exponent, high, product_binades, is_lost),
                   0, TALLY_WINDOW_PRODUCT_LEVELS);
#endif
#endif
}

/* The lane's share: what lies before each end goes to its words; what lies behind the last is given. */
TALLY_FN level_counts_t add_share(flat_t *flat, const chunk_t *c) {
    const levels_t none = begin_share();
    int32_t number = c->first_end, top = top_of(flat->tops[number]), is_lost = 0;
    int64_t *to = flat->words + number;
    levels_t a = none;
    uint64_t marks = c->marks;
    TALLY_ROLLED
    for (int32_t first = 0; first < c->share;
         first += value_batch) { /* values are read before sums are stored: they may be the same memory to a compiler */
        TALLY_T x[value_batch], y[value_batch];
        TALLY_UNROLL
        for (int32_t k = 0; k < value_batch; k++) {
            const int32_t is_there = first + k < c->n;
            x[k] = y[k] = is_there ? flat->x[c->at + first + k] : plus_zero();
            if (TALLY_KERNEL_INPUTS == 2) y[k] = is_there ? flat->y[c->at + first + k] : plus_zero();
        }
        TALLY_UNROLL
        for (int32_t k = 0; k < value_batch; k++, marks >>= 1) {
            add_to_window(&a, top, x[k], y[k], &is_lost);
            if (!(marks & 1)) continue;
            const level_counts_t counts = counts_of(&a, &none);
            TALLY_UNROLL
            for (int32_t i = 0; i < window_words; i++) to[i * c->stride] = counts.of[i];
            if (is_lost) tally_or32(&flat->lost[number], 1);
            to++, number++;
            top = top_of(flat->tops[number]);
            is_lost = 0;
            a = none;
        }
    }
    if (is_lost) tally_or32(&flat->lost[number], 1);
    return counts_of(&a, &none);
}
/* The segmented scan: completes the first end of each lane's share by what lies before the share. It is over when no
 * lane takes anything: at once, if each share has an end. */
TALLY_FN void complete(flat_t *flat, const chunk_t *c, level_counts_t rest) {
    int32_t has_end = c->marks != 0 || c->n == 0;
    int64_t *const to = flat->words + c->first_end;
    TALLY_ROLLED
    for (int32_t d = 1; tally_any(!has_end && tally_lane() >= d); d *= 2) {
        const int32_t from = tally_lane() < d ? tally_lane() : tally_lane() - d, takes = tally_lane() >= d;
        const int32_t other_has_end = (int32_t)tally_shuffle((uint32_t)has_end, from);
        TALLY_UNROLL
        for (int32_t k = 0; k < window_words; k++) {
            const int64_t other = tally_of_lane64(rest.of[k], from);
            rest.of[k] = tally_further(rest.of[k], takes && !has_end ? other : 0);
        }
        has_end |= takes && other_has_end;
    }
    const int32_t previous = tally_lane() == 0 ? 0 : tally_lane() - 1;
    TALLY_UNROLL
    for (int32_t k = 0; k < window_words; k++) {
        const int64_t carry = tally_of_lane64(rest.of[k], previous);
        if (c->marks != 0 && tally_lane() > 0) to[k * c->stride] = tally_further(to[k * c->stride], carry);
    }
    tally_warp_barrier();
}
/* Adds up the windows of the chunk's segments. */
TALLY_FN void add_windows(flat_t *flat, const chunk_t *c) {
    measure_segments(flat, c);
    complete(flat, c, add_share(flat, c));
}

/* ---- digits ---- */

#define TALLY_PUT_NAME scatter_pair
#define TALLY_PUT_TYPE flat_t
#define TALLY_PUT_SUM(significand, is_negative, offset) \
    tally_scatter((int32_t *)(void *)to->words, digit_columns, significand, is_negative, offset, TALLY_IS_F64 ? 5 : 3)
#define TALLY_PUT_PRODUCT(significand, is_negative, offset, digits)                                                   \
    tally_scatter((int32_t *)(void *)to->words + sum_digits * digit_columns, digit_columns, significand, is_negative, \
                  offset, digits)
#include "exact_sums/one_pair.h"

TALLY_FN void clear_digits(flat_t *flat) {
    for (int32_t i = tally_lane(); i < chunk_words; i += TALLY_WARP) flat->words[i] = 0;
    tally_warp_barrier();
}
/* Adds values `from` to `until` of the chunk to digits, by the warp. */
TALLY_LONG void scatter_values(flat_t *flat, int32_t from, int32_t until) {
    notes_t notes = no_notes(); /* they are made elsewhere */
    for (int32_t i = from + tally_lane(); i < until; i += TALLY_WARP)
        scatter_pair(&notes, flat, flat->x[i], second_of(flat, i));
    tally_warp_barrier();
}
/* Moves digits to a node, to which others may be adding. */
TALLY_LONG void drain_digits(flat_t *flat, accumulator_t *node) {
    int32_t *const digits = (int32_t *)(void *)flat->words;
    (void)digits;
    TALLY_IF_SUM(tally_drain(digits, sum_digits, digit_columns, node->sum + TALLY_EVIDENCE);)
    TALLY_IF_PRODUCTS(tally_drain(digits + sum_digits * digit_columns, product_digits, digit_columns,
                                  node->products + TALLY_EVIDENCE);)
    tally_warp_barrier();
}

/* ---- notes ---- */

TALLY_FN noted_t noted_of_lane(noted_t a, int32_t lane) {
    noted_t b = a;
    if (TALLY_HAS_KEYS) {
        b.low = tally_of_lane64(a.low, lane);
        b.high = tally_of_lane64(a.high, lane);
    }
    b.seen = (int32_t)tally_shuffle((uint32_t)a.seen, lane);
    b.absent = (int32_t)tally_shuffle((uint32_t)a.absent, lane);
    return b;
}
TALLY_FN void store_noted(flat_t *flat, int32_t end, const noted_t *a) {
    TALLY_IF_KEYS(flat->low[end] = a->low; flat->high[end] = a->high;)
    flat->seen[end] = a->seen;
    flat->absent[end] = a->absent;
}
TALLY_FN noted_t noted_at(const flat_t *flat, int32_t end) {
    noted_t a = nothing_noted();
    TALLY_IF_KEYS(a.low = flat->low[end]; a.high = flat->high[end];)
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
        const int32_t is_special = term_is_special(*x, *y), is_absent = is_special && term_is_absent(*x, *y);
        if (TALLY_HAS_KEYS && !is_absent) {
            const TALLY_K key = order_key(*x);
            a.low = key < a.low ? key : a.low;
            a.high = key > a.high ? key : a.high;
        }
        if (is_special) {
            if (is_absent)
                a.absent++;
            else
                a.seen |= evidence_of(*x, *y);
            clear_term(x, y, is_absent);
        }
        if (marks & 1) {
            store_noted(flat, end++, &a);
            a = nothing_noted();
        }
        marks >>= 1;
    }
    TALLY_ROLLED
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

/* The segment that a chunk leaves open. Its sums are in the node and in digits. */
typedef struct open_t {
    noted_t noted;
    int64_t n;         /* values so far */
    int32_t scattered; /* chunks whose values digits have */
} open_t;

#endif
