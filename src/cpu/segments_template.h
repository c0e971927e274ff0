/* Segments that follow one another, a batch at a time. Part of template.h; no include guard.
 *
 * Where lengths are mixed, a branch on a segment's length is mispredicted again and again, and costs more than a short
 * segment's arithmetic. So all of a batch are taken for short ones, copied to slots of 4 or 8 values and reduced by a
 * vector lane each. Longer ones are listed without a branch, and their results replace what the lanes made of them:
 * one by one, in order, as hardware prefetchers do not follow accesses with gaps. */

#ifndef TALLY_SEGMENT_KINDS
#define TALLY_SEGMENT_KINDS
enum { TALLY_SEGMENT_BATCH = 64, TALLY_NARROW_SLOT = TALLY_SMALL_COLUMNS / 2, TALLY_WIDE_SLOT = TALLY_SMALL_COLUMNS };

/* What a batch's segments are, which is no matter of types. Lengths that no slot holds are TALLY_WIDE_SLOT + 1, and so
 * are those of segments that it lacks. */
typedef struct tally__kinds {
    _Alignas(64) int32_t lengths[TALLY_SEGMENT_BATCH];
    int32_t there[TALLY_SEGMENT_BATCH]; /* which values of a slot there are: a bit for each, the lowest for the first */
    int32_t seen;                       /* which of these lengths there are: a bit for each */
} tally__kinds;
enum {
    TALLY_SEEN_EMPTY = 1,
    TALLY_SEEN_LONG = 2 << TALLY_WIDE_SLOT,
    TALLY_SEEN_WIDE = TALLY_SEEN_LONG - (2 << TALLY_NARROW_SLOT),
    TALLY_SEEN_SHORT = TALLY_SEEN_LONG - 2
};
enum { TALLY_CAREFUL = 1 << 30 };
TALLY_APART TALLY_TARGET void tally__kinds_of(tally__kinds *kinds, const int64_t *offsets, int count) {
    int32_t seen = 0;
    for (int s = 0; s < count; s++) {
        int64_t n = offsets[s + 1] - offsets[s];
        int32_t length = (int32_t)(n <= TALLY_WIDE_SLOT ? n : TALLY_WIDE_SLOT + 1), bit = 1 << length;
        kinds->lengths[s] = length;
        kinds->there[s] = bit - 1;
        seen |= bit;
    }
    for (int s = count; s < TALLY_SEGMENT_BATCH; s++) kinds->lengths[s] = TALLY_WIDE_SLOT + 1, kinds->there[s] = 0;
    kinds->seen = seen;
}

#if defined(TALLY_ISA_AVX512)
typedef int32_t tally__sixteen __attribute__((vector_size(64), may_alias));
typedef int32_t tally__sixteen_anywhere __attribute__((vector_size(64), aligned(1), may_alias));
typedef int64_t tally__two __attribute__((vector_size(16), aligned(1), may_alias));
typedef int64_t tally__four __attribute__((vector_size(32), aligned(1), may_alias));
typedef int64_t tally__eight __attribute__((vector_size(64), may_alias));
#endif

/* Lists the segments of more than `most` values, TALLY_WIDE_SLOT or fewer: how many. */
typedef int32_t tally__list[TALLY_SEGMENT_BATCH + 16];
TALLY_APART TALLY_TARGET int tally__longer(const tally__kinds *kinds, int count, int32_t most, int32_t *list) {
    int listed = 0;
#if defined(TALLY_ISA_AVX512)
    if (count == TALLY_SEGMENT_BATCH) {
        tally__sixteen at = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, none = {0};
        for (int s = 0; s < TALLY_SEGMENT_BATCH; s += 16, at += 16) {
            const tally__sixteen lengths = *(const tally__sixteen *)(kinds->lengths + s);
            const uint16_t longer =
                (uint16_t)__builtin_ia32_cmpd512_mask(lengths, none + most, 6, 0xffff); /* 6: greater */
            *(tally__sixteen_anywhere *)(list + listed) = __builtin_ia32_compresssi512_mask(at, none, longer);
            listed += __builtin_popcount(longer);
        }
        return listed;
    }
#endif
    for (int s = 0; s < count; s++) {
        list[listed] = s;
        listed += kinds->lengths[s] > most;
    }
    return listed;
}
/* Copies `bytes` from where each of a batch begins to slots of so many: by registers, where these hold several slots,
 * as a load waits for narrower stores. `size`: bytes of a value. */
