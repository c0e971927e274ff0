/* What tests share that need processes and folders of their own. */
#ifndef TALLY_TESTS_CHILDREN_H
#define TALLY_TESTS_CHILDREN_H

#include <stdio.h>

#include "support.h"

/* Runs `body` in a child and returns what it returns, 0 to 99; a child that dies is a failure. */
int in_child(int (*body)(void));

/* In children, where cmocka's assertions are of no use: says what was wrong and returns WRONG. */
enum { WRONG = 99 };
#define CHILD_CHECK(condition)                                                                              \
    do {                                                                                                    \
        if (!(condition)) {                                                                                 \
            fprintf(stderr, "%s:%d: %s\n  message: %s\n", __FILE__, __LINE__, #condition, tally_message()); \
            return WRONG;                                                                                   \
        }                                                                                                   \
    } while (0)

/* Sets a variable of the environment; NULL unsets it. Children inherit it. */
void set(const char *variable, const char *value);

/* A folder in /tmp, empty at first, for one test: cmocka's setup and teardown. */
enum { MOST_PATH = 400 };
extern char folder[64];
int make_folder(void **state);
int remove_folder(void **state);
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

/* The path of a pipe in that folder, which nobody writes to, and which nothing must wait for. */
const char *make_pipe(void);

/* Names in a folder, -1 if there is no such folder; and the path of one of them, in MOST_PATH bytes, unless NULL. */
int count_names(const char *path, char *one);
void write_file(const char *path, const char *bytes, size_t size);

#endif
