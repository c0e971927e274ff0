/* Ranks of NCCL on GPUs: a thread for each GPU of this machine, and results with the bits of one process that has all
 * values. Needs two GPUs and libnccl.so.2 (or TALLY_NCCL); says so and is skipped where they are not. Each part is
 * named before it begins, and ends the program if it takes too long: ranks that wait for one another wait for ever.
 *
 *     test_nccl [--alone] [--measure]     --alone: one GPU will do; --measure: also what ranks cost, as a table */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

/* ---- parts ---- */

static void end_late(int number) {
    static const char said[] = "this part took too long: ranks wait for one another\n";
    (void)number;
    (void)!write(STDERR_FILENO, said, sizeof said - 1);
    _exit(1);
}

/* Says what begins, and ends the program if that takes longer than `seconds`. */
static void begin_part(const char *what, unsigned seconds) {
    printf("%s: at most %u s\n", what, seconds);
    fflush(stdout);
    signal(SIGALRM, end_late);
    alarm(seconds);
}

/* ---- a thread for each GPU ---- */

/* FAR_PARTS and further ones: segments by an index in GPU memory. */
typedef enum form { WHOLE, PARTS, ELEMENTS, FAR_PARTS, IDS, PLANNED_IDS, PLAIN, FORMS } form;
static const char *const form_names[FORMS] = {
    "whole", "segments", "elements", "far segments", "ids in any order", "planned ids", "NCCL's own"};

