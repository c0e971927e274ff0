/* Fuzz target: the reader of tables. The first two bytes pick the options and how small the blocks are in which the
 * rest is shown: cut where records end, it must give the cells, keys, lines and complaint that it gives at once, and
 * the groups must hold each number once. Build with tools/jobs.sh fuzz, or: clang -fsanitize=fuzzer,address,undefined
 * -Iinclude -Icli tests/fuzz/fuzz_table.c cli/formats/csv.c cli/formats/numbers.c cli/input/keys.c cli/input/rows.c -lm
 * Without libFuzzer add tests/fuzz/standalone_main.c. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth, const char *what) {
    if (!truth) {
        fprintf(stderr, "fuzz_table: %s\n", what);
        abort();
    }
}

enum { COLUMNS = 2 };
static const char *const names[] = {"first", "second"};
static const tally_type wanted[] = {TALLY_NATURAL, TALLY_NATURAL, TALLY_F64,  TALLY_I8,
                                    TALLY_U64,     TALLY_F32,     TALLY_BOOL, TALLY_BF16};

/* Both columns of values and the key are columns of the table, whatever its width. */
static int describe(const uint8_t *data, csv_form form, const char *text, size_t size, table_wish *wish,
                    table_shape *shape) {
    csv_reader reader = csv_begin(text, size, form);
    *wish = (table_wish){.form = form,
                         .missing = (missing_rule)((data[0] >> 1) % 3),
                         .type = wanted[data[0] >> 4 & 7],
                         .values = names,
                         .value_count = COLUMNS,
                         .keys = names,
                         .key_count = 1,
                         .sorted = (data[0] >> 3 & 1) != 0};
    shape->form = form;
    shape->width = csv_next(&reader, NULL, 0);
    shape->places[0] = 0;
    shape->places[1] = shape->width / 2;
    shape->places[2] = shape->width - 1;
    return shape->width > 0;
}

/* What is in the sorted runs is what is in the rows. */
static void check_runs(const table_wish *wish, const block_rows *r) {
    int64_t kept = 0, sorted = 0;
    for (int64_t k = 0; k < r->count * COLUMNS; k++) {
        kept += r->kinds[k] != 0;
    }
    for (int64_t k = 0; k < r->group_count * COLUMNS; k++) {
        sorted += r->runs[k].count;
        demand(seen_type(wish, r->runs[k].seen) != TALLY_NATURAL, "a run has no type");
    }
    demand(kept == sorted, "numbers were lost when rows were sorted");
}

static const char *row_key(const block_rows *r, int64_t row) { return key_text(&r->keys, r->groups[row]); }

/* The rows of a part are those of the whole from row `first` and line `line` on. */
static void compare(const block_rows *whole, int64_t first, int64_t line, const block_rows *part) {
    demand(first + part->count <= whole->count, "blocks give more rows than the whole");
    for (int64_t row = 0; row < part->count; row++) {
        const int64_t at = first + row;
        demand(part->lines[row] + line == whole->lines[at], "a row stands on another line");
        demand(strcmp(row_key(part, row), row_key(whole, at)) == 0, "a row has another key");
        demand(memcmp(part->words + row * COLUMNS, whole->words + at * COLUMNS, COLUMNS * sizeof *part->words) == 0,
               "a row has other numbers");
        demand(memcmp(part->kinds + row * COLUMNS, whole->kinds + at * COLUMNS, COLUMNS) == 0,
               "a row has other kinds of numbers");
    }
}

static void read_in_blocks(const table_wish *wish, const table_shape *shape, const char *text, size_t size,
                           size_t window, const block_rows *whole) {
    static block_rows part; /* used again, as by a thread that reads block after block */
    int64_t rows = 0, lines = 0;
    part.failed = false;
    for (size_t at = 0, end = 0; at < size && !part.failed;) {
        end = end + window < size ? end + window : size;
        size_t block = end < size ? csv_whole(text + at, end - at, shape->form) : end - at;
        if (block == 0) {
            continue;
        }
        char *copy = malloc(block); /* of exactly this size */
        demand(copy != NULL, "no memory");
        memcpy(copy, text + at, block);
        table_block b = {.shape = shape, .bytes = copy, .size = block};
        read_rows(wish, &b, &part);
        free(copy);
        check_runs(wish, &part);
        compare(whole, rows, lines, &part);
        demand(!part.failed || (whole->failed && whole->trouble_line == lines + part.trouble_line &&
                                strcmp(whole->trouble, part.trouble) == 0),
               "blocks are refused for another reason");
        rows += part.count;
        lines += part.line_count;
        at += block;
    }
    demand(part.failed == whole->failed && rows == whole->count, "blocks give fewer rows than the whole");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    table_wish wish;
    int64_t places[COLUMNS + 1];
    table_shape shape = {.name = "fuzzed", .places = places};
    static block_rows whole;
    if (size < 3) {
        return 0;
    }
    size_t length = size - 2;
    char *text = malloc(length + 1);
    demand(text != NULL, "no memory");
    memcpy(text, data + 2, length);
    if (text[length - 1] != '\n') {
        text[length++] = '\n';
    }
    if (describe(data, (data[0] & 1) != 0 ? csv_tabs : csv_commas, text, length, &wish, &shape)) {
        table_block b = {.shape = &shape, .bytes = text, .size = length};
        read_rows(&wish, &b, &whole);
        check_runs(&wish, &whole);
        read_in_blocks(&wish, &shape, text, length, 1 + data[1] % 64, &whole);
    }
    free(text);
    return 0;
}
