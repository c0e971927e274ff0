/* What is made of the sums at the ends of a chunk (exact_segments/flat.h): results, and what goes to numbers of limbs.
 */
#ifndef TALLY_FLAT_RESULTS_H
#define TALLY_FLAT_RESULTS_H

#include "exact_segments/flat.h"

/* Word k of window w counts units of 2^unit. */
TALLY_RARE int32_t unit_of_word(const chunk_t *c, const ruler_t *ruler, int32_t w, int32_t k, int32_t *is_product) {
    const int32_t value_words = with_sum * (c->windows > 0 ? TALLY_WINDOW_VALUE_LEVELS : TALLY_MOST_LEVELS_OF_VALUES);
    int32_t value_units[TALLY_WINDOW_VALUE_LEVELS], product_units[TALLY_WINDOW_PRODUCT_LEVELS], unit = 0;
    (void)ruler;
    *is_product = k >= value_words;
    window_units(value_units, product_units);
    TALLY_UNROLL
    for (int32_t i = 0; i < TALLY_WINDOW_VALUE_LEVELS; i++) {
        if (*is_product || i != k) continue;
        unit = value_units[i] + c->top - w * window_binades;
        TALLY_IF_SUM(if (c->windows == 0) unit = ruler->sum.unit[i];)
    }
    TALLY_UNROLL
    for (int32_t i = 0; i < TALLY_WINDOW_PRODUCT_LEVELS; i++) {
        if (!*is_product || i != k - value_words) continue;
        unit = product_units[i] + c->top_products - w * product_binades;
        TALLY_IF_PRODUCTS(if (c->windows == 0) unit = ruler->products.unit[i];)
    }
    return unit;
}

TALLY_RARE void deposit_word(accumulator_t *node, int64_t d, int32_t unit, int32_t is_product) {
    (void)node, (void)d, (void)unit, (void)is_product;
    TALLY_IF_SUM(if (!is_product) tally_deposit_word(node->sum + TALLY_EVIDENCE, d, unit - TALLY_ORIGIN);)
    TALLY_IF_PRODUCTS(if (is_product) tally_deposit_word(node->products + TALLY_EVIDENCE, d, unit - 2 * TALLY_ORIGIN);)
}
/* All words of end e, one by each lane; or those of `counts`, which are the ruler's, if there is no e. */
TALLY_RARE void deposit_end(const flat_t *flat, const chunk_t *c, const ruler_t *ruler, int32_t e,
                            accumulator_t *node) {
    const int32_t each = c->windows > 0 ? window_words : level_words, all = c->windows > 0 ? c->windows * each : each;
    for (int32_t i = tally_lane(); i < all; i += TALLY_WARP) {
        int32_t is_product;
        const int32_t w = i / each, unit = unit_of_word(c, ruler, w, i - w * each, &is_product);
        deposit_word(node, flat->words[i * c->stride + e], unit, is_product);
    }
}
TALLY_RARE void deposit_counts(const level_counts_t *counts, const ruler_t *ruler, accumulator_t *node) {
    TALLY_UNROLL
    for (int32_t k = 0; k < TALLY_MOST_LEVELS_OF_VALUES; k++) {
        TALLY_IF_SUM(if (tally_lane() == k) deposit_word(node, counts->of[k], ruler->sum.unit[k], 0);)
    }
    TALLY_UNROLL
    for (int32_t k = 0; k < TALLY_MOST_LEVELS_OF_PRODUCTS; k++) {
        TALLY_IF_PRODUCTS(
            if (tally_lane() == with_sum * TALLY_MOST_LEVELS_OF_VALUES + k)
                deposit_word(node, counts->of[with_sum * TALLY_MOST_LEVELS_OF_VALUES + k], ruler->products.unit[k], 1);)
    }
}
/* ---- results ---- */

/* A count of units as a pair of doubles, by levels; sure if each level's count is a double. */
TALLY_FN tally_pair pair_of(const int64_t *counts, const tally_levels *levels, const int32_t most, int32_t *sure) {
    double part[TALLY_DEVICE_LEVELS] = {0, 0, 0, 0};
    TALLY_UNROLL
    for (int32_t k = 0; k < most; k++) {
        if (k >= levels->count) continue;
        int64_t size = counts[k] < 0 ? tally_apart(0, counts[k]) : counts[k];
        *sure &= size <= (int64_t)1 << 53;
        part[k] = tally_scale((double)counts[k], levels->unit[k]);
    }
    *sure &= part[3] == 0;
    return tally_three_sum(part[0], part[1], part[2]);
}
/* Units of a level may lie below what a scaled double can be: such levels are left to limbs. */
TALLY_FN int32_t is_in_doubles(const tally_levels *levels) {
    int32_t is_in = 1;
    TALLY_UNROLL
    for (int32_t k = 0; k < TALLY_DEVICE_LEVELS; k++)
        if (k < levels->count) is_in &= levels->unit[k] > -1000 && levels->unit[k] < 900;
    return is_in;
}

/* The sums at end e as pairs; false: doubles cannot tell. */
TALLY_RARE int32_t any_pairs_at(const flat_t *flat, const chunk_t *c, const ruler_t *ruler, int32_t e, in_pairs_t *a) {
    const int32_t each = c->windows > 0 ? window_words : level_words, all = c->windows > 0 ? c->windows * each : each;
    tally_triple sums[2] = {{0, 0, 0}, {0, 0, 0}};
    int32_t sure = 1;
    TALLY_ROLLED
    for (int32_t i = 0; i < all; i++) {
        int32_t is_product;
        const int32_t unit = unit_of_word(c, ruler, i / each, i % each, &is_product);
        sure &= tally_add_units(&sums[is_product], flat->words[i * c->stride + e], unit);
    }
    a->sum = tally_pair_of_triple(sums[0]);
    a->products = tally_pair_of_triple(sums[1]);
    return sure;
}
/* The same where each count of the ruler's levels is a double, as a rule. */
TALLY_FN int32_t pairs_at(const flat_t *flat, const chunk_t *c, const ruler_t *ruler, int32_t e, in_pairs_t *a) {
    int64_t d[TALLY_WINDOW_VALUE_LEVELS + TALLY_WINDOW_PRODUCT_LEVELS];
    int32_t sure = c->windows == 0;
    TALLY_IF_SUM(sure &= is_in_doubles(&ruler->sum);)
    TALLY_IF_PRODUCTS(sure &= is_in_doubles(&ruler->products);)
    if (sure) {
        TALLY_UNROLL
        for (int32_t k = 0; k < level_words; k++) d[k] = flat->words[k * c->stride + e];
        TALLY_IF_SUM(a->sum = pair_of(d, &ruler->sum, TALLY_MOST_LEVELS_OF_VALUES, &sure);)
        TALLY_IF_PRODUCTS(a->products = pair_of(d + with_sum * TALLY_MOST_LEVELS_OF_VALUES, &ruler->products,
                                                TALLY_MOST_LEVELS_OF_PRODUCTS, &sure);)
    }
    if (sure) return 1;
    const chunk_t its = *c;
    const ruler_t its_ruler = *ruler;
    in_pairs_t other = *a;
    sure = any_pairs_at(flat, &its, &its_ruler, e, &other);
    *a = other;
    return sure;
}

#endif
