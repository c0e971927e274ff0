/* One thread's part of a merge: shares of the output, block by block. */
#include <string.h>

#include "merge/job.h"

typedef int64_t int64_anywhere __attribute__((aligned(1), may_alias));

/* Sorted values side by side, and for each its place in all lists. */
typedef struct run {
    const char *keys;
    const int64_t *origins; /* where each value came from, or NULL */
    int64_t count;
} run;

/* What a thread works with. */
typedef struct workspace {
    tally__merge_job *job;
    const tally__merge_kernel *kernel;
    int64_t *at, *end, *part_begin; /* for each list: what is left of the part, and where that began */
    int64_t *live, live_count;      /* the lists with anything left */
    int64_t *taken;                 /* how many values of each go into this block */
    int64_t ahead;                  /* bytes from these to where the next block begins, about: it is prefetched */
    run *runs;
    int64_t *run_begins; /* for each run: how many values of the block are in front of it */
    /* Room for a block each. keys: two levels of the tournament, in turn. gathered, scattered: values of lists and of
     * the output that do not lie side by side. Then the same for origins; lists without origins are numbered there. */
    char *keys[2], *gathered, *scattered;
    int64_t *origins[2], *numbered, *scattered_origins;
} workspace;

/* ---- memory ---- */

static void *carve(char **memory, int64_t bytes) {
    void *const there = *memory;
    *memory += (bytes + 63) / 64 * 64;
    return there;
}

/* Lays out a thread's memory, and returns its size in bytes. */
static int64_t lay_out(workspace *w, const tally__merge_job *job, char *memory, int64_t block) {
    char *at = memory;
    const int64_t per_list = job->count * (int64_t)sizeof(int64_t), keys = (block + job->count) * job->width;
    const int64_t origins = job->origin.data != NULL ? block * (int64_t)sizeof(int64_t) : 0;
    w->at = carve(&at, per_list);
    w->end = carve(&at, per_list);
    w->part_begin = carve(&at, per_list);
    w->live = carve(&at, per_list);
    w->taken = carve(&at, per_list);
    w->run_begins = carve(&at, per_list);
    w->runs = carve(&at, job->count * (int64_t)sizeof(run));
    for (int i = 0; i < 2; i++) {
        w->keys[i] = carve(&at, keys);
        w->origins[i] = carve(&at, origins);
    }
    w->gathered = carve(&at, keys); /* and the value in front of each run */
    w->numbered = carve(&at, origins);
    w->scattered = carve(&at, job->out.stride == job->width ? 0 : keys);
    w->scattered_origins = carve(&at, job->origin.stride == (int64_t)sizeof(int64_t) ? 0 : origins);
    return at - memory;
}

int64_t tally__merge_scratch_bytes(const tally__merge_job *job, int64_t block) {
    char nowhere;
    workspace w;
    return lay_out(&w, job, &nowhere, block);
}

/* ---- values that do not lie side by side ---- */

static void gather(char *to, const tally__merge_list *list, int64_t begin, int64_t count, int64_t width) {
    if (list->stride == width) {
        memcpy(to, tally__merge_value(list, begin), (size_t)(count * width));
        return;
    }
    for (int64_t i = 0; i < count; i++) memcpy(to + i * width, tally__merge_value(list, begin + i), (size_t)width);
}

static void scatter(const tally__merge_sink *sink, int64_t begin, const void *values, int64_t count, int64_t width) {
    if (sink->data == NULL || sink->stride == width) return; /* they are in their places already */
    for (int64_t i = 0; i < count; i++)
        memcpy(sink->data + (begin + i) * sink->stride, (const char *)values + i * width, (size_t)width);
}

/* Where a block of the output is made: in its place, if values lie side by side there. */
static char *place_of_keys(const workspace *w, int64_t begin) {
    return w->job->out.stride == w->job->width ? w->job->out.data + begin * w->job->width : w->scattered;
}
static int64_t *place_of_origins(const workspace *w, int64_t begin) {
    if (w->job->origin.data == NULL) return NULL;
    return w->job->origin.stride == (int64_t)sizeof(int64_t)
               ? (int64_t *)(void *)(w->job->origin.data + begin * (int64_t)sizeof(int64_t))
               : w->scattered_origins;
}

