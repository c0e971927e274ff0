/* The CPU backend against the reference backend, bit for bit: every operator, type and NaN policy, over sizes at the
 * boundaries of the canonical order, every segmentation, layouts of inputs and outputs, and numbers of threads. ctest
 * runs this program once for each instruction set (TALLY_ISA). */
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { X = 0, Y = 1, OUT = 2, INDEX = 3, WANTED = 4, LENGTHS = 5, PLAIN = 6 }; /* numbers of scratch memory */

/* Inputs of one comparison: x and y as packed values, and as laid out for the call. */
typedef struct inputs {
    const char *x, *y;
    tally_array left, right;
} inputs;

static inputs packed_inputs(const subject *s, data_class class, int64_t count) {
    inputs in;
    in.x = data_of(s->type, class, count);
    in.y = data_of(s->type, (data_class)((class + 5) % DATA_CLASSES), count);
    in.left = tally_in(in.x, s->type, count);
    in.right = tally_in(in.y, s->type, count);
    return in;
}

/* The second input of dot lies otherwise than the first. */
static void lay_out_inputs(inputs *in, const subject *s, int place, int64_t skip, int64_t count) {
    const layout *l = &layouts[place % LAYOUTS], *other = &layouts[(place + 2) % LAYOUTS];
    int64_t from = skip * (int64_t)tally_type_size(s->type);
    now.layout = l->name;
    in->left = lay_out(l, in->x + from, s->type, count, scratch(X, layout_bytes(l, tally_type_size(s->type), count)));
    if (tally_op_inputs(s->op) == 2)
        in->right = lay_out(other, in->y + from, s->type, count,
                            scratch(Y, layout_bytes(other, tally_type_size(s->type), count)));
}

/* ---- outputs ---- */

/* Outputs are side by side, misaligned, or apart; what lies between and around them must stay as it was. */
typedef struct sink {
    tally_output out;
    char *memory;
    size_t bytes, memory_bytes;
    int64_t stride;
} sink;

static sink make_sink(size_t bytes, int64_t count, int place) {
    sink k;
    int64_t gap = place % 3 == 2 ? 5 : 0;
    size_t offset = place % 3 == 0 ? 64 : 67;
    k.bytes = bytes;
    k.stride = (int64_t)bytes + gap;
    k.memory_bytes = 128 + (size_t)(k.stride * count);
    k.memory = scratch(OUT, k.memory_bytes);
    memset(k.memory, 0xa5, k.memory_bytes);
    k.out = (tally_output){k.memory + offset, TALLY_NATURAL, count, gap ? k.stride : 0};
    return k;
}

static void expect_results(const sink *k, const char *wanted) {
    char *at = k->out.data;
    for (int64_t i = 0; i < k->out.count; i++, at += k->stride) {
        if (k->out.count > 1) now.segment = i;
        EXPECT_BITS(at, wanted + (size_t)i * k->bytes, k->bytes, "the result");
        memset(at, 0xa5, k->bytes);
    }
    for (size_t b = 0; b < k->memory_bytes; b++)
        EXPECT((unsigned char)k->memory[b] == 0xa5, "byte %zu of the output's surroundings was written", b);
}

/* Runs the call on the CPU and compares status and results with what is wanted. */
static void compare(const subject *s, const inputs *in, const tally_segments *segments, int threads, int place,
                    int64_t count, const char *wanted, tally_status wanted_status) {
    sink k = make_sink(result_bytes(s), count, place);
    now.threads = threads;
    EXPECT_STATUS(perform(context_for(s, TALLY_BACKEND_CPU, threads), s->op, in->left, in->right, segments, k.out),
                  wanted_status);
    expect_results(&k, wanted);
}

/* ---- whole arrays ---- */

static void compare_whole(const subject *s, data_class class, int64_t size, int place) {
    char wanted[64];
    inputs in = packed_inputs(s, class, size);
    tally_status status;
    set_scene(s, class, size);
    status = perform(context_for(s, TALLY_BACKEND_REFERENCE, 1), s->op, in.left, in.right, NULL,
                     tally_out(wanted, TALLY_NATURAL, 1));
    lay_out_inputs(&in, s, place, 0, size);
    compare(s, &in, NULL, 1, place, 1, wanted, status);
}

