/* What results must be, and whether they are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gallery/host/track.h"

/* ---- reducing on the CPU ---- */

/* By operator `op` to `type` (TALLY_NATURAL: what is natural for it). That an empty segment has no value is no failure.
 */
static tally_status reduce(const tally__track *track, tally_op op, bool segments, tally_type type, void *results) {
    tally_array x = tally_in(track->x, track->type, track->count), y = tally_in(track->y, track->type, track->count);
    tally_output out = tally_out(results, type, segments ? track->segments : 1);
    tally_segments given = {
        .kind = TALLY_SEGMENT_IDS, .index = track->segment_ids, .index_type = TALLY_I32, .count = track->segments};
    bool pair = tally_op_inputs(op) == 2;
    tally_status status;
    if (segments)
        status = pair ? tally_reduce_segments_pair(track->context, op, x, y, given, out)
                      : tally_reduce_segments(track->context, op, x, given, out);
    else
        status = pair ? tally_reduce_pair(track->context, op, x, y, out) : tally_reduce(track->context, op, x, out);
    return status == TALLY_EMPTY ? TALLY_OK : status;
}

/* ---- what results must be ---- */

/* Inputs first ... end - 1 from left to right. */
static tally_status fold(const tally__track *track, int64_t first, int64_t end, void *result) {
    size_t bytes = track->host->element_bytes;
    char *elements = malloc(2 * bytes);
    tally_work work = {.x = track->x, .y = track->y, .count = track->count};
    TALLY_CHECK(elements != NULL, NO_MEMORY, "no memory for two accumulators");
    track->host->write_none(elements);
    for (int64_t i = first; i < end; i++) {
        track->host->read_input(&work, i, elements + bytes);
        track->host->combine_later(elements, elements + bytes);
    }
    track->host->write_result(elements, end - first, &track->final, result);
    free(elements);
    return TALLY_OK;
}
static tally_status fold_segments(const tally__track *track, char *results) {
    int64_t i = 0;
    for (int64_t s = 0; s < track->segments; s++) {
        int64_t first = i;
        while (i < track->count && track->segment_ids[i] == s) i++;
        TALLY_TRY(fold(track, first, i, results + (size_t)s * track->host->result_bytes));
    }
    return TALLY_OK;
}

/* Tally counts the indices of a segment from its start, and the gallery from the array's. */
static void count_from_start(const tally__track *track, int64_t *results) {
    int64_t i = 0;
    for (int64_t s = 0; s < track->segments; s++) {
        if (results[s] >= 0) results[s] += i;
        while (i < track->count && track->segment_ids[i] == s) i++;
    }
}

/* An integer that orders like the value. */
static uint64_t sort_key(tally_type type, const char *value) {
    size_t bytes = tally_type_size(type);
    uint64_t key = 0, sign = UINT64_C(1) << (8 * bytes - 1);
    int class = tally__type_class(type);
    memcpy(&key, value, bytes); /* little end first, as all of Tally's machines */
    if (class == TALLY_CLASS_BOOL) return key != 0;
    if (class == TALLY_CLASS_INT) return key ^ sign;
    if (class == TALLY_CLASS_UINT) return key;
    return key & sign ? ~key & (sign | (sign - 1)) : key | sign;
}
static _Thread_local tally_type sorted_type;
static int compare_values(const void *a, const void *b) {
    uint64_t x = sort_key(sorted_type, a), y = sort_key(sorted_type, b);
    return x < y ? -1 : x > y;
}

/* What is done to the results of Tally's own way. */
static tally__gallery_row own_row(const tally__track *track) {
    return (tally__gallery_row){.name = "tally", .plan = TALLY_PLAN_ONE, .segment_ids = track->segments > 0};
}

tally_status tally__track_expect(const tally__track *track, const tally__gallery_row *row, void *results) {
    tally_op op = track->operator.op;
    if (row == NULL) return reduce(track, op, track->segments > 0, TALLY_NATURAL, results);
    if (row->plan == TALLY_PLAN_READ) return fold(track, 0, 0, results);
    if (row->plan == TALLY_PLAN_MERGE) {
        if (track->count > 0) memcpy(results, track->x, (size_t)track->count * track->value_bytes);
        sorted_type = track->type;
        qsort(results, (size_t)track->count, track->value_bytes, compare_values);
        return TALLY_OK;
    }
    if (op == TALLY_OP_END)
        return row->segment_ids ? fold_segments(track, results) : fold(track, 0, track->count, results);
    TALLY_TRY(reduce(track, op, row->segment_ids, TALLY_NATURAL, results));
    if (row->segment_ids && (op == TALLY_ARGMIN || op == TALLY_ARGMAX)) count_from_start(track, results);
    return TALLY_OK;
}

