/* What can be said of a segmentation without reading its index. */
#include "extent.h"
#include "parts.h"
#include "plan.h"

/* Whether an index, or ends, of `entries` numbers can be in memory. */
static tally_status check_index(const tally_segments *segments, const void *index, int64_t entries, const char *what) {
    TALLY_CHECK(entries < INT64_MAX / 16, BAD_ARGUMENT, "%s of the segments reaches beyond the end of memory", what);
    TALLY_CHECK(index != NULL || entries == 0 || (segments->kind == TALLY_OFFSETS && segments->count == 0),
                BAD_ARGUMENT, "%s of the segments is NULL", what);
    TALLY_CHECK(tally__fits_memory(index, entries, (int64_t)tally_type_size(segments->index_type), 1), BAD_ARGUMENT,
                "%s of the segments reaches beyond the end of memory", what);
    return TALLY_OK;
}

tally_status tally__check_segments(const tally_segments *segments, int64_t values, int64_t *results) {
    if (segments->kind == TALLY_PLANNED) { /* the plan was checked when it was made */
        const int64_t count = segments->plan->segments.count, inner = tally__features(segments);
        TALLY_CHECK(!__builtin_mul_overflow(count, inner, results), BAD_ARGUMENT,
                    "%lld segments of %lld features are more than memory has room for", (long long)count,
                    (long long)inner);
        return TALLY_OK;
    }
    TALLY_CHECK((int)segments->kind >= TALLY_OFFSETS && segments->kind <= TALLY_UNSORTED_IDS, BAD_ARGUMENT,
                "segmentation %d is unknown", (int)segments->kind);
    TALLY_CHECK(segments->count >= 0, BAD_ARGUMENT, "the number of segments is %lld", (long long)segments->count);
    *results = segments->count;
    if (segments->kind == TALLY_ROWS) {
        int64_t total;
        TALLY_CHECK(segments->length >= 0 && segments->inner >= 0, BAD_ARGUMENT,
                    "rows of length %lld with inner extent %lld", (long long)segments->length,
                    (long long)segments->inner);
        TALLY_CHECK(!__builtin_mul_overflow(segments->count, segments->inner, results) &&
                        !__builtin_mul_overflow(*results, segments->length, &total) && total == values,
                    BAD_SEGMENTS, "%lld x %lld x %lld rows do not make the array's %lld values",
                    (long long)segments->count, (long long)segments->length, (long long)segments->inner,
                    (long long)values);
        return TALLY_OK;
    }
    const bool has_ids = segments->kind == TALLY_SEGMENT_IDS || segments->kind == TALLY_UNSORTED_IDS;
    const int64_t inner = tally__features(segments);
    TALLY_CHECK(segments->inner >= 0, BAD_ARGUMENT, "the number of features is %lld", (long long)segments->inner);
    TALLY_CHECK(values % inner == 0, BAD_SEGMENTS, "%lld values do not make vectors of %lld features",
                (long long)values, (long long)inner);
    TALLY_CHECK(!__builtin_mul_overflow(segments->count, inner, results), BAD_ARGUMENT,
                "%lld segments of %lld features are more than memory has room for", (long long)segments->count,
                (long long)inner);
    TALLY_CHECK(segments->index_type == TALLY_I32 || segments->index_type == TALLY_I64, BAD_ARGUMENT,
                "the index of segments must be i32 or i64");
    TALLY_CHECK(segments->count < INT64_MAX / 16, BAD_ARGUMENT,
                "the index of the segments reaches beyond the end of memory");
    TALLY_TRY(check_index(segments, segments->index,
                          has_ids ? values / inner : segments->count + (segments->kind == TALLY_OFFSETS), "the index"));
    if (segments->kind == TALLY_BEGIN_END) TALLY_TRY(check_index(segments, segments->ends, segments->count, "the end"));
    TALLY_CHECK(segments->kind != TALLY_UNSORTED_IDS ||
                    (segments->outside >= TALLY_OUTSIDE_REFUSED && segments->outside <= TALLY_OUTSIDE_LEFT_OUT),
                BAD_ARGUMENT, "option %d for ids outside is unknown", (int)segments->outside);
    TALLY_CHECK(!has_ids || segments->count > 0 || values == 0 ||
                    (segments->kind == TALLY_UNSORTED_IDS && segments->outside == TALLY_OUTSIDE_LEFT_OUT),
                BAD_SEGMENTS, "the %lld values have segment ids, but there are no segments", (long long)values);
    return TALLY_OK;
}

tally_status tally__look_behind_plan(tally_segments *segments, int64_t values, const tally_plan **plan) {
    const int64_t inner = segments->inner > 1 ? segments->inner : 1;
    *plan = NULL;
    if (segments->kind != TALLY_PLANNED) return TALLY_OK;
    *plan = segments->plan;
    TALLY_CHECK(segments->index_type == TALLY_NATURAL && segments->count == 0, BAD_ARGUMENT,
                "segments of a plan are made with tally_planned");
    TALLY_CHECK(*plan != NULL, BAD_ARGUMENT, "the plan of the segments is NULL");
    TALLY_CHECK((*plan)->segments.kind != TALLY_ROWS || inner == 1, BAD_ARGUMENT,
                "rows have no features: see tally_rows");
    TALLY_CHECK(values % inner == 0 && (*plan)->values == values / inner, BAD_SEGMENTS,
                inner == 1 ? "the plan is for %lld values, and the array has %lld"
                           : "the plan is for %lld vectors, and the array has %lld values",
                (long long)(*plan)->values, (long long)values);
    if ((*plan)->gpu != NULL) return TALLY_OK;
    *segments = (*plan)->segments;
    if (segments->kind != TALLY_ROWS) segments->inner = inner;
    return TALLY_OK;
}

bool tally__part_input(const tally__parts *parts, const tally__spec *spec, const tally__input *in, int64_t r,
                       tally__input *part) {
    const int64_t s = r / parts->inner, f = r % parts->inner, bytes = (int64_t)spec->kernel->value_bytes;
    const int64_t begin = parts->groups == NULL ? s * parts->length : parts->groups->begins[s];
    const int64_t at = begin * parts->inner + f;
    if (parts->groups != NULL && parts->groups->order != NULL) return false;
    *part = (tally__input){
        in->x, in->y, in->x_stride * parts->inner, in->y_stride * parts->inner, tally__part_length(parts, r), false};
    if (part->count > 0) { /* else x may be NULL */
        part->x += at * in->x_stride;
        part->y += at * in->y_stride;
    }
    part->packed = part->x_stride == bytes && part->y_stride == bytes;
    return true;
}
