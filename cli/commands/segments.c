/* Segments of the command: index files and axes as a segmentation, and the reduction by it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/complain.h"
#include "formats/numbers.h"
#include "base/progress.h"
#include "commands/reduce.h"

/* ---- index files ---- */

/* Converts integers of any size to i64: the library takes i32 and i64. */
static bool widen_index(const char *name, tally_array *array, int64_t **widened) {
    *widened = take_memory(name, array->count, sizeof **widened);
    if (*widened == NULL) {
        return false;
    }
    size_t size = type_size(array->type);
    bool is_signed = type_class(array->type) == TALLY_CLASS_INT;
    for (int64_t k = 0; k < array->count; k++) {
        uint64_t word = 0;
        memcpy(&word, (const unsigned char *)array->data + k * (int64_t)size, size);
        unsigned spare = 64 - 8 * (unsigned)size;
        if (!is_signed && word > INT64_MAX) {
            return complain(name, "value %" PRId64 " is beyond 63 bits", k);
        }
        (*widened)[k] = is_signed ? (int64_t)(word << spare) >> spare : (int64_t)word;
    }
    *array = tally_in(*widened, TALLY_I64, array->count);
    return true;
}

/* Reads a file of integers. `what` names them in sentences. */
static bool read_index(const char *name, const char *what, segmentation *made) {
    input *in = &made->in;
    tally_array *index = &made->index;
    if (!open_input(in, name, (input_wish){false, TALLY_NATURAL})) {
        return false;
    }
    if (in->form == FORM_TEXT ? !load_series(in, index) : !load_values(in, index)) {
        return false;
    }
    if ((type_class(index->type) & (TALLY_CLASS_INT | TALLY_CLASS_UINT)) == 0) {
        return complain(in->name, "it holds %s; %s are integers", type_name(index->type), what);
    }
    return index->type == TALLY_I64 || widen_index(in->name, index, &made->widened);
}

bool open_segmentation(const command *wanted, segmentation *made) {
    *made = (segmentation){.axis = wanted->axis, .unsorted = is_given(wanted, OPTION_UNSORTED), .in.descriptor = -1};
    made->kind = wanted->by != NULL              ? SEGMENTS_BY_KEYS
                 : wanted->offsets != NULL       ? SEGMENTS_BY_OFFSETS
                 : wanted->lengths != NULL       ? SEGMENTS_BY_LENGTHS
                 : is_given(wanted, OPTION_AXIS) ? SEGMENTS_BY_AXIS
                                                 : SEGMENTS_NONE;
    switch (made->kind) {
    case SEGMENTS_BY_KEYS: return read_index(wanted->by, "keys", made);
    case SEGMENTS_BY_OFFSETS: return read_index(wanted->offsets, "offsets", made);
    case SEGMENTS_BY_LENGTHS: return read_index(wanted->lengths, "lengths", made);
    default: return true;
    }
}

void close_segmentation(segmentation *made) {
    free(made->widened);
    close_input(&made->in);
}

/* ---- segmentations ---- */

/* What an index divides: numbers, or vectors of features. */
typedef struct whole {
    int64_t count;
    const char *name; /* "values" or "vectors" */
} whole;

/* The integers may lie in a mapped file, at any address. */
static int64_t index_at(const tally_array *array, int64_t k) {
    int64_t value;
    memcpy(&value, (const unsigned char *)array->data + 8 * k, sizeof value);
    return value;
}

static bool segments_by_offsets(const char *name, const tally_array *offsets, whole all, tally_segments *segments) {
    if (offsets->count == 0) {
        return complain(name, "it is empty; n segments need n + 1 offsets");
    }
    int64_t before = 0;
    for (int64_t k = 0; k < offsets->count; k++) {
        int64_t offset = index_at(offsets, k);
        if (offset < before || offset > all.count) {
            return complain(name,
                            "offset %" PRId64 " is %" PRId64 "; it has to be from %" PRId64 " to %" PRId64
                            ", the number of %s",
                            k, offset, before, all.count, all.name);
        }
        before = offset;
    }
    *segments = tally_offsets(offsets->data, TALLY_I64, offsets->count - 1);
    return true;
}

