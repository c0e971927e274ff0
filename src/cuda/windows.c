/* Windows of nodes on a GPU. All windows pass through scratch memory, side by side. */
#include "cuda/windows.h"

#include "cuda/segments.h"
#include "cuda/shape.h"
#include "cuda/units.h"
#include "partition/partition.h"

typedef struct job {
    const tally__call *call;
    tally_windows_work work;
    void *sums; /* scratch memory of the kernels that make offsets */
    tally__loaded kernels;
} job;

static tally_windows_work describe(const tally__node_windows *w, void *nodes, const int16_t *extents) {
    return (tally_windows_work){.nodes = nodes,
                                .count = w->count,
                                .words = (int64_t)(w->bytes / sizeof(int64_t)),
                                .numbers = w->numbers,
                                .limbs = {w->limbs[0], w->limbs[1]},
                                .extents = (int16_t *)(uintptr_t)extents};
}

static tally_status launch(const job *j, tally__entry entry, int64_t threads) {
    return tally__call_launch(j->call, &j->kernels, entry,
                              tally__blocks_for(threads, TALLY_THREADS, j->call->gpu->multiprocessors),
                              TALLY_START_BEHIND, &j->work);
}

tally_status tally__launch_extents(tally__call *call, const tally__node_windows *w, void *nodes, int16_t *extents) {
    job j = {.call = call, .work = describe(w, nodes, extents)};
    TALLY_TRY(tally__gpu_kernel(call->gpu, NULL, TALLY_FORM_WINDOWS, &j.kernels));
    return launch(&j, TALLY_ENTRY_window_extents, w->count);
}

static tally__cu_address place(job *j, tally__cu_address begin) {
    const int64_t count = j->work.count;
    tally__cu_address end = begin;
    j->work.flags = tally__take_memory(&end, sizeof *j->work.flags);
    j->work.lengths = tally__take_memory(&end, 8 * count);
    j->work.offsets = tally__take_memory(&end, 8 * (count + 1));
    j->sums = tally__take_memory(&end, 8 * (tally__over(count, TALLY_LENGTHS_BLOCK) + 1));
    j->work.windows = tally__take_memory(&end, 8 * count * j->work.words);
    return end;
}

/* Finds where each window begins among all: offsets, from their lengths. */
static tally_status open_windows(tally__call *call, const tally__node_windows *w, void *nodes, const int16_t *extents,
                                 job *j) {
    *j = (job){.call = call, .work = describe(w, nodes, extents)};
    TALLY_CHECK(w->count < INT64_MAX / 64 / (int64_t)w->bytes, NO_MEMORY,
                "%lld nodes are more than memory has room for", (long long)w->count);
    TALLY_TRY(tally__gpu_kernel(call->gpu, NULL, TALLY_FORM_WINDOWS, &j->kernels));
    TALLY_TRY(tally__gpu_scratch(call->gpu, call->spec->context, call->stream, TALLY_FOR_COPIES, (size_t)place(j, 0), 0,
                                 0, &call->scratch));
    place(j, call->scratch.nodes);
    const tally_offsets_work offsets = {.partition = {.index = (const char *)j->work.lengths,
                                                      .index_bytes = sizeof(int64_t),
                                                      .offsets = (char *)(uintptr_t)j->work.offsets,
                                                      .offset_bytes = sizeof(int64_t),
                                                      .sums = j->sums,
                                                      .count = w->count,
                                                      .values = w->count * j->work.words}, /* at most */
                                        .flags = j->work.flags};
    TALLY_TRY(launch(j, TALLY_ENTRY_window_lengths, w->count));
    return tally__offsets_of_lengths(call, &offsets);
}

static tally_status fetch_flags(const job *j) {
    int32_t flags = 0;
    TALLY_TRY(tally__call_fetch(j->call, &flags, tally__address(j->work.flags), sizeof flags));
    TALLY_CHECK((flags & TALLY_FLAG_BAD_SEGMENTS) == 0, BAD_STATE, "an extent is invalid");
    return TALLY_OK;
}

tally_status tally__launch_shrink(tally__call *call, const tally__node_windows *w, void *nodes, const int16_t *extents,
                                  size_t *bytes) {
    const int64_t words = w->count * (int64_t)(w->bytes / 8);
    int64_t all = 0;
    job j;
    TALLY_TRY(open_windows(call, w, nodes, extents, &j));
    TALLY_TRY(launch(&j, TALLY_ENTRY_window_shrink, w->count * TALLY_WARP));
    j.work.to_nodes = 1;
    TALLY_TRY(launch(&j, TALLY_ENTRY_window_move, words));
    TALLY_TRY(fetch_flags(&j));
    TALLY_TRY(tally__call_fetch(call, &all, tally__address(j.work.offsets) + 8 * (uint64_t)w->count, sizeof all));
    *bytes = (size_t)all * sizeof all;
    return TALLY_OK;
}

tally_status tally__launch_restore(tally__call *call, const tally__node_windows *w, void *nodes,
                                   const int16_t *extents) {
    job j;
    TALLY_TRY(open_windows(call, w, nodes, extents, &j));
    TALLY_TRY(launch(&j, TALLY_ENTRY_window_move, w->count * (int64_t)(w->bytes / 8)));
    TALLY_TRY(launch(&j, TALLY_ENTRY_window_restore, w->count * TALLY_WARP));
    return call->spec->options.checked ? fetch_flags(&j) : TALLY_OK;
}
