/* Ranks of MPI: however values are divided among ranks, results have the bits of one process that has all values. Every
 * rank makes the whole itself, takes its part, and compares. Begun by mpirun on 1, 2, 3, 5 and 8 ranks; a rank that
 * fails ends the program, and so mpirun all others. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_ranks.h"
#include "mpi_calls.h"
#include "operators.h"
#include "tally/tally_mpi.h"
#include "tally/tally_nodes.h"

static int rank, ranks;
static bool brief; /* --brief: for an MPI that is slow where ranks share cores */

enum { WANTED, HAVE, OWN, OWN_Y }; /* scratch memory */
enum { SEGMENTS = 6, MOST_RANKS = 16 };

/* The whole, and how this rank reduces: threads and backends are each rank's own matter. */
typedef struct whole {
    tally_context *context;
    tally_op op;
    tally_type type;
    const char *x, *y;
    int64_t count;
    size_t bytes, result;
    int inputs;
} whole;

static whole whole_of(const subject *s, data_class class, int64_t count) {
    const tally_backend backend = rank % 3 == 1 ? TALLY_BACKEND_REFERENCE : TALLY_BACKEND_CPU;
    whole w = {context_for(s, backend, 1 + rank % 2), s->op, s->type, .count = count, .inputs = tally_op_inputs(s->op)};
    w.x = data_of(s->type, class, count);
    w.y = data_of(s->type, (data_class)((class + 1) % DATA_CLASSES), count);
    w.bytes = tally_type_size(s->type);
    w.result = result_bytes(s);
    set_scene(s, class, count);
    return w;
}

static tally_array part(const whole *w, const char *values, int64_t from, int64_t n) {
    return (tally_array){values + (size_t)from * w->bytes, w->type, n, 0};
}

static tally_status perform_own(const whole *w, const tally_segments *segments, tally_output out) {
    if (w->inputs != 2)
        return segments != NULL ? tally_reduce_segments(w->context, w->op, part(w, w->x, 0, w->count), *segments, out)
                                : tally_reduce(w->context, w->op, part(w, w->x, 0, w->count), out);
    return perform(w->context, w->op, part(w, w->x, 0, w->count), part(w, w->y, 0, w->count), segments, out);
}

/* A rank has the result: the status and the bits of one process. Another: no complaint. */
static void expect_results(const whole *w, const tally_segments *segments, int64_t results, int root,
                           tally_status status, const char *what) {
    const char *got = scratch(HAVE, (size_t)results * w->result + 1);
    char *wanted = scratch(WANTED, (size_t)results * w->result + 1);
    now.segments = what;
    if (root >= 0 && root != rank) {
        EXPECT(status == TALLY_OK || status == TALLY_EMPTY || status == TALLY_OVERFLOW, "rank %d of %d: %d, %s", rank,
               ranks, (int)status, tally_mpi_message());
        return;
    }
    const tally_status due = perform_own(w, segments, tally_out(wanted, TALLY_NATURAL, results));
    EXPECT(status == due, "rank %d of %d: status %d (%s), due is %d", rank, ranks, (int)status, tally_mpi_message(),
           (int)due);
    for (int64_t i = 0; i < results; i++) {
        now.segment = i;
        EXPECT_BITS(got + (size_t)i * w->result, wanted + (size_t)i * w->result, w->result, what);
    }
}

static tally_output place(const whole *w, int64_t results) {
    char *have = scratch(HAVE, (size_t)results * w->result + 1);
    memset(have, 0x5a, (size_t)results * w->result);
    return tally_out(have, TALLY_NATURAL, results);
}

/* ---- whole arrays ---- */

/* Where each rank's values begin; the same on all ranks. Some have none. */
static void draw_boundaries(int64_t count, uint64_t *random, int64_t *boundaries) {
    boundaries[0] = 0;
    for (int p = 1; p < ranks; p++) {
        const int64_t left = count - boundaries[p - 1];
        boundaries[p] = boundaries[p - 1] + (random_below(random, 3) ? random_below(random, left / 2 + 1) : 0);
    }
    boundaries[ranks] = count;
}

