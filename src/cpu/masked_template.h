/* Segments of any lengths below a leaf, where the order cannot show: masked_segments. Once for each type, as
 * leaves_template.h.
 *
 * The lanes of transposed_template.h have as many rows as the longest segment of a batch has values, and most are idle
 * where lengths differ. Here the values of a segment are read as they lie, 64 at a time, into a few columns of its own.
 * What a segment has not is masked: replaced by the identity, so that no branch depends on a length up to 64. Then the
 * columns of a batch's segments are joined together. */
#ifndef TALLY_CPU_MASKED_TEMPLATE_H
#define TALLY_CPU_MASKED_TEMPLATE_H

#include "cpu/transposed_template.h"

#if TALLY_HAS_MASKED || TALLY_HAS_STAGED

#define TALLY_MEMBER(type, name) type name;
typedef union masked_field_t {
    TALLY_COLUMN(TALLY_MEMBER)
} masked_field_t;
#define TALLY_MASKED_READ 64 /* values */
#define TALLY_MASKED_LANES (64 / TALLY_BYTES)
#define TALLY_MASKED_WIDE ((int)(64 / sizeof(masked_field_t)))
#define TALLY_MASKED_ROWS (TALLY_MASKED_READ / TALLY_MASKED_LANES)
/* As many columns as a vector of the widest field has, or 16. */
#define TALLY_MASKED_COLUMNS (TALLY_MASKED_LANES == 8 || TALLY_MASKED_WIDE == 8 ? 8 : 16)

/* From 64 - n on: which of 64 values are among the first n. Of comparisons compilers make branches. */
#define TALLY_MASKED_8(x) x, x, x, x, x, x, x, x
#define TALLY_MASKED_64(x)                                                                                            \
    TALLY_MASKED_8(x), TALLY_MASKED_8(x), TALLY_MASKED_8(x), TALLY_MASKED_8(x), TALLY_MASKED_8(x), TALLY_MASKED_8(x), \
        TALLY_MASKED_8(x), TALLY_MASKED_8(x)
static const length_t first_masks[2 * TALLY_MASKED_READ] = {TALLY_MASKED_64(-1), TALLY_MASKED_64(0)};

/* Sums of integers are those of zeros where nothing is, but for signed halves of 64 bits, which count from elsewhere.
 */
#define TALLY_MASKED_ZEROS                                                                                \
    (!TALLY_FLOAT && (TALLY_HAS_SUM || TALLY_HAS_SQUARES) &&                                              \
     (TALLY_BYTES <= 2 || !TALLY_HAS_SUM || (TALLY_BYTES == 4 && TALLY_SUM_TERM != TALLY_TERM_PRODUCT) || \
      !TALLY_SIGNED))
#if TALLY_MASKED_ZEROS
#define TALLY_MASKED_THERE(x, there) (TALLY_T)((x) & (TALLY_T)(there))
#else
#define TALLY_MASKED_THERE(x, there) (x)
#endif

#define TALLY_MASKED_SELECT(type, name)                             \
    if (sizeof(type) == sizeof(length_t)) {                         \
        const type mask = (type)there;                              \
        a.name = (type)(b.name ^ (type)((a.name ^ b.name) & mask)); \
    } else                                                          \
        a.name = there ? a.name : b.name;
TALLY_INLINE TALLY_TARGET column_t masked_select(length_t there, column_t a, column_t b) {
#if TALLY_MASKED_ZEROS
    TALLY_IF_RANGE(TALLY_RANGE_FIELDS(TALLY_MASKED_SELECT))
    (void)there, (void)b;
#else
    TALLY_COLUMN(TALLY_MASKED_SELECT)
#endif
    return a;
}
/* 64 values, or the first n of them. Those that are `all` there have a loop of their own: if none had, gcc would not
 * find vectors for floats. */
