/* Segments that follow one another, a batch at a time. Part of template.h; no include guard.
 *
 * Where lengths are mixed, a branch on a segment's length is mispredicted again and again, and costs more than a short
 * segment's arithmetic. So all of a batch are taken for short ones, and a vector lane reduces each
 * (turned_template.h). Longer ones are listed without a branch, and their results replace what the lanes made of them:
 * one by one, in order, as hardware prefetchers do not follow accesses with gaps. */

#ifndef TALLY_SEGMENT_KINDS
#define TALLY_SEGMENT_KINDS
enum { TALLY_SEGMENT_BATCH = 64, TALLY_LONG_SEGMENT = TALLY_SMALL_LEAF + 1 };

/* What a batch's segments are, which is no matter of types. */
typedef struct tally__kinds {
    _Alignas(64) int32_t lengths[TALLY_SEGMENT_BATCH]; /* TALLY_LONG_SEGMENT: more, or no such segment */
    int32_t shortest, longest;                         /* longest: of those that are no longer than TALLY_SMALL_LEAF */
    int32_t most;                                      /* of all, TALLY_LONG_SEGMENT if there is any */
} tally__kinds;
TALLY_APART TALLY_TARGET void tally__kinds_of(tally__kinds *kinds, const int64_t *offsets, int count) {
    int32_t shortest = TALLY_LONG_SEGMENT, longest = 0, most = 0;
    for (int s = 0; s < count; s++) {
        const int64_t n = offsets[s + 1] - offsets[s];
        const int32_t length = (int32_t)(n <= TALLY_SMALL_LEAF ? n : TALLY_LONG_SEGMENT);
        const int32_t counts = length < TALLY_LONG_SEGMENT ? length : 0;
        kinds->lengths[s] = length;
        shortest = length < shortest ? length : shortest;
        longest = counts > longest ? counts : longest;
        most = length > most ? length : most;
    }
    for (int s = count; s < TALLY_SEGMENT_BATCH; s++) kinds->lengths[s] = TALLY_LONG_SEGMENT;
    kinds->shortest = shortest;
    kinds->longest = longest;
    kinds->most = most;
}
/* How long the segments are that lanes take, no more than `most`: where more rows of all lanes would take longer than
 * the segments by themselves, each as long as `quarters` of a row. 0: none. */
TALLY_APART TALLY_TARGET int32_t tally__lane_length(const tally__kinds *kinds, const int32_t quarters,
                                                    const int32_t most) {
    uint32_t few = 0, many = 0; /* how many have more than 0, 4, 8 and 16, and than 32 values: 8 bits for each */
    int32_t best = 0, least;
    if (kinds->longest <= 4) return kinds->longest;
    for (int s = 0; s < TALLY_SEGMENT_BATCH; s++) {
        const int32_t n = kinds->lengths[s];
        /* signs of differences: of comparisons compilers make branches */
        few += ((uint32_t)-n >> 31) + ((uint32_t)(4 - n) >> 31 << 8) + ((uint32_t)(8 - n) >> 31 << 16) +
               ((uint32_t)(16 - n) >> 31 << 24);
        many += ((uint32_t)(32 - n) >> 31) + ((uint32_t)(64 - n) >> 31 << 8);
    }
    uint64_t longer = few | (uint64_t)many << 32;
    least = quarters * (int32_t)(longer & 255);
    for (int32_t length = 4; length <= most; length *= 2) {
        const int32_t rows = length < kinds->longest ? length : kinds->longest;
        longer >>= 8;
        const int32_t cost = 4 * rows + quarters * (int32_t)(longer & 255);
        best = cost < least ? rows : best;
        least = cost < least ? cost : least;
    }
    return best;
}

/* Reads a byte of each line, in order: hardware prefetchers do not follow pieces with gaps between them. Not
 * of more than the first cache holds beside others. */
TALLY_INLINE void tally__touch_lines(const void *from, const void *to) {
    if ((const char *)to - (const char *)from > 16384) return;
    for (const volatile char *at = from; at < (const volatile char *)to; at += 64) (void)*at;
}
#if defined(TALLY_ISA_AVX512)
typedef int32_t tally__sixteen __attribute__((vector_size(64), may_alias));
typedef int32_t tally__sixteen_anywhere __attribute__((vector_size(64), aligned(1), may_alias));
#endif

/* Lists the segments of more than `most` values: how many. */
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
#endif

/* Results go to any address. */
typedef struct __attribute__((packed, may_alias)) result_anywhere_t {
    result_t value;
} result_anywhere_t;

#include "cpu/turned_template.h"

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
/* At most TALLY_SEGMENT_BATCH segments, some of them no longer than TALLY_TURNED_ROWS. */
static TALLY_TARGET int mixed_segments(const raw_t *x, const raw_t *y, int64_t limit, const int64_t *offsets, int count,
                                       tally__kinds *kinds, const tally_final *final, char *results) {
    tally__list list;
    int flags = 0, listed;
    int32_t most = tally__lane_length(kinds, TALLY_QUARTERS_FOR_ONE, TALLY_TURNED_ROWS);
    if (kinds->longest > 4) { /* others are read in order */
        tally__touch_lines(x + offsets[0], x + offsets[count]);
        if (TALLY_KERNEL_INPUTS == 2) tally__touch_lines(y + offsets[0], y + offsets[count]);
    }
    if (most > 0 && limit >= TALLY_SMALL_LEAF)
        flags = turned_segments(x, y, limit, offsets, count, kinds, most, final, results);
    else {
        most = 0;
        if (kinds->shortest == 0) flags = empty_segments(count, final, results);
    }
    listed = kinds->most > most ? tally__longer(kinds, count, most, list) : 0;
    if (listed > 0) flags |= other_segments(x, y, limit, offsets, list, listed, final, results);
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
        if (kinds.shortest > TALLY_TURNED_ROWS)
            flags |= other_segments(x, y, limit, from, NULL, batch, final, to);
        else
            flags |= mixed_segments(x, y, limit, from, batch, &kinds, final, to);
    }
    return flags;
}
