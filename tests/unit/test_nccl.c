/* Ranks of NCCL on GPUs: a thread for each GPU of this machine, and results with the bits of one process that has all
 * values. Needs two GPUs and libnccl.so.2 (or TALLY_NCCL); says so and is skipped where they are not.
 *
 *     test_nccl [--measure]     --measure: also what ranks cost, as a table in Markdown */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda/gpu.h"
#include "support.h"
#include "tally/tally_nccl.h"

enum { MOST_GPUS = 8, SEGMENTS = 3, VECTOR = 1 << 24 };

static int gpus;
static const tally__driver *driver;
static tally__gpu *gpu[MOST_GPUS];
static void *comms[MOST_GPUS];
static int (*nccl_all_reduce)(const void *, void *, size_t, int, int, void *, void *);
static pthread_barrier_t barrier;

static void *address(tally__cu_address at) { return (void *)(uintptr_t)at; }

/* ---- a thread for each GPU ---- */

typedef enum form { WHOLE, PARTS, ELEMENTS, PLAIN, FORMS } form;

typedef struct rank {
    int number;
    const subject *what;
    form form;
    int repeats;
    tally_context *context;
    tally_array x, y;
    tally_segments cut;
    tally_output out;
    tally_status status;
    char sentence[300];
    double seconds;
} rank;

static tally_status call(rank *r) {
    void *comm = comms[r->number];
    const tally_op op = r->what->op;
    const bool pair = tally_op_inputs(op) == 2;
    switch (r->form) {
    case WHOLE:
        return pair ? tally_nccl_allreduce_pair(r->context, op, r->x, r->y, r->out, comm)
                    : tally_nccl_allreduce(r->context, op, r->x, r->out, comm);
    case PARTS:
        return pair ? tally_nccl_allreduce_segments_pair(r->context, op, r->x, r->y, r->cut, r->out, comm)
                    : tally_nccl_allreduce_segments(r->context, op, r->x, r->cut, r->out, comm);
    case ELEMENTS:
        return pair ? tally_nccl_allreduce_elements_pair(r->context, op, r->x, r->y, r->out, comm)
                    : tally_nccl_allreduce_elements(r->context, op, r->x, r->out, comm);
    default: /* ncclFloat32 is 7, ncclSum 0 */
        return nccl_all_reduce(r->x.data, r->out.data, (size_t)r->x.count, 7, 0, comm, NULL) == 0 ? TALLY_OK
                                                                                                  : TALLY_DEVICE_FAILED;
    }
}

static double now_in_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *run_rank(void *of) {
    rank *r = of;
    r->status = tally__gpu_enter(gpu[r->number]);
    pthread_barrier_wait(&barrier);
    const double begun = now_in_seconds();
    for (int i = 0; i < r->repeats && r->status == TALLY_OK; i++) r->status = call(r);
    if (r->status != TALLY_OK)
        snprintf(r->sentence, sizeof r->sentence, "%s", tally_message());
    else if (driver->stream_wait(NULL) != 0)
        r->status = TALLY_DEVICE_FAILED;
    r->seconds = (now_in_seconds() - begun) / r->repeats;
    tally__gpu_leave(gpu[r->number]);
    return NULL;
}

/* Runs all ranks at once. A rank that is refused leaves the others waiting: the program ends. */
static double run_ranks(rank *ranks) {
    pthread_t threads[MOST_GPUS];
    double slowest = 0;
    for (int p = 0; p < gpus; p++) EXPECT(pthread_create(&threads[p], NULL, run_rank, &ranks[p]) == 0, "no thread");
    for (int p = 0; p < gpus; p++) {
        pthread_join(threads[p], NULL);
        EXPECT(ranks[p].status == TALLY_OK, "rank %d: status %d, %s", p, (int)ranks[p].status, ranks[p].sentence);
        slowest = ranks[p].seconds > slowest ? ranks[p].seconds : slowest;
    }
    return slowest;
}

static tally__cu_address to_gpu(int p, const void *from, size_t bytes) {
    tally__cu_address memory = 0;
    EXPECT_OK(tally__gpu_enter(gpu[p]));
    EXPECT(driver->allocate(&memory, bytes + 1) == 0, "no memory of GPU %d", p);
    EXPECT(from == NULL || bytes == 0 || driver->copy_in(memory, from, bytes, NULL) == 0, "no copy to GPU %d", p);
    EXPECT(driver->stream_wait(NULL) == 0, "the copy failed");
    tally__gpu_leave(gpu[p]);
    return memory;
}
static void from_gpu(int p, void *to, tally__cu_address from, size_t bytes) {
    EXPECT_OK(tally__gpu_enter(gpu[p]));
    EXPECT(driver->copy_out(to, from, bytes, NULL) == 0 && driver->stream_wait(NULL) == 0, "no copy from GPU %d", p);
    tally__gpu_leave(gpu[p]);
}
static void release(int p, const void *memory) {
    EXPECT_OK(tally__gpu_enter(gpu[p]));
    driver->release((tally__cu_address)(uintptr_t)memory);
    tally__gpu_leave(gpu[p]);
}

