/* The plain read: what the machine can deliver when nothing is computed.
 *
 * Every byte of the job is loaded once into vector registers and folded by exclusive or, by as many threads as the
 * contender beside it has, each over one contiguous run; results are written once. The best shape differs between
 * machines, so the shape is an argument and run.py keeps the fastest: `streams` places of a run read in turn, and how
 * many bytes `ahead` of the load a prefetch is issued (0: none).
 */
#include "bench.h"

#include <string.h>

/* A thread is worth waking for this many bytes; below, the caller's thread reads alone. */
#define BYTES_PER_THREAD 150000

#define READ_NAME read_baseline
#define READ_TARGET
#define READ_WIDTH 16
#include "plain_read_body.h"

#ifdef __x86_64__
#define READ_NAME read_avx2
#define READ_TARGET __attribute__((target("avx2")))
#define READ_WIDTH 32
#include "plain_read_body.h"

#define READ_NAME read_avx512
#define READ_TARGET __attribute__((target("avx512f")))
#define READ_WIDTH 64
#include "plain_read_body.h"
#endif

typedef uint64_t (*read_function)(const char *bytes, int64_t count, int streams, int64_t ahead);

static read_function best_read(void) {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f")) return read_avx512;
    if (__builtin_cpu_supports("avx2")) return read_avx2;
#endif
    return read_baseline;
}

/* Where thread `k` of `n` begins; whole pages, so that no two threads share a line. */
static int64_t share(int64_t bytes, int k, int n) { return k == n ? bytes : bytes / n * k / 4096 * 4096; }

/* Share k of n of the pass. */
static uint64_t pass_share(const bench_job *job, read_function read, int k, int n) {
    const char *inputs[3] = {job->left, job->right, job->index};
    const int64_t bytes[3] = {job->left_bytes, job->right_bytes, job->index_bytes};
    uint64_t folded = 0;
    for (int input = 0; input < 3; input++) {
        int64_t from = share(bytes[input], k, n), to = share(bytes[input], k + 1, n);
        if (to > from) folded ^= read(inputs[input] + from, to - from, job->streams, job->ahead);
    }
    int64_t written = job->kind == BENCH_WHOLE ? 0 : job->out_bytes;
    int64_t from = share(written, k, n), to = share(written, k + 1, n);
    if (to > from) memset((char *)job->out + from, 1, (size_t)(to - from));
    return folded;
}

static double plain_pass(const bench_job *job) {
    static read_function read;
    if (!read) read = best_read();
    int64_t useful = (job->left_bytes + job->right_bytes + job->index_bytes + job->out_bytes) / BYTES_PER_THREAD + 1;
    int threads = useful < job->threads ? (int)useful : job->threads;
    if (threads == 1) return (double)pass_share(job, read, 0, 1);
    uint64_t folded = 0;
#pragma omp parallel for num_threads(threads) reduction(^ : folded) schedule(static)
    for (int k = 0; k < threads; k++) folded ^= pass_share(job, read, k, threads);
    return (double)folded;
}

const bench_row bench_plain_rows[] = {
    {"plain", "plain_read.c", BENCH_ANY, BENCH_ANY, BENCH_ANY, plain_pass},
    {0},
};
