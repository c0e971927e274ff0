/* Saved states as bytes from a stranger: every flip and every truncation is refused; with the hash made right again,
 * each field is checked, and what is let through is harmless. And the bytes are the same on every machine. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "operators.h"

enum { HASH = 8, HEADER = 128, FIRST_FIELD = 8, AGAIN = 1, OUT = 2 };

typedef struct bytes {
    unsigned char *data; /* allocated to the byte, so that sanitizers see reads behind the end */
    size_t size;
} bytes;

static bytes save(tally_state *state) {
    bytes b;
    EXPECT_OK(tally_state_save(state, NULL, 0, &b.size));
    b.data = malloc(b.size);
    assert_non_null(b.data);
    EXPECT_OK(tally_state_save(state, b.data, b.size, &b.size));
    EXPECT(b.size > HEADER + HASH, "a state of %zu bytes", b.size);
    return b;
}

static void put_hash(bytes b) {
    uint64_t hash = XXH3_64bits(b.data, b.size - HASH);
    memcpy(b.data + b.size - HASH, &hash, HASH);
}

/* ---- states of every shape ---- */

/* A state of `count` values from value `first` on; with `merged`, one opened at 0 was merged behind it (free orders
 * only). */
typedef struct shape {
    tally_op op;
    tally_type type;
    int64_t first, count;
    bool merged;
} shape;

static const shape shapes[] = {
    {TALLY_SUM, TALLY_F32, 0, 0, false},      {TALLY_SUM, TALLY_F64, 0, 20, false},
    {TALLY_VAR, TALLY_F64, 500, 24, false},   {TALLY_STATS, TALLY_F32, 1000, 3000, false},
    {TALLY_DOT, TALLY_F64, 510, 1030, false}, {TALLY_ARGMIN, TALLY_F64, 511, 3600, false},
    {TALLY_ARGMAX, TALLY_F16, 0, 2060, true}, {TALLY_SUM, TALLY_I64, 0, 530, true},
    {TALLY_MINMAX, TALLY_U64, 7, 1, false},   {TALLY_LOGSUMEXP, TALLY_F64, 0, 1540, false},
    {TALLY_ALL, TALLY_BOOL, 4090, 10, true},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static tally_status push_some(tally_state *state, const shape *p) {
    tally_array x = tally_in(data_of(p->type, SMALL_INTEGERS, p->count), p->type, p->count);
    return tally_op_inputs(p->op) == 2 ? tally_state_push_pair(state, x, x) : tally_state_push(state, x);
}

static tally_state *build(const shape *p) {
    tally_state *state, *behind;
    now = (scene){.op = p->op, .type = p->type, .size = p->count, .segments = p->merged ? "merged states" : "a state"};
    EXPECT_OK(tally_state_open(NULL, p->op, p->type, p->first, &state));
    EXPECT_OK(push_some(state, p));
    if (!p->merged) return state;
    EXPECT_OK(tally_state_open(NULL, p->op, p->type, 0, &behind));
    EXPECT_OK(push_some(behind, p));
    EXPECT_OK(tally_state_merge(state, behind));
    EXPECT_OK(push_some(state, p));
    tally_state_close(behind);
    return state;
}

/* ---- damage ---- */

static void expect_refused(const void *data, size_t size, const char *what, size_t where) {
    tally_state *state = (tally_state *)(void *)&size;
    tally_status status = tally_state_load(NULL, data, size, &state);
    EXPECT(status == TALLY_BAD_STATE, "%s at byte %zu of %zu: %s", what, where, size, tally_status_name(status));
    EXPECT(state == NULL, "%s at byte %zu: a refused load left something in *state", what, where);
}

static void test_flips(void **state) {
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        tally_state *made = build(&shapes[i]);
        bytes b = save(made);
        for (size_t at = 0; at < b.size; at += quick && at > HEADER ? 13 : 1)
            for (int bit = (int)at % 3; bit < 8; bit += quick ? 5 : 3) {
                b.data[at] ^= (unsigned char)(1u << bit);
                expect_refused(b.data, b.size, "a flipped bit", at);
                b.data[at] ^= (unsigned char)(1u << bit);
            }
        free(b.data);
        tally_state_close(made);
    }
}