TALLY_INLINE TALLY_TARGET void tally__fill_slots(char *slots, const char *x, const int64_t *offsets, const int size,
                                                 const int bytes) {
    int s = 0;
#if defined(TALLY_ISA_AVX512)
#define TALLY_PIECE(type, k) (*(const type *)(const void *)(x + offsets[s + (k)] * size))
    for (; bytes == 16 && s < TALLY_SEGMENT_BATCH; s += 4) {
        tally__four low = __builtin_shufflevector(TALLY_PIECE(tally__two, 0), TALLY_PIECE(tally__two, 1), 0, 1, 2, 3);
        tally__four high = __builtin_shufflevector(TALLY_PIECE(tally__two, 2), TALLY_PIECE(tally__two, 3), 0, 1, 2, 3);
        *(tally__eight *)(void *)(slots + s * bytes) = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
    }
    for (; bytes == 32 && s < TALLY_SEGMENT_BATCH; s += 2)
        *(tally__eight *)(void *)(slots + s * bytes) =
            __builtin_shufflevector(TALLY_PIECE(tally__four, 0), TALLY_PIECE(tally__four, 1), 0, 1, 2, 3, 4, 5, 6, 7);
#undef TALLY_PIECE
#endif
    for (; s < TALLY_SEGMENT_BATCH; s++) __builtin_memcpy(slots + s * bytes, x + offsets[s] * size, (size_t)bytes);
}
#endif

/* ---- short ones ---- */

typedef struct slots_t {
    _Alignas(64) TALLY_T x[TALLY_SEGMENT_BATCH * TALLY_WIDE_SLOT];
    _Alignas(64) TALLY_T y[TALLY_KERNEL_INPUTS == 2 ? TALLY_SEGMENT_BATCH * TALLY_WIDE_SLOT : 1];
} slots_t;

/* Results go to any address. */
typedef struct __attribute__((packed, may_alias)) result_anywhere_t {
    result_t value;
} result_anywhere_t;

/* The tree over a slot. Bits say which values exist, as compilers make branches of comparisons of one length again and
 * again. */
TALLY_INLINE TALLY_TARGET column_t slot_column(const TALLY_T *x, const TALLY_T *y, int32_t there, const int width) {
    column_t c[TALLY_WIDE_SLOT];
#pragma GCC unroll 8
    for (int k = 0; k < width; k++) c[k] = select(there >> k & 1, lift(item_of(x[k]), item_of(y[k])), identity());
#pragma GCC unroll 4
    for (int k = 0; k + TALLY_NARROW_SLOT < width; k++) c[k] = combine(c[k], c[k + TALLY_NARROW_SLOT]);
    return combine(combine(c[0], c[2]), combine(c[1], c[3]));
}
#if TALLY_PASSES == 2
TALLY_INLINE TALLY_TARGET second_t slot_second(const TALLY_T *x, int32_t there, const int width, aim_t aim) {
    second_t c[TALLY_WIDE_SLOT];
#pragma GCC unroll 8
    for (int k = 0; k < width; k++) c[k] = select2(there >> k & 1, lift2(item_of(x[k]), k, aim), identity2());
#pragma GCC unroll 4
    for (int k = 0; k + TALLY_NARROW_SLOT < width; k++) c[k] = combine2(c[k], c[k + TALLY_NARROW_SLOT]);
    return combine2(combine2(c[0], c[2]), combine2(c[1], c[3]));
}
#endif
/* How many values of a slot the NaN policy counts. */
TALLY_INLINE TALLY_TARGET int32_t slot_count(const TALLY_T *x, const TALLY_T *y, int32_t there, int32_t n,
                                             const int width) {
#if TALLY_FLOAT && TALLY_NAN == 1
    n = 0;
#pragma GCC unroll 8
    for (int k = 0; k < width; k++) n += (there >> k & 1) & is_present(x[k]) & is_present(y[k]);
#else
    (void)x, (void)y, (void)there, (void)width;
#endif
    return n;
}
#define TALLY_SLOT_X (slots->x + i * width)
#define TALLY_SLOT_Y (TALLY_KERNEL_INPUTS == 2 ? slots->y + i * width : TALLY_SLOT_X)
#define TALLY_SLOT_COUNT slot_count(TALLY_SLOT_X, TALLY_SLOT_Y, there[i], lengths[i], width)

