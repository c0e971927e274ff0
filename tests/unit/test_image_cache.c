/* The cache of images, with a compiler that counts how often it is asked: in threads, in processes, and with all that
 * can be wrong with a folder. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "children.h"

#include "cuda/cache.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) /* gcc's */
#define SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif

/* ---- units ---- */

/* A compiler that takes no time to learn: the image is the preface and the architecture. */
static struct {
    atomic_int *compilations; /* in memory that children share */
    int milliseconds;
    int meets; /* compilations that wait for one another, or 0 */
    atomic_int at_once, most_at_once;
    bool fails;
    const char *version, *guess;
    bool has_no_compiler;
} fake;

/* Waits until `meets` are here, or for so long that they will not come. */
static void meet(void) {
    struct timespec pause = {0, 1000000L};
    const int here = 1 + atomic_fetch_add(&fake.at_once, 1);
    int most = atomic_load(&fake.most_at_once);
    while (most < here && !atomic_compare_exchange_weak(&fake.most_at_once, &most, here)) {
    }
    for (int i = 0; i < 20000 && atomic_load(&fake.most_at_once) < fake.meets; i++) nanosleep(&pause, NULL);
}

static tally_status fake_compile(const tally__unit *unit, int sm, tally__image *image) {
    struct timespec pause = {0, fake.milliseconds * 1000000L};
    atomic_fetch_add(fake.compilations, 1);
    meet();
    nanosleep(&pause, NULL);
    atomic_fetch_sub(&fake.at_once, 1);
    if (fake.fails || strcmp(unit->preface, "fails") == 0)
        return tally__fail(TALLY_UNSUPPORTED, "asked to fail for %s", unit->entry);
    image->size = strlen(unit->preface) + 4;
    image->bytes = malloc(image->size);
    memcpy(image->bytes, unit->preface, image->size - 4);
    memcpy((char *)image->bytes + image->size - 4, &sm, 4);
    return TALLY_OK;
}
static tally_status fake_version(char *version, size_t capacity) {
    if (fake.has_no_compiler) return tally__fail(TALLY_UNSUPPORTED, "the compiler was asked for");
    snprintf(version, capacity, "%s", fake.version);
    return TALLY_OK;
}
static bool fake_guess(char *version, size_t capacity) {
    if (fake.guess == NULL) return false;
    snprintf(version, capacity, "%s", fake.guess);
    return true;
}
static const tally__platform fake_platform = {"fake", NULL, fake_compile, fake_version, fake_guess};

static bool right_image(const tally__unit *unit, int sm, const tally__image *image) {
    size_t length = strlen(unit->preface);
    return image->size == length + 4 && memcmp(image->bytes, unit->preface, length) == 0 &&
           memcmp((const char *)image->bytes + length, &sm, 4) == 0;
}

static tally__unit plain_unit(const char *preface) {
    tally__unit unit = {.text = "types/types.h", .entry = "plain"};
    snprintf(unit.preface, sizeof unit.preface, "%s", preface);
    return unit;
}

/* ---- processes ---- */

static int begin_test(void **state) {
    fake.milliseconds = fake.meets = 0;
    atomic_store(&fake.most_at_once, 0);
    fake.fails = false;
    fake.version = "fake 1.0";
    fake.guess = NULL;
    fake.has_no_compiler = false;
    if (make_folder(state) != 0) return 1;
    set("TALLY_CACHE_DIR", folder);
    return 0;
}

/* How often the unit is compiled by a process that has just begun. */
static tally__unit wanted_unit;
static int wanted_sm = 90;
static int want_image(void) {
    const tally__image *image;
    int before = atomic_load(fake.compilations);
    CHILD_CHECK(tally__image_of(&fake_platform, &wanted_unit, wanted_sm, &image) == TALLY_OK);
    CHILD_CHECK(right_image(&wanted_unit, wanted_sm, image));
    return atomic_load(fake.compilations) - before;
}
static int compilations(void) { return in_child(want_image); }

/* ---- the cache in memory ---- */

