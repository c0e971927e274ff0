/* Short segments whose values no levels hold together: a vector lane adds up a segment in an expansion of two doubles
 * (Shewchuk, "Adaptive precision floating-point arithmetic", 1997). What falls below the second is added up with
 * rounding; of that only the sign matters, and a segment where it is not certain is marked. Of f32 one double is tried
 * first: rough sums (tiles.h) mostly do where results are f32, too (docs/exact.md). Segments are taken in the order of
 * their lengths, so that the lanes of a group have about as many values; one that is far longer than others is dealt
 * out to all lanes of a group of its own. Values are scaled, where they must be, as they are added.
 *
 * Gives a list, TALLY_EXPANSIONS, and for each of its rows expand_<type>_<name> (batch_expand of tiles.h). */
#ifndef TALLY_CPU_EXPANSIONS_TEMPLATE_H
#define TALLY_CPU_EXPANSIONS_TEMPLATE_H

#include "cpu/expansion_groups.h"

/* a + b, which a becomes, and what rounding drops, which b becomes; half of it by the multipliers (see less). */
TALLY_INLINE TALLY_TARGET void vector_two_sum(wide *a, wide *b) {
    const wide sum = *a + *b, from_b = less(sum, *a);
    *b = less(*a, sum - from_b) + less(*b, from_b);
    *a = sum;
}

/* The expansions of a vector of lanes, what fell below them, and its size: as much as the largest term of that, or
 * more, but no more than all of them together. Of scaled terms, whether any is too small to be exact, above and below
 * 0. */
enum { EXPANSION_PARTS = 2 };
#define TALLY_ROUGH 0x1p-28 /* of `size`: more than `below` is ever wrong by */
typedef struct expansion {
    wide part[EXPANSION_PARTS], below, size;
    units plus, minus;
} expansion;

TALLY_INLINE TALLY_TARGET wide larger(wide size, wide v) {
#if defined(TALLY_ISA_AVX512)
    return (wide)_mm512_range_pd((__m512d)size, (__m512d)v, 0xb); /* the larger magnitude, without its sign */
#else
    return size + magnitude_of(v);
#endif
}
TALLY_INLINE TALLY_TARGET void expansion_add(expansion *e, wide v, const int parts) {
#pragma GCC unroll 2
    for (int p = 0; p < parts; p++) vector_two_sum(&e->part[p], &v);
    e->below += v;
    e->size = larger(e->size, v);
}
/* Makes the parts those of a sum: each below the last digit of the one before. */
TALLY_INLINE TALLY_TARGET void expansion_normalize(expansion *e) {
    for (int pass = 0; pass < 2; pass++) {
        vector_two_sum(&e->part[1], &e->below);
        vector_two_sum(&e->part[0], &e->part[1]);
    }
    vector_two_sum(&e->part[1], &e->below);
}

/* ---- scaling ---- */

/* The powers of two that leave the largest value of each lane between 1 and 2 (a subnormal below 1), as two factors;
 * the bits of the least value that is 2^TALLY_SCALED_LEAST or more then. */
