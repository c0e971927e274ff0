/* What the cuda backend stands on, without a GPU: texts, NVRTC, and the entry points about GPUs. What is opened once in
 * a process is tested in children of this one; test_opening has the driver and the simulator's kernels. */
#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "children.h"

#include "cuda/cache.h"
#include "cuda/units.h"
#include "cuda/nvidia.h"
#include "cuda/texts.h"
#include "simt/module.h"

/* ---- units ---- */

static tally__unit unit_of(const char *op, const char *type) {
    tally__unit unit = {.text = "types/type_numbers.h", .type = TALLY_F32};
    snprintf(unit.entry, sizeof unit.entry, "test_%s_%s", op, type);
    snprintf(unit.preface, sizeof unit.preface,
             "#define TALLY_TYPE %s\n#define TALLY_NAN 0\n#define TALLY_KERNEL_FILE "
             "\"operators/%s.h\"\n"
             "#include \"types/types.h\"\n#include TALLY_KERNEL_FILE\n#include \"device/device.h\"\n"
             "TALLY_ENTRY(%s, tally_array_work, 1) {\n    const node_t *a = (const node_t *)work.nodes;\n"
             "    *(result_t *)work.out.result = finish(merge(a[0], a[tally_thread()]), "
             "&work.out.final);\n}\n",
             type, op, unit.entry);
    return unit;
}

/* ---- texts ---- */

static int occurrences(const char *text, const char *what) {
    int count = 0;
    for (const char *p = text; (p = strstr(p, what)) != NULL; p++) count++;
    return count;
}

static void test_emit(void **state) {
    tally__unit unit = unit_of("sum", "f32");
    char *text;
    const char *include;
    (void)state;
    EXPECT(tally__text_named("stdint.h", 8) == tally__text_named("device/nvrtc.h", 14), "stdint.h is not nvrtc.h");
    EXPECT(tally__text_named("lib/types", 9) == NULL && tally__text_named("types/types.h", 13) != NULL,
           "names are matched in part");
    for (int i = 0; i < tally__text_count; i++)
        EXPECT(strlen(tally__texts[i].text) == tally__texts[i].size, "%s has another length", tally__texts[i].name);
    unit.user_text = "int of_the_user;";
    strcat(unit.preface, "#include \"user.h\"\n");
    EXPECT_OK(tally__emit(&unit, &text));
    EXPECT(strstr(text, "of_the_user") != NULL && strstr(text, "tally_join") == NULL, "the user's text is missing");
    for (include = text; (include = strstr(include, "#include")) != NULL;
         include++) /* nvcc's, and one that device code does not see */
        EXPECT(strncmp(include, "#include <stdint.h>\n#endif", 26) == 0 ||
                   strncmp(include, "#include \"simt/", 15) == 0,
               "left to be included: %.40s", include);
    free(text);
    /* A guarded text is there once, also when a guarded one had it before, and twice after a condition. */
    strcpy(unit.preface, "#include \"accumulators/elementary.h\"\n#include \"device/dialect.h\"\n");
    EXPECT_OK(tally__emit(&unit, &text));
    EXPECT(occurrences(text, "typedef signed char int8_t") == 1, "not once");
    free(text);
    strcpy(unit.preface,
           "#if 0\n#include \"device/dialect.h\"\n#endif\n#include \"device/dialect.h\"\n#include <stdint.h>\n");
    EXPECT_OK(tally__emit(&unit, &text));
    EXPECT(occurrences(text, "typedef signed char int8_t") == 2, "not twice");
    free(text);
    unit.text = "no/such.h";
    EXPECT_STATUS(tally__emit(&unit, &text), TALLY_UNSUPPORTED);
    EXPECT(text == NULL && strstr(tally_message(), "no/such.h") != NULL, "another sentence");
}

static void test_dump(void **state) {
    char path[MOST_PATH];
    tally__unit unit = unit_of("max", "i16");
    (void)state;
    set("TALLY_JIT_DUMP", folder);
    EXPECT_OK(tally__dump(&unit, 90));
    EXPECT(count_names(folder, path) == 1 && strstr(path, "/test_max_i16-sm_90.cu") != NULL,
           "no dump, or of another name");
    EXPECT(unlink(path) == 0 && mkfifo(path, 0600) == 0, "no pipe");
    EXPECT_STATUS(tally__dump(&unit, 90), TALLY_BAD_ARGUMENT);
    EXPECT(unlink(path) == 0, "the pipe is gone");
    set("TALLY_JIT_DUMP", "/nonexistent");
    EXPECT_STATUS(tally__dump(&unit, 80), TALLY_BAD_ARGUMENT);
    EXPECT(strstr(tally_message(), "TALLY_JIT_DUMP") != NULL, "another sentence");
    set("TALLY_JIT_DUMP", NULL);
}

