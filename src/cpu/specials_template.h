/* Infinities, NaNs and the sign of 0 in sums.
 * Levels and bins cannot take infinities and NaNs: zeros are put in their place, and what they were is noted. */
#ifndef TALLY_CPU_SPECIALS_TEMPLATE_H
#define TALLY_CPU_SPECIALS_TEMPLATE_H

#include "cpu/measure.h"

enum {
    most_f32 = INT32_MAX,
    SEARCHED = 64 /* values that are searched for a special one without a branch */
};
static const int64_t most_f64 = INT64_MAX;
/* The zero that takes the place changes no sum, not even one of zeros: -0, and of pairs -0 and +0, whose product is -0.
 */
#define TALLY_SPECIALS(type, word, vector, infinite, digits, bias)                                                  \
    typedef struct seen_##type {                                                                                    \
        vector plus, minus, nan, product_plus, product_minus, missing, top[2], bottom[2];                           \
    } seen_##type;                                                                                                  \
    TALLY_INLINE TALLY_TARGET void measured_##type(seen_##type *seen, const int k, vector x) {                      \
        const vector size = x & most_##type, lessened = (size - 1) & most_##type; /* as in measure_all_... */       \
        const vector more = size > seen->top[k], less = lessened < seen->bottom[k];                                 \
        seen->top[k] = (size & more) | (seen->top[k] & ~more);                                                      \
        seen->bottom[k] = (lessened & less) | (seen->bottom[k] & ~less);                                            \
    }                                                                                                               \
    TALLY_INLINE TALLY_TARGET void take_some_##type(seen_##type *seen, vector *x, vector *y, const int two,         \
                                                    const word skipped) {                                           \
        const vector c = *x, d = *y, c_size = c & most_##type, d_size = d & most_##type;                            \
        const vector out = (c_size >= (infinite)) | (d_size >= (infinite));                                         \
        if (TALLY_ANY(out)) { /* which is rare */                                                                   \
            const vector c_nan = c_size > (infinite), c_minus = c < 0, product_minus = (c ^ d) < 0;                 \
            const vector no_number = c_nan | (d_size > (infinite)),                                                 \
                         no_product = no_number | (c_size == 0) | (d_size == 0);                                    \
            const vector gone = no_number & skipped, noted = out & ~gone;                                           \
            seen->plus |= noted & (c_nan | ~c_minus);                                                               \
            seen->minus |= noted & (c_nan | c_minus);                                                               \
            seen->nan |= noted & c_nan;                                                                             \
            seen->product_plus |= noted & (no_product | ~product_minus);                                            \
            seen->product_minus |= noted & (no_product | product_minus);                                            \
            seen->missing -= gone;                                                                                  \
            *x = (c & ~out) | (out & ~most_##type);                                                                 \
            *y = d & ~out;                                                                                          \
        }                                                                                                           \
        measured_##type(seen, 0, *x);                                                                               \
        if (two) measured_##type(seen, 1, *y);                                                                      \
    }                                                                                                               \
    TALLY_INLINE TALLY_TARGET tally__extent seen_extent_##type(const seen_##type *seen, const int k) {              \
        word top = 0, bottom = most_##type;                                                                         \
        for (size_t j = 0; j < sizeof(vector) / sizeof(word); j++) {                                                \
            top = seen->top[k][j] > top ? seen->top[k][j] : top;                                                    \
            bottom = seen->bottom[k][j] < bottom ? seen->bottom[k][j] : bottom;                                     \
        }                                                                                                           \
        return extent_of(top, bottom == most_##type ? 0 : bottom + 1, digits, bias, 1 - (bias) - (digits));         \
    }                                                                                                               \
    TALLY_INLINE TALLY_TARGET tally__taken take_all_##type(const word *x, const word *y, const int two, int64_t n,  \
                                                           bool skips, word *to, word *to_y) {                      \
        enum { LANES = sizeof(vector) / sizeof(word) };                                                             \
        const word skipped = skips ? -1 : 0;                                                                        \
        seen_##type seen = {{0}, {0}, {0},        {0},                                                              \
                            {0}, {0}, {{0}, {0}}, {(vector){0} + most_##type, (vector){0} + most_##type}};          \
        tally__taken taken = {.present = n};                                                                        \
        vector a = {0}, b = {0};                                                                                    \
        int64_t i = 0;                                                                                              \
        for (; i + LANES <= n; i += LANES) {                                                                        \
            memcpy(&a, x + i, sizeof a), memcpy(&b, y + i, sizeof b);                                               \
            take_some_##type(&seen, &a, &b, two, skipped);                                                          \
            memcpy(to + i, &a, sizeof a);                                                                           \
            if (two) memcpy(to_y + i, &b, sizeof b);                                                                \
        }                                                                                                           \
        if (i < n) {                                                                                                \
            const size_t bytes = (size_t)(n - i) * sizeof(word);                                                    \
            a = b = (vector){0};                                                                                    \
            memcpy(&a, x + i, bytes), memcpy(&b, y + i, bytes);                                                     \
            take_some_##type(&seen, &a, &b, two, skipped);                                                          \
            memcpy(to + i, &a, bytes);                                                                              \
            if (two) memcpy(to_y + i, &b, bytes);                                                                   \
        }                                                                                                           \
        for (int j = 0; j < LANES; j++) {                                                                           \
            taken.present -= seen.missing[j];                                                                       \
            taken.specials |=                                                                                       \
                (int32_t)((seen.plus[j] & TALLY_SEEN_PLUS) | (seen.minus[j] & TALLY_SEEN_MINUS) |                   \
                          (seen.nan[j] & TALLY_SEEN_NAN) | (seen.product_plus[j] & TALLY_SEEN_PRODUCT_PLUS) |       \
                          (seen.product_minus[j] & TALLY_SEEN_PRODUCT_MINUS));                                      \
        }                                                                                                           \
        taken.x_extent = seen_extent_##type(&seen, 0);                                                              \
        taken.y_extent = seen_extent_##type(&seen, two);                                                            \
        return taken;                                                                                               \
    }                                                                                                               \
    static TALLY_TARGET tally__taken take_out_##type(const void *x, const void *y, int64_t n, bool skips, void *to, \
                                                     void *to_y) {                                                  \
        return x == y ? take_all_##type(x, x, 0, n, skips, to, to) : take_all_##type(x, y, 1, n, skips, to, to_y);  \
    }                                                                                                               \
    static TALLY_TARGET int64_t find_special_##type(const void *x, int64_t from, int64_t n) {                       \
        const word##_anywhere *const bits = x;                                                                      \
        for (int64_t some; from < n; from += some) {                                                                \
            vector seen = {0}, a;                                                                                   \
            for (some = 0; some < SEARCHED && from + some + (int64_t)(sizeof a / sizeof(word)) <= n;                \
                 some += (int64_t)(sizeof a / sizeof(word))) {                                                      \
                memcpy(&a, bits + from + some, sizeof a);                                                           \
                seen |= (a & (infinite)) == (infinite);                                                             \
            }                                                                                                       \
            const int rest = some == 0;                                                                             \
            if (rest) some = n - from;                                                                              \
            for (int64_t i = from; i < from + some && (rest || TALLY_ANY(seen)); i++)                               \
                if ((bits[i] & (infinite)) == (infinite)) return i;                                                 \
        }                                                                                                           \
        return n;                                                                                                   \
    }

