/* Rows of an N-d array on a GPU (docs/design/007): which kernel reduces them, how the work is divided, and where
 * results go. */
#include "cuda/rows.h"

#include <stdlib.h>

#include "cuda/exact_rows.h"
#include "cuda/units.h"
#include "cuda/segments.h"
#include "cuda/shape.h"

enum { FEW_WARPS = 128 }; /* rows for each multiprocessor, with a warp each: twice as many warps as it holds */

/* A launch, or several of the same shape if one would need more counters than there are. */
typedef struct plan {
    tally__form form;
    tally__loaded loaded;
    tally_rows_work work;
    int64_t blocks;
    bool is_light;     /* three blocks run on a multiprocessor at once: they wait for memory more than for arithmetic */
    int64_t readers;   /* threads of a block that have values, on average */
    int64_t outer;     /* outer indices of one launch */
    size_t node_bytes; /* bytes of nodes of one launch */
} plan;

/* Finds how many outer indices, each of `panels` panels, one launch has counters for. */
static tally_status fit_counters(plan *p, int64_t panels, size_t node_size) {
    p->outer = p->work.outer;
    if (p->work.row_groups * panels > 0)
        p->outer = tally__least(p->outer, TALLY_ARRIVALS / (p->work.row_groups * panels));
    TALLY_CHECK(p->outer > 0, UNSUPPORTED, "rows of %lld values, %lld side by side, are too many for one launch",
                (long long)p->work.length, (long long)p->work.inner);
    p->node_bytes = (size_t)(p->outer * panels * p->work.row_nodes) * node_size;
    return TALLY_OK;
}

/* Chooses the form, and loads its kernels. Exact rows may leave some to another. */
static tally_status use_form(const tally__call *call, tally__form form, plan *p) {
    const tally__form forms[] = {form, TALLY_FORM_LEFT};
    p->form = form;
    TALLY_TRY(tally__call_prepare(call, forms, call->spec->exact ? 2 : 1));
    return tally__gpu_kernel(call->gpu, call->spec, form, &p->loaded);
}

/* ---- values that lie side by side, or are few ---- */

/* A thread has all values of `across` rows. */
static tally_status plan_threads(const tally__call *call, tally__form form, int64_t across, plan *p) {
    TALLY_TRY(use_form(call, form, p));
    p->blocks = tally__over(p->work.outer * p->work.inner, TALLY_THREADS * across);
    p->outer = p->work.outer;
    return TALLY_OK;
}

/* Whether a thread may have all values of longer rows: there are enough to keep all multiprocessors busy, and
 * neighbouring ones fill a line of memory. A whole leaf of larger values is as fast in production/rows/columns.h, or
 * faster. */
static bool are_stripes(const tally__call *call, const tally_segments *segments) {
    enum { LINE = 32 };
    const tally__geometry sizes = tally__geometry_of(call->spec);
    return tally__has_form(call->spec, TALLY_FORM_STRIPES) &&
           segments->length < TALLY_SMALL_LEAF + (sizes.value_bytes < 4) && segments->inner >= LINE &&
           segments->count * segments->inner >= sizes.stripe_rows * TALLY_THREADS * call->gpu->multiprocessors;
}

/* Divides each row into tiles. */
static void divide_row(const tally__call *call, plan *p, int64_t leaves) {
    const int64_t units = call->gpu->multiprocessors;
    /* Long runs take fewer atomic operations, short ones share the work more evenly. */
    while (p->work.run < 3 && p->work.outer * leaves >> p->work.run > 16 * units && leaves >> p->work.run > TALLY_WARPS)
        p->work.run++;
    do {
        p->work.tiles = tally__over(leaves, (int64_t)TALLY_WARPS << p->work.run);
        p->work.row_nodes = p->work.tiles > 1 ? tally_all_pitches(p->work.tiles) : 0;
        p->work.row_groups = p->work.tiles > 1 ? tally_all_counters(p->work.tiles) : 0;
    } while (p->work.row_groups > TALLY_ARRIVALS && p->work.run++ < 5);
}

