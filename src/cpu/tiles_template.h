/* The vector loops of tiles.h for one instruction set, which CMake's unit defines (cmake/tiles.c.in):
 * TALLY_ISA_<LEVEL>, and TALLY_TILES, the name of the table that this gives. */
#ifndef TALLY_TILES
#error "TALLY_TILES is the name of the table: see cmake/tiles.c.in"
#endif
#include "cpu/batch_template.h"
#include "cpu/bins_template.h"
#include "cpu/columns_template.h"
#include "cpu/expansions_template.h"
#include "cpu/index_template.h"
#include "cpu/levels.h"
#include "cpu/measure.h"
#include "cpu/plain_columns_template.h"
#include "cpu/plain_equal_template.h"
#include "cpu/plain_halves_template.h"
#include "cpu/plain_template.h"
#include "cpu/results_template.h"
#include "cpu/specials_template.h"

/* A tile's vectors go to the chains in turn, what is left over to the first and the last. `two`: y is another array. */
TALLY_INLINE TALLY_TARGET void sum_tile(const int is_f64, const int kind, const int levels, const void *x,
                                        const void *y, const int two, int64_t n, const double *anchor,
                                        tally__units *counts) {
    wide s[TALLY_MOST_LEVELS * CHAINS];
    int64_t i = 0;
    begin_levels(s, levels, CHAINS, anchor);
    for (; i + WIDTH * CHAINS <= n; i += WIDTH * CHAINS) {
        if (two) /* first all of one, then all of the other: memory has pages too */
            2 * i < n ? fetch_ahead(is_f64, 2 * WIDTH * CHAINS, x, 2 * i)
                      : fetch_ahead(is_f64, 2 * WIDTH * CHAINS, y, 2 * i - n);
        else if (kind == TALLY_TERM_PRODUCT)
            fetch_ahead(is_f64, WIDTH * CHAINS, x, i);
#pragma GCC unroll 8
        for (int c = 0; c < CHAINS; c++) {
            wide a = load(is_f64, x, i + WIDTH * c);
            take(s + c, levels, CHAINS, is_f64, kind, a, two ? load(is_f64, y, i + WIDTH * c) : a);
        }
    }
    for (; i + WIDTH <= n; i += WIDTH) {
        wide a = load(is_f64, x, i);
        take(s, levels, CHAINS, is_f64, kind, a, two ? load(is_f64, y, i) : a);
    }
    if (i < n) {
        wide a = load_part(is_f64, x, i, n - i);
        take(s + CHAINS - 1, levels, CHAINS, is_f64, kind, a, two ? load_part(is_f64, y, i, n - i) : a);
    }
    end_levels(s, levels, CHAINS, anchor, counts);
}

#define TALLY_SUM(type, is_f64, name, kind, levels)                                                       \
    static TALLY_TARGET void sum_##type##_##name##_##levels(const void *x, const void *y, int64_t n,      \
                                                            const double *anchor, tally__units *counts) { \
        if (kind == TALLY_TERM_PRODUCT && x != y)                                                         \
            sum_tile(is_f64, kind, levels, x, y, 1, n, anchor, counts);                                   \
        else /* squares are loaded once */                                                                \
            sum_tile(is_f64, kind, levels, x, x, 0, n, anchor, counts);                                   \
    }
#define TALLY_SUMS(type, is_f64, name, kind, a, b, c, d) \
    TALLY_SUM(type, is_f64, name, kind, a)               \
    TALLY_SUM(type, is_f64, name, kind, b) TALLY_SUM(type, is_f64, name, kind, c) TALLY_SUM(type, is_f64, name, kind, d)

/* Levels by need; what needs more goes to bins. */
#define TALLY_TILE_SUMS(X)                                 \
    X(f32, 0, value, TALLY_TERM_VALUE, 1, 2, 4, 7)         \
    X(f32, 0, magnitude, TALLY_TERM_MAGNITUDE, 1, 2, 4, 7) \
    X(f32, 0, product, TALLY_TERM_PRODUCT, 2, 3, 4, 7)     \
    X(f64, 1, value, TALLY_TERM_VALUE, 2, 3, 4, 7)         \
    X(f64, 1, magnitude, TALLY_TERM_MAGNITUDE, 2, 3, 4, 7) \
    X(f64, 1, product, TALLY_TERM_PRODUCT, 3, 4, 5, 7)