/* Checks that the lengths cover the array. The library allows a rest; here it would be a mistake. */
static bool segments_by_lengths(const char *name, const tally_array *lengths, whole all, tally_segments *segments) {
    int64_t sum = 0;
    for (int64_t k = 0; k < lengths->count; k++) {
        int64_t length = index_at(lengths, k);
        if (length < 0) {
            return complain(name, "length %" PRId64 " is %" PRId64 "; lengths are never negative", k, length);
        }
        if (__builtin_add_overflow(sum, length, &sum)) {
            sum = INT64_MAX;
        }
    }
    if (sum != all.count) {
        return complain(name, "the lengths sum to %" PRId64 ", but there are %" PRId64 " %s", sum, all.count, all.name);
    }
    *segments = tally_lengths(lengths->data, TALLY_I64, lengths->count);
    return true;
}

static bool segments_by_keys(const char *name, const tally_array *keys, bool unsorted, whole all,
                             tally_segments *segments) {
    if (keys->count != all.count) {
        return complain(name, "it has %" PRId64 " keys for %" PRId64 " %s; each needs one", keys->count, all.count,
                        all.name);
    }
    int64_t last = -1;
    for (int64_t k = 0; k < keys->count; k++) {
        int64_t key = index_at(keys, k);
        if (key < 0) {
            return complain(name, "key %" PRId64 " is %" PRId64 "; keys are counted from 0", k, key);
        }
        if (key < last && !unsorted) {
            return complain(name,
                            "key %" PRId64 " is %" PRId64 ", after %" PRId64
                            "; sort the values by their keys, or say --unsorted",
                            k, key, last);
        }
        last = key > last ? key : last;
    }
    if (last >= machine_memory() / 8) {
        return complain(name, "key %" PRId64 " is too large: each key from 0 on has a result, beyond what memory holds",
                        last);
    }
    *segments = unsorted ? tally_unsorted_ids(keys->data, TALLY_I64, last + 1, TALLY_OUTSIDE_REFUSED)
                         : tally_segment_ids(keys->data, TALLY_I64, last + 1);
    return true;
}

/* The axis of the array as it lies in memory. A Fortran array is a C array whose shape is read backwards. */
static bool segments_by_axis(int64_t wanted, const input *in, bool fortran, tally_segments *segments, results *made) {
    int dimensions = in->layout.dimensions;
    const int64_t *shape = in->layout.shape;
    int64_t axis = wanted < 0 ? wanted + dimensions : wanted;
    if (axis < 0 || axis >= dimensions) {
        return complain(in->name, "there is no axis %" PRId64 "; the array has %d dimension%s", wanted, dimensions,
                        dimensions == 1 ? "" : "s");
    }
    int64_t before = 1, after = 1;
    bool fits = true;
    made->dimensions = 0;
    for (int d = 0; d < dimensions; d++) {
        if (d != axis) {
            int64_t *product = d < axis ? &before : &after;
            fits = fits && !__builtin_mul_overflow(*product, shape[d], product);
            made->shape[made->dimensions++] = shape[d];
        }
    }
    if (!fits) {
        return complain(in->name, "its shape makes more results than 63 bits can count");
    }
    *segments = fortran ? tally_rows(after, shape[axis], before) : tally_rows(before, shape[axis], after);
    return true;
}

/* ---- results ---- */

static int64_t segment_count(const tally_segments *segments) {
    int64_t product;
    if (segments->kind != TALLY_ROWS && segments->inner < 2) {
        return segments->count;
    }
    return __builtin_mul_overflow(segments->count, segments->inner, &product) ? -1 : product;
}

/* Finds the segments without values. The stats of each have its count, without NaNs if those are skipped. */
static bool find_absent(tally_context *context, tally_array array, tally_segments segments, results *made) {
    tally_options kept = tally_get_options(context), plain = kept;
    plain.nan = kept.nan == TALLY_NAN_SKIP ? TALLY_NAN_SKIP : TALLY_NAN_PROPAGATE;
    plain.overflow = TALLY_OVERFLOW_WRAPS; /* their sums are not used: they need not fit */
    tally_stats *rows = take_memory(made->names[0], made->count, sizeof *rows);
    made->absent = take_memory(made->names[0], made->count, 1);
    bool done = rows != NULL && made->absent != NULL && tally_set_options(context, &plain) == TALLY_OK;
    if (done) {
        tally_status status =
            tally_reduce_segments(context, TALLY_STATS, array, segments, tally_out(rows, TALLY_NATURAL, made->count));
        done = status == TALLY_OK || status == TALLY_EMPTY || complain(made->names[0], "%s", tally_message());
        done = tally_set_options(context, &kept) == TALLY_OK && done;
    }
    for (int64_t s = 0; done && s < made->count; s++) {
        made->absent[s] = rows[s].count == 0;
    }
    free(rows);
    return done;
}

