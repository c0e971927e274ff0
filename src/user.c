/* The caller's own operators: their definition, and the kernel made of their callbacks.
 *
 * Callbacks work on runs of accumulators, so each step of the canonical order is laid out as a run: lift a stripe,
 * combine a stripe into the columns, fold half of the columns onto the other (commutative), or gather the k-th value of
 * every group of seven (order kept). A user's node is the count of values and the accumulator. */
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "internal.h"

enum {
    BATCH = 16,      /* groups of seven that a callback gets at a time; the bits do not depend on it */
    ACC_MOST = 64,   /* bytes of an accumulator */
    NODE_HEAD = 8,   /* the count in front of it, as in device code; */
    PACKED_HEAD = 16 /* in saved states a gap follows the count */
};
_Static_assert(NODE_HEAD + ACC_MOST <= TALLY_ORDERED_NODE_BYTES, "a user's accumulator does not fit a node");

static size_t node_size(size_t acc_size) { return (NODE_HEAD + acc_size + 15) / 16 * 16; }
static unsigned char *acc_of(tally__node *node) { return (unsigned char *)node + NODE_HEAD; }
static const unsigned char *acc_in(const tally__node *node) { return (const unsigned char *)node + NODE_HEAD; }

static void set_node(tally__node *node, int64_t n, const void *acc, size_t bytes) {
    memset((void *)node, 0, node_size(bytes));
    node->n = n;
    memcpy(acc_of(node), acc, bytes);
}

/* Folds `present` columns by halves; the result is the first. */
static void fold_columns(const tally_operator *op, char *acc, int64_t columns, int64_t present) {
    for (int64_t half = columns / 2; half >= 1; half /= 2)
        if (present > half) {
            op->combine(acc, acc + (size_t)half * op->acc_size, present - half, op->user);
            present = half;
        }
}

static void commutative_leaf(const tally__kernel *kernel, const char *x, int64_t n, int64_t first, char *acc,
                             char *row) {
    const tally_operator *op = kernel->user;
    int64_t columns = n <= TALLY_SMALL_LEAF ? TALLY_SMALL_COLUMNS : kernel->leaf / TALLY_STRIPES;
    int64_t present = n < columns ? n : columns;
    op->lift(acc, x, present, first, op->user);
    for (int64_t at = columns, count; at < n; at += count) {
        int64_t column = at % columns;
        count = columns - column < BATCH * TALLY_GROUP ? columns - column : BATCH * TALLY_GROUP;
        if (count > n - at) count = n - at;
        op->lift(row, x + (size_t)at * kernel->value_bytes, count, first + at, op->user);
        op->combine(acc + (size_t)column * op->acc_size, row, count, op->user);
    }
    fold_columns(op, acc, columns, present);
}

/* The adjacent-pair tree over `count` accumulators; the result is the first. */
static void fold_pairs(const tally_operator *op, char *acc, char *spare, int64_t count) {
    size_t bytes = op->acc_size;
    for (; count > 1; count = (count + 1) / 2) {
        int64_t pairs = count / 2;
        for (int64_t p = 0; p < pairs; p += BATCH) {
            int64_t some = pairs - p < BATCH ? pairs - p : BATCH;
            for (int64_t i = 0; i < some; i++) {
                memmove(acc + (size_t)(p + i) * bytes, acc + (size_t)(2 * (p + i)) * bytes, bytes);
                memcpy(spare + (size_t)i * bytes, acc + (size_t)(2 * (p + i) + 1) * bytes, bytes);
            }
            op->combine(acc + (size_t)p * bytes, spare, some, op->user);
        }
        if (count % 2) memmove(acc + (size_t)pairs * bytes, acc + (size_t)(count - 1) * bytes, bytes);
    }
}

/* A leaf whose order is kept, `batch` groups of seven at a time: acc holds the groups, row one batch of lifted values,
 * spare the k-th of each group. */
