/* Short segments as plain sums in f64: f32 in one sum, f64, of which one f64 holds no sum, in two, of the upper halves
 * of their digits and of the lower ones, and products in two or three. Nothing is known of the values here: whoever
 * calls asks the machine whether it has rounded any operation, and if not, all sums are exact (docs/exact.md).
 *
 * What all values before a place add up to is made for every place where a short segment ends, and the segment is the
 * difference of two of these. So it has no loop of its own, and no branch that lengths could mislead. Segments that are
 * long on average have such loops. */
#ifndef TALLY_CPU_PLAIN_TEMPLATE_H
#define TALLY_CPU_PLAIN_TEMPLATE_H

#include "cpu/batch_template.h"
#include "cpu/measure.h"

/* Rows of lanes are kept for this many f32, half as many f64. They are few, so that they stay in the first-level cache
 * and memory is read on while segments are looked up (2048: 10 to 50 values from memory 8.1 -> 11 ns). One block is
 * asked for ahead (two: segments of 300 f64 lose a tenth). */
enum { PLAIN_BLOCK = 1024 };
#define TALLY_PLAIN_AHEAD(is_f64) (PLAIN_BLOCK >> (is_f64))
typedef row plain_rows[PLAIN_BLOCK / ROW + 2];

/* A term that one sum holds; squares have to be of few digits, as those of bf16 are. */
enum { PLAIN_SQUARE = TALLY_TERMS, NO_TERMS = -1 };
TALLY_INLINE TALLY_TARGET wide plain_term(const int kind, wide a) {
    return kind == TALLY_TERM_MAGNITUDE ? magnitude_of(a) : kind == PLAIN_SQUARE ? a * a : a;
}

/* Upper digits: all but this many. */
enum { LOWER_DIGITS = 27 };
TALLY_INLINE TALLY_TARGET wide upper_half(wide a) { return (wide)((units)a & -((int64_t)1 << LOWER_DIGITS)); }

/* s + a by the multipliers: the adders convert (see less), and split. */
TALLY_INLINE TALLY_TARGET wide more(wide s, wide a) {
#ifdef TALLY_VECTOR_FMA
    return TALLY_VECTOR_FMA(a, (wide){0} + 1.0, s);
#else
    return s + a;
#endif
}

/* Products are cut into levels as tiles are, but nothing is measured: where a sum is cut off it is rounded unseen by
 * the flag, which takes an instruction that AVX-512 has. All that follows is exact or raises it. */
#if defined(TALLY_ISA_AVX512)
#define TALLY_PLAIN_PRODUCTS
#define TALLY_UNSEEN (_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
TALLY_INLINE TALLY_TARGET void take_product(wide *s, const int step, const int is_f64, wide a, wide b) {
    if (is_f64) {
        const wide p = (wide)_mm512_mul_round_pd((__m512d)a, (__m512d)b, TALLY_UNSEEN), e = TALLY_VECTOR_FMA(a, b, -p);
        const wide t = (wide)_mm512_add_round_pd((__m512d)s[0], (__m512d)p, TALLY_UNSEEN);
        const wide m = s[step] + less(p, less(t, s[0])),
                   u = (wide)_mm512_add_round_pd((__m512d)m, (__m512d)e, TALLY_UNSEEN);
        s[0] = t;
        s[step] = u;
        s[2 * step] += less(e, u - m);
    } else {
        const wide t = (wide)_mm512_fmadd_round_pd((__m512d)a, (__m512d)b, (__m512d)s[0], TALLY_UNSEEN);
        s[step] += TALLY_VECTOR_FMA(a, b, s[0] - t);
        s[0] = t;
    }
}
#endif

