/* Nodes that travel: arrays and segments become packed nodes, which are merged and finished later, maybe elsewhere.
 * Only where order cannot show: there the node of all values is the same, whatever was merged first. */
#include <string.h>

#include "backends.h"
#include "fpenv.h"
#include "gpu_nodes.h"
#include "plan.h"
#include "pool.h"
#include "state.h"
#include "tally/tally_nodes.h"

enum { SHARE = 64 }; /* nodes that a thread takes at a time */

static tally_status specify(const tally_context *context, tally_op op, tally_type type, tally__spec *spec) {
    TALLY_TRY(tally__specify(context, op, type, spec));
    TALLY_CHECK(
        !spec->order_shows, UNSUPPORTED,
        "the order in which %s combines values shows, so it has no nodes: merge states, in order (tally_state_merge)",
        spec->name);
    return TALLY_OK;
}

/* ---- facts ---- */

tally_status tally_node_bytes(const tally_context *context, tally_op op, tally_type type, size_t *bytes) {
    tally__spec spec;
    TALLY_CHECK(bytes != NULL, BAD_ARGUMENT, "tally_node_bytes needs a place for the size");
    TALLY_TRY(specify(context, op, type, &spec));
    *bytes = spec.kernel->node_bytes;
    return TALLY_OK;
}

tally_status tally_node_adds(const tally_context *context, tally_op op, tally_type type, int *adds) {
    tally__spec spec;
    TALLY_CHECK(adds != NULL, BAD_ARGUMENT, "tally_node_adds needs a place for the answer");
    TALLY_TRY(specify(context, op, type, &spec));
    *adds = (spec.exact && !spec.kernel->keeps_keys) || spec.op == TALLY_COUNT;
    return TALLY_OK;
}

/* ---- reducing ---- */

static tally_status check_space(const tally__spec *spec, int64_t nodes, const void *memory, size_t space) {
    size_t needed;
    TALLY_CHECK(memory != NULL || nodes == 0, BAD_ARGUMENT, "there is no memory for the nodes");
    TALLY_CHECK(!__builtin_mul_overflow((size_t)nodes, spec->kernel->node_bytes, &needed) && space >= needed, NO_SPACE,
                "%lld nodes of %zu bytes do not fit %zu bytes", (long long)nodes, spec->kernel->node_bytes, space);
    return TALLY_OK;
}

/* The GPU that nodes lie on, or NULL. */
static tally_status find_gpu_of_nodes(const tally__spec *spec, const void *nodes, const tally__backend **gpu) {
    *gpu = tally__far_backend_of(&spec->options, nodes);
    TALLY_CHECK(*gpu != NULL || !tally__lies_on_gpu(nodes), BAD_ARGUMENT,
                "nodes in GPU memory are for TALLY_BACKEND_AUTO or TALLY_BACKEND_CUDA only");
    return TALLY_OK;
}

/* The GPU that an input lies on, or NULL. */
static tally_status find_far(const tally__spec *spec, const tally__input *in, const tally__backend **far) {
    *far = tally__far_backend_of(&spec->options, in->x);
    if (*far == NULL) *far = tally__far_backend_of(&spec->options, in->y);
    TALLY_CHECK(*far != NULL || (!tally__lies_on_gpu(in->x) && !tally__lies_on_gpu(in->y)), BAD_ARGUMENT,
                "values in GPU memory are reduced to nodes by TALLY_BACKEND_AUTO or TALLY_BACKEND_CUDA only");
    return TALLY_OK;
}

/* All values of the input, as a packed node. Only GPUs fail. */
static tally_status reduce_run(const tally__spec *spec, const tally__backend *far, const tally__input *in, void *to) {
    tally__node_storage storage;
    if (far != NULL && in->count > 0)
        TALLY_TRY(far->far_tree(spec, in, 0, in->count, 0, &storage.node));
    else
        tally__host_backend_of(&spec->options)->tree(spec, in, 0, in->count, 0, &storage.node);
    spec->kernel->pack_node(spec->kernel, &storage.node, to);
    return TALLY_OK;
}

