/* Short segments for exact sums: a batch of them shares one set of anchors. Its values are added up as they come, in
 * rows of eight lanes, and what the lanes hold after each row is kept. So a segment is the difference of two such
 * states, which is exact: it has no loop of its own, and no branch that lengths could mislead. */
#ifndef TALLY_CPU_BATCH_TEMPLATE_H
#define TALLY_CPU_BATCH_TEMPLATE_H

#include "cpu/levels.h"
#include "sums/parts.h"

enum { ROW = 8, REGISTERS = ROW / WIDTH, ACROSS = 16 };

static TALLY_TARGET void begin_batch(tally__batch *batch, const int64_t *offsets, int count) {
    int32_t longest = 0, shortest = INT32_MAX;
    batch->count = count;
    batch->padded = (count + 7) / 8 * 8;
    for (int s = 0; s < count; s++) {
        int32_t n = (int32_t)(offsets[s + 1] - offsets[s]);
        batch->places[s] = offsets[s] - offsets[0];
        batch->lengths[s] = n;
        longest = n > longest ? n : longest;
        shortest = n < shortest ? n : shortest;
    }
    for (int s = count; s < batch->padded; s++) batch->lengths[s] = 0;
    for (int s = count; s <= batch->padded; s++) batch->places[s] = offsets[count] - offsets[0];
    batch->lost = batch->scaled = batch->vague = batch->may_be_rough = batch->is_rough = 0;
    batch->longest = longest;
    batch->shortest = shortest;
}

/* ---- by rows ---- */

typedef double row[ROW];
typedef units units_anywhere __attribute__((aligned(1), may_alias));

/* What the lanes held before value i: those before i % ROW have taken row i / ROW too. */
TALLY_INLINE TALLY_TARGET void lanes_before(wide *lanes, const row *rows, int64_t i) {
    static const int64_t taken[2 * ROW] = {-1, -1, -1, -1, -1, -1, -1, -1};
#pragma GCC unroll 4
    for (int g = 0; g < REGISTERS; g++) {
        units mask = *(const units_anywhere *)(taken + ROW - i % ROW + g * WIDTH);
        units before = (units) * (const wide *)(rows[i / ROW] + g * WIDTH),
              after = (units) * (const wide *)(rows[i / ROW + 1] + g * WIDTH);
        lanes[g] = (wide)((after & mask) | (before & ~mask));
    }
}
/* Adds up the lanes of each of `count` segments, a multiple of 8. */
#if defined(TALLY_ISA_AVX512)
#define TALLY_FOLD(a, b) _mm512_add_pd(_mm512_shuffle_f64x2(a, b, 0x88), _mm512_shuffle_f64x2(a, b, 0xdd))
/* What the lanes of each of eight add up to. */
TALLY_INLINE TALLY_TARGET __m512d fold_eight(const __m512d *lanes) {
    __m512d s[4];
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++)
        s[k] = _mm512_add_pd(_mm512_unpacklo_pd(lanes[2 * k], lanes[2 * k + 1]),
                             _mm512_unpackhi_pd(lanes[2 * k], lanes[2 * k + 1]));
    return TALLY_FOLD(TALLY_FOLD(s[0], s[1]), TALLY_FOLD(s[2], s[3]));
}
TALLY_INLINE TALLY_TARGET void fold_lanes(double *part, const row *lanes, int count) {
    for (int first = 0; first < count; first += 8)
        _mm512_storeu_pd(part + first, fold_eight((const __m512d *)(const void *)lanes[first]));
}
#else
TALLY_INLINE TALLY_TARGET void fold_lanes(double *part, const row *lanes, int count) {
    for (int segment = 0; segment < count; segment++) {
        const double *s = lanes[segment];
        part[segment] = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
    }
}
#endif

enum { BLOCK_ROWS = 1 << TALLY_BATCH_ADDITIONS };
typedef row block_rows[BLOCK_ROWS + 2];

