/* What a rank adds: a reduction over ranks beside the same reduction of one process, and beside MPI's own, in one run.
 *
 *     mpirun -n 2 build/bench_ranks [ROUNDS]      writes a table in Markdown
 *
 * Contenders take turns in rounds. A time is that of the slowest rank between two barriers, for one call; of all rounds
 * the median, and in parentheses the least. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tally/tally_mpi.h"
#include "tally/tally_nodes.h"

enum { VECTOR = 1 << 20, LOCAL = 1 << 16, SEGMENTS = 100, MOST_ROUNDS = 1000 };

static int rank, ranks;
static double values[LOCAL], doubles[SEGMENTS];
static float vector[VECTOR], sums[VECTOR];
static int64_t limbs[73], limbs_out[73], offsets[SEGMENTS + 1];
static unsigned char node[1728];
static tally_context *exact, *fast; /* of one thread each: ranks share the cores */

static void must(tally_status status) {
    if (status == TALLY_OK) return;
    fprintf(stderr, "%s\n", tally_mpi_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- contenders ---- */

static void nothing(void) {}
static void one_double(void) {
    double sum;
    MPI_Allreduce(values, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void limbs_alone(void) { MPI_Allreduce(limbs, limbs_out, 73, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD); }
static void local_sum(void) {
    must(tally_reduce(exact, TALLY_SUM, tally_in(values, TALLY_F64, LOCAL), tally_out(doubles, TALLY_F64, 1)));
}
static void local_node(void) {
    must(tally_reduce_node(exact, TALLY_SUM, tally_in(values, TALLY_F64, LOCAL), node, sizeof node));
}
static void all_of(tally_context *context, tally_op op, int64_t count) {
    must(tally_mpi_allreduce(context, op, tally_in(values, TALLY_F64, count), tally_out(doubles, TALLY_NATURAL, 1),
                             MPI_COMM_WORLD));
}
static void sum_of_one(void) { all_of(exact, TALLY_SUM, 1); }
static void sum_of_many(void) { all_of(exact, TALLY_SUM, LOCAL); }
static void max_of_one(void) { all_of(exact, TALLY_MAX, 1); }
static void argmax_of_one(void) { all_of(exact, TALLY_ARGMAX, 1); }
static void fast_of_one(void) { all_of(fast, TALLY_SUM, 1); }
static void segments(void) {
    must(tally_mpi_allreduce_segments(exact, TALLY_SUM, tally_in(values, TALLY_F64, LOCAL),
                                      tally_offsets(offsets, TALLY_I64, SEGMENTS),
                                      tally_out(doubles, TALLY_F64, SEGMENTS), MPI_COMM_WORLD));
}
static void local_segments(void) {
    must(tally_reduce_segments(exact, TALLY_SUM, tally_in(values, TALLY_F64, LOCAL),
                               tally_offsets(offsets, TALLY_I64, SEGMENTS), tally_out(doubles, TALLY_F64, SEGMENTS)));
}
static void plain_segments(void) { MPI_Allreduce(values, doubles, SEGMENTS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static void plain_vector(void) { MPI_Allreduce(vector, sums, VECTOR, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); }
static void exact_vector(void) {
    must(tally_mpi_allreduce_elements(exact, TALLY_SUM, tally_in(vector, TALLY_F32, VECTOR),
                                      tally_out(sums, TALLY_F32, VECTOR), MPI_COMM_WORLD));
}
static void fast_vector(void) {
    must(tally_mpi_allreduce_elements(fast, TALLY_SUM, tally_in(vector, TALLY_F32, VECTOR),
                                      tally_out(sums, TALLY_F32, VECTOR), MPI_COMM_WORLD));
}

static const struct {
    const char *name;
    void (*call)(void);
    int repeats; /* calls of one turn */
} contenders[] = {
    {"nothing", nothing, 100},
    {"MPI_Allreduce, one double", one_double, 100},
    {"MPI_Allreduce, 73 MPI_INT64_T", limbs_alone, 100},
    {"tally_mpi_allreduce, exact sum, 1 f64 on each rank", sum_of_one, 100},
    {"the same, max", max_of_one, 100},
    {"the same, argmax", argmax_of_one, 100},
    {"the same, TALLY_FAST sum (states)", fast_of_one, 100},
    {"tally_reduce, 2^16 f64, this rank alone", local_sum, 20},
    {"tally_reduce_node, 2^16 f64, this rank alone", local_node, 20},
    {"tally_mpi_allreduce, exact sum, 2^16 f64 on each rank", sum_of_many, 20},
    {"MPI_Allreduce, 100 doubles", plain_segments, 100},
    {"tally_reduce_segments, 100 segments of 2^16 f64, this rank alone", local_segments, 20},
    {"tally_mpi_allreduce_segments, the same on each rank", segments, 20},
    {"MPI_Allreduce, 2^20 floats", plain_vector, 2},
    {"tally_mpi_allreduce_elements, exact sum, 2^20 f32", exact_vector, 2},
    {"the same, TALLY_FAST", fast_vector, 2},
};
enum { CONTENDERS = sizeof contenders / sizeof *contenders };

static double turn(int c) {
    double begin, mine, slowest;
    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    for (int i = 0; i < contenders[c].repeats; i++) contenders[c].call();
    mine = (MPI_Wtime() - begin) / contenders[c].repeats;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    static double times[CONTENDERS][MOST_ROUNDS];
    tally_options options = TALLY_OPTIONS_INIT;
    int rounds = 50, length;
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1) rounds = atoi(argv[1]);
    if (rounds < 1 || rounds > MOST_ROUNDS) rounds = MOST_ROUNDS;
    options.threads = 1;
    must(tally_context_create(NULL, &exact));
    must(tally_set_options(exact, &options));
    options.accuracy = TALLY_FAST;
    must(tally_context_create(NULL, &fast));
    must(tally_set_options(fast, &options));
    for (int i = 0; i < LOCAL; i++) values[i] = (i % 1000 - 500) * 1.37e-3 * (rank + 1);
    for (int i = 0; i < VECTOR; i++) vector[i] = (float)(i % 1000 - 500) * 1.37e-3f * (float)(rank + 1);
    for (int s = 0; s <= SEGMENTS; s++) offsets[s] = (int64_t)LOCAL * s / SEGMENTS;
    for (int c = 0; c < CONTENDERS; c++) (void)turn(c); /* warms up */
    for (int i = 0; i < rounds; i++)
        for (int c = 0; c < CONTENDERS; c++) times[c][i] = turn(c);
    MPI_Get_library_version(version, &length);
    version[strcspn(version, ",\n")] = '\0';
    if (rank == 0)
        printf("%d ranks, %d rounds, %s\n\n| call | us | least |\n| --- | ---: | ---: |\n", ranks, rounds, version);
    for (int c = 0; c < CONTENDERS; c++) {
        qsort(times[c], (size_t)rounds, sizeof(double), ascending);
        if (rank == 0)
            printf("| %s | %.1f | %.1f |\n", contenders[c].name, times[c][rounds / 2] * 1e6, times[c][0] * 1e6);
    }
    tally_context_destroy(exact);
    tally_context_destroy(fast);
    MPI_Finalize();
    return 0;
}
