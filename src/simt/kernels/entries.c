/* The production kernels that the simulator has, by name: the way into libtally-simt.so, which all of this folder and
 * the units that CMake writes are. */
#include <string.h>

#include "kernel_list.h"
#include "simt/kernels/set.h"
#include "simt/module.h"

/* The sets that CMake's units export. */
#define TALLY_KERNEL_ROW(kind, ID, kernel) extern const tally__simt_set tally__simt_##kind##_##ID##_##kernel;
#define TALLY_UNIT_ORDERED(ID) TALLY_KERNELS_OF_FORM(TALLY_KERNEL_ROW, ORDERED, ID)
#define TALLY_UNIT_EXACT(ID) TALLY_EXACT_KERNELS_OF_FORM(TALLY_KERNEL_ROW, EXACT, ID)
#define TALLY_UNIT_TYPED(ID)
#define TALLY_UNIT_GENERAL(ID)
#define TALLY_UNIT(kind, ID, text, defines) TALLY_UNIT_##kind(ID)
#define TALLY_ROW(kind, ID, name, threads, work)
TALLY_FORM_UNITS(TALLY_UNIT, TALLY_ROW)
#undef TALLY_KERNEL_ROW
#undef TALLY_UNIT
#undef TALLY_ROW

static const struct {
    const char *name, *kernel;
    const tally__simt_set *set;
    int place; /* in the unit */
} kernels[] = {
#define TALLY_KERNEL_ROW(kind, ID, name, kernel) \
    {#name, #kernel, &tally__simt_##kind##_##ID##_##kernel, (int)TALLY_ENTRY_##name - (int)TALLY_FIRST_##kind##_##ID},
#define TALLY_ROW_ORDERED(ID, name) TALLY_KERNELS_OF_FORM(TALLY_KERNEL_ROW, ORDERED, ID, name)
#define TALLY_ROW_EXACT(ID, name) TALLY_EXACT_KERNELS_OF_FORM(TALLY_KERNEL_ROW, EXACT, ID, name)
#define TALLY_ROW_TYPED(ID, name)
#define TALLY_ROW_GENERAL(ID, name)
#define TALLY_UNIT(kind, ID, text, defines)
#define TALLY_ROW(kind, ID, name, threads, work) TALLY_ROW_##kind(ID, name)
    TALLY_FORM_UNITS(TALLY_UNIT, TALLY_ROW)};
#undef TALLY_ROW

const tally__simt_words *tally__simt;

static const char *const type_words[TALLY_TYPE_END] = {
#define TALLY_ROW(id, name, numpy, bytes, class) [TALLY_##id] = TALLY_##id == TALLY_BOOL ? "boolean" : #name,
    TALLY_TYPES(TALLY_ROW)
#undef TALLY_ROW
};

/* What is behind `words` in a text, which NULL is too; NULL: the text begins otherwise. */
static const char *behind(const char *text, const char *words) {
    const size_t length = strlen(words);
    return text != NULL && strncmp(text, words, length) == 0 ? text + length : NULL;
}
/* Whether the entry is tally_NAME_KERNEL_TYPE_POLICY, and which type and policy. */
static bool find_type(const char *entry, const char *name, const char *kernel, int *type, int *nan) {
    const char *const rest = behind(behind(behind(behind(behind(entry, "tally_"), name), "_"), kernel), "_");
    if (rest == NULL) return false;
    for (*type = TALLY_NATURAL + 1; *type < TALLY_STRUCT; ++*type) {
        const char *const policy = behind(behind(rest, type_words[*type]), "_");
        if (policy == NULL || policy[0] == '\0' || policy[1] != '\0') continue;
        *nan = policy[0] - '0';
        return *nan >= TALLY_NAN_PROPAGATE && *nan <= TALLY_NAN_TOTAL;
    }
    return false;
}

static tally__simt_entry *find_named(const tally__simt_named *all, const char *entry) {
    while (all->name != NULL && strcmp(entry, all->name) != 0) all++;
    return all->entry;
}

static tally__simt_entry *find(const char *entry) {
    int type, nan;
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        if (find_type(entry, kernels[k].name, kernels[k].kernel, &type, &nan))
            return kernels[k].set->of[type][nan].entries[kernels[k].place];
    tally__simt_entry *const general = find_named(tally__simt_general, entry);
    return general != NULL ? general : find_named(tally__simt_merges, entry);
}

/* A process may have two copies of the library, and so two machines, but these kernels only once: they run on the first
 * that asks. */
__attribute__((visibility("default"))) tally__simt_lookup *
tally_simt_kernels(const char *edition, const tally__simt_words *words, size_t words_bytes) {
    if (strcmp(edition, tally__edition) != 0 || words_bytes != sizeof *words) return NULL;
    if (tally__simt != NULL && tally__simt != words) return NULL;
    tally__simt = words;
    return find;
}
