/* Results of a batch of short segments from the parts of their sums (kernels/sums/parts.h).
 *
 * First by fewer operations, which leave some results in doubt that tally_rounded_... would not: next to a tie that is
 * none, 0, beyond the normal numbers of f32. Few batches have one of these; then all of the batch is done again. (Of
 * variances as f64 nothing more could be certain.)
 *
 * Gives finalize, enlarge, ranges_<type> and put_stats_<type> (tiles.h). */
#ifndef TALLY_CPU_RESULTS_TEMPLATE_H
#define TALLY_CPU_RESULTS_TEMPLATE_H

#include "cpu/measure.h"
#include "cpu/vectors.h"
#include "device/wrapping.h"
#include "sums/parts.h"

/* ---- all that may be certain ---- */

TALLY_INLINE TALLY_TARGET tally_pair joined(const int parts, tally__parts p, int s) {
    tally_pair one;
    if (parts == 3) return tally_three_sum(p[0][s], p[1][s], p[2][s]);
    if (parts == 2) return tally_two_sum(p[0][s], p[1][s]);
    one.high = p[0][s];
    one.low = 0;
    return one;
}
/* Of a sum that is 0. */
TALLY_INLINE TALLY_TARGET tally_rounded or_zero(tally_rounded rounded, tally_pair sum) {
    rounded.value = sum.high == 0 ? 0 : rounded.value;
    rounded.sure |= sum.high == 0;
    return rounded;
}
/* As many segments as a vector has f32, which is what compilers unroll such a loop to: what it left would be done one
 * by one. */
enum { TOGETHER = 16 };
#define TALLY_TOGETHER                                     \
    for (int from = 0; from < b->padded; from += TOGETHER) \
        for (int s = from; s < from + TOGETHER; s++)
static void fill_up(tally__batch *b) {
    const int from = b->padded, to = (b->count + TOGETHER - 1) / TOGETHER * TOGETHER;
    for (int s = from; s < to; s++) b->lengths[s] = 0;
    for (int k = 0; k < b->sum_parts; k++)
        for (int s = from; s < to; s++) b->sums[k][s] = 0;
    for (int k = 0; k < b->product_parts; k++)
        for (int s = from; s < to; s++) b->products[k][s] = 0;
    b->padded = to;
}
/* `nothing`: the result of no values. */
#define TALLY_EACH(nothing, expression)                                \
    TALLY_TOGETHER {                                                   \
        tally_rounded rounded = expression;                            \
        double value = b->lengths[s] == 0 ? (nothing) : rounded.value; \
        if (is_f64)                                                    \
            b->values[s] = value;                                      \
        else                                                           \
            b->narrow[s] = (float)value;                               \
        b->sure[s] = rounded.sure | (b->lengths[s] == 0);              \
        if (rests) b->rests[s] = rounded.rest;                         \
    }
TALLY_INLINE TALLY_TARGET void finalize_parts(tally__batch *b, int what, const int sums, const int products,
                                              const int is_f64, const int rests) {
    const double nan = tally_nan_f64();
    b->has_rests = rests;
    switch (what) {
    case TALLY_RESULT_SUM:
        TALLY_EACH(0, or_zero(tally_nearest(joined(sums, b->sums, s), is_f64), joined(sums, b->sums, s))) break;
    case TALLY_RESULT_MEAN:
        TALLY_EACH(nan, or_zero(tally_rounded_mean(joined(sums, b->sums, s), (double)b->lengths[s], is_f64),
                                joined(sums, b->sums, s)))
        break;
    case TALLY_RESULT_ROOT:
        TALLY_EACH(0, or_zero(tally_rounded_root(joined(sums, b->sums, s), is_f64), joined(sums, b->sums, s))) break;
    case TALLY_RESULT_SPREAD:
        TALLY_EACH(nan, tally_rounded_spread(joined(sums, b->sums, s), joined(products, b->products, s),
                                             (double)b->lengths[s], (double)b->ddof, 0, is_f64))
        break;
    default:
        TALLY_EACH(nan, tally_rounded_spread(joined(sums, b->sums, s), joined(products, b->products, s),
                                             (double)b->lengths[s], (double)b->ddof, 1, is_f64))
    }
}
/* Parts that a number has not are zeros. */
static void pad_parts(tally__parts parts, int *given, int wanted, int count) {
    for (; *given > 0 && *given < wanted; ++*given) memset(parts[*given], 0, (size_t)count * sizeof *parts[*given]);
}

