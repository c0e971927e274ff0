/* Arrays in a GPU's memory (gpu_ranks.h). The simulator's memory is the host's, so that any MPI can be said to reach
 * it; of a real GPU MPI is asked. */
#include "gpu_ranks.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/gpu.h"
#include "mpi/ranks.h"
#include "simt/simt.h"
#include "support.h"
#include "tally/tally_mpi.h"
#include "tally/tally_nodes.h"

enum { EACH = 400, SEGMENTS = 4, MOST_RANKS = 16 };

static const tally__backend *of_gpu = &tally__simt_backend;
static const tally__driver *driver;
static tally_context *context;

static void *copy_to_gpu(const void *from, size_t bytes) {
    tally__cu_address there = 0;
    EXPECT(driver->allocate(&there, bytes) == 0 && driver->copy_in(there, from, bytes, NULL) == 0 &&
               driver->stream_wait(NULL) == 0,
           "no memory of the GPU's");
    return (void *)(uintptr_t)there;
}
static void release(void *there) { driver->release((tally__cu_address)(uintptr_t)there); }

static int times_added, times_there; /* since they were last looked at; and in GPU memory */
void note_added(const void *to) {
    times_added++;
    times_there += of_gpu->holds(to);
}

static int times_sent_there;
void note_sent(const void *from) { times_sent_there += of_gpu->holds(from); }

/* Nodes that add up are sent from where they are; others, and what MPI does not reach, from the host. */
static void expect_place(tally_op op, tally_type type, bool is_aware) {
    int adds = 0;
    EXPECT_OK(tally_node_adds(context, op, type, &adds));
    EXPECT(times_added == adds && times_there == (adds && is_aware), "%s: nodes were added %d times, %d on the GPU",
           tally_op_name(op), times_added, times_there);
    times_added = times_there = 0;
}

static void check(int rank, int ranks, tally_op op, tally_type type, bool is_aware) {
    const size_t bytes = tally_type_size(type);
    const char *x = data_of(type, CANCELLATION, EACH * ranks);
    char got[SEGMENTS * 64] = {0}, wanted[SEGMENTS * 64] = {0};
    void *mine = copy_to_gpu(x + (size_t)rank * EACH * bytes, EACH * bytes);
    const tally_array part = tally_in(mine, type, EACH), whole = tally_in(x, type, EACH * ranks);
    const tally_segments parts = tally_rows(1, EACH / SEGMENTS, SEGMENTS),
                         all = tally_rows(1, ranks * EACH / SEGMENTS, SEGMENTS);
    EXPECT_OK(tally_mpi_allreduce(context, op, part, tally_out(got, TALLY_NATURAL, 1), MPI_COMM_WORLD));
    EXPECT_OK(tally_reduce(NULL, op, whole, tally_out(wanted, TALLY_NATURAL, 1)));
    EXPECT_BITS(got, wanted, sizeof got, "a whole array in GPU memory");
    expect_place(op, type, is_aware);
    EXPECT_OK(tally_mpi_reduce(context, op, part, tally_out(got, TALLY_NATURAL, 1), ranks - 1, MPI_COMM_WORLD));
    EXPECT_BITS(got, wanted, sizeof got, "a whole array in GPU memory, to a root");
    EXPECT_OK(tally_mpi_allreduce_segments(context, op, part, parts, tally_out(got, TALLY_NATURAL, SEGMENTS),
                                           MPI_COMM_WORLD));
    EXPECT_OK(tally_reduce_segments(NULL, op, whole, all, tally_out(wanted, TALLY_NATURAL, SEGMENTS)));
    EXPECT_BITS(got, wanted, sizeof got, "segments in GPU memory");
    expect_place(op, type, is_aware);
    /* the same segments by ids in GPU memory */
    int32_t ids[EACH];
    for (int i = 0; i < EACH; i++) ids[i] = i % SEGMENTS;
    void *index = copy_to_gpu(ids, sizeof ids);
    memset(got, 0, sizeof got);
    EXPECT_OK(tally_mpi_allreduce_segments(context, op, part,
                                           tally_unsorted_ids(index, TALLY_I32, SEGMENTS, TALLY_OUTSIDE_REFUSED),
                                           tally_out(got, TALLY_NATURAL, SEGMENTS), MPI_COMM_WORLD));
    EXPECT_BITS(got, wanted, sizeof got, "segments by ids in GPU memory");
    expect_place(op, type, is_aware);
    release(index);
    release(mine);
}

/* So many nodes that they travel as windows. */
static void check_windows(int rank, int ranks, tally_op op, tally_type type, bool is_aware) {
    enum { MANY = 80 }; /* of 320 bytes and more each: above the 16 KiB from which windows travel */
    const size_t bytes = tally_type_size(type), space = MANY * sizeof(tally_stats);
    const char *x = data_of(type, CANCELLATION, EACH * ranks);
    char *got = scratch(0, space), *wanted = scratch(1, space);
    void *mine = copy_to_gpu(x + (size_t)rank * EACH * bytes, EACH * bytes);
    const tally_array part = tally_in(mine, type, EACH), whole = tally_in(x, type, EACH * ranks);
    memset(got, 0, space), memset(wanted, 0, space);
    times_added = times_there = 0;
    for (int root = 0; root < 2; root++) {
        const tally_segments parts = tally_rows(1, EACH / MANY, MANY), all = tally_rows(1, ranks * EACH / MANY, MANY);
        const tally_output out = tally_out(got, TALLY_NATURAL, MANY);
        EXPECT_OK(root ? tally_mpi_reduce_segments(context, op, part, parts, out, 0, MPI_COMM_WORLD)
                       : tally_mpi_allreduce_segments(context, op, part, parts, out, MPI_COMM_WORLD));
        EXPECT_OK(tally_reduce_segments(NULL, op, whole, all, tally_out(wanted, TALLY_NATURAL, MANY)));
        EXPECT_BITS(got, wanted, space, "many segments in GPU memory");
        if (root == 0) expect_place(op, type, is_aware);
    }
    release(mine);
}