/* The lanes of a mask as bits, the first at bit `at`. */
#if defined(TALLY_ISA_AVX512)
#define TALLY_EACH_IS(type, at, v) (uint64_t) TALLY_EACH_IS_##type(v) << (at)
#define TALLY_EACH_IS_f32(v) _mm512_movepi32_mask((__m512i)(v))
#define TALLY_EACH_IS_f64(v) _mm512_movepi64_mask((__m512i)(v))
#elif defined(TALLY_ISA_AVX2)
#define TALLY_EACH_IS(type, at, v) (uint64_t)(uint32_t) TALLY_EACH_IS_##type(v) << (at)
#define TALLY_EACH_IS_f32(v) _mm256_movemask_ps((__m256)(v))
#define TALLY_EACH_IS_f64(v) _mm256_movemask_pd((__m256d)(v))
#endif
#ifndef TALLY_EACH_IS
#define TALLY_EACH_IS(type, at, v) each_is_##type(v, at)
TALLY_INLINE TALLY_TARGET uint64_t each_is_f32(sizes v, int64_t at) {
    uint64_t bits = 0;
    for (size_t k = 0; k < sizeof v / sizeof v[0]; k++) bits |= (uint64_t)(v[k] & 1) << ((size_t)at + k);
    return bits;
}
TALLY_INLINE TALLY_TARGET uint64_t each_is_f64(units v, int64_t at) {
    uint64_t bits = 0;
    for (size_t k = 0; k < sizeof v / sizeof v[0]; k++) bits |= (uint64_t)(v[k] & 1) << ((size_t)at + k);
    return bits;
}
#endif

