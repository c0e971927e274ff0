/* A tile of exact segments by prefix sums: how a block reads it, shares it out, adds it up and finds the sum of each
 * segment.
 *
 * The tile's values are measured first, so that nothing is guessed: they are scaled below 1 by a power of two, and cut
 * into levels (sums/levels.h) whose units are constants of the program. A thread adds up a chunk of consecutive values
 * and stores its levels at each end of a segment in it. Counts of levels are integers, and integers form a group: a
 * segment's sum is the difference of two prefixes, whatever its length (Blelloch, "Prefix sums and their
 * applications", 1990). */
#ifndef TALLY_PREFIX_H
#define TALLY_PREFIX_H

#include "exact_segments/flat_nodes.h"
#include "sums/levels.h"

#define TALLY_PREFIX_LEVELS TALLY_PREFIX_LEVELS_OF(TALLY_BYTES, TALLY_PREFIX_WIDE)
#define TALLY_PREFIX_THREADS TALLY_PREFIX_THREADS_OF(TALLY_BYTES, TALLY_PREFIX_WIDE)
/* How many values a thread's chunk has at most. */
#define TALLY_CHUNK_MOST(is_wide) \
    (((TALLY_PREFIX_TILE_MOST / 16 / TALLY_PREFIX_THREADS_OF(TALLY_BYTES, is_wide)) | 1) * 16 / TALLY_BYTES)
/* How many binades the first level holds, from the top down, and all levels; the others hold one more each. */
#define TALLY_FIRST_BITS(is_wide) (TALLY_BINADE - (TALLY_CHUNK_MOST(is_wide) > 32 ? 6 : 5))
#define TALLY_BINADES_HELD(is_wide) \
    (TALLY_FIRST_BITS(is_wide) + (TALLY_FIRST_BITS(is_wide) + 1) * (TALLY_PREFIX_LEVELS_OF(TALLY_BYTES, is_wide) - 1))
enum {
    mark_words = TALLY_CHUNK_MOST(TALLY_PREFIX_WIDE) > 32 ? 2 : 1,
    first_bits = TALLY_FIRST_BITS(TALLY_PREFIX_WIDE),
    level_bits = first_bits + 1,
    value_words = TALLY_HAS_SUM * TALLY_PREFIX_LEVELS,
    product_words = TALLY_HAS_PRODUCTS * 2 * TALLY_PREFIX_LEVELS,
    prefix_words = value_words + product_words,
    prefix_warps = TALLY_PREFIX_THREADS / TALLY_WARP,
    base_pitch = TALLY_PREFIX_THREADS + TALLY_PREFIX_THREADS / 8 + 1,
    end_place_bits = 14 /* of an entry of `ends`; evidence and a count of absent values stand above them */
};
#define TALLY_END_PLACE ((1 << end_place_bits) - 1)

/* A tile. Places are of values in shared memory, where the tile's first is number `skew`. */
typedef struct tile_t {
    int64_t s;      /* the first segment that ends here */
    int64_t origin; /* the tile's first value */
    int64_t first;  /* the tile in which the segment begins that runs into this one, or this one */
    int32_t y_at, prefixes_at, keys_at, ends_at; /* where these arrays begin in the buffer, in bytes */
    int32_t count, n;                            /* segments that end here; values */
    int32_t skew, pitch;                         /* pitch: ends that there can be at different values */
    int32_t chunk;             /* 16-byte parts of a chunk; an odd number, so that threads meet different banks */
    int32_t over;              /* 65536 / chunk, rounded up */
    int32_t runs_in, runs_out; /* a segment crosses the boundary */
    int32_t is_good, is_bulk;  /* the boundaries are those of a segmentation; the values are copied by one thread */
    int32_t scale_x, scale_y;  /* values are multiplied by 2^scale */
} tile_t;

/* What lies in the buffer: values; word k at end r, of those at different values: prefixes[k * pitch + r]; keys of what
 * lies between an end and the one before, or the chunk's beginning; where segments end, and behind them where the tile
 * does. */
