/* Tiles: the vector part of exact sums, compiled for each instruction set (tiles_template.h).
 *
 * A tile is at most TALLY_TILE values. It is measured, then each term (a value, its magnitude, a product) is split
 * into levels: level k takes what is a multiple of 2^unit[k], by adding it to an accumulator so large that this is
 * where it rounds, and hands on the rest. The last level takes multiples of the smallest unit there is, so nothing is
 * left. docs/exact.md has the proof. */
#ifndef TALLY_CPU_TILES_H
#define TALLY_CPU_TILES_H

#include "internal.h"
#include "sums/limbs.h"
#include "sums/parts.h"

enum {
    TALLY_TILE_BYTES = 4096,  /* of f32 or f64 */
    TALLY_TILE_ADDITIONS = 6, /* log2 of the terms that meet in one lane of an accumulator, at most */
    TALLY_MOST_LEVELS = 7,
    TALLY_LEVEL_COUNTS = 4, /* of levels that there are vector loops for, by type and term */
    TALLY_LANES = 8,
    TALLY_SHORT_PRODUCTS = 3 /* levels of f64 products, of which rounded products leave nothing after the second */
};

/* Infinities and NaNs that were seen: which infinite sums values and products of values make. */
enum {
    TALLY_SEEN_PLUS = 1,
    TALLY_SEEN_MINUS = 2,
    TALLY_SEEN_NAN = 4,
    TALLY_SEEN_PRODUCT_PLUS = 8,
    TALLY_SEEN_PRODUCT_MINUS = 16
};

/* How large the values of a tile are. */
typedef struct tally__extent {
    int32_t high; /* each magnitude is below 2^high */
    int32_t unit; /* each value is a multiple of 2^unit */
    bool zeros;   /* all values are 0; high and unit mean nothing */
    bool special; /* some value is infinite or NaN; high and unit mean nothing */
} tally__extent;

/* The infinities and NaNs that were taken out of n values, and the extents of the others. */
typedef struct tally__taken {
    int32_t specials; /* TALLY_SEEN_... */
    int64_t present;  /* values, without NaNs that are skipped */
    tally__extent x_extent, y_extent;
} tally__taken;

/* Adds up n terms of x (and y). units[k] grows by what level k has counted, in any of its lanes. The number of levels
 * is a constant of the function. */
typedef int64_t tally__units[TALLY_LANES];
typedef void tally__tile_sum(const void *x, const void *y, int64_t n, const double *anchor, tally__units *units);

/* Bins, for terms too far apart for levels. A bin takes values of 2^binades binades and products of twice as many; bin
 * 0 begins at the exponent field `first` << binades. It has `chains` places that take terms in turn, `apart` words from
 * one to the next: word k of a value's place in bin b counts units of 2^(least + (b << binades) + unit[k]), that of a
 * product's 2^(2 least + (b << binades + 1) + product_unit[k]). Places are full after `tiles` tiles; then they must be
 * read. */
typedef struct tally__bin_layout {
    int32_t bins, binades, first, least, chains, tiles;
    int32_t words, products_at; /* words in all; the word where those of products begin */
    int32_t levels, apart, unit[2];
    int32_t product_levels, products_apart, product_unit[3];
} tally__bin_layout;
enum { TALLY_BIN_WORDS = 256 * 4 * (2 + 3) };
#define TALLY_BIN_LAYOUT(is_f64)                                              \
    ((is_f64) ? (tally__bin_layout){.bins = 256,                              \
                                    .binades = 3,                             \
                                    .first = 0,                               \
                                    .least = -1016,                           \
                                    .chains = 4,                              \
                                    .tiles = 32,                              \
                                    .words = TALLY_BIN_WORDS,                 \
                                    .products_at = 256 * 4 * 2,               \
                                    .levels = 2,                              \
                                    .apart = 2,                               \
                                    .unit = {-29, -59},                       \
                                    .product_levels = 3,                      \
                                    .products_apart = 3,                      \
                                    .product_unit = {-38, -78, -118}}         \
              : (tally__bin_layout){.bins = 288,                              \
                                    .binades = 0,                             \
                                    .first = 874,                             \
                                    .least = -149,                            \
                                    .chains = 4,                              \
                                    .tiles = 16,                              \
                                    .words = 288 * 4 * 2,                     \
                                    .products_at = 1, /* beside the values */ \
                                    .levels = 1,                              \
                                    .apart = 2,                               \
                                    .unit = {-23},                            \
                                    .product_levels = 1,                      \
                                    .products_apart = 2,                      \
                                    .product_unit = {-46}})

