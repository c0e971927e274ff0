/* The GPU simulator as the host sees it: kernels of device/device.h run on the CPU, threads as fibers. Its platform
 * (tally__simt_platform, declared in cuda/platform.h) stands in for NVIDIA's; the rest is for tests. */
#ifndef TALLY_SIMT_H
#define TALLY_SIMT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/driver.h"
#include "device/work.h"

/* ---- kernels (entries.c) ---- */

/* It is given the address of what a GPU's kernel is launched with. */
typedef void tally__simt_entry(const void *work);
/* The function that the image of this entry runs; NULL: there is none. */
tally__simt_entry *tally__simt_find(const char *entry);
/* A further function of the image of `entry`; NULL: that has none of the name. */
tally__simt_entry *tally__simt_beside(const char *entry, const char *name);
/* Adds a function, or replaces that of the same name. It is kept by reference. False: no memory. */
bool tally__simt_register(const char *entry, tally__simt_entry *function);
/* An image is this word and the name of the entry. */
#define TALLY_SIMT_IMAGE "simt "
/* The name of the entry in an image, NULL if it is none. */
const char *tally__simt_entry_of(const void *image);

/* ---- launches (machine.c) ---- */

/* Who runs when several threads could. */
typedef enum tally__simt_order {
    TALLY_SIMT_ROUND,    /* the next one, thread by thread */
    TALLY_SIMT_REVERSE,  /* the one before; blocks start from the last */
    TALLY_SIMT_RANDOM,   /* any; blocks start in any order */
    TALLY_SIMT_GREEDY,   /* each as far as it goes, then the first that can */
    TALLY_SIMT_LOCKSTEP, /* lane by lane within a warp, warps as far as they go */
    TALLY_SIMT_ORDERS
} tally__simt_order;

enum {
    TALLY_SIMT_MOST_BLOCKS = 8,
    TALLY_SIMT_MOST_THREADS = 1024,
    TALLY_SIMT_SHARED_BYTES = 48 << 10,
    TALLY_SIMT_MOST_DYNAMIC_SHARED = 227 << 10
};

typedef struct tally__simt_settings {
    tally__simt_order order;
    uint64_t seed;    /* of TALLY_SIMT_RANDOM, */
    uint64_t launch;  /* with the number of the launch: each runs in an order of its own */
    int live_blocks;  /* how many run at once, at most */
    int64_t patience; /* steps without the end of any thread, after which a launch is a livelock */
    int lanes;        /* of a warp; less than 32, which pictures want, for kernels that are written for it */
} tally__simt_settings;
#define TALLY_SIMT_SETTINGS_INIT \
    { TALLY_SIMT_ROUND, 0, 0, 4, 50000000, 32 }

/* "round", "reverse", "random", "random:SEED", "random:SEED:LAUNCH", "greedy", "lockstep". False: none of these. */
bool tally__simt_parse(const char *schedule, tally__simt_settings *settings);
/* For the launches to come. NULL: as the environment's TALLY_SIMT_SCHEDULE says, which is also what they do
 * unconfigured. */
void tally__simt_configure(const tally__simt_settings *settings);
tally__simt_settings tally__simt_configured(void);

/* What a launch did. Divergent branches, bank conflicts and memory transactions are counted by a trace (trace.h). */
typedef struct tally__simt_counters {
    int64_t blocks, threads;
    int64_t barriers; /* completed, once for a block */
    int64_t meetings; /* of warps, at warp barriers, shuffles and votes, once for a warp */
    int64_t atomics, fences, fresh_loads;
    int64_t loads16;      /* 16-byte loads */
    int64_t switches;     /* from one fiber to another */
    int64_t shared_bytes; /* of a block, at most */
} tally__simt_counters;
/* Of the last launch, failed or not. */
tally__simt_counters tally__simt_counted(void);

typedef struct tally__simt_job {
    const char *name; /* for messages */
    tally__simt_entry *entry;
    int blocks, threads;
    size_t shared_bytes; /* bytes of shared memory that each block is given */
    const void *work;
    /* Whether the `bytes` bytes at p lie in one allocation, if p lies in any; or NULL. */
    bool (*is_inside)(const void *p, size_t bytes);
} tally__simt_job;
/* Runs it to the end: 0, or TALLY_CU_LAUNCH_FAILED or TALLY_CU_OUT_OF_MEMORY and a sentence. Launches of several OS
 * threads wait for one another. */
int tally__simt_launch(const tally__simt_job *job, char *sentence, size_t capacity);

/* ---- the driver (driver.c), and what tests want of it ---- */

extern const tally__driver tally__simt_driver;

/* What was made and not yet released. */
typedef struct tally__simt_live {
    int64_t allocations, bytes, streams, modules;
    int64_t retained; /* of the primary context */
    int64_t pushed;   /* contexts, on the calling thread */
} tally__simt_live;
tally__simt_live tally__simt_live_now(void);

/* The n-th driver call from now, 1 the next, fails with an error that it may give; what releases something does so
 * nevertheless. 0: none will. */
void tally__simt_fail_call(int64_t n);
/* The default stream says that it captures, and refuses what a captured one does: waits, and copies from and to the
 * host. What is launched runs at once all the same. */
void tally__simt_capture(bool captures);
/* Calls of the driver so far, of all kinds. */
int64_t tally__simt_calls(void);

#endif
