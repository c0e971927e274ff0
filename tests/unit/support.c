#include "support.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool quick;
uint64_t seed = 20240607;
scene now;

const char *const class_names[DATA_CLASSES] = {"small integers", "any bits",    "specials",
                                               "minus zeros",    "mixed zeros", "subnormals",
                                               "cancellation",   "ties",        "all equal"};

const layout layouts[LAYOUTS] = {
    {"aligned", 0, 1, 0}, {"one byte off", 1, 1, 0}, {"a value off", 8, 1, 0},
    {"apart", 3, 2, 1},   {"backwards", 5, -1, 0},   {"backwards apart", 0, -2, -3},
};

/* ---- the run ---- */

int begin_program(int argc, char **argv) {
    const char *wish = getenv("TALLY_ISA");
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0) quick = true;
        if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc) seed = strtoull(argv[++i], NULL, 0);
    }
    if (wish != NULL && strcmp(wish, tally_cpu_isa()) != 0) {
        fprintf(stderr, "SKIPPED: TALLY_ISA=%s, but this machine (or build) offers %s\n", wish, tally_cpu_isa());
        return SKIPPED;
    }
    return 0;
}

uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

int64_t random_below(uint64_t *state, int64_t limit) { return (int64_t)(next_random(state) % (uint64_t)limit); }

/* ---- the scene ---- */

static const char *or_dash(const char *text) { return text ? text : "-"; }

