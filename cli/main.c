/* The tally command: understands its arguments, opens the inputs, and gives out the results. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "base/complain.h"
#include "gallery/command/gallery.h"
#include "commands/gpu.h"
#include "commands/merge.h"
#include "output/output.h"
#include "pages.h"
#include "commands/reduce.h"
#include "commands/request.h"
#include "commands/table.h"
#include "output/results.h"

/* ---- what is asked for together has to fit together ---- */

static int misspelt(const char *sentence, const char *word) {
    complain(NULL, sentence, word);
    return STATUS_MISSPELT;
}

static int check_files(const command *wanted, int inputs) {
    int standard =
        is_standard_stream(wanted->by) + is_standard_stream(wanted->offsets) + is_standard_stream(wanted->lengths);
    for (int k = 0; k < wanted->file_count; k++) {
        standard += is_standard_stream(wanted->files[k]);
    }
    if (wanted->file_count == 0) {
        return misspelt(inputs == 2 ? "%s takes two FILEs" : "%s needs a FILE; - is standard input", wanted->word);
    }
    if (inputs == 2 && wanted->file_count != 2) {
        return misspelt("%s takes two FILEs", wanted->word);
    }
    if (standard > 1) {
        return misspelt("%s: standard input (-) can be read once only", wanted->word);
    }
    if (wanted->output != NULL && wanted->file_count != inputs) {
        return misspelt("%s: -o takes the results of one FILE", wanted->word);
    }
    if (wanted->save != NULL && wanted->file_count != inputs) {
        return misspelt("%s: --save takes the state of one FILE", wanted->word);
    }
    return STATUS_DONE;
}

#define TALLY_ROW(id) || op == TALLY_##id
static bool takes_ddof(tally_op op) { return false TALLY_WITH_DDOF(TALLY_ROW); }
#undef TALLY_ROW

static int check_options(const command *wanted, tally_op op) {
    uint64_t ways = wanted->given & (ONLY(BY) | ONLY(OFFSETS) | ONLY(LENGTHS) | ONLY(AXIS));
    if ((ways & (ways - 1)) != 0) {
        return misspelt("%s: choose one of --by, --offsets, --lengths and --axis", wanted->word);
    }
    if (wanted->by == NULL && is_given(wanted, OPTION_UNSORTED)) {
        return misspelt("%s: --unsorted goes with --by", wanted->word);
    }
    if (wanted->output != NULL && is_given(wanted, OPTION_JSON)) {
        return misspelt("%s: choose one of --output and --json", wanted->word);
    }
    if (wanted->save != NULL &&
        (ways != 0 || wanted->output != NULL || is_given(wanted, OPTION_JSON) || is_given(wanted, OPTION_DEVICE))) {
        return misspelt("%s: --save takes the place of a result: of one whole file, on the CPU", wanted->word);
    }
    if (wanted->save == NULL && is_given(wanted, OPTION_FIRST)) {
        return misspelt("%s: --first goes with --save", wanted->word);
    }
    if (is_given(wanted, OPTION_DDOF) && !takes_ddof(op)) {
        return misspelt("%s: --ddof is for var, std and stats", wanted->word);
    }
    switch (op) {
#define TALLY_ROW(id, name, kernel, inputs, on, gives, order, empty, nans, what)                                       \
    case TALLY_##id:                                                                                                   \
        return nans != TALLY_NANS_ORDER && wanted->options.nan == TALLY_NAN_TOTAL                                      \
                   ? misspelt("%s: --nan total is for operators that compare values, as min and argmax", wanted->word) \
                   : STATUS_DONE;
        TALLY_OPERATORS(TALLY_ROW)
#undef TALLY_ROW
    default: return STATUS_DONE;
    }
}

/* ---- reducing ---- */

static bool reduce_files(tally_context *context, const command *wanted, tally_op op, const segmentation *by,
                         char **names, results *made) {
    input left, right = {.descriptor = -1};
    bool pair = tally_op_inputs(op) == 2;
    *made = (results){.names = {names[0], pair ? names[1] : NULL}, .save = wanted->save, .first = wanted->first};
    bool done = open_input(&left, names[0], wanted->wish) && (!pair || open_input(&right, names[1], wanted->wish)) &&
                (by->kind != SEGMENTS_NONE ? reduce_segments(context, by, op, &left, pair ? &right : NULL, made)
                                           : reduce_whole(context, op, &left, pair ? &right : NULL, made));
    close_input(&left);
    if (pair) {
        close_input(&right);
    }
    return done;
}

/* Says how many results are missing; false if any is. */
static bool all_present(const results *made) {
    int64_t missing = 0;
    for (int64_t s = 0; made->absent != NULL && s < made->count; s++) {
        missing += made->absent[s];
    }
    return missing == 0 ||
           complain(made->names[0], "%lld of %lld segments have no value, and %s of nothing is not defined",
                    (long long)missing, (long long)made->count, tally_op_name(made->op));
}

