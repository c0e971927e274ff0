/* Rows along an axis that is not the last: results lie side by side, their values `inner` apart.
 *
 * The results of one outer index are divided into panels (panels.h), and a long axis into chunks of 2^k leaves, so that
 * there is work for every thread whatever the shape. */
#include <string.h>

#include "cpu/panels.h"
#include "pool.h"

typedef struct job {
    tally__panels panels;
    int64_t outer, length;
    int64_t chunk, chunks; /* values in a chunk; chunks of the axis */
    tally__node *nodes;    /* `width` nodes for each outer index, panel and chunk; NULL if there is one chunk */
    tally__shares shares;  /* what threads take in turn */
    _Atomic int flags;     /* TALLY_FLAG_... */
    _Atomic bool starved;
} job;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static void note(job *j, int flags) {
    if (flags & ~j->flags) j->flags |= flags;
}

/* Panel number k of all outer indices. */
static tally__panel panel_of(const job *j, int64_t k) {
    const int64_t o = k / j->panels.count;
    return tally__panel_at(&j->panels, o * j->length, o * j->panels.inner, k % j->panels.count);
}

/* Task t is chunk t % chunks of panel t / chunks. */
static void take_task(job *j, const tally__workspace *w, int64_t task) {
    const tally__kernel *kernel = j->panels.spec->kernel;
    const tally__panel panel = panel_of(j, task / j->chunks);
    const int64_t at = task % j->chunks * j->chunk;
    if (j->chunks == 1) {
        note(j, tally__reduce_panel(&j->panels, w, &panel, j->length));
        return;
    }
    note(j, tally__panel_tree(&j->panels, w, &panel, at, least(j->chunk, j->length - at)));
    memcpy((void *)tally__node_at(kernel, j->nodes, task * j->panels.width), w->node,
           (size_t)panel.width * kernel->node_size);
}

/* Joins the chunks of every result of a panel. */
static void join_panel(job *j, const tally__workspace *w, int64_t k) {
    const tally__kernel *kernel = j->panels.spec->kernel;
    const int64_t width = j->panels.width;
    const tally__panel panel = panel_of(j, k);
    tally__node *nodes = tally__node_at(kernel, j->nodes, k * j->chunks * width);
    for (int64_t i = 0; i < panel.width; i++)
        tally__cpu_pairs(kernel, tally__node_at(kernel, nodes, i), j->chunks, width);
    note(j, tally__finish_panel(&j->panels, w, &panel, nodes));
}

/* Takes shares of the job, with a workspace of the thread's own. If there is no memory for that, all threads stop. */
static void take_shares(job *j, void (*take)(job *, const tally__workspace *, int64_t)) {
    tally__workspace w;
    int64_t share;
    if (!tally__open_workspace(&j->panels, &w)) {
        j->starved = true;
        return;
    }
    while (!j->starved && tally__take_share(&j->shares, &share)) take(j, &w, share);
    tally__close_workspace(&j->panels, &w);
}
static void take_some_tasks(void *of) { take_shares(of, take_task); }
static void join_some_panels(void *of) { take_shares(of, join_panel); }

static void run(job *j, int threads, tally__pool_work *work, int64_t shares) {
    j->shares.next = 0;
    j->shares.end = shares;
    tally__pool_run(shares < threads ? (int)shares : threads, work, j);
}

static tally_status take_tasks(job *j, int threads) {
    const int64_t panels = j->outer * j->panels.count;
    run(j, threads, take_some_tasks, panels * j->chunks);
    if (j->chunks > 1 && !j->starved) run(j, threads, join_some_panels, panels);
    TALLY_CHECK(!j->starved, NO_MEMORY, "no memory for the columns of %lld results", (long long)j->panels.width);
    return TALLY_OK;
}

/* ---- small blocks: transposed in the cache, then segments like any other ---- */

/* How many outer indices are transposed together. */
static int64_t blocks_together(const job *j) {
    const int64_t by_results = TALLY_RESULT_BATCH / j->panels.inner, by_values = 8192 / (j->length * j->panels.inner);
    return least(by_results > 0 ? by_results : 1, by_values > 0 ? by_values : 1);
}

/* Transposes `count` outer indices from o on, and reduces them. x has room for their values, and behind these for y's.
 */
