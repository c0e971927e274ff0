/* Segments that follow one another, a bunch at a time. Part of template.h; no include guard.
 *
 * A branch on a segment's length is foretold wrongly again and again where lengths are mixed, and costs more than a short
 * segment's arithmetic. So a bunch is sorted first, without branches: empty segments get the one result they can have; short
 * ones are copied to slots of equal width and reduced across, a vector lane for each segment; only the rest are taken one by
 * one, in order, as hardware prefetchers do not follow visits with gaps. */

#ifndef TALLY_SEGMENT_KINDS
#define TALLY_SEGMENT_KINDS
enum { TALLY_BUNCH = 64, TALLY_ACROSS = 16 };

/* The least and the greatest length. */
static TALLY_TARGET void tally__length_range(const int64_t *offsets, int count, int64_t *shortest, int64_t *longest) {
    int64_t low = INT64_MAX, high = 0;
    for (int s = 0; s < count; s++) {
        int64_t n = offsets[s + 1] - offsets[s];
        low = n < low ? n : low;
        high = n > high ? n : high;
    }
    *shortest = low;
    *longest = high;
}
#endif

/* ---- TALLY_ACROSS segments at once ---- */

/* Value k of TALLY_ACROSS segments `apart` values apart moves to row k, for `rows` rows, both constants; rows beyond the values
 * repeat one. */
