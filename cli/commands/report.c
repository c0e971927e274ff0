#define _POSIX_C_SOURCE 200809L
#include "commands/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/complain.h"

/* "price_sum", or "price_count" and so on for results of several numbers. */
static char *name_result(const report *out, const table_result *result, int k) {
    const char *title = out->t->shapes[0].titles[result->column];
    const char *const *parts = result_names(result->op);
    const char *part = parts != NULL ? parts[k] : tally_op_name(result->op);
    char *name = take_memory(NULL, (int64_t)(strlen(title) + strlen(part) + 2), 1);
    if (name != NULL) {
        sprintf(name, "%s_%s", title, part);
    }
    return name;
}

/* Two columns of one name could not be told apart. */
static bool names_differ(const report *out) {
    for (int k = 0; k < out->column_count; k++) {
        for (int j = 0; j < k; j++) {
            if (strcmp(out->names[j], out->names[k]) == 0) {
                return complain(NULL, "two results would be called %s; ask for one of them at a time", out->names[k]);
            }
        }
    }
    return true;
}

static bool begin_report(report *out) {
    const groups *all = out->all;
    const table_wish *wish = all->wish;
    int count = wish->key_count;
    for (int k = 0; k < all->result_count; k++) {
        count += result_numbers(all->results[k].op);
    }
    out->names = take_memory(NULL, count, sizeof *out->names);
    out->cells = take_memory(NULL, count, sizeof *out->cells);
    out->texts = take_memory(NULL, count, sizeof *out->texts);
    bool fine = out->names != NULL && out->cells != NULL && out->texts != NULL;
    for (int k = 0; fine && k < wish->key_count; k++) {
        out->names[out->column_count] = strdup(out->t->shapes[0].titles[wish->value_count + k]);
        fine = out->names[out->column_count++] != NULL || complain(NULL, "no memory for the names of columns");
    }
    for (int k = 0; fine && k < all->result_count; k++) {
        for (int part = 0; fine && part < result_numbers(all->results[k].op); part++) {
            out->names[out->column_count] = name_result(out, &all->results[k], part);
            fine = out->names[out->column_count++] != NULL;
        }
    }
    fine = fine && names_differ(out);
    if (fine) {
        out->writer = begin_rows(out->format, out->stream, (const char *const *)out->names, count);
        out->begun = true;
    }
    return fine;
}

/* The numbers of one result into the row, from column `at` on. */
static bool fill_result(report *out, int64_t group, int result, int at) {
    results made;
    bool fine = finish_group(out->all, group, result, &made);
    bool absent = fine && made.absent != NULL;
    if (fine) {
        result_texts(&made, 0, out->texts + at);
        out->absent += absent;
        for (int k = 0; k < result_numbers(made.op); k++) {
            bool blank = absent && !(made.op == TALLY_STATS && k == 0);
            const char *text = blank ? NULL : out->texts[at + k];
            out->cells[at + k] = (row_cell){text, blank ? 0 : (uint32_t)strlen(text), result_number_type(&made, k)};
        }
    }
    free_results(&made);
    return fine;
}

static bool write_group(report *out, int64_t group) {
    const groups *all = out->all;
    int at = 0;
    for (; at < all->wish->key_count; at++) {
        const char *text = key_field(key_text(&all->keys, group), at);
        out->cells[at] = (row_cell){text, (uint32_t)strlen(text), TALLY_NATURAL};
    }
    for (int k = 0; k < all->result_count; k++) {
        if (!fill_result(out, group, k, at)) {
            return false;
        }
        at += result_numbers(all->results[k].op);
    }
    out->written++;
    return put_row(&out->writer, out->cells);
}

static bool write_groups(report *out, int64_t count) {
    if (!out->begun && !begin_report(out)) {
        return false;
    }
    for (int64_t group = 0; group < count; group++) {
        if (!write_group(out, group)) {
            return false;
        }
    }
    return true;
}

bool write_whole_groups(void *taker) {
    report *out = taker;
    if (out->all->wish->sorted && out->all->count > 1) {
        bool fine = write_groups(out, out->all->count - 1);
        keep_last_group(out->all);
        return fine;
    }
    return true;
}

bool end_report(report *out, bool fine) {
    fine = fine && write_groups(out, out->all->count);
    if (out->begun) {
        fine = (fine ? end_rows(&out->writer) : (drop_rows(&out->writer), false)) && fine;
    }
    for (int k = 0; k < out->column_count; k++) {
        free(out->names[k]);
    }
    free(out->names);
    free(out->cells);
    free(out->texts);
    return fine;
}

bool all_present(const report *out) {
    return out->absent == 0 ||
           complain(NULL, "%" PRId64 " of %" PRId64 " results have no value to come from and are left blank",
                    out->absent, out->written * out->all->result_count);
}
