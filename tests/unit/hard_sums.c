#include "hard_sums.h"

#include <string.h>

#include "float_ranges.h"

/* Segments of `kinds` lengths in turn. */
static ragged in_turn(const int64_t *lengths, int kinds, int64_t count) {
    ragged r = {.lengths = scratch(LENGTHS, (size_t)count * sizeof(int64_t))};
    while (r.count < count) r.values += r.lengths[r.count] = lengths[r.count % kinds], r.count++;
    return r;
}
/* Segments of some lengths in turn, whose values are full, with so many bits beyond, or narrow, so many binades apart,
 * or wide. */
typedef struct made_of {
    enum { FULL, NARROW, WIDE } what;
    int64_t much;
} made_of;
static void compare_lengths(const subject *s, const int64_t *lengths, int kinds, int64_t count, made_of of, int trial) {
    const ragged r = in_turn(lengths, kinds, count);
    const float_segments f = {s->type, r.lengths, r.count, trial,
                              scratch(X, (size_t)r.values * tally_type_size(s->type) + 1)};
    if (of.what == FULL)
        fill_full(&f, (int)of.much);
    else if (of.what == NARROW)
        fill_narrow(&f, of.much);
    else
        fill_wide(&f);
    set_scene(s, CANCELLATION, r.values);
    const problem p = pose_values(s, f.values, f.values, r);
    compare_device(&p, TALLY_OFFSETS, trial % 2 ? TALLY_I64 : TALLY_I32, trial);
}

/* Longer segments of a leaf in order, by quarters of a warp (shared/quarters.h). The values are of one size
 * and either sign: each addition rounds, so that the order shows. */
static void put_rounding(tally_type type, char *to, uint64_t *random) {
    const uint64_t sign = (uint64_t)random_below(random, 2), low = (uint64_t)random_below(random, (int64_t)1 << 52);
    const uint64_t f64 = sign << 63 | 0x3ff0000000000000u | low;
    const uint32_t f32 = (uint32_t)sign << 31 | 0x3f800000u | (uint32_t)(low >> 29);
    const uint16_t f16 = (uint16_t)(sign << 15 | 0x3c00u | low >> 42),
                   bf16 = (uint16_t)(sign << 15 | 0x3f80u | low >> 45);
    if (type == TALLY_F64) memcpy(to, &f64, 8);
    if (type == TALLY_F32) memcpy(to, &f32, 4);
    if (type == TALLY_F16) memcpy(to, &f16, 2);
    if (type == TALLY_BF16) memcpy(to, &bf16, 2);
}
void test_quarters(void **state) {
    static const int64_t lengths[][20] = {
        {65, 300, 66, 129, 511, 70, 127, 200, 1, 255, 512, 100, 333, 3, 130, 96, 77, 20, 68, 480},
        {3, 70, 2,    5, 2600, 9,  1, 4, 100, 2,
         3, 1,  1100, 8, 6,    90, 2, 1, 5,   66}}; /* the latter of several leaves, too */
    static const subject some[] = {
        {TALLY_SUM, TALLY_F32, 0, 0, TALLY_FAST},  {TALLY_SUM, TALLY_F64, 0, 0, TALLY_FAST},
        {TALLY_SUM, TALLY_BF16, 0, 0, TALLY_FAST}, {TALLY_SUM, TALLY_F16, 0, 0, TALLY_FAST},
        {TALLY_PROD, TALLY_F32, 0, 0, TALLY_FAST}, {TALLY_SUM, TALLY_F32, TALLY_NAN_SKIP, 0, TALLY_FAST}};
    enum { COUNT = 160, SOME = sizeof some / sizeof *some };
    uint64_t random = 5;
    (void)state;
    for (int trial = 0; trial < (quick ? 2 : 4) * SOME; trial++) {
        const subject *s = &some[trial % SOME];
        const int64_t *of = lengths[trial / SOME % 2];
        const size_t width = tally_type_size(s->type);
        ragged r = {.lengths = scratch(LENGTHS, COUNT * sizeof(int64_t))};
        while (r.count < COUNT)
            r.values += r.lengths[r.count] =
                of[(r.count + trial) % 20] + (trial >= 2 * SOME ? random_below(&random, 4) : 0),
                        r.count++;
        char *values = scratch(Y, (size_t)r.values * width);
        for (int64_t i = 0; i < r.values; i++) put_rounding(s->type, values + (size_t)i * width, &random);
        set_scene(s, ANY_BITS, r.values);
        const problem p = pose_values(s, values, values, r);
        compare_device(&p, TALLY_OFFSETS, TALLY_I32, trial);
    }
}