/* A batch of short segments that share one set of anchors. */
enum {
    TALLY_BATCH_MOST = 128,
    TALLY_BATCH_VALUES = 2048,
    TALLY_BATCH_ADDITIONS = 6,
    TALLY_PARTS = 3,
    TALLY_PLAIN_MOST = 512,
    TALLY_FINE_TERMS = 12 /* log2 of the terms of a segment */
};
/* How a batch of f64 is scaled: all of its values by one power of two; each segment as it is added up in expansions, by
 * one that leaves its largest value between 1 and 2. Of scaled terms below 2^TALLY_SCALED_LEAST only signs are kept. */
enum { TALLY_ENLARGED = 1074, TALLY_ENLARGED_MOST = -900 };
enum { TALLY_NOT_SCALED, TALLY_SCALED_ALIKE, TALLY_SCALED_EACH, TALLY_SCALED_LEAST = -960 };
#define TALLY_VAGUE 0x1p-1001
typedef double tally__parts[TALLY_PARTS][TALLY_BATCH_MOST];
typedef struct tally__batch {
    int count, padded;                    /* segments; the next multiple of 8, filled up with empty ones */
    int64_t places[TALLY_BATCH_MOST + 1]; /* where segments begin, the first at 0; then where the last one ends */
    int32_t lengths[TALLY_BATCH_MOST], longest, shortest;
    int sum_parts, product_parts; /* parts of `sums`; parts of `products`, which spreads need */
    int32_t is_f64, ddof;         /* is_f64: results are f64, else f32 */
    double fine_sum,
        fine_product;    /* the size up to which TALLY_FINE_TERMS values, and products, are added up exactly */
    int32_t lost;        /* whether the parts of some sum are not the sum: then the first one is a NaN */
    int32_t of_products; /* whether `sums` are of products */
    int32_t scaled;      /* TALLY_SCALED_...; then values are those of 2^scale_x[s] (and 2^scale_y[s]) */
    int32_t scale_x[TALLY_BATCH_MOST], scale_y[TALLY_BATCH_MOST];
    int32_t vague; /* whether the last part of some sum is TALLY_VAGUE: at most as large, of unknown sign */
    int32_t sure[TALLY_BATCH_MOST], unsure; /* which results are certain; how many are not */
    _Alignas(64) tally__parts sums, products;
    _Alignas(64) double values[TALLY_BATCH_MOST]; /* results that are f64 */
    double rests[TALLY_BATCH_MOST];               /* the rests of tally_rounded for these, if has_rests */
    int32_t has_rests;
    /* Whether expansions of f32 may be of one part, for results that are f32; whether some were. The second part of a
     * sum is then right in its sign, and to 2^-81 of the largest sum of terms on the way. */
    int32_t may_be_rough, is_rough;
    float narrow[TALLY_BATCH_MOST]; /* results that are f32 */
} tally__batch;

/* Sums of the segments of x (and y), all in reach of one set of anchors: part k of segment s goes to parts[k][s]. It is
 * exact if anchors are made for as many terms as the longest has, and for 2^TALLY_BATCH_ADDITIONS at least. */
typedef void tally__batch_sum(const void *x, const void *y, const tally__batch *batch, const double *anchor,
                              tally__parts parts);

