/* Rows along an axis that is not the last, as segments. Their values do not lie side by side, so they are counted in
 * another order: the rows of an outer index, one after another. A long row is cut into pieces, and the pieces of all
 * rows that begin at the same place stand side by side. A tile of consecutive values then takes a few columns of
 * memory, of many values each. */
#ifndef TALLY_PIECES_H
#define TALLY_PIECES_H

#include "device/work.h"

/* A piece: its row, and values of it in both orders. */
typedef struct tally_piece_place {
    int64_t outer, chunk, column; /* which it is */
    int64_t begin;                /* its first value's number among segments */
    int64_t first;                /* and in memory, from where its values are `inner` apart */
    int64_t values;
} tally_piece_place;

TALLY_FN void tally_place_piece(const tally_partition *partition, tally_piece_place *p) {
    const int64_t before = p->outer * partition->length + p->chunk * partition->row,
                  left = partition->length - p->chunk * partition->row;
    p->values = left < partition->row ? left : partition->row;
    p->begin = before * partition->inner + p->column * p->values;
    p->first = before * partition->inner + p->column;
}
/* a / b of what is not negative: a division of 64 bits takes a hundred instructions, and few numbers need one. */
TALLY_FN int64_t tally_divided(int64_t a, int64_t b) {
    return (uint64_t)(a | b) >> 32 == 0 ? (int64_t)((uint32_t)a / (uint32_t)b) : a / b;
}
/* The first value of a row in memory: its outer index is row / inner, its inner index row % inner. */
TALLY_FN int64_t tally_begin_of_row(int64_t row, int64_t length, int64_t inner) {
    const int64_t outer = tally_divided(row, inner);
    return outer * length * inner + (row - outer * inner);
}
/* Piece s. */
TALLY_FN tally_piece_place tally_piece_of(const tally_partition *partition, int64_t s) {
    tally_piece_place p;
    const int64_t of_outer = partition->chunks * partition->inner;
    p.outer = of_outer == partition->count ? s == partition->count : tally_divided(s, of_outer);
    const int64_t rest = s - p.outer * of_outer;
    p.chunk = partition->chunks == 1 ? 0 : tally_divided(rest, partition->inner);
    p.column = rest - p.chunk * partition->inner;
    tally_place_piece(partition, &p);
    return p;
}
/* The piece that many places on. */
TALLY_FN void tally_pass_pieces(const tally_partition *partition, tally_piece_place *p, int32_t count) {
    p->column += count;
    while (p->column >= partition->inner) {
        p->column -= partition->inner;
        if (++p->chunk == partition->chunks) p->chunk = 0, p->outer++;
    }
    tally_place_piece(partition, p);
}
/* The row of piece s: the place of its result. */
TALLY_FN int64_t tally_row_of_piece(const tally_partition *partition, int64_t s, int64_t *chunk) {
    const tally_piece_place p = tally_piece_of(partition, s);
    *chunk = p.chunk;
    return p.outer * partition->inner + p.column;
}
/* Where piece s begins. */
TALLY_FN int64_t tally_begin_of_piece(const tally_partition *partition, int64_t s) {
    return partition->chunks == 1 ? s * partition->row : tally_piece_of(partition, s).begin;
}

#endif
