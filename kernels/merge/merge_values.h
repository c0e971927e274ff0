/* What all passes of production/merge.h share, for values of TALLY_MERGE_BITS bits that are read as TALLY_MERGE_READING
 * says, TALLY_MERGE_EACH of them by each thread. Values keep the bits that they have. */
#include "merge/merge_runs.h"

#if !defined(TALLY_MERGE_BITS) || !defined(TALLY_MERGE_READING) || !defined(TALLY_MERGE_EACH)
#error "define what the first comment lists"
#endif

#define TALLY_MERGE_NAME_(bits, reading, name) tally_merge_##name##_##bits##_##reading
#define TALLY_MERGE_NAME(bits, reading, name) TALLY_MERGE_NAME_(bits, reading, name)
#define TALLY_M(name) TALLY_MERGE_NAME(TALLY_MERGE_BITS, TALLY_MERGE_READING, name)
#define TALLY_MERGE_BITS_TYPE TALLY_PASTE(uint, TALLY_PASTE(TALLY_MERGE_BITS, _t))
#define TALLY_MERGE_SIGNED_TYPE TALLY_PASTE(int, TALLY_PASTE(TALLY_MERGE_BITS, _t))

typedef TALLY_MERGE_BITS_TYPE TALLY_M(bits);
typedef TALLY_MERGE_SIGNED_TYPE TALLY_M(integer);
enum { TALLY_M(EACH) = TALLY_MERGE_EACH };

/* Maps the bits of a float to an integer, such that integers ascend as the floats do. */
TALLY_FN TALLY_M(integer) TALLY_M(key)(TALLY_M(bits) bits, uint64_t infinity) {
    const TALLY_M(integer) value = (TALLY_M(integer))bits;
    const TALLY_M(bits) most = (TALLY_M(bits)) ~((TALLY_M(bits))1 << (TALLY_MERGE_BITS - 1)),
                        magnitude = (TALLY_M(bits))(bits & most);
    if (TALLY_MERGE_READING == TALLY_MERGE_TOTAL) return value < 0 ? (TALLY_M(integer))(bits ^ most) : value;
    if (magnitude > infinity) return (TALLY_M(integer))most;
    return value < 0 ? (TALLY_M(integer)) - (TALLY_M(integer))magnitude : value;
}

/* Whether a may stand in front of b: it is less or equal. */
TALLY_FN int32_t TALLY_M(may_precede)(TALLY_M(bits) a, TALLY_M(bits) b, uint64_t infinity) {
    if (TALLY_MERGE_READING == TALLY_MERGE_BOOL) return (a != 0) <= (b != 0);
    if (TALLY_MERGE_READING == TALLY_MERGE_UNSIGNED) return a <= b;
    if (TALLY_MERGE_READING == TALLY_MERGE_SIGNED) return (TALLY_M(integer))a <= (TALLY_M(integer))b;
    if (TALLY_MERGE_READING == TALLY_MERGE_FLOAT && TALLY_MERGE_BITS == 32) {
        const float other = tally_from_bits_f32((int32_t)b);
        return (tally_from_bits_f32((int32_t)a) <= other) | (other != other);
    }
    if (TALLY_MERGE_READING == TALLY_MERGE_FLOAT && TALLY_MERGE_BITS == 64) {
        const double other = tally_from_bits_f64((int64_t)b);
        return (tally_from_bits_f64((int64_t)a) <= other) | (other != other);
    }
    return TALLY_M(key)(a, infinity) <= TALLY_M(key)(b, infinity);
}

/* Values may lie at any address. */
TALLY_FN TALLY_M(bits) TALLY_M(load)(const char *p) {
    uint64_t bits = 0;
    if ((uint64_t)p % sizeof(TALLY_M(bits)) == 0) return *(const TALLY_M(bits) *)(const void *)p;
    TALLY_ROLLED
    for (int32_t b = TALLY_MERGE_BITS / 8 - 1; b >= 0; b--) bits = bits << 8 | *(const volatile uint8_t *)(p + b);
    return (TALLY_M(bits))bits;
}
TALLY_FN void TALLY_M(put)(char *p, TALLY_M(bits) bits) {
    if ((uint64_t)p % sizeof(TALLY_M(bits)) == 0) {
        *(TALLY_M(bits) *)(void *)p = bits;
        return;
    }
    TALLY_ROLLED
    for (int32_t b = 0; b < TALLY_MERGE_BITS / 8; b++)
        *(volatile uint8_t *)(p + b) = (uint8_t)((uint64_t)bits >> 8 * b);
}
TALLY_FN TALLY_M(bits) TALLY_M(value)(const tally_run *run, int64_t i) {
    return TALLY_M(load)(run->data + i * run->stride);
}

/* How many of the first `rank` values of two pieces in shared memory are from the first piece, by merge path. If the
 * pieces are not sorted, any possible number. */
TALLY_FN int32_t TALLY_M(path)(const TALLY_M(bits) * a, int32_t a_count, const TALLY_M(bits) * b, int32_t b_count,
                               int32_t rank, uint64_t infinity) {
    int32_t low = rank > b_count ? rank - b_count : 0, high = rank < a_count ? rank : a_count;
    while (low < high) {
        const int32_t middle = (low + high) / 2;
        if (TALLY_M(may_precede)(a[middle], b[rank - 1 - middle], infinity))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