static void check_whole(const whole *w, int root, uint64_t *random) {
    int64_t boundaries[MOST_RANKS + 1];
    tally_status status;
    draw_boundaries(w->count, random, boundaries);
    const int64_t n = boundaries[rank + 1] - boundaries[rank];
    const tally_array x = part(w, w->x, boundaries[rank], n), y = part(w, w->y, boundaries[rank], n);
    tally_output out = place(w, 1);
    if (root >= 0 && rank != root) out = tally_out(NULL, TALLY_F16, 0); /* nobody looks */
    if (w->inputs == 2)
        status = root < 0 ? tally_mpi_allreduce_pair(w->context, w->op, x, y, out, MPI_COMM_WORLD)
                          : tally_mpi_reduce_pair(w->context, w->op, x, y, out, root, MPI_COMM_WORLD);
    else
        status = root < 0 ? tally_mpi_allreduce(w->context, w->op, x, out, MPI_COMM_WORLD)
                          : tally_mpi_reduce(w->context, w->op, x, out, root, MPI_COMM_WORLD);
    expect_results(w, NULL, 1, root, status, "whole arrays");
}

/* ---- segments ---- */

/* The whole is segment after segment, each of which is rank after rank. */
typedef struct shared {
    int64_t offsets[SEGMENTS + 1];
    int64_t own[SEGMENTS + 1]; /* of this rank's array */
    int64_t ids[4000], ends[SEGMENTS];
    tally_array x, y;
} shared;

static void draw_shared(const whole *w, uint64_t *random, shared *g) {
    char *x = scratch(OWN, (size_t)w->count * w->bytes + 1), *y = scratch(OWN_Y, (size_t)w->count * w->bytes + 1);
    g->offsets[0] = g->own[0] = 0;
    for (int s = 0; s < SEGMENTS; s++) {
        int64_t boundaries[MOST_RANKS + 1];
        const int64_t left = w->count - g->offsets[s], at = g->own[s];
        const int64_t length = s == SEGMENTS - 1 ? left : random_below(random, left / 2 + 1);
        draw_boundaries(length, random, boundaries);
        const int64_t n = boundaries[rank + 1] - boundaries[rank], from = g->offsets[s] + boundaries[rank];
        memcpy(x + (size_t)at * w->bytes, w->x + (size_t)from * w->bytes, (size_t)n * w->bytes);
        memcpy(y + (size_t)at * w->bytes, w->y + (size_t)from * w->bytes, (size_t)n * w->bytes);
        for (int64_t i = at; i < at + n; i++) g->ids[i] = s;
        g->offsets[s + 1] = g->offsets[s] + length;
        g->own[s + 1] = g->ends[s] = at + n;
    }
    g->x = part(w, x, 0, g->own[SEGMENTS]);
    g->y = part(w, y, 0, g->own[SEGMENTS]);
}

/* Each rank describes its segments in a way of its own. */
static tally_segments describe(shared *g, int way) {
    switch (way % 4) {
    case 0: return tally_offsets(g->own, TALLY_I64, SEGMENTS);
    case 1: return tally_segment_ids(g->ids, TALLY_I64, SEGMENTS);
    case 2: return tally_unsorted_ids(g->ids, TALLY_I64, SEGMENTS, TALLY_OUTSIDE_REFUSED);
    default: return tally_begin_end(g->own, g->ends, TALLY_I64, SEGMENTS);
    }
}

static void check_segments(const whole *w, int root, uint64_t *random) {
    static shared g;
    tally_status status;
    draw_shared(w, random, &g);
    const tally_segments own = describe(&g, rank + (int)(*random % 4)),
                         all = tally_offsets(g.offsets, TALLY_I64, SEGMENTS);
    const tally_output out = place(w, SEGMENTS);
    if (w->inputs == 2)
        status = root < 0 ? tally_mpi_allreduce_segments_pair(w->context, w->op, g.x, g.y, own, out, MPI_COMM_WORLD)
                          : tally_mpi_reduce_segments_pair(w->context, w->op, g.x, g.y, own, out, root, MPI_COMM_WORLD);
    else
        status = root < 0 ? tally_mpi_allreduce_segments(w->context, w->op, g.x, own, out, MPI_COMM_WORLD)
                          : tally_mpi_reduce_segments(w->context, w->op, g.x, own, out, root, MPI_COMM_WORLD);
    expect_results(w, &all, SEGMENTS, root, status, "segments");
}

/* ---- elements ---- */

