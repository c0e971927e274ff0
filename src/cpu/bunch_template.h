/* Short segments for exact sums: a bunch of them shares one set of anchors, so that each takes a few additions and no branch of its
 * own. Part of tiles_template.h; no include guard.
 *
 * A segment of up to TALLY_SHORT values is read in rows of eight lanes, whole rows with what lies beyond the segment masked; very
 * short ones are turned, so that a lane has a segment. */

enum { ROW = 8, REGISTERS = ROW / WIDTH, ACROSS = 16, FEW = 8 };

TALLY_INLINE TALLY_TARGET wide keep(wide x, units mask) { return (wide)((units)x & mask); }

/* Rows from ... to of a segment of n values, masked. */
TALLY_INLINE TALLY_TARGET void take_rows(wide *s, const int is_f64, const int kind, const int levels, const void *x,
                                         const void *y, int64_t at, int64_t n, const int from, const int to) {
    const bool two = kind == TALLY_TERM_PRODUCT && y != x;
    units lane;
    for (int j = 0; j < WIDTH; j++) lane[j] = j;
#pragma GCC unroll 8
    for (int row = from; row < to; row++)
#pragma GCC unroll 4
        for (int g = 0; g < REGISTERS; g++) {
            int64_t i = row * ROW + g * WIDTH;
            units mask = lane < n - i;
            wide a = keep(load(is_f64, x, at + i), mask), b = a;
            if (two) b = keep(load(is_f64, y, at + i), mask);
            take(s + g, levels, REGISTERS, is_f64, kind, a, b);
        }
}
TALLY_INLINE TALLY_TARGET double fold(const wide *s, double anchor) {
#if defined(TALLY_ISA_AVX512)
    return _mm512_reduce_add_pd((__m512d)(s[0] - anchor));
#elif defined(TALLY_ISA_AVX2)
    __m256d four = (__m256d)((s[0] - anchor) + (s[1] - anchor));
    __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
#else
    double lanes[ROW];
    for (int g = 0; g < REGISTERS; g++) {
        wide h = s[g] - anchor;
        memcpy(lanes + g * WIDTH, &h, sizeof h);
    }
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
#endif
}
TALLY_INLINE TALLY_TARGET void bunch_rows(const int is_f64, const int kind, const int levels, const void *x, const void *y,
                                          int64_t limit, const int64_t *offsets, int count, const double *anchor,
                                          tally__parts parts) {
    const int64_t bytes = is_f64 ? 8 : 4;
    for (int segment = 0; segment < count; segment++) {
        int64_t at = offsets[segment], n = offsets[segment + 1] - at;
        const void *from_x = x, *from_y = y;
        _Alignas(64) char padded[2][TALLY_SHORT * 8];
        wide s[TALLY_PARTS * REGISTERS];
        if (at + TALLY_SHORT > limit) { /* too close to the end to read whole rows */
            memset(padded, 0, sizeof padded);
            memcpy(padded[0], (const char *)x + at * bytes, (size_t)(n * bytes));
            memcpy(padded[1], (const char *)y + at * bytes, (size_t)(n * bytes));
            from_x = padded[0];
            from_y = y == x ? padded[0] : padded[1];
            at = 0;
        }
#pragma GCC unroll 4
        for (int k = 0; k < levels; k++)
#pragma GCC unroll 4
            for (int g = 0; g < REGISTERS; g++) s[k * REGISTERS + g] = (wide){0} + anchor[k];
        take_rows(s, is_f64, kind, levels, from_x, from_y, at, n, 0, 4);
        if (n > 4 * ROW) take_rows(s, is_f64, kind, levels, from_x, from_y, at, n, 4, 8);
#pragma GCC unroll 4
        for (int k = 0; k < levels; k++) parts[k][segment] = fold(s + k * REGISTERS, anchor[k]);
    }
}

/* The values of ACROSS segments of at most FEW values, turned: value k of each in row k, zeros beyond its end. Segments that all
 * have `apart` values, a constant, are turned where they lie. */
#define TALLY_TURN_EQUAL(value, apart)                                                \
    case apart:                                                                       \
        TALLY_FREE_LANES                                                              \
        for (int i = 0; i < ACROSS; i++)                                              \
            _Pragma("GCC unroll 8") for (int k = 0; k < (apart); k++)                 \
                turned[k][i] = ((const value *)at)[i * (apart) + k];                  \
        return;
