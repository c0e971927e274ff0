/* Opens NCCL (nccl.h). */
#define _GNU_SOURCE
#include "cuda/nccl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/library.h"

static tally__nccl table;
static bool opened;
static char reason[400];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_nccl(void) {
    static const char *const symbols[] = {
#define TALLY_ROW(type, member, symbol, parameters) symbol,
        TALLY_NCCL_CALLS(TALLY_ROW)
#undef TALLY_ROW
    };
    const char *named = secure_getenv("TALLY_NCCL"), *path = named != NULL && named[0] != 0 ? named : "libnccl.so.2",
               *why = NULL;
    void *library = tally__open_library(path, &why), **functions = (void **)(void *)&table;
    if (library == NULL) {
        snprintf(reason, sizeof reason, "there is no NCCL: %.300s (TALLY_NCCL names another file)", why);
        return;
    }
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        functions[i] = dlsym(library, symbols[i]);
        if (functions[i] != NULL) continue;
        snprintf(reason, sizeof reason, "%.250s has no %s: NCCL 2.7 or newer is needed", path, symbols[i]);
        return;
    }
    opened = true;
}

tally_status tally__nccl_open(const tally__nccl **nccl) {
    pthread_once(&once, open_nccl);
    TALLY_CHECK(opened, NO_DEVICE, "%s", reason);
    *nccl = &table;
    return TALLY_OK;
}

tally_status tally__nccl_check(const tally__nccl *nccl, int error, const char *what) {
    TALLY_CHECK(error == 0, DEVICE_FAILED, "NCCL could not %s: %s", what, nccl->sentence(error));
    return TALLY_OK;
}
