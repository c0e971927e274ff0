/* A tile of rows that lie across others, or of pieces of them (segments/pieces.h): how it is copied, and how sums of
 * pieces that lie in the tile are made without sorting values by pieces. */
#ifndef TALLY_PREFIX_COLUMNS_H
#define TALLY_PREFIX_COLUMNS_H

#include "exact_segments/prefix.h"

/* A tile of pieces of rows (segments/pieces.h). */
typedef struct pieces_t {
    int64_t s, origin; /* the first piece, and the number of the tile's first value */
    int32_t all, n;    /* pieces, the first and the last perhaps in part; values */
} pieces_t;
/* Whether all pieces lie in the tile, and 16 bytes at a time belong to pieces side by side. */
TALLY_FN int32_t columns_are_whole(const tally_segments_work *work, const tile_t *tile) {
    const tally_source x = tally_source_of(work->x, work->x_stride, TALLY_BYTES),
                       y = tally_source_of(work->y, work->y_stride, TALLY_BYTES);
    if (!x.is_packed || !y.is_packed || work->partition.inner % TALLY_PART != 0) return 0;
    return !tile->runs_in && !tile->runs_out && tile->s % TALLY_PART == 0 && tile->count % TALLY_PART == 0;
}
/* Copies them 16 bytes at a time, of as many pieces, into each of which a value goes. */
TALLY_FN void copy_whole_pieces(const tally_segments_work *work, int32_t is_second, pieces_t of, TALLY_T *to) {
    enum { SIDE = 2, DOWN = TALLY_PREFIX_THREADS / SIDE, TOGETHER = 4 };
    const char *const values = is_second ? work->y : work->x;
    const int64_t apart = work->partition.inner * TALLY_BYTES;
    const int32_t first = tally_thread() / SIDE;
    int32_t p = tally_thread() % SIDE * TALLY_PART;
    tally_piece_place piece = tally_piece_of(&work->partition, of.s);
    tally_pass_pieces(&work->partition, &piece, p);
    TALLY_ROLLED
    for (; p < of.all; p += SIDE * TALLY_PART, tally_pass_pieces(&work->partition, &piece, SIDE * TALLY_PART)) {
        const int32_t rows = (int32_t)piece.values;
        const char *at = values + piece.first * TALLY_BYTES + first * apart;
        TALLY_T *const its = to + (int32_t)(piece.begin - of.origin);
        TALLY_ROLLED
        for (int32_t r = first; r < rows; r += TOGETHER * DOWN) {
            tally_quad quad[TOGETHER];
            TALLY_UNROLL
            for (int32_t k = 0; k < TOGETHER; k++, at += DOWN * apart)
                if (r + k * DOWN < rows) quad[k] = tally_load16(at);
            TALLY_UNROLL
            for (int32_t k = 0; k < TOGETHER; k++) {
                if (r + k * DOWN >= rows) continue;
                TALLY_UNROLL
                for (int32_t v = 0; v < TALLY_PART; v++) its[v * rows + r + k * DOWN] = value_of_part(&quad[k], v);
            }
        }
    }
}
/* Copies them one at a time. Threads that follow one another take pieces side by side, 32 bytes of them. */
TALLY_FN void copy_parts_of_pieces(const tally_segments_work *work, int32_t is_second, pieces_t of, TALLY_T *to) {
    enum { MOST_ACROSS = 32 / TALLY_BYTES, TOGETHER = TALLY_BYTES == 8 ? 4 : 8 };
    const tally_source from =
        tally_source_of(is_second ? work->y : work->x, is_second ? work->y_stride : work->x_stride, TALLY_BYTES);
    const int64_t apart = work->partition.inner * from.stride;
    int32_t across = MOST_ACROSS;
    while (across / 2 >= of.all) across /= 2;
    const int32_t thread = tally_thread(), down = TALLY_PREFIX_THREADS / across;
    int32_t p = thread & (across - 1);
    tally_piece_place piece = tally_piece_of(&work->partition, of.s);
    tally_pass_pieces(&work->partition, &piece, p);
    TALLY_ROLLED
    for (; p < of.all; p += across, tally_pass_pieces(&work->partition, &piece, across)) {
        const int64_t low = of.origin - piece.begin, high = low + of.n; /* of the piece's values */
        const int32_t begin = low > 0 ? (int32_t)low : 0, until = (int32_t)(high < piece.values ? high : piece.values),
                      place = (int32_t)-low;
        int32_t i = begin + (int32_t)((uint32_t)thread / (uint32_t)across);
        const char *at = from.values + piece.first * from.stride + i * apart;
        TALLY_ROLLED
        for (; from.is_aligned && i + (TOGETHER - 1) * down < until; i += TOGETHER * down) {
            TALLY_T v[TOGETHER];
            TALLY_UNROLL
            for (int32_t k = 0; k < TOGETHER; k++, at += down * apart) v[k] = *(const TALLY_T *)(const void *)at;
            TALLY_UNROLL
            for (int32_t k = 0; k < TOGETHER; k++) to[place + i + k * down] = v[k];
        }
        TALLY_ROLLED
        for (; i < until; i += down, at += down * apart) to[place + i] = read_at(&from, at);
    }
}
/* Copies a tile's values, and zeros behind them up to whole parts. A function of its own, before the rest needs
 * registers. */
