/* Ids in any order: a stable sort by all threads, of the values' numbers, or of small vectors themselves.
 *
 * The array is divided into stretches, and segments are put into buckets of 2^shift of them. Each stretch counts the
 * ids of each bucket; then it is known where its values begin in every bucket, and stretches fill the buckets side by
 * side. Then each bucket is sorted by counting its segments. Both steps are stable, and what is written to at a time
 * stays in caches. (A radix sort from the most significant digit on, of two digits.)
 *
 * Small vectors are moved with their ids, so that none is fetched from anywhere in memory later. */
#include <string.h>

#include "grouping.h"
#include "pool.h"

/* A word of a bucket: the number of a value, and in the bits above it the number of its segment within the bucket. */
enum { BUCKETS = 1024, NUMBER_BITS = 40, MOST_STRETCHES = 64 };

/* A stretch of values, and what its ids are like. */
typedef struct stretch {
    int64_t begin, end;      /* values */
    int64_t outside;         /* the first value whose id belongs to no segment, or -1 */
    int64_t first, last;     /* the first and the last id that belong to segments; -1 if there are none */
    bool ascend;             /* the ids that belong to segments ascend */
    int64_t counts[BUCKETS]; /* ids of each bucket; later, where the next one goes */
} stretch;

/* Small vectors that are sorted themselves. A record has the number of its segment within the bucket, in ID_BYTES, and
 * a vector of each input. */
enum { MOST_BYTES = 32, ID_BYTES = 4 };
typedef struct payload {
    const char *from[2];
    char *to[2];
    int64_t bytes, record; /* of a vector; of a record */
    int inputs;
    char *records;
} payload;

typedef struct sorting {
    const tally_segments *segments;
    payload *payload; /* NULL: the values' numbers are sorted */
    int shift, team;
    int64_t stretch_count;
    stretch *stretches;
    int64_t ends[BUCKETS]; /* where each bucket ends */
    int64_t *offsets, *order;
    uint64_t *words;
    tally__shares shares;
} sorting;

/* Whether an id belongs to a segment. */
static bool is_inside(const tally_segments *segments, int64_t id) { return id >= 0 && id < segments->count; }

static void in_turn(sorting *j, int64_t shares, tally__pool_work *work) {
    j->shares.next = 0;
    j->shares.end = shares;
    tally__pool_run(j->team, work, j);
}

/* ---- counts ---- */

static void count_ids(const sorting *j, stretch *s) {
    const int64_t begin = s->begin, end = s->end;
    int64_t outside = -1, first = -1, last = -1;
    bool ascend = true;
    for (int64_t i = begin; i < end; i++) {
        const int64_t id = tally__index(j->segments, i);
        if (!is_inside(j->segments, id)) {
            outside = outside < 0 ? i : outside;
            continue;
        }
        s->counts[id >> j->shift]++;
        ascend &= last <= id;
        first = first < 0 ? id : first;
        last = id;
    }
    s->outside = outside;
    s->first = first;
    s->last = last;
    s->ascend = ascend;
}
static void count_some(void *of) {
    sorting *j = of;
    int64_t k;
    while (tally__take_share(&j->shares, &k)) count_ids(j, j->stretches + k);
}

/* Joins what is known of all stretches: the first value outside, and whether ids ascend. */
static stretch join_stretches(const sorting *j) {
    stretch all = {.outside = -1, .last = -1, .ascend = true};
    for (const stretch *s = j->stretches; s < j->stretches + j->stretch_count; s++) {
        if (all.outside < 0) all.outside = s->outside;
        all.ascend &= s->ascend && (s->first < 0 || all.last <= s->first);
        if (s->last >= 0) all.last = s->last;
    }
    return all;
}

/* ---- sorting ---- */

/* Finds where each stretch writes in each bucket, and where buckets end. */
static void place_stretches(sorting *j) {
    int64_t sum = 0;
    for (int b = 0; b < BUCKETS; b++) {
        for (stretch *s = j->stretches; s < j->stretches + j->stretch_count; s++) {
            const int64_t here = s->counts[b];
            s->counts[b] = sum;
            sum += here;
        }
        j->ends[b] = sum;
    }
}

static void fill_buckets(const sorting *j, stretch *s) {
    const uint64_t low = ((uint64_t)1 << j->shift) - 1;
    for (int64_t i = s->begin; i < s->end; i++) {
        const int64_t id = tally__index(j->segments, i);
        if (is_inside(j->segments, id))
            j->words[s->counts[id >> j->shift]++] = ((uint64_t)id & low) << NUMBER_BITS | (uint64_t)i;
    }
}
static void fill_some(void *of) {
    sorting *j = of;
    int64_t k;
    while (tally__take_share(&j->shares, &k)) fill_buckets(j, j->stretches + k);
}