static tally_status plan_long(const tally__call *call, plan *p) {
    const int64_t leaves = tally__over(p->work.length, tally__geometry_of(call->spec).leaf),
                  units = call->gpu->multiprocessors;
    TALLY_TRY(use_form(call, TALLY_FORM_ROWS, p));
    if (leaves <= 32 && p->work.outer >= 16 * units) { /* each row is a warp's */
        p->outer = p->work.outer;
        p->blocks = tally__over(p->outer, (int64_t)TALLY_WARPS << p->work.run);
        return TALLY_OK;
    }
    divide_row(call, p, leaves);
    TALLY_TRY(fit_counters(p, 1, tally__geometry_of(call->spec).node_size));
    p->blocks = p->outer * p->work.tiles;
    return TALLY_OK;
}

/* ---- values that lie apart ---- */

/* log2 of the rows of memory that are read as one, so that threads have whole vectors of `across` values; 0 where such
 * rows would be wider than a panel. */
static int log_joined_of(const tally__call *call, const plan *p, int64_t across) {
    enum { MOST_THREADS = 32 };
    int log = 0;
    if (!tally__are_packed(call, 16) || (p->work.outer > 1 && p->work.length * p->work.inner % across != 0)) return 0;
    while ((p->work.inner << log) % across != 0) log++;
    return p->work.inner << log <= across * MOST_THREADS ? log : 0;
}

/* How threads read their vectors of `across` values (TALLY_READS_...). */
static int reads_of(const tally__call *call, int64_t inner, int64_t across) {
    const int64_t bytes = (int64_t)tally__geometry_of(call->spec).value_bytes;
    const tally__input *in = &call->in;
    const bool are_aligned =
        ((int64_t)(uintptr_t)in->x | (int64_t)(uintptr_t)in->y | in->x_stride | in->y_stride) % bytes == 0;
    if (inner % across == 0 && tally__are_packed(call, across * bytes)) return TALLY_READS_WHOLE;
    return are_aligned ? TALLY_READS_APART : TALLY_READS_ANYWHERE;
}

/* The most bytes of a block's leaves that are read twice: then those of all blocks stay in the second-level cache. */
enum { MOST_LEAF_BYTES = 128 << 10 };

/* log2 of the columns of a leaf. Where order does not show, we may choose. More columns take fewer steps; fewer keep
 * more multiprocessors busy, and keep leaves that are read twice in a cache. Short rows get no more columns than they
 * fill. */
static int log_columns_of(const tally__call *call, const plan *p, int64_t inner, int64_t across) {
    enum { LEAST = 7, MOST = 9, BLOCKS = 4, BYTES = MOST_LEAF_BYTES / (TALLY_STRIPES << LEAST) };
    const tally__geometry sizes = tally__geometry_of(call->spec);
    const int64_t panels = tally__over(inner, across << 5),
                  bytes = tally__least(p->work.inner * (int64_t)sizes.value_bytes, BYTES);
    int log = (int)tally__least(MOST, tally__log_above(tally__over(p->work.length, TALLY_STRIPES)));
    if (call->spec->order_shows) return tally__log_above(sizes.leaf / TALLY_STRIPES);
    for (; log > LEAST; log--) {
        const int64_t values = TALLY_STRIPES << log;
        const bool are_few = p->work.outer * panels * tally__over(p->work.length, values) <
                             BLOCKS * call->gpu->multiprocessors,
                   is_large = sizes.reads_twice && values * bytes > MOST_LEAF_BYTES;
        if (!are_few && !is_large) break;
    }
    return log;
}

/* The threads side by side in a panel: 32 or fewer. Fewer are better where many would idle at the end of a row,
 * or where a leaf that is read twice would not stay in the second-level cache, as long as they read WIDE bytes of each
 * row of memory. Where panels are too few to keep all multiprocessors busy, NARROW bytes are enough. */
static int64_t lanes_of(const tally__call *call, const plan *p, int64_t inner, int64_t across) {
    enum { WIDE = 128, NARROW = 64, MOST = 32 };
    const tally__geometry sizes = tally__geometry_of(call->spec);
    const int64_t bytes = (int64_t)sizes.value_bytes, leaf = TALLY_STRIPES << p->work.log_columns,
                  rows = tally__least(p->work.length, leaf), leaves = p->work.outer * tally__over(p->work.length, leaf);
    int64_t lanes = tally__least(MOST, tally__over(inner, across));
    while (lanes > 1 && p->work.log_joined == 0) { /* joined rows must lie within a panel */
        const int64_t half = (lanes + 1) / 2, panels = tally__over(inner, across * lanes), threads = panels * lanes,
                      fewer = tally__over(inner, across * half) * half, narrow = across * half * bytes;
        const bool is_idle = threads * 8 > fewer * 9, are_few = 2 * leaves * panels < 3 * call->gpu->multiprocessors,
                   is_large = sizes.reads_twice && rows * 2 * narrow > MOST_LEAF_BYTES;
        if (narrow < (are_few ? NARROW : WIDE) || !(is_idle || are_few || is_large)) break;
        lanes = half;
    }
    return lanes < 4 ? (int64_t)1 << tally__log_above(lanes) : lanes; /* then the panel may be of one warp */
}

