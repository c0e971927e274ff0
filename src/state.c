/* States: the reduction of a run that need not begin where a leaf does, kept such that it can grow at its end, be
 * joined with its successor, and be written down.
 *
 * A state covers values first ... end of a whole whose leaves begin at multiples of the leaf length. It keeps
 *   - the head: raw values from `first` up to the next leaf boundary (none when first is one),
 *   - a ladder: nodes over the whole leaves, each an aligned power of two of them, as large as alignment allows,
 *   - the tail: raw values behind the last boundary.
 * Where order cannot show, all there is to keep is `extra`, a node over everything, and head, ladder and tail stay
 * empty. The ladder of leaves a ... b is what remains of the adjacent-pair tree when only those leaves are known; two
 * ladders that meet join to the ladder of both, so adjacent states always merge to the bits of the whole. */
#include <string.h>

#include "fpenv.h"
#include "internal.h"
#include "state.h"

/* ---- the ladder ---- */

/* Adds a node over 2^rank leaves that begin where the ladder ends, then joins pairs as long as they are siblings. */
static void climb(tally_state *s, int rank, const tally__node *node) {
    tally__rung *rung = &s->rungs[s->rung_count++];
    rung->rank = rank;
    rung->leaf = s->leaf_end;
    tally__copy_node(s->spec.kernel, &rung->storage.node, node);
    s->leaf_end += (int64_t)1 << rank;
    while (s->rung_count >= 2) {
        tally__rung *left = &s->rungs[s->rung_count - 2], *right = left + 1;
        if (left->rank != right->rank || (left->leaf >> left->rank & 1) != 0) break;
        s->spec.kernel->merge_nodes(s->spec.kernel, &left->storage.node, &right->storage.node);
        left->rank++;
        s->rung_count--;
    }
}

static int64_t leaf_of(const tally_state *s) { return s->spec.kernel->leaf; }
static size_t value_bytes(const tally_state *s) { return s->spec.kernel->value_bytes; }

/* ---- opening and closing ---- */

tally_status tally_state_open(tally_context *context, tally_op op, tally_type type, int64_t first,
                              tally_state **state) {
    tally__spec spec;
    TALLY_CHECK(state != NULL, BAD_ARGUMENT, "tally_state_open needs a place for the state");
    *state = NULL;
    TALLY_TRY(tally__specify(context, op, type, &spec));
    TALLY_TRY(tally__check_callbacks(&spec, true));
    return tally__state_make(&spec, first, state);
}

/* Nothing behind value `end` yet: no head, ladder or tail. */
static void restart(tally_state *s, int64_t end) {
    s->end = s->head_first = end;
    s->leaf_begin = s->leaf_end = end / leaf_of(s) + (end % leaf_of(s) != 0);
    s->head.count = s->tail.count = 0;
    s->rung_count = 0;
}

tally_status tally__state_make(const tally__spec *spec, int64_t first, tally_state **state) {
    tally_state *s;
    TALLY_CHECK(first >= 0 && first <= TALLY_MOST_VALUES, BAD_ARGUMENT, "a state cannot begin at value %lld",
                (long long)first);
    s = tally__allocate(&spec->allocator, sizeof *s);
    TALLY_CHECK(s != NULL, NO_MEMORY, "no memory for a state of %zu bytes", sizeof *s);
    memset(s, 0, sizeof *s);
    s->spec = *spec;
    s->first = first;
    spec->kernel->give_nothing(spec->kernel, &s->extra.node);
    restart(s, first);
    *state = s;
    return TALLY_OK;
}

void tally_state_close(tally_state *state) {
    if (state != NULL) {
        tally_allocator allocator = state->spec.allocator;
        tally__release(&allocator, state);
    }
}

int64_t tally_state_count(const tally_state *state) { return state ? state->end - state->first : 0; }
int64_t tally_state_first(const tally_state *state) { return state ? state->first : 0; }
tally_op tally_state_op(const tally_state *state) { return state ? state->spec.op : TALLY_OP_END; }
tally_type tally_state_type(const tally_state *state) { return state ? state->spec.type : TALLY_NATURAL; }

