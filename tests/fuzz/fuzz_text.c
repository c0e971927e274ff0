/* Fuzz target: the text reader. The first byte picks the type and how small the pieces are in which the rest is shown;
 * in pieces it must give what it gives at once, floats that are found late what they give when they are asked for, and
 * every number must survive being printed and read again. Build: clang -fsanitize=fuzzer,address,undefined
 * -Iinclude -Icli
 * tests/fuzz/fuzz_text.c cli/formats/text.c cli/formats/numbers.c
 * Without libFuzzer add tests/fuzz/standalone_main.c. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth, const char *what) {
    if (!truth) {
        fprintf(stderr, "fuzz_text: %s\n", what);
        abort();
    }
}

/* What reading gave: every value in the last type, and how it ended. */
typedef struct outcome {
    int fine;
    tally_type type;
    size_t count;
    unsigned char *values;
    text_zeros zeros;
    char trouble[TEXT_TROUBLE_SIZE];
} outcome;

static void keep(outcome *result, const text_run *run, const void *values) {
    if (result->count > 0 && result->type != run->type) {
        text_convert(result->values, run->type, result->values, result->type, result->count, result->zeros);
    }
    for (size_t k = 0; k < run->zeros.count; k++) {
        demand(run->zeros.places[k] < run->count, "a -0 stands behind its run");
        result->zeros.places[result->zeros.count++] = result->count + run->zeros.places[k];
    }
    result->type = run->type;
    memcpy(result->values + result->count * type_size(run->type), values, run->count * type_size(run->type));
    result->count += run->count;
}

/* Reads text with `window` more bytes in sight each time the reader asks for more, `capacity` values at a time. */
static void read_text(const char *text, size_t size, tally_type wanted, size_t window, size_t capacity,
                      outcome *result) {
    text_reader reader;
    text_run run;
    double values[64];
    size_t zeros[64];
    size_t at = 0, end = window < size ? window : size;
    text_begin(&reader, wanted);
    result->type = reader.type;
    result->fine = 1;
    for (;;) {
        char *sight = malloc(end - at > 0 ? end - at : 1); /* of exactly this size */
        demand(sight != NULL, "no memory");
        memcpy(sight, text + at, end - at);
        int read = text_read(&reader, sight, end - at, end == size, values, zeros, capacity, &run);
        free(sight);
        if (!read) {
            result->fine = 0;
            break;
        }
        demand(run.consumed <= end - at && run.count <= capacity, "it used more than there is");
        keep(result, &run, values);
        at += run.consumed;
        if (run.count == 0 && end == size) {
            demand(at == size, "it left bytes behind");
            break;
        }
        end = run.count > 0 ? end : end + window < size ? end + window : size;
    }
    if (result->fine) {
        result->fine = text_verdict(&reader, &result->type);
    }
    memcpy(result->trouble, reader.trouble, sizeof result->trouble);
    demand(result->fine || result->trouble[0] != '\0', "refused without a sentence");
}

static void print_again(const outcome *result) {
    char text[NUMBER_TEXT_SIZE];
    unsigned char again[8];
    size_t size = type_size(result->type);
    number found;
    for (size_t k = 0; k < result->count; k++) {
        const unsigned char *value = result->values + k * size;
        size_t length = print_number(result->type, value, text);
        demand(length == strlen(text) && length < sizeof text, "a number prints too long");
        demand(scan_number(text, length, &found), "a printed number is none");
        int nan = strcmp(text, "nan") == 0, infinite = strstr(text, "inf") != NULL;
        demand(store_number(&found, result->type, again) == NUMBER_FINE, "a printed number is refused");
        demand(nan || infinite || memcmp(again, value, size) == 0, "a printed number reads differently");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) {
        return 0;
    }
    tally_type wanted = (tally_type)(data[0] % TALLY_STRUCT);
    size_t window = (size_t)(data[0] / TALLY_STRUCT) % 7 + 3; /* a byte order mark is looked for in the first three */
    const char *text = (const char *)data + 1;
    outcome once = {.values = malloc(size * 8), .zeros.places = malloc(size * 8)};
    outcome pieces = {.values = malloc(size * 8), .zeros.places = malloc(size * 8)};
    demand(once.values != NULL && pieces.values != NULL && once.zeros.places != NULL && pieces.zeros.places != NULL,
           "no memory");
    read_text(text, size - 1, wanted, size, 64, &once);
    read_text(text, size - 1, wanted, window, 5, &pieces);
    demand(once.fine == pieces.fine && strcmp(once.trouble, pieces.trouble) == 0, "pieces are judged differently");
    if (once.fine && wanted == TALLY_NATURAL && once.type == TALLY_F64) {
        outcome floats = {.values = malloc(size * 8), .zeros.places = malloc(size * 8)};
        demand(floats.values != NULL && floats.zeros.places != NULL, "no memory");
        read_text(text, size - 1, TALLY_F64, size, 64, &floats);
        demand(floats.fine && floats.count == once.count && memcmp(floats.values, once.values, once.count * 8) == 0,
               "floats that were found are not those that were asked for");
        free(floats.values);
        free(floats.zeros.places);
    }
    if (once.fine) {
        demand(once.type == pieces.type && once.count == pieces.count, "pieces give other values");
        demand(memcmp(once.values, pieces.values, once.count * type_size(once.type)) == 0, "pieces give other bits");
        print_again(&once);
    }
    free(once.values);
    free(pieces.values);
    free(once.zeros.places);
    free(pieces.zeros.places);
    return 0;
}