typedef struct expansion_scale {
    _Alignas(64) double once[EXPANSION_GROUP], again[EXPANSION_GROUP];
    _Alignas(64) int64_t least[EXPANSION_GROUP], exponents[EXPANSION_GROUP];
} expansion_scale;
/* From the exponent fields of the largest values. */
TALLY_INLINE TALLY_TARGET void scale_by(expansion_scale *scale, const int g, words exponent) {
    const words first = (2047 - exponent) >> 1, rest = 2047 - exponent - first; /* 512 more than the powers */
    const units least = (units)exponent + TALLY_SCALED_LEAST;
    *(words *)(scale->once + g * WIDTH) = (first + (1023 - 512)) << 52;
    *(words *)(scale->again + g * WIDTH) = (rest + (1023 - 512)) << 52;
    *(units *)(scale->least + g * WIDTH) = (least << 52) & (least > 0);
    *(words *)(scale->exponents + g * WIDTH) = exponent - 1023;
}
TALLY_INLINE TALLY_TARGET void scale_of(expansion_scale *scale, const void *x, const expansion_group *group,
                                        const int alone) {
    _Alignas(64) transposed_rows rows;
    _Alignas(64) int64_t most[EXPANSION_GROUP] = {0};
    for (int32_t k = 0; k < group->longest; k += EXPANSION_ROWS) {
        const int32_t some = group->longest - k < EXPANSION_ROWS ? group->longest - k : EXPANSION_ROWS;
        transpose(1, rows, x, group, k, some);
        for (int32_t r = 0; r < some; r++)
#pragma GCC unroll 4
            for (int g = 0; g < EXPANSION_VECTORS; g++) {
                const units size = (units) * (const wide *)(rows[r] + g * WIDTH) & INT64_MAX,
                            before = *(const units *)(most + g * WIDTH), larger = size > before;
                *(units *)(most + g * WIDTH) = (size & larger) | (before & ~larger);
            }
    }
    for (int j = 1; j < EXPANSION_GROUP && alone; j++) most[0] = most[j] > most[0] ? most[j] : most[0];
    for (int j = 1; j < EXPANSION_GROUP && alone; j++) most[j] = most[0];
#pragma GCC unroll 4
    for (int g = 0; g < EXPANSION_VECTORS; g++) scale_by(scale, g, *(const words *)(most + g * WIDTH) >> 52);
}
TALLY_INLINE TALLY_TARGET units size_of(wide v) { return (units)v & INT64_MAX; }
/* A value scaled, or 0 where it is too small: no result is subnormal, which takes an Intel some 90 cycles. */
TALLY_INLINE TALLY_TARGET wide scaled_by(wide v, const expansion_scale *scale, const int g) {
    const units tiny = size_of(v) < *(const units *)(scale->least + g * WIDTH);
    return (wide)((units)v & ~tiny) * *(const wide *)(scale->once + g * WIDTH) *
           *(const wide *)(scale->again + g * WIDTH);
}
/* Whether the product of two scaled values, or of one with what was too small, is below 2^TALLY_SCALED_LEAST: bits
 * grow with logarithms, of which they differ by less than 1/11. */
TALLY_INLINE TALLY_TARGET units is_tiny_product(wide v, wide w) {
    return size_of(v) + size_of(w) < (int64_t)(2 * 1023 + TALLY_SCALED_LEAST - 1) << 52;
}
TALLY_INLINE TALLY_TARGET void note_tiny(expansion *e, units tiny, units minus) {
    e->plus |= tiny & ~minus;
    e->minus |= tiny & minus;
}

/* ---- sums ---- */

/* What expansions add up: values or magnitudes (a TALLY_TERM_..., or none), and products. */
enum { EXPANSION_KINDS = 2, NO_TERM = -1 };
typedef expansion expansions[EXPANSION_KINDS][EXPANSION_VECTORS];

