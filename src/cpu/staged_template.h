/* Segments below a leaf whose second pass takes long for a value: staged_segments. Once for each type, as
 * leaves_template.h.
 *
 * One segment by itself is a chain: the first pass, what it aims at, the second pass, the result; and its vectors are
 * half empty. Here all of a list are done stage by stage, so that their chains overlap. The first pass is one under
 * masks (masked_template.h): its order must not show. For the second, values lie side by side, whosever they are: all
 * lanes are busy. */
#ifndef TALLY_CPU_STAGED_TEMPLATE_H
#define TALLY_CPU_STAGED_TEMPLATE_H

#include "cpu/masked_template.h"

#if TALLY_HAS_STAGED

#define TALLY_STAGED_TOGETHER 64 /* values: copied without a branch on the length up to 64 */
/* How many at a time: what is made of them stays in the first cache. */
#define TALLY_STAGED_VALUES ((int)(8192 / sizeof(TALLY_V)))
_Static_assert(TALLY_STAGED_VALUES >= TALLY_LEAF, "a segment is staged as a whole");
enum { staged_room = TALLY_STAGED_VALUES + TALLY_COLUMNS + TALLY_STAGED_TOGETHER };

/* The second column of a segment of n values from what they were lifted to. */
TALLY_INLINE TALLY_TARGET second_t small_staged(lanes2_t lifted, int32_t n) {
    arrays2_t arrays;
    lanes2_t lanes = lanes_of2(&arrays);
#pragma GCC unroll 8
    for (int row = 0; row < TALLY_SMALL_LEAF; row += TALLY_SMALL_COLUMNS) {
        TALLY_FREE_LANES
        for (int j = 0; j < TALLY_SMALL_COLUMNS; j++) {
            const second_t there = select2(row + j < n, get2(lifted, row + j), identity2());
            put2(lanes, j, row == 0 ? there : combine2(get2(lanes, j), there));
        }
    }
    return halve2(lanes, TALLY_SMALL_COLUMNS);
}
static TALLY_TARGET second_t part_staged(lanes2_t lifted, int32_t n) {
    arrays2_t arrays;
    lanes2_t lanes = lanes_of2(&arrays);
    TALLY_FREE_LANES
    for (int j = 0; j < TALLY_COLUMNS; j++) put2(lanes, j, select2(j < n, get2(lifted, j), identity2()));
    for (int32_t row = TALLY_COLUMNS; row < n; row += TALLY_COLUMNS) {
        TALLY_FREE_LANES
        for (int j = 0; j < TALLY_COLUMNS; j++)
            put2(lanes, j, combine2(get2(lanes, j), select2(row + j < n, get2(lifted, row + j), identity2())));
    }
    return halve2(lanes, part_width(n));
}
/* The second columns of `count` segments. */
TALLY_INLINE TALLY_TARGET void second_staged(lanes2_t lanes2, lanes_aim_t aims, const raw_t *x, const int64_t *offsets,
                                             const int32_t *list, const int32_t *lengths, int count) {
    _Alignas(64) char space[staged_room * (sizeof(aim_t) + sizeof(second_t)) + 2 * 64 * 16];
    _Alignas(64) TALLY_T values[staged_room];
    const int64_t ahead = offsets[list[count - 1] + 1] - offsets[list[0]];
    char *scratch = space;
    const lanes_aim_t its_aim = carve_aim(&scratch, staged_room);
    const lanes2_t lifted = carve2(&scratch, staged_room);
    for (int first = 0, end; first < count; first = end) {
        int32_t filled = 0, at = 0;
        for (end = first; end < count && filled + lengths[end] <= TALLY_STAGED_VALUES; end++) {
            const aim_t aim = get_aim(aims, end);
            for (int32_t k = 0; k < lengths[end]; k += TALLY_STAGED_TOGETHER) {
                TALLY_FREE_LANES
                for (int j = 0; j < TALLY_STAGED_TOGETHER; j++) put_aim(its_aim, filled + k + j, aim);
            }
            filled += lengths[end];
        }
        const raw_t *from = x + offsets[list[first]];
        if (offsets[list[end - 1] + 1] - offsets[list[first]] != filled) { /* others lie between them */
            for (int i = first; i < end; i++) {
                const raw_t *const its = x + offsets[list[i]];
                for (int32_t k = 0; k < lengths[i]; k += TALLY_STAGED_TOGETHER)
                    __builtin_memcpy(values + at + k, its + k, TALLY_STAGED_TOGETHER * TALLY_BYTES);
                at += lengths[i];
            }
            from = (const raw_t *)values;
            at = 0;
        }
        filled = (filled + TALLY_STAGED_TOGETHER - 1) & -TALLY_STAGED_TOGETHER;
        TALLY_WIDE(wide, from, staged_room, filled)
        for (int32_t k = 0; k < filled; k += TALLY_STAGED_TOGETHER) {
            const char *const next = (const char *)(x + offsets[list[first]] + ahead + k);
#pragma GCC unroll 8
            for (int line = 0; line < TALLY_STAGED_TOGETHER * TALLY_BYTES; line += 64)
                __builtin_prefetch(next + line, 0, 2);
            TALLY_FREE_LANES
            for (int32_t j = k; j < k + TALLY_STAGED_TOGETHER; j++)
                put2(lifted, j, lift2(item_at(from, wide, j), 0, get_aim(its_aim, j)));
        }
        for (int i = first; i < end; i++) {
            const lanes2_t its = shifted2(lifted, at);
            const int32_t n = lengths[i];
            put2(lanes2, i, n <= TALLY_SMALL_LEAF ? small_staged(its, n) : part_staged(its, n));
            at += n;
        }
    }
}
#define TALLY_STAGED_LEAST 4                            /* segments */
#define TALLY_STAGED_LANES (TALLY_BYTES == 2 ? 32 : 16) /* at a time: vectors are whole */
/* Results of segments of the list, none empty; returns what was seen (TALLY_FLAG_...). Those that are as long as a leaf
 * and more, or too close to what cannot be read, are left in the list; if they are many, all are: memory is best read
 * in order. */
