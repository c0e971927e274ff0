/* Segments on the CPU: pieces of equal work, handed to threads as they come free.
 *
 * Work is counted in values and segments together (Merrill and Garland's merge path: an empty segment costs its end
 * marker), so a billion empty segments are shared like a billion values. A piece owns the segments that begin in it. A
 * segment too long for one piece is left for the end, when all threads reduce it together. */
#include <stdatomic.h>
#include <string.h>

#include "cpu/cpu.h"
#include "pool.h"
#include "cpu/tiles.h"

typedef struct span {
    int64_t segment, begin, end;
} span;

/* One call: what is reduced, and what its pieces share. */
typedef struct job {
    const tally__spec *spec;
    const tally__input *in;
    const tally_segments *segments;
    const tally__sink *sink;
    int64_t *starts; /* of lengths: the first value of each block of segments, and the end */
    int64_t pieces;
    int64_t *begins;      /* where each piece begins, and the last one ends */
    tally__shares shares; /* pieces, which threads take in turn */
    int64_t long_bytes;   /* a segment of at least these bytes is reduced by all threads */
    span *longs;
    int64_t long_capacity;
    _Atomic int64_t long_count;
    _Atomic int flags;   /* TALLY_FLAG_... */
    _Atomic int64_t bad; /* a segment (segment ids: a value) that does not fit, or -1 */
} job;

enum { BLOCK = TALLY_RESULT_BATCH };

static void spoil(job *j, int64_t where) {
    int64_t none = -1;
    atomic_compare_exchange_strong(&j->bad, &none, where);
}

static void note(job *j, int flags) {
    if (flags & ~j->flags) j->flags |= flags;
}

/* ---- one batch of segments ---- */

/* offsets[0 .. count] are checked: never decreasing, within the array. */
static void reduce_packed(job *j, const int64_t *offsets, int64_t count, void *results) {
    const tally__kernel *kernel = j->spec->kernel;
    note(j, kernel->segments(kernel, j->in->x, j->in->y, j->in->count, offsets, count, &j->spec->final, results));
}

static void reduce_one(job *j, int64_t begin, int64_t end, void *result) {
    tally__node_storage storage;
    tally__cpu_run(j->spec, j->in, begin, end - begin, 0, &storage.node);
    note(j, j->spec->kernel->finish_node(j->spec->kernel, &storage.node, &j->spec->final, result));
}

/* Strided values: as many segments as fit a buffer are copied together and reduced there. */
__attribute__((noinline)) static void reduce_strided(job *j, const int64_t *offsets, int64_t count, char *results) {
    const tally__kernel *kernel = j->spec->kernel;
    _Alignas(64) char x[2 * TALLY_LEAF_BYTES], y[2 * TALLY_LEAF_BYTES];
    int64_t local[TALLY_RESULT_BATCH + 1];
    for (int64_t s = 0; s < count;) {
        int64_t last = s;
        while (last < count && offsets[last + 1] - offsets[s] <= kernel->leaf) last++;
        if (last == s) {
            reduce_one(j, offsets[s], offsets[s + 1], results + (size_t)s * j->spec->result_bytes);
            s++;
            continue;
        }
        for (int64_t i = s; i <= last; i++) local[i - s] = offsets[i] - offsets[s];
        tally__gather(j->spec, j->in, offsets[s], local[last - s], x, y);
        note(j, kernel->segments(kernel, x, j->spec->inputs == 2 ? y : x, 2 * kernel->leaf, local, last - s,
                                 &j->spec->final, results + (size_t)s * j->spec->result_bytes));
        s = last;
    }
}

/* Results of segments first ... to where they belong, through a buffer when they cannot be made there. */
static void reduce_and_store(job *j, int64_t first, const int64_t *offsets, int64_t count) {
    _Alignas(64) char buffer[TALLY_RESULT_BATCH * TALLY_RESULT_BYTES];
    char *results = j->sink->direct ? j->sink->data + first * j->sink->stride : buffer;
    if (count == 0) return;
    if (j->in->packed)
        reduce_packed(j, offsets, count, results);
    else
        reduce_strided(j, offsets, count, results);
    if (!j->sink->direct) note(j, tally__store(j->spec, j->sink, first, count, results));
}

