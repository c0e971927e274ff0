/* A library that passes for libcuda as far as opening and loading go: FAKE_CUDA_VERSION is its version, FAKE_CUDA_ERROR
 * what cuInit gives, FAKE_CUDA_DEVICES how many GPUs it has (none), all of sm_90. Built alone
 * it lacks most functions, with fake_driver_rest.c it has them; and under the name of a GPU's driver, and not. */
#include <stdlib.h>

static int number_in(const char *variable, int otherwise) {
    const char *value = getenv(variable);
    return value != NULL ? atoi(value) : otherwise;
}

int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuGetErrorName(int error, const char **name);
int cuGetErrorString(int error, const char **sentence);

#ifndef FAKE_PART
int cuDeviceGetCount(int *count);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceGetCount(int *count) {
    *count = number_in("FAKE_CUDA_DEVICES", 0);
    return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    enum { MULTIPROCESSORS = 16, MAJOR = 75, SHARED_OPT_IN = 97 };
    (void)device;
    *value = attribute == MAJOR ? 9 : attribute == MULTIPROCESSORS ? 132 : attribute == SHARED_OPT_IN ? 227 << 10 : 0;
    return 0;
}
#endif

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
