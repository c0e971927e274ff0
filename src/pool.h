/* Threads that work for calls on the host. */
#ifndef TALLY_POOL_H
#define TALLY_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* How many threads a call may use where its options do not say: the first number of OMP_NUM_THREADS, or the CPUs that
 * this process may run on. */
int tally__pool_threads(void);
/* How many threads a call that reads `bytes` should use: one is woken only if its share is worth it. most: the threads
 * that the options allow; 0: they do not say. */
int tally__pool_team(int most, int64_t bytes);

/* Calls work(job) on the calling thread and on up to threads - 1 others at the same time, and returns when all calls
 * have. Fewer others come where the system gives no more, or they are at work for other calls: `work` takes shares of
 * the job until none is left, so that any number will do. Others have the floating-point environment of fpenv.h. */
typedef void tally__pool_work(void *job);
void tally__pool_run(int threads, tally__pool_work *work, void *job);

/* Shares of a job, taken in turn. */
typedef struct tally__shares {
    _Atomic int64_t next;
    int64_t end;
} tally__shares;
static inline bool tally__take_share(tally__shares *shares, int64_t *share) {
    *share = atomic_fetch_add_explicit(&shares->next, 1, memory_order_relaxed);
    return *share < shares->end;
}

#endif