/* The boundaries of the canonical order, and sizes that are near none. */
static int list_sizes(tally_type type, int64_t *sizes) {
    static const int64_t plain[] = {97, 251, 509, 1021, 1500, 2039, 3001, 7919};
    int64_t leaf = tally_leaf_length(type);
    int count = 0;
    for (int64_t n = 0; n <= 17; n++) sizes[count++] = n;
    for (int64_t n = 32; n <= 8192; n *= 2)
        for (int64_t d = -1; d <= 1; d++) sizes[count++] = n + d;
    for (int64_t k = 3; k <= 7; k++) sizes[count++] = leaf * k / 8 + 1; /* rows of columns */
    for (int64_t k = 3; k <= (quick ? 3 : 5); k++)
        for (int64_t d = -1; d <= 1; d++) sizes[count++] = leaf * k + d;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) sizes[count++] = plain[i];
    return count;
}

static void test_whole(void **state) {
    subject s = {.op = -1};
    (void)state;
    for (int trial = 0; next_subject(&s); trial++) {
        int64_t sizes[96];
        int count = list_sizes(s.type, sizes);
        for (int i = 0; i < count; i++) {
            int classes = sizes[i] <= 66 && !quick ? 3 : 1; /* others in other trials */
            for (int c = 0; c < classes; c++)
                compare_whole(&s, (data_class)((trial + i + c) % DATA_CLASSES), sizes[i], trial + i + c);
        }
    }
}

/* Strides below the value size: neighbouring values share bytes. */
static void test_overlapping(void **state) {
    subject s = {.op = -1};
    (void)state;
    for (int trial = 0; next_subject(&s); trial++) {
        int64_t bytes = (int64_t)tally_type_size(s.type), count = 200 + trial % 5 * 300,
                stride = trial % 2 ? 1 : bytes / 2;
        const char *memory = data_of(s.type, ANY_BITS, count);
        char *values = scratch(PLAIN, (size_t)(count * bytes)), wanted[64];
        inputs in = {values, values, tally_in(values, s.type, count), tally_in(values, s.type, count)};
        if (bytes == 1) continue;
        set_scene(&s, ANY_BITS, count);
        now.layout = "overlapping";
        for (int64_t i = 0; i < count; i++) memcpy(values + i * bytes, memory + i * stride, (size_t)bytes);
        tally_status status = perform(context_for(&s, TALLY_BACKEND_REFERENCE, 1), s.op, in.left, in.right, NULL,
                                      tally_out(wanted, TALLY_NATURAL, 1));
        in.left = in.right = (tally_array){memory, s.type, count, stride};
        compare(&s, &in, NULL, 1, trial, 1, wanted, status);
    }
}

/* ---- ragged segments ---- */

/* Segments of these lengths, the first of which begins at value `skip`; `slack` values lie behind the last. */
typedef struct ragged {
    int64_t count, skip, slack, values; /* values: all of the array's */
    int64_t *lengths;
} ragged;

/* The last lengths are small, so that kernels reach the end of the array with them; empty ones stand at both ends. In
 * between are batches of each kind: up to 4 values, up to 8, empty or longer, mixed; and empty ones side by side. */
