/* What kernels do when they say it (TALLY_READ, TALLY_WRITE, tally_branch, tally_step of device/device.h), as the
 * simulator sees it: events, and what the literature counts of them. One trace at a time, of all launches between start
 * and stop. */
#ifndef TALLY_SIMT_TRACE_H
#define TALLY_SIMT_TRACE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum tally__simt_sight {
    TALLY_SIMT_READ,
    TALLY_SIMT_WRITE,
    TALLY_SIMT_BRANCH,
    TALLY_SIMT_STEP,
    TALLY_SIMT_BARRIER, /* arrived at */
    TALLY_SIMT_MEETING,
    TALLY_SIMT_FENCE,
    TALLY_SIMT_ATOMIC /* about to be done: the value is the one before */
} tally__simt_sight;

enum { TALLY_SIMT_GLOBAL = -1 };

typedef struct tally__simt_event {
    tally__simt_sight sight;
    int32_t launch, block, thread; /* launches are counted from 0 */
    int32_t step, label;           /* steps that the thread has begun; what the last is called, -1 before the first */
    int32_t object; /* shared memory: which object, in the order in which they were laid out; or TALLY_SIMT_GLOBAL */
    int32_t bytes;  /* of an access */
    int32_t taken;  /* of a branch; of a meeting: whether it is a shuffle */
    int64_t at;     /* the byte in its object, or its address; of a shuffle the lane that is read */
    uint64_t value; /* the first 8 bytes read or written; the word that a lane gives to a shuffle */
    const char *site, *object_site; /* object_site: "FILE:LINE (NAME)" of shared memory, else NULL */
} tally__simt_event;

typedef struct tally__simt_trace {
    tally__simt_event *events; /* of malloc, in the order in which they happened */
    int64_t count;
    bool is_whole;   /* false: there was no memory for more */
    int lanes, word; /* lanes of a warp, and banks; bytes of a bank's word: 4. A transaction has lanes * word bytes */
} tally__simt_trace;

void tally__simt_trace_start(void);
/* Ends the trace and gives it away. */
void tally__simt_trace_stop(tally__simt_trace *trace);

/* Accesses of the lanes of one warp at one place of one step are one request, as they are on a GPU while lanes do not
 * diverge. */
typedef struct tally__simt_counts {
    int64_t branches, divergent;             /* of warps; those where some lanes take it and some do not */
    int64_t shared_requests, bank_conflicts; /* turns that requests take beyond what their words need */
    int64_t global_requests, accesses;       /* of warps; of lanes, */
    int64_t transactions;                    /* and the different transactions that they need, request by request */
} tally__simt_counts;
/* Counts what `wanted` holds for (NULL: all). False: no memory. */
bool tally__simt_counts_of(const tally__simt_trace *trace, bool (*wanted)(const tally__simt_event *, const void *),
                           const void *with, tally__simt_counts *counts);

#endif