/* How many parts sums of such terms have. */
TALLY_INLINE int plain_parts(const int is_f64, const int kind) {
    return kind == NO_TERMS ? 0 : TALLY_PLAIN_PARTS(is_f64, kind);
}
/* What sums begin with: part k in registers k * step ... */
TALLY_INLINE TALLY_TARGET void begin_plainly(wide *s, const int parts, const int step, const int kind,
                                             const double *anchor) {
#pragma GCC unroll 4
    for (int k = 0; k < parts; k++)
#pragma GCC unroll 8
        for (int c = 0; c < step; c++) s[k * step + c] = kind == TALLY_TERM_PRODUCT ? (wide){0} + anchor[k] : (wide){0};
}
TALLY_INLINE TALLY_TARGET void take_plainly(wide *s, const int step, const int is_f64, const int kind, wide a, wide b) {
#ifdef TALLY_PLAIN_PRODUCTS
    if (kind == TALLY_TERM_PRODUCT) {
        take_product(s, step, is_f64, a, b);
        return;
    }
#endif
    (void)b;
#ifdef TALLY_VECTOR_FMA
    if (kind == PLAIN_SQUARE) {
        s[0] = TALLY_VECTOR_FMA(a, a, s[0]);
        return;
    }
#endif
    a = plain_term(kind, a);
    if (is_f64) {
        s[0] = more(s[0], upper_half(a));
        s[step] = more(s[step], a - upper_half(a));
    } else
        s[0] = more(s[0], a);
}

/* What the lanes s hold before each row of n values, and after the last one, twice: where that is looked up the row
 * behind it is read too. */
TALLY_INLINE TALLY_TARGET void keep_plain_row(plain_rows *rows, int64_t r, const int parts, const wide *s) {
#pragma GCC unroll 4
    for (int k = 0; k < parts; k++)
#pragma GCC unroll 4
        for (int g = 0; g < REGISTERS; g++) *(wide *)(rows[k][r] + g * WIDTH) = s[k * REGISTERS + g];
}
TALLY_INLINE TALLY_TARGET void take_two_rows(plain_rows *rows, int64_t r, wide *s, const int is_f64, const int kind,
                                             const void *x) {
    const int parts = TALLY_PLAIN_PARTS(is_f64, kind);
#pragma GCC unroll 4
    for (int g = 0; g < REGISTERS; g++) {
        wide a[2] = {plain_term(kind, load(is_f64, x, r * ROW + g * WIDTH))},
             b[2] = {plain_term(kind, load(is_f64, x, (r + 1) * ROW + g * WIDTH))};
        if (is_f64) {
            a[1] = a[0] - upper_half(a[0]), a[0] = upper_half(a[0]);
            b[1] = b[0] - upper_half(b[0]), b[0] = upper_half(b[0]);
        }
#pragma GCC unroll 2
        for (int k = 0; k < parts; k++) {
            *(wide *)(rows[k][r + 1] + g * WIDTH) = s[k * REGISTERS + g] + a[k];
            s[k * REGISTERS + g] += a[k] + b[k];
        }
    }
}
TALLY_INLINE TALLY_TARGET void take_plain_rows(plain_rows *rows, wide *s, const int is_f64, const int kind,
                                               const void *x, const void *y, const int two, int64_t n) {
    const int parts = TALLY_PLAIN_PARTS(is_f64, kind);
    int64_t r = 0;
    for (; kind != TALLY_TERM_PRODUCT && (r + 2) * ROW <= n;
         r += 2) { /* two rows at once: no addition waits for another */
        keep_plain_row(rows, r, parts, s);
        ask_for(is_f64, 2 * ROW, x, r * ROW + TALLY_PLAIN_AHEAD(is_f64));
        take_two_rows(rows, r, s, is_f64, kind, x);
    }
    for (; r * ROW < n; r++) {
        const int whole = (r + 1) * ROW <= n;
        keep_plain_row(rows, r, parts, s);
        if (kind == TALLY_TERM_PRODUCT) ask_for(is_f64, ROW, x, r * ROW + TALLY_PLAIN_AHEAD(is_f64));
        if (kind == TALLY_TERM_PRODUCT && two) ask_for(is_f64, ROW, y, r * ROW + TALLY_PLAIN_AHEAD(is_f64));
#pragma GCC unroll 4
        for (int g = 0; g < REGISTERS; g++) {
            int64_t i = r * ROW + g * WIDTH, there = n - i < WIDTH ? n - i : WIDTH;
            wide a = whole ? load(is_f64, x, i) : load_part(is_f64, x, i, there);
            take_plainly(s + g, REGISTERS, is_f64, kind, a,
                         !two    ? a
                         : whole ? load(is_f64, y, i)
                                 : load_part(is_f64, y, i, there));
        }
    }
    keep_plain_row(rows, r, parts, s);
    keep_plain_row(rows, r + 1, parts, s);
}

