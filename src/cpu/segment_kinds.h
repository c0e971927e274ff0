/* How long the segments of a batch are, and which of them vector lanes take (segments_template.h): no matter of
 * operators and types, but compiled for each instruction set. */
#ifndef TALLY_CPU_SEGMENT_KINDS_H
#define TALLY_CPU_SEGMENT_KINDS_H

#include <stdint.h>

#include "cpu/target.h"
#include "internal.h"

enum { TALLY_SEGMENT_BATCH = 64, TALLY_LONG_SEGMENT = TALLY_SMALL_LEAF + 1 };

/* What a batch's segments are, which is no matter of types. */
typedef struct tally__kinds {
    _Alignas(64) int32_t lengths[TALLY_SEGMENT_BATCH]; /* TALLY_LONG_SEGMENT: more, or no such segment */
    int32_t shortest, longest;                         /* longest: of those that are no longer than TALLY_SMALL_LEAF */
    int32_t most;                                      /* of all, TALLY_LONG_SEGMENT if there is any */
    int32_t cost;                                      /* in lanes, in quarters of a row (tally__lane_length) */
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
 * the segments by themselves, each as long as `quarters` of a row. Lanes take as long as `lanes` besides. 0: none. */
TALLY_APART TALLY_TARGET int32_t tally__lane_length(tally__kinds *kinds, const int32_t quarters, const int32_t lanes,
                                                    const int32_t most) {
    uint32_t few = 0, many = 0; /* how many have more than 0, 4, 8 and 16, and than 32 values: 8 bits for each */
    int32_t best = 0, least;
    kinds->cost = kinds->longest > 0 ? 0 : quarters * TALLY_SEGMENT_BATCH;
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
        const int32_t cost = lanes + 4 * rows + quarters * (int32_t)(longer & 255);
        best = cost < least ? rows : best;
        least = cost < least ? cost : least;
    }
    kinds->cost = least;
    return best;
}

/* Reads a byte of each line, in order: hardware prefetchers do not follow pieces with gaps between them. Not
 * of more than the first cache holds beside others. */
TALLY_INLINE void tally__touch_lines(const void *from, const void *to) {
    if ((const char *)to - (const char *)from > 16384) return;
    for (const volatile char *at = from; at < (const volatile char *)to; at += 64) (void)*at;
}
/* Asks for as much memory as a batch has, two KB behind it: a batch is read at once, and then nothing is for as long as
 * its lanes take. Not where that is much: hardware is at it then. */
TALLY_INLINE void tally__ask_for_next(const void *from, const void *to) {
    const int64_t bytes = (const char *)to - (const char *)from;
    if (bytes <= 4096) tally__ask_for((const char *)to + 2048, (int)bytes);
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
