/* The CPU backend: which instruction set, how many threads, and the reduction of one run by all of them. */
#include <stdlib.h>
#include <string.h>

#include "cpu/cpu.h"
#include "pool.h"
#include "cpu/tiles.h"
#include "kernel_list.h"

/* ---- instruction sets ---- */

/* The levels that kernels were compiled for, weakest first, each including those before it. */
static const char *const level_names[] = {
#define TALLY_ROW(isa) #isa,
    TALLY_ISAS(TALLY_ROW)
#undef TALLY_ROW
};
enum { LEVELS = sizeof level_names / sizeof *level_names };

static bool machine_has(const char *level) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (strcmp(level, "avx2") == 0)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    if (strcmp(level, "avx512") == 0)
        return machine_has("avx2") && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512cd");
#endif
    return strcmp(level, "baseline") == 0;
}

static int strongest_level(void) {
    int level = LEVELS - 1;
    while (!machine_has(level_names[level])) level--;
    return level;
}

/* The level in use: the machine's, or the weaker one that TALLY_ISA names. Found once; two threads that both look find
 * the same, so a plain atomic is enough. */
static int isa_level(void) {
    static _Atomic int found; /* level + 1 */
    int level = found;
    if (level == 0) {
        const char *wish = getenv("TALLY_ISA");
        level = strongest_level() + 1;
        for (int i = 0; wish != NULL && i < level; i++)
            if (strcmp(wish, level_names[i]) == 0) level = i + 1;
        found = level;
    }
    return level - 1;
}

const char *tally_cpu_isa(void) {
#if defined(__aarch64__)
    return "neon"; /* the baseline of this machine */
#else
    return level_names[isa_level()];
#endif
}

#define TALLY_CELL(kernel, isa) extern const tally__kernel_set tally__cpu_##kernel##_##isa;
#define TALLY_ROW(kernel) TALLY_ISAS_OF(TALLY_CELL, kernel)
TALLY_KERNELS(TALLY_ROW)
#undef TALLY_CELL
#undef TALLY_ROW

static const tally__kernel_set *cpu_kernels(int number) {
    static const tally__kernel_set *const sets[][LEVELS] = {
#define TALLY_CELL(kernel, isa) &tally__cpu_##kernel##_##isa,
#define TALLY_ROW(kernel) {TALLY_ISAS_OF(TALLY_CELL, kernel)},
        TALLY_KERNELS(TALLY_ROW)
#undef TALLY_CELL
#undef TALLY_ROW
    };
    return sets[number][isa_level()];
}

#define TALLY_ROW(kernel) extern const tally__kernel_set tally__cpu_exact_##kernel;
TALLY_EXACT_KERNELS(TALLY_ROW)
#undef TALLY_ROW
#define TALLY_ROW(isa) extern const tally__tiles tally__tiles_##isa;
TALLY_ISAS(TALLY_ROW)
#undef TALLY_ROW

static const tally__kernel_set *cpu_exact_kernels(int number) {
    static const tally__kernel_set *const sets[] = {
#define TALLY_ROW(kernel) &tally__cpu_exact_##kernel,
        TALLY_EXACT_KERNELS(TALLY_ROW)
#undef TALLY_ROW
    };
    return sets[number];
}

const tally__tiles *tally__cpu_tiles(void) {
    static const tally__tiles *const tiles[] = {
#define TALLY_ROW(isa) &tally__tiles_##isa,
        TALLY_ISAS(TALLY_ROW)
#undef TALLY_ROW
    };
    return tiles[isa_level()];
}

/* ---- threads ---- */

int tally_cpu_threads(void) { return tally__pool_threads(); }

/* ---- one run ---- */

/* The adjacent-pair tree as a binary counter: level k holds a node over 2^k leaves where bit k of `leaves` is set. */
static void climb(const tally__kernel *kernel, tally__ordered_room *level, int64_t leaves, tally__node *leaf) {
    int k = 0;
    for (; leaves >> k & 1; k++) {
        kernel->merge_nodes(kernel, &level[k].node, leaf);
        tally__copy_node(kernel, leaf, &level[k].node);
    }
    tally__copy_node(kernel, &level[k].node, leaf);
}
static void descend(const tally__kernel *kernel, tally__ordered_room *level, int64_t leaves, tally__node *node) {
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
    tally__room leaf;
    tally__ordered_room level[64]; /* where order cannot show, only the first is used, and is in `node` */
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

/* The values of one chunk: 2^k leaves, so that a chunk is a subtree; few enough chunks that their nodes are small
 * change, enough that threads share them evenly. Where order cannot show, each thread has one. */
static int64_t chunk_length(const tally__spec *spec, int64_t n, int threads) {
    int64_t leaf = spec->kernel->leaf, chunk = leaf;
    if (!spec->order_shows) return (n / threads / leaf + 1) * leaf;
    while (n / chunk > 128 * (int64_t)threads) chunk *= 2;
    return chunk;
}

/* Chunks of one tree, and what they come to. */
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
    if (nodes == NULL) { /* also without memory: one thread needs none */
        tally__cpu_run(spec, in, begin, n, first, node);
        return;
    }
    forest f = {spec, in, begin, n, first, chunk, nodes, {0, chunks}};
    tally__pool_run(threads, take_chunks, &f);
    tally__cpu_pairs(kernel, nodes, chunks, 1);
    tally__copy_node(kernel, node, nodes);
    tally__release(&spec->allocator, nodes);
}

static void cpu_tree(const tally__spec *spec, const tally__input *in, int64_t begin, int64_t n, int64_t first,
                     tally__node *node) {
    int64_t bytes = n * (int64_t)spec->kernel->value_bytes * spec->inputs;
    tally__cpu_tree(spec, in, begin, n, first, tally__pool_team(spec->options.threads, bytes), node);
}

static tally_status cpu_reduce(const tally__spec *spec, const tally__input *in, const tally__sink *sink,
                               tally__report *report) {
    const tally__kernel *kernel = spec->kernel;
    _Alignas(16) unsigned char result[TALLY_RESULT_BYTES];
    tally__room room;
    if (spec->exact && in->packed && in->count > 0 && in->count <= 4 * kernel->leaf) { /* no node of limbs for so few */
        const int64_t offsets[2] = {0, in->count};
        report->saw = kernel->segments(kernel, in->x, in->y, in->count, offsets, 1, &spec->final, result);
        report->saw |= tally__store(spec, sink, 0, 1, result);
        return TALLY_OK;
    }
    cpu_tree(spec, in, 0, in->count, 0, &room.node);
    report->saw = kernel->finish_node(kernel, &room.node, &spec->final, result);
    report->saw |= tally__store(spec, sink, 0, 1, result);
    return TALLY_OK;
}

static tally_status cpu_segments(const tally__spec *spec, const tally__input *in, const tally_segments *cut,
                                 const tally__sink *sink, tally__report *report) {
    if (cut->kind == TALLY_ROWS && cut->inner != 1) return tally__cpu_rows(spec, in, NULL, cut, sink, report);
    return tally__cpu_ragged(spec, in, cut, sink, report);
}

const tally__backend tally__cpu_backend = {
    .name = "cpu",
    .kernels = cpu_kernels,
    .exact_kernels = cpu_exact_kernels,
    .tree = cpu_tree,
    .reduce = cpu_reduce,
    .segments = cpu_segments,
    .grouped = tally__cpu_grouped,
};
