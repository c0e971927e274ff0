/* Segments that are groups of vectors (grouping.h) on the CPU.
 *
 * Vectors are reduced where they lie, a panel of features at a time (panels.h). Of few features they fill no vector
 * registers: a thread copies such segments into a buffer that stays in its cache, a feature after the other, and
 * reduces them there like any others. A segment that does not fit a buffer, or is worth all threads, waits for the
 * end. */
#include <string.h>

#include "cpu/panels.h"
#include "grouping.h"
#include "pool.h"

enum { BUFFER_BYTES = 128 * 1024, PIECE_BYTES = 256 * 1024, LONG_BYTES = 1024 * 1024 };
enum { ASIDE_BYTES = 128 }; /* between features: else equal places of all of them would share cache lines */

typedef struct job {
    const tally__spec *spec;
    const tally__input *in;
    const tally__grouping *g;
    const tally__sink *sink;
    int64_t inner;           /* features of a vector */
    int64_t capacity, apart; /* a buffer has room for `capacity` values of each feature, `apart` values apart */
    bool wide;               /* wide vectors have no buffers: they */
    tally__panels panels;    /* are reduced where they lie, in these panels */
    int64_t pieces, *begins;
    tally__shares shares;
    char *buffers; /* of all threads, side by side */
    size_t buffer_bytes;
    _Atomic int64_t next_buffer;
    _Atomic int flags;
    _Atomic bool starved;
} job;

static void note(job *j, int flags) {
    if (flags & ~j->flags) j->flags |= flags;
}
static int64_t length_of(const job *j, int64_t s) { return j->g->ends[s] - j->g->begins[s]; }
static bool is_long(const job *j, int64_t s) {
    const int64_t length = length_of(j, s);
    return (!j->wide && length > j->capacity) || length > LONG_BYTES / (int64_t)j->spec->kernel->value_bytes / j->inner;
}

/* ---- short segments of wide vectors ---- */

static void reduce_wide(job *j, const tally__workspace *w, int64_t s) {
    for (int64_t k = 0; k < j->panels.count; k++) {
        const tally__panel panel = tally__panel_at(&j->panels, j->g->begins[s], s * j->inner, k);
        note(j, tally__reduce_panel(&j->panels, w, &panel, length_of(j, s)));
    }
}

static void take_wide_pieces(void *of) {
    job *j = of;
    tally__workspace w;
    int64_t p;
    if (!tally__open_workspace(&j->panels, &w)) {
        j->starved = true;
        return;
    }
    while (!j->starved && tally__take_share(&j->shares, &p))
        for (int64_t s = j->begins[p]; s < j->begins[p + 1]; s++)
            if (!is_long(j, s)) reduce_wide(j, &w, s);
    tally__close_workspace(&j->panels, &w);
}

/* ---- short segments of few features ---- */

/* Consecutive segments whose values are in a thread's buffer, or go there next. */
typedef struct batch {
    char *x, *y, *results;
    int64_t first, count;                    /* its segments */
    int64_t run, run_length;                 /* the places of the last vectors, which are not copied yet */
    int64_t offsets[TALLY_RESULT_BATCH + 1]; /* where each segment begins among the values of a feature */
} batch;

static void copy_run(const job *j, batch *b) {
    const int64_t to = (b->offsets[b->count] - b->run_length) * (int64_t)j->spec->kernel->value_bytes;
    tally__gather_features(j->spec, j->in, j->g, j->inner, b->run, b->run_length, 0, j->inner, b->x + to, b->y + to,
                           j->apart);
    b->run_length = 0;
}

/* Copies results of one feature to every inner-th place. */
static void spread_results(const char *from, int64_t count, size_t bytes, int64_t inner, char *to) {
#define TALLY_SPREAD(size) \
    for (int64_t i = 0; i < count; i++) memcpy(to + i * inner * (int64_t)(size), from + i * (int64_t)(size), size)
    switch (bytes) {
    case 4: TALLY_SPREAD(4); break;
    case 8: TALLY_SPREAD(8); break;
    default: TALLY_SPREAD(bytes);
    }
#undef TALLY_SPREAD
}

