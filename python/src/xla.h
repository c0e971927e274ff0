/* XLA's typed FFI: the structs that a handler of jax.ffi.ffi_call is called with (openxla/xla, xla/ffi/api/c_api.h,
 * Copyright 2023 The OpenXLA Authors, Apache-2.0). Only what a handler of buffers and integer attributes reads: the
 * first fields of larger structs are here in their order, and struct_size says what the caller's have. */
#ifndef TALLY_PYTHON_XLA_H
#define TALLY_PYTHON_XLA_H

#include <stddef.h>
#include <stdint.h>

#define XLA_API_MAJOR 0
#define XLA_API_MINOR 1 /* the first with the fields below */

enum { XLA_EXTENSION_METADATA = 1, XLA_STAGE_EXECUTE = 3, XLA_ARGUMENT_BUFFER = 1, XLA_ATTRIBUTE_SCALAR = 3 };
enum { XLA_ERROR_INVALID_ARGUMENT = 3, XLA_ERROR_RESOURCE_EXHAUSTED = 8, XLA_ERROR_INTERNAL = 13 };

/* xla::PrimitiveType of TALLY_id */
#define XLA_TYPES(X) \
    X(BOOL, 1)       \
    X(I8, 2)         \
    X(I16, 3) X(I32, 4) X(I64, 5) X(U8, 6) X(U16, 7) X(U32, 8) X(U64, 9) X(F16, 10) X(F32, 11) X(F64, 12) X(BF16, 16)
enum { XLA_S64 = 5 };

typedef struct xla_extension {
    size_t struct_size;
    int type;
    struct xla_extension *next;
} xla_extension;

typedef struct xla_version {
    size_t struct_size;
    xla_extension *extension;
    int major, minor;
} xla_version;

typedef struct xla_metadata {
    size_t struct_size;
    xla_version version;
    uint32_t traits;
} xla_metadata;

typedef struct xla_metadata_extension {
    xla_extension base;
    xla_metadata *metadata;
} xla_metadata_extension;

typedef struct xla_error xla_error;

typedef struct xla_error_arguments {
    size_t struct_size;
    xla_extension *extension;
    const char *message;
    int code;
} xla_error_arguments;

typedef struct xla_stream_arguments {
    size_t struct_size;
    xla_extension *extension;
    void *context;
    void *stream; /* out: the CUstream */
} xla_stream_arguments;

typedef struct xla_api {
    size_t struct_size;
    xla_extension *extension;
    xla_version version;
    const void *internal;
    xla_error *(*make_error)(xla_error_arguments *arguments);
    void (*error_message)(void *arguments);
    void (*destroy_error)(void *arguments);
    xla_error *(*register_handler)(void *arguments);
    xla_error *(*get_stream)(xla_stream_arguments *arguments);
} xla_api;

typedef struct xla_buffer {
    size_t struct_size;
    xla_extension *extension;
    int type;
    void *data;
    int64_t rank;
    int64_t *extents;
} xla_buffer;

typedef struct xla_text {
    const char *data;
    size_t length;
} xla_text;

typedef struct xla_scalar {
    int type;
    void *value;
} xla_scalar;

typedef struct xla_buffers {
    size_t struct_size;
    xla_extension *extension;
    int64_t count;
    int *kinds;
    xla_buffer **buffers;
} xla_buffers;

typedef struct xla_attributes {
    size_t struct_size;
    xla_extension *extension;
    int64_t count;
    int *kinds;
    xla_text **names;
    void **values;
} xla_attributes;

typedef struct xla_frame {
    size_t struct_size;
    xla_extension *extension;
    const xla_api *api;
    void *context;
    int stage;
    xla_buffers arguments, results;
    xla_attributes attributes;
} xla_frame;

#endif