/* Entries i ... of the index, at their own width. */
static const void *entries(const tally_segments *segments, int64_t i) {
    return (const char *)segments->index + i * (segments->index_type == TALLY_I64 ? 8 : 4);
}
static int is_wide(const tally_segments *segments) { return segments->index_type == TALLY_I64; }

/* Checks a batch of at most TALLY_RESULT_BATCH segments, given the bits of its offsets, and reduces it, long segments
 * set aside. */
static void take_batch(job *j, int64_t first, const int64_t *offsets, int64_t count, tally__index_bits bits) {
    int64_t limit = j->long_bytes / ((int64_t)j->spec->kernel->value_bytes * j->spec->inputs);
    int64_t done = 0;
    if ((bits.steps | bits.places) >> 63 != 0 || offsets[count] > j->in->count) {
        spoil(j, first);
        return;
    }
    for (int64_t s = 0; s < count && bits.steps >= (uint64_t)limit; s++)
        if (offsets[s + 1] - offsets[s] >= limit) {
            reduce_and_store(j, first + done, offsets + done, s - done);
            int64_t place = j->long_count++;
            if (place >= j->long_capacity) { /* the array has no room for so many: some segments overlap */
                spoil(j, first);
                return;
            }
            j->longs[place] = (span){first + s, offsets[s], offsets[s + 1]};
            done = s + 1;
        }
    reduce_and_store(j, first + done, offsets + done, count - done);
}
/* Takes a batch whose offsets were made by this file, and so need no check. */
static void take_made(job *j, int64_t first, const int64_t *offsets, int64_t count) {
    take_batch(j, first, offsets, count, tally__cpu_tiles()->read_offsets[1](offsets, count, NULL));
}

/* ---- offsets ---- */

/* The first segment of piece p: the first s with offsets[s] + s >= the piece's share of values and segments. On offsets
 * that are not sorted any answer will do, as long as pieces together cover every segment; see take_pieces. */
static int64_t offsets_piece(const job *j, int64_t p) {
    int64_t low = 0, high = j->segments->count;
    double target = (double)p / (double)j->pieces * ((double)j->in->count + (double)high);
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if ((double)tally__index(j->segments, middle) + (double)middle < target)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void take_offsets(job *j, int64_t from, int64_t to) {
    int64_t copy[TALLY_RESULT_BATCH + 1];
    for (int64_t s = from; s < to; s += TALLY_RESULT_BATCH) {
        int64_t count = to - s < TALLY_RESULT_BATCH ? to - s : TALLY_RESULT_BATCH;
        const void *at = entries(j->segments, s);
        bool usable = is_wide(j->segments) && (uintptr_t)at % sizeof *copy == 0;
        tally__index_bits bits =
            tally__cpu_tiles()->read_offsets[is_wide(j->segments)](at, count, usable ? NULL : copy);
        take_batch(j, s, usable ? at : copy, count, bits);
    }
}

/* ---- lengths: sums of blocks first, so that any block knows where it begins ---- */

static int64_t block_sum(job *j, int64_t block) {
    int64_t first = block * BLOCK;
    int64_t count = j->segments->count - first < BLOCK ? j->segments->count - first : BLOCK;
    uint64_t bits = 0,
             sum = tally__cpu_tiles()->sum_lengths[is_wide(j->segments)](entries(j->segments, first), count, &bits);
    if (bits >> 50 != 0) { /* negative, or more than any array has: below that the sum cannot wrap */
        spoil(j, first);
        return 0;
    }
    return (int64_t)sum;
}

enum { SUMMED = 64 }; /* blocks that a thread takes at a time */
static void take_sums(void *of) {
    job *j = of;
    const int64_t blocks = (j->segments->count + BLOCK - 1) / BLOCK;
    int64_t share;
    while (tally__take_share(&j->shares, &share))
        for (int64_t b = share * SUMMED; b < (share + 1) * SUMMED && b < blocks; b++) j->starts[b] = block_sum(j, b);
}

static tally_status sum_blocks(job *j, int threads) {
    int64_t blocks = (j->segments->count + BLOCK - 1) / BLOCK, at = 0;
    j->starts = tally__allocate(&j->spec->allocator, (size_t)(blocks + 1) * sizeof *j->starts);
    TALLY_CHECK(j->starts != NULL, NO_MEMORY, "no memory to sum %lld lengths", (long long)j->segments->count);
    j->shares.next = 0;
    j->shares.end = (blocks + SUMMED - 1) / SUMMED;
    tally__pool_run(threads, take_sums, j);
    for (int64_t b = 0; b <= blocks; b++) {
        int64_t sum = b < blocks ? j->starts[b] : 0;
        j->starts[b] = at;
        if (sum > j->in->count - at) {
            spoil(j, b * BLOCK);
            sum = 0;
        }
        at += sum;
    }
    return TALLY_OK;
}

static int64_t lengths_piece(const job *j, int64_t p) {
    int64_t low = 0, high = (j->segments->count + BLOCK - 1) / BLOCK;
    double target = (double)p / (double)j->pieces * ((double)j->in->count + (double)j->segments->count);
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if ((double)j->starts[middle] + (double)(middle * BLOCK) < target)
            low = middle + 1;
        else
            high = middle;
    }
    return low * BLOCK < j->segments->count ? low * BLOCK : j->segments->count;
}