static void reduce_batch(job *j, batch *b) {
    const tally__kernel *kernel = j->spec->kernel;
    const size_t bytes = j->spec->result_bytes, feature = (size_t)j->apart * kernel->value_bytes;
    const int64_t first = b->first * j->inner;
    char *const results = j->sink->direct ? j->sink->data + first * j->sink->stride : b->results;
    _Alignas(64) char one[TALLY_RESULT_BATCH * TALLY_RESULT_BYTES];
    copy_run(j, b);
    for (int64_t f = 0; f < j->inner && b->count > 0; f++) {
        char *const to = j->inner == 1 ? results : one;
        note(j, kernel->segments(kernel, b->x + (size_t)f * feature, b->y + (size_t)f * feature, j->apart, b->offsets,
                                 b->count, &j->spec->final, to));
        if (to == one) spread_results(one, b->count, bytes, j->inner, results + (size_t)f * bytes);
    }
    if (!j->sink->direct) note(j, tally__store(j->spec, j->sink, first, b->count * j->inner, results));
    b->first += b->count;
    b->count = 0;
}

static void add_segment(job *j, batch *b, int64_t s) {
    const int64_t length = length_of(j, s), begin = j->g->begins[s];
    if (b->first + b->count != s || b->count == TALLY_RESULT_BATCH || b->offsets[b->count] + length > j->capacity) {
        reduce_batch(j, b);
        b->first = s;
    }
    if (b->run + b->run_length != begin) {
        copy_run(j, b);
        b->run = begin;
    }
    b->run_length += length;
    b->offsets[b->count + 1] = b->offsets[b->count] + length;
    b->count++;
}

static void take_pieces(void *of) {
    job *j = of;
    const int64_t number = j->next_buffer++;
    const size_t values = (size_t)(j->apart * j->inner) * j->spec->kernel->value_bytes;
    batch b = {.x = j->buffers + (size_t)number * j->buffer_bytes};
    int64_t p;
    b.y = j->spec->inputs == 2 ? b.x + values : b.x;
    b.results = b.y + values;
    while (tally__take_share(&j->shares, &p)) {
        b.first = j->begins[p];
        for (int64_t s = j->begins[p]; s < j->begins[p + 1]; s++)
            if (!is_long(j, s)) add_segment(j, &b, s);
        reduce_batch(j, &b);
    }
}

/* Divides segments into pieces of equal work. A result counts like a few values. */
static tally_status divide_pieces(job *j, double work) {
    const double each = work / (double)j->pieces;
    const int64_t bytes = (int64_t)j->spec->kernel->value_bytes * j->spec->inputs;
    int64_t p = 0;
    double done = 0;
    j->begins = tally__allocate(&j->spec->allocator, (size_t)(j->pieces + 1) * sizeof *j->begins);
    TALLY_CHECK(j->begins != NULL, NO_MEMORY, "no memory for %lld pieces of work", (long long)j->pieces);
    for (int64_t s = 0; s < j->g->count; s++) {
        while (p < j->pieces && done >= (double)p * each) j->begins[p++] = s;
        if (!is_long(j, s)) done += (double)(length_of(j, s) * bytes + 8) * (double)j->inner;
    }
    while (p <= j->pieces) j->begins[p++] = j->g->count;
    return TALLY_OK;
}

static tally_status open_buffers(job *j, int threads) {
    const size_t value = j->spec->kernel->value_bytes, results = (size_t)j->inner * j->spec->result_bytes;
    j->apart = j->capacity + j->spec->kernel->leaf + ASIDE_BYTES / (int64_t)value;
    j->buffer_bytes = (size_t)(j->apart * j->inner) * value * (size_t)j->spec->inputs;
    if (!j->sink->direct) j->buffer_bytes += TALLY_RESULT_BATCH * results;
    j->buffer_bytes = (j->buffer_bytes + 63) / 64 * 64;
    j->buffers = tally__allocate(&j->spec->allocator, (size_t)threads * j->buffer_bytes);
    TALLY_CHECK(j->buffers != NULL, NO_MEMORY, "no memory for the buffers of %d threads", threads);
    return TALLY_OK;
}

static tally_status reduce_short(job *j, double work, int threads) {
    j->pieces = threads == 1 ? 1 : (int64_t)(work / PIECE_BYTES) + 1;
    if (j->pieces > 4096) j->pieces = 4096;
    if (j->wide)
        tally__divide_panels(&j->panels);
    else
        TALLY_TRY(open_buffers(j, threads));
    TALLY_TRY(divide_pieces(j, work));
    j->shares.next = 0;
    j->shares.end = j->pieces;
    tally__pool_run(threads, j->wide ? take_wide_pieces : take_pieces, j);
    TALLY_CHECK(!j->starved, NO_MEMORY, "no memory for segments of %lld features", (long long)j->inner);
    return TALLY_OK;
}

