/* The table, the operators, and the texts that NVRTC is given. */
#include "gallery/host/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/texts.h"
#include "kernel_list.h"

/* ---- the table ---- */

/* The table has matrices of 32 rows of 32. */
#define TALLY_USUAL_SIZES(number, each, threads) \
    { (each) == 8 * (threads) ? 8 : 0, TALLY_FOLDS_MATRIX(number) ? 32 : 0, TALLY_FOLDS_MATRIX(number) ? 32 : 0 }
enum { USUAL_MATRIX_ELEMENTS = 32 * (32 + 1) };

const tally__gallery_row tally__gallery[] = {
#define TALLY_ROW(number, name, plan, needs, threads, least, each, shared, segment_ids, source, what) \
    {number, #name,  plan,        needs,  threads, least,                                             \
     each,   shared, segment_ids, source, what,    TALLY_USUAL_SIZES(number, each, threads),          \
     NULL},
    TALLY_GALLERY(TALLY_ROW)
#undef TALLY_ROW
};
const int tally__gallery_count = TALLY_GALLERY_KERNELS;

const tally__gallery_row *tally__gallery_find(const char *word) {
    char *end;
    long number = strtol(word, &end, 10);
    for (int k = 0; k < tally__gallery_count; k++) {
        const tally__gallery_row *row = &tally__gallery[k];
        if (strcmp(row->name, word) == 0 || (end != word && *end == '\0' && number == row->number)) return row;
    }
    return NULL;
}

tally__gallery_row tally__gallery_with(const tally__gallery_row *row, tally__gallery_sizes sizes) {
    tally__gallery_row made = *row;
    if (row->sizes.per_thread > 0 && sizes.per_thread > 0) {
        made.sizes.per_thread = sizes.per_thread;
        made.each = sizes.per_thread * row->threads;
    }
    if (row->sizes.width > 0) {
        if (sizes.width > 0) made.sizes.width = sizes.width;
        if (sizes.height > 0) made.sizes.height = sizes.height;
        made.each = made.sizes.width * made.sizes.height;
        made.shared +=
            row->shared / USUAL_MATRIX_ELEMENTS * (made.sizes.height * (made.sizes.width + 1) - USUAL_MATRIX_ELEMENTS);
    }
    return made;
}

bool tally__gallery_is_usual(const tally__gallery_row *row) {
    return row->text != NULL || memcmp(&row->sizes, &tally__gallery[row->number].sizes, sizeof row->sizes) == 0;
}

void tally__gallery_write_sizes(const tally__gallery_row *row, char *text, size_t capacity) {
    const tally__gallery_sizes *sizes = &row->sizes;
    text[0] = '\0';
    if (sizes->per_thread > 0) snprintf(text, capacity, "#define TALLY_PER_THREAD %d\n", sizes->per_thread);
    if (sizes->width > 0)
        snprintf(text, capacity, "#define TALLY_WIDTH %d\n#define TALLY_HEIGHT %d\n", sizes->width, sizes->height);
}

int64_t tally__gallery_alone(const tally__gallery_row *row) {
    bool one = row->plan == TALLY_PLAN_FIT || row->plan == TALLY_PLAN_ONE || row->plan == TALLY_PLAN_PASSES;
    return one && !row->segment_ids ? row->each : 0;
}

/* ---- operators ---- */

#define TALLY_ROW(kernel) extern const tally__gallery_set tally__gallery_of_##kernel;
TALLY_KERNELS(TALLY_ROW)
TALLY_ROW(compose)
TALLY_ROW(inputs)
#undef TALLY_ROW

static const struct {
    const char *kernel;
    const tally__gallery_set *set;
} sets[] = {
#define TALLY_ROW(kernel) {#kernel, &tally__gallery_of_##kernel},
    TALLY_KERNELS(TALLY_ROW) TALLY_ROW(compose)
#undef TALLY_ROW
};

const tally__gallery_operator tally__gallery_inputs = {"inputs", "inputs", TALLY_OP_END,
                                                       1,        true,     &tally__gallery_of_inputs};

tally_status tally__gallery_operator_named(const char *name, tally__gallery_operator *found) {
    tally_op op = tally_op_from_name(name);
    const tally__operator_row *row = tally__operator(op);
    *found = (tally__gallery_operator){.name = "compose", .kernel = "compose", .op = TALLY_OP_END, .inputs = 1};
    if (row != NULL) *found = (tally__gallery_operator){row->name, row->kernel, op, row->inputs, true, NULL};
    TALLY_CHECK(row != NULL || strcmp(name, found->name) == 0, BAD_ARGUMENT,
                "there is no operator %s; tally list names them, and the gallery has compose", name);
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++)
        if (strcmp(sets[k].kernel, found->kernel) == 0) found->set = sets[k].set;
    return TALLY_OK;
}

/* ---- texts ---- */

extern const tally__text tally__gallery_texts[], tally__course_texts[];
extern const int tally__gallery_text_count, tally__course_text_count;