/* ---- NVRTC ---- */

static int open_wrong_nvrtc(void) {
    const tally__nvrtc *nvrtc;
    CHILD_CHECK(tally__nvrtc_open(&nvrtc) == TALLY_UNSUPPORTED && tally_message()[0] != '\0');
    CHILD_CHECK(strstr(tally_message(), getenv("FAKE_WANTED")) != NULL);
    return 0;
}
static void test_no_nvrtc(void **state) {
    char *old = getenv("TALLY_NVRTC"), *kept = old != NULL ? strdup(old) : NULL;
    (void)state;
    set("TALLY_NVRTC", "/nonexistent/libnvrtc.so");
    set("FAKE_WANTED", "TALLY_NVRTC");
    EXPECT(in_child(open_wrong_nvrtc) == 0, "see above");
    set("TALLY_NVRTC", "libm.so.6");
    set("FAKE_WANTED", "nvrtcVersion");
    EXPECT(in_child(open_wrong_nvrtc) == 0, "see above");
    set("TALLY_NVRTC", make_pipe());
    set("FAKE_WANTED", "no ordinary file");
    EXPECT(in_child(open_wrong_nvrtc) == 0, "see above");
    set("TALLY_NVRTC", kept);
    set("FAKE_WANTED", NULL);
    free(kept);
}

static const tally__nvrtc *nvrtc_or_skip(void) {
    const tally__nvrtc *nvrtc;
    if (tally__nvrtc_open(&nvrtc) == TALLY_OK) return nvrtc;
    print_message("SKIPPED: %s\n", tally_message());
    skip();
    return NULL;
}

static bool begins_with(const tally__image *image, const char *what) {
    return image->size > strlen(what) && memcmp(image->bytes, what, strlen(what)) == 0;
}

static void test_compile(void **state) {
    static const int sms[] = {75, 80, 90, 100, 120, 999};
    const tally__nvrtc *nvrtc = nvrtc_or_skip();
    char version[512];
    (void)state;
    EXPECT_OK(tally__nvidia_platform.compiler_version(version, sizeof version));
    EXPECT(strncmp(version, "nvrtc ", 6) == 0, "the version is %s", version);
    for (size_t i = 0; i < sizeof sms / sizeof *sms; i++) {
        tally__unit unit = unit_of(i % 2 ? "stats" : "sum", i % 3 ? "f64" : "i32");
        tally__image image;
        bool known = false;
        for (int k = 0; k < nvrtc->sm_count; k++) known |= nvrtc->sm[k] == sms[i];
        EXPECT_OK(tally__nvidia_platform.compile(&unit, sms[i], &image));
        EXPECT(begins_with(&image, known ? "\177ELF" : "//"), "no image for sm_%d", sms[i]);
        free(image.bytes);
    }
}

static void test_compile_errors(void **state) {
    tally__unit unit = unit_of("sum", "f32");
    tally__image image = {&unit, 1};
    (void)nvrtc_or_skip();
    (void)state;
    EXPECT_STATUS(tally__nvidia_platform.compile(&unit, 20, &image), TALLY_UNSUPPORTED);
    EXPECT(image.bytes == NULL && strstr(tally_message(), "sm_20") != NULL, "another sentence");
    unit.user_text = "int x = not_declared;\n";
    strcat(unit.preface, "#include \"user.h\"\n");
    EXPECT_STATUS(tally__nvidia_platform.compile(&unit, 90, &image), TALLY_BAD_ARGUMENT);
    EXPECT(image.bytes == NULL && strstr(tally_message(), "user.h(1)") != NULL &&
               strstr(tally_message(), "not_declared") != NULL,
           "another sentence");
}