enum { COPIED_AHEAD = 4096 }; /* bytes: copies are added up, and nothing is read meanwhile */
#define TALLY_COPY_FINITE(type, word, vector, infinite, most)                                                         \
    TALLY_INLINE TALLY_TARGET int64_t finite_##type(vector *a, vector *b, int64_t at, int32_t *places) {              \
        const vector out = ((*a & (infinite)) == (infinite)) | ((*b & (infinite)) == (infinite));                     \
        int64_t found = 0;                                                                                            \
        if (!TALLY_ANY(out)) return 0; /* as nearly always */                                                         \
        for (uint64_t bits = TALLY_EACH_IS(type, 0, out); bits != 0; bits &= bits - 1)                                \
            places[found++] = (int32_t)at + __builtin_ctzll(bits);                                                    \
        *a = (*a & ~out) | (out & ~(most));                                                                           \
        *b &= ~out;                                                                                                   \
        return found;                                                                                                 \
    }                                                                                                                 \
    TALLY_INLINE TALLY_TARGET int64_t copy_some_##type(const word *x, const word *y, const int two, int64_t at,       \
                                                       size_t bytes, word *to, word *to_y, int32_t *places) {         \
        vector a = {0}, b = {0};                                                                                      \
        memcpy(&a, x + at, bytes);                                                                                    \
        if (two) memcpy(&b, y + at, bytes);                                                                           \
        const int64_t found = finite_##type(&a, &b, at, places);                                                      \
        memcpy(to + at, &a, bytes);                                                                                   \
        if (two) memcpy(to_y + at, &b, bytes);                                                                        \
        return found;                                                                                                 \
    }                                                                                                                 \
    /* Copies some vectors if all of their values are finite. */                                                      \
    TALLY_INLINE TALLY_TARGET bool copied_##type(const word *x, word *to, const int vectors) {                        \
        enum { LANES = sizeof(vector) / sizeof(word) };                                                               \
        vector v[4], out = {0};                                                                                       \
        _Pragma("GCC unroll 4") for (int k = 0; k < vectors; k++) {                                                   \
            memcpy(&v[k], x + k * LANES, sizeof v[k]);                                                                \
            out |= (v[k] & (infinite)) == (infinite);                                                                 \
        }                                                                                                             \
        if (TALLY_ANY(out)) return false;                                                                             \
        _Pragma("GCC unroll 4") for (int k = 0; k < vectors; k++) memcpy(to + k * LANES, &v[k], sizeof v[k]);         \
        return true;                                                                                                  \
    }                                                                                                                 \
    TALLY_INLINE TALLY_TARGET int64_t copy_all_##type(const word *x, const word *y, const int two, int64_t n,         \
                                                      word *to, word *to_y, int32_t *places) {                        \
        enum { LANES = sizeof(vector) / sizeof(word), FOUR = 4 * LANES };                                             \
        int64_t found = 0, i = 0, end;                                                                                \
        for (; i + FOUR <= n; i = end) {                                                                              \
            end = i + FOUR;                                                                                           \
            tally__ask_for((const char *)(x + i) + COPIED_AHEAD, sizeof(vector) * 4);                                 \
            if (two) tally__ask_for((const char *)(y + i) + COPIED_AHEAD, sizeof(vector) * 4);                        \
            if (copied_##type(x + i, to + i, 4) && (!two || copied_##type(y + i, to_y + i, 4))) continue;             \
            for (; i < end; i += LANES)                                                                               \
                found += copy_some_##type(x, y, two, i, sizeof(vector), to, to_y, places + found);                    \
        }                                                                                                             \
        for (; i < n; i += LANES)                                                                                     \
            found += copy_some_##type(x, y, two, i, (size_t)(n - i < LANES ? n - i : LANES) * sizeof(word), to, to_y, \
                                      places + found);                                                                \
        return found;                                                                                                 \
    }                                                                                                                 \
    static TALLY_TARGET int64_t copy_finite_##type(const void *x, const void *y, int64_t n, void *to, void *to_y,     \
                                                   int32_t *places) {                                                 \
        return x == y ? copy_all_##type(x, x, 0, n, to, to, places) : copy_all_##type(x, y, 1, n, to, to_y, places);  \
    }