static void test_memory(void **state) {
    tally__unit unit = plain_unit("memory"), other;
    const tally__image *first, *second;
    int before = atomic_load(fake.compilations);
    (void)state;
    set("TALLY_CACHE_DIR", "off");
    EXPECT_OK(tally__image_of(&fake_platform, &unit, 90, &first));
    EXPECT_OK(tally__image_of(&fake_platform, &unit, 90, &second));
    EXPECT(first == second && right_image(&unit, 90, first), "another image");
    EXPECT(atomic_load(fake.compilations) == before + 1, "compiled again");
    /* Whatever differs makes another image. */
    EXPECT_OK(tally__image_of(&fake_platform, &unit, 100, &second));
    EXPECT(first != second && right_image(&unit, 100, second), "the architecture is no part of the key");
    for (int i = 0; i < 5; i++) {
        other = unit;
        if (i == 0) strcat(other.preface, "x");
        if (i == 1) other.text = "device/work.h";
        if (i == 2) other.user_text = "";
        if (i == 3) other.user_text = "int x;";
        if (i == 4) fake.version = "fake 1.1";
        EXPECT_OK(tally__image_of(&fake_platform, &other, 90, &second));
        EXPECT(first != second && atomic_load(fake.compilations) == before + 3 + i, "part %d is not in the key", i);
    }
}

static void test_failure(void **state) {
    tally__unit unit = plain_unit("failure");
    const tally__image *image = (const tally__image *)&unit;
    (void)state;
    fake.fails = true;
    for (int i = 0; i < 2; i++) {
        EXPECT_STATUS(tally__image_of(&fake_platform, &unit, 90, &image), TALLY_UNSUPPORTED);
        EXPECT(image == NULL && strcmp(tally_message(), "asked to fail for plain") == 0, "another sentence");
    }
    fake.fails = false;
    EXPECT_OK(tally__image_of(&fake_platform, &unit, 90, &image));
    EXPECT(right_image(&unit, 90, image), "not the image");
}

/* Callers at once. Assertions are the main thread's. */
enum { CALLERS = 8 };
static struct {
    pthread_barrier_t start;
    tally__unit unit;
    tally_status statuses[CALLERS];
    const tally__image *images[CALLERS];
    bool said[CALLERS];
} shared;

static void *call(void *number) {
    int i = (int)(intptr_t)number;
    pthread_barrier_wait(&shared.start);
    shared.statuses[i] = tally__image_of(&fake_platform, &shared.unit, 90, &shared.images[i]);
    shared.said[i] = strcmp(tally_message(), "asked to fail for plain") == 0;
    return NULL;
}
static void call_at_once(const char *preface) {
    pthread_t threads[CALLERS];
    shared.unit = plain_unit(preface);
    pthread_barrier_init(&shared.start, NULL, CALLERS);
    for (int i = 0; i < CALLERS; i++)
        EXPECT(pthread_create(&threads[i], NULL, call, (void *)(intptr_t)i) == 0, "no thread");
    for (int i = 0; i < CALLERS; i++) pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&shared.start);
}

static void test_threads(void **state) {
    int before = atomic_load(fake.compilations);
    (void)state;
    fake.milliseconds = 30;
    call_at_once("threads");
    EXPECT(atomic_load(fake.compilations) == before + 1, "compiled %d times", atomic_load(fake.compilations) - before);
    for (int i = 0; i < CALLERS; i++)
        EXPECT(shared.statuses[i] == TALLY_OK && shared.images[i] == shared.images[0], "caller %d has another image",
               i);
    EXPECT(right_image(&shared.unit, 90, shared.images[0]), "not the image");
    fake.fails = true;
    call_at_once("threads that fail");
    for (int i = 0; i < CALLERS; i++)
        EXPECT(shared.statuses[i] == TALLY_UNSUPPORTED && shared.said[i] && shared.images[i] == NULL,
               "caller %d was told otherwise", i);
}

/* ---- side by side ---- */

enum { SIDES = 6 };
static void name_units(tally__unit *units, const char *test) {
    char preface[64];
    for (int i = 0; i < SIDES; i++) {
        snprintf(preface, sizeof preface, "%s %d", test, i);
        units[i] = plain_unit(preface);
    }
}

/* What has been made already is not made again, nor what is wanted twice; a caller may be alone, and threads at once.
 */
