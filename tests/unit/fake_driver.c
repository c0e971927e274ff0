/* A library that passes for libcuda as far as opening goes: FAKE_CUDA_VERSION is its version, FAKE_CUDA_ERROR what cuInit gives. Built twice:
 * alone it lacks most functions, with fake_driver_rest.c it has them. */
#include <stdlib.h>

static int number_in(const char *variable, int otherwise) {
    const char *value = getenv(variable);
    return value != NULL ? atoi(value) : otherwise;
}

int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuGetErrorName(int error, const char **name);
int cuGetErrorString(int error, const char **sentence);

int cuInit(unsigned flags) { return (int)flags + number_in("FAKE_CUDA_ERROR", 0); }
int cuDriverGetVersion(int *version) {
    *version = number_in("FAKE_CUDA_VERSION", 12000);
    return 0;
}
int cuGetErrorName(int error, const char **name) {
    *name = "CUDA_ERROR_FAKED";
    return error == 999;
}
int cuGetErrorString(int error, const char **sentence) {
    *sentence = "the error was asked for";
    return error == 999;
}
