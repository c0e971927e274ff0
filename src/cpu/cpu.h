/* What the files of the CPU backend share. */
#ifndef TALLY_CPU_H
#define TALLY_CPU_H

#include "fpenv.h"
#include "internal.h"

/* The kernels of the instruction set in use (isa.c), by place in TALLY_KERNELS and TALLY_EXACT_KERNELS. */
const tally__kernel_set *tally__cpu_kernels(int number);
const tally__kernel_set *tally__cpu_exact_kernels(int number);

/* The canonical tree over values begin ... begin + n of the input, the first of which has index `first`. Serial.
 * (tree.c) */
void tally__cpu_run(const tally__spec *spec, const tally__input *in, int64_t begin, int64_t n, int64_t first,
                    tally__node *node);

/* The same by `threads` threads. */
void tally__cpu_tree(const tally__spec *spec, const tally__input *in, int64_t begin, int64_t n, int64_t first,
                     int threads, tally__node *node);

/* The adjacent-pair tree over nodes[0], nodes[step], ... count of them; the result is nodes[0]. */
void tally__cpu_pairs(const tally__kernel *kernel, tally__node *nodes, int64_t count, int64_t step);

/* Segments by offsets, lengths, segment ids, or rows with inner 1. */
tally_status tally__cpu_ragged(const tally__spec *spec, const tally__input *in, const tally_segments *segments,
                               const tally__sink *sink, tally__report *report);

/* Rows along an axis that is not the last. With `order` the vector at place k is number order[k] of the input. */
tally_status tally__cpu_rows(const tally__spec *spec, const tally__input *in, const int64_t *order,
                             const tally_segments *segments, const tally__sink *sink, tally__report *report);

/* Groups of vectors of `inner` features. (grouped.c) */
tally_status tally__cpu_grouped(const tally__spec *spec, const tally__input *in, const tally__grouping *g,
                                int64_t inner, const tally__sink *sink, tally__report *report);

enum {
    TALLY_RESULT_BATCH = 512, /* results made at a time before they are stored */
    TALLY_WIDE_VECTOR = 16    /* results side by side that fill vector registers */
};

#endif
