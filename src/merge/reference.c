/* The reference: the smallest of the lists' next values, again and again. */
#include <string.h>

#include "merge/job.h"

void tally__merge_reference(tally__merge_job *job) {
    int64_t *const at = (int64_t *)(void *)job->scratch;
    memset(at, 0, (size_t)job->count * sizeof *at);
    for (int64_t place = 0; place < job->total; place++) {
        int64_t chosen = -1, least = 0;
        for (int64_t i = 0; i < job->count; i++) {
            if (at[i] == job->lists[i].count) continue;
            const int64_t key = tally__merge_key_at(job, &job->lists[i], at[i]);
            if (chosen < 0 || key < least) {
                chosen = i;
                least = key;
            }
        }
        const tally__merge_list *const list = &job->lists[chosen];
        const int64_t from = at[chosen]++, origin = list->before + from;
        if (from > 0 && tally__merge_key_at(job, list, from - 1) > least) {
            atomic_store(&job->unsorted, true);
            return;
        }
        memcpy(job->out.data + place * job->out.stride, tally__merge_value(list, from), (size_t)job->width);
        if (job->origin.data != NULL) memcpy(job->origin.data + place * job->origin.stride, &origin, sizeof origin);
    }
}