/* What all values before each of eight places add up to; places at `most` or behind it count as that. Lanes begin at
 * the anchor. */
#if defined(TALLY_ISA_AVX512)
TALLY_INLINE TALLY_TARGET __m512d plain_lanes(const row *rows, int64_t i, const double anchor) {
    const row *at = rows + i / ROW;
    const __m512d lanes =
        _mm512_mask_mov_pd(_mm512_load_pd(at[0]), (__mmask8)_bzhi_u32(0xff, (uint32_t)i % ROW), _mm512_load_pd(at[1]));
    return anchor != 0 ? (__m512d)less((wide)lanes, (wide){0} + anchor) : lanes;
}
TALLY_INLINE TALLY_TARGET void look_up(double *before, const row *rows, const int64_t *places, int64_t first,
                                       int64_t most, const double anchor) {
    __m512d lanes[8];
#pragma GCC unroll 8
    for (int k = 0; k < 8; k++) lanes[k] = plain_lanes(rows, (places[k] < most ? places[k] : most) - first, anchor);
    _mm512_storeu_pd(before, fold_eight(lanes));
}
#else
TALLY_INLINE TALLY_TARGET void look_up(double *before, const row *rows, const int64_t *places, int64_t first,
                                       int64_t most, const double anchor) {
    (void)anchor; /* 0, as there are no products */
    for (int k = 0; k < 8; k++) {
        int64_t i = places[k] < most ? places[k] : most;
        _Alignas(64) double s[ROW];
        wide lanes[REGISTERS];
        lanes_before(lanes, rows, i - first);
#pragma GCC unroll 4
        for (int g = 0; g < REGISTERS; g++) *(wide *)(s + g * WIDTH) = lanes[g];
        before[k] = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
    }
}
#endif
TALLY_INLINE TALLY_TARGET void plain_by_rows(const int is_f64, const int kind, const void *x, const void *y,
                                             const int two, const int64_t *offsets, int count, const double *anchor,
                                             tally__plain_sums sums) {
    const int parts = TALLY_PLAIN_PARTS(is_f64, kind);
    const int64_t *const ends = offsets + 1, block = is_f64 ? PLAIN_BLOCK / 2 : PLAIN_BLOCK;
    _Alignas(64) plain_rows rows[TALLY_PARTS];
    _Alignas(64) double before[TALLY_PARTS][8 + TALLY_PLAIN_MOST + 8]; /* the first place is 7 */
    wide s[TALLY_PARTS * REGISTERS];
    int done = 0;
#define TALLY_ANCHOR (kind == TALLY_TERM_PRODUCT && k < 2 ? anchor[k] : 0)
    begin_plainly(s, parts, REGISTERS, kind, anchor);
    for (int k = 0; k < parts; k++) before[k][7] = 0;
    for (int64_t at = offsets[0]; done < count; at += block) {
        const int64_t end = offsets[count] - at < block ? offsets[count] : at + block,
                      from = (at - offsets[0]) * (is_f64 ? 8 : 4);
        take_plain_rows(rows, s, is_f64, kind, (const char *)x + from, (const char *)y + from, two, end - at);
        for (; done + 8 <= count && ends[done + 7] <= end; done += 8)
#pragma GCC unroll 4
            for (int k = 0; k < parts; k++)
                look_up(before[k] + 8 + done, rows[k], ends + done, at, INT64_MAX, TALLY_ANCHOR);
        if (done < count && ends[done] <= end) {
            int64_t last[8];
            for (int k = 0; k < 8; k++) last[k] = ends[done + k < count ? done + k : count - 1];
            for (int k = 0; k < parts; k++) look_up(before[k] + 8 + done, rows[k], last, at, end, TALLY_ANCHOR);
            while (done < count && ends[done] <= end) done++;
        }
    }
    for (int k = 0; k < parts; k++)
        for (int j = 0; j < count; j++) sums[k][j] = before[k][8 + j] - before[k][7 + j];
#undef TALLY_ANCHOR
}

