#include "commands/table.h"

#include <string.h>
#include <unistd.h>

#include "base/complain.h"
#include "commands/pass.h"
#include "commands/report.h"
#include "commands/request.h"
#include "output/output.h"

static int misspelt(const char *sentence, const char *word) {
    complain(NULL, sentence, word);
    return STATUS_MISSPELT;
}

/* ---- options that have to fit together ---- */

static int check_request(const command *wanted, const request *r) {
    const uint64_t taken = ONLY(BY) | ONLY(OUTPUT) | ONLY(JSON) | ONLY(CSV) | ONLY(TSV) | ONLY(NO_HEADER) |
                           ONLY(SORTED) | ONLY(NA) | ONLY(TO) | ONLY(TYPE) | ONLY(NAN) | ONLY(DDOF) | ONLY(ACCURACY) |
                           ONLY(OVERFLOW) | ONLY(THREADS);
    int standard = 0;
    for (int k = 0; k < r->file_count; k++) {
        standard += is_standard_stream(r->files[k]);
    }
    if (!takes_only(wanted, "a table", taken)) {
        return STATUS_MISSPELT;
    }
    if (standard > 1) {
        return misspelt("%s: standard input (-) can be read once only", wanted->word);
    }
    if (is_given(wanted, OPTION_CSV) && is_given(wanted, OPTION_TSV)) {
        return misspelt("%s: choose one of --csv and --tsv", wanted->word);
    }
    if (is_given(wanted, OPTION_JSON) && is_given(wanted, OPTION_TO)) {
        return misspelt("%s: choose one of --json and --to", wanted->word);
    }
    if (r->wish.sorted && r->wish.key_count == 0) {
        return misspelt("%s: --sorted needs --by COLUMNS", wanted->word);
    }
    if (r->wish.missing == MISSING_NAN && r->wish.type != TALLY_NATURAL && r->wish.type < TALLY_F16) {
        return misspelt("%s: --na nan needs a --type that has NaN", wanted->word);
    }
    return STATUS_DONE;
}

static row_format find_format(const command *wanted) {
    static const struct {
        const char *ending;
        row_format format;
    } endings[] = {
        {".npy", ROWS_NPY}, {".csv", ROWS_CSV}, {".tsv", ROWS_TSV}, {".json", ROWS_JSON}, {".jsonl", ROWS_JSON}};
    if (is_given(wanted, OPTION_TO)) {
        return wanted->to;
    }
    if (is_given(wanted, OPTION_JSON)) {
        return ROWS_JSON;
    }
    for (size_t k = 0; wanted->output != NULL && k < sizeof endings / sizeof endings[0]; k++) {
        if (ends_in(wanted->output, endings[k].ending)) {
            return endings[k].format;
        }
    }
    return wanted->output == NULL && isatty(STDOUT_FILENO) == 1 ? ROWS_ALIGNED : ROWS_TSV;
}

/* ---- running ---- */

static int count_threads(const command *wanted, const table_reader *t) {
    int threads = wanted->options.threads > 0 ? wanted->options.threads : tally_cpu_threads();
    return t->total_bytes >= 0 && t->total_bytes >> 20 < threads ? (int)(t->total_bytes >> 20) + 1 : threads;
}

static bool reduce_table(const command *wanted, const request *r, tally_context *context, FILE *stream) {
    table_reader t;
    groups all = {.context = context, .wish = &r->wish, .results = r->results, .result_count = r->result_count};
    report out = {.all = &all, .t = &t, .format = find_format(wanted), .stream = stream};
    bool fine = open_table(&t, &r->wish, r->files, r->file_count);
    all.shapes = t.shapes;
    fine = fine && open_groups(&all) && pass_table(&t, &all, count_threads(wanted, &t), write_whole_groups, &out);
    fine = end_report(&out, fine);
    free_groups(&all);
    close_table(&t);
    return fine && all_present(&out);
}

/* To standard output or to a file that appears whole or not at all. */
static bool give_table(const command *wanted, const request *r, tally_context *context) {
    output file;
    if (wanted->output == NULL) {
        return reduce_table(wanted, r, context, stdout);
    }
    if (!begin_output(&file, wanted->output)) {
        return false;
    }
    if (!reduce_table(wanted, r, context, file.stream)) {
        drop_output(&file);
        return false;
    }
    return end_output(&file);
}

int run_table(const command *wanted) {
    request r;
    int status = read_request(wanted, &r);
    status = status == STATUS_DONE ? check_request(wanted, &r) : status;
    tally_context *context = NULL;
    if (status == STATUS_DONE && tally_context_create(NULL, &context) != TALLY_OK) {
        complain(NULL, "%s", tally_message());
        status = STATUS_REFUSED;
    }
    tally_options options = wanted->options;
    options.threads = 1; /* threads parse blocks; what one of them hands on is short */
    if (status == STATUS_DONE && tally_set_options(context, &options) != TALLY_OK) {
        complain(NULL, "%s", tally_message());
        status = STATUS_MISSPELT;
    }
    if (status == STATUS_DONE) {
        status = give_table(wanted, &r, context) ? STATUS_DONE : STATUS_REFUSED;
    }
    tally_context_destroy(context);
    free_request(&r);
    return status;
}
