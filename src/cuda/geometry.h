/* The sizes that launches need for an operator and a type: of values, of leaves, and of nodes in the form that kernels
 * use. They come from the kernels' own texts (geometry_template.h), not from the CPU's kernels. */
#ifndef TALLY_CUDA_GEOMETRY_H
#define TALLY_CUDA_GEOMETRY_H

#include "internal.h"

typedef struct tally__geometry {
    size_t value_bytes;
    int64_t leaf;                                /* values in a leaf */
    size_t node_size;                            /* bytes of a node, a multiple of 16 */
    size_t node_bytes;                           /* bytes of a node as it travels */
    bool adds_values, adds_products, keeps_keys; /* what the node of an exact operator has */
    bool reads_twice;                            /* rows that lie across others are read twice */
    bool rows_go_on;                             /* and in one leaf, however long */
    int64_t stripe_rows;                         /* rows that a thread of production/rows/stripes.h takes */
} tally__geometry;

/* The geometries of one operator, for each type and NaN policy that it has. CMake writes their units (instances.h). */
typedef struct tally__geometry_set {
    tally__geometry of[TALLY_TYPE_END][3];
} tally__geometry_set;

tally__geometry tally__geometry_of(const tally__spec *spec);

#endif
