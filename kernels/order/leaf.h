/* How one warp reads one leaf (docs/order.md), for the type of types/types.h: 8 stripes of 512 bytes, 16 bytes of each
 * for each lane. So lane l has columns l * TALLY_PART to l * TALLY_PART + TALLY_PART - 1, and the leaf is in
 * registers. */
#ifndef TALLY_LEAF_H
#define TALLY_LEAF_H

#include "types/types.h"
#include "device/device.h"

#ifndef TALLY_LEAF_SHARED_H
#define TALLY_LEAF_SHARED_H
#define TALLY_DEVICE_STRIPES 8
#define TALLY_STRIPE_BYTES 512
#define TALLY_DEVICE_SMALL 64 /* a leaf of at most 64 values has few columns: */
#define TALLY_DEVICE_SMALL_COLUMNS 8

/* Shared memory for values that cannot be read 16 bytes at a time: each warp has one stripe in it. */
typedef struct tally_stage {
    tally_quad quads[TALLY_WARPS][TALLY_WARP];
} tally_stage;

/* An input, and how it lies. */
typedef struct tally_source {
    const char *values;
    int64_t stride;
    int32_t is_packed;  /* values lie side by side, the first at a multiple of 16 bytes */
    int32_t is_aligned; /* each value is aligned to its size; a struct, to the lowest bit of its size */
} tally_source;
TALLY_FN tally_source tally_source_of(const char *values, int64_t stride, int32_t bytes) {
    tally_source s;
    s.values = values;
    s.stride = stride;
    s.is_packed = stride == bytes && (uint64_t)values % 16 == 0;
    s.is_aligned = (((uint64_t)values | (uint64_t)stride) & (uint64_t)((bytes & -bytes) - 1)) == 0;
    return s;
}
#endif

/* The bytes that a value counts as: a struct's size is rounded up to a power of two. */
#define TALLY_SLOT           \
    (TALLY_BYTES > 32   ? 64 \
     : TALLY_BYTES > 16 ? 32 \
     : TALLY_BYTES > 8  ? 16 \
     : TALLY_BYTES > 4  ? 8  \
     : TALLY_BYTES > 2  ? 4  \
                        : TALLY_BYTES)
#define TALLY_PART (TALLY_SLOT > 16 ? 1 : 16 / TALLY_SLOT)
#define TALLY_DEVICE_COLUMNS (TALLY_STRIPE_BYTES / TALLY_SLOT)
#define TALLY_DEVICE_LEAF (TALLY_DEVICE_STRIPES * TALLY_DEVICE_COLUMNS)
#if TALLY_BYTES == TALLY_SLOT && TALLY_BYTES <= 16
/* A lane's part of a stripe. */
typedef struct part_t {
    TALLY_T v[TALLY_PART];
} part_t;

/* Value v of a part. Narrow types by shifts: a GPU's compiler makes one instruction of them, and several of bytes in
 * memory. */
TALLY_FN TALLY_T value_of_part(const tally_quad *quad, int32_t v) {
    TALLY_T value;
#if TALLY_BYTES <= 2 && !TALLY_IS_STRUCTURE
    const TALLY_B bits = (TALLY_B)(quad->w[v * TALLY_BYTES / 4] >> 8 * (v * TALLY_BYTES % 4));
    __builtin_memcpy(&value, &bits, sizeof value);
#else
    __builtin_memcpy(&value, (const char *)quad + v * TALLY_BYTES, sizeof value);
#endif
    return value;
}

/* A lane's share of a leaf. */
typedef struct share_t {
    part_t part[TALLY_DEVICE_STRIPES];
} share_t;
#endif

#if TALLY_IS_STRUCTURE
TALLY_FN TALLY_T read_at(const tally_source *from, const char *p) {
    TALLY_T value;
    uint8_t bytes[TALLY_BYTES];
    if (from->is_aligned) return *(const TALLY_T *)(const void *)p;
    for (int32_t b = 0; b < TALLY_BYTES; b++) bytes[b] = *(const volatile uint8_t *)(p + b);
    __builtin_memcpy(&value, bytes, sizeof value);
    return value;
}
#else
TALLY_FN TALLY_T read_at(const tally_source *from, const char *p) {
    TALLY_T value;
    TALLY_B bits = 0;
    if (from->is_aligned) return *(const TALLY_T *)(const void *)p;
    /* Byte by byte, in a way that the compiler does not see through: it would turn a memcpy to a value into an aligned
     * load. */
    for (int32_t b = TALLY_BYTES - 1; b >= 0; b--)
        bits = (TALLY_B)((uint64_t)bits << 8 | *(const volatile uint8_t *)(p + b));
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}
#endif
TALLY_FN TALLY_T read_one(const tally_source *from, int64_t i) {
    return read_at(from, from->values + i * from->stride);
}