static void take_block(job *j, int64_t o, int64_t count, char *x, char *y, const int64_t *offsets, char *buffer) {
    const tally__kernel *kernel = j->panels.spec->kernel;
    const int64_t block = j->length * j->panels.inner;
    const tally__sink *sink = j->panels.sink;
    const int64_t first_result = o * j->panels.inner, results_here = count * j->panels.inner;
    void *results = sink->direct ? sink->data + first_result * sink->stride : buffer;
    tally__input part = *j->panels.in;
    part.x_stride *= j->panels.inner;
    part.y_stride *= j->panels.inner;
    for (int64_t r = 0; r < count * j->panels.inner; r++) {
        const int64_t first = (o + r / j->panels.inner) * block + r % j->panels.inner;
        const size_t at = (size_t)(r * j->length) * kernel->value_bytes;
        part.x = j->panels.in->x + first * j->panels.in->x_stride;
        part.y = j->panels.in->y + first * j->panels.in->y_stride;
        tally__gather(j->panels.spec, &part, 0, j->length, x + at, y + at);
    }
    note(j, kernel->segments(kernel, x, j->panels.spec->inputs == 2 ? y : x, blocks_together(j) * block, offsets,
                             count * j->panels.inner, &j->panels.spec->final, results));
    if (!sink->direct) note(j, tally__store(j->panels.spec, sink, first_result, results_here, results));
}

static void take_some_blocks(void *of) {
    job *j = of;
    const int64_t together = blocks_together(j), rows = together * j->panels.inner;
    const size_t values = (size_t)(rows * j->length) * j->panels.spec->kernel->value_bytes;
    char *memory =
        tally__allocate(&j->panels.spec->allocator, 2 * values + 16 + (size_t)rows * (TALLY_RESULT_BYTES + 8));
    int64_t batch;
    if (memory == NULL) {
        j->starved = true;
        return;
    }
    int64_t *offsets = (int64_t *)(void *)(memory + (2 * values + 7) / 8 * 8);
    for (int64_t s = 0; s <= rows; s++) offsets[s] = s * j->length;
    while (!j->starved && tally__take_share(&j->shares, &batch))
        take_block(j, batch * together, least(together, j->outer - batch * together), memory, memory + values, offsets,
                   (char *)(offsets + rows + 1));
    tally__release(&j->panels.spec->allocator, memory);
}

static tally_status take_blocks(job *j, int threads) {
    const int64_t together = blocks_together(j);
    run(j, threads, take_some_blocks, (j->outer + together - 1) / together);
    TALLY_CHECK(!j->starved, NO_MEMORY, "no memory to transpose blocks of %lld values",
                (long long)(j->length * j->panels.inner));
    return TALLY_OK;
}

/* ---- shape of the work ---- */

static void choose_chunks(job *j, int threads) {
    int64_t panels = j->outer * j->panels.count;
    int64_t wanted = threads == 1 ? 1 : (8 * threads + panels - 1) / panels; /* eight tasks for each thread */
    j->chunk = j->panels.spec->kernel->leaf;
    while (j->length > wanted * j->chunk) j->chunk *= 2;
    j->chunks = j->length == 0 ? 1 : (j->length + j->chunk - 1) / j->chunk;
}

tally_status tally__cpu_rows(const tally__spec *spec, const tally__input *in, const int64_t *order,
                             const tally_segments *segments, const tally__sink *sink, tally__report *report) {
    const int64_t results = segments->count * segments->inner;
    const int64_t bytes = results * segments->length * (int64_t)spec->kernel->value_bytes * spec->inputs;
    const int threads = tally__pool_team(spec->options.threads, bytes + results * 8);
    job j = {.panels = {.spec = spec,
                        .in = in,
                        .sink = sink,
                        .order = order,
                        .places = segments->count * segments->length,
                        .inner = segments->inner,
                        .longest = segments->length,
                        .threads = threads},
             .outer = segments->count,
             .length = segments->length};
    tally_status status;
    if (j.outer > 1 && segments->inner < TALLY_WIDE_VECTOR && j.length > 0 && j.length * segments->inner <= 4096)
        status = take_blocks(&j, threads);
    else {
        tally__divide_panels(&j.panels);
        choose_chunks(&j, threads);
        if (j.chunks > 1) {
            j.nodes = tally__allocate(&spec->allocator, (size_t)(j.outer * j.panels.count * j.chunks * j.panels.width) *
                                                            spec->kernel->node_size);
            TALLY_CHECK(j.nodes != NULL, NO_MEMORY, "no memory for the partial results of %lld rows",
                        (long long)results);
        }
        status = take_tasks(&j, threads);
        tally__release(&spec->allocator, j.nodes);
    }
    report->flags = j.flags;
    return status;
}
