/* Translation units: the texts of kernels/production that are compiled for a spec, and what each is told. */
#include "cuda/units.h"

#include <stdio.h>
#include <string.h>

#include "kernel_list.h"
#include "segments/cut.h"
#include "device/work.h"

static const char *const kernel_names[] = {
#define TALLY_ROW(name) #name,
    TALLY_KERNELS(TALLY_ROW)};
static const char *const exact_names[] = {TALLY_EXACT_KERNELS(TALLY_ROW)};
#undef TALLY_ROW

static const char *type_word(tally_type type) { return type == TALLY_BOOL ? "boolean" : tally_type_name(type); }

tally_nan tally__nan_of(const tally__spec *spec) {
    return tally__type_class(spec->type) == TALLY_CLASS_FLOAT ? spec->options.nan : TALLY_NAN_PROPAGATE;
}

static const struct form {
    const char *name, *more[2], *text, *defines; /* "": there is none; text NULL: there is no such form */
} ordered_forms[TALLY_FORMS] =
    {
#define TALLY_ROW(ID, name, second, third, text, defines) \
    [TALLY_FORM_##ID] = {#name, {#second, #third}, text, #defines},
        TALLY_ORDERED_FORMS(TALLY_ROW)},
  exact_forms[TALLY_FORMS] = {TALLY_EXACT_FORMS(TALLY_ROW)};
#undef TALLY_ROW

/* Of no operator: their first kernel and the others. */
static const struct general {
    const char *text, *says, *entries[1 + TALLY_MOST_MORE];
} generals[TALLY_FORMS] = {
    [TALLY_FORM_CUT] = {"production/cut.h",
                        "what prepares segments",
                        {"tally_cut_edges", "tally_cut_sums", "tally_cut_scan", "tally_cut_lengths", "tally_cut_shares",
                         "tally_cut_segment_ids", "tally_cut_check", "tally_cut_segment_id_edges"}},
    [TALLY_FORM_GROUPS] = {"production/groups.h",
                           "what arranges vectors by segment",
                           {"tally_group_keys", "tally_group_digits", "tally_group_move", "tally_group_lengths",
                            "tally_group_spread", "tally_group_gather"}},
    [TALLY_FORM_MERGE] = {
        "production/merge.h",
        "what merges sorted arrays",
        {"tally_merge_8", "tally_merge_16", "tally_merge_32", "tally_merge_64", "tally_merge_check"}}};

bool tally__is_general(tally__form form) { return generals[form].text != NULL; }

static void general_unit(tally__form form, tally__unit *unit) {
    const struct general *of = &generals[form];
    unit->form = form;
    unit->text = of->text;
    snprintf(unit->entry, sizeof unit->entry, "%s", of->entries[0]);
    for (int k = 0; k < TALLY_MOST_MORE && of->entries[1 + k] != NULL; k++)
        snprintf(unit->more[k], sizeof unit->more[k], "%s", of->entries[1 + k]);
    snprintf(unit->preface, sizeof unit->preface, "/* %s */\n", of->says);
}

static void name_entries(tally__unit *unit, const struct form *of, const char *kernel, const char *type, int nan) {
    snprintf(unit->entry, sizeof unit->entry, "tally_%s_%s_%s_%d", of->name, kernel, type, nan);
    for (int k = 0; k < 2; k++)
        if (of->more[k][0] != 0)
            snprintf(unit->more[k], sizeof unit->more[k], "tally_%s_%s_%s_%d", of->more[k], kernel, type, nan);
}

/* Its key names the kernel: nothing else may be told of two operators whose texts differ. */
static tally_status unit_of_user(const tally__spec *spec, tally__form form, tally__unit *unit) {
    const tally__user_operator *user = spec->user;
    const tally_operator *d = &user->definition;
    const char *word = d->input == TALLY_STRUCT ? "structure" : type_word(d->input);
    TALLY_CHECK(d->text != NULL, UNSUPPORTED,
                "%s is defined by callbacks only: a GPU needs it as text as well (tally_operator.text), or the array "
                "and output in host memory",
                user->name);
    unit->kernel = TALLY_USERS;
    unit->form = form;
    unit->type = spec->type;
    unit->text = ordered_forms[form].text;
    unit->user_text = d->text;
    memcpy(unit->user_key, user->key, sizeof unit->user_key);
    name_entries(unit, &ordered_forms[form], user->key, word, 0);
    snprintf(unit->preface, sizeof unit->preface,
             "/* %s, of the caller's own */\n#define TALLY_TYPE %s\n#define TALLY_NAN 0\n#define TALLY_KERNEL %s\n"
             "#define TALLY_KERNEL_FILE \"accumulators/user.h\"\n#define TALLY_KERNEL_ORDER %d\n"
             "#define TALLY_KERNEL_INPUTS 1\n"
             "#define TALLY_USER_TEXT \"user.h\"\n#define TALLY_USER_ACC %d\n#define TALLY_USER_RESULT %d\n#define "
             "TALLY_USER_KEEPS_ORDER %d\n"
             "#define TALLY_STRUCT_BYTES %d\n",
             user->name, word, user->key, TALLY_ORDER_FIXED, (int)d->acc_size, (int)d->result_size, d->commutative == 0,
             (int)d->input_size);
    return TALLY_OK;
}

bool tally__is_sum_alone(const tally__spec *spec) { return !spec->kernel->adds_products && !spec->kernel->keeps_keys; }
size_t tally__segments_buffer(const tally__spec *spec) { return TALLY_TILE_BUFFER((size_t)spec->inputs); }
size_t tally__prefix_buffer(const tally__spec *spec, bool is_wide) {
    const tally__kernel *kernel = spec->kernel;
    return (size_t)TALLY_PREFIX_BUFFER((int)kernel->value_bytes, spec->inputs, kernel->adds_values,
                                       kernel->adds_products, kernel->keeps_keys, is_wide);
}

bool tally__has_form(const tally__spec *spec, tally__form form) {
    if (spec->user != NULL) return form == TALLY_FORM_WHOLE || form == TALLY_FORM_SEGMENTS;
    if (spec->exact && form == TALLY_FORM_SEGMENTS) return tally__is_sum_alone(spec);
    if ((form == TALLY_FORM_NODES || form == TALLY_FORM_PART_NODES) && spec->order_shows) return false;
    if (form == TALLY_FORM_WIDE && spec->type == TALLY_F16) return false; /* all of which few levels hold */
    return (spec->exact ? exact_forms : ordered_forms)[form].text != NULL;
}

static bool is_prefix(const tally__spec *spec, tally__form form) {
    return form == TALLY_FORM_PREFIX || form == TALLY_FORM_WIDE || (spec->exact && form == TALLY_FORM_COLUMNS);
}

tally_status tally__unit_of(const tally__spec *spec, tally__form form, tally__unit *unit) {
    tally_nan nan;
    const tally__operator_row *row;
    const struct form *of;
    const char *word, *name;
    memset(unit, 0, sizeof *unit);
    if (tally__is_general(form)) return general_unit(form, unit), TALLY_OK;
    if (spec == NULL) {
        *unit = (tally__unit){.preface = "/* results to the type asked for */\n",
                              .text = "production/convert.h",
                              .entry = "tally_convert",
                              .kernel = TALLY_CONVERTER};
        return TALLY_OK;
    }
    if (form == TALLY_FORM_SEGMENTS)
        unit->shared_bytes = tally__segments_buffer(spec), unit->threads = TALLY_SEGMENTS_BLOCK;
    if (form == TALLY_FORM_FLAT) unit->threads = TALLY_FLAT_THREADS / spec->inputs;
    if (is_prefix(spec, form)) {
        unit->shared_bytes = tally__prefix_buffer(spec, form == TALLY_FORM_WIDE);
        unit->threads = TALLY_PREFIX_THREADS_OF(spec->kernel->value_bytes, form == TALLY_FORM_WIDE);
    }
    if (spec->user != NULL) return unit_of_user(spec, form, unit);
    nan = tally__nan_of(spec);
    row = tally__operator(spec->op);
    word = type_word(spec->type);
    name = spec->exact ? exact_names[spec->kernel_number] : kernel_names[spec->kernel_number];
    unit->kernel = spec->kernel_number;
    unit->form = form;
    unit->type = spec->type;
    unit->nan = nan;
    unit->exact = spec->exact;
    of = &(spec->exact ? exact_forms : ordered_forms)[form];
    unit->text = of->text;
    name_entries(unit, of, name, word, (int)nan);
    snprintf(unit->preface, sizeof unit->preface,
             "/* %s of %s, %s */\n#define TALLY_TYPE %s\n#define TALLY_NAN %d\n#define TALLY_KERNEL %s\n#define "
             "TALLY_KERNEL_FILE \"%s/%s.h\"\n"
             "#define TALLY_KERNEL_ORDER %d\n#define TALLY_KERNEL_INPUTS %d\n%s%s%s",
             name, tally_type_name(spec->type), spec->exact ? "exact" : "in canonical order", word, (int)nan, name,
             spec->exact ? "exact" : "operators", name, row->order, row->inputs, of->defines[0] != 0 ? "#define " : "",
             of->defines, of->defines[0] != 0 ? " 1\n" : "");
    return TALLY_OK;
}
