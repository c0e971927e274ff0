/* Compiles a unit to an image by NVRTC. NVRTC gets every text from memory, never from a folder. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/known.h"
#include "cuda/nvidia.h"
#include "cuda/texts.h"

enum { LOG_SHOWN = 380, MOST_FEWER = 4 };

/* One compilation. */
typedef struct job {
    const tally__nvrtc *nvrtc;
    const tally__unit *unit;
    tally__nvrtc_handle program;
    bool ptx;  /* NVRTC does not know this GPU: it gives PTX, which the driver compiles */
    int fewer; /* by how many blocks on a multiprocessor less is asked for than the kernel says (TALLY_ENTRY) */
    char *log; /* if the compilation succeeded: warnings, and what the assembler says */
} job;

static tally_status nvrtc_failed(const job *j, int error, const char *call) {
    return tally__fail(TALLY_UNSUPPORTED, "NVRTC %d.%d: %s gave %s", j->nvrtc->major, j->nvrtc->minor, call,
                       j->nvrtc->sentence(error));
}
#define NVRTC_TRY(j, call, ...)                                               \
    do {                                                                      \
        int nvrtc_error_ = (j)->nvrtc->call(__VA_ARGS__);                     \
        if (nvrtc_error_ != 0) return nvrtc_failed((j), nvrtc_error_, #call); \
    } while (0)

static tally_status create(job *j) {
    const char **texts = malloc(2 * ((size_t)tally__text_count + 2) * sizeof *texts), **names;
    char *text = malloc(sizeof j->unit->preface + 300);
    int count = tally__text_count, error = 0;
    bool no_memory = texts == NULL || text == NULL;
    if (!no_memory) {
        names = texts + tally__text_count + 2;
        for (int i = 0; i < count; i++) {
            texts[i] = tally__texts[i].text;
            names[i] = tally__texts[i].name;
        }
        names[count] = "stdint.h";
        texts[count++] = tally__text_named("stdint.h", 8)->text;
        if (j->unit->user_text != NULL) {
            names[count] = "user.h";
            texts[count++] = j->unit->user_text;
        }
        snprintf(text, sizeof j->unit->preface + 300, "%s\n#include \"%s\"\n", j->unit->preface, j->unit->text);
        error = j->nvrtc->create(&j->program, text, j->unit->entry, count, texts, names);
    }
    free((void *)texts);
    free(text);
    TALLY_CHECK(!no_memory, NO_MEMORY, "no memory to compile a kernel");
    return error == 0 ? TALLY_OK : nvrtc_failed(j, error, "nvrtcCreateProgram");
}

/* The log, in memory of malloc, without newlines at its end; NULL: there is none. */
static char *log_of(const job *j) {
    size_t size = 0;
    char *log = NULL;
    if (j->nvrtc->log_size(j->program, &size) == 0 && size > 1) log = malloc(size);
    if (log == NULL || j->nvrtc->log(j->program, log) != 0) {
        free(log);
        return NULL;
    }
    for (log[--size] = '\0'; size > 0 && log[size - 1] == '\n';) log[--size] = '\0';
    return log;
}

/* The line of the log with the first error: warnings may come before it. */
static const char *first_error(const char *log, int *length) {
    const char *error = strstr(log, "error");
    while (error != NULL && error > log && error[-1] != '\n') error--;
    if (error == NULL) error = log;
    *length = (int)strcspn(error, "\n");
    if (*length > LOG_SHOWN) *length = LOG_SHOWN;
    return error;
}

/* In the text of an operator ("user.h") the mistake is the caller's; elsewhere it is ours. */
static tally_status compile_failed(const job *j, int error) {
    char *log = log_of(j);
    int length;
    const char *line;
    tally_status status;
    if (log == NULL) return nvrtc_failed(j, error, "nvrtcCompileProgram");
    line = first_error(log, &length);
    if (j->unit->user_text != NULL)
        status = tally__fail(TALLY_BAD_ARGUMENT, "the operator's text does not compile: %.*s", length, line);
    else
        status = tally__fail(TALLY_UNSUPPORTED, "the kernel %s does not compile: %.*s", j->unit->entry, length, line);
    free(log);
    return status;
}

/* The options besides the architecture; they are part of an image's key in the cache. NVRTC 12 lacks the last ones. */
static const char *const options[] = {
    "--std=c++17",     "--fmad=false",        "--device-as-default-execution-space",
    "--device-int128", "--no-source-include", "--minimal",
};
enum { OPTIONS = sizeof options / sizeof *options, OLD_OPTIONS = 4 };

static int option_count(const tally__nvrtc *nvrtc) { return nvrtc->major >= 13 ? OPTIONS : OLD_OPTIONS; }

static tally_status compile(job *j, int sm) {
    const char *all[OPTIONS + 3];
    char architecture[64], fewer[64];
    int best = 0, count = option_count(j->nvrtc), error;
    for (int i = 0; i < j->nvrtc->sm_count; i++)
        if (j->nvrtc->sm[i] <= sm && j->nvrtc->sm[i] > best) best = j->nvrtc->sm[i];
    TALLY_CHECK(
        best != 0, UNSUPPORTED,
        "NVRTC %d.%d compiles for GPUs of sm_%d and newer, and this one is sm_%d: pip install nvidia-cuda-nvrtc-cu12",
        j->nvrtc->major, j->nvrtc->minor, j->nvrtc->sm[0], sm);
    j->ptx = best != sm;
    snprintf(architecture, sizeof architecture, "--gpu-architecture=%s_%d", j->ptx ? "compute" : "sm", best);
    all[0] = architecture;
    memcpy(all + 1, options, sizeof options);
    snprintf(fewer, sizeof fewer, "--define-macro=TALLY_FEWER=%d", j->fewer);
    all[++count] = fewer;
    all[++count] = "--ptxas-options=-v";
    error = j->nvrtc->compile(j->program, 1 + count, all);
    if (error != 0) return compile_failed(j, error);
    j->log = log_of(j);
    return TALLY_OK;
}

/* Names of kernels are not mangled. */
int tally__spilled_bytes(const char *log) {
    static const char head[] = "Function properties for ", words[] = " bytes spill stores", digits[] = "0123456789";
    int most = 0;
    for (const char *p = log; p != NULL && (p = strstr(p, head)) != NULL; p++) {
        const char *name = p + sizeof head - 1, *number = strstr(name, words);
        if (number == NULL || strncmp(name, "_Z", 2) == 0) continue;
        while (number > log && strchr(digits, number[-1]) != NULL) number--;
        if (atoi(number) > most) most = atoi(number);
    }
    return most;
}

static void forget(job *j) {
    free(j->log);
    j->log = NULL;
    if (j->program != NULL) j->nvrtc->destroy(&j->program);
    j->program = NULL;
}

static tally_status take(const job *j, tally__image *image) {
    int error;
    if (j->ptx)
        NVRTC_TRY(j, ptx_size, j->program, &image->size);
    else
        NVRTC_TRY(j, cubin_size, j->program, &image->size);
    image->bytes = malloc(image->size);
    TALLY_CHECK(image->bytes != NULL, NO_MEMORY, "no memory for the image of a kernel, %zu bytes", image->size);
    error = j->ptx ? j->nvrtc->ptx(j->program, image->bytes) : j->nvrtc->cubin(j->program, image->bytes);
    if (error == 0) return TALLY_OK;
    free(image->bytes);
    image->bytes = NULL;
    return nvrtc_failed(j, error, "taking the image");
}

/* The log of the compilation as a whole; NULL if there is nothing to say. */
static char *log_with(const char *said, int attempts) {
    const size_t size = said != NULL ? strlen(said) + 32 : 0;
    char *log = said != NULL ? malloc(size) : NULL;
    if (log != NULL) snprintf(log, size, "%s\n%d attempts\n", said, attempts);
    return log;
}

tally_status tally__compile(const tally__unit *unit, int sm, tally__image *image, char **log) {
    job j = {.unit = unit};
    tally_status status;
    bool again;
    if (log != NULL) *log = NULL;
    *image = (tally__image){NULL, 0};
    TALLY_TRY(tally__nvrtc_open(&j.nvrtc));
    do { /* a kernel may ask for more blocks than this architecture, compiler or operator has registers for */
        status = create(&j);
        if (status == TALLY_OK) status = compile(&j, sm);
        again = status == TALLY_OK && j.fewer < MOST_FEWER && tally__spilled_bytes(j.log) > TALLY__FEW_SPILLED;
        if (!again && status == TALLY_OK) status = take(&j, image);
        if (!again && status == TALLY_OK && log != NULL) *log = log_with(j.log, j.fewer + 1);
        forget(&j);
        j.fewer++;
    } while (again);
    return status;
}

static tally_status compile_unit(const tally__unit *unit, int sm, tally__image *image) {
    return tally__compile(unit, sm, image, NULL);
}

/* The version that an earlier process has found, so that images on disk are used without opening the compiler. */
static bool guess(char *version, size_t capacity) {
    return tally__nvrtc_file() == NULL && tally__compiler_known(options, OPTIONS, version, capacity);
}

static tally_status version(char *version, size_t capacity) {
    const tally__nvrtc *nvrtc;
    int length;
    TALLY_TRY(tally__nvrtc_open(&nvrtc));
    length = snprintf(version, capacity, "nvrtc %d.%d", nvrtc->major, nvrtc->minor);
    for (int i = 0; i < option_count(nvrtc) && length > 0 && (size_t)length < capacity; i++)
        length += snprintf(version + length, capacity - (size_t)length, " %s", options[i]);
    TALLY_CHECK(length > 0 && (size_t)length < capacity, NO_SPACE,
                "the compiler's version takes %d bytes, the buffer has %zu", length, capacity);
    tally__compiler_found(options, OPTIONS, tally__nvrtc_file(), version);
    return TALLY_OK;
}

const tally__platform tally__nvidia_platform = {"cuda", tally__nvidia_driver, compile_unit, version, guess};