TALLY_INLINE TALLY_TARGET void turn_equal(const int is_f64, double (*turned)[ACROSS], const void *at, int64_t apart) {
    if (is_f64)
        switch (apart) {
            TALLY_TURN_EQUAL(double_anywhere, 1)
            TALLY_TURN_EQUAL(double_anywhere, 2)
            TALLY_TURN_EQUAL(double_anywhere, 3)
            TALLY_TURN_EQUAL(double_anywhere, 4)
        }
    else
        switch (apart) {
            TALLY_TURN_EQUAL(float_anywhere, 1)
            TALLY_TURN_EQUAL(float_anywhere, 2)
            TALLY_TURN_EQUAL(float_anywhere, 3)
            TALLY_TURN_EQUAL(float_anywhere, 4)
        }
}
TALLY_INLINE TALLY_TARGET void turn(const int is_f64, double (*turned)[ACROSS], const void *x, int64_t limit,
                                    const int64_t *offsets, int count, int64_t longest) {
    const int64_t bytes = is_f64 ? 8 : 4;
    _Alignas(64) double wide_slots[ACROSS * FEW];
    float *const slots = (float *)wide_slots;
    double lengths[ACROSS] = {0};
    memset(wide_slots, 0, (size_t)(ACROSS * FEW * bytes));
    for (int i = 0; i < count; i++) {
        int64_t n = offsets[i + 1] - offsets[i];
        const char *at = (const char *)x + offsets[i] * bytes;
        lengths[i] = (double)n;
        if (offsets[i] + FEW <= limit)
            memcpy((char *)slots + i * FEW * bytes, at, (size_t)(FEW * bytes));
        else if (n > 0)
            memcpy((char *)slots + i * FEW * bytes, at, (size_t)(n * bytes));
    }
    for (int k = 0; k < longest; k++)
        TALLY_FREE_LANES
        for (int i = 0; i < ACROSS; i++) {
            double value = is_f64 ? wide_slots[i * FEW + k] : (double)slots[i * FEW + k];
            turned[k][i] = k < lengths[i] ? value : 0;
        }
}
TALLY_INLINE TALLY_TARGET void bunch_across(const int is_f64, const int kind, const int levels, const void *x, const void *y,
                                            int64_t limit, const int64_t *offsets, int count, int64_t longest,
                                            const double *anchor, tally__parts parts) {
    enum { GROUPS = ACROSS / WIDTH };
    const int64_t bytes = is_f64 ? 8 : 4;
    _Alignas(64) double turned[2][FEW][ACROSS];
    for (int first = 0; first < count; first += ACROSS) {
        int some = count - first < ACROSS ? count - first : ACROSS;
        wide s[TALLY_PARTS * GROUPS];
        if (some == ACROSS && longest <= 4 && offsets[first + ACROSS] - offsets[first] == ACROSS * longest) {
            turn_equal(is_f64, turned[0], (const char *)x + offsets[first] * bytes, longest);
            if (y != x) turn_equal(is_f64, turned[1], (const char *)y + offsets[first] * bytes, longest);
        } else {
            turn(is_f64, turned[0], x, limit, offsets + first, some, longest);
            if (y != x) turn(is_f64, turned[1], y, limit, offsets + first, some, longest);
        }
#pragma GCC unroll 4
        for (int k = 0; k < levels; k++)
#pragma GCC unroll 8
            for (int g = 0; g < GROUPS; g++) s[k * GROUPS + g] = (wide){0} + anchor[k];
        for (int row = 0; row < longest; row++)
#pragma GCC unroll 8
            for (int g = 0; g < GROUPS; g++) {
                wide a = *(const wide *)&turned[0][row][g * WIDTH], b = *(const wide *)&turned[y != x][row][g * WIDTH];
                take(s + g, levels, GROUPS, is_f64, kind, a, b);
            }
#pragma GCC unroll 4
        for (int k = 0; k < levels; k++)
#pragma GCC unroll 8
            for (int g = 0; g < GROUPS; g++) {
                wide h = s[k * GROUPS + g] - anchor[k];
                memcpy(&parts[k][first + g * WIDTH], &h, sizeof h);
            }
    }
}