/* What several threads compile at once is what each would have made alone. */
static void test_compile_side_by_side(void **state) {
    enum { UNITS = 6 };
    static const char *const ops[] = {"stats", "sum", "var"};
    tally__unit units[UNITS];
    const tally__image *image;
    tally__image alone;
    (void)nvrtc_or_skip();
    (void)state;
    set("TALLY_CACHE_DIR", "off");
    for (int i = 0; i < UNITS; i++) units[i] = unit_of(ops[i / 2], i % 2 ? "f64" : "f32");
    EXPECT_OK(tally__images_ahead(&tally__nvidia_platform, units, UNITS, 90, UNITS));
    for (int i = 0; i < UNITS; i++) {
        EXPECT_OK(tally__image_of(&tally__nvidia_platform, &units[i], 90, &image));
        EXPECT_OK(tally__nvidia_platform.compile(&units[i], 90, &alone));
        EXPECT(image->size == alone.size && memcmp(image->bytes, alone.bytes, alone.size) == 0, "%s differs",
               units[i].entry);
        free(alone.bytes);
    }
    strcat(units[3].preface, "#error in one of them\n");
    EXPECT_STATUS(tally__images_ahead(&tally__nvidia_platform, units, UNITS, 90, UNITS), TALLY_UNSUPPORTED);
    EXPECT(strstr(tally_message(), "in one of them") != NULL, "another sentence: %s", tally_message());
    set("TALLY_CACHE_DIR", NULL);
}

/* What lies in the folder where a program runs is not compiled. */
static int compile_in_folder(void) {
    tally__unit unit = {.text = "types/types.h", .entry = "plain"};
    tally__image image;
    CHILD_CHECK(chdir(folder) == 0);
    strcpy(unit.preface, "#define TALLY_TYPE f32\n#define TALLY_NAN 0\n#include \"types/half.h\"\n");
    CHILD_CHECK(tally__nvidia_platform.compile(&unit, 90, &image) == TALLY_OK);
    strcat(unit.preface, "#include \"evil.h\"\n");
    CHILD_CHECK(tally__nvidia_platform.compile(&unit, 90, &image) != TALLY_OK);
    return 0;
}
static void test_folder_is_not_read(void **state) {
    char path[MOST_PATH];
    const tally__nvrtc *nvrtc = nvrtc_or_skip();
    (void)state;
    if (nvrtc->major < 13) return; /* it has no option for that; our own names win there too */
    snprintf(path, sizeof path, "%s/types", folder);
    mkdir(path, 0700);
    strcat(path, "/half.h");
    write_file(path, "#error from the folder\n", 23);
    snprintf(path, sizeof path, "%s/evil.h", folder);
    write_file(path, "int evil;\n", 10);
    EXPECT(in_child(compile_in_folder) == 0, "see above");
}

/* A text's image, in memory of malloc; it compiles without any header, with the options that it names. nvcc has
 * the last one by itself. */
static char *image_of(const tally__nvrtc *nvrtc, const char *op, const char *text, size_t *size) {
    const char *const options[] = {"--gpu-architecture=sm_90", "--std=c++17", "--fmad=false", "--device-int128"};
    tally__nvrtc_handle program;
    char log[2000] = "", *image;
    int error;
    EXPECT(nvrtc->create(&program, text, "alone.cu", 0, NULL, NULL) == 0, "no program");
    error = nvrtc->compile(program, 4, options);
    if (nvrtc->log_size(program, size) == 0 && *size < sizeof log) nvrtc->log(program, log);
    EXPECT(error == 0 && strstr(log, "warning") == NULL, "%s does not compile alone: %.300s", op, log);
    EXPECT(nvrtc->cubin_size(program, size) == 0, "no size");
    image = malloc(*size);
    EXPECT(image != NULL && nvrtc->cubin(program, image) == 0, "no image");
    nvrtc->destroy(&program);
    return image;
}

/* The instructions in an image, and how many bytes they are. */
static const char *instructions(const char *image, size_t *size) {
    const Elf64_Ehdr *file = (const void *)image;
    const Elf64_Shdr *sections = (const void *)(image + file->e_shoff);
    const char *names = image + sections[file->e_shstrndx].sh_offset;
    for (int i = 0; i < file->e_shnum; i++) {
        if (strncmp(names + sections[i].sh_name, ".text.", 6) != 0) continue;
        *size = sections[i].sh_size;
        return image + sections[i].sh_offset;
    }
    EXPECT(false, "an image without instructions");
    return NULL;
}

