/* What levels have counted (sums/levels.h), joined to a whole number and made a pair of doubles (sums/parts.h). */
#ifndef TALLY_COUNTS_H
#define TALLY_COUNTS_H

#include "sums/limbs.h"
#include "sums/parts.h"

TALLY_FN int32_t tally_leading_zeros(tally_u128 a) {
    return a >> 64 != 0 ? __builtin_clzll((uint64_t)(a >> 64)) : 64 + __builtin_clzll((uint64_t)a);
}

/* The sum of counts, `stride` apart, of three or four levels in units of 2^(units[k] + base), each some 47 above the
 * next; of `more` units of the last level; and of something in [0, 1) of these that is 0 unless `is_sticky`. The pair
 * has the sum's leading 106 bits, the last of them odd if more is left. */
TALLY_FN tally_pair tally_pair_of_counts(const int64_t *counts, int32_t stride, const int32_t *units,
                                         const int32_t levels, int64_t more, int32_t is_sticky, int32_t base) {
    const int32_t last = levels - 1, apart = units[last - 2] - units[last];
    const tally_u128 mask = ((tally_u128)1 << apart) - 1;
    const tally_i128 below = (tally_i128)counts[last * stride] + more +
                             (tally_i128)counts[(last - 1) * stride] * ((int64_t)1 << (units[last - 1] - units[last]));
    tally_i128 above = counts[(last - 2) * stride] + (below >> apart);
    tally_u128 rest = (tally_u128)below & mask, top;
    tally_pair p = {0, 0};
    if (levels == 4) above += (tally_i128)counts[0] * ((int64_t)1 << (units[0] - units[1]));
    const int32_t is_negative = above < 0;
    if (is_negative) { /* a complement is 1 less than what it stands for, and what is left is taken from that */
        rest = (~rest & mask) + !is_sticky;
        above = ~above + (tally_i128)(rest >> apart);
        rest &= mask;
    }
    int32_t unit = units[last] + base, behind = 0; /* bits of rest */
    if (above != 0)
        top = (tally_u128)above, behind = apart, unit += apart;
    else
        top = rest, rest = 0;
    if (top == 0) return p;
    const int32_t shift = tally_leading_zeros(top), under = behind - shift;
    top <<= shift;
    top |= under < 0 ? rest << -under : rest >> under;
    is_sticky |= (under > 0 && (rest & (((tally_u128)1 << under) - 1)) != 0) || ((uint32_t)top & 0x3fffff) != 0;
    unit -= shift;
    const int64_t first = (int64_t)(top >> 75), second = (int64_t)(top >> 22 & (((int64_t)1 << 53) - 1)) | is_sticky;
    const double high = (double)first * tally_from_bits_f64((int64_t)(1023 + unit + 75) << 52),
                 low = (double)second * tally_from_bits_f64((int64_t)(1023 + unit + 22) << 52);
    p.high = high + low;
    p.low = low - (p.high - high);
    if (is_negative) p.high = -p.high, p.low = -p.low;
    return p;
}

#endif