TALLY_RARE void copy_pieces(const tally_segments_work *work, const side_t *side, char *buffer) {
    const tile_t *const tile = &side->tile;
    const pieces_t of = {tile->s, tile->origin, tile->count + tile->runs_out, tile->n};
    const int32_t are_whole = columns_are_whole(work, tile);
    for (int32_t k = 0; k < TALLY_KERNEL_INPUTS; k++) {
        TALLY_T *const to = k == 0 ? x_in_buffer(buffer) : y_in_buffer(tile, buffer);
        if (are_whole)
            copy_whole_pieces(work, k, of, to);
        else
            copy_parts_of_pieces(work, k, of, to);
        for (int32_t i = of.n + tally_thread(); i < (of.n + TALLY_PART - 1) / TALLY_PART * TALLY_PART;
             i += TALLY_PREFIX_THREADS)
            to[i] = plus_zero();
    }
}

#if !TALLY_HAS_KEYS
/* ---- pieces of one size that lie in the tile ---- */

/* A thread adds up 16 bytes of some rows in memory, which are values of as many pieces. Threads stand `side` side by
 * side. */
typedef struct grid_t {
    int32_t rows, groups; /* values of each piece; 16-byte parts of a row in memory */
    int32_t side, down;   /* threads, a power of two each */
    int32_t group, sub;   /* where this one stands */
} grid_t;
TALLY_FN grid_t grid_of(const tile_t *tile) {
    enum { EACH = 16 }; /* rows of a thread, or more where they are many */
    grid_t grid;
    grid.rows = (int32_t)((uint32_t)tile->n / (uint32_t)tile->count);
    grid.groups = tile->count / TALLY_PART;
    grid.down = 1;
    while (grid.down < TALLY_PREFIX_THREADS &&
           (grid.down * EACH < grid.rows || TALLY_PREFIX_THREADS / grid.down / 2 >= grid.groups))
        grid.down *= 2;
    grid.side = TALLY_PREFIX_THREADS / grid.down;
    grid.group = tally_thread() & (grid.side - 1);
    grid.sub = (int32_t)((uint32_t)tally_thread() / (uint32_t)grid.side);
    return grid;
}
/* Whether a tile is such pieces, with values in them: of empty ones there is one prefix for all. A thread's chunk is
 * never longer than levels allow: it has 16 rows or, if down is as large as can be, no more than a tile has 16-byte
 * vectors over all threads. */
