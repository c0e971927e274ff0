/* What makes kernel texts readable (src/text): conditions and names, what is not used, and texts that are no C. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "text/readable.h"

static char *resolved(const char *text) {
    text_buffer out = {0};
    EXPECT(tally__resolve_conditions(text, strlen(text), &out), "not resolved: %s", text);
    return out.bytes != NULL ? out.bytes : strdup("");
}
static char *used(const char *text) {
    text_buffer out = {0};
    EXPECT(tally__leave_out_unused(text, strlen(text), &out), "not read: %s", text);
    return out.bytes != NULL ? out.bytes : strdup("");
}
static void expect(char *is, const char *wanted) {
    EXPECT(strcmp(is, wanted) == 0, "it is\n%s---- and not\n%s----", is, wanted);
    free(is);
}

static void test_conditions(void **state) {
    (void)state;
    expect(resolved("#define A 1\n#if A == 1 && !defined(B)\nx\n#else\ny\n#endif\n"), "#define A 1\nx\n");
    expect(resolved("#if A\nx\n#elif 2 > 1\ny\n#elif 1\nz\n#else\nw\n#endif\n"), "y\n");
    expect(resolved("#ifdef A\nx\n#ifdef B\ny\n#endif\n#else\nz\n#endif\n"), "z\n");
    expect(resolved("#define A\n#undef A\n#ifndef A\nx\n#endif\n"), "#define A\n#undef A\nx\n");
    expect(resolved("#if (1 ? 2 : 0) * 3 - 6\nx\n#endif\n#if 1 << 4 >= 16 || 0\ny\n#endif\n"), "y\n");
    expect(resolved("/*\n#if 0\n*/\nx\n"), "/*\n#if 0\n*/\nx\n");
}
/* What only the compiler knows stays, and what follows from it. */
static void test_unknown(void **state) {
    (void)state;
    expect(resolved("#if __CUDA_ARCH__ >= 900\nx\n#else\ny\n#endif\n"),
           "#if __CUDA_ARCH__ >= 900\nx\n#else\ny\n#endif\n");
    expect(resolved("#if 0 && __X\nx\n#endif\n#if 1 || __X\ny\n#endif\n"), "y\n");
    expect(resolved("#if 0\nx\n#elif __X\ny\n#elif 1\nz\n#else\nw\n#endif\n"), "#if __X\ny\n#else\nz\n#endif\n");
    expect(resolved("#ifdef __X\n#define A 1\n#endif\n#if A\nx\n#endif\n"),
           "#ifdef __X\n#define A 1\n#endif\n#if A\nx\n#endif\n");
    expect(resolved("#ifdef __CUDACC_RTC__\nx\n#endif\n"), "x\n");
}
static void test_names(void **state) {
    (void)state;
    const char *const paste = "#define P(a, b) Q(a, b)\n#define Q(a, b) a##_##b\n#define T f32\n";
    char text[400];
    snprintf(text, sizeof text, "%sP(node, T) x; /* P(a, b) */ \"P(a, b)\"\n", paste);
    expect(resolved(text), "#define P(a, b) Q(a, b)\n#define Q(a, b) a##_##b\n#define T f32\n"
                           "node_f32 x; /* P(a, b) */ \"P(a, b)\"\n");
    expect(resolved("#define F(X) X(int, a) X(int, b)\n#define G(t, n) t n;\nF(G)\n"),
           "#define F(X) X(int, a) X(int, b)\n#define G(t, n) t n;\nint a; int b;\n");
    expect(resolved("#define N 4\nint a[N];\n"), "#define N 4\nint a[N];\n");
    expect(resolved("#define P(a, b) a##_##b\n#define E(n) P(n, x) P(y, z)\nE(n);\n"),
           "#define P(a, b) a##_##b\n#define E(n) P(n, x) y_z\nE(n);\n");
    expect(resolved("#define F(n, m) __global__ void \\\n    n(int m)\n#define M (sizeof(int) + 1)\nF(k, M) {}\n"),
           "#define F(n, m) __global__ void \\\n    n(int m)\n#define M (sizeof(int) + 1)\n__global__ void\n    "
           "k(int M) {}\n");
}
/* Macros and statements that are known. */
static void test_constants(void **state) {
    (void)state;
    expect(resolved("#define A 4\n#define B (A > 2 ? A * 2 : 0)\n#define C B /* c */\n#define D (A + x)\n"),
           "#define A 4\n#define B 8\n#define C B /* c */\n#define D (A + x)\n");
    expect(resolved("#define A 1\nf();\n    if (A == 2) g(1, (2));\n    h();\n"), "#define A 1\nf();\n    h();\n");
    expect(resolved("if (0) {\n    g();\n}\n#if 0\nh();\n#endif\n"), "");
    expect(resolved("for (;;) {\n    f();\n    if (0) g();\n}\n"), "for (;;) {\n    f();\n}\n");
    expect(resolved("    if (0) f();\n#if 1\n    g();\n#endif\n    if (0) f(); else g();\n"), "    g();\n    g();\n");
    expect(resolved("if (b)\n    g();\nelse if (0)\n    h();\nelse if (0)\n    i();\nj();\n"),
           "if (b)\n    g();\nj();\n");
    expect(resolved("if (b) {\n    g();\n} else if (0) {\n    h();\n}\nj();\n"), "if (b) {\n    g();\n} \nj();\n");
    expect(resolved("if (b)\n    g();\nelse if (0)\n    h();\nelse\n    i();\n"), "if (b)\n    g();\nelse i();\n");
    expect(resolved("#define A 0\nif (A)\n    for (;;) {\n        g();\n    }\nelse if (b) /* here */\n    h();\n"),
           "#define A 0\nif (b) /* here */\n    h();\n");
    expect(resolved("#define A 0\nif (A) do g(); while (b);\nif (A == b) g();\nif (1) g();\n"),
           "#define A 0\nif (A) do g(); while (b);\nif (A == b) g();\nif (1) g();\n");
    expect(resolved("#define N(a, b) (void)(a)\n#define S(a, b) return a\n    N(x, y);\n    S(x, { y; });\n"),
           "#define N(a, b) (void)(a)\n#define S(a, b) return a\n    return x;\n");
    expect(resolved("{\n    (void)a, (void) b;\n    (void)c;\n    (void)d(e);\n    return (void)f, (void)g, h;\n}\n"),
           "{\n    (void)d(e);\n    return (void)f, (void)g, h;\n}\n");
    expect(resolved("(void)a, b = (void)c"), "(void)a, b = (void)c");
}
static void test_unused(void **state) {
    (void)state;
    expect(used("#define A 1\n#define B 2\nstatic int f(void) { return A; }\n\n/* of g */\nstatic int g(void) {\n    "
                "return 2;\n}\n"
                "__global__ void k(void) { f(); }\n"),
           "#define A 1\nstatic int f(void) { return A; }\n__global__ void k(void) { f(); }\n");
    expect(
        used("typedef struct s {\n    int a;\n} t;\n/* two */\nenum { X, Y = 2 };\nint unused[Y];\n"
             "__global__ void k(t *p) { p->a = X; }\n"),
        "\ntypedef struct s { int a; } t;\n/* two */\nenum { X, Y = 2 };\n\n__global__ void k(t *p) { p->a = X; }\n");
    expect(used("#if __X\nstatic void f(void) {}\n#else\nstatic void g(void) {}\n#endif\n#if __Y\nint y;\n#endif\n"
                "__global__ void k(void) { g(); }\n"),
           "#if __X\n#else\nstatic void g(void) {}\n#endif\n__global__ void k(void) { g(); }\n");
    expect(
        used("enum {\n    A = 1, /* a */\n    B = 2, /* b */\n    C = 4\n};\n__global__ void k(int *p) { *p = B; }\n"),
        "\nenum { B = 2, /* b */ };\n__global__ void k(int *p) { *p = B; }\n");
    expect(used("enum {\n    A = 1,\n    B = 2,\n    C = 2 * A\n};\n__global__ void k(int *p) { *p = C; }\n"),
           "\nenum {\n    A = 1,\n    C = 2 * A\n};\n__global__ void k(int *p) { *p = C; }\n");
    expect(used("enum {\n    A = 1,\n    B,\n    C = 4\n};\n__global__ void k(int *p) { *p = B; }\n"),
           "\nenum {\n    A = 1,\n    B,\n    C = 4\n};\n__global__ void k(int *p) { *p = B; }\n");
    expect(used("#define N 2\nenum { M = N };\nint unused(void) {\n    return M;\n}\n__global__ void k(int *p) { *p = "
                "N; }\n"),
           "#define N 2\n__global__ void k(int *p) { *p = N; }\n");
}
/* Callers' texts may be anything. */
static void test_no_c(void **state) {
    static const char *const texts[] = {"",
                                        "/*",
                                        "\"",
                                        "'\\",
                                        "#",
                                        "#define",
                                        "#define A(",
                                        "#if",
                                        "#if (",
                                        "#elif\n",
                                        "#endif",
                                        "#else\n",
                                        "#undef\n",
                                        "}}}}",
                                        "((((",
                                        "{",
                                        "#if 1\n",
                                        "#if 1/0\nx\n",
                                        "#define A A\nA\n",
                                        "#define A(x) A(x) x##x\nA(A(1))\nA(\n",
                                        "#define A(x, ...) __VA_ARGS__##x\nA()\nA(1,2,3)\n",
                                        "#define A ##\nA\n",
                                        "#define A B\n#define B A\nA B\n#if A\n#endif\n",
                                        "#if 1 ? 2\n",
                                        "#if 1 << 63 << 70 || 4611686018427387904 * 3\n#endif\n",
                                        "#if (1 << 63) / -1 < -(1 << 63) - 2\n#endif\n",
                                        "if (0",
                                        "if (0) {",
                                        "if (0) if (1) else",
                                        "#define N(a) (void)(a)\nN(b",
                                        "enum {\n a = 1,\n b = 2\n",
                                        "#ifdef"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t size = 0; size <= strlen(texts[i]); size++) {
            char *exact = malloc(size + 1); /* so that a sanitizer sees what is read behind the end */
            text_buffer out = {0}, less = {0};
            EXPECT(exact != NULL, "no memory");
            memcpy(exact, texts[i], size);
            exact[size] = '\0';
            EXPECT(tally__resolve_conditions(exact, size, &out), "%s", texts[i]);
            EXPECT(tally__leave_out_unused(exact, size, &less), "%s", texts[i]);
            free(exact), free(out.bytes), free(less.bytes);
        }
    {
        char deep[70 * 6 + 1] = "";
        text_buffer out = {0};
        for (int i = 0; i < 70; i++) strcat(deep, "#if 1\n");
        EXPECT(!tally__resolve_conditions(deep, strlen(deep), &out), "conditions nested without end");
        free(out.bytes);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conditions), cmocka_unit_test(test_unknown), cmocka_unit_test(test_names),
        cmocka_unit_test(test_constants),  cmocka_unit_test(test_unused),  cmocka_unit_test(test_no_c),
    };
    int skipped = begin_program(argc, argv);
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
