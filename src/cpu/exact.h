/* Exact sums on the CPU, below the operators: how a tile of terms reaches the limbs of a number. */
#ifndef TALLY_CPU_EXACT_H
#define TALLY_CPU_EXACT_H

#include "cpu/tiles.h"
#include "lib/limbs.h"

enum {
    TALLY_TILE = 1024, /* values of a tile: 1024 f32, half as many f64 */
    TALLY_FEW_TILES = 4
};

/* A tile as the vector loops take it: f32 or f64, side by side, measured. */
typedef struct tally__tile {
    const void *x, *y;  /* y is x where there is one input */
    const void *given;  /* x before values were skipped */
    int64_t n, present; /* values, and those the NaN policy counts */
    bool is_f64;
    tally__extent x_extent, y_extent;
} tally__tile;

/* Fills in the extents of x, y and n. */
void tally__measure_tile(tally__tile *tile);

/* A measured tile whose NaNs are skipped: copied to rooms for n values each (y_room: two inputs only), with zeros in their place
 * that change no sum, not even a sum of zeros, then measured again. */
void tally__skip_nans(tally__tile *tile, void *x_room, void *y_room);

/* Adds the terms of a measured tile (TALLY_TERM_...) to evidence and limbs of the given origin, which has room for them.
 * Carries are left undone. */
void tally__add_terms(int64_t *words, int32_t origin, int term, const tally__tile *tile);

/* Widens the range of keys low ... high by the tile's values; a NaN widens it to everything. */
void tally__widen_range(int64_t *low, int64_t *high, const tally__tile *tile);

/* Sums short segments by their parts: terms of values offsets[s] ... offsets[s + 1] of the tile, which spans the bunch. Gives how many
 * parts there are, or 0 when their extents are too far apart for that. */
int tally__sum_bunch(const tally__tile *tile, int term, int64_t limit, const int64_t *offsets, int count, tally__parts parts);

/* Writes the values of a bunch as results of its format, at any address. */
void tally__store_bunch(const tally__bunch *bunch, void *results);

/* The origin, a multiple of 32, and limbs that just hold the terms of a few tiles: values, or products (whose origin is twice that
 * of values). 0 limbs: not all of them are finite. */
typedef struct tally__fit {
    int32_t origin, limbs, product_limbs;
} tally__fit;
tally__fit tally__fit_tiles(const tally__tile *tiles, int count);

#endif
