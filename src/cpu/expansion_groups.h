/* Segments in the lanes of a group, for expansions_template.h: which go together, and their values as rows. */
#ifndef TALLY_CPU_EXPANSION_GROUPS_H
#define TALLY_CPU_EXPANSION_GROUPS_H

#include "cpu/vectors.h"

enum {
    EXPANSION_GROUP = 8,
    EXPANSION_VECTORS = EXPANSION_GROUP / WIDTH,
    EXPANSION_ALONE = 48,    /* rows that are as much work as to join the lanes of one segment */
    EXPANSION_LENGTHS = 128, /* longer ones are not told apart */
    EXPANSION_ROWS = 32      /* rows of a group that are transposed together, a multiple of 8 */
};

/* The segments by length, the longest last. */
static TALLY_TARGET void order_by_length(const tally__batch *batch, int32_t *order) {
    int32_t begins[EXPANSION_LENGTHS + 1] = {0};
#define TALLY_BUCKET(s) (batch->lengths[s] < EXPANSION_LENGTHS ? batch->lengths[s] : EXPANSION_LENGTHS - 1)
    for (int s = 0; s < batch->count; s++) begins[TALLY_BUCKET(s) + 1]++;
    for (int k = 1; k < EXPANSION_LENGTHS; k++) begins[k] += begins[k - 1];
    for (int s = 0; s < batch->count; s++) order[begins[TALLY_BUCKET(s)]++] = s;
#undef TALLY_BUCKET
}

/* Lane j has the values k * apart behind places[j], k < lengths[j]. The sums are those of `count` segments. */
typedef struct expansion_group {
    int64_t places[EXPANSION_GROUP], apart;
    int32_t lengths[EXPANSION_GROUP], shortest, longest;
    int beside; /* lanes lie side by side */
    int count;
    const int32_t *order; /* which segments of the batch they are */
} expansion_group;
TALLY_INLINE void put_lane(expansion_group *group, const int j, int64_t place, int32_t length) {
    group->places[j] = place;
    group->lengths[j] = length;
    group->shortest = j == 0 || length < group->shortest ? length : group->shortest;
    group->longest = j == 0 || length > group->longest ? length : group->longest;
    group->beside = j == 0 || (group->beside && place == group->places[0] + j);
}
/* `count` segments, a lane for each; other lanes have no values. */
TALLY_INLINE void open_group(expansion_group *group, const tally__batch *batch, int64_t apart, const int32_t *order,
                             int count) {
    group->apart = apart;
    group->count = count;
    group->order = order;
#pragma GCC unroll 8
    for (int j = 0; j < EXPANSION_GROUP; j++) {
        const int32_t length = j < count ? batch->lengths[order[j]] : 0;
        const int64_t beside = j > 0 ? group->places[0] + j : 0;
        put_lane(group, j, length > 0 ? batch->places[order[j]] : beside, length);
    }
}
/* Segment *order alone, dealt out to all lanes. */
TALLY_INLINE void open_alone(expansion_group *group, const tally__batch *batch, const int32_t *order) {
    const int64_t place = batch->places[*order];
    const int32_t length = batch->lengths[*order];
    group->apart = EXPANSION_GROUP;
    group->count = 1;
    group->order = order;
#pragma GCC unroll 8
    for (int j = 0; j < EXPANSION_GROUP; j++)
        put_lane(group, j, place + j, (length + EXPANSION_GROUP - 1 - j) / EXPANSION_GROUP);
}

typedef double transposed_rows[EXPANSION_ROWS][EXPANSION_GROUP];
#if defined(TALLY_ISA_AVX512)
/* Eight values of each lane from value k on, which lie side by side, as eight rows. */
TALLY_INLINE TALLY_TARGET void transpose_eight(const int is_f64, double (*rows)[EXPANSION_GROUP], const void *x,
                                               const expansion_group *group, int32_t k) {
    __m512d a[8], b[8];
#pragma GCC unroll 8
    for (int j = 0; j < 8; j++) {
        const int32_t left = group->lengths[j] - k;
        a[j] = (__m512d)load_part(is_f64, x, group->places[j] + k, left < 0 ? 0 : left > 8 ? 8 : left);
    }
#pragma GCC unroll 4
    for (int j = 0; j < 8; j += 2) {
        b[j] = _mm512_unpacklo_pd(a[j], a[j + 1]);
        b[j + 1] = _mm512_unpackhi_pd(a[j], a[j + 1]);
    }
#pragma GCC unroll 2
    for (int j = 0; j < 2; j++) { /* rows j, j + 2, j + 4 and j + 6 */
        const __m512d low = _mm512_shuffle_f64x2(b[j], b[j + 2], 0x88),
                      low_too = _mm512_shuffle_f64x2(b[j + 4], b[j + 6], 0x88),
                      high = _mm512_shuffle_f64x2(b[j], b[j + 2], 0xdd),
                      high_too = _mm512_shuffle_f64x2(b[j + 4], b[j + 6], 0xdd);
        _mm512_store_pd(rows[j], _mm512_shuffle_f64x2(low, low_too, 0x88));
        _mm512_store_pd(rows[j + 2], _mm512_shuffle_f64x2(high, high_too, 0x88));
        _mm512_store_pd(rows[j + 4], _mm512_shuffle_f64x2(low, low_too, 0xdd));
        _mm512_store_pd(rows[j + 6], _mm512_shuffle_f64x2(high, high_too, 0xdd));
    }
}
#endif
TALLY_INLINE TALLY_TARGET double value_of(const int is_f64, const void *x, int64_t i) {
    return is_f64 ? ((const double_anywhere *)x)[i] : (double)((const float_anywhere *)x)[i];
}
/* Values first, first + 1 ... of each lane as rows, with zeros behind the ends. */
TALLY_INLINE TALLY_TARGET void transpose(const int is_f64, double (*rows)[EXPANSION_GROUP], const void *x,
                                         const expansion_group *group, int32_t first, int32_t count) {
    int32_t r = 0;
#if defined(TALLY_ISA_AVX512)
    for (; group->apart == 1 && !(group->beside && group->longest == 1) && r < count; r += 8)
        transpose_eight(is_f64, rows + r, x, group, first + r);
#endif
    for (; group->beside && r < count && first + r < group->shortest; r++)
#pragma GCC unroll 4
        for (int g = 0; g < EXPANSION_VECTORS; g++)
            *(wide *)(rows[r] + g * WIDTH) = load(is_f64, x, group->places[0] + (first + r) * group->apart + g * WIDTH);
    for (int j = 0; j < EXPANSION_GROUP && r < count; j++) {
        const int32_t left = group->lengths[j] - first, there = left < count ? left : count;
        const int64_t from = group->places[j] + first * group->apart;
        int32_t k = r;
        for (; k < there; k++) rows[k][j] = value_of(is_f64, x, from + k * group->apart);
        for (; k < count; k++) rows[k][j] = 0;
    }
}

#endif