/* Long vectors, of any operator. With an out in GPU memory, too, which only an MPI that reaches it takes. */
static void check_elements(int rank, int ranks, tally_op op, tally_type type, bool is_aware) {
    enum { LONG = 9000 };
    const size_t bytes = tally_type_size(type), all = LONG * sizeof(double);
    const char *x = data_of(type, CANCELLATION, (int64_t)LONG * ranks);
    char *got = scratch(0, all), *wanted = scratch(1, all);
    void *mine = copy_to_gpu(x + (size_t)rank * LONG * bytes, LONG * bytes), *there = copy_to_gpu(got, all);
    const tally_array part = tally_in(mine, type, LONG);
    const tally_output far = tally_out(there, type, LONG);
    times_sent_there = 0;
    EXPECT_OK(tally_mpi_allreduce_elements(context, op, part, tally_out(got, type, LONG), MPI_COMM_WORLD));
    EXPECT_OK(tally_reduce_segments(NULL, op, tally_in(x, type, (int64_t)LONG * ranks), tally_rows(1, ranks, LONG),
                                    tally_out(wanted, type, LONG)));
    EXPECT_BITS(got, wanted, LONG * bytes, "vectors in GPU memory");
    EXPECT(times_sent_there == is_aware, "%d times sent from GPU memory", times_sent_there);
    int all_aware, aware = is_aware;
    MPI_Allreduce(&aware, &all_aware, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    const tally_status status = tally_mpi_allreduce_elements(context, op, part, far, MPI_COMM_WORLD);
    EXPECT(status == (all_aware ? TALLY_OK : TALLY_UNSUPPORTED), "status %d: %s", (int)status, tally_mpi_message());
    if (all_aware) {
        EXPECT(driver->copy_out(got, (tally__cu_address)(uintptr_t)there, LONG * bytes, NULL) == 0, "no copy");
        EXPECT_BITS(got, wanted, LONG * bytes, "results in GPU memory");
    }
    release(there);
    release(mine);
}

/* Whether this rank's MPI reaches a GPU, and what is checked then. */
static void check_all(int rank, int ranks, bool is_aware) {
    static const struct {
        tally_op op;
        tally_type type;
    } cases[] = {{TALLY_SUM, TALLY_F64},   {TALLY_VAR, TALLY_F32},    {TALLY_COUNT, TALLY_I8},
                 {TALLY_STATS, TALLY_F32}, {TALLY_ARGMAX, TALLY_F64}, {TALLY_SUM, TALLY_I32}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) check(rank, ranks, cases[k].op, cases[k].type, is_aware);
    check_windows(rank, ranks, TALLY_SUM, TALLY_F64, is_aware);
    check_windows(rank, ranks, TALLY_VAR, TALLY_F32, is_aware);
    if (HAS_SEGMENTS || of_gpu == &tally__cuda_backend) {
        check_elements(rank, ranks, TALLY_SUM, TALLY_F32, is_aware);
        check_elements(rank, ranks, TALLY_PROD, TALLY_F64, is_aware);
    } else if (rank == 0) {
        printf("vectors in GPU memory: SKIPPED, this build has no kernels of rows\n");
    }
}

static void say_aware(bool is_aware) { setenv("TALLY_MPI_CUDA", is_aware ? "1" : "0", 1); }

void test_gpu_ranks(int rank, int ranks, bool is_real) {
    const tally__platform *platform = is_real ? &tally__nvidia_platform : &tally__simt_platform;
    tally_options options = TALLY_OPTIONS_INIT;
    tally__gpu *gpu;
    const char *why = NULL;
    driver = platform->driver(&why);
    EXPECT(driver != NULL, "no GPU: %s", why);
    options.backend = is_real ? TALLY_BACKEND_CUDA : TALLY_BACKEND_SIMT;
    of_gpu = is_real ? &tally__cuda_backend : &tally__simt_backend;
    EXPECT_OK(tally_context_create(NULL, &context));
    EXPECT_OK(tally_set_options(context, &options));
    EXPECT_OK(tally__gpu_open(platform, 0, &gpu));
    EXPECT_OK(tally__gpu_enter(gpu));
    times_added = times_there = 0;
    if (is_real) {
        const bool is_aware = tally__mpi_reaches_gpus();
        if (rank == 0) printf("MPI %s GPU memory\n", is_aware ? "reaches" : "does not reach");
        check_all(rank, ranks, is_aware);
        say_aware(false);
        if (is_aware) check_all(rank, ranks, false);
    } else {
        for (int aware = 0; aware < 3; aware++) { /* none, all, and some of the ranks */
            const bool is_aware = aware == 1 || (aware == 2 && rank % 2 == 0);
            say_aware(is_aware);
            check_all(rank, ranks, is_aware);
        }
    }
    unsetenv("TALLY_MPI_CUDA");
    tally__gpu_leave(gpu);
    tally_context_destroy(context);
}