/* What lanes add up to: in a tree, as additions that wait for one another are slow. */
TALLY_INLINE TALLY_TARGET double sum_of_lanes(wide s) {
    double sums[WIDTH];
#pragma GCC unroll 8
    for (int j = 0; j < WIDTH; j++) sums[j] = s[j];
#pragma GCC unroll 4
    for (int some = WIDTH / 2; some > 0; some /= 2)
#pragma GCC unroll 8
        for (int j = 0; j < some; j++) sums[j] += sums[j + some];
    return sums[0];
}
/* What the lanes of one segment add up to. */
TALLY_INLINE TALLY_TARGET void end_total(wide *s, const int parts, const int chains, const int kind,
                                         const double *anchor, int segment, tally__plain_sums sums) {
#pragma GCC unroll 4
    for (int k = 0; k < parts; k++) {
        wide *const of = s + k * chains;
#pragma GCC unroll 8
        for (int c = 0; c < chains && kind == TALLY_TERM_PRODUCT; c++) of[c] -= anchor[k];
#pragma GCC unroll 8
        for (int c = 1; c < chains; c++) of[0] += of[c];
        sums[k][segment] = sum_of_lanes(of[0]);
    }
}
/* One segment. */
TALLY_INLINE TALLY_TARGET void plain_total(const int is_f64, const int kind, const void *x, const void *y,
                                           const int two, int64_t n, const double *anchor, int segment,
                                           tally__plain_sums sums) {
    const int parts = TALLY_PLAIN_PARTS(is_f64, kind);
    wide s[TALLY_PARTS * CHAINS];
    int64_t i = 0;
    begin_plainly(s, parts, CHAINS, kind, anchor);
    for (; i + WIDTH * CHAINS <= n; i += WIDTH * CHAINS)
#pragma GCC unroll 8
        for (int c = 0; c < CHAINS; c++) {
            wide a = load(is_f64, x, i + WIDTH * c);
            take_plainly(s + c, CHAINS, is_f64, kind, a, two ? load(is_f64, y, i + WIDTH * c) : a);
        }
    for (; i + WIDTH <= n; i += WIDTH) {
        wide a = load(is_f64, x, i);
        take_plainly(s, CHAINS, is_f64, kind, a, two ? load(is_f64, y, i) : a);
    }
    if (i < n) {
        wide a = load_part(is_f64, x, i, n - i);
        take_plainly(s + CHAINS - 1, CHAINS, is_f64, kind, a, two ? load_part(is_f64, y, i, n - i) : a);
    }
    end_total(s, parts, CHAINS, kind, anchor, segment, sums);
}
#ifdef TALLY_PLAIN_PRODUCTS
/* Values and squares of one segment, read once. */
TALLY_INLINE TALLY_TARGET void total_of_both(const int is_f64, const int chains, const void *x, int64_t n,
                                             const double *anchor, tally__plain_sums sums, tally__plain_sums products) {
    const int of_values = TALLY_PLAIN_PARTS(is_f64, TALLY_TERM_VALUE),
              of_squares = TALLY_PLAIN_PARTS(is_f64, TALLY_TERM_PRODUCT);
    wide s[TALLY_PARTS * CHAINS], squares[TALLY_PARTS * CHAINS];
    begin_plainly(s, of_values, chains, TALLY_TERM_VALUE, anchor);
    begin_plainly(squares, of_squares, chains, TALLY_TERM_PRODUCT, anchor);
    for (int64_t i = 0; i < n; i += WIDTH * chains)
#pragma GCC unroll 8
        for (int c = 0; c < chains; c++) {
            const int64_t at = i + WIDTH * c, there = n - at < WIDTH ? n - at : WIDTH;
            wide a = there == WIDTH ? load(is_f64, x, at) : there > 0 ? load_part(is_f64, x, at, there) : (wide){0};
            take_plainly(s + c, chains, is_f64, TALLY_TERM_VALUE, a, a);
            take_plainly(squares + c, chains, is_f64, TALLY_TERM_PRODUCT, a, a);
        }
    end_total(s, of_values, chains, TALLY_TERM_VALUE, anchor, 0, sums);
    end_total(squares, of_squares, chains, TALLY_TERM_PRODUCT, anchor, 0, products);
}
#endif

