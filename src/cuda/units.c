/* Translation units: the texts of kernels/production that are compiled for a spec, and the macros of each. */
#define _GNU_SOURCE
#include "cuda/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/gpu.h"
#include "gpu_merge.h"
#include "kernel_list.h"
#include "partition/partition.h"
#include "device/work.h"
#include "merge/merge.h"

static const char *const kernel_names[] = {
#define TALLY_ROW(name) #name,
    TALLY_KERNELS(TALLY_ROW)};
static const char *const exact_names[] = {TALLY_EXACT_KERNELS(TALLY_ROW)};
#undef TALLY_ROW

static const char *type_word(tally_type type) { return type == TALLY_BOOL ? "boolean" : tally_type_name(type); }

tally_nan tally__nan_of(const tally__spec *spec) {
    return tally__type_class(spec->type) == TALLY_CLASS_FLOAT ? spec->options.nan : TALLY_NAN_PROPAGATE;
}

/* A form may have a unit of each kind. */
typedef enum unit_kind { ORDERED, EXACT, TYPED, GENERAL, KINDS } unit_kind;

static const struct form {
    const char *text, *defines; /* text NULL: there is no such unit; defines "": it defines nothing */
    tally__entry first;
} forms[KINDS][TALLY_FORMS] = {
#define TALLY_UNIT(kind, ID, text, defines) [kind][TALLY_FORM_##ID] = {text, #defines, TALLY_FIRST_##kind##_##ID},
#define TALLY_ROW(kind, ID, name, threads, work)
    TALLY_FORM_UNITS(TALLY_UNIT, TALLY_ROW)
#undef TALLY_UNIT
#undef TALLY_ROW
};

