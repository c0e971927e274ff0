#define _GNU_SOURCE
#include "output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/complain.h"

enum { MOST_LINKS = 40 }; /* as many as Linux follows */

static const char failure[] = "it cannot be written";

bool is_standard_stream(const char *name) { return name != NULL && strcmp(name, "-") == 0; }

/* ---- a signal that ends the program ---- */

static const output *volatile unfinished; /* the output whose new file must then be removed */

static void abandon(int signal_number) {
    const output *out = unfinished;
    if (out != NULL) {
        unlinkat(out->folder, out->beside, 0);
    }
    raise(signal_number); /* its default action, which ends the program */
}

static void guard(const output *out) {
    static const int endings[] = {SIGHUP, SIGINT, SIGTERM, SIGXCPU};
    struct sigaction action = {.sa_handler = abandon, .sa_flags = (int)SA_RESETHAND}, before;
    unfinished = out;
    for (size_t k = 0; k < sizeof endings / sizeof endings[0]; k++) {
        if (sigaction(endings[k], NULL, &before) == 0 && before.sa_handler == SIG_DFL) {
            sigaction(endings[k], &action, NULL);
        }
    }
}

/* ---- where the file will lie ---- */

static bool same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Where the folder's part of a path ends and the last name begins. */
static size_t folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (size_t)(slash + 1 - path);
}

/* The path that a name's links end at, be there a file or not. */
static bool follow_links(const char *name, char path[PATH_MAX]) {
    char target[PATH_MAX];
    errno = ENAMETOOLONG;
    if (strlen(name) >= PATH_MAX) {
        return false;
    }
    strcpy(path, name);
    for (int links = 0; links <= MOST_LINKS; links++) {
        ssize_t length = readlink(path, target, sizeof target);
        if (length < 0) {
            return true; /* not a link; any other problem shows when the file is opened */
        }
        size_t kept = target[0] == '/' ? 0 : folder_length(path);
        if (kept + (size_t)length >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return false;
        }
        memcpy(path + kept, target, (size_t)length);
        path[kept + (size_t)length] = '\0';
    }
    errno = ELOOP;
    return false;
}

/* Whether the file may be replaced: not if it may not be written, though renaming would only ask the folder. Looks at
 * the mode bits, since root may write everything. */
static bool may_replace(const struct stat *found, const char *path) {
    bool own = found->st_uid == geteuid();
    return (found->st_mode & (own ? S_IWUSR : S_IWUSR | S_IWGRP | S_IWOTH)) != 0 &&
           faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;
}

/* ---- opening ---- */

static bool attach(output *out, int descriptor) {
    out->stream = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (out->stream == NULL && descriptor >= 0) {
        close(descriptor);
    }
    return out->stream != NULL;
}

/* Gives the new file the rights of the one that it replaces. If it cannot have the same group, its group gets only what
 * everybody has. */
static bool keep_rights(int descriptor, const struct stat *kept) {
    mode_t mode = kept->st_mode & 0777;
    if (fchown(descriptor, kept->st_uid, kept->st_gid) != 0 && fchown(descriptor, (uid_t)-1, kept->st_gid) != 0) {
        mode = (mode & 0707) | (mode & 07) << 3;
    }
    return fchmod(descriptor, mode) == 0;
}

/* Makes a new file in the folder. replaced: the file that has the final name now, or NULL. Nobody else has its random
 * name, so a signal may remove it even before the file is there. */
static int make_beside(output *out, const struct stat *replaced) {
    uint64_t chance = 0;
    if (getrandom(&chance, sizeof chance, 0) != sizeof chance) {
        return -1;
    }
    snprintf(out->beside, sizeof out->beside, ".tally.%016" PRIx64, chance);
    guard(out);
    return openat(out->folder, out->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, replaced != NULL ? 0600 : 0666);
}

/* Removes the new file, which has not taken its place. */
static void discard(output *out) {
    int kept = errno;
    unlinkat(out->folder, out->beside, 0);
    errno = kept;
}

static void leave_folder(output *out) {
    int kept = errno;
    unfinished = NULL;
    close(out->folder);
    errno = kept;
}

static bool begin_beside(output *out, char *path, const struct stat *replaced) {
    size_t length = folder_length(path);
    errno = ENAMETOOLONG;
    if (strlen(path + length) > MOST_NAME) {
        return false;
    }
    strcpy(out->last, path + length);
    path[length] = '\0';
    out->folder = open(length > 0 ? path : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (out->folder < 0) {
        return false;
    }
    int descriptor = make_beside(out, replaced);
    bool made = descriptor >= 0;
    bool fine = made && (replaced == NULL || keep_rights(descriptor, replaced)) && attach(out, descriptor);
    if (made && !fine) {
        discard(out);
    }
    if (!fine) {
        leave_folder(out);
    }
    return fine;
}

bool begin_output(output *out, const char *name) {
    struct stat named, standard, found;
    char path[PATH_MAX];
    bool exists = stat(name, &named) == 0;
    bool ordinary = !exists || S_ISREG(named.st_mode);
    *out = (output){.name = name, .folder = -1};
    if (is_standard_stream(name) ||
        (exists && ordinary && fstat(STDOUT_FILENO, &standard) == 0 && same_file(&named, &standard))) {
        out->stream = stdout; /* by whatever name: what is open as standard output already is not replaced */
        return true;
    }
    if (!follow_links(name, path)) {
        return complain_system(name, failure);
    }
    bool at_path = !exists || (stat(path, &found) == 0 && same_file(&named, &found));
    if (!ordinary || !at_path) { /* a link in /proc may lead to a file that has no path */
        return attach(out, open(name, O_WRONLY | O_TRUNC | O_CLOEXEC)) || complain_system(name, failure);
    }
    if (exists && !may_replace(&named, path)) {
        return complain(name, "it may not be written: its mode is %04o; chmod it, or write another file",
                        (unsigned)(named.st_mode & 07777));
    }
    return begin_beside(out, path, exists ? &named : NULL) || complain_system(name, failure);
}

/* ---- ending ---- */

bool end_output(output *out) {
    if (out->stream == stdout) {
        return true; /* main checks at the end whether it arrived */
    }
    bool written = !ferror(out->stream); /* if not, errno says why */
    errno = written ? 0 : errno;
    written = fflush(out->stream) == 0 && written;
    int reason = errno;
    written = fclose(out->stream) == 0 && written;
    errno = reason != 0 ? reason : errno;
    if (out->folder >= 0) {
        written = written && renameat(out->folder, out->beside, out->folder, out->last) == 0;
        if (!written) {
            discard(out);
        }
        leave_folder(out);
    }
    return written || (errno != 0 ? complain_system(out->name, failure) : complain(out->name, "%s", failure));
}

void drop_output(output *out) {
    if (out->stream != stdout) {
        fclose(out->stream);
    }
    if (out->folder >= 0) {
        discard(out);
        leave_folder(out);
    }
}
