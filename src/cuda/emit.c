/* A unit as one text, for people who want to read what the GPU runs, profile it, or compile it elsewhere. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/nvidia.h"
#include "cuda/texts.h"
#include "text/readable.h"

enum { MOST_TEXTS = 1024, MOST_NESTED = 64 };

const tally__text *tally__text_named(const char *name, size_t length) {
    if (length == 8 && memcmp(name, "stdint.h", 8) == 0) return tally__text_named("device/nvrtc.h", 14);
    for (int i = 0; i < tally__text_count; i++)
        if (strlen(tally__texts[i].name) == length && memcmp(tally__texts[i].name, name, length) == 0)
            return &tally__texts[i];
    return NULL;
}

/* The text being written. A text with an include guard is left out if it was written before, outside of all conditions.
 * If it was written inside a condition, which may not hold, it is written again. */
typedef struct writer {
    const tally__unit *unit;
    text_buffer text;
    int conditions; /* how many conditions are open, include guards left out */
    int nested;
    bool above[MOST_TEXTS];
} writer;

static void put_string(writer *w, const char *string) { tally__add_text(&w->text, string, strlen(string)); }

/* A directive: the word behind its #, and the rest of the line without the blanks around it. */
typedef struct directive {
    const char *word, *rest;
    size_t word_size, rest_size;
} directive;
static bool read_directive(const char *line, const char *end, directive *d) {
    const char *p = line;
    while (p < end && (*p == ' ' || *p == '\t')) p++;
    if (p == end || *p != '#') return false;
    for (p++; p < end && (*p == ' ' || *p == '\t');) p++;
    for (d->word = p; p < end && isalpha((unsigned char)*p);) p++;
    d->word_size = (size_t)(p - d->word);
    while (p < end && (*p == ' ' || *p == '\t')) p++;
    while (end > p && isspace((unsigned char)end[-1])) end--;
    d->rest = p;
    d->rest_size = (size_t)(end - p);
    return true;
}
static bool word_is(const directive *d, const char *word) {
    return d->word_size == strlen(word) && memcmp(d->word, word, d->word_size) == 0;
}
static const char *end_of_line(const char *p, const char *end) {
    const char *newline = memchr(p, '\n', (size_t)(end - p));
    return newline != NULL ? newline + 1 : end;
}

/* Whether the first two directives are #ifndef X and #define X. */
static bool is_guarded(const char *text, size_t size) {
    const char *end = text + size, *next;
    directive first = {0}, second;
    for (const char *p = text; p < end; p = next) {
        next = end_of_line(p, end);
        if (!read_directive(p, next, &second)) continue;
        if (first.word != NULL)
            return word_is(&second, "define") && second.rest_size == first.rest_size &&
                   memcmp(second.rest, first.rest, first.rest_size) == 0;
        if (!word_is(&second, "ifndef")) return false;
        first = second;
    }
    return false;
}

/* Finds the name in an include: between quotes or brackets, or of a macro that was defined above as a quoted name. */
static bool included_name(const writer *w, const directive *d, const char **name, size_t *size) {
    char wanted[128];
    int length;
    const char *at = d->rest, *found = NULL, *close;
    if (d->rest_size < 2) return false;
    if (*at != '"' && *at != '<') {
        length = snprintf(wanted, sizeof wanted, "#define %.*s \"", (int)d->rest_size, d->rest);
        if (length < 0 || (size_t)length >= sizeof wanted || w->text.bytes == NULL) return false;
        for (const char *p = w->text.bytes; (p = strstr(p, wanted)) != NULL; p++) found = p;
        if (found == NULL) return false;
        at = found + length - 1;
    }
    close = strpbrk(at + 1, "\">\n");
    if (close == NULL || *close == '\n') return false;
    *name = at + 1;
    *size = (size_t)(close - at - 1);
    return true;
}

static void expand(writer *w, const char *name, const char *text, size_t size);

/* Writes the included text in place of the line. False: the line includes none of our texts and stays as it is. */
static bool expand_include(writer *w, const directive *d) {
    const char *name;
    size_t length;
    const tally__text *text;
    if (!included_name(w, d, &name, &length)) return false;
    if (length == 6 && memcmp(name, "user.h", 6) == 0 && w->unit->user_text != NULL) {
        expand(w, "user.h", w->unit->user_text, strlen(w->unit->user_text));
        return true;
    }
    text = tally__text_named(name, length);
    if (text == NULL || w->nested >= MOST_NESTED) return false;
    if (is_guarded(text->text, text->size)) {
        bool *above = &w->above[text - tally__texts];
        if (*above) return true;
        *above = w->conditions == 0;
    }
    expand(w, text->name, text->text, text->size);
    return true;
}

/* Names the file that the lines below are from. */
static void put_heading(writer *w, const char *name) {
    if (name == NULL) return;
    put_string(w, "/* ======== ");
    put_string(w, name);
    put_string(w, " ======== */\n");
}