static ragged make_ragged(tally_type type, int trial) {
    static const int64_t small[] = {0,  0,  1,  2,  3,   5, 7, 8, 9, 15, 16, 17, 33,
                                    63, 64, 65, 66, 130, 0, 0, 0, 1, 1,  1,  4};
    enum { SMALL = sizeof small / sizeof *small };
    uint64_t random = seed + (uint64_t)trial;
    int64_t leaf = tally_leaf_length(type), count = 0;
    ragged r = {.skip = trial % 4 * 3, .slack = trial % 3 * 7, .lengths = scratch(LENGTHS, 600 * sizeof(int64_t))};
    for (int i = 0; i < SMALL; i++) r.lengths[count++] = small[i];
    for (int64_t d = -1; d <= 1; d++) r.lengths[count++] = leaf + d;
    r.lengths[count++] = 2 * leaf;
    r.lengths[count++] = (quick ? 1 : 3) * leaf + 5;
    for (int i = 0; i < 130; i++) r.lengths[count++] = i % 40 == 39 ? 70 : random_below(&random, 5);
    for (int i = 0; i < 70; i++) r.lengths[count++] = random_below(&random, 9);
    for (int i = 0; i < 40; i++) r.lengths[count++] = 0;
    for (int i = 0; i < 90; i++) r.lengths[count++] = random_below(&random, 3) ? 0 : 9 + random_below(&random, 60);
    for (int i = 0; i < 100; i++) r.lengths[count++] = random_below(&random, i % 10 ? 20 : 300);
    for (int i = SMALL - 1; i >= 0; i--) r.lengths[count++] = small[i];
    r.count = count;
    r.values = r.skip + r.slack;
    for (int64_t i = 0; i < count; i++) r.values += r.lengths[i];
    return r;
}

static void put_index(tally_type type, char *to, int64_t i, int64_t value) {
    int32_t narrow = (int32_t)value;
    if (type == TALLY_I32)
        memcpy(to + 4 * i, &narrow, 4);
    else
        memcpy(to + 8 * i, &value, 8);
}

static const char *const form_names[] = {"offsets", "lengths", "segment_ids", "rows"};

/* The index of segments in memory that is aligned or not; *skip and *count say which values it is about. */
static tally_segments make_segments(tally_segmentation form, tally_type type, const ragged *r, int misalign,
                                    int64_t *skip, int64_t *count) {
    char *index = (char *)scratch(INDEX, (size_t)(r->values + r->count + 2) * 8 + 8) + misalign;
    int64_t at = form == TALLY_OFFSETS ? r->skip : 0;
    *skip = form == TALLY_OFFSETS ? 0 : r->skip;
    *count = r->values - *skip - (form == TALLY_SEGMENT_IDS ? r->slack : 0);
    for (int64_t s = 0; s < r->count; s++) {
        if (form == TALLY_OFFSETS) put_index(type, index, s, at);
        if (form == TALLY_LENGTHS) put_index(type, index, s, r->lengths[s]);
        for (int64_t i = 0; form == TALLY_SEGMENT_IDS && i < r->lengths[s]; i++) put_index(type, index, at + i, s);
        at += r->lengths[s];
    }
    if (form == TALLY_OFFSETS) put_index(type, index, r->count, at);
    now.segments = form_names[form];
    now.index_type = type;
    return (tally_segments){form, index, type, r->count, 0, 0, NULL, TALLY_OUTSIDE_REFUSED, NULL};
}

/* The status of several results: overflow goes before empty. */
static tally_status worse(tally_status a, tally_status b) { return a == TALLY_OVERFLOW || b == TALLY_OK ? a : b; }

/* What reduce gives for each slice, by the reference. */
static tally_status reduce_slices(const subject *s, const inputs *in, const ragged *r, char *wanted) {
    size_t bytes = result_bytes(s);
    int64_t at = r->skip * (int64_t)tally_type_size(s->type);
    tally_status all = TALLY_OK;
    for (int64_t i = 0; i < r->count; i++) {
        tally_status one =
            perform(context_for(s, TALLY_BACKEND_REFERENCE, 1), s->op, tally_in(in->x + at, s->type, r->lengths[i]),
                    tally_in(in->y + at, s->type, r->lengths[i]), NULL,
                    tally_out(wanted + (size_t)i * bytes, TALLY_NATURAL, 1));
        EXPECT(one == TALLY_OK || one == TALLY_EMPTY || one == TALLY_OVERFLOW, "reduce of slice %d gave %s", (int)i,
               tally_status_name(one));
        all = worse(all, one);
        at += r->lengths[i] * (int64_t)tally_type_size(s->type);
    }
    return all;
}

static void compare_segments(const subject *s, const inputs *packed, const ragged *r, tally_segmentation form,
                             tally_type index_type, int place, const char *wanted, tally_status status) {
    int64_t skip, count;
    inputs in = *packed;
    tally_segments segments = make_segments(form, index_type, r, place % 4, &skip, &count);
    lay_out_inputs(&in, s, place, skip, count);
    compare(s, &in, &segments, 1 + place % 3, place / 2, r->count, wanted, status);
}

