/* From what the caller named (operator, type, options) to what is to be run. */
#include <string.h>

#include "internal.h"
#include "kernel_list.h"

/* Where a kernel lies in a backend's tables. The compiler knows no KERNEL_range where CMake found no row of range. */
enum {
#define TALLY_ROW(name) KERNEL_##name,
    TALLY_KERNELS(TALLY_ROW) KERNEL_END
#undef TALLY_ROW
};
enum {
#define TALLY_ROW(name) EXACT_KERNEL_##name,
    TALLY_EXACT_KERNELS(TALLY_ROW) EXACT_KERNEL_END
#undef TALLY_ROW
};

static const int kernel_numbers[] = {
#define TALLY_ROW(id, name, kernel, inputs, on, gives, order, empty, nans, what) KERNEL_##kernel,
    TALLY_OPERATORS(TALLY_ROW)
#undef TALLY_ROW
};

/* Of operators made of sums: the kernel that adds floats exactly for them, and the last step, TALLY_LAST_... */
static const struct {
    bool is_made_of_sums;
    int kernel, last;
} exact_sums[TALLY_OP_END] = {
#define TALLY_ROW(id, kernel, last) [TALLY_##id] = {true, EXACT_KERNEL_##kernel, last},
    TALLY_EXACT_SUMS(TALLY_ROW)
#undef TALLY_ROW
};

static const tally__kernel_set *find_kernels(tally__spec *spec) {
    const tally__backend *backend = tally__host_backend_of(&spec->options);
    spec->kernel_number = spec->exact ? exact_sums[spec->op].kernel : kernel_numbers[spec->op];
    return spec->exact ? backend->exact_kernels(spec->kernel_number) : backend->kernels(spec->kernel_number);
}

static const tally_format *format_of(tally_type type) {
    static const tally_format formats[] = {TALLY_FORMAT_f16, TALLY_FORMAT_bf16, TALLY_FORMAT_f32, TALLY_FORMAT_f64};
    return type >= TALLY_F16 && type <= TALLY_F64 ? &formats[type - TALLY_F16] : NULL;
}

/* A sum that wraps around has its 64 bits before all else; natural results of 64 bits are what narrower types are
 * clamped from. */
static void aim_integers(tally__spec *spec, tally_type wanted) {
    if (spec->result_type != TALLY_F64 && spec->final.wraps) return;
    if (format_of(wanted) != NULL) {
        spec->final.as = TALLY_AS_FLOAT;
        spec->final.format = *format_of(wanted);
        spec->result_type = TALLY_F64; /* it holds the values of all of them */
    } else if (wanted == TALLY_U64 && spec->result_type == TALLY_I64) {
        spec->final.as = TALLY_AS_U64;
        spec->result_type = TALLY_U64;
    }
}

void tally__aim(tally__spec *spec, tally_type wanted) {
    if (spec->whole_sums && spec->result_type != TALLY_STRUCT && wanted != spec->result_type)
        aim_integers(spec, wanted);
    if (!spec->exact || spec->result_type == TALLY_STRUCT || format_of(wanted) == NULL) return;
    spec->final.format = *format_of(wanted);
    spec->result_type = wanted == TALLY_F64 ? TALLY_F64 : TALLY_F32; /* f32 holds the values of f16 and bf16 */
    spec->result_bytes = tally__result_bytes(spec->kernel, &spec->final);
}

/* By the mask: bool 1, signed 2, unsigned 4, floats 8. */
static const char *types_in_words(int on) {
    static const char *const words[] = {
        "nothing",
        "bool",
        "signed integers",
        "bool and signed integers",
        "unsigned integers",
        "bool and unsigned integers",
        "integers",
        "bool and integers",
        "floats",
        "bool and floats",
        "signed integers and floats",
        "bool, signed integers and floats",
        "unsigned integers and floats",
        "bool, unsigned integers and floats",
        "integers and floats",
        "all types",
    };
    _Static_assert(TALLY_ON_ALL == 15, "a class of types has no word");
    return words[on & TALLY_ON_ALL];
}