/* Sums that are no number, infinite or 0, of segments that threads, lanes and chunks take. */
void test_specials(void **state) {
    static const int64_t lengths[] = {1, 40, 1, 1, 0, 4, 20, 1, 3, 2, 1, 9, 1, 1, 1, 4, 33, 300, 1, 65, 2, 1, 3, 1};
    static const subject some[] = {{TALLY_SUM, TALLY_F32, 0, 0, TALLY_BEST},
                                   {TALLY_SUM, TALLY_F64, 0, 0, TALLY_BEST},
                                   {TALLY_MEAN, TALLY_F64, 0, 0, TALLY_BEST},
                                   {TALLY_NORM1, TALLY_F64, 0, 0, TALLY_BEST},
                                   {TALLY_SUM, TALLY_F64, TALLY_NAN_SKIP, 0, TALLY_BEST},
                                   {TALLY_SUMSQ, TALLY_F32, 0, 0, TALLY_BEST},
                                   {TALLY_VAR, TALLY_F32, 0, 1, TALLY_BEST},
                                   {TALLY_DOT, TALLY_F64, 0, 0, TALLY_BEST}};
    enum { SOME = sizeof some / sizeof *some };
    static const data_class classes[] = {SPECIALS, MINUS_ZEROS, MIXED_ZEROS, ANY_BITS};
    (void)state;
    for (int trial = 0; trial < (quick ? 2 : 4) * SOME; trial++) {
        const ragged r = in_turn(lengths, trial % 2 ? 24 : 17, 700);
        problem p = pose_segments(&some[trial % SOME], r, classes[trial / SOME]);
        compare_host(&p, TALLY_LENGTHS, TALLY_I32, trial);
        compare_device(&p, TALLY_OFFSETS, TALLY_I32, trial);
    }
}

/* Spreads of values that differ in their last bits, or in their lower halves. Pairs of doubles may tell nothing of
 * them. */
void test_near_values(void **state) {
    static const int64_t lengths[] = {2, 3, 2, 2, 1, 2, 4, 2, 7}, longer[] = {8, 16, 8, 12, 16, 32, 8, 16, 9};
    static const subject some[] = {
        {TALLY_STD, TALLY_F64, 0, 0, TALLY_BEST},   {TALLY_VAR, TALLY_F64, 0, 0, TALLY_BEST},
        {TALLY_STD, TALLY_F64, 0, 1, TALLY_BEST},   {TALLY_STD, TALLY_F32, 0, 0, TALLY_BEST},
        {TALLY_STATS, TALLY_F64, 0, 0, TALLY_BEST}, {TALLY_VAR, TALLY_F32, 0, 1, TALLY_BEST}};
    enum { COUNT = 900, SOME = sizeof some / sizeof *some };
    uint64_t random = 9;
    (void)state;
    for (int trial = 0; trial < 3 * SOME; trial++) {
        const subject *s = &some[trial % SOME];
        const size_t width = tally_type_size(s->type);
        const ragged r = in_turn(trial < SOME ? lengths : longer, 9, COUNT);
        const int64_t most = trial < 2 * SOME || s->type == TALLY_F32 ? 9 : (int64_t)1 << 30;
        char *values = scratch(Y, (size_t)r.values * width);
        for (int64_t i = 0, segment = 0; segment < COUNT; segment++) {
            uint64_t first = 0;
            put_rounding(s->type, (char *)&first, &random);
            for (int64_t end = i + r.lengths[segment]; i < end; i++) {
                const uint64_t bits =
                    first + (uint64_t)random_below(&random, most); /* so many units in the last place */
                memcpy(values + (size_t)i * width, &bits, width);
            }
        }
        set_scene(s, CANCELLATION, r.values);
        const problem p = pose_values(s, values, values, r);
        compare_device(&p, TALLY_OFFSETS, TALLY_I32, trial);
    }
}

/* The bits of 2^exponent, or of its negative. */
static uint64_t power_of_two(tally_type type, int exponent, int is_negative) {
    const int mantissa = type == TALLY_F64 ? 52 : type == TALLY_F32 ? 23 : type == TALLY_BF16 ? 7 : 10;
    const int bits = 8 * (int)tally_type_size(type), bias = (1 << (bits - mantissa - 2)) - 1;
    return (uint64_t)is_negative << (bits - 1) | (uint64_t)(exponent + bias) << mantissa;
}
/* Sums of powers of two of all sizes, most of which cancel: what is left may be less than pairs of doubles know of the
 * largest partial sums. */
