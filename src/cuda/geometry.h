/* What launches reckon with of an operator and a type: sizes of values, of leaves, and of nodes as kernels have them.
 * Made of the kernels' own texts (geometry_template.h): the CPU's kernels have no say in it. */
#ifndef TALLY_CUDA_GEOMETRY_H
#define TALLY_CUDA_GEOMETRY_H

#include "internal.h"

typedef struct tally__geometry {
    size_t value_bytes;
    int64_t leaf;                                /* values in a leaf */
    size_t node_size;                            /* bytes of a node, a multiple of 16 */
    size_t node_bytes;                           /* bytes of a node as it travels */
    bool adds_values, adds_products, keeps_keys; /* what the node of an exact operator is made of */
    bool reads_twice;                            /* rows that lie across others are read twice */
} tally__geometry;

/* Of one operator, for each type and NaN policy that it is defined for. CMake writes their units (instances.h). */
typedef struct tally__geometry_set {
    tally__geometry of[TALLY_TYPE_END][3];
} tally__geometry_set;

tally__geometry tally__geometry_of(const tally__spec *spec);

#endif
