/* The version of NVRTC without opening it. Opening takes 10 ms, and 50 to 300 ms where the file is not in memory. So
 * the cache keeps a record of the file that the last process found and of its version. While that file is unchanged,
 * images are looked up by that version. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cuda/cache.h"
#include "cuda/known.h"
#include "cuda/nvidia.h"

enum { MOST_RECORD = 5120, MOST_OPTIONS = 32 };

/* The search for NVRTC depends on these. */
static const char *const variables[] = {"TALLY_NVRTC", "LD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV", "CONDA_PREFIX",
                                        "HOME",        "CUDA_HOME"};
enum { VARIABLES = sizeof variables / sizeof *variables };

/* The record's key: the user, the driver, the options and variables. A variable that is not set differs from an empty
 * one. */
static tally__key record_key(const char *const *options, int option_count) {
    const char *words[2 * VARIABLES + 3 + MOST_OPTIONS], *why;
    char driver_version[16];
    int count = 0, version = 0;
    const tally__driver *driver = tally__nvidia_driver(&why);
    if (driver != NULL) driver->driver_version(&version);
    snprintf(driver_version, sizeof driver_version, "%d", version);
    words[count++] = "the compiler";
    words[count++] = tally_version();
    words[count++] = driver_version;
    for (int k = 0; k < option_count && k < MOST_OPTIONS; k++) words[count++] = options[k];
    for (int k = 0; k < VARIABLES; k++) {
        const char *value = secure_getenv(variables[k]);
        words[count++] = value != NULL ? "set" : "";
        words[count++] = value != NULL ? value : "";
    }
    return tally__key_of_words(words, count);
}

/* Writes "path\nfile status\nversion"; false: there is no such file. */
static bool write_record(char *record, const char *path, size_t path_length, const char *version) {
    char name[4096];
    struct stat info;
    int length;
    if (path_length >= sizeof name) return false;
    memcpy(name, path, path_length);
    name[path_length] = '\0';
    if (stat(name, &info) != 0) return false;
    length = snprintf(record, MOST_RECORD, "%s\n%llx %llx %lld %lld.%09ld\n%s", name, (unsigned long long)info.st_dev,
                      (unsigned long long)info.st_ino, (long long)info.st_size, (long long)info.st_mtim.tv_sec,
                      (long)info.st_mtim.tv_nsec, version);
    return length > 0 && length < MOST_RECORD;
}

/* The version in a record whose file is unchanged, or NULL. */
static const char *version_in(const tally__image *image) {
    const char *record = image->bytes, *end_of_path = memchr(record, '\n', image->size), *version;
    char now[MOST_RECORD];
    if (end_of_path == NULL || record[image->size - 1] != '\0') return NULL;
    version = strchr(end_of_path + 1, '\n');
    if (version == NULL) return NULL;
    if (!write_record(now, record, (size_t)(end_of_path - record), version + 1)) return NULL;
    return strcmp(now, record) == 0 ? version + 1 : NULL;
}

/* ---- once in a process ---- */

static struct {
    pthread_mutex_t lock;
    bool looked, kept;
    char version[512]; /* "": nothing is known */
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void look(const char *const *options, int count) {
    const tally__key key = record_key(options, count);
    tally__image image;
    const char *version;
    if (!tally__disk_read(&key, &image)) return;
    version = version_in(&image);
    if (version != NULL) snprintf(known.version, sizeof known.version, "%s", version);
    free(image.bytes);
}

bool tally__compiler_known(const char *const *options, int count, char *version, size_t capacity) {
    bool done;
    pthread_mutex_lock(&known.lock);
    if (!known.looked) look(options, count);
    known.looked = true;
    done = known.version[0] != '\0' && strlen(known.version) < capacity;
    if (done) strcpy(version, known.version);
    pthread_mutex_unlock(&known.lock);
    return done;
}

static void keep(const char *const *options, int count, const char *path, const char *version) {
    const tally__key key = record_key(options, count);
    char record[MOST_RECORD];
    tally__image image = {record, 0}, before = {NULL, 0};
    if (!write_record(record, path, strlen(path), version)) return;
    image.size = strlen(record) + 1;
    const bool is_new =
        !tally__disk_read(&key, &before) || before.size != image.size || memcmp(before.bytes, record, image.size) != 0;
    free(before.bytes);
    if (is_new) tally__disk_write(&key, &image);
}

void tally__compiler_found(const char *const *options, int count, const char *path, const char *version) {
    pthread_mutex_lock(&known.lock);
    if (!known.kept) keep(options, count, path, version);
    known.kept = true;
    pthread_mutex_unlock(&known.lock);
}
