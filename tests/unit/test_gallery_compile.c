/* The gallery's kernels through NVRTC, without a GPU: each kernel for some operators and types of each kind, and five
 * architectures. Fails on an error, and on a warning. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/nvidia.h"
#include "gallery/host/units.h"
#include "support.h"

static const struct {
    const char *op;
    tally_type type;
} pairs[] = {
    {"min", TALLY_F32},     {"sum", TALLY_I8},  {"argmin", TALLY_F64},
    {"compose", TALLY_U16}, {"dot", TALLY_F16}, {"logsumexp", TALLY_BF16},
};

/* In turn, so that each kernel is compiled for each. */
static const int archs[] = {75, 80, 90, 100, 120};

static bool fits(const tally__gallery_row *row, const tally__gallery_type *host) {
    return (size_t)row->shared * (host->element_bytes + (row->segment_ids ? 4 : 0)) <= TALLY_SIMT_SHARED_BYTES;
}

static void compile_pair(void **state) {
    const size_t pair = (size_t)(uintptr_t)*state;
    tally__gallery_operator operator;
    EXPECT_OK(tally__gallery_operator_named(pairs[pair].op, &operator));
    now.op = operator.op;
    now.type = pairs[pair].type;
    for (int k = 0; k < tally__gallery_count; k++) {
        const tally__gallery_sizes sizes = {4 << pair % 5, 8 << pair % 5, 32 << pair % 3};
        const tally__gallery_row with = tally__gallery_with(&tally__gallery[k], sizes), *row = &with;
        tally__unit unit;
        tally__image image = {0};
        char *text, *log;
        if (!fits(row, operator.set->of[pairs[pair].type][0])) continue;
        tally__gallery_form form = (tally__gallery_form)((size_t)k + pair) % TALLY_GALLERY_FORMS;
        EXPECT_OK(tally__gallery_unit(&operator, pairs[pair].type, row, form, &unit, &text));
        EXPECT(tally__compile(&unit, archs[(k + (int)pair) % 5], &image, &log) == TALLY_OK, "%s: %s", row->name,
               tally_message());
        EXPECT(log == NULL || strstr(log, "warning") == NULL, "%s: %s", row->name, log);
        free(log);
        free(text);
        free(image.bytes);
    }
}

/* Kernels from outside: the exercises' solutions. */
static void test_mine(void **state) {
    tally__gallery_operator operator;
    (void)state;
    EXPECT_OK(tally__gallery_operator_named("min", &operator));
    for (int n = 1; tally__gallery_exercise(n, true) != NULL; n++) {
        tally__gallery_row row = {
            .number = TALLY_GALLERY_KERNELS, .name = "mine", .text = tally__gallery_exercise(n, true)};
        tally__unit unit;
        tally__image image = {0};
        char *text, *log;
        EXPECT(sscanf(row.text, "/* mine: %*[a-z], %d threads, %d each, %d shared", &row.threads, &row.each,
                      &row.shared) == 3,
               "solution %d: its first line", n);
        EXPECT_OK(tally__gallery_unit(&operator, TALLY_F32, &row, (tally__gallery_form)(n % TALLY_GALLERY_FORMS), &unit,
                                      &text));
        EXPECT(tally__compile(&unit, 90, &image, &log) == TALLY_OK, "solution %d: %s", n, tally_message());
        EXPECT(log == NULL || strstr(log, "warning") == NULL, "solution %d: %s", n, log);
        free(log);
        free(text);
        free(image.bytes);
    }
}

/* ---- gallery/pages/errata.md: what does not compile ---- */

static void expect_error(const char *text, const char *why) {
    tally__unit unit = {.text = "user.h", .entry = "errata", .user_text = text};
    tally__image image = {0};
    char *log;
    EXPECT(tally__compile(&unit, 90, &image, &log) != TALLY_OK, "it compiles: %s", text);
    EXPECT(strstr(tally_message(), why) != NULL, "\"%s\" does not say \"%s\"", tally_message(), why);
    free(log);
}
static void test_errata(void **state) {
    (void)state;
    expect_error("extern \"C\" __global__ void errata(int *input) {\n    __shared__ int partialSum[64];\n    unsigned "
                 "int t = threadIdx.x;\n"
                 "    partialSum[blockDim+t] = input[t];\n}\n",
                 "no operator \"+\" matches these operands");
    expect_error("extern \"C\" __global__ void errata(int *v) { *v += __shfl_down(*v, 1); }\n", "__shfl_down");
}

int main(int argc, char **argv) {
    struct CMUnitTest tests[sizeof pairs / sizeof *pairs + 2];
    const tally__nvrtc *nvrtc;
    int skipped = begin_program(argc, argv);
    if (skipped) return skipped;
    if (tally__nvrtc_open(&nvrtc) != TALLY_OK) {
        printf("SKIPPED: %s\n", tally_message());
        return SKIPPED;
    }
    for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++)
        tests[p + 2] = (struct CMUnitTest){pairs[p].op, compile_pair, NULL, NULL, (void *)(uintptr_t)p};
    tests[0] = (struct CMUnitTest)cmocka_unit_test(test_errata);
    tests[1] = (struct CMUnitTest)cmocka_unit_test(test_mine);
    return _cmocka_run_group_tests("gallery_compile", tests, sizeof tests / sizeof *tests, NULL, NULL);
}
