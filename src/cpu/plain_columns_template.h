/* Plain sums (plain_template.h) of columns side by side: each value is read once, where it lies. Four rows are read
 * side by side, a vector of each in turn: of rows that lie apart a processor's prefetchers see the end before they have
 * begun. Gives plain_columns_<type>_<name> (tiles.h). */
#ifndef TALLY_CPU_PLAIN_COLUMNS_TEMPLATE_H
#define TALLY_CPU_PLAIN_COLUMNS_TEMPLATE_H

#include "cpu/plain_template.h"

/* A vector from value i on of a type TALLY_FROM_...; or its first `count` values, then -0, which changes no sum. */
TALLY_INLINE TALLY_TARGET wide load_from(const int from, const void *x, int64_t i, const int all, int64_t count) {
    wide v;
#if defined(TALLY_ISA_AVX512)
    if (from == TALLY_FROM_F16 || from == TALLY_FROM_BF16) {
        const void *const at = (const half_word *)x + i;
        const __m128i halves =
            all ? _mm_loadu_si128(at) : _mm_maskz_loadu_epi16((__mmask8)_bzhi_u32(0xff, (uint32_t)count), at);
        const __m256 floats = from == TALLY_FROM_F16
                                  ? _mm256_cvtph_ps(halves)
                                  : _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
        v = (wide)_mm512_cvtps_pd(floats);
    } else
#endif
        v = all ? load(from == TALLY_FROM_F64, x, i) : load_part(from == TALLY_FROM_F64, x, i, count);
    for (int k = 0; k < WIDTH && !all; k++)
        if (k >= count) v[k] = -0.0;
    return v;
}

enum { NO_PLAIN_TERM = -1 }; /* products alone are added up */
#ifdef TALLY_PLAIN_PRODUCTS
/* Notes products that are in no sum, and gives a with zeros in their place. */
static __attribute__((noinline)) TALLY_TARGET wide leave_products(tally__left_products *left, int64_t at, wide a,
                                                                  wide b, uint32_t which) {
    for (; which != 0; which &= which - 1) {
        const int k = __builtin_ctz(which);
        if (left->count < TALLY_LEFT_MOST) {
            left->lanes[left->count] = (int16_t)(at + k);
            left->x[left->count] = a[k];
            left->y[left->count] = b[k];
        }
        left->count += left->count <= TALLY_LEFT_MOST;
        a[k] = 0;
    }
    return a;
}
/* Few products have digits that the parts do not hold. (One that is 0 though its factors are not raises the flag.) */
TALLY_INLINE TALLY_TARGET wide without_small(const tally__plain_work *work, int64_t at, wide a, wide b) {
    const wide p = (wide)_mm512_mul_round_pd((__m512d)a, (__m512d)b, TALLY_UNSEEN);
    __mmask8 small = _mm512_cmp_pd_mask(_mm512_abs_pd((__m512d)p), _mm512_set1_pd(work->least), _CMP_LT_OQ);
    if (__builtin_expect(small == 0, 1)) return a;
    small = _mm512_mask_cmp_pd_mask(small, (__m512d)p, _mm512_setzero_pd(), _CMP_NEQ_OQ);
    return small == 0 ? a : leave_products(work->left, at, a, b, small);
}
#endif
/* Adds `rows` rows, `apart` bytes from each other, of the vector at lane `at`. */
TALLY_INLINE TALLY_TARGET void take_vectors(const int from, const int kind, const int products, const char *x,
                                            const char *y, const int two, const int rows, int64_t apart, int64_t at,
                                            const int all, int64_t count, const tally__plain_work *work,
                                            const int begins) {
    const int is_f64 = from == TALLY_FROM_F64, parts = TALLY_PLAIN_PARTS(is_f64, TALLY_TERM_VALUE),
              product_parts = TALLY_PLAIN_PARTS(is_f64, TALLY_TERM_PRODUCT);
    wide s[TALLY_PARTS], p[TALLY_PARTS];
#pragma GCC unroll 4
    for (int k = 0; k < TALLY_PARTS; k++) {
        if (kind != NO_PLAIN_TERM && k < parts)
            s[k] = !begins ? *(const wide *)(work->sums[k] + at) : k == 0 ? -(wide){0} : (wide){0};
        if (products && k < product_parts)
            p[k] = begins ? (wide){0} + work->anchor[k] : *(const wide *)(work->products[k] + at);
    }
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++) {
        const wide a = load_from(from, x + r * apart, at, all, count),
                   b = two ? load_from(from, y + r * apart, at, all, count) : a;
        if (kind != NO_PLAIN_TERM && is_f64) { /* by additions: subnormals are slow to multiply */
            const wide term = plain_term(kind, a);
            s[0] += upper_half(term);
            s[1] += term - upper_half(term);
        } else if (kind != NO_PLAIN_TERM)
            take_plainly(s, 1, is_f64, kind, a, a);
#ifdef TALLY_PLAIN_PRODUCTS
        if (products) take_plainly(p, 1, is_f64, TALLY_TERM_PRODUCT, is_f64 ? without_small(work, at, a, b) : a, b);
#else
        (void)b;
#endif
    }