#if TALLY_BYTES == TALLY_SLOT && TALLY_BYTES <= 16

/* Reads the lane's part of stripe s of a packed leaf. */
TALLY_FN part_t read_part(const char *values, int64_t at, int32_t s) {
    tally_quad quad = tally_load16(values + at * TALLY_BYTES + 16 * tally_lane() + s * TALLY_STRIPE_BYTES);
    part_t part;
    __builtin_memcpy(&part, &quad, sizeof part);
    return part;
}

#if !TALLY_IS_STRUCTURE
/* The same for a leaf of n values; values beyond them are 0. */
TALLY_FN part_t read_part_of(const tally_source *from, int64_t at, int32_t s, int64_t n) {
    const int64_t row = (int64_t)s * TALLY_DEVICE_COLUMNS + tally_lane() * TALLY_PART;
    const TALLY_T *values = (const TALLY_T *)(const void *)from->values;
    part_t part;
    if (row + TALLY_PART <= n) return read_part(from->values, at, s);
    for (int32_t v = 0; v < TALLY_PART; v++) part.v[v] = row + v < n ? values[at + row + v] : (TALLY_T)0;
    return part;
}
#endif

/* Reads a whole leaf of packed values: 16 bytes from each of 8 stripes, with all loads in flight at once. */
TALLY_FN share_t read_leaf(const char *values, int64_t at) {
    const char *p = values + at * TALLY_BYTES + 16 * tally_lane();
    tally_quad quads[TALLY_DEVICE_STRIPES];
    share_t share;
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) quads[s] = tally_load16(p + s * TALLY_STRIPE_BYTES);
    TALLY_UNROLL
    for (int32_t s = 0; s < TALLY_DEVICE_STRIPES; s++) __builtin_memcpy(&share.part[s], &quads[s], 16);
    return share;
}

#if !TALLY_IS_STRUCTURE
/* Reads `count` stripes, a constant, from stripe `first` on of a leaf of n values: whole parts, all of them in flight
 * at once, and the values behind the last of them, one by one. What lies behind those stays undefined. */
TALLY_FN void read_whole_parts(const char *values, int64_t at, int32_t first, const int32_t count, int32_t n,
                               part_t *parts) {
    const char *p = values + at * TALLY_BYTES + 16 * tally_lane();
    const int32_t mine = tally_lane() * TALLY_PART, rest = n % TALLY_PART;
    tally_quad quads[TALLY_DEVICE_STRIPES];
    TALLY_UNROLL
    for (int32_t k = 0; k < count; k++) {
        const int32_t s = first + k;
        if (s * TALLY_DEVICE_COLUMNS + mine + TALLY_PART <= n) quads[k] = tally_load16(p + s * TALLY_STRIPE_BYTES);
    }
    TALLY_UNROLL
    for (int32_t k = 0; k < count; k++) __builtin_memcpy(&parts[k], &quads[k], 16);
    if (rest == 0) return;
    tally_warp_barrier(); /* or the compiler would make what follows without a branch */
    const TALLY_T *const last = (const TALLY_T *)(const void *)values + at + n - rest;
    TALLY_UNROLL
    for (int32_t k = 0; k < count; k++) {
        if ((first + k) * TALLY_DEVICE_COLUMNS + mine != n - rest) continue;
        TALLY_UNROLL
        for (int32_t v = 0; v < TALLY_PART - 1; v++)
            if (v < rest) parts[k].v[v] = last[v];
    }
}
/* Reads a stripe of any other leaf, value by value: `count` values from value `at` on (none if negative); values beyond
 * them are 0. */
TALLY_FN part_t read_stripe(const tally_source *from, int64_t at, int64_t count, tally_stage *stage) {
    TALLY_T *row = (TALLY_T *)(void *)stage->quads[tally_warp()];
    part_t part;
    tally_warp_barrier();
    for (int32_t i = tally_lane(); i < TALLY_DEVICE_COLUMNS; i += TALLY_WARP)
        row[i] = i < count ? read_one(from, at + i) : (TALLY_T)0;
    tally_warp_barrier();
    __builtin_memcpy(&part, &stage->quads[tally_warp()][tally_lane()], 16);
    return part;
}
#endif
#endif

/* The place within the leaf of value v of this lane's part of stripe s. */
TALLY_FN int32_t place_in_leaf(int32_t s, int32_t v) {
    return s * TALLY_DEVICE_COLUMNS + tally_lane() * TALLY_PART + v;
}

#endif