void test_cancelling_powers(void **state) {
    static const int64_t lengths[] = {7, 5, 9, 3, 25, 7, 41, 5, 5, 131, 7, 13};
    static const subject some[] = {{TALLY_SUM, TALLY_BF16, 0, 0, TALLY_BEST},
                                   {TALLY_MEAN, TALLY_BF16, 0, 0, TALLY_BEST},
                                   {TALLY_SUM, TALLY_F16, 0, 0, TALLY_BEST},
                                   {TALLY_SUM, TALLY_F32, 0, 0, TALLY_BEST},
                                   {TALLY_MEAN, TALLY_F32, 0, 0, TALLY_BEST},
                                   {TALLY_SUM, TALLY_F64, 0, 0, TALLY_BEST},
                                   {TALLY_SUM, TALLY_BF16, TALLY_NAN_SKIP, 0, TALLY_BEST}};
    enum { COUNT = 600, SOME = sizeof some / sizeof *some };
    (void)state;
    for (int trial = 0; trial < SOME; trial++) {
        const subject *s = &some[trial];
        const size_t width = tally_type_size(s->type);
        const int most = s->type == TALLY_F64 ? 1000 : s->type == TALLY_F16 ? 14 : 120;
        const ragged r = in_turn(lengths, 12, COUNT);
        char *values = scratch(Y, (size_t)r.values * width);
        for (int64_t i = 0, segment = 0; segment < COUNT; segment++) { /* all odd: pairs around a value that stays */
            const int64_t n = r.lengths[segment], half = n / 2, middle = i + half;
            for (int64_t k = 0; k < n; k++, i++) {
                const int64_t apart = i < middle ? middle - i : i - middle;
                const int exponent =
                    i == middle ? 0 : (int)((uint64_t)(apart * 7919 + segment * 104729) % (uint64_t)most);
                const uint64_t bits = power_of_two(s->type, exponent, i > middle);
                memcpy(values + (size_t)i * width, &bits, width);
            }
        }
        set_scene(s, CANCELLATION, r.values);
        const problem p = pose_values(s, values, values, r);
        compare_device(&p, TALLY_OFFSETS, TALLY_I32, trial);
    }
}

void test_ranges(void **state) {
    static const int64_t lengths[] = {3, 4, 3, 40, 20, 8, 300, 65, 3, 33, 1500, 9},
                         powers[] = {64, 63, 16, 32, 33, 31, 8, 128};
    static const subject some[] = {{TALLY_SUM, TALLY_F32, 0, 0, TALLY_BEST},
                                   {TALLY_SUM, TALLY_F64, 0, 0, TALLY_BEST},
                                   {TALLY_NORM1, TALLY_F64, 0, 0, TALLY_BEST}};
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int trial = 0; trial < (quick ? 2 : 6); trial++)
            compare_lengths(&some[i], lengths, trial < 3 ? 12 : 3, 600, (made_of){WIDE, 0}, trial);
    for (int beyond = 0; beyond < 4; beyond++) {
        const subject lanes = {TALLY_SUM, TALLY_F64, TALLY_NAN_SKIP, 0, TALLY_BEST};
        compare_lengths(&lanes, powers, 8, 600, (made_of){FULL, beyond}, 0);
        compare_lengths(&some[1], powers, 8, 600, (made_of){FULL, beyond}, 0);
    }
}

/* Sums by chunks (chunks/chunks.h): as many boundaries as there is room for and more, lengths that one thread adds up
 * and those that it does not, spreads of values that it can and cannot do. */
