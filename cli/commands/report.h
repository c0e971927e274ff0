/* The results of a table's groups as rows of named columns. */
#ifndef REPORT_H
#define REPORT_H

#include <stdio.h>

#include "commands/groups.h"
#include "output/rows.h"

/* What results are written to. The columns are named when the first file's header is known. The first four fields are
 * set by the owner, the rest is 0. */
typedef struct report {
    groups *all;
    const table_reader *t;
    row_format format;
    FILE *stream;
    bool begun;
    row_writer writer;
    char **names;
    int column_count;
    row_cell *cells;
    char (*texts)[RESULT_TEXT_SIZE]; /* of the cells that are numbers */
    int64_t written, absent;
} report;

/* A block_end (pass.h): of sorted rows, writes all groups but the last, which are whole, and forgets them. */
bool write_whole_groups(void *report);

/* If fine, writes the groups that there are. Frees what the report has, and returns false where something failed. */
bool end_report(report *out, bool fine);

/* Complains if results are blank. */
bool all_present(const report *out);

#endif
