/* libtally-simt.so, opened at run time: named by TALLY_SIMT_KERNELS, or in the folder of the program or library that
 * this code is part of, or where that would have installed it, or where the loader finds it. */
#define _GNU_SOURCE
#include "simt/module.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "cuda/library.h"

#define FILE_NAME "libtally-simt.so"

static bool opened; /* true after the first try, even if nothing was found */
static tally__simt_lookup *lookup;
static char reason[PATH_MAX + 400]; /* why the first candidate that exists was not taken */

#define REJECT(...)                                                          \
    do {                                                                     \
        if (reason[0] == '\0') snprintf(reason, sizeof reason, __VA_ARGS__); \
        return false;                                                        \
    } while (0)

static bool take(void *library, const char *path) {
    tally__simt_opening *open;
    void *symbol = dlsym(library, "tally_simt_kernels");
    if (symbol == NULL)
        REJECT("%s has no function tally_simt_kernels: it is not the simulator's kernels, " FILE_NAME, path);
    memcpy(&open, &symbol, sizeof open);
    lookup = open(tally__edition, tally__simt, sizeof *tally__simt);
    if (lookup == NULL)
        REJECT("the simulator's kernels in %s are of another build of Tally, or already serve another copy of it in "
               "this process: build them anew with make simt, or let TALLY_SIMT_KERNELS name others",
               path);
    return true;
}

static bool try_file(const char *path, bool named) {
    const char *why;
    void *library = tally__open_library(path, &why);
    if (library == NULL) {
        if (named) REJECT("TALLY_SIMT_KERNELS names no library that can be loaded (%s): correct or unset it", why);
        return false;
    }
    if (take(library, path)) return true; /* it stays open: contexts may keep kernels for any time */
    dlclose(library);
    return false;
}

/* Finds the file that this code is part of. dladdr would give argv[0] for a program, which its caller chooses. */
static int find_own_file(struct dl_phdr_info *object, size_t size, void *path) {
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        const char *name = object->dlpi_name[0] != '\0' ? object->dlpi_name : "/proc/self/exe";
        if (part->p_type == PT_LOAD && (uintptr_t)&opened - (object->dlpi_addr + part->p_vaddr) < part->p_memsz)
            return name[0] == '/' && realpath(name, path) != NULL;
    }
    return 0;
}

/* Whoever made our own file is trusted already. A library beside it is loaded only if the same user, or root, made it.
 */
static bool is_as_safe(const char *path, const char *own) {
    struct stat candidate, ours;
    return stat(path, &candidate) == 0 && stat(own, &ours) == 0 &&
           (candidate.st_uid == 0 || candidate.st_uid == ours.st_uid);
}

static bool try_folders(void) {
    static const char *const folders[] = {"", TALLY_BIN_TO_LIB "/"};
    char own[PATH_MAX], path[PATH_MAX];
    if (getauxval(AT_SECURE)) return false; /* a hard link would choose the folder */
    if (!dl_iterate_phdr(find_own_file, own)) return false;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        int folder = (int)(strrchr(own, '/') + 1 - own);
        if (snprintf(path, sizeof path, "%.*s%s" FILE_NAME, folder, own, folders[i]) >= (int)sizeof path) continue;
        if (is_as_safe(path, own) && try_file(path, false)) return true;
    }
    return false;
}

static void open_kernels(void) {
    const char *named = secure_getenv("TALLY_SIMT_KERNELS");
    if (named != NULL && named[0] != '\0')
        try_file(named, true);
    else if (!try_folders() && !try_file(FILE_NAME, false) && reason[0] == '\0')
        snprintf(reason, sizeof reason,
                 "the simulator's kernels are a library of their own, and %s was not found: make simt builds it, and "
                 "TALLY_SIMT_KERNELS can name the file",
                 FILE_NAME);
}

tally__simt_entry *tally__simt_production(const char *entry) {
    if (!opened) open_kernels();
    opened = true;
    return lookup != NULL ? lookup(entry) : NULL;
}

const char *tally__simt_missing(void) { return lookup != NULL ? "" : reason; }
