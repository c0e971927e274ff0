/* Tracks: what is opened, loaded and given back. */
#include "gallery/host/track.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY_DRIVER(track, call, what) TALLY_TRY(tally__track_check(track, (track)->gpu->driver->call, what))

tally_status tally__track_check(const tally__track *track, int error, const char *what) {
    return tally__gpu_check(track->gpu->driver, error, what);
}

/* ---- opening ---- */

/* How results are finished: as with sums in plain order, and integers that wrap around. */
static tally_status describe(tally__track *track) {
    tally_options options = TALLY_OPTIONS_INIT;
    tally__spec spec;
    options.overflow = TALLY_OVERFLOW_WRAPS;
    options.accuracy = TALLY_FAST;
    TALLY_TRY(tally_context_create(NULL, &track->context));
    TALLY_TRY(tally_set_options(track->context, &options));
    track->result_type = TALLY_U64;
    if (track->operator.op != TALLY_OP_END) {
        TALLY_TRY(tally__specify(track->context, track->operator.op, track->type, &spec));
        track->final = spec.final;
        track->result_type = spec.result_type;
    }
    options.accuracy = TALLY_BEST; /* what is expected is the best there is */
    TALLY_TRY(tally_set_options(track->context, &options));
    track->host = track->operator.set->of[track->type][TALLY_NAN_PROPAGATE];
    TALLY_CHECK(track->host != NULL, BAD_TYPE, "%s is not defined for %s", track->operator.name,
                tally_type_name(track->type));
    return TALLY_OK;
}

/* Bytes of counters: one for each 32 blocks of the most values, and so on. */
enum { COUNTERS = 1 << 18 };

static tally_status open_device(tally__track *track, int device) {
    const tally__platform *platform =
        track->backend == TALLY_BACKEND_CUDA ? &tally__nvidia_platform : &tally__simt_platform;
    if (track->backend == TALLY_BACKEND_SIMT) {
        TALLY_CHECK(track->host->kernels[0].function != NULL, UNSUPPORTED,
                    "the simulator has the gallery for sum, min, argmin and compose of u8, i32, f32 and f64; a GPU has "
                    "it for %s of %s too",
                    track->operator.name, tally_type_name(track->type));
        for (int k = 0; k < tally__gallery_count; k++)
            TALLY_CHECK(tally__simt_register(track->host->kernels[k].entry, track->host->kernels[k].function),
                        NO_MEMORY, "no memory for a kernel's name");
    }
    TALLY_TRY(tally__gpu_open(platform, device, &track->gpu));
    TALLY_TRY(tally__gpu_enter(track->gpu));
    tally_status status = tally__track_check(
        track, track->gpu->driver->device_name(track->device, sizeof track->device, track->gpu->device),
        "tell its name");
    if (status == TALLY_OK)
        status = tally__track_check(track,
                                    track->gpu->driver->device_attribute(&track->most_threads,
                                                                         TALLY_CU_DEVICE_THREADS_PER_MULTIPROCESSOR,
                                                                         track->gpu->device),
                                    "tell how many threads it holds");
    if (status == TALLY_OK)
        status = tally__track_check(track, track->gpu->driver->allocate(&track->counter, COUNTERS), "give memory");
    if (status == TALLY_OK)
        status = tally__track_check(track, track->gpu->driver->fill(track->counter, 0, COUNTERS, NULL), "clear memory");
    tally__gpu_leave(track->gpu);
    return status;
}

static tally_status open_by(tally_backend backend, int device, const tally__gallery_operator *operator, tally_type type,
                            tally__track **track) {
    tally__track *made = calloc(1, sizeof *made);
    tally_status status;
    TALLY_CHECK(made != NULL, NO_MEMORY, "no memory for a track");
    made->backend = backend;
    made->type = type;
    made->value_bytes = tally_type_size(type);
    made->lists = 32;
    made->repeats = 1;
    made->operator= * operator;
    status = describe(made);
    if (status == TALLY_OK) status = open_device(made, device);
    if (status != TALLY_OK) {
        tally__track_close(made);
        return status;
    }
    *track = made;
    return TALLY_OK;
}

