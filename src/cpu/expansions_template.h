/* Short segments whose values no levels hold together: a vector lane adds up a segment in an expansion of three doubles
 * (Shewchuk, "Adaptive precision floating-point arithmetic", 1997). What falls below the third is added up with
 * rounding; of that only the sign matters, and a segment where it is not certain is marked. Segments are taken in the
 * order of their lengths, so that the lanes of a group have about as many values. Part of tiles_template.h; no include
 * guard. */

enum { EXPANSION_GROUP = 8, EXPANSION_VECTORS = EXPANSION_GROUP / WIDTH, EXPANSION_LENGTHS = 256 };

/* The segments by length, the longest last. */
static TALLY_TARGET void order_by_length(const tally__batch *batch, int32_t *order) {
    int32_t begins[EXPANSION_LENGTHS + 1] = {0};
#define TALLY_BUCKET(s) (batch->lengths[s] < EXPANSION_LENGTHS ? batch->lengths[s] : EXPANSION_LENGTHS - 1)
    for (int s = 0; s < batch->padded; s++) begins[TALLY_BUCKET(s) + 1]++;
    for (int k = 1; k < EXPANSION_LENGTHS; k++) begins[k] += begins[k - 1];
    for (int s = 0; s < batch->padded; s++) order[begins[TALLY_BUCKET(s)]++] = s;
#undef TALLY_BUCKET
}

/* a + b, which a becomes, and what rounding drops, which b becomes. */
TALLY_INLINE TALLY_TARGET void vector_two_sum(wide *a, wide *b) {
    const wide sum = *a + *b, from_b = sum - *a;
    *b = (*a - (sum - from_b)) + (*b - from_b);
    *a = sum;
}

/* EXPANSION_VECTORS vectors of each: the expansion, what fell below it, and the sizes of that. Of scaled terms, whether
 * any is too small to be exact, above and below 0. */
typedef struct expansion {
    wide part[3][EXPANSION_VECTORS], below[EXPANSION_VECTORS], size[EXPANSION_VECTORS];
    units plus[EXPANSION_VECTORS], minus[EXPANSION_VECTORS];
} expansion;

TALLY_INLINE TALLY_TARGET void expansion_add(expansion *e, const int g, wide v) {
#pragma GCC unroll 3
    for (int p = 0; p < 3; p++) vector_two_sum(&e->part[p][g], &v);
    e->below[g] += v;
    e->size[g] += magnitude_of(v);
}
/* Makes the parts those of a sum: each below the last digit of the one before. */
TALLY_INLINE TALLY_TARGET void expansion_normalize(expansion *e, const int g) {
    for (int pass = 0; pass < 2; pass++) {
        vector_two_sum(&e->part[2][g], &e->below[g]);
        vector_two_sum(&e->part[1][g], &e->part[2][g]);
        vector_two_sum(&e->part[0][g], &e->part[1][g]);
    }
    vector_two_sum(&e->part[1][g], &e->part[2][g]);
    vector_two_sum(&e->part[2][g], &e->below[g]);
}

/* What is left of a scaled term where it, of such a size, is too small: 0. */
TALLY_INLINE TALLY_TARGET wide without_tiny(expansion *e, const int g, wide term, wide size, units there, units minus) {
    const units tiny = (size < TALLY_SCALED_LEAST) & there;
    e->plus[g] |= tiny & ~minus;
    e->minus[g] |= tiny & minus;
    return (wide)((units)term & ~tiny);
}

/* The segments of a group: where value k of each lies, and how many it has. */
typedef struct expansion_group {
    int64_t places[EXPANSION_GROUP];
    int32_t lengths[EXPANSION_GROUP], shortest, longest;
    int beside; /* they lie side by side */
} expansion_group;
TALLY_INLINE TALLY_TARGET void open_group(expansion_group *group, const tally__batch *batch, const int32_t *order) {
    const int last = order[EXPANSION_GROUP - 1], real = last < batch->count ? last : order[0];
    group->shortest = INT32_MAX;
    group->longest = 0;
    group->beside = 1;
    for (int j = 0; j < EXPANSION_GROUP; j++) {
        const int s = order[j] < batch->count ? order[j] : real; /* what pads a batch goes along with another */
        group->places[j] = batch->places[s];
        group->lengths[j] = batch->lengths[s];
        group->shortest = group->lengths[j] < group->shortest ? group->lengths[j] : group->shortest;
        group->longest = group->lengths[j] > group->longest ? group->lengths[j] : group->longest;
        group->beside &= group->places[j] == group->places[0] + j;
    }
}