enum { GROUP = 8 }; /* the columns of a leaf that a thread takes at a time (kernels/rows/batch.h) */

/* log2 of the fewest threads that share the same results: a warp's if lanes are few, but where values are small no more
 * than have 8 of the leaf's columns each, which they take at a time. */
static int log_least_subs(const tally__geometry *sizes, const plan *p, int64_t columns) {
    enum { LEAST = 3, WARP = 5 };
    const int to_warp = WARP - tally__log_above(p->work.across),
              to_group = sizes->value_bytes == 8 ? WARP : tally__log_above(columns / GROUP),
              log = to_warp < to_group ? to_warp : to_group;
    return log < LEAST ? LEAST : log;
}
/* log2 of the threads that share the same results; at most one for each column of a leaf. Many threads keep more
 * multiprocessors busy, but they wait for one another at every leaf. So where each multiprocessor has BLOCKS blocks
 * anyway, or half as many if threads have less than a group of columns, they are as few as may be, or one thread for
 * short rows. More threads also mean fewer leaves in a block, so that leaves of 8-byte values that are read twice stay
 * in the second-level cache. */
static int log_subs_of(const tally__call *call, const plan *p, int64_t panels, int64_t columns) {
    enum { BLOCKS = 8 };
    const tally__geometry sizes = tally__geometry_of(call->spec);
    const bool are_short = p->work.length <= TALLY_SMALL_LEAF, is_kept = sizes.reads_twice && sizes.value_bytes == 8;
    const int least = are_short ? 0 : log_least_subs(&sizes, p, columns);
    const int64_t lanes = p->work.across,
                  all = p->work.outer * panels * tally__over(p->work.length, TALLY_STRIPES << p->work.log_columns),
                  leaf_bytes = (int64_t)(sizes.leaf * 16) * lanes; /* a thread reads 16 bytes of each row */
    int log = tally__log_above(columns);
    while (lanes << log > TALLY_THREADS) log--;
    for (; log > least; log--) {
        const int64_t more = TALLY_THREADS / (lanes << (log - 1)); /* panels of a block */
        const int64_t enough = columns >> log < GROUP ? BLOCKS / 2 : BLOCKS;
        if (all / more < enough * call->gpu->multiprocessors) break;
        if (!are_short && is_kept && leaf_bytes * more > MOST_LEAF_BYTES) break;
    }
    return log;
}

/* The time in which a multiprocessor that has so many blocks reads `bytes`: as bytes that it reads in that time if it
 * has ENOUGH warps of threads that read. */
static int64_t time_of(const plan *p, int64_t blocks, int64_t bytes) {
    enum { ENOUGH = 14, FULL = 32 };
    return bytes * FULL / tally__least(FULL, FULL - ENOUGH + blocks * p->readers / TALLY_WARP);
}
/* The same for the last `blocks` of a launch, fewer than there is room for, each of which reads `bytes`. The
 * multiprocessors that have the most of them are done last; those of light kernels read faster where others are done.
 */
static int64_t time_at_end(const tally__call *call, const plan *p, int64_t blocks, int64_t bytes) {
    const int64_t units = call->gpu->multiprocessors, most = tally__over(blocks, units),
                  even = time_of(p, most, bytes * blocks / units), slowest = most * bytes * 10 / 13;
    if (!p->is_light) return time_of(p, most, most * bytes);
    return even > slowest ? even : slowest;
}
/* What chunks of `each` values cost, as such time. A block begins and ends without reading: 1 us, or 2 if it keeps the
 * order. Each level of the tree over chunks waits for the last block, 4 us. Measured on an H100 and an H200. */
