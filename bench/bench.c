/* The parts of the benchmark that are not contenders: the clock, memory, random data, and the list of who competes. */
#define _GNU_SOURCE
#include "bench.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds per call over `calls` calls in a row. */
BENCH_EXPORT double bench_time(bench_function run, const bench_job *job, int64_t calls) {
    static volatile double sink;
    double start = now();
    for (int64_t i = 0; i < calls; i++) sink = run(job);
    (void)sink;
    return (now() - start) / (double)calls;
}

/* Zeroed memory in huge pages where the system has them, for everybody alike. NULL when there is none. */
BENCH_EXPORT void *bench_allocate(int64_t bytes) {
    void *memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    madvise(memory, (size_t)bytes, MADV_HUGEPAGE);
    memset(memory, 0, (size_t)bytes);
    return memory;
}

BENCH_EXPORT void bench_release(void *memory, int64_t bytes) {
    if (memory) munmap(memory, (size_t)bytes);
}

/* Every 8 bytes become (random & keep) | set: with masks that repeat at the width of the type this makes random
 * integers, random floats of a few exponents, signs only, or a constant. `bytes` is rounded up to 8. The generator is
 * splitmix64 (Steele, Lea and Flood 2014), which can start anywhere. */
BENCH_EXPORT void bench_fill(void *memory, int64_t bytes, uint64_t keep, uint64_t set, uint64_t seed) {
    uint64_t *words = memory;
    int64_t count = (bytes + 7) / 8;
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < count; i++) {
        uint64_t z = seed + (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        words[i] = ((z ^ (z >> 31)) & keep) | set;
    }
}

static const bench_row *const lists[] = {
    bench_plain_rows,
#ifdef BENCH_HAVE_TALLY
    bench_tally_rows,
#endif
#ifdef BENCH_HAVE_BLAS
    bench_blas_rows,
#endif
    bench_openmp_rows,
#ifdef BENCH_HAVE_CPP
    bench_cpp_rows,
#endif
};

/* The contenders one by one; NULL after the last. */
BENCH_EXPORT const bench_row *bench_row_at(int index) {
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        for (const bench_row *row = lists[k]; row->family; row++)
            if (index-- == 0) return row;
    return NULL;
}

/* The tables, so that a new operator or type is measured without a change here. Names are NULL past the end. */
static const struct {
    const char *name;
    int inputs, on;
} ops[] = {
#define TALLY_ROW(id, name, kernel, inputs, on, gives, order, empty, nans, what) {#name, inputs, on},
    TALLY_OPERATORS(TALLY_ROW)
#undef TALLY_ROW
};
static const struct {
    const char *name, *numpy;
    int bytes, class_;
} types[] = {{"natural", "", 0, 0},
#define TALLY_ROW(id, name, numpy, bytes, class) {#name, numpy, bytes, class},
             TALLY_TYPES(TALLY_ROW)
#undef TALLY_ROW
};
static int is_op(int op) { return op >= 0 && op < TALLY_OP_END; }
static int is_type(int type) { return type > TALLY_NATURAL && type < TALLY_STRUCT; }

BENCH_EXPORT const char *bench_op_name(int op) { return is_op(op) ? ops[op].name : NULL; }
BENCH_EXPORT int bench_op_inputs(int op) { return is_op(op) ? ops[op].inputs : 0; }
BENCH_EXPORT const char *bench_type_name(int type) { return is_type(type) ? types[type].name : NULL; }
BENCH_EXPORT const char *bench_type_numpy(int type) { return is_type(type) ? types[type].numpy : NULL; }
BENCH_EXPORT int bench_type_bytes(int type) { return is_type(type) ? types[type].bytes : 0; }
BENCH_EXPORT int bench_defined(int op, int type) {
    return is_op(op) && is_type(type) && (ops[op].on & types[type].class_);
}