TALLY_FN TALLY_T *x_in_buffer(char *buffer) { return (TALLY_T *)(void *)buffer; }
TALLY_FN TALLY_T *y_in_buffer(const tile_t *tile, char *buffer) {
    return (TALLY_T *)(void *)(TALLY_KERNEL_INPUTS == 2 ? buffer + tile->y_at : buffer);
}
TALLY_FN int64_t *prefixes_of(const tile_t *tile, char *buffer) {
    return (int64_t *)(void *)(buffer + tile->prefixes_at);
}
TALLY_FN int32_t *ends_of(const tile_t *tile, char *buffer) { return (int32_t *)(void *)(buffer + tile->ends_at); }
#if TALLY_HAS_KEYS
TALLY_FN TALLY_K *low_of(const tile_t *tile, char *buffer) { return (TALLY_K *)(void *)(buffer + tile->keys_at); }
TALLY_FN TALLY_K *high_of_keys(const tile_t *tile, char *buffer) { return low_of(tile, buffer) + tile->pitch; }
#endif

/* What a block has beside the values, the ends and the prefixes, which lie in the launch's buffer. */
typedef struct side_t {
    int64_t base[prefix_words][base_pitch]; /* of each chunk, what comes before it; one in 9 places is unused */
#if TALLY_HAS_KEYS
    TALLY_K low[TALLY_PREFIX_THREADS], high[TALLY_PREFIX_THREADS]; /* of each chunk, what comes behind its last end */
#endif
    uint32_t marks[TALLY_PREFIX_THREADS * mark_words]; /* of each chunk a bit for each value that ends come before */
    int32_t ends_before[TALLY_PREFIX_THREADS];         /* each chunk, at different values */
    uint32_t most[2][prefix_warps], least[2][prefix_warps];
    int32_t is_bad, is_unordered, is_wanted;
    tally_mbarrier mbarrier;
    tile_t tile;
} side_t;

/* Word k counts units of 2^unit of a scaled value. */
TALLY_FN int32_t unit_of_prefix(const int32_t k) {
    const int32_t level = k < value_words ? k : k - value_words;
    return -(first_bits + level_bits * level);
}
TALLY_FN int32_t scale_of_prefix(const tile_t *tile, const int32_t k) {
    return k < value_words ? tile->scale_x : tile->scale_x + tile->scale_y;
}
TALLY_FN double prefix_anchor(const int32_t k) { return tally_anchor(unit_of_prefix(k)); }

/* ---- reading ---- */

/* Whether the whole 16-byte parts around the tile's values are the array's, so that they can be copied in bulk. */
TALLY_FN int32_t copies_in_bulk(const tally_source *from, int64_t at, int32_t n, int32_t skew, int64_t all) {
    const int32_t behind = (TALLY_PART - (skew + n) % TALLY_PART) % TALLY_PART;
    const int32_t is_packed =
        from->stride == TALLY_BYTES && ((uint64_t)from->values + (uint64_t)(at - skew) * TALLY_BYTES) % 16 == 0;
    return TALLY_HAS_BULK && is_packed && n > 0 && at >= skew && all - at - n >= behind;
}
/* By one thread, towards the block's mbarrier. */
TALLY_FN void copy_in_bulk(const tally_source *from, int64_t at, int32_t n, int32_t skew, TALLY_T *to,
                           tally_mbarrier *mbarrier) {
    const int32_t parts = (skew + n + TALLY_PART - 1) / TALLY_PART;
    tally_copy_bulk(to, from->values + (at - skew) * TALLY_BYTES, parts * 16, 0, mbarrier);
}
/* Zeros where a bulk copy has brought values of other tiles. */
TALLY_FN void clear_around(const tile_t *tile, TALLY_T *to) {
    const int32_t i = tally_thread(), end = tile->skew + tile->n;
    if (i < tile->skew) to[i] = plus_zero();
    if (i < TALLY_PART && (end + i) / TALLY_PART == end / TALLY_PART && end % TALLY_PART != 0)
        to[end + i] = plus_zero();
}
/* Begins to copy n values from number `at` on to places from `skew` on, and zeros around them up to whole parts. */
TALLY_FN void copy_tile(const tally_source *from, int64_t at, int32_t n, int32_t skew, TALLY_T *to) {
    const char *const begin = from->values + at * from->stride;
    const int32_t parts = (skew + n + TALLY_PART - 1) / TALLY_PART;
    const int32_t is_packed = from->stride == TALLY_BYTES && ((uint64_t)begin - (uint64_t)skew * TALLY_BYTES) % 16 == 0;
    TALLY_ROLLED
    for (int32_t part = tally_thread(); part < parts; part += TALLY_PREFIX_THREADS) {
        const int32_t first = part * TALLY_PART - skew;
        if (is_packed && first >= 0 && first + TALLY_PART <= n) {
            tally_copy16(to + part * TALLY_PART, begin + first * TALLY_BYTES);
            continue;
        }
        TALLY_ROLLED
        for (int32_t i = first; i < first + TALLY_PART; i++)
            to[skew + i] = i >= 0 && i < n ? read_one(from, at + i) : plus_zero();
    }
}
/* The ends, and whether they are within the tile. Whether they are in order, mark_ends sees. */
TALLY_FN void copy_ends(const tally_segments_work *work, const tile_t *tile, char *buffer, side_t *side) {
    int32_t *const ends = ends_of(tile, buffer);
    int32_t is_bad = 0, is_wanted = work->partition.unsure == 0;
    TALLY_ROLLED
    for (int32_t e = tally_thread(); e <= tile->count; e += TALLY_PREFIX_THREADS) {
        const int64_t end = e < tile->count ? tally_apart(begin_of(work, tile->s + e + 1), tile->origin) : tile->n;
        is_bad |= end < 0 || end > tile->n;
        ends[e] = (int32_t)end & TALLY_END_PLACE;
        if (!is_wanted && tile->s + e < work->partition.count) is_wanted = wants_segment(work, tile->s + e);
    }
    if (is_bad) side->is_bad = 1;
    if (is_wanted) side->is_wanted = 1;
}

