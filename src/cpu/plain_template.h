/* Short segments of f32 as plain sums in f64. Nothing is known of the values here: whoever calls asks the machine whether it has rounded any
 * addition, and if not, all sums are exact (docs/exact.md). Part of tiles_template.h; no include guard.
 *
 * What all values before a place add up to is made for every place where a segment ends, and a segment is the difference of two of these. So it has
 * no loop of its own, and no branch that lengths could mislead. */

/* Rows of lanes are kept for so many values: few, so that they stay in the first cache and memory is read on while segments are looked up (2048:
 * 10 to 50 values from memory 8.1 -> 11 ns). Nothing is asked for ahead: the hardware does better. */
enum { PLAIN_BLOCK = 1024 };
typedef row plain_rows[PLAIN_BLOCK / ROW + 2];

/* What the lanes s hold before each row of n values, and after the last one, twice: where that is looked up the row behind it is read too. */
TALLY_INLINE TALLY_TARGET void keep_plain_row(row *rows, int64_t r, const wide *s) {
#pragma GCC unroll 4
    for (int g = 0; g < REGISTERS; g++) *(wide *)(rows[r] + g * WIDTH) = s[g];
}
TALLY_INLINE TALLY_TARGET void take_plain_rows(row *rows, wide *s, const int kind, const void *x, int64_t n) {
    int64_t r = 0;
    for (; (r + 2) * ROW <= n; r += 2) { /* two rows at once: no addition waits for another */
        keep_plain_row(rows, r, s);
#pragma GCC unroll 4
        for (int g = 0; g < REGISTERS; g++) {
            wide a = load_f32(x, r * ROW + g * WIDTH), b = load_f32(x, (r + 1) * ROW + g * WIDTH);
            if (kind == TALLY_TERM_MAGNITUDE) a = magnitude_of(a), b = magnitude_of(b);
            *(wide *)(rows[r + 1] + g * WIDTH) = s[g] + a;
            s[g] += a + b;
        }
    }
    for (; r * ROW < n; r++) {
        keep_plain_row(rows, r, s);
#pragma GCC unroll 4
        for (int g = 0; g < REGISTERS; g++) {
            int64_t i = r * ROW + g * WIDTH, there = n - i < WIDTH ? n - i : WIDTH;
            wide a = there == WIDTH ? load_f32(x, i) : load_part(0, x, i, there);
            s[g] += kind == TALLY_TERM_MAGNITUDE ? magnitude_of(a) : a;
        }
    }
    keep_plain_row(rows, r, s);
    keep_plain_row(rows, r + 1, s);
}

