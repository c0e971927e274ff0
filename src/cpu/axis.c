/* Rows along an axis that is not the last: results lie side by side, their values `inner` apart.
 *
 * The results of one outer index are cut into panels that keep the columns of a leaf in the cache, and a long axis into
 * chunks of 2^k leaves, so that there is work for every thread whatever the shape. */
#include <string.h>

#include "cpu/cpu.h"
#include "cpu/pool.h"

typedef struct job {
    const tally__spec *spec;
    const tally__input *in;
    const tally__sink *sink;
    int64_t outer, length, inner;
    int64_t width, panels; /* results of a panel, panels of an outer index */
    int64_t chunk, chunks; /* values of a chunk, chunks of the axis */
    size_t scratch_bytes;
    tally__node *nodes;   /* for each outer index, panel and chunk: width nodes (more than one chunk only) */
    tally__shares shares; /* what threads take in turn */
    _Atomic int saw;      /* TALLY_SAW_... */
    _Atomic bool starved;
} job;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static void note(job *j, int saw) {
    if (saw & ~j->saw) j->saw |= saw;
}
static void store(job *j, int64_t first, int64_t count, const void *results) {
    note(j, tally__store(j->spec, j->sink, first, count, results));
}

/* Where results of so many places can be made: in the output itself, or at `buffer`. */
static void *results_at(const job *j, int64_t first, void *buffer) {
    return j->sink->direct ? j->sink->data + first * j->sink->stride : buffer;
}

/* Scratch of one thread: lanes, gathered values, results, nodes of the levels of a tree. */
typedef struct workspace {
    char *lanes, *x, *y, *results;
    tally__node *node, *levels;
} workspace;

enum { LEVELS = 48 };

/* Rows from ... from + rows of a panel as kernels can read them: in place, or copied together (then *stride is the
 * width). */
static void reach(const job *j, const workspace *w, int64_t begin, int64_t rows, int64_t width, const char **x,
                  const char **y, int64_t *stride) {
    int64_t bytes = (int64_t)j->spec->kernel->value_bytes;
    *stride = j->inner;
    *x = j->in->x + begin * bytes;
    *y = j->in->y + begin * bytes;
    if (j->in->packed) return;
    for (int64_t r = 0; r < rows; r++)
        tally__gather(j->spec, j->in, begin + r * j->inner, width, w->x + r * width * bytes, w->y + r * width * bytes);
    *x = w->x;
    *y = j->spec->inputs == 2 ? w->y : w->x;
    *stride = width;
}

/* The nodes of a panel join those of level k, which come before them. */
static void lift_panel(const tally__kernel *kernel, const workspace *w, int k, int64_t width) {
    for (int64_t p = 0; p < width; p++) {
        tally__node *earlier = tally__node_at(kernel, w->levels, k * width + p),
                    *node = tally__node_at(kernel, w->node, p);
        kernel->merge(kernel, earlier, node);
        tally__copy_node(kernel, node, earlier);
    }
}

/* The tree over values at ... at + n of the axis, for each result of a panel, to w->node; or straight to results when
 * that is one leaf and the whole axis. */
static void panel_tree(job *j, const workspace *w, int64_t begin, int64_t width, int64_t at, int64_t n, void *results) {
    const tally__kernel *kernel = j->spec->kernel;
    const char *x, *y;
    const bool many = j->in->packed && kernel->rows_most > 0 && !results; /* workspaces hold copies of one leaf */
    const int64_t most = many ? kernel->rows_most : kernel->leaf;
    int64_t stride, leaves = 0;
    for (int64_t done = 0; done < n; leaves++) {
        int64_t rows = least(n - done, most);
        int k = 0;
        reach(j, w, begin + (at + done) * j->inner, rows, width, &x, &y, &stride);
        note(j, kernel->rows(kernel, x, y, rows, stride, width, at + done, &j->spec->final, w->lanes,
                             results ? NULL : w->node, results));
        done += rows;
        if (results || done == n) break;
        if (!j->spec->order_shows && leaves > 0) { /* one level will do */
            lift_panel(kernel, w, 0, width);
            leaves = 0;
        } else
            for (; leaves >> k & 1; k++) lift_panel(kernel, w, k, width);
        memcpy((void *)tally__node_at(kernel, w->levels, k * width), w->node, (size_t)width * kernel->node_size);
    }
    for (int k = 0; leaves >> k && !results; k++)
        if (leaves >> k & 1) lift_panel(kernel, w, k, width);
}