TALLY_INLINE TALLY_TARGET void masked_rows(lanes_t lanes, const raw_t *x, const raw_t *y, const int n,
                                           const bool is_first, const bool all) {
    const length_t *const masks = first_masks + TALLY_MASKED_READ - n;
    TALLY_FREE_LANES
    for (int j = 0; j < TALLY_MASKED_LANES; j++) {
        column_t row[TALLY_MASKED_ROWS];
#pragma GCC unroll 8
        for (int k = 0; k < TALLY_MASKED_ROWS; k++) {
            const int at = k * TALLY_MASKED_LANES + j;
            const length_t there = all ? -1 : masks[at];
            row[k] = lift(item_of(TALLY_MASKED_THERE(x[at], there)), item_of(TALLY_MASKED_THERE(y[at], there)));
            if (!all) row[k] = masked_select(there, row[k], identity());
        }
        if (TALLY_MASKED_ROWS > 4) {
            row[0] = combine(row[0], row[4 % TALLY_MASKED_ROWS]);
            row[1 % TALLY_MASKED_ROWS] = combine(row[1 % TALLY_MASKED_ROWS], row[5 % TALLY_MASKED_ROWS]);
            row[2 % TALLY_MASKED_ROWS] = combine(row[2 % TALLY_MASKED_ROWS], row[6 % TALLY_MASKED_ROWS]);
            row[3 % TALLY_MASKED_ROWS] = combine(row[3 % TALLY_MASKED_ROWS], row[7 % TALLY_MASKED_ROWS]);
        }
        if (TALLY_MASKED_ROWS > 2) {
            row[0] = combine(row[0], row[2 % TALLY_MASKED_ROWS]);
            row[1 % TALLY_MASKED_ROWS] = combine(row[1 % TALLY_MASKED_ROWS], row[3 % TALLY_MASKED_ROWS]);
        }
        if (TALLY_MASKED_ROWS > 1) row[0] = combine(row[0], row[1 % TALLY_MASKED_ROWS]);
        put(lanes, j, is_first ? row[0] : combine(get(lanes, j), row[0]));
    }
}
/* Asks for what is read two KB later: while columns are folded, nothing is. */
TALLY_INLINE void masked_ahead(const raw_t *x, const raw_t *y) {
#pragma GCC unroll 8
    for (int line = 0; line < TALLY_BYTES; line++) {
        __builtin_prefetch((const char *)x + 2048 + line * 64);
        if (TALLY_KERNEL_INPUTS == 2) __builtin_prefetch((const char *)y + 2048 + line * 64);
    }
}
/* The columns of a segment of n values. */
TALLY_INLINE TALLY_TARGET void fill_masked(lanes_t its, lanes_t lanes, const raw_t *x, const raw_t *y, int n) {
    if (__builtin_expect(n > TALLY_MASKED_READ, 0)) {
        int at = TALLY_MASKED_READ;
        masked_rows(lanes, x, y, TALLY_MASKED_READ, true, true);
        for (; at + TALLY_MASKED_READ <= n; at += TALLY_MASKED_READ) {
            masked_ahead(x + at, y + at);
            masked_rows(lanes, x + at, y + at, TALLY_MASKED_READ, false, true);
        }
        if (at < n) masked_rows(lanes, x + at, y + at, n - at, false, false);
    } else
        masked_rows(lanes, x, y, n, true, false);
    if (TALLY_MASKED_LANES >= 64 && TALLY_MASKED_COLUMNS < 64 / 2) fold(lanes, 32, 32);
    if (TALLY_MASKED_LANES >= 32 && TALLY_MASKED_COLUMNS < 32 / 2) fold(lanes, 16, 16);
    if (TALLY_MASKED_LANES > TALLY_MASKED_COLUMNS) {
        TALLY_FREE_LANES
        for (int j = 0; j < TALLY_MASKED_COLUMNS; j++)
            put(its, j, combine(get(lanes, j), get(lanes, j + TALLY_MASKED_COLUMNS)));
    }
}
/* Neighbours are joined. */
TALLY_INLINE TALLY_TARGET void join_neighbours(lanes_t to, lanes_t from, const int count) {
    TALLY_FREE_LANES
    for (int j = 0; j < count; j++) put(to, j, combine(get(from, 2 * j), get(from, 2 * j + 1)));
}
/* The columns of `count` segments to a lane each. */
TALLY_INLINE TALLY_TARGET void join_masked(lanes_t lanes, lanes_t columns, lanes_t other, const int count) {
    if (TALLY_MASKED_COLUMNS == 16) {
        join_neighbours(other, columns, 8 * count);
        join_neighbours(columns, other, 4 * count);
        join_neighbours(other, columns, 2 * count);
        join_neighbours(lanes, other, count);
    } else {
        join_neighbours(other, columns, 4 * count);
        join_neighbours(columns, other, 2 * count);
        join_neighbours(lanes, columns, count);
    }
}
#endif