/* The whole is rank after rank, n elements each. */
static void check_elements(const whole *w, int64_t n, int root) {
    const tally_segments columns = tally_rows(1, ranks, n);
    const tally_array x = part(w, w->x, rank * n, n), y = part(w, w->y, rank * n, n);
    const tally_output out = place(w, n);
    tally_status status;
    if (w->inputs == 2)
        status = root < 0 ? tally_mpi_allreduce_elements_pair(w->context, w->op, x, y, out, MPI_COMM_WORLD)
                          : tally_mpi_reduce_elements_pair(w->context, w->op, x, y, out, root, MPI_COMM_WORLD);
    else
        status = root < 0 ? tally_mpi_allreduce_elements(w->context, w->op, x, out, MPI_COMM_WORLD)
                          : tally_mpi_reduce_elements(w->context, w->op, x, out, root, MPI_COMM_WORLD);
    expect_results(w, &columns, n, root, status, "elements");
}

/* So many segments that windows of their nodes travel. */
static void check_many_segments(const whole *w, int root, uint64_t *random) {
    enum { MANY = 300 };
    int64_t offsets[MANY + 1], begins[MANY], ends[MANY];
    const tally_output out = place(w, MANY);
    tally_status status;
    for (int s = 0; s <= MANY; s++) offsets[s] = w->count * s / MANY;
    for (int s = 0; s < MANY; s++) {
        int64_t boundaries[MOST_RANKS + 1];
        draw_boundaries(offsets[s + 1] - offsets[s], random, boundaries);
        begins[s] = offsets[s] + boundaries[rank];
        ends[s] = offsets[s] + boundaries[rank + 1];
    }
    const tally_segments own = tally_begin_end(begins, ends, TALLY_I64, MANY),
                         all = tally_offsets(offsets, TALLY_I64, MANY);
    const tally_array x = part(w, w->x, 0, w->count), y = part(w, w->y, 0, w->count);
    if (w->inputs == 2)
        status = root < 0 ? tally_mpi_allreduce_segments_pair(w->context, w->op, x, y, own, out, MPI_COMM_WORLD)
                          : tally_mpi_reduce_segments_pair(w->context, w->op, x, y, own, out, root, MPI_COMM_WORLD);
    else
        status = root < 0 ? tally_mpi_allreduce_segments(w->context, w->op, x, own, out, MPI_COMM_WORLD)
                          : tally_mpi_reduce_segments(w->context, w->op, x, own, out, root, MPI_COMM_WORLD);
    expect_results(w, &all, MANY, root, status, "many segments");
}

/* ---- every operator ---- */

static void test_operators(void) {
    subject s = {.op = -1};
    uint64_t random = seed;
    for (int trial = 0; next_subject(&s); trial++) {
        const data_class class = (data_class)((trial + trial / DATA_CLASSES) % DATA_CLASSES);
        const int root = trial % 4 == 3 ? (int)random_below(&random, ranks) : -1;
        whole w = whole_of(&s, class, random_below(&random, 4) ? random_below(&random, 4000) : 0);
        check_whole(&w, root, &random);
        check_segments(&w, root, &random);
        const int64_t n = trial % 5 == 0 ? random_below(&random, ranks + 1) : random_below(&random, 300);
        w = whole_of(&s, class, n * ranks);
        check_elements(&w, n, root);
        int adds = 0;
        if (!order_shows(&s)) EXPECT_OK(tally_node_adds(w.context, s.op, s.type, &adds));
        if (adds) {
            w = whole_of(&s, class, random_below(&random, 2000));
            check_many_segments(&w, root, &random);
        }
        if (trial % 16 == 0) { /* longer than what travels as nodes of whatever size */
            w = whole_of(&s, class, 8000 * ranks);
            check_elements(&w, 8000, root);
        }
    }
}

/* ---- the caller's own ---- */

static void test_user_operators(void) {
    const struct {
        tally_operator definition;
        tally_type type;
    } all[] = {{affine_operator(), TALLY_STRUCT},
               {run_operator(TALLY_I16), TALLY_I16},
               {float_sum_operator(1), TALLY_F32},
               {float_sum_operator(0), TALLY_F32}};
    uint64_t random = seed + 1;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        whole w = {.type = all[i].type, .count = 3500, .inputs = 1};
        tally_context *context;
        EXPECT_OK(tally_context_create(NULL, &context));
        w.context = context;
        w.op = define(context, all[i].definition);
        now = (scene){.op = w.op, .type = w.type, .size = w.count};
        EXPECT_OK(tally_value_bytes(context, w.op, w.type, &w.bytes));
        EXPECT_OK(tally_result_type(context, w.op, w.type, NULL, &w.result));
        const tally_type like = w.type == TALLY_STRUCT ? TALLY_U32 : w.type;
        w.x = w.y = data_of(like, SMALL_INTEGERS, 2 * w.count); /* a struct of two u32 */
        check_whole(&w, -1, &random);
        check_whole(&w, ranks - 1, &random);
        check_segments(&w, -1, &random);
        check_segments(&w, ranks - 1, &random);
        w.count = 17 * ranks;
        check_elements(&w, 17, -1);
        tally_context_destroy(context);
    }
    EXPECT(broken_promises == 0, "callbacks got what they were not promised");
}

