/* Groups on a GPU (kernels/production/segments/groups.h). The index becomes offsets of places and, for ids in any
 * order, the vector at each place. src/cuda/features.c reduces the vectors where they lie. If it cannot, or exact
 * results are uncertain, values are copied into that order, and src/cuda/segments.c reduces the copies. All work is on
 * one stream. The host waits only for begins and ends without a plan: it must know how many values to copy. */
#include "cuda/groups.h"

#include "cuda/units.h"
#include "cuda/features.h"
#include "cuda/shape.h"
#include "partition/partition.h"
#include "plan.h"

typedef struct job {
    tally__call *call;
    tally_segmentation kind;
    tally_groups_work work; /* what the kernels of groups are launched with; they set work.flags */
    int32_t *offsets_flags; /* set by kernels that make offsets, and never read: work.flags has everything */
    int64_t *sums;          /* scratch memory of the kernels that make offsets */
    tally__loaded groups;   /* the kernels of groups */
} job;

static int64_t bits_of(int64_t n) { return n > 0 ? 64 - __builtin_clzll((uint64_t)n) : 0; }

static tally_status refuse(const job *j) {
    const tally_group_work *group = &j->work.group;
    return tally__refuse_segments(j->kind, group->segments, group->vectors, group->inner > 1 ? "vectors" : "values");
}

/* ---- launches ---- */

/* Launches a thread for each of n items, but no more threads than keep the device busy. */
static tally_status launch_for(const job *j, tally__entry entry, int64_t n) {
    return tally__call_launch(j->call, &j->groups, entry,
                              tally__blocks_for(n, TALLY_THREADS, j->call->gpu->multiprocessors), TALLY_START_BEHIND,
                              &j->work);
}

/* The parameters of kernels of production/segments/partition.h that make `count` + 1 offsets of an index. */
static tally_offsets_work offsets_of(const job *j, const void *index, int bytes, int64_t count, int64_t values,
                                     void *offsets, int offset_bytes) {
    return (tally_offsets_work){.partition = {.index = index,
                                              .index_bytes = bytes,
                                              .values = values,
                                              .count = count,
                                              .offsets = offsets,
                                              .offset_bytes = offset_bytes,
                                              .sums = j->sums},
                                .flags = j->offsets_flags};
}

/* ---- memory ---- */

/* Lays out the memory of groups from `begin` on, and returns its end. */
static tally__cu_address place(job *j, tally__cu_address begin) {
    tally_group_work *group = &j->work.group;
    const bool are_sorted = j->kind != TALLY_UNSORTED_IDS;
    const int64_t digits = are_sorted ? 0 : TALLY_SORT_DIGITS * group->tiles;
    tally__cu_address end = begin;
    j->work.flags = tally__take_memory(&end, 4);
    j->offsets_flags = tally__take_memory(&end, 4);
    j->sums = tally__take_memory(
        &end, 8 * (tally__over(group->segments, TALLY_LENGTHS_BLOCK) + tally__over(digits, TALLY_LENGTHS_BLOCK) +
                   tally__over(group->vectors + group->segments + 2, TALLY_SEGMENT_IDS_BLOCK) + 2));
    if (j->kind == TALLY_OFFSETS || j->kind == TALLY_PLANNED) return end;
    group->offsets = tally__take_memory(&end, (group->segments + 2) * group->offset_bytes);
    if (j->kind == TALLY_BEGIN_END) {
        group->begins_to = tally__take_memory(&end, 8 * group->segments);
        group->lengths_to = tally__take_memory(&end, 8 * group->segments);
    }
    return end;
}

