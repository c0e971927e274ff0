/* The index of segments, a block at a time: offsets checked and widened, heads found between segment ids. What is wrong
 * with an index shows in bits that any of its entries has, so that no entry is branched on. */
#ifndef TALLY_CPU_INDEX_TEMPLATE_H
#define TALLY_CPU_INDEX_TEMPLATE_H

#include "cpu/vectors.h"

typedef int32_t index_i32 __attribute__((aligned(1), may_alias));
typedef int64_t index_i64 __attribute__((aligned(1), may_alias));

/* Differences wrap; those of entries that are not negative do not. */
#define TALLY_READ_OFFSETS(type, word)                                                                                 \
    TALLY_INLINE TALLY_TARGET tally__index_bits take_offsets_##type(const void *index, int64_t count, int64_t *copy) { \
        const index_##type *offsets = index;                                                                           \
        u##word steps = 0, places = (u##word)offsets[0];                                                               \
        if (copy) copy[0] = offsets[0];                                                                                \
        TALLY_FREE_LANES                                                                                               \
        for (int64_t s = 0; s < count; s++) {                                                                          \
            word next = offsets[s + 1];                                                                                \
            steps |= (u##word)next - (u##word)offsets[s];                                                              \
            places |= (u##word)next;                                                                                   \
            if (copy) copy[s + 1] = next;                                                                              \
        }                                                                                                              \
        return (tally__index_bits){(uint64_t)(word)steps, (uint64_t)(word)places};                                     \
    }                                                                                                                  \
    static TALLY_TARGET tally__index_bits read_offsets_##type(const void *index, int64_t count, int64_t *copy) {       \
        return copy ? take_offsets_##type(index, count, copy) : take_offsets_##type(index, count, NULL);               \
    }
TALLY_READ_OFFSETS(i32, int32_t)
TALLY_READ_OFFSETS(i64, int64_t)

/* How many segments have values. */
static TALLY_TARGET int64_t count_filled(const int64_t *offsets, int64_t count) {
    int64_t filled = 0;
    for (int64_t s = 0; s < count; s++) filled += offsets[s + 1] != offsets[s];
    return filled;
}
/* Where those begin, with room for 8 more, and where the last one ends. */
static TALLY_TARGET void list_filled(const int64_t *offsets, int64_t count, int64_t *begins) {
    int64_t s = 0;
#if defined(TALLY_ISA_AVX512)
    for (; s + 8 <= count; s += 8) {
        __m512i begin = _mm512_loadu_si512(offsets + s);
        __mmask8 filled = _mm512_cmpneq_epi64_mask(begin, _mm512_loadu_si512(offsets + s + 1));
        _mm512_storeu_si512(begins, _mm512_maskz_compress_epi64(filled, begin));
        begins += __builtin_popcount(filled);
    }
#endif
    for (; s < count; s++) {
        *begins = offsets[s];
        begins += offsets[s + 1] != offsets[s];
    }
    *begins = offsets[count];
}

/* Results of all segments from those of the filled ones, which the result of nothing follows, and room for 64 bytes. No
 * branches: they would be mispredicted. */
TALLY_INLINE TALLY_TARGET void spread(const int64_t *offsets, int64_t count, int64_t filled, const char *made,
                                      const int64_t bytes, char *results) {
    int64_t s = 0, k = 0;
#if defined(TALLY_ISA_AVX512)
    const __m512i none = bytes == 4 ? _mm512_set1_epi32(*(const int32_t_anywhere *)(const void *)(made + filled * 4))
                                    : _mm512_set1_epi64(*(const int64_t_anywhere *)(const void *)(made + filled * 8));
    for (; bytes <= 8 && s + 8 <= count; s += 8) {
        __mmask8 there = _mm512_cmpneq_epi64_mask(_mm512_loadu_si512(offsets + s), _mm512_loadu_si512(offsets + s + 1));
        __m512i some = _mm512_loadu_si512(made + k * bytes);
        if (bytes == 4)
            _mm256_storeu_si256((__m256i *)(void *)(results + s * 4),
                                _mm512_castsi512_si256(_mm512_mask_expand_epi32(none, there, some)));
        else
            _mm512_storeu_si512(results + s * 8, _mm512_mask_expand_epi64(none, there, some));
        k += __builtin_popcount(there);
    }
#endif
    for (; s < count; s++) {
        int64_t there = offsets[s + 1] != offsets[s];
        memcpy(results + s * bytes, made + (filled + (-there & (k - filled))) * bytes, (size_t)bytes);
        k += there;
    }
}
static TALLY_TARGET void spread_4(const int64_t *offsets, int64_t count, int64_t filled, const char *made,
                                  char *results) {
    spread(offsets, count, filled, made, 4, results);
}
static TALLY_TARGET void spread_8(const int64_t *offsets, int64_t count, int64_t filled, const char *made,
                                  char *results) {
    spread(offsets, count, filled, made, 8, results);
}
static TALLY_TARGET void spread_stats(const int64_t *offsets, int64_t count, int64_t filled, const char *made,
                                      char *results) {
    spread(offsets, count, filled, made, (int64_t)sizeof(tally_stats), results);
}

