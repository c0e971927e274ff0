/* A merge: what there is to do, and how it is shared out. merge.c checks it and hands it to threads, split.c finds
 * where a share begins, share.c does it; reference.c does it all, slowly. */
#ifndef TALLY_MERGE_JOB_H
#define TALLY_MERGE_JOB_H

#include <stdatomic.h>

#include "internal.h"
#include "merge/kernels.h"
#include "merge/parts.h"
#include "pool.h"

typedef struct tally__merge_list {
    const char *data;
    int64_t stride; /* bytes, never 0 */
    int64_t count;
    int64_t before; /* values of the lists in front of it */
} tally__merge_list;

/* Where results go; data NULL: nowhere. */
typedef struct tally__merge_sink {
    char *data;
    int64_t stride;
} tally__merge_sink;

typedef struct tally__merge_share {
    int part;
    int64_t begin, end; /* places in the output */
} tally__merge_share;

typedef struct tally__merge_job {
    const tally__merge_list *lists;
    int64_t count; /* of lists */
    int64_t total; /* values */
    tally__merge_order order;
    int64_t width; /* bytes of a value */
    tally__merge_sink out, origin;
    const tally__merge_kernels *kernels;
    const int64_t *bounds;      /* of part p in list i: bounds[p * count + i] .. bounds[(p + 1) * count + i] - 1 */
    const int64_t *part_begins; /* places in the output, and the end */
    const tally__merge_share *list_of_shares;
    tally__shares shares;
    int64_t block; /* values that a thread merges at once: each array in its scratch memory has room for them */
    char *scratch;
    int64_t scratch_bytes; /* of one thread */
    _Atomic int64_t threads_begun;
    atomic_bool unsorted; /* some list is; then the work ends early */
} tally__merge_job;

static inline const char *tally__merge_value(const tally__merge_list *list, int64_t i) {
    return list->data + i * list->stride;
}
static inline int64_t tally__merge_key_at(const tally__merge_job *job, const tally__merge_list *list, int64_t i) {
    return tally__merge_key(&job->order, tally__merge_value(list, i));
}

/* The first place from low to high whose key is not less (or_equal: greater) than `key`; high if there is none. Always
 * in low .. high, whether the list is sorted or not. */
int64_t tally__merge_search(const tally__merge_job *job, const tally__merge_list *list, int64_t low, int64_t high,
                            int64_t key, bool or_equal);

/* How many values of each list's part are among the first `rank` of that part of the output: places[i], from the list's
 * beginning. high: room for a number for each list, as work has. False: a list is not sorted. */
bool tally__merge_split(const tally__merge_job *job, int part, int64_t rank, int64_t *places, int64_t *high,
                        int64_t *work);

/* Bytes of scratch memory that a thread needs for a block of `block` values. */
int64_t tally__merge_scratch_bytes(const tally__merge_job *job, int64_t block);
/* Takes shares until none is left: the work of a pool. */
void tally__merge_work(void *job);

/* The whole merge by repeated search for the smallest value: slow and obvious. */
void tally__merge_reference(tally__merge_job *job);

#endif