/* Segments that all have the same few values: a lane for each. */
TALLY_INLINE double upper_digits(double a) {
    return tally_from_bits_f64(tally_bits_f64(a) & -((int64_t)1 << LOWER_DIGITS));
}
#define TALLY_PLAIN_ACROSS(type)                                             \
    for (int s = first; s < last; s++) {                                     \
        const type##_anywhere *at = (const type##_anywhere *)x + s * length; \
        double upper = 0, lower = 0;                                         \
        _Pragma("GCC unroll 4") for (int k = 0; k < length; k++) {           \
            double v = (double)at[k];                                        \
            if (kind == PLAIN_SQUARE) v *= v;                                \
            double a = kind == TALLY_TERM_MAGNITUDE ? __builtin_fabs(v) : v; \
            double h = is_f64 ? upper_digits(a) : a;                         \
            upper = k == 0 ? h : upper + h;                                  \
            if (is_f64) lower = k == 0 ? a - h : lower + (a - h);            \
        }                                                                    \
        sums[0][s] = upper;                                                  \
        if (is_f64) sums[1][s] = lower;                                      \
    }
TALLY_INLINE TALLY_TARGET void plain_across(const int is_f64, const int kind, const void *x, const int length,
                                            int count, tally__plain_sums sums) {
    for (int first = 0; first < count; first += 64) {
        const int last = count - first < 64 ? count : first + 64;
        ask_for(is_f64, 64 * length, x, (first + count) * length);
        if (is_f64)
            TALLY_PLAIN_ACROSS(double)
        else
            TALLY_PLAIN_ACROSS(float)
    }
}
#undef TALLY_PLAIN_ACROSS
#ifdef TALLY_PLAIN_PRODUCTS
/* Stores what lanes hold for the segments from `first` on. */
TALLY_INLINE TALLY_TARGET void put_across(const wide *s, const int parts, const int kind, const double *anchor,
                                          int first, tally__plain_sums sums) {
    enum { GROUPS = ACROSS / WIDTH };
#pragma GCC unroll 4
    for (int k = 0; k < parts; k++)
#pragma GCC unroll 8
        for (int g = 0; g < GROUPS; g++)
            *(wide_anywhere *)(sums[k] + first + g * WIDTH) =
                kind == TALLY_TERM_PRODUCT ? s[k * GROUPS + g] - anchor[k] : s[k * GROUPS + g];
}
/* A lane for each of some segments with the same 1 to 4 values. `sums` are of terms of x, or of x and y if `two`.
 * Unless `other` is NO_TERMS, `others` are sums of terms of that kind, of x alone and from the same reading. */