/* ---- whether they are ---- */

static bool order_shows(const tally__track *track) {
    const tally__operator_row *row = tally__operator(track->operator.op);
    return row != NULL && row->order != TALLY_ORDER_FREE && tally__type_class(track->type) == TALLY_CLASS_FLOAT;
}

/* What an error is measured against: where values cancel, the sum of magnitudes; else the result itself. NULL: the
 * result. */
static double *scales_of(const tally__track *track, const tally__gallery_row *row) {
    tally_op op = track->operator.op;
    int64_t count = tally__track_result_count(track, row);
    double *scales = op == TALLY_SUM || op == TALLY_MEAN ? malloc((size_t)count * sizeof *scales) : NULL;
    int64_t i = 0;
    if (scales == NULL || reduce(track, TALLY_NORM1, row->segment_ids, TALLY_F64, scales) != TALLY_OK) {
        free(scales);
        return NULL;
    }
    for (int64_t s = 0; s < count && op == TALLY_MEAN; s++) {
        int64_t first = i;
        while (i < track->count && (!row->segment_ids || track->segment_ids[i] == s)) i++;
        scales[s] /= (double)(i - first);
    }
    return scales;
}

/* In any order n roundings of ordinary data err like a random walk: 8 sqrt(n) of them are never seen. */
static bool is_near(const tally__track *track, double got, double wanted, double scale) {
    double unit = track->type == TALLY_F64 ? 0x1p-53 : 0x1p-24;
    double allowed = 8 * unit * (sqrt((double)track->count) + 16) * fabs(scale);
    return got == wanted || (isnan(got) && isnan(wanted)) || fabs(got - wanted) <= allowed;
}

static double number_at(const tally__track *track, const char *results, int64_t i) {
    float narrow;
    double wide;
    memcpy(&narrow, results + (size_t)i * track->host->result_bytes, sizeof narrow);
    if (track->result_type == TALLY_F32) return narrow;
    memcpy(&wide, results + (size_t)i * track->host->result_bytes, sizeof wide);
    return wide;
}

static bool same_stats(const tally__track *track, const void *got, const void *wanted) {
    tally_stats a, b;
    memcpy(&a, got, sizeof a);
    memcpy(&b, wanted, sizeof b);
    return a.count == b.count && a.min.f == b.min.f && a.max.f == b.max.f &&
           is_near(track, a.sum.f, b.sum.f, b.sum.f) && is_near(track, a.mean, b.mean, b.mean) &&
           is_near(track, a.var, b.var, b.var);
}

bool tally__track_agrees(const tally__track *track, const tally__gallery_row *row, const void *results,
                         const void *expected, int64_t *first_wrong) {
    tally__gallery_row own = own_row(track);
    if (row == NULL) row = &own;
    size_t bytes = row->plan == TALLY_PLAN_MERGE ? track->value_bytes : track->host->result_bytes;
    bool roundings = order_shows(track) && row->plan != TALLY_PLAN_MERGE && row->plan != TALLY_PLAN_READ;
    int64_t count = tally__track_result_count(track, row);
    double *scales = roundings ? scales_of(track, row) : NULL;
    bool agrees = true;
    for (int64_t i = 0; i < count && agrees; i++) {
        const char *got = (const char *)results + (size_t)i * bytes,
                   *wanted = (const char *)expected + (size_t)i * bytes;
        agrees = memcmp(got, wanted, bytes) == 0;
        if (!agrees && roundings && track->operator.op == TALLY_STATS)
            agrees = same_stats(track, got, wanted);
        else if (!agrees && roundings) {
            double number = number_at(track, expected, i);
            agrees = is_near(track, number_at(track, results, i), number, scales != NULL ? scales[i] : number);
        }
        if (!agrees) *first_wrong = i;
    }
    free(scales);
    return agrees;
}