TALLY_INLINE TALLY_TARGET void keep_row(block_rows *rows, int64_t r, const wide *s, const int levels) {
#pragma GCC unroll 4
    for (int k = 0; k < levels; k++)
#pragma GCC unroll 4
        for (int g = 0; g < REGISTERS; g++) *(wide *)(rows[k][r] + g * WIDTH) = s[k * REGISTERS + g];
}
/* Takes n values into the lanes and keeps what they hold before, between and after their rows. */
TALLY_INLINE TALLY_TARGET void take_block(block_rows *rows, wide *s, const int is_f64, const int kind, const int levels,
                                          const void *x, const void *y, const int two, int64_t n, int64_t ahead) {
    int64_t r = 0;
    keep_row(rows, 0, s, levels);
    for (; kind != TALLY_TERM_PRODUCT && levels == 1 && (r + 2) * ROW <= n;
         r += 2) { /* two rows at once: no addition waits for another */
        ask_for(is_f64, 2 * ROW, x, ahead + r * ROW);
#pragma GCC unroll 4
        for (int g = 0; g < REGISTERS; g++) {
            wide a = load(is_f64, x, r * ROW + g * WIDTH), b = load(is_f64, x, (r + 1) * ROW + g * WIDTH);
            if (kind == TALLY_TERM_MAGNITUDE) a = magnitude_of(a), b = magnitude_of(b);
            *(wide *)(rows[0][r + 1] + g * WIDTH) = s[g] + a;
            s[g] += a + b;
        }
        keep_row(rows, r + 2, s, levels);
    }
    for (; (r + 1) * ROW <= n; r++) {
        ask_for(is_f64, ROW, x, ahead + r * ROW);
        if (two) ask_for(is_f64, ROW, y, ahead + r * ROW);
#pragma GCC unroll 4
        for (int g = 0; g < REGISTERS; g++) {
            wide a = load(is_f64, x, r * ROW + g * WIDTH);
            take(s + g, levels, REGISTERS, is_f64, kind, a, two ? load(is_f64, y, r * ROW + g * WIDTH) : a);
        }
        keep_row(rows, r + 1, s, levels);
    }
    for (int g = 0; g < REGISTERS && r * ROW + g * WIDTH < n; g++) {
        int64_t i = r * ROW + g * WIDTH, there = n - i < WIDTH ? n - i : WIDTH;
        wide a = load_part(is_f64, x, i, there);
        take(s + g, levels, REGISTERS, is_f64, kind, a, two ? load_part(is_f64, y, i, there) : a);
    }
    keep_row(rows, r + 1, s, levels);
}
TALLY_INLINE TALLY_TARGET void batch_rows(const int is_f64, const int kind, const int levels, const void *x,
                                          const void *y, const tally__batch *batch, const double *anchor,
                                          tally__parts parts) {
    const int count = batch->padded;
    const int64_t *const places = batch->places, n = places[count], bytes = is_f64 ? 8 : 4;
    _Alignas(64) block_rows rows[TALLY_PARTS];
    _Alignas(64) row lanes[TALLY_PARTS][TALLY_BATCH_MOST];
    wide s[TALLY_PARTS * REGISTERS], before[TALLY_PARTS * REGISTERS], end[REGISTERS];
    int segment = 0;
    begin_levels(before, levels, REGISTERS, anchor);
    for (int64_t at = 0; segment < count; at += BLOCK_ROWS * ROW) {
        int64_t some = n - at < BLOCK_ROWS * ROW ? n - at : BLOCK_ROWS * ROW;
        const char *from_x = (const char *)x + at * bytes, *from_y = (const char *)y + at * bytes;
        begin_levels(s, levels, REGISTERS, anchor);
        if (kind == TALLY_TERM_PRODUCT && x != y)
            take_block(rows, s, is_f64, kind, levels, from_x, from_y, 1, some, n);
        else
            take_block(rows, s, is_f64, kind, levels, from_x, from_x, 0, some, n);
        for (; segment < count && places[segment + 1] - at <= some; segment++)
#pragma GCC unroll 4
            for (int k = 0; k < levels; k++) {
                lanes_before(end, rows[k], places[segment + 1] - at);
#pragma GCC unroll 4
                for (int g = 0; g < REGISTERS; g++) {
                    *(wide *)(lanes[k][segment] + g * WIDTH) = end[g] - before[k * REGISTERS + g];
                    before[k * REGISTERS + g] = end[g];
                }
            }
            /* A segment that goes on has taken s - before; the next block begins at the anchors again. */
#pragma GCC unroll 4
        for (int k = 0; k < levels; k++)
#pragma GCC unroll 4
            for (int g = k * REGISTERS; g < (k + 1) * REGISTERS; g++) before[g] = anchor[k] - (s[g] - before[g]);
    }
#pragma GCC unroll 4
    for (int k = 0; k < levels; k++) fold_lanes(parts[k], lanes[k], count);
}

/* ---- across ---- */

