/* Statuses and the sentence behind the last failure. */
#include <stdarg.h>
#include <stdio.h>

#include "internal.h"

static _Thread_local char message[512];

tally_status tally__fail(tally_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return status;
}

const char *tally_message(void) { return message; }
