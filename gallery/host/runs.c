/* Runs: the launches of each plan of gallery/kernels/table.h. */
#include <stdlib.h>
#include <string.h>

#include "cuda/cache.h"
#include "gallery/host/track.h"

#define TRY_DRIVER(track, call, what) TALLY_TRY(tally__track_check(track, (track)->gpu->driver->call, what))

/* ---- what can run ---- */

static size_t shared_bytes(const tally__track *track, const tally__gallery_row *row) {
    return (size_t)row->shared * (track->host->element_bytes + (row->segment_ids ? sizeof(int32_t) : 0));
}

tally_status tally__track_suits(const tally__track *track, const tally__gallery_row *row) {
    const char *name = row->name, *op = track->operator.name;
    TALLY_CHECK(row->needs != TALLY_COMMUTES || track->operator.commutes, UNSUPPORTED,
                "%s changes the order of values, and %s does not commute", name, op);
    TALLY_CHECK(row->plan != TALLY_PLAN_FIT || track->count <= row->threads, UNSUPPORTED,
                "%s has a thread for each value, and one block has at most %d; these are %lld", name, row->threads,
                (long long)track->count);
    TALLY_CHECK(!row->segment_ids || track->segments > 0, UNSUPPORTED, "%s reduces segments, and the values have none",
                name);
    TALLY_CHECK(row->segment_ids || track->segments == 0 || row->plan == TALLY_PLAN_READ, UNSUPPORTED,
                "%s reduces a whole array, and the values have segments", name);
    TALLY_CHECK(shared_bytes(track, row) <= TALLY_SIMT_SHARED_BYTES, UNSUPPORTED,
                "%s keeps %d accumulators in shared memory; those of %s of %s have %zu bytes, and a block has %d", name,
                row->shared, op, tally_type_name(track->type), track->host->element_bytes, TALLY_SIMT_SHARED_BYTES);
    if (row->plan != TALLY_PLAN_MERGE) return TALLY_OK;
    TALLY_CHECK(track->operator.op == TALLY_MIN, UNSUPPORTED, "%s merges by the minimum, not by %s", name, op);
    TALLY_CHECK(track->lists >= 1 && track->lists <= TALLY_MOST_LISTS, UNSUPPORTED,
                "%s has a thread for each list, and one block has at most %d; these are %d", name, TALLY_MOST_LISTS,
                track->lists);
    return TALLY_OK;
}

/* ---- kernels ---- */

static tally_status load_unit(tally__track *track, const tally__unit *unit, const tally__gallery_row *row,
                              tally__runner *runner) {
    const tally__image *image;
    TALLY_TRY(tally__image_of(track->gpu->platform, unit, track->gpu->sm, &image));
    TRY_DRIVER(track, module_load(&runner->module, image->bytes), "load a kernel");
    TRY_DRIVER(track, module_function(&runner->function, runner->module, unit->entry), "find a kernel");
    TRY_DRIVER(track, function_attribute(&runner->registers, TALLY_CU_FUNCTION_REGISTERS, runner->function),
               "tell a kernel's registers");
    TRY_DRIVER(track, function_attribute(&runner->shared_bytes, TALLY_CU_FUNCTION_SHARED_BYTES, runner->function),
               "tell a kernel's memory");
    TRY_DRIVER(track, resident_blocks(&runner->resident, runner->function, row->threads, 0),
               "tell how many blocks it holds");
    if (track->backend == TALLY_BACKEND_SIMT) runner->shared_bytes = (int)shared_bytes(track, row);
    return TALLY_OK;
}

