/* Results of sums that are pairs of doubles, where these decide the result (sums/parts.h), and how a result is
 * written. */
#ifndef TALLY_PAIR_RESULTS_H
#define TALLY_PAIR_RESULTS_H

#include "exact_sums/specials.h"
#include "sums/parts.h"

/* What a result is made of, where each sum is a pair of doubles. */
typedef struct in_pairs_t {
    tally_pair sum, products; /* exact, but for a last bit that is odd where more is left, and for these: */
    double error, relative;   /* of the sum; of products, of magnitudes and of a spread as a share (sums/parts.h) */
    int32_t power, products_power; /* of f64: they count units of 2^power and of 2^products_power; or 0 */
    int64_t present;
    TALLY_K low, high;
    int32_t seen;
} in_pairs_t;

/* r * 2^power, where r is a result rounded to f64: rounded once more where that is subnormal. If r is a tie there, what
 * it was rounded from decides. */
TALLY_FN double scaled_result(const tally_rounded *r, int32_t power, int32_t *sure) {
    const int64_t bits = tally_bits_f64(r->value);
    const int32_t exponent = (int32_t)(bits >> 52 & 0x7ff), scaled = exponent + power;
    const int64_t sign = bits & INT64_MIN, fraction = bits & (((int64_t)1 << 52) - 1);
    if (power == 0 || r->value == 0 || exponent == 0x7ff) return r->value;
    *sure &= exponent != 0;
    if (scaled >= 0x7ff) return tally_from_bits_f64(sign | (int64_t)0x7ff << 52);
    if (scaled > 0) return tally_from_bits_f64(sign | (int64_t)scaled << 52 | fraction);
    const int32_t drop = 1 - scaled;
    if (drop > 53) return tally_from_bits_f64(sign);
    const int64_t significand = fraction | (int64_t)1 << 52, half = (int64_t)1 << (drop - 1),
                  rest = significand & (2 * half - 1), least = significand >> drop;
    const double away = sign != 0 ? -r->rest : r->rest; /* from 0 */
    *sure &= rest != half || away == away;
    return tally_from_bits_f64(sign |
                               (least + (rest > half || (rest == half && (away > 0 || (away == 0 && (least & 1)))))));
}

/* Whether a result can be one. Doubles hold all sums of types narrower than f64: an infinity is a result that is too
 * large for its format. Sums of f64 may have left the range of doubles on the way. */
TALLY_FN int32_t is_in_range(double result) { return TALLY_IS_F64 ? tally_is_finite(result) : result == result; }

/* The root of a spread over n of two values is half of what they differ by, and that is a tie for every fifth pair of
 * normal values of f64. `least` is what the root is to be rounded to if it lies below the next tie, as far as pairs can
 * tell. Both root and tie are multiples of half the lowest bit of the sum, or of half a unit in the last place of the
 * root: they are the same if they cannot be so far apart. */
TALLY_RARE tally_rounded root_of_two(tally_pair sum, double squares, double least) {
    const double low = sum.low == 0 ? sum.high : sum.low, error = least * 0x1p-91 + squares * 0x1p-96 / least;
    const int64_t bits = tally_bits_f64(low), below = tally_bits_f64(least);
    const int64_t significand = (bits & (((int64_t)1 << 52) - 1)) | (int64_t)1 << 52;
    const double lowest = (double)(significand & -significand) *
                          tally_from_bits_f64(((bits >> 52 & 0x7ff) - 52) << 52); /* of values in reach */
    tally_rounded rounded;
    rounded.value = tally_from_bits_f64(below + (below & 1));
    rounded.rest = tally_nan_f64();
    /* Of values that hardly differ, pairs may tell nothing: then `least` is below 0. */
    rounded.sure = (least > 0) & tally_in_reach(low) & tally_in_reach(squares) & tally_in_reach(least * least) &
                   (lowest > 4 * error) & (least * 0x1p-55 > 4 * error);
    return rounded;
}
TALLY_FN tally_rounded spread_of(const in_pairs_t *a, const tally_final *final, int32_t is_wide) {
    tally_rounded rounded = tally_rounded_spread_within(a->sum, a->products, a->relative, (double)a->present,
                                                        (double) final->ddof, final->root, is_wide);
    if (TALLY_IS_F64 && is_wide && !rounded.sure && final->root && a->present == 2 && final->ddof == 0 &&
        a->relative <= 0x1p-98)
        rounded = root_of_two(a->sum, a->products.high, rounded.value);
    return rounded;
}