const char *tally__course_text(const char *name) {
    for (int i = 0; i < tally__course_text_count; i++)
        if (strcmp(tally__course_texts[i].name, name) == 0) return tally__course_texts[i].text;
    return NULL;
}
const char *tally__gallery_cuda_text(const tally__gallery_row *row) {
    char name[64];
    snprintf(name, sizeof name, "cuda/%03d_%s.cu", row->number, row->name);
    return tally__course_text(name);
}

/* A text that grows. */
typedef struct writer {
    char *text;
    size_t length, capacity;
    const char *kernel_file;
    bool included[64];
    bool no_memory;
} writer;

static void put(writer *w, const char *text, size_t length) {
    if (w->length + length + 1 > w->capacity) {
        size_t capacity = 2 * (w->length + length + 1);
        char *more = w->no_memory ? NULL : realloc(w->text, capacity);
        w->no_memory = more == NULL;
        if (more == NULL) return;
        w->text = more;
        w->capacity = capacity;
    }
    memcpy(w->text + w->length, text, length);
    w->length += length;
    w->text[w->length] = '\0';
}

static int gallery_text(const char *name, size_t length) {
    for (int i = 0; i < tally__gallery_text_count; i++)
        if (strlen(tally__gallery_texts[i].name) == length && memcmp(tally__gallery_texts[i].name, name, length) == 0)
            return i;
    return -1;
}

const char *tally__gallery_kernel_text(const tally__gallery_row *row) {
    char name[64];
    snprintf(name, sizeof name, "gallery/kernels/%03d_%s.h", row->number, row->name);
    int number = gallery_text(name, strlen(name));
    return number >= 0 ? tally__gallery_texts[number].text : NULL;
}

/* A text with those of the gallery in the place of their #include, each once; the library's stay, for NVRTC to find. */
static void expand(writer *w, const char *line) {
    static const char found[] = "#undef TALLY_KERNEL_FILE\n#define TALLY_KERNEL_FILE \"stdint.h\"\n";
    while (*line != '\0') {
        size_t length = strcspn(line, "\n");
        int included = -1;
        if (strncmp(line, "#include \"", 10) == 0) included = gallery_text(line + 10, strcspn(line + 10, "\"\n"));
        if (strncmp(line, "#include TALLY_KERNEL_FILE", 26) == 0)
            included = gallery_text(w->kernel_file, strlen(w->kernel_file));
        length += line[length] == '\n';
        if (included < 0)
            put(w, line, length);
        else if (!w->included[included]) {
            w->included[included] = true;
            expand(w, tally__gallery_texts[included].text);
            /* an operator of the gallery's own: headers of the library name it too, and NVRTC would not find it */
            if (strcmp(tally__gallery_texts[included].name, w->kernel_file) == 0) put(w, found, strlen(found));
        }
        line += length;
    }
}

tally_status tally__gallery_unit(const tally__gallery_operator *operator, tally_type type,
                                 const tally__gallery_row *row, tally__gallery_form form, tally__unit *unit,
                                 char **text) {
    const char *word = type == TALLY_BOOL ? "boolean" : tally_type_name(type),
               *folder = operator->op == TALLY_OP_END ? "gallery/kernels" : "operators";
    const char *kernel = row->text != NULL ? row->text : tally__gallery_kernel_text(row);
    char kernel_file[64], sizes[128] = "";
    writer w = {.kernel_file = kernel_file};
    *text = NULL;
    memset(unit, 0, sizeof *unit);
    TALLY_CHECK(kernel != NULL, UNSUPPORTED, "this build has no text of %s", row->name);
    snprintf(kernel_file, sizeof kernel_file, "%s/%s.h", folder, operator->kernel);
    snprintf(unit->entry, sizeof unit->entry, "tally_gallery_%s_%s_%s_0", row->name, operator->kernel, word);
    tally__gallery_write_sizes(row, sizes, sizeof sizes);
    if (row->text != NULL) /* table.h does not have it */
        snprintf(sizes, sizeof sizes,
                 "enum { TALLY_THREADS_mine = %d, TALLY_EACH_mine = %d, TALLY_SHARED_mine = %d };\n", row->threads,
                 row->each, row->shared);
    snprintf(
        unit->preface, sizeof unit->preface,
        "/* %s of %s, by %s of the gallery */\n#define TALLY_TYPE %s\n#define TALLY_NAN 0\n#define TALLY_KERNEL %s\n"
        "#define TALLY_KERNEL_FILE \"%s\"\n#define TALLY_KERNEL_INPUTS %d\n%s%s",
        operator->name, tally_type_name(type), row->name, word, operator->kernel, kernel_file, operator->inputs,
        form == TALLY_GALLERY_REPEATED ? "#define TALLY_REPEATED 1\n" : "", sizes);
    if (row->plan != TALLY_PLAN_GUARD) /* whose last block reads what the others leave */
        strcat(unit->preface, form == TALLY_GALLERY_OF_ELEMENTS ? "#define TALLY_INPUTS(work) TALLY_OF_ELEMENTS\n"
                                                                : "#define TALLY_INPUTS(work) TALLY_OF_VALUES\n");
    unit->type = type;
    unit->text = "user.h";
    expand(&w, kernel);
    TALLY_CHECK(!w.no_memory, NO_MEMORY, "no memory for the text of a kernel");
    unit->user_text = *text = w.text;
    return TALLY_OK;
}