static void ordered_leaf(const tally__kernel *kernel, const char *x, int64_t n, int64_t first, char *acc, char *row,
                         char *spare) {
    const tally_operator *op = kernel->user;
    size_t bytes = op->acc_size;
    int64_t groups = (n + TALLY_GROUP - 1) / TALLY_GROUP;
    for (int64_t g = 0; g < groups; g += BATCH) {
        int64_t at = g * TALLY_GROUP;
        int64_t values = n - at < BATCH * TALLY_GROUP ? n - at : BATCH * TALLY_GROUP;
        op->lift(row, x + (size_t)at * kernel->value_bytes, values, first + at, op->user);
        for (int64_t k = 0; k < TALLY_GROUP && k < values; k++) {
            int64_t count = (values - k + TALLY_GROUP - 1) / TALLY_GROUP;
            char *to = k == 0 ? acc + (size_t)g * bytes : spare;
            for (int64_t i = 0; i < count; i++)
                memcpy(to + (size_t)i * bytes, row + (size_t)(i * TALLY_GROUP + k) * bytes, bytes);
            if (k > 0) op->combine(acc + (size_t)g * bytes, spare, count, op->user);
        }
    }
    fold_pairs(op, acc, spare, groups);
}

static void user_leaf(const tally__kernel *kernel, const char *x, int64_t n, int64_t first, tally__node *node) {
    /* 4096 values of one byte make 586 groups; a stripe of them has 512 columns. */
    _Alignas(64) char acc[586 * ACC_MOST], row[BATCH * TALLY_GROUP * ACC_MOST], spare[BATCH * ACC_MOST];
    if (kernel->user->commutative)
        commutative_leaf(kernel, x, n, first, acc, row);
    else
        ordered_leaf(kernel, x, n, first, acc, row, spare);
    set_node(node, n, acc, kernel->user->acc_size);
}

static void user_nothing(const tally__kernel *kernel, tally__node *node) {
    set_node(node, 0, kernel->user->identity, kernel->user->acc_size);
}

static void user_merge(const tally__kernel *kernel, tally__node *node, const tally__node *later) {
    _Alignas(64) char left[ACC_MOST], right[ACC_MOST];
    size_t bytes = kernel->user->acc_size;
    memcpy(left, acc_in(node), bytes);
    memcpy(right, acc_in(later), bytes);
    kernel->user->combine(left, right, 1, kernel->user->user);
    set_node(node, node->n + later->n, left, bytes);
}

static void user_shift(const tally__kernel *kernel, tally__node *node, int64_t by) {
    (void)kernel, (void)node, (void)by; /* states of user operators merge in order alone: indices are right */
}

static void user_pack(const tally__kernel *kernel, const tally__node *node, unsigned char *bytes) {
    memset(bytes, 0, kernel->node_bytes);
    memcpy(bytes, &node->n, sizeof node->n);
    memcpy(bytes + PACKED_HEAD, acc_in(node), kernel->user->acc_size);
}

static void user_unpack(const tally__kernel *kernel, const unsigned char *bytes, tally__node *node) {
    memset((void *)node, 0, kernel->node_size);
    memcpy(&node->n, bytes, sizeof node->n);
    memcpy(acc_of(node), bytes + PACKED_HEAD, kernel->user->acc_size);
}

static int user_finish(const tally__kernel *kernel, const tally__node *node, const tally_final *final, void *result) {
    const tally_operator *op = kernel->user;
    _Alignas(64) char acc[ACC_MOST], out[ACC_MOST];
    (void) final;
    memcpy(acc, acc_in(node), op->acc_size);
    if (op->finish == NULL) {
        memcpy(result, acc, kernel->result_bytes);
        return 0; /* of no values it is the identity: never TALLY_EMPTY */
    }
    op->finish(out, acc, 1, op->user);
    memcpy(result, out, kernel->result_bytes);
    return 0;
}

static void user_run(const tally__kernel *kernel, const void *vx, const void *vy, int64_t n, int64_t first,
                     tally__node *node) {
    const char *x = vx;
    tally__ordered_storage level[64];
    int64_t leaves = 0, at = 0;
    (void)vy;
    if (n == 0) {
        user_nothing(kernel, node);
        return;
    }
    for (; n - at > kernel->leaf; at += kernel->leaf, leaves++) {
        int k = 0;
        user_leaf(kernel, x + (size_t)at * kernel->value_bytes, kernel->leaf, first + at, node);
        for (; leaves >> k & 1; k++) {
            user_merge(kernel, &level[k].node, node);
            tally__copy_node(kernel, node, &level[k].node);
        }
        tally__copy_node(kernel, &level[k].node, node);
    }
    user_leaf(kernel, x + (size_t)at * kernel->value_bytes, n - at, first + at, node);
    for (int k = 0; leaves >> k; k++)
        if (leaves >> k & 1) {
            user_merge(kernel, &level[k].node, node);
            tally__copy_node(kernel, node, &level[k].node);
        }
}

