/* One launch of a kernel that reduces a whole array (kernels/production/reduce.h, reduce_exact.h, small_exact.h). */
#include "cuda/whole.h"

#include "cuda/units.h"
#include "cuda/shape.h"

enum { MAILBOX = 2 }; /* a mailbox has twice the size of a node: 64 bits for 32 (kernels/device/mailbox.h) */

static void shape_ordered(const tally__call *c, int64_t count, tally_array_work *work, int64_t *blocks,
                          size_t *node_bytes) {
    int64_t leaves = (count + tally__geometry_of(c->spec).leaf - 1) / tally__geometry_of(c->spec).leaf, nodes = 0;
    work->run = 0;
    /* Long runs take fewer atomic operations, short ones share the work more evenly (measured: docs/design/005). */
    while (work->run < 3 && leaves >> work->run > 16 * (int64_t)c->gpu->multiprocessors) work->run++;
    while (leaves >> work->run > (int64_t)TALLY_MOST_TILES * TALLY_WARPS) work->run++;
    *blocks = (leaves + ((int64_t)TALLY_WARPS << work->run) - 1) / ((int64_t)TALLY_WARPS << work->run);
    if (*blocks == 0) *blocks = 1;
    for (int64_t level = *blocks; level > 1; level = tally__over(level, TALLY_FAN)) nodes += level;
    *node_bytes = (size_t)nodes * MAILBOX * tally__geometry_of(c->spec).node_size;
}
/* An upper bound for any GPU: it assumes the shortest runs, up to the most tiles that there may be. */
size_t tally__node_bytes_at_most(const tally__spec *spec, int64_t count) {
    int64_t leaves = count / tally__geometry_of(spec).leaf + 1, tiles = leaves / TALLY_WARPS + 1, nodes = 0;
    if (spec->exact) return 0;
    if (tiles > TALLY_MOST_TILES + 1) tiles = TALLY_MOST_TILES + 1;
    for (int64_t level = tiles; level > 1; level = tally__over(level, TALLY_FAN)) nodes += level;
    return (size_t)nodes * MAILBOX * tally__geometry_of(spec).node_size;
}
static void shape_exact(const tally__call *c, const tally__loaded *loaded, int64_t count, int64_t *blocks) {
    int64_t leaves = (count + tally__geometry_of(c->spec).leaf - 1) / tally__geometry_of(c->spec).leaf;
    *blocks = tally__over(leaves, TALLY_WARPS);
    if (*blocks > loaded->resident_blocks) *blocks = loaded->resident_blocks;
    if (*blocks > TALLY_MOST_BLOCKS) *blocks = TALLY_MOST_BLOCKS;
    if (*blocks == 0) *blocks = 1;
}

/* Small arrays are added up in a few doubles (kernels/production/small_exact.h), which can be rounded to f32 and f64.
 * One block does up to SMALL_ALONE iterations; more are spread over TALLY_SMALL_BLOCKS. Measured: docs/design/005. */
enum { SMALL_ALONE = 8 };
static bool is_small(const tally__spec *spec, int64_t count) {
    const int32_t digits = spec->final.format.digits; /* 0 for a tally_stats, whose numbers are f64 */
    return spec->exact && (digits == 0 || digits >= 24) &&
           count <= (int64_t)TALLY_SMALL_BLOCKS * TALLY_SMALL_ITERATIONS * TALLY_SMALL_ITERATION_BYTES /
                        (int64_t)tally__geometry_of(spec).value_bytes;
}
static void shape_small(const tally__call *c, int64_t count, tally_array_work *work, int64_t *blocks) {
    const int64_t values = TALLY_SMALL_ITERATION_BYTES / (int64_t)tally__geometry_of(c->spec).value_bytes,
                  iterations = count > 0 ? (count + values - 1) / values : 1;
    const int64_t each = iterations <= SMALL_ALONE ? iterations : tally__over(iterations, TALLY_SMALL_BLOCKS);
    work->iterations = (int32_t)each;
    *blocks = (iterations + each - 1) / each;
}

tally_status tally__launch_whole(tally__call *c, int64_t begin, int64_t n, int64_t first, tally__gives what,
                                 tally__cu_address to) {
    const tally__input *in = &c->in;
    /* x and y may be NULL where there are no values: nothing is added to NULL. */
    tally_array_work work = {.x = begin > 0 ? in->x + begin * in->x_stride : in->x,
                             .y = begin > 0 ? in->y + begin * in->y_stride : in->y,
                             .x_stride = in->x_stride,
                             .y_stride = in->y_stride,
                             .count = n,
                             .first = first,
                             .out.final = c->spec->final};
    const bool small = what == TALLY_GIVES_RESULT && is_small(c->spec, n);
    tally__loaded loaded;
    int64_t blocks;
    size_t node_bytes = 0;
    const tally__form form = small ? TALLY_FORM_SMALL : TALLY_FORM_WHOLE;
    if (what == TALLY_GIVES_RESULT && c->sink != NULL) TALLY_TRY(tally__call_prepare(c, &form, 1));
    TALLY_TRY(tally__gpu_kernel(c->gpu, c->spec, form, &loaded));
    if (small)
        shape_small(c, n, &work, &blocks);
    else if (c->spec->exact)
        shape_exact(c, &loaded, n, &blocks);
    else
        shape_ordered(c, n, &work, &blocks, &node_bytes);
    TALLY_TRY(tally__gpu_scratch(c->gpu, c->spec->context, c->stream, TALLY_FOR_BOXES, node_bytes,
                                 (tally__cu_address)(uintptr_t)c->spec->options.scratch, c->spec->options.scratch_bytes,
                                 &c->scratch));
    work.nodes = (char *)(uintptr_t)(c->spec->exact ? c->scratch.sums : c->scratch.nodes);
    work.arrivals = (uint32_t *)(uintptr_t)c->scratch.arrivals;
    *(what == TALLY_GIVES_NODE ? &work.node : &work.out.result) = (void *)(uintptr_t)(to != 0 ? to : c->scratch.node);
    return tally__call_launch(c, &loaded, loaded.first, blocks, TALLY_START_BEHIND, &work);
}

tally_status tally__launch_node(tally__call *call, tally__cu_address to) {
    return tally__launch_whole(call, 0, call->in.count, 0, TALLY_GIVES_NODE, to);
}