/* Reduces every file. Rows of stats wait for each other, since they share one table. */
static bool reduce_all(tally_context *context, const command *wanted, tally_op op, const segmentation *by) {
    int inputs = tally_op_inputs(op);
    int set_count = wanted->file_count / inputs, kept = 0;
    bool named = set_count > 1, fine = true;
    bool table = op == TALLY_STATS && !is_given(wanted, OPTION_JSON) && wanted->output == NULL && wanted->save == NULL;
    results *sets = take_memory(wanted->word, set_count, sizeof *sets);
    if (sets == NULL) {
        return false;
    }
    for (int set = 0; set < set_count; set++) {
        results *made = &sets[kept];
        bool done = reduce_files(context, wanted, op, by, wanted->files + set * inputs, made);
        fine = fine && done;
        if (done && table) {
            kept++;
        } else {
            fine = (!done ||
                    (made->save != NULL || give_results(made, wanted->output, is_given(wanted, OPTION_JSON), named))) &&
                   fine;
            fine = all_present(made) && fine;
            free_results(made);
        }
    }
    if (kept > 0) {
        print_table(sets, kept, named, stdout);
    }
    for (int set = 0; set < kept; set++) {
        fine = all_present(&sets[set]) && fine;
        free_results(&sets[set]);
    }
    free(sets);
    return fine;
}

static int run_operator(const command *wanted, tally_op op) {
    int status = check_files(wanted, tally_op_inputs(op));
    status = status == STATUS_DONE ? check_options(wanted, op) : status;
    if (status != STATUS_DONE) {
        return status;
    }
    tally_context *context = NULL;
    if (tally_context_create(NULL, &context) != TALLY_OK) {
        complain(NULL, "%s", tally_message());
        return STATUS_REFUSED;
    }
    if (tally_set_options(context, &wanted->options) != TALLY_OK) {
        complain(NULL, "%s", tally_message());
        status = STATUS_MISSPELT;
    } else {
        segmentation by;
        bool done = open_segmentation(wanted, &by) && reduce_all(context, wanted, op, &by);
        status = done ? STATUS_DONE : STATUS_REFUSED;
        close_segmentation(&by);
    }
    tally_context_destroy(context);
    return status;
}

/* ---- other commands ---- */

static int refuse_word(const char *word) {
    const char *nearest = nearest_command(word);
    if (nearest != NULL) {
        complain(NULL, "there is no operator %s; did you mean %s?", word, nearest);
    } else {
        complain(NULL, "there is no operator %s; tally list names them all", word);
    }
    return STATUS_MISSPELT;
}

static int run_help(const command *wanted) {
    if (wanted->file_count == 0) {
        print_help(stdout);
        return STATUS_DONE;
    }
    if (wanted->file_count > 1) {
        return misspelt("%s takes one word", wanted->word);
    }
    if (strcmp(wanted->files[0], "man") == 0) {
        print_manual(stdout);
        return STATUS_DONE;
    }
    return print_help_on(wanted->files[0], stdout) ? STATUS_DONE : refuse_word(wanted->files[0]);
}

static int run_page(const command *wanted, void (*page)(FILE *)) {
    if (wanted->file_count > 0) {
        return misspelt("%s takes no FILE", wanted->word);
    }
    page(stdout);
    return STATUS_DONE;
}

static int run_operator_word(const command *wanted) {
    tally_op op = tally_op_from_name(wanted->word);
    if (op == TALLY_OP_END) {
        return refuse_word(wanted->word);
    }
    if (is_table(wanted)) {
        return run_table(wanted);
    }
    return takes_only(wanted, wanted->word, options_of(WORD_OPERATOR)) ? run_operator(wanted, op) : STATUS_MISSPELT;
}

static int run_word(const command *wanted, command_word word) {
    switch (word) {
    case WORD_LIST: return run_page(wanted, print_list);
    case WORD_INFO: return run_page(wanted, print_info);
    case WORD_MERGE: return run_merge(wanted);
    case WORD_EMIT: return is_kernel(wanted) ? run_emit_kernel(wanted) : run_emit(wanted);
    case WORD_WARM: return run_warm(wanted);
    case WORD_RACE: return run_race(wanted);
    case WORD_EXPLAIN: return run_explain(wanted);
    case WORD_COURSE: return run_course(wanted);
    default: return run_help(wanted);
    }
}

static int run_command(const command *wanted) {
    const char *name = wanted->word != NULL ? wanted->word : "help";
    command_word word = find_word(name);
    if (is_given(wanted, OPTION_VERSION)) {
        printf("tally %s\n", tally_version());
        return STATUS_DONE;
    }
    if (is_given(wanted, OPTION_HELP) && wanted->word != NULL) {
        return print_help_on(name, stdout) ? STATUS_DONE : refuse_word(name);
    }
    if (word == WORD_NONE) {
        return run_operator_word(wanted);
    }
    return takes_only(wanted, name, options_of(word)) ? run_word(wanted, word) : STATUS_MISSPELT;
}

/* A stream the caller closed is opened on nothing, so that no data file takes its number; writing to it still fails. */
static void hold_standard_streams(void) {
    for (int descriptor = 0; descriptor <= 2; descriptor++) {
        if (fcntl(descriptor, F_GETFD) < 0 && open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY) != descriptor) {
            exit(STATUS_REFUSED);
        }
    }
}

/* Results that did not reach their reader are no success. */
static bool close_standard_output(void) {
    bool failed = ferror(stdout) != 0;
    errno = failed ? errno : 0;
    if (fclose(stdout) != 0 || failed) {
        return errno != 0 ? complain_system(NULL, "cannot write the results")
                          : complain(NULL, "cannot write the results");
    }
    return true;
}

int main(int argc, char **argv) {
    command wanted;
    hold_standard_streams();
    guard_files();
    int status = read_command(argc, argv, &wanted);
    status = status == STATUS_DONE ? run_command(&wanted) : status;
    bool written = close_standard_output();
    return status == STATUS_DONE && !written ? STATUS_REFUSED : status;
}