/* ---- ends of segments as bits of chunks ---- */

/* The chunk of a place; and what is left of it. */
TALLY_FN int32_t chunk_of(const tile_t *tile, int32_t place, int32_t *bit) {
    const int32_t chunk = (int32_t)((uint32_t)(place / TALLY_PART) * (uint32_t)tile->over >> 16);
    *bit = place - chunk * tile->chunk * TALLY_PART;
    return chunk;
}
/* A thread takes four ends that follow one another, and those of one word together. */
TALLY_FN void mark_ends(const tile_t *tile, char *buffer, side_t *side) {
    const int32_t *const ends = ends_of(tile, buffer);
    int32_t is_bad = 0;
    TALLY_ROLLED
    for (int32_t first = 4 * tally_thread(); first < tile->count; first += 4 * TALLY_PREFIX_THREADS) {
        int32_t word = 0, before = first > 0 ? ends[first - 1] : 0;
        uint32_t bits = 0;
        TALLY_UNROLL
        for (int32_t i = 0; i < 4; i++) {
            if (first + i >= tile->count) continue;
            int32_t bit;
            const int32_t end = ends[first + i], chunk = chunk_of(tile, tile->skew + end, &bit);
            const int32_t its = mark_words == 2 ? 2 * chunk + (bit >> 5) : chunk;
            is_bad |= end < before;
            before = end;
            if (its != word && bits != 0) {
                tally_or32((int32_t *)side->marks + word, (int32_t)bits);
                bits = 0;
            }
            word = its;
            bits |= (uint32_t)1 << (bit & 31);
        }
        if (bits != 0) tally_or32((int32_t *)side->marks + word, (int32_t)bits);
    }
    if (is_bad) side->is_unordered = 1;
}
TALLY_FN uint64_t marks_of(const side_t *side, int32_t chunk) {
    const int32_t words = mark_words;
    if (words == 1) return side->marks[chunk];
    return side->marks[2 * chunk] | (uint64_t)side->marks[words == 2 ? 2 * chunk + 1 : 0] << 32;
}
TALLY_FN int32_t count_bits(uint64_t bits) {
    return mark_words == 2 ? __builtin_popcountll(bits) : __builtin_popcount((uint32_t)bits);
}
/* How many marks stand before the thread's chunk. */
TALLY_FN int32_t rank_chunk(side_t *side, uint64_t marks) {
    const int32_t mine = count_bits(marks);
    int32_t others = 0;
    TALLY_UNROLL
    for (int32_t w = 0; w < prefix_warps - 1; w++)
        if (w < tally_warp()) others += count_bits(marks_of(side, w * TALLY_WARP + tally_lane()));
    TALLY_UNROLL
    for (int32_t mask = TALLY_WARP / 2; mask > 0; mask /= 2)
        others += (int32_t)tally_shuffle_xor((uint32_t)others, mask);
    const int32_t before = others + tally_sum_before_lane(mine);
    side->ends_before[tally_thread()] = before;
    return before;
}
/* The prefix at a place where segments end: its number among those, and its chunk. */
TALLY_FN int32_t end_at(const tile_t *tile, const side_t *side, int32_t place, int32_t *chunk) {
    int32_t bit;
    *chunk = chunk_of(tile, place, &bit);
    return side->ends_before[*chunk] + count_bits(marks_of(side, *chunk) & (((uint64_t)1 << bit) - 1));
}
TALLY_FN int32_t base_of(int32_t chunk) { return chunk + chunk / 8; }