/* ---- most ---- */

/* q / divisor by its reciprocal r. What is left of q, and of `low`, is exact up to the last addition, and so is the
 * correction to 2^-48 of itself. */
TALLY_INLINE TALLY_TARGET double correction(double value, double q, double divisor, double low, double r) {
    const tally_pair product = tally_two_product(q, divisor);
    return (((value - product.high) - product.low) + low) * r;
}
/* Whether rounding q to f32, a normal number, is certain though it be wrong by eight units of its last place. */
TALLY_INLINE TALLY_TARGET int32_t is_clear(double q) {
    const int64_t bits = tally_bits_f64(q), tie = 1 << 28, normal = (int64_t)(1023 - 126) << 52,
                  past = tally_apart(bits, tie - 8) & (2 * tie - 1);
    return (past > 16) & ((bits & INT64_MAX) >= normal);
}
TALLY_INLINE TALLY_TARGET tally_rounded most_means(tally_pair sum, double n, const int is_f64) {
    tally_rounded rounded;
    if (is_f64) {
        const double r = 1 / n, q = sum.high * r;
        rounded = tally_corrected(q, correction(sum.high, q, n, sum.low, r));
        rounded.sure &= tally_in_reach(sum.high);
    } else { /* many a mean of few f32 is a tie, which only an exact quotient can tell */
        const double q = sum.high / n;
        const tally_pair product = tally_two_product(q, n);
        rounded.value = q;
        rounded.sure = (is_clear(q) | ((product.high == sum.high) & (product.low == 0) & (sum.low == 0))) &
                       tally_in_reach(sum.high);
    }
    return or_zero(rounded, sum);
}
TALLY_INLINE TALLY_TARGET tally_rounded most_roots(tally_pair sum) {
    tally_rounded rounded;
    rounded.value = tally_sqrt_f64(sum.high);
    rounded.sure = is_clear(rounded.value);
    return or_zero(rounded, sum);
}
/* As tally_rounded_spread (roots as f32 only), where not so much cancels that it shows in an f32. Of one value, or no
 * more than ddof, it gives nothing of use. `rough` sums (tiles.h) make `left` wrong by 2^-79 of `all` at most. is_one:
 * the sum has no lower part. */
TALLY_INLINE TALLY_TARGET tally_rounded most_spreads(tally_pair sum, tally_pair squares, double n, double ddof,
                                                     const int root, const int is_f64, const int rough,
                                                     const int is_one) {
    const int64_t fraction = ((int64_t)1 << 52) - 1;
    const tally_pair a = tally_two_product(n, squares.high), b = tally_two_product(sum.high, sum.high),
                     d = tally_two_sum(a.high, -b.high);
    const double lowest = n * squares.low - (is_one ? 0 : 2 * sum.high * sum.low);
    const tally_pair lows = tally_two_sum(a.low - b.low, lowest), below = tally_two_sum(d.low, lows.high);
    tally_pair left = tally_two_sum(d.high, below.high);
    if (!is_f64 && !rough) { /* of `low` only whether it is 0 is needed, and that only where all lower parts are */
        left.low = d.low + ((a.low - b.low) + lowest);
        left.high = d.high + left.low;
    }
    const double divisor = n * (n - ddof), r = 1 / divisor, q = left.high * r, all = a.high + b.high;
    tally_rounded rounded;
    if (is_f64) {
        const double c = correction(left.high, q, divisor, left.low, r);
        const double slack = all * 0x1p-97 * r + (c < 0 ? -c : c) * 0x1p-40 + q * 0x1p-98;
        rounded.value = q + (c - slack);
        rounded.sure = rounded.value == q + (c + slack);
        const int32_t none =
            (sum.low == 0) & (squares.low == 0) & (a.high == b.high) & (a.low == b.low); /* nothing deviates */
        /* Over a power of two the quotient is rounded as `left` is, a tie or not, if that lacks nothing. */
        const int32_t halved = ((tally_bits_f64(divisor) & fraction) == 0) & (sum.low == 0) &
                               tally_lacks_nothing(squares) & (lows.low == 0) & (below.low == 0);
        rounded.value = halved ? q : rounded.value;
        rounded.sure = none | ((rounded.sure | halved) & tally_in_reach(left.high));
        rounded.value = none ? 0 : rounded.value;
    } else {
        /* What few values give is often exact: then it may be a tie. */
        const tally_pair whole = tally_two_product(q, divisor);
        int32_t exact = (sum.low == 0) & (squares.low == 0) & (a.low == b.low) & (left.low == 0) &
                        ((whole.high - left.high) + whole.low == 0);
        rounded.value = root ? tally_sqrt_f64(q) : q;
        if (root) {
            const tally_pair square = tally_two_product(rounded.value, rounded.value);
            exact &= (square.high - q) + square.low == 0;
        }
        rounded.sure = ((left.high > all * (rough ? 0x1p-24 : 0x1p-40)) & is_clear(rounded.value)) | exact;
        if (rough && !root) { /* next to a tie: by what q leaves, if that is more than may be wrong */
            const double c = correction(left.high, q, divisor, left.low, r);
            const double slack = all * 0x1p-75 * r + (c < 0 ? -c : c) * 0x1p-40 + q * 0x1p-98;
            const tally_pair both = tally_two_sum(q, c);
            rounded.value = tally_to_odd(both);
            rounded.sure |= (both.low < 0 ? -both.low : both.low) > slack;
        }
    }
    rounded.sure &= (tally_in_reach(squares.high) | (squares.high == 0)) & ((sum.high == 0) | tally_in_reach(sum.high));
    return rounded;
}
/* `nothing`: the result of no values; of less than `least` others it is 0. fine: whether a result of some is certain.
 */
