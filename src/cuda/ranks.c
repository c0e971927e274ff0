/* Reductions over the GPUs of a communicator of NCCL (tally_nccl.h). All is put on the caller's stream. */
#include "cuda/call.h"
#include "cuda/units.h"
#include "cuda/nccl.h"
#include "cuda/nodes.h"
#include "plan.h"
#include "tally/tally_nccl.h"

/* The ranks of one call. */
typedef struct peers {
    const tally__nccl *nccl;
    tally__nccl_comm comm;
    int rank, count;
} peers;

static tally_status find_peers(void *comm, peers *p, int *device) {
    TALLY_CHECK(comm != NULL, BAD_ARGUMENT, "the communicator is NULL");
    p->comm = comm;
    TALLY_TRY(tally__nccl_open(&p->nccl));
    TALLY_TRY(tally__nccl_check(p->nccl, p->nccl->comm_count(comm, &p->count), "count the ranks"));
    TALLY_TRY(tally__nccl_check(p->nccl, p->nccl->comm_rank(comm, &p->rank), "tell the rank"));
    return tally__nccl_check(p->nccl, p->nccl->comm_device(comm, device), "tell the communicator's GPU");
}

/* ---- one call ---- */

typedef struct job {
    tally__spec spec;
    tally__input in;
    tally__sink sink;
    peers peers;
    int device;
} job;

static bool lies_there(const tally__spec *spec, const void *address) {
    return tally__backend_of(&spec->options)->holds(address);
}

/* Begins a call on whole arrays, segments or elements. The output is checked later, when the number of results is
 * known. */
static tally_status begin(tally_context *context, tally_op op, const tally_array *x, const tally_array *y,
                          const tally_output *out, void *comm, job *j) {
    TALLY_TRY(tally__specify(context, op, x->type, &j->spec));
    TALLY_TRY(tally__check_input(&j->spec, x, y, &j->in));
    tally__aim(&j->spec, out->type);
    if (j->spec.options.backend == TALLY_BACKEND_AUTO) j->spec.options.backend = TALLY_BACKEND_CUDA;
    TALLY_CHECK(tally__backend_is_gpu(j->spec.options.backend), BAD_ARGUMENT,
                "ranks of NCCL are GPUs: choose TALLY_BACKEND_AUTO or TALLY_BACKEND_CUDA");
    TALLY_TRY(find_peers(comm, &j->peers, &j->device));
    TALLY_CHECK((j->in.count == 0 || (lies_there(&j->spec, j->in.x) && lies_there(&j->spec, j->in.y))) &&
                    lies_there(&j->spec, out->data),
                BAD_ARGUMENT, "the arrays and the output must lie in memory of the communicator's GPU");
    return TALLY_OK;
}

/* segments: NULL, or those with an index in GPU memory. */
static tally_status open_call(const job *j, const tally_segments *segments, tally__call *call) {
    TALLY_TRY(tally__call_open(call, tally__platform_of(&j->spec.options), &j->spec, &j->in, segments, &j->sink));
    TALLY_CHECK(call->gpu->ordinal == j->device, BAD_ARGUMENT, "the arrays lie on GPU %d, the communicator's is GPU %d",
                call->gpu->ordinal, j->device);
    return TALLY_OK;
}

/* ---- nodes ---- */

/* Scratch memory: this rank's nodes, then those of all ranks, then results to be converted. */
typedef struct layout {
    size_t record, count_at; /* bytes of a node and its count; where in these the count is, or 0 */
    bool adds;
    tally__cu_address mine, all, staging;
    tally__nodes_memory memory; /* and the kernel of nodes, loaded before ranks wait for one another */
} layout;

