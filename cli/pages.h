/* What the program says about itself. */
#ifndef PAGES_H
#define PAGES_H

#include <stdbool.h>
#include <stdio.h>

void print_help(FILE *stream);
void print_list(FILE *stream);
void print_info(FILE *stream);

/* The page of an operator or a topic; false if there is none. */
bool print_help_on(const char *word, FILE *stream);

/* The man page in roff, out of the same tables and topics: docs/man/tally.1 is its output. */
void print_manual(FILE *stream);

/* ---- topics (topics.c) ---- */

/* Paragraphs are separated by empty lines; those that begin with a space are set as they stand. */
typedef struct topic {
    const char *name, *title, *text;
} topic;

extern const topic topics[];
extern const int topic_count;
extern const char *const examples; /* lines: a command, then "# " and what it does */

#endif
