#include "commands/merge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/complain.h"
#include "base/progress.h"
#include "commands/gpu.h"
#include "formats/numbers.h"
#include "input/window.h"
#include "output/output.h"
#include "output/values.h"
#include "tally/tally_merge.h"

/* Of the values that are merged at once: room for them all, and of each file at least. */
enum { WINDOWS_BYTES = 64 << 20, LEAST_WINDOW_BYTES = 4096 };

typedef struct merging {
    tally_context *context;
    int count;
    window *windows;
    tally_type type;
    int64_t width;
    tally_array *arrays; /* of each file what can be merged now */
    unsigned char *more;
    int64_t *taken;
    int64_t most; /* values of a file at once */
    unsigned char *merged;
    value_writer out;
} merging;

/* ---- one type for all ---- */

/* The type of the files that have one, or of --type; NATURAL: all are texts. */
static bool find_given_type(merging *m) {
    const char *name = NULL;
    m->type = TALLY_NATURAL;
    for (int k = 0; k < m->count; k++) {
        tally_type type = window_type(&m->windows[k]);
        if (type == TALLY_NATURAL) {
            continue;
        }
        if (m->type != TALLY_NATURAL && type != m->type) {
            return complain(m->windows[k].in.name, "it holds %s, %s holds %s; all must hold the same type",
                            type_name(type), name, type_name(m->type));
        }
        m->type = type;
        name = m->windows[k].in.name;
    }
    return true;
}

/* The type that holds all numbers of the texts, as one text would have it. */
static bool find_common_type(merging *m) {
    bool any_negative = false;
    m->type = TALLY_I64;
    for (int k = 0; k < m->count; k++) {
        text_facts facts;
        if (!look_through(&m->windows[k], &facts)) {
            return false;
        }
        any_negative = any_negative || facts.any_negative;
        if (facts.type == TALLY_F64 || m->type == TALLY_I64) {
            m->type = facts.type;
        }
    }
    return m->type != TALLY_U64 || !any_negative ||
           complain(NULL, "the files' integers fit no 64-bit type together; --type f64 reads them as floats");
}

static bool settle_types(merging *m) {
    if (!find_given_type(m) || (m->type == TALLY_NATURAL && !find_common_type(m))) {
        return false;
    }
    for (int k = 0; k < m->count; k++) {
        settle_window(&m->windows[k], m->type);
    }
    m->width = (int64_t)type_size(m->type);
    return true;
}

/* ---- where a file is not sorted ---- */

static bool is_sorted(const merging *m, const void *values, int64_t count) {
    tally_array array = tally_in(values, m->type, count);
    return tally_merge(m->context, &array, 1, tally_out(m->merged, m->type, count), (tally_output){0}) == TALLY_OK;
}

static bool complain_of_order(const window *w, tally_type type, int64_t place, const void *before, const void *value) {
    char texts[2][NUMBER_TEXT_SIZE];
    print_number(type, value, texts[0]);
    print_number(type, before, texts[1]);
    return complain(w->in.name, "it is not sorted: value %" PRId64 " (%s) belongs before value %" PRId64 " (%s)",
                    place + 1, texts[0], place, texts[1]);
}