/* The reference's own segments, by one form in turn. */
static void check_reference(const subject *s, const inputs *packed, const ragged *r, int trial, const char *wanted,
                            tally_status status) {
    int64_t skip, count;
    tally_segments segments = make_segments((tally_segmentation)(trial % 3), TALLY_I64, r, 0, &skip, &count);
    size_t bytes = result_bytes(s), from = (size_t)skip * tally_type_size(s->type);
    char *got = scratch(OUT, bytes * (size_t)r->count);
    now.layout = "reference backend";
    EXPECT_STATUS(perform(context_for(s, TALLY_BACKEND_REFERENCE, 1), s->op, tally_in(packed->x + from, s->type, count),
                          tally_in(packed->y + from, s->type, count), &segments,
                          tally_out(got, TALLY_NATURAL, r->count)),
                  status);
    for (now.segment = 0; now.segment < r->count; now.segment++)
        EXPECT_BITS(got + (size_t)now.segment * bytes, wanted + (size_t)now.segment * bytes, bytes,
                    "the reference's segment");
}

static void compare_ragged(const subject *s, data_class class, int trial) {
    ragged r = make_ragged(s->type, trial);
    inputs in = packed_inputs(s, class, r.values);
    char *wanted = scratch(WANTED, result_bytes(s) * (size_t)r.count);
    set_scene(s, class, r.values);
    tally_status status = reduce_slices(s, &in, &r, wanted);
    for (int form = TALLY_OFFSETS; form <= TALLY_SEGMENT_IDS; form++)
        for (int wide = 0; wide < 2; wide++)
            compare_segments(s, &in, &r, (tally_segmentation)form, wide ? TALLY_I64 : TALLY_I32,
                             trial + 2 * form + wide, wanted, status);
    check_reference(s, &in, &r, trial, wanted, status);
}

static void test_ragged(void **state) {
    subject s = {.op = -1};
    (void)state;
    for (int trial = 0; next_subject(&s); trial++)
        for (int c = 0; c < (quick ? 1 : 3); c++)
            compare_ragged(&s, (data_class)((trial + 4 * c) % DATA_CLASSES), trial + c);
}

/* Many segments begin at one value, or one at each: more than are gathered before they are reduced, and just as many.
 */
static void test_gaps(void **state) {
    static const subject some[] = {
        {TALLY_SUM, TALLY_I32, 0, 0, TALLY_BEST},  {TALLY_SUM, TALLY_F32, 0, 0, TALLY_BEST},
        {TALLY_COUNT, TALLY_U8, 0, 0, TALLY_BEST}, {TALLY_MEAN, TALLY_I64, 0, 0, TALLY_BEST},
        {TALLY_SUM, TALLY_U64, 0, 0, TALLY_BEST},  {TALLY_STATS, TALLY_F32, 1, 0, TALLY_BEST},
        {TALLY_VAR, TALLY_F64, 0, 1, TALLY_BEST}};
    static const int64_t runs[][2] = {
        /* length, how often */
        {1, 3001}, {0, 5000}, {2, 1},   {0, 15}, {1, 1},    {0, 16}, {3, 1},    {0, 17},   {1, 1},   {0, 2047},
        {1, 1},    {0, 2048}, {1, 1},   {0, 1},  {1, 510},  {0, 1},  {1, 1},    {600, 1},  {0, 511}, {1, 1},
        {0, 512},  {1500, 2}, {0, 513}, {4, 1},  {64, 100}, {63, 9}, {65, 100}, {0, 1533}, {5, 400}};
    (void)state;
    for (int k = 0; k < (int)(sizeof some / sizeof *some); k++) {
        uint64_t random = seed + (uint64_t)k;
        ragged r = {.skip = 3, .slack = 5, .lengths = scratch(LENGTHS, 30000 * sizeof(int64_t))};
        for (int i = 0; i < (int)(sizeof runs / sizeof *runs); i++)
            for (int64_t times = runs[i][1]; times > 0; times--) r.lengths[r.count++] = runs[i][0];
        for (int i = 0; i < 4000; i++)
            r.lengths[r.count++] = random_below(&random, 10) < 8 ? 0 : random_below(&random, 50);
        r.values = r.skip + r.slack;
        for (int64_t i = 0; i < r.count; i++) r.values += r.lengths[i];
        inputs in = packed_inputs(&some[k], ANY_BITS, r.values);
        char *wanted = scratch(WANTED, result_bytes(&some[k]) * (size_t)r.count);
        set_scene(&some[k], ANY_BITS, r.values);
        tally_status status = reduce_slices(&some[k], &in, &r, wanted);
        for (int form = TALLY_OFFSETS; form <= TALLY_SEGMENT_IDS; form++)
            for (int place = 0; place < 6; place++)
                compare_segments(&some[k], &in, &r, (tally_segmentation)form, place & 1 ? TALLY_I64 : TALLY_I32, place,
                                 wanted, status);
    }
}

