/* Which values production/ranks/part_nodes.h and production/ranks/exact_part_nodes.h reduce: segments, or pieces of
 * them, as tally_part_nodes_work describes them. */
#ifndef TALLY_NODE_PARTS_H
#define TALLY_NODE_PARTS_H

#include "partition/partition.h"

typedef struct tally_node_part {
    int64_t begin, count;  /* the first value, and how many there are, `inner` values apart */
    int64_t first, length; /* where in its segment the part begins, and how many values the segment has */
    int32_t is_left;
} tally_node_part;

enum { TALLY_PIECE_UNIT = 1024 }; /* within their segment pieces begin at multiples of it, in values */

/* A piece of the segment of node r. An invalid segment has no values, and each thread that asks sets the flag. */
TALLY_FN tally_node_part tally_node_part_of(const tally_part_nodes_work *work, int64_t r, int32_t piece) {
    const tally_group_work *group = &work->group;
    const int64_t s = r / group->inner;
    int64_t begin = s * work->length, end = begin + work->length;
    tally_node_part part;
    if (group->index != 0) {
        begin = tally_entry(group->index, group->index_bytes, s);
        end = group->ends != 0 ? tally_entry(group->ends, group->index_bytes, s)
                               : tally_entry(group->index, group->index_bytes, s + 1);
        if (begin < 0 || end < begin || end > group->vectors) {
            tally_or32(work->flags, TALLY_FLAG_BAD_SEGMENTS);
            begin = end = 0;
        }
    }
    part.length = end - begin;
    part.first = 0;
    part.count = part.length;
    if (work->pieces > 1) {
        const int64_t each = (part.length / work->pieces / TALLY_PIECE_UNIT + 1) * TALLY_PIECE_UNIT;
        part.first = piece * each < part.length ? piece * each : part.length;
        part.count = part.length - part.first < each ? part.length - part.first : each;
    }
    part.begin = (begin + part.first) * group->inner + r % group->inner;
    part.is_left = part.length >= work->left_length;
    return part;
}

/* The address of the first value in one input, which may be NULL if there are no values. */
TALLY_FN const char *tally_part_values(const char *values, int64_t stride, tally_node_part part) {
    return part.count > 0 ? values + part.begin * stride : values;
}
#endif