#define TALLY_MOST(nothing, least, fine, expression)                                                       \
    TALLY_TOGETHER {                                                                                       \
        const tally_rounded rounded = expression;                                                          \
        const double value = b->lengths[s] < least ? (b->lengths[s] == 0 ? (nothing) : 0) : rounded.value; \
        if (is_f64)                                                                                        \
            b->values[s] = value;                                                                          \
        else                                                                                               \
            b->narrow[s] = (float)value;                                                                   \
        b->sure[s] = (fine) | (b->lengths[s] == 0);                                                        \
    }
TALLY_INLINE TALLY_TARGET int32_t count_unsure(const tally__batch *b) {
    int32_t unsure = 0;
    for (int s = 0; s < b->count; s++) unsure += b->sure[s] == 0;
    return unsure;
}
/* False: some result is in doubt. */
TALLY_INLINE TALLY_TARGET bool finalize_most(tally__batch *b, int what, const int sums, const int products,
                                             const int is_f64, const int rough) {
    const double nan = tally_nan_f64();
    const int32_t ddof = b->ddof;
#define TALLY_SPREAD(root)                                                                                     \
    TALLY_MOST(nan, 2, (rounded.sure | (b->lengths[s] == 1)) & (b->lengths[s] > ddof),                         \
               most_spreads(joined(sums, b->sums, s), joined(products, b->products, s), (double)b->lengths[s], \
                            (double)ddof, root, is_f64, rough, sums == 1))
    if (what == TALLY_RESULT_MEAN)
        TALLY_MOST(nan, 1, rounded.sure, most_means(joined(sums, b->sums, s), (double)b->lengths[s], is_f64))
    else if (what == TALLY_RESULT_ROOT && !is_f64)
        TALLY_MOST(0, 1, rounded.sure, most_roots(joined(sums, b->sums, s)))
    else if (what == TALLY_RESULT_SPREAD)
        TALLY_SPREAD(0)
    else if (what == TALLY_RESULT_SPREAD_ROOT && !is_f64)
        TALLY_SPREAD(1)
    else
        return false;
#undef TALLY_SPREAD
    b->unsure = count_unsure(b);
    return b->unsure == 0 || (what == TALLY_RESULT_SPREAD && is_f64);
}

/* ---- a batch ---- */

