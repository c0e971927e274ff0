/* Operators of the caller's own given as text: the kernels made of it against the callbacks on the CPU, bit for bit, on
 * the simulator, or with --cuda on a GPU; and what is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/units.h"
#include "cuda/texts.h"
#include "gpu_host.h"
#include "user_operators.h"

extern const tally__text test_texts[];
extern const int test_text_count;

/* Its kernels: of whole arrays, of segments, of those that run over tiles; the last two are there for some. */
#define TEST_SEGMENTS_0(name, word) NULL, NULL
#ifdef TEST_NO_SEGMENTS /* left out of this build (TALLY_SIMT_SEGMENTS) */
#define TEST_SEGMENTS_1 TEST_SEGMENTS_0
#else
#define TEST_SEGMENTS_1(name, word) tally_segments_##name##_##word##_0, tally_spans_##name##_##word##_0
#endif
#define TALLY_ROW(name, text, word, type, bytes, acc, result, keeps, segments)              \
    tally__simt_entry tally_reduce_##name##_##word##_0, tally_segments_##name##_##word##_0, \
        tally_spans_##name##_##word##_0;
TEST_OPERATORS(TALLY_ROW)
#undef TALLY_ROW

static const struct row {
    const char *name, *text;
    tally_type type;
    size_t bytes, acc, result;
    int keeps_order;
    tally__simt_entry *kernels[3];
} rows[] = {
#define TALLY_ROW(name, text, word, type, bytes, acc, result, keeps, segments) \
    {#name, #text ".h", type,  bytes,                                          \
     acc,   result,     keeps, {tally_reduce_##name##_##word##_0, TEST_SEGMENTS_##segments(name, word)}},
    TEST_OPERATORS(TALLY_ROW)
#undef TALLY_ROW
};
enum { ROWS = sizeof rows / sizeof *rows };

static const char *text_named(const char *name) {
    for (int i = 0; i < test_text_count; i++)
        if (strcmp(test_texts[i].name, name) == 0) return test_texts[i].text;
    return NULL;
}

/* ---- the same as callbacks ---- */

enum { PRIME = 1000003 };
typedef struct affine {
    uint32_t a, b;
} affine;
typedef struct pick {
    float key;
    uint32_t tag;
} pick;
typedef struct hash {
    uint64_t power, hash;
} hash;
typedef struct bins {
    int64_t n[8];
} bins;

static size_t bytes_of(void *user) { return ((const struct row *)user)->bytes; }

static void lift_affine(void *accs, const void *values, int64_t count, int64_t first, void *user) {
    (void)first;
    for (int64_t k = 0; k < count; k++)
        memcpy((affine *)accs + k, (const char *)values + (size_t)k * bytes_of(user), sizeof(affine));
}
static void combine_affine(void *left, const void *right, int64_t count, void *user) {
    affine *l = left;
    const affine *r = right;
    (void)user;
    for (int64_t k = 0; k < count; k++)
        l[k] = (affine){(uint32_t)((uint64_t)r[k].a * l[k].a % PRIME),
                        (uint32_t)(((uint64_t)r[k].a * l[k].b + r[k].b) % PRIME)};
}
static void finish_affine(void *results, const void *accs, int64_t count, void *user) {
    const affine *a = accs;
    (void)user;
    for (int64_t k = 0; k < count; k++) ((int32_t *)results)[k] = (int32_t)(((uint64_t)a[k].a + a[k].b) % PRIME);
}

static void lift_squares(void *accs, const void *values, int64_t count, int64_t first, void *user) {
    (void)first;
    for (int64_t k = 0; k < count; k++) {
        const char *p = (const char *)values + (size_t)k * bytes_of(user);
        int16_t wide;
        memcpy(&wide, p, bytes_of(user) == 1 ? 1 : 2);
        int64_t v = bytes_of(user) == 1 ? *(const signed char *)p : wide;
        ((int64_t *)accs)[k] = v * v;
    }
}
static void combine_squares(void *left, const void *right, int64_t count, void *user) {
    (void)user;
    for (int64_t k = 0; k < count; k++) ((int64_t *)left)[k] += ((const int64_t *)right)[k];
}
static void finish_squares(void *results, const void *accs, int64_t count, void *user) {
    (void)user;
    for (int64_t k = 0; k < count; k++) ((int64_t *)results)[k] = -((const int64_t *)accs)[k];
}

static void lift_pick(void *accs, const void *values, int64_t count, int64_t first, void *user) {
    (void)first;
    for (int64_t k = 0; k < count; k++)
        memcpy((pick *)accs + k, (const char *)values + (size_t)k * bytes_of(user), sizeof(pick));
}
static void combine_pick(void *left, const void *right, int64_t count, void *user) {
    (void)user;
    for (int64_t k = 0; k < count; k++)
        if (((const pick *)right)[k].key > ((const pick *)left)[k].key) ((pick *)left)[k] = ((const pick *)right)[k];
}
static void finish_pick(void *results, const void *accs, int64_t count, void *user) {
    (void)user;
    for (int64_t k = 0; k < count; k++) ((uint32_t *)results)[k] = ((const pick *)accs)[k].tag;
}

static void lift_float_sum(void *accs, const void *values, int64_t count, int64_t first, void *user) {
    (void)first, (void)user;
    memcpy(accs, values, (size_t)count * sizeof(float));
}
static void combine_float_sum(void *left, const void *right, int64_t count, void *user) {
    (void)user;
    for (int64_t k = 0; k < count; k++) ((float *)left)[k] += ((const float *)right)[k];
}

static void lift_hash(void *accs, const void *values, int64_t count, int64_t first, void *user) {
    (void)first;
    for (int64_t k = 0; k < count; k++) {
        const unsigned char *p = (const unsigned char *)values + (size_t)k * bytes_of(user);
        hash a = {0x9e3779b97f4a7c15u, 0};
        for (size_t b = 0; b < bytes_of(user); b++) a.hash = a.hash * 257 + p[b];
        ((hash *)accs)[k] = a;
    }
}
static void combine_hash(void *left, const void *right, int64_t count, void *user) {
    hash *l = left;
    const hash *r = right;
    (void)user;
    for (int64_t k = 0; k < count; k++) l[k] = (hash){l[k].power * r[k].power, l[k].hash * r[k].power + r[k].hash};
}
static void finish_hash(void *results, const void *accs, int64_t count, void *user) {
    (void)user;
    for (int64_t k = 0; k < count; k++) ((uint64_t *)results)[k] = ((const hash *)accs)[k].hash;
}

static void lift_bins(void *accs, const void *values, int64_t count, int64_t first, void *user) {
    (void)first;
    for (int64_t k = 0; k < count; k++) {
        bins a = {{0}};
        a.n[*((const unsigned char *)values + (size_t)k * bytes_of(user)) & 7] = 1; /* little end first */
        ((bins *)accs)[k] = a;
    }
}
static void combine_bins(void *left, const void *right, int64_t count, void *user) {
    (void)user;
    for (int64_t k = 0; k < count; k++)
        for (int b = 0; b < 8; b++) ((bins *)left)[k].n[b] += ((const bins *)right)[k].n[b];
}

static const affine affine_one = {1, 0};
static const int64_t no_squares = 0;
static const pick no_pick = {-3e38f, 0};
static const float minus_zero = -0.0f;
static const hash no_hash = {1, 0};
static const bins no_bins = {{0}};

/* By text; the result of pick is a u32, of float_sum an f32, and so on. */
static const struct callbacks {
    const char *text;
    tally_type result;
    const void *identity;
    void (*lift)(void *, const void *, int64_t, int64_t, void *);
    void (*combine)(void *, const void *, int64_t, void *);
    void (*finish)(void *, const void *, int64_t, void *);
} sets[] = {
    {"affine.h", TALLY_I32, &affine_one, lift_affine, combine_affine, finish_affine},
    {"squares.h", TALLY_I64, &no_squares, lift_squares, combine_squares, finish_squares},
    {"pick.h", TALLY_U32, &no_pick, lift_pick, combine_pick, finish_pick},
    {"float_sum.h", TALLY_F32, &minus_zero, lift_float_sum, combine_float_sum, NULL},
    {"hash.h", TALLY_U64, &no_hash, lift_hash, combine_hash, finish_hash},
    {"bins.h", TALLY_STRUCT, &no_bins, lift_bins, combine_bins, NULL},
};

static tally_operator operator_of(const struct row *row) {
    const struct callbacks *set = sets;
    while (strcmp(set->text, row->text) != 0) set++;
    return (tally_operator){.size = sizeof(tally_operator),
                            .name = row->name,
                            .input = row->type,
                            .input_size = row->bytes,
                            .acc_size = row->acc,
                            .result = set->result,
                            .result_size = row->result,
                            .commutative = !row->keeps_order,
                            .identity = set->identity,
                            .lift = set->lift,
                            .combine = set->combine,
                            .finish = set->finish,
                            .user = (void *)(uintptr_t)row,
                            .text = text_named(row->text)};
}

/* Tells the simulator which function a name means. */
static void register_kernel(const char *name, tally__simt_entry *kernel) {
    static char names[4 * ROWS][64]; /* the simulator keeps them by reference */
    static int count;
    if (kernel == NULL || tally__simt_find(name) != NULL) return;
    EXPECT(count < 4 * ROWS, "more kernels than there is room for");
    strcpy(names[count], name);
    EXPECT(tally__simt_register(names[count++], kernel), "no memory");
}

/* Defines it; kernels: NULL, or those that its text is. */
static tally_op define_in(tally_context *context, const tally_operator *definition, tally__simt_entry *const *kernels) {
    tally_op op = -1;
    tally__spec spec;
    tally__unit unit;
    EXPECT_OK(tally_define(context, definition, &op));
    if (kernels == NULL) return op;
    EXPECT_OK(tally__specify(context, op, definition->input, &spec));
    EXPECT_OK(tally__unit_of(&spec, TALLY_FORM_WHOLE, &unit));
    register_kernel(unit.entry, kernels[0]);
    EXPECT_OK(tally__unit_of(&spec, TALLY_FORM_SEGMENTS, &unit));
    register_kernel(unit.entry, kernels[1]);
    EXPECT_OK(tally__unit_of(&spec, TALLY_FORM_SPANS, &unit));
    register_kernel(unit.entry, kernels[2]);
    return op;
}

/* The operator of a row, which both contexts know by one number. */
static tally_op define_in_both(tally_context *cpu, tally_context *device, const struct row *row) {
    const tally_operator definition = operator_of(row);
    tally_op op = define_in(cpu, &definition, row->kernels);
    assert_int_equal(define_in(device, &definition, row->kernels), op);
    return op;
}

/* ---- values ---- */

/* Random bytes; maps below the prime, small keys that tie, floats of one size. */
static char *values_of(const struct row *row, int64_t count) {
    char *values = scratch(0, (size_t)count * row->bytes + 64);
    uint64_t random = seed + row->bytes;
    for (size_t i = 0; i < (size_t)count * row->bytes; i++) values[i] = (char)(next_random(&random) >> 32);
    for (int64_t k = 0; k < count; k++) {
        char *p = values + (size_t)k * row->bytes;
        uint64_t r = next_random(&random);
        affine map = {(uint32_t)(r % PRIME), (uint32_t)((r >> 32) % PRIME)};
        pick one = {(float)(r % 5), (uint32_t)k};
        float x = (float)(r % 1000) * 0.37f + 0.1f;
        if (strcmp(row->text, "affine.h") == 0) memcpy(p, &map, sizeof map);
        if (strcmp(row->text, "pick.h") == 0) memcpy(p, &one, sizeof one);
        if (strcmp(row->text, "float_sum.h") == 0) memcpy(p, &x, sizeof x);
    }
    return values;
}

static void compare(tally_context *cpu, tally_context *device, tally_op op, const struct row *row, tally_array on_host,
                    tally_array in) {
    char wanted[64], got[64];
    memset(got, 0x5a, sizeof got);
    now.size = in.count;
    now.data = row->name;
    EXPECT_OK(tally_reduce(cpu, op, on_host, tally_out(wanted, TALLY_NATURAL, 1)));
    EXPECT_OK(tally_reduce(device, op, in, tally_out(got, TALLY_NATURAL, 1)));
    EXPECT_BITS(got, wanted, row->result, "the result");
}

/* Values to a leaf: 4096 bytes of them, rounded down to a power of two. */
static int64_t leaf_of(const struct row *row) {
    int64_t leaf = 4096;
    while (leaf * (int64_t)row->bytes > 4096) leaf /= 2;
    return leaf;
}

/* Every operator at the boundaries of groups, columns, leaves, tiles and groups of tiles. */
static void test_sizes(void **state) {
    tally_context *cpu = context_of(TALLY_BACKEND_CPU), *device = context_of(backend);
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        const struct row *row = &rows[i];
        const tally_op op = define_in_both(cpu, device, row);
        int64_t leaf = leaf_of(row), fixed[] = {0,  1,  2,  3,  6,  7,  8,   9,   13,  14,  31,  32,
                                                33, 48, 49, 63, 64, 65, 127, 129, 223, 224, 225, 449};
        for (size_t k = 0; k < sizeof fixed / sizeof *fixed; k++) {
            if (quick && (k + (size_t)i) % 5 != 0) continue;
            choose_schedule((int)k + i);
            compare(cpu, device, op, row, (tally_array){values_of(row, fixed[k]), row->type, fixed[k], 0},
                    (tally_array){values_of(row, fixed[k]), row->type, fixed[k], 0});
        }
        for (int64_t leaves = 1; leaves <= (quick ? 2 : 16); leaves *= 2)
            for (int64_t d = -1; d <= 1; d++) {
                int64_t n = leaf * leaves + d;
                choose_schedule((int)(leaves + d) + i);
                compare(cpu, device, op, row, (tally_array){values_of(row, n), row->type, n, 0},
                        (tally_array){values_of(row, n), row->type, n, 0});
            }
        if (i % 5 == 0 && !quick) {
            int64_t n = leaf * 8 * 66 + 5;
            choose_schedule(i);
            compare(cpu, device, op, row, (tally_array){values_of(row, n), row->type, n, 0},
                    (tally_array){values_of(row, n), row->type, n, 0});
        }
    }
    tally_context_destroy(cpu);
    tally_context_destroy(device);
}

/* Device memory: values packed, misaligned, apart and backwards; the result there too. */
static void test_device_memory(void **state) {
    tally_context *cpu = context_of(TALLY_BACKEND_CPU), *device = context_of(backend);
    tally__cu_address out;
    (void)state;
    EXPECT(driver->allocate(&out, 64) == 0, "no device memory");
    for (int i = 0; i < ROWS; i++) {
        const struct row *row = &rows[i];
        const tally_op op = define_in_both(cpu, device, row);
        for (int l = 0; l < LAYOUTS; l++) {
            int64_t n = leaf_of(row) * (1 + l % 3) + 37;
            size_t space = layout_bytes(&layouts[l], row->bytes, n);
            char wanted[64], got[64], *memory = scratch(1, space + 64), *values = values_of(row, n);
            tally__cu_address copy;
            if (quick && (l + i) % 4 != 0) continue;
            now.data = row->name;
            now.size = n;
            choose_schedule(l + i);
            int64_t stride = layouts[l].times * (int64_t)row->bytes + layouts[l].plus;
            tally_array host = {memory + layouts[l].offset + (stride < 0 ? -stride * (n - 1) : 0), row->type, n,
                                stride},
                        in = host;
            for (int64_t k = 0; k < n; k++)
                memcpy((char *)(uintptr_t)host.data + k * stride, values + (size_t)k * row->bytes, row->bytes);
            copy = device_copy(memory, space, 0);
            in.data = (const char *)(uintptr_t)copy + ((const char *)host.data - memory);
            EXPECT_OK(tally_reduce(cpu, op, host, tally_out(wanted, TALLY_NATURAL, 1)));
            EXPECT_OK(tally_reduce(device, op, in, tally_out((void *)(uintptr_t)out, TALLY_NATURAL, 1)));
            device_read(got, out, row->result);
            EXPECT_BITS(got, wanted, row->result, "the result in device memory");
            driver->release(copy);
        }
    }
    driver->release(out);
    tally_context_destroy(cpu);
    tally_context_destroy(device);
}

/* ---- segments ---- */

/* Lengths around groups of seven, columns, leaves and tiles. */
static int64_t length_of(const struct row *row, uint64_t random) {
    const int64_t leaf = leaf_of(row),
                  lengths[] = {0,  0,  1,  2,  3,  6,  7,  8,  9,  13,       14,   15,       31,          48,
                               49, 55, 56, 57, 62, 63, 64, 65, 97, leaf - 1, leaf, leaf + 1, 3 * leaf - 2};
    return lengths[random % (sizeof lengths / sizeof *lengths)];
}

/* Short ones, so many that a tile has one for each of many threads. */
static int64_t short_length_of(uint64_t random) {
    return random % 4 != 0 ? 5 + (int64_t)(random / 4 % 10) : 64 - (int64_t)(random / 4 % 20);
}

/* A segmentation of an array in three notations; of short segments, if none is the longest. */
typedef struct notations {
    int64_t values, count;
    int64_t *offsets, *segment_ids;
    int32_t *lengths;
} notations;
static notations segments_of(const struct row *row, int64_t count, int64_t longest, uint64_t *random) {
    notations segments = {.count = count,
                          .offsets = malloc(((size_t)count + 1) * sizeof(int64_t)),
                          .lengths = malloc((size_t)count * sizeof(int32_t))};
    segments.offsets[0] = 0;
    for (int64_t s = 0; s < count; s++) {
        const uint64_t any = next_random(random) >> 8;
        const int64_t length = longest == 0 ? short_length_of(any) : s == count / 2 ? longest : length_of(row, any);
        segments.lengths[s] = (int32_t)length;
        segments.offsets[s + 1] = segments.values += length;
    }
    segments.segment_ids = malloc(((size_t)segments.values + 1) * sizeof(int64_t));
    for (int64_t s = 0; s < count; s++)
        for (int64_t i = segments.offsets[s]; i < segments.offsets[s + 1]; i++) segments.segment_ids[i] = s;
    return segments;
}

static void compare_segments(tally_context *cpu, tally_context *device, tally_op op, const struct row *row,
                             tally_array in, tally_segments segments) {
    const size_t bytes =
        (size_t)(segments.kind == TALLY_ROWS ? segments.count * segments.inner : segments.count) * row->result;
    char *wanted = calloc(bytes + 1, 1), *got = malloc(bytes + 1);
    memset(got, 0x5a, bytes);
    EXPECT_OK(
        tally_reduce_segments(cpu, op, in, segments, tally_out(wanted, TALLY_NATURAL, (int64_t)(bytes / row->result))));
    EXPECT_OK(
        tally_reduce_segments(device, op, in, segments, tally_out(got, TALLY_NATURAL, (int64_t)(bytes / row->result))));
    for (size_t s = 0; s < bytes / row->result; s++) {
        now.size = (int64_t)s;
        EXPECT_BITS(got + s * row->result, wanted + s * row->result, row->result, "the result of a segment");
    }
    free(wanted);
    free(got);
}

static void test_segments(void **state) {
    tally_context *cpu = context_of(TALLY_BACKEND_CPU), *device = context_of(backend);
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        const struct row *row = &rows[i];
        const tally_op op = define_in_both(cpu, device, row);
        if (backend == TALLY_BACKEND_SIMT && row->kernels[1] == NULL) continue;
        for (int trial = 0; trial < (quick || i % 3 != 0 ? 2 : 3); trial++) {
            static const int64_t counts[] = {120, 500, 60}, longest[] = {9, 0, 70}; /* leaves */
            uint64_t random = seed + (uint64_t)(i + ROWS * trial);
            notations segments =
                segments_of(row, counts[trial], longest[trial] * leaf_of(row) + 3 * (longest[trial] != 0), &random);
            char *values = values_of(row, segments.values);
            tally_array in = {values, row->type, segments.values, 0};
            now = (scene){.segments = "offsets", .data = row->name};
            choose_schedule(i + trial);
            compare_segments(cpu, device, op, row, in, tally_offsets(segments.offsets, TALLY_I64, segments.count));
            now.segments = i % 2 ? "lengths" : "segment_ids";
            compare_segments(cpu, device, op, row, in,
                             i % 2 ? tally_lengths(segments.lengths, TALLY_I32, segments.count)
                                   : tally_segment_ids(segments.segment_ids, TALLY_I64, segments.count));
            free(segments.offsets);
            free(segments.segment_ids);
            free(segments.lengths);
        }
    }
    tally_context_destroy(cpu);
    tally_context_destroy(device);
}

