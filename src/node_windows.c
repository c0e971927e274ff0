/* Windows of nodes: nodes of exact sums are mostly zero limbs, which need not travel. Parties first agree on which
 * limbs of each number anybody has, by the maximum of a few small integers; then they add those alone.
 *
 * A settled number has its sign in the last limb (sums/limbs.h), and a negative one non-zero limbs up to there. Here it
 * goes as the negated limbs of its magnitude: integers too, which add up the same. */
#include <string.h>

#include "internal.h"
#include "sums/limbs.h"
#include "state.h"
#include "tally/tally_nodes.h"

enum { EXTENT = 2 + TALLY_EVIDENCE, NO_LIMB = INT16_MIN };

/* The numbers of a node, behind its count of values. */
typedef struct shape {
    int numbers;
    int32_t limbs[2];
    size_t bytes; /* of a node */
} shape;

static tally_status find_shape(const tally_context *context, tally_op op, tally_type type, shape *s) {
    int adds = 0;
    tally__spec spec;
    *s = (shape){0};
    TALLY_TRY(tally_node_adds(context, op, type, &adds));
    TALLY_TRY(tally__specify(context, op, type, &spec));
    s->bytes = spec.kernel->node_bytes;
    if (!adds || !spec.exact) return TALLY_OK;
    if (spec.kernel->adds_values) s->limbs[s->numbers++] = type == TALLY_F64 ? TALLY_LARGE_LIMBS : TALLY_SMALL_LIMBS;
    if (spec.kernel->adds_products)
        s->limbs[s->numbers++] = type == TALLY_F64 ? TALLY_LARGE_PRODUCT_LIMBS : TALLY_SMALL_PRODUCT_LIMBS;
    return TALLY_OK;
}

static tally_status find_windows(const tally_context *context, tally_op op, tally_type type, int64_t count,
                                 const void *nodes, const int16_t *extents, shape *s) {
    TALLY_TRY(find_shape(context, op, type, s));
    TALLY_CHECK(s->numbers > 0, UNSUPPORTED, "nodes of %s have no windows: they are no sums of limbs",
                tally_op_name(op) ? tally_op_name(op) : "this operator");
    TALLY_CHECK(count >= 0 && (uint64_t)count <= PTRDIFF_MAX / s->bytes, BAD_ARGUMENT, "the number of nodes is %lld",
                (long long)count);
    TALLY_CHECK(count == 0 || (nodes != NULL && extents != NULL), BAD_ARGUMENT, "the nodes or their extents are NULL");
    TALLY_CHECK(!tally__lies_on_gpu(nodes) && !tally__lies_on_gpu(extents), UNSUPPORTED,
                "windows are those of nodes in host memory");
    return TALLY_OK;
}

/* A number with evidence, settled, and then with the limbs of its magnitude, negated if it is negative. */
static void spread_sign(int64_t *words, int32_t limbs) {
    int64_t *limb = words + TALLY_EVIDENCE;
    tally_settle(words, limbs);
    if (limb[limbs - 1] >= 0) return;
    for (int32_t i = 0; i < limbs; i++) limb[i] = (int64_t)(0 - (uint64_t)limb[i]);
    tally_carry(limb, limbs);
    for (int32_t i = 0; i < limbs; i++) limb[i] = (int64_t)(0 - (uint64_t)limb[i]);
}

/* Extents are such that the largest of several are those of the sum. */
static void find_extent(const int64_t *words, int32_t limbs, int16_t *extent) {
    const int64_t *limb = words + TALLY_EVIDENCE;
    extent[0] = extent[1] = NO_LIMB;
    for (int32_t i = 0; i < limbs; i++)
        if (limb[i] != 0) {
            extent[0] = (int16_t)i;
            if (extent[1] == NO_LIMB) extent[1] = (int16_t)-i;
        }
    for (int k = 0; k < TALLY_EVIDENCE; k++) extent[2 + k] = words[k] != 0;
}

static bool is_extent(const int16_t *extent, int32_t limbs) {
    if (extent[0] == NO_LIMB || extent[1] == NO_LIMB) return extent[0] == extent[1];
    return extent[1] <= 0 && -extent[1] <= extent[0] && extent[0] < limbs;
}
static int32_t width_of(const int16_t *extent) { return extent[0] == NO_LIMB ? 0 : extent[0] + extent[1] + 1; }