/* What all values before each of eight places add up to; places at `most` or behind it count as that. */
#if defined(TALLY_ISA_AVX512)
TALLY_INLINE TALLY_TARGET __m512d plain_lanes(const row *rows, int64_t i) {
    const row *at = rows + i / ROW;
    return _mm512_mask_mov_pd(_mm512_load_pd(at[0]), (__mmask8)_bzhi_u32(0xff, (uint32_t)i % ROW), _mm512_load_pd(at[1]));
}
TALLY_INLINE TALLY_TARGET void look_up(double *before, const row *rows, const int64_t *places, int64_t first, int64_t most) {
    __m512d s[8];
#pragma GCC unroll 4
    for (int k = 0; k < 8; k += 2) {
        int64_t i = places[k] < most ? places[k] : most, j = places[k + 1] < most ? places[k + 1] : most;
        __m512d a = plain_lanes(rows, i - first), b = plain_lanes(rows, j - first);
        s[k] = _mm512_add_pd(_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
    }
    _mm512_storeu_pd(before, TALLY_FOLD(TALLY_FOLD(s[0], s[2]), TALLY_FOLD(s[4], s[6])));
}
#else
TALLY_INLINE TALLY_TARGET void look_up(double *before, const row *rows, const int64_t *places, int64_t first, int64_t most) {
    for (int k = 0; k < 8; k++) {
        int64_t i = places[k] < most ? places[k] : most;
        _Alignas(64) double s[ROW];
        wide lanes[REGISTERS];
        lanes_before(lanes, rows, i - first);
#pragma GCC unroll 4
        for (int g = 0; g < REGISTERS; g++) *(wide *)(s + g * WIDTH) = lanes[g];
        before[k] = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
    }
}
#endif
TALLY_INLINE TALLY_TARGET void plain_by_rows(const int kind, const void *x, const int64_t *offsets, int count, double *sums) {
    const int64_t *const ends = offsets + 1;
    _Alignas(64) plain_rows rows;
    _Alignas(64) double room[8 + TALLY_PLAIN_MOST + 8], *const before = room + 8;
    wide s[REGISTERS] = {{0}};
    int done = 0;
    before[-1] = 0;
    for (int64_t at = offsets[0]; done < count; at += PLAIN_BLOCK) {
        const int64_t end = offsets[count] - at < PLAIN_BLOCK ? offsets[count] : at + PLAIN_BLOCK;
        take_plain_rows(rows, s, kind, (const float *)x + (at - offsets[0]), end - at);
        for (; done + 8 <= count && ends[done + 7] <= end; done += 8) look_up(before + done, rows, ends + done, at, INT64_MAX);
        if (done < count && ends[done] <= end) {
            int64_t last[8];
            for (int k = 0; k < 8; k++) last[k] = ends[done + k < count ? done + k : count - 1];
            look_up(before + done, rows, last, at, end);
            while (done < count && ends[done] <= end) done++;
        }
    }
    for (int k = 0; k < count; k++) sums[k] = before[k] - before[k - 1];
}

/* s + a by the multipliers: the adders convert (see less). */
TALLY_INLINE TALLY_TARGET wide more(wide s, wide a) {
#ifdef TALLY_VECTOR_FMA
    return TALLY_VECTOR_FMA(a, (wide){0} + 1.0, s);
#else
    return s + a;
#endif
}
/* One segment. */
TALLY_INLINE TALLY_TARGET double plain_total(const int kind, const void *x, int64_t n) {
    wide s[CHAINS] = {{0}};
    double sum = 0;
    int64_t i = 0;
    for (; i + WIDTH * CHAINS <= n; i += WIDTH * CHAINS)
#pragma GCC unroll 8
        for (int c = 0; c < CHAINS; c++) {
            wide a = load_f32(x, i + WIDTH * c);
            s[c] = more(s[c], kind == TALLY_TERM_MAGNITUDE ? magnitude_of(a) : a);
        }
    for (; i + WIDTH <= n; i += WIDTH) s[0] += kind == TALLY_TERM_MAGNITUDE ? magnitude_of(load_f32(x, i)) : load_f32(x, i);
    for (; i < n; i++) {
        double a = (double)((const float_anywhere *)x)[i];
        sum += kind == TALLY_TERM_MAGNITUDE ? __builtin_fabs(a) : a;
    }
    for (int c = 1; c < CHAINS; c++) s[0] += s[c];
    for (int k = 0; k < WIDTH; k++) sum += s[0][k];
    return sum;
}

/* Segments that all have the same few values: a lane for each. */
#define TALLY_PLAIN_TERM(k) (kind == TALLY_TERM_MAGNITUDE ? __builtin_fabs((double)at[(k)]) : (double)at[(k)])
TALLY_INLINE TALLY_TARGET void plain_across(const int kind, const void *x, const int length, int count, double *sums) {
    for (int s = 0; s < count; s++) {
        const float_anywhere *at = (const float_anywhere *)x + s * length;
        double sum = TALLY_PLAIN_TERM(0);
#pragma GCC unroll 4
        for (int k = 1; k < length; k++) sum += TALLY_PLAIN_TERM(k);
        sums[s] = sum;
    }
}
#undef TALLY_PLAIN_TERM
/* What all of them have, 1 to 4; or 0. */
TALLY_INLINE TALLY_TARGET int equal_length(const int64_t *offsets, int count) {
    const int64_t length = offsets[1] - offsets[0];
    int64_t differ = 0;
    if (length < 1 || length > 4 || offsets[count] - offsets[0] != count * length) return 0;
    for (int s = 0; s < count; s++) differ |= (offsets[s + 1] - offsets[s]) ^ length;
    return differ ? 0 : (int)length;
}

TALLY_INLINE TALLY_TARGET bool plain_sums(const int kind, const void *x, const int64_t *offsets, int count, double *sums) {
    const int64_t infinite = (int64_t)0x7ff << 52; /* as bits; NaNs are above */
    int64_t special = 0;
    if (count == 1) {
        sums[0] = plain_total(kind, x, offsets[1] - offsets[0]);
        return (tally_bits_f64(sums[0]) & INT64_MAX) < infinite;
    }
    switch (equal_length(offsets, count)) {
    case 1: plain_across(kind, x, 1, count, sums); break;
    case 2: plain_across(kind, x, 2, count, sums); break;
    case 3: plain_across(kind, x, 3, count, sums); break;
    case 4: plain_across(kind, x, 4, count, sums); break;
    default: plain_by_rows(kind, x, offsets, count, sums);
    }
    for (int s = 0; s < count; s++) special |= (tally_bits_f64(sums[s]) & INT64_MAX) >= infinite;
    return !special;
}
static TALLY_TARGET bool plain_values(const void *x, const int64_t *offsets, int count, double *sums) {
    return plain_sums(TALLY_TERM_VALUE, x, offsets, count, sums);
}
static TALLY_TARGET bool plain_magnitudes(const void *x, const int64_t *offsets, int count, double *sums) {
    return plain_sums(TALLY_TERM_MAGNITUDE, x, offsets, count, sums);
}

/* Sums as results. Gives whether the values of some segment add up to 0, the sign of which is not known here. */
#define TALLY_ROUND_SUMS(type)                           \
    for (int s = 0; s < count; s++) {                    \
        ((type##_anywhere *)results)[s] = (type)sums[s]; \
        zeros |= sums[s] == 0;                           \
    }
static TALLY_TARGET bool round_sums(const double *sums, const int64_t *offsets, int count, bool is_f64, void *results) {
    int zeros = 0;
    int64_t cancelled = 0;
    if (is_f64)
        TALLY_ROUND_SUMS(double)
    else
        TALLY_ROUND_SUMS(float)
    for (int s = 0; s < count && zeros; s++) cancelled |= (sums[s] == 0) & (offsets[s + 1] != offsets[s]);
    return cancelled != 0;
}