/* The sum that has infinities of one sign, or of both, or a NaN. */
TALLY_FN double decided_sum(int32_t signs) {
    return signs == TALLY_SEEN_PLUS    ? tally_infinity_f64()
           : signs == TALLY_SEEN_MINUS ? -tally_infinity_f64()
                                       : tally_nan_f64();
}
/* The result, if it is certain. */
TALLY_FN int32_t finalize_pairs(const in_pairs_t *a, const tally_final *final, uint64_t *result) {
    const double n = (double)a->present;
    const int32_t is_f64 = final->format.digits == 53, is_short = a->present <= TALLY_MOST_DIVIDED;
    const int32_t is_decided = a->seen & (TALLY_SEEN_PLUS | TALLY_SEEN_MINUS);
    const double decided = decided_sum(is_decided);
    int32_t sure = a->present > 0;
    (void)n, (void)is_f64, (void)is_short, (void)decided;
    if (!sure) return 0;
#if TALLY_HAS_KEYS
    sure &= is_short;
    const tally_format natural = TALLY_NATURAL_FORMAT;
    double floats[5];
    notes_t notes = no_notes();
    widen_range(&notes, a->low, a->high);
    floats[0] = a->seen & TALLY_SEEN_NAN ? tally_nan_f64() : from_wide_key(notes.low);
    floats[1] = a->seen & TALLY_SEEN_NAN ? tally_nan_f64() : from_wide_key(notes.high);
    if (is_decided) {
        floats[2] = floats[3] = decided;
        floats[4] = tally_nan_f64();
        sure = 1;
    } else {
        const int32_t is_minus = a->sum.high == 0 && !(a->seen & TALLY_NOT_MINUS_ZERO);
        const double zero = is_minus ? -0.0 : 0;
        const int32_t is_none = a->present <= final->ddof;
        const int32_t powers[3] = {a->power, a->power, final->root ? a->power : a->products_power};
        tally_rounded of[3] = {tally_nearest_within(a->sum, a->error, natural.digits == 53),
                               tally_rounded_mean_within(a->sum, a->error, n, 1), spread_of(a, final, 1)};
        TALLY_UNROLL
        for (int32_t k = 0; k < 2; k++)
            if (a->sum.high == 0 && a->error == 0) of[k].value = zero, of[k].sure = 1;
        if (is_none) of[2].value = tally_nan_f64(), of[2].sure = 1;
        TALLY_UNROLL
        for (int32_t k = 0; k < 3; k++) {
            sure &= of[k].sure && (is_in_range(of[k].value) || (k == 2 && is_none));
            floats[2 + k] = TALLY_IS_F64 ? scaled_result(&of[k], powers[k], &sure) : of[k].value;
        }
    }
    result[0] = (uint64_t)a->present;
    for (int32_t k = 0; k < 5; k++) result[1 + k] = (uint64_t)tally_bits_f64(floats[k]);
#else
    tally_rounded rounded;
#if TALLY_HAS_SPREAD
    const int32_t is_none = is_decided || a->present <= final->ddof;
    rounded = spread_of(a, final, is_f64 || final->format.digits < 24);
    sure &= is_short || is_none;
    if (is_none) rounded.value = tally_nan_f64(), rounded.sure = 1;
    sure &= rounded.sure && (is_none || is_in_range(rounded.value));
#else
    const tally_pair sum = TALLY_HAS_PRODUCTS ? a->products : a->sum;
    const double error = a->relative == 0 ? a->error : a->error + a->relative * sum.high;
    const int32_t is_wide = is_f64 || final->format.digits < 24;
    if (is_decided)
        rounded.value = decided, rounded.sure = 1;
    else if (sum.high == 0 && error == 0)
        rounded.value = a->seen & TALLY_NOT_MINUS_ZERO ? 0 : -0.0, rounded.sure = 1;
    else if (final->root)
        rounded = tally_rounded_root_within(sum, a->relative, is_wide);
    else if (final->mean) {
        rounded = tally_rounded_mean_within(sum, error, n, is_wide);
        if (!rounded.sure && !is_wide && error == 0) rounded = tally_mean_by_tie(sum, n);
        rounded.sure &= is_short;
    } else if (is_wide && !is_f64 && error == 0)
        rounded.value = tally_to_odd(sum), rounded.sure = 1;
    else
        rounded = tally_nearest_within(sum, error, is_wide);
    sure &= rounded.sure && (is_decided || is_in_range(rounded.value));
#endif
    if (TALLY_IS_F64) {
        const int32_t power = !TALLY_HAS_PRODUCTS ? a->power : final->root ? a->products_power / 2 : a->products_power;
        rounded.value = scaled_result(&rounded, power, &sure);
        if (power != 0 && final->format.digits == 24) { /* rounded as f32 before it was scaled */
            const double size = rounded.value < 0 ? -rounded.value : rounded.value;
            sure &= (double)(float)size == size && (size == 0 || size >= 0x1p-126);
        }
    }
    if (final->format.digits < 24) {
        const int32_t is_exact = !final->root && !final->mean && !TALLY_HAS_SPREAD && a->error == 0 && a->relative == 0;
        sure &= tally_round_to(&rounded.value, final->format) || is_exact;
    }
    result[0] = is_f64 ? (uint64_t)tally_bits_f64(tally_clean_f64(rounded.value))
                       : (uint64_t)(uint32_t)tally_bits_f32(tally_clean_f32((float)rounded.value));
#endif
    return sure;
}

/* How many bytes a result has. */
TALLY_FN int32_t kernel_result_bytes(const tally_final *final) {
    if (TALLY_HAS_KEYS) return 48;
    return final->format.digits == 53 ? 8 : 4;
}
/* Writes result i, of n values, by one lane. */
TALLY_FN void put_bytes(const tally_results *out, int64_t i, const uint64_t *result, int64_t n) {
    char *to = (char *)out->result + i * out->result_stride;
    const int32_t bytes = kernel_result_bytes(&out->final);
    const uint64_t place = (uint64_t)out->result | (uint64_t)out->result_stride;
    if (bytes == 4 && place % 4 == 0)
        *(uint32_t *)(void *)to = (uint32_t)result[0];
    else if (bytes % 8 == 0 && place % 8 == 0) {
        TALLY_UNROLL
        for (int32_t k = 0; k < 6; k++)
            if (k < bytes / 8) ((uint64_t *)(void *)to)[k] = result[k];
    } else {
        TALLY_UNROLL
        for (int32_t k = 0; k < 6; k++)
            for (int32_t b = 0; b < 8 && 8 * k + b < bytes; b++) to[8 * k + b] = (char)(result[k] >> 8 * b);
    }
    /* Looks first: where many segments are empty, their atomic operations would follow one another. */
    if (out->flags != 0 && n == 0 && (tally_look32(out->flags) & TALLY_FLAG_EMPTY) == 0)
        tally_or32(out->flags, TALLY_FLAG_EMPTY);
}

#endif
