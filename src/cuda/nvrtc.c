/* NVRTC, NVIDIA's compiler as a library: found where distributions, CUDA and Python wheels put it, and opened at run
 * time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <glob.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/library.h"
#include "cuda/nvidia.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static tally__nvrtc table;
static bool opened;
static char file[4096]; /* the file of the open library, as the system names it, or "" */
static atomic_bool is_open;
static char reason[512]; /* why the first candidate that exists was not taken */

static const struct {
    const char *symbol;
    size_t place;
} calls[] = {
#define TALLY_ROW(type, member, symbol, parameters) {symbol, offsetof(tally__nvrtc, member)},
    TALLY_NVRTC_CALLS(TALLY_ROW)
#undef TALLY_ROW
};

#define REJECT(...)                                                          \
    do {                                                                     \
        if (reason[0] == '\0') snprintf(reason, sizeof reason, __VA_ARGS__); \
        return false;                                                        \
    } while (0)

/* The driver refuses what compilers of a later major version make. Without a driver nothing is loaded anyway. */
static int driver_major(void) {
    const char *why;
    int version = 0;
    const tally__driver *driver = tally__nvidia_driver(&why);
    if (driver == NULL || driver->driver_version(&version) != TALLY_CU_SUCCESS) return 0;
    return version / 1000;
}

/* NVRTC opens a second library when it compiles, and finds it by its own run path. Sanitizers replace dlopen and break
 * that, so the library is opened here: an open library is always found. */
static void open_builtins(void) {
    const char *slash = strrchr(file, '/'), *why;
    char path[4096 + 64];
    if (slash == NULL) return;
    snprintf(path, sizeof path, "%.*s/libnvrtc-builtins.so.%d.%d", (int)(slash - file), file, table.major, table.minor);
    tally__open_library(path, &why);
}

/* Fills the table from an open library. `named`: the caller chose this library, so the rule above does not apply. */
static bool fill_table(void *library, const char *path, bool named) {
    int known = driver_major();
    Dl_info place;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *symbol = dlsym(library, calls[i].symbol);
        if (symbol == NULL) REJECT("%.200s has no function %s: it is too old or no NVRTC", path, calls[i].symbol);
        memcpy((char *)&table + calls[i].place, &symbol, sizeof symbol);
    }
    if (table.version(&table.major, &table.minor) != 0 || table.major < 12)
        REJECT("%.200s is NVRTC %d.%d, and Tally needs 12.0 or newer", path, table.major, table.minor);
    if (known != 0 && table.major > known && !named)
        REJECT("%.200s is NVRTC %d.%d, which is too new for the driver: update the driver, or pip install "
               "nvidia-cuda-nvrtc-cu%d",
               path, table.major, table.minor, known);
    if (table.arch_count(&table.sm_count) != 0 || table.sm_count < 1 ||
        table.sm_count > (int)(sizeof table.sm / sizeof *table.sm) || table.archs(table.sm) != 0)
        REJECT("%.200s does not tell what it compiles for", path);
    if (dladdr(dlsym(library, calls[0].symbol), &place) != 0) snprintf(file, sizeof file, "%s", place.dli_fname);
    open_builtins();
    return true;
}

static bool try_file(const char *path, bool named) {
    const char *why;
    void *library = tally__open_library(path, &why);
    if (library == NULL) {
        if (named) REJECT("TALLY_NVRTC names no library that can be loaded (%.300s): correct or unset it", why);
        return false;
    }
    if (fill_table(library, path, named)) return true;
    dlclose(library);
    return false;
}

/* Newer versions come later by name, and are tried first. */
static bool try_pattern(const char *folder, const char *rest) {
    char pattern[4096];
    glob_t found;
    bool done = false;
    if (snprintf(pattern, sizeof pattern, "%s%s", folder, rest) >= (int)sizeof pattern) return false;
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = found.gl_pathc; !done && i-- > 0;) done = try_file(found.gl_pathv[i], false);
        globfree(&found);
    }
    return done;
}

/* nvidia/cu13 and nvidia/cuda_nvrtc are the folders of NVIDIA's wheels. */
#define WHEEL "/nvidia/cu*/lib/libnvrtc.so.*"
#define PYTHON "/lib/python3*/site-packages"

/* Where to look: a variable that names a folder, or NULL, and a pattern behind it. */
static const struct {
    const char *variable, *rest;
} places[] = {
    {"VIRTUAL_ENV", PYTHON WHEEL},
    {"CONDA_PREFIX", PYTHON WHEEL},
    {"CONDA_PREFIX", "/lib/libnvrtc.so.*"},
    {"HOME", "/.local" PYTHON WHEEL},
    {"HOME", "/.pyenv/versions/*" PYTHON WHEEL},
    {NULL, "/usr/local/lib/python3*/dist-packages" WHEEL},
    {NULL, "/usr/local" PYTHON WHEEL},
    {NULL, "/usr/lib/python3*/dist-packages" WHEEL},
    {NULL, "/usr" PYTHON WHEEL},
    {NULL, "/opt/*" PYTHON WHEEL},
    {NULL, "/opt/*/.venv" PYTHON WHEEL},
    {"CUDA_HOME", "/lib64/libnvrtc.so.*"},
    {NULL, "/usr/local/cuda*/lib64/libnvrtc.so.*"},
    {NULL, "/usr/local/cuda*/targets/*/lib/libnvrtc.so.*"},
};

/* Folders must be absolute: code is never loaded from the folder where a program happens to be started. */
static bool try_places(void) {
    const char *path = secure_getenv("PYTHONPATH");
    char folder[2048];
    for (const char *p = path; p != NULL && *p != '\0'; p += *p == ':') {
        size_t length = strcspn(p, ":");
        if (*p == '/' && length < sizeof folder) {
            memcpy(folder, p, length);
            folder[length] = '\0';
            if (try_pattern(folder, WHEEL)) return true;
        }
        p += length;
    }
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *begin = places[i].variable == NULL ? "" : secure_getenv(places[i].variable);
        if (begin != NULL && (places[i].variable == NULL || begin[0] == '/') && try_pattern(begin, places[i].rest))
            return true;
    }
    return false;
}

static bool try_all(void) {
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
    const char *named = secure_getenv("TALLY_NVRTC");
    if (named != NULL && named[0] != '\0') return try_file(named, true);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (try_file(names[i], false)) return true;
    return try_places();
}

static void open_nvrtc(void) {
    opened = try_all();
    atomic_store(&is_open, opened);
}

const char *tally__nvrtc_file(void) { return atomic_load(&is_open) ? file : NULL; }

tally_status tally__nvrtc_open(const tally__nvrtc **nvrtc) {
    pthread_once(&once, open_nvrtc);
    *nvrtc = &table;
    if (opened) return TALLY_OK;
    if (reason[0] != '\0') return tally__fail(TALLY_UNSUPPORTED, "%s", reason);
    return tally__fail(TALLY_UNSUPPORTED,
                       "GPU kernels need NVIDIA's compiler library, and libnvrtc.so was not found: pip install "
                       "nvidia-cuda-nvrtc, or let TALLY_NVRTC name the file");
}
