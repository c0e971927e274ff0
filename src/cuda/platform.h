/* What the cuda backend runs on: a driver, and something that turns a translation unit into an image the driver loads.
 * There are two: NVIDIA's (driver.c, compiler.c) and the simulator (src/simt). The rest of src/cuda knows no other
 * difference. */
#ifndef TALLY_CUDA_PLATFORM_H
#define TALLY_CUDA_PLATFORM_H

#include "cuda/driver.h"
#include "form_numbers.h"
#include "internal.h"

enum { TALLY_MOST_ENTRY = 64 }; /* bytes of a kernel's name */

/* One translation unit: a short preface of #defines that names the problem, then `#include "<text>"` of a kernel text.
 * All other texts of kernels/ can be included by their names. */
typedef struct tally__unit {
    char preface[1024];
    const char *text;             /* "production/reduce.h" */
    char entry[TALLY_MOST_ENTRY]; /* the name of its first kernel; others': tally__name_entry (units.h) */
    char problem[48];             /* what names of entries end with */
    tally__entry first;           /* of so many */
    int entries;
    int kernel; /* the operator's: place in TALLY_KERNELS, or with `exact` in TALLY_EXACT_KERNELS, or TALLY_USERS; of a
                   general unit 0 */
    tally__form form;
    tally_type type;
    tally_nan nan;
    bool exact;
    int threads[TALLY_MOST_ENTRIES]; /* of a block of each kernel */
    size_t shared_bytes; /* of shared memory for a tile of segments, that launches of the first kernel give; 0: it wants
                            none */
    const char *user_text; /* source of the caller's own operator, or NULL; included by the name "user.h" */
    char user_key[33];     /* of that operator, else "" */
} tally__unit;

enum { TALLY_USERS = -1 };

/* An image for module_load, in memory of malloc. */
typedef struct tally__image {
    void *bytes;
    size_t size;
} tally__image;

typedef struct tally__platform {
    const char *name; /* "cuda", "simt" */
    /* The driver's table, opened at the first call; NULL: *why is a sentence (static, or good until the thread's next
     * call). */
    const tally__driver *(*driver)(const char **why);
    /* Compiles for architecture `sm` (90 for sm_90). Fails with a sentence. */
    tally_status (*compile)(const tally__unit *unit, int sm, tally__image *image);
    /* The versions that make up an image, for the cache's key ("nvrtc 13.0"); "": do not keep images on disk. */
    tally_status (*compiler_version)(char *version, size_t capacity);
    /* The same where it is known without opening a compiler, and likely true: good enough to look for images that are
     * kept. False: it is not. NULL: it never is. */
    bool (*compiler_guess)(char *version, size_t capacity);
} tally__platform;

extern const tally__platform tally__nvidia_platform, tally__simt_platform;
/* The one that options name; no other backend than these two is asked for. (platform.c) */
const tally__platform *tally__platform_of(const tally_options *options);

#endif
