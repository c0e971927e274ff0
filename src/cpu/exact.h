/* Exact sums on the CPU, below the operators: how a tile of terms reaches the limbs of a number. */
#ifndef TALLY_CPU_EXACT_H
#define TALLY_CPU_EXACT_H

#include <string.h>

#include "cpu/tiles.h"
#include "sums/limbs.h"

enum {
    TALLY_TILE = 1024, /* values of a tile: 1024 f32, half as many f64 */
    TALLY_FEW_TILES = 4,
    TALLY_SIFTED = 512 /* segments, at most, from which empty ones are taken out at a time */
};

/* A tile as the vector loops take it: f32 or f64, side by side, measured. */
typedef struct tally__tile {
    const void *x, *y;  /* y equals x if there is one input */
    const void *given;  /* x before values were taken out */
    int64_t n, present; /* all values, and those that the NaN policy counts */
    bool is_f64;
    int32_t specials; /* TALLY_SEEN_... of what was taken out */
    tally__extent x_extent, y_extent;
} tally__tile;

/* Value i of x, which is tile->x or tile->y. */
static inline double tally__value_at(const tally__tile *tile, const void *x, int64_t i) {
    double wide;
    float narrow;
    if (tile->is_f64) {
        memcpy(&wide, (const double *)x + i, sizeof wide);
        return wide;
    }
    memcpy(&narrow, (const float *)x + i, sizeof narrow);
    return (double)narrow;
}

/* Fills in the extents, from x, y and n. */
void tally__measure_tile(tally__tile *tile);

/* Whether a measured tile has subnormals, and no value so large that it could not be enlarged. */
bool tally__is_tiny(const tally__tile *tile);
/* Copies the values of a tile of f64, made 2^TALLY_ENLARGED times as large, to space for n values each. (A
 * multiplication of subnormals takes over 100 cycles.) */
void tally__enlarge_tile(tally__tile *tile, double *x_space, double *y_space);

/* Takes infinities and NaNs out of a measured tile that has any. Its values are copied to x_space and, of two inputs,
 * y_space, for n values each, with zeros in their place that change no sum, not even a sum of zeros. NaNs are noted, or
 * skipped. */
void tally__take_out_specials(tally__tile *tile, bool skips, void *x_space, void *y_space);

/* Levels that tiles have in common, and what was counted in them so far: level k counts units of 2^unit[k]. */
typedef struct tally__levels {
    int32_t count;  /* 0: none are planned */
    int32_t values; /* how many of them count values; the others count products */
    int32_t lowest, high,
        spare;     /* they hold multiples of 2^lowest below 2^high; for `spare` binades fewer levels would do */
    int32_t tiles; /* tiles that were counted */
    int32_t power; /* values were made 2^power times as large, and so products 2^(2 power) times */
    tally__tile_sum *sum;
    int32_t unit[TALLY_MOST_LEVELS];
    double anchor[TALLY_MOST_LEVELS];
    _Alignas(64) tally__units units[TALLY_MOST_LEVELS];
} tally__levels;

/* Terms by their size (tiles.h). */
typedef struct tally__bins {
    int32_t tiles; /* tiles that were added; 0: words are not even cleared */
    bool is_f64;
    _Alignas(64) int64_t words[TALLY_BIN_WORDS];
} tally__bins;

/* The numbers that tiles are added to: evidence and limbs. The origin of products is twice that of values. NULL: the
 * number is not wanted. */
typedef struct tally__sums {
    int64_t *values, *products;
    int32_t origin, term; /* term: what `values` adds up, TALLY_TERM_VALUE or TALLY_TERM_MAGNITUDE */
    bool spilled;         /* something was added to the numbers already */
    tally__levels of_values, of_products, of_both;
    tally__bins bins;
} tally__sums;

void tally__begin_sums(tally__sums *sums, int64_t *values, int64_t *products, int32_t origin, int term);
/* Adds a measured tile. Its terms may stay in levels and bins until tally__flush_sums brings them to the limbs; then
 * only carries are left to do. */
void tally__add_tile(tally__sums *sums, const tally__tile *tile);
void tally__flush_sums(tally__sums *sums);
/* If all that was added is still in levels, and these make few parts, gives them as the parts of one segment. */
bool tally__parts_of_sums(const tally__sums *sums, tally__batch *one);

/* Widens the range of keys low ... high by the tile's values; a NaN widens it to everything. */
void tally__widen_range(int64_t *low, int64_t *high, const tally__tile *tile);

/* How many of the next segments have at most TALLY_BATCH_VALUES values together: at least 1, and at most `most`, a
 * power of two. Without branches, which would be mispredicted. */
static inline int tally__fitting(const int64_t *offsets, int segments, const int most) {
    int fitting = 1;
    for (int step = most / 2; step > 0; step /= 2) {
        int more = fitting + step <= segments ? fitting + step : fitting;
        fitting = offsets[more] - offsets[0] <= TALLY_BATCH_VALUES ? more : fitting;
    }
    return fitting > 8 ? fitting & ~7 : fitting;
}

/* Whether f64 might not hold a term of the tile, or what is left of one. */
bool tally__overreaches(const tally__tile *tile, int term);
/* Notes that all values of a batch were divided by 2^by_x and 2^by_y. */
void tally__scale_alike(tally__batch *batch, int32_t by_x, int32_t by_y);
/* Brings the terms of a batch within reach of f64. If its values are near enough to each other that no digit is lost,
 * all are divided by the same power of two, to space for n values. Otherwise each segment will be scaled as it is added
 * up. */