/* ---- what is asked otherwise ---- */

static void test_layouts(void) {
    enum { N = 1000 };
    const double *x = data_of(TALLY_F64, CANCELLATION, N * MOST_RANKS);
    float narrow[2 * N], sum, wanted;
    /* every second one of this rank's, to every second place, as another type */
    const tally_array in = {x + (ptrdiff_t)rank * N, TALLY_F64, N / 2, 16};
    const tally_array all = {x, TALLY_F64, N / 2 * ranks, 16};
    EXPECT_OK(tally_mpi_allreduce(NULL, TALLY_SUM, in, tally_out(&sum, TALLY_F32, 1), MPI_COMM_WORLD));
    EXPECT_OK(tally_reduce(NULL, TALLY_SUM, all, tally_out(&wanted, TALLY_F32, 1)));
    EXPECT_BITS(&sum, &wanted, sizeof sum, "strided values, narrow result");
    const tally_output out = {narrow, TALLY_F32, N / 2, 8};
    EXPECT_OK(tally_mpi_allreduce_elements(NULL, TALLY_SUM, in, out, MPI_COMM_WORLD));
    for (int i = 0; i < N / 2; i++) {
        const tally_array column = {x + 2 * i, TALLY_F64, ranks, N * 8};
        EXPECT_OK(tally_reduce(NULL, TALLY_SUM, column, tally_out(&wanted, TALLY_F32, 1)));
        EXPECT_BITS(&narrow[2 * i], &wanted, sizeof wanted, "strided elements, narrow results");
    }
}

/* Another communicator: every second rank, the other way round; freed, and made again. */
static void test_communicators(void) {
    const int64_t mine = rank + 1;
    int64_t got = 0, wanted = 0;
    for (int again = 0; again < 3; again++) {
        MPI_Comm half, other;
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
        EXPECT_OK(tally_mpi_allreduce(NULL, TALLY_ARGMIN, tally_in(&mine, TALLY_I64, 1), tally_out(&got, TALLY_I64, 1),
                                      half));
        int size;
        MPI_Comm_size(half, &size);
        wanted = size - 1; /* the lowest rank is last there */
        EXPECT(got == wanted, "%lld, not %lld", (long long)got, (long long)wanted);
        MPI_Comm_dup(half, &other); /* does not take ours along */
        EXPECT_OK(
            tally_mpi_allreduce(NULL, TALLY_SUM, tally_in(&mine, TALLY_I64, 1), tally_out(&got, TALLY_I64, 1), other));
        MPI_Comm_free(&half);
        EXPECT_OK(
            tally_mpi_allreduce(NULL, TALLY_MAX, tally_in(&mine, TALLY_I64, 1), tally_out(&got, TALLY_I64, 1), other));
        MPI_Comm_free(&other);
    }
}

/* ---- what is refused ---- */

static void *no_memory(size_t bytes, void *user) {
    (void)bytes;
    return *(int *)user ? malloc(bytes) : NULL;
}
static void release(void *memory, void *user) {
    (void)user;
    free(memory);
}