/* Along the last axis, another, and one of no values; packed, and apart and backwards. */
static void test_rows(void **state) {
    static const int64_t shapes[][3] = {{50, 7, 1},  {9, 64, 1},   {3, 700, 1}, {1, 20000, 1}, {4, 9, 5},
                                        {2, 65, 33}, {1, 1500, 3}, {70, 1, 4},  {6, 0, 3}};
    tally_context *cpu = context_of(TALLY_BACKEND_CPU), *device = context_of(backend);
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        const struct row *row = &rows[i];
        const tally_op op = define_in_both(cpu, device, row);
        if (backend == TALLY_BACKEND_SIMT && row->kernels[1] == NULL) continue;
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
            const int64_t *s = shapes[k], n = s[0] * s[1] * s[2], bytes = (int64_t)row->bytes;
            char *values = values_of(row, 2 * n + 1);
            if (quick && (k + (size_t)i) % 3 != 0) continue;
            now = (scene){.segments = "rows", .data = row->name};
            choose_schedule(i + (int)k);
            compare_segments(cpu, device, op, row, (tally_array){values, row->type, n, 0},
                             tally_rows(s[0], s[1], s[2]));
            compare_segments(cpu, device, op, row, (tally_array){values + 2 * n * bytes, row->type, n, -2 * bytes},
                             tally_rows(s[0], s[1], s[2]));
        }
    }
    tally_context_destroy(cpu);
    tally_context_destroy(device);
}