TALLY_FN int32_t suits_grid(const tally_segments_work *work, const tile_t *tile) {
    if (tile->n == 0 || !columns_are_whole(work, tile)) return 0;
    return work->partition.chunks == 1 ||
           tile->n == (int32_t)tally_piece_of(&work->partition, tile->s).values * tile->count;
}
/* Begins to copy the tile as it lies in memory: value r of piece p to place r * count + p. */
TALLY_FN void copy_grid(const tally_segments_work *work, const tile_t *tile, const grid_t *grid, char *buffer) {
    const int64_t apart = work->partition.inner * TALLY_BYTES;
    tally_piece_place piece = tally_piece_of(&work->partition, tile->s);
    tally_pass_pieces(&work->partition, &piece, grid->group * TALLY_PART);
    TALLY_ROLLED
    for (int32_t g = grid->group; g < grid->groups;
         g += grid->side, tally_pass_pieces(&work->partition, &piece, grid->side * TALLY_PART)) {
        const int64_t at = piece.first * TALLY_BYTES + grid->sub * apart;
        TALLY_ROLLED
        for (int32_t r = grid->sub, k = 0; r < grid->rows; r += grid->down, k++) {
            const int32_t to = 16 * (r * grid->groups + g);
            tally_copy16(buffer + to, work->x + at + k * grid->down * apart);
            if (TALLY_KERNEL_INPUTS == 2) tally_copy16(buffer + tile->y_at + to, work->y + at + k * grid->down * apart);
        }
    }
    tally_copied();
}
TALLY_FN extent_t measure_grid(const char *values, const grid_t *grid) {
    extent_t e = {0, UINT32_MAX};
    TALLY_ROLLED
    for (int32_t i = tally_thread(); i < grid->rows * grid->groups; i += TALLY_PREFIX_THREADS) {
        const extent_t other = measure_chunk((const TALLY_T *)(const void *)(values + 16 * i), 1);
        e.most = other.most > e.most ? other.most : e.most;
        e.least = other.least < e.least ? other.least : e.least;
    }
    return e;
}
/* Adds what threads of a warp have counted that stand below one another. */
TALLY_FN int64_t add_below(int64_t d, int32_t side) {
    TALLY_ROLLED
    for (int32_t mask = side; mask < TALLY_WARP; mask *= 2) d = tally_further(d, tally_shuffle64(d, mask));
    return d;
}
/* The counts of all pieces, to where prefixes at ends are of other tiles. All threads of the block take part, between
 * barriers. */
TALLY_FN void add_grid(const tile_t *tile, const grid_t *grid, char *buffer) {
    const double scale_x = power_of_two(tile->scale_x), scale_y = power_of_two(tile->scale_y);
    const int32_t of_warp = grid->side < TALLY_WARP ? TALLY_WARP / grid->side : 1; /* subs */
    int64_t *const to = prefixes_of(tile, buffer);
    TALLY_ROLLED
    for (int32_t first = 0; first < grid->groups; first += grid->side) {
        const int32_t g = first + grid->group, is_there = g < grid->groups;
        double at[TALLY_PART][prefix_words];
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_PART; v++) {
            TALLY_UNROLL
            for (int32_t k = 0; k < prefix_words; k++) at[v][k] = prefix_anchor(k);
        }
        TALLY_ROLLED
        for (int32_t r = grid->sub; is_there && r < grid->rows; r += grid->down) {
            const char *const from = buffer + 16 * (r * grid->groups + g);
            const tally_quad x = tally_take16(from), y = TALLY_KERNEL_INPUTS == 1 ? x : tally_take16(from + tile->y_at);
            TALLY_UNROLL
            for (int32_t v = 0; v < TALLY_PART; v++) put_part(at[v], &x, &y, v, scale_x, scale_y);
        }
        int64_t d[TALLY_PART][prefix_words];
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_PART; v++) {
            TALLY_UNROLL
            for (int32_t k = 0; k < prefix_words; k++)
                d[v][k] =
                    add_below(tally_apart(tally_bits_f64(at[v][k]), tally_bits_f64(prefix_anchor(k))), grid->side);
        }
        TALLY_ROLLED
        for (int32_t sub = 0; sub < grid->down; sub += of_warp) { /* warps one after another */
            if (sub > 0) tally_barrier();
            if (!is_there || grid->sub != sub) continue;
            TALLY_UNROLL
            for (int32_t v = 0; v < TALLY_PART; v++) {
                TALLY_UNROLL
                for (int32_t k = 0; k < prefix_words; k++) {
                    int64_t *const its = to + k * tile->pitch + g * TALLY_PART + v;
                    *its = sub == 0 ? d[v][k] : tally_further(*its, d[v][k]);
                }
            }
        }
    }
}
#endif

#endif
