/* What the unit tests share: a seeded generator, data of every class, values in memory at any place and stride, and a
 * scene that is printed when an assertion fails. */
#ifndef TALLY_TESTS_SUPPORT_H
#define TALLY_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tally/tally.h"

/* ---- the run ---- */

extern bool quick;    /* --quick: for sanitizers and emulators */
extern uint64_t seed; /* --seed N */

enum { SKIPPED = 77 }; /* what ctest takes for "skipped" */

/* Reads the arguments; returns SKIPPED, said loudly, when TALLY_ISA names what this machine lacks, else 0. */
int begin_program(int argc, char **argv);

/* splitmix64: any seed is a good one. */
uint64_t next_random(uint64_t *state);
int64_t random_below(uint64_t *state, int64_t limit);

/* ---- the scene ---- */

/* What is being tested; printed by every failure. */
typedef struct scene {
    tally_op op;
    tally_type type, index_type;
    tally_nan nan;
    tally_accuracy accuracy;
    int ddof, threads;
    const char *data, *segments, *layout;
    int64_t size, segment, outer, length, inner;
} scene;
extern scene now;

/* Prints the scene and the sentence, then fails the test. */
_Noreturn void fail_at(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
void expect_status_at(const char *file, int line, tally_status got, tally_status wanted, const char *call);
void expect_bits_at(const char *file, int line, const void *got, const void *wanted, size_t bytes, const char *what);

#define FAIL(...) fail_at(__FILE__, __LINE__, __VA_ARGS__)
#define EXPECT(condition, ...)               \
    do {                                     \
        if (!(condition)) FAIL(__VA_ARGS__); \
    } while (0)
/* A status other than TALLY_OK comes with a message. */
#define EXPECT_STATUS(call, wanted) expect_status_at(__FILE__, __LINE__, (call), (wanted), #call)
#define EXPECT_OK(call) EXPECT_STATUS(call, TALLY_OK)
/* Compares the bytes of one result and prints both when they differ. */
#define EXPECT_BITS(got, wanted, bytes, what) expect_bits_at(__FILE__, __LINE__, (got), (wanted), (bytes), (what))

/* ---- what is reduced ---- */

typedef struct subject {
    tally_op op;
    tally_type type;
    tally_nan nan;
    int ddof;
    tally_accuracy accuracy; /* TALLY_FAST where that is another thing than TALLY_BEST */
} subject;
bool is_exact_sum(const subject *s);
bool order_shows(const subject *s);

/* The next operator, type and policy that go together; begin with op -1. Integers have no NaNs and are visited once. */
bool next_subject(subject *s);
/* Makes next_subject visit every `of`-th alone, from number `share` on: for programs that share the work. */
void share_subjects(int share, int of);
bool is_float(tally_type type);
bool is_signed(tally_type type);
size_t result_bytes(const subject *s);
/* A context with these options, made once and kept. */
tally_context *context_for(const subject *s, tally_backend backend, int threads);
/* The call for the operator's number of inputs; segmentation may be NULL, y is for operators of two. */
tally_status perform(tally_context *context, tally_op op, tally_array x, tally_array y, const tally_segments *segments,
                     tally_output out);

/* ---- data ---- */

typedef enum data_class {
    SMALL_INTEGERS, /* exact in every type */
    ANY_BITS,
    SPECIALS,    /* NaNs with payloads and infinities among numbers; extremes of integers */
    MINUS_ZEROS, /* nothing else */
    MIXED_ZEROS,
    SUBNORMALS,
    CANCELLATION, /* large numbers of both signs, small rests */
    TIES,         /* few distinct values */
    ALL_EQUAL,
    DATA_CLASSES
} data_class;
extern const char *const class_names[DATA_CLASSES];
/* What messages say from now on: these, and nothing else. */
void set_scene(const subject *s, data_class class, int64_t size);

/* At least `count` values of that class, side by side; the same ones for one seed. Kept until the program ends. */
const void *data_of(tally_type type, data_class class, int64_t count);

/* f16 and bf16 by the obvious formula: fraction 10, bias 15 and fraction 7, bias 127. */
uint16_t slow_narrow(long double value, int fraction, int bias);
double slow_widen(uint16_t bits, int fraction, int bias);
/* A value in memory as a number: exact for all types but the largest i64 and u64 (long double of 64 bits is exact for
 * these). */
long double number_at(tally_type type, const void *values, int64_t i);
void put_number(tally_type type, void *values, int64_t i, double number);

/* ---- layouts ---- */

/* Where values lie: `offset` bytes behind a 64-byte boundary, stride as tally_array has it. */
typedef struct layout {
    const char *name;
    int offset;
    int times, plus; /* stride = times * value size + plus */
} layout;
enum { LAYOUTS = 6 };
extern const layout layouts[LAYOUTS];

/* Copies values to `memory` (layout_bytes of them) and describes them; a negative stride puts the first value last. */
size_t layout_bytes(const layout *l, size_t value_bytes, int64_t count);
tally_array lay_out(const layout *l, const void *values, tally_type type, int64_t count, void *memory);

/* 64-byte aligned scratch memory that grows and is never given back; each number has its own. */
void *scratch(int number, size_t bytes);

#endif