tally_status tally__track_open(tally_backend backend, int device, const char *op, tally_type type,
                               tally__track **track) {
    tally__gallery_operator operator;
    *track = NULL;
    TALLY_TRY(tally__gallery_operator_named(op, &operator));
    return open_by(backend, device, &operator, type, track);
}

tally_status tally__track_open_pictured(bool merges, tally__track **track) {
    tally__gallery_operator operator= tally__gallery_inputs;
    *track = NULL;
    if (merges) TALLY_TRY(tally__gallery_operator_named("min", &operator));
    TALLY_TRY(open_by(TALLY_BACKEND_SIMT, 0, &operator, merges ? TALLY_I32 : TALLY_U64, track));
    (*track)->small = true;
    (*track)->lists = 4;
    return TALLY_OK;
}

/* ---- closing ---- */

static void release(tally__track *track, tally__cu_address *address) {
    if (*address != 0) track->gpu->driver->release(*address);
    *address = 0;
}
/* Memory that depends on the segments, and all but the counter. */
static void clear_segments(tally__track *track) {
    release(track, &track->value_segment_ids);
    release(track, &track->output);
    for (int i = 0; i < 2; i++) release(track, &track->element_segment_ids[i]);
    track->segments = 0;
    track->segment_ids = NULL;
}
static void clear(tally__track *track) {
    clear_segments(track);
    release(track, &track->values);
    release(track, &track->second);
    for (int i = 0; i < 2; i++) release(track, &track->elements[i]);
    track->count = 0;
}

void tally__track_close(tally__track *track) {
    if (track == NULL) return;
    if (track->gpu != NULL && tally__gpu_enter(track->gpu) == TALLY_OK) {
        clear(track);
        release(track, &track->counter);
        for (int form = 0; form < TALLY_GALLERY_FORMS; form++)
            for (int k = 0; k <= tally__gallery_count; k++)
                if (track->runners[form][k].module != NULL)
                    track->gpu->driver->module_unload(track->runners[form][k].module);
        tally__gpu_leave(track->gpu);
    }
    tally_context_destroy(track->context);
    free(track->mine);
    free(track);
}

/* ---- loading ---- */

/* The most elements that a launch leaves: one for each warp's 32 values, or for each if blocks are smaller; of
 * merge_lists a value for each. */
static size_t element_capacity(const tally__track *track) {
    int64_t smallest = track->wanted_threads > 0 || track->small ? 1 : 32;
    size_t left = tally__track_bytes(track->count / smallest + 1 + 2 * (int64_t)track->gpu->multiprocessors,
                                     track->host->element_bytes);
    size_t merged = tally__track_bytes(track->count, track->value_bytes);
    return left > merged ? left : merged;
}

static tally_status put_copies(tally__track *track, const void *from, tally__cu_address *to) {
    TRY_DRIVER(track, allocate(to, track->copy_bytes * (size_t)track->copies), "give memory for the values");
    for (int c = 0; c < track->copies && track->count > 0; c++)
        TRY_DRIVER(track,
                   copy_in(*to + (size_t)c * track->copy_bytes, from, (size_t)track->count * track->value_bytes, NULL),
                   "take the values");
    return TALLY_OK;
}

static tally_status load(tally__track *track) {
    track->element_capacity = element_capacity(track);
    TALLY_TRY(put_copies(track, track->x, &track->values));
    if (track->operator.inputs == 2) TALLY_TRY(put_copies(track, track->y, &track->second));
    for (int i = 0; i < 2; i++)
        TRY_DRIVER(track, allocate(&track->elements[i], track->element_capacity), "give memory for elements");
    TRY_DRIVER(track, stream_wait(NULL), "take the values");
    return TALLY_OK;
}

