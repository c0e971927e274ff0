/* States written down: docs/states.md has the layout. Every field is little-endian; a hash of everything before it ends
 * the file, and what the hash lets through is checked again, field by field, before any of it is used. */
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "internal.h"
#include "fpenv.h"
#include "state.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "saved states are little-endian; this machine needs swaps here");

static const char magic[8] = "TALLYST";
enum { VERSION = 2, NAME_BYTES = 32 };

typedef struct header {
    char magic[8];
    uint32_t version, type;
    char name[NAME_BYTES];
    uint16_t nan, exact;
    uint32_t ddof;
    uint32_t node_bytes, value_bytes;
    int64_t first, end, head_first, leaf_begin, leaf_end;
    int64_t head_count, tail_count;
    int64_t rung_count;
} header;
_Static_assert(sizeof(header) == 128, "the header of a saved state has gaps");

/* Bytes of one rung: its rank and leaf, then the node. */
static size_t rung_bytes(size_t node_bytes) { return 16 + node_bytes; }

static size_t raw_bytes(const tally__spec *spec, int64_t count) {
    return (size_t)count * spec->kernel->value_bytes * (size_t)spec->inputs;
}

static size_t saved_size(const tally_state *s) {
    size_t node = s->spec.kernel->node_bytes;
    return sizeof(header) + node + (size_t)s->rung_count * rung_bytes(node) + raw_bytes(&s->spec, s->head.count) +
           raw_bytes(&s->spec, s->tail.count) + sizeof(uint64_t);
}

static unsigned char *write_raw(const tally_state *s, const tally__raw *raw, unsigned char *to) {
    size_t bytes = (size_t)raw->count * s->spec.kernel->value_bytes;
    memcpy(to, raw->x, bytes);
    if (s->spec.inputs == 2) memcpy(to + bytes, raw->y, bytes);
    return to + raw_bytes(&s->spec, raw->count);
}

static const unsigned char *read_raw(tally_state *s, tally__raw *raw, int64_t count, const unsigned char *from) {
    size_t bytes = (size_t)count * s->spec.kernel->value_bytes;
    memcpy(raw->x, from, bytes);
    if (s->spec.inputs == 2) memcpy(raw->y, from + bytes, bytes);
    raw->count = count;
    return from + raw_bytes(&s->spec, count);
}

tally_status tally_state_save(const tally_state *state, void *buffer, size_t capacity, size_t *size) {
    const tally__kernel *kernel;
    header h;
    unsigned char *to = buffer;
    uint64_t hash;
    TALLY_CHECK(state != NULL && size != NULL, BAD_ARGUMENT, "tally_state_save needs a state and a place for the size");
    kernel = state->spec.kernel;
    *size = saved_size(state);
    if (buffer == NULL) return TALLY_OK;
    TALLY_CHECK(capacity >= *size, NO_SPACE, "the state takes %zu bytes, the buffer has %zu", *size, capacity);
    memset(&h, 0, sizeof h);
    memcpy(h.magic, magic, sizeof h.magic);
    h.version = VERSION;
    h.type = (uint32_t)state->spec.type;
    memcpy(h.name, state->spec.name, strlen(state->spec.name));
    h.nan = (uint16_t)state->spec.options.nan;
    h.exact = state->spec.exact;
    h.ddof = (uint32_t)state->spec.options.ddof;
    h.node_bytes = (uint32_t)kernel->node_bytes;
    h.value_bytes = (uint32_t)kernel->value_bytes;
    h.first = state->first;
    h.end = state->end;
    h.head_first = state->head_first;
    h.leaf_begin = state->leaf_begin;
    h.leaf_end = state->leaf_end;
    h.head_count = state->head.count;
    h.tail_count = state->tail.count;
    h.rung_count = state->rung_count;
    memcpy(to, &h, sizeof h);
    to += sizeof h;
    memset(to, 0, kernel->node_bytes);
    const tally__fpenv left = tally__fpenv_enter(); /* packing compares NaNs */
    if (!state->spec.order_shows) kernel->pack_node(kernel, &state->extra.node, to);
    to += kernel->node_bytes;
    for (int i = 0; i < state->rung_count; i++, to += rung_bytes(kernel->node_bytes)) {
        const tally__rung *rung = &state->rungs[i];
        int64_t rank = rung->rank;
        memcpy(to, &rank, 8);
        memcpy(to + 8, &rung->leaf, 8);
        kernel->pack_node(kernel, &rung->storage.node, to + 16);
    }
    tally__fpenv_leave(left);
    to = write_raw(state, &state->head, to);
    to = write_raw(state, &state->tail, to);
    hash = XXH3_64bits(buffer, *size - sizeof hash);
    memcpy(to, &hash, sizeof hash);
    return TALLY_OK;
}