static tally_status reduce_node(tally_context *context, tally_op op, const tally_array *x, const tally_array *y,
                                void *node, size_t space) {
    tally__spec spec;
    tally__input in;
    const tally__backend *far, *gpu;
    TALLY_TRY(specify(context, op, x->type, &spec));
    TALLY_TRY(tally__check_input(&spec, x, y, &in));
    TALLY_TRY(check_space(&spec, 1, node, space));
    TALLY_TRY(find_far(&spec, &in, &far));
    TALLY_TRY(find_gpu_of_nodes(&spec, node, &gpu));
    if (gpu != NULL) return gpu->nodes->reduce(&spec, &in, &(tally__node_parts){.results = 1}, node);
    tally__fpenv left = tally__fpenv_enter();
    const tally_status status = reduce_run(&spec, far, &in, node);
    tally__fpenv_leave(left);
    return status;
}

tally_status tally_reduce_node(tally_context *context, tally_op op, tally_array in, void *node, size_t space) {
    return reduce_node(context, op, &in, NULL, node, space);
}
tally_status tally_reduce_node_pair(tally_context *context, tally_op op, tally_array left, tally_array right,
                                    void *node, size_t space) {
    return reduce_node(context, op, &left, &right, node, space);
}

/* ---- segments ---- */

enum { LONG_BYTES = 1024 * 1024 }; /* of a segment that all threads share */

typedef struct segments_job {
    tally__spec alone; /* *spec, limited to one thread */
    const tally__spec *spec;
    const tally__input *in;
    const tally__parts *parts;
    unsigned char *nodes;
    tally__shares shares;
    bool keeps_long; /* long segments come last, each by all threads */
} segments_job;

static bool waits(const segments_job *j, int64_t r) {
    return j->keeps_long &&
           tally__part_length(j->parts, r) >= LONG_BYTES / (int64_t)j->spec->kernel->value_bytes / j->spec->inputs;
}

static void reduce_part(const segments_job *j, const tally__spec *spec, int64_t r) {
    tally__input part;
    tally__node_storage storage;
    if (tally__part_input(j->parts, spec, j->in, r, &part))
        tally__host_backend_of(&spec->options)->tree(spec, &part, 0, part.count, 0, &storage.node);
    else
        tally__run_scattered(j->parts, spec, j->in, r, &storage.node);
    spec->kernel->pack_node(spec->kernel, &storage.node, j->nodes + (size_t)r * spec->kernel->node_bytes);
}

static void take_segments(void *of) {
    segments_job *j = of;
    int64_t share;
    while (tally__take_share(&j->shares, &share))
        for (int64_t r = share * SHARE; r < (share + 1) * SHARE && r < j->parts->count; r++)
            if (!waits(j, r)) reduce_part(j, &j->alone, r);
}

static void reduce_parts(segments_job *j) {
    const size_t bytes = (size_t)j->in->count * j->spec->kernel->value_bytes * (size_t)j->spec->inputs +
                         (size_t)j->parts->count * j->spec->kernel->node_bytes;
    const int threads = tally__pool_team(j->spec->options.threads, (int64_t)bytes);
    j->alone = *j->spec;
    j->alone.options.threads = 1;
    j->keeps_long = threads > 1;
    j->shares.end = (j->parts->count + SHARE - 1) / SHARE;
    tally__pool_run(threads, take_segments, j);
    for (int64_t r = 0; r < j->parts->count && j->keeps_long; r++)
        if (waits(j, r)) reduce_part(j, j->spec, r);
}

/* Sets what->segments if the GPU reads the segmentation itself, so that the host need not. */
static tally_status find_far_segments(const tally__spec *spec, const tally__backend *gpu, int64_t values,
                                      const tally_segments *segments, tally__node_parts *what) {
    tally_segments seen = *segments;
    const tally_plan *plan;
    TALLY_TRY(tally__look_behind_plan(&seen, values, &plan));
    TALLY_TRY(tally__check_segments(&seen, values, &what->results));
    if (!tally__is_for_gpu(&spec->options, segments)) return TALLY_OK;
    what->segments = segments;
    return plan != NULL ? tally__check_plan(plan, gpu) : TALLY_OK;
}

