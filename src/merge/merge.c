/* tally_merge: what is asked is checked, divided into shares, and done by threads. */
#include "tally/tally_merge.h"

#include <string.h>

#include "extent.h"
#include "gpu_merge.h"
#include "merge/job.h"

enum {
    BLOCK_BYTES = 1 << 19, /* of keys and origins of a block: two levels of a tournament fit the second cache */
    MANY = 8,              /* with fewer lists blocks are half as large, so that what is fetched ahead stays cached */
    LEAST_RUN = 64,        /* values of each list in a block, at least, where there are very many lists */
    SHARES_A_THREAD = 4,   /* shares of each thread: with several, others make up for one that is late */
    LEAST_SHARE = 1 << 16  /* values of a share, at least */
};

const tally__merge_kernels *tally__merge_kernels_in_use(void) {
#if defined(__x86_64__)
    const char *const isa = tally_cpu_isa();
    if (strcmp(isa, "avx512") == 0) return &tally__merge_avx512;
    if (strcmp(isa, "avx2") == 0) return &tally__merge_avx2;
#endif
    return &tally__merge_baseline;
}

/* ---- what is asked ---- */

static tally_status check_array(const tally_array *array, int64_t number, tally_type type, int64_t width) {
    TALLY_CHECK(array->type == type, BAD_TYPE, "array %lld holds %s, array 0 holds %s; all must hold the same type",
                (long long)number, tally_type_name(array->type) ? tally_type_name(array->type) : "no known type",
                tally_type_name(type));
    TALLY_CHECK(array->count >= 0, BAD_ARGUMENT, "array %lld has %lld values", (long long)number,
                (long long)array->count);
    TALLY_CHECK(array->data != NULL || array->count == 0, BAD_ARGUMENT, "array %lld is NULL", (long long)number);
    TALLY_CHECK(tally__fits_memory(array->data, array->count, array->stride ? array->stride : width, (size_t)width),
                BAD_ARGUMENT, "array %lld reaches beyond the end of memory", (long long)number);
    return TALLY_OK;
}

static tally_status check_output(const char *name, const tally_output *out, int64_t total, tally_type type,
                                 tally__merge_sink *sink) {
    const int64_t width = (int64_t)tally_type_size(type);
    TALLY_CHECK(out->type == type || out->type == TALLY_NATURAL, BAD_TYPE, "%s has to be of %s", name,
                tally_type_name(type));
    TALLY_CHECK(out->count >= total, BAD_ARGUMENT, "%s has room for %lld values, %lld are needed", name,
                (long long)out->count, (long long)total);
    TALLY_CHECK(out->data != NULL || total == 0, BAD_ARGUMENT, "%s is NULL", name);
    *sink = (tally__merge_sink){.data = out->data, .stride = out->stride ? out->stride : width};
    TALLY_CHECK(tally__fits_memory(out->data, total, sink->stride, (size_t)width), BAD_ARGUMENT,
                "%s reaches beyond the end of memory", name);
    return TALLY_OK;
}

static tally_status check_options(const tally_options *options) {
    TALLY_CHECK(options->nan != TALLY_NAN_SKIP, BAD_ARGUMENT,
                "a merge leaves nothing out: set the option nan to TALLY_NAN_PROPAGATE or TALLY_NAN_TOTAL");
    return TALLY_OK;
}

/* ---- memory: one piece ---- */

typedef struct plan {
    tally__merge_list *lists;
    int64_t *bounds, *part_begins;
    tally__merge_share *shares;
    int64_t share_values, most_shares;
    int threads;
    char *memory;
} plan;

static int64_t rounded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

static tally_status take_memory(const tally_context *context, tally__merge_job *job, plan *p) {
    const int64_t part_bounds = job->order.part_count + 1;
    const int64_t fewest = job->count * LEAST_RUN, bytes = job->count < MANY ? BLOCK_BYTES / 2 : BLOCK_BYTES,
                  block = bytes / (job->width + (job->origin.data != NULL ? (int64_t)sizeof(int64_t) : 0));
    job->block = block < job->total ? block : job->total;
    job->block = job->block > fewest ? job->block : fewest;
    job->scratch_bytes = tally__merge_scratch_bytes(job, job->block);
    p->threads = tally__pool_team(context->options.threads, 2 * job->total * job->width);
    p->share_values = job->total / p->threads / SHARES_A_THREAD + 1;
    if (p->share_values < LEAST_SHARE) p->share_values = LEAST_SHARE;
    p->most_shares = job->order.part_count + job->total / p->share_values;
    const int64_t lists = rounded(job->count * (int64_t)sizeof(tally__merge_list)),
                  bounds = rounded(job->count * part_bounds * (int64_t)sizeof(int64_t)),
                  begins = rounded(part_bounds * (int64_t)sizeof(int64_t)),
                  shares = rounded(p->most_shares * (int64_t)sizeof(tally__merge_share)),
                  all = lists + bounds + begins + shares + p->threads * job->scratch_bytes;
    p->memory = tally__allocate(&context->allocator, (size_t)all);
    TALLY_CHECK(p->memory != NULL, NO_MEMORY, "no memory for the merge of %lld arrays (%lld bytes)",
                (long long)job->count, (long long)all);
    char *at = p->memory;
    p->lists = (tally__merge_list *)(void *)at;
    p->bounds = (int64_t *)(void *)(at += lists);
    p->part_begins = (int64_t *)(void *)(at += bounds);
    p->shares = (tally__merge_share *)(void *)(at += begins);
    job->scratch = at + shares;
    return TALLY_OK;
}

