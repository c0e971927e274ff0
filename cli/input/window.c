#include "input/window.h"

#include <stdlib.h>
#include <string.h>

#include "base/complain.h"
#include "base/progress.h"

enum { LEAST_BYTES = 4096 }; /* bytes of text that are read at once, at least: more than the longest number has */

bool open_window(window *w, const char *name, input_wish wish) {
    *w = (window){.more = true};
    if (!open_input(&w->in, name, wish)) {
        return false;
    }
    lay_aside(&w->in);
    w->total = w->in.form == FORM_TEXT ? -1 : w->in.layout.count;
    text_begin(&w->reader, w->in.wanted);
    return true;
}

void close_window(window *w) {
    free(w->buffer);
    free(w->bytes);
    close_input(&w->in);
    *w = (window){.in = {.descriptor = -1}};
}

tally_type window_type(const window *w) { return w->in.form == FORM_TEXT ? w->in.wanted : w->in.layout.type; }

/* ---- texts whose type is found ---- */

static bool note_run(void *taker, const text_run *run, const void *values) {
    text_facts *facts = taker;
    const int64_t *integers = values;
    facts->count += (int64_t)run->count;
    for (size_t k = 0; run->type == TALLY_I64 && k < run->count; k++) {
        facts->any_negative = facts->any_negative || integers[k] < 0;
    }
    return true;
}

bool look_through(window *w, text_facts *facts) {
    input *in = &w->in;
    const char *name = in->name;
    *facts = (text_facts){.type = TALLY_I64};
    if (in->file_bytes < 0) { /* a stream */
        tally_array array;
        if (!load_series(in, &array)) {
            return false;
        }
        note_run(facts, &(text_run){.type = array.type, .count = (size_t)array.count}, array.data);
        facts->type = array.type;
        w->total = array.count;
        return true;
    }
    bool done = read_series(in, note_run, facts, &facts->type);
    close_input(in);
    done = open_window(w, name, (input_wish){.type = TALLY_NATURAL}) && done;
    w->total = facts->count;
    return done;
}

void settle_window(window *w, tally_type type) {
    input *in = &w->in;
    if (in->form != FORM_TEXT) {
        return;
    }
    in->wanted = type;
    if (in->owned != NULL) {
        text_convert(in->owned, type, in->owned, in->layout.type, (size_t)in->layout.count, in->zeros);
        in->layout.type = type;
        return;
    }
    in->layout = (npy_layout){.type = type, .size = type_size(type)};
    text_begin(&w->reader, type);
}

/* ---- filling ---- */

/* Makes room for `most` values. Those at hand move to its front. */
static bool make_room(window *w, int64_t most) {
    size_t size = w->in.layout.size;
    if (w->room_values < most) {
        unsigned char *longer = take_memory(w->in.name, most, 8); /* text_read writes numbers of 8 bytes */
        if (longer == NULL) {
            return false;
        }
        if (w->count > 0) {
            memcpy(longer, w->values, (size_t)w->count * size);
        }
        free(w->buffer);
        w->buffer = longer;
        w->room_values = most;
    } else if (w->count > 0) {
        memmove(w->buffer, w->values, (size_t)w->count * size);
    }
    w->values = w->buffer;
    return true;
}

static bool read_text(window *w, int64_t most) {
    if (w->bytes == NULL) {
        w->capacity = (size_t)(8 * most > LEAST_BYTES ? 8 * most : LEAST_BYTES);
        w->bytes = take_memory(w->in.name, (int64_t)w->capacity, 1);
    }
    if (w->bytes == NULL) {
        return false;
    }
    while (w->count < most && (w->used > 0 || !w->bytes_ended)) {
        if (!w->bytes_ended) {
            int64_t got = read_input(&w->in, w->bytes + w->used, (int64_t)(w->capacity - w->used));
            if (got < 0) {
                return false;
            }
            w->bytes_ended = w->used + (size_t)got < w->capacity;
            w->used += (size_t)got;
            advance_progress(got);
        }
        text_run run;
        size_t no_zeros; /* a type that was asked for has none */
        if (!text_read(&w->reader, w->bytes, w->used, w->bytes_ended, w->buffer + w->count * (int64_t)w->in.layout.size,
                       &no_zeros, (size_t)(most - w->count), &run)) {
            return complain(w->in.name, "%s", w->reader.trouble);
        }
        memmove(w->bytes, w->bytes + run.consumed, w->used - run.consumed);
        w->used -= run.consumed;
        w->count += (int64_t)run.count;
        if (run.count == 0 && w->bytes_ended) {
            w->used = 0; /* what is left is white space */
        }
    }
    w->more = w->used > 0 || !w->bytes_ended;
    return true;
}

static bool read_values(window *w, int64_t most) {
    int64_t size = (int64_t)w->in.layout.size;
    while (w->count < most) {
        tally_array block;
        int64_t left = most - w->count, best = block_values(&w->in);
        if (!next_values(&w->in, left < best ? left : best, &block)) {
            return false;
        }
        if (block.count == 0) {
            w->more = false;
            break;
        }
        memcpy(w->buffer + w->count * size, block.data, (size_t)(block.count * size));
        w->count += block.count;
    }
    return true;
}

/* If all values are in memory already, only counts more of them as at hand. */
static bool reach_further(window *w, int64_t most) {
    input *in = &w->in;
    const unsigned char *all = in->form == FORM_TEXT ? in->owned : in->held;
    int64_t size = (int64_t)in->layout.size, left = in->layout.count - w->before;
    int64_t reach = left < most ? left : most;
    w->values = all + w->before * size;
    advance_progress((reach - w->count) * size);
    w->count = reach;
    w->more = reach < left;
    return true;
}

bool fill_window(window *w, int64_t most) {
    bool is_text = w->in.form == FORM_TEXT;
    if (is_text ? w->in.owned != NULL : values_at_hand(&w->in)) {
        return reach_further(w, most);
    }
    if (!w->more || w->count > most / 2) {
        return true;
    }
    bool done = make_room(w, most) && (is_text ? read_text(w, most) : read_values(w, most));
    lay_aside(&w->in);
    return done;
}

void take_values(window *w, int64_t count) {
    size_t size = w->in.layout.size;
    if (count == 0) {
        return;
    }
    memcpy(w->last, w->values + (count - 1) * (int64_t)size, size);
    w->values += count * (int64_t)size;
    w->count -= count;
    w->before += count;
}