/* Adds rows to the expansions of vector g. Products of f64 are two terms. */
TALLY_INLINE TALLY_TARGET void add_rows(expansions all, const int g, const int is_f64, const int kind,
                                        const int products, double (*x)[EXPANSION_GROUP], double (*y)[EXPANSION_GROUP],
                                        int32_t count, const expansion_scale *scales, const int scaled,
                                        const int parts) {
    expansion e = all[0][g], p = all[1][g];
    for (int32_t r = 0; r < count; r++) {
        const wide a = *(const wide *)(x[r] + g * WIDTH), v = scaled ? scaled_by(a, &scales[0], g) : a;
        if (kind != NO_TERM) {
            if (scaled) note_tiny(&e, (a != 0) & (v == 0), kind == TALLY_TERM_MAGNITUDE ? (units){0} : (units)a < 0);
            expansion_add(&e, kind == TALLY_TERM_MAGNITUDE ? magnitude_of(v) : v, parts);
        }
        if (products) {
            const wide b = *(const wide *)(y[r] + g * WIDTH), w = scaled ? scaled_by(b, &scales[1], g) : b;
            const units tiny = scaled ? is_tiny_product(v, w) : (units){0};
            if (scaled) note_tiny(&p, tiny & (a != 0) & (b != 0), ((units)a ^ (units)b) < 0);
            const wide u = (wide)((units)v & ~tiny), product = u * w;
            if (is_f64) expansion_add(&p, product_rest(u, w, product), parts);
            expansion_add(&p, product, parts);
        }
    }
    all[0][g] = e;
    all[1][g] = p;
}
TALLY_INLINE TALLY_TARGET void add_group(expansions e, const int is_f64, const int kind, const int products,
                                         const void *x, const void *y, const expansion_group *group,
                                         const expansion_scale *scales, const int scaled, const int parts) {
    _Alignas(64) transposed_rows rows[2];
    const int two = products && x != y;
    for (int32_t k = 0; k < group->longest; k += EXPANSION_ROWS) {
        const int32_t some = group->longest - k < EXPANSION_ROWS ? group->longest - k : EXPANSION_ROWS;
        transpose(is_f64, rows[0], x, group, k, some);
        if (two) transpose(is_f64, rows[1], y, group, k, some);
#pragma GCC unroll 4
        for (int g = 0; g < EXPANSION_VECTORS; g++)
            add_rows(e, g, is_f64, kind, products, rows[0], rows[two], some, scales, scaled, parts);
    }
}
/* Joins all lanes in the first one. */
TALLY_INLINE TALLY_TARGET void fold_group(expansion *e, const int parts) {
    enum { KEPT = 6 };
    _Alignas(64) double kept[KEPT][2 * EXPANSION_GROUP];
    memset(kept, 0, sizeof kept);
    for (int apart = EXPANSION_GROUP / 2; apart > 0; apart /= 2) {
        for (int g = 0; g < EXPANSION_VECTORS; g++)
            for (int p = 0; p < KEPT; p++)
                *(wide *)(kept[p] + g * WIDTH) = p < 2    ? e[g].part[p]
                                                 : p == 2 ? e[g].below
                                                 : p == 3 ? e[g].size
                                                 : p == 4 ? (wide)e[g].plus
                                                          : (wide)e[g].minus;
        for (int g = 0; g < EXPANSION_VECTORS; g++) {
            wide other[KEPT];
            for (int p = 0; p < KEPT; p++) memcpy(&other[p], kept[p] + g * WIDTH + apart, sizeof other[p]);
            for (int p = 0; p < parts; p++) expansion_add(&e[g], other[p], parts);
            e[g].below += other[2];
            e[g].size = larger(e[g].size, other[3]);
            e[g].plus |= (units)other[4];
            e[g].minus |= (units)other[5];
        }
    }
}

/* ---- results ---- */

/* Adds what was too small, of which only the sign is known, to the parts of a sum. All of it is below 2^-945, and the
 * first part must be 2^-700 or more. The second part, and what fell below it, counts as too small too if it is below
 * 2^-940: what they and the rest add up to is vague, as what is too small of both signs. Otherwise its own sign matters
 * only where nothing fell below the parts. Makes that a third part, and gives whether the first is large enough. */
TALLY_INLINE TALLY_TARGET units add_tiny(expansion *e, units is_exact, wide *third, units *vague) {
    const units tiny = e->plus | e->minus, middle = (units)e->part[1];
    const units is_far = magnitude_of(e->part[0]) >= 0x1p-700;
    const units middle_is_near = tiny & (e->part[1] != 0) & (magnitude_of(e->part[1]) < 0x1p-940),
                is_near = middle_is_near | (tiny & (e->size != 0) & (magnitude_of(e->below) < 0x1p-940));
    const units is_last = is_exact & tiny & ~is_near, is_vague = is_near | (is_last & e->plus & e->minus);
    const units one_sign = (units)((wide){0} + 0x1p-1000) | (e->minus & INT64_MIN);
    const units either = (units)((wide){0} + TALLY_VAGUE);
    e->part[1] = (wide)(middle & ~middle_is_near);
    e->below = (wide)((units)e->below & ~is_near);
    *third = (wide)((one_sign & is_last & ~is_vague) | (either & is_vague));
    *vague = is_vague;
    return ~tiny | is_far;
}