/* ---- shares ---- */

static tally__merge_list list_of(const tally_array *array, int64_t width) {
    return (tally__merge_list){
        .data = array->data, .stride = array->stride ? array->stride : width, .count = array->count};
}

static void name_lists(const tally_array *arrays, tally__merge_job *job, const plan *p) {
    int64_t before = 0;
    for (int64_t i = 0; i < job->count; i++) {
        p->lists[i] = list_of(&arrays[i], job->width);
        p->lists[i].before = before;
        before += arrays[i].count;
    }
    job->lists = p->lists;
}

/* Finds where each part begins in each list, and in the output. */
static void find_parts(tally__merge_job *job, const plan *p) {
    const int parts = job->order.part_count;
    int64_t sum = 0;
    for (int64_t i = 0; i < job->count; i++) {
        const tally__merge_list *const list = &p->lists[i];
        p->bounds[i] = 0;
        for (int part = 1; part < parts; part++)
            p->bounds[part * job->count + i] =
                tally__merge_search(job, list, p->bounds[(part - 1) * job->count + i], list->count,
                                    tally__merge_part_at(&job->order, part).first, false);
        p->bounds[parts * job->count + i] = list->count;
    }
    for (int part = 0; part <= parts; part++) {
        p->part_begins[part] = sum;
        for (int64_t i = 0; part < parts && i < job->count; i++)
            sum += p->bounds[(part + 1) * job->count + i] - p->bounds[part * job->count + i];
    }
    job->bounds = p->bounds;
    job->part_begins = p->part_begins;
}

static void find_shares(tally__merge_job *job, const plan *p) {
    int64_t shares = 0;
    for (int part = 0; part < job->order.part_count; part++) {
        const int64_t end = p->part_begins[part + 1];
        for (int64_t begin = p->part_begins[part]; begin < end; begin += p->share_values) {
            const int64_t left = end - begin;
            p->shares[shares++] = (tally__merge_share){
                .part = part, .begin = begin, .end = begin + (left < p->share_values ? left : p->share_values)};
        }
    }
    job->list_of_shares = p->shares;
    job->shares.next = 0;
    job->shares.end = shares;
}

/* ---- the merge ---- */

static tally_status refuse_value(int64_t array, int64_t value) {
    return tally__fail(TALLY_BAD_ORDER, "array %lld is not sorted: its value %lld belongs before value %lld",
                       (long long)array, (long long)value, (long long)value - 1);
}
static tally_status refuse_changed(void) {
    return tally__fail(TALLY_BAD_ORDER, "an array changed while it was merged");
}
static tally_status refuse_order(const tally__merge_job *job) {
    for (int64_t i = 0; i < job->count; i++) {
        const tally__merge_list *const list = &job->lists[i];
        for (int64_t k = 1; k < list->count; k++)
            if (tally__merge_key_at(job, list, k - 1) > tally__merge_key_at(job, list, k)) return refuse_value(i, k);
    }
    return refuse_changed();
}

/* Chooses the backend by where the arrays lie. */
static tally_status choose_backend(const tally_context *context, const tally_array *arrays, const tally__merge_job *job,
                                   const tally__backend **backend) {
    tally_options options = context->options;
    bool on_gpu = tally__lies_on_gpu(job->out.data) || tally__lies_on_gpu(job->origin.data);
    for (int64_t i = 0; i < job->count && !on_gpu; i++) on_gpu = tally__lies_on_gpu(arrays[i].data);
    if (on_gpu && options.backend == TALLY_BACKEND_AUTO) options.backend = TALLY_BACKEND_CUDA;
    TALLY_CHECK(!on_gpu || options.backend == TALLY_BACKEND_CUDA, BAD_ARGUMENT,
                "arrays in GPU memory are merged by TALLY_BACKEND_AUTO or TALLY_BACKEND_CUDA only");
    *backend = tally__backend_of(&options);
    return TALLY_OK;
}

static tally_status merge_on_gpu(const tally_context *context, const tally__backend *backend, const tally_array *arrays,
                                 const tally__merge_job *job) {
    const tally__gpu_merge merge = {.arrays = arrays,
                                    .count = job->count,
                                    .total = job->total,
                                    .width = job->width,
                                    .type = arrays[0].type,
                                    .infinity = (uint64_t)job->order.infinity,
                                    .out = job->out.data,
                                    .out_stride = job->out.stride,
                                    .origin = job->origin.data,
                                    .origin_stride = job->origin.stride};
    int64_t misplaced = -1, array = 0;
    TALLY_TRY(backend->merge(context, &merge, &misplaced));
    if (misplaced < 0) return TALLY_OK;
    while (array < job->count && misplaced >= arrays[array].count) misplaced -= arrays[array++].count;
    return array < job->count ? refuse_value(array, misplaced) : refuse_changed();
}