typedef struct rank {
    int number;
    const subject *what;
    form form;
    int repeats;
    tally_context *context;
    tally_array x, y;
    tally_segments segments;
    tally__cu_address index[2]; /* of it, or 0 */
    tally_plan *plan;
    tally_output out;
    size_t space; /* bytes there */
    tally__cu_stream stream;
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
    case FAR_PARTS:
    case IDS:
    case PLANNED_IDS:
        return pair ? tally_nccl_allreduce_segments_pair(r->context, op, r->x, r->y, r->segments, r->out, comm)
                    : tally_nccl_allreduce_segments(r->context, op, r->x, r->segments, r->out, comm);
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

/* Runs all ranks at once. A rank that is refused leaves the others waiting: the program ends in the end. */
static double run_ranks(rank *ranks, void *(*run)(void *)) {
    pthread_t threads[MOST_GPUS];
    double slowest = 0;
    for (int p = 0; p < gpus; p++) EXPECT(pthread_create(&threads[p], NULL, run, &ranks[p]) == 0, "no thread");
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

/* How the whole is divided, and each rank's part of it. */
typedef struct segmentations {
    int64_t whole[SEGMENTS + 1], begins[MOST_GPUS][SEGMENTS], ends[MOST_GPUS][SEGMENTS];
    int32_t *ids;
} segmentations;

static bool has_ids(form f) { return f == IDS || f == PLANNED_IDS; }
static bool has_parts(form f) { return f == PARTS || f == FAR_PARTS; }

static void segments_whole(segmentations *c, form f, int64_t count) {
    for (int k = 0; k <= SEGMENTS; k++) c->whole[k] = count * k / SEGMENTS;
    for (int p = 0; p < gpus; p++)
        for (int k = 0; k < SEGMENTS; k++) {
            c->begins[p][k] = c->whole[k] + (c->whole[k + 1] - c->whole[k]) * p / gpus;
            c->ends[p][k] = c->whole[k] + (c->whole[k + 1] - c->whole[k]) * (p + 1) / gpus;
        }
    c->ids = scratch(2, (size_t)count * sizeof *c->ids);
    for (int64_t i = 0; has_ids(f) && i < count; i++) c->ids[i] = (int32_t)((i * 7 + i / 1000) % SEGMENTS);
}
static tally_segments segments_of_all(const segmentations *c, form f, int64_t n) {
    return has_ids(f)     ? tally_unsorted_ids(c->ids, TALLY_I32, SEGMENTS, TALLY_OUTSIDE_REFUSED)
           : has_parts(f) ? tally_offsets(c->whole, TALLY_I64, SEGMENTS)
                          : tally_rows(1, gpus, n);
}
static void segments_rank(rank *r, const segmentations *c, int64_t first) {
    const int64_t *begins = c->begins[r->number], *ends = c->ends[r->number];
    r->segments = tally_begin_end(begins, ends, TALLY_I64, SEGMENTS);
    if (r->form == FAR_PARTS) {
        r->index[0] = to_gpu(r->number, begins, SEGMENTS * sizeof *begins);
        r->index[1] = to_gpu(r->number, ends, SEGMENTS * sizeof *ends);
        r->segments = tally_begin_end(address(r->index[0]), address(r->index[1]), TALLY_I64, SEGMENTS);
    }
    if (!has_ids(r->form)) return;
    r->index[0] = to_gpu(r->number, c->ids + first, (size_t)r->x.count * sizeof *c->ids);
    r->segments = tally_unsorted_ids(address(r->index[0]), TALLY_I32, SEGMENTS, TALLY_OUTSIDE_REFUSED);
    if (r->form != PLANNED_IDS) return;
    EXPECT_OK(tally_plan_open(r->context, r->x.type, r->x.count, r->segments, &r->plan));
    r->segments = tally_planned(r->plan);
}

/* The whole is divided into equal parts but for the rest; of elements each rank has n. */
static void open_ranks(rank *ranks, const subject *s, form f, const segmentations *c, const char *x, const char *y,
                       int64_t n) {
    const size_t bytes = tally_type_size(s->type);
    for (int p = 0; p < gpus; p++) {
        const int64_t first = has_parts(f) ? 0 : n * p, some = has_parts(f) ? n * gpus : n,
                      results = f == WHOLE      ? 1
                                : f == ELEMENTS ? n
                                                : SEGMENTS;
        rank *r = &ranks[p];
        *r = (rank){.number = p, .what = s, .form = f, .repeats = 1, .space = (size_t)results * result_bytes(s)};
        r->context = context_for(s, TALLY_BACKEND_CUDA, 1);
        r->x = tally_in(address(to_gpu(p, x + (size_t)first * bytes, (size_t)some * bytes)), s->type, some);
        r->y = tally_in(address(to_gpu(p, y + (size_t)first * bytes, (size_t)some * bytes)), s->type, some);
        r->out = tally_out(address(to_gpu(p, NULL, r->space)), TALLY_NATURAL, results);
        segments_rank(r, c, first);
    }
}
static void close_ranks(rank *ranks) {
    for (int p = 0; p < gpus; p++) {
        rank *r = &ranks[p];
        release(p, r->x.data);
        release(p, r->y.data);
        release(p, r->out.data);
        for (int k = 0; k < 2; k++)
            if (r->index[k] != 0) release(p, address(r->index[k]));
        tally_plan_close(r->plan);
    }
}

/* Every rank's results are compared. */
static void check(const subject *s, form f, data_class class, int64_t n, void *(*run)(void *)) {
    const int64_t count = n * gpus;
    const size_t each = result_bytes(s);
    const char *x = data_of(s->type, class, count), *y = data_of(s->type, TIES, count);
    rank ranks[MOST_GPUS];
    segmentations c;
    now = (scene){
        .op = s->op, .type = s->type, .nan = s->nan, .data = class_names[class], .size = n, .segments = form_names[f]};
    segments_whole(&c, f, count);
    open_ranks(ranks, s, f, &c, x, y, n);
    char *wanted = scratch(0, ranks[0].space + 1), *got = scratch(1, ranks[0].space + 1);
    run_ranks(ranks, run);
    const tally_segments segments = segments_of_all(&c, f, n);
    (void)!perform(context_for(s, TALLY_BACKEND_CPU, 0), s->op, tally_in(x, s->type, count),
                   tally_in(y, s->type, count), f == WHOLE ? NULL : &segments,
                   tally_out(wanted, TALLY_NATURAL, ranks[0].out.count));
    for (int p = 0; p < gpus; p++) {
        from_gpu(p, got, (tally__cu_address)(uintptr_t)ranks[p].out.data, ranks[p].space);
        for (size_t at = 0; at < ranks[p].space; at += each) {
            now.segment = (int64_t)(at / each);
            EXPECT_BITS(got + at, wanted + at, each, "a rank's result");
        }
    }
    close_ranks(ranks);
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
    begin_part("arrays, segments and elements", 240);
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        for (int class = 0; class < DATA_CLASSES; class += 1 + (int)(i % 2))
            for (int f = WHOLE; f <= ELEMENTS; f++)
                if (f == ELEMENTS || !order_shows(&some[i]))
                    check(&some[i], (form)f, (data_class) class, f == ELEMENTS ? 1237 : 40009, run_rank);
}

static const subject few[] = {{TALLY_SUM, TALLY_F32, 0, 0, TALLY_BEST},
                              {TALLY_VAR, TALLY_F64, 0, 1, TALLY_BEST},
                              {TALLY_DOT, TALLY_F64, 0, 0, TALLY_BEST},
                              {TALLY_MINMAX, TALLY_F32, 0, 0, TALLY_BEST},
                              {TALLY_ARGMAX, TALLY_F32, 1, 0, TALLY_BEST}};
enum { FEW = sizeof few / sizeof *few };

/* Segments by an index in GPU memory. */
static void test_index(void **state) {
    (void)state;
    begin_part("segments by an index in GPU memory", 120);
    for (int i = 0; i < FEW; i++)
        for (int f = FAR_PARTS; f <= PLANNED_IDS; f++) check(&few[i], (form)f, CANCELLATION, 40009, run_rank);
}

/* ---- captured ---- */

static struct graphs {
    int (*begin)(tally__cu_stream, int mode);
    int (*end)(tally__cu_stream, void **graph);
    int (*instantiate)(void **ready, void *graph, unsigned long long flags);
    int (*launch)(void *ready, tally__cu_stream);
    int (*destroy)(void *graph);
    int (*destroy_ready)(void *ready);
} graphs;

static void expect_of(rank *r, bool holds, const char *what) {
    if (holds || r->status != TALLY_OK) return;
    r->status = TALLY_DEVICE_FAILED;
    snprintf(r->sentence, sizeof r->sentence, "%s failed: %s", what, tally_message());
    fprintf(stderr, "rank %d: %s\n", r->number, r->sentence);
}

/* Once by itself, which makes kernels ready and connects ranks; then as a graph, launched three times. Ranks wait for
 * one another between the steps. */
static void *run_captured(void *of) {
    enum { RELAXED = 2 };
    rank *r = of;
    void *graph = NULL, *ready = NULL;
    expect_of(r, tally__gpu_enter(gpu[r->number]) == TALLY_OK, "entering the GPU");
    pthread_barrier_wait(&barrier);
    expect_of(r, call(r) == TALLY_OK && driver->stream_wait(r->stream) == 0, "the call by itself");
    pthread_barrier_wait(&barrier);
    expect_of(r,
              driver->fill((tally__cu_address)(uintptr_t)r->out.data, 0xa5, r->space, r->stream) == 0 &&
                  driver->stream_wait(r->stream) == 0,
              "clearing results");
    expect_of(r, graphs.begin(r->stream, RELAXED) == 0, "cuStreamBeginCapture");
    expect_of(r, call(r) == TALLY_OK, "the captured call");
    expect_of(r, graphs.end(r->stream, &graph) == 0 && graph != NULL, "cuStreamEndCapture");
    expect_of(r, r->status == TALLY_OK && graphs.instantiate(&ready, graph, 0) == 0, "cuGraphInstantiateWithFlags");
    pthread_barrier_wait(&barrier);
    for (int trial = 0; trial < 3; trial++)
        expect_of(r, r->status == TALLY_OK && graphs.launch(ready, r->stream) == 0, "cuGraphLaunch");
    expect_of(r, driver->stream_wait(r->stream) == 0, "the graph");
    pthread_barrier_wait(&barrier);
    if (ready != NULL) graphs.destroy_ready(ready);
    if (graph != NULL) graphs.destroy(graph);
    tally__gpu_leave(gpu[r->number]);
    return NULL;
}

static tally_context *streaming_contexts[MOST_GPUS];
static tally__cu_stream streams[MOST_GPUS];

/* With a stream of each rank's own, as the default one is never captured. */
static void *run_on_stream(void *of) {
    rank *r = of;
    tally_options options = tally_get_options(r->context);
    options.stream = streams[r->number];
    r->stream = streams[r->number];
    r->context = streaming_contexts[r->number];
    expect_of(r, tally_set_options(r->context, &options) == TALLY_OK, "setting the stream");
    return run_captured(r);
}

static bool find_graphs(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == NULL) return false;
    *(void **)&graphs.begin = dlsym(library, "cuStreamBeginCapture_v2");
    *(void **)&graphs.end = dlsym(library, "cuStreamEndCapture");
    *(void **)&graphs.instantiate = dlsym(library, "cuGraphInstantiateWithFlags");
    *(void **)&graphs.launch = dlsym(library, "cuGraphLaunch");
    *(void **)&graphs.destroy = dlsym(library, "cuGraphDestroy");
    *(void **)&graphs.destroy_ready = dlsym(library, "cuGraphExecDestroy");
    return graphs.begin && graphs.end && graphs.instantiate && graphs.launch && graphs.destroy && graphs.destroy_ready;
}

static void test_captured(void **state) {
    (void)state;
    begin_part("captured in a graph", 120);
    if (!find_graphs()) {
        printf("graphs: SKIPPED, this driver has none\n");
        return;
    }
    for (int p = 0; p < gpus; p++) {
        enum { NON_BLOCKING = 1 };
        EXPECT_OK(tally_context_create(NULL, &streaming_contexts[p]));
        EXPECT_OK(tally__gpu_enter(gpu[p]));
        EXPECT(driver->stream_create(&streams[p], NON_BLOCKING) == 0, "no stream on GPU %d", p);
        tally__gpu_leave(gpu[p]);
    }
    for (int i = 0; i < FEW; i++)
        for (int f = WHOLE; f <= PLANNED_IDS; f++) {
            printf("    %s of %s, %s\n", tally_op_name(few[i].op), tally_type_name(few[i].type), form_names[f]);
            fflush(stdout);
            check(&few[i], (form)f, CANCELLATION, f == ELEMENTS ? 1237 : 40009, run_on_stream);
        }
    for (int p = 0; p < gpus; p++) {
        tally_context_destroy(streaming_contexts[p]);
        EXPECT_OK(tally__gpu_enter(gpu[p]));
        driver->stream_destroy(streams[p]);
        tally__gpu_leave(gpu[p]);
    }
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
        const double seconds = run_ranks(ranks, run_rank);
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
    begin_part("what it costs", 100);
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
static int begin(int least_gpus) {
    const char *named = getenv("TALLY_NCCL"), *why = "";
    int (*init_all)(void **, int, const int *);
    void *library = dlopen(named != NULL ? named : "libnccl.so.2", RTLD_NOW);
    if (tally_gpu_count(&gpus) != TALLY_OK) return leave_out(tally_message());
    if (gpus < least_gpus) return leave_out("ranks of NCCL need two GPUs");
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_results), cmocka_unit_test(test_index)},
                            last[] = {cmocka_unit_test(test_captured)}; /* as what waits for ever does so there */
    const bool is_alone = argc > 1 && strcmp(argv[1], "--alone") == 0;
    if (is_alone) argc--, argv++;
    const bool measures = argc > 1 && strcmp(argv[1], "--measure") == 0;
    if (measures) argc--, argv++;
    int status = begin_program(argc, argv);
    if (status == 0) status = begin(is_alone ? 1 : 2);
    if (status == 0) status = cmocka_run_group_tests(tests, NULL, NULL);
    if (status == 0 && measures) print_costs();
    if (status == 0) status = cmocka_run_group_tests(last, NULL, NULL);
    return status;
}
