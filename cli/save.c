#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "complain.h"
#include "npy.h"
#include "numbers.h"
#include "results.h"

/* ---- what is written ---- */

static const char *word_descr(tally_type input) {
    int class = type_class(input);
    return npy_descr(class == TALLY_CLASS_FLOAT ? TALLY_F64 : class == TALLY_CLASS_UINT ? TALLY_U64 : TALLY_I64);
}

static size_t make_header(const results *from, char header[NPY_WRITTEN_MAX]) {
    char record[256];
    int dimensions = from->dimensions;
    int64_t shape[NPY_DIMENSIONS_MAX + 1];
    memcpy(shape, from->shape, sizeof from->shape);
    if (from->op == TALLY_MINMAX) {
        shape[dimensions++] = 2;
    }
    if (from->op != TALLY_STATS) {
        return npy_write(header, npy_descr(from->type), dimensions, shape);
    }
    const char *word = word_descr(from->input);
    snprintf(record, sizeof record,
             "[('count', '<i8'), ('min', %s), ('max', %s), ('sum', %s), ('mean', '<f8'), ('var', '<f8')]", word, word,
             word);
    return npy_write(header, record, dimensions, shape);
}

static bool write_bytes(int descriptor, const void *bytes, size_t size) {
    const char *at = bytes;
    while (size > 0) {
        ssize_t written = write(descriptor, at, size < (size_t)1 << 30 ? size : (size_t)1 << 30);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        at += written;
        size -= (size_t)written;
    }
    return true;
}

static bool write_results(const results *from, int descriptor) {
    char header[NPY_WRITTEN_MAX];
    size_t length = make_header(from, header);
    return write_bytes(descriptor, header, length) &&
           write_bytes(descriptor, from->data, (size_t)from->count * from->size);
}

/* ---- where it is written ---- */

static bool close_checked(int descriptor, bool fine) {
    int kept = errno;
    bool closed = close(descriptor) == 0;
    if (!fine) {
        errno = kept;
    }
    return fine && closed;
}

/* Into what is there already and is no ordinary file: a device, a pipe, a link. */
static bool save_directly(const results *from, const char *path) {
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0 || !close_checked(descriptor, write_results(from, descriptor))) {
        return complain_system(path, "cannot write the results");
    }
    return true;
}

/* Gives a file from mkstemp the rights that open would have given. */
static bool usual_rights(int descriptor) {
    mode_t mask = umask(0);
    umask(mask);
    return fchmod(descriptor, 0666 & ~mask) == 0;
}

/* Into a file beside, which takes the name when it is whole, so that a full disk leaves what was there. */
static bool save_beside(const results *from, const char *path) {
    size_t length = strlen(path);
    char *beside = take_memory(path, (int64_t)length + 8, 1);
    if (beside == NULL) {
        return false;
    }
    memcpy(beside, path, length);
    strcpy(beside + length, ".XXXXXX");
    int descriptor = mkstemp(beside);
    bool fine = descriptor >= 0;
    if (fine) {
        fine = close_checked(descriptor, write_results(from, descriptor) && usual_rights(descriptor)) &&
               rename(beside, path) == 0;
        int kept = errno;
        if (!fine) {
            unlink(beside);
        }
        errno = kept;
    }
    free(beside);
    return fine || complain_system(path, "cannot write the results");
}

bool save_results(const results *from, const char *path) {
    struct stat status;
    bool direct = lstat(path, &status) == 0 && !S_ISREG(status.st_mode);
    return direct ? save_directly(from, path) : save_beside(from, path);
}