/* Those segments of a batch that are listed as another, each of whose sums has as many parts. */
static TALLY_TARGET void pick_segments(tally__batch *some, const tally__batch *b, const int32_t *list, int count) {
    some->count = count;
    some->padded = (count + 7) / 8 * 8;
    some->sum_parts = b->sum_parts;
    some->product_parts = b->product_parts;
    some->is_f64 = b->is_f64;
    some->ddof = b->ddof;
    for (int i = 0; i < some->padded; i++) some->lengths[i] = i < count ? b->lengths[list[i]] : 0;
    for (int k = 0; k < b->sum_parts; k++)
        for (int i = 0; i < some->padded; i++) some->sums[k][i] = i < count ? b->sums[k][list[i]] : 0;
    for (int k = 0; k < b->product_parts; k++)
        for (int i = 0; i < some->padded; i++) some->products[k][i] = i < count ? b->products[k][list[i]] : 0;
}
/* For the numbers of parts that are usual. Compiled once: it is most of a unit's code. `again`: all that may be
 * certain, and rests. */
static __attribute__((noinline)) TALLY_TARGET void finalize_unscaled(tally__batch *b, int what, bool again) {
    fill_up(b);
    const bool rough = b->is_rough && (what == TALLY_RESULT_SPREAD || what == TALLY_RESULT_SPREAD_ROOT);
    const bool usual = !rough && !b->is_f64 && b->sum_parts == 1 && b->product_parts <= 2;
    const int sums = usual ? 1 : b->sum_parts <= 2 ? 2 : 3, products = usual ? 2 : 3;
    pad_parts(b->sums, &b->sum_parts, sums, b->padded);
    pad_parts(b->products, &b->product_parts, products, b->padded);
    b->unsure = b->has_rests = 0;
    if (again       ? false
        : rough     ? finalize_most(b, what, 2, 3, 0, 1)
        : usual     ? finalize_most(b, what, 1, 2, 0, 0)
        : sums == 3 ? !b->is_f64 && finalize_most(b, what, 3, 3, 0, 0)
        : b->is_f64 ? finalize_most(b, what, 2, 3, 1, 0)
                    : finalize_most(b, what, 2, 3, 0, 0))
        return;
    if (rough) return; /* nothing more is certain */
    if (usual)
        finalize_parts(b, what, 1, 2, 0, 0);
    else if (!b->is_f64)
        sums == 2 ? finalize_parts(b, what, 2, 3, 0, 0) : finalize_parts(b, what, 3, 3, 0, 0);
    else if (again)
        sums == 2 ? finalize_parts(b, what, 2, 3, 1, 1) : finalize_parts(b, what, 3, 3, 1, 1);
    else
        sums == 2 ? finalize_parts(b, what, 2, 3, 1, 0) : finalize_parts(b, what, 3, 3, 1, 0);
    b->unsure = count_unsure(b);
}
/* Makes a vague last part of a sum the opposite: whether there is one. */
TALLY_INLINE bool negate_vague(tally__parts parts, int s) {
    const bool is_vague = parts[2][s] == TALLY_VAGUE || parts[2][s] == -TALLY_VAGUE;
    parts[2][s] = is_vague ? -parts[2][s] : parts[2][s];
    return is_vague;
}
/* Results that are certain whatever sign the vague parts have: those of one are compared with those of the other. */
static TALLY_TARGET void finalize_vague(tally__batch *b, int what) {
    tally__batch vague; /* segments that have a vague part */
    int32_t list[TALLY_BATCH_MOST] = {0}, count = 0;
    finalize_unscaled(b, what, false);
    for (int s = 0; s < b->count; s++) {
        const bool sums = negate_vague(b->sums, s), products = b->product_parts > 0 && negate_vague(b->products, s);
        if (sums && products) b->sure[s] = 0;
        if ((sums || products) && b->sure[s]) list[count++] = s;
    }
    b->has_rests = 0;
    pick_segments(&vague, b, list, count);
    finalize_unscaled(&vague, what, false);
    for (int i = 0; i < count; i++) b->sure[list[i]] = vague.sure[i] && vague.values[i] == b->values[list[i]];
}

/* ---- scaled batches ---- */

/* Tiny sums as 2^700 times their parts: quotients of such as they are would lose digits. Only of means: squares are
 * scaled before they are added up. */
