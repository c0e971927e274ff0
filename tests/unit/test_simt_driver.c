/* The simulator's driver: what it refuses, what it keeps account of, and that each of its calls can be made to fail. */
#include <stdlib.h>

#include "simt_host.h"

static void test_allocations(void **state) {
    char host[64] = {0};
    char *memory = device(64), *other = device(32);
    tally__cu_address at = (uintptr_t)memory, none;
    (void)state;
    assert_int_equal(tally__simt_live_now().bytes, 96);
    DO(copy_in(at, host, 64, NULL));
    DO(fill(at + 10, 7, 54, NULL));
    DO(copy_out(host, at, 64, NULL));
    assert_true(host[9] == 0 && host[10] == 7 && host[63] == 7);
    assert_int_equal(driver->copy_out(host, at + 1, 64, NULL), TALLY_CU_INVALID_VALUE);
    assert_int_equal(driver->copy_in(at + 64, host, 1, NULL), TALLY_CU_INVALID_VALUE);
    assert_int_equal(driver->release(at + 1), TALLY_CU_INVALID_VALUE);
    assert_int_equal(driver->release((uintptr_t)host), TALLY_CU_INVALID_VALUE);
    DO(release(at));
    assert_int_equal(driver->release(at), TALLY_CU_INVALID_VALUE);
    assert_int_equal(driver->fill(at, 0, 1, NULL), TALLY_CU_INVALID_VALUE);
    assert_int_equal(driver->copy_out(host, at, 1, NULL), TALLY_CU_INVALID_VALUE);
    assert_int_equal(driver->allocate(&none, 0), TALLY_CU_INVALID_VALUE);
    assert_int_equal(driver->allocate(&none, SIZE_MAX / 2), TALLY_CU_OUT_OF_MEMORY);
    DO(release(0));
    discard(other);
}

static void test_pointers(void **state) {
    int attributes[] = {TALLY_CU_POINTER_CONTEXT, TALLY_CU_POINTER_MEMORY_TYPE, TALLY_CU_POINTER_IS_MANAGED,
                        TALLY_CU_POINTER_DEVICE_ORDINAL};
    tally__cu_context of;
    unsigned type, managed;
    int ordinal;
    void *values[] = {&of, &type, &managed, &ordinal};
    char *memory = device(64);
    (void)state;
    DO(pointer_attributes(4, attributes, values, (uintptr_t)memory + 63));
    assert_true(of == context && type == TALLY_CU_MEMORY_DEVICE && managed == 0 && ordinal == 0);
    DO(pointer_attributes(4, attributes, values, (uintptr_t)&type));
    assert_true(of == NULL && type == 0);
    discard(memory);
}

/* ---- the driver ---- */

static void test_handles(void **state) {
    tally__cu_stream stream;
    tally__cu_module module;
    tally__cu_function function;
    test_work work = {0};
    void *parameters[] = {&work};
    int value;
    (void)state;
    DO(stream_create(&stream, TALLY_CU_STREAM_NON_BLOCKING));
    DO(stream_capturing(stream, &value));
    assert_int_equal(value, TALLY_CU_CAPTURE_NONE);
    DO(module_load(&module, "simt test_two_barriers"));
    assert_int_equal(driver->module_function(&function, module, "test_place"), TALLY_CU_NOT_FOUND);
    DO(module_function(&function, module, "test_two_barriers"));
    assert_int_equal(start(function, 1, 1, 1, 0, stream, parameters), TALLY_CU_SUCCESS);
    assert_int_equal(start(function, 1, 2, 1, 0, stream, parameters), TALLY_CU_INVALID_VALUE);
    const tally__cu_launch_attribute overlaps = {.number = TALLY_CU_LAUNCH_OVERLAPS, .value = 1}, none = {.number = 99};
    const tally__cu_launch early = {1, 1, 1, 1, 1, 1, 0, stream, &overlaps, 1},
                           strange = {1, 1, 1, 1, 1, 1, 0, stream, &none, 1};
    assert_int_equal(driver->launch(&early, function, parameters, NULL), TALLY_CU_SUCCESS);
    assert_int_equal(driver->launch(&strange, function, parameters, NULL), TALLY_CU_INVALID_VALUE);
    assert_int_equal(start(function, 1, 1, 1025, 0, stream, parameters), TALLY_CU_INVALID_VALUE);
    assert_int_equal(start(function, 1, 1, 1, 100000, stream, parameters), TALLY_CU_INVALID_VALUE);
    DO(function_set(function, TALLY_CU_FUNCTION_MAX_DYNAMIC_SHARED, 100000));
    assert_int_equal(start(function, 1, 1, 1, 100000, stream, parameters), TALLY_CU_SUCCESS);
    DO(stream_wait(stream));
    DO(stream_destroy(stream));
    DO(module_unload(module));
    assert_true(driver->stream_destroy(stream) != 0 && driver->stream_wait(stream) != 0 &&
                driver->module_unload(module) != 0);
    assert_true(start(function, 1, 1, 1, 0, NULL, parameters) != 0);
    assert_int_equal(driver->module_load(&module, "\177ELF"), TALLY_CU_INVALID_IMAGE);
    assert_true(driver->module_load(&module, "simt nobody") != 0);
    DO(context_pop(NULL));
    assert_true(driver->stream_wait(NULL) != 0 && driver->context_pop(NULL) != 0);
    DO(context_push(context));
}

