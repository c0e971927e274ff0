/* A kernel from outside, for the simulator compiled when the program runs. */
#define _XOPEN_SOURCE 700
#include <dlfcn.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda/texts.h"
#include "gallery/host/track.h"
#include "simt/words.h"

enum { MOST_PATH = 512, MOST_TEXT = 1 << 20 };

extern const tally__text tally__gallery_texts[], tally__simt_texts[];
extern const int tally__gallery_text_count, tally__simt_text_count;

/* ---- what the first line says ---- */

/* "mine: passes, 256 threads, 512 each, 512 shared, commutes". */
static tally_status read_row(const char *text, tally__gallery_row *row) {
    static const struct {
        const char *word;
        int plan;
    } plans[] = {{"fit", TALLY_PLAN_FIT},     {"one", TALLY_PLAN_ONE},     {"passes", TALLY_PLAN_PASSES},
                 {"twice", TALLY_PLAN_TWICE}, {"guard", TALLY_PLAN_GUARD}, {"persistent", TALLY_PLAN_PERSISTENT},
                 {"tree", TALLY_PLAN_TREE}};
    const char *line = strstr(text, "mine: ");
    char plan[16] = "";
    int threads = 0, each = 0, shared = 0, found = 0;
    if (line != NULL && line < text + strcspn(text, "\n"))
        found = sscanf(line, "mine: %15[a-z], %d threads, %d each, %d shared", plan, &threads, &each, &shared);
    TALLY_CHECK(
        found == 4, BAD_ARGUMENT,
        "the first line of the kernel must say, as \"mine: passes, 256 threads, 512 each, 512 shared\", how it is "
        "launched");
    *row = (tally__gallery_row){.number = TALLY_GALLERY_KERNELS,
                                .name = "mine",
                                .plan = -1,
                                .threads = threads,
                                .least = threads,
                                .each = each,
                                .shared = shared,
                                .source = "yours",
                                .what = "a kernel from outside",
                                .text = text};
    for (size_t k = 0; k < sizeof plans / sizeof *plans; k++)
        if (strcmp(plan, plans[k].word) == 0) row->plan = plans[k].plan;
    size_t length = strcspn(line, "\n");
    for (size_t i = 0; i + 8 <= length; i++)
        if (memcmp(line + i, "commutes", 8) == 0) row->needs = TALLY_COMMUTES;
    TALLY_CHECK(row->plan >= 0, BAD_ARGUMENT,
                "a kernel is launched by fit, one, passes, twice, guard, persistent or tree, not by %s", plan);
    TALLY_CHECK(threads >= 1 && threads <= TALLY_SIMT_MOST_THREADS && (threads & (threads - 1)) == 0, BAD_ARGUMENT,
                "a block has 1 to %d threads, a power of two, not %d", TALLY_SIMT_MOST_THREADS, threads);
    TALLY_CHECK(each >= 1 && each <= 1 << 20 && shared >= 0 && shared <= 1 << 16, BAD_ARGUMENT,
                "a block takes 1 to %d elements and keeps up to %d, not %d and %d", 1 << 20, 1 << 16, each, shared);
    return TALLY_OK;
}

/* The number before a word of the line that begins with "want: "; -1: it is not there. */
static int64_t wanted_of(const char *text, const char *word) {
    const char *line = strstr(text, "want: ");
    const char *end = line != NULL ? line + strcspn(line, "\n") : NULL;
    const char *at = line != NULL ? strstr(line, word) : NULL;
    if (at == NULL || at > end) return -1;
    while (at > line && (at[-1] == ' ' || (at[-1] >= '0' && at[-1] <= '9'))) at--;
    return strtol(at, NULL, 10);
}

/* ---- files for the compiler ---- */

static bool put_file(const char *folder, const char *name, const char *text, size_t size) {
    char path[MOST_PATH];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) return false;
    for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made) return false;
    }
    FILE *file = fopen(path, "w");
    if (file == NULL) return false;
    bool written = fwrite(text, 1, size, file) == size;
    return fclose(file) == 0 && written;
}
static bool put_texts(const char *folder, const tally__text *texts, int count) {
    for (int i = 0; i < count; i++)
        if (!put_file(folder, texts[i].name, texts[i].text, texts[i].size)) return false;
    return true;
}

/* Whether a kernel is compiled for a row: that from outside alone; of the gallery all that have sizes of that kind, as
 * they are wanted one after another. */
