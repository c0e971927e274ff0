/* Columns of a block of rows: each lane adds up what lies below it, by levels. */
#ifndef TALLY_CPU_COLUMNS_TEMPLATE_H
#define TALLY_CPU_COLUMNS_TEMPLATE_H

#include "cpu/levels.h"

/* Prefetches values that may be narrower in memory, in loops whose lengths are known. */
TALLY_INLINE void ask_for_row(const int is_f64, const int values, const char *at, int64_t bytes) {
    if (bytes == 2)
        tally__ask_for(at, values * 2);
    else
        ask_for(is_f64, values, at, 0);
}
TALLY_INLINE TALLY_TARGET void sum_columns(const int is_f64, const int kind, const int levels, const void *x,
                                           const void *y, const int two, int64_t rows, int64_t lanes,
                                           const tally__next_rows *next, double *held) {
    enum { MOST = CHAINS };
    const int chains = levels <= 3 ? MOST : MOST / 2; /* what registers hold */
    const int64_t apart = next->apart, bytes = next->bytes;
    wide s[TALLY_COLUMN_LEVELS * MOST];
    for (int64_t j = 0; j < lanes; j += WIDTH * chains) {
#pragma GCC unroll 8
        for (int k = 0; k < levels; k++)
#pragma GCC unroll 8
            for (int c = 0; c < chains; c++) s[k * chains + c] = *(const wide *)(held + k * lanes + j + c * WIDTH);
        for (int64_t r = 0; r < rows; r++) {
            if (bytes > 0) ask_for_row(is_f64, WIDTH * chains, next->x + r * apart + j * bytes, bytes);
            if (bytes > 0 && two) ask_for_row(is_f64, WIDTH * chains, next->y + r * apart + j * bytes, bytes);
#pragma GCC unroll 8
            for (int c = 0; c < chains; c++) {
                wide a = load(is_f64, x, r * lanes + j + c * WIDTH);
                take(s + c, levels, chains, is_f64, kind, a, two ? load(is_f64, y, r * lanes + j + c * WIDTH) : a);
            }
        }
#pragma GCC unroll 8
        for (int k = 0; k < levels; k++)
#pragma GCC unroll 8
            for (int c = 0; c < chains; c++) *(wide *)(held + k * lanes + j + c * WIDTH) = s[k * chains + c];
    }
}
#define TALLY_COLUMN(type, is_f64, name, kind, levels)                                                           \
    static TALLY_TARGET void columns_##type##_##name##_##levels(                                                 \
        const void *x, const void *y, int64_t rows, int64_t lanes, const tally__next_rows *next, double *held) { \
        if (kind == TALLY_TERM_PRODUCT && x != y)                                                                \
            sum_columns(is_f64, kind, levels, x, y, 1, rows, lanes, next, held);                                 \
        else                                                                                                     \
            sum_columns(is_f64, kind, levels, x, x, 0, rows, lanes, next, held);                                 \
    }
/* Levels by need. Products that need more go the way of runs. */
#define TALLY_COLUMN_SUMS(X)                      \
    X(f32, 0, value, TALLY_TERM_VALUE, 1)         \
    X(f32, 0, value, TALLY_TERM_VALUE, 2)         \
    X(f32, 0, value, TALLY_TERM_VALUE, 4)         \
    X(f32, 0, magnitude, TALLY_TERM_MAGNITUDE, 1) \
    X(f32, 0, magnitude, TALLY_TERM_MAGNITUDE, 2) \
    X(f32, 0, magnitude, TALLY_TERM_MAGNITUDE, 4) \
    X(f32, 0, product, TALLY_TERM_PRODUCT, 2)     \
    X(f32, 0, product, TALLY_TERM_PRODUCT, 3)     \
    X(f64, 1, value, TALLY_TERM_VALUE, 2)         \
    X(f64, 1, value, TALLY_TERM_VALUE, 3)         \
    X(f64, 1, value, TALLY_TERM_VALUE, 5)         \
    X(f64, 1, magnitude, TALLY_TERM_MAGNITUDE, 2) \
    X(f64, 1, magnitude, TALLY_TERM_MAGNITUDE, 3) \
    X(f64, 1, magnitude, TALLY_TERM_MAGNITUDE, 5) \
    X(f64, 1, product, TALLY_TERM_PRODUCT, 3)     \
    X(f64, 1, product, TALLY_TERM_PRODUCT, 4)
TALLY_COLUMN_SUMS(TALLY_COLUMN)

/* The keys of the least and the greatest of each lane so far (types/types.h). */
#define TALLY_COLUMN_RANGE(type, word, vector, most)                                                        \
    static TALLY_TARGET void column_range_##type(const void *x, int64_t rows, int64_t lanes, int64_t *lows, \
                                                 int64_t *highs) {                                          \
        enum { EACH = sizeof(vector) / sizeof(word) };                                                      \
        for (int64_t j = 0; j < lanes; j += EACH) {                                                         \
            vector low = (vector){0} + (most), high = ~low;                                                 \
            for (int64_t r = 0; r < rows; r++) {                                                            \
                vector key, less, greater;                                                                  \
                memcpy(&key, (const word *)x + r * lanes + j, sizeof key);                                  \
                key ^= (key < 0) & (most);                                                                  \
                less = key < low;                                                                           \
                greater = key > high;                                                                       \
                low = (key & less) | (low & ~less);                                                         \
                high = (key & greater) | (high & ~greater);                                                 \
            }                                                                                               \
            for (int i = 0; i < EACH; i++) {                                                                \
                lows[j + i] = low[i] < lows[j + i] ? low[i] : lows[j + i];                                  \
                highs[j + i] = high[i] > highs[j + i] ? high[i] : highs[j + i];                             \
            }                                                                                               \
        }                                                                                                   \
    }
TALLY_COLUMN_RANGE(f32, int32_t, sizes, INT32_MAX)
TALLY_COLUMN_RANGE(f64, int64_t, units, INT64_MAX)

#endif