#pragma GCC unroll 4
    for (int k = 0; k < TALLY_PARTS; k++) {
        if (kind != NO_PLAIN_TERM && k < parts) *(wide *)(work->sums[k] + at) = s[k];
        if (products && k < product_parts) *(wide *)(work->products[k] + at) = p[k];
    }
}
/* Adds `rows` rows of `lanes` values, and asks for the rows after them. */
TALLY_INLINE TALLY_TARGET void take_columns(const int from, const int kind, const int products, const char *x,
                                            const char *y, const int two, const int rows, int64_t apart, int64_t lanes,
                                            const tally__plain_work *work, const int begins) {
    const int bytes = from == TALLY_FROM_F64 ? 8 : from == TALLY_FROM_F32 ? 4 : 2, line = 64 / bytes;
    const int together = line > WIDTH ? line : WIDTH;
    int64_t j = 0, ahead = rows * apart;
    while (ahead < 4096) ahead *= 2; /* such rows follow one another */
    for (; j + together <= lanes; j += together) {
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            tally__ask_for(x + ahead + r * apart + j * bytes, 64);
            if (two) tally__ask_for(y + ahead + r * apart + j * bytes, 64);
        }
#pragma GCC unroll 8
        for (int k = 0; k < together; k += WIDTH)
            take_vectors(from, kind, products, x, y, two, rows, apart, j + k, 1, 0, work, begins);
    }
    for (; j + WIDTH <= lanes; j += WIDTH)
        take_vectors(from, kind, products, x, y, two, rows, apart, j, 1, 0, work, begins);
    if (j < lanes) take_vectors(from, kind, products, x, y, two, rows, apart, j, 0, lanes - j, work, begins);
}
TALLY_INLINE TALLY_TARGET void add_columns(const int from, const int kind, const int products, const char *x,
                                           const char *y, const int two, int64_t rows, int64_t stride, int64_t width,
                                           int64_t fold, const tally__plain_work *work) {
    enum { TOGETHER = 4 };
    const int64_t bytes = from == TALLY_FROM_F64   ? 8
                          : from == TALLY_FROM_F32 ? 4
                                                   : 2,
                  apart = stride * fold * bytes, lanes = width * fold, rest = rows % fold * width;
    int64_t lines = rows / fold;
#define TALLY_TAKE(count, lanes, begins)                                                                    \
    take_columns(from, kind, products, x, y, two, count, apart, lanes, work, begins), x += apart * (count), \
        y += apart * (count), lines -= (count)
    if (work->anchor != NULL && lines >= TOGETHER)
        TALLY_TAKE(TOGETHER, lanes, 1);
    else if (work->anchor != NULL && lines > 0)
        TALLY_TAKE(1, lanes, 1);
    else if (work->anchor != NULL) { /* what has no row begins, too */
        for (int k = 0; k < TALLY_PARTS; k++)
            for (int64_t j = 0; j < lanes; j++)
                work->sums[k][j] = k == 0 ? -0.0 : 0, work->products[k][j] = work->anchor[k];
    }
    while (lines >= TOGETHER) TALLY_TAKE(TOGETHER, lanes, 0);
    while (lines > 0) TALLY_TAKE(1, lanes, 0);
    if (rest > 0) TALLY_TAKE(1, rest, 0);
#undef TALLY_TAKE
}
#define TALLY_PLAIN_COLUMNS(type, from, name, kind, products)                                                          \
    static TALLY_TARGET void plain_columns_##type##_##name(const void *x, const void *y, int64_t rows, int64_t stride, \
                                                           int64_t width, int64_t fold,                                \
                                                           const tally__plain_work *given) {                           \
        const tally__plain_work work = *given; /* which no store changes */                                            \
        if (products && kind == NO_PLAIN_TERM && x != y)                                                               \
            add_columns(from, kind, products, x, y, 1, rows, stride, width, fold, &work);                              \
        else                                                                                                           \
            add_columns(from, kind, products, x, x, 0, rows, stride, width, fold, &work);                              \
    }
