/* The words of a command over tables, understood: operators, their columns, and files. */
#ifndef REQUEST_H
#define REQUEST_H

#include "command.h"
#include "commands/groups.h"
#include "input/table.h"

/* What the words ask for. */
typedef struct request {
    table_wish wish;
    table_result *results;
    int result_count;
    char **files;
    int file_count;
    char *values_text, *keys_text; /* behind the names of columns */
    const char **values, **keys;
} request;

/* Whether the words mean a table: one of its options was given; or the last FILE's name ends in .csv or .tsv, and the
 * first word behind the operator is no name of a file: it has no / and no ending that files of numbers have. */
bool is_table(const command *wanted);

/* Returns the exit status, after a complaint; free_request is right after any. */
int read_request(const command *wanted, request *made);
void free_request(request *made);

#endif