/* Keys and order, twice: each pass of the sort reads one half and writes the other. */
typedef struct sort_memory {
    uint32_t *keys[2], *order[2];
    void *scanned; /* where the values of each digit and tile go */
} sort_memory;
static tally__cu_address place_sort(job *j, tally__cu_address begin, sort_memory *sort) {
    tally_group_work *group = &j->work.group;
    tally__cu_address end = begin;
    for (int k = 0; k < 2; k++) {
        sort->order[k] = tally__take_memory(&end, 4 * group->vectors);
        sort->keys[k] = tally__take_memory(&end, 4 * group->vectors);
    }
    group->counts = tally__take_memory(&end, 4 * TALLY_SORT_DIGITS * group->tiles);
    sort->scanned = tally__take_memory(&end, (TALLY_SORT_DIGITS * group->tiles + 1) * group->offset_bytes);
    return end;
}

/* ---- groups ---- */

/* One pass of the sort, by one digit: moves keys and order from one half of the memory to the other. */
static tally_status sort_digit(job *j, const sort_memory *sort, int pass) {
    tally_group_work *group = &j->work.group;
    const void *offsets = group->offsets;
    const tally_offsets_work scan = offsets_of(j, group->counts, 4, TALLY_SORT_DIGITS * group->tiles, group->vectors,
                                               sort->scanned, group->offset_bytes);
    group->shift = pass * TALLY_SORT_BITS;
    group->keys = sort->keys[pass % 2];
    group->keys_to = sort->keys[1 - pass % 2];
    group->order = pass == 0 ? NULL : sort->order[pass % 2];
    group->order_to = sort->order[1 - pass % 2];
    TALLY_TRY(
        tally__call_launch(j->call, &j->groups, TALLY_ENTRY_group_digits, group->tiles, TALLY_START_BEHIND, &j->work));
    TALLY_TRY(tally__offsets_of_lengths(j->call, &scan));
    group->offsets = sort->scanned;
    TALLY_TRY(
        tally__call_launch(j->call, &j->groups, TALLY_ENTRY_group_move, group->tiles, TALLY_START_BEHIND, &j->work));
    group->offsets = offsets;
    return TALLY_OK;
}

/* Sorts ids. Ids of no segment come last, as if they were of one more segment. */
static tally_status sort_ids(job *j, const sort_memory *sort) {
    tally_group_work *group = &j->work.group;
    const int passes = (int)tally__over(bits_of(group->segments), TALLY_SORT_BITS);
    group->keys_to = sort->keys[0];
    TALLY_TRY(launch_for(j, TALLY_ENTRY_group_keys, group->vectors));
    for (int pass = 0; pass < passes; pass++) TALLY_TRY(sort_digit(j, sort, pass));
    group->order = sort->order[passes % 2];
    const tally_offsets_work ids = offsets_of(j, sort->keys[passes % 2], 4, group->segments + 1, group->vectors,
                                              (void *)(uintptr_t)group->offsets, group->offset_bytes);
    return tally__offsets_of_ids(j->call, &ids);
}

static tally_status place_begins(job *j) {
    enum { MOST_LENGTHS = 48 }; /* bits of a sum of lengths (kernels/production/segments/partition.h) */
    tally_group_work *group = &j->work.group;
    const tally_offsets_work scan = offsets_of(j, group->lengths_to, 8, group->segments, (int64_t)1 << MOST_LENGTHS,
                                               (void *)(uintptr_t)group->offsets, group->offset_bytes);
    group->begins = group->begins_to;
    TALLY_TRY(launch_for(j, TALLY_ENTRY_group_lengths, group->segments));
    return tally__offsets_of_lengths(j->call, &scan);
}

static tally_status place_sequence(job *j) {
    tally_group_work *group = &j->work.group;
    tally_offsets_work work = offsets_of(j, group->index, group->index_bytes, group->segments, group->vectors,
                                         (void *)(uintptr_t)group->offsets, group->offset_bytes);
    work.flags = j->work.flags; /* nobody has checked the index before these kernels */
    if (j->kind == TALLY_LENGTHS) return tally__offsets_of_lengths(j->call, &work);
    return j->kind == TALLY_SEGMENT_IDS ? tally__offsets_of_ids(j->call, &work) : TALLY_OK;
}