void fail_at(const char *file, int line, const char *format, ...) {
    char sentence[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    print_error("%s\n  seed %" PRIu64 ", isa %s, op %s, type %s, nan %d, accuracy %d, ddof %d, threads %d\n"
                "  data %s, layout %s, size %" PRId64 ", segments %s (index %s), segment %" PRId64 ", rows %" PRId64
                " x %" PRId64 " x %" PRId64 "\n  last message: %s\n",
                sentence, seed, tally_cpu_isa(), or_dash(tally_op_name(now.op)), or_dash(tally_type_name(now.type)),
                (int)now.nan, (int)now.accuracy, now.ddof, now.threads, or_dash(now.data), or_dash(now.layout),
                now.size, or_dash(now.segments), or_dash(tally_type_name(now.index_type)), now.segment, now.outer,
                now.length, now.inner, tally_message());
    _fail(file, line);
    abort(); /* not reached: cmocka leaves the test */
}

void expect_status_at(const char *file, int line, tally_status got, tally_status wanted, const char *call) {
    if (got != wanted)
        fail_at(file, line, "%s\n  gave %s where %s was due", call, or_dash(tally_status_name(got)),
                or_dash(tally_status_name(wanted)));
    if (got != TALLY_OK && tally_message()[0] == '\0') fail_at(file, line, "%s\n  failed without a message", call);
}

static void as_hex(const unsigned char *bytes, size_t count, char *text) {
    for (size_t i = 0; i < count; i++) sprintf(text + 2 * i, "%02x", bytes[count - 1 - i]);
}

void expect_bits_at(const char *file, int line, const void *got, const void *wanted, size_t bytes, const char *what) {
    char got_hex[2 * 64 + 1], wanted_hex[2 * 64 + 1];
    if (memcmp(got, wanted, bytes) == 0) return;
    as_hex(got, bytes, got_hex);
    as_hex(wanted, bytes, wanted_hex);
    fail_at(file, line, "%s: 0x%s where 0x%s was due", what, got_hex, wanted_hex);
}

/* ---- what is reduced ---- */

bool is_float(tally_type type) { return type >= TALLY_F16 && type <= TALLY_F64; }
bool is_signed(tally_type type) { return (type >= TALLY_I8 && type <= TALLY_I64) || is_float(type); }

/* Operators that came after those that tests name: of these the table says what tests say of the others. */
static const int orders[] = {
#define TALLY_ROW(id, name, kernel, inputs, on, gives, order, empty, nans, what) order,
    TALLY_OPERATORS(TALLY_ROW)
#undef TALLY_ROW
};
static const bool made_of_sums[TALLY_OP_END] = {
#define TALLY_ROW(id, kernel, last) [TALLY_##id] = true,
    TALLY_EXACT_SUMS(TALLY_ROW)
#undef TALLY_ROW
};
static bool is_later(tally_op op) {
    static const int last_known = TALLY_DOT; /* no constant: where none is later, clang warns of the comparisons */
    return (int)op > last_known && (int)op < TALLY_OP_END;
}

/* The operators made of sums, said without the library's table. */
static bool is_sum(tally_op op) {
    if (is_later(op)) return made_of_sums[op];
    return op == TALLY_SUM || op == TALLY_MEAN || op == TALLY_NORM1 || op == TALLY_NORM2 || op == TALLY_SUMSQ ||
           op == TALLY_DOT || op == TALLY_VAR || op == TALLY_STD || op == TALLY_STATS;
}
bool is_exact_sum(const subject *s) { return is_float(s->type) && is_sum(s->op) && s->accuracy != TALLY_FAST; }

/* Whether the order of combination can show in the result. */
bool order_shows(const subject *s) {
    if (is_exact_sum(s)) return false;
    if (is_later(s->op))
        return orders[s->op] == TALLY_ORDER_FIXED || (orders[s->op] == TALLY_ORDER_FREE_INTS && is_float(s->type));
    if (is_sum(s->op) || s->op == TALLY_PROD || s->op == TALLY_LOGSUMEXP) return is_float(s->type);
    return s->op >= TALLY_OP_END;
}

static bool step_subject(subject *s) {
    if (s->op >= 0 && is_exact_sum(s)) {
        s->accuracy = TALLY_FAST;
        return true;
    }
    s->accuracy = TALLY_BEST;
    if (s->op >= 0 && is_float(s->type) && s->nan < TALLY_NAN_TOTAL) {
        s->nan++;
        return true;
    }
    s->nan = TALLY_NAN_PROPAGATE;
    if (s->op >= 0 && s->type < TALLY_F64) {
        s->type++;
        return true;
    }
    s->type = TALLY_BOOL;
    s->op++;
    return s->op < TALLY_OP_END;
}

static bool next_of_all(subject *s) {
    while (step_subject(s)) {
        s->ddof = s->op == TALLY_VAR || s->op == TALLY_STD ? (int)s->type % 2 : 0;
        if (tally_result_type(context_for(s, TALLY_BACKEND_CPU, 1), s->op, s->type, NULL, NULL) == TALLY_OK)
            return true;
    }
    return false;
}

static int first_subject = 0, every_subject = 1;
void share_subjects(int share, int of) {
    first_subject = share;
    every_subject = of;
}
bool next_subject(subject *s) {
    for (int skip = s->op < 0 ? first_subject : every_subject - 1; skip > 0; skip--)
        if (!next_of_all(s)) return false;
    return next_of_all(s);
}

size_t result_bytes(const subject *s) {
    size_t bytes = 0;
    EXPECT_OK(tally_result_type(context_for(s, TALLY_BACKEND_CPU, 1), s->op, s->type, NULL, &bytes));
    return bytes;
}

void set_scene(const subject *s, data_class class, int64_t size) {
    now = (scene){.op = s->op,
                  .type = s->type,
                  .nan = s->nan,
                  .accuracy = s->accuracy,
                  .ddof = s->ddof,
                  .data = class_names[class],
                  .size = size};
}

tally_context *context_for(const subject *s, tally_backend backend, int threads) {
    static tally_context *made[5][3][3][3][9];
    tally_context **place = &made[backend][s->nan][s->accuracy][s->ddof][threads];
    tally_options options = TALLY_OPTIONS_INIT;
    if (*place != NULL) return *place;
    options.backend = backend;
    options.nan = s->nan;
    options.accuracy = s->accuracy;
    options.ddof = s->ddof;
    options.threads = threads;
    EXPECT_OK(tally_context_create(NULL, place));
    EXPECT_OK(tally_set_options(*place, &options));
    return *place;
}

tally_status perform(tally_context *context, tally_op op, tally_array x, tally_array y, const tally_segments *segments,
                     tally_output out) {
    if (tally_op_inputs(op) == 2)
        return segments ? tally_reduce_segments_pair(context, op, x, y, *segments, out)
                        : tally_reduce_pair(context, op, x, y, out);
    return segments ? tally_reduce_segments(context, op, x, *segments, out) : tally_reduce(context, op, x, out);
}

/* ---- numbers ---- */

/* By hand, here and below: ldexp, frexpl and nearbyintl took a quarter of the time of some tests. */
static double power_of_two(int power) {
    const uint64_t bits = (uint64_t)(power + 1023) << 52;
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}
/* Of a positive number: 2^exponent <= value < 2^(exponent + 1). -1023 if it is no normal double. */
static int exponent_of(long double value) {
    const double near = (double)value; /* may be the next power of two */
    uint64_t bits;
    memcpy(&bits, &near, sizeof bits);
    return (int)(bits >> 52) - 1023 - (near > value && (bits & ((UINT64_C(1) << 52) - 1)) == 0);
}

uint16_t slow_narrow(long double value, int fraction, int bias) {
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    int exponent, whole;
    long double units;
    if (isnan(value)) return (uint16_t)(((2 * bias + 1) << fraction) | 1 << (fraction - 1));
    if (value == 0) return sign;
    value = fabsl(value);
    if (isinf(value)) return (uint16_t)(sign | (2 * bias + 1) << fraction);
    exponent = exponent_of(value);
    if (exponent > bias) return (uint16_t)(sign | (2 * bias + 1) << fraction);
    if (exponent < 1 - bias) exponent = 1 - bias;
    units = value * power_of_two(fraction - exponent);
    whole = (int)units;
    if (units - whole > 0.5L || (units - whole == 0.5L && whole % 2 == 1)) whole++;
    /* A normal number's leading one carries into the exponent field, and what is rounded up to infinity becomes it. */
    return (uint16_t)(sign | (((exponent + bias - 1) << fraction) + whole));
}

double slow_widen(uint16_t bits, int fraction, int bias) {
    int field = (bits & 0x7fff) >> fraction, rest = bits & ((1 << fraction) - 1);
    double magnitude;
    if (field == 2 * bias + 1)
        magnitude = rest ? (double)NAN : (double)INFINITY;
    else if (field == 0)
        magnitude = rest * power_of_two(1 - bias - fraction);
    else
        magnitude = ((1 << fraction) + rest) * power_of_two(field - bias - fraction);
    return bits & 0x8000 ? -magnitude : magnitude;
}

#define INTEGER_TYPES(X)   \
    X(TALLY_I8, int8_t)    \
    X(TALLY_I16, int16_t)  \
    X(TALLY_I32, int32_t)  \
    X(TALLY_I64, int64_t)  \
    X(TALLY_U8, uint8_t)   \
    X(TALLY_U16, uint16_t) \
    X(TALLY_U32, uint32_t) \
    X(TALLY_U64, uint64_t)

long double number_at(tally_type type, const void *values, int64_t i) {
    const char *from = (const char *)values + i * (int64_t)tally_type_size(type);
    uint16_t half;
    float single;
    double whole;
    switch (type) {
#define READ(id, ctype)                     \
    case id: {                              \
        ctype value;                        \
        memcpy(&value, from, sizeof value); \
        return (long double)value;          \
    }
        INTEGER_TYPES(READ)
#undef READ
    case TALLY_BOOL: return *from != 0;
    case TALLY_F16: memcpy(&half, from, 2); return (long double)slow_widen(half, 10, 15);
    case TALLY_BF16: memcpy(&half, from, 2); return (long double)slow_widen(half, 7, 127);
    case TALLY_F32: memcpy(&single, from, 4); return (long double)single;
    default: memcpy(&whole, from, 8); return (long double)whole;
    }
}

void put_number(tally_type type, void *values, int64_t i, double number) {
    char *to = (char *)values + i * (int64_t)tally_type_size(type);
    uint16_t half;
    float single;
    switch (type) {
#define WRITE(id, ctype)                  \
    case id: {                            \
        ctype value = (ctype)number;      \
        memcpy(to, &value, sizeof value); \
        return;                           \
    }
        INTEGER_TYPES(WRITE)
#undef WRITE
    case TALLY_BOOL: *to = number != 0; return;
    case TALLY_F16:
        half = slow_narrow(number, 10, 15);
        memcpy(to, &half, 2);
        return;
    case TALLY_BF16:
        half = slow_narrow(number, 7, 127);
        memcpy(to, &half, 2);
        return;
    case TALLY_F32:
        single = (float)number;
        memcpy(to, &single, 4);
        return;
    default: memcpy(to, &number, 8); return;
    }
}

/* ---- data ---- */

/* A float with this exponent field (all ones: infinity or NaN, zero: subnormal) and random sign and fraction. */
static void put_field(tally_type type, void *values, int64_t i, bool ones, bool fraction, uint64_t random) {
    int digits = type == TALLY_F16 ? 10 : type == TALLY_BF16 ? 7 : type == TALLY_F32 ? 23 : 52;
    size_t bytes = tally_type_size(type);
    uint64_t bits = fraction ? random & (((uint64_t)1 << digits) - 1) : 0;
    if (ones) bits |= (((uint64_t)1 << (8 * bytes - 1)) - 1) >> digits << digits;
    bits |= random >> 63 << (8 * bytes - 1);
    memcpy((char *)values + i * (int64_t)bytes, &bits, bytes);
}

/* The smallest or the largest integer of a type. */
static void put_extreme(tally_type type, void *values, int64_t i, bool largest) {
    size_t bytes = tally_type_size(type);
    uint64_t top = (uint64_t)1 << (8 * bytes - 1);
    uint64_t bits = is_signed(type) ? (largest ? top - 1 : top) : (largest ? UINT64_MAX : 0);
    if (type == TALLY_BOOL) bits = largest;
    memcpy((char *)values + i * (int64_t)bytes, &bits, bytes);
}

static double one_number(tally_type type, data_class class, int64_t i, uint64_t r) {
    double sign = is_signed(type) && (r >> 40 & 1) ? -1 : 1;
    switch (class) {
    case SMALL_INTEGERS: return (double)(r % 17) - (is_signed(type) ? 8 : 0);
    case MINUS_ZEROS: return is_float(type) ? -0.0 : 0.0;
    case MIXED_ZEROS: return is_float(type) ? sign * 0.0 : (double)(r % 2);
    case SUBNORMALS: return sign * (double)(r % 2);
    case CANCELLATION: return i % 3 == 2 ? (double)(r % 5) : is_float(type) ? (i % 3 ? -30000.0 : 30000.0) : 100;
    case TIES: return r % 3 == 0 ? 1 : 3 * sign;
    case ALL_EQUAL: return is_float(type) ? 1.1 : 7;
    default: return is_float(type) ? sign * (double)((r % 1021 + 1) << (r >> 32 & 15)) * 0x1p-14 : (double)(r % 120);
    }
}

static void put_one(tally_type type, data_class class, void *values, int64_t i, uint64_t r) {
    bool real = is_float(type);
    size_t bytes = tally_type_size(type);
    if (class == ANY_BITS)
        memcpy((char *)values + i * (int64_t)bytes, &r, bytes);
    else if (class == SPECIALS && real && r % 13 < 2)
        put_field(type, values, i, true, r % 13 == 0, r | 1);
    else if (class == SUBNORMALS && real)
        put_field(type, values, i, false, true, r);
    else if (!real && (class == SPECIALS ? r % 5 < 2 : class == CANCELLATION && i % 3 < 2))
        put_extreme(type, values, i, class == SPECIALS ? r % 5 == 0 : i % 3 == 0);
    else
        put_number(type, values, i, one_number(type, class, i, r));
}

const void *data_of(tally_type type, data_class class, int64_t count) {
    static struct {
        char *values;
        int64_t count, space;
        uint64_t state;
    } made[TALLY_TYPE_END][DATA_CLASSES];
    int64_t first = made[type][class].count, space = made[type][class].space ? made[type][class].space : 4096;
    if (first == 0) made[type][class].state = seed + 1000 * (uint64_t)type + (uint64_t) class;
    while (space < count) space *= 2;
    if (space > made[type][class].space) {
        made[type][class].values = realloc(made[type][class].values, (size_t)space * 8);
        made[type][class].space = space;
        assert_non_null(made[type][class].values);
    }
    for (int64_t i = first; i < count; i++)
        put_one(type, class, made[type][class].values, i, next_random(&made[type][class].state));
    if (count > first) made[type][class].count = count;
    return made[type][class].values;
}

/* ---- layouts ---- */

size_t layout_bytes(const layout *l, size_t value_bytes, int64_t count) {
    int64_t stride = l->times * (int64_t)value_bytes + l->plus;
    return (size_t)l->offset + (size_t)(stride < 0 ? -stride : stride) * (size_t)count + value_bytes;
}

tally_array lay_out(const layout *l, const void *values, tally_type type, int64_t count, void *memory) {
    int64_t bytes = (int64_t)tally_type_size(type), stride = l->times * bytes + l->plus;
    char *first = (char *)memory + l->offset + (stride < 0 && count > 0 ? -stride * (count - 1) : 0);
    tally_array array = {first, type, count, stride};
#define LAY_OUT(size)                                                                                              \
    case size:                                                                                                     \
        for (int64_t i = 0; i < count; i++) memcpy(first + i * stride, (const char *)values + i * (size), (size)); \
        break;
    switch (bytes) { LAY_OUT(1) LAY_OUT(2) LAY_OUT(4) LAY_OUT(8) }
#undef LAY_OUT
    return array;
}

void *scratch(int number, size_t bytes) {
    static struct {
        void *memory;
        size_t bytes;
    } made[16];
    if (made[number].bytes < bytes) {
        free(made[number].memory);
        made[number].bytes = (2 * bytes + 63) / 64 * 64;
        made[number].memory = aligned_alloc(64, made[number].bytes);
        assert_non_null(made[number].memory);
    }
    return made[number].memory;
}