static tally_status specify_built_in(const tally__operator_row *row, tally__spec *spec) {
    const int class = tally__type_class(spec->type), last = exact_sums[spec->op].last;
    const bool sums = exact_sums[spec->op].is_made_of_sums;
    TALLY_CHECK(class != 0, BAD_TYPE, "%s needs one of the types bool, i8 to i64, u8 to u64, f16, bf16, f32, f64",
                row->name);
    TALLY_CHECK((row->on & class) != 0, BAD_TYPE, "%s is not defined for %s, only for %s", row->name,
                tally_type_name(spec->type), types_in_words(row->on));
    TALLY_CHECK(spec->options.nan != TALLY_NAN_TOTAL || class != TALLY_CLASS_FLOAT || row->nans == TALLY_NANS_ORDER,
                BAD_ARGUMENT,
                "%s cannot put NaNs in total order: that is for operators that compare values, as min and argmax",
                row->name);
    spec->name = row->name;
    spec->inputs = row->inputs;
    spec->exact = sums && class == TALLY_CLASS_FLOAT && spec->options.accuracy != TALLY_FAST;
    spec->whole_sums = sums && class != TALLY_CLASS_FLOAT;
    spec->kernel = &find_kernels(spec)->of[spec->type][spec->options.nan];
    spec->final.ddof = spec->options.ddof;
    spec->final.root = last == TALLY_LAST_ROOT;
    spec->final.mean = last == TALLY_LAST_MEAN;
    spec->final.wraps = spec->options.overflow == TALLY_OVERFLOW_WRAPS;
    spec->components = row->gives == TALLY_GIVES_PAIR ? 2 : 1;
    spec->result_type = tally__natural_type(row->gives, spec->type);
    spec->refuses_empty = row->empty == TALLY_EMPTY_IS_REFUSED;
    spec->order_shows = !spec->exact && (row->order == TALLY_ORDER_FIXED ||
                                         (row->order == TALLY_ORDER_FREE_INTS && class == TALLY_CLASS_FLOAT));
    if (spec->whole_sums) spec->final.format = *format_of(TALLY_F64);
    if (spec->exact && spec->result_type != TALLY_STRUCT) spec->final.format = *format_of(spec->result_type);
    spec->result_bytes = tally__result_bytes(spec->kernel, &spec->final);
    return TALLY_OK;
}

static tally_status specify_user(const tally__user_operator *user, tally__spec *spec) {
    TALLY_CHECK(spec->type == user->definition.input, BAD_TYPE, "the operator %s takes %s", user->name,
                user->definition.input == TALLY_STRUCT ? "its struct (TALLY_STRUCT)"
                                                       : tally_type_name(user->definition.input));
    spec->user = user;
    spec->name = user->name;
    spec->inputs = 1;
    spec->kernel = &user->kernel;
    spec->components = 1;
    spec->result_type = user->definition.result;
    spec->result_bytes = user->definition.result_size;
    spec->refuses_empty = false;
    spec->order_shows = true;
    return TALLY_OK;
}

tally_status tally__specify(const tally_context *context, tally_op op, tally_type type, tally__spec *spec) {
    const tally__operator_row *row = tally__operator(op);
    context = tally__context(context);
    memset(spec, 0, sizeof *spec);
    spec->op = op;
    spec->type = type;
    spec->options = context->options;
    spec->allocator = context->allocator;
    spec->context = context;
    if (row != NULL) return specify_built_in(row, spec);
    TALLY_CHECK(op >= TALLY_OP_USER && op - TALLY_OP_USER < context->user_count, BAD_ARGUMENT,
                "operator %d is neither built in nor defined in this context", (int)op);
    return specify_user(context->users[op - TALLY_OP_USER], spec);
}

tally_status tally__check_callbacks(const tally__spec *spec, bool on_host) {
    TALLY_CHECK(!on_host || spec->user == NULL || spec->user->definition.lift != NULL, UNSUPPORTED,
                "%s is defined by text only, which GPUs compile: the CPU needs it as callbacks as well", spec->name);
    return TALLY_OK;
}

tally_status tally_result_type(const tally_context *context, tally_op op, tally_type type, tally_type *result,
                               size_t *result_bytes) {
    tally__spec spec;
    TALLY_TRY(tally__specify(context, op, type, &spec));
    if (result != NULL) *result = spec.result_type;
    if (result_bytes != NULL) *result_bytes = spec.result_bytes;
    return TALLY_OK;
}