static bool is_compiled(const tally__gallery_row *kernel, const tally__gallery_row *row) {
    const tally__gallery_sizes *a = &kernel->sizes, *b = &row->sizes;
    return row->text == NULL && (a->per_thread > 0) == (b->per_thread > 0) && (a->width > 0) == (b->width > 0);
}

static bool put_unit(const char *folder, const tally__track *track, const tally__gallery_row *row) {
    char text[3200], sizes[160], files[1000] = "#include \"mine.h\"\n", names[1000] = "NAME(mine),";
    size_t file = 0, name = 0;
    const char *kernel = track->operator.kernel,
               *type = track->type == TALLY_BOOL ? "boolean" : tally_type_name(track->type);
    snprintf(sizes, sizeof sizes, "enum { TALLY_THREADS_mine = %d, TALLY_EACH_mine = %d, TALLY_SHARED_mine = %d };",
             row->threads, row->each, row->shared);
    if (row->text == NULL) tally__gallery_write_sizes(row, sizes, sizeof sizes);
    for (int k = 0; k < tally__gallery_count; k++) {
        const tally__gallery_row *one = &tally__gallery[k];
        if (!is_compiled(one, row)) continue;
        file += (size_t)snprintf(files + file, sizeof files - file, "#include \"gallery/kernels/%03d_%s.h\"\n",
                                 one->number, one->name);
        name += (size_t)snprintf(names + name, sizeof names - name, "NAME(%s),", one->name);
    }
    int length = snprintf(
        text, sizeof text,
        "#define TALLY_TYPE %s\n#define TALLY_NAN 0\n#define TALLY_KERNEL %s\n#define TALLY_KERNEL_FILE \"%s/%s.h\"\n"
        "#define TALLY_KERNEL_INPUTS %d\n%s\n#include \"gallery/kernels/contract.h\"\n%s"
        "#include \"simt/words.h\"\nconst tally__simt_words *tally__simt;\n"
        "#define NAME(kernel) TALLY_N(TALLY_PASTE(gallery_##kernel##_, TALLY_KERNEL))\n"
        "void (*const tally_mine[])(const void *) = {%s};\n",
        type, kernel, track->operator.op == TALLY_OP_END ? "gallery/kernels" : "operators", kernel,
        track->operator.inputs, sizes, files, names);
    return put_file(folder, "unit.c", text, (size_t)length);
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where) {
    (void)about, (void)kind, (void)where;
    return remove(path);
}

/* ---- compiling ---- */

