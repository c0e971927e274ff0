/* Panels of results: what panels.h says. A tall panel is a tree over leaves, a node of each result at a time. */
#include "cpu/panels.h"

#include <string.h>

enum {
    LEVELS = 48,
    CACHE_BYTES = 192 * 1024, /* of lanes in a panel */
    /* Where values are copied, a panel stays in the first cache, or is larger, so that rows have PIECE_BYTES. */
    NEAR_BYTES = 96 * 1024,
    COPIES_BYTES = 384 * 1024,
    PIECE_BYTES = 1024,
    /* Exact columns that go together, whatever their nodes take; and those of one leaf, which has no nodes. */
    EXACT_COLUMNS = 256,
    EXACT_BYTES = 4096,
    AHEAD = 8 /* scattered vectors are asked for this many before */
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static bool are_read_in_place(const tally__panels *p) { return p->in->packed && p->order == NULL; }

/* How many results `bytes` suffice for, in whole vectors. */
static int64_t results_in(int64_t bytes, int64_t each) { return bytes / each / 64 * 64; }

/* `few`: the columns that the cache has room for with nodes. Each thread has a panel, if there are columns enough. */
static int64_t exact_width(const tally__panels *p, int64_t few) {
    const int64_t bytes = (int64_t)p->spec->kernel->value_bytes, twice = 2 * EXACT_COLUMNS;
    if (p->longest > p->spec->kernel->leaf) return few < twice ? EXACT_COLUMNS : few / twice * twice;
    const int64_t shared = p->inner / p->threads / 64 * 64;
    return least(EXACT_BYTES / bytes, shared > few ? shared : few);
}
void tally__divide_panels(tally__panels *p) {
    const tally__kernel *kernel = p->spec->kernel;
    const int64_t most = p->longest <= TALLY_SMALL_LEAF ? least(TALLY_SMALL_COLUMNS, kernel->lanes) : kernel->lanes;
    const int64_t lanes = least(most, p->longest > 0 ? p->longest : 1);
    const int64_t bytes = (int64_t)kernel->value_bytes;
    const bool copies = kernel->copies_rows && p->longest > TALLY_ROWS_IN_PLACE;
    const int64_t copied = copies ? least(p->longest, kernel->leaf) * bytes : 0;
    const int64_t each = lanes * (int64_t)kernel->row_bytes + copied + (int64_t)kernel->node_size;
    int64_t width = results_in(CACHE_BYTES, each);
    if (kernel->rows_most > 0 && are_read_in_place(p)) width = exact_width(p, width);
    if (copies) {
        const int64_t wide = least(results_in(COPIES_BYTES, each), PIECE_BYTES / bytes);
        width = results_in(NEAR_BYTES, each);
        if (width < wide) width = wide;
    }
    if (width < 64) width = 64;
    p->width = least(width, p->inner);
    p->count = (p->inner + p->width - 1) / p->width;
    width = (p->width + 63) / 64 * 64; /* rows of copies end with a whole vector */
    const int64_t all = lanes * width < kernel->least_lanes ? kernel->least_lanes : lanes * width;
    p->scratch_bytes =
        (size_t)all * kernel->row_bytes + (size_t)(copied * width) + kernel->rows_scratch + TALLY_ROWS_SLACK;
}

tally__panel tally__panel_at(const tally__panels *p, int64_t begin, int64_t first, int64_t k) {
    const int64_t column = k * p->width;
    return (tally__panel){begin, column, least(p->width, p->inner - column), first + column};
}

/* ---- scratch ---- */

bool tally__open_workspace(const tally__panels *p, tally__workspace *w) {
    const tally__kernel *kernel = p->spec->kernel;
    const size_t width = (size_t)p->width, rows = (size_t)least(p->longest, kernel->leaf);
    const size_t values = are_read_in_place(p) ? 0 : (rows * width * kernel->value_bytes + 63) / 64 * 64;
    const size_t results = (width * TALLY_RESULT_BYTES + 63) / 64 * 64;
    const size_t lanes = (p->scratch_bytes + 63) / 64 * 64;
    const size_t levels = p->longest <= kernel->leaf ? 0 : p->spec->order_shows ? LEVELS : 1;
    w->memory =
        tally__allocate(&p->spec->allocator, lanes + 2 * values + results + (1 + levels) * width * kernel->node_size);
    if (w->memory == NULL) return false;
    w->lanes = w->memory;
    w->x = w->lanes + lanes;
    w->y = w->x + values;
    w->results = w->y + values;
    w->node = (tally__node *)(void *)(w->results + results);
    w->levels = tally__node_at(kernel, w->node, p->width);
    return true;
}
void tally__close_workspace(const tally__panels *p, tally__workspace *w) {
    tally__release(&p->spec->allocator, w->memory);
}

/* ---- trees ---- */

/* Copies numbers of the vector at a place. */
static void copy_vector(const tally__panels *p, int64_t place, int64_t column, int64_t width, char *x, char *y) {
    const int64_t vector = p->order != NULL ? p->order[place] : place;
    const int64_t bytes = (int64_t)p->spec->kernel->value_bytes, first = vector * p->inner + column;
    if (!p->in->packed) {
        tally__gather(p->spec, p->in, first, width, x, y);
        return;
    }
    memcpy(x, p->in->x + first * bytes, (size_t)(width * bytes));
    if (p->spec->inputs == 2) memcpy(y, p->in->y + first * bytes, (size_t)(width * bytes));
}
static void ask_for_vector(const tally__panels *p, int64_t place, int64_t column, int64_t width) {
    const int64_t bytes = (int64_t)p->spec->kernel->value_bytes;
    if (place >= p->places || !p->in->packed) return;
    const int64_t at = (p->order[place] * p->inner + column) * bytes;
    for (int64_t k = 0; k < width * bytes; k += 64) {
        __builtin_prefetch(p->in->x + at + k);
        if (p->spec->inputs == 2) __builtin_prefetch(p->in->y + at + k);
    }
}

/* Makes `rows` rows of a panel readable for kernels: where they lie, or copied side by side; then *stride is the
 * width. */
static void reach(const tally__panels *p, const tally__workspace *w, const tally__panel *panel, int64_t at,
                  int64_t rows, const char **x, const char **y, int64_t *stride) {
    const int64_t bytes = (int64_t)p->spec->kernel->value_bytes, width = panel->width;
    const int64_t place = panel->begin + at, first = place * p->inner + panel->column;
    if (are_read_in_place(p)) {
        *stride = p->inner;
        *x = p->in->x + first * bytes;
        *y = p->in->y + first * bytes;
        return;
    }
    for (int64_t r = 0; r < rows; r++) {
        if (p->order != NULL) ask_for_vector(p, place + r + AHEAD, panel->column, width);
        copy_vector(p, place + r, panel->column, width, w->x + r * width * bytes, w->y + r * width * bytes);
    }
    *x = w->x;
    *y = p->spec->inputs == 2 ? w->y : w->x;
    *stride = width;
}

/* Merges the nodes of a panel into those of level k, which come before them. */
static void lift_panel(const tally__kernel *kernel, const tally__workspace *w, int k, int64_t width) {
    for (int64_t i = 0; i < width; i++) {
        tally__node *earlier = tally__node_at(kernel, w->levels, k * width + i),
                    *node = tally__node_at(kernel, w->node, i);
        kernel->merge_nodes(kernel, earlier, node);
        tally__copy_node(kernel, node, earlier);
    }
}

int tally__panel_tree(const tally__panels *p, const tally__workspace *w, const tally__panel *panel, int64_t at,
                      int64_t n) {
    const tally__kernel *kernel = p->spec->kernel;
    const int64_t width = panel->width;
    const bool many = are_read_in_place(p) && kernel->rows_most > 0; /* else copies have room for one leaf */
    const int64_t most = many ? kernel->rows_most : kernel->leaf;
    const char *x, *y;
    int64_t stride, leaves = 0;
    int flags = 0;
    for (int64_t i = 0; i < width && n == 0; i++) kernel->give_nothing(kernel, tally__node_at(kernel, w->node, i));
    for (int64_t done = 0; done < n; leaves++) {
        const int64_t rows = least(n - done, most);
        int k = 0;
        reach(p, w, panel, at + done, rows, &x, &y, &stride);
        flags |= kernel->rows(kernel, x, y, rows, stride, width, at + done, &p->spec->final, w->lanes, w->node, NULL);
        done += rows;
        if (done == n) break;
        if (!p->spec->order_shows && leaves > 0) { /* no tree: all go to level 0 */
            lift_panel(kernel, w, 0, width);
            leaves = 0;
        } else
            for (; leaves >> k & 1; k++) lift_panel(kernel, w, k, width);
        memcpy((void *)tally__node_at(kernel, w->levels, k * width), w->node, (size_t)width * kernel->node_size);
    }
    for (int k = 0; leaves >> k; k++)
        if (leaves >> k & 1) lift_panel(kernel, w, k, width);
    return flags;
}

int tally__finish_panel(const tally__panels *p, const tally__workspace *w, const tally__panel *panel,
                        tally__node *nodes) {
    const tally__kernel *kernel = p->spec->kernel;
    int flags = 0;
    for (int64_t i = 0; i < panel->width; i++)
        flags |= kernel->finish_node(kernel, tally__node_at(kernel, nodes, i), &p->spec->final,
                                     w->results + (size_t)i * p->spec->result_bytes);
    return flags | tally__store(p->spec, p->sink, panel->first, panel->width, w->results);
}

int tally__reduce_panel(const tally__panels *p, const tally__workspace *w, const tally__panel *panel, int64_t n) {
    const tally__kernel *kernel = p->spec->kernel;
    const char *x, *y;
    int64_t stride;
    const bool at_once = n <= kernel->leaf || (are_read_in_place(p) && n <= kernel->rows_most);
    if (n == 0 || !at_once) {
        const int flags = tally__panel_tree(p, w, panel, 0, n);
        return flags | tally__finish_panel(p, w, panel, w->node);
    }
    /* results are written to the output at once */
    const tally__sink *sink = p->sink;
    char *const results = sink->direct ? sink->data + panel->first * sink->stride : w->results;
    reach(p, w, panel, 0, n, &x, &y, &stride);
    const int flags = kernel->rows(kernel, x, y, n, stride, panel->width, 0, &p->spec->final, w->lanes,
                                   n > kernel->leaf ? w->node : NULL, results);
    return sink->direct ? flags : flags | tally__store(p->spec, sink, panel->first, panel->width, results);
}