static void test_platform(void **state) {
    tally__unit unit = {.entry = "test_place"};
    tally__image image;
    tally__cu_module module;
    char version[8];
    (void)state;
    EXPECT_OK(tally__simt_platform.compile(&unit, 90, &image));
    assert_int_equal(image.size, strlen("simt test_place") + 1);
    DO(module_load(&module, image.bytes));
    DO(module_unload(module));
    free(image.bytes);
    EXPECT_OK(tally__simt_platform.compiler_version(version, sizeof version));
    assert_string_equal(version, "");
    unit = (tally__unit){.entry = "nobody"};
    EXPECT_STATUS(tally__simt_platform.compile(&unit, 90, &image), TALLY_UNSUPPORTED);
    unit.user_text = "user";
    EXPECT_STATUS(tally__simt_platform.compile(&unit, 90, &image), TALLY_UNSUPPORTED);
    EXPECT(strstr(tally_message(), "no compiler") != NULL, "another sentence");
}

/* A host that looks at what it is told and cleans up: the first error, whatever it was. */
static int careful_host(void) {
    tally__cu_context mine;
    tally__cu_module module = NULL;
    tally__cu_function function;
    tally__cu_stream stream = NULL;
    tally__cu_address address = 0;
    test_work work = {0};
    void *parameters[] = {&work};
    int error, later, value;
#define THEN(call) \
    if (error == 0) error = driver->call
#define LAST(call)                     \
    do {                               \
        later = driver->call;          \
        error = error ? error : later; \
    } while (0)
    error = driver->init(0);
    THEN(device_count(&value));
    THEN(device_attribute(&value, TALLY_CU_DEVICE_MULTIPROCESSORS, 0));
    if (error == 0 && (error = driver->context_retain(&mine, 0)) == 0) {
        if ((error = driver->context_push(mine)) == 0) {
            THEN(module_load(&module, "simt test_place"));
            THEN(module_function(&function, module, "test_place"));
            THEN(stream_create(&stream, 0));
            THEN(allocate(&address, 16 * 32));
            THEN(fill(address, 0, 16 * 32, stream));
            work.result = (void *)(uintptr_t)address;
            THEN(launch(&(tally__cu_launch){1, 1, 1, 32, 1, 1, 0, stream, NULL, 0}, function, parameters, NULL));
            THEN(stream_wait(stream));
            if (address != 0) LAST(release(address));
            if (stream != NULL) LAST(stream_destroy(stream));
            if (module != NULL) LAST(module_unload(module));
            LAST(context_pop(NULL));
        }
        LAST(context_release(0));
    }
    return error;
#undef THEN
#undef LAST
}

static void test_failing_calls(void **state) {
    int64_t before = tally__simt_calls(), calls;
    schedule_as("round", 4);
    assert_int_equal(careful_host(), 0);
    calls = tally__simt_calls() - before;
    assert_true(calls > 10);
    for (int64_t n = 1; n <= calls; n++) {
        tally__simt_fail_call(n);
        EXPECT(careful_host() != 0, "call %d of %d does not fail", (int)n, (int)calls);
        EXPECT(nothing_left(state) == 0, "call %d leaves something behind", (int)n);
    }
    tally__simt_fail_call(0);
    assert_int_equal(careful_host(), 0);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_teardown(name, nothing_left)
        TEST(test_allocations), TEST(test_pointers), TEST(test_handles), TEST(test_platform), TEST(test_failing_calls),
    };
    int skipped = begin_program(argc, argv);
    return skipped ? skipped : cmocka_run_group_tests(tests, open_driver, NULL);
}
