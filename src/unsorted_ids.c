/* Ids in any order: a stable sort by all threads.
 *
 * The array is divided into stretches, and segments are put into buckets of 2^shift of them. Each stretch counts the
 * ids of each bucket; then it is known where its values begin in every bucket, and stretches fill the buckets side by
 * side. Then each bucket is sorted by counting its segments. Both steps are stable, and what is written to at a time
 * stays in caches. (A radix sort from the most significant digit on, of two digits.) */
#include <string.h>

#include "grouping.h"
#include "pool.h"

/* A word of a bucket has a value's number, and above it where its segment is in the bucket. */
enum { BUCKETS = 1024, NUMBER_BITS = 40, MOST_STRETCHES = 64 };

/* What is known of the ids of a stretch. */
typedef struct stretch {
    int64_t begin, end;      /* values */
    int64_t outside;         /* the first value whose id is none of a segment, or -1 */
    int64_t first, last;     /* ids of segments; -1 if there are none */
    bool ascend;             /* those of segments do */
    int64_t counts[BUCKETS]; /* of ids; then where the next one goes */
} stretch;

typedef struct sorting {
    const tally_segments *segments;
    int shift, team;
    int64_t stretch_count;
    stretch *stretches;
    int64_t ends[BUCKETS]; /* of buckets */
    int64_t *offsets, *order;
    uint64_t *words;
    tally__shares shares;
} sorting;

/* Whether an id is that of a segment. */
static bool is_inside(const tally_segments *segments, int64_t id) { return id >= 0 && id < segments->count; }

static void in_turn(sorting *j, int64_t shares, tally__pool_work *work) {
    j->shares.next = 0;
    j->shares.end = shares;
    tally__pool_run(j->team, work, j);
}

/* ---- counts ---- */

static void count_ids(const sorting *j, stretch *s) {
    s->outside = s->first = s->last = -1;
    s->ascend = true;
    for (int64_t i = s->begin; i < s->end; i++) {
        const int64_t id = tally__index(j->segments, i);
        if (!is_inside(j->segments, id)) {
            s->outside = s->outside < 0 ? i : s->outside;
            continue;
        }
        s->counts[id >> j->shift]++;
        s->ascend &= s->last <= id;
        s->first = s->first < 0 ? id : s->first;
        s->last = id;
    }
}
static void count_some(void *of) {
    sorting *j = of;
    int64_t k;
    while (tally__take_share(&j->shares, &k)) count_ids(j, j->stretches + k);
}

/* What all stretches tell together: the first value outside, and whether the ids ascend. */
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

/* Where each stretch goes on in each bucket, and where buckets end. */
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

/* Sorts n words, of segments 0 to `segments` of a bucket, to order[begin] on. On return next[s] is where segment s
 * ends. */
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
static void sort_some(void *of) {
    sorting *j = of;
    int64_t b;
    while (tally__take_share(&j->shares, &b)) {
        const int64_t first = b << j->shift, left = j->segments->count - first, most = (int64_t)1 << j->shift;
        const int64_t at = b > 0 ? j->ends[b - 1] : 0;
        sort_bucket(j->words + at, j->ends[b] - at, at, left < most ? left : most, j->offsets + 1 + first, j->order);
    }
}

/* ---- all ---- */

static void divide_values(sorting *j, int64_t vectors) {
    for (int64_t k = 0; k < j->stretch_count; k++) {
        j->stretches[k].begin = vectors / j->stretch_count * k;
        j->stretches[k].end = k + 1 < j->stretch_count ? vectors / j->stretch_count * (k + 1) : vectors;
    }
}

/* Memory of the grouping: the offsets, then the order, then while it is made the words of buckets. */
static tally_status sort_values(sorting *j, int64_t vectors, tally__grouping *g) {
    const int64_t count = j->segments->count;
    in_turn(j, j->stretch_count, count_some);
    const stretch all = join_stretches(j);
    if (all.outside >= 0 && j->segments->outside == TALLY_OUTSIDE_REFUSED)
        return tally__refuse_place(j->segments, vectors, "segment id", all.outside);
    TALLY_CHECK(vectors >> NUMBER_BITS == 0 && j->shift <= 64 - NUMBER_BITS, UNSUPPORTED,
                "%lld values with ids in any order, of %lld segments, are more than this version sorts",
                (long long)vectors, (long long)count);
    TALLY_TRY(tally__own_places(g, count + 1 + 2 * vectors));
    j->offsets = g->own;
    j->order = j->offsets + count + 1;
    j->words = (uint64_t *)(j->order + vectors);
    memset(j->offsets, 0, (size_t)(count + 1) * sizeof *j->offsets);
    place_stretches(j);
    in_turn(j, j->stretch_count, fill_some);
    in_turn(j, count > 0 ? ((count - 1) >> j->shift) + 1 : 0, sort_some);
    g->begins = j->offsets;
    g->ends = j->offsets + 1;
    g->order = all.ascend && all.outside < 0 ? NULL : j->order;
    return TALLY_OK;
}

tally_status tally__sort_ids(const tally_segments *segments, int64_t vectors, int threads, tally__grouping *g) {
    const int64_t bytes = vectors < INT64_MAX / 32 ? 32 * vectors : INT64_MAX; /* an id, a word, a place */
    sorting j = {.segments = segments, .team = tally__pool_team(threads, bytes)};
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
