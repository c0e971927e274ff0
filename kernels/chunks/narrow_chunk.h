/* How a chunk of 2-byte floats is folded for an exact sum of products of two inputs (chunks/partial_chunks.h). The
 * thread looks how large its values are. If one double holds the sum of any such products, it adds them up so. Other
 * chunks are *wide*: there the sum is a pair, as elsewhere (compensated/nodes.h). */
#ifndef TALLY_NARROW_CHUNK_H
#define TALLY_NARROW_CHUNK_H

#include "chunks/chunk_places.h"
#include "compensated/ranged.h"

#if TALLY_HAS_NARROW_CHUNKS
enum { significand_bits = TALLY_NUMBER == TALLY_NUMBER_f16 ? 10 : 7, above_sizes = 1 << significand_bits };

/* ---- how large values are ---- */

/* Of finite values: bits of the largest, without a sign; and of the smallest but 0, less one. */
typedef struct sizes_t {
    uint32_t most, least;
} sizes_t;
TALLY_FN uint32_t both_halves(uint32_t half) { return half << 16 | half; }
/* Of both halves of a word at once. `above_sizes` makes infinities and NaNs negative: they decide the sum, however
 * large others are. */
TALLY_FN sizes_t sizes_of_chunk(const chunk_words_t *all) {
    sizes_t a = {both_halves(above_sizes), UINT32_MAX};
    TALLY_UNROLL
    for (int32_t k = 0; k < chunk_bytes / 4; k++) {
        const uint32_t both = all->w[k] & both_halves(0x7fff);
        a.most = tally_max_halves_plus(both, both_halves(above_sizes), a.most);
        a.least = tally_min_halves_less_one(both, a.least);
    }
    const uint32_t most = a.most >> 16, least = a.least >> 16;
    a.most = (most > (a.most & 0xffff) ? most : a.most & 0xffff) - above_sizes;
    a.least = least < (a.least & 0xffff) ? least : a.least & 0xffff;
    return a;
}
/* Bits from the largest value's first to the smallest one's last. Subnormal values have the exponent's bits 0, which
 * stand for 1. */
TALLY_FN int32_t width_of_sizes(sizes_t a) {
    const int32_t high = (int32_t)(a.most >> significand_bits), low = (int32_t)((a.least + 1) >> significand_bits);
    return high - (low > 1 ? low : 1) + significand_bits + 1;
}
TALLY_FN double largest_of_sizes(sizes_t a) { return (double)value_of((TALLY_T)a.most); }

/* Whether one double holds sums of a chunk's products, and *bound: none is larger, as columns have it. */
TALLY_FN int32_t is_narrow_chunk(const chunk_words_t *all, const chunk_words_t *beside, double *anchor,
                                 uint32_t *bound) {
    const sizes_t x = sizes_of_chunk(all), y = sizes_of_chunk(beside);
    *anchor = 0;
    *bound = tally_high_word(largest_of_sizes(x) * largest_of_sizes(y));
    return width_of_sizes(x) + width_of_sizes(y) + log_folded <= 53;
}

/* ---- sums ---- */

typedef double running_t;
TALLY_FN running_t no_running(double anchor, int32_t place) { return (void)anchor, (void)place, -0.0; }
TALLY_FN void put_in_running(running_t *a, TALLY_T x, TALLY_T y, int32_t place) {
    (void)place;
    *a += (double)value_of(x) * (double)value_of(y);
}

/* ---- partial results in memory: a double, or of wide chunks a column ---- */

enum { partial_words = 2, wide_words = sizeof(column_t) / 4 };
TALLY_FN void put_running(uint32_t *to, const running_t *a, double anchor) {
    (void)anchor;
    *(double *)(void *)to = *a;
}
TALLY_FN void put_wide(uint32_t *to, const column_t *a) { *(column_t *)(void *)to = *a; }
TALLY_FN column_t take_stored(const uint32_t *from, int32_t is_wide, uint32_t bound) {
    if (is_wide) return *(const column_t *)(const void *)from;
    column_t column = identity();
    column.products = tally_compensated_of(*(const double *)(const void *)from);
    column.largest = bound;
    return column;
}
#endif

#endif
