/* What is made of the windows of a chunk's segments (exact_segments/flat.h): results, if what was cut off cannot show
 * in them. */
#ifndef TALLY_FLAT_RESULTS_H
#define TALLY_FLAT_RESULTS_H

#include "exact_segments/flat.h"
#include "exact_segments/lane_sums.h"
#include "sums/counts.h"

/* The sum of a segment's window, or that of products, and `more` units of its last level: below the window's top, which
 * of f64 stays apart. */
TALLY_FN tally_pair window_sum(const flat_t *flat, const chunk_t *c, int32_t number, int64_t more) {
    int32_t values[TALLY_WINDOW_VALUE_LEVELS], products[TALLY_WINDOW_PRODUCT_LEVELS];
    window_units(values, products);
    return tally_pair_of_counts(flat->words + number, c->stride, values, TALLY_WINDOW_VALUE_LEVELS, more,
                                flat->lost[number], TALLY_IS_F64 ? 0 : top_of(flat->tops[number]));
}
TALLY_FN tally_pair window_product(const flat_t *flat, const chunk_t *c, int32_t number, int64_t more) {
    int32_t values[TALLY_WINDOW_VALUE_LEVELS], products[TALLY_WINDOW_PRODUCT_LEVELS];
    window_units(values, products);
    return tally_pair_of_counts(flat->words + value_words * c->stride + number, c->stride, products,
                                TALLY_WINDOW_PRODUCT_LEVELS, more, flat->lost[number],
                                TALLY_IS_F64 ? 0 : top_of_products(top_of(flat->tops[number])));
}

/* The result of n values, some of them present, if what may have been cut off cannot show in it. That is less than 2 n
 * units of the last level. Results grow with the sum and with that of products, so they are worked out for both ends of
 * the interval, unless these are the same pair. A spread bounds the errors of its own, by which such an interval is
 * nothing: less than 2^-110 of the sum of products. */
TALLY_FN int32_t finalize_window(const flat_t *flat, const chunk_t *c, int32_t number, int32_t n,
                                 const in_pairs_t *notes, const tally_final *final, uint64_t *result) {
    enum {
        sum_has_sign = !TALLY_HAS_SUM || is_signed_zero_sum,
        products_have_sign = TALLY_KERNEL_INPUTS == 2,
        is_spread = TALLY_HAS_SPREAD && !TALLY_HAS_KEYS
    };
    const int32_t has_ends = flat->lost[number] && !is_spread;
    const int64_t loss = 2 * (int64_t)n;
    in_pairs_t a = *notes;
    uint64_t other[6] = {0, 0, 0, 0, 0, 0};
    int32_t sure = 1;
    a.power = TALLY_IS_F64 ? top_of(flat->tops[number]) : 0;
    a.products_power = top_of_products(a.power);
    TALLY_ROLLED /* what follows is long */
        for (int32_t end = 0; sure && end <= has_ends; end++) {
        const tally_pair sum = a.sum, products = a.products;
        const int64_t more = end == 0 ? has_ends ? -loss : 0 : loss - 1;
        TALLY_IF_SUM(a.sum = window_sum(flat, c, number, end == 0 && !sum_has_sign ? 0 : more);)
        TALLY_IF_PRODUCTS(a.products = window_product(flat, c, number, end == 0 && !products_have_sign ? 0 : more);)
        if (end == 1 && a.sum.high == sum.high && a.sum.low == sum.low && a.products.high == products.high &&
            a.products.low == products.low)
            break;
        sure = finalize_pairs(&a, final, result);
        if (has_ends) sure &= (TALLY_HAS_SUM ? a.sum : a.products).high != 0; /* whose sign is not known */
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
#define TALLY_PUT_DEPOSIT tally_deposit
#include "exact_sums/pair_to_limbs.h"

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
