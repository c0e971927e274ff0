/* Parameters of the kernels of production/merge.h. The host includes this, too. */
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

/* A pass merges groups of 2, 4 or 8 runs into one run each. */
enum { TALLY_MERGE_BLOCK = 256, TALLY_MERGE_BOUNDARIES_BLOCK = 128, TALLY_MERGE_MOST_FAN = 8 };
/* The most runs of such a group, for values of that many bytes. */
#define TALLY_MERGE_FAN_OF(bytes) ((bytes) == 8 ? 8 : 4)

/* How many values of that many bytes a thread merges. Neighbouring threads write to places of shared memory that lie an
 * odd number of words apart (of pairs of words, for 8 bytes), so that banks do not conflict. */
#define TALLY_MERGE_EACH_OF(bytes) ((bytes) == 1 ? 20 : (bytes) == 2 ? 18 : 15)
/* How many values a tile has: a multiple of 16, and so few that each pair of runs has threads of its own. */
#define TALLY_MERGE_TILE_OF(each, fan) ((TALLY_MERGE_BLOCK + 1 - (fan) / 2) * (each) / 16 * 16)

typedef struct tally_merge_array {
    const char *data;
    int64_t stride; /* bytes */
} tally_merge_array;

/* What kernels tell the host. */
typedef struct tally_merge_report {
    int64_t misplaced; /* the first value that belongs before the one in front of it: the kernel `check` */
    int32_t unsorted;  /* not 0: there is such a value */
} tally_merge_report;

/* Where a tile begins: the first array of the runs that it merges, or -1 behind the last tile; and, for each of these
 * runs, the place and the address of the first value behind the boundary. */
typedef struct tally_merge_boundary {
    int64_t first;
    int64_t places[TALLY_MERGE_MOST_FAN];
    const char *at[TALLY_MERGE_MOST_FAN];
} tally_merge_boundary;

/* A pass, in the device's memory; tally_merge_pass has its address. A value's place is its index if all arrays lay side
 * by side. Every pass reads and writes the values of arrays a to b - 1 at places before[a] to before[b] - 1. */
typedef struct tally_merge_work {
    const tally_merge_array *arrays;
    const int64_t *before; /* count + 1 */
    int64_t count, total;  /* arrays; values */
    const char *from;      /* the runs that the pass before made; NULL: the arrays */
    int64_t from_stride;
    const char *origins_from; /* 8 bytes each; NULL: a value's origin is its place */
    int64_t origins_from_stride;
    char *to;
    int64_t to_stride;
    char *origins_to; /* NULL: the caller wants none */
    int64_t origins_to_stride;
    uint64_t infinity;                /* the bits of a float infinity */
    int32_t log_run;                  /* a run has 2^log_run arrays; the last one may have fewer */
    int32_t packed;                   /* TALLY_MERGE_FROM_PACKED, TALLY_MERGE_TO_PACKED */
    tally_merge_boundary *boundaries; /* tiles + 1 */
    int64_t tiles;
    tally_merge_report *report;
} tally_merge_work;
/* What the kernels are launched with. */
typedef struct tally_merge_pass {
    const tally_merge_work *pass;
} tally_merge_pass;
/* The values of each run, or the output, lie side by side at multiples of their size. */
enum { TALLY_MERGE_FROM_PACKED = 1, TALLY_MERGE_TO_PACKED = 2 };

#endif