/* ---- what is refused ---- */

static void test_callbacks_or_text(void **state) {
    tally_context *cpu = context_of(TALLY_BACKEND_CPU), *device = context_of(backend);
    const struct row *row = &rows[0];
    while (strcmp(row->name, "squares_2") != 0) row++;
    tally_operator both = operator_of(row), callbacks = both, text = both, neither = both;
    int16_t x[3] = {1, 2, 3};
    int64_t got = 0, offsets[2] = {0, 3};
    tally_array in = {x, TALLY_STRUCT, 3, 0};
    tally_output out = {&got, TALLY_NATURAL, 1, 0};
    tally_state *opened;
    tally_op op;
    (void)state;
    now = (scene){.segments = "callbacks or text"};
    callbacks.name = "callbacks", callbacks.text = NULL;
    text.name = "text", text.lift = NULL, text.combine = NULL, text.finish = NULL;
    neither.name = "neither", neither.lift = NULL, neither.combine = NULL, neither.text = NULL;
    EXPECT_STATUS(tally_define(device, &neither, &op), TALLY_UNSUPPORTED);
    neither.text = both.text, neither.lift = both.lift; /* half of the callbacks */
    EXPECT_STATUS(tally_define(device, &neither, &op), TALLY_UNSUPPORTED);
    EXPECT_OK(tally_reduce(device, TALLY_MAX, tally_in(x, TALLY_I16, 3),
                           tally_out(&got, TALLY_I64, 1))); /* a built-in kernel is there */
    op = define_in(device, &callbacks, NULL);
    EXPECT_STATUS(tally_reduce(device, op, in, out), TALLY_UNSUPPORTED);
    EXPECT(strstr(tally_message(), "tally_operator.text") != NULL, "another sentence");
    EXPECT_STATUS(tally_warm(device, op, TALLY_STRUCT), TALLY_UNSUPPORTED);
    op = define_in(device, &text, row->kernels);
    EXPECT_OK(tally_warm(device, op, TALLY_STRUCT));
    EXPECT_STATUS(tally_warm_segments(cpu, op, TALLY_STRUCT, TALLY_OFFSETS), TALLY_BAD_ARGUMENT);
    EXPECT_OK(tally_reduce(device, op, in, out));
    EXPECT(got == -14, "the sum is %lld", (long long)got);
    op = define_in(cpu, &text, NULL);
    EXPECT_STATUS(tally_reduce(cpu, op, in, out), TALLY_UNSUPPORTED);
    EXPECT(strstr(tally_message(), "callbacks") != NULL, "another sentence");
    EXPECT_STATUS(tally_reduce_segments(cpu, op, in, tally_offsets(offsets, TALLY_I64, 1), out), TALLY_UNSUPPORTED);
    EXPECT_STATUS(tally_state_open(cpu, op, TALLY_STRUCT, 0, &opened), TALLY_UNSUPPORTED);
    tally_context_destroy(cpu);
    tally_context_destroy(device);
}