/* What people read compiles to what all of the text does. */
static void test_emitted_compiles(void **state) {
    static const struct {
        const char *op;
        tally_type type;
        tally_accuracy accuracy;
    } cases[] = {
        {"sum", TALLY_F32, TALLY_FAST},    {"sum", TALLY_F64, TALLY_EXACT},  {"stats", TALLY_F32, TALLY_EXACT},
        {"sum", TALLY_F16, TALLY_EXACT},   {"stats", TALLY_F64, TALLY_FAST}, {"logsumexp", TALLY_F16, TALLY_FAST},
        {"argmin", TALLY_F64, TALLY_FAST}, {"dot", TALLY_BF16, TALLY_EXACT}, {"var", TALLY_U8, TALLY_FAST},
        {"norm1", TALLY_I64, TALLY_FAST},  {"max", TALLY_BOOL, TALLY_FAST}};
    const tally__nvrtc *nvrtc = nvrtc_or_skip();
    tally_context *context;
    (void)state;
    EXPECT_OK(tally_context_create(NULL, &context));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tally_options options = TALLY_OPTIONS_INIT;
        tally__spec spec;
        tally__unit unit;
        char *whole, *readable, *image, *same_image, entry[128];
        const char *code, *same;
        size_t size, same_size;
        options.accuracy = cases[i].accuracy;
        EXPECT_OK(tally_set_options(context, &options));
        EXPECT_OK(tally__specify(context, tally_op_from_name(cases[i].op), cases[i].type, &spec));
        EXPECT_OK(tally__unit_of(&spec, TALLY_FORM_WHOLE, &unit));
        EXPECT_OK(tally__emit(&unit, &whole));
        EXPECT_OK(tally__emit_readable(&unit, &readable));
        EXPECT(strlen(readable) < strlen(whole) * 2 / 3, "%s: %zu bytes of %zu are left", cases[i].op, strlen(readable),
               strlen(whole));
        snprintf(entry, sizeof entry, "%s(const __grid_constant__ tally_array_work work)", unit.entry);
        EXPECT(strstr(readable, entry) != NULL, "%s: no entry of its name", cases[i].op);
        image = image_of(nvrtc, cases[i].op, whole, &size);
        same_image = image_of(nvrtc, cases[i].op, readable, &same_size);
        code = instructions(image, &size);
        same = instructions(same_image, &same_size);
        EXPECT(size == same_size && memcmp(code, same, size) == 0, "%s has other machine code", cases[i].op);
        free(whole), free(readable), free(image), free(same_image);
    }
    tally_context_destroy(context);
}

/* ---- the entry points about GPUs ---- */

static void test_tally_emit(void **state) {
    char small[10] = "unchanged", *text;
    size_t size = 0, again = 0;
    (void)state;
    EXPECT_STATUS(tally_emit(NULL, TALLY_SUM, TALLY_F32, NULL, 0, NULL), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_emit(NULL, TALLY_OP_END, TALLY_F32, NULL, 0, &size), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_emit(NULL, TALLY_AND, TALLY_F32, NULL, 0, &size), TALLY_BAD_TYPE);
    EXPECT_OK(tally_emit(NULL, TALLY_SUM, TALLY_F32, NULL, 0, &size));
    EXPECT_STATUS(tally_emit(NULL, TALLY_SUM, TALLY_F32, small, sizeof small, &again), TALLY_NO_SPACE);
    EXPECT(again == size && strcmp(small, "unchanged") == 0, "%zu bytes, then %zu", size, again);
    text = malloc(size + 1);
    EXPECT(text != NULL, "no memory");
    text[size] = 'x';
    EXPECT_STATUS(tally_emit(NULL, TALLY_SUM, TALLY_F32, text, size - 1, &again), TALLY_NO_SPACE);
    EXPECT_OK(tally_emit(NULL, TALLY_SUM, TALLY_F32, text, size, &again));
    EXPECT(strlen(text) + 1 == size && text[size] == 'x', "the text has %zu bytes of %zu", strlen(text), size);
    EXPECT(strstr(text, "tally_exact_sum_f32_0") != NULL, "another kernel");
    free(text);
}