TALLY_INLINE TALLY_TARGET void TALLY_N(turn)(TALLY_T *turned, const TALLY_N(raw) *x, const int apart, const int rows) {
    TALLY_FREE_LANES
    for (int i = 0; i < TALLY_ACROSS; i++)
#pragma GCC unroll 8
        for (int k = 0; k < rows; k++) turned[k * TALLY_ACROSS + i] = x[i * apart + (k < apart ? k : 0)];
}
/* The tree over turned values: rows is 1, 2, 4 or 8, lengths at most that. The result lies in the first TALLY_ACROSS lanes. */
TALLY_INLINE TALLY_TARGET void TALLY_N(lift_across)(TALLY_N(lanes) lanes, const TALLY_T *x, const TALLY_T *y,
                                                    const int32_t *lengths, int rows) {
    const int half = TALLY_SMALL_COLUMNS / 2;
    for (int k = 0; k < rows && k < half; k++) {
        TALLY_FREE_LANES
        for (int i = 0; i < TALLY_ACROSS; i++) {
            int j = k * TALLY_ACROSS + i;
            TALLY_N(column) a = TALLY_N(lift)(TALLY_N(item_of)(x[j]), TALLY_N(item_of)(y[j]));
            TALLY_N(put)(lanes, j, TALLY_N(select)(k < lengths[i], a, TALLY_N(identity)()));
        }
    }
    for (int k = half; k < rows; k++) {
        TALLY_FREE_LANES
        for (int i = 0; i < TALLY_ACROSS; i++) {
            int j = k * TALLY_ACROSS + i, above = j - half * TALLY_ACROSS;
            TALLY_N(column) a = TALLY_N(lift)(TALLY_N(item_of)(x[j]), TALLY_N(item_of)(y[j]));
            a = TALLY_N(select)(k < lengths[i], a, TALLY_N(identity)());
            TALLY_N(put)(lanes, above, TALLY_N(combine)(TALLY_N(get)(lanes, above), a));
        }
    }
    if (rows >= 4) TALLY_N(fold)(lanes, 2 * TALLY_ACROSS, 2 * TALLY_ACROSS);
    if (rows >= 2) TALLY_N(fold)(lanes, TALLY_ACROSS, TALLY_ACROSS);
}
#if TALLY_PASSES == 2
TALLY_INLINE TALLY_TARGET void TALLY_N(lift_across2)(TALLY_N(lanes2) lanes, TALLY_N(lanes_aim) aims, const TALLY_T *x,
                                                     const int32_t *lengths, int rows) {
    const int half = TALLY_SMALL_COLUMNS / 2;
    for (int k = 0; k < rows && k < half; k++) {
        TALLY_FREE_LANES
        for (int i = 0; i < TALLY_ACROSS; i++) {
            int j = k * TALLY_ACROSS + i;
            TALLY_N(second) a = TALLY_N(lift2)(TALLY_N(item_of)(x[j]), k, TALLY_N(get_aim)(aims, i));
            TALLY_N(put2)(lanes, j, TALLY_N(select2)(k < lengths[i], a, TALLY_N(identity2)()));
        }
    }
    for (int k = half; k < rows; k++) {
        TALLY_FREE_LANES
        for (int i = 0; i < TALLY_ACROSS; i++) {
            int j = k * TALLY_ACROSS + i, above = j - half * TALLY_ACROSS;
            TALLY_N(second) a = TALLY_N(lift2)(TALLY_N(item_of)(x[j]), k, TALLY_N(get_aim)(aims, i));
            a = TALLY_N(select2)(k < lengths[i], a, TALLY_N(identity2)());
            TALLY_N(put2)(lanes, above, TALLY_N(combine2)(TALLY_N(get2)(lanes, above), a));
        }
    }
    if (rows >= 4) TALLY_N(fold2)(lanes, 2 * TALLY_ACROSS, 2 * TALLY_ACROSS);
    if (rows >= 2) TALLY_N(fold2)(lanes, TALLY_ACROSS, TALLY_ACROSS);
}
#endif
/* How many values of each segment the NaN policy counts. */
TALLY_INLINE TALLY_TARGET void TALLY_N(count_across)(int32_t *there, const TALLY_T *x, const TALLY_T *y,
                                                     const int32_t *lengths, int rows) {
#if TALLY_FLOAT && TALLY_NAN == 1
    for (int i = 0; i < TALLY_ACROSS; i++) there[i] = 0;
    for (int k = 0; k < rows; k++) {
        TALLY_FREE_LANES
        for (int i = 0; i < TALLY_ACROSS; i++)
            there[i] += (k < lengths[i]) & TALLY_N(present)(x[k * TALLY_ACROSS + i]) & TALLY_N(present)(y[k * TALLY_ACROSS + i]);
    }
#else
    (void)x, (void)y, (void)rows;
    for (int i = 0; i < TALLY_ACROSS; i++) there[i] = lengths[i];
#endif
}
/* Results of turned segments, side by side. Returns what was seen (TALLY_SAW_...) in the first `count`. */
static TALLY_TARGET int TALLY_N(across)(const TALLY_T *x, const TALLY_T *y, const int32_t *lengths, int rows, int count,
                                        const tally_final *final, TALLY_N(result) *results) {
    TALLY_N(arrays) arrays;
    TALLY_N(lanes) lanes = TALLY_N(lanes_of)(&arrays);
    int32_t there[TALLY_ACROSS], empty = 0, care = 0;
    int saw;
    TALLY_N(count_across)(there, x, y, lengths, rows);
    for (int i = 0; i < TALLY_ACROSS; i++) empty |= there[i] == 0 && i < count;
    TALLY_N(lift_across)(lanes, x, y, lengths, rows);
#if TALLY_PASSES == 2
    TALLY_N(arrays2) arrays2;
    TALLY_N(lanes2) lanes2 = TALLY_N(lanes_of2)(&arrays2);
    TALLY_N(arrays_aim) aim_arrays;
    TALLY_N(lanes_aim) aims = TALLY_N(lanes_of_aim)(&aim_arrays);
    TALLY_FREE_LANES
    for (int i = 0; i < TALLY_ACROSS; i++)
        TALLY_N(put_aim)(aims, i, TALLY_N(take_aim)(TALLY_N(get)(lanes, i), there[i]));
    TALLY_N(lift_across2)(lanes2, aims, x, lengths, rows);
#define TALLY_SEALED(i) \
    TALLY_N(seal)(TALLY_N(get)(lanes, i), TALLY_N(get_aim)(aims, i), TALLY_N(get2)(lanes2, i), there[i], 0)
#else
#define TALLY_SEALED(i) TALLY_N(seal)(TALLY_N(get)(lanes, i), there[i])
#endif
    TALLY_FREE_LANES
    for (int i = 0; i < TALLY_ACROSS; i++) {
        TALLY_N(node) node = TALLY_SEALED(i);
        results[i] = TALLY_N(finish)(node, final);
        care |= TALLY_NEEDS_CARE(node, final);
    }
    saw = empty ? TALLY_SAW_EMPTY : 0;
    for (int i = 0; i < count && care; i++) saw |= TALLY_N(conclude)(TALLY_SEALED(i), final, &results[i]);
#undef TALLY_SEALED
    return saw;
}

/* ---- a bunch ---- */

typedef struct TALLY_N(turned) {
    _Alignas(64) TALLY_T x[TALLY_ACROSS * TALLY_SMALL_COLUMNS];
    _Alignas(64) TALLY_T y[TALLY_KERNEL_INPUTS == 2 ? TALLY_ACROSS * TALLY_SMALL_COLUMNS : 1];
} TALLY_N(turned);