/* ---- loading ---- */

static tally_status damaged(const char *what) {
    return tally__fail(TALLY_BAD_STATE, "not a saved state of Tally %d.x, or damaged: %s", TALLY_VERSION_MAJOR, what);
}

/* The operator a name stands for: built in, or the caller's own in this context. */
static tally_op find_operator(const tally_context *context, const char *name) {
    tally_op op = tally_op_from_name(name);
    context = tally__context(context);
    for (int i = 0; op == TALLY_OP_END && i < context->user_count; i++)
        if (strcmp(context->users[i]->name, name) == 0) op = TALLY_OP_USER + i;
    return op;
}

/* The numbers of a header must describe one possible state of a kernel with this leaf length. A state that begins or
 * ends within the last leaf has its ladder at the boundary behind. */
static bool consistent(const header *h, int64_t leaf) {
    const int64_t most = TALLY_MOST_VALUES, last_boundary = most / leaf + (most % leaf != 0);
    int64_t boundary;
    if (h->first < 0 || h->head_first < h->first || h->end < h->head_first || h->end > most) return false;
    boundary = h->head_first / leaf + (h->head_first % leaf != 0);
    if (h->leaf_begin != boundary || h->leaf_end < boundary || h->leaf_end > last_boundary) return false;
    if (h->rung_count < 0 || h->rung_count > TALLY_RUNGS - 2) return false;
    if (h->head_count < 0 || h->head_count >= leaf || h->tail_count < 0 || h->tail_count >= leaf) return false;
    if (h->end < boundary * leaf)
        return h->head_count == h->end - h->head_first && h->tail_count == 0 && h->leaf_end == boundary &&
               h->rung_count == 0;
    return h->head_count == boundary * leaf - h->head_first && h->end == h->leaf_end * leaf + h->tail_count;
}

/* Rungs must follow one another, aligned, and count no more values than they cover. */
static bool read_rungs(tally_state *s, const header *h, const unsigned char *from) {
    const tally__kernel *kernel = s->spec.kernel;
    int64_t at = h->leaf_begin;
    for (int i = 0; i < h->rung_count; i++, from += rung_bytes(kernel->node_bytes)) {
        tally__rung *rung = &s->rungs[i];
        int64_t rank, n;
        memcpy(&rank, from, 8);
        memcpy(&rung->leaf, from + 8, 8);
        if (rank < 0 || rank > 57 || rung->leaf != at || at % ((int64_t)1 << rank) != 0) return false;
        if ((int64_t)1 << rank > h->leaf_end - at) return false;
        if (i > 0 && rung[-1].rank == rank && (rung[-1].leaf >> rank & 1) == 0)
            return false; /* two siblings: a state joins such a pair */
        rung->rank = (int32_t)rank;
        kernel->unpack_node(kernel, from + 16, &rung->storage.node);
        n = rung->storage.node.n;
        if (n < 0 || n > kernel->leaf << rank) return false;
        at += (int64_t)1 << rank;
    }
    s->rung_count = (int32_t)h->rung_count;
    return at == h->leaf_end;
}

