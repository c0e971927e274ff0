/* Sentences of failures. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "mpi/ranks.h"

static _Thread_local char sentence[SENTENCE_BYTES];

const char *tally_mpi_message(void) { return sentence; }

tally_status tally__mpi_fail(tally_status status, const char *format, ...) {
    char fresh[SENTENCE_BYTES]; /* the arguments may quote the last sentence */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fresh, sizeof fresh, format, arguments);
    va_end(arguments);
    memcpy(sentence, fresh, sizeof sentence);
    return status;
}

tally_status tally__mpi_quote(tally_status status) {
    return status == TALLY_OK ? TALLY_OK : tally__mpi_fail(status, "%s", tally_message());
}

tally_status tally__mpi_check(int code, const char *what) {
    char said[MPI_MAX_ERROR_STRING + 1] = "no more is known";
    int length = 0;
    if (code == MPI_SUCCESS) return TALLY_OK;
    if (MPI_Error_string(code, said, &length) == MPI_SUCCESS) said[length] = '\0';
    return tally__mpi_fail(TALLY_DEVICE_FAILED, "MPI failed: %s (%.*s)", said, (int)strcspn(what, "("), what);
}
