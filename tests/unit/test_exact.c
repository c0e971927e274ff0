/* Results that have one right answer, against plain loops over the values: integers, orders, counts, bits; what nothing
 * gives; which types operators take and give. No formula of the library is used. */
#include <math.h>
#include <string.h>

#include "support.h"

typedef __int128 wide;

/* ---- types ---- */

/* One letter for each input type, bool to f64: I i64, U u64, f f32, d f64, = the same, b bool, 2 a pair, S stats, .
 * refused. */
static const struct {
    tally_op op;
    const char *gives;
} expected_types[] = {
    {TALLY_SUM, "IIIIIUUUUfffd"},       {TALLY_PROD, "IIIIIUUUUfffd"},    {TALLY_MIN, "============="},
    {TALLY_MAX, "============="},       {TALLY_ARGMIN, "IIIIIIIIIIIII"},  {TALLY_ARGMAX, "IIIIIIIIIIIII"},
    {TALLY_MINMAX, "2222222222222"},    {TALLY_ANY, "bbbbbbbbbbbbb"},     {TALLY_ALL, "bbbbbbbbbbbbb"},
    {TALLY_COUNT, "IIIIIIIIIIIII"},     {TALLY_AND, "=========...."},     {TALLY_OR, "=========...."},
    {TALLY_XOR, "=========...."},       {TALLY_MEAN, "dddddddddfffd"},    {TALLY_VAR, "dddddddddfffd"},
    {TALLY_STD, "dddddddddfffd"},       {TALLY_STATS, "SSSSSSSSSSSSS"},   {TALLY_NORM1, "UUUUUUUUUfffd"},
    {TALLY_NORM2, "dddddddddfffd"},     {TALLY_NORMINF, "UUUUUUUUUfffd"}, {TALLY_SUMSQ, "UUUUUUUUUfffd"},
    {TALLY_LOGSUMEXP, ".........fffd"}, {TALLY_DOT, "IIIIIUUUUfffd"},
};

static tally_type type_of_letter(char letter, tally_type input) {
    switch (letter) {
    case 'I': return TALLY_I64;
    case 'U': return TALLY_U64;
    case 'f': return TALLY_F32;
    case 'd': return TALLY_F64;
    case 'b': return TALLY_BOOL;
    case 'S': return TALLY_STRUCT;
    default: return input;
    }
}

static void test_result_types(void **state) {
    enum { ROWS = sizeof expected_types / sizeof *expected_types };
    (void)state;
    assert_true((int)ROWS > (int)TALLY_DOT); /* later operators may do without: tests/python has their oracle */
    for (int row = 0; row < ROWS; row++)
        for (int t = 0; t < 13; t++) {
            tally_type input = (tally_type)(TALLY_BOOL + t), given = TALLY_NATURAL;
            char letter = expected_types[row].gives[t];
            size_t bytes = 0, wanted;
            now = (scene){.op = expected_types[row].op, .type = input};
            EXPECT_STATUS(tally_result_type(NULL, now.op, input, &given, &bytes),
                          letter == '.' ? TALLY_BAD_TYPE : TALLY_OK);
            if (letter == '.') continue;
            EXPECT(given == type_of_letter(letter, input), "the result type is %s", tally_type_name(given));
            wanted = letter == 'S' ? sizeof(tally_stats) : tally_type_size(given) * (letter == '2' ? 2 : 1);
            EXPECT(bytes == wanted, "a result has %zu bytes where %zu were due", bytes, wanted);
            EXPECT_OK(tally_result_type(NULL, now.op, input, NULL, NULL));
        }
}

/* ---- values as integers ---- */

static wide integer_at(tally_type type, const void *values, int64_t i) { return (wide)number_at(type, values, i); }

static uint64_t magnitude_bits(tally_type type, const void *values, int64_t i, bool *negative) {
    size_t bytes = tally_type_size(type);
    uint64_t bits = 0, top = (uint64_t)1 << (8 * bytes - 1);
    memcpy(&bits, (const char *)values + i * (int64_t)bytes, bytes);
    *negative = (bits & top) != 0;
    return bits & (top - 1);
}

static bool is_nan_at(tally_type type, const void *values, int64_t i) {
    return is_float(type) && isnan(number_at(type, values, i));
}

/* A number that orders like the value: for floats -NaN < -inf < ... < -0 < +0 < ... < inf < NaN. */
static wide rank_at(tally_type type, const void *values, int64_t i) {
    bool negative;
    uint64_t magnitude;
    if (!is_float(type)) return integer_at(type, values, i);
    magnitude = magnitude_bits(type, values, i, &negative);
    return negative ? -(wide)magnitude - 1 : (wide)magnitude;
}

