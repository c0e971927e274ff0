/* How segments are shared out to tiles: Merrill and Garland's merge path ("Merge-based parallel sparse matrix-vector
 * multiplication", 2016), counted in bytes, with the boundaries of tiles moved to leaves.
 *
 * The position of a segment is the bytes of all values before it, plus `end_weight` for each segment before it: the
 * bytes of an offset, or more where a segment costs more (production/segments/exact_tiles.h, flat.h). The diagonals of
 * tiles are equally many positions apart, so values and empty segments are shared alike. A tile's boundary is where a
 * segment begins, if one does in the TALLY_BOUNDARY_SLACK bytes before the diagonal. Otherwise it is the first leaf of
 * the segment over the diagonal that begins at the diagonal or behind it.
 *
 * A tile owns the segments that begin between its boundaries and reads the values between them. Neighbours read the
 * same boundary from memory. So each value is read by one tile, and each leaf lies in one. */
#ifndef TALLY_PARTITION_H
#define TALLY_PARTITION_H

#include "device/device.h"
#include "device/idle.h"
#include "device/lanes.h"
#include "partition/row_begins.h"
#include "device/wrapping.h"

enum {
    TALLY_TILE_BYTES = 28 << 10, /* three blocks of two buffers each fit a multiprocessor of sm_90 */
    TALLY_BOUNDARY_SLACK =
        1024,            /* bytes before its diagonal where a tile's boundary may be, if a segment begins there */
    TALLY_END_BYTES = 4, /* bytes of an end marker, at least */
    TALLY_EXACT_END_BYTES = 128,  /* of exact_tiles.h: a segment takes as long as so many bytes of values */
    TALLY_LEAF_BYTES_EACH = 4096, /* bytes of a leaf, of each input */
    TALLY_BOUNDARIES_BLOCK = 256, /* boundaries, lengths, and segment ids with offsets that a block takes */
    TALLY_LENGTHS_BLOCK = 16384,
    TALLY_OFFSETS_BLOCK = 4096, /* offsets that a block checks for a plan */
    TALLY_SEGMENT_IDS_BLOCK = 65536,
    TALLY_SPAN_TILES =
        8 /* tiles whose spans a warp looks after: of one long segment a group of leaves begins in every 8th of f32 */
};
/* The most bytes of values and ends in a tile of this many inputs, and of the buffer that holds them in shared memory,
 * where each array begins and ends at a multiple of 16. A block has TALLY_MOST_BUFFERS of them, to copy one tile
 * while it reduces another, or 1 where shared memory has no more. */
#define TALLY_TILE_MOST(inputs) (TALLY_BOUNDARY_SLACK + TALLY_TILE_BYTES + (inputs)*TALLY_LEAF_BYTES_EACH)
#define TALLY_LINE_BYTES 128  /* buffers begin at multiples of it, and values lie as far behind one as in memory */
#define TALLY_CHUNK_BYTES 112 /* bytes of values that a thread folds at once, at most (chunks/chunk_places.h) */
#define TALLY_TILE_BUFFER(inputs)                                                                        \
    ((TALLY_TILE_MOST(inputs) + 32 * ((inputs) + 2) + 2 * TALLY_END_BYTES + (inputs)*TALLY_CHUNK_BYTES + \
      (TALLY_LINE_BYTES - 16) + TALLY_LINE_BYTES - 1) /                                                  \
     TALLY_LINE_BYTES * TALLY_LINE_BYTES)
enum {
    TALLY_MOST_BUFFERS = 2,
    TALLY_CONSUMER_WARPS = 8, /* warps of a block that reduce tiles; one more warp brings them */
    TALLY_CONSUMERS = TALLY_CONSUMER_WARPS * TALLY_WARP,
    TALLY_SEGMENTS_BLOCK = TALLY_CONSUMERS + TALLY_WARP,
    TALLY_FLAT_WARPS = 4, /* warps of a block of production/segments/flat.h, exact_tiles.h, left_rows.h */
    TALLY_FLAT_THREADS = TALLY_FLAT_WARPS * TALLY_WARP
};