/* Every prefix, in memory that ends where it does; with the hash right for the prefix, too. */
static void test_truncations(void **state) {
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        tally_state *made = build(&shapes[i]);
        bytes b = save(made), longer;
        for (size_t size = 0; size < b.size; size += quick && size > HEADER ? 37 : 1) {
            bytes part = {malloc(size ? size : 1), size};
            assert_non_null(part.data);
            memcpy(part.data, b.data, size);
            expect_refused(part.data, size, "cut short", size);
            if (size > HASH) {
                put_hash(part);
                expect_refused(part.data, size, "cut short, with its hash", size);
            }
            free(part.data);
        }
        longer = (bytes){malloc(b.size + 8), b.size + 8};
        assert_non_null(longer.data);
        memset(longer.data, 0, longer.size);
        memcpy(longer.data, b.data, b.size > HASH ? b.size - HASH : 0);
        put_hash(longer);
        expect_refused(longer.data, longer.size, "too long, with its hash", b.size);
        free(longer.data);
        free(b.data);
        tally_state_close(made);
    }
}

/* ---- forgery ---- */

/* Everything a state can be asked to do; statuses may be anything, reads and writes out of bounds are for sanitizers to
 * see. */
static void use(tally_state *state, const unsigned char *data, size_t size) {
    char out[64];
    tally_type type = tally_state_type(state);
    int64_t count = tally_leaf_length(type) * 3 + 1;
    tally_array x = tally_in(data_of(type, ANY_BITS, count), type, count);
    tally_state *other;
    size_t again;
    (void)!tally_state_finish(state, tally_out(out, TALLY_NATURAL, 1));
    for (int i = 0; i < 4; i++)
        (void)!(tally_op_inputs(tally_state_op(state)) == 2 ? tally_state_push_pair(state, x, x)
                                                            : tally_state_push(state, x));
    if (tally_state_load(NULL, data, size, &other) == TALLY_OK) {
        (void)!tally_state_merge(state, other);
        (void)!tally_state_merge(other, state);
        tally_state_close(other);
    }
    if (tally_state_open(NULL, tally_state_op(state), type, tally_state_first(state) + tally_state_count(state),
                         &other) == TALLY_OK) {
        (void)!tally_state_merge(state, other);
        tally_state_close(other);
    }
    (void)!tally_state_finish(state, tally_out(out, TALLY_NATURAL, 1));
    EXPECT_OK(tally_state_save(state, NULL, 0, &again));
    EXPECT_OK(tally_state_save(state, scratch(AGAIN, again), again, &again));
}

/* A forged state is refused as such or means something. */
static bool try_forged(bytes b, const char *what, size_t where) {
    tally_state *state;
    tally_status status;
    put_hash(b);
    status = tally_state_load(NULL, b.data, b.size, &state);
    EXPECT(status == TALLY_OK || status == TALLY_BAD_STATE, "%s at byte %zu: %s", what, where,
           tally_status_name(status));
    if (status != TALLY_OK) return false;
    use(state, b.data, b.size);
    tally_state_close(state);
    return true;
}

static void test_forged_bytes(void **state) {
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        tally_state *made = build(&shapes[i]);
        bytes b = save(made);
        /* All of the header and the nodes; raw values may be anything. */
        for (size_t at = 0; at<b.size - HASH; at += at> 600 ? 97 : quick && at > HEADER ? 7 : 1)
            for (int bit = 0; bit < 8; bit += quick ? 7 : 1) {
                b.data[at] ^= (unsigned char)(1u << bit);
                try_forged(b, "a forged bit", at);
                b.data[at] ^= (unsigned char)(1u << bit);
            }
        free(b.data);
        tally_state_close(made);
    }
}

static const int64_t telling[] = {0,
                                  1,
                                  2,
                                  7,
                                  63,
                                  64,
                                  126,
                                  127,
                                  128,
                                  511,
                                  512,
                                  513,
                                  1024,
                                  4096,
                                  -1,
                                  -2,
                                  -512,
                                  INT64_MAX,
                                  INT64_MIN,
                                  INT64_MAX / 32,
                                  INT64_MAX / 64,
                                  INT64_MAX / 64 + 1,
                                  INT64_MAX - 511,
                                  (int64_t)1 << 57,
                                  (int64_t)1 << 62,
                                  (int64_t)1 << 32};