/* ---- min, max and their places ---- */

/* The index of the winner, or -1. Under propagate the first NaN wins, under skip none does, under total they have
 * ranks. */
static int64_t winner(const subject *s, const void *x, int64_t n, bool largest) {
    int64_t best = -1;
    for (int64_t i = 0; i < n; i++) {
        bool nan = is_nan_at(s->type, x, i);
        if (nan && s->nan == TALLY_NAN_PROPAGATE) return i;
        if (nan && s->nan == TALLY_NAN_SKIP) continue;
        if (best < 0 || (largest ? rank_at(s->type, x, i) > rank_at(s->type, x, best)
                                 : rank_at(s->type, x, i) < rank_at(s->type, x, best)))
            best = i;
    }
    return best;
}

/* What min gives for nothing is what loses to everything; floats give NaN. */
static void put_filler(tally_type type, void *to, bool largest) {
    size_t bytes = tally_type_size(type);
    uint64_t top = (uint64_t)1 << (8 * bytes - 1), bits = largest ? 0 : UINT64_MAX;
    if (is_signed(type)) bits = largest ? top : top - 1;
    if (type == TALLY_BOOL) bits = !largest;
    if (is_float(type))
        put_number(type, to, 0, (double)NAN);
    else
        memcpy(to, &bits, bytes);
}

/* The value at the winner's place; NaNs are given in one form, except under total order, where they are values. */
static void put_winner(const subject *s, const void *x, int64_t n, bool largest, void *to) {
    int64_t at = winner(s, x, n, largest);
    size_t bytes = tally_type_size(s->type);
    if (at < 0)
        put_filler(s->type, to, largest);
    else if (s->type == TALLY_BOOL || (s->nan != TALLY_NAN_TOTAL && is_nan_at(s->type, x, at)))
        put_number(s->type, to, 0, s->type == TALLY_BOOL ? (double)number_at(s->type, x, at) : (double)NAN);
    else
        memcpy(to, (const char *)x + at * (int64_t)bytes, bytes);
}

/* ---- sums, products, bits ---- */

static wide absolute(wide v) { return v < 0 ? -v : v; }

/* One step of an integer reduction, modulo 2^64 where it can exceed that (test_integers.c has what sums are otherwise).
 */
static uint64_t step(tally_op op, uint64_t so_far, wide x, wide y) {
    switch (op) {
    case TALLY_SUM: return so_far + (uint64_t)x;
    case TALLY_PROD: return so_far * (uint64_t)x;
    case TALLY_AND: return so_far & (uint64_t)x;
    case TALLY_OR: return so_far | (uint64_t)x;
    case TALLY_XOR: return so_far ^ (uint64_t)x;
    case TALLY_NORM1: return so_far + (uint64_t)absolute(x);
    case TALLY_NORMINF: return absolute(x) > (wide)so_far ? (uint64_t)absolute(x) : so_far;
    case TALLY_SUMSQ: return so_far + (uint64_t)x * (uint64_t)x;
    default: return so_far + (uint64_t)x * (uint64_t)y; /* dot */
    }
}

static uint64_t start_of(tally_op op, tally_type type) {
    if (op == TALLY_PROD) return 1;
    if (op == TALLY_AND) return type == TALLY_BOOL ? 1 : UINT64_MAX;
    return 0;
}

/* Nonzero values; a NaN is one, unless it is skipped: then it is as if absent. */
static int64_t count_nonzero(const subject *s, const void *x, int64_t n, int64_t *absent) {
    int64_t count = 0;
    *absent = 0;
    for (int64_t i = 0; i < n; i++) {
        bool nan = is_nan_at(s->type, x, i);
        *absent += nan && s->nan == TALLY_NAN_SKIP;
        count += nan ? s->nan != TALLY_NAN_SKIP : number_at(s->type, x, i) != 0;
    }
    return count;
}

/* ---- the oracle ---- */