/* A segment that begins with NaNs among short ones: it has values, and so has each of the others, whatever their lanes
 * hold. */
static void test_nans_first(void **state) {
    enum { BATCH = 64 };
    static const tally_type types[] = {TALLY_F16, TALLY_BF16, TALLY_F32, TALLY_F64};
    (void)state;
    for (int trial = 0; trial < 4 * BATCH; trial++) {
        subject s = {TALLY_MIN, types[trial % 4], 1, 0, TALLY_BEST};
        int64_t lengths[BATCH], at = 0, size = (int64_t)tally_type_size(s.type);
        ragged r = {.count = BATCH, .lengths = lengths, .values = 64};
        for (int k = 0; k < BATCH; k++) r.values += lengths[k] = k == trial / 4 ? 9 + trial % 50 : trial % 3 ? 3 : 7;
        inputs in = packed_inputs(&s, ALL_EQUAL, r.values);
        char *x = scratch(PLAIN, (size_t)(r.values * size)), *wanted = scratch(WANTED, BATCH * result_bytes(&s));
        memcpy(x, in.x, (size_t)(r.values * size));
        for (int k = 0; k < trial / 4; k++) at += lengths[k];
        memset(x + at * size, 0x7f, (size_t)(8 * size));
        for (int64_t i = at; i < at + 8; i++) x[i * size + size - 2] = (char)0xff;
        in.x = in.y = x;
        set_scene(&s, ALL_EQUAL, r.values);
        tally_status status = reduce_slices(&s, &in, &r, wanted);
        EXPECT_STATUS(status, TALLY_OK);
        compare_segments(&s, &in, &r, TALLY_OFFSETS, TALLY_I32, trial, wanted, status);
    }
}

/* Nothing to reduce in any form: no values but segments, no segments but values. */
static void test_nothing(void **state) {
    subject s = {.op = -1};
    (void)state;
    while (next_subject(&s)) {
        int64_t zeros[6] = {0}, skip, count;
        ragged r = {.count = 5, .lengths = zeros};
        inputs in = packed_inputs(&s, ALL_EQUAL, 8);
        char *wanted = scratch(WANTED, 5 * result_bytes(&s));
        set_scene(&s, ALL_EQUAL, 0);
        tally_status status = reduce_slices(&s, &in, &r, wanted);
        in.left.count = in.right.count = 0;
        for (int form = TALLY_OFFSETS; form <= TALLY_SEGMENT_IDS; form++) {
            tally_segments segments = make_segments((tally_segmentation)form, TALLY_I64, &r, 0, &skip, &count);
            compare(&s, &in, &segments, 2, form, 5, wanted, status);
            in.left.data = in.right.data = NULL;
        }
        now.segments = "rows";
        for (int inner = 1; inner <= 5; inner += 4) {
            tally_segments segments = tally_rows(5 / inner, 0, inner);
            compare(&s, &in, &segments, 2, inner, 5, wanted, status);
        }
    }
}

/* ---- rows ---- */