TALLY_INLINE TALLY_TARGET void sums_across(const int is_f64, const int kind, const int other, const void *x,
                                           const void *y, const int two, const int length, int count,
                                           const double *anchor, tally__plain_sums sums, tally__plain_sums others) {
    enum { GROUPS = ACROSS / WIDTH };
    const int parts = TALLY_PLAIN_PARTS(is_f64, kind), other_parts = plain_parts(is_f64, other);
    const int64_t bytes = (is_f64 ? 8 : 4) * length;
    _Alignas(64) double transposed[2][4][ACROSS];
    for (int first = 0; first < count; first += ACROSS) {
        wide s[TALLY_PARTS * GROUPS], o[TALLY_PARTS * GROUPS];
        transpose_equal(is_f64, transposed[0], (const char *)x + first * bytes, length);
        if (two) transpose_equal(is_f64, transposed[1], (const char *)y + first * bytes, length);
        if (other != NO_TERMS) ask_for(is_f64, ACROSS * length, x, first * length + TALLY_PLAIN_AHEAD(is_f64));
        begin_plainly(s, parts, GROUPS, kind, anchor);
        begin_plainly(o, other_parts, GROUPS, other, anchor);
#pragma GCC unroll 4
        for (int k = 0; k < length; k++)
#pragma GCC unroll 8
            for (int g = 0; g < GROUPS; g++) {
                const wide a = *(const wide *)&transposed[0][k][g * WIDTH];
                take_plainly(s + g, GROUPS, is_f64, kind, a, *(const wide *)&transposed[two][k][g * WIDTH]);
                if (other != NO_TERMS) take_plainly(o + g, GROUPS, is_f64, other, a, a);
            }
        put_across(s, parts, kind, anchor, first, sums);
        put_across(o, other_parts, other, anchor, first, others);
    }
}
#endif
#if defined(TALLY_ISA_AVX512)
#define TALLY_PLAIN_ALIKE
/* Keeps what the lanes of segment k hold, without the anchors. */
TALLY_INLINE TALLY_TARGET void end_row(wide lanes[TALLY_PARTS][8], const int k, const wide *s, const int parts,
                                       const int kind, const double *anchor) {
#pragma GCC unroll 4
    for (int p = 0; p < parts; p++)
        lanes[p][k] = kind == TALLY_TERM_PRODUCT && p < 2 ? less(s[p], (wide){0} + anchor[p]) : s[p];
}
/* Eight segments or more that all have the same number of values, more than a lane takes: row by row, and the lanes of
 * eight are folded together. The last eight may take segments again. `other` and `others` as in sums_across. */
TALLY_INLINE TALLY_TARGET void plain_alike(const int is_f64, const int kind, const int other, const void *x,
                                           const void *y, const int two, const int64_t length, int count,
                                           const double *anchor, tally__plain_sums sums, tally__plain_sums others) {
    const int parts = TALLY_PLAIN_PARTS(is_f64, kind), other_parts = plain_parts(is_f64, other),
              rest = (int)(length % ROW);
    for (int first = 0; first < count; first += 8) {
        const int from = first + 8 <= count ? first : count - 8;
        wide lanes[TALLY_PARTS][8], other_lanes[TALLY_PARTS][8];
        ask_for(is_f64, 8 * (int)length, x, (from + 8) * length + TALLY_PLAIN_AHEAD(is_f64));
#pragma GCC unroll 8
        for (int k = 0; k < 8; k++) {
            const int64_t begin = (from + k) * length, end = begin + length;
            int64_t i = begin;
            wide s[TALLY_PARTS], o[TALLY_PARTS];
            begin_plainly(s, parts, 1, kind, anchor);
            begin_plainly(o, other_parts, 1, other, anchor);
            for (; i + ROW <= end; i += ROW) {
                const wide a = load(is_f64, x, i);
                take_plainly(s, 1, is_f64, kind, a, two ? load(is_f64, y, i) : a);
                if (other != NO_TERMS) take_plainly(o, 1, is_f64, other, a, a);
            }
            if (rest > 0) {
                const wide a = load_part(is_f64, x, i, rest);
                take_plainly(s, 1, is_f64, kind, a, two ? load_part(is_f64, y, i, rest) : a);
                if (other != NO_TERMS) take_plainly(o, 1, is_f64, other, a, a);
            }
            end_row(lanes, k, s, parts, kind, anchor);
            end_row(other_lanes, k, o, other_parts, other, anchor);
        }
#pragma GCC unroll 4
        for (int p = 0; p < parts; p++) _mm512_storeu_pd(sums[p] + from, fold_eight((const __m512d *)lanes[p]));
#pragma GCC unroll 4
        for (int p = 0; p < other_parts; p++)
            _mm512_storeu_pd(others[p] + from, fold_eight((const __m512d *)other_lanes[p]));
    }
}
#endif
/* What all of them have, 1 to 256; or 0. */
TALLY_INLINE TALLY_TARGET int equal_length(const int64_t *offsets, int count) {
    const int64_t length = offsets[1] - offsets[0];
    int64_t differ = 0;
    if (length < 1 || length > 256 || offsets[count] - offsets[0] != count * length) return 0;
    for (int s = 0; s < count; s++) differ |= (offsets[s + 1] - offsets[s]) ^ length;
    return differ ? 0 : (int)length;
}

