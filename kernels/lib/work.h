/* The one parameter that every kernel is launched with. The host fills it in; it lies in memory as C lays it out on both sides. */
#ifndef TALLY_WORK_H
#define TALLY_WORK_H

#include "lib/dialect.h"

enum { TALLY_KEYS_AT = 2048 }; /* bytes into the scratch memory of exact sums: two keys for each block, behind any node */

typedef struct tally_work {
    const char *x, *y;           /* the inputs; y equals x where there is one */
    int64_t x_stride, y_stride;  /* bytes from one value to the next */
    int64_t count;               /* values */
    int64_t first;               /* index of the first, for arg operators */
    int32_t run;                 /* a warp reads 2^run leaves, at most 32 */
    int32_t user;                /* free for kernels of other kinds */
    char *nodes;                 /* scratch, 0 before and after each launch: mailboxes of tiles, then of groups of tiles; or exact sums */
    uint32_t *arrivals;          /* scratch: counters, 0 before and after each launch */
    void *node;                  /* the node of the whole goes here; NULL: nobody wants it */
    void *result;                /* or its result goes here, and what is to be told of it is or'ed to *saw */
    int32_t *saw;
    tally_final final;
} tally_work;

#endif
