/* The entry points: check what this rank's caller passed, do what can be done alone, agree with the others, go on. */
#include <stdlib.h>

#include "mpi/ranks.h"

/* ---- checking ---- */

enum {
    SHORT_BYTES = 64 * 1024, /* vectors whose nodes have fewer bytes travel as nodes, longer ones element by element */
    WHOLE_BYTES = 16 * 1024  /* windows save nothing for fewer bytes: they take one message more */
};

static bool travels_in_blocks(const request *r) {
    if (!r->elements) return false;
    return r->node_bytes == 0 || (r->results > SHORT_BYTES / (int64_t)r->node_bytes && r->results >= r->ranks);
}

static tally_status check_array(const tally_array *a, const request *r) {
    if (a->count < 0 || (a->data == NULL && a->count > 0))
        return tally__mpi_fail(TALLY_BAD_ARGUMENT, "an array is NULL or has a count of %lld", (long long)a->count);
    if (a->type != r->x->type || a->count != r->x->count)
        return tally__mpi_fail(TALLY_BAD_ARGUMENT, "the two arrays differ in type or count");
    return TALLY_OK;
}

/* The bytes of one result as `type`, if the natural one, of type `natural`, has `bytes`. */
static size_t converted_bytes(tally_type type, tally_type natural, size_t bytes) {
    if (type == TALLY_NATURAL || type == natural) return bytes;
    return tally_type_size(type) * (bytes / tally_type_size(natural));
}

static tally_status check_output(request *r, tally_type natural, size_t bytes) {
    const tally_type type = r->out.type == TALLY_NATURAL ? natural : r->out.type;
    if (type != natural && (natural == TALLY_STRUCT || tally_type_size(type) == 0))
        return tally__mpi_fail(TALLY_BAD_TYPE, "the result cannot be given as type %d", (int)type);
    if (r->out.count < r->results || (r->out.data == NULL && r->results > 0))
        return tally__mpi_fail(TALLY_BAD_ARGUMENT, "out is NULL, or has room for %lld of %lld results",
                               (long long)r->out.count, (long long)r->results);
    r->result_bytes = converted_bytes(type, natural, bytes);
    return TALLY_OK;
}

static tally_status check_request(request *r) {
    tally_type natural;
    size_t bytes;
    if (r->root != EVERY_RANK && (r->root < 0 || r->root >= r->ranks))
        return tally__mpi_fail(TALLY_BAD_ARGUMENT, "the root is %d, of %d ranks", r->root, r->ranks);
    TRY_TALLY(tally_result_type(r->context, r->op, r->x->type, &natural, &bytes));
    TRY_TALLY(tally_value_bytes(r->context, r->op, r->x->type, &r->value_bytes));
    if ((r->y != NULL) != (tally_op_inputs(r->op) == 2))
        return tally__mpi_fail(TALLY_BAD_ARGUMENT, "functions that end in _pair are for operators of two inputs alone");
    TRY(check_array(r->x, r));
    if (r->y != NULL) TRY(check_array(r->y, r));
    r->results = r->elements ? r->x->count : 1;
    if (r->segments != NULL)
        TRY_TALLY(tally_segment_counts(r->context, r->x->count, *r->segments, NULL, 0, &r->results));
    r->result_bytes = bytes;
    if (tally__mpi_has_result(r)) TRY(check_output(r, natural, bytes));
    const tally_status status = tally_node_bytes(r->context, r->op, r->x->type, &r->node_bytes);
    if (status == TALLY_UNSUPPORTED) return TALLY_OK; /* order shows */
    TRY_TALLY(status);
    TRY_TALLY(tally_node_adds(r->context, r->op, r->x->type, &r->adds));
    if (r->results > WHOLE_BYTES / (int64_t)r->node_bytes)
        TRY_TALLY(tally_node_numbers(r->context, r->op, r->x->type, &r->windows));
    return TALLY_OK;
}

/* ---- going ---- */

static bool gives_index(tally_op op) {
    switch (op) {
#define TALLY_ROW(id, name, kernel, inputs, on, gives, order, empty, nans, what) \
    case TALLY_##id: return gives == TALLY_GIVES_INDEX;
        TALLY_OPERATORS(TALLY_ROW)
#undef TALLY_ROW
    default: return false;
    }
}

/* Finds where this rank's values begin in the whole, which indices and states need. */
static tally_status count_values(const request *r, travel *t) {
    int64_t results;
    const size_t bytes = (size_t)r->results * sizeof *t->counts + 1;
    if (r->node_bytes != 0 && !gives_index(r->op)) return TALLY_OK;
    t->counts = malloc(bytes);
    t->before = malloc(bytes);
    if (t->counts == NULL || t->before == NULL)
        return tally__mpi_fail(TALLY_NO_MEMORY, "no memory for the counts of %lld segments", (long long)r->results);
    if (r->segments != NULL)
        return tally__mpi_quote(
            tally_segment_counts(r->context, r->x->count, *r->segments, t->counts, r->results, &results));
    for (int64_t i = 0; i < r->results; i++) t->counts[i] = r->elements ? 1 : r->x->count;
    return TALLY_OK;
}

static tally_status prepare(request *r, travel *t) {
    TRY(check_request(r));
    if (travels_in_blocks(r)) return tally__mpi_make_blocks(r, t);
    TRY(count_values(r, t));
    return r->node_bytes != 0 ? tally__mpi_make_nodes(r, t) : TALLY_OK;
}