/* A lane for each of some segments of equal lengths. False: there is no such loop. */
TALLY_INLINE TALLY_TARGET bool across(const int is_f64, const int kind, const void *x, const void *y, const int two,
                                      const int length, int count, const double *anchor, tally__plain_sums sums) {
#ifdef TALLY_PLAIN_PRODUCTS
    if (kind == TALLY_TERM_PRODUCT) {
        if (count % ACROSS == 0) sums_across(is_f64, kind, NO_TERMS, x, y, two, length, count, anchor, sums, NULL);
        return count % ACROSS == 0;
    }
#endif
    (void)y, (void)two, (void)anchor;
    plain_across(is_f64, kind, x, length, count, sums);
    return true;
}
/* So many values on average, and a branch that is mispredicted at the end of each segment costs less than rows. */
enum { LONG_ON_AVERAGE = 110 };
TALLY_INLINE TALLY_TARGET bool plain_segments(const int is_f64, const int kind, const void *x, const void *y,
                                              const int two, const int64_t *offsets, int count, const double *anchor,
                                              tally__plain_sums sums) {
    bool done = false;
    const int64_t n = offsets[count] - offsets[0];
    if (count == 1 || n >= count * (int64_t)LONG_ON_AVERAGE) {
        for (int s = 0; s < count; s++) {
            const int64_t from = (offsets[s] - offsets[0]) * (is_f64 ? 8 : 4);
            plain_total(is_f64, kind, (const char *)x + from, (const char *)y + from, two, offsets[s + 1] - offsets[s],
                        anchor, s, sums);
        }
        return true;
    }
    const int length = equal_length(offsets, count);
    switch (length) {
    case 0: break;
    case 1: done = across(is_f64, kind, x, y, two, 1, count, anchor, sums); break;
    case 2: done = across(is_f64, kind, x, y, two, 2, count, anchor, sums); break;
    case 3: done = across(is_f64, kind, x, y, two, 3, count, anchor, sums); break;
    case 4: done = across(is_f64, kind, x, y, two, 4, count, anchor, sums); break;
    default:
#ifdef TALLY_PLAIN_ALIKE
        done = count >= 8;
        if (done) plain_alike(is_f64, kind, NO_TERMS, x, y, two, length, count, anchor, sums, NULL);
#endif
        break;
    }
    if (!done) plain_by_rows(is_f64, kind, x, y, two, offsets, count, anchor, sums);
    return done;
}
/* Whether all sums are finite, and so are those of their parts. If sums of squares are, so are the values. */
TALLY_INLINE TALLY_TARGET bool are_finite(tally__plain_sums sums, int count) {
    const int64_t large = (int64_t)(0x7ff - 20)
                          << 52; /* as bits; infinities and NaNs are above, and sums of parts that may overflow */
    int64_t special = 0;
    for (int s = 0; s < count; s++) special |= (tally_bits_f64(sums[0][s]) & INT64_MAX) >= large;
    return !special;
}
TALLY_INLINE TALLY_TARGET tally__finite plain_sums(const int is_f64, const int kind, const void *x, const void *y,
                                                   const int64_t *offsets, int count, const double *anchor,
                                                   tally__plain_sums sums) {
    bool apart;
    if (kind == TALLY_TERM_PRODUCT && x != y)
        apart = plain_segments(is_f64, kind, x, y, 1, offsets, count, anchor, sums);
    else /* squares are loaded once */
        apart = plain_segments(is_f64, kind, x, x, 0, offsets, count, anchor, sums);
    return are_finite(sums, count) ? TALLY_FINITE : apart ? TALLY_NOT_FINITE_APART : TALLY_NOT_FINITE;
}
#define TALLY_PLAIN(type, is_f64, name, kind)                                                                          \
    static TALLY_TARGET tally__finite plain_##type##_##name(const void *x, const void *y, const int64_t *offsets,      \
                                                            int count, const double *anchor, tally__plain_sums sums) { \
        return plain_sums(is_f64, kind, x, y, offsets, count, anchor, sums);                                           \
    }