/* What one rank does wrong, and the status that all get. */
enum mistake {
    NULL_DATA,
    NEGATIVE_COUNT,
    UNKNOWN_OPERATOR,
    NO_SUCH_TYPE,
    BAD_OFFSETS,
    NULL_OUT,
    LITTLE_OUT,
    OUT_OF_NO_TYPE,
    BAD_ROOT,
    PAIR_OF_ONE,
    OTHER_OPERATOR,
    OTHER_TYPE,
    OTHER_OPTIONS,
    OTHER_OUT_TYPE,
    OTHER_COUNT_OF_SEGMENTS,
    OTHER_ROOT,
    OTHER_FUNCTION,
    NO_MEMORY_FOR_STATES,
    MISTAKES
};
static const tally_status due[MISTAKES] = {[NULL_DATA] = TALLY_BAD_ARGUMENT,
                                           [NEGATIVE_COUNT] = TALLY_BAD_ARGUMENT,
                                           [UNKNOWN_OPERATOR] = TALLY_BAD_ARGUMENT,
                                           [NO_SUCH_TYPE] = TALLY_BAD_TYPE,
                                           [BAD_OFFSETS] = TALLY_BAD_SEGMENTS,
                                           [NULL_OUT] = TALLY_BAD_ARGUMENT,
                                           [LITTLE_OUT] = TALLY_BAD_ARGUMENT,
                                           [OUT_OF_NO_TYPE] = TALLY_BAD_TYPE,
                                           [BAD_ROOT] = TALLY_BAD_ARGUMENT,
                                           [PAIR_OF_ONE] = TALLY_BAD_ARGUMENT,
                                           [OTHER_OPERATOR] = TALLY_BAD_ARGUMENT,
                                           [OTHER_TYPE] = TALLY_BAD_ARGUMENT,
                                           [OTHER_OPTIONS] = TALLY_BAD_ARGUMENT,
                                           [OTHER_OUT_TYPE] = TALLY_BAD_ARGUMENT,
                                           [OTHER_COUNT_OF_SEGMENTS] = TALLY_BAD_ARGUMENT,
                                           [OTHER_ROOT] = TALLY_BAD_ARGUMENT,
                                           [OTHER_FUNCTION] = TALLY_BAD_ARGUMENT,
                                           [NO_MEMORY_FOR_STATES] = TALLY_NO_MEMORY};

static tally_status make_mistake(enum mistake mistake, bool it_is_me, tally_context *starved) {
    const double x[4] = {1, 2, 3, 4};
    const int64_t offsets[3] = {0, it_is_me && mistake == BAD_OFFSETS ? 9 : 2, 4};
    double results[2];
    tally_array in = tally_in(x, TALLY_F64, 4);
    tally_output out = tally_out(results, TALLY_NATURAL, 2);
    tally_segments segments = tally_offsets(offsets, TALLY_I64, 2);
    tally_op op = TALLY_SUM;
    tally_context *context = starved;
    int root = 0;
    if (it_is_me) switch (mistake) {
        case NULL_DATA: in.data = NULL; break;
        case NEGATIVE_COUNT: in.count = -1; break;
        case UNKNOWN_OPERATOR: op = 777; break;
        case NO_SUCH_TYPE: op = TALLY_XOR; break;
        case NULL_OUT: out.data = NULL; break;
        case LITTLE_OUT: out.count = 1; break;
        case OUT_OF_NO_TYPE: out.type = TALLY_STRUCT; break;
        case BAD_ROOT: root = -1; break;
        case OTHER_OPERATOR: op = TALLY_MEAN; break;
        case OTHER_TYPE: in.type = TALLY_I64; break;
        case OTHER_OPTIONS: context = NULL; break;
        case OTHER_OUT_TYPE: out.type = TALLY_F32; break;
        case OTHER_COUNT_OF_SEGMENTS: segments.count = 1; break;
        case OTHER_ROOT: root = ranks - 1; break;
        default: break;
        }
    switch (mistake) {
    case BAD_ROOT:
    case OTHER_ROOT: return tally_mpi_reduce(NULL, op, in, out, root, MPI_COMM_WORLD);
    case PAIR_OF_ONE:
        return it_is_me ? tally_mpi_allreduce_pair(NULL, op, in, in, out, MPI_COMM_WORLD)
                        : tally_mpi_allreduce(NULL, op, in, out, MPI_COMM_WORLD);
    case OTHER_FUNCTION:
        return it_is_me ? tally_mpi_allreduce(NULL, op, in, out, MPI_COMM_WORLD)
                        : tally_mpi_allreduce_segments(NULL, op, in, tally_rows(1, 4, 1), out, MPI_COMM_WORLD);
    case OTHER_OPTIONS:
    case NO_MEMORY_FOR_STATES: return tally_mpi_allreduce_segments(context, op, in, segments, out, MPI_COMM_WORLD);
    case NULL_DATA:
    case NEGATIVE_COUNT: return tally_mpi_allreduce_elements(NULL, op, in, out, MPI_COMM_WORLD);
    default: return tally_mpi_allreduce_segments(NULL, op, in, segments, out, MPI_COMM_WORLD);
    }
}