/* Operators of one name whose texts or sizes differ are different kernels, and equal ones the same, in whatever
 * context. */
static void test_keys(void **state) {
    tally_context *contexts[3] = {context_of(backend), context_of(backend), context_of(backend)};
    const struct row *row = &rows[3];
    tally_operator same = operator_of(row), other = same;
    char *copy = malloc(strlen(same.text) + 2), *buffer;
    tally__unit units[3];
    tally__spec spec;
    size_t size;
    (void)state;
    now = (scene){.segments = "keys"};
    sprintf(copy, "%s\n", same.text);
    other.text = copy;
    for (int i = 0; i < 3; i++) {
        tally_op op = define_in(contexts[i], i < 2 ? &same : &other, NULL);
        EXPECT_OK(tally__specify(contexts[i], op, row->type, &spec));
        if (i == 2) memset(copy, 'x', strlen(copy)); /* it has been copied */
        EXPECT_OK(tally__unit_of(&spec, TALLY_FORM_WHOLE, &units[i]));
        EXPECT_OK(tally_emit(contexts[i], op, row->type, NULL, 0, &size));
        buffer = malloc(size);
        EXPECT_OK(tally_emit(contexts[i], op, row->type, buffer, size, &size));
        EXPECT(strstr(buffer, "TALLY_JOIN(a, b) (a).sum") != NULL && strstr(buffer, "xxx") == NULL,
               "the emitted text lacks the operator's");
        free(buffer);
    }
    EXPECT(strcmp(units[0].entry, units[1].entry) == 0 && strcmp(units[0].entry, units[2].entry) != 0, "%s, %s, %s",
           units[0].entry, units[1].entry, units[2].entry);
    for (int i = 0; i < 3; i++) tally_context_destroy(contexts[i]);
    free(copy);
}