static tally_status lay_out(tally__call *call, const peers *p, int64_t results, layout *l) {
    const tally__geometry sizes = tally__geometry_of(call->spec);
    const bool gives_index = tally__gives_index(call->spec->op);
    size_t mine, all, bytes;
    l->adds = (call->spec->exact && !sizes.keeps_keys) || call->spec->op == TALLY_COUNT;
    l->count_at = gives_index ? (sizes.node_bytes + 7) / 8 * 8 : 0;
    l->record = gives_index ? l->count_at + 8 : sizes.node_bytes;
    TALLY_CHECK(!__builtin_mul_overflow((size_t)results, l->record, &mine) && mine < PTRDIFF_MAX &&
                    (mine = (mine + 15) / 16 * 16, !__builtin_mul_overflow(mine, (size_t)p->count, &all)) &&
                    !__builtin_mul_overflow((size_t)results, call->spec->result_bytes, &bytes) &&
                    !__builtin_add_overflow(bytes, mine, &bytes) && !__builtin_add_overflow(bytes, all, &bytes),
                NO_MEMORY, "%lld nodes are more than memory has room for", (long long)results);
    TALLY_TRY(tally__open_nodes_memory(call, results, bytes, &l->memory));
    l->mine = l->memory.more;
    l->all = l->adds ? l->mine : l->mine + mine;
    l->staging = l->mine + mine + all;
    return TALLY_OK;
}

static tally_status make_nodes(tally__call *call, const tally__node_parts *what, const layout *l) {
    const tally__nodes_to to = {.at = l->mine, .apart = l->record, .count_at = l->count_at};
    tally__cu_address flags;
    return tally__launch_nodes(call, what, &to, &flags);
}

static tally_status exchange(const tally__call *call, const peers *p, int64_t results, const layout *l) {
    const size_t bytes = (size_t)results * l->record;
    void *mine = tally__pointer(l->mine), *all = tally__pointer(l->all);
    if (l->adds)
        return tally__nccl_check(
            p->nccl,
            p->nccl->all_reduce(mine, mine, bytes / 8, TALLY_NCCL_INT64, TALLY_NCCL_SUM, p->comm, call->stream),
            "add nodes");
    return tally__nccl_check(p->nccl, p->nccl->all_gather(mine, all, bytes, TALLY_NCCL_UINT8, p->comm, call->stream),
                             "gather nodes");
}

static tally_status finish(tally__call *call, const peers *p, int64_t results, const layout *l) {
    const tally_nodes_work work = {.nodes = tally__pointer(l->all),
                                   .party_stride = results * (int64_t)l->record,
                                   .node_stride = (int64_t)l->record,
                                   .parties = l->adds ? 1 : p->count,
                                   .are_packed = 1,
                                   .count = results,
                                   .count_at = (int64_t)l->count_at,
                                   .out = tally__results_of(call, l->staging, NULL)};
    tally__report report = {0};
    TALLY_TRY(tally__launch_on_nodes(call, &l->memory, &work));
    return tally__call_finalize(call, l->staging, results, 0, &report);
}

static tally_status reduce_nodes(const job *j, const tally__node_parts *what) {
    const int64_t results = what->results;
    layout l;
    tally__call call;
    tally_status status = open_call(j, what->segments, &call);
    if (status == TALLY_OK) status = lay_out(&call, &j->peers, results, &l);
    if (status == TALLY_OK) status = make_nodes(&call, what, &l);
    if (status == TALLY_OK) status = exchange(&call, &j->peers, results, &l);
    if (status == TALLY_OK) status = finish(&call, &j->peers, results, &l);
    tally__call_close(&call);
    return status;
}

static tally_status check_order(const tally__spec *spec) {
    TALLY_CHECK(!spec->order_shows, UNSUPPORTED,
                "the order in which %s combines values shows: send states in rank order (tally_mpi_allreduce)",
                spec->name);
    return TALLY_OK;
}

static tally_status all_reduce(tally_context *context, tally_op op, const tally_array *x, const tally_array *y,
                               tally_output out, void *comm) {
    job j;
    TALLY_TRY(begin(context, op, x, y, &out, comm, &j));
    TALLY_TRY(check_order(&j.spec));
    TALLY_TRY(tally__check_output(&j.spec, &out, 1, &j.sink));
    return reduce_nodes(&j, &(tally__node_parts){.results = 1});
}

static tally_status reduce_parts(job *j, const tally__node_parts *what, const tally_output *out) {
    TALLY_TRY(tally__check_output(&j->spec, out, what->results, &j->sink));
    return what->results == 0 ? TALLY_OK : reduce_nodes(j, what);
}