static void test_mistakes(void) {
    tally_options options = TALLY_OPTIONS_INIT;
    tally_context *context;
    int has_memory = 1;
    const tally_allocator allocator = {no_memory, release, &has_memory};
    EXPECT_OK(tally_context_create(&allocator, &context));
    options.accuracy = TALLY_FAST;
    EXPECT_OK(tally_set_options(context, &options));
    const int first = brief ? ranks - 1 : 0, step = ranks > 3 ? ranks - 1 : 1;
    for (int mistake = 0; mistake < MISTAKES; mistake++)
        for (int who = first; who < ranks; who += step) {
            const bool alone_is_fine = ranks == 1 && mistake >= OTHER_OPERATOR && mistake <= OTHER_FUNCTION;
            now = (scene){.op = TALLY_SUM, .type = TALLY_F64, .size = mistake, .segments = "mistakes"};
            has_memory = mistake != NO_MEMORY_FOR_STATES || who != rank;
            const tally_status status = make_mistake((enum mistake)mistake, who == rank, context);
            has_memory = 1;
            if (alone_is_fine || (mistake == OTHER_ROOT && who == ranks - 1 && ranks == 1)) continue;
            if (mistake == OTHER_ROOT && ranks == 1) continue;
            EXPECT(status == due[mistake], "rank %d of %d, mistake %d of rank %d: status %d (%s)", rank, ranks, mistake,
                   who, (int)status, tally_mpi_message());
            EXPECT(strstr(tally_mpi_message(),
                          mistake >= OTHER_OPERATOR && mistake <= OTHER_FUNCTION ? "ranks differ" : "rank ") != NULL,
                   "the sentence is: %s", tally_mpi_message());
        }
    tally_context_destroy(context);
}

/* Each of the twelve functions, of which one rank is refused. */
enum call { ARRAY, SEGMENTS_OF, ELEMENTS_OF, KINDS };
static tally_status call_one(enum call kind, bool has_root, bool is_pair, tally_op op, tally_array x, tally_array y,
                             tally_segments segments, tally_output out, int root) {
    tally_context *c = NULL;
    const MPI_Comm comm = MPI_COMM_WORLD;
    if (kind == ARRAY && !is_pair)
        return has_root ? tally_mpi_reduce(c, op, x, out, root, comm) : tally_mpi_allreduce(c, op, x, out, comm);
    if (kind == ARRAY)
        return has_root ? tally_mpi_reduce_pair(c, op, x, y, out, root, comm)
                        : tally_mpi_allreduce_pair(c, op, x, y, out, comm);
    if (kind == SEGMENTS_OF && !is_pair)
        return has_root ? tally_mpi_reduce_segments(c, op, x, segments, out, root, comm)
                        : tally_mpi_allreduce_segments(c, op, x, segments, out, comm);
    if (kind == SEGMENTS_OF)
        return has_root ? tally_mpi_reduce_segments_pair(c, op, x, y, segments, out, root, comm)
                        : tally_mpi_allreduce_segments_pair(c, op, x, y, segments, out, comm);
    if (!is_pair)
        return has_root ? tally_mpi_reduce_elements(c, op, x, out, root, comm)
                        : tally_mpi_allreduce_elements(c, op, x, out, comm);
    return has_root ? tally_mpi_reduce_elements_pair(c, op, x, y, out, root, comm)
                    : tally_mpi_allreduce_elements_pair(c, op, x, y, out, comm);
}

