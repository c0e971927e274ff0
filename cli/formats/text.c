#include "formats/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool refuse(text_reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool refuse(text_reader *reader, const char *format, ...) {
    int length = snprintf(reader->trouble, sizeof reader->trouble, "line %" PRId64 ": ", reader->line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reader->trouble + length, sizeof reader->trouble - (size_t)length, format, arguments);
    va_end(arguments);
    return false;
}

void text_begin(text_reader *reader, tally_type wanted) {
    memset(reader, 0, sizeof *reader);
    reader->wanted = wanted;
    reader->type = wanted != TALLY_NATURAL ? wanted : TALLY_I64;
    reader->line = 1;
}

static bool space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static bool separates(char c) { return space(c) || c == ',' || c == '#'; }

/* A token as a sentence may quote it: short, and not cut within a character of UTF-8. */
static void quote(char quoted[40], const char *token, size_t length) {
    size_t kept = length < 32 ? length : 32;
    while (kept > 0 && kept < length && ((unsigned char)token[kept] & 0xc0) == 0x80) {
        kept--;
    }
    memcpy(quoted, token, kept);
    strcpy(quoted + kept, length > kept ? "..." : "");
}

/* Moves past what stands between numbers. False: a comma stands where a number should. */
static bool skip_separators(text_reader *reader, const char *bytes, size_t size, size_t *at) {
    for (; *at < size; (*at)++) {
        char c = bytes[*at];
        if (c == '\n') {
            reader->line++;
            reader->in_comment = false;
            reader->comma_may_follow = false;
        } else if (reader->in_comment) {
            continue;
        } else if (c == ',') {
            if (!reader->comma_may_follow) {
                return refuse(reader, "a comma without a number before it; write nan for a missing value");
            }
            reader->comma_may_follow = false;
        } else if (c == '#') {
            reader->in_comment = true;
        } else if (!space(c)) {
            break;
        }
    }
    return true;
}

/* Where the token that starts here ends. Ordinary tokens are short; a longer one is refused, not searched. */
static size_t token_length(const char *bytes, size_t size) {
    size_t length = 0;
    size_t most = size < NUMBER_LENGTH_MAX + 1 ? size : NUMBER_LENGTH_MAX + 1;
    while (length < most && !separates(bytes[length])) {
        length++;
    }
    return length;
}

static bool refuse_token(text_reader *reader, const char *token, size_t length) {
    char quoted[40];
    if (memchr(token, '\0', length) != NULL) {
        return refuse(reader, "a zero byte; raw values are read with --raw --type T");
    }
    quote(quoted, token, length);
    if (length > NUMBER_LENGTH_MAX) {
        return refuse(reader, "'%s' has more than %d characters, the most that a number may have", quoted,
                      NUMBER_LENGTH_MAX);
    }
    return refuse(reader, "'%s' is not a number", quoted);
}

/* The type a number needs when those before it came as `type`. An integer that fits none along with the others is noted
 * and read as f64, where it does no harm if the numbers turn out to be floats. */
static tally_type grown_type(text_reader *reader, const number *found) {
    if (!found->integer) {
        reader->any_fraction = true;
        return TALLY_F64;
    }
    if (reader->type == TALLY_F64 && reader->any_fraction) {
        return TALLY_F64;
    }
    bool negative = found->negative && found->digits != 0;
    bool fits_signed = found->whole && found->digits <= (uint64_t)INT64_MAX + negative;
    reader->any_negative = reader->any_negative || negative;
    if (fits_signed && reader->type == TALLY_I64) {
        return TALLY_I64;
    }
    if (found->whole && !reader->any_negative && reader->type != TALLY_F64) {
        return TALLY_U64;
    }
    if (reader->misfit_line == 0) {
        reader->misfit_line = reader->line;
        quote(reader->misfit, found->text, found->length);
    }
    return TALLY_F64;
}

static bool store(text_reader *reader, const number *found, void *value) {
    char quoted[40];
    number_verdict verdict = store_number(found, reader->type, value);
    if (verdict == NUMBER_FINE) {
        return true;
    }
    quote(quoted, found->text, found->length);
    const char *what = verdict == NUMBER_BEYOND ? "is beyond the range of" : "is not an integer, as needed for";
    return refuse(reader, "%s %s type %s", quoted, what, type_name(reader->type));
}

/* A byte order mark, which some programs put before UTF-8. */
static size_t skip_mark(text_reader *reader, const char *bytes, size_t size) {
    bool mark = !reader->begun && size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0;
    reader->begun = true;
    return mark ? 3 : 0;
}

bool text_read(text_reader *reader, const char *bytes, size_t size, bool last, void *values, size_t *zeros,
               size_t capacity, text_run *run) {
    size_t at = skip_mark(reader, bytes, size);
    *run = (text_run){.type = reader->type, .zeros = {zeros, 0}};
    unsigned char *store_at = values;
    while (run->count < capacity) {
        if (!skip_separators(reader, bytes, size, &at)) {
            return false;
        }
        size_t length = token_length(bytes + at, size - at);
        if (length == 0 || (at + length == size && !last && length <= NUMBER_LENGTH_MAX)) {
            break;
        }
        number found;
        bool truth_wanted = reader->wanted == TALLY_BOOL;
        if (!scan_number(bytes + at, length, &found) || (found.truth && !truth_wanted)) {
            return refuse_token(reader, bytes + at, length);
        }
        if (reader->wanted == TALLY_NATURAL) {
            reader->type = grown_type(reader, &found);
            if (reader->type != run->type && run->count > 0) {
                break; /* shown again, it starts a run of the new type */
            }
            run->type = reader->type;
        }
        if (!store(reader, &found, store_at)) {
            return false;
        }
        if (reader->wanted == TALLY_NATURAL && run->type != TALLY_F64 && found.negative && found.digits == 0) {
            zeros[run->zeros.count++] = run->count;
        }
        store_at += type_size(run->type);
        run->count++;
        at += length;
        reader->comma_may_follow = true;
    }
    run->consumed = at;
    return true;
}

bool text_verdict(text_reader *reader, tally_type *type) {
    *type = reader->type;
    if (reader->misfit_line == 0 || reader->any_fraction) {
        return true;
    }
    reader->line = reader->misfit_line;
    return refuse(reader, "%s and the other integers fit no 64-bit type; --type f64 reads them as floats",
                  reader->misfit);
}

void text_convert(void *to, tally_type to_type, const void *from, tally_type from_type, size_t count,
                  text_zeros zeros) {
    const double minus_zero = -0.0;
    const uint64_t *source = from;
    uint64_t *target = to;
    for (size_t k = 0; k < count; k++) {
        uint64_t word = source[k];
        if (to_type == TALLY_F64 && from_type != TALLY_F64) {
            double value = from_type == TALLY_I64 ? (double)(int64_t)word : (double)word;
            memcpy(&word, &value, sizeof word);
        }
        target[k] = word;
    }
    for (size_t k = 0; to_type == TALLY_F64 && from_type != TALLY_F64 && k < zeros.count; k++) {
        memcpy(&target[zeros.places[k]], &minus_zero, sizeof minus_zero);
    }
}
