/* stats: count, min, max, sum, mean and var in one pass; min, max and sum have the bits that min, max and sum give. */
#ifndef TALLY_EXACT_STATS_H
#define TALLY_EXACT_STATS_H

#define TALLY_SUM_TERM TALLY_TERM_VALUE
#define TALLY_PRODUCTS
#define TALLY_KEYS
#include "exact_sums/exact.h"

/* The value a key stands for. */
TALLY_FN double from_wide_key(int64_t key) {
#if TALLY_IS_F64
    return tally_from_bits_f64(key ^ (key < 0 ? INT64_MAX : 0));
#else
    return (double)tally_from_bits_f32((int32_t)(key ^ (key < 0 ? INT32_MAX : 0)));
#endif
}
/* The words of tally_stats (include/tally/tally.h) for floats, in its order. */
TALLY_ONCE void round_total(const total_t *a, const tally_final *final, void *result) {
    const tally_format sum_format = TALLY_NATURAL_FORMAT, wide = TALLY_FORMAT_f64;
    int is_nan = a->low == INT64_MIN || a->n == 0;
    double floats[5];
    floats[0] = is_nan ? tally_nan_f64() : from_wide_key(a->low);
    floats[1] = is_nan ? tally_nan_f64() : from_wide_key(a->high);
    floats[2] = tally_sum_result(a->sum, 1, sum_format);
    floats[3] = tally_sum_result(a->sum, (uint64_t)a->n, wide);
    floats[4] = tally_spread_result(a->sum, a->products, a->n, final, wide);
    for (int k = 0; k < 5; k++) floats[k] = tally_clean_f64(floats[k]);
    __builtin_memcpy(result, &a->n, 8);
    __builtin_memcpy((char *)result + 8, floats, sizeof floats);
}

#endif
