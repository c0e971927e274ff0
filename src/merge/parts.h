/* The order of a merge, as integers: of each value a key, and of all keys the parts in which a merge is simple. */
#ifndef TALLY_MERGE_PARTS_H
#define TALLY_MERGE_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "merge/merge.h"
#include "tally/tally.h"

/* A range of keys. Where they are all the same key, values follow one another in the order of the arrays (their bits
 * may differ: -0 and +0). Elsewhere equal keys are equal bits, and the order is that of the bits as a signed integer,
 * up or down: so numbers without a sign are two parts, and floats are negative (down) and others (up). Numbers of 8
 * bits are 256 parts, which spares a loop for each of them. */
typedef enum tally__merge_kind { TALLY_MERGE_UP, TALLY_MERGE_DOWN, TALLY_MERGE_EQUAL } tally__merge_kind;
typedef struct tally__merge_part {
    tally__merge_kind kind;
    int64_t first, last;      /* keys */
    uint64_t mask, low, high; /* TALLY_MERGE_EQUAL: bits & mask lie in low .. high */
} tally__merge_part;

enum { TALLY_MERGE_MOST_PARTS = 256 };

/* How the bits of values are read. */
typedef struct tally__merge_order {
    int width_log; /* bytes of a value: 1 << width_log */
    tally_merge_reading reading;
    int64_t infinity; /* the bits of a float infinity */
    int part_count;
} tally__merge_order;

/* False: values of the type have no order. total: IEEE 754 totalOrder of floats. */
bool tally__merge_order_of(tally_type type, bool total, tally__merge_order *order);

/* The bits with their sign in front. */
static inline int64_t tally__signed_bits(int width_log, const void *value) {
    int8_t b;
    int16_t h;
    int32_t w;
    int64_t d;
    switch (width_log) {
    case 0: memcpy(&b, value, 1); return b;
    case 1: memcpy(&h, value, 2); return h;
    case 2: memcpy(&w, value, 4); return w;
    default: memcpy(&d, value, 8); return d;
    }
}

/* All bits but the sign. */
static inline int64_t tally__magnitude_mask(int width_log) { return INT64_MAX >> (64 - (8 << width_log)); }

/* The key of the value at any address. */
static inline int64_t tally__merge_key(const tally__merge_order *order, const void *value) {
    const int64_t bits = tally__signed_bits(order->width_log, value), most = tally__magnitude_mask(order->width_log);
    switch (order->reading) {
    case TALLY_MERGE_BOOL: return bits != 0;
    case TALLY_MERGE_SIGNED: return bits;
    case TALLY_MERGE_UNSIGNED: return bits ^ (-most - 1); /* less half of the range, so that 64 bits hold it */
    case TALLY_MERGE_TOTAL: return bits ^ (bits >> 63 & most);
    default:
        if ((bits & most) == 0) return 0;
        return (bits & most) > order->infinity ? INT64_MAX : bits ^ (bits >> 63 & most);
    }
}

tally__merge_part tally__merge_part_at(const tally__merge_order *order, int number);

#endif