static int user_segments(const tally__kernel *kernel, const void *x, const void *y, int64_t limit,
                         const int64_t *offsets, int64_t count, const tally_final *final, void *results) {
    (void)limit;
    for (int64_t s = 0; s < count; s++) {
        tally__ordered_storage node;
        user_run(kernel, (const char *)x + (size_t)offsets[s] * kernel->value_bytes, y, offsets[s + 1] - offsets[s], 0,
                 &node.node);
        user_finish(kernel, &node.node, final, (char *)results + (size_t)s * kernel->result_bytes);
    }
    return 0;
}

static int user_rows(const tally__kernel *kernel, const void *vx, const void *vy, int64_t rows, int64_t stride,
                     int64_t width, int64_t first, const tally_final *final, void *scratch, tally__node *nodes,
                     void *results) {
    const char *x = vx;
    _Alignas(64) char leaf[TALLY_LEAF_BYTES];
    size_t bytes = kernel->value_bytes;
    (void)vy, (void)scratch;
    for (int64_t p = 0; p < width; p++) {
        tally__ordered_storage node;
        for (int64_t r = 0; r < rows; r++)
            memcpy(leaf + (size_t)r * bytes, x + (size_t)(r * stride + p) * bytes, bytes);
        user_run(kernel, leaf, NULL, rows, first, &node.node);
        if (nodes)
            tally__copy_node(kernel, tally__node_at(kernel, nodes, p), &node.node);
        else
            user_finish(kernel, &node.node, final, (char *)results + (size_t)p * kernel->result_bytes);
    }
    return 0;
}

void tally__user_kernel(tally__user_operator *user) {
    tally__kernel *kernel = &user->kernel;
    int64_t leaf = TALLY_LEAF_BYTES;
    while (leaf * (int64_t)user->definition.input_size > TALLY_LEAF_BYTES) leaf /= 2;
    kernel->leaf = leaf;
    kernel->lanes = leaf / TALLY_STRIPES;
    kernel->value_bytes = user->definition.input_size;
    kernel->node_size = node_size(user->definition.acc_size);
    kernel->node_bytes = PACKED_HEAD + user->definition.acc_size;
    kernel->result_bytes = user->definition.result_size;
    kernel->user = &user->definition;
    kernel->give_nothing = user_nothing;
    kernel->merge_nodes = user_merge;
    kernel->shift_node = user_shift;
    kernel->pack_node = user_pack;
    kernel->unpack_node = user_unpack;
    kernel->finish_node = user_finish;
    kernel->run = user_run;
    kernel->segments = user_segments;
    kernel->rows = user_rows;
}

/* ---- definition ---- */

static bool is_name(const char *name) {
    size_t length = 0;
    for (; name != NULL && name[length] != '\0' && length < 32; length++) {
        char c = name[length];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-'))
            return false;
    }
    return length >= 1 && length <= 31;
}

static tally_status check_definition(const tally_context *context, const tally_operator *definition) {
    TALLY_CHECK(context != NULL, BAD_ARGUMENT,
                "operators are defined in a context of your own: make one with tally_context_create");
    TALLY_CHECK(definition != NULL, BAD_ARGUMENT, "the definition is NULL");
    TALLY_CHECK(definition->size == sizeof *definition, BAD_ARGUMENT,
                "definition.size is %zu where this version has %zu: set it to sizeof(tally_operator)", definition->size,
                sizeof *definition);
    TALLY_CHECK(is_name(definition->name), BAD_ARGUMENT, "an operator's name is 1 to 31 letters, digits, '_' or '-'");
    TALLY_CHECK(tally_op_from_name(definition->name) == TALLY_OP_END, BAD_ARGUMENT,
                "%s is built in: choose another name", definition->name);
    for (int i = 0; i < context->user_count; i++)
        TALLY_CHECK(strcmp(context->users[i]->name, definition->name) != 0, BAD_ARGUMENT,
                    "%s is defined in this context already", definition->name);
    TALLY_CHECK((definition->lift != NULL) == (definition->combine != NULL) &&
                    (definition->lift != NULL || definition->text != NULL),
                UNSUPPORTED,
                "%s needs both the callbacks lift and combine, for the CPU, or text, for GPUs, or all of them",
                definition->name);
    TALLY_CHECK(definition->identity != NULL, BAD_ARGUMENT, "%s has no identity", definition->name);
    TALLY_CHECK(definition->acc_size >= 1 && definition->acc_size <= ACC_MOST, BAD_ARGUMENT,
                "%s has an accumulator of %zu bytes; it may have 1 to %d", definition->name, definition->acc_size,
                ACC_MOST);
    return TALLY_OK;
}

