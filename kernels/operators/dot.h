/* dot: x0*y0 + x1*y1 + ... Integers modulo 2^64; floats: each product rounded, then summed in canonical order.
 * Products of bytes fit a 32-bit lane over a leaf; wider ones take 64 bits. */
#if TALLY_FLOAT || TALLY_BYTES == 1
#define TALLY_COLUMN(X) X(TALLY_S, sum)
#else
#define TALLY_COLUMN(X) X(uint64_t, sum)
#endif
#define TALLY_NODE(X) X(TALLY_W, sum)
#define TALLY_START(a) (a).sum = TALLY_ZERO
#define TALLY_JOIN(a, b) (a).sum = (a).sum + (b).sum
#include "lib/plain.h"

TALLY_FN TALLY_N(column) TALLY_N(lift)(TALLY_N(item) x, TALLY_N(item) y) {
    TALLY_N(column) a;
    TALLY_V v = x.value, w = y.value;
#if TALLY_FLOAT
    a.sum = TALLY_N(present)(x.raw) && TALLY_N(present)(y.raw) ? v * w : TALLY_ZERO;
#elif TALLY_BYTES == 1
    a.sum = (int32_t)v * (int32_t)w;
#elif TALLY_SIGNED && TALLY_BYTES < 8
    a.sum = (uint64_t)((int64_t)v * (int64_t)w);
#else
    a.sum = (uint64_t)v * (uint64_t)w;
#endif
    return a;
}
#include "lib/finish_sum.h"