/* Puts results that came in Fortran order into C order. */
static bool reorder(results *made) {
    if (made->dimensions < 2 || made->count == 0) {
        return true;
    }
    results moved = *made;
    moved.data = take_memory(made->names[0], made->count, made->size);
    moved.absent = made->absent != NULL ? take_memory(made->names[0], made->count, 1) : NULL;
    if (moved.data == NULL || (made->absent != NULL && moved.absent == NULL)) {
        free_results(&moved);
        return false;
    }
    gather_values(moved.data, made->data, made->shape, made->dimensions, made->size, 0, made->count);
    if (made->absent != NULL) {
        gather_values(moved.absent, made->absent, made->shape, made->dimensions, 1, 0, made->count);
    }
    free_results(made);
    *made = moved;
    return true;
}

static bool reduce_arrays(tally_context *context, tally_op op, const tally_array *arrays, bool pair,
                          tally_segments segments, results *made) {
    int64_t count = segment_count(&segments);
    if (!make_results(made, context, op, arrays[0].type, count)) {
        return false;
    }
    made->values = arrays[0].count;
    tally_output out = tally_out(made->data, TALLY_NATURAL, count);
    tally_status status = pair ? tally_reduce_segments_pair(context, op, arrays[0], arrays[1], segments, out)
                               : tally_reduce_segments(context, op, arrays[0], segments, out);
    if (status == TALLY_EMPTY && !pair) {
        return find_absent(context, arrays[0], segments, made);
    }
    return status == TALLY_OK || refused_result(status, op, made->names[0]);
}

static bool segments_by_index(const segmentation *by, whole all, tally_segments *segments) {
    switch (by->kind) {
    case SEGMENTS_BY_KEYS: return segments_by_keys(by->in.name, &by->index, by->unsorted, all, segments);
    case SEGMENTS_BY_OFFSETS: return segments_by_offsets(by->in.name, &by->index, all, segments);
    default: return segments_by_lengths(by->in.name, &by->index, all, segments);
    }
}

static bool same_shape(const input *left, const input *right) {
    return right == NULL ||
           (left->layout.dimensions == right->layout.dimensions &&
            memcmp(left->layout.shape, right->layout.shape, sizeof left->layout.shape) == 0) ||
           complain(left->name, "its shape is not that of %s", right->name);
}

/* The index divides the first axis; the others, if there are any, are features, each of which is reduced on its own. */
static bool reduce_by_index(tally_context *context, const segmentation *by, tally_op op, const input *left,
                            const input *right, const tally_array *arrays, results *made) {
    const bool has_features = left->form == FORM_NPY && left->layout.dimensions > 1;
    int64_t features = 1;
    tally_segments segments = {.count = 0};
    made->dimensions = 1;
    for (int d = 1; has_features && d < left->layout.dimensions; d++) {
        made->shape[made->dimensions++] = left->layout.shape[d];
        if (__builtin_mul_overflow(features, left->layout.shape[d], &features)) {
            return complain(left->name, "its shape makes more results than 63 bits can count");
        }
    }
    if ((has_features && !same_shape(left, right)) ||
        !segments_by_index(
            by, has_features ? (whole){left->layout.shape[0], "vectors"} : (whole){arrays[0].count, "values"},
            &segments)) {
        return false;
    }
    made->shape[0] = segments.count;
    if (features == 0) {
        return make_results(made, context, op, arrays[0].type, 0);
    }
    return reduce_arrays(context, op, arrays, right != NULL, tally_features(segments, features), made);
}

/* One Fortran array is reduced as it lies; a pair is brought into C order, since its halves may differ. */
static bool reduce_by_axis(tally_context *context, const segmentation *by, tally_op op, input *left, input *right,
                           const tally_array *arrays, results *made) {
    tally_segments segments;
    bool fortran = left->in_memory_order && left->layout.fortran;
    return same_shape(left, right) && segments_by_axis(by->axis, left, fortran, &segments, made) &&
           reduce_arrays(context, op, arrays, right != NULL, segments, made) && (!fortran || reorder(made));
}

bool reduce_segments(tally_context *context, const segmentation *by, tally_op op, input *left, input *right,
                     results *made) {
    tally_array arrays[2];
    left->in_memory_order = by->kind == SEGMENTS_BY_AXIS && right == NULL;
    bool loaded =
        right != NULL ? load_pair(context, op, left, right, arrays) : load_input(context, op, left, &arrays[0]);
    if (!loaded) {
        return false;
    }
    return by->kind == SEGMENTS_BY_AXIS ? reduce_by_axis(context, by, op, left, right, arrays, made)
                                        : reduce_by_index(context, by, op, left, right, arrays, made);
}
