/* Element by element: each rank gets a block of elements from all ranks, one row of each, and reduces the columns. The
 * results go out again. As many bytes travel as by the all-reduce of Rabenseifner ("Optimization of collective
 * reduction operations", 2004), a reduce-scatter and an all-gather, for any operator. */
#include <stdlib.h>
#include <string.h>

#include "mpi/ranks.h"

enum { CHUNK_BYTES = 64 * 1024 * 1024, MOST_RESULT_BYTES = 16 };

/* Buffers for one chunk of elements at a time. */
typedef struct blocks {
    int64_t chunk;          /* elements of a chunk */
    bool there;             /* values are sent from GPU memory, where they lie, and rows are received in it */
    char *mine[2];          /* copies of this rank's chunk of each input */
    char *rows[2];          /* this rank's block of the chunk, a row from each rank */
    char *results, *all;    /* results of the block, and of the whole chunk */
    int *counts, *displs;   /* for MPI: each rank's block, in elements, */
    int *rcounts, *rdispls; /* and each row that this rank receives */
    MPI_Datatype value;
} blocks;

/* The first element of rank q's block of c elements. */
static int64_t block_of(const request *r, int64_t c, int q) {
    const int64_t each = c / r->ranks, more = c % r->ranks;
    return each * q + (q < more ? q : more);
}

/* Whether results can be received where they belong. */
static bool out_is_packed(const request *r) { return r->out.stride == 0 || r->out.stride == (int64_t)r->result_bytes; }

static size_t most_result_bytes(const request *r) {
    return r->result_bytes > MOST_RESULT_BYTES ? r->result_bytes : MOST_RESULT_BYTES;
}

static bool is_packed(const request *r, const tally_array *a) {
    return a->stride == 0 || a->stride == (int64_t)r->value_bytes;
}

/* Takes GPU memory for rows, if MPI can read the memory of the inputs. */
static tally_status take_gpu_memory(const request *r, blocks *b, size_t bytes) {
    const tally_array *const inputs[2] = {r->x, r->y};
    const int count = r->y != NULL ? 2 : 1;
    int there = 0;
    for (int i = 0; i < count && tally__mpi_reaches_gpus(); i++) {
        void *rows = NULL;
        if (is_packed(r, inputs[i])) TRY_TALLY(tally_open_node_memory(r->context, inputs[i]->data, bytes, &rows));
        b->rows[i] = rows;
        there += rows != NULL;
    }
    b->there = there == count;
    for (int i = 0; i < count && !b->there; i++) {
        TRY_TALLY(tally_close_node_memory(r->context, b->rows[i]));
        b->rows[i] = NULL;
    }
    return TALLY_OK;
}

/* Refuses an output in GPU memory that MPI cannot write to. */
static tally_status check_out(const request *r) {
    void *there = NULL;
    if (!tally__mpi_has_result(r) || (tally__mpi_reaches_gpus() && out_is_packed(r))) return TALLY_OK;
    TRY_TALLY(tally_open_node_memory(r->context, r->out.data, 1, &there));
    if (there == NULL) return TALLY_OK;
    TRY_TALLY(tally_close_node_memory(r->context, there));
    return tally__mpi_fail(TALLY_UNSUPPORTED, "out lies in GPU memory, %s",
                           out_is_packed(r) ? "which this MPI does not reach" : "but not side by side");
}

static bool take_host_memory(const request *r, blocks *b, size_t block) {
    bool made = true;
    for (int i = 0; i < (r->y != NULL ? 2 : 1) && !b->there; i++) {
        b->mine[i] = malloc((size_t)b->chunk * r->value_bytes + 1);
        b->rows[i] = malloc(block * (size_t)r->ranks * r->value_bytes);
        made = made && b->mine[i] != NULL && b->rows[i] != NULL;
    }
    b->results = malloc(block * most_result_bytes(r));
    if (tally__mpi_has_result(r) && !out_is_packed(r)) {
        b->all = malloc((size_t)b->chunk * r->result_bytes + 1);
        made = made && b->all != NULL;
    }
    b->counts = malloc(4 * (size_t)r->ranks * sizeof *b->counts);
    return made && b->results != NULL && b->counts != NULL;
}

tally_status tally__mpi_make_blocks(const request *r, travel *t) {
    const size_t each = r->value_bytes > most_result_bytes(r) ? r->value_bytes : most_result_bytes(r);
    const int64_t n = r->results, most = CHUNK_BYTES / (int64_t)each;
    blocks *b = t->blocks = calloc(1, sizeof *b);
    if (b == NULL) return tally__mpi_fail(TALLY_NO_MEMORY, "no memory for %zu bytes", sizeof *b);
    b->value = MPI_DATATYPE_NULL;
    b->chunk = n < most ? n : most;
    const size_t block = (size_t)(b->chunk / r->ranks + 1);
    TRY(check_out(r));
    TRY(take_gpu_memory(r, b, block * (size_t)r->ranks * r->value_bytes));
    if (!take_host_memory(r, b, block))
        return tally__mpi_fail(TALLY_NO_MEMORY, "no memory for %lld elements", (long long)b->chunk);
    b->displs = b->counts + r->ranks;
    b->rcounts = b->displs + r->ranks;
    b->rdispls = b->rcounts + r->ranks;
    TRY_MPI(MPI_Type_contiguous((int)r->value_bytes, MPI_BYTE, &b->value));
    TRY_MPI(MPI_Type_commit(&b->value));
    return TALLY_OK;
}