TALLY_INLINE void put_parts(tally__parts parts, double (*part)[EXPANSION_GROUP], const int some, const int32_t *order,
                            int count, const tally__batch *batch) {
    if (batch->shortest == batch->longest && count == EXPANSION_GROUP) /* they are in order */
        for (int p = 0; p < some; p++) memcpy(parts[p] + order[0], part[p], sizeof *part);
    else
        for (int j = 0; j < count; j++)
            for (int p = 0; p < some; p++) parts[p][order[j]] = part[p][j];
}
/* The parts of the first `count` sums of a group, the second one rounded to odd; the first a NaN where the rest is not
 * certain: up to 2^12 terms of its size were added up, each sum of which was wrong by 2^-53 of itself at most. Of terms
 * that are not larger than `fine` none was. */
TALLY_INLINE TALLY_TARGET void end_group(expansion *e, const int32_t *order, int count, tally__batch *batch,
                                         tally__parts parts, const double fine, const int scaled) {
    const int some = EXPANSION_PARTS + scaled;
    _Alignas(64) double part[3][EXPANSION_GROUP];
    units lost = {0}, all_vague = {0};
#pragma GCC unroll 4
    for (int g = 0; g < EXPANSION_VECTORS; g++) {
        wide third = {0};
        units vague = {0};
        if (TALLY_ANY(e[g].size != 0) || (scaled && TALLY_ANY(e[g].plus | e[g].minus))) expansion_normalize(&e[g]);
        const units is_exact = (e[g].size <= fine) & (e[g].below == 0),
                    is_certain = magnitude_of(e[g].below) > e[g].size * TALLY_ROUGH;
        units is_sure = is_exact | is_certain;
        if (scaled) is_sure &= add_tiny(&e[g], is_exact, &third, &vague);
        const wide rest = e[g].below, last = e[g].part[1];
        const units bits = (units)last, to_even = (bits & 1) - 1;                /* of tally_to_odd */
        const units up = (units)((rest > 0) == (last > 0));                      /* -1: away from 0 */
        *(wide *)(part[0] + g * WIDTH) = (wide)((units)e[g].part[0] | ~is_sure); /* a NaN */
        *(wide *)(part[1] + g * WIDTH) = (wide)(bits + (((up & 2) - 1) & (units)(rest != 0) & to_even));
        *(wide *)(part[2] + g * WIDTH) = third;
        lost |= ~is_sure;
        all_vague |= vague;
    }
    batch->lost |= TALLY_ANY(lost);
    batch->vague |= TALLY_ANY(all_vague);
    put_parts(parts, part, some, order, count, batch);
}

/* The same of one part and what fell below it, as parts of which the second is right in its sign, and but for 2^-28 of
 * `size`. Gives false, and no parts, where that sign is not certain. */
TALLY_INLINE TALLY_TARGET bool end_rough(expansion *e, const int32_t *order, int count, tally__batch *batch,
                                         tally__parts parts, const double fine) {
    _Alignas(64) double part[2][EXPANSION_GROUP];
    units lost = {0};
#pragma GCC unroll 4
    for (int g = 0; g < EXPANSION_VECTORS; g++) {
        wide high = e[g].part[0], rest = e[g].below;
        vector_two_sum(&high, &rest);
        lost |= ~((e[g].size <= fine) | (magnitude_of(rest) > e[g].size * TALLY_ROUGH));
        *(wide *)(part[0] + g * WIDTH) = high;
        *(wide *)(part[1] + g * WIDTH) = rest;
    }
    if (TALLY_ANY(lost)) return false;
    put_parts(parts, part, 2, order, count, batch);
    return true;
}

/* The values of a batch, and where parts go: of the sums of values or magnitudes, and of those of products. */
typedef struct expansion_work {
    const void *x, *y;
    tally__batch *batch;
    double (*of_terms)[TALLY_BATCH_MOST], (*of_products)[TALLY_BATCH_MOST]; /* as tally__parts */
} expansion_work;

