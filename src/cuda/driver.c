/* libcuda, opened at run time: one binary serves machines with and without a GPU. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/library.h"
#include "cuda/nvidia.h"

enum { LEAST_VERSION = 12000, NO_VERSION_YET = 0, STUB = 34 /* CUDA_ERROR_STUB_LIBRARY */ };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static tally__driver table;
static bool opened;
static char reason[512];
static atomic_bool loaded; /* stays true: nobody unloads a driver */

static const struct {
    const char *symbol;
    size_t place;
} calls[] = {
#define TALLY_ROW(member, symbol, parameters) {symbol, offsetof(tally__driver, member)},
    TALLY_DRIVER_CALLS(TALLY_ROW)
#undef TALLY_ROW
};

static void *open_library(void) {
    static const char *const names[] = {"libcuda.so.1", "libcuda.so", "/usr/local/nvidia/lib64/libcuda.so.1"};
    const char *named = secure_getenv("TALLY_CUDA_DRIVER");
    const char *why;
    void *library = NULL;
    if (named != NULL && named[0] != '\0') {
        library = tally__open_library(named, &why);
        if (library == NULL)
            snprintf(reason, sizeof reason,
                     "TALLY_CUDA_DRIVER names no GPU driver that can be loaded (%s): correct or unset it", why);
        return library;
    }
    for (size_t i = 0; library == NULL && i < sizeof names / sizeof *names; i++)
        library = tally__open_library(names[i], &why);
    if (library == NULL)
        snprintf(reason, sizeof reason,
                 "there is no NVIDIA driver here (libcuda.so.1 was not found): install NVIDIA's driver, in a container "
                 "start it "
                 "with the GPUs (docker run --gpus all), or let TALLY_CUDA_DRIVER name the file");
    return library;
}

/* Says what `error` means, in the driver's words if it has any. */
static void explain(int error, const char *call) {
    const char *name = NULL, *sentence = NULL;
    if (error == TALLY_CU_NO_DEVICE || error == STUB) {
        snprintf(
            reason, sizeof reason, "%s",
            error == STUB
                ? "the libcuda found is the CUDA toolkit's stub, which is for linking only: keep its folder out of "
                  "LD_LIBRARY_PATH"
                : "the NVIDIA driver sees no GPU: look at nvidia-smi, and at CUDA_VISIBLE_DEVICES, which can hide "
                  "them");
        return;
    }
    if (table.error_name(error, &name) != TALLY_CU_SUCCESS) name = NULL;
    if (table.error_sentence(error, &sentence) != TALLY_CU_SUCCESS) sentence = NULL;
    snprintf(reason, sizeof reason,
             "the NVIDIA driver does not start: %s gave %s (error %d: %s); does nvidia-smi work here?", call,
             name != NULL ? name : "an error", error, sentence != NULL ? sentence : "no explanation");
}

static void open_driver(void) {
    int version = NO_VERSION_YET, error;
    void *library = open_library();
    const char *missing = NULL;
    if (library == NULL) return;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *symbol = dlsym(library, calls[i].symbol);
        if (symbol == NULL && missing == NULL) missing = calls[i].symbol;
        memcpy((char *)&table + calls[i].place, &symbol, sizeof symbol);
    }
    /* An old driver lacks functions; the better sentence says that it is old. It gives its version before it is
     * initialised. */
    if (table.driver_version != NULL && table.driver_version(&version) != TALLY_CU_SUCCESS) version = NO_VERSION_YET;
    if (version != NO_VERSION_YET && version < LEAST_VERSION)
        snprintf(
            reason, sizeof reason,
            "the NVIDIA driver is too old: it knows CUDA %d.%d, and Tally needs 12.0 (driver 525) or newer: update it",
            version / 1000, version % 1000 / 10);
    else if (missing != NULL)
        snprintf(reason, sizeof reason, "the NVIDIA driver has no function %s: it is too old or damaged; update it",
                 missing);
    else if ((error = table.init(0)) != TALLY_CU_SUCCESS)
        explain(error, "cuInit");
    else if (version == NO_VERSION_YET)
        snprintf(reason, sizeof reason, "the NVIDIA driver does not tell its version: update it");
    else {
        opened = true;
        atomic_store(&loaded, true);
    }
    if (!opened) dlclose(library);
}

const tally__driver *tally__nvidia_driver(const char **why) {
    pthread_once(&once, open_driver);
    *why = reason;
    return opened ? &table : NULL;
}

/* How many libraries were ever loaded. Every entry says so: the first one ends the walk. */
static int count_loads(struct dl_phdr_info *info, size_t size, void *count) {
    if (size >= offsetof(struct dl_phdr_info, dlpi_subs)) *(unsigned long long *)count = info->dlpi_adds;
    return 1;
}

/* dlopen searches the folders of libraries even if it is told to load nothing (some 10 us), so it is called again only
 * if the process has loaded a library since. The count of libraries is read first: after a library that is loaded
 * meanwhile, the next call asks again. */
bool tally__driver_is_loaded(void) {
    static _Atomic unsigned long long asked_at; /* 0: not asked yet */
    unsigned long long loads = 0;
    void *library;
    if (atomic_load_explicit(&loaded, memory_order_relaxed)) return true;
    dl_iterate_phdr(count_loads, &loads);
    if (loads != 0 && loads == atomic_load(&asked_at)) return false;
    library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (library != NULL) {
        dlclose(library);
        atomic_store(&loaded, true);
        return true;
    }
    atomic_store(&asked_at, loads);
    return false;
}