static void test_every_call(void) {
    enum { NOTHING, NO_VALUES, NO_RESULTS, NO_OPERATOR, NO_ROOT, SHORT_PAIR, NO_SEGMENTS, ALL };
    const double x[4] = {1, 2, 3, 4};
    const int64_t offsets[3] = {0, 2, 4}, wrong[3] = {0, 5, 4};
    double results[4];
    for (int number = 0; number < KINDS * 4; number++)
        for (int what = 0; what < ALL; what++) {
            const enum call kind = (enum call)(number / 4);
            const bool has_root = number % 2, is_pair = number / 2 % 2;
            const int who = (number + what) % ranks;
            const bool is_me = who == rank;
            if ((what == NO_ROOT && !has_root) || (what == SHORT_PAIR && !is_pair) ||
                (what == NO_SEGMENTS && kind != SEGMENTS_OF))
                continue;
            if (what == NO_RESULTS && has_root && who != 0) continue; /* others' out is not looked at */
            now = (scene){.type = TALLY_F64, .size = number, .segment = what, .segments = "every call"};
            const tally_array left = tally_in(is_me && what == NO_VALUES ? NULL : x, TALLY_F64, 4),
                              right = tally_in(x, TALLY_F64, is_me && what == SHORT_PAIR ? 3 : 4);
            const tally_status status =
                call_one(kind, has_root, is_pair,
                         is_me && what == NO_OPERATOR ? 777
                         : is_pair                    ? TALLY_DOT
                                                      : TALLY_SUM,
                         left, right, tally_offsets(is_me && what == NO_SEGMENTS ? wrong : offsets, TALLY_I64, 2),
                         tally_out(is_me && what == NO_RESULTS ? NULL : results, TALLY_F64, 4),
                         is_me && what == NO_ROOT ? ranks : 0);
            const tally_status wanted = what == NOTHING       ? TALLY_OK
                                        : what == NO_SEGMENTS ? TALLY_BAD_SEGMENTS
                                                              : TALLY_BAD_ARGUMENT;
            EXPECT(status == wanted, "call %d, mistake %d of rank %d: status %d (%s)", number, what, who, (int)status,
                   tally_mpi_message());
        }
}

/* ---- MPI itself ---- */

static void test_failures_of_mpi(void) {
    const double *x = data_of(TALLY_F64, SMALL_INTEGERS, 8000);
    double out[8000];
    int64_t index;
    for (int which = 1; which <= 3; which++) {
        mpi_fails_next(which);
        const tally_status status = which == 3
                                        ? tally_mpi_allreduce(NULL, TALLY_ARGMAX, tally_in(x, TALLY_F64, 1),
                                                              tally_out(&index, TALLY_I64, 1), MPI_COMM_WORLD)
                                        : tally_mpi_allreduce_elements(NULL, TALLY_SUM, tally_in(x, TALLY_F64, 8000),
                                                                       tally_out(out, TALLY_F64, 8000), MPI_COMM_WORLD);
        EXPECT(status == TALLY_DEVICE_FAILED && strstr(tally_mpi_message(), "MPI failed") != NULL, "status %d: %s",
               (int)status, tally_mpi_message());
        EXPECT(!mpi_fails_yet(), "call %d was not made", which);
    }
    EXPECT(tally_mpi_allreduce(NULL, TALLY_SUM, tally_in(x, TALLY_F64, 8), tally_out(out, TALLY_F64, 1),
                               MPI_COMM_NULL) == TALLY_BAD_ARGUMENT,
           "a null communicator");
    if (ranks > 1) {
        MPI_Comm half, inter;
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &inter);
        EXPECT(tally_mpi_allreduce(NULL, TALLY_SUM, tally_in(x, TALLY_F64, 8), tally_out(out, TALLY_F64, 1), inter) ==
                   TALLY_BAD_ARGUMENT,
               "an intercommunicator");
        MPI_Comm_free(&inter);
        MPI_Comm_free(&half);
    }
}

static int finish_program(void) {
    MPI_Finalize();
    if (rank == 0) printf("ranks: the same bits on %d ranks\n", ranks);
    return 0;
}

int main(int argc, char **argv) {
    const int64_t one = 1;
    int64_t sum;
    /* before MPI_Init there is nobody to talk to */
    if (tally_mpi_allreduce(NULL, TALLY_SUM, tally_in(&one, TALLY_I64, 1), tally_out(&sum, TALLY_I64, 1),
                            MPI_COMM_WORLD) != TALLY_BAD_ARGUMENT)
        return 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1 && strcmp(argv[1], "--cuda") == 0) { /* arrays in a real GPU's memory, and no more */
        if (begin_program(argc - 1, argv + 1) != 0) return 1;
        test_gpu_ranks(rank, ranks, true);
        return finish_program();
    }
    int share = 0, of = 1;
    if (argc > 2 && strcmp(argv[1], "--share") == 0) {
        sscanf(argv[2], "%d/%d", &share, &of);
        argc -= 2;
        argv += 2;
    }
    brief = argc > 1 && strcmp(argv[1], "--brief") == 0;
    if (brief) argc--, argv++;
    share_subjects(share, of);
    if (begin_program(argc, argv) != 0) return 1;
    test_operators();
    test_mistakes();
    test_every_call();
    if (!brief) {
        test_user_operators();
        test_layouts();
        test_communicators();
        test_gpu_ranks(rank, ranks, false);
    }
    test_failures_of_mpi();
    return finish_program();
}