/* ---- long segments ---- */

/* Reduces a long segment whose vectors are scattered and have few features: by a copy, one feature after the other. */
static tally_status reduce_copy(job *j, int64_t s, const tally__sink *sink, tally__report *report) {
    const int64_t length = length_of(j, s), bytes = (int64_t)j->spec->kernel->value_bytes;
    const size_t size = (size_t)(length * j->inner * bytes);
    const tally_segments features = tally_rows(j->inner, length, 1);
    char *copy = tally__allocate(&j->spec->allocator, size * (size_t)j->spec->inputs);
    TALLY_CHECK(copy != NULL, NO_MEMORY, "no memory to copy the %lld values of segment %lld",
                (long long)(length * j->inner), (long long)s);
    char *const y = copy + (j->spec->inputs == 2 ? size : 0);
    tally__gather_features(j->spec, j->in, j->g, j->inner, j->g->begins[s], length, 0, j->inner, copy, y, length);
    const tally__input in = {copy, y, bytes, bytes, length * j->inner, true};
    const tally_status status = tally__cpu_ragged(j->spec, &in, &features, sink, report);
    tally__release(&j->spec->allocator, copy);
    return status;
}

/* Reduces any other long segment as rows of an array. */
static tally_status reduce_rows(job *j, int64_t s, const tally__sink *sink, tally__report *report) {
    const int64_t at = j->g->begins[s], length = length_of(j, s);
    const tally_segments rows = tally_rows(1, length, j->inner);
    tally__input in = *j->in;
    if (j->g->order != NULL) return tally__cpu_rows(j->spec, &in, j->g->order + at, &rows, sink, report);
    in.x += at * j->inner * in.x_stride;
    if (j->spec->inputs == 2) in.y += at * j->inner * in.y_stride;
    in.count = length * j->inner;
    if (j->inner == 1) return tally__cpu_ragged(j->spec, &in, &rows, sink, report);
    return tally__cpu_rows(j->spec, &in, NULL, &rows, sink, report);
}

static tally_status reduce_long(job *j, int64_t s) {
    tally__sink sink = *j->sink;
    tally__report report = {0};
    sink.data += s * j->inner * sink.stride;
    const bool is_copied = j->g->order != NULL && !j->wide;
    const tally_status status = (is_copied ? reduce_copy : reduce_rows)(j, s, &sink, &report);
    note(j, report.flags);
    return status;
}

/* ---- all ---- */

tally_status tally__cpu_grouped(const tally__spec *spec, const tally__input *in, const tally__grouping *g,
                                int64_t inner, const tally__sink *sink, tally__report *report) {
    const int64_t bytes = (int64_t)spec->kernel->value_bytes;
    if (inner == 1 && g->order == NULL && g->ends == g->begins + 1) { /* plain segments, one behind the other */
        const tally_segments segments = tally_offsets(g->begins, TALLY_I64, g->count);
        return tally__cpu_ragged(spec, in, &segments, sink, report);
    }
    job j = {.spec = spec, .in = in, .g = g, .sink = sink, .inner = inner, .capacity = BUFFER_BYTES / bytes / inner};
    double work = 0;
    int64_t longest = 0;
    bool some_long = false;
    j.wide = inner >= TALLY_WIDE_VECTOR || (inner > 1 && g->order == NULL && spec->kernel->rows_of_few);
    if (j.capacity < 2 * spec->kernel->leaf) j.capacity = 2 * spec->kernel->leaf;
    for (int64_t s = 0; s < g->count; s++) {
        if (is_long(&j, s))
            some_long = true;
        else {
            work += (double)(length_of(&j, s) * bytes * spec->inputs + 8) * (double)inner;
            if (length_of(&j, s) > longest) longest = length_of(&j, s);
        }
    }
    j.panels = (tally__panels){.spec = spec, .in = in, .sink = sink, .order = g->order, .inner = inner};
    j.panels.places = g->order != NULL ? g->ends[g->count - 1] : 0;
    j.panels.longest = longest;
    const int team = tally__pool_team(spec->options.threads, work < 1e18 ? (int64_t)work : (int64_t)1e18);
    j.panels.threads = team;
    tally_status status = reduce_short(&j, work, team);
    tally__release(&spec->allocator, j.buffers);
    tally__release(&spec->allocator, j.begins);
    for (int64_t s = 0; some_long && status == TALLY_OK && s < g->count; s++)
        if (is_long(&j, s)) status = reduce_long(&j, s);
    report->flags = j.flags;
    return status;
}