/* Sorts n words of a bucket of `segments` segments to order[begin] on. On return next[s] is where segment s ends. */
static void sort_bucket(const uint64_t *words, int64_t n, int64_t begin, int64_t segments, int64_t *next,
                        int64_t *order) {
    int64_t sum = begin;
    for (int64_t k = 0; k < n; k++) next[words[k] >> NUMBER_BITS]++;
    for (int64_t s = 0; s < segments; s++) {
        const int64_t here = next[s];
        next[s] = sum;
        sum += here;
    }
    for (int64_t k = 0; k < n; k++)
        order[next[words[k] >> NUMBER_BITS]++] = (int64_t)(words[k] & (((uint64_t)1 << NUMBER_BITS) - 1));
}

/* ---- sorting vectors ---- */

/* A size that the compiler knows is copied by a register or two. */
static inline void copy_vector(char *to, const char *from, int64_t bytes) {
    switch (bytes) {
    case 1: memcpy(to, from, 1); break;
    case 2: memcpy(to, from, 2); break;
    case 4: memcpy(to, from, 4); break;
    case 8: memcpy(to, from, 8); break;
    case 16: memcpy(to, from, 16); break;
    default: memcpy(to, from, (size_t)bytes);
    }
}
static void fill_records(const sorting *j, stretch *s) {
    const uint64_t low = ((uint64_t)1 << j->shift) - 1;
    const payload *c = j->payload;
    for (int64_t i = s->begin; i < s->end; i++) {
        const int64_t id = tally__index(j->segments, i);
        if (!is_inside(j->segments, id)) continue;
        const uint32_t in_bucket = (uint32_t)((uint64_t)id & low);
        char *const record = c->records + s->counts[id >> j->shift]++ * c->record;
        memcpy(record, &in_bucket, ID_BYTES);
        for (int k = 0; k < c->inputs; k++)
            copy_vector(record + ID_BYTES + k * c->bytes, c->from[k] + i * c->bytes, c->bytes);
    }
}
static void fill_some_records(void *of) {
    sorting *j = of;
    int64_t k;
    while (tally__take_share(&j->shares, &k)) fill_records(j, j->stretches + k);
}

static uint32_t segment_of(const char *record) {
    uint32_t in_bucket;
    memcpy(&in_bucket, record, ID_BYTES);
    return in_bucket;
}
/* As sort_bucket, for n records: their vectors go to their places. */
static void sort_records(const payload *c, const char *records, int64_t n, int64_t begin, int64_t segments,
                         int64_t *next) {
    int64_t sum = begin;
    for (int64_t k = 0; k < n; k++) next[segment_of(records + k * c->record)]++;
    for (int64_t s = 0; s < segments; s++) {
        const int64_t here = next[s];
        next[s] = sum;
        sum += here;
    }
    for (int64_t k = 0; k < n; k++) {
        const char *const record = records + k * c->record;
        const int64_t place = next[segment_of(record)]++;
        for (int i = 0; i < c->inputs; i++)
            copy_vector(c->to[i] + place * c->bytes, record + ID_BYTES + i * c->bytes, c->bytes);
    }
}

static void sort_some(void *of) {
    sorting *j = of;
    int64_t b;
    while (tally__take_share(&j->shares, &b)) {
        const int64_t first = b << j->shift, left = j->segments->count - first, most = (int64_t)1 << j->shift;
        const int64_t at = b > 0 ? j->ends[b - 1] : 0;
        const int64_t n = j->ends[b] - at, segments = left < most ? left : most;
        if (j->payload != NULL)
            sort_records(j->payload, j->payload->records + at * j->payload->record, n, at, segments,
                         j->offsets + 1 + first);
        else
            sort_bucket(j->words + at, n, at, segments, j->offsets + 1 + first, j->order);
    }
}

/* ---- all ---- */

static void divide_values(sorting *j, int64_t vectors) {
    for (int64_t k = 0; k < j->stretch_count; k++) {
        j->stretches[k].begin = vectors / j->stretch_count * k;
        j->stretches[k].end = k + 1 < j->stretch_count ? vectors / j->stretch_count * (k + 1) : vectors;
    }
}

/* Takes the memory of the grouping: offsets, then the order, and behind that, for the sort, the words of buckets. Or,
 * if vectors are sorted, these and their records. */
