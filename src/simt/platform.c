/* The simulator's platform: kernels by name (entries.c). There is nothing to compile. An operator given as text is
 * found if a program has compiled that text itself and registered it: a library that runs a compiler behind the
 * caller's back for the sake of a simulator would be a surprise, and its code beyond the reach of sanitizers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/platform.h"
#include "simt/module.h"

static const tally__driver *driver(const char **why) {
    (void)why;
    return &tally__simt_driver;
}

static tally_status compile(const tally__unit *unit, int sm, tally__image *image) {
    size_t size = strlen(TALLY_SIMT_IMAGE) + strlen(unit->entry) + 1;
    bool found = tally__simt_find(unit->entry) != NULL;
    (void)sm;
    TALLY_CHECK(found || unit->user_text == NULL, UNSUPPORTED,
                "the simulator has no kernel \"%s\", and no compiler for an operator given as text", unit->entry);
    TALLY_CHECK(found || tally__simt_missing()[0] == '\0', UNSUPPORTED, "%s", tally__simt_missing());
    TALLY_CHECK(found, UNSUPPORTED, "the simulator has no kernel \"%s\"", unit->entry);
    image->bytes = malloc(size);
    TALLY_CHECK(image->bytes != NULL, NO_MEMORY, "no memory for an image of %zu bytes", size);
    image->size = size;
    snprintf(image->bytes, size, "%s%s", TALLY_SIMT_IMAGE, unit->entry);
    return TALLY_OK;
}

static tally_status compiler_version(char *version, size_t capacity) {
    TALLY_CHECK(capacity > 0, NO_SPACE, "no space for the compiler's version");
    version[0] = '\0';
    return TALLY_OK;
}

const tally__platform tally__simt_platform = {"simt", driver, compile, compiler_version, NULL};
