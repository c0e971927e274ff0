/* Where order does not show: each rank makes nodes of its own values, and MPI merges them in any order it likes. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/ranks.h"

/* ---- making ---- */

/* A root has room for received nodes beside its own: MPICH 4.0 may crash in an MPI_Reduce that is in place. */
static size_t room_for(const request *r) { return (size_t)r->results * r->node_bytes * (r->root == r->rank ? 2 : 1); }
static unsigned char *merged_nodes(const request *r, const travel *t) {
    return t->nodes + (r->root == r->rank ? (size_t)r->results * r->node_bytes : 0);
}

/* segments: NULL for the whole array. y: the second input, or NULL. */
static tally_status reduce_to_nodes(const request *r, const tally_array *x, const tally_array *y,
                                    const tally_segments *segments, unsigned char *nodes) {
    const size_t bytes = (size_t)r->results * r->node_bytes;
    if (segments == NULL)
        return tally__mpi_quote(y != NULL ? tally_reduce_node_pair(r->context, r->op, *x, *y, nodes, bytes)
                                          : tally_reduce_node(r->context, r->op, *x, nodes, bytes));
    return tally__mpi_quote(y != NULL
                                ? tally_reduce_segments_nodes_pair(r->context, r->op, *x, *y, *segments, nodes, bytes)
                                : tally_reduce_segments_nodes(r->context, r->op, *x, *segments, nodes, bytes));
}

/* Makes a node of each value. Values on a GPU are copied to the host first: nodes would be more bytes. */
static tally_status elements_to_nodes(const request *r, char *copies, unsigned char *nodes) {
    const size_t bytes = (size_t)r->results * r->value_bytes;
    const tally_segments rows = tally_rows(r->results, 1, 1);
    const tally_array x = tally_in(copies, r->x->type, r->results),
                      y = tally_in(copies + bytes, r->x->type, r->results);
    TRY_TALLY(tally_copy_values(r->context, r->op, *r->x, copies, bytes));
    if (r->y != NULL) TRY_TALLY(tally_copy_values(r->context, r->op, *r->y, copies + bytes, bytes));
    return reduce_to_nodes(r, &x, r->y != NULL ? &y : NULL, &rows, nodes);
}

static tally_status fill_nodes(const request *r, unsigned char *nodes) {
    if (!r->elements) return reduce_to_nodes(r, r->x, r->y, r->segments, nodes);
    char *copies = malloc(2 * (size_t)r->results * r->value_bytes + 1);
    if (copies == NULL) return tally__mpi_fail(TALLY_NO_MEMORY, "no memory for %lld values", (long long)r->results);
    const tally_status status = elements_to_nodes(r, copies, nodes);
    free(copies);
    return status;
}

/* Takes GPU memory for the nodes, if they are merged by addition. Each rank decides for itself; an operation of this
 * library merges in host memory alone. */
static tally_status take_gpu_memory(const request *r, travel *t, size_t extents) {
    void *there = NULL, *beside = NULL;
    if (r->elements || !r->adds || r->x->count == 0 || !tally__mpi_reaches_gpus()) return TALLY_OK;
    TRY_TALLY(tally_open_node_memory(r->context, r->x->data, room_for(r), &there));
    t->nodes = there;
    t->on_gpu = there != NULL;
    if (t->on_gpu && r->windows > 0) TRY_TALLY(tally_open_node_memory(r->context, there, extents, &beside));
    t->extents = beside;
    return TALLY_OK;
}

tally_status tally__mpi_release_nodes(const request *r, travel *t) {
    if (t->on_gpu) {
        const tally_status status = tally__mpi_quote(tally_close_node_memory(r->context, t->extents));
        TRY_TALLY(tally_close_node_memory(r->context, t->nodes));
        return status;
    }
    free(t->extents);
    free(t->nodes);
    return TALLY_OK;
}

tally_status tally__mpi_make_nodes(const request *r, travel *t) {
    const size_t extents = (size_t)r->results * (size_t)r->windows * TALLY_EXTENT * sizeof *t->extents;
    const bool has_windows = r->windows > 0;
    if ((uint64_t)r->results < PTRDIFF_MAX / r->node_bytes / 2) {
        TRY(take_gpu_memory(r, t, extents));
        if (!t->on_gpu) t->nodes = malloc(room_for(r) + 1);
        if (!t->on_gpu && has_windows) t->extents = malloc(extents + 1);
    }
    if (t->nodes == NULL || (has_windows && t->extents == NULL))
        return tally__mpi_fail(TALLY_NO_MEMORY, "no memory for %lld nodes of %zu bytes", (long long)r->results,
                               r->node_bytes);
    TRY(fill_nodes(r, t->nodes));
    if (has_windows) TRY_TALLY(tally_find_extents(r->context, r->op, r->x->type, r->results, t->nodes, t->extents));
    if (t->on_gpu) TRY_TALLY(tally_await_nodes(r->context, t->nodes)); /* MPI knows no streams */
    return TALLY_OK;
}

