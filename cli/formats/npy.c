#include "formats/npy.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/numbers.h"

static const unsigned char magic[NPY_MAGIC_BYTES] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

/* A place in the header's dictionary, and where its sentence goes. */
typedef struct cursor {
    const char *at, *end;
    char *trouble;
} cursor;

static bool refuse(cursor *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool refuse(cursor *c, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->trouble, NPY_TROUBLE_SIZE, format, arguments);
    va_end(arguments);
    return false;
}

static void skip_space(cursor *c) {
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t' || *c->at == '\r')) {
        c->at++;
    }
}

/* Takes one character, and the space before it, if it comes next. */
static bool take(cursor *c, char wanted) {
    skip_space(c);
    if (c->at < c->end && *c->at == wanted) {
        c->at++;
        return true;
    }
    return false;
}

static bool take_word(cursor *c, const char *word) {
    size_t length = strlen(word);
    skip_space(c);
    if ((size_t)(c->end - c->at) >= length && memcmp(c->at, word, length) == 0) {
        c->at += length;
        return true;
    }
    return false;
}

/* Takes a string in either kind of quotes, without escapes, and cuts it to fit. */
static bool take_string(cursor *c, char *text, size_t size) {
    skip_space(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"')) {
        return refuse(c, "the header is no Python dictionary of strings");
    }
    char quote = *c->at++;
    size_t length = 0;
    for (; c->at < c->end && *c->at != quote; c->at++) {
        if (*c->at < ' ' || *c->at > '~' || *c->at == '\\' || length + 1 >= size) {
            return refuse(c, "the header holds a string that no array has");
        }
        text[length++] = *c->at;
    }
    text[length] = '\0';
    return take(c, quote) || refuse(c, "the header ends inside a string");
}

static bool take_integer(cursor *c, int64_t *value) {
    skip_space(c);
    if (c->at < c->end && *c->at == '-') {
        return refuse(c, "the shape holds a negative extent");
    }
    if (c->at == c->end || *c->at < '0' || *c->at > '9') {
        return refuse(c, "the shape is no tuple of integers");
    }
    for (*value = 0; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
        if (__builtin_mul_overflow(*value, (int64_t)10, value) ||
            __builtin_add_overflow(*value, (int64_t)(*c->at - '0'), value)) {
            return refuse(c, "the shape holds an extent beyond 63 bits");
        }
    }
    c->at += c->at < c->end && *c->at == 'L'; /* Python 2 wrote an L behind long integers */
    return true;
}

static bool take_shape(cursor *c, npy_layout *layout) {
    if (!take(c, '(')) {
        return refuse(c, "the shape is no tuple of integers");
    }
    layout->dimensions = 0;
    while (!take(c, ')')) {
        if (layout->dimensions == NPY_DIMENSIONS_MAX) {
            return refuse(c, "the array has more than %d dimensions", NPY_DIMENSIONS_MAX);
        }
        if (!take_integer(c, &layout->shape[layout->dimensions++])) {
            return false;
        }
        if (!take(c, ',')) {
            return take(c, ')') || refuse(c, "the shape is no tuple of integers");
        }
    }
    return true;
}

/* What a kind of NumPy type holds, for those that cannot be reduced. */
static const char *strange_kind(char kind) {
    switch (kind) {
    case 'c': return "complex numbers";
    case 'O': return "Python objects";
    case 'M': return "dates";
    case 'm': return "time differences";
    case 'U':
    case 'S':
    case 'a': return "strings";
    case 'V': return "raw bytes";
    default: return NULL;
    }
}

static tally_type numeric_type(char kind, long size) {
    int class = kind == 'b' ? TALLY_CLASS_BOOL : kind == 'i' ? TALLY_CLASS_INT : TALLY_CLASS_UINT;
    class = kind == 'f' ? TALLY_CLASS_FLOAT : class;
    for (tally_type type = TALLY_NATURAL + 1; type < TALLY_STRUCT; type++) {
        if (type != TALLY_BF16 && type_class(type) == class && (long)type_size(type) == size) {
            return type;
        }
    }
    return TALLY_NATURAL;
}

static bool read_descr(cursor *c, const char *descr, npy_layout *layout) {
    const char *at = descr;
    char order = *at != '\0' && strchr("<>=|", *at) != NULL ? *at++ : '=';
    char kind = *at != '\0' ? *at++ : ' ';
    char *rest;
    long size = strtol(at, &rest, 10);
    const char *strange = strange_kind(kind);
    bool opaque = kind == 'V' && size == 2 && *rest == '\0';
    if (strange != NULL && !opaque) {
        return refuse(c, "it holds %s ('%s'), which have no reduction", strange, descr);
    }
    if (!opaque && (strchr("biuf", kind) == NULL || at == rest || *rest != '\0')) {
        return refuse(c, "its type '%s' is unknown", descr);
    }
    layout->type = opaque ? TALLY_NATURAL : numeric_type(kind, size);
    if (!opaque && layout->type == TALLY_NATURAL) {
        return refuse(c, "its type '%s' is a %s of %ld bytes, which Tally does not have", descr,
                      kind == 'f' ? "float" : "number", size);
    }
    layout->size = (size_t)size;
    layout->swapped = order == '>' && size > 1;
    return true;
}

static bool take_descr(cursor *c, npy_layout *layout) {
    char descr[64];
    skip_space(c);
    if (c->at < c->end && (*c->at == '[' || *c->at == '(')) {
        return refuse(c, "it holds records of several fields; save one field as an array of its own");
    }
    return take_string(c, descr, sizeof descr) && read_descr(c, descr, layout);
}