/* Sets one bit of a word in memory; bit i of many words. */
TALLY_FN void tally_set_bit(uint32_t *word, int32_t bit) {
    tally_or32((int32_t *)(void *)word, (int32_t)((uint32_t)1 << bit));
}
TALLY_FN void tally_mark(uint32_t *marks, int64_t i) { tally_set_bit(marks + i / 32, (int32_t)(i % 32)); }
/* Sets flags in memory. Looks first, which spares most of the atomic operations. */
TALLY_FN void tally_raise_flags(int32_t *to, int32_t flags) {
    if (flags != 0 && (flags & ~tally_look32(to)) != 0) tally_or32(to, flags);
}
/* Entry i of an index of 4 or 8 bytes each, at any address. */
TALLY_FN int64_t tally_entry(const char *index, int32_t bytes, int64_t i) {
    const char *p = index + i * bytes;
    uint64_t bits = 0;
    if (((uint64_t)p & (uint64_t)(bytes - 1)) == 0)
        return bytes == 4 ? (int64_t) * (const int32_t *)(const void *)p : *(const int64_t *)(const void *)p;
    TALLY_ROLLED
    for (int32_t b = bytes - 1; b >= 0; b--) bits = bits << 8 | *(const volatile uint8_t *)(p + b);
    return bytes == 4 ? (int64_t)(int32_t)bits : (int64_t)bits;
}
TALLY_FN int64_t tally_offset(const tally_partition *partition, int64_t s) {
    return partition->offsets != 0 ? tally_entry(partition->offsets, partition->offset_bytes, s) : s * partition->row;
}
TALLY_FN int64_t tally_segment_id(const tally_partition *partition, int64_t i) {
    return tally_entry(partition->index, partition->index_bytes, i);
}

/* Bytes of memory that are wanted in shared memory, as far from a multiple of 16 there as here. */
typedef struct tally_piece {
    const char *memory;
    int64_t all, at;       /* bytes of the whole memory, and bytes before the piece */
    int32_t bytes, buffer; /* how many bytes; where in shared memory the 16 bytes begin in which the first one lies */
} tally_piece;
TALLY_FN int32_t tally_skew(const tally_piece *p) { return (int32_t)((uint64_t)(p->memory + p->at) % 16); }
TALLY_FN int32_t tally_padded_bytes(const tally_piece *p) { return (tally_skew(p) + p->bytes + 15) / 16 * 16; }
/* Whether the whole 16 bytes around both ends belong to the memory. */
TALLY_FN int32_t tally_is_inside(const tally_piece *p) {
    return p->at >= tally_skew(p) && p->all - p->at >= tally_padded_bytes(p) - tally_skew(p);
}

/* Begins to copy the piece by all `threads` of the block, 16 bytes at a time where they are the memory's, else `unit`,
 * a power of two that all addresses are multiples of. `unit` and `threads` are constants. */
TALLY_FN void tally_copy_piece(const tally_piece *p, char *shared, const int32_t unit, const int32_t threads) {
    const char *begin = p->memory + p->at;
    const int32_t skew = tally_skew(p), until = skew + p->bytes;
    TALLY_ROLLED
    for (int32_t b = 16 * tally_thread(); b < until; b += 16 * threads) {
        char *to = shared + p->buffer;
        if (p->at >= skew - b && p->all - p->at >= b + 16 - skew) {
            tally_copy16(to + b, begin + (b - skew));
            continue;
        }
        TALLY_ROLLED
        for (int32_t k = b < skew ? skew : b; k < b + 16 && k < until; k += unit) {
            const char *from = begin + (k - skew);
            if (unit == 1) *(uint8_t *)(to + k) = *(const uint8_t *)from;
            if (unit == 2) *(uint16_t *)(void *)(to + k) = *(const uint16_t *)(const void *)from;
            if (unit == 4) *(uint32_t *)(void *)(to + k) = *(const uint32_t *)(const void *)from;
            if (unit == 8) *(uint64_t *)(void *)(to + k) = *(const uint64_t *)(const void *)from;
        }
    }
}

/* A place in a tile in 32 bits. Far behind the tile it is the largest number; before the tile it is negative, -1 just
 * before. */
TALLY_FN int32_t tally_place_of(int64_t at) { return at < -1 ? -2 : at > INT32_MAX ? INT32_MAX : (int32_t)at; }

/* The position of segment s, which begins at value `begin`; `origin` is offset 0. If segments are invalid, it is any
 * number. */
TALLY_FN int64_t tally_position(const tally_partition *partition, int64_t origin, int64_t s, int64_t begin) {
    return (int64_t)((uint64_t)tally_apart(begin, origin) * (uint64_t)partition->weight +
                     (uint64_t)s * (uint64_t)partition->end_weight);
}
/* log2 of the bytes of a leaf of all inputs; the size of a struct counts as rounded up to a power of two. */
TALLY_FN int32_t tally_leaf_shift(const tally_partition *partition) {
    return 32 - __builtin_clz((uint32_t)(partition->leaf * partition->weight - 1));
}

#endif