static void test_warm(void **state) {
    tally_options options = TALLY_OPTIONS_INIT;
    tally_context *context;
    (void)state;
    EXPECT_OK(tally_context_create(NULL, &context));
    options.backend = TALLY_BACKEND_CPU;
    EXPECT_OK(tally_set_options(context, &options));
    EXPECT_STATUS(tally_warm(context, TALLY_SUM, TALLY_F32), TALLY_BAD_ARGUMENT);
    options.backend = TALLY_BACKEND_SIMT;
    EXPECT_OK(tally_set_options(context, &options));
    EXPECT_OK(tally_warm(context, TALLY_SUM, TALLY_F32));
    EXPECT_STATUS(tally_warm(context, TALLY_LOGSUMEXP, TALLY_I8), TALLY_BAD_TYPE);
    options.device = 5;
    EXPECT_OK(tally_set_options(context, &options));
    EXPECT_STATUS(tally_warm(context, TALLY_SUM, TALLY_F32), TALLY_NO_DEVICE);
    tally_context_destroy(context);
}

/* On a GPU that loads anything, by four threads that want the same kernels. */
static void *warm_rows(void *status) {
    tally_options options = TALLY_OPTIONS_INIT;
    tally_context *context;
    options.backend = TALLY_BACKEND_CUDA;
    options.accuracy = TALLY_FAST;
    *(tally_status *)status = tally_context_create(NULL, &context);
    if (*(tally_status *)status == TALLY_OK) *(tally_status *)status = tally_set_options(context, &options);
    if (*(tally_status *)status == TALLY_OK)
        *(tally_status *)status = tally_warm_segments(context, TALLY_MAX, TALLY_F32, TALLY_ROWS);
    if (*(tally_status *)status != TALLY_OK) fprintf(stderr, "%s\n", tally_message());
    tally_context_destroy(context);
    return NULL;
}
static int has_compiler(void) {
    const tally__nvrtc *nvrtc;
    return tally__nvrtc_open(&nvrtc) == TALLY_OK;
}
static int warm_by_threads(void) {
    tally_status statuses[4];
    pthread_t threads[4];
    for (int k = 0; k < 4; k++) CHILD_CHECK(pthread_create(&threads[k], NULL, warm_rows, &statuses[k]) == 0);
    for (int k = 0; k < 4; k++) pthread_join(threads[k], NULL);
    for (int k = 0; k < 4; k++) CHILD_CHECK(statuses[k] == TALLY_OK);
    return tally__nvrtc_file() != NULL;
}
static void test_warm_threads(void **state) {
    /* kernels of segments, their spans, segmentations, features, groups, five kinds of rows, and to convert results;
     * and the compiler */
    enum { RECORDS = 12 };
    char path[MOST_PATH];
    struct stat before, after;
    bool has_nvrtc;
    (void)state;
    set("TALLY_CUDA_DRIVER", FAKE_GPU);
    set("FAKE_CUDA_VERSION", "99000");
    set("FAKE_CUDA_DEVICES", "1");
    snprintf(path, sizeof path, "%s/cache", folder);
    set("TALLY_CACHE_DIR", path);
    has_nvrtc = in_child(has_compiler) == 1;
    if (has_nvrtc) {
        EXPECT(in_child(warm_by_threads) == 1, "not compiled");
        EXPECT(count_names(path, NULL) == RECORDS && stat(path, &before) == 0, "%d records", count_names(path, NULL));
        EXPECT(in_child(warm_by_threads) == 0, "the compiler is opened where all is kept");
        EXPECT(stat(path, &after) == 0 && before.st_mtim.tv_sec == after.st_mtim.tv_sec &&
                   before.st_mtim.tv_nsec == after.st_mtim.tv_nsec,
               "something was written again");
        set("PYTHONPATH", "/another"); /* may lead to another compiler */
        EXPECT(in_child(warm_by_threads) == 1 && count_names(path, NULL) == RECORDS + 1, "not looked for");
        EXPECT(in_child(warm_by_threads) == 0, "not found again");
        set("PYTHONPATH", NULL);
    }
    set("FAKE_CUDA_DEVICES", NULL);
    set("FAKE_CUDA_VERSION", NULL);
    set("TALLY_CUDA_DRIVER", NULL);
    set("TALLY_CACHE_DIR", NULL);
    if (!has_nvrtc) {
        print_message("SKIPPED: no NVRTC\n");
        skip();
    }
}