#define TALLY_PLAIN_VALUES(X)                  \
    X(f32, 0, value, TALLY_TERM_VALUE)         \
    X(f32, 0, magnitude, TALLY_TERM_MAGNITUDE) \
    X(f64, 1, value, TALLY_TERM_VALUE)         \
    X(f64, 1, magnitude, TALLY_TERM_MAGNITUDE)
#ifdef TALLY_PLAIN_PRODUCTS
#define TALLY_PLAIN_SUMS(X) \
    TALLY_PLAIN_VALUES(X) X(f32, 0, product, TALLY_TERM_PRODUCT) X(f64, 1, product, TALLY_TERM_PRODUCT)
#else
#define TALLY_PLAIN_SUMS(X) TALLY_PLAIN_VALUES(X)
#endif
TALLY_PLAIN_SUMS(TALLY_PLAIN)
TALLY_PLAIN(f32, 0, square, PLAIN_SQUARE)
#ifdef TALLY_PLAIN_PRODUCTS
static TALLY_TARGET bool plain_both_f32(const void *x, int64_t n, const double *anchor, tally__plain_sums sums,
                                        tally__plain_sums products) {
    total_of_both(0, CHAINS, x, n, anchor, sums, products);
    return products[0][0] < 0x1p1000;
}
static TALLY_TARGET bool plain_both_f64(const void *x, int64_t n, const double *anchor, tally__plain_sums sums,
                                        tally__plain_sums products) {
    total_of_both(1, CHAINS / 2, x, n, anchor, sums, products);
    return products[0][0] < 0x1p1000;
}
#endif

/* Sums as results, each rounded once. Gives whether some are 0. */
#define TALLY_ROUND_SUMS(type, sum)                   \
    for (int s = 0; s < count; s++) {                 \
        const double made = (sum);                    \
        ((type##_anywhere *)results)[s] = (type)made; \
        zeros |= made == 0;                           \
    }
/* Sums of two parts as f32: rounded to f64 first, which shows only where that is half-way between two f32, or below
 * their normal numbers. True: some may be. */
static TALLY_TARGET bool round_twice(tally__plain_sums sums, int count, float_anywhere *results, int *zeros) {
    const int64_t last = ((int64_t)1 << 29) - 1, middle = (int64_t)1 << 28, normal = (int64_t)(1023 - 126) << 52;
    int64_t doubt = 0, zero = 0;
    for (int s = 0; s < count; s++) {
        const double sum = sums[0][s] + sums[1][s];
        const int64_t bits = tally_bits_f64(sum), size = bits & INT64_MAX;
        results[s] = (float)sum;
        doubt |= ((bits & last) == middle) | ((size < normal) & (size != 0));
        zero |= size == 0;
    }
    *zeros |= zero != 0;
    return doubt != 0;
}
static TALLY_TARGET bool round_sums(tally__plain_sums sums, int parts, int count, bool is_f64, void *results) {
    int zeros = 0;
    if (is_f64 && parts == 3)
        TALLY_ROUND_SUMS(double, tally_three_sum(sums[0][s], sums[1][s], sums[2][s]).high)
    else if (parts == 3)
        TALLY_ROUND_SUMS(float, tally_to_odd(tally_three_sum(sums[0][s], sums[1][s], sums[2][s])))
    else if (is_f64 && parts == 2)
        TALLY_ROUND_SUMS(double, sums[0][s] + sums[1][s])
    else if (parts == 2) {
        if (round_twice(sums, count, results, &zeros))
            TALLY_ROUND_SUMS(float, tally_to_odd(tally_two_sum(sums[0][s], sums[1][s])))
    } else if (is_f64)
        TALLY_ROUND_SUMS(double, sums[0][s])
    else
        TALLY_ROUND_SUMS(float, sums[0][s])
    return zeros != 0;
}

#endif