static void test_side_by_side(void **state) {
    tally__unit units[SIDES];
    const tally__image *image;
    int before = atomic_load(fake.compilations);
    (void)state;
    name_units(units, "ahead");
    units[5] = units[0];
    fake.meets = 5;
    EXPECT_OK(tally__images_ahead(&fake_platform, units, SIDES, 90, 64));
    EXPECT(atomic_load(&fake.most_at_once) == 5, "%d were made at once", atomic_load(&fake.most_at_once));
    EXPECT_OK(tally__images_ahead(&fake_platform, units, SIDES, 90, 64));
    EXPECT_OK(tally__images_ahead(&fake_platform, units, 0, 90, 64));
    for (int i = 0; i < SIDES; i++) {
        EXPECT_OK(tally__image_of(&fake_platform, &units[i], 90, &image));
        EXPECT(right_image(&units[i], 90, image), "another image");
    }
    EXPECT(atomic_load(fake.compilations) == before + 5, "compiled %d times", atomic_load(fake.compilations) - before);
}

static void test_few_threads(void **state) {
    tally__unit units[SIDES];
    (void)state;
    fake.milliseconds = 5;
    for (int most = 1; most <= 3; most++) {
        fake.meets = most;
        atomic_store(&fake.most_at_once, 0);
        name_units(units, most == 1 ? "one" : most == 2 ? "two" : "three");
        EXPECT_OK(tally__images_ahead(&fake_platform, units, SIDES, 90, most));
        EXPECT(atomic_load(&fake.most_at_once) == most, "%d of %d", atomic_load(&fake.most_at_once), most);
    }
    fake.meets = 0;
    fake.version = ""; /* they cost nothing, and no thread */
    atomic_store(&fake.most_at_once, 0);
    EXPECT_OK(tally__images_ahead(&fake_platform, units, SIDES, 90, 64));
    EXPECT(atomic_load(&fake.most_at_once) == 1, "threads for what costs nothing");
}

/* Others are at work for the first caller: the second has itself alone. */
static void *call_ahead(void *units) {
    shared.statuses[0] = tally__images_ahead(&fake_platform, units, 3, 90, 3);
    return NULL;
}
static void test_shared_processors(void **state) {
    struct timespec pause = {0, 1000000L};
    tally__unit units[SIDES];
    pthread_t other;
    (void)state;
    name_units(units, "shared");
    fake.meets = 4;
    EXPECT(pthread_create(&other, NULL, call_ahead, units) == 0, "no thread");
    for (int i = 0; i < 20000 && atomic_load(&fake.at_once) < 3; i++) nanosleep(&pause, NULL);
    EXPECT_OK(tally__images_ahead(&fake_platform, units + 3, 3, 90, 3));
    pthread_join(other, NULL);
    EXPECT(shared.statuses[0] == TALLY_OK && atomic_load(&fake.most_at_once) == 4, "%d at once",
           atomic_load(&fake.most_at_once));
}

static void test_one_fails(void **state) {
    tally__unit units[SIDES];
    const tally__image *image;
    (void)state;
    for (int most = 1; most <= 8; most += 7) {
        name_units(units, "fails with others");
        strcpy(units[most == 1 ? 2 : 4].preface, "fails");
        EXPECT_STATUS(tally__images_ahead(&fake_platform, units, SIDES, 90, most), TALLY_UNSUPPORTED);
        EXPECT(strcmp(tally_message(), "asked to fail for plain") == 0, "another sentence: %s", tally_message());
        EXPECT_OK(tally__image_of(&fake_platform, &units[5], 90, &image));
    }
}

static void *wait_for_ever(void *unused) {
    for (;;) pause();
    return unused;
}

/* Where the system gives no thread (there is no memory for its stack) the caller makes all. Stacks of threads that
 * ended are kept by the C library, so threads are made until there is none. */
