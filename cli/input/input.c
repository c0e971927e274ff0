#define _GNU_SOURCE
#include "input/input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/complain.h"
#include "formats/numbers.h"

void lay_aside(input *in) {
    if (in->file_bytes >= 0 && in->descriptor > STDIN_FILENO) {
        close(in->descriptor);
        in->descriptor = -1;
        in->aside = true;
    }
}

static bool take_up(input *in) {
    struct stat status;
    in->descriptor = open(in->name, O_RDONLY | O_CLOEXEC);
    if (in->descriptor < 0 || fstat(in->descriptor, &status) != 0 ||
        lseek(in->descriptor, in->bytes_read, SEEK_SET) != in->bytes_read) {
        return complain_system(in->name, "cannot open it again");
    }
    in->aside = false;
    return (in->identity[0] == status.st_dev && in->identity[1] == status.st_ino) ||
           complain(in->name, "another file took its place while it was read");
}

/* One read, again if a signal interrupts it. Returns 0 at the end, -1 after a complaint. */
static int64_t read_once(input *in, void *bytes, size_t size) {
    ssize_t got;
    if (in->aside && !take_up(in)) {
        return -1;
    }
    do {
        got = read(in->descriptor, bytes, size < (size_t)1 << 30 ? size : (size_t)1 << 30);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        complain_system(in->name, "cannot read it");
        return -1;
    }
    in->bytes_read += got;
    return got;
}

/* Pages behind are not read again: the system may use their memory. */
static void forget_behind(const input *in) {
    if (in->huge) {
        posix_fadvise(in->descriptor, 0, in->bytes_read, POSIX_FADV_DONTNEED);
    }
}

int64_t read_input(input *in, void *bytes, int64_t size) {
    size_t ahead = in->ahead_bytes - in->ahead_at;
    int64_t done = (int64_t)ahead < size ? (int64_t)ahead : size;
    if (done > 0) {
        memcpy(bytes, in->ahead + in->ahead_at, (size_t)done);
        in->ahead_at += (size_t)done;
    }
    while (done < size) {
        int64_t got = read_once(in, (unsigned char *)bytes + done, (size_t)(size - done));
        if (got <= 0) {
            forget_behind(in);
            return got < 0 ? -1 : done;
        }
        done += got;
    }
    forget_behind(in);
    return done;
}

/* Reads until `ahead` holds `size` bytes or the stream ends. */
static bool look_ahead(input *in, size_t size) {
    unsigned char *longer = realloc(in->ahead, size);
    if (longer == NULL) {
        return complain(in->name, "no memory for %zu bytes of its header", size);
    }
    in->ahead = longer;
    while (in->ahead_bytes < size) {
        int64_t got = read_once(in, in->ahead + in->ahead_bytes, size - in->ahead_bytes);
        if (got <= 0) {
            return got == 0;
        }
        in->ahead_bytes += (size_t)got;
    }
    return true;
}

/* ---- .npy ---- */

/* A .npy file knows its type; --type may only say what NumPy cannot: that two bytes are a bf16 or an f16. */
static bool settle_npy_type(input *in, tally_type wanted) {
    tally_type type = in->layout.type;
    bool bits = type == TALLY_NATURAL || type == TALLY_U16;
    if (bits && (wanted == TALLY_BF16 || wanted == TALLY_F16)) {
        in->layout.type = wanted;
        return true;
    }
    if (type == TALLY_NATURAL) {
        return complain(in->name, "it holds raw bytes, two a value; if they are bfloat16, say --type bf16");
    }
    if (wanted != TALLY_NATURAL && wanted != type) {
        return complain(in->name, "it holds %s; --type %s cannot change that", type_name(type), type_name(wanted));
    }
    return true;
}

static bool check_length(input *in) {
    int64_t promised = (int64_t)in->layout.data_at + in->layout.count * (int64_t)in->layout.size;
    if (in->file_bytes < 0 || in->file_bytes == promised) {
        return true;
    }
    if (in->file_bytes < promised) {
        return complain(in->name, "it ends early: its header promises %" PRId64 " bytes, the file has %" PRId64,
                        promised, in->file_bytes);
    }
    return complain(in->name,
                    "it goes on behind its array (%" PRId64 " bytes); if that is a second array, save each by itself",
                    in->file_bytes - promised);
}