/* ---- how large values are ---- */

/* The extent of a chunk. */
TALLY_FN extent_t measure_chunk(const TALLY_T *x, int32_t parts) {
    extent_t e = {0, UINT32_MAX};
#if TALLY_BYTES == 2
    uint32_t most = 0, least = UINT32_MAX; /* two sizes at a time */
    TALLY_ROLLED
    for (int32_t i = 0; i < parts; i++) {
        const tally_quad quad = tally_take16((const char *)(x + i * TALLY_PART));
        TALLY_UNROLL
        for (int32_t k = 0; k < 4; k++) {
            most = tally_max_halves(quad.w[k] & 0x7fff7fff, most);
            least = tally_min_halves_less_one(quad.w[k] & 0x7fff7fff, least);
        }
    }
    e.most = (most & 0xffff) > most >> 16 ? most & 0xffff : most >> 16;
    e.least = (least & 0xffff) < least >> 16 ? least & 0xffff : least >> 16;
    if (e.least == 0xffff) e.least = UINT32_MAX;
#else
    TALLY_ROLLED
    for (int32_t i = 0; i < parts; i++) {
        const tally_quad quad = tally_take16((const char *)(x + i * TALLY_PART));
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_PART; v++) {
            const uint32_t size = size_bits(value_of_part(&quad, v));
            e.most = size > e.most ? size : e.most;
            e.least = tally_min_less_one(size, e.least);
        }
    }
#endif
    return e;
}
TALLY_FN void share_extent(extent_t e, side_t *side, const int32_t input) {
    e = measure_warp(e);
    if (tally_lane() == 0) side->most[input][tally_warp()] = e.most, side->least[input][tally_warp()] = e.least;
}
/* Of all chunks, behind a barrier. */
TALLY_FN extent_t shared_extent(const side_t *side, const int32_t input) {
    extent_t e = {0, UINT32_MAX};
    TALLY_UNROLL
    for (int32_t w = 0; w < prefix_warps; w++) {
        const uint32_t most = side->most[input][w], least = side->least[input][w];
        e.most = most > e.most ? most : e.most;
        e.least = least < e.least ? least : e.least;
    }
    return e;
}
/* By which power of two values of an extent are multiplied, to be below 1; beyond 2^1000 there is none, nor need. */
TALLY_FN int32_t scale_for(extent_t e) {
    const int32_t scale = e.most == 0 ? 0 : -high_of(e.most);
    return scale > 1000 ? 1000 : scale;
}
/* The lowest bit that scaled values have. */
TALLY_FN int32_t scaled_unit(extent_t e, int32_t scale) { return e.most == 0 ? 0 : unit_of(e.least) + scale; }
TALLY_FN void choose_scales(tile_t *tile, extent_t x, extent_t y) {
    tile->scale_x = scale_for(x);
    tile->scale_y = TALLY_KERNEL_INPUTS == 2 ? scale_for(y) : tile->scale_x;
}
/* Whether levels of so many binades hold the tile's values, whose scales are chosen and such as a double can be. */
TALLY_FN int32_t levels_hold(const tile_t *tile, extent_t x, extent_t y, const int32_t binades) {
    enum { FARTHEST = 1000 };
    const int32_t unit_x = scaled_unit(x, tile->scale_x), unit_y = scaled_unit(y, tile->scale_y);
    int32_t holds = tile->scale_x >= -FARTHEST && tile->scale_y >= -FARTHEST;
    if (TALLY_HAS_SUM || TALLY_KERNEL_INPUTS == 1) holds &= -unit_x <= binades;
    if (TALLY_KERNEL_INPUTS == 2) holds &= -unit_x - unit_y <= 2 * binades;
    return holds;
}

