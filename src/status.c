/* Statuses and the sentence behind the last failure. */
#include <stdarg.h>
#include <stdio.h>

#include "internal.h"

static _Thread_local char message[512];

/* The controls of ASCII, and those of Latin-1, which UTF-8 writes as two bytes. */
static bool is_control(const unsigned char *at) {
    return *at < ' ' || *at == 0x7f || (*at == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0);
}

/* Sentences quote names that others chose, of files and of operators in saved states: what would move the cursor of a
 * terminal, or pass for another line of a log, becomes \x1b. What is shown already stays as it is. */
static void show(const char *sentence) {
    size_t length = 0;
    for (const unsigned char *at = (const unsigned char *)sentence; *at != '\0'; at++) {
        bool second = at != (const unsigned char *)sentence && at[-1] == 0xc2 && is_control(at - 1);
        const char *form = second || is_control(at) ? "\\x%02x" : "%c";
        int more = snprintf(message + length, sizeof message - length, form, *at);
        if (length + (size_t)more >= sizeof message) break;
        length += (size_t)more;
    }
    message[length] = '\0';
}

tally_status tally__fail(tally_status status, const char *format, ...) {
    char sentence[sizeof message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    show(sentence);
    return status;
}

const char *tally_message(void) { return message; }