/* The same for any finite values, in two or three parts, whose number it gives. If the parts may not be the sum, the
 * first one is a NaN, and batch->lost is set. Value k of segment s lies at places[s] + k * apart, so segments may
 * be columns. `second`: parts of sums of products, where both are asked for. */
typedef int tally__batch_expand(const void *x, const void *y, int64_t apart, tally__batch *batch, tally__parts first,
                                tally__parts second);

/* The rows of values that are read next, to be prefetched: as many as there are now, `apart` bytes from each other.
 * `bytes`: of their values; 0: nothing is prefetched. */
typedef struct tally__next_rows {
    const char *x, *y;
    int64_t apart, bytes;
} tally__next_rows;

/* Columns: rows of `lanes` values, a multiple of TALLY_COLUMN_LANES. Level k of lane j is held[k * lanes + j], which
 * begins at the level's anchor. */
enum { TALLY_COLUMN_LANES = 32, TALLY_COLUMN_MOST_LANES = 1024, TALLY_COLUMN_LEVELS = 5, TALLY_COLUMN_ADDITIONS = 10 };
typedef void tally__column_sum(const void *x, const void *y, int64_t rows, int64_t lanes, const tally__next_rows *next,
                               double *held);

/* The number of plain sums in f64 whose total is a sum: of f32 one, of f64 and of products of f32 two, of products of
 * f64 three. */
#define TALLY_PLAIN_PARTS(is_f64, term) (1 + ((is_f64) != 0) + ((term) == TALLY_TERM_PRODUCT))
typedef double tally__plain_sums[TALLY_PARTS][TALLY_PLAIN_MOST];
/* Plain sums of up to TALLY_PLAIN_MOST short segments, the first of which begins at x (and y). They are right if the
 * inexact flag stays clear. */
typedef enum tally__finite {
    TALLY_NOT_FINITE,
    TALLY_FINITE,
    TALLY_NOT_FINITE_APART /* of some segments, and of the others right */
} tally__finite;
typedef tally__finite tally__plain_sum(const void *x, const void *y, const int64_t *offsets, int count,
                                       const double *anchor, tally__plain_sums sums);
/* Sum s, rounded. It is 0 only if the sum is. */
static inline double tally__plain_total(tally__plain_sums sums, int parts, int s) {
    const double first = sums[0][s] + (parts > 1 ? sums[1][s] : 0);
    return parts > 2 ? tally_three_sum(sums[0][s], sums[1][s], sums[2][s]).high : first;
}

/* Types as they lie in memory. */
enum { TALLY_FROM_F32, TALLY_FROM_F64, TALLY_FROM_F16, TALLY_FROM_BF16, TALLY_FROMS };
typedef tally__finite tally__plain_halves(const void *x, const int64_t *offsets, int count, tally__plain_sums sums);
/* Factors of products of f64 that are in no sum, and their lanes. */
enum { TALLY_LEFT_MOST = 64 };
typedef struct tally__left_products {
    int count; /* TALLY_LEFT_MOST + 1: there were more */
    int16_t lanes[TALLY_LEFT_MOST];
    double x[TALLY_LEFT_MOST], y[TALLY_LEFT_MOST];
} tally__left_products;
/* Where plain sums of columns go. anchor: what those of products begin with; NULL: all are added to those that there
 * are. Products of f64 below `least` in size are left. */
typedef struct tally__plain_work {
    const double *anchor;
    double least, (*sums)[TALLY_PLAIN_MOST], (*products)[TALLY_PLAIN_MOST];
    tally__left_products *left;
} tally__plain_work;
/* Plain sums of columns side by side, of terms, of products, or of both. Row r begins at x + r * stride values. `fold`
 * rows, which follow one another where that is more than 1, count as one of width * fold <= TALLY_PLAIN_MOST lanes. */
typedef void tally__plain_columns(const void *x, const void *y, int64_t rows, int64_t stride, int64_t width,
                                  int64_t fold, const tally__plain_work *work);