enum { LARGER = 700 };
#define TALLY_TINY_SUM 0x1p-390
typedef int32_t few __attribute__((vector_size(4 * WIDTH)));
typedef few few_anywhere __attribute__((aligned(4), may_alias));
TALLY_INLINE TALLY_TARGET units chosen(units which, units a, units b) { return (a & which) | (b & ~which); }
/* x * 2^power, which is exact, of |x| below 2^-300 or so. By integers: a product of subnormals takes over 100 cycles.
 */
TALLY_INLINE TALLY_TARGET wide enlarged(wide x, int64_t power) {
    const int64_t fraction = ((int64_t)1 << 52) - 1, counting = (int64_t)0x433 << 52; /* 2^52, which counts ones */
    const units bits = (units)x, size = bits & INT64_MAX, subnormal = (size & fraction) | counting;
    const wide made = ((wide)subnormal - 0x1p52) * tally_power_of_two((int32_t)power - 1074);
    if (!TALLY_ANY(size > fraction)) return (wide)((units)made | (bits & INT64_MIN));
    return (wide)(chosen(size <= fraction, (units)made, size + (power << 52)) | (bits & INT64_MIN));
}
/* The same; `above`: lanes that ever had more than that. */
TALLY_INLINE TALLY_TARGET wide enlarged_below(wide x, int32_t power, units *above) {
    *above |= ((units)x & INT64_MAX) >= (int64_t)(1023 + TALLY_ENLARGED_MOST) << 52;
    return enlarged(x, power);
}
static TALLY_TARGET bool enlarge(const void *x, int64_t n, int32_t power, double *large) {
    units above = {0};
    int64_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH) {
        ask_for(1, WIDTH, x, i + TALLY_MEASURE_AHEAD(1));
        *(wide_anywhere *)(large + i) = enlarged_below(load_f64(x, i), power, &above);
    }
    if (i < n) {
        const wide last = enlarged_below(load_part(1, x, i, n - i), power, &above);
        memcpy(large + i, &last, (size_t)(n - i) * sizeof *large);
    }
    return !TALLY_ANY(above);
}
/* Integers, rounded or not, times 2^-TALLY_ENLARGED: exact, as none is below the last digit of subnormals. */
static TALLY_TARGET void shrink(void *results, int64_t n) {
    const int64_t fraction = ((int64_t)1 << 52) - 1, by = (int64_t)TALLY_ENLARGED << 52;
    double_anywhere *x = results;
    for (int64_t i = 0; i < n; i++) {
        const int64_t bits = tally_bits_f64(x[i]), size = bits & INT64_MAX,
                      subnormal = tally_bits_f64(tally_from_bits_f64(size) + 0x1p52) & fraction;
        x[i] = tally_from_bits_f64((size - by > fraction ? size - by : subnormal) | (bits & INT64_MIN));
    }
}
/* Which of WIDTH sums from s on are tiny. */
TALLY_INLINE TALLY_TARGET units tiny_sums(const tally__batch *b, int s) {
    units size = {0};
    for (int k = 0; k < b->sum_parts; k++) {
        const units of_part = *(const units *)(b->sums[k] + s) & INT64_MAX;
        size = chosen(of_part > size, of_part, size);
    }
    return (size > 0) & (size < tally_bits_f64(TALLY_TINY_SUM));
}
static __attribute__((noinline)) TALLY_TARGET void bring_in_reach(tally__batch *b) {
    for (int s = 0; s < b->padded; s += WIDTH) {
        const units tiny = tiny_sums(b, s);
        *(few_anywhere *)(b->scale_x + s) = __builtin_convertvector(tiny & -LARGER, few);
        for (int k = 0; k < b->sum_parts && TALLY_ANY(tiny); k++) {
            wide *const part = (wide *)(b->sums[k] + s);
            *part = (wide)chosen(tiny, (units)enlarged(*part, LARGER), (units)*part);
            b->scaled = TALLY_SCALED_EACH;
        }
    }
    b->of_products = 0;
}
/* Results of scaled values as those of the values. Of f64 only the exponent differs, but for subnormals, which are
 * rounded once more. If a result is a tie there, what it was rounded from decides. Gives whether that is not known of
 * some. */