#define TALLY_BUNCH(type, is_f64, name, kind, levels)                                                                  \
    static TALLY_TARGET void bunch_##type##_##name##_##levels(const void *x, const void *y, int64_t limit,             \
                                                              const int64_t *offsets, int count, const double *anchor, \
                                                              tally__parts parts) {                                    \
        int64_t longest = 0;                                                                                           \
        for (int s = 0; s < count; s++)                                                                                \
            longest = offsets[s + 1] - offsets[s] > longest ? offsets[s + 1] - offsets[s] : longest;                   \
        if (longest <= FEW)                                                                                            \
            bunch_across(is_f64, kind, levels, x, y, limit, offsets, count, longest, anchor, parts);                   \
        else                                                                                                           \
            bunch_rows(is_f64, kind, levels, x, y, limit, offsets, count, anchor, parts);                              \
    }
#define TALLY_BUNCHES(X)                    \
    X(f32, 0, value, TALLY_TERM_VALUE, 1)   \
    X(f32, 0, value, TALLY_TERM_VALUE, 2)   \
    X(f32, 0, magnitude, TALLY_TERM_MAGNITUDE, 1) \
    X(f32, 0, magnitude, TALLY_TERM_MAGNITUDE, 2) \
    X(f32, 0, product, TALLY_TERM_PRODUCT, 2) \
    X(f32, 0, product, TALLY_TERM_PRODUCT, 3) \
    X(f64, 1, value, TALLY_TERM_VALUE, 2)   \
    X(f64, 1, value, TALLY_TERM_VALUE, 3)   \
    X(f64, 1, magnitude, TALLY_TERM_MAGNITUDE, 2) \
    X(f64, 1, magnitude, TALLY_TERM_MAGNITUDE, 3) \
    X(f64, 1, product, TALLY_TERM_PRODUCT, 3)
TALLY_BUNCHES(TALLY_BUNCH)

/* ---- results ---- */

TALLY_INLINE TALLY_TARGET tally_pair joined(const int parts, tally__parts p, int s) {
    tally_pair one;
    if (parts == 3) return tally_three_sum(p[0][s], p[1][s], p[2][s]);
    if (parts == 2) return tally_two_sum(p[0][s], p[1][s]);
    one.high = p[0][s];
    one.low = 0;
    return one;
}
#define TALLY_EACH(expression)                        \
    for (int s = 0; s < b->count; s++) {              \
        tally_quick quick = expression;               \
        b->values[s] = quick.value;                   \
        b->sure[s] = quick.sure;                      \
    }
TALLY_INLINE TALLY_TARGET void conclude_parts(tally__bunch *b, int what, const int sums, const int products, const int is_f64) {
    switch (what) {
    case TALLY_QUICK_SUM: TALLY_EACH(tally_nearest(joined(sums, b->sums, s), is_f64)) break;
    case TALLY_QUICK_MEAN: TALLY_EACH(tally_quick_mean(joined(sums, b->sums, s), (double)b->lengths[s], is_f64)) break;
    case TALLY_QUICK_ROOT: TALLY_EACH(tally_quick_root(joined(sums, b->sums, s), is_f64)) break;
    case TALLY_QUICK_SPREAD:
        TALLY_EACH(tally_quick_spread(joined(sums, b->sums, s), joined(products, b->products, s), (double)b->lengths[s],
                                      (double)b->ddof, 0, is_f64))
        break;
    default:
        TALLY_EACH(tally_quick_spread(joined(sums, b->sums, s), joined(products, b->products, s), (double)b->lengths[s],
                                      (double)b->ddof, 1, is_f64))
    }
}
/* Parts that a number has not are zeros. */
static void pad_parts(tally__parts parts, int given, int wanted) {
    for (; given > 0 && given < wanted; given++) memset(parts[given], 0, sizeof parts[given]);
}
/* For the numbers of parts that are usual. */
static TALLY_TARGET void conclude(tally__bunch *b, int what) {
    int32_t unsure = 0;
    bool usual = !b->is_f64 && b->sum_parts == 1 && b->product_parts <= 2;
    int sums = usual ? 1 : b->sum_parts <= 2 ? 2 : 3, products = usual ? 2 : 3;
    pad_parts(b->sums, b->sum_parts, sums);
    pad_parts(b->products, b->product_parts, products);
    if (usual)
        conclude_parts(b, what, 1, 2, 0);
    else if (b->is_f64)
        sums == 2 ? conclude_parts(b, what, 2, 3, 1) : conclude_parts(b, what, 3, 3, 1);
    else
        sums == 2 ? conclude_parts(b, what, 2, 3, 0) : conclude_parts(b, what, 3, 3, 0);
    for (int s = 0; s < b->count; s++) unsure += b->sure[s] == 0;
    b->unsure = unsure;
}
