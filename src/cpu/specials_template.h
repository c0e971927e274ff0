/* Infinities and NaNs, which levels and bins cannot take: zeros are put in their place, and what they were is noted.
 * Part of tiles_template.h; no include guard. */

/* Whether any lane is not 0. */
#if defined(TALLY_ISA_AVX512)
#define TALLY_ANY(v) (_mm512_test_epi64_mask((__m512i)(v), (__m512i)(v)) != 0)
#elif defined(TALLY_ISA_AVX2)
#define TALLY_ANY(v) (!_mm256_testz_si256((__m256i)(v), (__m256i)(v)))
#else
#define TALLY_ANY(v) ((((units)(v))[0] | ((units)(v))[1]) != 0)
#endif
enum { most_f32 = INT32_MAX };
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
            for (some = 0; some < SOME && from + some + (int64_t)(sizeof a / sizeof(word)) <= n;                    \
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
TALLY_SPECIALS(f32, int32_t, sizes, 0x7f800000, 23, 127)
TALLY_SPECIALS(f64, int64_t, units, (int64_t)0x7ff << 52, 52, 1023)
