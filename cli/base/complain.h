/* Sentences to stderr, exit statuses, and memory that is asked for with care. */
#ifndef COMPLAIN_H
#define COMPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STATUS_DONE = 0, STATUS_REFUSED = 1, STATUS_MISSPELT = 2 };

/* Prints "tally: subject: sentence" (subject may be NULL), names and all as quote.h shows them, and returns false, so
 * that a reader can end with it. */
bool complain(const char *subject, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Complains with what the system says about errno. */
bool complain_system(const char *subject, const char *doing);

/* Memory for count things of size bytes, or NULL and a complaint. More than the machine has is refused before the
 * kernel can promise it. Zero things give one byte, so that NULL always means failure. */
void *take_memory(const char *subject, int64_t count, size_t size);

int64_t machine_memory(void); /* bytes; INT64_MAX where the system does not say */

/* Makes a read beyond the end of a mapped file that shrank a sentence in place of a crash, and a write beyond the size
 * that files may have an error like a full disk. */
void guard_files(void);

#endif