/* The values of ACROSS segments that all have `apart` values, 1 to 4, transposed: value k of each in row k. */
#define TALLY_TRANSPOSE_EQUAL(value, apart)                                              \
    case apart:                                                                          \
        TALLY_FREE_LANES                                                                 \
        for (int i = 0; i < ACROSS; i++)                                                 \
            _Pragma("GCC unroll 8") for (int k = 0; k < (apart); k++) transposed[k][i] = \
                ((const value *)at)[i * (apart) + k];                                    \
        return;
TALLY_INLINE TALLY_TARGET void transpose_equal(const int is_f64, double (*transposed)[ACROSS], const void *at,
                                               int64_t apart) {
    if (is_f64) switch (apart) {
            TALLY_TRANSPOSE_EQUAL(double_anywhere, 1)
            TALLY_TRANSPOSE_EQUAL(double_anywhere, 2)
            TALLY_TRANSPOSE_EQUAL(double_anywhere, 3)
            TALLY_TRANSPOSE_EQUAL(double_anywhere, 4)
        }
    else
        switch (apart) {
            TALLY_TRANSPOSE_EQUAL(float_anywhere, 1)
            TALLY_TRANSPOSE_EQUAL(float_anywhere, 2)
            TALLY_TRANSPOSE_EQUAL(float_anywhere, 3)
            TALLY_TRANSPOSE_EQUAL(float_anywhere, 4)
        }
}
/* Segments that all have the same few values: a lane for each. */
TALLY_INLINE TALLY_TARGET void batch_across(const int is_f64, const int kind, const int levels, const void *x,
                                            const void *y, int64_t length, int count, const double *anchor,
                                            tally__parts parts) {
    enum { GROUPS = ACROSS / WIDTH };
    const int64_t bytes = (is_f64 ? 8 : 4) * length;
    _Alignas(64) double transposed[2][4][ACROSS];
    for (int first = 0; first < count; first += ACROSS) {
        wide s[TALLY_PARTS * GROUPS];
        transpose_equal(is_f64, transposed[0], (const char *)x + first * bytes, length);
        if (y != x) transpose_equal(is_f64, transposed[1], (const char *)y + first * bytes, length);
        begin_levels(s, levels, GROUPS, anchor);
        for (int k = 0; k < length; k++)
#pragma GCC unroll 8
            for (int g = 0; g < GROUPS; g++) {
                wide a = *(const wide *)&transposed[0][k][g * WIDTH],
                     b = *(const wide *)&transposed[y != x][k][g * WIDTH];
                take(s + g, levels, GROUPS, is_f64, kind, a, b);
            }
#pragma GCC unroll 4
        for (int k = 0; k < levels; k++)
#pragma GCC unroll 8
            for (int g = 0; g < GROUPS; g++) {
                wide h = s[k * GROUPS + g] - anchor[k];
                memcpy(&parts[k][first + g * WIDTH], &h, sizeof h);
            }
    }
}

#define TALLY_BATCH(type, is_f64, name, kind, levels)                                                                  \
    static TALLY_TARGET void batch_##type##_##name##_##levels(const void *x, const void *y, const tally__batch *batch, \
                                                              const double *anchor, tally__parts parts) {              \
        const int count = batch->padded;                                                                               \
        const int64_t length = batch->longest;                                                                         \
        if (length <= 4 && count % ACROSS == 0 && batch->places[count] == count * length)                              \
            batch_across(is_f64, kind, levels, x, y, length, count, anchor, parts);                                    \
        else                                                                                                           \
            batch_rows(is_f64, kind, levels, x, y, batch, anchor, parts);                                              \
    }
#define TALLY_BATCHES(X)                          \
    X(f32, 0, value, TALLY_TERM_VALUE, 1)         \
    X(f32, 0, value, TALLY_TERM_VALUE, 2)         \
    X(f32, 0, magnitude, TALLY_TERM_MAGNITUDE, 1) \
    X(f32, 0, magnitude, TALLY_TERM_MAGNITUDE, 2) \
    X(f32, 0, product, TALLY_TERM_PRODUCT, 2)     \
    X(f32, 0, product, TALLY_TERM_PRODUCT, 3)     \
    X(f64, 1, value, TALLY_TERM_VALUE, 2)         \
    X(f64, 1, value, TALLY_TERM_VALUE, 3)         \
    X(f64, 1, magnitude, TALLY_TERM_MAGNITUDE, 2) \
    X(f64, 1, magnitude, TALLY_TERM_MAGNITUDE, 3) \
    X(f64, 1, product, TALLY_TERM_PRODUCT, 3)
TALLY_BATCHES(TALLY_BATCH)

#endif