tally_status tally__mpi_release_blocks(const request *r, blocks *b) {
    tally_status status = TALLY_OK;
    if (b == NULL) return TALLY_OK;
    for (int i = 0; i < 2; i++) {
        free(b->mine[i]);
        if (!b->there)
            free(b->rows[i]);
        else if (tally_close_node_memory(r->context, b->rows[i]) != TALLY_OK)
            status = tally__mpi_quote(TALLY_DEVICE_FAILED);
    }
    free(b->results);
    free(b->all);
    free(b->counts);
    if (b->value != MPI_DATATYPE_NULL) MPI_Type_free(&b->value);
    free(b);
    return status;
}

static tally_array from_element(const request *r, const tally_array *a, int64_t first, int64_t count) {
    const int64_t stride = a->stride != 0 ? a->stride : (int64_t)r->value_bytes;
    return (tally_array){(const char *)a->data + first * stride, a->type, count, a->stride};
}

/* Lays out this rank's chunk side by side, as MPI sends it. */
static tally_status lay_out(const request *r, blocks *b, const tally_array *a, int i, size_t bytes, const char **mine) {
    *mine = b->mine[i];
    if (!b->there) return tally__mpi_quote(tally_copy_values(r->context, r->op, *a, b->mine[i], bytes));
    *mine = a->data;
    return tally__mpi_quote(tally_await_nodes(r->context, a->data)); /* MPI does not wait for the stream */
}

/* Sends block q of this rank's chunk to rank q, for all q. */
static tally_status exchange(const request *r, blocks *b, const tally_array *a, int i, int64_t first, int64_t c) {
    const size_t space = (size_t)c * r->value_bytes;
    const tally_array chunk = from_element(r, a, first, c);
    const char *mine;
    const tally_status laid_out = lay_out(r, b, &chunk, i, space, &mine);
    if (laid_out != TALLY_OK && !b->there) memset(b->mine[i], 0, space); /* the others wait for a message */
    TRY_MPI(MPI_Alltoallv(mine, b->counts, b->displs, b->value, b->rows[i], b->rcounts, b->rdispls, b->value, r->comm));
    return laid_out;
}

/* Reduces the columns of the block. */
static tally_status reduce_block(const request *r, blocks *b, int64_t width) {
    const tally_segments columns = tally_rows(1, r->ranks, width);
    const tally_array x = {b->rows[0], r->x->type, width * r->ranks, 0}, y = {b->rows[1], r->x->type, x.count, 0};
    const tally_output out = {b->results, r->out.type, width, 0};
    if (width == 0) return TALLY_OK;
    return tally__mpi_quote(r->y != NULL ? tally_reduce_segments_pair(r->context, r->op, x, y, columns, out)
                                         : tally_reduce_segments(r->context, r->op, x, columns, out));
}

static void store(const request *r, const blocks *b, char *to, int64_t c) {
    for (int64_t i = 0; i < c; i++)
        memcpy(to + i * r->out.stride, b->all + (size_t)i * r->result_bytes, r->result_bytes);
}

static tally_status hand_out(const request *r, blocks *b, MPI_Datatype result, int64_t first, int64_t c) {
    const int64_t stride = r->out.stride != 0 ? r->out.stride : (int64_t)r->result_bytes;
    char *out = tally__mpi_has_result(r) ? (char *)r->out.data + first * stride : NULL;
    char *to = out_is_packed(r) ? out : b->all;
    if (r->root == EVERY_RANK)
        TRY_MPI(MPI_Allgatherv(b->results, b->counts[r->rank], result, to, b->counts, b->displs, result, r->comm));
    else
        TRY_MPI(
            MPI_Gatherv(b->results, b->counts[r->rank], result, to, b->counts, b->displs, result, r->root, r->comm));
    if (out != NULL && to != out) store(r, b, out, c);
    return TALLY_OK;
}

/* Which of two statuses is worse: a failure, then what is said of results. */
static int weight(tally_status status) {
    return status == TALLY_OK ? 0 : status == TALLY_EMPTY ? 1 : status == TALLY_OVERFLOW ? 2 : 3;
}
static tally_status worse(tally_status a, tally_status b) { return weight(b) > weight(a) ? b : a; }

static tally_status exchange_chunk(const request *r, blocks *b, MPI_Datatype result, int64_t first, int64_t c) {
    tally_status status = TALLY_OK;
    for (int q = 0; q < r->ranks; q++) {
        b->displs[q] = (int)block_of(r, c, q);
        b->counts[q] = (int)(block_of(r, c, q + 1) - block_of(r, c, q));
    }
    for (int q = 0; q < r->ranks; q++) {
        b->rcounts[q] = b->counts[r->rank];
        b->rdispls[q] = q * b->counts[r->rank];
    }
    status = exchange(r, b, r->x, 0, first, c);
    if (r->y != NULL) status = worse(status, exchange(r, b, r->y, 1, first, c));
    status = worse(status, reduce_block(r, b, b->counts[r->rank]));
    return worse(status, hand_out(r, b, result, first, c));
}

tally_status tally__mpi_exchange_blocks(const request *r, travel *t) {
    MPI_Datatype result = MPI_DATATYPE_NULL;
    blocks *b = t->blocks;
    TRY_MPI(MPI_Type_contiguous((int)r->result_bytes, MPI_BYTE, &result));
    tally_status status = tally__mpi_check(MPI_Type_commit(&result), "MPI_Type_commit(");
    for (int64_t first = 0; first < r->results; first += b->chunk) {
        const int64_t c = r->results - first < b->chunk ? r->results - first : b->chunk;
        status = worse(status, exchange_chunk(r, b, result, first, c));
    }
    MPI_Type_free(&result);
    return tally__mpi_agree(r, status);
}