/* Reduces segments with an index in GPU memory, or a plan for a GPU. */
static tally_status reduce_far_parts(job *j, const tally_segments *segments, const tally_output *out) {
    tally__node_parts what = {.segments = segments};
    tally_segments seen = *segments;
    const tally_plan *plan;
    TALLY_TRY(tally__look_behind_plan(&seen, j->in.count, &plan));
    TALLY_TRY(tally__check_segments(&seen, j->in.count, &what.results));
    TALLY_CHECK(plan != NULL || lies_there(&j->spec, segments->index), UNSUPPORTED,
                "unsorted ids of segments must lie in GPU memory, where ranks are GPUs");
    TALLY_CHECK(plan == NULL || plan->backend == j->spec.options.backend, BAD_ARGUMENT,
                "the plan was made ready for another backend");
    return reduce_parts(j, &what, out);
}

static tally_status all_reduce_segments(tally_context *context, tally_op op, const tally_array *x, const tally_array *y,
                                        const tally_segments *segments, tally_output out, void *comm) {
    job j;
    tally__parts parts;
    TALLY_TRY(begin(context, op, x, y, &out, comm, &j));
    TALLY_TRY(check_order(&j.spec));
    if (tally__is_for_gpu(&j.spec.options, segments)) return reduce_far_parts(&j, segments, &out);
    TALLY_TRY(tally__open_parts(context, segments, j.in.count, &parts));
    const tally__node_parts what = {.results = parts.count, .parts = &parts};
    const tally_status status =
        tally__parts_are_scattered(&parts, j.in.count)
            ? tally__fail(TALLY_BAD_ARGUMENT, "the plan was made ready for host memory, and the array lies in a GPU's")
            : reduce_parts(&j, &what, &out);
    tally__close_parts(&parts);
    return status;
}

/* ---- elements ---- */

/* The first element of rank q's block of n elements. */
static int64_t block_begin(int64_t n, const peers *p, int q) {
    const int64_t each = n / p->count, more = n % p->count;
    return each * q + (q < more ? q : more);
}
static int64_t block_size(int64_t n, const peers *p, int q) { return block_begin(n, p, q + 1) - block_begin(n, p, q); }

/* Sends each rank its block of `from`, n items of `bytes` bytes, and receives this rank's block from all. */
static int scatter(const peers *p, const tally__call *call, const char *from, char *to, int64_t n, size_t bytes) {
    const size_t mine = (size_t)block_size(n, p, p->rank) * bytes;
    int error = p->nccl->group_start();
    for (int q = 0; q < p->count && error == 0; q++) {
        const size_t theirs = (size_t)block_size(n, p, q) * bytes;
        if (theirs > 0)
            error = p->nccl->send(from + (size_t)block_begin(n, p, q) * bytes, theirs, TALLY_NCCL_UINT8, q, p->comm,
                                  call->stream);
        if (mine > 0 && error == 0)
            error = p->nccl->receive(to + (size_t)q * mine, mine, TALLY_NCCL_UINT8, q, p->comm, call->stream);
    }
    const int ended = p->nccl->group_end();
    return error != 0 ? error : ended;
}

/* Sends this rank's block to all, and receives theirs to `to`. */
static int gather(const peers *p, const tally__call *call, const char *from, char *to, int64_t n, size_t bytes) {
    const size_t mine = (size_t)block_size(n, p, p->rank) * bytes;
    int error = p->nccl->group_start();
    for (int q = 0; q < p->count && error == 0; q++) {
        const size_t theirs = (size_t)block_size(n, p, q) * bytes;
        if (mine > 0) error = p->nccl->send(from, mine, TALLY_NCCL_UINT8, q, p->comm, call->stream);
        if (theirs > 0 && error == 0)
            error = p->nccl->receive(to + (size_t)block_begin(n, p, q) * bytes, theirs, TALLY_NCCL_UINT8, q, p->comm,
                                     call->stream);
    }
    const int ended = p->nccl->group_end();
    return error != 0 ? error : ended;
}