static tally_status take_memory(sorting *j, int64_t vectors, tally__grouping *g) {
    const int64_t count = j->segments->count;
    payload *c = j->payload;
    TALLY_TRY(tally__own_places(
        g, count + 1 + (c == NULL ? 2 * vectors : (vectors * (c->inputs * c->bytes + c->record) + 7) / 8)));
    j->offsets = g->own;
    j->order = j->offsets + count + 1;
    j->words = (uint64_t *)(j->order + (c == NULL ? vectors : 0));
    if (c == NULL) return TALLY_OK;
    c->to[0] = (char *)j->words;
    c->to[1] = c->to[0] + (c->inputs - 1) * c->bytes * vectors;
    c->records = c->to[1] + c->bytes * vectors;
    return TALLY_OK;
}
static tally_status sort_values(sorting *j, int64_t vectors, tally__grouping *g) {
    const int64_t count = j->segments->count;
    in_turn(j, j->stretch_count, count_some);
    const stretch all = join_stretches(j);
    if (all.outside >= 0 && j->segments->outside == TALLY_OUTSIDE_REFUSED)
        return tally__refuse_place(j->segments, vectors, "segment id", all.outside);
    TALLY_CHECK(vectors >> NUMBER_BITS == 0 && j->shift <= 64 - NUMBER_BITS, UNSUPPORTED,
                "%lld values with ids in any order, of %lld segments, are more than this version sorts",
                (long long)vectors, (long long)count);
    TALLY_TRY(take_memory(j, vectors, g));
    memset(j->offsets, 0, (size_t)(count + 1) * sizeof *j->offsets);
    place_stretches(j);
    in_turn(j, j->stretch_count, j->payload != NULL ? fill_some_records : fill_some);
    in_turn(j, count > 0 ? ((count - 1) >> j->shift) + 1 : 0, sort_some);
    g->begins = j->offsets;
    g->ends = j->offsets + 1;
    g->order = (all.ascend && all.outside < 0) || j->payload != NULL ? NULL : j->order;
    return TALLY_OK;
}

static tally_status sort(const tally_segments *segments, int64_t vectors, int threads, payload *c, tally__grouping *g) {
    const int64_t bytes = vectors < INT64_MAX / 32 ? 32 * vectors : INT64_MAX; /* read and written for a vector: 32 */
    sorting j = {.segments = segments, .payload = c, .team = tally__pool_team(threads, bytes)};
    while ((segments->count - 1) >> j.shift >= BUCKETS) j.shift++;
    j.stretch_count = j.team == 1 ? 1 : 4 * j.team < MOST_STRETCHES ? 4 * j.team : MOST_STRETCHES;
    j.stretches = tally__allocate(&g->allocator, (size_t)j.stretch_count * sizeof *j.stretches);
    TALLY_CHECK(j.stretches != NULL, NO_MEMORY, "no memory to sort the ids of %lld values", (long long)vectors);
    memset(j.stretches, 0, (size_t)j.stretch_count * sizeof *j.stretches);
    divide_values(&j, vectors);
    const tally_status status = sort_values(&j, vectors, g);
    tally__release(&g->allocator, j.stretches);
    return status;
}

tally_status tally__sort_ids(const tally_segments *segments, int64_t vectors, int threads, tally__grouping *g) {
    return sort(segments, vectors, threads, NULL, g);
}

bool tally__can_sort_vectors(const tally__spec *spec, const tally__input *in, const tally_segments *segments) {
    const int64_t most = MOST_BYTES / spec->inputs / (int64_t)spec->kernel->value_bytes;
    return segments->kind == TALLY_UNSORTED_IDS && in->packed && tally__features(segments) <= most &&
           segments->count <= UINT32_MAX;
}
tally_status tally__sort_vectors(const tally__spec *spec, const tally_segments *segments, tally__input *in,
                                 tally__grouping *g) {
    const int64_t features = tally__features(segments);
    payload c = {
        .from = {in->x, in->y}, .bytes = features * (int64_t)spec->kernel->value_bytes, .inputs = spec->inputs};
    c.record = ID_BYTES + c.inputs * c.bytes;
    *g = (tally__grouping){.allocator = spec->allocator, .count = segments->count};
    const tally_status status = sort(segments, in->count / features, spec->options.threads, &c, g);
    if (status != TALLY_OK) {
        tally__ungroup(g);
        return status;
    }
    in->x = c.to[0];
    in->y = c.to[c.inputs - 1];
    in->count = segments->count > 0 ? g->begins[segments->count] * features : 0;
    return TALLY_OK;
}
