/* What kernels are raced over: the device, and the values and segments that they are given. */
#include "gallery/command/gallery.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/complain.h"
#include "formats/numbers.h"
#include "input/input.h"

enum { LONGEST_WARM = 16 };
static const char *const shapes[] = {"one", "random", "three", "single"};

/* ---- opening ---- */

bool is_shape(const char *word) {
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        if (strcmp(word, shapes[k]) == 0) {
            return true;
        }
    }
    return complain(NULL, "--segments takes one, random, three or single, not '%s'", word);
}

static bool takes_pairs(const stage *s) {
    tally_op op = tally_op_from_name(s->op);
    return op != TALLY_OP_END && tally_op_inputs(op) == 2;
}

int open_stage(const command *wanted, tally_backend backend, stage *made) {
    *made = (stage){.simulated = backend == TALLY_BACKEND_SIMT,
                    .op = wanted->op != NULL ? wanted->op : "min",
                    .type = wanted->wish.type != TALLY_NATURAL ? wanted->wish.type : TALLY_F32};
    if (wanted->segments != NULL && !is_shape(wanted->segments)) {
        return STATUS_MISSPELT;
    }
    tally_status status = tally__track_open(backend, wanted->options.device, made->op, made->type, &made->track);
    if (status != TALLY_OK) {
        complain(NULL, "%s", tally_message());
    }
    return status == TALLY_OK ? STATUS_DONE : status == TALLY_BAD_ARGUMENT ? STATUS_MISSPELT : STATUS_REFUSED;
}

/* The values of a file; text is read as f32, the type of a race, unless --type says another. */
static bool read_file(const command *wanted, input *in, tally_array *values) {
    if (!open_input(in, wanted->files[0], (input_wish){false, wanted->wish.type})) {
        return false;
    }
    in->wanted = wanted->wish.type != TALLY_NATURAL ? wanted->wish.type : TALLY_F32;
    if (in->form == FORM_TEXT ? !load_series(in, values) : !load_values(in, values)) {
        return false;
    }
    return values->count > 0 || complain(in->name, "it holds no values to race over");
}

/* Puts them in the place of random ones. */
static bool take_values(stage *s, const tally_array *values) {
    s->x = take_memory("race", values->count, type_size(values->type));
    s->segment_ids = take_memory("race", values->count, sizeof *s->segment_ids);
    s->capacity = values->count;
    s->is_file = true;
    if (s->x == NULL || s->segment_ids == NULL) {
        return false;
    }
    memcpy(s->x, values->data, (size_t)values->count * type_size(values->type));
    return true;
}

static int open_device(const command *wanted, stage *made) {
    bool simulated = wanted->options.backend == TALLY_BACKEND_SIMT;
    int status = open_stage(wanted, simulated ? TALLY_BACKEND_SIMT : TALLY_BACKEND_CUDA, made);
    if (status == STATUS_REFUSED && !simulated) {
        complain(NULL, "race: --device simt needs no GPU; it counts in place of timing");
    }
    return status;
}

static int open_file_race(const command *wanted, stage *made) {
    input in;
    tally_array values;
    command typed = *wanted;
    int status = STATUS_REFUSED;
    if (read_file(wanted, &in, &values)) {
        typed.wish.type = values.type;
        status = open_device(&typed, made);
        if (status == STATUS_DONE && takes_pairs(made)) {
            complain(NULL, "race FILE takes an operator of one array, and %s takes two", made->op);
            status = STATUS_MISSPELT;
        } else if (status == STATUS_DONE && !take_values(made, &values)) {
            status = STATUS_REFUSED;
        }
    }
    close_input(&in);
    return status;
}

int open_race(const command *wanted, stage *made) {
    *made = (stage){.track = NULL};
    if (wanted->file_count == 0) {
        return open_device(wanted, made);
    }
    if (wanted->file_count > 1 || wanted->n != 0) {
        complain(NULL, wanted->file_count > 1 ? "race takes one FILE" : "race FILE takes no --n");
        return STATUS_MISSPELT;
    }
    return open_file_race(wanted, made);
}

int64_t count_raced(const command *wanted, const stage *s) {
    return s->is_file ? s->capacity : wanted->n != 0 ? wanted->n : s->simulated ? 10000 : (int64_t)1 << 26;
}

static void drop_values(stage *s) {
    free(s->x);
    free(s->y);
    free(s->segment_ids);
    s->x = s->y = NULL;
    s->segment_ids = NULL;
}

void close_stage(stage *s) {
    tally__track_close(s->track);
    s->track = NULL;
    drop_values(s);
}

/* ---- values ---- */

/* splitmix64: Steele, Lea, Flood 2014. */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void *make_values(tally_type type, int64_t count, uint64_t seed) {
    size_t bytes = type_size(type);
    char *values = take_memory("race", count, bytes);
    for (int64_t i = 0; values != NULL && i < count; i++) {
        uint64_t bits = next_random(&seed);
        if (type_class(type) == TALLY_CLASS_FLOAT) {
            store_float((double)(bits >> 11) * 0x1p-53, type, values + (size_t)i * bytes);
        } else {
            bits = type == TALLY_BOOL ? bits & 1 : bits;
            memcpy(values + (size_t)i * bytes, &bits, bytes);
        }
    }
    return values;
}