/* Results of the slots, side by side. Returns what was seen (TALLY_FLAG_...) in those that fit their slots, and
 * TALLY_CAREFUL if any result may be wrong because it takes more care than lanes can. */
TALLY_INLINE TALLY_TARGET int reduce_slots(const slots_t *slots, const tally__kinds *kinds, const int width,
                                           const tally_final *final, result_anywhere_t *results) {
    const int32_t *there = kinds->there, *lengths = kinds->lengths;
    int32_t empty = kinds->seen & TALLY_SEEN_EMPTY, care = 0;
#if TALLY_PASSES == 2 /* a loop for each step: compilers make vectors of each, but not of all as one */
    arrays_t arrays;
    lanes_t lanes = lanes_of(&arrays);
    arrays2_t arrays2;
    lanes2_t lanes2 = lanes_of2(&arrays2);
    arrays_aim_t aim_arrays;
    lanes_aim_t aims = lanes_of_aim(&aim_arrays);
    _Static_assert(TALLY_SEGMENT_BATCH <= TALLY_COLUMNS, "a batch has more lanes than a leaf");
    TALLY_FREE_LANES
    for (int i = 0; i < TALLY_SEGMENT_BATCH; i++)
        put(lanes, i, slot_column(TALLY_SLOT_X, TALLY_SLOT_Y, there[i], width));
    TALLY_FREE_LANES
    for (int i = 0; i < TALLY_SEGMENT_BATCH; i++) put_aim(aims, i, take_aim(get(lanes, i), TALLY_SLOT_COUNT));
    TALLY_FREE_LANES
    for (int i = 0; i < TALLY_SEGMENT_BATCH; i++)
        put2(lanes2, i, slot_second(TALLY_SLOT_X, there[i], width, get_aim(aims, i)));
#define TALLY_SLOT_NODE to_node(get(lanes, i), get_aim(aims, i), get2(lanes2, i), TALLY_SLOT_COUNT, 0)
#else
#define TALLY_SLOT_NODE to_node(slot_column(TALLY_SLOT_X, TALLY_SLOT_Y, there[i], width), TALLY_SLOT_COUNT)
#endif
    TALLY_FREE_LANES
    for (int i = 0; i < TALLY_SEGMENT_BATCH; i++) {
        node_t node = TALLY_SLOT_NODE;
        results[i].value = finish(node, final);
#if TALLY_FLOAT && TALLY_NAN == 1
        empty |= (node.n == 0) & (lengths[i] <= width);
#endif
        care |= TALLY_NEEDS_WIDE(node, final);
    }
#undef TALLY_SLOT_NODE
#undef TALLY_SLOT_COUNT
#undef TALLY_SLOT_X
#undef TALLY_SLOT_Y
    return (empty ? TALLY_FLAG_EMPTY : 0) | (care ? TALLY_CAREFUL : 0);
}
/* Results of a whole batch, from where all of a slot can be read. */
#define TALLY_SHORT_SEGMENTS(name, width)                                                                           \
    static TALLY_TARGET int name(const raw_t *x, const raw_t *y, const int64_t *offsets, const tally__kinds *kinds, \
                                 const tally_final *final, result_anywhere_t *results) {                            \
        slots_t slots;                                                                                              \
        tally__fill_slots((char *)slots.x, (const char *)x, offsets, TALLY_BYTES, width *TALLY_BYTES);              \
        if (TALLY_KERNEL_INPUTS == 2)                                                                               \
            tally__fill_slots((char *)slots.y, (const char *)y, offsets, TALLY_BYTES, width *TALLY_BYTES);          \
        return reduce_slots(&slots, kinds, width, final, results);                                                  \
    }