static int without_threads(void) {
    tally__unit units[SIDES];
    FILE *file = fopen("/proc/self/statm", "r");
    struct rlimit limit;
    pthread_t waiting;
    long pages = 0;
    CHILD_CHECK(file != NULL && fscanf(file, "%ld", &pages) == 1);
    fclose(file);
    limit.rlim_cur = limit.rlim_max = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (8 << 20);
    name_units(units, "no threads");
    CHILD_CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    while (pthread_create(&waiting, NULL, wait_for_ever, NULL) == 0) continue;
    CHILD_CHECK(tally__images_ahead(&fake_platform, units, SIDES, 90, 64) == TALLY_OK);
    CHILD_CHECK(atomic_load(&fake.most_at_once) == 1);
    return 0;
}
static void test_no_threads(void **state) {
    (void)state;
#ifdef SANITIZED
    print_message("SKIPPED: a sanitizer needs the memory\n");
    skip();
#endif
    EXPECT(in_child(without_threads) == 0, "see above");
}

/* ---- the cache on disk ---- */

static void test_disk(void **state) {
    struct stat info;
    char path[MOST_PATH];
    (void)state;
    wanted_unit = plain_unit("disk");
    EXPECT(compilations() == 1 && compilations() == 0, "the second process compiled again");
    EXPECT(count_names(folder, path) == 1 && stat(path, &info) == 0 && (info.st_mode & 0777) == 0600,
           "not one private record");
    wanted_sm = 100;
    EXPECT(compilations() == 1 && compilations() == 0 && count_names(folder, NULL) == 2,
           "one record for each architecture");
    wanted_sm = 90;
    fake.version = "fake 1.1";
    EXPECT(compilations() == 1 && count_names(folder, NULL) == 3, "one record for each compiler");
    fake.version = "";
    EXPECT(compilations() == 1 && compilations() == 1 && count_names(folder, NULL) == 3,
           "without a version nothing is kept");
}

/* Who guesses the compiler's version needs it for nothing that is kept, and keeps nothing under a wrong name. */
static void test_guess(void **state) {
    const tally__image *image;
    (void)state;
    wanted_unit = plain_unit("guess");
    fake.guess = fake.version;
    EXPECT(compilations() == 1 && count_names(folder, NULL) == 1, "a guess in place of an image");
    fake.has_no_compiler = true;
    EXPECT(compilations() == 0, "what is kept needs no compiler");
    wanted_sm = 80;
    EXPECT_STATUS(tally__image_of(&fake_platform, &wanted_unit, wanted_sm, &image), TALLY_UNSUPPORTED);
    wanted_sm = 90;
    fake.has_no_compiler = false;
    fake.version = "fake 1.1"; /* the guess is wrong: of use where an image is kept under it, */
    EXPECT(compilations() == 0 && count_names(folder, NULL) == 1, "an older compiler's image is as good");
    wanted_unit = plain_unit("guess again");
    EXPECT(compilations() == 1 && compilations() == 0, "made under a wrong name");
    EXPECT(count_names(folder, NULL) == 2, "made twice");
    fake.guess = NULL;
    EXPECT(compilations() == 0, "not under the name of its compiler");
}

static const tally__key some_key = {"0123456789abcdef"};

static bool readable(const tally__key *key) {
    tally__image image = {NULL, 0};
    bool done = tally__disk_read(key, &image);
    EXPECT(done == (image.bytes != NULL), "an image without bytes");
    free(image.bytes);
    return done;
}