void test_chunks(void **state) {
    static const int64_t boundaries[] = {3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 2, 40, 0, 3, 1, 60, 33, 29, 28, 27},
                         mixed[] = {30, 0, 0, 12, 195, 3, 196, 9, 56, 0, 112, 84, 17, 5, 0, 28};
    static const int64_t longs[] = {951, 5, 952, 7, 4, 3, 1024, 3, 0, 9, 11, 13, 6,  7, 5, 4, 10,
                                    40,  3, 30,  0, 7, 7, 4,    3, 8, 9, 16, 21, 28, 5, 5, 5, 7};
    static const int64_t giant[] = {40, 40, 40, 40, 40, 40, 40, 40, 40, 40, 40, 40, 40, 40, 40, 40,  40,
                                    40, 40, 40, 40, 40, 40, 40, 40, 40, 40, 40, 40, 40, 40, 40, 7300};
    static const int64_t by_leaves[] = {9000, 3, 20000, 1024, 7000}; /* two in a tile, at most */
    static const int64_t spreads[] = {3, 21, 24, 20, 22, 23, 12, 19}, of_f64[] = {3, 28, 32, 26, 27, 29, 40, 30};
    static const subject some[] = {
        {TALLY_SUM, TALLY_F32, 0, 0, TALLY_BEST},   {TALLY_MEAN, TALLY_F32, 0, 0, TALLY_BEST},
        {TALLY_NORM1, TALLY_F32, 0, 0, TALLY_BEST}, {TALLY_SUM, TALLY_F64, 0, 0, TALLY_BEST},
        {TALLY_MEAN, TALLY_F64, 0, 0, TALLY_BEST},  {TALLY_NORM1, TALLY_F64, 0, 0, TALLY_BEST}};
    (void)state;
    for (int trial = 0; trial < (quick ? 6 : 16); trial++) {
        const int k = trial / 2, is_f64 = trial % 2;
        const subject *s = &some[3 * is_f64 + (k % 4 == 3 ? 1 : k % 8 == 6 ? 2 : 0)];
        const int64_t spread = is_f64 ? of_f64[k] : spreads[k];
        compare_lengths(s, boundaries, 21, 1500, (made_of){NARROW, spread}, k);
        compare_lengths(s, mixed, 16, 700, (made_of){NARROW, spread}, k + 1);
        compare_lengths(s, longs, 34, 300, (made_of){NARROW, spread}, k + 2);
        compare_lengths(s, giant, 33, 70, (made_of){NARROW, spread}, k + 3);
        compare_lengths(s, by_leaves, 5, 5, (made_of){NARROW, spread}, k + 4);
    }
}

/* Partial results (chunks/partials.h): chunks with as many heads as there is room for and more, segments that one
 * thread combines and those that a warp does, ties and special values. */
void test_partials(void **state) {
    static const int64_t lengths[] = {1, 2, 1, 1, 3, 1, 1, 2, 1, 0, 1, 1,  1,   1, 28,  27, 29,  56, 0,  84, 14, 13, 15,
                                      3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 2, 40, 281, 7, 600, 5,  561, 9,  33, 0,  0,  0};
    static const subject some[] = {
        {TALLY_MAX, TALLY_F32, 0, 0, TALLY_BEST},     {TALLY_ARGMIN, TALLY_BF16, 0, 0, TALLY_BEST},
        {TALLY_SUM, TALLY_I32, 0, 0, TALLY_BEST},     {TALLY_ARGMAX, TALLY_F64, 0, 0, TALLY_BEST},
        {TALLY_COUNT, TALLY_U8, 0, 0, TALLY_BEST},    {TALLY_MINMAX, TALLY_F16, 0, 0, TALLY_BEST},
        {TALLY_MINMAX, TALLY_F64, 0, 0, TALLY_BEST},  {TALLY_NORM2, TALLY_I16, 0, 0, TALLY_BEST},
        {TALLY_MIN, TALLY_I8, 0, 0, TALLY_BEST},      {TALLY_ARGMAX, TALLY_F32, TALLY_NAN_TOTAL, 0, TALLY_BEST},
        {TALLY_MEAN, TALLY_I64, 0, 0, TALLY_BEST},    {TALLY_ARGMAX, TALLY_U8, 0, 0, TALLY_BEST},
        {TALLY_NORMINF, TALLY_F32, 0, 0, TALLY_BEST}, {TALLY_PROD, TALLY_I32, 0, 0, TALLY_BEST},
        {TALLY_VAR, TALLY_F32, 0, 1, TALLY_BEST},     {TALLY_SUMSQ, TALLY_F32, 0, 0, TALLY_BEST},
        {TALLY_STD, TALLY_F32, 0, 0, TALLY_BEST},     {TALLY_NORM2, TALLY_F32, 0, 0, TALLY_BEST},
        {TALLY_DOT, TALLY_F32, 0, 0, TALLY_BEST},     {TALLY_DOT, TALLY_I32, 0, 0, TALLY_BEST},
        {TALLY_DOT, TALLY_I16, 0, 0, TALLY_BEST},     {TALLY_DOT, TALLY_U8, 0, 0, TALLY_BEST}};
    enum { SOME = sizeof some / sizeof *some, LENGTHS_EACH = sizeof lengths / sizeof *lengths };
    static const data_class classes[] = {ANY_BITS, MIXED_ZEROS, SPECIALS};
    (void)state;
    for (int trial = 0; trial < (quick ? 1 : 3) * SOME; trial++) {
        const subject *s = &some[trial % SOME];
        const ragged r = in_turn(lengths, LENGTHS_EACH, tally_type_size(s->type) == 1 ? 1900 : 700);
        const problem p = pose_segments(s, r, classes[trial / SOME]);
        compare_host(&p, TALLY_LENGTHS, TALLY_I32, trial);
        compare_device(&p, TALLY_OFFSETS, trial % 2 ? TALLY_I64 : TALLY_I32, trial);
    }
}

