/* Where rows along an axis that is not the last begin in memory. */
#ifndef TALLY_ROW_BEGINS_H
#define TALLY_ROW_BEGINS_H

#include "device/work.h"

/* a / b of what is not negative: a division of 64 bits takes a hundred instructions, and few numbers need one. */
TALLY_FN int64_t tally_divided(int64_t a, int64_t b) {
    return (uint64_t)(a | b) >> 32 == 0 ? (int64_t)((uint32_t)a / (uint32_t)b) : a / b;
}
/* The first value of a row in memory: its outer index is row / inner, its inner index row % inner. */
TALLY_FN int64_t tally_begin_of_row(int64_t row, int64_t length, int64_t inner) {
    const int64_t outer = tally_divided(row, inner);
    return outer * length * inner + (row - outer * inner);
}

#endif