/* The shortest beginning of the window's array that is not sorted ends at the value to name. */
static bool refuse_order(const merging *m) {
    for (int k = 0; k < m->count; k++) {
        const unsigned char *values = m->arrays[k].data;
        int64_t low = 1, high = m->arrays[k].count; /* sorted, and not */
        if (high < 2 || is_sorted(m, values, high)) {
            continue;
        }
        while (high - low > 1) {
            int64_t middle = low + (high - low) / 2;
            if (is_sorted(m, values, middle)) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return complain_of_order(&m->windows[k], m->type, m->windows[k].before + high - 1,
                                 values + (high - 2) * m->width, values + (high - 1) * m->width);
    }
    return complain(NULL, "a file changed while it was merged");
}

/* Whether a file's next value goes on where the last one that was taken ended. */
static bool goes_on(const merging *m, int k) {
    unsigned char two[16];
    const window *w = &m->windows[k];
    if (w->before == 0 || m->arrays[k].count == 0) {
        return true;
    }
    memcpy(two, w->last, (size_t)m->width);
    memcpy(two + m->width, w->values, (size_t)m->width);
    return is_sorted(m, two, 2) || complain_of_order(w, m->type, w->before, w->last, w->values);
}

/* ---- merging ---- */

static bool fill_windows(merging *m) {
    for (int k = 0; k < m->count; k++) {
        window *w = &m->windows[k];
        if (!fill_window(w, m->most)) {
            return false;
        }
        m->arrays[k] = tally_in(w->values, m->type, w->count);
        m->more[k] = w->more;
    }
    return true;
}

/* Merges what can be merged now; *count values. */
static bool merge_some(merging *m, int64_t *count) {
    *count = 0;
    if (tally_merge_ready(m->context, m->arrays, m->more, m->count, m->taken) != TALLY_OK) {
        return complain(NULL, "%s", tally_message());
    }
    for (int k = 0; k < m->count; k++) {
        m->arrays[k].count = m->taken[k];
        *count += m->taken[k];
        if (!goes_on(m, k)) {
            return false;
        }
    }
    tally_status status =
        tally_merge(m->context, m->arrays, m->count, tally_out(m->merged, m->type, *count), (tally_output){0});
    if (status != TALLY_OK) {
        return status == TALLY_BAD_ORDER ? refuse_order(m) : complain(NULL, "%s", tally_message());
    }
    for (int k = 0; k < m->count; k++) {
        take_values(&m->windows[k], m->taken[k]);
    }
    return true;
}

static bool any_left(const merging *m) {
    for (int k = 0; k < m->count; k++) {
        if (m->windows[k].more || m->windows[k].count > 0) {
            return true;
        }
    }
    return false;
}

static bool merge_all(merging *m) {
    while (any_left(m)) {
        int64_t count;
        if (!fill_windows(m) || !merge_some(m, &count) || !write_values(&m->out, m->merged, count)) {
            return ferror(m->out.file.stream); /* which is said at the end */
        }
    }
    return true;
}

/* ---- the command ---- */

static bool take_capacity(merging *m) {
    m->most = WINDOWS_BYTES / m->count / m->width;
    m->most = m->most * m->width > LEAST_WINDOW_BYTES ? m->most : LEAST_WINDOW_BYTES / m->width;
    m->arrays = take_memory(NULL, m->count, sizeof *m->arrays);
    m->more = take_memory(NULL, m->count, 1);
    m->taken = take_memory(NULL, m->count, sizeof *m->taken);
    m->merged = take_memory(NULL, m->count * m->most, (size_t)m->width);
    return m->arrays != NULL && m->more != NULL && m->taken != NULL && m->merged != NULL;
}

/* A bar would stand among the numbers where both go to a terminal. */
static void begin_bar(const command *wanted, int64_t bytes) {
    if (wanted->output != NULL || isatty(STDOUT_FILENO) != 1) {
        start_progress(bytes);
    }
}

/* What a pass over all files reads, and how many values they give; -1: nobody knows. */
static void measure(const merging *m, int64_t *bytes, int64_t *values) {
    *bytes = *values = 0;
    for (int k = 0; k < m->count; k++) {
        const window *w = &m->windows[k];
        *bytes = *bytes < 0 || w->in.file_bytes < 0 ? -1 : *bytes + w->in.file_bytes;
        *values = *values < 0 || w->total < 0 ? -1 : *values + w->total;
    }
}

static bool merge_windows(merging *m, const command *wanted) {
    int64_t bytes, values;
    measure(m, &bytes, &values);
    begin_bar(wanted, bytes); /* texts may be looked through first: then it comes to its end twice */
    bool done = settle_types(m) && take_capacity(m);
    if (done) {
        measure(m, &bytes, &values);
        begin_bar(wanted, bytes);
        done = begin_values(&m->out, wanted->output, m->type, values) && end_values(&m->out, merge_all(m));
    }
    end_progress();
    return done;
}

/* The first file is open already. */
static bool merge_files(tally_context *context, const command *wanted, const window *first) {
    merging m = {.context = context, .count = wanted->file_count};
    m.windows = take_memory(NULL, m.count, sizeof *m.windows);
    if (m.windows == NULL) {
        return false;
    }
    int opened = 1;
    bool fine = true;
    m.windows[0] = *first;
    while (fine && opened < m.count) {
        window *w = &m.windows[opened];
        fine = open_window(w, wanted->files[opened], wanted->wish);
        opened++;
        if (fine && is_state(&w->in)) {
            fine =
                complain(w->in.name, "it is a saved state, and %s is none; merge one kind at a time", first->in.name);
        }
    }
    fine = fine && merge_windows(&m, wanted);
    for (int k = 1; k < opened; k++) {
        close_window(&m.windows[k]);
    }
    close_window(&m.windows[0]);
    free(m.windows);
    free(m.arrays);
    free(m.more);
    free(m.taken);
    free(m.merged);
    return fine;
}

static int check_request(const command *wanted) {
    int standard = 0;
    for (int k = 0; k < wanted->file_count; k++) {
        standard += is_standard_stream(wanted->files[k]);
    }
    const char *wrong = wanted->file_count == 0 ? "merge needs a FILE; - is standard input"
                        : standard > 1          ? "merge: standard input (-) can be read once only"
                        : wanted->options.nan == TALLY_NAN_SKIP
                            ? "merge: --nan is propagate (NaNs last) or total; a merge leaves nothing out"
                            : NULL;
    if (wrong != NULL) {
        complain(NULL, "%s", wrong);
        return STATUS_MISSPELT;
    }
    return STATUS_DONE;
}

/* The first file says what all are. */
static int merge_kind(tally_context *context, const command *wanted) {
    const uint64_t of_files = ONLY(OUTPUT) | ONLY(TYPE) | ONLY(RAW) | ONLY(NAN) | ONLY(THREADS),
                   of_states = ONLY(OUTPUT) | ONLY(JSON) | ONLY(OVERFLOW) | ONLY(SAVE);
    window first;
    bool done = open_window(&first, wanted->files[0], wanted->wish);
    bool states = done && is_state(&first.in);
    if (done && !takes_only(wanted, states ? "a merge of states" : "a merge of files", states ? of_states : of_files)) {
        close_window(&first);
        return STATUS_MISSPELT;
    }
    if (done && !states) {
        return merge_files(context, wanted, &first) ? STATUS_DONE : STATUS_REFUSED;
    }
    done = done && merge_states(context, wanted, &first.in);
    close_window(&first);
    return done ? STATUS_DONE : STATUS_REFUSED;
}

int run_merge(const command *wanted) {
    int status = check_request(wanted);
    tally_context *context = status == STATUS_DONE ? make_context(&wanted->options) : NULL;
    if (context == NULL) {
        return status == STATUS_DONE ? STATUS_REFUSED : status;
    }
    status = merge_kind(context, wanted);
    tally_context_destroy(context);
    return status;
}