/* ---- results ---- */

/* The whole is cut into equal parts but for the rest; of elements each rank has n. Every rank's results are compared.
 */
static void check(const subject *s, form f, data_class class, int64_t n) {
    const int64_t count = n * gpus, results = f == WHOLE ? 1 : f == PARTS ? SEGMENTS : n;
    const size_t bytes = tally_type_size(s->type), room = (size_t)results * result_bytes(s);
    const char *x = data_of(s->type, class, count), *y = data_of(s->type, TIES, count);
    int64_t whole[SEGMENTS + 1], begins[MOST_GPUS][SEGMENTS], ends[MOST_GPUS][SEGMENTS];
    char *wanted = scratch(0, room + 1), *got = scratch(1, room + 1);
    rank ranks[MOST_GPUS];
    now = (scene){.op = s->op,
                  .type = s->type,
                  .nan = s->nan,
                  .data = class_names[class],
                  .size = n,
                  .cut = f == WHOLE   ? "whole"
                         : f == PARTS ? "segments"
                                      : "elements"};
    for (int k = 0; k <= SEGMENTS; k++) whole[k] = count * k / SEGMENTS;
    for (int p = 0; p < gpus; p++) {
        for (int k = 0; k < SEGMENTS; k++) {
            begins[p][k] = whole[k] + (whole[k + 1] - whole[k]) * p / gpus;
            ends[p][k] = whole[k] + (whole[k + 1] - whole[k]) * (p + 1) / gpus;
        }
        const int64_t first = f == PARTS ? 0 : n * p, some = f == PARTS ? count : n;
        ranks[p] = (rank){.number = p, .what = s, .form = f, .repeats = 1};
        ranks[p].context = context_for(s, TALLY_BACKEND_CUDA, 1);
        ranks[p].x = tally_in(address(to_gpu(p, x + (size_t)first * bytes, (size_t)some * bytes)), s->type, some);
        ranks[p].y = tally_in(address(to_gpu(p, y + (size_t)first * bytes, (size_t)some * bytes)), s->type, some);
        ranks[p].out = tally_out(address(to_gpu(p, NULL, room)), TALLY_NATURAL, results);
        ranks[p].cut = tally_begin_end(begins[p], ends[p], TALLY_I64, SEGMENTS);
    }
    run_ranks(ranks);
    const tally_segments cut = f == PARTS ? tally_offsets(whole, TALLY_I64, SEGMENTS) : tally_rows(1, gpus, n);
    (void)!perform(context_for(s, TALLY_BACKEND_CPU, 0), s->op, tally_in(x, s->type, count),
                   tally_in(y, s->type, count), f == WHOLE ? NULL : &cut, tally_out(wanted, TALLY_NATURAL, results));
    for (int p = 0; p < gpus; p++) {
        from_gpu(p, got, (tally__cu_address)(uintptr_t)ranks[p].out.data, room);
        for (int64_t r = 0; r < results; r++) {
            now.segment = r;
            EXPECT_BITS(got + (size_t)r * result_bytes(s), wanted + (size_t)r * result_bytes(s), result_bytes(s),
                        "a rank's result");
        }
        release(p, ranks[p].x.data);
        release(p, ranks[p].y.data);
        release(p, ranks[p].out.data);
    }
}

static void test_results(void **state) {
    static const subject some[] = {
        {TALLY_SUM, TALLY_F32, 0, 0, TALLY_BEST},    {TALLY_SUM, TALLY_F64, 0, 0, TALLY_BEST},
        {TALLY_MEAN, TALLY_BF16, 0, 0, TALLY_BEST},  {TALLY_VAR, TALLY_F32, 0, 1, TALLY_BEST},
        {TALLY_STATS, TALLY_F64, 0, 0, TALLY_BEST},  {TALLY_DOT, TALLY_F32, 0, 0, TALLY_BEST},
        {TALLY_NORM2, TALLY_F64, 0, 0, TALLY_BEST},  {TALLY_SUM, TALLY_I32, 0, 0, TALLY_BEST},
        {TALLY_STATS, TALLY_I16, 0, 0, TALLY_BEST},  {TALLY_MIN, TALLY_F32, 0, 0, TALLY_BEST},
        {TALLY_MINMAX, TALLY_U8, 0, 0, TALLY_BEST},  {TALLY_ARGMAX, TALLY_F32, 1, 0, TALLY_BEST},
        {TALLY_ARGMIN, TALLY_I64, 0, 0, TALLY_BEST}, {TALLY_COUNT, TALLY_F32, 0, 0, TALLY_BEST},
        {TALLY_XOR, TALLY_U32, 0, 0, TALLY_BEST},    {TALLY_ANY, TALLY_BOOL, 0, 0, TALLY_BEST},
        {TALLY_SUM, TALLY_F32, 0, 0, TALLY_FAST},    {TALLY_PROD, TALLY_F64, 0, 0, TALLY_BEST}};
    (void)state;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        for (int class = 0; class < DATA_CLASSES; class += 1 + (int)(i % 2))
            for (int f = WHOLE; f <= ELEMENTS; f++)
                if (f == ELEMENTS || !order_shows(&some[i]))
                    check(&some[i], (form)f, (data_class) class, f == ELEMENTS ? 1237 : 40009);
}