static void test_damage(void **state) {
    char text[] = "an image of some bytes", path[400], bytes[200];
    tally__image image = {text, sizeof text};
    tally__key other = some_key;
    FILE *file;
    size_t size;
    (void)state;
    EXPECT(!readable(&some_key), "something in an empty folder");
    tally__disk_write(&some_key, &image);
    EXPECT(readable(&some_key) && count_names(folder, path) == 1, "a good record is not read");
    file = fopen(path, "rb");
    size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    EXPECT(size > sizeof text && size < sizeof bytes - 1, "a record of %zu bytes", size);
    for (size_t i = 0; i < size; i++) { /* each byte, so each part */
        bytes[i] ^= 0x10;
        write_file(path, bytes, size);
        EXPECT(!readable(&some_key), "byte %zu has changed", i);
        bytes[i] ^= 0x10;
        write_file(path, bytes, i);
        EXPECT(!readable(&some_key), "cut to %zu bytes", i);
    }
    write_file(path, bytes, size + 1);
    EXPECT(!readable(&some_key), "a byte too long");
    tally__disk_write(&some_key, &image);
    EXPECT(readable(&some_key), "not mended by writing it again");
    /* Another's record, and things that are no files. */
    other.bytes[15]++;
    tally__disk_write(&other, &image);
    EXPECT(count_names(folder, NULL) == 2, "two records");
    snprintf(bytes, sizeof bytes, "%s/%s.image", folder, "30313233343536373839616263646567");
    EXPECT(rename(path, bytes) == 0 || rename(bytes, path) == 0, "no such name");
    EXPECT(!readable(&other), "a record under another's name");
    unlink(bytes);
    EXPECT(symlink("/etc/passwd", bytes) == 0 && !readable(&other), "a link");
    unlink(bytes);
    EXPECT(mkfifo(bytes, 0600) == 0 && !readable(&other), "a pipe");
    unlink(bytes);
    EXPECT(mkdir(bytes, 0700) == 0 && !readable(&other), "a folder");
    tally__disk_write(&other, &image);
    EXPECT(!readable(&other) && count_names(folder, NULL) <= 2, "something is left behind");
}

static void test_mending(void **state) {
    char path[MOST_PATH];
    (void)state;
    wanted_unit = plain_unit("mending");
    EXPECT(compilations() == 1 && count_names(folder, path) == 1, "not compiled");
    EXPECT(truncate(path, 60) == 0 && compilations() == 1 && compilations() == 0,
           "a damaged record is compiled again, once");
}

/* Root may write anywhere: such tests give that up first. */
static int as_nobody(void) { return geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0) ? want_image() : 98; }
static void give_to_nobody(const char *path) {
    if (geteuid() == 0) EXPECT(chown(path, 65534, 65534) == 0, "not given away");
}

static void test_folders(void **state) {
    char path[MOST_PATH];
    (void)state;
    wanted_unit = plain_unit("folders");
    /* Read-only: what is there is used, nothing is added. */
    EXPECT(compilations() == 1 && count_names(folder, path) == 1, "not compiled");
    give_to_nobody(folder);
    give_to_nobody(path);
    chmod(folder, 0500);
    EXPECT(in_child(as_nobody) == 0, "a read-only folder is not read");
    wanted_sm = 80;
    EXPECT(in_child(as_nobody) == 1 && count_names(folder, NULL) == 1, "written to a read-only folder");
    wanted_sm = 90;
    chmod(folder, 0700);
    if (geteuid() == 0) {
        EXPECT(compilations() == 1 && count_names(folder, NULL) == 1, "another's folder is used");
        EXPECT(chown(folder, 0, 0) == 0 && compilations() == 1 && compilations() == 0, "another's record is used");
    }
    /* Others may write to it: no use. */
    chmod(folder, 0770);
    EXPECT(compilations() == 1, "a folder is used that the group can write to");
    chmod(folder, 0702);
    EXPECT(compilations() == 1, "a folder is used that anybody can write to");
    chmod(folder, 0755);
    EXPECT(compilations() == 0, "a folder that others can read is no danger");
    /* None at all. */
    set("TALLY_CACHE_DIR", "off");
    EXPECT(compilations() == 1 && compilations() == 1, "\"off\" is not off");
    set("TALLY_CACHE_DIR", path);
    EXPECT(compilations() == 1, "a file is no folder");
    set("TALLY_CACHE_DIR", "/proc/nowhere/tally");
    EXPECT(compilations() == 1, "a folder that cannot be made");
}