/* Value k of each of a group's segments, 0 behind their ends, as the terms of the sum; products of f64 are two. */
TALLY_INLINE TALLY_TARGET double value_of(const int is_f64, const void *x, int64_t i) {
    return is_f64 ? ((const double_anywhere *)x)[i] : (double)((const float_anywhere *)x)[i];
}
enum { SOME_THERE, ALL_THERE, SIDE_BY_SIDE };
TALLY_INLINE TALLY_TARGET void take_across(expansion *e, const int is_f64, const int kind, const void *x, const void *y,
                                           const expansion_group *group, int k, int64_t at, const int how,
                                           const int scaled) {
    double a[EXPANSION_GROUP], b[EXPANSION_GROUP];
#pragma GCC unroll 8
    for (int j = 0; j < EXPANSION_GROUP && how != SIDE_BY_SIDE; j++) {
        const int is_there = how == ALL_THERE || k < group->lengths[j];
        a[j] = is_there ? value_of(is_f64, x, group->places[j] + at) : 0;
        if (kind == TALLY_TERM_PRODUCT) b[j] = is_there ? value_of(is_f64, y, group->places[j] + at) : 0;
    }
#pragma GCC unroll 4
    for (int g = 0; g < EXPANSION_VECTORS; g++) {
        const int64_t i = group->places[0] + at + g * WIDTH;
        wide v = how == SIDE_BY_SIDE ? load(is_f64, x, i) : load_f64(a, g * WIDTH);
        if (kind == TALLY_TERM_MAGNITUDE) v = magnitude_of(v);
        if (scaled && kind != TALLY_TERM_PRODUCT) v = without_tiny(e, g, v, magnitude_of(v), v != 0, v < 0);
        if (kind == TALLY_TERM_PRODUCT) {
            const wide w = how == SIDE_BY_SIDE ? load(is_f64, y, i) : load_f64(b, g * WIDTH);
            if (scaled) v = without_tiny(e, g, v, magnitude_of(v * w), (v != 0) & (w != 0), ((units)v ^ (units)w) < 0);
            const wide product = v * w;
            if (is_f64) expansion_add(e, g, product_rest(v, w, product));
            v = product;
        }
        expansion_add(e, g, v);
    }
}

/* Adds what was too small, of which only the sign is known, to the parts of a sum. All of it is below 2^-945: the first
 * part is 2^245 times as large, and the others are 0 or large enough to decide the sign of what they and it add up to.
 * So its own sign matters only behind a last part that is 0, and not behind three parts, as no tie has so many digits.
 * Gives whether that is so. */
TALLY_INLINE TALLY_TARGET units add_tiny(const expansion *e, const int g, units is_exact, wide *last, units *vague) {
    const units tiny = e->plus[g] | e->minus[g], both = e->plus[g] & e->minus[g];
    const wide middle = e->part[1][g], end = e->part[2][g];
    const units is_far = (magnitude_of(e->part[0][g]) >= 0x1p-700) &
                         ((middle == 0) | (magnitude_of(middle) >= 0x1p-940)) &
                         ((end == 0) | (magnitude_of(end) >= 0x1p-940));
    const units is_last = is_exact & tiny & (end == 0), is_vague = is_last & both;
    const units one_sign = (units)((wide){0} + 0x1p-1000) | (e->minus[g] & INT64_MIN);
    const units either = (units)((wide){0} + TALLY_VAGUE);
    *last = (wide)(((units)*last & ~is_last) | (one_sign & is_last & ~both) | (either & is_vague));
    *vague |= is_vague;
    return ~tiny | is_far;
}

/* The parts of the group's sums, the last one rounded to odd; the first a NaN where the rest is not certain. */
TALLY_INLINE TALLY_TARGET void end_group(expansion *e, const int32_t *order, tally__batch *batch, tally__parts parts,
                                         const int scaled) {
    _Alignas(64) double part[3][EXPANSION_GROUP];
    units lost = {0}, vague = {0};
    for (int g = 0; g < EXPANSION_VECTORS; g++) {
        expansion_normalize(e, g);
        const wide rest = e->below[g];
        wide last = e->part[2][g];
        const units is_exact = (rest == 0) & (e->size[g] == 0);
        const units is_certain = (magnitude_of(rest) > e->size[g] * 0x1p-40) &
                                 (magnitude_of(last) <= magnitude_of(e->part[0][g]) * 0x1p-100);
        units is_sure = is_exact | is_certain;
        if (scaled) is_sure &= add_tiny(e, g, is_exact, &last, &vague);
        const units bits = (units)last, to_even = (bits & 1) - 1;          /* of tally_to_odd */
        const units up = (units)((rest > 0) == (last > 0));                /* -1: away from 0 */
        *(units *)(part[0] + g * WIDTH) = (units)e->part[0][g] | ~is_sure; /* a NaN */
        *(wide *)(part[1] + g * WIDTH) = e->part[1][g];
        *(units *)(part[2] + g * WIDTH) = bits + (((up & 2) - 1) & (units)(rest != 0) & to_even);
        lost |= ~is_sure;
    }
    for (int g = 0; g < WIDTH; g++) batch->lost |= lost[g] != 0, batch->vague |= vague[g] != 0;
    for (int p = 0; p < 3; p++)
        for (int j = 0; j < EXPANSION_GROUP; j++) parts[p][order[j]] = part[p][j];
}