/* ---- infinities and NaNs ---- */

/* Notes them at the end of their segment, and leaves zeros behind. */
TALLY_RARE void note_specials(const tile_t *tile, char *buffer, int32_t from, int32_t until) {
    int32_t *const ends = ends_of(tile, buffer);
    for (int32_t i = from < tile->skew ? tile->skew : from; i < until && i < tile->skew + tile->n; i++) {
        TALLY_T *const x = x_in_buffer(buffer) + i, *const y = y_in_buffer(tile, buffer) + i;
        if (!term_is_special(*x, *y)) continue;
        int32_t low = 0, high = tile->count;
        while (low < high) { /* the first end behind the value */
            const int32_t middle = (low + high) / 2;
            if ((tally_look32(&ends[middle]) & TALLY_END_PLACE) > i - tile->skew)
                high = middle;
            else
                low = middle + 1;
        }
        const int32_t is_absent = term_is_absent(*x, *y);
        if (is_absent)
            tally_add32(&ends[low], 8 << end_place_bits);
        else
            tally_or32(&ends[low],
                       (evidence_of(*x, *y) & (TALLY_SEEN_PLUS | TALLY_SEEN_MINUS | TALLY_SEEN_NAN)) / TALLY_SEEN_PLUS
                           << end_place_bits);
        clear_term(x, y, is_absent);
    }
}
TALLY_FN noted_t noted_at_end(int32_t end) {
    noted_t a = nothing_noted();
    a.seen = (end >> end_place_bits & 7) * TALLY_SEEN_PLUS;
    a.absent = end >> (end_place_bits + 3);
    if (a.seen != 0) a.seen |= TALLY_NOT_MINUS_ZERO;
    return a;
}

#if TALLY_HAS_KEYS
/* ---- keys ---- */

/* The keys of the thread's chunk: at each end since the one before, and behind the last. */
TALLY_FN void take_keys(const tile_t *tile, char *buffer, side_t *side, uint64_t marks, int32_t rank) {
    const TALLY_T *const x = x_in_buffer(buffer);
    TALLY_K *const lows = low_of(tile, buffer), *const highs = high_of_keys(tile, buffer);
    const int32_t begin = tally_thread() * tile->chunk * TALLY_PART, all = tile->skew + tile->n;
    TALLY_K low = TALLY_K_HIGH, high = TALLY_K_LOW;
    TALLY_ROLLED
    for (int32_t i = begin; i <= all && i < begin + tile->chunk * TALLY_PART; i++, marks >>= 1) {
        if (marks & 1) {
            lows[rank] = low;
            highs[rank++] = high;
            low = TALLY_K_HIGH, high = TALLY_K_LOW;
        }
        if (i < tile->skew || i >= all || (TALLY_NAN == 1 && value_is_nan(x[i]))) continue;
        const TALLY_K key = order_key(x[i]);
        low = key < low ? key : low;
        high = key > high ? key : high;
    }
    side->low[tally_thread()] = low;
    side->high[tally_thread()] = high;
}
TALLY_FN void join_chunk(noted_t *a, const side_t *side, int32_t chunk) {
    a->low = side->low[chunk] < a->low ? side->low[chunk] : a->low;
    a->high = side->high[chunk] > a->high ? side->high[chunk] : a->high;
}
/* The keys of a segment that ends as number `rank` of chunk `last`, and begins at a place of this tile. */
TALLY_FN void keys_at_end(const tile_t *tile, char *buffer, const side_t *side, int32_t begin, int32_t last,
                          int32_t rank, noted_t *a) {
    int32_t bit;
    const int32_t first = chunk_of(tile, begin, &bit);
    a->low = low_of(tile, buffer)[rank];
    a->high = high_of_keys(tile, buffer)[rank];
    TALLY_ROLLED
    for (int32_t chunk = first; chunk < last; chunk++) join_chunk(a, side, chunk);
}
/* Those of what lies behind the tile's last end, which is at a place. */
TALLY_FN void keys_behind(const tile_t *tile, const side_t *side, int32_t begin, noted_t *a) {
    int32_t bit;
    TALLY_ROLLED
    for (int32_t chunk = chunk_of(tile, begin, &bit); chunk < TALLY_PREFIX_THREADS; chunk++) join_chunk(a, side, chunk);
}
#endif

