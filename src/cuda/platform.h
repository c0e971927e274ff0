/* What the cuda backend runs on: a driver, and a compiler that turns a translation unit into an image that the driver
 * loads. There are two platforms: NVIDIA's (driver.c, compiler.c) and the simulator (src/simt). The rest of src/cuda
 * does not know them apart otherwise. */
#ifndef TALLY_CUDA_PLATFORM_H
#define TALLY_CUDA_PLATFORM_H

#include "cuda/driver.h"
#include "form_numbers.h"
#include "internal.h"

enum { TALLY_MOST_ENTRY = 64 }; /* bytes of a kernel's name */

/* A translation unit: a preface, #defines that say what is reduced, then `#include "<text>"` of a kernel text. That may
 * include all texts of kernels/ by their names. */
typedef struct tally__unit {
    char preface[1024];
    const char *text;             /* "production/arrays/reduce.h" */
    char entry[TALLY_MOST_ENTRY]; /* the name of its first kernel; of others: tally__name_entry (units.h) */
    char problem[48];             /* how the names of its kernels end */
    tally__entry first;           /* the first of `entries` consecutive kernels */
    int entries;
    int kernel; /* place in TALLY_KERNELS, or with `exact` in TALLY_EXACT_KERNELS; or TALLY_USERS; general units: 0 */
    tally__form form;
    tally_type type;
    tally_nan nan;
    bool exact;
    int threads[TALLY_MOST_ENTRIES]; /* threads of a block, for each kernel */
    size_t buffer_bytes;             /* of a tile in shared memory, or 0; a block has gpu->tile_buffers of them */
    const char *user_text;           /* source of the caller's own operator, or NULL; included by the name "user.h" */
    char user_key[33];               /* the key of that operator, or "" */
} tally__unit;

enum { TALLY_USERS = -1 };

/* An image for module_load, in memory of malloc. */
typedef struct tally__image {
    void *bytes;
    size_t size;
} tally__image;

typedef struct tally__platform {
    const char *name; /* "cuda", "simt" */
    /* The driver's table, opened at the first call. NULL: there is none, and *why is a sentence, valid until the
     * thread's next call. */
    const tally__driver *(*driver)(const char **why);
    /* Compiles for architecture `sm` (90 for sm_90). Fails with a sentence. */
    tally_status (*compile)(const tally__unit *unit, int sm, tally__image *image);
    /* What an image depends on, for the key of the cache: "nvrtc 13.0". "": images are not kept on disk. */
    tally_status (*compiler_version)(char *version, size_t capacity);
    /* The same, guessed without opening a compiler: good enough to look for kept images. False: nothing is known. NULL:
     * it never is. */
    bool (*compiler_guess)(char *version, size_t capacity);
} tally__platform;

extern const tally__platform tally__nvidia_platform, tally__simt_platform;
/* The platform of the options, whose backend is CUDA or SIMT. (platform.c) */
const tally__platform *tally__platform_of(const tally_options *options);

#endif