enum { TELLING = sizeof telling / sizeof *telling };

/* Numbers of the header and the rungs replaced by telling ones, two at a time, so that contradictions can agree. */
static void test_forged_fields(void **state) {
    uint64_t random = seed;
    int accepted = 0;
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        tally_state *made = build(&shapes[i]);
        bytes b = save(made);
        unsigned char *original = malloc(b.size);
        assert_non_null(original);
        memcpy(original, b.data, b.size);
        size_t fields = (b.size - HASH) / 8 < 60 ? (b.size - HASH) / 8 : 60;
        for (int round = 0; round < (quick ? 300 : 5000); round++) {
            size_t last = 0;
            for (int k = 0; k <= round % 3; k++) {
                size_t field = round % 2 ? FIRST_FIELD + (size_t)random_below(&random, 8)
                                         : 1 + (size_t)random_below(&random, (int64_t)fields - 1);
                memcpy(b.data + 8 * field, &telling[random_below(&random, TELLING)], 8);
                last = 8 * field;
            }
            accepted += try_forged(b, "a forged field", last);
            memcpy(b.data, original, b.size);
        }
        free(original);
        free(b.data);
        tally_state_close(made);
    }
    EXPECT(accepted > 0, "no forgery was let through: the forger has gone blind");
}

/* A ladder that no state climbs: many small nodes, which joined would be few. A state that believed it would overflow.
 */
static void test_forged_ladder(void **state) {
    enum { RUNGS = 126 };
    tally_state *made = NULL, *rung_state;
    (void)state;
    now = (scene){.op = TALLY_SUM, .type = TALLY_F64, .segments = "a forged ladder"};
    const subject fast = {TALLY_SUM, TALLY_F64, TALLY_NAN_PROPAGATE, 0, TALLY_FAST};
    tally_context *context = context_for(&fast, TALLY_BACKEND_CPU, 1);
    EXPECT_OK(tally_state_open(context, TALLY_SUM, TALLY_F64, 0, &made));
    EXPECT_OK(tally_state_open(context, TALLY_SUM, TALLY_F64, 0, &rung_state));
    EXPECT_OK(tally_state_push(rung_state, tally_in(data_of(TALLY_F64, ALL_EQUAL, 512), TALLY_F64, 512)));
    bytes empty = save(made), one = save(rung_state), b;
    size_t rung = one.size - empty.size, prefix = empty.size - HASH;
    for (int64_t rungs = 2; rungs <= RUNGS; rungs++) {
        int64_t end = rungs * 512;
        b.size = empty.size + (size_t)rungs * rung;
        b.data = malloc(b.size);
        assert_non_null(b.data);
        memcpy(b.data, one.data, prefix);
        for (int64_t r = 0; r < rungs; r++) {
            memcpy(b.data + prefix + (size_t)r * rung, one.data + prefix, rung);
            memcpy(b.data + prefix + (size_t)r * rung + 8, &r, 8); /* which leaf it is */
        }
        memcpy(b.data + 8 * 9, &end, 8);    /* end */
        memcpy(b.data + 8 * 12, &rungs, 8); /* leaf_end */
        memcpy(b.data + 8 * 15, &rungs, 8); /* rung_count */
        put_hash(b);
        expect_refused(b.data, b.size, "an impossible ladder", (size_t)rungs);
        free(b.data);
    }
    free(empty.data), free(one.data);
    tally_state_close(made), tally_state_close(rung_state);
}

