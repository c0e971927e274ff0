/* Keys, and the images of this process. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cuda/cache.h"
#include "cuda/nvidia.h"
#include "cuda/texts.h"

/* ---- keys ---- */

static pthread_once_t texts_once = PTHREAD_ONCE_INIT;
static XXH128_hash_t texts_hash;

/* Each part with its length before it, so that no two lists of parts look alike. */
static void add(XXH3_state_t *state, const void *bytes, size_t size) {
    uint64_t length = size;
    XXH3_128bits_update(state, &length, sizeof length);
    XXH3_128bits_update(state, bytes, size);
}
static void add_string(XXH3_state_t *state, const char *string) { add(state, string, strlen(string)); }

static void hash_texts(void) {
    XXH3_state_t state;
    XXH3_128bits_reset(&state);
    for (int i = 0; i < tally__text_count; i++) {
        add_string(&state, tally__texts[i].name);
        add(&state, tally__texts[i].text, tally__texts[i].size);
    }
    texts_hash = XXH3_128bits_digest(&state);
}

static tally__key key_in(const XXH3_state_t *state) {
    XXH128_canonical_t canonical;
    tally__key key;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state));
    memcpy(key.bytes, canonical.digest, sizeof key.bytes);
    return key;
}

tally__key tally__key_of_words(const char *const *words, int count) {
    XXH3_state_t state;
    XXH3_128bits_reset(&state);
    for (int i = 0; i < count; i++) add_string(&state, words[i]);
    return key_in(&state);
}

static tally__key key_of(const tally__platform *platform, const char *compiler, const tally__unit *unit, int sm) {
    const int32_t numbers[] = {sm,          unit->kernel,           (int32_t)unit->type, (int32_t)unit->nan,
                               unit->exact, unit->user_text != NULL};
    XXH3_state_t state;
    pthread_once(&texts_once, hash_texts);
    XXH3_128bits_reset(&state);
    add_string(&state, tally_version());
    add_string(&state, platform->name);
    add_string(&state, compiler);
    add(&state, &texts_hash, sizeof texts_hash);
    add(&state, numbers, sizeof numbers);
    add_string(&state, unit->preface);
    add_string(&state, unit->text);
    add_string(&state, unit->entry);
    add_string(&state, unit->user_text != NULL ? unit->user_text : "");
    return key_in(&state);
}

/* ---- images of this process ---- */

typedef enum progress { MAKING, MADE, FAILED } progress;

typedef struct entry {
    struct entry *next;
    tally__key key;
    progress progress;
    tally__image image;
    tally_status status; /* if it failed: why, and the sentence */
    char sentence[512];
} entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static entry *entries; /* a list: some hundred at most, which are never removed */

static entry *find(const tally__key *key) {
    for (entry *e = entries; e != NULL; e = e->next)
        if (memcmp(e->key.bytes, key->bytes, sizeof key->bytes) == 0) return e;
    return NULL;
}

/* Finds the entry, or makes one; *mine: the caller has to make its image. NULL: no memory. Holds the lock. */
static entry *claim(const tally__key *key, bool *mine) {
    entry *e = find(key);
    *mine = e == NULL;
    if (e == NULL) {
        e = calloc(1, sizeof *e);
        if (e == NULL) return NULL;
        e->key = *key;
        e->next = entries;
        entries = e;
    } else if (e->progress == FAILED) { /* another caller's try: make another */
        e->progress = MAKING;
        *mine = true;
    }
    while (!*mine && e->progress == MAKING) pthread_cond_wait(&changed, &lock);
    return e;
}

typedef struct compiler {
    char version[512]; /* "": images are not kept on disk */
    bool is_guess;
} compiler;

static tally_status name_compiler(const tally__platform *platform, compiler *c) {
    c->is_guess = platform->compiler_guess != NULL && platform->compiler_guess(c->version, sizeof c->version);
    return c->is_guess ? TALLY_OK : platform->compiler_version(c->version, sizeof c->version);
}

bool tally__is_kept(const tally__platform *platform) {
    compiler c;
    return name_compiler(platform, &c) == TALLY_OK && c.version[0] != '\0';
}

/* Reads the image from disk, or compiles it. A compiled image is stored under the version of the compiler that made it,
 * even if another version was guessed. */
static tally_status make(const tally__platform *platform, const tally__unit *unit, int sm, const compiler *c,
                         tally__key key, tally__image *image) {
    compiler own = {"", false};
    if (c->version[0] == '\0') return platform->compile(unit, sm, image);
    TALLY_TRY(tally__dump(unit, sm));
    if (tally__disk_read(&key, image)) return TALLY_OK;
    if (c->is_guess) TALLY_TRY(platform->compiler_version(own.version, sizeof own.version));
    if (c->is_guess && strcmp(own.version, c->version) != 0) {
        key = key_of(platform, own.version, unit, sm);
        if (tally__disk_read(&key, image)) return TALLY_OK;
    }
    TALLY_TRY(platform->compile(unit, sm, image));
    tally__disk_write(&key, image);
    return TALLY_OK;
}

tally_status tally__image_of(const tally__platform *platform, const tally__unit *unit, int sm,
                             const tally__image **image) {
    compiler c;
    tally_status status;
    tally__key key;
    entry *e;
    bool mine;
    *image = NULL;
    TALLY_TRY(name_compiler(platform, &c));
    key = key_of(platform, c.version, unit, sm);
    pthread_mutex_lock(&lock);
    e = claim(&key, &mine);
    if (e != NULL && mine) {
        tally__image made = {NULL, 0};
        pthread_mutex_unlock(&lock);
        status = make(platform, unit, sm, &c, key, &made);
        pthread_mutex_lock(&lock);
        e->image = made;
        e->status = status;
        e->progress = status == TALLY_OK ? MADE : FAILED;
        if (status != TALLY_OK) snprintf(e->sentence, sizeof e->sentence, "%s", tally_message());
        pthread_cond_broadcast(&changed);
    }
    if (e == NULL)
        status = tally__fail(TALLY_NO_MEMORY, "no memory to remember a kernel");
    else if (e->progress == MADE) {
        status = TALLY_OK;
        *image = &e->image;
    } else
        status = tally__fail(e->status, "%s", e->sentence);
    pthread_mutex_unlock(&lock);
    return status;
}