/* ---- pushing ---- */

/* Where pushed values are read: `far` is the backend of the GPU they lie on, or NULL. Only that can fail. */
static tally_status read_tree(const tally_state *s, const tally__backend *far, const tally__input *in, int64_t begin,
                              int64_t n, int64_t first, tally__node *node) {
    if (far != NULL) return far->far_tree(&s->spec, in, begin, n, first, node);
    tally__host_backend_of(&s->spec.options)->tree(&s->spec, in, begin, n, first, node);
    return TALLY_OK;
}

/* Moves n values of the input, from `from` on, behind those of a buffer of one leaf. */
static tally_status keep_raw(tally_state *s, const tally__backend *far, tally__raw *raw, const tally__input *in,
                             int64_t from, int64_t n) {
    size_t at = (size_t)raw->count * value_bytes(s);
    if (far != NULL)
        TALLY_TRY(far->far_values(&s->spec, in, from, n, raw->x + at, raw->y + at));
    else
        tally__gather(&s->spec, in, from, n, raw->x + at, raw->y + at);
    raw->count += n;
    s->end += n;
    return TALLY_OK;
}

/* A tail that has become a whole leaf joins the ladder. */
static void close_leaf(tally_state *s) {
    tally__ordered_storage storage;
    if (s->tail.count < leaf_of(s)) return;
    s->spec.kernel->run(s->spec.kernel, s->tail.x, s->spec.inputs == 2 ? s->tail.y : s->tail.x, leaf_of(s),
                        s->leaf_end * leaf_of(s), &storage.node);
    s->tail.count = 0;
    climb(s, 0, &storage.node);
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Whole leaves from value `from` of the input on, in runs of 2^rank leaves: as aligned as the ladder's end, as long as
 * what is there. *taken: how many values. */
static tally_status push_leaves(tally_state *s, const tally__backend *far, const tally__input *in, int64_t from,
                                int64_t *taken) {
    int64_t leaves = (in->count - from) / leaf_of(s);
    *taken = 0;
    while (leaves > 0) {
        int rank = s->leaf_end == 0 ? 62 : __builtin_ctzll((unsigned long long)s->leaf_end);
        int64_t n;
        tally__ordered_storage storage;
        while ((int64_t)1 << rank > leaves) rank--;
        n = leaf_of(s) << rank;
        TALLY_TRY(read_tree(s, far, in, from + *taken, n, s->leaf_end * leaf_of(s), &storage.node));
        climb(s, rank, &storage.node);
        *taken += n;
        leaves -= (int64_t)1 << rank;
    }
    s->end += *taken;
    return TALLY_OK;
}

/* Order cannot show: `later`, over n values, joins what is there. */
static void absorb(tally_state *s, const tally__node *later, int64_t n) {
    s->spec.kernel->merge_nodes(s->spec.kernel, &s->extra.node, later);
    restart(s, s->end + n);
}

static tally_status push_values(tally_state *s, const tally__backend *far, const tally__input *in) {
    int64_t done = 0, taken = 0;
    if (!s->spec.order_shows) {
        tally__node_storage storage;
        TALLY_TRY(read_tree(s, far, in, 0, in->count, s->end, &storage.node));
        absorb(s, &storage.node, in->count);
        return TALLY_OK;
    }
    int64_t boundary = s->leaf_begin * leaf_of(s);
    if (s->end < boundary) {
        done = least(boundary - s->end, in->count);
        TALLY_TRY(keep_raw(s, far, &s->head, in, 0, done));
    }
    if (s->tail.count > 0 && done < in->count) {
        int64_t n = least(leaf_of(s) - s->tail.count, in->count - done);
        TALLY_TRY(keep_raw(s, far, &s->tail, in, done, n));
        done += n;
        close_leaf(s);
    }
    if (s->tail.count == 0) TALLY_TRY(push_leaves(s, far, in, done, &taken));
    done += taken;
    return done < in->count ? keep_raw(s, far, &s->tail, in, done, in->count - done) : TALLY_OK;
}

/* A GPU may fail midway: then the state is put back as it was. */
static tally_status push_far(tally_state *s, const tally__backend *far, const tally__input *in) {
    tally_state *before = tally__allocate(&s->spec.allocator, sizeof *before);
    tally_status status;
    TALLY_CHECK(before != NULL, NO_MEMORY, "no memory for a copy of a state, %zu bytes", sizeof *before);
    *before = *s;
    status = push_values(s, far, in);
    if (status != TALLY_OK) *s = *before;
    tally__release(&s->spec.allocator, before);
    return status;
}

static tally_status push(tally_state *s, const tally_array *x, const tally_array *y) {
    tally__input in;
    const tally__backend *far;
    tally_status status;
    TALLY_CHECK(s != NULL, BAD_ARGUMENT, "the state is NULL");
    TALLY_TRY(tally__check_input(&s->spec, x, y, &in));
    far = tally__far_backend_of(&s->spec.options, in.x);
    if (far == NULL) far = tally__far_backend_of(&s->spec.options, in.y);
    TALLY_CHECK(far != NULL || (!tally__lies_on_gpu(in.x) && !tally__lies_on_gpu(in.y)), BAD_ARGUMENT,
                "values in GPU memory are pushed to states opened with TALLY_BACKEND_AUTO or TALLY_BACKEND_CUDA only");
    TALLY_CHECK(in.count <= TALLY_MOST_VALUES - s->end, BAD_ARGUMENT, "a state cannot hold %lld more values",
                (long long)in.count);
    if (in.count == 0) return TALLY_OK;
    tally__fpenv left = tally__fpenv_enter();
    status = far != NULL ? push_far(s, far, &in) : push_values(s, NULL, &in);
    tally__fpenv_leave(left);
    return status;
}

tally_status tally_state_push(tally_state *state, tally_array in) { return push(state, &in, NULL); }
tally_status tally_state_push_pair(tally_state *state, tally_array left, tally_array right) {
    return push(state, &left, &right);
}

/* ---- merging ---- */

static tally_status check_alike(const tally_state *a, const tally_state *b) {
    TALLY_CHECK(a != NULL && b != NULL, BAD_ARGUMENT, "a state is NULL");
    TALLY_CHECK(a != b, BAD_ARGUMENT, "a state cannot be merged with itself");
    TALLY_CHECK(strcmp(a->spec.name, b->spec.name) == 0, BAD_ARGUMENT, "a state of %s cannot be merged with one of %s",
                a->spec.name, b->spec.name);
    TALLY_CHECK(a->spec.type == b->spec.type, BAD_ARGUMENT,
                "a state of %s of %s values cannot be merged with one of %s values", a->spec.name,
                tally_type_name(a->spec.type), tally_type_name(b->spec.type));
    TALLY_CHECK(value_bytes(a) == value_bytes(b) && a->spec.kernel->node_bytes == b->spec.kernel->node_bytes &&
                    a->spec.result_bytes == b->spec.result_bytes,
                BAD_ARGUMENT, "the states are of two different operators named %s", a->spec.name);
    TALLY_CHECK(a->spec.exact == b->spec.exact, BAD_ARGUMENT,
                "one state of %s is exact, the other was opened with TALLY_FAST", a->spec.name);
    TALLY_CHECK(a->spec.options.nan == b->spec.options.nan && a->spec.options.ddof == b->spec.options.ddof,
                BAD_ARGUMENT, "the states were opened with different options (NaN policy, ddof)");
    return TALLY_OK;
}

static tally__input raw_input(const tally_state *s, const tally__raw *raw) {
    int64_t bytes = (int64_t)value_bytes(s);
    tally__input in = {raw->x, s->spec.inputs == 2 ? raw->y : raw->x, bytes, bytes, raw->count, true};
    return in;
}

/* `later` begins where `into` ends: its head fills the open leaf, its rungs climb, its tail is the tail. */
static void append(tally_state *into, const tally_state *later) {
    tally__input head = raw_input(later, &later->head), tail = raw_input(later, &later->tail);
    (void)push_values(into, NULL, &head); /* cannot fail: the values are in host memory */
    for (int i = 0; i < later->rung_count; i++) {
        climb(into, later->rungs[i].rank, &later->rungs[i].storage.node);
        into->end += leaf_of(into) << later->rungs[i].rank;
    }
    (void)push_values(into, NULL, &tail);
}

/* The node over everything; in the order of the tree when the state begins at 0. */
static void total(const tally_state *s, tally__node *node) {
    const tally__kernel *kernel = s->spec.kernel;
    tally__input head = raw_input(s, &s->head), tail = raw_input(s, &s->tail);
    tally__ordered_storage earlier;
    if (!s->spec.order_shows) {
        tally__copy_node(kernel, node, &s->extra.node);
        return;
    }
    kernel->run(kernel, tail.x, tail.y, tail.count, s->leaf_end * leaf_of(s), node);
    for (int i = s->rung_count - 1; i >= 0; i--) {
        tally__copy_node(kernel, &earlier.node, &s->rungs[i].storage.node);
        kernel->merge_nodes(kernel, &earlier.node, node);
        tally__copy_node(kernel, node, &earlier.node);
    }
    if (s->head.count > 0) {
        kernel->run(kernel, head.x, head.y, head.count, s->head_first, &earlier.node);
        kernel->merge_nodes(kernel, &earlier.node, node);
        tally__copy_node(kernel, node, &earlier.node);
    }
}

tally_status tally_state_merge(tally_state *into, const tally_state *later) {
    TALLY_TRY(check_alike(into, later));
    TALLY_CHECK(later->first == into->end || (later->first == 0 && !into->spec.order_shows), BAD_ORDER,
                "the first state ends before value %lld, the later one begins at %lld: open it with first = %lld",
                (long long)into->end, (long long)later->first, (long long)into->end);
    TALLY_CHECK(later->end - later->first <= TALLY_MOST_VALUES - into->end, BAD_ARGUMENT,
                "together the states cover too many values");
    tally__fpenv left = tally__fpenv_enter();
    if (into->spec.order_shows)
        append(into, later);
    else {
        tally__node_storage storage;
        total(later, &storage.node);
        into->spec.kernel->shift_node(into->spec.kernel, &storage.node, into->end - later->first);
        absorb(into, &storage.node, later->end - later->first);
    }
    tally__fpenv_leave(left);
    return TALLY_OK;
}

/* ---- finishing ---- */

tally_status tally_state_finish(const tally_state *state, tally_output out) {
    _Alignas(16) unsigned char result[TALLY_RESULT_BYTES];
    tally__report report;
    tally__spec spec;
    tally__sink sink;
    tally__node_storage storage;
    char written[TALLY_RESULT_BYTES];
    const tally__backend *far;
    TALLY_CHECK(state != NULL, BAD_ARGUMENT, "the state is NULL");
    TALLY_CHECK(state->first == 0 || !state->spec.order_shows, BAD_ORDER,
                "this state begins at value %lld: merge it into the state of the values before it, then finish that",
                (long long)state->first);
    spec = state->spec;
    tally__aim(&spec, out.type);
    out.stride = 0; /* one result needs none; 0 makes the sink's stride the size of a result */
    TALLY_TRY(tally__check_output(&spec, &out, 1, &sink));
    far = tally__far_backend_of(&spec.options, sink.data);
    TALLY_CHECK(far != NULL || !tally__lies_on_gpu(sink.data), BAD_ARGUMENT,
                "an output in GPU memory is for TALLY_BACKEND_AUTO or TALLY_BACKEND_CUDA");
    if (far != NULL) sink.data = written;
    tally__fpenv left = tally__fpenv_enter();
    total(state, &storage.node);
    report.flags = spec.kernel->finish_node(spec.kernel, &storage.node, &spec.final, result);
    report.flags |= tally__store(&spec, &sink, 0, 1, result);
    tally__fpenv_leave(left);
    if (far != NULL) TALLY_TRY(far->far_store(&spec, out.data, written, (size_t)sink.stride));
    return tally__status_of(&state->spec, &report, "the run");
}