static void test_arguments(void **state) {
    tally_state *made = build(&shapes[1]), *loaded = made;
    bytes b = save(made);
    (void)state;
    EXPECT_STATUS(tally_state_load(NULL, NULL, b.size, &loaded), TALLY_BAD_ARGUMENT);
    EXPECT(loaded == NULL, "a refused load left something in *state");
    EXPECT_STATUS(tally_state_load(NULL, b.data, b.size, NULL), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_state_save(NULL, b.data, b.size, &b.size), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_state_save(made, b.data, b.size, NULL), TALLY_BAD_ARGUMENT);
    EXPECT_STATUS(tally_state_save(made, b.data, 0, &b.size), TALLY_NO_SPACE);
    free(b.data);
    tally_state_close(made);
}

/* States that begin or end where none can go on: every operator and type, at the last values there may be and about the
 * last boundary of leaves. What can be opened, pushed to and saved is loaded, and saved again the same. */
static void expect_again(tally_context *context, const tally_state *made) {
    tally_state *loaded;
    bytes b = save((tally_state *)(uintptr_t)made), again;
    EXPECT_OK(tally_state_load(context, b.data, b.size, &loaded));
    EXPECT(tally_state_first(loaded) == tally_state_first(made) && tally_state_count(loaded) == tally_state_count(made),
           "another run");
    again = save(loaded);
    EXPECT(again.size == b.size && memcmp(again.data, b.data, b.size) == 0, "it is saved with other bytes");
    free(b.data), free(again.data);
    tally_state_close(loaded);
}

static void test_limits(void **state) {
    const int64_t most = INT64_MAX / 64;
    subject s = {.op = -1};
    (void)state;
    while (next_subject(&s)) {
        const int64_t leaf = tally_leaf_length(s.type), boundary = most / leaf * leaf;
        const int64_t firsts[] = {most,     most - 1,     most - 2,        boundary + 1,
                                  boundary, boundary - 1, boundary - leaf, boundary - leaf - 1};
        tally_context *context = context_for(&s, TALLY_BACKEND_CPU, 1);
        for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
            const int64_t space = most - firsts[i], counts[] = {0, 1, 2, leaf - 1, leaf, leaf + 1, space, space + 1};
            for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
                tally_state *made;
                tally_array x = tally_in(data_of(s.type, SMALL_INTEGERS, counts[k]), s.type, counts[k]);
                now.segments = "at the limit of states", now.size = counts[k];
                EXPECT_OK(tally_state_open(context, s.op, s.type, firsts[i], &made));
                tally_status pushed =
                    tally_op_inputs(s.op) == 2 ? tally_state_push_pair(made, x, x) : tally_state_push(made, x);
                EXPECT_STATUS(pushed, counts[k] <= space ? TALLY_OK : TALLY_BAD_ARGUMENT);
                expect_again(context, made);
                tally_state_close(made);
            }
        }
        tally_state *beyond;
        EXPECT_STATUS(tally_state_open(context, s.op, s.type, most + 1, &beyond), TALLY_BAD_ARGUMENT);
    }
}

/* A name that a stranger chose is shown, not obeyed, by whoever prints the sentence. UTF-8 stays. */
static void test_forged_name(void **state) {
    const char name[32] = "\x1b[2Jx\r\n\tgr\xc3\xbc\xc3\x9f\xc2\x9b\x7f";
    tally_state *made = build(&shapes[1]), *loaded;
    bytes b = save(made);
    (void)state;
    memcpy(b.data + 16, name, sizeof name);
    put_hash(b);
    EXPECT_STATUS(tally_state_load(NULL, b.data, b.size, &loaded), TALLY_BAD_STATE);
    EXPECT(strstr(tally_message(), "operator \\x1b[2Jx\\x0d\\x0a\\x09gr\xc3\xbc\xc3\x9f\\xc2\\x9b\\x7f,") != NULL, "%s",
           tally_message());
    free(b.data);
    tally_state_close(made);
}

/* A state may lie at any address. */
static void test_unaligned(void **state) {
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        tally_state *made = build(&shapes[i]), *loaded;
        bytes b = save(made);
        for (size_t offset = 1; offset < 8; offset += 3) {
            char *moved = (char *)scratch(AGAIN, b.size + 8) + offset;
            size_t size;
            memcpy(moved, b.data, b.size);
            EXPECT_OK(tally_state_load(NULL, moved, b.size, &loaded));
            EXPECT_OK(tally_state_save(loaded, moved, b.size, &size));
            EXPECT(memcmp(moved, b.data, b.size) == 0, "another address gives other bytes");
            tally_state_close(loaded);
        }
        free(b.data);
        tally_state_close(made);
    }
}

