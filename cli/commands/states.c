/* Saved states: partial results that separate runs leave, and one run finishes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/complain.h"
#include "commands/merge.h"
#include "commands/reduce.h"
#include "output/output.h"
#include "output/results.h"

enum { FIRST_READ = 1 << 16 };

bool is_state(const input *in) {
    static const char magic[8] = "TALLYST"; /* docs/states.md */
    return in->form == FORM_TEXT && in->ahead_bytes >= sizeof magic && memcmp(in->ahead, magic, sizeof magic) == 0;
}

/* All bytes of an input; NULL after a complaint. */
static unsigned char *read_whole(input *in, size_t *size) {
    unsigned char *bytes = NULL;
    int64_t capacity = 0, used = 0;
    do {
        capacity = capacity == 0 ? FIRST_READ : 2 * capacity;
        unsigned char *longer = capacity <= machine_memory() ? realloc(bytes, (size_t)capacity) : NULL;
        int64_t got = longer != NULL ? read_input(in, longer + used, capacity - used) : -1;
        if (longer == NULL) {
            complain(in->name, "no memory for %" PRId64 " bytes of it", capacity);
        }
        bytes = longer != NULL ? longer : bytes;
        if (got < 0) {
            free(bytes);
            return NULL;
        }
        used += got;
    } while (used == capacity);
    *size = (size_t)used;
    return bytes;
}

static bool load_state(tally_context *context, input *in, tally_state **state) {
    size_t size;
    if (!is_state(in)) {
        return complain(in->name,
                        "it is no saved state, but the first file is one; tally OPERATOR FILE --save makes one");
    }
    unsigned char *bytes = read_whole(in, &size);
    if (bytes == NULL) {
        return false;
    }
    tally_status status = tally_state_load(context, bytes, size, state);
    free(bytes);
    return status == TALLY_OK || complain(in->name, "%s", tally_message());
}

bool save_state(const tally_state *state, const char *name) {
    size_t size;
    if (tally_state_save(state, NULL, 0, &size) != TALLY_OK) {
        return complain(name, "%s", tally_message());
    }
    unsigned char *bytes = take_memory(name, (int64_t)size, 1);
    output out;
    bool done = bytes != NULL && begin_output(&out, name);
    if (done && tally_state_save(state, bytes, size, &size) != TALLY_OK) {
        drop_output(&out);
        done = complain(name, "%s", tally_message());
    } else if (done) {
        fwrite(bytes, 1, size, out.stream);
        done = end_output(&out);
    }
    free(bytes);
    return done;
}

/* The state of a file joins those before it. */
static bool merge_next(tally_context *context, const char *name, tally_state *all) {
    input in;
    tally_state *next = NULL;
    bool done = open_input(&in, name, (input_wish){.type = TALLY_NATURAL}) && load_state(context, &in, &next);
    tally_status status = done ? tally_state_merge(all, next) : TALLY_OK;
    if (status == TALLY_BAD_ORDER) {
        done = complain(name, "its values do not follow those of the files before it, and their order shows; name the "
                              "files in order, and save each with --first, the number of values before it");
    } else if (status != TALLY_OK) {
        done = complain(name, "%s", tally_message());
    }
    tally_state_close(next);
    close_input(&in);
    return done;
}

bool merge_states(tally_context *context, const command *wanted, input *first) {
    tally_state *all = NULL;
    bool done = load_state(context, first, &all);
    for (int k = 1; done && k < wanted->file_count; k++) {
        done = merge_next(context, wanted->files[k], all);
    }
    if (done && wanted->save != NULL) {
        done = save_state(all, wanted->save);
    } else if (done) {
        results made = {.names = {wanted->files[0]}};
        done = finish_state(context, all, &made) &&
               give_results(&made, wanted->output, is_given(wanted, OPTION_JSON), false);
        free_results(&made);
    }
    tally_state_close(all);
    return done;
}
