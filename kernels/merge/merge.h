/* Parameters of the kernels of production/merge.h: on the host as well. */
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

/* A pass makes one run of 2, 4 or 8. */
enum { TALLY_MERGE_BLOCK = 256, TALLY_MERGE_BOUNDARIES_BLOCK = 128, TALLY_MERGE_MOST_FAN = 8 };
/* Of how many at most, of values of so many bytes. */
#define TALLY_MERGE_FAN_OF(bytes) ((bytes) == 8 ? 8 : 4)

/* Values of so many bytes that a thread merges: what threads side by side write to shared memory lies an odd number of
 * words apart, or of two words of 8 bytes, so that banks do not conflict. */
#define TALLY_MERGE_EACH_OF(bytes) ((bytes) == 1 ? 20 : (bytes) == 2 ? 18 : 15)
/* Values of a tile, such that each pair of runs has threads of its own; a multiple of 16. */
#define TALLY_MERGE_TILE_OF(each, fan) ((TALLY_MERGE_BLOCK + 1 - (fan) / 2) * (each) / 16 * 16)

typedef struct tally_merge_array {
    const char *data;
    int64_t stride; /* bytes */
} tally_merge_array;

/* What kernels tell the host. */
typedef struct tally_merge_report {
    int64_t misplaced; /* the first value that belongs before the one in front of it: the kernel `check` */
    int32_t unsorted;  /* not 0: there is one */
} tally_merge_report;

/* Where a tile begins: the first array of the runs that it is of, or -1 behind the last; and in each of these runs the
 * place and the address of the first value that comes behind the boundary. */
typedef struct tally_merge_boundary {
    int64_t first;
    int64_t places[TALLY_MERGE_MOST_FAN];
    const char *at[TALLY_MERGE_MOST_FAN];
} tally_merge_boundary;

/* One pass, in the device's memory; tally_merge_pass has its address. A value's place is that in all arrays side by
 * side. Values of arrays a to b - 1 are at places before[a] to before[b] - 1 of what every pass reads and writes. */
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
    uint64_t infinity;                /* the bits of a float infinity */
    int32_t log_run;                  /* a run is of 2^log_run arrays, the last one of fewer */
    int32_t packed;                   /* bits: what lies side by side, at multiples of its size */
    tally_merge_boundary *boundaries; /* tiles + 1 */
    int64_t tiles;
    tally_merge_report *report;
} tally_merge_work;
/* What the kernels are launched with. */
typedef struct tally_merge_pass {
    const tally_merge_work *pass;
} tally_merge_pass;
enum { TALLY_MERGE_FROM_PACKED = 1, TALLY_MERGE_TO_PACKED = 2 }; /* the values of each run; the output */

#endif