/* ---- what it costs ---- */

static double measure(const subject *s, form f, int64_t n, int repeats) {
    const int64_t results = f == WHOLE ? 1 : n;
    rank ranks[MOST_GPUS];
    double best = 1e9;
    for (int p = 0; p < gpus; p++) {
        ranks[p] = (rank){.number = p, .what = s, .form = f, .repeats = repeats};
        ranks[p].context = context_for(s, TALLY_BACKEND_CUDA, 1);
        ranks[p].x = tally_in(address(to_gpu(p, data_of(TALLY_F32, CANCELLATION, n), (size_t)n * 4)), TALLY_F32, n);
        ranks[p].out = tally_out(address(to_gpu(p, NULL, (size_t)results * 4)), TALLY_F32, results);
    }
    for (int round = 0; round < 8; round++) { /* the first ones compile and connect */
        const double seconds = run_ranks(ranks);
        if (seconds < best) best = seconds;
    }
    for (int p = 0; p < gpus; p++) {
        release(p, ranks[p].x.data);
        release(p, ranks[p].out.data);
    }
    return best * 1e6;
}

static void print_costs(void) {
    const subject exact = {TALLY_SUM, TALLY_F32, 0, 0, TALLY_BEST}, fast = {TALLY_SUM, TALLY_F32, 0, 0, TALLY_FAST};
    tally_gpu_info info;
    EXPECT_OK(tally_gpu_describe(0, &info));
    printf("%d x %s, the least of 8 turns, host's time\n\n| call | us |\n| --- | ---: |\n", gpus, info.name);
    printf("| ncclAllReduce, one float | %.1f |\n", measure(&exact, PLAIN, 1, 100));
    printf("| tally_nccl_allreduce, exact sum, 1 f32 on each GPU | %.1f |\n", measure(&exact, WHOLE, 1, 100));
    printf("| the same, 2^24 f32 on each GPU | %.1f |\n", measure(&exact, WHOLE, VECTOR, 20));
    printf("| ncclAllReduce, 2^24 floats | %.1f |\n", measure(&exact, PLAIN, VECTOR, 20));
    printf("| tally_nccl_allreduce_elements, exact sum, 2^24 f32 | %.1f |\n", measure(&exact, ELEMENTS, VECTOR, 20));
    printf("| the same, TALLY_FAST | %.1f |\n", measure(&fast, ELEMENTS, VECTOR, 20));
}

/* ---- beginning ---- */

static int leave_out(const char *why) {
    printf("SKIPPED: %s\n", why);
    return SKIPPED;
}

/* 0, or the status to end with. */
static int begin(void) {
    const char *named = getenv("TALLY_NCCL"), *why = "";
    int (*init_all)(void **, int, const int *);
    void *library = dlopen(named != NULL ? named : "libnccl.so.2", RTLD_NOW);
    if (tally_gpu_count(&gpus) != TALLY_OK) return leave_out(tally_message());
    if (gpus < 2) return leave_out("ranks of NCCL need two GPUs");
    if (library == NULL) return leave_out("there is no libnccl.so.2: TALLY_NCCL names it");
    gpus = gpus < MOST_GPUS ? gpus : MOST_GPUS;
    *(void **)&init_all = dlsym(library, "ncclCommInitAll");
    *(void **)&nccl_all_reduce = dlsym(library, "ncclAllReduce");
    driver = tally__nvidia_platform.driver(&why);
    if (init_all == NULL || nccl_all_reduce == NULL || driver == NULL) return leave_out(why);
    for (int p = 0; p < gpus; p++)
        if (tally__gpu_open(&tally__nvidia_platform, p, &gpu[p]) != TALLY_OK) return leave_out(tally_message());
    if (init_all(comms, gpus, NULL) != 0) {
        printf("ncclCommInitAll failed\n");
        return 1;
    }
    return pthread_barrier_init(&barrier, NULL, (unsigned)gpus);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_results)};
    const bool measures = argc > 1 && strcmp(argv[1], "--measure") == 0;
    if (measures) argc--, argv++;
    int status = begin_program(argc, argv);
    if (status == 0) status = begin();
    if (status == 0) status = cmocka_run_group_tests(tests, NULL, NULL);
    if (status == 0 && measures) print_costs();
    return status;
}
