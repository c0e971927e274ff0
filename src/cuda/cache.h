/* Images by what they are made of: in memory while the process lives, and on disk for the next one. */
#ifndef TALLY_CUDA_CACHE_H
#define TALLY_CUDA_CACHE_H

#include "cuda/platform.h"

/* The image of a unit for sm_<sm>, which stays until the process ends. Threads that ask for the same one at once wait
 * for a single compilation, and share its failure; who asks after a failure tries again. */
tally_status tally__image_of(const tally__platform *platform, const tally__unit *unit, int sm,
                             const tally__image **image);

/* Whether images of a platform are worth keeping on disk: making others takes no time. */
bool tally__is_kept(const tally__platform *platform);

/* Makes the images of several units, on up to `most` threads at the same time, the caller's among them; fewer where the
 * system gives no more, or others are at work for other callers. Units that take longest come first. When one fails the
 * others are left out, and the call fails as it did. (ahead.c) */
tally_status tally__images_ahead(const tally__platform *platform, const tally__unit *units, int count, int sm,
                                 int most);

/* What an image is made of, hashed: texts, preface, options, compiler, architecture, Tally. */
typedef struct tally__key {
    unsigned char bytes[16];
} tally__key;

/* Of strings, in this order. */
tally__key tally__key_of_words(const char *const *words, int count);

/* ---- on disk (disk.c) ---- */

enum { TALLY_MOST_PATH = 4096 };

/* The folder is TALLY_CACHE_DIR ("off": none), $XDG_CACHE_HOME/tally or ~/.cache/tally. It is used only if it belongs
 * to the user and nobody else can write to it. Both are silent: without the disk, an image is compiled again, and that
 * is all. */
/* Its path, in TALLY_MOST_PATH bytes, whether it exists yet or not. TALLY_UNSUPPORTED: there is none to use, and why.
 */
tally_status tally__disk_folder(char *path);

bool tally__disk_read(const tally__key *key, tally__image *image);
void tally__disk_write(const tally__key *key, const tally__image *image);

#endif
