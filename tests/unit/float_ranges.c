/* float_ranges.h says what of. */
#include "float_ranges.h"

#include <math.h>
#include <string.h>

static int digits_of(const float_segments *f) { return f->type == TALLY_F64 ? 53 : 24; }

static void put(const float_segments *f, int64_t i, double value) {
    static const int scales[] = {0, 40, -960, 1020};
    const double wide = ldexp(value, scales[f->trial % 4]);
    const float narrow = (float)value;
    memcpy(f->values + (size_t)i * tally_type_size(f->type), f->type == TALLY_F64 ? (const void *)&wide : &narrow,
           tally_type_size(f->type));
}

/* 2^(digits - 1) + 1 + 2 k last bits of numbers `binades` below 1. */
static double with_last_bit(int digits, int64_t binades, int64_t k) {
    return ldexp(ldexp(1.0, digits - 1) + (double)(1 + 2 * k), (int)(1 - digits - binades));
}

void fill_wide(const float_segments *f) {
    const int is_f64 = f->type == TALLY_F64;
    int64_t first = 0;
    for (int64_t s = 0; s < f->count; first += f->lengths[s++]) {
        const int64_t n = f->lengths[s], few = is_f64 ? 45 : 30, many = is_f64 ? 160 : 90;
        const int64_t apart = (is_f64 ? 10 : 15) + (s + f->trial) % (s % 2 ? few : many);
        for (int64_t i = 0; i < n; i++) put(f, first + i, with_last_bit(digits_of(f), apart, i % 7));
        if (n > 2) put(f, first, 1.5), put(f, first + n - 1, -1.5);
        if (n > 64) put(f, first + 1, 0x1.8p-50), put(f, first + n - 2, -0x1.8p-50);
    }
}

void fill_narrow(const float_segments *f, int64_t binades) {
    int64_t first = 0;
    for (int64_t s = 0; s < f->count; first += f->lengths[s++]) {
        const int64_t n = f->lengths[s];
        for (int64_t i = 0; i < n; i++) {
            const int64_t mirrored = n - 1 - i, place = i < mirrored ? i : mirrored;
            const double near_one = 1.0 + ldexp((double)(1 + (s + place) % 1000), 1 - digits_of(f));
            double value = i < mirrored ? near_one : -near_one;
            if (s % 11 == 3 || s % 11 == 7)
                value = s % 11 == 7 && i % 3 == 1 ? 0.0 : -0.0;
            else if (i % 4 == 1 || mirrored % 4 == 1 || i == mirrored)
                value = i == 1 || n < 3 ? with_last_bit(digits_of(f), binades, s % 7) : 0.0;
            put(f, first + i, value);
        }
    }
}

/* The sign of value i of n, of segment s, which begins at `first`. */
static int sign_of(int64_t s, int64_t first, int64_t i, int64_t n) {
    const int is_above = s % 2 ? i <= (n - 1) / 2 : ((first + i) / 2 - first / 2) % 2 == 0;
    return is_above ? 1 : -1;
}

void fill_full(const float_segments *f, int beyond) {
    int64_t first = 0;
    for (int64_t s = 0; s < f->count; first += f->lengths[s++]) {
        const int64_t n = f->lengths[s];
        int log2_n = 2, more = 0; /* more of those above 0 than of the others */
        while ((int64_t)1 << log2_n < n) log2_n++;
        const int last = 1 + log2_n - 53;
        const double one = 1 + ldexp(1, last - 1) - ldexp(1, -52);
        for (int64_t i = 1; i < n; i++) more += sign_of(s, first, i, n);
        for (int64_t i = 1; i < n; i++) {
            const int sign = sign_of(s, first, i, n), is_spare = more * sign > 0;
            put(f, first + i, is_spare ? 0 : sign * one);
            if (is_spare) more -= sign;
        }
        put(f, first, ldexp(ldexp(1, 52) + 1, last - 1 + log2_n - 53 - beyond));
    }
}
