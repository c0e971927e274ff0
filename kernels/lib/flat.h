/* Exact sums of many segments at a flat cost: whatever the lengths of segments and the values, a warp's work is shared
 * out by values. No include guard; behind lib/ruler.h, whose levels are the fewest that ordinary values need, and
 * lib/pair_results.h. Undone by lib/flat_end.h.
 *
 * A warp takes a chunk of consecutive values and the ends of segments in it. Each lane adds up a strip of consecutive
 * values in levels (lib/levels.h), and at each end stores what it has counted since the last one. A segmented scan over
 * the lanes (Blelloch, "Prefix sums and their applications", 1990) completes the first sum of each strip. The chunk is
 * measured first, so that nothing is guessed: values too far apart for the levels are cut into windows of binades, one
 * pass each, and the counts of all windows make up the sum. Infinities and NaNs are noted apart and leave zeros behind.
 */

/* Levels of a window, and the binades that it has room for. */
#define TALLY_WINDOW_VALUE_LEVELS 3
#define TALLY_WINDOW_PRODUCT_LEVELS (TALLY_IS_F64 ? 4 : 3)
enum {
    TALLY_N(strip_values) = TALLY_BYTES == 8   ? 15
                            : TALLY_BYTES == 4 ? 31
                                               : 62, /* odd words: lanes meet different banks */
    TALLY_N(chunk_values) = TALLY_WARP * TALLY_N(strip_values),
    TALLY_N(chunk_ends) =
#ifdef TALLY_KEYS
        64,
#else
        128,
#endif
    TALLY_N(chunk_words) = 512, /* that the sums at ends have */
    TALLY_N(strip_batch) = 4,
    TALLY_N(load_batch) = TALLY_BYTES == 8 ? 8 : 16,
    TALLY_N(window_binades) = 3 * (TALLY_BINADE + 1 - TALLY_LANE_ADDITIONS) - 1,
    TALLY_N(product_binades) =
        TALLY_IS_F64 ? 4 * (TALLY_BINADE + 1 - TALLY_LANE_ADDITIONS) - 4 : TALLY_N(window_binades)
};
#define TALLY_FLAT_WARPS (TALLY_FLAT_THREADS / TALLY_WARP / TALLY_KERNEL_INPUTS)

/* What a warp has in shared memory. */
typedef struct TALLY_N(flat) {
    int64_t words[TALLY_N(chunk_words)]; /* word k of the sum at end number e: words[k * stride + e] */
#ifdef TALLY_KEYS
    int64_t low[TALLY_N(chunk_ends)], high[TALLY_N(chunk_ends)];
#endif
    int32_t seen[TALLY_N(chunk_ends)], absent[TALLY_N(chunk_ends)];
    int32_t ends[TALLY_N(chunk_ends)]; /* where segments end in the chunk */
    uint32_t marks[2 * TALLY_WARP];    /* of each strip a bit for each value that is a segment's last */
    int32_t first_end[TALLY_WARP];     /* the number of the first of these ends */
    TALLY_N(node) node;                /* of the open segment what its words do not hold */
    TALLY_T x[TALLY_N(chunk_values)], y[TALLY_KERNEL_INPUTS == 2 ? TALLY_N(chunk_values) : 1];
} TALLY_N(flat);

/* A chunk, the same in all lanes but for what is said to be the lane's. */
typedef struct TALLY_N(chunk) {
    int32_t values, ends;      /* how many */
    int32_t distinct;          /* ends at different values, behind the chunk's first */
    int32_t strip, stride;     /* values of a strip; ends that `words` has room for */
    int32_t at, n;             /* the lane's strip */
    uint64_t marks;            /* the lane's, */
    int32_t first_end;         /* and the number of its first */
    int32_t has_notes;         /* some values are infinite or NaN */
    int32_t windows;           /* 0: the ruler's levels hold all values */
    int32_t top, top_products; /* of the first window: magnitudes are below 2^top */
} TALLY_N(chunk);

/* The part of m * 2^exponent, m an integer below 2^106, in the binades from 2^(top - binades) to 2^top, times 2^-top.
 */
TALLY_FN double TALLY_N(in_window)(double m, int32_t exponent, int32_t top, const int32_t binades) {
    int32_t above = top - exponent;
    above = above < -2 ? -2 : above > 500 ? 500 : above;
    const double rest = m - tally_cut_below(m, above);
    return tally_cut_below(rest, above - binades) * tally_from_bits_f64((int64_t)(1023 - above) << 52);
}

/* ---- a chunk ---- */

