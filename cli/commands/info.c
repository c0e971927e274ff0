/* `tally info`: what this build and this machine have. */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/complain.h"
#include "pages.h"
#include "base/quote.h"
#include "tally/tally.h"

/* The first line of a small system file; "" if there is none. */
static void read_line(const char *path, char *line, int size) {
    FILE *file = fopen(path, "re");
    line[0] = '\0';
    if (file != NULL) {
        if (fgets(line, size, file) == NULL) {
            line[0] = '\0';
        }
        fclose(file);
    }
    line[strcspn(line, "\n")] = '\0';
}

static void print_processor(FILE *stream) {
    char line[512], model[512] = "unknown";
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        bool named = strncmp(line, "model name", 10) == 0 || strncmp(line, "Model", 5) == 0;
        if (named && colon != NULL) {
            snprintf(model, sizeof model, "%s", colon + 1 + strspn(colon + 1, " "));
            model[strcspn(model, "\n")] = '\0';
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    fprintf(stream, "processor     %s\n", model);
}

static void print_caches(FILE *stream) {
    bool any = false;
    fputs("caches        ", stream);
    for (int k = 0; k < 8; k++) {
        char path[96], level[16], kind[32], size[32];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/level", k);
        read_line(path, level, sizeof level);
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/type", k);
        read_line(path, kind, sizeof kind);
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", k);
        read_line(path, size, sizeof size);
        if (level[0] != '\0' && strcmp(kind, "Instruction") != 0) {
            fprintf(stream, "%sL%s %siB", any ? ", " : "", level, size);
            any = true;
        }
    }
    fputs(any ? "\n" : "unknown\n", stream);
}

/* What a GPU needs, and why it is not there. */
static void print_gpus(FILE *stream) {
    int count;
    if (tally_gpu_count(&count) != TALLY_OK) {
        fprintf(stream, "GPUs          none: %s\n", tally_message());
    } else {
        tally_gpu_info info;
        for (int k = 0; k < count; k++) {
            if (tally_gpu_describe(k, &info) != TALLY_OK) {
                fprintf(stream, "GPU %-9d %s\n", k, tally_message());
                continue;
            }
            fprintf(stream, "GPU %-9d %s, sm_%d, %d multiprocessors, %.1f GiB\n", k, info.name, info.sm,
                    info.multiprocessors, (double)info.memory / (1 << 30));
            if (k + 1 == count) {
                fprintf(stream, "GPU driver    CUDA %d.%d\n", info.driver / 1000, info.driver % 1000 / 10);
            }
        }
    }
    const char *found = tally_gpu_compiler();
    fprintf(stream, "GPU compiler  %s%s\n", found != NULL ? "" : "none: ", found != NULL ? found : tally_message());
    found = tally_cache_folder();
    fprintf(stream, "GPU cache     %s", found != NULL ? "" : "none: ");
    print_visible(found != NULL ? found : tally_message(), stream);
    fputc('\n', stream);
}

void print_info(FILE *stream) {
    fprintf(stream, "version       %s\n", tally_version());
    print_processor(stream);
    fprintf(stream, "instructions  %s\n", tally_cpu_isa());
    fprintf(stream, "threads       %d\n", tally_cpu_threads());
    print_caches(stream);
    if (machine_memory() < INT64_MAX) {
        fprintf(stream, "memory        %.1f GiB\n", (double)machine_memory() / (1 << 30));
    }
    print_gpus(stream);
}