/* The scales of a group's values, which the batch keeps. */
TALLY_INLINE TALLY_TARGET void scale_group(expansion_scale *scales, const int products, const expansion_work *work,
                                           const expansion_group *group, const int alone) {
    scale_of(&scales[0], work->x, group, alone);
    if (products && work->x != work->y)
        scale_of(&scales[1], work->y, group, alone);
    else
        scales[1] = scales[0];
    for (int j = 0; j < group->count; j++) {
        work->batch->scale_x[group->order[j]] = (int32_t)scales[0].exponents[j];
        work->batch->scale_y[group->order[j]] = (int32_t)scales[1].exponents[j];
    }
}
/* A group's sums by expansions of `parts` parts. False: one was not enough. */
TALLY_INLINE TALLY_TARGET bool add_up_group(const int is_f64, const int kind, const int products, const int scaled,
                                            const expansion_work *work, const expansion_group *group, const int alone,
                                            const int parts) {
    tally__batch *const batch = work->batch;
    const int32_t *const order = group->order;
    const int count = alone ? 1 : group->count;
    expansions e;
    expansion_scale scales[2];
    for (int k = 0; k < EXPANSION_KINDS; k++)
        for (int g = 0; g < EXPANSION_VECTORS; g++) e[k][g] = (expansion){{{0}, {0}}, {0}, {0}, {0}, {0}};
    if (scaled) scale_group(scales, products, work, group, alone);
    add_group(e, is_f64, kind, products, work->x, work->y, group, scales, scaled, parts);
    if (parts == 1) {
        if (alone && kind != NO_TERM) fold_group(e[0], 1);
        if (alone && products) fold_group(e[1], 1);
        if (kind != NO_TERM && !end_rough(e[0], order, count, batch, work->of_terms, batch->fine_sum)) return false;
        return !products || end_rough(e[1], order, count, batch, work->of_products, batch->fine_product);
    }
    if (kind != NO_TERM) {
        if (alone) fold_group(e[0], parts);
        end_group(e[0], order, count, batch, work->of_terms, batch->fine_sum, scaled);
    }
    if (products) {
        if (alone) fold_group(e[1], parts);
        end_group(e[1], order, count, batch, work->of_products, batch->fine_product, scaled);
    }
    return true;
}
/* The same: by one part where that is tried, and by all where it is not enough. Gives whether it was. */
TALLY_INLINE TALLY_TARGET bool expand_group(const int is_f64, const int kind, const int products, const int scaled,
                                            const expansion_work *work, const expansion_group *group, const int alone,
                                            bool rough) {
    if (rough && add_up_group(is_f64, kind, products, 0, work, group, alone, 1)) {
        work->batch->is_rough = 1;
        return true;
    }
    add_up_group(is_f64, kind, products, scaled, work, group, alone, EXPANSION_PARTS);
    return false;
}
/* Whether lanes would idle beside the last of `last` segments: it is much longer than the others of its group, or all
 * are equally long and few. */