/* Values on a GPU, nodes in host memory: the GPU makes the nodes in memory of its own, and they are copied. As the
 * call waits for that, it also reports what kernels find wrong. */
static tally_status reduce_through_gpu(const tally__backend *gpu, const tally__spec *spec, const tally__input *in,
                                       const tally__node_parts *what, void *nodes) {
    const size_t bytes = (size_t)what->results * spec->kernel->node_bytes;
    tally__spec checked = *spec;
    void *there;
    checked.options.checked = 1;
    TALLY_TRY(gpu->nodes->allocate(spec, in->x, bytes, &there));
    tally_status status = gpu->nodes->reduce(&checked, in, what, there);
    if (status == TALLY_OK) status = gpu->nodes->fetch(spec, nodes, there, bytes);
    const tally_status released = gpu->nodes->release(spec, there);
    return status == TALLY_OK ? released : status;
}

/* far: the GPU that the values lie on, or NULL; gpu: the one that the nodes lie on, or NULL. */
static tally_status reduce_anywhere(const tally__spec *spec, const tally__input *in, const tally__node_parts *what,
                                    const tally__backend *far, const tally__backend *gpu, void *nodes, size_t space) {
    TALLY_TRY(check_space(spec, what->results, nodes, space));
    if (what->results == 0) return TALLY_OK;
    if (gpu != NULL) return gpu->nodes->reduce(spec, in, what, nodes);
    if (far != NULL) return reduce_through_gpu(far, spec, in, what, nodes);
    segments_job j = {.spec = spec, .in = in, .parts = what->parts, .nodes = nodes};
    tally__fpenv left = tally__fpenv_enter();
    reduce_parts(&j);
    tally__fpenv_leave(left);
    return TALLY_OK;
}

static tally_status reduce_parts_anywhere(const tally__spec *spec, const tally__input *in,
                                          const tally_segments *segments, const tally__backend *far,
                                          const tally__backend *gpu, void *nodes, size_t space) {
    tally__parts parts;
    TALLY_TRY(tally__open_parts(spec->context, segments, in->count, &parts));
    const tally__node_parts what = {.results = parts.count, .parts = &parts};
    const bool is_scattered = tally__parts_are_scattered(&parts, in->count);
    const tally_status status =
        (far != NULL || gpu != NULL) && is_scattered
            ? tally__fail(TALLY_BAD_ARGUMENT, "the plan was made ready for host memory, and the array lies in a GPU's")
            : reduce_anywhere(spec, in, &what, far, gpu, nodes, space);
    tally__close_parts(&parts);
    return status;
}

static tally_status reduce_segments_nodes(tally_context *context, tally_op op, const tally_array *x,
                                          const tally_array *y, const tally_segments *segments, void *nodes,
                                          size_t space) {
    tally__spec spec;
    tally__input in;
    tally__node_parts what = {0};
    const tally__backend *far, *gpu;
    TALLY_TRY(specify(context, op, x->type, &spec));
    TALLY_TRY(tally__check_input(&spec, x, y, &in));
    TALLY_TRY(find_far(&spec, &in, &far));
    TALLY_TRY(find_gpu_of_nodes(&spec, nodes, &gpu));
    if (gpu != NULL || far != NULL)
        TALLY_TRY(find_far_segments(&spec, gpu != NULL ? gpu : far, in.count, segments, &what));
    return what.segments != NULL ? reduce_anywhere(&spec, &in, &what, far, gpu, nodes, space)
                                 : reduce_parts_anywhere(&spec, &in, segments, far, gpu, nodes, space);
}

tally_status tally_reduce_segments_nodes(tally_context *context, tally_op op, tally_array in, tally_segments segments,
                                         void *nodes, size_t space) {
    return reduce_segments_nodes(context, op, &in, NULL, &segments, nodes, space);
}
tally_status tally_reduce_segments_nodes_pair(tally_context *context, tally_op op, tally_array left, tally_array right,
                                              tally_segments segments, void *nodes, size_t space) {
    return reduce_segments_nodes(context, op, &left, &right, &segments, nodes, space);
}

/* ---- many nodes ---- */