/* Which result is made of the parts of sums. */
enum { TALLY_RESULT_SUM, TALLY_RESULT_MEAN, TALLY_RESULT_ROOT, TALLY_RESULT_SPREAD, TALLY_RESULT_SPREAD_ROOT };

enum { TALLY_HEADS_SLACK = 16 };

/* What entries of an index have, joined by or: `places` the entries as i64, `steps` the difference of each to the next.
 */
typedef struct tally__index_bits {
    uint64_t steps, places;
} tally__index_bits;

/* The loops of one instruction set. [2]: for f32 and for f64. */
typedef struct tally__tiles {
    tally__extent (*measure[2])(const void *x, int64_t n);
    /* By type, term, and k, for level_counts[...][k] levels. */
    tally__tile_sum *sum[2][TALLY_TERMS][TALLY_LEVEL_COUNTS];
    int8_t level_counts[2][TALLY_TERMS][TALLY_LEVEL_COUNTS];
    /* By type, term, and number of levels, 1 to TALLY_PARTS. */
    tally__batch_sum *batch_sum[2][TALLY_TERMS][TALLY_PARTS + 1];
    tally__batch_expand *batch_expand[2][TALLY_TERMS + 1]; /* by type and term; the last: values and products */
    /* By type, term, and number of levels, 1 to TALLY_COLUMN_LEVELS. */
    tally__column_sum *column_sum[2][TALLY_TERMS][TALLY_COLUMN_LEVELS + 1];
    /* Widens the range of keys of each lane. */
    void (*column_range[2])(const void *x, int64_t rows, int64_t lanes, int64_t *lows, int64_t *highs);
    /* Adds n finite values to the words of bins, as the term `values` (TALLY_TERMS: not), and with `products` their
     * products. */
    void (*scatter[2])(const void *x, const void *y, int64_t n, int values, bool products, int64_t *words);
    /* Copies n values (and n of y, if y is not x). Infinities and NaNs become zeros that add nothing. */
    tally__taken (*take_out[2])(const void *x, const void *y, int64_t n, bool skips, void *x_copy, void *y_copy);
    /* The same, and lists the places of values that are not finite in either array. Returns how many there are. */
    int64_t (*copy_finite[2])(const void *x, const void *y, int64_t n, void *x_copy, void *y_copy, int32_t *places);
    /* Returns the place of the first infinity or NaN, from `from` on, or n. */
    int64_t (*find_special[2])(const void *x, int64_t from, int64_t n);
    /* Values and squares of x in one pass, by the smallest numbers of levels that `sum` has: first the levels of
     * values, then those of products. NULL: there is no such loop. */
    tally__tile_sum *both[2];
    /* Sets a bit for each of n values that is not -0; if y is not x, for each product. Returns whether all are set. */
    bool (*others[2])(const void *x, const void *y, int64_t n, uint64_t *bits);
    /* Fills in the members of a batch up to `shortest`. */
    void (*begin_batch)(tally__batch *batch, const int64_t *offsets, int count);
    /* Makes the results TALLY_RESULT_... of a batch. A sum that is 0 becomes +0. */
    void (*results)(tally__batch *batch, int what);
    /* By type and term. NULL: the machine lacks an operation that rounds without raising the flag, which products
     * need. */
    tally__plain_sum *plain[2][TALLY_TERMS];
    /* By type as it lies in memory, and term: sums of segments, of which there is one at least; sums[0] has space for
     * the next multiple of eight. NULL: there is no such loop. */
    tally__plain_halves *plain_halves[TALLY_FROMS][TALLY_TERMS];
    /* Squares of f32 in one sum, as values. */
    tally__plain_sum *plain_squares;
    /* Plain sums of values and squares of one segment, in one pass. Or NULL. */
    bool (*plain_both[2])(const void *x, int64_t n, const double *anchor, tally__plain_sums sums,
                          tally__plain_sums products);
    /* The same of segments of equal lengths; `narrow`: squares in one part. Returns whether all are finite, or -1:
     * there is no loop for that length. Or NULL. */
    int (*plain_equal[2])(const void *x, const int64_t *offsets, int count, bool narrow, const double *anchor,
                          tally__plain_sums sums, tally__plain_sums products);
    /* By type as it lies in memory, and term; the last: values and products. Or NULL. */
    tally__plain_columns *plain_columns[TALLY_FROMS][TALLY_TERMS + 1];
    /* Adds up the lanes of each column. anchor: what each lane began with, or NULL. Gives whether all sums are finite.
     */
    bool (*join_columns)(tally__plain_sums sums, int parts, int64_t width, int64_t fold, const double *anchor);
    /* Rounds sums of `parts` parts to f64 or f32. Returns whether some are 0: their signs are then not known. */
    bool (*round_sums)(tally__plain_sums sums, int parts, int count, bool is_f64, void *results);
    /* Finds the keys of the least and the greatest value. */
    void (*range[2])(const void *x, int64_t n, int64_t *least, int64_t *greatest);
    /* The same for each segment of a batch, the first of which begins at x. Of empty segments the keys mean nothing. */
    void (*ranges[2])(const void *x, const tally__batch *batch, int64_t *lows, int64_t *highs);
    /* Writes the stats of segments whose results are sure, from sums, means, variances and keys. A sum that is 0 has
     * the sign that the keys say. */
    void (*put_stats[2])(const tally__batch *batch, double (*floats)[TALLY_BATCH_MOST], const int64_t *lows,
                         const int64_t *highs, void *results);
    /* Multiplies n f64 by 2^power. Returns whether all are below 2^TALLY_ENLARGED_MOST in size: then that is exact. */
    bool (*enlarge)(const void *x, int64_t n, int32_t power, double *large);
    /* Multiplies n f64 that are integers by 2^-TALLY_ENLARGED. That is exact. */
    void (*shrink)(void *x, int64_t n);
    /* Copies rows of `bytes` bytes, `apart` from each other, to where they are `to_apart`. */
    void (*copy_block)(const char *x, int64_t apart, int64_t rows, int64_t bytes, char *to, int64_t to_apart);
    void (*widen_f16)(const void *x, int64_t n, float *wide);
    void (*widen_bf16)(const void *x, int64_t n, float *wide);
    /* [2]: for an index of i32 and of i64. Reads count + 1 offsets, and copies them to `copy` unless it is NULL. */
    tally__index_bits (*read_offsets[2])(const void *offsets, int64_t count, int64_t *copy);
    /* count_filled: how many segments are not empty. list_filled: where these begin, and where the last one ends;
     * `begins` has space for 8 more. */
    int64_t (*count_filled)(const int64_t *offsets, int64_t count);
    void (*list_filled)(const int64_t *offsets, int64_t count, int64_t *begins);
    /* Results of all segments, from those of the `filled` ones that are not empty, behind which stands the result of an
     * empty one, and space for 64 bytes. [3]: results of 4 bytes, of 8 bytes, tally_stats. */
    void (*spread[3])(const int64_t *offsets, int64_t count, int64_t filled, const char *made, char *results);
    /* sum_lengths: the sum of lengths, which may wrap, and all of them joined by or. add_lengths: offsets[1] and on,
     * from offsets[0] and lengths. */
    uint64_t (*sum_lengths[2])(const void *lengths, int64_t count, uint64_t *bits);
    void (*add_lengths[2])(const void *lengths, int64_t count, int64_t *offsets);
    /* Lists which of `count` segment ids differ from the one before, which can be read for the first one, too. Returns
     * how many. `at` has space for TALLY_HEADS_SLACK more. */
    int64_t (*heads[2])(const void *segment_ids, int64_t count, int32_t *at, tally__index_bits *bits);
} tally__tiles;

/* The table of the instruction set in use (isa.c). */
const tally__tiles *tally__cpu_tiles(void);

#endif
