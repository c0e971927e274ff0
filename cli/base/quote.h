/* Text that others chose, names of files above all, as it can be shown: it cannot pass for lines or move the cursor of
 * a terminal. */
#ifndef QUOTE_H
#define QUOTE_H

#include <stdio.h>

/* UTF-8 as it is; control characters, and bytes that are no UTF-8, as \x1b. */
void print_visible(const char *text, FILE *stream);

/* A JSON string; bytes that are no UTF-8 become the replacement character. */
void print_json_string(const char *text, FILE *stream);

#endif