void tally__scale_batch(tally__batch *batch, tally__tile *tile, double *x_space, double *y_space);
/* Adds up the segments of a batch, which cover the tile, as parts: of the term `first` in batch->sums, and of products,
 * if they are wanted too, in batch->products. By levels, or by expansions if levels do not hold the terms. */
void tally__sum_batch(tally__batch *batch, const tally__tile *tile, int first, bool products);
/* The same by expansions. Returns the number of parts. Value k of segment s is at places[s] + k * apart. term:
 * TALLY_TERMS for values, and products in `second`. A tile that overreaches needs a batch that is scaled. */
int tally__expand_batch(tally__batch *batch, const tally__tile *tile, int64_t apart, int term, tally__parts first,
                        tally__parts second);

/* Levels of columns, for terms that are multiples of 2^lowest, below 2^high. */
typedef struct tally__columns {
    int32_t count, lowest, high; /* count is 0 if none are planned */
    int32_t rows;                /* rows that were added, 2^TALLY_COLUMN_ADDITIONS at most */
    int32_t unit[TALLY_COLUMN_LEVELS];
    double anchor[TALLY_COLUMN_LEVELS];
    tally__column_sum *sum;
} tally__columns;

/* Plans at most `most` levels for the terms of a tile, 2^additions of which meet in one column. `follow`: more tiles
 * follow, so the levels get room for other terms. False: the terms are too far apart. */
bool tally__plan_columns(tally__columns *columns, const tally__tile *tile, int term, int32_t additions, int32_t most,
                         bool follow);
/* Whether the levels can take a tile of `rows` more rows. */
bool tally__columns_suit(const tally__columns *columns, const tally__tile *tile, int term, int64_t rows);

/* How plain sums are made: of f32 or f64; which, and what the first add up, TALLY_TERM_VALUE or TALLY_TERM_MAGNITUDE;
 * where products are split. Subnormals and their like are first made 2^power times as large; otherwise that is 0. */
typedef struct tally__plain {
    bool is_f64, has_sums, has_products;
    bool is_narrow; /* values are f16 or bf16, whose squares one sum may hold */
    int term;
    int32_t fewer; /* how many digits fewer than f32 values have */
    int32_t power;
    int32_t credit; /* below 0: it lately did not hold them */
    double anchor[TALLY_PARTS];
    double least; /* products of f64 that are smaller may have digits below those of the parts */
} tally__plain;
typedef struct tally__plain_made {
    _Alignas(64) tally__plain_sums sums, products;
} tally__plain_made;
/* The most f32 in one sum, twice the most f64; and how many values a plan looks at. */
enum { TALLY_PLAIN_TERMS = TALLY_FEW_TILES * TALLY_TILE, TALLY_PLAIN_FEW = 32 };

/* Plans what is asked for by the first few of n > 0 values, for sums of `terms` terms. False: most likely they would
 * not be exact. */
bool tally__plan_plain(tally__plain *plain, const void *x, const void *y, int64_t n, int64_t terms);
/* The sums of `count` <= TALLY_PLAIN_MOST segments of TALLY_BATCH_VALUES values in all, or of one, the first of which
 * begins at x (and y), in TALLY_PLAIN_PARTS, where all of these are exact. Otherwise some operation was rounded or the
 * machine does not tell, or some sum is not finite, as where a value is infinite or NaN. */
typedef enum tally__plain_outcome {
    TALLY_PLAIN_ROUNDED,
    TALLY_PLAIN_INFINITE,
    TALLY_PLAIN_EXACT,
    TALLY_PLAIN_EXACT_APART /* but for segments whose sums are not finite, or nearly so */
} tally__plain_outcome;
/* After how many segments plain sums are tried again, if `some` were refused, after `times` refusals in a row: the
 * first may be chance, more hardly are. */
static inline int64_t tally__skipped(int64_t some, int times) {
    enum { LATER = 3, MOST = 8 };
    return some << (times == 0 ? 0 : (times < MOST ? times : MOST) + LATER);
}
tally__plain_outcome tally__sum_plainly(tally__plain *plain, const void *x, const void *y, const int64_t *offsets,
                                        int count, tally__plain_made *made);

/* The same of values or magnitudes of type TALLY_FROM_F16 or TALLY_FROM_BF16, by few operations: it is refused if these
 * have lately been rounded, or there is no loop. */
tally__plain_outcome tally__sum_halves(tally__plain *plain, int from, const void *x, const int64_t *offsets, int count,
                                       tally__plain_made *made);

/* Sums of rows of columns, of a type TALLY_FROM_... (tally__plain_columns), the first ones or added to those that there
 * are, but for the products that are `left`; joins the lanes of each column, after which *special says whether some sum
 * is not finite. False: some operation was rounded, or the machine does not tell, and sums are of no use. */
bool tally__add_columns_plainly(const tally__plain *plain, int from, const void *x, const void *y, int64_t rows,
                                int64_t stride, int64_t width, int64_t fold, bool is_first, tally__plain_made *made,
                                tally__left_products *left);
bool tally__join_columns_plainly(const tally__plain *plain, int64_t width, int64_t fold, tally__plain_made *made,
                                 bool *special);

/* The origin, a multiple of 32, and limbs that just hold the terms of a few tiles: values, or products (whose origin is
 * twice that of values). */
typedef struct tally__fit {
    int32_t origin, limbs, product_limbs;
} tally__fit;
tally__fit tally__fit_tiles(const tally__tile *tiles, int count);

#endif
