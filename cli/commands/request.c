#include "commands/request.h"

#include <stdlib.h>
#include <string.h>

#include "base/complain.h"
#include "output/output.h"

static int misspelt(const char *sentence, const char *word) {
    complain(NULL, sentence, word);
    return STATUS_MISSPELT;
}

static bool names_table(const char *name) { return ends_in(name, ".csv") || ends_in(name, ".tsv"); }

/* Whether a word looks like a file's name rather than those of columns. */
static bool names_file(const char *word) {
    static const char *const endings[] = {".txt", ".dat", ".npy", ".raw", ".bin"};
    const char *dot = strrchr(word, '.');
    bool file = names_table(word) || strchr(word, '/') != NULL || is_standard_stream(word) ||
                (dot != NULL && tally_type_from_name(dot + 1) != TALLY_NATURAL);
    for (size_t k = 0; k < sizeof endings / sizeof endings[0]; k++) {
        file = file || ends_in(word, endings[k]);
    }
    return file;
}

bool is_table(const command *wanted) {
    const uint64_t of_tables = ONLY(CSV) | ONLY(TSV) | ONLY(NO_HEADER) | ONLY(SORTED) | ONLY(NA) | ONLY(TO);
    if ((wanted->given & of_tables) != 0) {
        return true;
    }
    return wanted->file_count > 1 && tally_op_inputs(tally_op_from_name(wanted->word)) == 1 &&
           names_table(wanted->files[wanted->file_count - 1]) && !names_file(wanted->files[0]);
}

static int count_commas(const char *text) {
    int count = 0;
    for (; *text != '\0'; text++) {
        count += *text == ',';
    }
    return count;
}

/* The number of a value column, which may be new. */
static int number_column(request *r, const char *name) {
    int k = 0;
    while (k < r->wish.value_count && strcmp(r->values[k], name) != 0) {
        k++;
    }
    if (k == r->wish.value_count) {
        r->values[r->wish.value_count++] = name;
    }
    return k;
}

static int rank_in_column(const request *r, int column) {
    int rank = 0;
    for (int k = 0; k < r->result_count; k++) {
        rank += r->results[k].column == column;
    }
    return rank;
}

static int add_result(request *r, tally_op op, const char *name) {
    int column = number_column(r, name);
    for (int k = 0; k < r->result_count; k++) {
        if (r->results[k].op == op && r->results[k].column == column) {
            complain(NULL, "%s %s is asked for twice", tally_op_name(op), name);
            return STATUS_MISSPELT;
        }
    }
    int rank = rank_in_column(r, column);
    r->results[r->result_count++] = (table_result){op, column, rank};
    return STATUS_DONE;
}

/* Splits a list at its commas in place; -1: a name is empty. */
static int split_list(char *text, const char **names) {
    int count = 0;
    for (char *comma = text; comma != NULL; text = comma + 1) {
        comma = strchr(text, ',');
        if (comma != NULL) {
            *comma = '\0';
        }
        if (*text == '\0') {
            return -1;
        }
        names[count++] = text;
        if (comma == NULL) {
            break;
        }
    }
    return count;
}

/* An operator and the list of its columns. */
static int read_pair(request *r, const char *word, char *list) {
    tally_op op = tally_op_from_name(word);
    const char **names = r->values + r->wish.value_count;
    if (tally_op_inputs(op) != 1) {
        return misspelt("%s takes two FILEs, and no columns", word);
    }
    int count = split_list(list, names), status = count < 0 ? STATUS_MISSPELT : STATUS_DONE;
    if (count < 0) {
        complain(NULL, "%s takes COLUMNS with single commas between; a column without a name is given by its number",
                 word);
    }
    const char **own = take_memory(word, count > 0 ? count : 0, sizeof *own);
    if (own == NULL) {
        return STATUS_REFUSED;
    }
    if (count > 0) {
        memcpy(own, names, (size_t)count * sizeof *own);
    }
    for (int k = 0; status == STATUS_DONE && k < count; k++) {
        status = add_result(r, op, own[k]);
    }
    free(own);
    return status;
}

/* word OP, files[0] COLUMNS, and then again as long as a word is an operator. */
static int read_words(const command *wanted, request *r) {
    const char *word = wanted->word;
    int at = 0, status = STATUS_DONE;
    char *text = r->values_text;
    while (status == STATUS_DONE && at < wanted->file_count) {
        strcpy(text, wanted->files[at++]);
        char *list = text;
        text += strlen(text) + 1;
        status = read_pair(r, word, list);
        if (at == wanted->file_count || tally_op_from_name(wanted->files[at]) == TALLY_OP_END) {
            break;
        }
        word = wanted->files[at++];
        if (at == wanted->file_count) {
            return misspelt("%s needs COLUMNS", word);
        }
    }
    r->files = wanted->files + at;
    r->file_count = wanted->file_count - at;
    if (status == STATUS_DONE && (r->file_count == 0 || r->result_count == 0)) {
        return misspelt("%s: a table needs COLUMNS and a FILE; - is standard input", wanted->word);
    }
    return status;
}

static int read_keys(const command *wanted, request *r) {
    if (wanted->by != NULL) {
        strcpy(r->keys_text, wanted->by);
        r->wish.key_count = split_list(r->keys_text, r->keys);
    }
    return r->wish.key_count < 0 ? misspelt("%s: --by takes columns with single commas between", wanted->word)
                                 : STATUS_DONE;
}

void free_request(request *r) {
    free(r->values_text);
    free(r->keys_text);
    free(r->values);
    free(r->keys);
    free(r->results);
}

int read_request(const command *wanted, request *r) {
    int columns = 1, keys = 1 + (wanted->by != NULL ? count_commas(wanted->by) : 0);
    size_t bytes = 1, key_bytes = 1 + (wanted->by != NULL ? strlen(wanted->by) : 0);
    for (int k = 0; k < wanted->file_count; k++) {
        columns += 1 + count_commas(wanted->files[k]);
        bytes += strlen(wanted->files[k]) + 1;
    }
    *r = (request){.values_text = take_memory(NULL, (int64_t)bytes, 1),
                   .keys_text = take_memory(NULL, (int64_t)key_bytes, 1),
                   .values = take_memory(NULL, columns, 2 * sizeof *r->values),
                   .keys = take_memory(NULL, keys, sizeof *r->keys),
                   .results = take_memory(NULL, columns, sizeof *r->results)};
    if (r->values_text == NULL || r->keys_text == NULL || r->values == NULL || r->keys == NULL || r->results == NULL) {
        return STATUS_REFUSED;
    }
    r->wish = (table_wish){.form = is_given(wanted, OPTION_TSV) ? csv_tabs : csv_commas,
                           .form_given = is_given(wanted, OPTION_CSV) || is_given(wanted, OPTION_TSV),
                           .headless = is_given(wanted, OPTION_NO_HEADER),
                           .missing = wanted->missing,
                           .type = wanted->wish.type,
                           .sorted = is_given(wanted, OPTION_SORTED)};
    int status = read_words(wanted, r);
    status = status == STATUS_DONE ? read_keys(wanted, r) : status;
    r->wish.values = r->values;
    r->wish.keys = r->keys;
    return status;
}
