/* What the kernels of production/merge.h are told, and how the bits of values are read: on the host as well. */
#ifndef TALLY_MERGE_WORK_H
#define TALLY_MERGE_WORK_H

#include <stdint.h>

/* The order of values by their bits (tally/tally_merge.h). TALLY_MERGE_TOTAL: IEEE 754 totalOrder of floats. */
typedef enum tally_merge_reading {
    TALLY_MERGE_BOOL,
    TALLY_MERGE_SIGNED,
    TALLY_MERGE_UNSIGNED,
    TALLY_MERGE_FLOAT,
    TALLY_MERGE_TOTAL
} tally_merge_reading;

enum {
    TALLY_MERGE_BLOCK = 256,
    TALLY_MERGE_EACH = 8, /* values that a thread merges */
    TALLY_MERGE_TILE = TALLY_MERGE_BLOCK * TALLY_MERGE_EACH
};

typedef struct tally_merge_array {
    const char *data;
    int64_t stride; /* bytes */
} tally_merge_array;

/* What kernels tell the host. */
typedef struct tally_merge_told {
    int64_t misplaced; /* the first value that belongs before the one in front of it: tally_merge_check */
    int32_t unsorted;  /* not 0: there is one */
} tally_merge_told;

/* One pass, in the device's memory; work.x is its address. A value's place is that in all arrays side by side. Values
 * of arrays a to b - 1 are at places before[a] to before[b] - 1 of what every pass reads and writes. */
typedef struct tally_merge_work {
    const tally_merge_array *arrays;
    const int64_t *before; /* count + 1 */
    int64_t count, total;  /* arrays; values */
    const char *from;      /* runs that the pass before has merged; NULL: the arrays */
    int64_t from_stride;
    const char *origins_from; /* of 8 bytes each; NULL: a value's origin is its place */
    int64_t origins_from_stride;
    char *to;
    int64_t to_stride;
    char *origins_to; /* NULL: nobody wants them */
    int64_t origins_to_stride;
    uint64_t infinity; /* the bits of a float infinity */
    int32_t reading;   /* a tally_merge_reading */
    int32_t bytes;     /* of a value */
    int32_t log_run;   /* a run is of 2^log_run arrays, the last one of fewer; two become one */
    tally_merge_told *told;
} tally_merge_work;

#endif
