/* The exact result of one segment by one thread, where pairs of doubles do not decide it. The thread has numbers of
 * limbs of its own, as wide as the sums need. The file that includes it defines TALLY_LANE_LIMBS and
 * TALLY_LANE_PRODUCT_LIMBS. */
#ifndef TALLY_LANE_SUMS_H
#define TALLY_LANE_SUMS_H

#include "exact_segments/flat_nodes.h"

#if !defined(TALLY_LANE_LIMBS) || !defined(TALLY_LANE_PRODUCT_LIMBS)
#error "define what the first comment lists"
#endif

typedef struct lane_sums_t {
    int32_t origin; /* limbs of the sum count from 2^origin on, those of products from 2^(2 * origin) */
    int64_t sum[TALLY_HAS_SUM ? TALLY_EVIDENCE + TALLY_LANE_LIMBS : 1];
    int64_t products[TALLY_HAS_PRODUCTS ? TALLY_EVIDENCE + TALLY_LANE_PRODUCT_LIMBS : 1];
} lane_sums_t;

/* The result of `present` values, at least one, with what is noted of them. */
TALLY_RARE void put_lane_sums(const tally_results *out, int64_t s, lane_sums_t *a, int64_t present,
                              const noted_t *noted) {
    uint64_t result[6] = {0, 0, 0, 0, 0, 0};
    const int32_t is_other = (noted->seen & TALLY_NOT_MINUS_ZERO) != 0;
    int64_t *const words = TALLY_HAS_SUM ? a->sum : a->products;
    words[TALLY_PLUS_INFINITY] += (noted->seen & TALLY_SEEN_PLUS) != 0;
    words[TALLY_MINUS_INFINITY] += (noted->seen & TALLY_SEEN_MINUS) != 0;
    words[TALLY_MINUS_ZERO] += !is_other;
    words[TALLY_OTHER] += is_other;
    total_t total = {
        present, 0, 0, {a->sum, TALLY_LANE_LIMBS, a->origin}, {a->products, TALLY_LANE_PRODUCT_LIMBS, 2 * a->origin}};
    TALLY_IF_SUM(tally_settle(a->sum, TALLY_LANE_LIMBS);)
#if TALLY_HAS_SPREAD
    a->products[TALLY_PLUS_INFINITY] += words[TALLY_PLUS_INFINITY] | words[TALLY_MINUS_INFINITY];
#endif
    TALLY_IF_PRODUCTS(tally_settle(a->products, TALLY_LANE_PRODUCT_LIMBS);)
#if TALLY_HAS_KEYS
    notes_t notes = no_notes();
    widen_range(&notes, (TALLY_K)noted->low, (TALLY_K)noted->high);
    total.low = noted->seen & TALLY_SEEN_NAN ? INT64_MIN : notes.low;
    total.high = noted->seen & TALLY_SEEN_NAN ? INT64_MAX : notes.high;
#endif
    round_total(&total, &out->final, result);
    put_bytes(out, s, result, present);
}

#endif