static bool compile(const char *folder) {
    const char *compiler = getenv("CC") != NULL && getenv("CC")[0] != '\0' ? getenv("CC") : "cc";
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        if (chdir(folder) != 0) _exit(127);
        execlp(compiler, compiler, "-std=c11", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-I.", "-o", "mine.so",
               "unit.c", (char *)NULL);
        _exit(127);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The name by which the simulator knows a kernel from outside, which lives as long as the program. */
static tally_status name_of(const tally__track *track, const tally__gallery_row *row, const char **name) {
    tally__unit unit;
    char *text;
    TALLY_TRY(tally__gallery_unit(&track->operator, track->type, row, TALLY_GALLERY_OF_VALUES, &unit, &text));
    free(text);
    *name = strdup(unit.entry);
    TALLY_CHECK(*name != NULL, NO_MEMORY, "no memory for a kernel's name");
    return TALLY_OK;
}

static tally_status register_one(const char *name, tally__simt_entry *function) {
    TALLY_CHECK(tally__simt_register(name, function), NO_MEMORY, "no memory for a kernel's name");
    return TALLY_OK;
}

/* The library stays open: the simulator may run its kernel as long as the program lives. */
static tally_status load(const char *folder, tally__track *track, const tally__gallery_row *row) {
    char path[MOST_PATH];
    const char *name;
    int found = 0;
    snprintf(path, sizeof path, "%s/mine.so", folder);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    TALLY_CHECK(library != NULL, UNSUPPORTED, "the compiled kernel cannot be loaded: %s", dlerror());
    const tally__simt_words **words = dlsym(library, "tally__simt");
    tally__simt_entry **functions = dlsym(library, "tally_mine");
    TALLY_CHECK(words != NULL && functions != NULL, UNSUPPORTED, "the compiled kernel has no kernel in it");
    *words = tally__simt;
    for (int k = 0; k < tally__gallery_count; k++)
        if (is_compiled(&tally__gallery[k], row))
            TALLY_TRY(register_one(track->host->kernels[k].entry, functions[found++]));
    if (found > 0) return TALLY_OK;
    TALLY_TRY(name_of(track, row, &name));
    return register_one(name, functions[0]);
}

static tally_status build(const char *folder, tally__track *track, const tally__gallery_row *row) {
    bool written = put_texts(folder, tally__texts, tally__text_count) &&
                   put_texts(folder, tally__gallery_texts, tally__gallery_text_count) &&
                   put_texts(folder, tally__simt_texts, tally__simt_text_count) &&
                   (row->text == NULL || put_file(folder, "mine.h", row->text, strlen(row->text))) &&
                   put_unit(folder, track, row);
    TALLY_CHECK(written, NO_MEMORY, "the files for the compiler cannot be written to %s", folder);
    TALLY_CHECK(compile(folder), UNSUPPORTED, "the kernel does not compile, or there is no C compiler (CC names one)");
    return load(folder, track, row);
}

/* ---- exercises, and orders of threads ---- */

const char *tally__gallery_exercise(int number, bool solved) {
    char name[48];
    snprintf(name, sizeof name, "exercises/%s%02d.h", solved ? "solutions/" : "", number);
    return tally__course_text(name);
}

tally_status tally__gallery_schedule(const char *name) {
    tally__simt_settings settings = TALLY_SIMT_SETTINGS_INIT;
    TALLY_CHECK(name == NULL || tally__simt_parse(name, &settings), BAD_ARGUMENT, "there is no order %s", name);
    tally__simt_configure(name != NULL ? &settings : NULL);
    return TALLY_OK;
}

/* ---- the whole ---- */

static tally_status read_text(const char *path, char **text) {
    FILE *file = fopen(path, "rb");
    TALLY_CHECK(file != NULL, BAD_ARGUMENT, "%s cannot be opened: %s", path, strerror(errno));
    *text = calloc(1, MOST_TEXT);
    size_t length = *text != NULL ? fread(*text, 1, MOST_TEXT - 1, file) : 0;
    bool whole = *text != NULL && feof(file) && strlen(*text) == length;
    fclose(file);
    if (whole) return TALLY_OK;
    free(*text);
    *text = NULL;
    return tally__fail(TALLY_BAD_ARGUMENT, "%s is no text of less than a megabyte", path);
}

/* In a folder of its own, which is then removed. */
static tally_status compile_for_simulator(tally__track *track, const tally__gallery_row *row) {
    const char *temporary = getenv("TMPDIR") != NULL && getenv("TMPDIR")[0] != '\0' ? getenv("TMPDIR") : "/tmp";
    char folder[MOST_PATH / 2];
    snprintf(folder, sizeof folder, "%s/tally-XXXXXX", temporary);
    TALLY_CHECK(mkdtemp(folder) != NULL, NO_MEMORY, "no folder for the compiler in %s: %s", temporary, strerror(errno));
    tally_status status = build(folder, track, row);
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return status;
}

tally_status tally__track_take(tally__track *track, const char *path, tally__gallery_row *row, tally__goal *goal) {
    char *text;
    TALLY_TRY(read_text(path, &text));
    free(track->mine);
    track->mine = text;
    TALLY_TRY(read_row(text, row));
    for (int form = 0; form < TALLY_GALLERY_FORMS; form++) track->runners[form][row->number] = (tally__runner){0};
    *goal = (tally__goal){wanted_of(text, "divergent"), wanted_of(text, "conflicts"), wanted_of(text, "transactions"),
                          wanted_of(text, "barriers")};
    return track->backend == TALLY_BACKEND_SIMT ? compile_for_simulator(track, row) : TALLY_OK;
}

tally_status tally__track_vary(tally__track *track, const tally__gallery_row *row) {
    bool usual = tally__gallery_is_usual(row);
    if (!usual && memcmp(&track->compiled, &row->sizes, sizeof row->sizes) == 0) return TALLY_OK;
    track->compiled = usual ? (tally__gallery_sizes){0} : row->sizes;
    if (!usual) return compile_for_simulator(track, row);
    return register_one(track->host->kernels[row->number].entry, track->host->kernels[row->number].function);
}