static int64_t cost_of_chunks(const tally__call *call, const plan *p, int64_t panels, int64_t slots, int64_t each) {
    enum { BLOCK = 17 << 10, ORDERED_BLOCK = 34 << 10, LEVEL = 90 << 10 };
    const int64_t chunks = tally__over(p->work.length, each), all = p->work.outer * panels * chunks,
                  blocks = all > 0 ? tally__over(all, slots) : 1, units = call->gpu->multiprocessors,
                  resident = p->loaded.resident_blocks, last = blocks % resident,
                  bytes = p->work.outer * p->work.length * p->work.inner * call->spec->inputs *
                          (int64_t)tally__geometry_of(call->spec).value_bytes / blocks;
    int64_t cost = time_of(p, resident / units, bytes * (blocks - last) / units) + time_at_end(call, p, last, bytes) +
                   tally__over(blocks, units) * (call->spec->order_shows ? ORDERED_BLOCK : BLOCK);
    for (int64_t nodes = chunks; nodes > 1; nodes = tally__over(nodes, TALLY_CHUNK_FAN)) cost += LEVEL;
    return cost;
}
/* Chunks have a multiple of so many values: of leaves; or, if all of a chunk are one leaf, of what a panel reads at
 * once. */
static int64_t unit_of_chunks(const tally__call *call, const plan *p) {
    enum { BATCH = 16 };
    return tally__geometry_of(call->spec).rows_go_on ? (int64_t)BATCH << (p->work.log_subs + p->work.log_joined)
                                                     : (int64_t)TALLY_STRIPES << p->work.log_columns;
}
/* The most values of a chunk. */
static int64_t most_of_chunk(const tally__call *call, const plan *p) {
    enum { OF_LEAF = 1 << 20 };
    if (call->spec->exact) return (int64_t)TALLY_LANE_VALUES << (p->work.log_subs + p->work.log_joined);
    return tally__geometry_of(call->spec).rows_go_on ? OF_LEAF : TALLY_CHUNK_LEAVES * unit_of_chunks(call, p);
}
/* The values of chunks, for choice 0, 1, ...: powers of two of leaves, if the order of these shows; or as many as let
 * each multiprocessor have choice + 1 blocks. */
static int64_t values_of_chunk(const tally__call *call, const plan *p, int64_t panels, int64_t slots, int choice) {
    const int64_t unit = unit_of_chunks(call, p), all = p->work.outer * panels;
    if (call->spec->order_shows) return unit << choice;
    const int64_t wanted = (choice + 1) * (int64_t)call->gpu->multiprocessors * slots / (all > 0 ? all : 1),
                  each = tally__over(tally__over(p->work.length, wanted > 0 ? wanted : 1), unit) * unit;
    return tally__least(each > 0 ? each : unit, most_of_chunk(call, p));
}
/* Divides each panel into chunks. A block has `slots` of these. */
static void divide_panel(const tally__call *call, plan *p, int64_t panels, int64_t slots, int64_t width) {
    enum { CHOICES = 5 };
    const int64_t most = most_of_chunk(call, p);
    int64_t least = INT64_MAX, each = 1;
    for (int choice = 0; choice < CHOICES; choice++) {
        const int64_t its = values_of_chunk(call, p, panels, slots, choice),
                      cost = cost_of_chunks(call, p, panels, slots, its);
        if (cost >= least) continue;
        each = its;
        least = cost;
    }
    for (;; each = tally__least(2 * each, most)) {
        p->work.tiles = p->work.length > 0 ? tally__over(p->work.length, each) : 1;
        tally__count_tree(p->work.tiles, TALLY_CHUNK_FAN, &p->work.row_nodes, &p->work.row_groups);
        if (p->work.row_groups * panels <= TALLY_ARRIVALS || each == most) break;
    }
    p->work.chunk_length = (int32_t)each;
    p->work.row_nodes *= width;
}

/* How many neighbouring results a thread takes; the size of a node. */
static int64_t across_of(const tally__call *call) {
    const tally__geometry sizes = tally__geometry_of(call->spec);
    const int64_t bytes = (int64_t)sizes.value_bytes, inputs = call->spec->inputs;
    return call->spec->exact ? TALLY_EXACT_ACROSS_OF(bytes, inputs, sizes.adds_values, sizes.adds_products)
                             : TALLY_ACROSS_OF(sizes.node_size, bytes, inputs, call->spec->order_shows);
}
static size_t node_size_of(const tally__call *call) {
    return call->spec->exact ? TALLY_EXPANSION_NODE_BYTES : tally__geometry_of(call->spec).node_size;
}
/* Leaves out the warps of a block that would have no panel, so that more blocks run at the same time; but not where
 * these would ask the second-level cache for more leaves to read twice. A block has `slots` panels, of `lanes` lanes
 * that have values. */
