/* Plain sums: exact where none of their operations rounds, which the machine tells. The method:
 * docs/design/010-plain-sums.md; the loops: plain_template.h. */
#include <string.h>

#include "cpu/cpu.h"
#include "cpu/exact.h"
#include "fpenv.h"
#include "sums/plan.h"

/* Whether the machine reports that it rounded a result; emulators may not (Valgrind does not). */
static bool reports_rounding(void) {
    static _Atomic int found; /* 1: no, 2: yes */
    if (found == 0) {
        volatile double one = 1, three = 3, exact, rounded;
        tally__lower_inexact();
        exact = one + three;
        const bool after_exact = tally__is_inexact();
        rounded = one + three * 0x1p-60;
        (void)exact, (void)rounded;
        found = tally__is_inexact() && !after_exact ? 2 : 1;
    }
    return found == 2;
}
/* Decides where products are split, by the magnitudes of a few of n; `terms` of them meet in one sum. False: they are
 * too far from 1 for plain sums, or the machine cannot have these. */
static bool plan_plain_products(tally__plain *plain, const void *x, const void *y, int64_t n, int64_t terms) {
    enum { FEW = TALLY_PLAIN_FEW / 2, NEXT = 44, SLACK = 1, FARTHEST = 400, NEAREST = 40, NEAREST_OF_F32 = 60 };
    const tally__tile some = {.is_f64 = plain->is_f64};
    const int64_t few = n < FEW ? n : FEW;
    double lanes[4] = {0}, magnitude;
    int32_t high;
    if (tally__cpu_tiles()->plain[plain->is_f64][TALLY_TERM_PRODUCT] == NULL) return false;
    for (int64_t i = 0; i < few; i++) {
        const double product = tally__value_at(&some, x, i) * tally__value_at(&some, y, i);
        lanes[i % 4] += product - product == 0 ? __builtin_fabs(product) : 0; /* of infinities and NaNs none is known */
    }
    magnitude = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    for (; terms > few; terms /= 2) magnitude *= 2;
    high = magnitude == 0 ? 0 : (int32_t)(tally_bits_f64(magnitude) >> 52) - 1022 + SLACK;
    if (high > FARTHEST || high < -FARTHEST) return false;
    /* The first part has 53 bits for the sum of all, others for what is left of each, which has either sign. */
    plain->anchor[0] = tally_anchor(high - 53);
    plain->anchor[1] = plain->is_f64 ? tally_anchor(high - 53 - NEXT) : 0;
    plain->anchor[2] = 0;
    /* From there on the last of 53 digits is one of the second part, and of 106 within 53 digits of the third; or that
     * of a product of f32 within 53 digits of the second part. */
    plain->least = tally_power_of_two(high - (plain->is_f64 ? NEAREST : NEAREST_OF_F32 + 2 * plain->fewer));
    int smaller = 0;
    for (int64_t i = 0; i < few; i++) {
        const double product = tally__value_at(&some, x, i) * tally__value_at(&some, y, i);
        smaller += product != 0 && __builtin_fabs(product) < plain->least;
    }
    return smaller < 2; /* one may be chance */
}
bool tally__plan_plain(tally__plain *plain, const void *x, const void *y, int64_t n, int64_t terms) {
    enum { LOG2_FEW = 5, DIGITS = 53, LEAST_HALF = 26 };
    double large[2][TALLY_PLAIN_FEW];
    tally__tile few = {.x = x, .y = y, .n = n < TALLY_PLAIN_FEW ? n : TALLY_PLAIN_FEW, .is_f64 = plain->is_f64};
    /* The upper half of f64 ends so far above the last digit, the lower one begins further below the first. */
    const int32_t spare = plain->is_f64 ? LEAST_HALF : plain->fewer;
    if (plain->has_sums || plain->is_f64 || plain->is_narrow) tally__measure_tile(&few);
    if (plain->is_narrow && few.x_extent.special) plain->is_narrow = false;
    if (plain->is_narrow && !few.x_extent.zeros) /* as if values had as many digits as f32 */
        plain->is_narrow = 2 * (few.x_extent.high - few.x_extent.unit - plain->fewer) + LOG2_FEW <= DIGITS;
    plain->power = 0;
    if (tally__is_tiny(&few)) {
        tally__enlarge_tile(&few, large[0], large[1]);
        plain->power = TALLY_ENLARGED;
    }
    if (plain->has_sums && !few.x_extent.special) {
        const tally__extent extent = few.x_extent;
        if (!extent.zeros && extent.high + LOG2_FEW - extent.unit - spare > DIGITS) return false;
        if (!extent.zeros && extent.unit <= -TALLY_ENLARGED) return false; /* they would be rounded, or multiplied */
    }
    return !plain->has_products || plan_plain_products(plain, few.x, few.y, n, terms);
}
enum { MOST = 32, LOSS = 8 }; /* credit: of one failure in eight */
/* The sums that are asked for; `narrow`: squares in one sum, as the first of two parts. */
static tally__finite sum_terms(const tally__plain *plain, bool narrow, const void *x, const void *y,
                               const int64_t *offsets, int count, tally__plain_made *made) {
    const tally__tiles *tiles = tally__cpu_tiles();
    tally__plain_sum *const *const of = tiles->plain[plain->is_f64];
    if (plain->has_sums && plain->has_products && count == 1)
        return tiles->plain_both[plain->is_f64](x, offsets[1] - offsets[0], plain->anchor, made->sums, made->products)
                   ? TALLY_FINITE
                   : TALLY_NOT_FINITE_APART;
    if (plain->has_sums && plain->has_products && tiles->plain_equal[plain->is_f64] != NULL) {
        const int finite =
            tiles->plain_equal[plain->is_f64](x, offsets, count, narrow, plain->anchor, made->sums, made->products);
        if (finite >= 0) return finite ? TALLY_FINITE : TALLY_NOT_FINITE_APART;
    }
    tally__finite finite = TALLY_FINITE;
    if (plain->has_sums) finite = of[plain->term](x, x, offsets, count, plain->anchor, made->sums);
    if (finite == TALLY_NOT_FINITE || !plain->has_products) return finite;
    if (narrow) memset(made->products[1], 0, (size_t)count * sizeof made->products[1][0]);
    tally__plain_sum *const squares = narrow ? tiles->plain_squares : of[TALLY_TERM_PRODUCT];
    return squares(x, narrow ? x : y, offsets, count, plain->anchor, made->products);
}
/* Whether to try squares in one sum. Those of f16 have 22 digits: it holds segments of equal lengths, but not what all
 * values of a batch add up to, of which others are differences. */
