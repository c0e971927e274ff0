/* The CPU backend: its table of functions, and whole arrays. */
#include "cpu/cpu.h"
#include "pool.h"

static void cpu_tree(const tally__spec *spec, const tally__input *in, int64_t begin, int64_t n, int64_t first,
                     tally__node *node) {
    int64_t bytes = n * (int64_t)spec->kernel->value_bytes * spec->inputs;
    tally__cpu_tree(spec, in, begin, n, first, tally__pool_team(spec->options.threads, bytes), node);
}

static tally_status cpu_reduce(const tally__spec *spec, const tally__input *in, const tally__sink *sink,
                               tally__report *report) {
    const tally__kernel *kernel = spec->kernel;
    _Alignas(16) unsigned char result[TALLY_RESULT_BYTES];
    tally__node_storage storage;
    if (spec->exact && in->packed && in->count > 0 &&
        in->count <= 4 * kernel->leaf) { /* no limbs to fill and read for so few */
        const int64_t offsets[2] = {0, in->count};
        report->flags = kernel->segments(kernel, in->x, in->y, in->count, offsets, 1, &spec->final, result);
        report->flags |= tally__store(spec, sink, 0, 1, result);
        return TALLY_OK;
    }
    cpu_tree(spec, in, 0, in->count, 0, &storage.node);
    report->flags = kernel->finish_node(kernel, &storage.node, &spec->final, result);
    report->flags |= tally__store(spec, sink, 0, 1, result);
    return TALLY_OK;
}

static tally_status cpu_segments(const tally__spec *spec, const tally__input *in, const tally_segments *segments,
                                 const tally__sink *sink, tally__report *report) {
    if (segments->kind == TALLY_ROWS && segments->inner != 1)
        return tally__cpu_rows(spec, in, NULL, segments, sink, report);
    return tally__cpu_ragged(spec, in, segments, sink, report);
}

const tally__backend tally__cpu_backend = {
    .name = "cpu",
    .kernels = tally__cpu_kernels,
    .exact_kernels = tally__cpu_exact_kernels,
    .tree = cpu_tree,
    .reduce = cpu_reduce,
    .segments = cpu_segments,
    .grouped = tally__cpu_grouped,
};
