#define _GNU_SOURCE
#include "base/complain.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/progress.h"
#include "base/quote.h"

bool complain(const char *subject, const char *format, ...) {
    char *sentence = NULL;
    va_list arguments;
    va_start(arguments, format);
    bool made = vasprintf(&sentence, format, arguments) >= 0;
    va_end(arguments);
    clear_progress();
    fputs("tally: ", stderr);
    if (subject != NULL) {
        print_visible(subject, stderr);
        fputs(": ", stderr);
    }
    print_visible(made ? sentence : "no memory to say what is wrong", stderr);
    fputc('\n', stderr);
    free(made ? sentence : NULL);
    return false;
}

bool complain_system(const char *subject, const char *doing) {
    const char *reason = strerror(errno);
    return complain(subject, "%s: %s", doing, reason);
}

int64_t machine_memory(void) {
    long pages = sysconf(_SC_PHYS_PAGES);
    long page = sysconf(_SC_PAGESIZE);
    int64_t bytes;
    if (pages <= 0 || page <= 0 || __builtin_mul_overflow((int64_t)pages, (int64_t)page, &bytes)) {
        return INT64_MAX;
    }
    return bytes;
}

void *take_memory(const char *subject, int64_t count, size_t size) {
    int64_t bytes;
    if (count < 0 || __builtin_mul_overflow(count, (int64_t)size, &bytes)) {
        bytes = INT64_MAX;
    }
    void *memory = bytes <= machine_memory() ? malloc(bytes > 0 ? (size_t)bytes : 1) : NULL;
    if (memory == NULL) {
        complain(subject, "this takes %" PRId64 " items of %zu bytes in memory, more than this machine has", count,
                 size);
    }
    return memory;
}

static void lost_page(int signal_number) {
    (void)signal_number;
    static const char sentence[] = "tally: a file was cut short or its disk failed while it was read\n";
    if (write(STDERR_FILENO, sentence, sizeof sentence - 1) < 0) {
        _exit(STATUS_REFUSED);
    }
    _exit(STATUS_REFUSED);
}

void guard_files(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = lost_page;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
    action.sa_handler = SIG_IGN;
    sigaction(SIGXFSZ, &action, NULL);
}