/* False: the lanes would idle, as few segments have most of the values. */
TALLY_INLINE TALLY_TARGET bool expand_batch(const int is_f64, const int kind, const void *x, const void *y,
                                            int64_t apart, tally__batch *batch, tally__parts parts, const int scaled) {
    int32_t order[TALLY_BATCH_MOST];
    int64_t steps = 0, values = 0;
    if (batch->shortest < batch->longest)
        order_by_length(batch, order);
    else
        for (int s = 0; s < batch->padded; s++) order[s] = s;
    for (int first = 0; first < batch->padded; first += EXPANSION_GROUP) {
        int32_t longest = 0;
        for (int j = 0; j < EXPANSION_GROUP; j++) {
            const int32_t n = batch->lengths[order[first + j]];
            longest = n > longest ? n : longest;
            values += n;
        }
        steps += longest;
    }
    if (steps * EXPANSION_GROUP > 3 * values + 4 * batch->padded) return false;
    for (int first = 0; first < batch->padded; first += EXPANSION_GROUP) {
        expansion_group group;
        expansion e;
        int64_t at = 0;
        int k = 0;
        memset(&e, 0, scaled ? sizeof e : offsetof(expansion, plus));
        open_group(&group, batch, order + first);
#define TALLY_TAKE(how) take_across(&e, is_f64, kind, x, y, &group, k, at, how, scaled)
        if (group.beside && group.shortest == group.longest)
            for (; k < group.longest; k++, at += apart) TALLY_TAKE(SIDE_BY_SIDE);
        for (; k < group.shortest; k++, at += apart) TALLY_TAKE(ALL_THERE);
        for (; k < group.longest; k++, at += apart) TALLY_TAKE(SOME_THERE);
#undef TALLY_TAKE
        end_group(&e, order + first, batch, parts, scaled);
    }
    return true;
}

#define TALLY_EXPANSION(type, is_f64, name, kind)                                                                     \
    static TALLY_TARGET bool expand_##type##_##name(const void *x, const void *y, int64_t apart, tally__batch *batch, \
                                                    tally__parts parts) {                                             \
        return is_f64 && batch->scaled ? expand_batch(is_f64, kind, x, y, apart, batch, parts, 1)                     \
                                       : expand_batch(is_f64, kind, x, y, apart, batch, parts, 0);                    \
    }
#define TALLY_EXPANSIONS(X)                    \
    X(f32, 0, value, TALLY_TERM_VALUE)         \
    X(f32, 0, magnitude, TALLY_TERM_MAGNITUDE) \
    X(f32, 0, product, TALLY_TERM_PRODUCT)     \
    X(f64, 1, value, TALLY_TERM_VALUE)         \
    X(f64, 1, magnitude, TALLY_TERM_MAGNITUDE) \
    X(f64, 1, product, TALLY_TERM_PRODUCT)
TALLY_EXPANSIONS(TALLY_EXPANSION)

/* ---- scaling ---- */

TALLY_INLINE double power_of_two(int32_t exponent) { return tally_from_bits_f64((int64_t)(exponent + 1023) << 52); }
/* x * 2^exponent, rounded once; by two steps, as the power may be no normal number. */
TALLY_INLINE double times_power(double x, int32_t exponent) {
    return x * power_of_two(exponent / 2) * power_of_two(exponent - exponent / 2);
}
/* Of the largest magnitude as bits. */
TALLY_INLINE int32_t exponent_of(int64_t bits) {
    if (bits == 0) return 0;
    return bits >> 52 != 0 ? (int32_t)(bits >> 52) - 1023 : -1011 - __builtin_clzll((uint64_t)bits);
}
static TALLY_TARGET void scale(const void *x, int64_t apart, const tally__batch *batch, double *to, int64_t to_apart,
                               int32_t *scales) {
    const double_anywhere *from = x;
    const int64_t rows = apart == 1 ? 1 : batch->lengths[0]; /* of columns, or all values side by side */
    int64_t most[TALLY_BATCH_MOST] = {0};
    double once[TALLY_BATCH_MOST], again[TALLY_BATCH_MOST];
    for (int64_t r = 0; r < rows; r++)
        for (int s = 0; s < batch->count; s++) {
            const int64_t at = batch->places[s] + r * apart, n = apart == 1 ? batch->lengths[s] : 1;
            for (int64_t k = 0; k < n; k++) {
                const int64_t size = tally_bits_f64(from[at + k]) & INT64_MAX;
                most[s] = size > most[s] ? size : most[s];
            }
        }
    for (int s = 0; s < batch->count; s++) {
        scales[s] = exponent_of(most[s]);
        once[s] = power_of_two(-scales[s] / 2);
        again[s] = power_of_two(-scales[s] - -scales[s] / 2);
    }
    for (int64_t r = 0; r < rows; r++)
        for (int s = 0; s < batch->count; s++) {
            const int64_t at = batch->places[s], n = apart == 1 ? batch->lengths[s] : 1;
            for (int64_t k = 0; k < n; k++) {
                const double value = from[at + r * apart + k], scaled = value * once[s] * again[s];
                const int64_t least = (tally_bits_f64(value) & INT64_MIN) | 1; /* 2^-1074 */
                to[at + r * to_apart + k] = scaled == 0 && value != 0 ? tally_from_bits_f64(least) : scaled;
            }
        }
}
