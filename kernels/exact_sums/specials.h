/* Terms that decide a sum or add nothing to it: infinities, NaNs, values that the NaN policy leaves out, and zeros,
 * whose sign may show. Infinities and NaNs are noted, and zeros take their place, so that levels or doubles hold the
 * rest. */
#ifndef TALLY_SPECIALS_H
#define TALLY_SPECIALS_H

#include "exact_sums/terms.h"

#ifndef TALLY_SPECIALS_SHARED_H
#define TALLY_SPECIALS_SHARED_H
enum {
    TALLY_NOT_MINUS_ZERO = 2, /* some term is anything else */
    TALLY_SEEN_PLUS = 4,
    TALLY_SEEN_MINUS = 8,
    TALLY_SEEN_NAN = 16 /* +inf, -inf, a NaN, which is all three */
};
#endif

/* ---- one value ---- */

/* -0 for what the NaN policy leaves out: it adds nothing, has no size, and is no evidence. */
TALLY_FN TALLY_T absent_value(void) { return from_bits((TALLY_K)TALLY_K_LOW); }
/* The sign of a zero shows. */
enum { is_signed_zero_sum = TALLY_KERNEL_INPUTS == 2 || TALLY_ADDS_VALUES };
/* Whether a term is anything but -0. Of squares and magnitudes every one is. */
TALLY_FN int32_t value_is_other(TALLY_T x, TALLY_T y) {
    (void)y;
    if (!is_signed_zero_sum) return 1;
    if (TALLY_KERNEL_INPUTS == 1) return value_bits(x) != (TALLY_K)TALLY_K_LOW;
    return (size_bits(x) != 0 && size_bits(y) != 0) || ((value_bits(x) < 0) == (value_bits(y) < 0));
}
TALLY_FN TALLY_T plus_zero(void) { return from_bits((TALLY_K)0); }

/* What an infinite or NaN term is evidence of. */
TALLY_FN int32_t evidence_of(TALLY_T x, TALLY_T y) {
    double term = (double)value_of(x);
    if (TALLY_HAS_SUM)
        TALLY_IF_SUM(term = term_in_double(x));
    else
        term *= (double)value_of(TALLY_KERNEL_INPUTS == 2 ? y : x);
    return (term < 0 ? 0 : TALLY_SEEN_PLUS) | (term > 0 ? 0 : TALLY_SEEN_MINUS) | (term != term ? TALLY_SEEN_NAN : 0) |
           TALLY_NOT_MINUS_ZERO;
}
TALLY_FN int32_t value_is_special(TALLY_T x) { return size_bits(x) >= TALLY_SIZE_INFINITY; }
TALLY_FN int32_t term_is_special(TALLY_T x, TALLY_T y) { return value_is_special(x) || value_is_special(y); }
/* Whether the policy leaves the term out, for a NaN. */
TALLY_FN int32_t term_is_absent(TALLY_T x, TALLY_T y) { return TALLY_NAN == 1 && (value_is_nan(x) || value_is_nan(y)); }
/* Puts zeros in the place of a special term. */
TALLY_FN void clear_term(TALLY_T *x, TALLY_T *y, int32_t is_absent) {
    *x = is_absent ? absent_value() : plus_zero();
    if (TALLY_KERNEL_INPUTS == 2) *y = plus_zero();
}

/* ---- a lane's part ---- */

/* Notes a part's infinities and NaNs and puts zeros in their place. What they are evidence of goes to *seen; others may
 * add to it at the same time. Gives how many values the policy leaves out. */
TALLY_FN int32_t clear_part(part_t *x, part_t *y, int32_t *seen) {
    int32_t absent = 0;
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_PART; v++) {
        const int32_t is_absent = term_is_absent(x->v[v], y->v[v]);
        if (!term_is_special(x->v[v], y->v[v])) continue;
        if (!is_absent) tally_or32(seen, evidence_of(x->v[v], y->v[v]));
        absent += is_absent;
        clear_term(&x->v[v], &y->v[v], is_absent);
    }
    return absent;
}
#if TALLY_BYTES == 2
/* Whether there are infinities or NaNs. */
TALLY_FN int32_t part_is_special(const part_t *part) {
    tally_quad quad;
    uint32_t zeros = 0;
    __builtin_memcpy(&quad, part, sizeof quad);
    TALLY_UNROLL
    for (int32_t k = 0; k < 4; k++) {
        const uint32_t others = ~quad.w[k] & TALLY_SIZE_INFINITY * 0x10001;
        zeros |= (others - 0x10001) & ~others; /* has a sign, if a half is 0 */
    }
    return (zeros & 0x80008000) != 0;
}
#else
TALLY_FN int32_t part_is_special(const part_t *part) {
    int32_t is = 0;
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_PART; v++) is |= value_is_special(part->v[v]);
    return is;
}
#endif

/* ---- a lane's share ---- */

/* A bit for each part that has infinities or NaNs. */
TALLY_FN uint32_t special_parts(const share_t *x, const share_t *y) {
    uint32_t parts = 0;
    (void)y;
    TALLY_UNROLL_BY(4) /* of 8 the parts would take too many registers */
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) {
        int32_t is = part_is_special(&x->part[s]);
        if (TALLY_KERNEL_INPUTS == 2) is |= part_is_special(&y->part[s]);
        parts |= (uint32_t)is << s;
    }
    return parts;
}

/* ---- the same of values alone, without products ---- */

/* Notes the NaNs of shares of this extent, as clear_part does, if no lane has infinities without NaNs, which stand for
 * both. False: nothing is noted. */
TALLY_FN int32_t note_nans(extent_t of, int32_t *seen) {
    if (tally_any(of.most == TALLY_SIZE_INFINITY)) return 0;
    if (of.most > TALLY_SIZE_INFINITY)
        tally_or32(seen, TALLY_SEEN_PLUS | TALLY_SEEN_MINUS | TALLY_SEEN_NAN | TALLY_NOT_MINUS_ZERO);
    return 1;
}
#if TALLY_BYTES == 2
TALLY_FN void zero_part(part_t *part) {
    tally_quad quad;
    __builtin_memcpy(&quad, part, sizeof quad);
    TALLY_UNROLL
    for (int32_t k = 0; k < 4; k++) {
        const uint32_t signs =
            ((quad.w[k] & 0x7fff7fff) + (0x8000 - TALLY_SIZE_INFINITY) * 0x10001) & 0x80008000; /* of special halves */
        quad.w[k] = (quad.w[k] & ~((signs >> 15) * 0xffff)) | signs;
    }
    __builtin_memcpy(part, &quad, sizeof quad);
}
#else
TALLY_FN void zero_part(part_t *part) {
    TALLY_UNROLL
    for (int32_t v = 0; v < TALLY_PART; v++) part->v[v] = value_is_special(part->v[v]) ? absent_value() : part->v[v];
}
#endif
/* Puts -0 in the place of infinities and NaNs, in registers. */
TALLY_FN void zero_specials(share_t *share) {
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) zero_part(&share->part[s]);
}

#endif
