/* Images on disk, one record each. A record is written to a temporary file and renamed, so that readers see all of it
 * or nothing. A file may hold anything: it is used only if its length, key and checksum are right. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cuda/cache.h"

enum {
    VERSION = 1,
    MOST_NAME = 96,
    MOST_RECORDS = 8192 /* tally warm --all makes some 2200 for each kind of GPU and version of the compiler */
};
static const size_t most_bytes = (size_t)64 << 20; /* of an image: a larger file is not one of ours */

static const char magic[8] = "TALLYIM";
typedef struct header {
    char magic[8];
    uint32_t version, zero;
    tally__key key;
    uint64_t size, checksum;
} header;
_Static_assert(sizeof(header) == 48, "the header of a record has gaps");

/* ---- the folder ---- */

/* Writes the folder's path. Returns NULL, or why there is none. */
static const char *folder_path(char *path) {
    const char *named = secure_getenv("TALLY_CACHE_DIR"), *xdg = secure_getenv("XDG_CACHE_HOME"),
               *home = secure_getenv("HOME");
    int length;
    if (named != NULL && named[0] != '\0') {
        if (strcmp(named, "off") == 0) return "TALLY_CACHE_DIR is off";
        length = snprintf(path, TALLY_MOST_PATH, "%s", named);
    } else if (xdg != NULL && xdg[0] == '/') /* the XDG specification says to ignore paths that are not absolute */
        length = snprintf(path, TALLY_MOST_PATH, "%s/tally", xdg);
    else if (home != NULL && home[0] == '/')
        length = snprintf(path, TALLY_MOST_PATH, "%s/.cache/tally", home);
    else
        return "neither TALLY_CACHE_DIR, XDG_CACHE_HOME nor HOME names a folder";
    return length > 0 && length < TALLY_MOST_PATH ? NULL : "the name of its folder is too long";
}

static bool is_trusted(const struct stat *info) {
    return info->st_uid == geteuid() && (info->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

tally_status tally__disk_folder(char *path) {
    struct stat info;
    const char *why = folder_path(path);
    TALLY_CHECK(why == NULL, UNSUPPORTED, "no kernels are kept on disk: %s", why);
    if (stat(path, &info) != 0) return TALLY_OK;
    TALLY_CHECK(S_ISDIR(info.st_mode), UNSUPPORTED, "no kernels are kept on disk: %.300s is no folder", path);
    TALLY_CHECK(is_trusted(&info), UNSUPPORTED,
                "no kernels are kept on disk: %.300s belongs to somebody else, or others can write to it", path);
    return TALLY_OK;
}

/* Opens the folder; with `makes`, makes it if it does not exist. -1: no folder can be trusted. Whoever can write to the
 * folder can make the GPU run any code in the user's name. */
static int open_folder(bool makes) {
    char path[TALLY_MOST_PATH];
    struct stat info;
    int folder;
    if (folder_path(path) != NULL) return -1;
    for (char *p = path + 1; makes && *p != '\0'; p++) {
        if (*p != '/') continue;
        *p = '\0';
        mkdir(path, 0700);
        *p = '/';
    }
    if (makes) mkdir(path, 0700);
    folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return -1;
    if (fstat(folder, &info) == 0 && is_trusted(&info)) return folder;
    close(folder);
    return -1;
}

static void record_name(const tally__key *key, char *name) {
    for (size_t i = 0; i < sizeof key->bytes; i++) snprintf(name + 2 * i, 3, "%02x", key->bytes[i]);
    strcat(name, ".image");
}

static bool is_ours(const char *name) {
    size_t length = strlen(name), end = strlen(".image");
    return strncmp(name, "tmp.", 4) == 0 || (length == 32 + end && strcmp(name + length - end, ".image") == 0);
}

/* Empties a folder with too many records: those still needed are made again, at some 50 ms a record. */
static void keep_small(int folder) {
    for (int pass = 0; pass < 2; pass++) {
        int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), count = 0;
        DIR *names = again >= 0 ? fdopendir(again) : NULL;
        struct dirent *found;
        if (names == NULL) {
            if (again >= 0) close(again);
            return;
        }
        while ((found = readdir(names)) != NULL) {
            if (!is_ours(found->d_name)) continue;
            count++;
            if (pass == 1) unlinkat(folder, found->d_name, 0);
        }
        closedir(names);
        if (count <= MOST_RECORDS) return;
    }
}

/* ---- records ---- */

static bool read_all(int file, void *bytes, size_t size) {
    for (char *to = bytes; size != 0;) {
        ssize_t got = read(file, to, size);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        to += got;
        size -= (size_t)got;
    }
    return true;
}

static bool write_all(int file, const void *bytes, size_t size) {
    for (const char *from = bytes; size != 0;) {
        ssize_t put = write(file, from, size);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        from += put;
        size -= (size_t)put;
    }
    return true;
}

static bool read_record(int file, const tally__key *key, tally__image *image) {
    struct stat info;
    header h;
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != geteuid()) return false;
    if (!read_all(file, &h, sizeof h)) return false;
    if (memcmp(h.magic, magic, sizeof magic) != 0 || h.version != VERSION || h.zero != 0) return false;
    if (memcmp(h.key.bytes, key->bytes, sizeof key->bytes) != 0) return false;
    if (h.size == 0 || h.size > most_bytes || (uint64_t)info.st_size != sizeof h + h.size) return false;
    image->size = (size_t)h.size;
    image->bytes = malloc(image->size);
    if (image->bytes != NULL && read_all(file, image->bytes, image->size) &&
        XXH3_64bits(image->bytes, image->size) == h.checksum)
        return true;
    free(image->bytes);
    *image = (tally__image){NULL, 0};
    return false;
}

bool tally__disk_read(const tally__key *key, tally__image *image) {
    char name[MOST_NAME];
    int folder = open_folder(false), file;
    bool done;
    if (folder < 0) return false;
    record_name(key, name);
    file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC); /* opening a pipe must not wait */
    done = file >= 0 && read_record(file, key, image);
    if (file >= 0) close(file);
    close(folder);
    return done;
}

void tally__disk_write(const tally__key *key, const tally__image *image) {
    static atomic_uint turn;
    char name[MOST_NAME], temporary[MOST_NAME];
    header h = {.version = VERSION, .key = *key, .size = image->size};
    int folder, file;
    bool done;
    if (image->size == 0 || image->size > most_bytes || (folder = open_folder(true)) < 0) return;
    memcpy(h.magic, magic, sizeof magic);
    h.checksum = XXH3_64bits(image->bytes, image->size);
    record_name(key, name);
    snprintf(temporary, sizeof temporary, "tmp.%ld.%u.%.32s", (long)getpid(), atomic_fetch_add(&turn, 1), name);
    unlinkat(folder, temporary, 0); /* left by a killed process that had the same number */
    file = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file >= 0) {
        done = write_all(file, &h, sizeof h) && write_all(file, image->bytes, image->size);
        if (close(file) != 0) done = false;
        if (!done || renameat(folder, temporary, folder, name) != 0) unlinkat(folder, temporary, 0);
        keep_small(folder);
    }
    close(folder);
}