static void number(int64_t *origins, int64_t first, int64_t count) {
    int64_anywhere *const to = (int64_anywhere *)origins;
    for (int64_t i = 0; i < count; i++) to[i] = first + i;
}

/* ---- the tournament of one block ---- */

/* Merges runs low .. high - 1. A single run is the result itself. Otherwise the result is written to `keys`; NULL: to
 * the workspace's array for this level. */
static run merge_runs(workspace *w, int64_t low, int64_t high, int level, char *keys, int64_t *origins) {
    if (high - low == 1) return w->runs[low];
    const int64_t middle = low + (high - low) / 2, begin = w->run_begins[low];
    const bool has_origins = w->job->origin.data != NULL;
    const run left = merge_runs(w, low, middle, level + 1, NULL, NULL),
              right = merge_runs(w, middle, high, level + 1, NULL, NULL);
    if (keys == NULL) {
        keys = w->keys[level % 2] + begin * w->job->width;
        origins = has_origins ? w->origins[level % 2] + begin : NULL;
    }
    if (has_origins)
        w->kernel->two_with(left.keys, left.origins, left.count, right.keys, right.origins, right.count, keys, origins);
    else
        w->kernel->two(left.keys, left.count, right.keys, right.count, keys, high - low == 2 ? w->ahead : 0);
    return (run){keys, origins, left.count + right.count};
}

/* ---- blocks ---- */

/* Takes a run from a list: gathers its values if need be, and checks that they are sorted, the value in front of them
 * included. */
static bool take_run(workspace *w, int64_t list_number, int64_t taken, int64_t begin, run *made) {
    const tally__merge_job *const job = w->job;
    const tally__merge_list *const list = &job->lists[list_number];
    const int64_t at = w->at[list_number], front = at > w->part_begin[list_number] ? 1 : 0;
    const char *keys = tally__merge_value(list, at - front);
    if (list->stride != job->width) {
        char *const to = w->gathered + (begin + list_number) * job->width;
        gather(to, list, at - front, taken + front, job->width);
        keys = to;
    }
    *made = (run){keys + front * job->width, NULL, taken};
    if (job->origin.data != NULL) {
        number(w->numbered + begin, list->before + at, taken);
        made->origins = w->numbered + begin;
    }
    return w->kernel->in_order(keys, taken + front);
}

/* Finds how much of each list goes into the next block. Take `most` values of each list, and the least of their last
 * values: of each list, what comes before that value goes. */
static void measure(workspace *w, int64_t most) {
    const tally__merge_job *const job = w->job;
    int64_t least_key = 0, least_list = -1;
    for (int64_t i = 0; i < w->live_count; i++) {
        const int64_t list = w->live[i];
        if (w->end[list] - w->at[list] <= most) continue;
        const int64_t key = tally__merge_key_at(job, &job->lists[list], w->at[list] + most - 1);
        if (least_list < 0 || key < least_key) {
            least_key = key;
            least_list = list;
        }
    }
    for (int64_t i = 0; i < w->live_count; i++) {
        const int64_t list = w->live[i], at = w->at[list], left = w->end[list] - at, some = left < most ? left : most;
        w->taken[i] =
            least_list < 0 || list == least_list
                ? some
                : tally__merge_search(job, &job->lists[list], at, at + some, least_key, list < least_list) - at;
    }
}

static void forget_empty(workspace *w) {
    int64_t kept = 0;
    for (int64_t i = 0; i < w->live_count; i++)
        if (w->at[w->live[i]] < w->end[w->live[i]]) w->live[kept++] = w->live[i];
    w->live_count = kept;
}

/* Merges the next block to place `begin` of the output. Returns how many values it has, or -1 if a list is not sorted.
 */