/* The size of a value whose type and size the caller gave; 0 when they do not agree. */
static size_t agreed_size(tally_type type, size_t size) {
    size_t natural = tally_type_size(type);
    if (type == TALLY_STRUCT) return size <= 64 ? size : 0;
    return size == 0 || size == natural ? natural : 0;
}

/* Two operators with one key have one kernel on a GPU. */
static void write_key(tally__user_operator *user) {
    const tally_operator *d = &user->definition;
    const int32_t numbers[] = {(int32_t)d->input, (int32_t)d->input_size, (int32_t)d->acc_size, (int32_t)d->result_size,
                               d->commutative != 0};
    XXH3_state_t state;
    XXH128_hash_t hash;
    if (d->text == NULL) return;
    XXH3_128bits_reset(&state);
    XXH3_128bits_update(&state, numbers, sizeof numbers);
    XXH3_128bits_update(&state, d->text, strlen(d->text));
    hash = XXH3_128bits_digest(&state);
    snprintf(user->key, sizeof user->key, "%016llx%016llx", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
}

tally_status tally_define(tally_context *context, const tally_operator *definition, tally_op *op) {
    tally__user_operator *user, **users;
    char *text;
    TALLY_TRY(check_definition(context, definition));
    TALLY_CHECK(op != NULL, BAD_ARGUMENT, "tally_define needs a place for the operator's number");
    size_t input = agreed_size(definition->input, definition->input_size);
    size_t result = agreed_size(definition->result, definition->result_size);
    TALLY_CHECK(input != 0, BAD_ARGUMENT, "%s: input and input_size do not say one size of 1 to 64 bytes",
                definition->name);
    TALLY_CHECK(result != 0, BAD_ARGUMENT, "%s: result and result_size do not say one size of 1 to 64 bytes",
                definition->name);
    TALLY_CHECK(definition->finish != NULL || definition->lift == NULL || result == definition->acc_size, BAD_ARGUMENT,
                "%s has no finish, but its accumulator has %zu bytes and its result %zu", definition->name,
                definition->acc_size, result);
    user = tally__allocate(&context->allocator, sizeof *user);
    users = tally__allocate(&context->allocator, (size_t)(context->user_count + 1) * sizeof *users);
    text = definition->text != NULL ? tally__allocate(&context->allocator, strlen(definition->text) + 1) : NULL;
    if (user == NULL || users == NULL || (text == NULL && definition->text != NULL)) {
        tally__release(&context->allocator, user);
        tally__release(&context->allocator, users);
        tally__release(&context->allocator, text);
        return tally__fail(TALLY_NO_MEMORY, "no memory for the operator %s", definition->name);
    }
    memset(user, 0, sizeof *user);
    user->definition = *definition;
    memcpy(user->name, definition->name, strlen(definition->name));
    memcpy(user->identity, definition->identity, definition->acc_size);
    user->definition.name = user->name;
    user->definition.identity = user->identity;
    if (text != NULL) memcpy(text, definition->text, strlen(definition->text) + 1);
    user->definition.text = text;
    user->definition.input_size = input;
    user->definition.result_size = result;
    write_key(user);
    tally__user_kernel(user);
    for (int i = 0; i < context->user_count; i++) users[i] = context->users[i];
    users[context->user_count] = user;
    tally__release(&context->allocator, context->users);
    context->users = users;
    *op = TALLY_OP_USER + context->user_count++;
    return TALLY_OK;
}