TALLY_INLINE TALLY_TARGET bool unscale(tally__batch *b, const int times) {
    const int64_t fraction = ((int64_t)1 << 52) - 1, infinite = 0x7ff, most_drop = 54;
    units unknown = {0};
    for (int s = 0; s < b->padded; s += WIDTH) {
        few scale = *(const few_anywhere *)(b->scale_x + s);
        if (times == 2) scale += *(const few_anywhere *)(b->scale_y + s);
        const units by = __builtin_convertvector(scale, units), bits = *(const units *)(b->values + s),
                    size = bits & INT64_MAX, sign = bits & INT64_MIN, exponent = size >> 52, scaled = exponent + by;
        const units one = (units){0} + 1, to_drop = chosen(scaled > 0, one, 1 - scaled),
                    drop = chosen(to_drop > most_drop, one * most_drop, to_drop);
        const units significand = (size & fraction) | (fraction + 1), middle = one << (drop - 1),
                    left = significand & (2 * middle - 1), below = (units)((words)significand >> (words)drop);
        const wide rest = b->has_rests ? *(const wide *)(b->rests + s) : (wide){0} + tally_nan_f64(),
                   away = (wide)((units)rest ^ sign);
        const units tie = left == middle, up = (left > middle) | (tie & ((away > 0) | ((away == 0) & -(below & 1))));
        const units normal = (units)((words)size + ((words)by << 52)),
                    large = chosen(scaled >= infinite, (units){0} + (infinite << 52), normal),
                    result = chosen(scaled > 0, large, below - up) | sign;
        const units as_it_is = (size == 0) | (exponent == infinite),
                    doubt = (scaled <= 0) & tie & (away != away) & ~as_it_is, lost = (exponent == 0) & ~as_it_is;
        *(units *)(b->values + s) = chosen(as_it_is, bits, result);
        *(few_anywhere *)(b->sure + s) &= __builtin_convertvector(~(doubt | lost), few);
        unknown |= doubt;
    }
    return TALLY_ANY(unknown);
}
static TALLY_TARGET bool unscale_results(tally__batch *b, int what) {
    const bool is_once = what != TALLY_RESULT_SPREAD && (what >= TALLY_RESULT_ROOT || !b->of_products);
    bool unknown = false;
    for (int s = b->count; s < b->padded; s++) b->scale_x[s] = b->scale_y[s] = 0;
    if (b->is_f64)
        unknown = is_once ? unscale(b, 1) : unscale(b, 2);
    else
        for (int s = 0; s < b->count; s++) b->sure[s] &= b->lengths[s] == 0;
    return unknown;
}
static TALLY_TARGET void finalize(tally__batch *b, int what) {
    const bool may_be_far = what == TALLY_RESULT_MEAN && b->is_f64 && !b->scaled && b->product_parts == 0;
    if (may_be_far && TALLY_ANY(tiny_sums(b, 0))) bring_in_reach(b); /* where some are, others hardly are not */
    if (b->vague)
        finalize_vague(b, what);
    else
        finalize_unscaled(b, what, false);
    if (may_be_far && !b->scaled && b->unsure > 0) {
        bring_in_reach(b);
        if (b->scaled) finalize_unscaled(b, what, false);
    }
    if (!b->scaled) return;
    if (unscale_results(b, what) && !b->vague && !b->has_rests) {
        finalize_unscaled(b, what, true);
        unscale_results(b, what);
    }
    b->unsure = count_unsure(b);
}

/* ---- stats ---- */

/* Keys of the least and the greatest of a few values; and of segments of equal lengths, a lane for each. */
#define TALLY_FEW(type, word, most)                                                                          \
    TALLY_INLINE TALLY_TARGET word key_##type(word bits) { return bits ^ ((bits < 0 ? -1 : 0) & most); }     \
    TALLY_INLINE TALLY_TARGET void few_##type(const word##_anywhere *x, const int n, int64_t *lowest,        \
                                              int64_t *highest) {                                            \
        word low = most, high = -most - 1;                                                                   \
        _Pragma("GCC unroll 4") for (int k = 0; k < n; k++) {                                                \
            const word key = key_##type(x[k]);                                                               \
            low = key < low ? key : low;                                                                     \
            high = key > high ? key : high;                                                                  \
        }                                                                                                    \
        *lowest = low;                                                                                       \
        *highest = high;                                                                                     \
    }                                                                                                        \
    TALLY_INLINE TALLY_TARGET void few_of_each_##type(const word##_anywhere *x, const int length, int count, \
                                                      int64_t *lows, int64_t *highs) {                       \
        for (int s = 0; s < count; s++) few_##type(x + s * length, length, lows + s, highs + s);             \
    }