typedef struct nodes_job nodes_job;
struct nodes_job {
    const tally__spec *spec;
    void (*one)(nodes_job *, int64_t i);
    int64_t count;
    unsigned char *into;       /* nodes that are changed */
    const unsigned char *from; /* nodes that are only read */
    const int64_t *by;
    const tally__sink *sink;
    tally__shares shares;
    _Atomic int flags;
    _Atomic int64_t bad; /* the number of a damaged node, or -1 */
};

/* Unpacks node i. A count that could overflow when counts are added up is damage: the node is taken as empty. */
static void open_node(nodes_job *j, const unsigned char *nodes, int64_t i, tally__node *node) {
    const tally__kernel *kernel = j->spec->kernel;
    kernel->unpack_node(kernel, nodes + (size_t)i * kernel->node_bytes, node);
    if (node->n >= 0 && node->n <= TALLY_MOST_VALUES) return;
    j->bad = i;
    kernel->give_nothing(kernel, node);
}

static void merge_one(nodes_job *j, int64_t i) {
    const tally__kernel *kernel = j->spec->kernel;
    tally__node_storage node, other;
    open_node(j, j->into, i, &node.node);
    open_node(j, j->from, i, &other.node);
    kernel->merge_nodes(kernel, &node.node, &other.node);
    kernel->pack_node(kernel, &node.node, j->into + (size_t)i * kernel->node_bytes);
}

static void shift_one(nodes_job *j, int64_t i) {
    const tally__kernel *kernel = j->spec->kernel;
    tally__node_storage node;
    open_node(j, j->into, i, &node.node);
    kernel->shift_node(kernel, &node.node, j->by[i]);
    kernel->pack_node(kernel, &node.node, j->into + (size_t)i * kernel->node_bytes);
}

static void finish_one(nodes_job *j, int64_t i) {
    _Alignas(16) unsigned char result[TALLY_RESULT_BYTES];
    tally__node_storage node;
    open_node(j, j->from, i, &node.node);
    int flags = j->spec->kernel->finish_node(j->spec->kernel, &node.node, &j->spec->final, result);
    flags |= tally__store(j->spec, j->sink, i, 1, result);
    if (flags & ~j->flags) j->flags |= flags;
}

static void take_nodes(void *of) {
    nodes_job *j = of;
    int64_t share;
    while (tally__take_share(&j->shares, &share))
        for (int64_t i = share * SHARE; i < (share + 1) * SHARE && i < j->count; i++) j->one(j, i);
}

static tally_status run(nodes_job *j) {
    const int64_t bytes = 2 * j->count * (int64_t)j->spec->kernel->node_bytes;
    j->bad = -1;
    j->shares.end = (j->count + SHARE - 1) / SHARE;
    tally__fpenv left = tally__fpenv_enter();
    tally__pool_run(tally__pool_team(j->spec->options.threads, bytes), take_nodes, j);
    tally__fpenv_leave(left);
    TALLY_CHECK(j->bad < 0, BAD_STATE, "node %lld is damaged: no node has so many values", (long long)j->bad);
    return TALLY_OK;
}

static tally_status check_nodes(const tally__spec *spec, int64_t count, const void *nodes) {
    size_t bytes;
    TALLY_CHECK(count >= 0, BAD_ARGUMENT, "the number of nodes is %lld", (long long)count);
    TALLY_CHECK(nodes != NULL || count == 0, BAD_ARGUMENT, "the nodes are NULL");
    TALLY_CHECK(!__builtin_mul_overflow((size_t)count, 2 * spec->kernel->node_bytes, &bytes) && bytes <= INT64_MAX &&
                    (uintptr_t)nodes <= UINTPTR_MAX - bytes / 2,
                BAD_ARGUMENT, "%lld nodes reach beyond the end of memory", (long long)count);
    return TALLY_OK;
}