static void finish_nodes(job *j, tally__node *nodes, int64_t count, int64_t first, char *buffer) {
    const tally__kernel *kernel = j->spec->kernel;
    for (int64_t p = 0; p < count; p++) {
        const tally__node *node = tally__node_at(kernel, nodes, p);
        note(j, kernel->finish(kernel, node, &j->spec->final, buffer + (size_t)p * j->spec->result_bytes));
    }
    store(j, first, count, buffer);
}

/* Task t is chunk t % chunks of panel t / chunks. */
static void take_task(job *j, const workspace *w, int64_t task) {
    const tally__kernel *kernel = j->spec->kernel;
    int64_t panel = task / j->chunks, c = task % j->chunks;
    int64_t o = panel / j->panels, i = panel % j->panels * j->width;
    int64_t width = least(j->width, j->inner - i);
    int64_t first = o * j->inner + i;
    int64_t begin = o * j->length * j->inner + i;
    int64_t at = c * j->chunk, n = least(j->chunk, j->length - at);
    if (j->length <= kernel->leaf && j->length > 0) {
        void *results = results_at(j, first, w->results);
        panel_tree(j, w, begin, width, 0, n, results);
        if (!j->sink->direct) store(j, first, width, results);
        return;
    }
    for (int64_t p = 0; p < width && n == 0; p++) kernel->nothing(kernel, tally__node_at(kernel, w->node, p));
    panel_tree(j, w, begin, width, at, n, NULL);
    if (j->chunks > 1)
        memcpy((void *)tally__node_at(kernel, j->nodes, task * j->width), w->node, (size_t)width * kernel->node_size);
    else
        finish_nodes(j, w->node, width, first, w->results);
}

/* Joins the chunks of every result of a panel. */
static void join_panel(job *j, const workspace *w, int64_t panel) {
    int64_t i = panel % j->panels * j->width;
    int64_t width = least(j->width, j->inner - i);
    const tally__kernel *kernel = j->spec->kernel;
    tally__node *nodes = tally__node_at(kernel, j->nodes, panel * j->chunks * j->width);
    for (int64_t p = 0; p < width; p++) tally__cpu_pairs(kernel, tally__node_at(kernel, nodes, p), j->chunks, j->width);
    finish_nodes(j, nodes, width, panel / j->panels * j->inner + i, w->results);
}

static bool open_workspace(const job *j, workspace *w, char **memory) {
    const tally__kernel *kernel = j->spec->kernel;
    size_t width = (size_t)j->width;
    size_t rows = (size_t)least(j->length, kernel->leaf);
    size_t values = j->in->packed ? 0 : (rows * width * kernel->value_bytes + 63) / 64 * 64;
    size_t results = (width * TALLY_RESULT_BYTES + 63) / 64 * 64;
    size_t lanes = (j->scratch_bytes + 63) / 64 * 64;
    size_t levels = j->length <= kernel->leaf ? 0 : j->spec->order_shows ? LEVELS : 1;
    *memory =
        tally__allocate(&j->spec->allocator, lanes + 2 * values + results + (1 + levels) * width * kernel->node_size);
    if (*memory == NULL) return false;
    w->lanes = *memory;
    w->x = w->lanes + lanes;
    w->y = w->x + values;
    w->results = w->y + values;
    w->node = (tally__node *)(void *)(w->results + results);
    w->levels = tally__node_at(kernel, w->node, j->width);
    return true;
}

/* Takes shares with a workspace of the thread's own; without memory for it, all threads stop. */
static void take_shares(job *j, void (*take)(job *, const workspace *, int64_t)) {
    workspace w;
    char *memory;
    int64_t share;
    if (!open_workspace(j, &w, &memory)) {
        j->starved = true;
        return;
    }
    while (!j->starved && tally__take_share(&j->shares, &share)) take(j, &w, share);
    tally__release(&j->spec->allocator, memory);
}
static void take_some_tasks(void *of) { take_shares(of, take_task); }
static void join_some_panels(void *of) { take_shares(of, join_panel); }

static void run(job *j, int threads, tally__pool_work *work, int64_t shares) {
    j->shares.next = 0;
    j->shares.end = shares;
    tally__pool_run(shares < threads ? (int)shares : threads, work, j);
}

static tally_status take_tasks(job *j, int threads) {
    const int64_t panels = j->outer * j->panels;
    run(j, threads, take_some_tasks, panels * j->chunks);
    if (j->chunks > 1 && !j->starved) run(j, threads, join_some_panels, panels);
    TALLY_CHECK(!j->starved, NO_MEMORY, "no memory for the columns of %lld results", (long long)j->width);
    return TALLY_OK;
}

/* ---- small blocks: transposed in the cache, then segments like any other ---- */