#define TALLY_UNIT(kind, ID, text, defines)
static const struct entry {
    const char *name;
    unit_kind kind;
    tally__form form;
    int threads; /* of a block */
    size_t work_bytes;
} entries[TALLY_ENTRIES] = {
#define TALLY_ROW(kind, ID, name, threads, work) \
    [TALLY_ENTRY_##name] = {#name, kind, TALLY_FORM_##ID, threads, sizeof(work)},
    TALLY_FORM_UNITS(TALLY_UNIT, TALLY_ROW)
#undef TALLY_ROW
#undef TALLY_UNIT
};

bool tally__is_general(tally__form form) { return forms[GENERAL][form].text != NULL; }

tally__purpose tally__purpose_of(tally__form form) {
    static const tally__purpose purposes[TALLY_FORMS] = {
#define TALLY_ROW(ID, of) TALLY_OF_##of,
        TALLY_FORM_IDS(TALLY_ROW)
#undef TALLY_ROW
    };
    return purposes[form];
}

static unit_kind kind_of(const tally__spec *spec, tally__form form) {
    return tally__is_general(form) ? GENERAL : spec->user == NULL && spec->exact ? EXACT : ORDERED;
}

void tally__name_entry(const tally__unit *unit, tally__entry entry, char name[TALLY_MOST_ENTRY]) {
    snprintf(name, TALLY_MOST_ENTRY, "tally_%s%s", entries[entry].name, unit->problem);
}

size_t tally__work_bytes(tally__entry entry) { return entries[entry].work_bytes; }

/* The unit's text and kernels; unit->problem is known. */
static void begin_unit(tally__unit *unit, unit_kind kind, tally__form form) {
    const struct form *of = &forms[kind][form];
    unit->form = form;
    unit->text = of->text;
    unit->first = of->first;
    for (int k = of->first; k < TALLY_ENTRIES && entries[k].kind == kind && entries[k].form == form; k++)
        unit->threads[unit->entries++] = entries[k].threads;
    tally__name_entry(unit, unit->first, unit->entry);
}

tally__merge_shape tally__merge_shape_of(int64_t bytes) {
    tally__merge_shape shape = {TALLY_MERGE_EACH_OF(bytes), TALLY_MERGE_FAN_OF(bytes), bytes < 4 ? 4 : 5},
                       given = {0, 0, 0};
    const char *named = secure_getenv("TALLY_MERGE_SHAPE");
    if (named == NULL || sscanf(named, "%d,%d,%d", &given.each, &given.fan, &given.blocks) != 3) return shape;
    if (given.each > 0 && given.each <= 32) shape.each = given.each;
    if (given.fan == 2 || given.fan == 4 || given.fan == 8) shape.fan = given.fan;
    if (given.blocks > 0 && given.blocks <= 8) shape.blocks = given.blocks;
    return shape;
}

static void merge_unit(const tally__spec *spec, tally__form form, tally__unit *unit) {
    const int bytes = (int)tally_type_size(spec->type),
              reading = (int)tally__merge_reading_of(spec->type, tally__nan_of(spec) == TALLY_NAN_TOTAL);
    const tally__merge_shape shape = tally__merge_shape_of(bytes);
    unit->type = spec->type;
    unit->nan = tally__nan_of(spec);
    snprintf(unit->problem, sizeof unit->problem, "_%d_%d", 8 * bytes, reading);
    begin_unit(unit, TYPED, form);
    snprintf(unit->preface, sizeof unit->preface,
             "/* of %s: %s */\n#define TALLY_MERGE_BITS %d\n#define TALLY_MERGE_READING %d\n"
             "#define TALLY_MERGE_FAN %d\n#define TALLY_MERGE_EACH %d\n#define TALLY_MERGE_BLOCKS %d\n",
             tally_type_name(spec->type), unit->text, 8 * bytes, reading,
             form == TALLY_FORM_MERGE_TWO    ? 2
             : form == TALLY_FORM_MERGE_FOUR ? 4
                                             : 8,
             shape.each, shape.blocks);
}

/* The operator's key names the kernel, so that operators with different texts have different kernels. */
static tally_status unit_of_user(const tally__spec *spec, tally__form form, tally__unit *unit) {
    const tally__user_operator *user = spec->user;
    const tally_operator *d = &user->definition;
    const char *word = d->input == TALLY_STRUCT ? "structure" : type_word(d->input);
    TALLY_CHECK(d->text != NULL, UNSUPPORTED,
                "%s is defined by callbacks only: a GPU needs it as text as well (tally_operator.text), or the array "
                "and output in host memory",
                user->name);
    unit->kernel = TALLY_USERS;
    unit->type = spec->type;
    unit->user_text = d->text;
    memcpy(unit->user_key, user->key, sizeof unit->user_key);
    snprintf(unit->problem, sizeof unit->problem, "_%s_%s_0", user->key, word);
    begin_unit(unit, ORDERED, form);
    snprintf(unit->preface, sizeof unit->preface,
             "/* %s, of the caller's own */\n#define TALLY_TYPE %s\n#define TALLY_NAN 0\n#define TALLY_KERNEL %s\n"
             "#define TALLY_KERNEL_FILE \"user/operator.h\"\n#define TALLY_KERNEL_ORDER %d\n"
             "#define TALLY_KERNEL_INPUTS 1\n"
             "#define TALLY_USER_TEXT \"user.h\"\n#define TALLY_USER_ACC %d\n#define TALLY_USER_RESULT %d\n#define "
             "TALLY_USER_KEEPS_ORDER %d\n"
             "#define TALLY_STRUCT_BYTES %d\n",
             user->name, word, user->key, TALLY_ORDER_FIXED, (int)d->acc_size, (int)d->result_size, d->commutative == 0,
             (int)d->input_size);
    return TALLY_OK;
}

bool tally__is_sum_alone(const tally__spec *spec) {
    return !tally__geometry_of(spec).adds_products && !tally__geometry_of(spec).keeps_keys;
}
bool tally__has_form(const tally__spec *spec, tally__form form) {
    if (spec->user != NULL) return form == TALLY_FORM_WHOLE || form == TALLY_FORM_SEGMENTS || form == TALLY_FORM_SPANS;
    if ((form == TALLY_FORM_NODES || form == TALLY_FORM_PART_NODES) && spec->order_shows) return false;
    if (spec->exact && form == TALLY_FORM_TILES)
        return tally__geometry_of(spec).adds_products || tally__geometry_of(spec).value_bytes <= 4;
    if (form == TALLY_FORM_STRIPES && !spec->exact && tally__geometry_of(spec).stripe_rows == 0) return false;
    return forms[spec->exact ? EXACT : ORDERED][form].text != NULL;
}

tally_status tally__unit_of(const tally__spec *spec, tally__form form, tally__unit *unit) {
    tally_nan nan;
    const tally__operator_row *row;
    const char *word, *name, *defines;
    const unit_kind kind = kind_of(spec, form);
    memset(unit, 0, sizeof *unit);
    if (tally__is_general(form)) {
        begin_unit(unit, GENERAL, form);
        snprintf(unit->preface, sizeof unit->preface, "/* of all operators: %s */\n", unit->text);
        return TALLY_OK;
    }
    if (forms[TYPED][form].text != NULL) return merge_unit(spec, form, unit), TALLY_OK;
    if (form == TALLY_FORM_SEGMENTS) unit->buffer_bytes = TALLY_TILE_BUFFER((size_t)spec->inputs);
    if (spec->user != NULL) return unit_of_user(spec, form, unit);
    nan = tally__nan_of(spec);
    row = tally__operator(spec->op);
    word = type_word(spec->type);
    name = spec->exact ? exact_names[spec->kernel_number] : kernel_names[spec->kernel_number];
    unit->kernel = spec->kernel_number;
    unit->type = spec->type;
    unit->nan = nan;
    unit->exact = spec->exact;
    defines = forms[kind][form].defines;
    snprintf(unit->problem, sizeof unit->problem, "_%s_%s_%d", name, word, (int)nan);
    begin_unit(unit, kind, form);
    snprintf(unit->preface, sizeof unit->preface,
             "/* %s of %s, %s */\n#define TALLY_TYPE %s\n#define TALLY_NAN %d\n#define TALLY_KERNEL %s\n#define "
             "TALLY_KERNEL_FILE \"%s/%s.h\"\n"
             "#define TALLY_KERNEL_ORDER %d\n#define TALLY_KERNEL_INPUTS %d\n%s%s%s",
             name, tally_type_name(spec->type), spec->exact ? "exact" : "in canonical order", word, (int)nan, name,
             spec->exact ? "exact" : "operators", name, row->order, row->inputs, defines[0] != 0 ? "#define " : "",
             defines, defines[0] != 0 ? " 1\n" : "");
    return TALLY_OK;
}