/* NVRTC takes every text, for an old and a new architecture; what is wrong with one is told by the compiler's first
 * error. */
static void test_compiler(void **state) {
    static const struct {
        const char *find, *replace, *told;
    } mistakes[] = {{"(a).sum = (a).sum + (b).sum", "(a).sum = (a).sum + (b).sums", "sums"},
                    {"X(int64_t, sum)", "X(int32_t, sum)", "acc_size"},
                    {"typedef int64_t", "typedef int32_t", "another size than the description"},
                    {"TALLY_NODE(X) TALLY_COLUMN(X)", "TALLY_NODE(X) X(int64_t, sum) X(int64_t, more)", "more"},
                    {"#include \"accumulators/plain.h\"", "", "user.h("}};
    static const tally__form forms[] = {TALLY_FORM_WHOLE, TALLY_FORM_SEGMENTS, TALLY_FORM_SPANS};
    tally_context *context;
    tally__spec spec;
    tally__unit unit;
    tally__image image;
    (void)state;
    if (tally_gpu_compiler() == NULL) {
        print_message("SKIPPED: %s\n", tally_message());
        skip();
    }
    context = context_of(TALLY_BACKEND_CUDA);
    for (int i = 0; i < ROWS; i += quick ? 7 : 1) {
        tally_operator definition = operator_of(&rows[i]);
        now = (scene){.data = rows[i].name};
        EXPECT_OK(tally__specify(context, define_in(context, &definition, NULL), rows[i].type, &spec));
        EXPECT_OK(tally__unit_of(&spec, forms[i % 3], &unit));
        EXPECT_OK(tally__nvidia_platform.compile(&unit, i / 2 % 2 ? 75 : 90, &image));
        free(image.bytes);
    }
    for (size_t m = 0; m < sizeof mistakes / sizeof *mistakes; m++) {
        tally_operator definition = operator_of(&rows[3]);
        const char *place = strstr(definition.text, mistakes[m].find);
        char text[4096], name[16];
        EXPECT(place != NULL, "the mistake has no place");
        snprintf(text, sizeof text, "%.*s%s%s", (int)(place - definition.text), definition.text, mistakes[m].replace,
                 place + strlen(mistakes[m].find));
        snprintf(name, sizeof name, "mistake-%d", (int)m);
        definition.name = name, definition.text = text;
        now = (scene){.data = mistakes[m].replace};
        EXPECT_OK(tally__specify(context, define_in(context, &definition, NULL), rows[3].type, &spec));
        EXPECT_OK(tally__unit_of(&spec, TALLY_FORM_WHOLE, &unit));
        EXPECT_STATUS(tally__nvidia_platform.compile(&unit, 90, &image), TALLY_BAD_ARGUMENT);
        EXPECT(strstr(tally_message(), mistakes[m].told) != NULL && strchr(tally_message(), '\n') == NULL,
               "another sentence: %s", tally_message());
    }
    tally_context_destroy(context);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),    cmocka_unit_test(test_device_memory),     cmocka_unit_test(test_segments),
        cmocka_unit_test(test_rows),     cmocka_unit_test(test_callbacks_or_text), cmocka_unit_test(test_keys),
        cmocka_unit_test(test_compiler),
    };
    int skipped = begin_gpu_program(argc, argv);
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