/* `count` segments, a multiple of TALLY_ACROSS, that all have n values, 1 to 4. */
static TALLY_TARGET int TALLY_N(equal_segments)(const TALLY_N(raw) *x, const TALLY_N(raw) *y, int64_t n, int count,
                                                const tally_final *final, char *results) {
    TALLY_N(turned) turned;
    TALLY_N(result) made[TALLY_ACROSS];
    int32_t lengths[TALLY_ACROSS];
    int saw = 0;
    for (int i = 0; i < TALLY_ACROSS; i++) lengths[i] = (int32_t)n;
    for (int s = 0; s < count; s += TALLY_ACROSS, x += n * TALLY_ACROSS, y += n * TALLY_ACROSS) {
#define TALLY_TURN(apart, rows)                                             \
    TALLY_N(turn)(turned.x, x, apart, rows);                                \
    if (TALLY_KERNEL_INPUTS == 2) TALLY_N(turn)(turned.y, y, apart, rows);  \
    saw |= TALLY_N(across)(turned.x, TALLY_KERNEL_INPUTS == 2 ? turned.y : turned.x, lengths, rows, TALLY_ACROSS, final, made)
        switch (n) {
        case 1: TALLY_TURN(1, 1); break;
        case 2: TALLY_TURN(2, 2); break;
        case 3: TALLY_TURN(3, 4); break;
        default: TALLY_TURN(4, 4); break;
        }
        __builtin_memcpy(results + s * (int64_t)sizeof *made, made, sizeof made);
    }
    return saw;
}
/* Segments of a bunch that have values: the short ones, copied to slots, and the numbers of the others. */
typedef struct TALLY_N(sorted) {
    int shorts, others;
    uint8_t short_list[TALLY_BUNCH], other_list[TALLY_BUNCH];
    int32_t lengths[TALLY_BUNCH];
    _Alignas(64) TALLY_T slots[TALLY_KERNEL_INPUTS][TALLY_BUNCH * TALLY_SMALL_COLUMNS];
} TALLY_N(sorted);

