/* What the cuda backend runs on: a driver, and something that turns a translation unit into an image the driver loads. There are two:
 * NVIDIA's (driver.c, compiler.c) and the simulator (src/simt). The rest of src/cuda knows no other difference. */
#ifndef TALLY_CUDA_PLATFORM_H
#define TALLY_CUDA_PLATFORM_H

#include "cuda/driver.h"
#include "internal.h"

/* What a unit's kernels do: reduce a whole array; segments, and those that run over tiles; exact segments that are too wide for that; prepare
 * a cut, whatever is reduced. */
typedef enum tally__unit_kind { TALLY_UNIT_WHOLE, TALLY_UNIT_SEGMENTS, TALLY_UNIT_CAREFUL, TALLY_UNIT_CUT } tally__unit_kind;
enum { TALLY_MOST_MORE = 4 };

/* One translation unit: a short preface of #defines that names the problem, then `#include "<text>"` of a kernel text. All other texts of
 * kernels/ can be included by their names. */
typedef struct tally__unit {
    char preface[1024];
    const char *text;   /* "production/reduce.h" */
    char entry[64];     /* the name of the kernel it defines, */
    char more[TALLY_MOST_MORE][64]; /* and of further ones, or "" */
    tally__unit_kind kind;
    int kernel;         /* which one that is, for a platform without a compiler: place in TALLY_KERNELS, or with `exact` in TALLY_EXACT_KERNELS */
    tally_type type;
    tally_nan nan;
    bool exact;
    const char *user_text; /* source of the caller's own operator, or NULL; included by the name "user.h" */
} tally__unit;

/* An image for module_load, in memory of malloc. */
typedef struct tally__image {
    void *bytes;
    size_t size;
} tally__image;

typedef struct tally__platform {
    const char *name; /* "cuda", "simt" */
    /* The driver's table, opened at the first call; NULL: *why is a sentence (static, or good until the thread's next call). */
    const tally__driver *(*driver)(const char **why);
    /* Compiles for architecture `sm` (90 for sm_90). Fails with a sentence. */
    tally_status (*compile)(const tally__unit *unit, int sm, tally__image *image);
    /* The versions that make up an image, for the cache's key ("nvrtc 13.0"); "": do not keep images on disk. */
    tally_status (*compiler_version)(char *version, size_t capacity);
} tally__platform;

extern const tally__platform tally__nvidia_platform, tally__simt_platform;

#endif