/* ---- merging by an operation of MPI's ---- */

static tally_status all_reduce(const request *r, unsigned char *from, unsigned char *to, int count, MPI_Datatype type,
                               MPI_Op op) {
    if (r->root == EVERY_RANK)
        TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, to, count, type, op, r->comm));
    else
        TRY_MPI(MPI_Reduce(from, to, count, type, op, r->root, r->comm));
    return TALLY_OK;
}

/* `count` items of `bytes` bytes each, in as many messages as counts of MPI need. */
static tally_status all_reduce_many(const request *r, const travel *t, int64_t count, size_t bytes, MPI_Datatype type,
                                    MPI_Op op) {
    const int64_t most = MESSAGE_BYTES / (int64_t)bytes;
    unsigned char *from = t->nodes, *to = merged_nodes(r, t);
    for (int64_t at = 0; at < count; at += most)
        TRY(all_reduce(r, from + (size_t)at * bytes, to + (size_t)at * bytes,
                       (int)(count - at < most ? count - at : most), type, op));
    return TALLY_OK;
}

/* MPI does not tell its operation which request it belongs to: an attribute of the data type does. */
static int request_key = MPI_KEYVAL_INVALID;
static int request_code;
static void make_key(void) {
    request_code = MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &request_key, NULL);
}

static void merge(void *from, void *into, int *count, MPI_Datatype *type) {
    const int64_t damaged = -1;
    const request *r = NULL;
    int found = 0;
    if (MPI_Type_get_attr(*type, request_key, &r, &found) == MPI_SUCCESS && found &&
        tally_merge_nodes(r->context, r->op, r->x->type, *count, into, from) == TALLY_OK)
        return;
    memcpy(into, &damaged, sizeof damaged); /* this cannot fail here: a damaged node fails when it is finished */
}

static tally_status merge_by_operation(const request *r, const travel *t) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
    pthread_once(&once, make_key);
    TRY(tally__mpi_check(request_code, "MPI_Type_create_keyval("));
    TRY_MPI(MPI_Type_contiguous((int)r->node_bytes, MPI_BYTE, &type));
    tally_status status =
        tally__mpi_check(MPI_Type_set_attr(type, request_key, (void *)(uintptr_t)r), "MPI_Type_set_attr(");
    if (status == TALLY_OK) status = tally__mpi_check(MPI_Type_commit(&type), "MPI_Type_commit(");
    if (status == TALLY_OK) status = tally__mpi_check(MPI_Op_create(merge, 1 /* commutes */, &op), "MPI_Op_create(");
    if (status == TALLY_OK) status = all_reduce_many(r, t, r->results, r->node_bytes, type, op);
    if (op != MPI_OP_NULL) MPI_Op_free(&op);
    MPI_Type_free(&type);
    return status;
}

/* ---- merging by addition ---- */

static tally_status add_windows(const request *r, const travel *t) {
    const int64_t entries = r->results * r->windows * TALLY_EXTENT, most = MESSAGE_BYTES / (int64_t)sizeof *t->extents;
    size_t bytes;
    for (int64_t at = 0; at < entries; at += most)
        TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, t->extents + at, (int)(entries - at < most ? entries - at : most),
                              MPI_INT16_T, MPI_MAX, r->comm));
    TRY_TALLY(tally_shrink_nodes(r->context, r->op, r->x->type, r->results, t->nodes, t->extents, &bytes));
    TRY(all_reduce_many(r, t, (int64_t)(bytes / 8), 8, MPI_INT64_T, MPI_SUM));
    if (!tally__mpi_has_result(r)) return TALLY_OK;
    return tally__mpi_quote(
        tally_restore_nodes(r->context, r->op, r->x->type, r->results, merged_nodes(r, t), t->extents));
}

tally_status tally__mpi_merge_nodes(const request *r, travel *t) {
    if (t->counts != NULL) {
        TRY(tally__mpi_count_before(r, t->counts, t->before, r->results));
        TRY_TALLY(tally_shift_nodes(r->context, r->op, r->x->type, r->results, t->nodes, t->before));
    }
    if (r->windows > 0)
        TRY(add_windows(r, t));
    else if (r->adds)
        TRY(all_reduce_many(r, t, r->results * (int64_t)(r->node_bytes / 8), 8, MPI_INT64_T, MPI_SUM));
    else
        TRY(merge_by_operation(r, t));
    if (!tally__mpi_has_result(r)) return TALLY_OK;
    return tally__mpi_quote(tally_finish_nodes(r->context, r->op, r->x->type, r->results, merged_nodes(r, t), r->out));
}
