/* Results to a .npy file or to standard output. */
#include <string.h>

#include "formats/npy.h"
#include "formats/numbers.h"
#include "output/output.h"
#include "output/results.h"

static const char *word_descr(tally_type input) {
    int class = type_class(input);
    return npy_descr(class == TALLY_CLASS_FLOAT ? TALLY_F64 : class == TALLY_CLASS_UINT ? TALLY_U64 : TALLY_I64);
}

static size_t make_header(const results *from, char header[NPY_WRITTEN_MAX]) {
    char record[256];
    int dimensions = from->dimensions;
    int64_t shape[NPY_DIMENSIONS_MAX + 1];
    memcpy(shape, from->shape, sizeof from->shape);
    if (from->op == TALLY_MINMAX) {
        shape[dimensions++] = 2;
    }
    if (from->op != TALLY_STATS) {
        return npy_write(header, npy_descr(from->type), dimensions, shape);
    }
    const char *word = word_descr(from->input);
    snprintf(record, sizeof record,
             "[('count', '<i8'), ('min', %s), ('max', %s), ('sum', %s), ('mean', '<f8'), ('var', '<f8')]", word, word,
             word);
    return npy_write(header, record, dimensions, shape);
}

bool give_results(const results *made, const char *path, bool json, bool named) {
    if (path != NULL) {
        return save_results(made, path);
    }
    if (json) {
        print_json(made, stdout);
    } else if (made->op == TALLY_STATS) {
        return print_table(made, 1, named, stdout);
    } else {
        print_lines(made, named, stdout);
    }
    return true;
}

bool save_results(const results *from, const char *path) {
    char header[NPY_WRITTEN_MAX];
    output out;
    if (!begin_output(&out, path)) {
        return false;
    }
    size_t length = make_header(from, header);
    fwrite(header, 1, length, out.stream);
    fwrite(from->data, from->size, (size_t)from->count, out.stream);
    return end_output(&out);
}
