#define _POSIX_C_SOURCE 200809L
#include "output/values.h"

#include <inttypes.h>
#include <string.h>

#include "base/complain.h"
#include "formats/npy.h"
#include "formats/numbers.h"

static value_form form_of(const char *name) {
    const char *dot = name != NULL ? strrchr(name, '.') : NULL;
    if (name == NULL) {
        return VALUES_TEXT;
    }
    if (is_standard_stream(name) || (dot != NULL && strcmp(dot, ".npy") == 0)) {
        return VALUES_NPY;
    }
    bool raw = dot != NULL &&
               (strcmp(dot, ".raw") == 0 || strcmp(dot, ".bin") == 0 || tally_type_from_name(dot + 1) != TALLY_NATURAL);
    return raw ? VALUES_RAW : VALUES_TEXT;
}

static size_t write_header(const value_writer *w, int64_t count) {
    char header[NPY_WRITTEN_MAX];
    size_t length = npy_write(header, npy_descr(w->type), 1, &count);
    fwrite(header, 1, length, w->file.stream);
    return length;
}

bool begin_values(value_writer *w, const char *name, tally_type type, int64_t promised) {
    *w = (value_writer){.form = form_of(name), .type = type, .promised = promised};
    if (!begin_output(&w->file, name != NULL ? name : "-")) {
        return false;
    }
    if (w->form != VALUES_NPY) {
        return true;
    }
    if (promised < 0 && w->file.folder < 0) {
        drop_output(&w->file);
        return complain(name, "a .npy says first how many values it has, and these are not counted yet; write to a "
                              "file, or as text");
    }
    write_header(w, promised < 0 ? INT64_MAX : promised); /* its length is the same for any number */
    return true;
}

bool write_values(value_writer *w, const void *values, int64_t count) {
    size_t size = type_size(w->type);
    FILE *stream = w->file.stream;
    char text[NUMBER_TEXT_SIZE + 1];
    w->written += count;
    if (w->form != VALUES_TEXT) {
        fwrite(values, size, (size_t)count, stream);
        return !ferror(stream);
    }
    const unsigned char *value = values;
    for (int64_t k = 0; k < count && !ferror(stream); k++, value += size) {
        size_t length = print_number(w->type, value, text);
        text[length] = '\n';
        fwrite(text, 1, length + 1, stream);
    }
    return !ferror(stream);
}

bool end_values(value_writer *w, bool fine) {
    if (fine && w->promised >= 0 && w->written != w->promised) {
        fine =
            complain(w->file.name, "a file changed while it was read: %" PRId64 " values were counted, then %" PRId64,
                     w->promised, w->written);
    }
    if (!fine) {
        drop_output(&w->file);
        return false;
    }
    if (w->form == VALUES_NPY && w->promised < 0 && fseeko(w->file.stream, 0, SEEK_SET) == 0) {
        write_header(w, w->written);
    }
    return end_output(&w->file);
}