tally_status tally__track_load(tally__track *track, const void *x, const void *y, int64_t count, int copies) {
    tally_status status;
    TALLY_CHECK(count >= 0 && count <= INT32_MAX, BAD_ARGUMENT,
                "the gallery counts in 32 bits: 0 to %d values, not %lld", INT32_MAX, (long long)count);
    TALLY_CHECK(copies > 0 && (x != NULL || count == 0), BAD_ARGUMENT, "no values");
    TALLY_CHECK(track->operator.inputs == 1 || y != NULL || count == 0, BAD_ARGUMENT, "%s takes two arrays",
                track->operator.name);
    TALLY_TRY(tally__gpu_enter(track->gpu));
    clear(track);
    track->x = x;
    track->y = y != NULL ? y : x;
    track->count = count;
    track->copies = copies;
    track->copy_bytes = tally__track_bytes(count, track->value_bytes);
    status = load(track);
    if (status != TALLY_OK) clear(track);
    tally__gpu_leave(track->gpu);
    return status;
}

static tally_status check_segment_ids(const int32_t *segment_ids, int64_t count, int64_t segments) {
    TALLY_CHECK(segment_ids != NULL || count == 0, BAD_ARGUMENT, "no segment ids");
    TALLY_CHECK(segments > 0 && segments <= INT32_MAX, BAD_SEGMENTS, "there are 1 to %d segments, not %lld", INT32_MAX,
                (long long)segments);
    for (int64_t i = 0; i < count; i++)
        TALLY_CHECK(segment_ids[i] >= (i > 0 ? segment_ids[i - 1] : 0) && segment_ids[i] < segments, BAD_SEGMENTS,
                    "segment id %lld is %d: segment ids ascend, and those of %lld segments are 0 to %lld", (long long)i,
                    segment_ids[i], (long long)segments, (long long)segments - 1);
    return TALLY_OK;
}

static tally_status place_segments(tally__track *track) {
    size_t bytes = (size_t)track->count * sizeof(int32_t);
    TRY_DRIVER(track, allocate(&track->value_segment_ids, bytes + 4), "give memory for segment ids");
    for (int i = 0; i < 2; i++)
        TRY_DRIVER(track, allocate(&track->element_segment_ids[i], tally__track_bytes(track->count, sizeof(int32_t))),
                   "give memory for segment ids");
    TRY_DRIVER(track, allocate(&track->output, (size_t)track->segments * track->host->element_bytes),
               "give memory for the output");
    if (bytes > 0)
        TRY_DRIVER(track, copy_in(track->value_segment_ids, track->segment_ids, bytes, NULL), "take the segment ids");
    TRY_DRIVER(track, stream_wait(NULL), "take the segment ids");
    return TALLY_OK;
}

tally_status tally__track_segments(tally__track *track, const int32_t *segment_ids, int64_t segments) {
    tally_status status;
    TALLY_TRY(check_segment_ids(segment_ids, track->count, segments));
    TALLY_TRY(tally__gpu_enter(track->gpu));
    clear_segments(track);
    track->segment_ids = segment_ids;
    track->segments = segments;
    status = place_segments(track);
    if (status != TALLY_OK) clear_segments(track);
    tally__gpu_leave(track->gpu);
    return status;
}

/* ---- small things ---- */

void tally__track_lists(tally__track *track, int lists) { track->lists = lists; }
void tally__track_shape(tally__track *track, int threads, int blocks) {
    track->wanted_threads = threads;
    track->wanted_blocks = blocks;
}
void tally__track_repeat(tally__track *track, int times) { track->repeats = times; }
void tally__track_stop_after(tally__track *track, int launches) { track->most_launches = launches; }
size_t tally__track_result_bytes(const tally__track *track) { return track->host->result_bytes; }
tally_type tally__track_result_type(const tally__track *track) { return track->result_type; }
size_t tally__track_element_bytes(const tally__track *track) { return track->host->element_bytes; }
const char *tally__track_device(const tally__track *track) { return track->device; }
int tally__track_multiprocessors(const tally__track *track) { return track->gpu->multiprocessors; }
int tally__track_most_threads(const tally__track *track) { return track->most_threads; }
int64_t tally__track_result_count(const tally__track *track, const tally__gallery_row *row) {
    if (row == NULL) return track->segments > 0 ? track->segments : 1;
    return row->segment_ids ? track->segments : row->plan == TALLY_PLAN_MERGE ? track->count : 1;
}