/* Sums of squares that are a tie of f32 but for the last one, beside a segment whose values are larger by `binades`, in
 * the same chunk (chunks/measured_chunk.h); few long segments, and many short ones. */
void test_small_beside_large(void **state) {
    static const subject some[] = {{TALLY_SUMSQ, TALLY_F32, 0, 0, TALLY_BEST},
                                   {TALLY_VAR, TALLY_F32, 0, 0, TALLY_BEST}};
    static const int64_t shorts[] = {3, 9, 20, 3, 14, 3, 3, 30}, longs[] = {3, 1500, 90, 3, 400, 3, 2600, 700};
    static const int exponents[] = {0, -12, -27};
    (void)state;
    for (int trial = 0; trial < (quick ? 8 : 32); trial++) {
        const subject *s = &some[trial % 2];
        const int binades = 20 + trial / 4;
        const ragged r = in_turn(trial / 2 % 2 ? longs : shorts, 8, trial / 2 % 2 ? 80 : 2000);
        char *const values = scratch(Y, (size_t)r.values * 4);
        for (int64_t i = 0, segment = 0; segment < r.count; segment++)
            for (int64_t k = 0; k < r.lengths[segment]; k++, i++) {
                const int exponent = r.lengths[segment] == 3 ? exponents[k] - binades : (int)(k % 3);
                const uint32_t bits = (uint32_t)power_of_two(TALLY_F32, exponent, (int)(k & 1));
                memcpy(values + 4 * i, &bits, sizeof bits);
            }
        set_scene(s, TIES, r.values);
        const problem p = pose_values(s, values, values, r);
        compare_device(&p, TALLY_OFFSETS, TALLY_I32, trial);
    }
}

/* Products that cancel, but not before all of the first half are added up, and one among them of values that are
 * smaller by many binades: it is the result. Of short segments all products are -0. */
void test_cancelling_products(void **state) {
    static const int64_t lengths[] = {57, 61, 29, 3, 85, 31, 59, 33, 121, 1, 57, 0, 63};
    static const subject some[] = {{TALLY_DOT, TALLY_F32, 0, 0, TALLY_BEST},
                                   {TALLY_DOT, TALLY_BF16, 0, 0, TALLY_BEST},
                                   {TALLY_DOT, TALLY_F16, 0, 0, TALLY_BEST}};
    (void)state;
    for (int trial = 0; trial < (quick ? 9 : 36); trial++) {
        const subject *s = &some[trial % 3];
        const size_t width = tally_type_size(s->type);
        const ragged r = in_turn(lengths, 13, s->type == TALLY_F32 ? 400 : 800);
        const int binades = s->type == TALLY_F32 ? trial / 3 % 6 * 5 : 9 + trial / 3 % 6, rise = trial / 3 % 3 - 1;
        const uint64_t minus_zero = (uint64_t)1 << (8 * width - 1),
                       all = power_of_two(s->type, 1, 0) - power_of_two(s->type, 0, 0) - 1;
        char *const x = scratch(X, (size_t)r.values * width + 8), *const y = scratch(Y, (size_t)r.values * width + 8);
        for (int64_t i = 0, segment = 0; segment < r.count; segment++) {
            const int64_t n = r.lengths[segment], half = n / 2, begin = i,
                          small = n == 0 ? -1 : begin + (7 * segment + trial) % n;
            for (; i < begin + n; i++) {
                const int64_t k = i - begin - (i > small);
                const int exponent = half == 0 ? 0 : (int)(k % half % 5) * rise;
                const int is_negative = n > 3 && i != small && k >= half;
                const uint64_t one = n <= 3 ? minus_zero
                                            : power_of_two(s->type, i == small ? -binades : exponent, 0) | all,
                               other = power_of_two(s->type, i == small ? -binades : -2 * exponent, is_negative) |
                                       (i == small ? all / 3 : all);
                memcpy(x + (size_t)i * width, &one, width);
                memcpy(y + (size_t)i * width, &other, width);
            }
        }
        set_scene(s, CANCELLATION, r.values);
        const problem p = pose_values(s, x, y, r);
        compare_device(&p, TALLY_OFFSETS, TALLY_I32, trial % 5 == 4 ? trial : 4 * trial); /* most inputs lie alike */
    }
}