/* Makes the groups, in memory that place and place_sort have laid out. */
static tally_status group_vectors(job *j, const sort_memory *sort) {
    TALLY_TRY(tally__call_clear(j->call, tally__address(j->work.flags), sizeof *j->work.flags));
    return j->kind == TALLY_UNSORTED_IDS ? sort_ids(j, sort)
           : j->kind == TALLY_BEGIN_END  ? place_begins(j)
                                         : place_sequence(j);
}

/* Describes segments that have no plan. */
static tally_status describe(job *j, tally__call *call, const tally_segments *segments) {
    const int64_t inner = tally__features(segments), vectors = call->in.count / inner;
    *j = (job){.call = call, .kind = segments->kind};
    j->work.group = (tally_group_work){.index = call->index,
                                       .ends = call->ends,
                                       .vectors = vectors,
                                       .inner = inner,
                                       .segments = segments->count,
                                       .places = vectors,
                                       .index_bytes = (int32_t)tally_type_size(segments->index_type),
                                       .refuses = segments->outside == TALLY_OUTSIDE_REFUSED,
                                       .tiles = vectors > 0 ? tally__over(vectors, TALLY_SORT_TILE) : 1};
    tally_group_work *group = &j->work.group;
    group->offset_bytes = segments->kind == TALLY_OFFSETS                             ? group->index_bytes
                          : vectors <= INT32_MAX && segments->kind != TALLY_BEGIN_END ? 4
                                                                                      : 8;
    if (segments->kind == TALLY_OFFSETS) group->offsets = call->index;
    TALLY_CHECK(segments->kind != TALLY_UNSORTED_IDS || (vectors <= UINT32_MAX && segments->count < INT32_MAX),
                UNSUPPORTED,
                "%lld values with ids in any order, of %lld segments, are more than this version sorts on a GPU",
                (long long)vectors, (long long)segments->count);
    TALLY_CHECK(vectors < INT64_MAX / 64 && segments->count < INT64_MAX / 64, NO_MEMORY,
                "%lld values in %lld segments are more than a GPU has memory for", (long long)vectors,
                (long long)segments->count);
    return tally__gpu_kernel(call->gpu, NULL, TALLY_FORM_GROUPS, &j->groups);
}

/* Waits, to learn how many places there are, and whether all segments are within the array. */
static tally_status count_places(job *j) {
    tally_group_work *group = &j->work.group;
    int32_t flags = 0;
    TALLY_TRY(tally__call_fetch(j->call, &flags, tally__address(j->work.flags), sizeof flags));
    if (flags & TALLY_FLAG_BAD_SEGMENTS) return refuse(j);
    if (j->kind != TALLY_BEGIN_END) return TALLY_OK;
    return tally__call_fetch(j->call, &group->places, tally__address(group->offsets + 8 * group->segments), 8);
}

/* ---- copies ---- */

/* The bytes that are copied at once: the largest power of two that divides all addresses and strides. */
static int32_t unit_of(const job *j) {
    const tally__input *in = &j->call->in;
    const uint64_t all = tally__geometry_of(j->call->spec).value_bytes | (uintptr_t)in->x | (uint64_t)in->x_stride |
                         (uintptr_t)in->y | (uint64_t)in->y_stride | 8;
    return (int32_t)(all & -all);
}

static int log_below(int64_t n) { return n > 1 ? 63 - __builtin_clzll((uint64_t)n) : 0; }

/* Divides the copying among blocks, and returns their number. */
static int64_t share_copying(tally_group_work *group) {
    const int64_t across = group->inner < TALLY_GATHER_ACROSS ? group->inner : TALLY_GATHER_ACROSS;
    int64_t places = TALLY_GATHER_BYTES / ((across | 1) * group->bytes);
    if (places > TALLY_GATHER_PLACES || group->bytes > 8) places = TALLY_GATHER_PLACES;
    group->across = (int32_t)across;
    group->log_across = log_below(2 * across - 1);
    group->log_places = log_below(places);
    const int64_t tiles = TALLY_GATHER_VALUES / (across << group->log_places);
    group->tiles_of_block = tiles > 1 ? (int32_t)tiles : 1;
    return tally__over(group->places, (int64_t)group->tiles_of_block << group->log_places) *
           tally__over(group->inner, across);
}