static void expand(writer *w, const char *name, const char *text, size_t size) {
    const char *end = text + size, *next;
    int guard = is_guarded(text, size);
    w->conditions -= guard;
    w->nested++;
    put_heading(w, name);
    for (const char *p = text; p < end; p = next) {
        directive d;
        next = end_of_line(p, end);
        if (read_directive(p, next, &d)) {
            if (word_is(&d, "include") && expand_include(w, &d)) {
                put_heading(w, name);
                continue;
            }
            w->conditions += word_is(&d, "if") || word_is(&d, "ifdef") || word_is(&d, "ifndef");
            w->conditions -= word_is(&d, "endif");
        }
        tally__add_text(&w->text, p, (size_t)(next - p));
    }
    if (size != 0 && end[-1] != '\n') put_string(w, "\n");
    w->nested--;
    w->conditions += guard;
}

static tally_status no_memory(void) { return tally__fail(TALLY_NO_MEMORY, "no memory for the text of a kernel"); }

/* Writes the head of a unit's text. */
static void put_title(text_buffer *text, const tally__unit *unit, const char *what) {
    char title[1000];
    int size = snprintf(title, sizeof title,
                        "/* %s of Tally %s: %s. It stands alone:\n"
                        " *     nvcc --cubin --gpu-architecture=sm_90 --std=c++17 --fmad=false FILE */\n"
                        "#ifdef __NVCC__ /* NVRTC does not define this one */\n"
                        "#define __CUDACC_RTC__\n"
                        "#include <stdint.h>\n"
                        "#endif\n"
                        "#pragma nv_diag_suppress 177 /* what this operator and type do not use */\n",
                        unit->entry, tally_version(), what);
    tally__add_text(text, title, size < (int)sizeof title ? (size_t)size : sizeof title - 1);
}

/* Writes the unit to w->text, with the text of every include. The caller frees it, whatever the status. */
static tally_status expand_unit(writer *w) {
    directive main_text = {"include", NULL, 7, 0};
    char quoted[300];
    TALLY_CHECK(tally__text_count <= MOST_TEXTS, UNSUPPORTED, "emit.c has room for %d texts, and there are %d",
                MOST_TEXTS, tally__text_count);
    expand(w, NULL, w->unit->preface, strlen(w->unit->preface));
    snprintf(quoted, sizeof quoted, "\"%s\"", w->unit->text);
    main_text.rest = quoted;
    main_text.rest_size = strlen(quoted);
    TALLY_CHECK(expand_include(w, &main_text), UNSUPPORTED, "this build of Tally has no kernel text named %s",
                w->unit->text);
    return w->text.no_memory ? no_memory() : TALLY_OK;
}

tally_status tally__emit(const tally__unit *unit, char **text) {
    writer w = {.unit = unit};
    tally_status status;
    *text = NULL;
    put_title(&w.text, unit, "all that is compiled");
    status = expand_unit(&w);
    if (status == TALLY_OK)
        *text = w.text.bytes;
    else
        free(w.text.bytes);
    return status;
}

tally_status tally__emit_readable(const tally__unit *unit, char **text) {
    writer w = {.unit = unit};
    text_buffer resolved = {0}, used = {0};
    tally_status status = expand_unit(&w);
    *text = NULL;
    put_title(&used, unit, "what is compiled, without what it does not use");
    tally__add_text(&used, unit->preface,
                    (size_t)(end_of_line(unit->preface, unit->preface + strlen(unit->preface)) -
                             unit->preface)); /* its first line is a comment: what is reduced */
    if (status == TALLY_OK && !(tally__resolve_conditions(w.text.bytes, w.text.size, &resolved) &&
                                tally__leave_out_unused(resolved.bytes, resolved.size, &used)))
        status = used.no_memory || resolved.no_memory
                     ? no_memory()
                     : tally__fail(TALLY_UNSUPPORTED, "the text of %s has conditions nested too deep to be printed",
                                   unit->entry);
    free(w.text.bytes);
    free(resolved.bytes);
    if (status == TALLY_OK)
        *text = used.bytes;
    else
        free(used.bytes);
    return status;
}

/* The caller set TALLY_JIT_DUMP to get these files, so a file that cannot be written is an error. */
tally_status tally__dump(const tally__unit *unit, int sm) {
    const char *folder = secure_getenv("TALLY_JIT_DUMP");
    char path[4096], *text;
    int descriptor;
    FILE *file;
    bool written;
    if (folder == NULL || folder[0] == '\0') return TALLY_OK;
    TALLY_CHECK(snprintf(path, sizeof path, "%s/%s-sm_%d.cu", folder, unit->entry, sm) < (int)sizeof path, BAD_ARGUMENT,
                "the name of the folder in TALLY_JIT_DUMP is too long: name another, or unset it");
    TALLY_TRY(tally__emit(unit, &text));
    descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, 0666); /* a pipe must not wait */
    file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (file == NULL && descriptor >= 0) close(descriptor);
    written = file != NULL && fputs(text, file) >= 0;
    if (file != NULL && fclose(file) != 0) written = false;
    free(text);
    TALLY_CHECK(written, BAD_ARGUMENT,
                "%.300s cannot be written (%s): let TALLY_JIT_DUMP name a folder that can, or unset it", path,
                strerror(errno));
    return TALLY_OK;
}
