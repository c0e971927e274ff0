/* What the host sources share. Internal names begin with tally__; nothing here is installed. */
#ifndef TALLY_INTERNAL_H
#define TALLY_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/dialect.h"
#include "tally/tally.h"

/* ---- failing (status.c) ---- */

/* Records the sentence for tally_message() and returns status. */
tally_status tally__fail(tally_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define TALLY_TRY(call)                                \
    do {                                               \
        tally_status tally_try_ = (call);              \
        if (tally_try_ != TALLY_OK) return tally_try_; \
    } while (0)
#define TALLY_CHECK(condition, status, ...)                                \
    do {                                                                   \
        if (!(condition)) return tally__fail(TALLY_##status, __VA_ARGS__); \
    } while (0)

/* ---- kernels ---- */

enum {
    TALLY_LEAF_BYTES = 4096,
    TALLY_STRIPES = 8,     /* in a leaf: the values of a column */
    TALLY_SMALL_LEAF = 64, /* the most values of a leaf with TALLY_SMALL_COLUMNS columns */
    TALLY_SMALL_COLUMNS = 8,
    TALLY_ROWS_IN_PLACE = 8,       /* the most rows that are read where they lie, even twice */
    TALLY_FREE_ROW_BYTES = 4096,   /* of lanes side by side that `rows` takes, where a result has one column */
    TALLY_GROUP = 7,               /* values folded left to right by an operator that does not commute */
    TALLY_ORDERED_NODE_BYTES = 80, /* a node of a kernel whose order shows, at most */
    TALLY_NODE_BYTES = 1728,       /* any node, at most */
    TALLY_RESULT_BYTES = 64,
    TALLY_ROWS_SLACK = 1024
};

/* One accumulator above the leaf: kernel->node_size bytes, of which the first are the count of values present. */
typedef struct tally__node {
    _Alignas(16) int64_t n;
} tally__node;

/* Storage for one node of any kernel, and of one whose order shows. */
typedef union tally__node_storage {
    tally__node node;
    _Alignas(64) unsigned char bytes[TALLY_NODE_BYTES];
} tally__node_storage;
typedef union tally__ordered_storage {
    tally__node node;
    unsigned char bytes[TALLY_ORDERED_NODE_BYTES];
} tally__ordered_storage;

/* A float field of a packed node (of `size` bytes, 0 for other fields): NaNs come out of arithmetic with different
 * signs and payloads on different machines, and are written as one. */
static inline void tally__clean_packed(unsigned char *bytes, int size) {
    float single;
    double wide;
    if (size == 4) {
        __builtin_memcpy(&single, bytes, sizeof single);
        single = tally_clean_f32(single);
        __builtin_memcpy(bytes, &single, sizeof single);
    } else if (size == 8) {
        __builtin_memcpy(&wide, bytes, sizeof wide);
        wide = tally_clean_f64(wide);
        __builtin_memcpy(bytes, &wide, sizeof wide);
    }
}

/* An operator for one input type and NaN policy, compiled for one instruction set (or made of the caller's callbacks).
 * `y` is the second input of operators of two inputs and otherwise equals `x`. Values lie side by side at any
 * alignment. */
typedef struct tally__kernel tally__kernel;
struct tally__kernel {
    int64_t leaf;                                /* values in a leaf */
    int64_t lanes, least_lanes;                  /* in the scratch memory of `rows`: for a result, and for all */
    size_t value_bytes;                          /* bytes of one input value */
    size_t node_size;                            /* bytes of a node, a multiple of 16 */
    size_t node_bytes;                           /* bytes of a node when packed */
    size_t result_bytes;                         /* bytes of one result; 0: a float of final.format */
    bool adds_values, adds_products, keeps_keys; /* what the node of an exact operator is made of */
    bool skips_nans;                             /* of an exact operator: its functions serve both policies */
    size_t row_bytes;                            /* scratch bytes `rows` needs for each column of each result */
    size_t rows_scratch;                         /* scratch bytes that it needs besides */
    int64_t rows_most;          /* values of a result that `rows` takes at once, if more than a leaf; else 0 */
    bool rows_of_few;           /* `rows` is fast even for fewer than TALLY_WIDE_VECTOR results side by side */
    bool copies_rows;           /* `rows` copies values that lie apart */
    const tally_operator *user; /* the caller's operator, or NULL */

    void (*give_nothing)(const tally__kernel *, tally__node *node);
    /* node = node, then later */
    void (*merge_nodes)(const tally__kernel *, tally__node *node, const tally__node *later);
    /* Moves the indices in a node (arg operators) by `by`. */
    void (*shift_node)(const tally__kernel *, tally__node *node, int64_t by);
    /* Converts a node to node_bytes bytes, without gaps and little-endian, and back. */
    void (*pack_node)(const tally__kernel *, const tally__node *node, unsigned char *bytes);
    void (*unpack_node)(const tally__kernel *, const unsigned char *bytes, tally__node *node);
    /* Returns the status flags of the result (TALLY_FLAG_... of device/dialect.h); `segments` and `rows` return those
     * of all their results. */
    int (*finish_node)(const tally__kernel *, const tally__node *node, const tally_final *final, void *result);
    /* Reduces n values by the canonical tree. The first value has the index `first`. */
    void (*run)(const tally__kernel *, const void *x, const void *y, int64_t n, int64_t first, tally__node *node);
    /* Writes the results of `count` segments: s is offsets[s] to offsets[s+1]. Values below x + limit may be read. */
    int (*segments)(const tally__kernel *, const void *x, const void *y, int64_t limit, const int64_t *offsets,
                    int64_t count, const tally_final *final, void *results);
    /* Reduces `width` columns side by side, each of `rows` values that lie `stride` values apart: at most a leaf, or
     * rows_most. Writes nodes if results is NULL, else results; of more than a leaf it needs nodes for them. scratch:
     * TALLY_ROWS_SLACK, rows_scratch, and row_bytes for each of width * min(rows, lanes) lanes, or of least_lanes, and
     * for copies all values; aligned for any type. */
    int (*rows)(const tally__kernel *, const void *x, const void *y, int64_t rows, int64_t stride, int64_t width,
                int64_t first, const tally_final *final, void *scratch, tally__node *nodes, void *results);
};

/* Node i of an array of them, and a copy of one. */
static inline tally__node *tally__node_at(const tally__kernel *kernel, void *nodes, int64_t i) {
    return (tally__node *)(void *)((char *)nodes + i * (int64_t)kernel->node_size);
}
static inline void tally__copy_node(const tally__kernel *kernel, tally__node *to, const tally__node *from) {
    __builtin_memcpy((void *)to, (const void *)from, kernel->node_size);
}

static inline size_t tally__result_bytes(const tally__kernel *kernel, const tally_final *final) {
    if (kernel->result_bytes != 0) return kernel->result_bytes;
    return final->format.digits == 53 ? sizeof(double) : sizeof(float);
}

/* One entry for each type and NaN policy that an operator is defined for, else leaf is 0. */
typedef struct tally__kernel_set {
    tally__kernel of[TALLY_TYPE_END][3];
} tally__kernel_set;

/* ---- operators and what they give (tables.c, spec.c) ---- */

typedef struct tally__operator_row {
    const char *name, *kernel, *summary;
    int inputs, on, gives, order, empty, nans;
} tally__operator_row;
const tally__operator_row *tally__operator(tally_op op); /* NULL: it is not built in */
bool tally__gives_index(tally_op op);   /* then nodes must be shifted by how many values precede theirs */
int tally__type_class(tally_type type); /* 0: a type that is not in the table */
tally_type tally__natural_type(int gives, tally_type input);

typedef struct tally__user_operator {
    tally_operator definition;
    char name[32];
    char key[33]; /* a hash of its text and of all else that makes its kernel, in hexadecimal */
    _Alignas(64) unsigned char identity[64];
    tally__kernel kernel;
} tally__user_operator;

struct tally_context {
    tally_options options;
    tally_allocator allocator;
    tally__user_operator **users;
    int user_count;
};

/* A problem without its data: what is reduced, how, and to what. */
typedef struct tally__spec {
    tally_op op;
    tally_type type;
    tally_options options;
    tally_allocator allocator;
    const tally__kernel *kernel;
    const tally__user_operator *user; /* the caller's operator, or NULL */
    int kernel_number;                /* place in TALLY_KERNELS, or with `exact` in TALLY_EXACT_KERNELS */
    const tally_context *context;
    tally_final final;
    int inputs;
    int components;         /* values of result_type in one result: 2 for minmax */
    tally_type result_type; /* TALLY_STRUCT for stats and user structs */
    size_t result_bytes;
    bool exact;      /* floats, by the kernels of kernels/exact */
    bool whole_sums; /* made of exact sums of integers */
    bool refuses_empty;
    bool order_shows;
    const char *name;
} tally__spec;

/* The context to use for what the caller passed: NULL is the process's own. (context.c) */
const tally_context *tally__context(const tally_context *context);
tally_status tally__specify(const tally_context *context, tally_op op, tally_type type, tally__spec *spec);
/* An operator of the caller's own that has only text cannot be computed on the host. */
tally_status tally__check_callbacks(const tally__spec *spec, bool on_host);
/* Makes `wanted` the spec's result type if kernels can round to it directly, so that an exact sum is rounded only once.
 */
void tally__aim(tally__spec *spec, tally_type wanted);

/* ---- memory (memory.c) ---- */

/* 64-byte aligned memory from the caller's allocator; NULL when there is none. */
void *tally__allocate(const tally_allocator *allocator, size_t bytes);
void tally__release(const tally_allocator *allocator, void *memory);

/* ---- data ---- */

/* One or two inputs, as validated: every address from x to x + (count-1) * stride may be read. */
typedef struct tally__input {
    const char *x, *y;
    int64_t x_stride, y_stride; /* bytes */
    int64_t count;
    bool packed; /* both side by side: kernels may read them where they lie */
} tally__input;

/* Copies n values from `begin` on to x, and for two inputs to y, side by side: kernels take no strides. */
void tally__gather(const tally__spec *spec, const tally__input *in, int64_t begin, int64_t n, void *x, void *y);

/* Checks of api.c, which states share. `what` begins the sentence of a failure. */
tally_status tally__check_input(const tally__spec *spec, const tally_array *x, const tally_array *y, tally__input *in);

/* What a backend says of the results that it wrote. api.c makes a status of it. */
typedef struct tally__report {
    int flags; /* TALLY_FLAG_... of all results together */
} tally__report;

/* An output as validated: type and stride are not 0. direct: natural results are written to their places at once. */
typedef struct tally__sink {
    char *data;
    tally_type type;
    int64_t stride; /* bytes */
    bool direct;
} tally__sink;

tally_status tally__check_output(const tally__spec *spec, const tally_output *out, int64_t needed, tally__sink *sink);
tally_status tally__status_of(const tally__spec *spec, const tally__report *report, const char *what);

/* Converts `count` natural results side by side at `results` to places first ... of the sink (convert.c). Returns
 * TALLY_FLAG_UNFIT if some did not fit, else 0. */
int tally__store(const tally__spec *spec, const tally__sink *sink, int64_t first, int64_t count, const void *results);

/* Entry i of the segments' index. */
static inline int64_t tally__index(const tally_segments *segments, int64_t i) {
    int32_t narrow;
    int64_t wide;
    if (segments->index_type == TALLY_I32) {
        __builtin_memcpy(&narrow, (const char *)segments->index + 4 * i, sizeof narrow);
        return narrow;
    }
    __builtin_memcpy(&wide, (const char *)segments->index + 8 * i, sizeof wide);
    return wide;
}

/* Makes the kernel of an operator from its callbacks (user.c). */
void tally__user_kernel(tally__user_operator *user);

/* ---- backends (backends.c) ---- */

typedef struct tally__grouping tally__grouping;   /* grouping.h */
typedef struct tally__gpu_merge tally__gpu_merge; /* gpu_merge.h */
typedef struct tally__gpu_nodes tally__gpu_nodes; /* gpu_nodes.h */

/* A backend. It uses no other backend. Its inputs were checked by api.c; it checks the segments itself. */
typedef struct tally__backend {
    const char *name;
    const tally__kernel_set *(*kernels)(int number);       /* by place in TALLY_KERNELS */
    const tally__kernel_set *(*exact_kernels)(int number); /* by place in TALLY_EXACT_KERNELS */
    /* Reduces values begin ... begin + n by the canonical tree; the first has the index `first`. Cannot fail. */
    void (*tree)(const tally__spec *, const tally__input *, int64_t begin, int64_t n, int64_t first, tally__node *);
    tally_status (*reduce)(const tally__spec *, const tally__input *, const tally__sink *, tally__report *);
    tally_status (*segments)(const tally__spec *, const tally__input *, const tally_segments *, const tally__sink *,
                             tally__report *);
    /* Reduces groups of vectors (grouping.h). NULL: they are copied, and reduced as segments. */
    tally_status (*grouped)(const tally__spec *, const tally__input *, const tally__grouping *, int64_t inner,
                            const tally__sink *, tally__report *);
    /* Merges in GPU memory, or NULL. *misplaced: see gpu_merge.h. */
    tally_status (*merge)(const tally_context *, const tally__gpu_merge *, int64_t *misplaced);
    const tally__gpu_nodes *nodes; /* functions of nodes in GPU memory, or NULL */
    /* For arrays in memory that the host cannot read, or NULL: as `tree` and tally__gather. They may fail. */
    tally_status (*far_tree)(const tally__spec *, const tally__input *, int64_t begin, int64_t n, int64_t first,
                             tally__node *);
    tally_status (*far_values)(const tally__spec *, const tally__input *, int64_t begin, int64_t n, void *x, void *y);
    /* Copies bytes from host memory to such memory. */
    tally_status (*far_store)(const tally__spec *, void *to, const void *bytes, size_t count);
    /* Whether the address is in the memory of such a GPU, managed memory included. NULL for backends of the CPU. */
    bool (*holds)(const void *address);
    /* Whether any address can be in such memory: asked first, as each answer of `holds` takes a tenth of a call for few
     * values. */
    bool (*may_hold)(void);
    /* Prepares offsets, lengths or segment ids for arrays of `values` values. The caller closes what was made, also
     * after a failure, and then releases its memory by the spec's allocator. */
    tally_status (*open_plan)(const tally__spec *, int64_t values, const tally_segments *, void **made);
    void (*close_plan)(void *made);
    /* Frees what is kept for a context: everything, or with only_given the scratch memory of its options. */
    void (*forget)(const tally_context *, bool only_given);
} tally__backend;
/* The backends of GPUs have no `kernels` and no `tree`: for those the host uses the CPU's. */
extern const tally__backend tally__cpu_backend, tally__reference_backend, tally__cuda_backend, tally__simt_backend;
const tally__backend *tally__backend_of(const tally_options *options);      /* the one that reduces */
const tally__backend *tally__host_backend_of(const tally_options *options); /* the one whose kernels the host uses */

/* Whether the backend runs GPU kernels. */
static inline bool tally__backend_is_gpu(tally_backend backend) {
    return backend == TALLY_BACKEND_CUDA || backend == TALLY_BACKEND_SIMT;
}
/* Whether the address is in the memory of a real GPU. */
bool tally__lies_on_gpu(const void *address);
/* The backend of the GPU whose memory has the address, if the options allow it. NULL: the host can read it. */
const tally__backend *tally__far_backend_of(const tally_options *options, const void *address);
/* Calls `forget` of all backends. */
void tally__forget(const tally_context *context, bool only_given);

#endif
