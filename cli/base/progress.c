#define _POSIX_C_SOURCE 200809L
#include "base/progress.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { BAR_WIDTH = 40 };

static struct {
    bool active, drawn;
    const char *things; /* NULL: bytes */
    int64_t total, done;
    double started, last;
} bar;

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void start_progress(int64_t total_bytes) {
    bar.active = isatty(STDERR_FILENO) == 1;
    bar.drawn = false;
    bar.things = NULL;
    bar.total = total_bytes;
    bar.done = 0;
    bar.started = bar.active ? seconds_now() : 0;
    bar.last = bar.started;
}

void start_counting(int64_t total, const char *things) {
    start_progress(total);
    bar.things = things;
}

static void draw(double now) {
    double gigabytes = (double)bar.done / 1e9;
    double speed = gigabytes / (now - bar.started);
    if (bar.total > 0) {
        double part = bar.done < bar.total ? (double)bar.done / (double)bar.total : 1.0;
        int filled = (int)(part * BAR_WIDTH);
        fprintf(stderr, "\r[%.*s%*s] %3.0f%%  ", filled, "########################################", BAR_WIDTH - filled,
                "", 100 * part);
        if (bar.things != NULL) {
            fprintf(stderr, "%" PRId64 " of %" PRId64 " %s ", bar.done, bar.total, bar.things);
        } else {
            fprintf(stderr, "%.2f GB/s ", speed);
        }
    } else {
        fprintf(stderr, "\r%.2f GB  %.2f GB/s ", gigabytes, speed);
    }
    fflush(stderr);
    bar.drawn = true;
}

void advance_progress(int64_t done) {
    if (!bar.active) {
        return;
    }
    bar.done += done;
    double now = seconds_now();
    if (now - bar.started >= 1.0 && now - bar.last >= 0.1) {
        draw(now);
        bar.last = now;
    }
}

void clear_progress(void) {
    if (bar.drawn) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
        bar.drawn = false;
    }
}

void end_progress(void) {
    clear_progress();
    bar.active = false;
}