/* A row of a small leaf. `whole`: all of it can be read, and what lies beyond n values is never used. */
TALLY_INLINE void TALLY_N(copy_row)(TALLY_T *slot, const TALLY_N(raw) *x, int64_t n, const bool whole) {
    if (whole)
        __builtin_memcpy(slot, x, TALLY_SMALL_COLUMNS * TALLY_BYTES);
    else
        for (int k = 0; k < TALLY_SMALL_COLUMNS; k++) slot[k] = k < n ? x[k] : 0;
}
/* Every segment is taken for a short one and for another, and kept where it belongs: no branches. */
TALLY_INLINE TALLY_TARGET void TALLY_N(sort_segments)(const TALLY_N(raw) *x, const TALLY_N(raw) *y, const int64_t *offsets,
                                                      int count, const bool whole, TALLY_N(sorted) *sorted) {
    int shorts = 0, others = 0;
    for (int s = 0; s < count; s++) {
        int64_t begin = offsets[s], n = offsets[s + 1] - begin;
        sorted->short_list[shorts] = sorted->other_list[others] = (uint8_t)s;
        sorted->lengths[shorts] = (int32_t)n;
        TALLY_N(copy_row)(sorted->slots[0] + shorts * TALLY_SMALL_COLUMNS, x + begin, n, whole);
        if (TALLY_KERNEL_INPUTS == 2)
            TALLY_N(copy_row)(sorted->slots[TALLY_KERNEL_INPUTS - 1] + shorts * TALLY_SMALL_COLUMNS, y + begin, n, whole);
        shorts += (uint64_t)(n - 1) < TALLY_SMALL_COLUMNS;
        others += n > TALLY_SMALL_COLUMNS;
    }
    sorted->shorts = shorts;
    sorted->others = others;
}
/* At the end of the array: once a call, so that it is not worth vector code. */
TALLY_APART TALLY_TARGET __attribute__((cold)) void TALLY_N(sort_last_segments)(const TALLY_N(raw) *x, const TALLY_N(raw) *y,
                                                                                const int64_t *offsets, int count, TALLY_N(sorted) *sorted) {
    TALLY_N(sort_segments)(x, y, offsets, count, false, sorted);
}
static TALLY_TARGET int TALLY_N(short_segments)(TALLY_N(sorted) *sorted, const tally_final *final, char *results) {
    const int width = TALLY_SMALL_COLUMNS;
    TALLY_N(turned) turned;
    TALLY_N(result) made[TALLY_ACROSS];
    int saw = 0;
    for (int i = sorted->shorts; i % TALLY_ACROSS != 0; i++) { /* what the last group lacks: a zero each */
        sorted->lengths[i] = 1;
        for (int k = 0; k < TALLY_KERNEL_INPUTS; k++)
            __builtin_memset(sorted->slots[k] + i * width, 0, TALLY_SMALL_COLUMNS * TALLY_BYTES);
    }
    for (int from = 0; from < sorted->shorts; from += TALLY_ACROSS) {
        int count = sorted->shorts - from < TALLY_ACROSS ? sorted->shorts - from : TALLY_ACROSS;
        TALLY_N(turn)(turned.x, sorted->slots[0] + from * width, TALLY_SMALL_COLUMNS, TALLY_SMALL_COLUMNS);
        if (TALLY_KERNEL_INPUTS == 2)
            TALLY_N(turn)(turned.y, sorted->slots[TALLY_KERNEL_INPUTS - 1] + from * width, TALLY_SMALL_COLUMNS,
                          TALLY_SMALL_COLUMNS);
        saw |= TALLY_N(across)(turned.x, TALLY_KERNEL_INPUTS == 2 ? turned.y : turned.x, sorted->lengths + from, width, count,
                                 final, made);
        for (int i = 0; i < count; i++) TALLY_N(write)(results, sorted->short_list[from + i], made[i]);
    }
    return saw;
}
/* The `count` segments of a bunch that `list` names, or the first ones: each of more than TALLY_SMALL_COLUMNS values. */
TALLY_APART TALLY_TARGET int TALLY_N(other_segments)(const TALLY_N(raw) *x, const TALLY_N(raw) *y, int64_t limit, const int64_t *offsets,
                                                     const uint8_t *list, int count, const tally_final *final, char *results) {
    int saw = 0;
    for (int i = 0; i < count; i++) {
        const int s = list == NULL ? i : list[i];
        const int64_t begin = offsets[s], n = offsets[s + 1] - begin;
        TALLY_N(node) node;
        TALLY_N(result) result;
        if (n >= TALLY_LEAF)
            node = TALLY_N(tree)(x + begin, y + begin, n, limit - begin, 0);
        else if (__builtin_expect(n <= TALLY_SMALL_LEAF && begin <= limit - TALLY_SMALL_LEAF, 1))
            node = TALLY_N(small_node)(x + begin, y + begin, n, 0);
        else
            node = TALLY_N(edge_node)(x + begin, y + begin, n, limit - begin, 0);
        saw |= TALLY_N(conclude)(node, final, &result);
        TALLY_N(write)(results, s, result);
    }
    return saw;
}
/* Every result is that of nothing. */
TALLY_APART TALLY_TARGET int TALLY_N(empty_segments)(int count, const tally_final *final, char *results) {
    TALLY_N(result) nothing;
    int saw = TALLY_N(conclude)(TALLY_N(nothing)(), final, &nothing);
    for (int s = 0; s < count; s++) TALLY_N(write)(results, s, nothing);
    return saw;
}
/* At most TALLY_BUNCH segments of lengths that differ, some of them short. */
static TALLY_TARGET int TALLY_N(mixed_segments)(const TALLY_N(raw) *x, const TALLY_N(raw) *y, int64_t limit,
                                                const int64_t *offsets, int count, const tally_final *final, char *results) {
    TALLY_N(sorted) sorted;
    int saw = 0;
    if (offsets[count] <= limit - TALLY_SMALL_COLUMNS)
        TALLY_N(sort_segments)(x, y, offsets, count, true, &sorted);
    else
        TALLY_N(sort_last_segments)(x, y, offsets, count, &sorted);
    if (sorted.shorts + sorted.others < count) saw = TALLY_N(empty_segments)(count, final, results);
    if (sorted.shorts > 0) saw |= TALLY_N(short_segments)(&sorted, final, results);
    if (sorted.others > 0)
        saw |= TALLY_N(other_segments)(x, y, limit, offsets, sorted.other_list, sorted.others, final, results);
    return saw;
}

static TALLY_TARGET int TALLY_N(segments)(const tally__kernel *kernel, const void *vx, const void *vy, int64_t limit,
                                          const int64_t *offsets, int64_t count, const tally_final *final,
                                          void *results) {
    const TALLY_N(raw) *x = vx, *y = vy;
    int saw = 0;
    (void)kernel;
    for (int64_t at = 0; at < count; at += TALLY_BUNCH) {
        int bunch = (int)(count - at < TALLY_BUNCH ? count - at : TALLY_BUNCH);
        const int64_t *from = offsets + at;
        char *to = (char *)results + at * (int64_t)sizeof(TALLY_N(result));
        int64_t shortest, longest;
        tally__length_range(from, bunch, &shortest, &longest);
        if (shortest > TALLY_SMALL_COLUMNS)
            saw |= TALLY_N(other_segments)(x, y, limit, from, NULL, bunch, final, to);
        else if (longest == 0) /* there may be no array at all */
            saw |= TALLY_N(empty_segments)(bunch, final, to);
        else if (shortest == longest && longest <= 4 && bunch % TALLY_ACROSS == 0)
            saw |= TALLY_N(equal_segments)(x + *from, y + *from, longest, bunch, final, to);
        else
            saw |= TALLY_N(mixed_segments)(x, y, limit, from, bunch, final, to);
    }
    return saw;
}
#undef TALLY_TURN
