/* Nodes of one subject on both sides: of the same values in the host's memory and in a GPU's. */
#ifndef TALLY_TESTS_NODE_SIDE_H
#define TALLY_TESTS_NODE_SIDE_H

#include "gpu_host.h"
#include "tally/tally_nodes.h"

enum { COUNT = 3000, SEGMENTS = 3, MOST_NODE = 1728 };

/* A subject with its data on both sides, and room for nodes there. */
typedef struct side {
    const subject *s;
    const char *x, *y;
    size_t node;
    tally_context *context, *host;
    tally__cu_address x_there, y_there, nodes;
    size_t offset; /* of nodes from a multiple of 16 */
    char wanted[SEGMENTS * MOST_NODE], got[SEGMENTS * MOST_NODE];
} side;

static inline void *address(tally__cu_address at) { return (void *)(uintptr_t)at; }
static inline void *nodes_of(const side *g) { return address(g->nodes + g->offset); }

/* count: of the values; trial: which of some schedules, and how nodes are aligned. To be closed. */
void open_side(side *g, const subject *s, data_class class, int64_t count, int trial);
void close_side(side *g);

tally_status segments_nodes(tally_context *context, const subject *s, const void *x, const void *y, int64_t count,
                            tally_segments segments, void *nodes, size_t space);
/* The first nodes in the GPU's memory are those of `wanted`. */
void expect_nodes(side *g, int64_t count, const char *what);

#endif