TALLY_APART TALLY_TARGET int staged_segments(const raw_t *x, int64_t limit, const int64_t *offsets, int32_t *list,
                                             int *count, const tally_final *final, char *results) {
    enum { SLACK = 64 * 16, MOST_OTHERS = 4 };
    _Alignas(64) char space[(TALLY_MASKED_COLUMNS + 1) * TALLY_LANES * sizeof(column_t) + 2 * SLACK],
        space_other[TALLY_MASKED_COLUMNS / 2 * TALLY_LANES * sizeof(column_t) + SLACK],
        space2[TALLY_LANES * (sizeof(second_t) + sizeof(aim_t)) + 2 * SLACK];
    char *scratch = space, *scratch_other = space_other, *scratch2 = space2;
    const lanes_t columns = carve(&scratch, TALLY_MASKED_COLUMNS * TALLY_LANES), lanes = carve(&scratch, TALLY_LANES),
                  other = carve(&scratch_other, TALLY_MASKED_COLUMNS / 2 * TALLY_LANES);
    const lanes2_t lanes2 = carve2(&scratch2, TALLY_LANES);
    const lanes_aim_t aims = carve_aim(&scratch2, TALLY_LANES);
    const tally_final local = *final;
    tally__list taken, others;
    _Alignas(64) int32_t lengths[TALLY_LANES], counts[TALLY_LANES];
    result_anywhere_t made[TALLY_LANES];
    int filled = 0, left = 0, flags = 0, whole;
    for (int i = 0; i < *count; i++) {
        const int32_t s = list[i];
        const int64_t n = offsets[s + 1] - offsets[s];
        const int fits = n < TALLY_LEAF && offsets[s + 1] <= limit - TALLY_STAGED_TOGETHER;
        taken[filled] = s;
        others[left] = s;
        lengths[filled] = counts[filled] = (int32_t)n;
        filled += fits;
        left += !fits;
    }
    if (filled == 0 || left > MOST_OTHERS) return 0;
    for (int i = 0; i < left; i++) list[i] = others[i];
    *count = left;
    for (int i = 0; i < filled; i++) {
        const raw_t *const its = x + offsets[taken[i]];
        const lanes_t to = shifted(columns, i * TALLY_MASKED_COLUMNS);
        masked_ahead(its, its);
        fill_masked(to, TALLY_MASKED_LANES > TALLY_MASKED_COLUMNS ? other : to, its, its, lengths[i]);
#if TALLY_NAN == 1
        counts[i] = (int32_t)count_present(its, its, lengths[i]);
        flags |= counts[i] == 0 ? TALLY_FLAG_EMPTY : 0;
#endif
    }
    join_masked(lanes, columns, other, filled);
    whole = (filled + TALLY_STAGED_LANES - 1) & -TALLY_STAGED_LANES;
    for (int i = filled; i < whole; i++) {
        put(lanes, i, identity());
        put2(lanes2, i, identity2());
        counts[i] = 0;
    }
    TALLY_FREE_LANES
    for (int i = 0; i < whole; i++) put_aim(aims, i, take_aim(get(lanes, i), counts[i]));
    second_staged(lanes2, aims, x, offsets, taken, lengths, filled);
    TALLY_FREE_LANES
    for (int i = 0; i < whole; i++)
        made[i].value = finish(to_node(get(lanes, i), get_aim(aims, i), get2(lanes2, i), counts[i], 0), &local);
    for (int i = 0; i < filled; i++) write(results, taken[i], made[i].value);
    return flags;
}

#endif
#endif