static tally_status merge(const tally_context *context, const tally_array *arrays, tally__merge_job *job) {
    plan p = {.memory = NULL};
    TALLY_TRY(take_memory(context, job, &p));
    name_lists(arrays, job, &p);
    if (context->options.backend == TALLY_BACKEND_REFERENCE) {
        tally__merge_reference(job);
    } else {
        find_parts(job, &p);
        find_shares(job, &p);
        tally__pool_run(p.threads, tally__merge_work, job);
    }
    const tally_status status = job->unsorted ? refuse_order(job) : TALLY_OK;
    tally__release(&context->allocator, p.memory);
    return status;
}

/* Checks the arrays (count > 0) and the options. Sets the job's order, width and total. */
static tally_status check_arrays(const tally_context *context, const tally_array *arrays, int64_t count,
                                 tally__merge_job *job) {
    TALLY_CHECK(arrays != NULL, BAD_ARGUMENT, "the arrays are NULL");
    const tally_type type = arrays[0].type;
    TALLY_CHECK(tally__merge_order_of(type, context->options.nan == TALLY_NAN_TOTAL, &job->order), BAD_TYPE,
                "array 0 has a type whose values cannot be compared");
    job->width = INT64_C(1) << job->order.width_log;
    for (int64_t i = 0; i < count; i++) {
        TALLY_TRY(check_array(&arrays[i], i, type, job->width));
        TALLY_CHECK(!__builtin_add_overflow(job->total, arrays[i].count, &job->total) && job->total < INT64_MAX / 64,
                    BAD_ARGUMENT, "the arrays have more values together than memory has room for");
    }
    return TALLY_OK;
}

static tally_status check_call(const tally_context *context, int64_t count) {
    TALLY_CHECK(count >= 0 && count <= INT32_MAX, BAD_ARGUMENT,
                "the number of arrays is %lld; it may be 0 to 2147483647", (long long)count);
    return check_options(&context->options);
}

tally_status tally_merge(const tally_context *given, const tally_array *arrays, int64_t count, tally_output out,
                         tally_output origin) {
    const tally_context *const context = tally__context(given);
    tally__merge_job job = {.count = count, .kernels = tally__merge_kernels_in_use()};
    TALLY_TRY(check_call(context, count));
    if (count == 0) return TALLY_OK;
    TALLY_TRY(check_arrays(context, arrays, count, &job));
    TALLY_TRY(check_output("the output", &out, job.total, arrays[0].type, &job.out));
    if (origin.data != NULL)
        TALLY_TRY(check_output("the output of origins", &origin, job.total, TALLY_I64, &job.origin));
    if (job.total == 0) return TALLY_OK;
    const tally__backend *backend = NULL;
    TALLY_TRY(choose_backend(context, arrays, &job, &backend));
    return backend->merge != NULL ? merge_on_gpu(context, backend, arrays, &job) : merge(context, arrays, &job);
}

tally_status tally_merge_ready(const tally_context *given, const tally_array *arrays, const unsigned char *more,
                               int64_t count, int64_t *taken) {
    const tally_context *const context = tally__context(given);
    tally__merge_job job = {.count = count};
    /* Of the arrays with more to come: the one whose last value comes first in the output, and the key of that. */
    int64_t least_key = 0, least = -1;
    TALLY_TRY(check_call(context, count));
    if (count == 0) return TALLY_OK;
    TALLY_CHECK(more != NULL && taken != NULL, BAD_ARGUMENT, "tally_merge_ready needs more and taken");
    TALLY_TRY(check_arrays(context, arrays, count, &job));
    bool is_stuck = false;
    TALLY_CHECK(!tally__backend_is_gpu(context->options.backend), UNSUPPORTED,
                "tally_merge_ready looks at host memory only: set the option backend to TALLY_BACKEND_AUTO");
    for (int64_t i = 0; i < count; i++) {
        TALLY_CHECK(!tally__lies_on_gpu(arrays[i].data), UNSUPPORTED,
                    "array %lld lies in GPU memory: tally_merge_ready looks at host memory only", (long long)i);
        const tally__merge_list list = list_of(&arrays[i], job.width);
        if (!more[i]) continue;
        is_stuck |= list.count == 0;
        const int64_t key = list.count > 0 ? tally__merge_key_at(&job, &list, list.count - 1) : 0;
        if (least < 0 || key < least_key) {
            least_key = key;
            least = i;
        }
    }
    for (int64_t i = 0; i < count; i++) {
        const tally__merge_list list = list_of(&arrays[i], job.width);
        taken[i] = is_stuck                  ? 0
                   : least < 0 || i == least ? list.count
                                             : tally__merge_search(&job, &list, 0, list.count, least_key, i < least);
    }
    return TALLY_OK;
}