/* ---- lengths ---- */

/* Their sum, which may wrap, and the bits that any has. */
#define TALLY_SUM_LENGTHS(type)                                                                         \
    static TALLY_TARGET uint64_t sum_lengths_##type(const void *index, int64_t count, uint64_t *bits) { \
        const index_##type *lengths = index;                                                            \
        uint64_t sum = 0, any = 0;                                                                      \
        for (int64_t s = 0; s < count; s++) {                                                           \
            sum += (uint64_t)(int64_t)lengths[s];                                                       \
            any |= (uint64_t)(int64_t)lengths[s];                                                       \
        }                                                                                               \
        *bits = any;                                                                                    \
        return sum;                                                                                     \
    }                                                                                                   \
    static TALLY_TARGET void add_lengths_##type(const void *index, int64_t count, int64_t *offsets) {   \
        const index_##type *lengths = index;                                                            \
        for (int64_t s = 0; s < count; s++) offsets[s + 1] = offsets[s] + lengths[s];                   \
    }
TALLY_SUM_LENGTHS(i32)
TALLY_SUM_LENGTHS(i64)

/* ---- segment ids ---- */

/* Places k ... k + n of segment ids that differ from the one before, after the `found` that are listed. */
#if defined(TALLY_ISA_AVX512)
TALLY_INLINE TALLY_TARGET int64_t list_heads_i32(const index_i32 *segment_ids, int64_t k, int64_t n, int32_t *at,
                                                 int64_t found) {
    const __m512i each = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for (int64_t end = k + n; k < end; k += 16) {
        __mmask16 there = (__mmask16)(end - k < 16 ? (1 << (end - k)) - 1 : 0xffff);
        __m512i here = _mm512_maskz_loadu_epi32(there, segment_ids + k),
                before = _mm512_maskz_loadu_epi32(there, segment_ids + k - 1);
        __mmask16 differ = _mm512_cmpneq_epi32_mask(here, before);
        _mm512_storeu_si512(at + found,
                            _mm512_maskz_compress_epi32(differ, _mm512_add_epi32(each, _mm512_set1_epi32((int32_t)k))));
        found += __builtin_popcount(differ);
    }
    return found;
}
TALLY_INLINE TALLY_TARGET int64_t list_heads_i64(const index_i64 *segment_ids, int64_t k, int64_t n, int32_t *at,
                                                 int64_t found) {
    const __m256i each = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    for (int64_t end = k + n; k < end; k += 8) {
        __mmask8 there = (__mmask8)(end - k < 8 ? (1 << (end - k)) - 1 : 0xff);
        __m512i here = _mm512_maskz_loadu_epi64(there, segment_ids + k),
                before = _mm512_maskz_loadu_epi64(there, segment_ids + k - 1);
        __mmask8 differ = _mm512_cmpneq_epi64_mask(here, before);
        _mm256_storeu_si256((__m256i *)(void *)(at + found),
                            _mm256_maskz_compress_epi32(differ, _mm256_add_epi32(each, _mm256_set1_epi32((int32_t)k))));
        found += __builtin_popcount(differ);
    }
    return found;
}
#else
#define TALLY_LIST_HEADS(type)                                                                                 \
    TALLY_INLINE TALLY_TARGET int64_t list_heads_##type(const index_##type *segment_ids, int64_t k, int64_t n, \
                                                        int32_t *at, int64_t found) {                          \
        for (int64_t end = k + n; k < end; k++) {                                                              \
            at[found] = (int32_t)k;                                                                            \
            found += segment_ids[k] != segment_ids[k - 1];                                                     \
        }                                                                                                      \
        return found;                                                                                          \
    }
TALLY_LIST_HEADS(i32)
TALLY_LIST_HEADS(i64)
#endif

/* Segment ids are looked at in runs, and a run in which none differs is done with. */
#define TALLY_HEADS(type, word)                                                                                        \
    static TALLY_TARGET int64_t heads_##type(const void *index, int64_t count, int32_t *at, tally__index_bits *bits) { \
        enum { RUN = 64 };                                                                                             \
        const index_##type *segment_ids = index;                                                                       \
        u##word all_steps = 0, all_places = 0;                                                                         \
        int64_t found = 0;                                                                                             \
        for (int64_t k = 0; k < count; k += RUN) {                                                                     \
            int64_t n = count - k < RUN ? count - k : RUN;                                                             \
            u##word steps = 0, places = 0;                                                                             \
            for (int64_t i = k; i < k + n; i++) {                                                                      \
                steps |= (u##word)segment_ids[i] - (u##word)segment_ids[i - 1];                                        \
                places |= (u##word)segment_ids[i];                                                                     \
            }                                                                                                          \
            all_steps |= steps;                                                                                        \
            all_places |= places;                                                                                      \
            if (steps != 0) found = list_heads_##type(segment_ids, k, n, at, found);                                   \
        }                                                                                                              \
        *bits = (tally__index_bits){(uint64_t)(word)all_steps, (uint64_t)(word)all_places};                            \
        return found;                                                                                                  \
    }
TALLY_HEADS(i32, int32_t)
TALLY_HEADS(i64, int64_t)

#endif
