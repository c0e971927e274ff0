/* Where a rank of the output lies in each list (Varman, Scheufler, Iyer and Ricard 1991). */
#include "merge/job.h"

#include <string.h>

int64_t tally__merge_search(const tally__merge_job *job, const tally__merge_list *list, int64_t low, int64_t high,
                            int64_t key, bool or_equal) {
    while (low < high) {
        const int64_t middle = low + (high - low) / 2, there = tally__merge_key_at(job, list, middle);
        if (there < key || (or_equal && there == key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* All keys of the part are equal: its lists follow one another. */
static void split_equal(const tally__merge_job *job, const int64_t *begins, const int64_t *ends, int64_t rank,
                        int64_t *places) {
    for (int64_t i = 0; i < job->count; i++) {
        const int64_t all = ends[i] - begins[i], taken = all < rank ? all : rank;
        places[i] = begins[i] + taken;
        rank -= taken;
    }
}

/* The list with the most values still in question, or -1. */
static int64_t widest(const int64_t *low, const int64_t *high, int64_t count) {
    int64_t found = -1, most = 0;
    for (int64_t i = 0; i < count; i++) {
        if (high[i] - low[i] > most) {
            most = high[i] - low[i];
            found = i;
        }
    }
    return found;
}

bool tally__merge_split(const tally__merge_job *job, int part, int64_t rank, int64_t *places, int64_t *high,
                        int64_t *work) {
    const int64_t *const begins = job->bounds + part * job->count, *const ends = begins + job->count;
    const int64_t all = job->part_begins[part + 1] - job->part_begins[part];
    int64_t *const low = places;
    if (tally__merge_part_at(&job->order, part).kind == TALLY_MERGE_EQUAL) {
        split_equal(job, begins, ends, rank, places);
        return true;
    }
    if (rank == 0 || rank == all) {
        memcpy(places, rank == 0 ? begins : ends, (size_t)job->count * sizeof *places);
        return true;
    }
    for (int64_t i = 0; i < job->count; i++) {
        low[i] = begins[i];
        high[i] = ends[i];
    }
    /* Each turn takes a value from the middle of the widest list, and counts the values that come before it in the
     * output. If these are fewer than `rank`, they and the value are among the first `rank`; else the value and all
     * behind it are not. */
    for (int64_t chosen; (chosen = widest(low, high, job->count)) >= 0;) {
        const int64_t middle = low[chosen] + (high[chosen] - low[chosen]) / 2;
        const int64_t key = tally__merge_key_at(job, &job->lists[chosen], middle);
        int64_t before = 0;
        for (int64_t i = 0; i < job->count; i++) {
            work[i] = i == chosen ? middle : tally__merge_search(job, &job->lists[i], low[i], high[i], key, i < chosen);
            before += work[i] - begins[i];
        }
        memcpy(before <= rank ? low : high, work, (size_t)job->count * sizeof *work);
        if (before == rank) return true;
        if (before < rank) low[chosen] = middle + 1;
    }
    int64_t found = 0;
    for (int64_t i = 0; i < job->count; i++) found += low[i] - begins[i];
    return found == rank; /* false: a list is not sorted */
}