static tally_status runner_of(tally__track *track, const tally__gallery_row *row, tally__gallery_form form,
                              const tally__runner **found) {
    tally__runner *runner = &track->runners[form][row->number];
    tally__unit unit;
    char *text;
    tally_status status;
    *found = runner;
    if (runner->function != NULL && memcmp(&runner->sizes, &row->sizes, sizeof row->sizes) == 0) return TALLY_OK;
    if (runner->module != NULL) TRY_DRIVER(track, module_unload(runner->module), "unload a kernel");
    *runner = (tally__runner){.sizes = row->sizes};
    if (track->backend == TALLY_BACKEND_SIMT && row->sizes.per_thread + row->sizes.width > 0)
        TALLY_TRY(tally__track_vary(track, row));
    TALLY_TRY(tally__gallery_unit(&track->operator, track->type, row, form, &unit, &text));
    if (track->backend == TALLY_BACKEND_SIMT) unit.user_text = NULL; /* it has the kernel compiled */
    status = load_unit(track, &unit, row, runner);
    free(text);
    return status;
}

/* ---- launches ---- */

/* One run: what the next launch reads, and where it writes. */
typedef struct run {
    tally__track *track;
    const tally__gallery_row *row;
    const tally__runner *runner;
    tally__lap *lap;
    int threads, each; /* of a block */
    tally_work work;
    int turn; /* which of the two memories for elements is written next */
} run;

static void *address(tally__cu_address a) { return (void *)(uintptr_t)a; }
static int64_t parts(int64_t count, int64_t each) { return (count + each - 1) / each; }
static int64_t at_most(int64_t blocks, int64_t most) { return blocks < most ? blocks : most; }

static tally_status launch(run *r, int64_t blocks) {
    void *parameters[] = {&r->work};
    tally__track *track = r->track;
    TALLY_CHECK(r->lap->launches < TALLY_MOST_LAUNCHES, UNSUPPORTED, "%s takes more than %d launches", r->row->name,
                TALLY_MOST_LAUNCHES);
    TALLY_CHECK(blocks == 1 || track->repeats == 1, UNSUPPORTED,
                "%s takes %lld blocks for %lld values; what one block does is repeated, no more", r->row->name,
                (long long)blocks, (long long)r->work.count);
    TALLY_CHECK((size_t)blocks * track->host->element_bytes <= track->element_capacity, UNSUPPORTED,
                "%s leaves %lld elements, one for each of its blocks: there is no room for so many", r->row->name,
                (long long)blocks);
    r->work.nodes = address(track->elements[r->turn]);
    r->work.left_segment_ids = r->row->segment_ids ? address(track->element_segment_ids[r->turn]) : NULL;
    r->lap->blocks[r->lap->launches++] = (int)blocks;
    const tally__cu_launch how = {(unsigned)blocks, 1, 1, (unsigned)r->threads, 1, 1, 0, NULL, NULL, 0};
    TRY_DRIVER(track, launch(&how, r->runner->function, parameters, NULL), "run a kernel");
    /* What it leaves is the next one's input. */
    r->work.x = r->work.y = r->work.nodes;
    r->work.segment_ids = r->work.left_segment_ids;
    r->work.inputs = TALLY_OF_ELEMENTS;
    r->work.count = blocks;
    r->turn ^= 1;
    return TALLY_OK;
}

static int64_t blocks_of(const run *r) {
    const tally__track *track = r->track;
    int64_t pieces = parts(r->work.count, r->each), striding = parts(r->work.count, r->threads);
    int multiprocessors = track->small ? 1 : track->gpu->multiprocessors,
        resident = r->runner->resident > 0 ? r->runner->resident : 1;
    int64_t staying = track->wanted_blocks > 0 ? track->wanted_blocks : (int64_t)multiprocessors * resident,
            twice = track->wanted_blocks > 0 ? track->wanted_blocks : 2 * multiprocessors;
    switch (r->row->plan) {
    case TALLY_PLAN_READ: return parts(r->work.count * (int64_t)track->value_bytes, 128 * r->threads);
    case TALLY_PLAN_PASSES:
    case TALLY_PLAN_TREE:
    case TALLY_PLAN_HOST: return pieces;
    case TALLY_PLAN_PERSISTENT: return at_most(pieces, staying);
    case TALLY_PLAN_TWICE: return r->lap->launches == 0 ? at_most(striding, twice) : 1;
    case TALLY_PLAN_GUARD: return at_most(striding, twice);
    default: return 1;
    }
}