TALLY_INLINE bool is_better_alone(const tally__batch *batch, const int32_t *order, int last) {
    const int count = last < EXPANSION_GROUP ? last : EXPANSION_GROUP,
              joins = batch->shortest == batch->longest ? count : 1;
    int32_t values = 0, longest = last > 0 ? batch->lengths[order[last - 1]] : 0;
    for (int k = last - count; k < last; k++) values += batch->lengths[order[k]];
    return EXPANSION_GROUP * (longest - joins * EXPANSION_ALONE) > values;
}
/* Up to three terms are parts, in any order. Gives how many parts, or 0. */
#define TALLY_FEW_TERMS(type)                                                                                    \
    for (int s = 0; s < batch->count; s++) {                                                                     \
        const type##_anywhere *a = (const type##_anywhere *)x + s * length,                                      \
                              *b = (const type##_anywhere *)y + s * length;                                      \
        _Pragma("GCC unroll 3") for (int k = 0; k < length; k++) {                                               \
            const double v = (double)a[k];                                                                       \
            first[k][s] = kind == NO_TERM ? v * (double)b[k] : kind == TALLY_TERM_VALUE ? v : __builtin_fabs(v); \
            if (kind != NO_TERM && products) second[k][s] = v * (double)b[k];                                    \
        }                                                                                                        \
    }
TALLY_INLINE TALLY_TARGET void few_terms(const int is_f64, const int kind, const int products, const int length,
                                         const void *x, const void *y, const tally__batch *batch, tally__parts first,
                                         tally__parts second) {
    if (is_f64)
        TALLY_FEW_TERMS(double)
    else
        TALLY_FEW_TERMS(float)
    for (int k = 0; k < (length > EXPANSION_PARTS ? length : EXPANSION_PARTS); k++)
        for (int s = k < length ? batch->count : 0; s < batch->padded; s++) {
            first[k][s] = 0;
            if (kind != NO_TERM && products) second[k][s] = 0;
        }
}
#undef TALLY_FEW_TERMS
TALLY_INLINE TALLY_TARGET int take_few_terms(const int is_f64, const int kind, const int products, const void *x,
                                             const void *y, int64_t apart, const tally__batch *batch,
                                             tally__parts first, tally__parts second) {
    if (apart != 1 || (is_f64 && products) || batch->shortest != batch->longest) return 0;
    switch (batch->longest) {
    case 1: few_terms(is_f64, kind, products, 1, x, y, batch, first, second); return EXPANSION_PARTS;
    case 2: few_terms(is_f64, kind, products, 2, x, y, batch, first, second); return EXPANSION_PARTS;
    case 3: few_terms(is_f64, kind, products, 3, x, y, batch, first, second); return 3;
    default: return 0;
    }
}
TALLY_INLINE TALLY_TARGET int expand_batch(const int is_f64, const int kind, const int products, const void *x,
                                           const void *y, int64_t apart, tally__batch *batch, tally__parts first,
                                           tally__parts second, const int scaled) {
    const expansion_work work = {
        .x = x, .y = y, .batch = batch, .of_terms = first, .of_products = kind == NO_TERM ? first : second};
    int32_t order[TALLY_BATCH_MOST];
    expansion_group group;
    const int parts = EXPANSION_PARTS + scaled,
              few = scaled ? 0 : take_few_terms(is_f64, kind, products, x, y, apart, batch, first, second);
    bool rough = !is_f64 && !scaled && batch->may_be_rough; /* until it was not enough */
    int last = batch->count;
    if (few > 0) return few;
    if (batch->shortest < batch->longest)
        order_by_length(batch, order);
    else
        for (int s = 0; s < batch->count; s++) order[s] = s;
    for (int p = 0; p < parts; p++)
        for (int s = batch->count; s < batch->padded; s++) {
            first[p][s] = 0;
            if (products && kind != NO_TERM) second[p][s] = 0;
        }
    for (; apart == 1 && is_better_alone(batch, order, last); last--) {
        open_alone(&group, batch, order + last - 1);
        rough = expand_group(is_f64, kind, products, scaled, &work, &group, 1, rough);
    }
    for (int at = 0; at < last; at += EXPANSION_GROUP) {
        open_group(&group, batch, apart, order + at, last - at < EXPANSION_GROUP ? last - at : EXPANSION_GROUP);
        rough = expand_group(is_f64, kind, products, scaled, &work, &group, 0, rough);
    }
    return parts;
}

#define TALLY_EXPANSION(type, is_f64, name, kind, products)                                                          \
    static TALLY_TARGET int expand_##type##_##name(const void *x, const void *y, int64_t apart, tally__batch *batch, \
                                                   tally__parts first, tally__parts second) {                        \
        if (is_f64 && batch->scaled == TALLY_SCALED_EACH)                                                            \
            return expand_batch(is_f64, kind, products, x, y, apart, batch, first, second, 1);                       \
        else                                                                                                         \
            return expand_batch(is_f64, kind, products, x, y, apart, batch, first, second, 0);                       \
    }
#define TALLY_EXPANSIONS(X)                       \
    X(f32, 0, value, TALLY_TERM_VALUE, 0)         \
    X(f32, 0, magnitude, TALLY_TERM_MAGNITUDE, 0) \
    X(f32, 0, product, NO_TERM, 1)                \
    X(f32, 0, both, TALLY_TERM_VALUE, 1)          \
    X(f64, 1, value, TALLY_TERM_VALUE, 0)         \
    X(f64, 1, magnitude, TALLY_TERM_MAGNITUDE, 0) \
    X(f64, 1, product, NO_TERM, 1)                \
    X(f64, 1, both, TALLY_TERM_VALUE, 1)
TALLY_EXPANSIONS(TALLY_EXPANSION)

#endif