int64_t segments_of_shape(const char *shape, int64_t count, int32_t *segment_ids) {
    uint64_t seed = 3;
    int64_t left = 0;
    int32_t segment_id = -1;
    for (int64_t i = 0; i < count; i++, left--) {
        if (left == 0) {
            segment_id++;
            left = strcmp(shape, "one") == 0      ? count
                   : strcmp(shape, "three") == 0  ? 3
                   : strcmp(shape, "single") == 0 ? 1
                                                  : 10 + (int64_t)(next_random(&seed) % 41);
        }
        segment_ids[i] = segment_id;
    }
    return segment_id + 1;
}

bool set_stage(stage *s, int64_t count, const char *shape, int copies) {
    bool pair = takes_pairs(s);
    if (count > s->capacity || s->x == NULL) {
        drop_values(s);
        s->x = make_values(s->type, count, 1);
        s->y = pair ? make_values(s->type, count, 2) : NULL;
        s->segment_ids = take_memory("race", count, sizeof *s->segment_ids);
        s->capacity = count;
    }
    if (s->x == NULL || (pair && s->y == NULL) || s->segment_ids == NULL) {
        return false;
    }
    s->count = count;
    s->shape = shape;
    s->segments = 0;
    tally_status status = tally__track_load(s->track, s->x, s->y, count, copies);
    if (status == TALLY_OK && shape != NULL) {
        s->segments = segments_of_shape(shape, count, s->segment_ids);
        status = tally__track_segments(s->track, s->segment_ids, s->segments);
    }
    return status == TALLY_OK || complain(NULL, "%s", tally_message());
}

/* What expects sorted lists can be asked for the order: merging any lists of these is sorting them. */
bool sort_stage(stage *s, int64_t count) {
    const tally__gallery_row *merge = tally__gallery_find("merge_lists");
    void *sorted = take_memory("race", count, type_size(s->type));
    if (sorted == NULL) {
        return false;
    }
    tally_status status = tally__track_load(s->track, s->x, s->y, count, 1);
    status = status == TALLY_OK ? tally__track_expect(s->track, merge, sorted) : status;
    free(s->x);
    s->x = sorted;
    s->count = count;
    status = status == TALLY_OK ? tally__track_load(s->track, s->x, s->y, count, 1) : status;
    return status == TALLY_OK || complain(NULL, "%s", tally_message());
}

int copies_of(const stage *s, int64_t count) {
    int64_t copies = ((int64_t)512 << 20) / (count * (int64_t)type_size(s->type)) + 1;
    return (int)(copies < LONGEST_WARM ? copies : LONGEST_WARM);
}

double bytes_read(const stage *s, const tally__gallery_row *row) {
    double bytes = (double)s->count * (double)type_size(s->type);
    if (row != NULL && row->number == TALLY_PLAIN_READ) {
        return bytes;
    }
    bytes *= takes_pairs(s) ? 2 : 1;
    return bytes + (s->segments > 0 ? 4.0 * (double)s->count : 0);
}

/* ---- running ---- */

tally_status run_checked(const stage *s, const tally__gallery_row *row, tally__lap *lap, bool *right) {
    int64_t count = tally__track_result_count(s->track, row), wrong;
    size_t bytes = tally__track_result_bytes(s->track) + type_size(s->type); /* merge_lists gives values */
    char *results = take_memory("race", 2 * count + 1, bytes);
    if (results == NULL) {
        return TALLY_NO_MEMORY;
    }
    char *expected = results + (size_t)count * bytes;
    tally_status status =
        row != NULL ? tally__track_run(s->track, row, results, lap) : tally__track_run_production(s->track, results);
    if (status == TALLY_OK) {
        *right = tally__track_expect(s->track, row, expected) == TALLY_OK &&
                 tally__track_agrees(s->track, row, results, expected, &wrong);
    }
    free(results);
    return status;
}

static tally_status measure(const stage *s, runner *one) {
    if (s->simulated) {
        return one->row != NULL ? tally__track_count(s->track, one->row, &one->counts) : TALLY_OK;
    }
    return one->row != NULL ? tally__track_time(s->track, one->row, &one->lap)
                            : tally__track_time_production(s->track, &one->lap);
}

void run_measured(const stage *s, const tally__gallery_row *row, runner *one) {
    *one = (runner){.row = row, .bytes = bytes_read(s, row)};
    tally_status status = run_checked(s, row, &one->lap, &one->right);
    status = status == TALLY_OK ? measure(s, one) : status;
    one->ran = status == TALLY_OK;
    if (!one->ran) {
        snprintf(one->why, sizeof one->why, "%s", tally_message());
    }
}