/* ---- sums ---- */

/* Adds a pair of values to the levels. A product of a value and a power of two is exact, so that fused operations round
 * once. */
TALLY_FN void put_pair(double *at, double x, double y, double scale_x, double scale_y) {
    (void)y, (void)scale_y;
#if TALLY_HAS_SUM
    const double size = TALLY_SUM_TERM == TALLY_TERM_MAGNITUDE ? tally_from_bits_f64(tally_bits_f64(x) & INT64_MAX) : x;
    const double first = __builtin_fma(size, scale_x, at[0]);
    if (value_words > 1) tally_put_term(at, __builtin_fma(size, scale_x, -(first - at[0])), 1, value_words);
    at[0] = first;
#endif
#if TALLY_HAS_PRODUCTS
    double *const products = at + value_words;
    const double a = x * scale_x, b = TALLY_KERNEL_INPUTS == 2 ? y * scale_y : a;
#if TALLY_IS_F64
    const double product = a * b;
    tally_put_term(products, product, 0, product_words);
    tally_put_term(products, __builtin_fma(a, b, -product), 1, product_words);
#else
    const double most = __builtin_fma(a, b, products[0]);
    tally_put_term(products, __builtin_fma(a, b, -(most - products[0])), 1, product_words);
    products[0] = most;
#endif
#endif
}
TALLY_FN void put_prefix(int64_t *to, int32_t pitch, const double *at) {
    TALLY_UNROLL
    for (int32_t k = 0; k < prefix_words; k++) to[k * pitch] = tally_bits_f64(at[k]);
}
TALLY_FN void put_part(double *at, const tally_quad *x, const tally_quad *y, int32_t v, double scale_x,
                       double scale_y) {
    put_pair(at, (double)value_of(value_of_part(x, v)), (double)value_of(value_of_part(y, v)), scale_x, scale_y);
}
/* Adds up the thread's chunk. */
TALLY_FN void add_prefixes(const tile_t *tile, char *buffer, side_t *side, uint64_t marks, int32_t rank) {
    const int32_t begin = tally_thread() * tile->chunk, all = (tile->skew + tile->n + TALLY_PART - 1) / TALLY_PART;
    const int32_t parts = all - begin < 0 ? 0 : all - begin < tile->chunk ? all - begin : tile->chunk;
    const TALLY_T *const x = x_in_buffer(buffer) + begin * TALLY_PART, *const y = y_in_buffer(tile, buffer) +
                                                                                  begin * TALLY_PART;
    const tally_quad none = {{0, 0, 0, 0}};
    int64_t *to = prefixes_of(tile, buffer) + rank;
    const int32_t pitch = tile->pitch, chunk = tile->chunk;
    const double scale_x = tally_power_of_two(tile->scale_x), scale_y = tally_power_of_two(tile->scale_y);
    double at[prefix_words];
    TALLY_UNROLL
    for (int32_t k = 0; k < prefix_words; k++) at[k] = prefix_anchor(k);
    TALLY_ROLLED
    for (int32_t i = 0; i < chunk; i++) {
        const tally_quad of_x = i < parts ? tally_take16((const char *)(x + i * TALLY_PART)) : none;
        const tally_quad of_y = TALLY_KERNEL_INPUTS == 1 ? of_x
                                : i < parts              ? tally_take16((const char *)(y + i * TALLY_PART))
                                                         : none;
        if (tally_any((uint32_t)marks & (((uint32_t)1 << TALLY_PART) - 1))) { /* all lanes go the same way */
            TALLY_UNROLL
            for (int32_t v = 0; v < TALLY_PART; v++) {
                if ((uint32_t)marks & (uint32_t)1 << v) put_prefix(to++, pitch, at);
                put_part(at, &of_x, &of_y, v, scale_x, scale_y);
            }
        } else {
            TALLY_UNROLL
            for (int32_t v = 0; v < TALLY_PART; v++) put_part(at, &of_x, &of_y, v, scale_x, scale_y);
        }
        marks >>= TALLY_PART;
    }
    TALLY_UNROLL
    for (int32_t k = 0; k < prefix_words; k++)
        side->base[k][base_of(tally_thread())] = tally_apart(tally_bits_f64(at[k]), tally_bits_f64(prefix_anchor(k)));
}
/* The sums of chunks become sums before chunks, a warp for each word; the last is that of all. */
TALLY_FN void scan_chunks(side_t *side) {
    enum { EACH = TALLY_PREFIX_THREADS / TALLY_WARP };
    for (int32_t k = tally_warp(); k < prefix_words; k += prefix_warps) {
        int64_t v[EACH], sum = 0, before;
        TALLY_UNROLL
        for (int32_t i = 0; i < EACH; i++)
            v[i] = side->base[k][base_of(tally_lane() * EACH + i)], sum = tally_further(sum, v[i]);
        before = sum;
        TALLY_UNROLL
        for (int32_t d = 1; d < TALLY_WARP; d *= 2) {
            const int64_t other = tally_of_lane64(before, tally_lane() < d ? tally_lane() : tally_lane() - d);
            if (tally_lane() >= d) before = tally_further(before, other);
        }
        if (tally_lane() == TALLY_WARP - 1) side->base[k][base_pitch - 1] = before;
        before = tally_apart(before, sum);
        TALLY_UNROLL
        for (int32_t i = 0; i < EACH; i++)
            side->base[k][base_of(tally_lane() * EACH + i)] = before, before = tally_further(before, v[i]);
    }
}
/* Word k of the sum of all values before a place where segments end, and of the anchor. */
TALLY_FN int64_t prefix_at(const tile_t *tile, char *buffer, const side_t *side, const int32_t k, int32_t rank,
                           int32_t chunk) {
    return tally_further(prefixes_of(tile, buffer)[k * tile->pitch + rank], side->base[k][base_of(chunk)]);
}