/* Outer indices that are transposed together. */
static int64_t blocks_together(const job *j) {
    const int64_t by_results = TALLY_BATCH / j->inner, by_values = 8192 / (j->length * j->inner);
    return least(by_results > 0 ? by_results : 1, by_values > 0 ? by_values : 1);
}

/* `count` of them from outer index o on, by way of memory for their values, x then y, offsets and results. */
static void take_block(job *j, int64_t o, int64_t count, char *x, char *y, const int64_t *offsets, char *buffer) {
    const tally__kernel *kernel = j->spec->kernel;
    const int64_t block = j->length * j->inner;
    void *results = results_at(j, o * j->inner, buffer);
    tally__input part = *j->in;
    part.x_stride *= j->inner;
    part.y_stride *= j->inner;
    for (int64_t r = 0; r < count * j->inner; r++) {
        const int64_t first = (o + r / j->inner) * block + r % j->inner;
        const size_t at = (size_t)(r * j->length) * kernel->value_bytes;
        part.x = j->in->x + first * j->in->x_stride;
        part.y = j->in->y + first * j->in->y_stride;
        tally__gather(j->spec, &part, 0, j->length, x + at, y + at);
    }
    note(j, kernel->segments(kernel, x, j->spec->inputs == 2 ? y : x, blocks_together(j) * block, offsets,
                             count * j->inner, &j->spec->final, results));
    if (!j->sink->direct) store(j, o * j->inner, count * j->inner, results);
}

static void take_some_blocks(void *of) {
    job *j = of;
    const int64_t together = blocks_together(j), rows = together * j->inner;
    const size_t values = (size_t)(rows * j->length) * j->spec->kernel->value_bytes;
    char *memory = tally__allocate(&j->spec->allocator, 2 * values + 16 + (size_t)rows * (TALLY_RESULT_BYTES + 8));
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
    tally__release(&j->spec->allocator, memory);
}

static tally_status take_blocks(job *j, int threads) {
    const int64_t together = blocks_together(j);
    run(j, threads, take_some_blocks, (j->outer + together - 1) / together);
    TALLY_CHECK(!j->starved, NO_MEMORY, "no memory to transpose blocks of %lld values",
                (long long)(j->length * j->inner));
    return TALLY_OK;
}

/* ---- shape of the work ---- */

static void choose_panels(job *j) {
    const int64_t cache = 192 * 1024;
    const tally__kernel *kernel = j->spec->kernel;
    int64_t columns = j->length <= TALLY_SMALL_LEAF ? TALLY_SMALL_COLUMNS : kernel->columns;
    int64_t lanes = least(columns, j->length > 0 ? j->length : 1);
    int64_t each = lanes * (int64_t)kernel->row_bytes + (int64_t)kernel->node_size;
    int64_t width = cache / each / 64 * 64;
    if (width < 64) width = 64;
    j->width = least(width, j->inner);
    j->panels = (j->inner + j->width - 1) / j->width;
    j->scratch_bytes = (size_t)(lanes * j->width) * kernel->row_bytes + kernel->rows_scratch + TALLY_ROWS_SLACK;
}

static void choose_chunks(job *j, int threads) {
    int64_t panels = j->outer * j->panels;
    int64_t wanted = (8 * threads + panels - 1) / panels; /* a few tasks for each thread */
    j->chunk = j->spec->kernel->leaf;
    while (j->length / j->chunk > wanted) j->chunk *= 2;
    j->chunks = j->length == 0 ? 1 : (j->length + j->chunk - 1) / j->chunk;
}

tally_status tally__cpu_rows(const tally__spec *spec, const tally__input *in, const tally_segments *cut,
                             const tally__sink *sink, tally__report *report) {
    int64_t bytes = in->count * (int64_t)spec->kernel->value_bytes * spec->inputs;
    int threads = tally__cpu_team(spec, bytes + cut->count * cut->inner * 8);
    job j = {.spec = spec, .in = in, .sink = sink, .outer = cut->count, .length = cut->length, .inner = cut->inner};
    tally_status status;
    if (j.outer > 1 && j.inner < 16 && j.length > 0 && j.length * j.inner <= 4096)
        status = take_blocks(&j, threads);
    else {
        choose_panels(&j);
        choose_chunks(&j, threads);
        if (j.chunks > 1) {
            j.nodes = tally__allocate(&spec->allocator,
                                      (size_t)(j.outer * j.panels * j.chunks * j.width) * spec->kernel->node_size);
            TALLY_CHECK(j.nodes != NULL, NO_MEMORY, "no memory for the partial results of %lld rows",
                        (long long)(j.outer * j.inner));
        }
        status = take_tasks(&j, threads);
        tally__release(&spec->allocator, j.nodes);
    }
    report->saw = j.saw;
    return status;
}