static void give_threads(const tally__call *call, plan *p, int64_t slots, int64_t lanes) {
    const int threads = (int)tally__over(slots * p->work.across << p->work.log_subs, TALLY_WARP) * TALLY_WARP;
    p->is_light = p->loaded.resident_blocks > 2 * call->gpu->multiprocessors;
    p->readers = slots * lanes << p->work.log_subs;
    if (tally__geometry_of(call->spec).reads_twice) return;
    p->loaded.threads[0] = threads;
    p->loaded.resident_blocks = p->loaded.resident_blocks * TALLY_THREADS / threads;
}
static tally_status plan_columns(const tally__call *call, plan *p) {
    const int64_t across = across_of(call);
    p->work.log_joined = log_joined_of(call, p, across);
    const int64_t inner = p->work.inner << p->work.log_joined;
    p->work.reads = reads_of(call, inner, across);
    TALLY_TRY(use_form(call, p->work.reads == TALLY_READS_WHOLE ? TALLY_FORM_ACROSS : TALLY_FORM_ANY_ACROSS, p));
    p->work.log_columns = log_columns_of(call, p, inner, across);
    p->work.across = (int32_t)lanes_of(call, p, inner, across);
    const int64_t columns = p->work.length <= TALLY_SMALL_LEAF ? TALLY_SMALL_COLUMNS : 1 << p->work.log_columns;
    const int64_t panels = tally__over(inner, across * p->work.across);
    p->work.log_subs = log_subs_of(call, p, panels, columns >> p->work.log_joined);
    const int64_t slots = TALLY_THREADS / ((int64_t)p->work.across << p->work.log_subs);
    give_threads(call, p, slots, tally__over(inner, across * panels));
    divide_panel(call, p, panels, slots, across * p->work.across);
    TALLY_TRY(fit_counters(p, panels, node_size_of(call)));
    p->blocks = tally__over(p->outer * panels * p->work.tiles, slots);
    return TALLY_OK;
}

static tally_status plan_rows(const tally__call *call, const tally_segments *segments, plan *p) {
    const tally__geometry sizes = tally__geometry_of(call->spec);
    *p = (plan){0};
    p->work = (tally_rows_work){.x = call->in.x,
                                .y = call->in.y,
                                .x_stride = call->in.x_stride,
                                .y_stride = call->in.y_stride,
                                .outer = segments->count,
                                .length = segments->length,
                                .inner = segments->inner};
    if (call->spec->exact) return plan_columns(call, p);
    if (segments->length <= TALLY_SMALL_COLUMNS)
        return plan_threads(call, TALLY_FORM_SHORT, TALLY_SHORT_ACROSS_OF((int64_t)sizes.value_bytes), p);
    if (are_stripes(call, segments)) return plan_threads(call, TALLY_FORM_STRIPES, sizes.stripe_rows, p);
    return segments->inner == 1 ? plan_long(call, p) : plan_columns(call, p);
}

/* ---- launching ---- */

/* Lays out scratch memory: nodes, results that are to be converted, and status flags. */
static tally_status lay_out(tally__call *call, plan *p, int64_t results, tally__cu_address *staging,
                            tally__cu_address *flags) {
    const bool is_exact = call->spec->exact, asks = tally__call_waits(call) || is_exact;
    const int64_t left = is_exact ? p->outer * p->work.inner : 0, limb_bytes = tally__limb_bytes(call, left);
    tally__scratch *scratch = &call->scratch;
    uint64_t bytes = 0;
    const uint64_t at_nodes = tally__take(&bytes, (int64_t)p->node_bytes),
                   at_results = tally__take(&bytes, tally__staging_bytes(call, results)),
                   at_flags = tally__take(&bytes, sizeof *p->work.out.flags),
                   at_unsure = tally__take(&bytes, left * (int64_t)sizeof *p->work.left.unsure),
                   at_limbs = tally__take(&bytes, limb_bytes);
    TALLY_TRY(tally__gpu_scratch(call->gpu, call->spec->context, call->stream, TALLY_FOR_NODES, bytes, 0, 0, scratch));
    *staging = scratch->nodes + at_results;
    *flags = asks ? scratch->nodes + at_flags : 0;
    p->work.nodes = tally__pointer(scratch->nodes + at_nodes);
    p->work.arrivals = tally__pointer(scratch->arrivals);
    p->work.left = (tally_left_rows){.unsure = tally__pointer(scratch->nodes + at_unsure),
                                     .limbs = limb_bytes > 0 ? tally__pointer(scratch->nodes + at_limbs) : NULL,
                                     .arrivals = p->work.arrivals,
                                     .counters = 1};
    p->work.out = tally__results_of(call, *staging, tally__pointer(*flags));
    return asks ? tally__call_clear(call, *flags, sizeof *p->work.out.flags) : TALLY_OK;
}

