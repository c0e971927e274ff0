/* Windows of nodes (sums/windows.h). */
#include <string.h>

#include "gpu_nodes.h"
#include "sums/windows.h"
#include "state.h"
#include "tally/tally_nodes.h"

_Static_assert(TALLY_EXTENT == (int)TALLY_EXTENT_ENTRIES, "the interface says how many entries there are");

static tally_status find_shape(const tally__spec *spec, tally_op op, tally__node_windows *w) {
    int adds = 0;
    *w = (tally__node_windows){.bytes = spec->kernel->node_bytes};
    TALLY_TRY(tally_node_adds(spec->context, op, spec->type, &adds));
    if (!adds || !spec->exact) return TALLY_OK;
    if (spec->kernel->adds_values)
        w->limbs[w->numbers++] = spec->type == TALLY_F64 ? TALLY_LARGE_LIMBS : TALLY_SMALL_LIMBS;
    if (spec->kernel->adds_products)
        w->limbs[w->numbers++] = spec->type == TALLY_F64 ? TALLY_LARGE_PRODUCT_LIMBS : TALLY_SMALL_PRODUCT_LIMBS;
    return TALLY_OK;
}

/* gpu: the GPU that nodes and extents lie on, or NULL. */
static tally_status find_windows(const tally_context *context, tally_op op, tally_type type, int64_t count,
                                 const void *nodes, const int16_t *extents, tally__spec *spec, tally__node_windows *w,
                                 const tally__backend **gpu) {
    TALLY_TRY(tally__specify(context, op, type, spec));
    TALLY_TRY(find_shape(spec, op, w));
    TALLY_CHECK(w->numbers > 0, UNSUPPORTED, "nodes of %s have no windows: only those of exact sums have", spec->name);
    TALLY_CHECK(count >= 0 && (uint64_t)count <= PTRDIFF_MAX / w->bytes, BAD_ARGUMENT, "the number of nodes is %lld",
                (long long)count);
    TALLY_CHECK(count == 0 || (nodes != NULL && extents != NULL), BAD_ARGUMENT, "the nodes or their extents are NULL");
    w->count = count;
    *gpu = tally__far_backend_of(&spec->options, nodes);
    TALLY_CHECK(*gpu != NULL || (!tally__lies_on_gpu(nodes) && !tally__lies_on_gpu(extents) &&
                                 tally__far_backend_of(&spec->options, extents) == NULL),
                BAD_ARGUMENT, "nodes and extents must lie in memory of one GPU, or both in the host's");
    return TALLY_OK;
}

tally_status tally_node_numbers(const tally_context *context, tally_op op, tally_type type, int *numbers) {
    tally__spec spec;
    tally__node_windows w;
    TALLY_CHECK(numbers != NULL, BAD_ARGUMENT, "tally_node_numbers needs a place for the answer");
    TALLY_TRY(tally__specify(context, op, type, &spec));
    TALLY_TRY(find_shape(&spec, op, &w));
    *numbers = w.numbers;
    return TALLY_OK;
}

tally_status tally_find_extents(const tally_context *context, tally_op op, tally_type type, int64_t count, void *nodes,
                                int16_t *extents) {
    tally__spec spec;
    tally__node_windows s;
    const tally__backend *gpu;
    int64_t words[TALLY_NODE_BYTES / 8];
    TALLY_TRY(find_windows(context, op, type, count, nodes, extents, &spec, &s, &gpu));
    if (gpu != NULL && count > 0) return gpu->nodes->find_extents(&spec, &s, nodes, extents);
    for (int64_t i = 0; i < count; i++) {
        unsigned char *node = (unsigned char *)nodes + (size_t)i * s.bytes;
        int64_t *number = words + 1;
        memcpy(words, node, s.bytes);
        for (int k = 0; k < s.numbers; number += TALLY_EVIDENCE + s.limbs[k++], extents += TALLY_EXTENT) {
            tally_spread_sign(number, s.limbs[k]);
            tally_find_extent(number, s.limbs[k], extents);
        }
        memcpy(node, words, s.bytes);
    }
    return TALLY_OK;
}