#if TALLY_HAS_MASKED
/* Those of the first lanes go to the lanes that the list names, and others are empty. */
TALLY_INLINE TALLY_TARGET void spread_lanes(lanes_t lanes, const int32_t *list, const int filled,
                                            const int32_t *lengths) {
    for (int i = filled - 1; i >= 0; i--) put(lanes, list[i], get(lanes, i));
    TALLY_FREE_LANES
    for (int i = 0; i < TALLY_LANES; i++) put(lanes, i, select(lengths[i] != 0, get(lanes, i), identity()));
}
#if TALLY_PASSES == 2
#if TALLY_BYTES == 1
#define TALLY_HITS(hits) (uint64_t) __builtin_ia32_cvtb2mask512(hits)
typedef char masked_hits_t __attribute__((vector_size(64), may_alias));
#elif TALLY_BYTES == 2
#define TALLY_HITS(hits) (uint64_t) __builtin_ia32_cvtw2mask512(hits)
typedef short masked_hits_t __attribute__((vector_size(64), may_alias));
#elif TALLY_BYTES == 4
#define TALLY_HITS(hits) (uint64_t) __builtin_ia32_cvtd2mask512(hits)
typedef int masked_hits_t __attribute__((vector_size(64), may_alias));
#else
#define TALLY_HITS(hits) (uint64_t) __builtin_ia32_cvtq2mask512(hits)
typedef long long masked_hits_t __attribute__((vector_size(64), may_alias));
#endif
/* Where the key is first. One of the values has it: what is read behind them comes later. */
TALLY_INLINE TALLY_TARGET int32_t find_key(const raw_t *x, int n, const TALLY_K key) {
    for (int at = 0;; at += TALLY_MASKED_READ) {
        uint64_t found = 0;
#pragma GCC unroll 8
        for (int k = 0; k < TALLY_MASKED_READ; k += TALLY_MASKED_LANES) {
            _Alignas(64) length_t hits[TALLY_MASKED_LANES];
            for (int j = 0; j < TALLY_MASKED_LANES; j++)
                hits[j] = TALLY_ARG_KEY(item_of(x[at + k + j])) == key ? -1 : 0;
            found |= TALLY_HITS(*(const masked_hits_t *)(const void *)hits) << k;
        }
        if (__builtin_expect(found != 0 || at + TALLY_MASKED_READ >= n, 1))
            return at + __builtin_ctzll(found | 1ull << 63);
    }
}
#endif

/* Results of a batch, 64 values behind which can be read; -1: too many of its segments are as long as a leaf or more.
 * A few of those, and results that take more care than lanes can, become long ones. */
TALLY_APART TALLY_TARGET int masked_segments(const raw_t *x, const raw_t *y, const int64_t *offsets,
                                             tally__kinds *kinds, const tally_final *final, char *results) {
    enum { SLACK = 64 * 16, MOST_TOO_LONG = 4 };
    _Alignas(64) char space[(TALLY_MASKED_COLUMNS + 1) * TALLY_LANES * sizeof(column_t) + 2 * SLACK],
        space_other[TALLY_MASKED_COLUMNS / 2 * TALLY_LANES * sizeof(column_t) + SLACK];
    char *scratch = space, *scratch_other = space_other;
    const lanes_t columns = carve(&scratch, TALLY_MASKED_COLUMNS * TALLY_LANES), lanes = carve(&scratch, TALLY_LANES),
                  other = carve(&scratch_other, TALLY_MASKED_COLUMNS / 2 * TALLY_LANES);
    int32_t lengths[TALLY_LANES];
    tally__list list;
    int filled = TALLY_LANES, too_long = 0;
    for (int s = 0; s < TALLY_LANES; s++) too_long += offsets[s + 1] - offsets[s] >= TALLY_LEAF;
    if (too_long > MOST_TOO_LONG) return -1;
    for (int s = 0; s < TALLY_LANES; s++) {
        const int64_t n = offsets[s + 1] - offsets[s];
        lengths[s] = (int32_t)(n < TALLY_LEAF ? n : 0);
    }
    if (kinds->shortest == 0)
        filled = tally__longer(kinds, TALLY_LANES, 0, list);
    else
        for (int s = 0; s < TALLY_LANES; s++) list[s] = s;
    for (int i = 0; i < filled; i++) {
        const int64_t from = offsets[list[i]];
        const lanes_t its = shifted(columns, i * TALLY_MASKED_COLUMNS);
        masked_ahead(x + from, y + from);
        fill_masked(its, TALLY_MASKED_LANES > TALLY_MASKED_COLUMNS ? other : its, x + from, y + from, lengths[list[i]]);
    }
    join_masked(lanes, columns, other, filled);
    if (filled < TALLY_LANES) spread_lanes(lanes, list, filled, lengths);
    for (int s = 0; s < TALLY_LANES; s++)
        kinds->lengths[s] = lengths[s] != 0 ? 1 : kinds->lengths[s] > 0 ? TALLY_LONG_SEGMENT : 0;
    kinds->most = too_long > 0 ? TALLY_LONG_SEGMENT : 1;
#if TALLY_PASSES == 2
    _Alignas(64) char space2[TALLY_LANES * sizeof(second_t) + SLACK], space_aim[TALLY_LANES * sizeof(aim_t) + SLACK];
    char *scratch2 = space2, *scratch_aim = space_aim;
    const lanes2_t lanes2 = carve2(&scratch2, TALLY_LANES);
    const lanes_aim_t aims = carve_aim(&scratch_aim, TALLY_LANES);
    TALLY_FREE_LANES
    for (int i = 0; i < TALLY_LANES; i++) put_aim(aims, i, take_aim(get(lanes, i), lengths[i]));
    for (int i = 0; i < filled; i++)
        lanes2.at[list[i]] = find_key(x + offsets[list[i]], lengths[list[i]], aims.key[list[i]]);
    finish_lanes(lanes, aims, lanes2, lengths, kinds, final, (void *)results);
#else
    finish_lanes(lanes, lengths, kinds, final, (void *)results);
#endif
    return kinds->shortest == 0 ? TALLY_FLAG_EMPTY : 0;
}

#endif
#endif
