/* The pair of doubles that counts of levels make (kernels/sums/counts.h), against sums bit by bit. */
#include <math.h>

#include "sums/counts.h"
#include "support.h"

/* Some number of up to so many bits, often with few that are set. */
static int64_t draw_count(uint64_t *random, int bits) {
    const int drop = 64 - (int)random_below(random, bits);
    uint64_t size = drop == 64 ? 0 : next_random(random) >> drop;
    if (random_below(random, 2) == 0) size &= next_random(random) & next_random(random);
    return random_below(random, 2) == 0 ? (int64_t)size : -(int64_t)size;
}

enum { BITS = 320 };
/* A whole number in two's complement, a bit in each byte. */
typedef struct bits_t {
    unsigned char at[BITS];
} bits_t;
static void add_count(bits_t *a, int64_t count, int unit) {
    int carry = 0;
    for (int i = unit; i < BITS; i++) {
        const int place = i - unit < 63 ? i - unit : 63, sum = a->at[i] + (int)(count >> place & 1) + carry;
        a->at[i] = sum & 1;
        carry = sum >> 1;
    }
}
/* The leading 106 bits of a sum, the last odd if more is left, in units of 2^(length - 106). */
static tally_i128 leading_bits(bits_t a, int is_sticky, int *length) {
    const bool is_negative = a.at[BITS - 1];
    tally_i128 lead = 0;
    *length = BITS;
    if (is_negative) {
        for (int i = 0; i < BITS; i++) a.at[i] ^= 1;
        if (!is_sticky) add_count(&a, 1, 0);
    }
    while (*length > 0 && !a.at[*length - 1]) --*length;
    for (int i = *length - 1; i >= *length - 106; i--) lead = 2 * lead + (i >= 0 && a.at[i]);
    for (int i = *length - 107; i >= 0; i--) is_sticky |= a.at[i];
    if (*length > 0 && lead % 2 == 0) lead += is_sticky;
    return is_negative ? -lead : lead;
}

static void test_pairs(void **state) {
    static const int32_t units[] = {144, 96, 48, 0};
    const int64_t trials = quick ? 20000 : 200000;
    uint64_t random = seed;
    (void)state;
    for (int64_t trial = 0; trial < trials; trial++) {
        const int levels = 3 + (int)(trial & 1), is_sticky = (int)random_below(&random, 2);
        const int64_t more = draw_count(&random, 12);
        const int32_t base = (int32_t)random_below(&random, 400) - 200;
        int64_t counts[8] = {0};
        bits_t sum = {{0}};
        int length;
        add_count(&sum, more, 0);
        for (int k = 0; k < levels; k++) {
            counts[2 * k] = draw_count(&random, k == 0 ? 58 : 62);
            add_count(&sum, counts[2 * k], units[4 - levels + k]);
        }
        const tally_i128 wanted = leading_bits(sum, is_sticky, &length);
        const tally_pair got = tally_pair_of_counts(counts, 2, units + 4 - levels, levels, more, is_sticky, base);
        const tally_i128 high = (tally_i128)ldexp(got.high, 106 - length - base),
                         low = (tally_i128)ldexp(got.low, 106 - length - base);
        now.segment = trial;
        EXPECT(high + low == wanted && got.high + got.low == got.high, "%d levels, sticky %d: %a + %a", levels,
               is_sticky, got.high, got.low);
    }
}

int main(int argc, char **argv) {
    const int skipped = begin_program(argc, argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pairs)};
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
