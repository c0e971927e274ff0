/* Arithmetic for dividing work among blocks. */
#ifndef TALLY_CUDA_SHAPE_H
#define TALLY_CUDA_SHAPE_H

#include <stdint.h>

/* a over b, rounded up; both positive, or a 0. */
static inline int64_t tally__over(int64_t a, int64_t b) { return (a + b - 1) / b; }
static inline int64_t tally__least(int64_t a, int64_t b) { return a < b ? a : b; }
/* The least power of two that is not below n, as its logarithm; 0 for n below 2. */
static inline int tally__log_above(int64_t n) { return n > 1 ? 64 - __builtin_clzll((uint64_t)(n - 1)) : 0; }
/* Counts the nodes and the counters of a tree over `count` nodes, `fan` of which are combined at a time. */
static inline void tally__count_tree(int64_t count, int64_t fan, int64_t *nodes, int64_t *groups) {
    *nodes = *groups = 0;
    for (; count > 1; count = tally__over(count, fan)) {
        *nodes += count;
        *groups += tally__over(count, fan);
    }
}
/* Takes `bytes` bytes that begin at *end, and moves *end behind them, to a multiple of 256. The second function gives a
 * pointer. */
static inline uint64_t tally__take(uint64_t *end, int64_t bytes) {
    const uint64_t begin = *end;
    *end += (uint64_t)(bytes + 255) / 256 * 256;
    return begin;
}
static inline void *tally__take_memory(uint64_t *end, int64_t bytes) {
    return (void *)(uintptr_t)tally__take(end, bytes);
}
/* The number of blocks that have a thread for each of n items: at least 1, and at most as many as keep these
 * multiprocessors busy. */
static inline int64_t tally__blocks_for(int64_t n, int64_t threads, int multiprocessors) {
    const int64_t wanted = tally__over(n, threads), most = 64 * (int64_t)multiprocessors;
    return wanted < 1 ? 1 : wanted < most ? wanted : most;
}

#endif