/* Reduces the columns of the block by a call like any other, on the GPU that the block lies on. */
static tally_status reduce_block(tally_context *context, const job *j, const char *const *rows, char *results,
                                 int64_t width) {
    const tally_array x = {rows[0], j->spec.type, width * j->peers.count, 0}, y = {rows[1], j->spec.type, x.count, 0};
    const tally_segments columns = tally_rows(1, j->peers.count, width);
    const tally_output out = {results, j->sink.type, width, 0};
    if (width == 0) return TALLY_OK;
    return j->spec.inputs == 2 ? tally_reduce_segments_pair(context, j->spec.op, x, y, columns, out)
                               : tally_reduce_segments(context, j->spec.op, x, columns, out);
}

static tally_status reduce_elements(tally_context *context, job *j, tally__call *call) {
    const peers *p = &j->peers;
    const size_t bytes = tally__geometry_of(&j->spec).value_bytes;
    const int64_t n = j->in.count, width = block_size(n, p, p->rank);
    const size_t block = ((size_t)width * (size_t)p->count * bytes + 63) / 64 * 64;
    tally__scratch scratch = {0};
    TALLY_TRY(tally__gpu_scratch(call->gpu, j->spec.context, call->stream, TALLY_FOR_COPIES,
                                 block * (size_t)j->spec.inputs + (size_t)width * (size_t)j->sink.stride + 64, 0, 0,
                                 &scratch));
    char *const first = tally__pointer(scratch.nodes), *const second = j->spec.inputs == 2 ? first + block : first;
    const char *const rows[2] = {first, second};
    char *const results = second + block;
    TALLY_TRY(tally__nccl_check(p->nccl, scatter(p, call, j->in.x, first, n, bytes), "exchange blocks of elements"));
    if (j->spec.inputs == 2)
        TALLY_TRY(
            tally__nccl_check(p->nccl, scatter(p, call, j->in.y, second, n, bytes), "exchange blocks of elements"));
    TALLY_TRY(reduce_block(context, j, rows, results, width));
    return tally__nccl_check(p->nccl, gather(p, call, results, j->sink.data, n, (size_t)j->sink.stride),
                             "exchange results");
}

static tally_status all_reduce_elements(tally_context *context, tally_op op, const tally_array *x, const tally_array *y,
                                        tally_output out, void *comm) {
    job j;
    tally__call call;
    const int64_t stride = out.stride;
    TALLY_TRY(begin(context, op, x, y, &out, comm, &j));
    out.stride = 0;
    TALLY_TRY(tally__check_output(&j.spec, &out, x->count, &j.sink));
    TALLY_CHECK(j.in.packed && (stride == 0 || stride == j.sink.stride), UNSUPPORTED,
                "vectors and results of ranks must lie side by side");
    if (j.in.count == 0) return TALLY_OK;
    tally_status status = open_call(&j, NULL, &call);
    if (status == TALLY_OK) status = reduce_elements(context, &j, &call);
    tally__call_close(&call);
    return status;
}

/* ---- entry points ---- */

tally_status tally_nccl_allreduce(tally_context *context, tally_op op, tally_array in, tally_output out, void *comm) {
    return all_reduce(context, op, &in, NULL, out, comm);
}
tally_status tally_nccl_allreduce_pair(tally_context *context, tally_op op, tally_array left, tally_array right,
                                       tally_output out, void *comm) {
    return all_reduce(context, op, &left, &right, out, comm);
}
tally_status tally_nccl_allreduce_segments(tally_context *context, tally_op op, tally_array in, tally_segments segments,
                                           tally_output out, void *comm) {
    return all_reduce_segments(context, op, &in, NULL, &segments, out, comm);
}
tally_status tally_nccl_allreduce_segments_pair(tally_context *context, tally_op op, tally_array left,
                                                tally_array right, tally_segments segments, tally_output out,
                                                void *comm) {
    return all_reduce_segments(context, op, &left, &right, &segments, out, comm);
}
tally_status tally_nccl_allreduce_elements(tally_context *context, tally_op op, tally_array in, tally_output out,
                                           void *comm) {
    return all_reduce_elements(context, op, &in, NULL, out, comm);
}
tally_status tally_nccl_allreduce_elements_pair(tally_context *context, tally_op op, tally_array left,
                                                tally_array right, tally_output out, void *comm) {
    return all_reduce_elements(context, op, &left, &right, out, comm);
}
