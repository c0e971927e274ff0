/* DLPack 1.x: the structs that array libraries hand one another (dmlc/dlpack, include/dlpack/dlpack.h, Apache-2.0).
 * Only what a consumer reads. */
#ifndef TALLY_PYTHON_DLPACK_H
#define TALLY_PYTHON_DLPACK_H

#include <stdint.h>

#define DLPACK_MAJOR 1
#define DLPACK_FLAG_READ_ONLY 1u
enum { DLPACK_CPU = 1, DLPACK_CUDA = 2, DLPACK_CUDA_HOST = 3, DLPACK_CUDA_MANAGED = 13 };
enum { DLPACK_INT = 0, DLPACK_UINT = 1, DLPACK_FLOAT = 2, DLPACK_BFLOAT = 4, DLPACK_BOOL = 6 };

typedef struct dl_tensor {
    void *data;
    struct {
        int32_t type, id;
    } device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape;
    int64_t *strides; /* in values; NULL: C order */
    uint64_t byte_offset;
} dl_tensor;

/* The struct of a capsule named "dltensor". */
typedef struct dl_managed {
    dl_tensor tensor;
    void *context;
    void (*deleter)(struct dl_managed *self);
} dl_managed;

/* The struct of a capsule named "dltensor_versioned". */
typedef struct dl_versioned {
    struct {
        uint32_t major, minor;
    } version;
    void *context;
    void (*deleter)(struct dl_versioned *self);
    uint64_t flags;
    dl_tensor tensor;
} dl_versioned;

/* The functions of an array type, in the capsule "dlpack_exchange_api" that is its __dlpack_c_exchange_api__. They give
 * 0, or -1 with a Python exception. from_object does not wait for work: a consumer works on current_stream. */
typedef struct dl_exchange {
    struct {
        uint32_t major, minor;
    } version;
    struct dl_exchange *older;
    int (*allocate)(dl_tensor *prototype, dl_versioned **out, void *context,
                    void (*fail)(void *context, const char *kind, const char *message));
    int (*from_object)(void *object, dl_versioned **out);
    int (*to_object)(dl_versioned *tensor, void **object);
    int (*view_object)(void *object, dl_tensor *out);
    int (*current_stream)(int device_type, int32_t device, void **stream);
} dl_exchange;

#endif
