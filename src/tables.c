/* The tables of include/tally/tables.h as data, and questions about them. */
#include <string.h>

#include "internal.h"

static const tally__operator_row operators[] = {
#define TALLY_ROW(id, name, kernel, inputs, on, gives, order, empty, nans, what) \
    {#name, #kernel, what, inputs, on, gives, order, empty, nans},
    TALLY_OPERATORS(TALLY_ROW)
#undef TALLY_ROW
};

static const struct {
    const char *name;
    size_t bytes;
    int class;
} types[] = {{NULL, 0, 0},
#define TALLY_ROW(id, name, numpy, bytes, class) {#name, bytes, class},
             TALLY_TYPES(TALLY_ROW)
#undef TALLY_ROW
};

static const struct {
    tally_status status;
    const char *name;
} statuses[] = {
#define TALLY_ROW(id, number, sentence) {TALLY_##id, #id},
    TALLY_STATUSES(TALLY_ROW)
#undef TALLY_ROW
};

const tally__operator_row *tally__operator(tally_op op) { return op >= 0 && op < TALLY_OP_END ? &operators[op] : NULL; }

static bool is_table_type(tally_type type) { return (int)type > TALLY_NATURAL && type < TALLY_STRUCT; }

int tally__type_class(tally_type type) { return is_table_type(type) ? types[type].class : 0; }

tally_type tally__natural_type(int gives, tally_type input) {
    int class = tally__type_class(input);
    tally_type real = input == TALLY_F16 || input == TALLY_BF16 ? TALLY_F32 : input;
    switch (gives) {
    case TALLY_GIVES_WIDE:
        if (class == TALLY_CLASS_FLOAT) return real;
        return class == TALLY_CLASS_UINT ? TALLY_U64 : TALLY_I64;
    case TALLY_GIVES_INDEX:
    case TALLY_GIVES_COUNT: return TALLY_I64;
    case TALLY_GIVES_TRUTH: return TALLY_BOOL;
    case TALLY_GIVES_REAL: return class == TALLY_CLASS_FLOAT ? real : TALLY_F64;
    case TALLY_GIVES_MAGNITUDE: return class == TALLY_CLASS_FLOAT ? real : TALLY_U64;
    case TALLY_GIVES_STATS: return TALLY_STRUCT;
    default: return input; /* SAME, PAIR */
    }
}

bool tally__gives_index(tally_op op) {
    const tally__operator_row *row = tally__operator(op);
    return row != NULL && row->gives == TALLY_GIVES_INDEX;
}

const char *tally_op_name(tally_op op) {
    const tally__operator_row *row = tally__operator(op);
    return row ? row->name : NULL;
}
const char *tally_op_summary(tally_op op) {
    const tally__operator_row *row = tally__operator(op);
    return row ? row->summary : NULL;
}
int tally_op_inputs(tally_op op) {
    const tally__operator_row *row = tally__operator(op);
    return row ? row->inputs : 0;
}
tally_op tally_op_from_name(const char *name) {
    for (tally_op op = 0; name != NULL && op < TALLY_OP_END; op++)
        if (strcmp(operators[op].name, name) == 0) return op;
    return TALLY_OP_END;
}
const char *tally_type_name(tally_type type) { return is_table_type(type) ? types[type].name : NULL; }
tally_type tally_type_from_name(const char *name) {
    for (int type = TALLY_NATURAL + 1; name != NULL && type < TALLY_STRUCT; type++)
        if (strcmp(types[type].name, name) == 0) return (tally_type)type;
    return TALLY_NATURAL;
}
size_t tally_type_size(tally_type type) { return is_table_type(type) ? types[type].bytes : 0; }
int64_t tally_leaf_length(tally_type type) {
    return is_table_type(type) ? TALLY_LEAF_BYTES / (int64_t)types[type].bytes : 0;
}
const char *tally_status_name(tally_status status) {
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].status == status) return statuses[i].name;
    return NULL;
}

#define TALLY_TEXT_(x) #x
#define TALLY_TEXT(x) TALLY_TEXT_(x)
const char *tally_version(void) {
    return TALLY_TEXT(TALLY_VERSION_MAJOR) "." TALLY_TEXT(TALLY_VERSION_MINOR) "." TALLY_TEXT(TALLY_VERSION_PATCH);
}
