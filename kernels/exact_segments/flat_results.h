/* What is made of the windows of a chunk's segments (exact_segments/flat.h): results, if what was cut off cannot show
 * in them. */
#ifndef TALLY_FLAT_RESULTS_H
#define TALLY_FLAT_RESULTS_H

#include "exact_segments/flat.h"
#include "exact_segments/lane_sums.h"

/* The sums of a segment's window, below its top, which of f64 stays apart: exact. */
typedef struct window_sums_t {
    tally_triple sum, products;
    int32_t top, is_lost;
} window_sums_t;

TALLY_FN window_sums_t window_at(const flat_t *flat, const chunk_t *c, int32_t number) {
    const int64_t *const words = flat->words + number;
    int32_t value_units[TALLY_WINDOW_VALUE_LEVELS], product_units[TALLY_WINDOW_PRODUCT_LEVELS];
    window_sums_t a = {{0, 0, 0}, {0, 0, 0}, top_of(flat->tops[number]), flat->lost[number]};
    const int32_t base = TALLY_IS_F64 ? 0 : a.top, base_of_products = top_of_products(base);
    window_units(value_units, product_units);
    TALLY_UNROLL
    for (int32_t k = 0; k < value_words; k++) tally_add_units(&a.sum, words[k * c->stride], value_units[k] + base);
    TALLY_UNROLL
    for (int32_t k = 0; k < product_words; k++)
        tally_add_units(&a.products, words[(value_words + k) * c->stride], product_units[k] + base_of_products);
    return a;
}

TALLY_FN double size_of(double x) { return x < 0 ? -x : x; }
/* A bound of what is cut off n terms, and of what a triple leaves out, where it leaves the last binades of its own. */
TALLY_FN double bound_of_loss(double first, int32_t n, int32_t top, const int32_t binades) {
    return tally_scale(2 * (double)n, top - binades) + size_of(first) * 0x1p-140;
}

/* The result of n values, some of them present, if it is the same for all that may have been cut off: those of both
 * ends of an interval, as all grow with the sum and with that of products, but for a spread, which falls with the size
 * of the sum. */
TALLY_FN int32_t conclude_window(const window_sums_t *w, int32_t n, const in_pairs_t *notes, const tally_final *final,
                                 uint64_t *result) {
    const int32_t base = TALLY_IS_F64 ? 0 : w->top;
    const double of_sum = w->is_lost ? bound_of_loss(w->sum.a, n, base, value_binades) : 0,
                 of_products = w->is_lost ? bound_of_loss(w->products.a, n, top_of_products(base), product_binades) : 0,
                 away = w->sum.a < 0 ? -of_sum : of_sum; /* from 0 */
    in_pairs_t a = *notes;
    uint64_t other[6] = {0, 0, 0, 0, 0, 0};
    int32_t sure = !TALLY_IS_SPREAD_OF_SUMS || !w->is_lost || size_of(w->sum.a) > 4 * of_sum;
    a.power = TALLY_IS_F64 ? w->top : 0;
    a.products_power = top_of_products(a.power);
    TALLY_ROLLED /* what follows is long */
        for (int32_t end = 0; sure && end <= w->is_lost; end++) {
        a.sum = tally_pair_of_triple(tally_add_below(w->sum, end == 0 ? away : -away));
        a.products = tally_pair_of_triple(tally_add_below(w->products, end == 0 ? -of_products : of_products));
        sure = conclude_pairs(&a, final, result);
        for (int32_t k = 0; k < 6; k++) {
            sure &= end == 0 || result[k] == other[k];
            other[k] = result[k];
        }
    }
    return sure;
}

/* ---- value by value ---- */

#define TALLY_PUT_NAME add_pair_to_lane
#define TALLY_PUT_TYPE lane_sums_t
#define TALLY_PUT_SUM(significand, is_negative, offset) \
    tally_deposit(to->sum + TALLY_EVIDENCE, with_sign(significand, is_negative), offset)
#define TALLY_PUT_PRODUCT(significand, is_negative, offset, digits) \
    tally_deposit(to->products + TALLY_EVIDENCE, with_sign(significand, is_negative), offset)
#include "exact_sums/one_pair.h"

/* The result of values `begin` to `end` of the chunk, of which some are present: by one lane, in limbs. */
TALLY_RARE void put_by_lane(const tally_segments_work *work, int64_t s, const flat_t *flat, int32_t begin, int32_t end,
                            noted_t noted) {
    lane_sums_t a;
    notes_t notes = no_notes(); /* they are in `noted` */
    __builtin_memset(&a, 0, sizeof a);
    a.origin = TALLY_ORIGIN;
    TALLY_ROLLED
    for (int32_t i = begin; i < end; i++) add_pair_to_lane(&notes, &a, flat->x[i], second_of(flat, i));
    put_lane_sums(work, s, &a, end - begin - noted.absent, &noted);
}

#endif