static tally_status go_on(request *r, travel *t) {
    tally_type natural;
    size_t bytes;
    if (r->results == 0) return TALLY_OK;
    TRY_TALLY(tally_result_type(r->context, r->op, r->x->type, &natural, &bytes));
    r->result_bytes = converted_bytes(r->out.type, natural, bytes); /* the root's type: all know it now */
    if (travels_in_blocks(r)) return tally__mpi_exchange_blocks(r, t);
    return r->node_bytes != 0 ? tally__mpi_merge_nodes(r, t) : tally__mpi_merge_states(r, t);
}

static tally_status run(request r, MPI_Comm comm) {
    travel t = {0};
    TRY(tally__mpi_enter(&r, comm));
    tally_status status = tally__mpi_agree_on_request(&r, prepare(&r, &t));
    if (status == TALLY_OK) status = go_on(&r, &t);
    free(t.counts);
    free(t.before);
    const tally_status released = tally__mpi_release_nodes(&r, &t),
                       given_back = tally__mpi_release_blocks(&r, t.blocks);
    return status != TALLY_OK ? status : released != TALLY_OK ? released : given_back;
}

/* ---- entry points ---- */

/* The root as ranks agree on it. A negative number of the caller's must not pass for "every rank". */
static int named(int root) { return root < 0 ? INT32_MIN : root; }

static tally_status reduce(tally_context *context, tally_op op, const tally_array *x, const tally_array *y,
                           const tally_segments *segments, tally_output out, int root, MPI_Comm comm) {
    return run((request){.context = context, .op = op, .x = x, .y = y, .segments = segments, .out = out, .root = root},
               comm);
}
static tally_status elements(tally_context *context, tally_op op, const tally_array *x, const tally_array *y,
                             tally_output out, int root, MPI_Comm comm) {
    return run((request){.context = context, .op = op, .x = x, .y = y, .elements = true, .out = out, .root = root},
               comm);
}

tally_status tally_mpi_allreduce(tally_context *context, tally_op op, tally_array in, tally_output out, MPI_Comm comm) {
    return reduce(context, op, &in, NULL, NULL, out, EVERY_RANK, comm);
}
tally_status tally_mpi_reduce(tally_context *context, tally_op op, tally_array in, tally_output out, int root,
                              MPI_Comm comm) {
    return reduce(context, op, &in, NULL, NULL, out, named(root), comm);
}
tally_status tally_mpi_allreduce_segments(tally_context *context, tally_op op, tally_array in, tally_segments segments,
                                          tally_output out, MPI_Comm comm) {
    return reduce(context, op, &in, NULL, &segments, out, EVERY_RANK, comm);
}
tally_status tally_mpi_reduce_segments(tally_context *context, tally_op op, tally_array in, tally_segments segments,
                                       tally_output out, int root, MPI_Comm comm) {
    return reduce(context, op, &in, NULL, &segments, out, named(root), comm);
}
tally_status tally_mpi_allreduce_elements(tally_context *context, tally_op op, tally_array in, tally_output out,
                                          MPI_Comm comm) {
    return elements(context, op, &in, NULL, out, EVERY_RANK, comm);
}
tally_status tally_mpi_reduce_elements(tally_context *context, tally_op op, tally_array in, tally_output out, int root,
                                       MPI_Comm comm) {
    return elements(context, op, &in, NULL, out, named(root), comm);
}
tally_status tally_mpi_allreduce_pair(tally_context *context, tally_op op, tally_array left, tally_array right,
                                      tally_output out, MPI_Comm comm) {
    return reduce(context, op, &left, &right, NULL, out, EVERY_RANK, comm);
}
tally_status tally_mpi_reduce_pair(tally_context *context, tally_op op, tally_array left, tally_array right,
                                   tally_output out, int root, MPI_Comm comm) {
    return reduce(context, op, &left, &right, NULL, out, named(root), comm);
}
tally_status tally_mpi_allreduce_segments_pair(tally_context *context, tally_op op, tally_array left, tally_array right,
                                               tally_segments segments, tally_output out, MPI_Comm comm) {
    return reduce(context, op, &left, &right, &segments, out, EVERY_RANK, comm);
}
tally_status tally_mpi_reduce_segments_pair(tally_context *context, tally_op op, tally_array left, tally_array right,
                                            tally_segments segments, tally_output out, int root, MPI_Comm comm) {
    return reduce(context, op, &left, &right, &segments, out, named(root), comm);
}
tally_status tally_mpi_allreduce_elements_pair(tally_context *context, tally_op op, tally_array left, tally_array right,
                                               tally_output out, MPI_Comm comm) {
    return elements(context, op, &left, &right, out, EVERY_RANK, comm);
}
tally_status tally_mpi_reduce_elements_pair(tally_context *context, tally_op op, tally_array left, tally_array right,
                                            tally_output out, int root, MPI_Comm comm) {
    return elements(context, op, &left, &right, out, named(root), comm);
}

/* A rank that passes NULL takes part all the same, with this array, which is refused on every rank. */
static const tally_array nothing = {NULL, TALLY_NATURAL, -1, 0};

tally_status tally_mpi_fortran_reduce(tally_context *context, tally_op op, const tally_array *left,
                                      const tally_array *right, const tally_segments *segments, const tally_output *out,
                                      int root, MPI_Fint comm) {
    const tally_output none = {NULL, TALLY_NATURAL, 0, 0};
    return reduce(context, op, left != NULL ? left : &nothing, right, segments, out != NULL ? *out : none, root,
                  MPI_Comm_f2c(comm));
}
tally_status tally_mpi_fortran_elements(tally_context *context, tally_op op, const tally_array *left,
                                        const tally_array *right, const tally_output *out, int root, MPI_Fint comm) {
    const tally_output none = {NULL, TALLY_NATURAL, 0, 0};
    return elements(context, op, left != NULL ? left : &nothing, right, out != NULL ? *out : none, root,
                    MPI_Comm_f2c(comm));
}