/* ---- the same everywhere ---- */

/* Results and saved states of each operator, of all types, hashed: a machine, compiler or instruction set that computes
 * or writes anything else gives another number. A number changes with the canonical order or the layout of states, and
 * only then.
 * --golden prints the rows that golden.h lacks (tools/generate.sh appends them). */
typedef struct golden {
    const char *op;
    uint64_t results, states;
} golden;
static const golden wanted[] = {
#include "golden.h"
};

static const golden *golden_of(const char *op) {
    for (size_t k = 0; k < sizeof wanted / sizeof wanted[0]; k++)
        if (strcmp(wanted[k].op, op) == 0) return &wanted[k];
    return NULL;
}

/* The hashes of an operator, of which s is the first subject; s becomes the first of the next operator. False: there is
 * none. */
static bool hash_operator(subject *s, golden *made) {
    XXH3_state_t *results = XXH3_createState(), *states = XXH3_createState();
    const tally_op op = s->op;
    bool more = true;
    XXH3_64bits_reset(results), XXH3_64bits_reset(states);
    for (int trial = 0; more && s->op == op; trial++) {
        int64_t n = 2 * tally_leaf_length(s->type) + 100 + trial;
        tally_array x = tally_in(data_of(s->type, (data_class)(trial % DATA_CLASSES), n), s->type, n);
        tally_context *context = context_for(s, TALLY_BACKEND_CPU, 1);
        tally_state *sum;
        char out[64];
        tally_status status = perform(context, op, x, x, NULL, tally_out(out, TALLY_NATURAL, 1));
        EXPECT(status == TALLY_OK || status == TALLY_OVERFLOW, "%s: %s", tally_status_name(status), tally_message());
        XXH3_64bits_update(results, out, result_bytes(s));
        EXPECT_OK(tally_state_open(context, op, s->type, 3, &sum));
        EXPECT_OK(tally_op_inputs(op) == 2 ? tally_state_push_pair(sum, x, x) : tally_state_push(sum, x));
        bytes b = save(sum);
        XXH3_64bits_update(states, b.data, b.size);
        free(b.data);
        tally_state_close(sum);
        more = next_subject(s);
    }
    *made = (golden){tally_op_name(op), XXH3_64bits_digest(results), XXH3_64bits_digest(states)};
    XXH3_freeState(results), XXH3_freeState(states);
    return more;
}

static void test_golden(void **state) {
    subject s = {.op = -1};
    golden made;
    (void)state;
    if (seed != 20240607) skip();
    for (bool more = next_subject(&s); more;) {
        more = hash_operator(&s, &made);
        const golden *want = golden_of(made.op);
        EXPECT(want != NULL, "golden.h has no row of %s: run tools/generate.sh", made.op);
        EXPECT(made.results == want->results, "results of %s hash to 0x%" PRIx64, made.op, made.results);
        EXPECT(made.states == want->states, "states of %s hash to 0x%" PRIx64, made.op, made.states);
    }
}

static int print_golden(void) {
    subject s = {.op = -1};
    golden made;
    for (bool more = next_subject(&s); more;) {
        more = hash_operator(&s, &made);
        if (golden_of(made.op) == NULL)
            printf("    {\"%s\", 0x%" PRIx64 ", 0x%" PRIx64 "},\n", made.op, made.results, made.states);
    }
    return 0;
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flips),         cmocka_unit_test(test_truncations),   cmocka_unit_test(test_forged_bytes),
        cmocka_unit_test(test_forged_fields), cmocka_unit_test(test_forged_ladder), cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_limits),        cmocka_unit_test(test_forged_name),   cmocka_unit_test(test_unaligned),
        cmocka_unit_test(test_golden),
    };
    int skipped = begin_program(argc, argv);
    if (argc > 1 && strcmp(argv[1], "--golden") == 0) return print_golden();
    return skipped ? skipped : cmocka_run_group_tests(tests, NULL, NULL);
}