/* Counts the words of the windows of all nodes, and checks their extents. */
static tally_status count_words(const tally__node_windows *s, int64_t count, const int16_t *extents, int64_t *words) {
    *words = count;
    for (int64_t i = 0; i < count * s->numbers; i++) {
        TALLY_CHECK(tally_is_extent(extents + i * TALLY_EXTENT, s->limbs[i % s->numbers]), BAD_STATE,
                    "the extent of node %lld is invalid", (long long)(i / s->numbers));
        *words += tally_extent_width(extents + i * TALLY_EXTENT);
    }
    return TALLY_OK;
}

tally_status tally_shrink_nodes(const tally_context *context, tally_op op, tally_type type, int64_t count, void *nodes,
                                const int16_t *extents, size_t *bytes) {
    tally__spec spec;
    tally__node_windows s;
    const tally__backend *gpu;
    int64_t all, words[TALLY_NODE_BYTES / 8];
    unsigned char *to = nodes;
    TALLY_TRY(find_windows(context, op, type, count, nodes, extents, &spec, &s, &gpu));
    TALLY_CHECK(bytes != NULL, BAD_ARGUMENT, "tally_shrink_nodes needs a place for the size");
    if (gpu != NULL && count > 0) return gpu->nodes->shrink(&spec, &s, nodes, extents, bytes);
    TALLY_TRY(count_words(&s, count, extents, &all));
    for (int64_t i = 0; i < count; i++) { /* words move to the front: over none still needed */
        const int64_t *number = words + 1;
        memcpy(words, (const unsigned char *)nodes + (size_t)i * s.bytes, s.bytes);
        memcpy(to, words, sizeof *words);
        to += sizeof *words;
        for (int k = 0; k < s.numbers; number += TALLY_EVIDENCE + s.limbs[k++], extents += TALLY_EXTENT) {
            const size_t width = (size_t)tally_extent_width(extents) * sizeof *words;
            if (width > 0) memcpy(to, number + TALLY_EVIDENCE - extents[1], width);
            to += width;
        }
    }
    *bytes = (size_t)all * sizeof *words;
    return TALLY_OK;
}

tally_status tally_restore_nodes(const tally_context *context, tally_op op, tally_type type, int64_t count, void *nodes,
                                 const int16_t *extents) {
    tally__spec spec;
    tally__node_windows s;
    const tally__backend *gpu;
    int64_t at, words[TALLY_NODE_BYTES / 8];
    TALLY_TRY(find_windows(context, op, type, count, nodes, extents, &spec, &s, &gpu));
    if (gpu != NULL && count > 0) return gpu->nodes->restore(&spec, &s, nodes, extents);
    TALLY_TRY(count_words(&s, count, extents, &at));
    for (int64_t i = count - 1; i >= 0; i--) { /* the last first: nodes go behind the words still needed */
        const int16_t *extent = extents + i * s.numbers * TALLY_EXTENT;
        const unsigned char *from;
        int64_t *number = words + 1;
        at--;
        for (int k = 0; k < s.numbers; k++) at -= tally_extent_width(extent + k * TALLY_EXTENT);
        from = (const unsigned char *)nodes + (size_t)at * sizeof *words;
        memset(words, 0, s.bytes);
        memcpy(words, from, sizeof *words);
        from += sizeof *words;
        for (int k = 0; k < s.numbers; number += TALLY_EVIDENCE + s.limbs[k++], extent += TALLY_EXTENT) {
            const size_t width = (size_t)tally_extent_width(extent) * sizeof *words;
            for (int e = 0; e < TALLY_EVIDENCE; e++) number[e] = extent[2 + e] != 0;
            if (width > 0) memcpy(number + TALLY_EVIDENCE - extent[1], from, width);
            from += width;
        }
        memcpy((unsigned char *)nodes + (size_t)i * s.bytes, words, s.bytes);
    }
    return TALLY_OK;
}