static bool tries_one_sum(tally__plain *plain, const int64_t *offsets, int count) {
    enum { OF_BF16 = 16 };
    if (!plain->is_narrow || count == 1) return false;
    if (plain->fewer < OF_BF16 && offsets[count] - offsets[0] != count * (offsets[1] - offsets[0])) return false;
    return plain->credit++ >= 0;
}
tally__plain_outcome tally__sum_plainly(tally__plain *plain, const void *x, const void *y, const int64_t *offsets,
                                        int count, tally__plain_made *made) {
    const bool narrow = tries_one_sum(plain, offsets, count);
    tally__finite finite;
    bool rounded;
    if (!reports_rounding()) return TALLY_PLAIN_ROUNDED;
    tally__lower_inexact();
    finite = sum_terms(plain, narrow, x, y, offsets, count, made);
    rounded = tally__is_inexact();
    if (narrow && rounded) {
        plain->credit -= LOSS;
        tally__lower_inexact();
        finite = sum_terms(plain, false, x, y, offsets, count, made);
        rounded = tally__is_inexact();
    } else if (plain->credit > MOST)
        plain->credit = MOST;
    if (finite == TALLY_NOT_FINITE) return TALLY_PLAIN_INFINITE;
    return rounded ? TALLY_PLAIN_ROUNDED : finite == TALLY_FINITE ? TALLY_PLAIN_EXACT : TALLY_PLAIN_EXACT_APART;
}

tally__plain_outcome tally__sum_halves(tally__plain *plain, int from, const void *x, const int64_t *offsets, int count,
                                       tally__plain_made *made) {
    tally__plain_halves *const sum = tally__cpu_tiles()->plain_halves[from][plain->term];
    if (sum == NULL || !reports_rounding() || plain->credit++ < 0) return TALLY_PLAIN_ROUNDED;
    tally__lower_inexact();
    const tally__finite finite = sum(x, offsets, count, made->sums);
    if (tally__is_inexact()) {
        plain->credit -= LOSS;
        return TALLY_PLAIN_ROUNDED;
    }
    if (plain->credit > MOST) plain->credit = MOST;
    return finite == TALLY_FINITE ? TALLY_PLAIN_EXACT : TALLY_PLAIN_EXACT_APART;
}

/* ---- columns ---- */

bool tally__add_columns_plainly(const tally__plain *plain, int from, const void *x, const void *y, int64_t rows,
                                int64_t stride, int64_t width, int64_t fold, bool is_first, tally__plain_made *made,
                                tally__left_products *left) {
    const int term = !plain->has_products ? plain->term : plain->has_sums ? TALLY_TERMS : TALLY_TERM_PRODUCT;
    tally__plain_columns *const add = tally__cpu_tiles()->plain_columns[from][term];
    if (add == NULL || !reports_rounding()) return false;
    const tally__plain_work work = {is_first ? plain->anchor : NULL, plain->least, made->sums, made->products, left};
    if (is_first) left->count = 0;
    tally__lower_inexact();
    add(x, y, rows, stride, width, fold, &work);
    return !tally__is_inexact() && left->count <= TALLY_LEFT_MOST;
}
bool tally__join_columns_plainly(const tally__plain *plain, int64_t width, int64_t fold, tally__plain_made *made,
                                 bool *special) {
    const tally__tiles *tiles = tally__cpu_tiles();
    bool finite = true;
    tally__lower_inexact();
    if (plain->has_sums)
        finite &=
            tiles->join_columns(made->sums, TALLY_PLAIN_PARTS(plain->is_f64, TALLY_TERM_VALUE), width, fold, NULL);
    if (plain->has_products)
        finite &= tiles->join_columns(made->products, TALLY_PLAIN_PARTS(plain->is_f64, TALLY_TERM_PRODUCT), width, fold,
                                      plain->anchor);
    *special = !finite;
    return !tally__is_inexact();
}