static bool open_npy(input *in, tally_type wanted) {
    char trouble[NPY_TROUBLE_SIZE] = "";
    npy_verdict verdict;
    for (;;) {
        verdict = npy_read(in->ahead, in->ahead_bytes, &in->layout, trouble);
        if (verdict != NPY_SHORT) {
            break;
        }
        if (!look_ahead(in, in->layout.data_at)) {
            return false;
        }
        if (in->ahead_bytes < in->layout.data_at) {
            return complain(in->name, "it ends within its .npy header");
        }
    }
    if (verdict == NPY_BAD) {
        return complain(in->name, "%s", trouble);
    }
    in->form = FORM_NPY;
    in->ahead_at = in->layout.data_at;
    return settle_npy_type(in, wanted) && check_length(in);
}

/* ---- raw ---- */

static bool open_raw(input *in, tally_type type) {
    in->form = FORM_RAW;
    if (type == TALLY_NATURAL) {
        return complain(in->name, "raw values have no type of their own; say it with --type (f32, i64, ...)");
    }
    in->layout = (npy_layout){.type = type, .size = type_size(type), .dimensions = 1, .count = -1};
    if (in->file_bytes >= 0) {
        if (in->file_bytes % (int64_t)in->layout.size != 0) {
            return complain(in->name, "its %" PRId64 " bytes are no whole number of %s values", in->file_bytes,
                            type_name(type));
        }
        in->layout.count = in->file_bytes / (int64_t)in->layout.size;
        in->layout.shape[0] = in->layout.count;
    }
    return true;
}

/* Whether the name says raw values: .raw, .bin, or the name of a type, which *type then is unless it was said. */
static bool raw_name(const char *name, tally_type *type) {
    const char *dot = strrchr(name, '.');
    if (dot == NULL || strchr(dot, '/') != NULL) {
        return false;
    }
    tally_type named = tally_type_from_name(dot + 1);
    if (named != TALLY_NATURAL && *type == TALLY_NATURAL) {
        *type = named;
    }
    return named != TALLY_NATURAL || strcmp(dot, ".raw") == 0 || strcmp(dot, ".bin") == 0;
}

static bool npy_name(const char *name) {
    size_t length = strlen(name);
    return length >= 4 && strcmp(name + length - 4, ".npy") == 0;
}

/* ---- opening ---- */

static bool open_descriptor(input *in, const char *name) {
    struct stat status;
    if (strcmp(name, "-") == 0) {
        in->name = "standard input";
        in->descriptor = STDIN_FILENO;
        return true;
    }
    in->descriptor = open(name, O_RDONLY | O_CLOEXEC);
    if (in->descriptor < 0 || fstat(in->descriptor, &status) != 0) {
        return complain_system(name, "cannot open it");
    }
    if (S_ISDIR(status.st_mode)) {
        return complain(name, "this is a directory; name the files in it");
    }
    if (S_ISREG(status.st_mode)) {
        in->file_bytes = status.st_size;
        in->identity[0] = status.st_dev;
        in->identity[1] = status.st_ino;
        in->huge = in->file_bytes > machine_memory() / 2;
        posix_fadvise(in->descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
    }
    return true;
}

static bool find_form(input *in, const char *name, input_wish wish) {
    tally_type type = wish.type;
    if (wish.raw) {
        return open_raw(in, type);
    }
    if (!look_ahead(in, NPY_FIRST_BYTES)) {
        return false;
    }
    if (npy_starts(in->ahead, in->ahead_bytes) || npy_name(name)) {
        return open_npy(in, wish.type);
    }
    if (raw_name(name, &type)) {
        return open_raw(in, type);
    }
    in->form = FORM_TEXT;
    in->wanted = wish.type;
    return true;
}

/* Maps a regular file of values; where that fails it is read. */
static void map_values(input *in) {
    if (in->form == FORM_TEXT || in->file_bytes <= 0 || in->huge) {
        return;
    }
    void *start = mmap(NULL, (size_t)in->file_bytes, PROT_READ, MAP_PRIVATE, in->descriptor, 0);
    if (start == MAP_FAILED) {
        return;
    }
    in->mapped = start;
    in->mapped_bytes = (size_t)in->file_bytes;
    in->held = (const unsigned char *)start + in->layout.data_at;
    madvise(start, in->mapped_bytes, MADV_SEQUENTIAL);
    madvise(start, in->mapped_bytes, MADV_WILLNEED);
}

bool open_input(input *in, const char *name, input_wish wish) {
    *in = (input){.name = name, .descriptor = -1, .file_bytes = -1};
    if (!open_descriptor(in, name) || !find_form(in, name, wish)) {
        return false;
    }
    map_values(in);
    return true;
}

void close_input(input *in) {
    if (in->mapped != NULL) {
        munmap(in->mapped, in->mapped_bytes);
    }
    free(in->ahead);
    free(in->owned);
    free(in->zeros.places);
    free(in->block);
    if (in->descriptor > STDIN_FILENO) {
        close(in->descriptor);
    }
    *in = (input){.descriptor = -1};
}