static void compare_rows(const subject *s, data_class class, int place, int64_t outer, int64_t length, int64_t inner) {
    inputs in = packed_inputs(s, class, outer * length * inner);
    tally_segments segments = tally_rows(outer, length, inner);
    char *wanted = scratch(WANTED, result_bytes(s) * (size_t)(outer * inner));
    set_scene(s, class, outer * length * inner);
    now.segments = "rows";
    now.outer = outer, now.length = length, now.inner = inner;
    tally_status status = perform(context_for(s, TALLY_BACKEND_REFERENCE, 1), s->op, in.left, in.right, &segments,
                                  tally_out(wanted, TALLY_NATURAL, outer * inner));
    lay_out_inputs(&in, s, place, 0, outer * length * inner);
    compare(s, &in, &segments, 1 + place % 3, place / 2, outer * inner, wanted, status);
}

/* ---- short segments, a lane for each ---- */

/* Rows that all have as many values; batches of segments of up to so many, with a few empty or longer ones among them.
 * Lanes may read what lies behind a segment, but nothing behind the array. */
static void compare_short(const subject *s, data_class class, int trial, int64_t most) {
    static const int64_t counts[] = {64, 130, 63, 1, 200};
    uint64_t random = seed + (uint64_t)trial;
    const int64_t count = counts[trial % 5];
    ragged r = {.skip = trial % 3, .slack = trial % 4 == 3 ? 70 : trial % 4, .lengths = scratch(LENGTHS, 4096)};
    compare_rows(s, class, trial, count, most, 1);
    r.count = count;
    r.values = r.skip + r.slack;
    for (int64_t i = 0; i < count; i++) {
        r.lengths[i] = i % 50 == 49 && trial % 2 ? 75 : random_below(&random, trial % 3 ? most + 1 : 4);
        if (i % 9 == 7) r.lengths[i] = most;
        r.values += r.lengths[i];
    }
    inputs in = packed_inputs(s, class, r.values);
    char *wanted = scratch(WANTED, result_bytes(s) * (size_t)count);
    set_scene(s, class, r.values);
    tally_status status = reduce_slices(s, &in, &r, wanted);
    compare_segments(s, &in, &r, TALLY_OFFSETS, TALLY_I32, 4 * trial, wanted, status);
    compare_segments(s, &in, &r, TALLY_LENGTHS, TALLY_I64, trial, wanted, status);
}

static void test_short(void **state) {
    static const int64_t lengths[] = {1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 15, 16, 17, 23, 24, 31, 32, 33, 47, 50, 63, 64};
    enum { LENGTHS_OF = sizeof lengths / sizeof *lengths };
    subject s = {.op = -1};
    int trial = 0;
    (void)state;
    while (next_subject(&s))
        for (int k = 0; k < (quick ? 2 : 5); k++, trial++)
            compare_short(&s, (data_class)(trial % DATA_CLASSES), trial, lengths[7 * trial % LENGTHS_OF]);
}