TALLY_SHORT_SEGMENTS(narrow_segments, TALLY_NARROW_SLOT)
TALLY_SHORT_SEGMENTS(wide_segments, TALLY_WIDE_SLOT)

/* ---- a batch ---- */

/* The `count` segments of a batch that `list` names, or the first ones; none is empty. */
TALLY_APART TALLY_TARGET int other_segments(const raw_t *x, const raw_t *y, int64_t limit, const int64_t *offsets,
                                            const int32_t *list, int count, const tally_final *final, char *results) {
    int flags = 0;
    for (int i = 0; i < count; i++) {
        const int s = list == NULL ? i : list[i];
        const int64_t begin = offsets[s], n = offsets[s + 1] - begin;
        node_t node;
        result_t result;
        if (n >= TALLY_LEAF)
            node = tree(x + begin, y + begin, n, limit - begin, 0);
        else if (__builtin_expect(n <= TALLY_SMALL_LEAF && begin <= limit - TALLY_SMALL_LEAF, 1))
            node = small_node(x + begin, y + begin, n, 0);
        else
            node = partial_leaf_node(x + begin, y + begin, n, limit - begin, 0);
        flags |= finalize(node, final, &result);
        write(results, s, result);
    }
    return flags;
}
/* Every result is that of nothing. */
TALLY_APART TALLY_TARGET int empty_segments(int count, const tally_final *final, char *results) {
    result_t empty;
    int flags = finalize(nothing(), final, &empty);
    for (int s = 0; s < count; s++) write(results, s, empty);
    return flags;
}
/* At most TALLY_SEGMENT_BATCH segments, some of them empty or short. */
static TALLY_TARGET int mixed_segments(const raw_t *x, const raw_t *y, int64_t limit, const int64_t *offsets, int count,
                                       const tally__kinds *kinds, const tally_final *final, char *results) {
    result_anywhere_t *made = (void *)results;
    const bool slots = count == TALLY_SEGMENT_BATCH && offsets[count] <= limit - TALLY_WIDE_SLOT &&
                       (kinds->seen & TALLY_SEEN_SHORT) != 0;
    tally__list list, long_list, *others = &list;
    int flags, listed = tally__longer(kinds, count, slots ? TALLY_NARROW_SLOT : 0, list);
    if (slots && (kinds->seen & TALLY_SEEN_WIDE)) {
        int longs = tally__longer(kinds, count, TALLY_WIDE_SLOT, long_list);
        if (listed - longs >= TALLY_SEGMENT_BATCH / 8) { /* so many pay for lanes of twice the width */
            others = &long_list;
            listed = longs;
        }
    }
    if (!slots)
        flags = (kinds->seen & TALLY_SEEN_EMPTY) ? empty_segments(count, final, results) : 0;
    else if (others == &list)
        flags = narrow_segments(x, y, offsets, kinds, final, made);
    else
        flags = wide_segments(x, y, offsets, kinds, final, made);
    if (flags & TALLY_CAREFUL) { /* once more, one by one */
        flags -= TALLY_CAREFUL;
        others = &list;
        listed = tally__longer(kinds, count, 0, list);
    }
    if (listed > 0) flags |= other_segments(x, y, limit, offsets, *others, listed, final, results);
    return flags;
}

static TALLY_TARGET int reduce_segments(const tally__kernel *kernel, const void *vx, const void *vy, int64_t limit,
                                        const int64_t *offsets, int64_t count, const tally_final *final,
                                        void *results) {
    const raw_t *x = vx, *y = vy;
    int flags = 0;
    (void)kernel;
    for (int64_t at = 0; at < count; at += TALLY_SEGMENT_BATCH) {
        int batch = (int)(count - at < TALLY_SEGMENT_BATCH ? count - at : TALLY_SEGMENT_BATCH);
        const int64_t *from = offsets + at;
        char *to = (char *)results + at * (int64_t)sizeof(result_t);
        tally__kinds kinds;
        tally__kinds_of(&kinds, from, batch);
        if (kinds.seen == TALLY_SEEN_LONG)
            flags |= other_segments(x, y, limit, from, NULL, batch, final, to);
        else
            flags |= mixed_segments(x, y, limit, from, batch, &kinds, final, to);
    }
    return flags;
}