tally_status tally_node_numbers(const tally_context *context, tally_op op, tally_type type, int *numbers) {
    shape s;
    TALLY_CHECK(numbers != NULL, BAD_ARGUMENT, "tally_node_numbers needs a place for the answer");
    TALLY_TRY(find_shape(context, op, type, &s));
    *numbers = s.numbers;
    return TALLY_OK;
}

tally_status tally_find_extents(const tally_context *context, tally_op op, tally_type type, int64_t count, void *nodes,
                                int16_t *extents) {
    shape s;
    int64_t words[TALLY_NODE_BYTES / 8];
    TALLY_TRY(find_windows(context, op, type, count, nodes, extents, &s));
    for (int64_t i = 0; i < count; i++) {
        unsigned char *node = (unsigned char *)nodes + (size_t)i * s.bytes;
        int64_t *number = words + 1;
        memcpy(words, node, s.bytes);
        for (int k = 0; k < s.numbers; number += TALLY_EVIDENCE + s.limbs[k++], extents += EXTENT) {
            spread_sign(number, s.limbs[k]);
            find_extent(number, s.limbs[k], extents);
        }
        memcpy(node, words, s.bytes);
    }
    return TALLY_OK;
}

/* Where the words of node i begin among those of all, in `at`, is where those of the nodes before it end. */
static tally_status count_words(const shape *s, int64_t count, const int16_t *extents, int64_t *words) {
    *words = count;
    for (int64_t i = 0; i < count * s->numbers; i++) {
        TALLY_CHECK(is_extent(extents + i * EXTENT, s->limbs[i % s->numbers]), BAD_STATE,
                    "the extent of node %lld is none", (long long)(i / s->numbers));
        *words += width_of(extents + i * EXTENT);
    }
    return TALLY_OK;
}

tally_status tally_shrink_nodes(const tally_context *context, tally_op op, tally_type type, int64_t count, void *nodes,
                                const int16_t *extents, size_t *bytes) {
    shape s;
    int64_t all, words[TALLY_NODE_BYTES / 8];
    unsigned char *to = nodes;
    TALLY_TRY(find_windows(context, op, type, count, nodes, extents, &s));
    TALLY_CHECK(bytes != NULL, BAD_ARGUMENT, "tally_shrink_nodes needs a place for the size");
    TALLY_TRY(count_words(&s, count, extents, &all));
    for (int64_t i = 0; i < count; i++) { /* never further than the node itself */
        const int64_t *number = words + 1;
        memcpy(words, (const unsigned char *)nodes + (size_t)i * s.bytes, s.bytes);
        memcpy(to, words, sizeof *words);
        to += sizeof *words;
        for (int k = 0; k < s.numbers; number += TALLY_EVIDENCE + s.limbs[k++], extents += EXTENT) {
            const size_t width = (size_t)width_of(extents) * sizeof *words;
            if (width > 0) memcpy(to, number + TALLY_EVIDENCE - extents[1], width);
            to += width;
        }
    }
    *bytes = (size_t)all * sizeof *words;
    return TALLY_OK;
}

tally_status tally_restore_nodes(const tally_context *context, tally_op op, tally_type type, int64_t count, void *nodes,
                                 const int16_t *extents) {
    shape s;
    int64_t at, words[TALLY_NODE_BYTES / 8];
    TALLY_TRY(find_windows(context, op, type, count, nodes, extents, &s));
    TALLY_TRY(count_words(&s, count, extents, &at));
    for (int64_t i = count - 1; i >= 0; i--) { /* from the last, which lands behind all words that are still needed */
        const int16_t *extent = extents + i * s.numbers * EXTENT;
        const unsigned char *from;
        int64_t *number = words + 1;
        at--;
        for (int k = 0; k < s.numbers; k++) at -= width_of(extent + k * EXTENT);
        from = (const unsigned char *)nodes + (size_t)at * sizeof *words;
        memset(words, 0, s.bytes);
        memcpy(words, from, sizeof *words);
        from += sizeof *words;
        for (int k = 0; k < s.numbers; number += TALLY_EVIDENCE + s.limbs[k++], extent += EXTENT) {
            const size_t width = (size_t)width_of(extent) * sizeof *words;
            for (int e = 0; e < TALLY_EVIDENCE; e++) number[e] = extent[2 + e] != 0;
            if (width > 0) memcpy(number + TALLY_EVIDENCE - extent[1], from, width);
            from += width;
        }
        memcpy((unsigned char *)nodes + (size_t)i * s.bytes, words, s.bytes);
    }
    return TALLY_OK;
}