/* FAKE_WANTED: what the sentence has to say; without it a driver that knows of no GPU. */
static int ask_without_gpu(void) {
    int count = 7;
    tally_gpu_info info;
    CHILD_CHECK(tally_gpu_count(NULL) == TALLY_BAD_ARGUMENT && tally_gpu_describe(0, NULL) == TALLY_BAD_ARGUMENT);
    CHILD_CHECK(tally_gpu_count(&count) == TALLY_NO_DEVICE && count == 0);
    CHILD_CHECK(strstr(tally_message(), getenv("FAKE_WANTED")) != NULL);
    memset(&info, 1, sizeof info);
    CHILD_CHECK(tally_gpu_describe(0, &info) == TALLY_NO_DEVICE && info.sm == 0 && info.name[0] == '\0');
    CHILD_CHECK(tally_warm(NULL, TALLY_SUM, TALLY_F32) == TALLY_NO_DEVICE);
    CHILD_CHECK(tally_gpu_compiler() == NULL && strstr(tally_message(), "TALLY_NVRTC") != NULL);
    CHILD_CHECK(tally_gpu_compiler() == NULL && strstr(tally_message(), "TALLY_NVRTC") != NULL);
    return 0;
}
static void test_no_gpu(void **state) {
    const char *nvrtc = getenv("TALLY_NVRTC");
    char kept[MOST_PATH];
    (void)state;
    snprintf(kept, sizeof kept, "%s", nvrtc != NULL ? nvrtc : "");
    set("TALLY_NVRTC", "/nonexistent");
    set("TALLY_CUDA_DRIVER", "/nonexistent");
    set("FAKE_WANTED", "TALLY_CUDA_DRIVER");
    EXPECT(in_child(ask_without_gpu) == 0, "without a driver");
    set("TALLY_CUDA_DRIVER", FAKE_DRIVER);
    set("FAKE_WANTED", "no GPU");
    EXPECT(in_child(ask_without_gpu) == 0, "without a GPU");
    set("TALLY_CUDA_DRIVER", NULL);
    set("TALLY_NVRTC", nvrtc != NULL ? kept : NULL);
}

static int ask_for_folder(void) {
    char path[MOST_PATH], unsafe[MOST_PATH];
    const char *found;
    set("TALLY_CACHE_DIR", "off");
    CHILD_CHECK(tally_cache_folder() == NULL && strstr(tally_message(), "off") != NULL);
    snprintf(path, sizeof path, "%s/new", folder);
    set("TALLY_CACHE_DIR", path);
    found = tally_cache_folder();
    CHILD_CHECK(found != NULL && strcmp(found, path) == 0 && access(path, F_OK) != 0);
    snprintf(unsafe, sizeof unsafe, "%s/unsafe", folder);
    CHILD_CHECK(mkdir(unsafe, 0700) == 0 && chmod(unsafe, 0777) == 0);
    set("TALLY_CACHE_DIR", unsafe);
    CHILD_CHECK(tally_cache_folder() == NULL && strstr(tally_message(), "others") != NULL);
    set("TALLY_CACHE_DIR", NULL);
    set("XDG_CACHE_HOME", folder);
    found = tally_cache_folder();
    CHILD_CHECK(found != NULL && strncmp(found, folder, strlen(folder)) == 0 &&
                strcmp(found + strlen(folder), "/tally") == 0);
    set("XDG_CACHE_HOME", NULL);
    set("HOME", NULL);
    CHILD_CHECK(tally_cache_folder() == NULL && strstr(tally_message(), "HOME") != NULL);
    return 0;
}
static void test_cache_folder(void **state) {
    (void)state;
    EXPECT(in_child(ask_for_folder) == 0, "the folder");
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_gpu), /* before anything is opened in this process, */
        IN_FOLDER(test_warm_threads),  /* as is this */
        cmocka_unit_test(test_emit),
        IN_FOLDER(test_dump),
        IN_FOLDER(test_no_nvrtc),
        IN_FOLDER(test_folder_is_not_read),
        cmocka_unit_test(test_compile),
        cmocka_unit_test(test_compile_errors),
        cmocka_unit_test(test_compile_side_by_side),
        cmocka_unit_test(test_emitted_compiles),
        cmocka_unit_test(test_tally_emit),
        cmocka_unit_test(test_warm),
        IN_FOLDER(test_cache_folder),
    };
    int skipped = begin_program(argc, argv);
    unsetenv("TALLY_JIT_DUMP");
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