static int64_t merge_block(workspace *w, int64_t begin) {
    const tally__merge_job *const job = w->job;
    int64_t count = 0, runs = 0;
    measure(w, job->block / w->live_count);
    w->ahead = job->block / w->live_count * job->width;
    for (int64_t i = 0; i < w->live_count; i++) {
        const int64_t list = w->live[i], taken = w->taken[i];
        if (taken == 0) continue;
        w->run_begins[runs] = count;
        if (!take_run(w, list, taken, count, &w->runs[runs++])) return -1;
        w->at[list] += taken;
        count += taken;
    }
    char *const keys = place_of_keys(w, begin);
    int64_t *const origins = place_of_origins(w, begin);
    const run made = merge_runs(w, 0, runs, 0, keys, origins);
    if (runs == 1) {
        memcpy(keys, made.keys, (size_t)(count * job->width));
        if (origins != NULL) memcpy(origins, made.origins, (size_t)count * sizeof(int64_t));
    }
    scatter(&job->out, begin, keys, count, job->width);
    scatter(&job->origin, begin, origins, count, (int64_t)sizeof(int64_t));
    return count;
}

/* ---- shares ---- */

/* Copies a part whose values are all equal: one list after the other. */
static bool copy_equal(workspace *w, const tally__merge_part *part, int64_t begin) {
    const tally__merge_job *const job = w->job;
    for (int64_t i = 0; i < job->count; i++) {
        for (int64_t some; w->at[i] < w->end[i]; w->at[i] += some, begin += some) {
            char *const keys = place_of_keys(w, begin);
            int64_t *const origins = place_of_origins(w, begin);
            some = w->end[i] - w->at[i] < job->block ? w->end[i] - w->at[i] : job->block;
            gather(keys, &job->lists[i], w->at[i], some, job->width);
            if (!job->kernels->within[job->order.width_log](keys, some, part->mask, part->low, part->high))
                return false;
            if (origins != NULL) number(origins, job->lists[i].before + w->at[i], some);
            scatter(&job->out, begin, keys, some, job->width);
            scatter(&job->origin, begin, origins, some, (int64_t)sizeof(int64_t));
        }
    }
    return true;
}

static bool is_key_of(const tally__merge_part *part, int64_t key) { return part->first <= key && key <= part->last; }

/* Whether the first and the last value of each list are within the part. That those between are sorted shows in the
 * merge. */
static bool lies_in_part(const workspace *w, const tally__merge_part *part) {
    for (int64_t i = 0; i < w->job->count; i++) {
        const tally__merge_list *const list = &w->job->lists[i];
        if (w->at[i] > w->end[i]) return false;
        if (w->at[i] < w->end[i] && (!is_key_of(part, tally__merge_key_at(w->job, list, w->at[i])) ||
                                     !is_key_of(part, tally__merge_key_at(w->job, list, w->end[i] - 1))))
            return false;
    }
    return true;
}

static bool merge_share(workspace *w, const tally__merge_share *share) {
    tally__merge_job *const job = w->job;
    const tally__merge_part part = tally__merge_part_at(&job->order, share->part);
    const int64_t part_at = job->part_begins[share->part];
    if (!tally__merge_split(job, share->part, share->begin - part_at, w->at, w->live, w->taken) ||
        !tally__merge_split(job, share->part, share->end - part_at, w->end, w->live, w->taken))
        return false;
    if (!lies_in_part(w, &part)) return false;
    if (part.kind == TALLY_MERGE_EQUAL) return copy_equal(w, &part, share->begin);
    w->kernel = &(part.kind == TALLY_MERGE_UP ? job->kernels->up : job->kernels->down)[job->order.width_log - 1];
    memcpy(w->part_begin, job->bounds + share->part * job->count, (size_t)job->count * sizeof(int64_t));
    w->live_count = job->count;
    for (int64_t i = 0; i < job->count; i++) w->live[i] = i;
    forget_empty(w);
    for (int64_t begin = share->begin; w->live_count > 0;) {
        const int64_t count = merge_block(w, begin);
        if (count < 0) return false;
        begin += count;
        forget_empty(w);
    }
    return true;
}

void tally__merge_work(void *context) {
    tally__merge_job *const job = context;
    workspace w = {.job = job};
    lay_out(&w, job, job->scratch + atomic_fetch_add(&job->threads_begun, 1) * job->scratch_bytes, job->block);
    for (int64_t share; tally__take_share(&job->shares, &share) && !atomic_load(&job->unsorted);)
        if (!merge_share(&w, &job->list_of_shares[share])) atomic_store(&job->unsorted, true);
}