static tally_status launch_all(run *r) {
    int plan = r->row->plan;
    bool again = plan == TALLY_PLAN_PASSES || plan == TALLY_PLAN_PERSISTENT || plan == TALLY_PLAN_TWICE;
    do {
        if (r->work.inputs == TALLY_OF_ELEMENTS)
            TALLY_TRY(runner_of(r->track, r->row, TALLY_GALLERY_OF_ELEMENTS, &r->runner));
        TALLY_TRY(launch(r, blocks_of(r)));
    } while (again && r->work.count > 1 && r->lap->launches != r->track->most_launches);
    return TALLY_OK;
}

/* A size of the table, or what it is in pictures. */
static int size_of(const tally__track *track, int size) { return track->small ? TALLY_SMALL(size) : size; }

static int power_of_two(int64_t least) {
    int power = 1;
    while (power < least) power *= 2;
    return power;
}
static int threads_of(const tally__track *track, const tally__gallery_row *row) {
    int64_t wanted = track->count;
    if (row->plan == TALLY_PLAN_FIT) return power_of_two(wanted);
    if (row->plan == TALLY_PLAN_MERGE) return power_of_two(track->lists);
    if (track->wanted_threads > 0 && row->least < row->threads)
        return (int)at_most(track->wanted_threads < row->least ? row->least : track->wanted_threads, row->threads);
    if (!track->small || row->least == row->threads) return size_of(track, row->threads);
    if (row->each == 2 * row->threads) wanted = (wanted + 1) / 2;
    if (row->plan == TALLY_PLAN_TWICE || row->plan == TALLY_PLAN_GUARD || row->plan == TALLY_PLAN_ONE)
        wanted = (wanted + 3) / 4;
    wanted = power_of_two(wanted);
    int least = size_of(track, row->least);
    return (int)(wanted < least ? least : at_most(wanted, size_of(track, row->threads)));
}

tally_status tally__track_go(tally__track *track, const tally__gallery_row *row, int copy, tally__lap *lap,
                             tally__cu_address *left) {
    run r = {.track = track, .row = row, .lap = lap, .threads = threads_of(track, row)};
    size_t offset = track->copy_bytes * (size_t)copy;
    lap->launches = 0;
    lap->threads = r.threads;
    *left = track->elements[0];
    TALLY_TRY(runner_of(track, row, track->repeats > 1 ? TALLY_GALLERY_REPEATED : TALLY_GALLERY_OF_VALUES, &r.runner));
    lap->registers = r.runner->registers;
    lap->shared_bytes = r.runner->shared_bytes;
    lap->resident = r.runner->resident;
    if (track->count == 0) return TALLY_OK;
    r.each = row->each / row->threads * r.threads;
    if (row->least == row->threads)
        r.each = size_of(track, row->each); /* also where threads do not share pieces evenly */
    r.work.x = address(track->values + offset);
    r.work.y = track->operator.inputs == 2 ? address(track->second + offset) : r.work.x;
    r.work.count = track->count;
    r.work.run = track->lists;
    r.work.repeats = track->repeats;
    r.work.arrivals = address(track->counter);
    r.work.segment_ids = address(track->value_segment_ids);
    r.work.output = address(track->output);
    TALLY_TRY(launch_all(&r));
    *left = track->elements[r.turn ^ 1];
    return TALLY_OK;
}

/* ---- results ---- */

