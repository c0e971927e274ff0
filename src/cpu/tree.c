/* The canonical tree over one run of values, by one thread or by several. */
#include "cpu/cpu.h"
#include "pool.h"

/* The adjacent-pair tree as a binary counter: level k holds a node over 2^k leaves where bit k of `leaves` is set. */
static void climb(const tally__kernel *kernel, tally__ordered_storage *level, int64_t leaves, tally__node *leaf) {
    int k = 0;
    for (; leaves >> k & 1; k++) {
        kernel->merge_nodes(kernel, &level[k].node, leaf);
        tally__copy_node(kernel, leaf, &level[k].node);
    }
    tally__copy_node(kernel, &level[k].node, leaf);
}
static void descend(const tally__kernel *kernel, tally__ordered_storage *level, int64_t leaves, tally__node *node) {
    int k = __builtin_ctzll((unsigned long long)leaves);
    tally__copy_node(kernel, node, &level[k].node);
    for (k++; leaves >> k; k++)
        if (leaves >> k & 1) {
            kernel->merge_nodes(kernel, &level[k].node, node);
            tally__copy_node(kernel, node, &level[k].node);
        }
}

/* Values that lie apart are copied together leaf by leaf. */
static void run_strided(const tally__spec *spec, const tally__input *in, int64_t begin, int64_t n, int64_t first,
                        tally__node *node) {
    const tally__kernel *kernel = spec->kernel;
    _Alignas(64) char x[TALLY_LEAF_BYTES], y[TALLY_LEAF_BYTES];
    tally__node_storage leaf;
    tally__ordered_storage level[64]; /* where order cannot show there is only one level, and it is in `node` */
    int64_t leaves = 0;
    kernel->give_nothing(kernel, node);
    for (int64_t at = 0; at < n; at += kernel->leaf, leaves++) {
        int64_t count = n - at < kernel->leaf ? n - at : kernel->leaf;
        tally__gather(spec, in, begin + at, count, x, y);
        kernel->run(kernel, x, spec->inputs == 2 ? y : x, count, first + at, &leaf.node);
        if (spec->order_shows)
            climb(kernel, level, leaves, &leaf.node);
        else
            kernel->merge_nodes(kernel, node, &leaf.node);
    }
    if (spec->order_shows && leaves > 0) descend(kernel, level, leaves, node);
}

void tally__cpu_run(const tally__spec *spec, const tally__input *in, int64_t begin, int64_t n, int64_t first,
                    tally__node *node) {
    int64_t bytes = (int64_t)spec->kernel->value_bytes;
    if (!in->packed)
        run_strided(spec, in, begin, n, first, node);
    else if (n == 0)
        spec->kernel->give_nothing(spec->kernel, node);
    else
        spec->kernel->run(spec->kernel, in->x + begin * bytes, in->y + begin * bytes, n, first, node);
}

void tally__cpu_pairs(const tally__kernel *kernel, tally__node *nodes, int64_t count, int64_t step) {
    for (int64_t apart = 1; apart < count; apart *= 2)
        for (int64_t i = 0; i + apart < count; i += 2 * apart)
            kernel->merge_nodes(kernel, tally__node_at(kernel, nodes, i * step),
                                tally__node_at(kernel, nodes, (i + apart) * step));
}

/* How many values a chunk has: 2^k leaves, so that it is a subtree. There are enough chunks to share evenly, and few
 * enough that joining their nodes costs little. Where order cannot show, each thread gets one chunk. */
static int64_t chunk_length(const tally__spec *spec, int64_t n, int threads) {
    int64_t leaf = spec->kernel->leaf, chunk = leaf;
    if (!spec->order_shows) return (n / threads / leaf + 1) * leaf;
    while (n / chunk > 128 * (int64_t)threads) chunk *= 2;
    return chunk;
}

/* Chunks of one tree, and the node of each. */
typedef struct forest {
    const tally__spec *spec;
    const tally__input *in;
    int64_t begin, n, first, chunk;
    tally__node *nodes;
    tally__shares chunks;
} forest;

static void take_chunks(void *job) {
    forest *f = job;
    int64_t c;
    while (tally__take_share(&f->chunks, &c)) {
        const int64_t at = c * f->chunk;
        tally__cpu_run(f->spec, f->in, f->begin + at, c + 1 < f->chunks.end ? f->chunk : f->n - at, f->first + at,
                       tally__node_at(f->spec->kernel, f->nodes, c));
    }
}

void tally__cpu_tree(const tally__spec *spec, const tally__input *in, int64_t begin, int64_t n, int64_t first,
                     int threads, tally__node *node) {
    const tally__kernel *kernel = spec->kernel;
    int64_t chunk = chunk_length(spec, n, threads), chunks = (n + chunk - 1) / chunk;
    tally__node *nodes = NULL;
    if (threads > 1 && chunks > 1) nodes = tally__allocate(&spec->allocator, (size_t)chunks * kernel->node_size);
    if (nodes == NULL) { /* or there is no memory for nodes: one thread needs none */
        tally__cpu_run(spec, in, begin, n, first, node);
        return;
    }
    forest f = {spec, in, begin, n, first, chunk, nodes, {0, chunks}};
    tally__pool_run(threads, take_chunks, &f);
    tally__cpu_pairs(kernel, nodes, chunks, 1);
    tally__copy_node(kernel, node, nodes);
    tally__release(&spec->allocator, nodes);
}