TALLY_FEW(f32, int32_t, INT32_MAX)
TALLY_FEW(f64, int64_t, INT64_MAX)

#if defined(TALLY_ISA_AVX512)
TALLY_INLINE TALLY_TARGET __m512i extreme(const int is_f64, const int most, __m512i a, __m512i b) {
    if (is_f64) return most ? _mm512_max_epi64(a, b) : _mm512_min_epi64(a, b);
    return most ? _mm512_max_epi32(a, b) : _mm512_min_epi32(a, b);
}
/* The extreme of each of as many vectors as one has lanes, side by side: as fold_eight. */
TALLY_INLINE TALLY_TARGET void halve_keys(const int is_f64, const int most, __m512i *v, int64_t *extremes) {
#define TALLY_HALVE(k, low, high) v[k] = extreme(is_f64, most, low, high)
    _Pragma("GCC unroll 8") for (int k = 0; k < 8 && !is_f64; k++)
        TALLY_HALVE(k, _mm512_unpacklo_epi32(v[2 * k], v[2 * k + 1]), _mm512_unpackhi_epi32(v[2 * k], v[2 * k + 1]));
    _Pragma("GCC unroll 4") for (int k = 0; k < 4; k++)
        TALLY_HALVE(k, _mm512_unpacklo_epi64(v[2 * k], v[2 * k + 1]), _mm512_unpackhi_epi64(v[2 * k], v[2 * k + 1]));
    _Pragma("GCC unroll 3") for (int k = 0; k < 3; k++) {
        const int at = 2 * k % 4, to = k < 2 ? k : 0;
        TALLY_HALVE(to, _mm512_shuffle_i64x2(v[at], v[at + 1], 0x88), _mm512_shuffle_i64x2(v[at], v[at + 1], 0xdd));
    }
#undef TALLY_HALVE
    if (is_f64)
        _mm512_storeu_si512(extremes, v[0]);
    else {
        _mm512_storeu_si512(extremes, _mm512_cvtepi32_epi64(_mm512_castsi512_si256(v[0])));
        _mm512_storeu_si512(extremes + 8, _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(v[0], 1)));
    }
}
TALLY_INLINE TALLY_TARGET void widen_range(const int is_f64, const char *at, int32_t some, __m512i *range) {
    const __mmask16 there = (__mmask16)_bzhi_u32(0xffff, (uint32_t)some);
    const __m512i bits = is_f64 ? _mm512_maskz_loadu_epi64((__mmask8)there, at) : _mm512_maskz_loadu_epi32(there, at);
    const __m512i sign = is_f64 ? _mm512_srai_epi64(bits, 63) : _mm512_srai_epi32(bits, 31);
    const __m512i key = _mm512_xor_si512(bits, is_f64 ? _mm512_srli_epi64(sign, 1) : _mm512_srli_epi32(sign, 1));
    range[0] = is_f64 ? _mm512_mask_min_epi64(range[0], (__mmask8)there, range[0], key)
                      : _mm512_mask_min_epi32(range[0], there, range[0], key);
    range[1] = is_f64 ? _mm512_mask_max_epi64(range[1], (__mmask8)there, range[1], key)
                      : _mm512_mask_max_epi32(range[1], there, range[1], key);
}
/* Segments of any lengths: the last vectors of each, one or two, are masked, so that lengths mislead few branches. */
TALLY_INLINE TALLY_TARGET void ranges_of_any(const int is_f64, const char *x, const tally__batch *b, int64_t *lows,
                                             int64_t *highs) {
    const int lanes = is_f64 ? 8 : 16;
    const bool are_two = b->longest > lanes;
    const __m512i most = is_f64 ? _mm512_set1_epi64(INT64_MAX) : _mm512_set1_epi32(INT32_MAX),
                  least = _mm512_xor_si512(most, _mm512_set1_epi64(-1));
    for (int first = 0; first < b->count; first += lanes) {
        __m512i low[16], high[16];
        for (int k = 0; k < lanes && first + k < b->count; k++) { /* of others nothing is used */
            const char *at = x + b->places[first + k] * (is_f64 ? 8 : 4);
            __m512i range[2] = {most, least};
            int32_t left = b->lengths[first + k];
            for (; left > 2 * lanes; at += 64, left -= lanes) widen_range(is_f64, at, lanes, range);
            widen_range(is_f64, at, left < lanes ? left : lanes, range);
            if (are_two) widen_range(is_f64, at + 64, left > lanes ? left - lanes : 0, range);
            low[k] = range[0];
            high[k] = range[1];
        }
        halve_keys(is_f64, 0, low, lows + first);
        halve_keys(is_f64, 1, high, highs + first);
    }
}
#define TALLY_RANGES_OF_ANY(type, is_f64, word) ranges_of_any(is_f64, x, b, lows, highs);
#else
/* What a vector loop begins and ends with takes longer than 8 values. */
#define TALLY_RANGES_OF_ANY(type, is_f64, word)                                \
    for (int s = 0; s < b->count; s++) {                                       \
        const word##_anywhere *at = (const word##_anywhere *)x + b->places[s]; \
        if (b->lengths[s] > 8)                                                 \
            range_##type(at, b->lengths[s], lows + s, highs + s);              \
        else                                                                   \
            few_##type(at, b->lengths[s], lows + s, highs + s);                \
    }