static void take_lengths(job *j, int64_t from, int64_t to) {
    int64_t offsets[BLOCK + 1];
    for (int64_t s = from; s < to; s += BLOCK) {
        int64_t count = to - s < BLOCK ? to - s : BLOCK;
        offsets[0] = j->starts[s / BLOCK];
        tally__cpu_tiles()->add_lengths[is_wide(j->segments)](entries(j->segments, s), count, offsets);
        take_made(j, s, offsets, count);
    }
}

/* ---- rows of the last axis ---- */

static int64_t rows_piece(const job *j, int64_t p) {
    return (int64_t)((double)p / (double)j->pieces * (double)j->segments->count);
}

static void take_rows(job *j, int64_t from, int64_t to) {
    const int64_t length = j->segments->length;
    const tally__index_bits bits = {.steps = (uint64_t)length};
    int64_t offsets[TALLY_RESULT_BATCH + 1];
    for (int64_t s = from; s < to; s += TALLY_RESULT_BATCH) {
        int64_t count = to - s < TALLY_RESULT_BATCH ? to - s : TALLY_RESULT_BATCH;
        uint64_t at = (uint64_t)(s * length); /* no products: there are no vectors of them */
        for (int64_t i = 0; i <= count; i++, at += (uint64_t)length) offsets[i] = (int64_t)at;
        take_batch(j, s, offsets, count, bits);
    }
}

/* ---- segment ids ---- */

/* Piece p owns the segments that begin at its values, the empty ones before them included. `from` and `to` are values
 * here; each pair of neighbouring segment ids is checked by the piece of the later one. */
static int64_t segment_ids_piece(const job *j, int64_t p) {
    return (int64_t)((double)p / (double)j->pieces * (double)j->in->count);
}