tally_status tally_merge_nodes(const tally_context *context, tally_op op, tally_type type, int64_t count, void *into,
                               const void *from) {
    tally__spec spec;
    const tally__backend *gpu;
    TALLY_TRY(specify(context, op, type, &spec));
    TALLY_TRY(check_nodes(&spec, count, into));
    TALLY_TRY(check_nodes(&spec, count, from));
    TALLY_TRY(find_gpu_of_nodes(&spec, into, &gpu));
    TALLY_CHECK(gpu != NULL || tally__far_backend_of(&spec.options, from) == NULL, BAD_ARGUMENT,
                "nodes in GPU memory are not merged into nodes in host memory");
    if (gpu != NULL) return count == 0 ? TALLY_OK : gpu->nodes->merge(&spec, count, into, from);
    nodes_job j = {.spec = &spec, .one = merge_one, .count = count, .into = into, .from = from};
    return run(&j);
}

tally_status tally_shift_nodes(const tally_context *context, tally_op op, tally_type type, int64_t count, void *nodes,
                               const int64_t *by) {
    tally__spec spec;
    const tally__backend *gpu;
    TALLY_TRY(specify(context, op, type, &spec));
    TALLY_TRY(check_nodes(&spec, count, nodes));
    TALLY_CHECK(by != NULL || count == 0, BAD_ARGUMENT, "tally_shift_nodes needs the numbers by which indices move");
    TALLY_TRY(find_gpu_of_nodes(&spec, nodes, &gpu));
    if (gpu != NULL)
        return count == 0 || !tally__gives_index(op) ? TALLY_OK : gpu->nodes->shift(&spec, count, nodes, by);
    nodes_job j = {.spec = &spec, .one = shift_one, .count = count, .into = nodes, .by = by};
    return run(&j);
}

static tally_status finish_on_gpu(const tally__backend *gpu, const tally__spec *spec, int64_t count, const void *nodes,
                                  const tally__sink *sink) {
    tally__report report = {0};
    TALLY_TRY(gpu->nodes->finish(spec, count, nodes, sink, &report));
    return tally__status_of(spec, &report, count == 1 ? "the run" : "a node");
}

/* Results are written to host memory; those of a GPU's go there afterwards. */
static tally_status finish(const tally__spec *spec, int64_t count, const void *nodes, const tally__sink *sink,
                           const tally__backend *far) {
    tally__sink here = *sink;
    const size_t bytes = (size_t)count * (size_t)sink->stride;
    nodes_job j = {.spec = spec, .one = finish_one, .count = count, .from = nodes, .sink = &here};
    if (far != NULL) {
        here.data = tally__allocate(&spec->allocator, bytes);
        TALLY_CHECK(here.data != NULL, NO_MEMORY, "no memory for %lld results", (long long)count);
    }
    tally_status status = run(&j);
    if (far != NULL && status == TALLY_OK) status = far->far_store(spec, sink->data, here.data, bytes);
    if (far != NULL) tally__release(&spec->allocator, here.data);
    const tally__report report = {j.flags};
    return status == TALLY_OK ? tally__status_of(spec, &report, count == 1 ? "the run" : "a node") : status;
}

tally_status tally_finish_nodes(const tally_context *context, tally_op op, tally_type type, int64_t count,
                                const void *nodes, tally_output out) {
    tally__spec spec;
    tally__sink sink;
    TALLY_TRY(specify(context, op, type, &spec));
    TALLY_TRY(check_nodes(&spec, count, nodes));
    tally__aim(&spec, out.type);
    TALLY_TRY(tally__check_output(&spec, &out, count, &sink));
    if (count == 0) return TALLY_OK;
    const tally__backend *gpu;
    TALLY_TRY(find_gpu_of_nodes(&spec, nodes, &gpu));
    if (gpu != NULL) return finish_on_gpu(gpu, &spec, count, nodes, &sink);
    const tally__backend *far = tally__far_backend_of(&spec.options, sink.data);
    TALLY_CHECK(far != NULL || !tally__lies_on_gpu(sink.data), BAD_ARGUMENT,
                "an output in GPU memory is for TALLY_BACKEND_AUTO or TALLY_BACKEND_CUDA");
    out.stride = 0;
    tally__sink packed;
    TALLY_TRY(tally__check_output(&spec, &out, count, &packed));
    TALLY_CHECK(far == NULL || sink.stride == packed.stride, UNSUPPORTED,
                "results of nodes must lie side by side in GPU memory, not %lld bytes apart", (long long)sink.stride);
    return finish(&spec, count, nodes, &sink, far);
}
