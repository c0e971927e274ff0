/* Values that defeat fast paths of exact sums, by class. */
#ifndef TALLY_TESTS_SUMS_DATA_H
#define TALLY_TESTS_SUMS_DATA_H

#include <math.h>
#include <string.h>

#include "support.h"

enum { CLASSES = 23 };
static const char *const names[CLASSES] = {"uniform",
                                           "normal",
                                           "any bits",
                                           "subnormal",
                                           "60 binades",
                                           "minus zeros",
                                           "near the largest",
                                           "infinities",
                                           "200 binades",
                                           "powers of two",
                                           "mixed zeros",
                                           "outliers",
                                           "NaN among ones",
                                           "rare binades",
                                           "integers",
                                           "cancelling",
                                           "ties",
                                           "sparse",
                                           "smallest subnormals",
                                           "tiny",
                                           "ties and far below",
                                           "ties and farthest below",
                                           "nearly equal"};

static double from_parts(uint64_t sign_and_fraction, int exponent) {
    uint64_t bits = (sign_and_fraction & 0x800fffffffffffff) | (uint64_t)exponent << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* One value of a class; `binades` is how far the type's exponents reach. */
static double draw(int class, int64_t i, tally_type type, uint64_t *random) {
    uint64_t u = next_random(random);
    int low = type == TALLY_F64 ? 1 : type == TALLY_F16 ? 1023 - 24 : 1023 - 149;
    int high = type == TALLY_F64 ? 2046 : type == TALLY_F16 ? 1023 + 15 : 1023 + 127;
    double uniform = (double)(u >> 11) * 0x1p-53, sum = 0;
    int exponent;
    switch (class) {
    case 0: return uniform;
    case 1:
        for (int k = 0; k < 12; k++) sum += (double)(next_random(random) >> 11) * 0x1p-53;
        return sum - 6;
    case 2: return from_parts(u, low + (int)(next_random(random) % (uint64_t)(high - low + 1)));
    case 3: return type == TALLY_F64 ? from_parts(u, 0) : from_parts(u, low + (int)(next_random(random) % 10));
    case 4:
        return from_parts(u, 1023 + (type == TALLY_F16 ? (int)(next_random(random) % 20) - 10
                                                       : (int)(next_random(random) % 60) - 30));
    case 5: return -0.0;
    case 6: return from_parts(u, high);
    case 7: return u % 1000 == 0 ? INFINITY : u % 1000 == 1 ? -INFINITY : uniform;
    case 8:
        exponent = 1023 + (int)(next_random(random) % 200) - 100;
        return from_parts(u, exponent < low ? low : exponent > high ? high : exponent);
    case 9: return from_parts(u & 0x8000000000000000, 1023 - 10 + (int)(next_random(random) % 20));
    case 10: return u % 3 ? 0.0 : -0.0;
    case 11:
        return u % 500 == 0   ? from_parts(0, high - 10)
               : u % 500 == 1 ? from_parts(0x8000000000000000, high - 10)
                              : uniform * (type == TALLY_F64 ? 0x1p-60 : 1);
    case 12: return u % 4096 == 0 ? NAN : 1.0;
    case 13:
        return u % 300 == 0 ? from_parts(u, low + (int)(next_random(random) % (uint64_t)(high - low)))
                            : from_parts(u | 0xffffff, 1022);
    case 14: return (double)(int64_t)(u >> 40) - (1 << 23);
    case 15: return i % 2 ? -3.0 : (u % 7 ? 3.0 : 3.0 + uniform * 0x1p-20);
    case 16: return i == 0 ? 1.0 : u % 2 ? 0x1p-53 : 0x1p-24;
    case 17: return u % 10 ? 0.0 : uniform;
    case 18: /* of an f64 the upper half is 0 */
        if (type == TALLY_F64) return from_parts((u & 0x8000000000000000) | (u >> 20) % 5000, 0);
        return ldexp((double)((int)(u % 17) - 8), type == TALLY_F16 ? -24 : type == TALLY_BF16 ? -133 : -149);
    case 19: return ldexp(uniform, type == TALLY_F64 ? -700 : -60);
    case 20: { /* 1, half of its last digit, and values too far apart for one double to hold two: what decides */
        static const int far[] = {0, 0, 0, -24, -24, -53, -53, -130, -250, -370}, near[] = {0, 0, -1, -60, -75, -130};
        exponent = type == TALLY_F64   ? far[u % 10]
                   : type == TALLY_F16 ? -(int)(u % 24)
                                       : near[u % 6] + (u % 7 == 0) * -24;
        return from_parts(next_random(random) & 0x8000000000000000, 1023 + exponent);
    }
    case 21: { /* the same where products are out of reach, down to where they are too small beside each other */
        static const int far[] = {0,    0,    0,    -1,   -26,  -53,  -53,  -54,  -106,
                                  -465, -475, -481, -900, -943, -952, -965, -1300},
                         in_trial[] = {0, -53, -970, -1300};
        if (type != TALLY_F64) return draw(20, i, type, random);
        return from_parts(next_random(random) & 0x8000000000000000,
                          (i / 64 % 2 ? 2030 : 1400) + (u % 3 ? in_trial[i % 4] : far[u / 3 % 17]));
    }
    default: { /* they differ in their last bits: their spread is very small beside the sum of squares */
        const int digits = format_of(type)->digits, differ = (int)(i / 64 * 5 % 24) + 1;
        return 0x1.cf547bbbca351p+0 + ldexp((double)(u & (((uint64_t)1 << differ) - 1)), 1 - digits);
    }
    }
}

static double as_double(tally_type type, const void *values, int64_t i) { return (double)number_at(type, values, i); }

#endif