static bool take_order(cursor *c, npy_layout *layout) {
    layout->fortran = take_word(c, "True");
    return layout->fortran || take_word(c, "False") || refuse(c, "fortran_order is neither True nor False");
}

/* Takes one "key: value" of the dictionary, and adds the key to `seen`. */
static bool take_entry(cursor *c, npy_layout *layout, unsigned *seen) {
    static const struct {
        const char *name;
        bool (*value)(cursor *, npy_layout *);
    } keys[] = {{"descr", take_descr}, {"fortran_order", take_order}, {"shape", take_shape}};
    char key[32];
    if (!take_string(c, key, sizeof key)) {
        return false;
    }
    for (unsigned k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        if (strcmp(key, keys[k].name) == 0) {
            bool twice = (*seen & 1u << k) != 0;
            *seen |= 1u << k;
            return !twice && take(c, ':') ? keys[k].value(c, layout) : refuse(c, "the header says %s wrongly", key);
        }
    }
    return refuse(c, "the header has an unknown key '%s'", key);
}

static bool read_dictionary(cursor *c, npy_layout *layout) {
    unsigned seen = 0;
    if (!take(c, '{')) {
        return refuse(c, "the header is no Python dictionary");
    }
    while (!take(c, '}')) {
        if (!take_entry(c, layout, &seen)) {
            return false;
        }
        if (!take(c, ',')) {
            if (!take(c, '}')) {
                return refuse(c, "the header is no Python dictionary");
            }
            break;
        }
    }
    skip_space(c);
    if (c->at != c->end) {
        return refuse(c, "the header goes on behind its dictionary");
    }
    return seen == 7 || refuse(c, "the header lacks descr, fortran_order or shape");
}

/* The number of values. The extents that are not zero must multiply to something of 63 bits even where others are zero,
 * as NumPy demands, so that no product of extents ever overflows. */
static bool multiply_shape(cursor *c, npy_layout *layout) {
    int64_t product = 1, bytes;
    bool empty = false;
    for (int d = 0; d < layout->dimensions; d++) {
        empty = empty || layout->shape[d] == 0;
        if (layout->shape[d] != 0 && __builtin_mul_overflow(product, layout->shape[d], &product)) {
            return refuse(c, "its shape multiplies to more than 63 bits can count");
        }
    }
    if (__builtin_mul_overflow(product, (int64_t)layout->size, &bytes) || bytes > INT64_MAX - NPY_HEADER_MAX) {
        return refuse(c, "its shape multiplies to more bytes than 63 bits can count");
    }
    layout->count = empty ? 0 : product;
    return true;
}

bool npy_starts(const unsigned char *bytes, size_t size) {
    return size >= NPY_MAGIC_BYTES && memcmp(bytes, magic, NPY_MAGIC_BYTES) == 0;
}

npy_verdict npy_read(const unsigned char *bytes, size_t size, npy_layout *layout, char trouble[NPY_TROUBLE_SIZE]) {
    *layout = (npy_layout){.data_at = NPY_FIRST_BYTES};
    cursor c = {NULL, NULL, trouble};
    if (memcmp(bytes, magic, size < NPY_MAGIC_BYTES ? size : NPY_MAGIC_BYTES) != 0) {
        refuse(&c, "it does not begin as a .npy file does");
        return NPY_BAD;
    }
    if (size < NPY_FIRST_BYTES) {
        return NPY_SHORT;
    }
    unsigned version = bytes[6];
    if (version < 1 || version > 3) {
        refuse(&c, "its .npy version is %u.%u; versions 1 to 3 are known", bytes[6], bytes[7]);
        return NPY_BAD;
    }
    size_t start = version == 1 ? 10 : 12;
    size_t length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
    length |= version == 1 ? 0 : (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (length > NPY_HEADER_MAX) {
        refuse(&c, "its header claims %zu bytes, more than any array needs", length);
        return NPY_BAD;
    }
    layout->data_at = start + length;
    if (size < layout->data_at) {
        return NPY_SHORT;
    }
    c.at = (const char *)bytes + start;
    c.end = c.at + length;
    return read_dictionary(&c, layout) && multiply_shape(&c, layout) ? NPY_FINE : NPY_BAD;
}

size_t npy_write(char header[NPY_WRITTEN_MAX], const char *descr, int dimensions, const int64_t *shape) {
    memcpy(header, magic, NPY_MAGIC_BYTES);
    header[6] = 1;
    header[7] = 0;
    size_t at = 10;
    at += (size_t)sprintf(header + at, "{'descr': %s, 'fortran_order': False, 'shape': (", descr);
    for (int d = 0; d < dimensions; d++) {
        at += (size_t)sprintf(header + at, d == 0 ? "%" PRId64 "," : " %" PRId64 ",", shape[d]);
    }
    at -= dimensions > 1; /* only a tuple of one needs its comma */
    at += (size_t)sprintf(header + at, "), }");
    while ((at + 1) % 64 != 0) {
        header[at++] = ' ';
    }
    header[at++] = '\n';
    header[8] = (char)((at - 10) & 0xff);
    header[9] = (char)((at - 10) >> 8);
    return at;
}

const char *npy_descr(tally_type type) {
    switch (type) {
#define TALLY_ROW(id, name, numpy, bytes, class) \
    case TALLY_##id: return sizeof(numpy) > 1 ? "'" numpy "'" : "'|V2'";
        TALLY_TYPES(TALLY_ROW)
#undef TALLY_ROW
    default: return "'|V2'"; /* NATURAL, as read */
    }
}