static tally_status fill(tally_state *s, const header *h, const unsigned char *from) {
    const tally__kernel *kernel = s->spec.kernel;
    int64_t n;
    s->end = h->end;
    s->head_first = h->head_first;
    s->leaf_begin = h->leaf_begin;
    s->leaf_end = h->leaf_end;
    if (!s->spec.order_shows) kernel->unpack_node(kernel, from, &s->extra.node);
    from += kernel->node_bytes;
    n = s->extra.node.n;
    if (n < 0 || n > h->head_first - h->first) return damaged("a count is impossible");
    if (s->spec.order_shows ? h->head_first > h->first : h->head_first < h->end)
        return damaged("it keeps values where its operator does not");
    if (!read_rungs(s, h, from)) return damaged("its nodes do not follow one another");
    from += (size_t)h->rung_count * rung_bytes(kernel->node_bytes);
    from = read_raw(s, &s->head, h->head_count, from);
    read_raw(s, &s->tail, h->tail_count, from);
    return TALLY_OK;
}

static tally_status specify(tally_context *context, const header *h, tally__spec *spec) {
    tally_context with = *tally__context(context);
    tally_op op = find_operator(context, h->name);
    TALLY_CHECK(op != TALLY_OP_END, BAD_STATE, "the state is of the operator %s, which is not defined in this context",
                h->name);
    if (h->nan > TALLY_NAN_TOTAL || h->ddof > TALLY_MOST_DDOF) return damaged("its options are unknown");
    with.options.nan = (tally_nan)h->nan;
    with.options.ddof = (int)h->ddof;
    with.options.accuracy = h->exact ? TALLY_EXACT : TALLY_FAST;
    if (h->type > TALLY_STRUCT || tally__specify(&with, op, (tally_type)h->type, spec) != TALLY_OK)
        return damaged("its operator and type do not go together");
    if (h->exact != (spec->exact ? 1 : 0)) return damaged("its options do not go with its operator");
    if (spec->kernel->node_bytes != h->node_bytes || spec->kernel->value_bytes != h->value_bytes)
        return damaged("its operator has other sizes");
    return TALLY_OK;
}

tally_status tally_state_load(tally_context *context, const void *buffer, size_t size, tally_state **state) {
    header h;
    tally__spec spec;
    uint64_t hash;
    size_t expected;
    tally_status status;
    TALLY_CHECK(state != NULL, BAD_ARGUMENT, "tally_state_load needs a place for the state");
    *state = NULL;
    TALLY_CHECK(buffer != NULL, BAD_ARGUMENT, "the buffer is NULL");
    if (size < sizeof h + sizeof hash) return damaged("too short");
    memcpy(&h, buffer, sizeof h);
    if (memcmp(h.magic, magic, sizeof magic) != 0) return damaged("it does not begin like one");
    if (h.version != VERSION) return damaged("it has another version");
    memcpy(&hash, (const char *)buffer + size - sizeof hash, sizeof hash);
    if (hash != XXH3_64bits(buffer, size - sizeof hash)) return damaged("its bytes have changed");
    if (memchr(h.name, '\0', sizeof h.name) == NULL) return damaged("its operator has no name");
    TALLY_TRY(specify(context, &h, &spec));
    if (!consistent(&h, spec.kernel->leaf)) return damaged("its numbers contradict one another");
    expected = sizeof h + spec.kernel->node_bytes + (size_t)h.rung_count * rung_bytes(spec.kernel->node_bytes) +
               raw_bytes(&spec, h.head_count) + raw_bytes(&spec, h.tail_count) + sizeof hash;
    if (size != expected) return damaged("it is cut short or too long");
    TALLY_TRY(tally__state_make(&spec, h.first, state));
    const tally__fpenv left = tally__fpenv_enter();
    status = fill(*state, &h, (const unsigned char *)buffer + sizeof h);
    tally__fpenv_leave(left);
    if (status != TALLY_OK) {
        tally_state_close(*state);
        *state = NULL;
    }
    return status;
}