#endif
#define TALLY_RANGES(type, is_f64, word)                                                                          \
    static TALLY_TARGET void ranges_##type(const void *x, const tally__batch *b, int64_t *lows, int64_t *highs) { \
        switch (b->longest == b->shortest ? b->longest : 0) {                                                     \
        case 1: few_of_each_##type(x, 1, b->count, lows, highs); return;                                          \
        case 2: few_of_each_##type(x, 2, b->count, lows, highs); return;                                          \
        case 3: few_of_each_##type(x, 3, b->count, lows, highs); return;                                          \
        case 4: few_of_each_##type(x, 4, b->count, lows, highs); return;                                          \
        default: break;                                                                                           \
        }                                                                                                         \
        TALLY_RANGES_OF_ANY(type, is_f64, word)                                                                   \
    }
TALLY_RANGES(f32, 0, int32_t)
TALLY_RANGES(f64, 1, int64_t)

typedef struct __attribute__((packed, may_alias)) stats_anywhere {
    tally_stats stats;
} stats_anywhere;
/* Word by word: a struct made elsewhere would be read before it is written, as the machine sees it. */
#define TALLY_PUT_STATS(type, value_of_key)                                                               \
    static TALLY_TARGET void put_stats_##type(const tally__batch *b, double(*floats)[TALLY_BATCH_MOST],   \
                                              const int64_t *lows, const int64_t *highs, void *results) { \
        const double nan = tally_nan_f64();                                                               \
        double least[TALLY_BATCH_MOST], greatest[TALLY_BATCH_MOST];                                       \
        for (int s = 0; s < b->count; s++) {                                                              \
            const int none = b->lengths[s] == 0;                                                          \
            const double zero = highs[s] == -1 ? -0.0 : 0.0; /* -1: the key of -0 */                      \
            int64_t key = lows[s];                                                                        \
            least[s] = none ? nan : (value_of_key);                                                       \
            key = highs[s];                                                                               \
            greatest[s] = none ? nan : (value_of_key);                                                    \
            const int is_zero = (floats[0][s] == 0) & !none;                                              \
            floats[1][s] = is_zero ? zero : floats[1][s];                                                 \
            floats[0][s] = is_zero ? zero : floats[0][s];                                                 \
        }                                                                                                 \
        for (int s = 0; s < b->count; s++) {                                                              \
            stats_anywhere *to = (stats_anywhere *)results + s;                                           \
            if (!b->sure[s]) continue;                                                                    \
            to->stats.count = b->lengths[s];                                                              \
            to->stats.min.f = least[s];                                                                   \
            to->stats.max.f = greatest[s];                                                                \
            to->stats.sum.f = floats[0][s];                                                               \
            to->stats.mean = floats[1][s];                                                                \
            to->stats.var = floats[2][s];                                                                 \
        }                                                                                                 \
    }
TALLY_PUT_STATS(f32, (double)tally_from_bits_f32(key_f32((int32_t)key)))
TALLY_PUT_STATS(f64, tally_from_bits_f64(key_f64(key)))

#endif
