/* Moving values: strided input side by side, natural results to the type and place the caller asked for. */
#include <string.h>

#include "internal.h"
#include "lib/half.h"

static void gather_one(const char *from, int64_t stride, size_t bytes, int64_t n, char *to) {
#define TALLY_GATHER(size) \
    case size: \
        for (int64_t i = 0; i < n; i++) memcpy(to + i * (size), from + i * stride, size); \
        return;
    switch (bytes) {
        TALLY_GATHER(1) TALLY_GATHER(2) TALLY_GATHER(4) TALLY_GATHER(8)
    default:
        for (int64_t i = 0; i < n; i++) memcpy(to + (size_t)i * bytes, from + i * stride, bytes);
    }
#undef TALLY_GATHER
}

void tally__gather(const tally__spec *spec, const tally__input *in, int64_t begin, int64_t n, void *x, void *y) {
    size_t bytes = spec->kernel->value_bytes;
    if (n == 0) return;
    gather_one(in->x + begin * in->x_stride, in->x_stride, bytes, n, x);
    if (spec->inputs == 2) gather_one(in->y + begin * in->y_stride, in->y_stride, bytes, n, y);
}

/* A number between types: exactly one of the three is meant. */
typedef struct number {
    enum { SIGNED, UNSIGNED, REAL } kind;
    int64_t i;
    uint64_t u;
    double f;
} number;

static number read_number(tally_type type, const char *from) {
    number n = {SIGNED, 0, 0, 0};
    uint16_t half;
    float single;
    switch (type) {
#define TALLY_READ(TYPE, ctype, member, what) \
    case TALLY_##TYPE: {                      \
        ctype value;                          \
        memcpy(&value, from, sizeof value);   \
        n.kind = what;                        \
        n.member = value;                     \
        return n;                             \
    }
        TALLY_READ(BOOL, uint8_t, u, UNSIGNED)
        TALLY_READ(I8, int8_t, i, SIGNED)
        TALLY_READ(I16, int16_t, i, SIGNED)
        TALLY_READ(I32, int32_t, i, SIGNED)
        TALLY_READ(I64, int64_t, i, SIGNED)
        TALLY_READ(U8, uint8_t, u, UNSIGNED)
        TALLY_READ(U16, uint16_t, u, UNSIGNED)
        TALLY_READ(U32, uint32_t, u, UNSIGNED)
        TALLY_READ(U64, uint64_t, u, UNSIGNED)
        TALLY_READ(F64, double, f, REAL)
#undef TALLY_READ
    case TALLY_F32: memcpy(&single, from, sizeof single); n.f = (double)single; break;
    case TALLY_F16: memcpy(&half, from, sizeof half); n.f = (double)tally_f16_to_f32(half); break;
    default: memcpy(&half, from, sizeof half); n.f = (double)tally_bf16_to_f32(half); break;
    }
    n.kind = REAL;
    return n;
}

/* An integer as an f64 that rounds to any narrower float as the integer itself would: bits that do not fit are kept as one
 * sticky bit at the end. */
static double sticky_real(uint64_t magnitude, bool negative) {
    double scale = 1;
    if (magnitude >> 53 != 0) {
        magnitude = magnitude >> 11 | ((magnitude & 0x7ff) != 0);
        scale = 2048;
    }
    return (negative ? -(double)magnitude : (double)magnitude) * scale;
}

/* Writes the number clamped to low .. high; returns whether it had to be changed. */
static bool clamp(number n, int64_t low, uint64_t high, int64_t *i, uint64_t *u) {
    bool negative = false, changed = false;
    uint64_t magnitude = n.u;
    if (n.kind == SIGNED) {
        negative = n.i < 0;
        magnitude = negative ? 0 - (uint64_t)n.i : (uint64_t)n.i;
    } else if (n.kind == REAL) {
        double whole = __builtin_rint(n.f);
        negative = whole < 0;
        changed = !(whole == n.f);
        if (n.f != n.f)
            magnitude = 0;
        else if (whole >= 0x1p64 || whole <= -0x1p64) {
            magnitude = UINT64_MAX;
            changed = true;
        } else
            magnitude = (uint64_t)(negative ? -whole : whole);
    }
    if (!negative && magnitude > high) {
        magnitude = high;
        changed = true;
    }
    if (negative && magnitude > 0 - (uint64_t)low) {
        magnitude = 0 - (uint64_t)low;
        changed = true;
    }
    *u = magnitude;
    *i = (int64_t)(negative ? 0 - magnitude : magnitude);
    return changed;
}

static bool write_number(tally_type type, number n, char *to) {
    bool changed = false;
    int64_t i = 0;
    uint64_t u = 0;
    double real = n.f;
    float single;
    uint16_t half;
    if (n.kind == SIGNED) real = sticky_real(n.i < 0 ? 0 - (uint64_t)n.i : (uint64_t)n.i, n.i < 0);
    if (n.kind == UNSIGNED) real = sticky_real(n.u, false);
    switch (type) {
#define TALLY_WRITE(TYPE, ctype, low, high, member) \
    case TALLY_##TYPE: {                            \
        ctype value;                                \
        changed = clamp(n, low, high, &i, &u);      \
        value = (ctype)member;                      \
        memcpy(to, &value, sizeof value);           \
        return changed;                             \
    }
        TALLY_WRITE(BOOL, uint8_t, 0, 1, u)
        TALLY_WRITE(I8, int8_t, INT8_MIN, INT8_MAX, i)
        TALLY_WRITE(I16, int16_t, INT16_MIN, INT16_MAX, i)
        TALLY_WRITE(I32, int32_t, INT32_MIN, INT32_MAX, i)
        TALLY_WRITE(I64, int64_t, INT64_MIN, INT64_MAX, i)
        TALLY_WRITE(U8, uint8_t, 0, UINT8_MAX, u)
        TALLY_WRITE(U16, uint16_t, 0, UINT16_MAX, u)
        TALLY_WRITE(U32, uint32_t, 0, UINT32_MAX, u)
        TALLY_WRITE(U64, uint64_t, 0, UINT64_MAX, u)
#undef TALLY_WRITE
    case TALLY_F64:
        /* The sticky bit is below an f64's last: the integer itself is rounded. */
        if (n.kind == SIGNED) real = (double)n.i;
        if (n.kind == UNSIGNED) real = (double)n.u;
        memcpy(to, &real, sizeof real);
        return false;
    case TALLY_F32: single = (float)real; memcpy(to, &single, sizeof single); return false;
    case TALLY_F16: half = tally_f64_to_f16(real); memcpy(to, &half, sizeof half); return false;
    default: half = tally_f64_to_bf16(real); memcpy(to, &half, sizeof half); return false;
    }
}

int tally__store(const tally__spec *spec, const tally__sink *sink, int64_t first, int64_t count, const void *results) {
    const char *from = results;
    size_t bytes = spec->result_bytes;
    bool changed = false;
    for (int64_t s = 0; s < count; s++) {
        char *to = sink->data + (first + s) * sink->stride;
        if (sink->type == spec->result_type) {
            memcpy(to, from + (size_t)s * bytes, bytes);
            continue;
        }
        for (int c = 0; c < spec->components; c++)
            changed |= write_number(sink->type,
                                    read_number(spec->result_type, from + (size_t)s * bytes +
                                                                       (size_t)c * tally_type_size(spec->result_type)),
                                    to + (size_t)c * tally_type_size(sink->type));
    }
    return changed ? TALLY_SAW_UNFIT : 0;
}