#define TALLY_PLAIN_COLUMNS_OF_TERMS(X, type, from) \
    X(type, from, value, TALLY_TERM_VALUE, 0)       \
    X(type, from, magnitude, TALLY_TERM_MAGNITUDE, 0)
#define TALLY_PLAIN_COLUMNS_OF_PRODUCTS(X, type, from) \
    X(type, from, product, NO_PLAIN_TERM, 1)           \
    X(type, from, both, TALLY_TERM_VALUE, 1)
#ifdef TALLY_PLAIN_PRODUCTS
#define TALLY_ALL_PLAIN_COLUMNS(X)                          \
    TALLY_PLAIN_COLUMNS_OF_TERMS(X, f32, TALLY_FROM_F32)    \
    TALLY_PLAIN_COLUMNS_OF_TERMS(X, f64, TALLY_FROM_F64)    \
    TALLY_PLAIN_COLUMNS_OF_TERMS(X, f16, TALLY_FROM_F16)    \
    TALLY_PLAIN_COLUMNS_OF_TERMS(X, bf16, TALLY_FROM_BF16)  \
    TALLY_PLAIN_COLUMNS_OF_PRODUCTS(X, f32, TALLY_FROM_F32) \
    TALLY_PLAIN_COLUMNS_OF_PRODUCTS(X, f64, TALLY_FROM_F64) \
    TALLY_PLAIN_COLUMNS_OF_PRODUCTS(X, f16, TALLY_FROM_F16) \
    TALLY_PLAIN_COLUMNS_OF_PRODUCTS(X, bf16, TALLY_FROM_BF16)
#else
#define TALLY_ALL_PLAIN_COLUMNS(X)                       \
    TALLY_PLAIN_COLUMNS_OF_TERMS(X, f32, TALLY_FROM_F32) \
    TALLY_PLAIN_COLUMNS_OF_TERMS(X, f64, TALLY_FROM_F64)
#endif
TALLY_ALL_PLAIN_COLUMNS(TALLY_PLAIN_COLUMNS)

/* The lanes of each column are joined; sums of products began at the anchors. Gives whether all are finite. */
static TALLY_TARGET bool join_columns(tally__plain_sums sums, int parts, int64_t width, int64_t fold,
                                      const double *anchor) {
    int64_t special = 0;
    for (int k = 0; k < parts; k++) {
        for (int64_t j = 0; j < width * fold && anchor != NULL; j++) sums[k][j] -= anchor[k];
        for (int64_t f = 1; f < fold; f++)
            for (int64_t p = 0; p < width; p++) sums[k][p] += sums[k][f * width + p];
    }
    for (int64_t p = 0; p < width; p++) special |= (tally_bits_f64(sums[0][p]) & INT64_MAX) >= (int64_t)0x7ff << 52;
    return !special;
}

#endif