static tally_status clear_output(tally__track *track) {
    size_t bytes = track->host->element_bytes;
    char *nothing = malloc((size_t)track->segments * bytes);
    tally_status status;
    TALLY_CHECK(nothing != NULL, NO_MEMORY, "no memory for the output of %lld segments", (long long)track->segments);
    for (int64_t s = 0; s < track->segments; s++) track->host->write_none(nothing + (size_t)s * bytes);
    status = tally__track_check(
        track, track->gpu->driver->copy_in(track->output, nothing, (size_t)track->segments * bytes, NULL),
        "clear the output");
    if (status == TALLY_OK)
        status = tally__track_check(track, track->gpu->driver->stream_wait(NULL), "clear the output");
    free(nothing);
    return status;
}

static tally_status fetch(const tally__track *track, tally__cu_address from, size_t bytes, void **fetched) {
    tally_status status;
    *fetched = malloc(bytes);
    TALLY_CHECK(*fetched != NULL, NO_MEMORY, "no memory for %zu bytes of results", bytes);
    status = tally__track_check(track, track->gpu->driver->copy_out(*fetched, from, bytes, NULL), "give the results");
    if (status == TALLY_OK) status = tally__track_check(track, track->gpu->driver->stream_wait(NULL), "run a kernel");
    if (status != TALLY_OK) free(*fetched);
    return status;
}

static tally_status finish_whole(const tally__track *track, const tally__gallery_row *row, const tally__lap *lap,
                                 tally__cu_address left, void *results) {
    size_t bytes = track->host->element_bytes;
    int64_t elements = row->plan == TALLY_PLAN_HOST && lap->launches > 0 ? lap->blocks[0] : 1;
    char *fetched;
    if (lap->launches == 0) {
        fetched = malloc(bytes);
        TALLY_CHECK(fetched != NULL, NO_MEMORY, "no memory for a result");
        track->host->write_none(fetched);
    } else
        TALLY_TRY(fetch(track, left, (size_t)elements * bytes, (void **)&fetched));
    for (int64_t i = 1; i < elements; i++) track->host->combine_later(fetched, fetched + (size_t)i * bytes);
    track->host->write_result(fetched, row->plan == TALLY_PLAN_READ ? 0 : track->count, &track->final, results);
    free(fetched);
    return TALLY_OK;
}

static tally_status finish_segments(const tally__track *track, void *results) {
    size_t bytes = track->host->element_bytes;
    int64_t i = 0;
    char *fetched;
    TALLY_TRY(fetch(track, track->output, (size_t)track->segments * bytes, (void **)&fetched));
    for (int64_t s = 0; s < track->segments; s++) {
        int64_t first = i;
        while (i < track->count && track->segment_ids[i] == s) i++;
        track->host->write_result(fetched + (size_t)s * bytes, i - first, &track->final,
                                  (char *)results + (size_t)s * track->host->result_bytes);
    }
    free(fetched);
    return TALLY_OK;
}

static tally_status finish_merge(const tally__track *track, tally__cu_address left, void *results) {
    size_t bytes = (size_t)track->count * track->value_bytes;
    void *fetched;
    if (bytes == 0) return TALLY_OK;
    TALLY_TRY(fetch(track, left, bytes, &fetched));
    memcpy(results, fetched, bytes);
    free(fetched);
    return TALLY_OK;
}

static tally_status run_entered(tally__track *track, const tally__gallery_row *row, void *results, tally__lap *lap) {
    tally__cu_address left;
    if (row->segment_ids) TALLY_TRY(clear_output(track));
    TALLY_TRY(tally__track_go(track, row, 0, lap, &left));
    if (row->segment_ids) return finish_segments(track, results);
    if (row->plan == TALLY_PLAN_MERGE) return finish_merge(track, left, results);
    return finish_whole(track, row, lap, left, results);
}

tally_status tally__track_run(tally__track *track, const tally__gallery_row *row, void *results, tally__lap *lap) {
    tally_status status;
    *lap = (tally__lap){0};
    TALLY_TRY(tally__track_suits(track, row));
    TALLY_TRY(tally__gpu_enter(track->gpu));
    status = run_entered(track, row, results, lap);
    tally__gpu_leave(track->gpu);
    return status;
}