/* Writes the one right result, or returns false where there is none (rounding). */
static bool right_answer(const subject *s, const void *x, const void *y, int64_t n, char *to) {
    size_t bytes = tally_type_size(s->type);
    int64_t absent, count = count_nonzero(s, x, n, &absent), at;
    uint64_t whole;
    switch (s->op) {
    case TALLY_MIN: put_winner(s, x, n, false, to); return true;
    case TALLY_MAX: put_winner(s, x, n, true, to); return true;
    case TALLY_MINMAX:
        put_winner(s, x, n, false, to);
        put_winner(s, x, n, true, to + bytes);
        return true;
    case TALLY_ARGMIN:
    case TALLY_ARGMAX:
        at = winner(s, x, n, s->op == TALLY_ARGMAX);
        memcpy(to, &at, sizeof at);
        return true;
    case TALLY_COUNT: memcpy(to, &count, sizeof count); return true;
    case TALLY_ANY: *to = count > 0; return true;
    case TALLY_ALL: *to = count == n - absent; return true;
    case TALLY_MEAN:
    case TALLY_VAR:
    case TALLY_STD:
    case TALLY_STATS:
    case TALLY_NORM2:
    case TALLY_LOGSUMEXP: return false;
    default:
        if (is_float(s->type) || s->op > TALLY_DOT) return false; /* of later operators tests/python has the answers */
        whole = start_of(s->op, s->type);
        for (int64_t i = 0; i < n; i++)
            whole = step(s->op, whole, integer_at(s->type, x, i), integer_at(s->type, y, i));
        memcpy(to, &whole, s->op == TALLY_AND || s->op == TALLY_OR || s->op == TALLY_XOR ? bytes : 8);
        return true;
    }
}

static bool is_refused(const subject *s, const void *x, int64_t n) {
    static const tally_op refusing[] = {TALLY_MIN,  TALLY_MAX, TALLY_ARGMIN, TALLY_ARGMAX, TALLY_MINMAX,
                                        TALLY_MEAN, TALLY_VAR, TALLY_STD,    TALLY_STATS};
    int64_t absent;
    count_nonzero(s, x, n, &absent);
    for (size_t i = 0; i < sizeof refusing / sizeof *refusing; i++)
        if (refusing[i] == s->op) return absent == n;
    return false;
}

/* As the reduction of s is checked: sums wrap around. */
static tally_context *wrapping_context(const subject *s) {
    static tally_context *made;
    tally_options options = tally_get_options(context_for(s, TALLY_BACKEND_CPU, 2));
    options.overflow = TALLY_OVERFLOW_WRAPS;
    if (made == NULL) EXPECT_OK(tally_context_create(NULL, &made));
    EXPECT_OK(tally_set_options(made, &options));
    return made;
}

static void check_answer(const subject *s, data_class class, int64_t n) {
    const void *x = data_of(s->type, class, n), *y = data_of(s->type, ANY_BITS, n);
    char wanted[64], got[64];
    set_scene(s, class, n);
    if (!right_answer(s, x, y, n, wanted)) return;
    EXPECT_STATUS(perform(wrapping_context(s), s->op, tally_in(x, s->type, n), tally_in(y, s->type, n), NULL,
                          tally_out(got, TALLY_NATURAL, 1)),
                  is_refused(s, x, n) ? TALLY_EMPTY : TALLY_OK);
    EXPECT_BITS(got, wanted, result_bytes(s), "the answer");
}

static void test_answers(void **state) {
    static const int64_t sizes[] = {0, 1, 2, 5, 8, 31, 64, 65, 511, 513, 4096, 10007};
    subject s = {.op = -1};
    (void)state;
    while (next_subject(&s))
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int class = 0; class < DATA_CLASSES; class ++)
                if (!quick || (i + (size_t) class) % 3 == 0) check_answer(&s, (data_class) class, sizes[i]);
}

/* The winner stands once, at every place in turn: no place is forgotten by columns, remainders or leaves. */
static void test_each_place(void **state) {
    enum { N = 1100 };
    subject s = {.op = -1};
    (void)state;
    while (next_subject(&s)) {
        char *x = scratch(0, N * 8);
        if ((s.op != TALLY_ARGMAX && s.op != TALLY_MAX && s.op != TALLY_ANY && s.op != TALLY_SUM) || s.nan != 0)
            continue;
        now = (scene){.op = s.op, .type = s.type, .size = N};
        memset(x, 0, N * 8);
        for (int64_t i = 0; i < N; i++) {
            tally_type result;
            char got[8];
            put_number(s.type, x, i, 1);
            EXPECT_OK(tally_reduce(NULL, s.op, tally_in(x, s.type, N), tally_out(got, TALLY_NATURAL, 1)));
            EXPECT_OK(tally_result_type(NULL, s.op, s.type, &result, NULL));
            EXPECT(number_at(result, got, 0) == (long double)(s.op == TALLY_ARGMAX ? i : 1),
                   "the one at place %d is not found", (int)i);
            put_number(s.type, x, i, 0);
        }
    }
}