TALLY_TILE_SUMS(TALLY_SUMS)

/* ---- values and squares together ---- */

#ifdef TALLY_VECTOR_FMA
/* Values are read once for both. */
TALLY_INLINE TALLY_TARGET void sum_both(const int is_f64, const int chains, const void *x, int64_t n,
                                        const double *anchor, tally__units *counts) {
    const int values = is_f64 ? 2 : 1, levels = is_f64 ? 5 : 3;
    wide s[5 * CHAINS], *const products = s + values * chains;
    int64_t i = 0;
    begin_levels(s, levels, chains, anchor);
#define TALLY_TAKE_BOTH(c, a)                                      \
    take(s + (c), values, chains, is_f64, TALLY_TERM_VALUE, a, a); \
    take(products + (c), levels - values, chains, is_f64, TALLY_TERM_PRODUCT, a, a)
    for (; i + WIDTH * chains <= n; i += WIDTH * chains) {
        fetch_ahead(is_f64, WIDTH * chains, x, i);
#pragma GCC unroll 8
        for (int c = 0; c < chains; c++) {
            wide a = load(is_f64, x, i + WIDTH * c);
            TALLY_TAKE_BOTH(c, a);
        }
    }
    for (; i + WIDTH <= n; i += WIDTH) {
        wide a = load(is_f64, x, i);
        TALLY_TAKE_BOTH(0, a);
    }
    if (i < n) {
        wide a = load_part(is_f64, x, i, n - i);
        TALLY_TAKE_BOTH(chains - 1, a);
    }
    end_levels(s, levels, chains, anchor, counts);
}
static TALLY_TARGET void both_f32(const void *x, const void *y, int64_t n, const double *anchor, tally__units *counts) {
    (void)y;
    sum_both(0, CHAINS, x, n, anchor, counts);
}
static TALLY_TARGET void both_f64(const void *x, const void *y, int64_t n, const double *anchor, tally__units *counts) {
    (void)y;
    sum_both(1, 2, x, n, anchor, counts);
}
#endif

/* ---- blocks of rows ---- */

/* A line of each of some rows in turn: of 4 KB that follow others far away a processor's prefetchers see too little. */
TALLY_INLINE TALLY_TARGET void copy_side_by_side(const char *x, int64_t apart, const int rows, int64_t bytes, char *to,
                                                 int64_t to_apart) {
    enum { LINE = 64 };
    int64_t i = 0;
    for (; i + LINE <= bytes; i += LINE)
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
            for (int k = 0; k < LINE; k += (int)sizeof(wide))
                *(wide_anywhere *)(to + r * to_apart + i + k) = *(const wide_anywhere *)(x + r * apart + i + k);
    for (int r = 0; r < rows && i < bytes; r++) memcpy(to + r * to_apart + i, x + r * apart + i, (size_t)(bytes - i));
}
static TALLY_TARGET void copy_block(const char *x, int64_t apart, int64_t rows, int64_t bytes, char *to,
                                    int64_t to_apart) {
    enum { COPIED = 4 };
    int64_t r = 0;
    for (; r + COPIED <= rows; r += COPIED)
        copy_side_by_side(x + r * apart, apart, COPIED, bytes, to + r * to_apart, to_apart);
    for (; r < rows; r++) copy_side_by_side(x + r * apart, apart, 1, bytes, to + r * to_apart, to_apart);
}

/* ---- half precision ---- */

/* Values are summed from the copy: meanwhile memory goes on with what comes two KB later. */
enum { TALLY_WIDEN_AHEAD = 1024 };
static TALLY_TARGET void widen_f16(const void *at, int64_t n, float *to) {
    const half_word *x = at;
    int64_t i = 0;
#if defined(TALLY_ISA_AVX512)
    for (; i + 16 <= n; i += 16) {
        __builtin_prefetch(x + i + TALLY_WIDEN_AHEAD);
        _mm512_storeu_ps(to + i, _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(x + i))));
    }
#endif
#if TALLY_HAS_F16C
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(x + i))));
#endif
    for (; i < n; i++) to[i] = tally_f16_to_f32(x[i]);
}
static TALLY_TARGET void widen_bf16(const void *at, int64_t n, float *to) {
    const half_word *x = at;
    int64_t i = 0;
#if defined(TALLY_ISA_AVX512)
    for (; i + 16 <= n; i += 16) {
        __builtin_prefetch(x + i + TALLY_WIDEN_AHEAD);
        const __m512i halves = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)(x + i)));
        _mm512_storeu_si512(to + i, _mm512_slli_epi32(halves, 16));
    }
