/* Levels: exact sums in registers (docs/exact.md). Level k adds terms to an accumulator anchored at 1.5 * 2^(unit +
 * 52), which rounds each term to a multiple of 2^unit. The remainder is exact and goes to the next level; the last
 * level's unit leaves no remainder. Digits: sums of terms for which a few levels are not enough. */
#ifndef TALLY_LEVELS_H
#define TALLY_LEVELS_H

#include "device/device.h"
#include "device/lanes.h"
#include "sums/limbs.h"
#include "sums/plan.h"
#include "device/wrapping.h"

enum {
    TALLY_DEVICE_LEVELS = 4,
    TALLY_FLUSH_LEAVES = 2048 /* a leaf moves an accumulator by at most 2^51 units; a count holds 2^63 */
};

typedef struct tally_levels {
    int32_t count;
    int32_t unit[TALLY_DEVICE_LEVELS];
    int64_t units[TALLY_DEVICE_LEVELS]; /* what this lane has counted */
} tally_levels;

TALLY_FN void tally_no_levels(tally_levels *a) {
    a->count = 0;
    TALLY_UNROLL
    for (int32_t k = 0; k < TALLY_DEVICE_LEVELS; k++) a->unit[k] = 0, a->units[k] = 0;
}
/* Plans levels for terms that are below 2^high and multiples of 2^unit. The counts must be empty. 0: no levels hold
 * them. */
TALLY_FN int32_t tally_choose_levels(tally_levels *a, int32_t high, int32_t unit, int32_t additions, int32_t parts) {
    a->count = tally_plan_levels(a->unit, TALLY_DEVICE_LEVELS, high, unit, additions, parts);
    return a->count;
}

TALLY_FN void tally_begin_levels(const tally_levels *a, double *at, const int32_t count) {
    TALLY_UNROLL
    for (int32_t k = 0; k < count; k++) at[k] = tally_anchor(a->unit[k]);
}
TALLY_FN void tally_put_term(double *at, double rest, const int32_t from, const int32_t count) {
    TALLY_UNROLL
    for (int32_t k = from; k < count - 1; k++) {
        double moved = at[k] + rest, taken = moved - at[k];
        at[k] = moved;
        rest = rest - taken;
    }
    at[count - 1] = at[count - 1] + rest;
}
/* How many units an accumulator has moved from its anchor. */
TALLY_FN int64_t tally_moved(double at, int32_t unit) {
    return tally_apart(tally_bits_f64(at), tally_bits_f64(tally_anchor(unit)));
}
TALLY_FN void tally_end_levels(tally_levels *a, const double *at, const int32_t count) {
    TALLY_UNROLL
    for (int32_t k = 0; k < count; k++) a->units[k] += tally_moved(at[k], a->unit[k]);
}

/* As tally_deposit: adds v * 2^offset, to limbs to which others add at the same time. */
TALLY_FN void tally_deposit_shared(int64_t *limbs, int64_t v, int32_t offset) {
    int32_t i = offset >> 5, s = offset & 31;
    uint64_t low = (uint64_t)v << s;
    if (v == 0) return;
    tally_add64(limbs + i, (int64_t)(low & 0xffffffff));
    tally_add64(limbs + i + 1, (int64_t)(low >> 32));
    tally_add64(limbs + i + 2, (v >> 32) >> (32 - s));
}

TALLY_FN int64_t tally_warp_sum(int64_t v) {
    for (int32_t mask = TALLY_WARP / 2; mask > 0; mask /= 2) v += tally_shuffle64(v, mask);
    return v;
}

/* Adds to the limbs what all lanes have counted at one level. The sum may need more than 64 bits. It goes to three
 * limbs, the last with its sign, as in tally_deposit: a fourth limb for the sign alone need not exist. */
TALLY_LONG void tally_flush_level(int64_t units, int64_t *limbs, int32_t offset) {
    const int64_t low = tally_warp_sum(units & 0xffffffff), high = tally_warp_sum(units >> 32);
    const tally_i128 total = (((tally_i128)high * 4294967296) + low) * ((int64_t)1 << (offset & 31));
    if (tally_lane() != 0 || total == 0) return;
    limbs += offset >> 5;
    tally_add64(limbs, (int64_t)(total & 0xffffffff));
    tally_add64(limbs + 1, (int64_t)(total >> 32 & 0xffffffff));
    tally_add64(limbs + 2, (int64_t)(total >> 64));
}
TALLY_FN void tally_flush_levels(tally_levels *a, int64_t *limbs, int32_t origin) {
    TALLY_UNROLL
    for (int32_t k = 0; k < TALLY_DEVICE_LEVELS; k++) {
        if (k < a->count) tally_flush_level(a->units[k], limbs, a->unit[k] - origin);
        a->units[k] = 0;
    }
}

/* ---- digits ---- */

/* The evidence of an infinite or NaN term, a bit for each kind; and that of a finite one. */
TALLY_FN int32_t tally_special_evidence(double x) {
    return 1 << TALLY_OTHER | (!(x < 0)) << TALLY_PLUS_INFINITY | (!(x > 0)) << TALLY_MINUS_INFINITY;
}
TALLY_FN int32_t tally_finite_evidence(int32_t is_zero, int32_t is_negative) {
    return 1 << (is_zero && is_negative ? TALLY_MINUS_ZERO : TALLY_OTHER);
}

/* Adds m * 2^(origin + offset), which has at most `parts` digits (up to 5). Digit d counts units of 2^(origin + 16 d)
 * and is digits[d * columns]: `columns` numbers lie side by side. */
TALLY_FN void tally_scatter(int32_t *digits, const int32_t columns, uint64_t m, int32_t is_negative, int32_t offset,
                            const int32_t parts) {
    int32_t *at = digits + (offset >> 4) * columns, sign = -is_negative;
    uint64_t high = m >> 32 >> (32 - (offset & 15));
    m <<= offset & 15;
    TALLY_UNROLL
    for (int32_t k = 0; k < parts; k++) {
        int32_t digit = (int32_t)(k < 4 ? m >> 16 * k & 0xffff : high);
        tally_add32(at + k * columns, (digit ^ sign) - sign);
    }
}
/* Moves digits to limbs, by one warp; others may go on adding. */
TALLY_FN void tally_drain(int32_t *digits, int32_t count, int32_t columns, int64_t *limbs) {
    for (int32_t d = tally_lane(); d < count; d += TALLY_WARP) {
        int64_t total = 0;
        for (int32_t c = 0; c < columns; c++)
            total += tally_swap32(digits + d * columns + (c + tally_lane()) % columns, 0);
        tally_deposit_shared(limbs, total, 16 * d);
    }
}

#endif