/* Small blocks that are transposed, panels narrow and wide, axes longer than a leaf. */
static const int64_t shapes[][3] = {
    {1, 1, 1},   {3, 1, 2},     {1, 2, 3},     {2, 65, 2},   {1, 63, 17},   {3, 2, 300},  {1, 65, 64},  {1, 1500, 3},
    {2, 63, 3},  {1, 1500, 1},  {300, 7, 3},   {1, 65, 300}, {5, 1, 64},    {2, 2, 17},   {700, 1, 2},  {3, 1500, 2},
    {1, 1, 300}, {2, 1500, 17}, {129, 63, 15}, {4, 64, 64},  {1, 300, 130}, {1, 4097, 2}, {2, 5000, 3}, {1, 520, 64},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void test_rows(void **state) {
    subject s = {.op = -1};
    (void)state;
    for (int trial = 0; next_subject(&s); trial++) {
        int64_t leaf = tally_leaf_length(s.type);
        for (int i = 0; i < SHAPES; i++)
            if (!quick || (trial + i) % 6 == 0)
                compare_rows(&s, (data_class)((trial + i) % DATA_CLASSES), trial + i, shapes[i][0], shapes[i][1],
                             shapes[i][2]);
        if (quick) continue;
        if (trial % 3 == 0)
            compare_rows(&s, (data_class)(trial % DATA_CLASSES), trial, 1, 2 * leaf + 3, trial % 2 ? 17 : 64);
        if (trial % 6 == 1) compare_rows(&s, (data_class)(trial % DATA_CLASSES), trial, 1, 1500, 300);
    }
}

/* A column of rows is the array whose stride is the row. */
static void test_columns_are_strided_arrays(void **state) {
    subject s = {.op = -1};
    (void)state;
    for (int trial = 0; next_subject(&s); trial++) {
        enum { LENGTH = 777, INNER = 5 };
        inputs in = packed_inputs(&s, (data_class)(trial % DATA_CLASSES), LENGTH * INNER);
        int64_t bytes = (int64_t)tally_type_size(s.type);
        tally_segments segments = tally_rows(1, LENGTH, INNER);
        char *wanted = scratch(WANTED, INNER * result_bytes(&s));
        tally_status status = TALLY_OK;
        set_scene(&s, (data_class)(trial % DATA_CLASSES), LENGTH * INNER);
        for (int64_t i = 0; i < INNER; i++) {
            tally_array x = {in.x + i * bytes, s.type, LENGTH, INNER * bytes},
                        y = {in.y + i * bytes, s.type, LENGTH, INNER * bytes};
            tally_status one = perform(context_for(&s, TALLY_BACKEND_CPU, 1), s.op, x, y, NULL,
                                       tally_out(wanted + (size_t)i * result_bytes(&s), TALLY_NATURAL, 1));
            status = worse(status, one);
        }
        compare(&s, &in, &segments, 1, trial, INNER, wanted, status);
    }
}

/* ---- threads ---- */

/* Long segments for the whole team between short and empty ones; in turn the array ends with either. */
static ragged make_uneven(int64_t values, tally_type type, int trial) {
    int64_t most = (int64_t)((1 << 20) / tally_type_size(type)) + 1, left = values - 40, count = 0;
    uint64_t random = seed + (uint64_t)trial;
    ragged r = {
        .skip = 20, .slack = 20, .values = values, .lengths = scratch(LENGTHS, ((size_t)values + 8) * sizeof(int64_t))};
    while (left > 0) {
        int64_t n = random_below(&random, 60);
        if (count % 700 == trial % 700) n = 5 * tally_leaf_length(type) + 1;
        if (count == 350) n = most;
        if (n > left) n = left;
        r.lengths[count++] = n;
        left -= n;
    }
    r.count = count;
    return r;
}

static tally_status reference_segments(const subject *s, const inputs *in, const tally_segments *segments,
                                       int64_t count, char *wanted) {
    return perform(context_for(s, TALLY_BACKEND_REFERENCE, 1), s->op, in->left, in->right, segments,
                   tally_out(wanted, TALLY_NATURAL, count));
}

static void compare_teams(const subject *s, const inputs *in, const tally_segments *segments, int64_t count, int place,
                          const char *wanted, tally_status status) {
    static const int teams[] = {1, 2, 3, 5};
    for (int t = place & 1; t < 4; t += 2) compare(s, in, segments, teams[t], place + t, count, wanted, status);
}

static void teams_whole(const subject *s, data_class class, int64_t size, int place) {
    char wanted[64];
    inputs in = packed_inputs(s, class, size);
    set_scene(s, class, size);
    tally_status status = reference_segments(s, &in, NULL, 1, wanted);
    compare_teams(s, &in, NULL, 1, place, wanted, status);
    lay_out_inputs(&in, s, 3 + place % 3, 0, size);
    compare(s, &in, NULL, 3, place, 1, wanted, status);
}

static void teams_ragged(const subject *s, data_class class, int64_t size, int trial) {
    inputs packed = packed_inputs(s, class, size);
    ragged r = make_uneven(size, s->type, trial);
    char *wanted = scratch(WANTED, result_bytes(s) * (size_t)r.count);
    set_scene(s, class, size);
    tally_status status = reduce_slices(s, &packed, &r, wanted);
    for (int form = TALLY_OFFSETS; form <= TALLY_SEGMENT_IDS; form++) {
        int64_t skip, count;
        tally_segments segments =
            make_segments((tally_segmentation)form, trial % 2 ? TALLY_I64 : TALLY_I32, &r, trial % 4, &skip, &count);
        inputs in = packed;
        lay_out_inputs(&in, s, form == trial % 3 ? 3 : trial % 2, skip, count);
        compare_teams(s, &in, &segments, r.count, trial + form, wanted, status);
    }
}

/* Shapes of `size` values for each path: blocks, wide panels, long axes, rows of the last axis. */
static void teams_rows(const subject *s, data_class class, int64_t size, int trial) {
    const int64_t by_trial[][2] = {{8, 13}, {1013, 1}, {64, 300}, {size / 3, 3}, {30, 9}, {size / 40, 40}, {size, 1}};
    int64_t length = by_trial[trial % 7][0], inner = by_trial[trial % 7][1], outer = size / (length * inner);
    tally_segments segments = tally_rows(outer, length, inner);
    inputs in = packed_inputs(s, class, outer * length * inner);
    char *wanted = scratch(WANTED, result_bytes(s) * (size_t)(outer * inner));
    set_scene(s, class, size);
    now.segments = "rows";
    now.outer = outer, now.length = length, now.inner = inner;
    tally_status status = reference_segments(s, &in, &segments, outer * inner, wanted);
    if (trial % 4 == 0) lay_out_inputs(&in, s, 3, 0, outer * length * inner);
    compare_teams(s, &in, &segments, outer * inner, trial, wanted, status);
}

/* Every operator and type in arrays that several threads share; sizes differ so that all kinds of chunks occur. */
static void test_threads(void **state) {
    subject s = {.op = -1};
    (void)state;
    for (int trial = 0; next_subject(&s); trial++) {
        int64_t size = (int64_t)(500000 / tally_type_size(s.type)) + 7 + trial * 11;
        data_class class = (data_class)(trial % DATA_CLASSES);
        if (quick && trial % 7 != 0) continue;
        teams_whole(&s, class, trial % 5 ? size : 300007, trial);
        if (trial % 3 == 0) teams_ragged(&s, class, size, trial);
        if (trial % 3 == 1) teams_rows(&s, class, size, trial / 3);
    }
}

/* Some megabytes, so that there are long segments and many pieces. */
static void test_megabytes(void **state) {
    static const subject some[] = {
        {TALLY_SUM, TALLY_F32, 0, 0, TALLY_BEST},    {TALLY_ARGMIN, TALLY_F16, 1, 0, TALLY_BEST},
        {TALLY_SUM, TALLY_U8, 0, 0, TALLY_BEST},     {TALLY_VAR, TALLY_F64, 1, 1, TALLY_BEST},
        {TALLY_MINMAX, TALLY_I16, 0, 0, TALLY_BEST}, {TALLY_STATS, TALLY_BOOL, 0, 0, TALLY_BEST},
        {TALLY_DOT, TALLY_BF16, 1, 0, TALLY_BEST},   {TALLY_LOGSUMEXP, TALLY_F32, 0, 0, TALLY_BEST},
        {TALLY_ARGMAX, TALLY_I8, 0, 0, TALLY_BEST},  {TALLY_ALL, TALLY_I64, 0, 0, TALLY_BEST},
        {TALLY_MEAN, TALLY_U32, 0, 0, TALLY_BEST},   {TALLY_MIN, TALLY_F64, 2, 0, TALLY_BEST},
    };
    (void)state;
    for (int i = 0; i < (quick ? 3 : (int)(sizeof some / sizeof *some)); i++) {
        int64_t size =
            (int64_t)((quick ? 1200000 : 1500000 + 200000 * i) / (int64_t)tally_type_size(some[i].type)) + 13;
        data_class class = some[i].op == TALLY_ALL ? ALL_EQUAL : i % 2 ? ANY_BITS : SPECIALS;
        teams_whole(&some[i], class, size, i);
        teams_ragged(&some[i], class, size, i);
        teams_rows(&some[i], class, size, i);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_overlapping),
        cmocka_unit_test(test_ragged),
        cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_nans_first),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_short),
        cmocka_unit_test(test_columns_are_strided_arrays),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_megabytes),
    };
    int skipped = begin_program(argc, argv);
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