#endif
    for (; i < n; i++) to[i] = tally_bf16_to_f32(x[i]);
}

/* ---- the table ---- */

#define TALLY_ENTRY(type, is_f64, name, kind, a, b, c, d)                                                  \
    .sum[is_f64][kind] = {sum_##type##_##name##_##a, sum_##type##_##name##_##b, sum_##type##_##name##_##c, \
                          sum_##type##_##name##_##d},                                                      \
    .level_counts[is_f64][kind] = {a, b, c, d},
#define TALLY_BATCH_ENTRY(type, is_f64, name, kind, levels) \
    .batch_sum[is_f64][kind][levels] = batch_##type##_##name##_##levels,
#define TALLY_EXPANSION_ENTRY(type, is_f64, name, kind, products)                                       \
    .batch_expand[is_f64][(products) ? (kind) == NO_TERM ? TALLY_TERM_PRODUCT : TALLY_TERMS : (kind)] = \
        expand_##type##_##name,
#define TALLY_COLUMN_ENTRY(type, is_f64, name, kind, levels) \
    .column_sum[is_f64][kind][levels] = columns_##type##_##name##_##levels,
#define TALLY_PLAIN_ENTRY(type, is_f64, name, kind) .plain[is_f64][kind] = plain_##type##_##name,
#define TALLY_PLAIN_COLUMNS_ENTRY(type, from, name, kind, products)                                          \
    .plain_columns[from][(products) ? (kind) == NO_PLAIN_TERM ? TALLY_TERM_PRODUCT : TALLY_TERMS : (kind)] = \
        plain_columns_##type##_##name,
#define TALLY_HALVES_ENTRY(type, from, name, kind) .plain_halves[from][kind] = plain_halves_##type##_##name,
extern const tally__tiles TALLY_TILES;
const tally__tiles TALLY_TILES = {
    .measure = {measure_f32, measure_f64},
    .range = {range_f32, range_f64},
    .ranges = {ranges_f32, ranges_f64},
    .put_stats = {put_stats_f32, put_stats_f64},
    .scatter = {scatter_f32, scatter_f64},
    .take_out = {take_out_f32, take_out_f64},
    .copy_finite = {copy_finite_f32, copy_finite_f64},
    .find_special = {find_special_f32, find_special_f64},
    .others = {others_f32, others_f64},
    .enlarge = enlarge,
    .shrink = shrink,
    .plain_squares = plain_f32_square,
    .copy_block = copy_block,
    .widen_f16 = widen_f16,
    .widen_bf16 = widen_bf16,
    TALLY_TILE_SUMS(TALLY_ENTRY) TALLY_BATCHES(TALLY_BATCH_ENTRY) TALLY_EXPANSIONS(TALLY_EXPANSION_ENTRY)
        TALLY_COLUMN_SUMS(TALLY_COLUMN_ENTRY)
            .column_range = {column_range_f32, column_range_f64},
#ifdef TALLY_VECTOR_FMA
    .both = {both_f32, both_f64},
#endif
#ifdef TALLY_PLAIN_HALVES
    TALLY_ALL_HALVES(TALLY_HALVES_ENTRY)
#endif
#ifdef TALLY_PLAIN_PRODUCTS
        .plain_both = {plain_both_f32, plain_both_f64},
    .plain_equal = {plain_equal_f32, plain_equal_f64},
#endif
    .begin_batch = begin_batch,
    .results = finalize,
    TALLY_PLAIN_SUMS(TALLY_PLAIN_ENTRY) TALLY_ALL_PLAIN_COLUMNS(TALLY_PLAIN_COLUMNS_ENTRY).join_columns = join_columns,
    .round_sums = round_sums,
    .read_offsets = {read_offsets_i32, read_offsets_i64},
    .count_filled = count_filled,
    .list_filled = list_filled,
    .spread = {spread_4, spread_8, spread_stats},
    .sum_lengths = {sum_lengths_i32, sum_lengths_i64},
    .add_lengths = {add_lengths_i32, add_lengths_i64},
    .heads = {heads_i32, heads_i64},
};
