/* What kernels need of the machine, in one table: those of kernels/ are a library of their own, which sees no symbol of
 * whoever opens it. What a word means stands in device/device.h. */
#ifndef TALLY_SIMT_WORDS_H
#define TALLY_SIMT_WORDS_H

#include <stddef.h>

#include "simt/trace.h"

/* What lanes of a warp meet for. */
typedef enum tally__simt_meeting {
    TALLY_SIMT_WARP_BARRIER,
    TALLY_SIMT_SHUFFLE,
    TALLY_SIMT_SHUFFLE_XOR,
    TALLY_SIMT_ANY,
    TALLY_SIMT_BALLOT,
    TALLY_SIMT_MAX,
    TALLY_SIMT_MIN
} tally__simt_meeting;

typedef struct tally__simt_place {
    int32_t thread, threads, block, blocks;
} tally__simt_place;

/* A copy on its way to shared memory: what its place holds is anything until its thread awaits it. */
typedef struct tally__simt_copy {
    void *to;
    const void *from;
} tally__simt_copy;

typedef struct tally__simt_words {
    const tally__simt_place
        *here;      /* of the running thread. All fibers run in one OS thread at a time, whichever that is. */
    int32_t traces; /* whether there is a trace to be told what is seen */
    void *(*shared)(size_t bytes, size_t alignment, const char *site);
    void *(*shared_buffer)(size_t bytes, const char *site); /* what the launch gives */
    void (*barrier)(int32_t threads, const char *site);     /* of the first `threads` threads of the block */
    uint32_t (*meet)(tally__simt_meeting meeting, uint32_t value, int32_t argument, const char *site);
    void (*fence)(void);
    void (*before_atomic)(const void *p, size_t bytes);
    void (*before_fresh)(const void *p);
    void (*before_load16)(const void *p);
    /* The running thread's copies of 16 bytes: one more; the next that is done once all are, NULL if none is left. */
    void (*begin_copy)(void *to, const void *from);
    const tally__simt_copy *(*next_copy)(void);
    /* The running thread stops, until a thread of its block wakes all that wait for what lies there. */
    void (*sleep)(const void *p);
    void (*wake)(const void *p);
    /* Of a branch `bytes` is whether it is taken, of a step its label. */
    void (*see)(tally__simt_sight sight, const void *p, size_t bytes, const char *site);
} tally__simt_words;

/* The machine's table; in the library of kernels, the table of the machine that opened it. */
extern const tally__simt_words *tally__simt;

#endif