/* Launches the kernel that adds up again what exact rows leave. */
static tally_status launch_left(const tally__call *call, const tally_rows_work *work) {
    const tally_left_work left = {.x = work->x,
                                  .y = work->y,
                                  .rows = work->outer * work->inner,
                                  .length = work->length,
                                  .inner = work->inner,
                                  .left = work->left,
                                  .out = work->out};
    return tally__launch_left(call, left);
}
static tally_status launch(const tally__call *call, plan *p) {
    const int64_t outer = p->work.outer, values = p->work.length * p->work.inner;
    for (int64_t first = 0; first < outer; first += p->outer) {
        tally_rows_work work = p->work;
        work.outer = tally__least(p->outer, outer - first);
        work.x += first * values * work.x_stride;
        work.y += first * values * work.y_stride;
        work.out.result = (char *)work.out.result + first * work.inner * work.out.result_stride;
        TALLY_CHECK(p->blocks <= INT32_MAX, UNSUPPORTED, "the array has too many rows for one launch");
        TALLY_TRY(tally__call_launch(call, &p->loaded, p->loaded.first, tally__over(p->blocks * work.outer, p->outer),
                                     TALLY_START_BEHIND, &work));
        if (call->spec->exact) TALLY_TRY(launch_left(call, &work));
    }
    return TALLY_OK;
}

/* Whether exact rows lie across others and are too long for a thread each; or few, as columns take fewer launches. */
static bool are_exact_columns(const tally__call *call, const tally_segments *segments) {
    enum { MANY = 8 /* for each multiprocessor */, LONG = 32, LONG_OF_FEW = 8 };
    const bool are_many = segments->count * segments->inner > MANY * (int64_t)call->gpu->multiprocessors;
    return segments->inner > 1 && segments->length > (are_many ? LONG : LONG_OF_FEW);
}
/* Whether rows are reduced as segments: rows of user operators, and exact ones but for the longer that lie across
 * others; many rows of at most a leaf (for few rows, one launch is better than the three of segments), or somewhat more
 * where a warp is slow to read what is left of a leaf; and longer rows if some of them are not aligned to 16 bytes. */
static bool are_segments(const tally__call *call, const tally_segments *segments) {
    const tally__geometry sizes = tally__geometry_of(call->spec);
    const int64_t bytes = (int64_t)sizes.value_bytes;
    const bool are_many = segments->count > (int64_t)FEW_WARPS * call->gpu->multiprocessors,
               is_slow = call->spec->order_shows && bytes != 4 && sizes.node_size <= 32;
    if (call->spec->user != NULL) return true;
    if (call->spec->exact) return !are_exact_columns(call, segments);
    if (segments->inner > 1 || segments->length == 0) return false;
    if (segments->length <= sizes.leaf) return are_many;
    if (is_slow && are_many && segments->length < 2 * sizes.leaf) return true;
    return segments->length * bytes % 16 != 0 || !tally__are_packed(call, 16);
}

tally_status tally__reduce_rows(tally__call *call, const tally_segments *segments, tally__report *report) {
    const int64_t results = segments->count * segments->inner;
    tally__cu_address staging, flags;
    plan p;
    if (tally__are_exact_rows(call, segments)) return tally__reduce_exact_rows(call, segments, report);
    if (are_segments(call, segments)) return tally__reduce_ragged(call, segments, report);
    const tally_status planned = plan_rows(call, segments, &p);
    if (planned == TALLY_UNSUPPORTED && call->spec->exact) return tally__reduce_ragged(call, segments, report);
    TALLY_TRY(planned);
    TALLY_TRY(lay_out(call, &p, results, &staging, &flags));
    TALLY_TRY(launch(call, &p));
    if (segments->length == 0) report->flags = TALLY_FLAG_EMPTY; /* known without waiting for the kernel */
    return tally__call_finalize(call, staging, results, flags, report);
}