/* Copies the values in the order of their segments. From then on the copies are the input of the call. */
static tally_status make_copies(job *j) {
    tally__call *c = j->call;
    tally_group_work *group = &j->work.group;
    const int64_t results = group->segments * group->inner, bytes = (int64_t)tally__geometry_of(c->spec).value_bytes;
    int64_t copies, all;
    TALLY_CHECK(!__builtin_mul_overflow(group->places, group->inner, &copies) &&
                    !__builtin_mul_overflow(copies, bytes * c->spec->inputs, &all) && all < INT64_MAX / 64,
                NO_MEMORY, "%lld segments of %lld values are more than a GPU has memory for",
                (long long)group->segments, (long long)group->places);
    group->bytes = (int32_t)bytes;
    group->unit = unit_of(j);
    const int64_t blocks = share_copying(group);
    TALLY_CHECK(blocks < INT32_MAX, UNSUPPORTED,
                "%lld values in %lld segments are more than this version reduces on a GPU at once", (long long)copies,
                (long long)results);
    group->spread_bytes = copies <= INT32_MAX ? 4 : 8;
    tally__cu_address size = 0;
    const tally__cu_address x = tally__take(&size, copies * bytes),
                            y = tally__take(&size, c->spec->inputs == 2 ? copies * bytes : 0),
                            spread = tally__take(&size, (results + 1) * group->spread_bytes);
    TALLY_TRY(
        tally__gpu_scratch(c->gpu, c->spec->context, c->stream, TALLY_FOR_COPIES, (size_t)size, 0, 0, &c->scratch));
    group->x_to = tally__pointer(c->scratch.nodes + x);
    group->y_to = c->spec->inputs == 2 ? tally__pointer(c->scratch.nodes + y) : NULL;
    group->spread = tally__pointer(c->scratch.nodes + spread);
    j->work.x = c->in.x;
    j->work.y = c->in.y;
    j->work.x_stride = c->in.x_stride;
    j->work.y_stride = c->in.y_stride;
    j->work.wanted = c->wanted;
    TALLY_TRY(launch_for(j, TALLY_ENTRY_group_spread, results + 1));
    if (copies > 0)
        TALLY_TRY(tally__call_launch(c, &j->groups, TALLY_ENTRY_group_gather, blocks, TALLY_START_BEHIND, &j->work));
    c->in = (tally__input){group->x_to, c->spec->inputs == 2 ? group->y_to : group->x_to, bytes, bytes, copies, true};
    c->index = group->spread;
    return TALLY_OK;
}

static tally_status reduce_copies(job *j, tally__report *report) {
    const tally_group_work *group = &j->work.group;
    TALLY_TRY(make_copies(j));
    const tally_segments segments =
        tally_offsets(group->spread, group->spread_bytes == 4 ? TALLY_I32 : TALLY_I64, group->segments * group->inner);
    const tally_status status = tally__reduce_ragged(j->call, &segments, report);
    return status == TALLY_BAD_SEGMENTS ? refuse(j) : status;
}

/* Reduces vectors where they lie, if that is possible. Otherwise, or if exact results are uncertain, reduces copies. */
static tally_status reduce_grouped(job *j, tally__report *report) {
    bool is_done = false;
    if (tally__reads_in_place(j->call, &j->work.group))
        TALLY_TRY(tally__reduce_features(j->call, &j->work.group, j->work.flags, report, &is_done));
    if (!is_done) return reduce_copies(j, report);
    return report->flags & TALLY_FLAG_BAD_SEGMENTS ? refuse(j) : TALLY_OK;
}

