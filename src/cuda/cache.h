/* The cache of images, whose keys are hashes of what an image is made of: in memory for this process, and on disk for
 * later ones. */
#ifndef TALLY_CUDA_CACHE_H
#define TALLY_CUDA_CACHE_H

#include "cuda/platform.h"

/* The image of a unit for sm_<sm>; it lives until the process ends. Threads that ask for the same image at once wait
 * for one compilation and share its failure; a request after a failure tries again. */
tally_status tally__image_of(const tally__platform *platform, const tally__unit *unit, int sm,
                             const tally__image **image);

/* Whether images of a platform are worth keeping on disk: making others takes no time. */
bool tally__is_kept(const tally__platform *platform);

/* Makes the images of several units, on up to `most` threads including the caller's. Fewer run if the system gives no
 * more, or if threads of other callers are at work. Units that take longest come first. After a failure the remaining
 * units are left out, and the call fails in the same way. (ahead.c) */
tally_status tally__images_ahead(const tally__platform *platform, const tally__unit *units, int count, int sm,
                                 int most);

/* What an image is made of, hashed: texts, preface, options, compiler, architecture, Tally. */
typedef struct tally__key {
    unsigned char bytes[16];
} tally__key;

/* The key of strings, in this order. */
tally__key tally__key_of_words(const char *const *words, int count);

/* ---- on disk (disk.c) ---- */

enum { TALLY_MOST_PATH = 4096 };

/* The folder is TALLY_CACHE_DIR ("off": none), $XDG_CACHE_HOME/tally or ~/.cache/tally. It is used only if it belongs
 * to the user and nobody else can write to it. Reading and writing images never fails aloud: without the disk, an image
 * is only compiled again. */
/* The folder's path, in TALLY_MOST_PATH bytes; the folder need not exist. TALLY_UNSUPPORTED: there is none to use, with
 * the reason. */
tally_status tally__disk_folder(char *path);

bool tally__disk_read(const tally__key *key, tally__image *image);
void tally__disk_write(const tally__key *key, const tally__image *image);

#endif