static void test_homes(void **state) {
    char home[100], cache[200], xdg[200], *old = getenv("HOME"), *kept = old != NULL ? strdup(old) : NULL;
    struct stat info;
    (void)state;
    wanted_unit = plain_unit("homes");
    set("TALLY_CACHE_DIR", NULL);
    set("XDG_CACHE_HOME", NULL);
    snprintf(home, sizeof home, "%s/home", folder);
    snprintf(cache, sizeof cache, "%s/.cache/tally", home);
    snprintf(xdg, sizeof xdg, "%s/x/d/g", folder);
    set("HOME", home);
    EXPECT(compilations() == 1 && compilations() == 0 && count_names(cache, NULL) == 1, "not in ~/.cache/tally");
    EXPECT(stat(cache, &info) == 0 && (info.st_mode & 0777) == 0700, "a folder that is not private");
    set("XDG_CACHE_HOME", "not/absolute");
    EXPECT(compilations() == 0, "XDG_CACHE_HOME must be absolute");
    set("XDG_CACHE_HOME", xdg);
    strcat(xdg, "/tally");
    EXPECT(compilations() == 1 && compilations() == 0 && count_names(xdg, NULL) == 1, "not in XDG_CACHE_HOME");
    set("XDG_CACHE_HOME", NULL);
    set("HOME", "/proc/nowhere");
    EXPECT(compilations() == 1, "a home that cannot be written");
    set("HOME", NULL);
    EXPECT(compilations() == 1, "no home");
    set("HOME", kept);
    free(kept);
}

/* A disk that is full after some bytes. */
static int with_full_disk(void) {
    struct rlimit limit = {20, 20};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    return want_image();
}
static void test_full_disk(void **state) {
    (void)state;
    wanted_unit = plain_unit("full");
    EXPECT(in_child(with_full_disk) == 1 && count_names(folder, NULL) == 0, "something is left behind");
    EXPECT(compilations() == 1 && compilations() == 0, "not written later");
}

/* Two processes that make and read the same records at once. */
enum { UNITS = 60 };
static int want_many(void) {
    for (int i = 0; i < UNITS; i++) {
        char preface[32];
        snprintf(preface, sizeof preface, "many %d", i);
        wanted_unit = plain_unit(preface);
        if (want_image() == WRONG) return WRONG; /* else a number that the other process has a part in */
    }
    return 0;
}
static void test_processes(void **state) {
    pid_t children[2];
    int status;
    (void)state;
    for (int i = 0; i < 2; i++) {
        children[i] = fork();
        if (children[i] == 0) _exit(want_many());
    }
    for (int i = 0; i < 2; i++)
        EXPECT(waitpid(children[i], &status, 0) == children[i] && WIFEXITED(status) && WEXITSTATUS(status) == 0,
               "process %d failed", i);
    EXPECT(count_names(folder, NULL) == UNITS, "%d names for %d units", count_names(folder, NULL), UNITS);
    status = atomic_load(fake.compilations);
    EXPECT(in_child(want_many) == 0 && atomic_load(fake.compilations) == status, "compiled again");
}

static void test_too_many(void **state) {
    char path[MOST_PATH];
    (void)state;
    for (int i = 0; i <= 8192; i++) {
        snprintf(path, sizeof path, "%s/%032x.image", folder, (unsigned)i);
        write_file(path, "", 0);
    }
    snprintf(path, sizeof path, "%s/of somebody else", folder);
    write_file(path, "", 0);
    wanted_unit = plain_unit("too many");
    EXPECT(compilations() == 1 && count_names(folder, path) == 1, "a folder that grows without end");
    EXPECT(strstr(path, "somebody else") != NULL, "a file of somebody else's is gone");
    EXPECT(compilations() == 1 && compilations() == 0, "nothing is kept afterwards");
}

#define ALONE(test) cmocka_unit_test_setup_teardown(test, begin_test, remove_folder)

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        ALONE(test_memory),
        ALONE(test_failure),
        ALONE(test_disk),
        ALONE(test_damage),
        ALONE(test_mending),
        ALONE(test_folders),
        ALONE(test_homes),
        ALONE(test_full_disk),
        ALONE(test_processes),
        ALONE(test_too_many),
        ALONE(test_no_threads),
        ALONE(test_guess),
        /* The last: children of a process that had threads are no friends of sanitizers. */
        ALONE(test_threads),
        ALONE(test_side_by_side),
        ALONE(test_few_threads),
        ALONE(test_shared_processors),
        ALONE(test_one_fails),
    };
    int skipped = begin_program(argc, argv);
    unsetenv("TALLY_JIT_DUMP");
    fake.compilations =
        mmap(NULL, sizeof *fake.compilations, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (fake.compilations == MAP_FAILED) return 1;
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