/* ---- calls ---- */

/* Makes the groups in scratch memory: they live as long as the call. */
static tally_status group_for_call(job *j) {
    tally__call *c = j->call;
    sort_memory sort;
    const bool sorts = j->kind == TALLY_UNSORTED_IDS;
    const tally__cu_address size = sorts ? place_sort(j, place(j, 0), &sort) : place(j, 0);
    TALLY_TRY(
        tally__gpu_scratch(c->gpu, c->spec->context, c->stream, TALLY_FOR_GROUPS, (size_t)size, 0, 0, &c->scratch));
    const tally__cu_address end = place(j, c->scratch.nodes);
    if (sorts) place_sort(j, end, &sort);
    TALLY_TRY(group_vectors(j, &sort));
    return j->kind == TALLY_BEGIN_END ? count_places(j) : TALLY_OK;
}

static tally_status look_into_plan(job *j, tally__call *call, const tally_segments *segments) {
    const tally_plan *planned = segments->plan;
    const tally__gpu_plan *plan = planned->gpu;
    const tally_segments as_given = tally_features(planned->segments, tally__features(segments));
    TALLY_CHECK(plan->gpu == call->gpu, BAD_ARGUMENT, "the plan was made ready for another GPU");
    TALLY_TRY(describe(j, call, &as_given));
    j->kind = TALLY_PLANNED;
    if (plan->is_grouped)
        j->work.group = plan->group;
    else {
        j->work.group.offsets = plan->partition.offsets;
        j->work.group.offset_bytes = plan->partition.offset_bytes;
    }
    j->work.group.inner = tally__features(segments);
    return TALLY_OK;
}

static tally_status find_groups(job *j, tally__call *call, const tally_segments *segments) {
    TALLY_TRY((segments->kind == TALLY_PLANNED ? look_into_plan : describe)(j, call, segments));
    return group_for_call(j);
}

tally_status tally__reduce_groups(tally__call *call, const tally_segments *segments, tally__report *report) {
    job j;
    TALLY_TRY(find_groups(&j, call, segments));
    return reduce_grouped(&j, report);
}

tally_status tally__find_places(tally__call *call, const tally_segments *segments, tally_group_work *group,
                                tally__cu_address *flags) {
    job j;
    TALLY_TRY(find_groups(&j, call, segments));
    const tally_group_work *found = &j.work.group;
    *flags = tally__address(j.work.flags);
    *group = (tally_group_work){.index = found->offsets,
                                .index_bytes = found->offset_bytes,
                                .vectors = found->vectors,
                                .inner = found->inner,
                                .segments = found->segments};
    if (found->order == NULL && found->begins == NULL) return TALLY_OK;
    TALLY_TRY(make_copies(&j));
    *group = (tally_group_work){.index = found->spread,
                                .index_bytes = found->spread_bytes,
                                .vectors = call->in.count,
                                .inner = 1,
                                .segments = found->segments * found->inner};
    return TALLY_OK;
}

tally_status tally__plan_groups(tally__call *call, const tally_segments *segments, tally__gpu_plan *plan) {
    const tally__driver *driver = call->gpu->driver;
    sort_memory sort;
    job j;
    plan->gpu = call->gpu;
    TALLY_TRY(describe(&j, call, segments));
    const bool sorts = j.kind == TALLY_UNSORTED_IDS;
    const tally__cu_address kept = place(&j, 0), size = sorts ? place_sort(&j, kept, &sort) : kept;
    TALLY_TRY(tally__gpu_check(driver, driver->allocate(&plan->groups_memory, (size_t)size), "give memory for a plan"));
    const tally__cu_address end = place(&j, plan->groups_memory);
    if (sorts) place_sort(&j, end, &sort);
    TALLY_TRY(group_vectors(&j, &sort));
    TALLY_TRY(count_places(&j));
    plan->group = j.work.group;
    plan->is_grouped = true;
    return TALLY_OK;
}