/* ---- what nothing gives ---- */

static double number_of_nothing(tally_op op) {
    switch (op) {
    case TALLY_PROD:
    case TALLY_ALL: return 1;
    case TALLY_ARGMIN:
    case TALLY_ARGMAX: return -1;
    case TALLY_MEAN:
    case TALLY_VAR:
    case TALLY_STD: return (double)NAN;
    case TALLY_LOGSUMEXP: return -(double)INFINITY;
    default: return 0;
    }
}

static void stats_of_nothing(tally_type type, char *to) {
    tally_stats wanted;
    char filler[8];
    memset(&wanted, 0, sizeof wanted);
    wanted.mean = wanted.var = (double)NAN;
    put_filler(type, filler, false);
    if (is_float(type))
        wanted.min.f = wanted.max.f = (double)NAN;
    else if (type == TALLY_U64)
        wanted.min.u = UINT64_MAX;
    else
        wanted.min.i = (int64_t)integer_at(type, filler, 0);
    put_filler(type, filler, true);
    if (!is_float(type)) wanted.max.i = (int64_t)integer_at(type, filler, 0);
    memcpy(to, &wanted, sizeof wanted);
}

static void answer_of_nothing(const subject *s, char *to) {
    tally_type result;
    if (s->op == TALLY_STATS) {
        stats_of_nothing(s->type, to);
        return;
    }
    if (right_answer(s, to, to, 0, to)) return;
    EXPECT_OK(tally_result_type(NULL, s->op, s->type, &result, NULL));
    put_number(result, to, 0, number_of_nothing(s->op));
}

static void expect_nothing(const subject *s, const void *x, int64_t n) {
    char wanted[64] = {0}, got[64];
    answer_of_nothing(s, wanted);
    memset(got, 0xa5, sizeof got);
    EXPECT_STATUS(perform(context_for(s, TALLY_BACKEND_CPU, 1), s->op, tally_in(x, s->type, n), tally_in(x, s->type, n),
                          NULL, tally_out(got, TALLY_NATURAL, 1)),
                  is_refused(s, x, n) ? TALLY_EMPTY : TALLY_OK);
    EXPECT_BITS(got, wanted, result_bytes(s), "what nothing gives");
}

/* Empty arrays, and under skip arrays of NaNs only, have the identity or a filler. */
static void test_nothing(void **state) {
    subject s = {.op = -1};
    (void)state;
    while (next_subject(&s)) {
        char *nans = scratch(0, 3000 * 8);
        if (s.op > TALLY_DOT) continue; /* of later operators tests/python has the answers */
        now = (scene){.op = s.op, .type = s.type, .nan = s.nan, .accuracy = s.accuracy};
        expect_nothing(&s, NULL, 0);
        if (!is_float(s.type) || s.nan != TALLY_NAN_SKIP) continue;
        for (int64_t i = 0; i < 3000; i++) put_number(s.type, nans, i, (double)NAN);
        for (now.size = 1; now.size <= 3000; now.size = now.size * 3 + 1) expect_nothing(&s, nans, now.size);
    }
}

/* Integers have no NaNs: every policy gives what propagate gives. */
static void test_policies_of_integers(void **state) {
    subject s = {.op = -1};
    (void)state;
    while (next_subject(&s)) {
        char wanted[64], got[64];
        subject other = s;
        const void *x = data_of(s.type, ANY_BITS, 777);
        tally_array in = tally_in(x, s.type, 777);
        if (is_float(s.type)) continue;
        now = (scene){.op = s.op, .type = s.type, .size = 777, .ddof = s.ddof};
        EXPECT_OK(perform(wrapping_context(&s), s.op, in, in, NULL, tally_out(wanted, TALLY_NATURAL, 1)));
        for (int nan = 1; nan < 3; nan++) {
            other.nan = (tally_nan)nan;
            EXPECT_OK(perform(wrapping_context(&other), s.op, in, in, NULL, tally_out(got, TALLY_NATURAL, 1)));
            EXPECT_BITS(got, wanted, result_bytes(&s), "another NaN policy");
        }
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_result_types),         cmocka_unit_test(test_answers),
        cmocka_unit_test(test_each_place),           cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_policies_of_integers),
    };
    int skipped = begin_program(argc, argv);
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
