/* What is opened at run time: the GPU's driver, and the library of the simulator's kernels. Each is opened once in a
 * process, so it is tested in children of this one. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "children.h"

#include "cuda/nvidia.h"
#include "simt/module.h"

/* ---- the driver ---- */

/* The sentence of a driver that cannot be used must contain FAKE_WANTED; without that variable it must be usable. */
static int open_driver(void) {
    const char *why = NULL, *wanted = getenv("FAKE_WANTED");
    const tally__driver *driver = tally__nvidia_driver(&why);
    if (wanted == NULL) {
        CHILD_CHECK(driver != NULL && driver->device_count != NULL && tally__driver_is_loaded());
        CHILD_CHECK(tally__nvidia_driver(&why) == driver);
        return 0;
    }
    if (driver != NULL || why == NULL || strstr(why, wanted) == NULL)
        fprintf(stderr, "wanted \"%s\": %s\n", wanted, why ? why : "no sentence");
    CHILD_CHECK(driver == NULL && why != NULL && strstr(why, wanted) != NULL);
    CHILD_CHECK(tally__nvidia_driver(&why) == NULL && strstr(why, wanted) != NULL);
    return 0;
}

static void test_driver(void **state) {
    static const struct {
        const char *file, *version, *error, *wanted;
    } cases[] = {
        {"/nonexistent/libcuda.so.1", NULL, NULL, "TALLY_CUDA_DRIVER"},
        {"libm.so.6", NULL, NULL, "cuInit"},
        {FAKE_DRIVER, NULL, NULL, NULL},
        {FAKE_DRIVER, "13010", NULL, NULL},
        {FAKE_DRIVER, "11080", NULL, "CUDA 11.8"},
        {FAKE_DRIVER, NULL, "100", "no GPU"},
        {FAKE_DRIVER, NULL, "34", "stub"},
        {FAKE_DRIVER, NULL, "802", "CUDA_ERROR_FAKED"},
        {FAKE_DRIVER, NULL, "999", "error 999"},
        {FAKE_DRIVER_PART, NULL, NULL, "cuDeviceGetCount"},
        {FAKE_DRIVER_PART, "11080", NULL, "CUDA 11.8"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set("TALLY_CUDA_DRIVER", cases[i].file);
        set("FAKE_CUDA_VERSION", cases[i].version);
        set("FAKE_CUDA_ERROR", cases[i].error);
        set("FAKE_WANTED", cases[i].wanted);
        EXPECT(in_child(open_driver) == 0, "case %zu", i);
    }
    set("TALLY_CUDA_DRIVER", make_pipe()); /* which nobody writes to */
    set("FAKE_WANTED", "no ordinary file");
    EXPECT(in_child(open_driver) == 0, "a pipe");
    set("TALLY_CUDA_DRIVER", NULL);
}

/* Loaded by somebody else, under the driver's name. */
static int load_driver(void) {
    if (tally__driver_is_loaded()) return 0; /* nothing left to see */
    CHILD_CHECK(!tally__driver_is_loaded());
    CHILD_CHECK(dlopen("libm.so.6", RTLD_NOW) != NULL && !tally__driver_is_loaded());
    CHILD_CHECK(dlopen(FAKE_DRIVER, RTLD_NOW) != NULL);
    CHILD_CHECK(tally__driver_is_loaded() && tally__driver_is_loaded());
    return 0;
}
static void test_driver_is_loaded(void **state) {
    (void)state;
    EXPECT(in_child(load_driver) == 0, "see above");
}

/* ---- the simulator's kernels ---- */

static tally_status sum_on_simulator(void) {
    const float values[] = {1, 2, 3};
    tally_options options = TALLY_OPTIONS_INIT;
    tally_context *context;
    tally_status status;
    float sum = 0;
    options.backend = TALLY_BACKEND_SIMT;
    if (tally_context_create(NULL, &context) != TALLY_OK) return TALLY_NO_MEMORY;
    status = tally_set_options(context, &options);
    if (status == TALLY_OK)
        status = tally_reduce(context, TALLY_SUM, tally_in(values, TALLY_F32, 3), tally_out(&sum, TALLY_F32, 1));
    tally_context_destroy(context);
    return status == TALLY_OK && sum != 6 ? TALLY_DEVICE_FAILED : status;
}

/* FAKE_WANTED: what the sentence has to say; without it the kernels are there. */
static int open_kernels(void) {
    const char *wanted = getenv("FAKE_WANTED");
    for (int i = 0; i < 2; i++) {
        if (wanted == NULL) CHILD_CHECK(sum_on_simulator() == TALLY_OK);
        if (wanted != NULL)
            CHILD_CHECK(sum_on_simulator() == TALLY_UNSUPPORTED && strstr(tally_message(), wanted) != NULL);
    }
    return 0;
}

/* What they refuse by themselves, and to serve two machines. */
static int open_by_hand(void) {
    void *library = dlopen(TALLY_SIMT_FILE, RTLD_NOW),
         *symbol = library != NULL ? dlsym(library, "tally_simt_kernels") : NULL;
    static tally__simt_words another;
    tally__simt_opening *open;
    CHILD_CHECK(symbol != NULL);
    memcpy(&open, &symbol, sizeof open);
    CHILD_CHECK(open("0.0.1", &another, sizeof another) == NULL);
    CHILD_CHECK(open(tally__edition, &another, sizeof another - 8) == NULL);
    CHILD_CHECK(open(tally__edition, &another, sizeof another) != NULL);
    CHILD_CHECK(sum_on_simulator() == TALLY_UNSUPPORTED && strstr(tally_message(), "another copy") != NULL);
    return 0;
}

static void test_simulators_kernels(void **state) {
    static const struct {
        const char *file, *wanted;
    } cases[] = {
        {NULL, NULL},
        {TALLY_SIMT_FILE, NULL},
        {"/nowhere", "TALLY_SIMT_KERNELS names no library that can be loaded (/nowhere"},
        {"libm.so.6", "libm.so.6 has no function tally_simt_kernels"},
        {FAKE_SIMT, "of another build"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set("TALLY_SIMT_KERNELS", cases[i].file);
        set("FAKE_WANTED", cases[i].wanted);
        EXPECT(in_child(open_kernels) == 0, "case %zu", i);
    }
    set("TALLY_SIMT_KERNELS", make_pipe());
    set("FAKE_WANTED", "no ordinary file");
    EXPECT(in_child(open_kernels) == 0, "a pipe");
    set("TALLY_SIMT_KERNELS", NULL);
    set("FAKE_WANTED", NULL);
    EXPECT(in_child(open_by_hand) == 0, "see above");
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_driver),
        cmocka_unit_test(test_driver_is_loaded),
        IN_FOLDER(test_simulators_kernels),
    };
    int skipped = begin_program(argc, argv);
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