TALLY_COPY_FINITE(f32, int32_t, sizes, 0x7f800000, most_f32)
TALLY_COPY_FINITE(f64, int64_t, units, (int64_t)0x7ff << 52, most_f64)
/* Which values (products, where `two`) are other than -0. */
#define TALLY_OTHERS(type, word, vector, most)                                                               \
    TALLY_INLINE TALLY_TARGET vector is_other_##type(vector a, vector b, const int two) {                    \
        const vector zero = two ? ((a & (most)) == 0) | ((b & (most)) == 0) : (a & (most)) == 0;             \
        return ~(zero & ((two ? a ^ b : a) < 0));                                                            \
    }                                                                                                        \
    TALLY_INLINE TALLY_TARGET bool has_minus_##type(const word##_anywhere *x, int64_t n) {                   \
        enum { LANES = sizeof(vector) / sizeof(word) };                                                      \
        vector least = {0}, a;                                                                               \
        word lowest = 0;                                                                                     \
        int64_t i = 0;                                                                                       \
        for (; i + LANES <= n; i += LANES) {                                                                 \
            memcpy(&a, x + i, sizeof a);                                                                     \
            const vector less = a < least;                                                                   \
            least = (a & less) | (least & ~less);                                                            \
        }                                                                                                    \
        for (; i < n; i++) lowest = x[i] < lowest ? x[i] : lowest;                                           \
        for (int j = 0; j < LANES; j++) lowest = least[j] < lowest ? least[j] : lowest;                      \
        return lowest == ~(most);                                                                            \
    }                                                                                                        \
    TALLY_INLINE TALLY_TARGET bool all_others_##type(const word *x, const word *y, const int two, int64_t n, \
                                                     uint64_t *bits) {                                       \
        enum { LANES = sizeof(vector) / sizeof(word) };                                                      \
        uint64_t missing = 0;                                                                                \
        if (!two && !has_minus_##type(x, n)) return true; /* the usual, and quickly told */                  \
        for (int64_t i = 0; i < n; i += 64) {                                                                \
            const int64_t some = n - i < 64 ? n - i : 64;                                                    \
            uint64_t others = some < 64 ? ~(uint64_t)0 << some : 0;                                          \
            vector a, b;                                                                                     \
            int64_t j = 0;                                                                                   \
            for (; j + LANES <= some; j += LANES) {                                                          \
                memcpy(&a, x + i + j, sizeof a), memcpy(&b, y + i + j, sizeof b);                            \
                others |= TALLY_EACH_IS(type, j, is_other_##type(a, b, two));                                \
            }                                                                                                \
            if (j < some) {                                                                                  \
                a = b = (vector){0};                                                                         \
                memcpy(&a, x + i + j, (size_t)(some - j) * sizeof(word));                                    \
                memcpy(&b, y + i + j, (size_t)(some - j) * sizeof(word));                                    \
                others |= TALLY_EACH_IS(type, j, is_other_##type(a, b, two));                                \
            }                                                                                                \
            missing |= ~others;                                                                              \
            bits[i / 64] = others;                                                                           \
        }                                                                                                    \
        return missing == 0;                                                                                 \
    }                                                                                                        \
    static TALLY_TARGET bool others_##type(const void *x, const void *y, int64_t n, uint64_t *bits) {        \
        return x == y ? all_others_##type(x, x, 0, n, bits) : all_others_##type(x, y, 1, n, bits);           \
    }
TALLY_OTHERS(f32, int32_t, sizes, most_f32)
TALLY_OTHERS(f64, int64_t, units, most_f64)
TALLY_SPECIALS(f32, int32_t, sizes, 0x7f800000, 23, 127)
TALLY_SPECIALS(f64, int64_t, units, (int64_t)0x7ff << 52, 52, 1023)

#endif
