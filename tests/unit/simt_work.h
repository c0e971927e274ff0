/* What the tests' own kernels for the simulator are launched with. */
#ifndef TALLY_TESTS_SIMT_WORK_H
#define TALLY_TESTS_SIMT_WORK_H

#include <stdint.h>

typedef struct test_work {
    const char *x;      /* input */
    void *result;       /* output */
    char *nodes;        /* memory that blocks share */
    uint32_t *arrivals; /* counters */
    int32_t *flags;
    void *node;
    int64_t count;
    int32_t run, user; /* numbers */
} test_work;

#endif