TALLY_RARE TALLY_N(extent) TALLY_N(measure_again)(const TALLY_T *x, int32_t values) {
    TALLY_N(extent) e = {0, UINT32_MAX};
    for (int32_t i = tally_lane(); i < values; i += TALLY_WARP) {
        const uint32_t size = TALLY_N(size_bits)(x[i]);
        e.most = size > e.most ? size : e.most;
        e.least = tally_min_less_one(size, e.least);
    }
    return TALLY_N(measure_warp)(e);
}

/* Values of pieces of rows (lib/pieces.h), from number `at` on. */
TALLY_RARE void TALLY_N(load_pieces)(const tally_work *work, const tally_source *from, int64_t s, int64_t at,
                                     int32_t values, TALLY_T *to) {
    tally_piece_place piece = tally_piece_of(&work->cut, s);
    int64_t end = tally_further(piece.begin, piece.values);
    for (int32_t i = tally_lane(); i < values; i += TALLY_WARP) {
        while (at + i >= end) {
            tally_pass_pieces(&work->cut, &piece, 1);
            end = tally_further(piece.begin, piece.values);
        }
        to[i] = TALLY_N(read_one)(from, piece.first + (at + i - piece.begin) * work->cut.inner);
    }
    tally_warp_barrier();
}
/* Copies the chunk's values from number `at` on, which is of segment s, and measures them. */
TALLY_FN TALLY_N(extent) TALLY_N(load_values)(const tally_work *work, const tally_source *from, int64_t s, int64_t at,
                                              int32_t values, TALLY_T *to) {
    TALLY_N(extent) e = {0, UINT32_MAX};
    const char *const begin = from->values + at * from->stride;
    if (work->cut.inner > 1) {
        TALLY_N(load_pieces)(work, from, s, at, values, to);
        return TALLY_N(measure_again)(to, values);
    }
    if (!from->is_aligned) {
        TALLY_ROLLED
        for (int32_t i = tally_lane(); i < values; i += TALLY_WARP) to[i] = TALLY_N(read_one)(from, at + i);
        tally_warp_barrier();
        return TALLY_N(measure_again)(to, values);
    }
    for (int32_t first = 0; first < values; first += TALLY_N(load_batch) * TALLY_WARP) {
        TALLY_T v[TALLY_N(load_batch)];
        TALLY_UNROLL
        for (int32_t k = 0; k < TALLY_N(load_batch); k++) {
            const int32_t i = first + k * TALLY_WARP + tally_lane();
            v[k] = i < values ? *(const TALLY_T *)(const void *)(begin + i * from->stride) : TALLY_N(plus_zero)();
        }
        TALLY_UNROLL
        for (int32_t k = 0; k < TALLY_N(load_batch); k++) {
            const int32_t i = first + k * TALLY_WARP + tally_lane();
            const uint32_t size = TALLY_N(size_bits)(v[k]);
            if (i < values) to[i] = v[k];
            e.most = size > e.most ? size : e.most;
            e.least = tally_min_less_one(size, e.least);
        }
    }
    return TALLY_N(measure_warp)(e);
}
/* Shares the values out to lanes, and marks those that are a segment's last. */
TALLY_FN void TALLY_N(share_out)(TALLY_N(flat) *flat, TALLY_N(chunk) *c) {
    c->strip = (c->values + TALLY_WARP - 1) / TALLY_WARP;
    if (TALLY_BYTES == 2)
        c->strip = (c->strip + 1) / 4 * 4 + 2;
    else
        c->strip |= 1;
    if (c->strip > TALLY_N(strip_values)) c->strip = TALLY_N(strip_values);
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
TALLY_FN int32_t TALLY_N(end_of_value)(const TALLY_N(flat) *flat, const TALLY_N(chunk) *c, int32_t last) {
    const int32_t strip = last / c->strip, bit = last - strip * c->strip;
    const uint64_t marks = flat->marks[strip] | (uint64_t)flat->marks[TALLY_WARP + strip] << 32;
    return flat->first_end[strip] + __builtin_popcountll(marks & (((uint64_t)1 << bit) - 1));
}

/* ---- sums of strips ---- */

enum {
    TALLY_N(level_words) =
        TALLY_N(has_sum) * TALLY_MOST_LEVELS_OF_VALUES + TALLY_N(has_products) * TALLY_MOST_LEVELS_OF_PRODUCTS,
    TALLY_N(window_words) =
        TALLY_N(has_sum) * TALLY_WINDOW_VALUE_LEVELS + TALLY_N(has_products) * TALLY_WINDOW_PRODUCT_LEVELS
};
/* Accumulators: levels of the sum, then of products. */
typedef struct TALLY_N(levels) {
    double at[TALLY_WINDOW_VALUE_LEVELS + TALLY_WINDOW_PRODUCT_LEVELS];
} TALLY_N(levels);
typedef struct TALLY_N(level_counts) {
    int64_t of[TALLY_WINDOW_VALUE_LEVELS + TALLY_WINDOW_PRODUCT_LEVELS];
} TALLY_N(level_counts);

/* The units of a window's levels, below its top. */
TALLY_FN void TALLY_N(window_units)(int32_t *values, int32_t *products) {
    tally_plan_levels(values, TALLY_WINDOW_VALUE_LEVELS, 0, -TALLY_N(window_binades), TALLY_LANE_ADDITIONS, 1);
    tally_plan_levels(products, TALLY_WINDOW_PRODUCT_LEVELS, 0, -TALLY_N(product_binades), TALLY_LANE_ADDITIONS,
                      TALLY_PRODUCT_PARTS);
}
TALLY_FN TALLY_N(levels) TALLY_N(begin_strip)(const TALLY_N(ruler) *ruler, const int32_t in_window) {
    TALLY_N(levels) a;
    int32_t value_units[TALLY_WINDOW_VALUE_LEVELS], product_units[TALLY_WINDOW_PRODUCT_LEVELS];
    (void)ruler;
    TALLY_N(window_units)(value_units, product_units);
    for (int32_t k = 0; k < TALLY_WINDOW_VALUE_LEVELS + TALLY_WINDOW_PRODUCT_LEVELS; k++) a.at[k] = 0;
    if (in_window) {
        TALLY_UNROLL
        for (int32_t k = 0; k < TALLY_N(has_sum) * TALLY_WINDOW_VALUE_LEVELS; k++)
            a.at[k] = tally_anchor(value_units[k]);
        TALLY_UNROLL
        for (int32_t k = 0; k < TALLY_N(has_products) * TALLY_WINDOW_PRODUCT_LEVELS; k++)
            a.at[TALLY_N(has_sum) * TALLY_WINDOW_VALUE_LEVELS + k] = tally_anchor(product_units[k]);
    } else {
        TALLY_IF_SUM(tally_begin_levels(&ruler->sum, a.at, TALLY_MOST_LEVELS_OF_VALUES);)
        TALLY_IF_PRODUCTS(tally_begin_levels(&ruler->products, a.at + TALLY_N(has_sum) * TALLY_MOST_LEVELS_OF_VALUES,
                                             TALLY_MOST_LEVELS_OF_PRODUCTS);)
    }
    return a;
}
#ifdef TALLY_SUM_TERM
TALLY_FN void TALLY_N(put_values)(double *at, const TALLY_T *x, const int32_t count, const int32_t apart,
                                  const int32_t most) {
    TALLY_UNROLL
    for (int32_t i = 0; i < count; i++) tally_put_term(at, TALLY_N(term)(x[i * apart]), 0, most);
}
#endif
#ifdef TALLY_PRODUCTS
TALLY_FN void TALLY_N(put_products)(double *at, const TALLY_T *x, const TALLY_T *y, const int32_t count,
                                    const int32_t apart, const int32_t most) {
    TALLY_UNROLL
    for (int32_t i = 0; i < count; i++) {
        double a = (double)TALLY_N(value)(x[i * apart]), b = (double)TALLY_N(value)(y[i * apart]), product = a * b;
        tally_put_term(at, product, 0, most);
#if TALLY_IS_F64
        tally_put_term(at, __builtin_fma(a, b, -product), 1, most);
#endif
    }
}
#endif

TALLY_FN void TALLY_N(add_to_levels)(TALLY_N(levels) *a, TALLY_T tx, TALLY_T ty) {
    (void)ty;
    TALLY_IF_SUM(TALLY_N(put_values)(a->at, &tx, 1, 1, TALLY_MOST_LEVELS_OF_VALUES);)
    TALLY_IF_PRODUCTS(TALLY_N(put_products)(a->at + TALLY_N(has_sum) * TALLY_MOST_LEVELS_OF_VALUES, &tx, &ty, 1, 1,
                                            TALLY_MOST_LEVELS_OF_PRODUCTS);)
}
/* The part of a pair in window number w. */
TALLY_FN void TALLY_N(add_to_window)(TALLY_N(levels) *a, const TALLY_N(chunk) *c, int32_t w, TALLY_T tx, TALLY_T ty) {
    const TALLY_N(taken) x = TALLY_N(take)(tx);
    const double mx = (double)x.significand;
    (void)ty;
#ifdef TALLY_SUM_TERM
    const double part =
        TALLY_N(in_window)(mx, x.offset + TALLY_ORIGIN, c->top - w * TALLY_N(window_binades), TALLY_N(window_binades));
    tally_put_term(a->at, TALLY_SUM_TERM == TALLY_TERM_VALUE && x.is_negative ? -part : part, 0,
                   TALLY_WINDOW_VALUE_LEVELS);
#endif
#ifdef TALLY_PRODUCTS
    const TALLY_N(taken) y = TALLY_KERNEL_INPUTS == 2 ? TALLY_N(take)(ty) : x;
    const double my = (double)y.significand, product = mx * my;
    const int32_t exponent = x.offset + y.offset + 2 * TALLY_ORIGIN,
                  top = c->top_products - w * TALLY_N(product_binades);
    double *const at = a->at + TALLY_N(has_sum) * TALLY_WINDOW_VALUE_LEVELS,
                  sign = x.is_negative != y.is_negative ? -1 : 1;
    tally_put_term(at, sign * TALLY_N(in_window)(product, exponent, top, TALLY_N(product_binades)), 0,
                   TALLY_WINDOW_PRODUCT_LEVELS);
#if TALLY_IS_F64
    tally_put_term(at,
                   sign * TALLY_N(in_window)(__builtin_fma(mx, my, -product), exponent, top, TALLY_N(product_binades)),
                   0, TALLY_WINDOW_PRODUCT_LEVELS);
#endif
#endif
}

/* The lane's strip: what lies before each end goes to words `first_word` and on; what lies behind the last is given.
 * With in_window, a constant, the part in window number w. */
TALLY_FN TALLY_N(level_counts) TALLY_N(add_strip)(TALLY_N(flat) *flat, const TALLY_N(chunk) *c,
                                                  const TALLY_N(ruler) *ruler, const int32_t in_window, int32_t w) {
    const int32_t count = in_window ? TALLY_N(window_words) : TALLY_N(level_words);
    const TALLY_N(levels) none = TALLY_N(begin_strip)(ruler, in_window);
    int64_t *to = flat->words + w * count * c->stride + c->first_end;
    TALLY_N(levels) a = none;
    TALLY_N(level_counts) rest;
    __builtin_memset(&rest, 0, sizeof rest);
    uint64_t marks = c->marks;
    const int32_t at = c->at, n = c->n, strip = c->strip, stride = c->stride;
    TALLY_ROLLED
    for (int32_t first = 0; first < strip;
         first +=
         TALLY_N(strip_batch)) { /* values are read before sums are stored: they may be the same memory to a compiler */
        TALLY_T x[TALLY_N(strip_batch)], y[TALLY_N(strip_batch)];
        TALLY_UNROLL
        for (int32_t k = 0; k < TALLY_N(strip_batch); k++) {
            const int32_t is_there = first + k < n;
            x[k] = y[k] = is_there ? flat->x[at + first + k] : TALLY_N(plus_zero)();
            if (TALLY_KERNEL_INPUTS == 2) y[k] = is_there ? flat->y[at + first + k] : TALLY_N(plus_zero)();
        }
        TALLY_UNROLL
        for (int32_t k = 0; k < TALLY_N(strip_batch); k++) {
            if (in_window)
                TALLY_N(add_to_window)(&a, c, w, x[k], y[k]);
            else
                TALLY_N(add_to_levels)(&a, x[k], y[k]);
            if (marks >> k & 1) {
                TALLY_UNROLL
                for (int32_t i = 0; i < count; i++)
                    to[i * stride] = tally_apart(tally_bits_f64(a.at[i]), tally_bits_f64(none.at[i]));
                to++;
                a = none;
            }
        }
        marks >>= TALLY_N(strip_batch);
    }
    TALLY_UNROLL
    for (int32_t k = 0; k < count; k++) rest.of[k] = tally_apart(tally_bits_f64(a.at[k]), tally_bits_f64(none.at[k]));
    return rest;
}

/* The segmented scan: completes the first end of each lane's strip by what lies before the strip, `before` at the
 * chunk's first value, and gives what lies behind the chunk's last end. */
TALLY_FN TALLY_N(level_counts) TALLY_N(complete)(TALLY_N(flat) *flat, const TALLY_N(chunk) *c,
                                                 TALLY_N(level_counts) rest, const TALLY_N(level_counts) *before,
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
    TALLY_N(level_counts) last;
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

TALLY_FN TALLY_N(noted) TALLY_N(noted_of_lane)(TALLY_N(noted) a, int32_t lane) {
    TALLY_N(noted) b = a;
#ifdef TALLY_KEYS
    b.low = tally_of_lane64(a.low, lane);
    b.high = tally_of_lane64(a.high, lane);
#endif
    b.seen = (int32_t)tally_shuffle((uint32_t)a.seen, lane);
    b.absent = (int32_t)tally_shuffle((uint32_t)a.absent, lane);
    return b;
}
TALLY_FN void TALLY_N(store_noted)(TALLY_N(flat) *flat, int32_t end, const TALLY_N(noted) *a) {
#ifdef TALLY_KEYS
    flat->low[end] = a->low;
    flat->high[end] = a->high;
#endif
    flat->seen[end] = a->seen;
    flat->absent[end] = a->absent;
}
TALLY_FN TALLY_N(noted) TALLY_N(noted_at)(const TALLY_N(flat) *flat, int32_t end) {
    TALLY_N(noted) a = TALLY_N(nothing_noted)();
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
TALLY_LONG TALLY_N(noted) TALLY_N(note_values)(TALLY_N(flat) *flat, const TALLY_N(chunk) *c,
                                               const TALLY_N(noted) *before) {
    TALLY_N(noted) a = TALLY_N(nothing_noted)();
    uint64_t marks = c->marks;
    int32_t end = c->first_end, has_end = marks != 0;
    for (int32_t i = c->at; i < c->at + c->n; i++) {
        TALLY_T *const x = &flat->x[i], *const y = TALLY_KERNEL_INPUTS == 2 ? &flat->y[i] : x;
        const int32_t is_special = TALLY_N(is_special)(*x) || TALLY_N(is_special)(*y);
        const int32_t is_absent = TALLY_NAN == 1 && is_special && (TALLY_N(is_nan)(*x) || TALLY_N(is_nan)(*y));
#ifdef TALLY_KEYS
        if (!is_absent) {
            const TALLY_K key = TALLY_N(key)(*x);
            a.low = key < a.low ? key : a.low;
            a.high = key > a.high ? key : a.high;
        }
#endif
        if (is_absent) {
            a.absent++;
            *x = TALLY_N(absent_value)();
            if (TALLY_KERNEL_INPUTS == 2) *y = TALLY_N(plus_zero)();
        } else if (is_special) {
            a.seen |= TALLY_N(evidence_of)(*x, *y);
            *x = *y = TALLY_N(plus_zero)();
        }
        if (marks & 1) {
            TALLY_N(store_noted)(flat, end++, &a);
            a = TALLY_N(nothing_noted)();
        }
        marks >>= 1;
    }
    TALLY_UNROLL
    for (int32_t d = 1; d < TALLY_WARP; d *= 2) {
        const int32_t from = tally_lane() < d ? tally_lane() : tally_lane() - d, takes = tally_lane() >= d;
        const int32_t other_has_end = (int32_t)tally_shuffle((uint32_t)has_end, from);
        const TALLY_N(noted) other = TALLY_N(noted_of_lane)(a, from);
        if (takes && !has_end) TALLY_N(join_noted)(&a, &other);
        has_end |= takes && other_has_end;
    }
    const int32_t previous = tally_lane() == 0 ? 0 : tally_lane() - 1,
                  previous_has_end = (int32_t)tally_shuffle((uint32_t)has_end, previous);
    TALLY_N(noted) carry = TALLY_N(noted_of_lane)(a, previous), last = TALLY_N(noted_of_lane)(a, TALLY_WARP - 1);
    if (tally_lane() == 0)
        carry = *before;
    else if (!previous_has_end)
        TALLY_N(join_noted)(&carry, before);
    if (c->marks != 0) {
        TALLY_N(noted) first = TALLY_N(noted_at)(flat, c->first_end);
        TALLY_N(join_noted)(&first, &carry);
        TALLY_N(store_noted)(flat, c->first_end, &first);
    }
    if (c->distinct == 0) TALLY_N(join_noted)(&last, before);
    tally_warp_barrier();
    return last;
}

/* The segment that a chunk leaves open. */
typedef struct TALLY_N(open) {
    TALLY_N(level_counts) sum; /* in the ruler's levels, the same in all lanes */
    TALLY_N(noted) noted;
    int64_t n;       /* values so far */
    int32_t in_node; /* the node has some of them */
} TALLY_N(open);