/* The first value after i that is not of the segment `segment_id`, if ids are sorted. Within the array in any case. */
static int64_t segment_id_end(const job *j, int64_t i, int64_t segment_id) {
    int64_t step = 1, low = i, high;
    while (low + step < j->in->count && tally__index(j->segments, low + step) <= segment_id) {
        low += step;
        step *= 2;
    }
    high = low + step < j->in->count ? low + step : j->in->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (tally__index(j->segments, middle) <= segment_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Segments being found: first ... first + count - 1 begin at offsets[0 .. count-1]. A block of values, which may begin
 * as many as it has, is looked at when there are fewer than FOUND. */
enum { FEW = 16, FOUND = 4 * TALLY_RESULT_BATCH };
typedef struct found {
    int64_t first, count;
    int64_t offsets[FOUND + BLOCK];
} found;

/* Takes as many batches as there are whose last segment is known to end. */
static void take_found(job *j, found *f) {
    int64_t done = 0;
    for (; f->count - done > TALLY_RESULT_BATCH; done += TALLY_RESULT_BATCH)
        take_made(j, f->first + done, f->offsets + done, TALLY_RESULT_BATCH);
    memmove(f->offsets, f->offsets + done, (size_t)(f->count - done) * sizeof *f->offsets);
    f->first += done;
    f->count -= done;
}
/* Notes that all segments up to `segment_id` begin at value i. */
static void begin_segments(job *j, found *f, int64_t segment_id, int64_t i) {
    while (f->first + f->count <= segment_id) {
        int64_t more = segment_id + 1 - f->first - f->count, free = FOUND - f->count;
        for (int64_t k = 0; k < more && k < free; k++) f->offsets[f->count + k] = i;
        f->count += more < free ? more : free;
        if (f->count == FOUND) take_found(j, f);
    }
}
/* The same, by a fixed number of writes if that is enough: the end of a loop would be mispredicted. */
static void begin_few(job *j, found *f, int64_t segment_id, int64_t i) {
    int64_t more = segment_id + 1 - f->first - f->count;
    if (more > FEW || f->count > FOUND - FEW) {
        begin_segments(j, f, segment_id, i);
        return;
    }
    for (int k = 0; k < FEW; k++) f->offsets[f->count + k] = i;
    f->count += more;
}

/* Looks at ids i ... i + count - 1, i > 0, and notes every segment that begins there. */
static bool scan_segment_ids(job *j, found *f, int64_t i, int64_t count) {
    int32_t at[BLOCK + TALLY_HEADS_SLACK];
    tally__index_bits bits;
    int64_t heads = tally__cpu_tiles()->heads[is_wide(j->segments)](entries(j->segments, i), count, at, &bits);
    if ((bits.steps | bits.places) >> 63 != 0 || tally__index(j->segments, i + count - 1) >= j->segments->count)
        return false;
    if (bits.steps > 1) { /* some segments are empty */
        for (int64_t k = 0; k < heads; k++) begin_few(j, f, tally__index(j->segments, i + at[k]), i + at[k]);
    } else {
        for (int64_t k = 0; k < heads; k++) f->offsets[f->count + k] = i + at[k];
        f->count += heads;
    }
    if (f->count >= FOUND - BLOCK) take_found(j, f);
    return true;
}

static void take_segment_ids(job *j, int64_t from, int64_t to) {
    found f;
    int64_t before = from > 0 ? tally__index(j->segments, from - 1) : to > 0 ? tally__index(j->segments, 0) : -1;
    f.first = from > 0 ? before + 1 : 0;
    f.count = 0;
    if (to > 0 && (before < 0 || before >= j->segments->count)) {
        spoil(j, from > 0 ? from - 1 : 0);
        return;
    }
    if (from == 0) begin_segments(j, &f, before, 0);
    for (int64_t i = from > 0 ? from : 1; i < to; i += BLOCK) {
        int64_t count = to - i < BLOCK ? to - i : BLOCK;
        if (!scan_segment_ids(j, &f, i, count)) {
            spoil(j, i);
            return;
        }
        before = tally__index(j->segments, i + count - 1);
    }
    if (to == j->in->count) begin_segments(j, &f, j->segments->count - 1, to);
    if (f.count == 0) return;
    take_found(j, &f);
    f.offsets[f.count] = to < j->in->count ? segment_id_end(j, to - 1, before) : to;
    take_made(j, f.first, f.offsets, f.count);
}

/* ---- all pieces ---- */

static const struct {
    int64_t (*piece)(const job *, int64_t p);      /* finds where piece p begins */
    void (*take)(job *, int64_t from, int64_t to); /* reduces one piece */
} ways[] = {
    [TALLY_OFFSETS] = {offsets_piece, take_offsets},
    [TALLY_LENGTHS] = {lengths_piece, take_lengths},
    [TALLY_SEGMENT_IDS] = {segment_ids_piece, take_segment_ids},
    [TALLY_ROWS] = {rows_piece, take_rows},
};

static void take_some_pieces(void *of) {
    job *j = of;
    int64_t p;
    while (tally__take_share(&j->shares, &p))
        if (j->begins[p] < j->begins[p + 1]) ways[j->segments->kind].take(j, j->begins[p], j->begins[p + 1]);
}

/* Looks up where pieces begin, once, and makes that ascend: so pieces cover everything even if the index is not sorted,
 * and whoever takes a piece finds out. */
static tally_status take_pieces(job *j, int threads) {
    int64_t end = j->segments->kind == TALLY_SEGMENT_IDS ? j->in->count : j->segments->count;
    int64_t *begins;
    if (end == 0) { /* there are no values: one piece has all segments, which are empty */
        ways[j->segments->kind].take(j, 0, 0);
        return TALLY_OK;
    }
    begins = tally__allocate(&j->spec->allocator, (size_t)(j->pieces + 1) * sizeof *begins);
    TALLY_CHECK(begins != NULL, NO_MEMORY, "no memory for %lld pieces of work", (long long)j->pieces);
    begins[0] = 0;
    for (int64_t p = 1; p < j->pieces; p++) {
        begins[p] = ways[j->segments->kind].piece(j, p);
        if (begins[p] < begins[p - 1]) begins[p] = begins[p - 1];
    }
    begins[j->pieces] = end;
    j->begins = begins;
    j->shares.next = 0;
    j->shares.end = j->pieces;
    tally__pool_run(threads, take_some_pieces, j);
    tally__release(&j->spec->allocator, begins);
    return TALLY_OK;
}

static void take_longs(job *j, int threads) {
    for (int64_t i = 0; i < j->long_count; i++) {
        const span *s = &j->longs[i];
        _Alignas(16) unsigned char result[TALLY_RESULT_BYTES];
        tally__node_storage storage;
        tally__cpu_tree(j->spec, j->in, s->begin, s->end - s->begin, 0, threads, &storage.node);
        note(j, j->spec->kernel->finish_node(j->spec->kernel, &storage.node, &j->spec->final, result));
        note(j, tally__store(j->spec, j->sink, s->segment, 1, result));
    }
}

static tally_status refuse(const job *j) {
    long long where = j->bad, values = j->in->count;
    if (j->segments->kind == TALLY_SEGMENT_IDS)
        return tally__fail(
            TALLY_BAD_SEGMENTS,
            "at or soon after value %lld, a segment id is below the one before it, or not one of %lld segments", where,
            (long long)j->segments->count);
    return tally__fail(TALLY_BAD_SEGMENTS, "at or soon after segment %lld, %s (the array has %lld values)", where,
                       j->segments->kind == TALLY_LENGTHS ? "a length is negative or the lengths add up to too much"
                                                          : "an offset is below the one before it or beyond the array",
                       values);
}

static tally_status work(job *j, int threads) {
    if (j->segments->kind == TALLY_LENGTHS) TALLY_TRY(sum_blocks(j, threads));
    if (j->bad < 0) TALLY_TRY(take_pieces(j, threads));
    if (j->bad >= 0) return refuse(j);
    take_longs(j, threads);
    return TALLY_OK;
}

tally_status tally__cpu_ragged(const tally__spec *spec, const tally__input *in, const tally_segments *segments,
                               const tally__sink *sink, tally__report *report) {
    const int64_t piece_bytes = 256 * 1024;
    int64_t bytes_each = (int64_t)spec->kernel->value_bytes * spec->inputs;
    double bytes = (double)in->count * (double)bytes_each + (double)segments->count * 8;
    int threads = tally__pool_team(spec->options.threads, bytes < 1e18 ? (int64_t)bytes : (int64_t)1e18);
    job j = {.spec = spec, .in = in, .segments = segments, .sink = sink, .bad = -1};
    tally_status status;
    j.pieces = threads == 1 ? 1 : (int64_t)(bytes / (double)piece_bytes) + 1;
    if (j.pieces > 4096) j.pieces = 4096;
    j.long_bytes = threads == 1 ? INT64_MAX : 4 * piece_bytes;
    if (threads > 1) {
        /* Each long segment has its own values, so there are no more of them than fit the array. */
        j.long_capacity = in->count / (j.long_bytes / bytes_each) + 1;
        j.longs = tally__allocate(&spec->allocator, (size_t)j.long_capacity * sizeof *j.longs);
        TALLY_CHECK(j.longs != NULL, NO_MEMORY, "no memory for a list of %lld long segments",
                    (long long)j.long_capacity);
    }
    status = work(&j, threads);
    report->flags = j.flags;
    tally__release(&spec->allocator, j.starts);
    tally__release(&spec->allocator, j.longs);
    return status;
}