/* ---- what sums give ---- */

/* The counts of two levels as a pair in units of the second. A count is a double and what that leaves. */
TALLY_FN tally_pair pair_of_two(int64_t first, int64_t second) {
    const double step = tally_power_of_two(level_bits);
    const double a = (double)first, c = (double)second, b = (double)tally_apart(first, (int64_t)a),
                 d = (double)tally_apart(second, (int64_t)c);
    const tally_pair middle = tally_two_sum(b * step, c);
    return tally_three_sum(a * step, middle.high, tally_to_odd(tally_two_sum(middle.low, d)));
}
/* The counts of any number of levels as a pair in units of 2^*unit levels above the last, by digits of level_bits. */
TALLY_FN tally_pair pair_of_many(const int64_t *d, const int32_t count, int32_t *unit) {
    const int64_t half = (int64_t)1 << (level_bits - 1);
    int64_t digit[prefix_words + 1], carry = 0;
    double a = 0, b = 0, c = 0, e = 0, left = 0;
    int32_t taken = 0;
    TALLY_UNROLL
    for (int32_t k = count - 1; k >= 0; k--) {
        const int64_t all = tally_further(d[k], carry);
        carry = tally_further(all, half) >> level_bits;
        digit[k + 1] = tally_apart(all, (int64_t)((uint64_t)carry << level_bits));
    }
    digit[0] = carry;
    *unit = -3;
    TALLY_UNROLL
    for (int32_t k = 0; k <= count; k++) {
        const double v = (double)digit[k];
        a = taken == 0 ? v : a;
        b = taken == 1 ? v : b;
        c = taken == 2 ? v : c;
        e = taken == 3 ? v : e;
        left = taken >= 4 && left == 0 ? v : left;
        *unit = taken == 0 ? count - k - 3 : *unit;
        taken += taken > 0 || digit[k] != 0;
    }
    return tally_sum_of_digits(a, b, c, e, left, tally_power_of_two(level_bits));
}
TALLY_FN tally_pair scaled_pair(const int64_t *d, const int32_t count, int32_t scale) {
    int32_t unit = -(first_bits + level_bits * (count - 1)) - scale, more = 0;
    tally_pair p;
    if (count == 1) {
        p.high = (double)d[0];
        p.low = (double)tally_apart(d[0], (int64_t)p.high);
    } else if (count == 2)
        p = pair_of_two(d[0], d[1]);
    else {
        p = pair_of_many(d, count, &more);
        unit += more * level_bits;
    }
    const double by = tally_power_of_two(unit);
    const tally_pair scaled = {p.high * by, p.low * by};
    return scaled;
}

#endif
