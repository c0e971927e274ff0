/* Every production kernel through NVRTC, without a GPU: each operator, type and NaN policy, fast and exact, for each
 * architecture. Fails on an error, a warning and more than a few spilled registers, and keeps a table of what the
 * assembler tells.
 *
 * --arch 75,80,90,100,120   the architectures
 * --share I/N               of all pairs of a unit and an architecture only share I (1 to N). With as many shares as
 * architectures each unit of a whole array is in each share once, for another architecture; of rows, a tenth as many
 * are in any
 * --only TEXT               units whose name contains TEXT
 * --processes P             side by side, as one process compiles in one thread at a time; all processors
 * --out FILE                the table, tab-separated
 * --keep FOLDER             the machine code, a file for each unit: FOLDER/UNIT.SM.cubin */
#include <elf.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cuda/units.h"
#include "cuda/nvidia.h"
#include "support.h"

enum { MOST_ARCHS = 16, MOST_UNITS = 8192, SAID = 600, ROWS_SHARES = 10 };

static struct {
    int archs[MOST_ARCHS], arch_count, share, shares, processes;
    const char *only, *out, *keep;
} wanted = {.arch_count = 0, .share = 1, .shares = 1};

/* What one compilation gave; in memory that processes share. */
typedef enum { WAITING, COMPILING, COMPILED, FAILED } stage;
typedef struct job {
    _Atomic int stage;
    int unit, sm;
    int registers, spilled, stack, shared, code, attempts, milliseconds;
    uint64_t hash; /* of the code: the same as before, if only names have changed */
    bool warned;
    char said[SAID]; /* why it failed, or the first warning */
} job;

typedef struct work {
    _Atomic int next;
    int count, left_out;
    job jobs[MOST_UNITS * MOST_ARCHS];
} work;
static work *todo;
static tally__unit units[MOST_UNITS];
static int unit_count;

/* ---- what is to be compiled ---- */

static _Noreturn void usage(const char *why, const char *what) {
    fprintf(stderr, "test_compile: %s %s; see the top of tests/unit/test_compile.c\n", why, what);
    exit(2);
}

static void read_options(int argc, char **argv) {
    const char *archs = "75,80,90,100,120";
    char *end;
    for (int i = 1; i < argc; i++) {
        const char *option = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(option, "--quick") == 0) continue;
        if (value == NULL) usage("no value for", option);
        i++;
        if (strcmp(option, "--arch") == 0)
            archs = value;
        else if (strcmp(option, "--only") == 0)
            wanted.only = value;
        else if (strcmp(option, "--out") == 0)
            wanted.out = value;
        else if (strcmp(option, "--keep") == 0)
            wanted.keep = value;
        else if (strcmp(option, "--processes") == 0)
            wanted.processes = atoi(value);
        else if (strcmp(option, "--share") == 0) {
            if (sscanf(value, "%d/%d", &wanted.share, &wanted.shares) != 2 || wanted.share < 1 ||
                wanted.share > wanted.shares)
                usage("no share:", value);
        } else
            usage("unknown option", option);
    }
    for (; *archs != '\0'; archs = *end == ',' ? end + 1 : end) {
        if (wanted.arch_count == MOST_ARCHS) usage("too many architectures:", archs);
        wanted.archs[wanted.arch_count++] = (int)strtol(archs, &end, 10);
        if (end == archs || (*end != ',' && *end != '\0')) usage("no list of architectures:", archs);
    }
    if (wanted.processes < 1) wanted.processes = (int)sysconf(_SC_NPROCESSORS_ONLN);
}

/* Operators that share a kernel give the same unit. */
static void add_unit(const tally__unit *unit) {
    if (wanted.only != NULL && strstr(unit->entry, wanted.only) == NULL) return;
    for (int i = 0; i < unit_count; i++)
        if (strcmp(units[i].entry, unit->entry) == 0) return;
    if (unit_count == MOST_UNITS) usage("more units than", "MOST_UNITS");
    units[unit_count++] = *unit;
}

static void list_units(void) {
    subject s = {.op = -1};
    tally__unit unit;
    while (next_subject(&s)) {
        tally__spec spec;
        if (tally__specify(context_for(&s, TALLY_BACKEND_CPU, 1), s.op, s.type, &spec) != TALLY_OK)
            usage("no unit:", tally_message());
        for (int form = 0; form < TALLY_FORMS; form++) {
            if (!tally__has_form(&spec, (tally__form)form)) continue;
            if (tally__unit_of(&spec, (tally__form)form, &unit) != TALLY_OK) usage("no unit:", tally_message());
            add_unit(&unit);
        }
    }
    for (int form = 0; form < TALLY_FORMS; form++)
        if (tally__is_general((tally__form)form) && tally__unit_of(NULL, (tally__form)form, &unit) == TALLY_OK)
            add_unit(&unit);
    for (int type = TALLY_NATURAL + 1; type < TALLY_STRUCT; type++)
        for (int total = 0; total < 2; total++) {
            const tally__spec spec = {.type = (tally_type)type,
                                      .options.nan = total ? TALLY_NAN_TOTAL : TALLY_NAN_PROPAGATE};
            for (int form = TALLY_FORM_MERGE_TWO; form <= TALLY_FORM_MERGE_EIGHT; form++)
                if (tally__unit_of(&spec, (tally__form)form, &unit) == TALLY_OK) add_unit(&unit);
        }
}

/* FNV-1a: where a unit's turn begins. */
static unsigned hash_of(const char *name) {
    unsigned hash = 2166136261u;
    for (; *name != '\0'; name++) hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash >> 8;
}

static void list_jobs(void) {
    for (int u = 0; u < unit_count; u++)
        for (int a = 0; a < wanted.arch_count; a++) {
            const unsigned shares =
                (unsigned)wanted.shares * (wanted.shares > 1 && units[u].form != TALLY_FORM_WHOLE ? ROWS_SHARES : 1);
            if ((hash_of(units[u].entry) + (unsigned)a) % shares + 1 != (unsigned)wanted.share)
                todo->left_out++;
            else {
                job *j = &todo->jobs[todo->count++];
                j->unit = u;
                j->sm = wanted.archs[a];
            }
        }
}

/* ---- compiling ---- */

static double seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The sum of the numbers before each "<number> <what>" in the log. */
static int told(const char *log, const char *what) {
    int sum = 0;
    for (const char *p = log; (p = strstr(p, what)) != NULL; p++) {
        const char *digits = p;
        while (digits > log && digits[-1] >= '0' && digits[-1] <= '9') digits--;
        sum += atoi(digits);
    }
    return sum;
}

/* Bytes of code in an ELF image, and their hash (FNV-1a). */
static int code_bytes(const tally__image *image, uint64_t *hash) {
    const char *bytes = image->bytes;
    Elf64_Ehdr head;
    Elf64_Shdr section;
    size_t sum = 0;
    *hash = 0xcbf29ce484222325u;
    if (image->size < sizeof head || memcmp(bytes, ELFMAG, SELFMAG) != 0) return 0;
    memcpy(&head, bytes, sizeof head);
    for (int i = 0; i < head.e_shnum; i++) {
        size_t at = head.e_shoff + (size_t)i * sizeof section;
        if (at + sizeof section > image->size) break;
        memcpy(&section, bytes + at, sizeof section);
        if (!(section.sh_flags & SHF_EXECINSTR) || section.sh_offset + section.sh_size > image->size) continue;
        sum += section.sh_size;
        for (size_t b = 0; b < section.sh_size; b++)
            *hash = (*hash ^ (uint8_t)bytes[section.sh_offset + b]) * 0x100000001b3u;
    }
    return (int)sum;
}

/* The line that `place` is in. */
static void quote(job *j, const char *log, const char *place) {
    while (place > log && place[-1] != '\n') place--;
    snprintf(j->said, SAID, "%.*s", (int)strcspn(place, "\n"), place);
}

static bool keep(job *j, const tally__image *image) {
    char name[512];
    snprintf(name, sizeof name, "%s/%s.%d.cubin", wanted.keep, units[j->unit].entry, j->sm);
    FILE *f = fopen(name, "wb");
    const bool written = f != NULL && fwrite(image->bytes, 1, image->size, f) == image->size,
               closed = f != NULL && fclose(f) == 0;
    if (!written || !closed) snprintf(j->said, SAID, "cannot write %s", name);
    return written && closed;
}

static void compile(job *j) {
    const tally__unit *unit = &units[j->unit];
    tally__image image;
    char *log;
    bool kept = true;
    double start = seconds();
    tally_status status = tally__compile(unit, j->sm, &image, &log);
    j->milliseconds = (int)(1e3 * (seconds() - start));
    if (status != TALLY_OK)
        snprintf(j->said, SAID, "%s", tally_message());
    else if (log == NULL || strstr(log, " registers") == NULL)
        snprintf(j->said, SAID, "the assembler told nothing: %.400s", log ? log : "no log");
    else {
        const char *warning = strstr(log, "warning");
        j->registers = told(log, " registers");
        j->spilled = tally__spilled_bytes(log);
        j->stack = told(log, " bytes stack frame");
        j->shared = told(log, " bytes smem");
        j->attempts = told(log, " attempts");
        j->code = code_bytes(&image, &j->hash);
        kept = wanted.keep == NULL || keep(j, &image);
        j->warned = warning != NULL;
        if (warning != NULL) quote(j, log, warning);
    }
    j->stage = status == TALLY_OK && j->registers > 0 && j->code > 0 && kept ? COMPILED : FAILED;
    free(log);
    free(image.bytes);
}

static void compile_all(void) {
    pid_t children[256];
    int count = wanted.processes < 256 ? wanted.processes : 256, status;
    fflush(NULL);
    for (int p = 0; p < count; p++) {
        children[p] = fork();
        if (children[p] != 0) continue;
        for (int i; (i = todo->next++) < todo->count;) {
            todo->jobs[i].stage = COMPILING;
            compile(&todo->jobs[i]);
        }
        _exit(0);
    }
    for (int p = 0; p < count; p++)
        if (children[p] < 0 || waitpid(children[p], &status, 0) != children[p]) perror("test_compile: a child");
}

/* ---- what comes of it ---- */

static int by_name(const void *a, const void *b) {
    const job *left = a, *right = b;
    int order = strcmp(units[left->unit].entry, units[right->unit].entry);
    return order != 0 ? order : left->sm - right->sm;
}

static bool write_table(void) {
    FILE *file = fopen(wanted.out, "w");
    bool done;
    if (file == NULL) {
        perror(wanted.out);
        return false;
    }
    fprintf(
        file,
        "unit\tsm\tregisters\tspill_bytes\tstack_bytes\tshared_bytes\tcode_bytes\tattempts\tcompile_ms\tcode_hash\n");
    for (const job *j = todo->jobs; j < todo->jobs + todo->count; j++)
        if (j->stage == COMPILED)
            fprintf(file, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%016" PRIx64 "\n", units[j->unit].entry, j->sm,
                    j->registers, j->spilled, j->stack, j->shared, j->code, j->attempts, j->milliseconds, j->hash);
    done = ferror(file) == 0;
    return fclose(file) == 0 && done;
}

/* Prints what is wrong; returns of how many. */
static int judge(void) {
    static const char *const stages[] = {"was never reached", "ended its process", "", ""};
    int bad = 0;
    for (const job *j = todo->jobs; j < todo->jobs + todo->count; j++) {
        const char *name = units[j->unit].entry;
        bad += j->stage != COMPILED || j->spilled > TALLY__FEW_SPILLED || j->warned;
        if (j->stage != COMPILED)
            printf("FAILED %s sm_%d: %s%s\n", name, j->sm, stages[j->stage], j->said);
        else if (j->spilled > TALLY__FEW_SPILLED)
            printf("SPILLS %s sm_%d: %d bytes, %d registers, %d bytes of stack\n", name, j->sm, j->spilled,
                   j->registers, j->stack);
        if (j->warned) printf("WARNED %s sm_%d: %s\n", name, j->sm, j->said);
    }
    return bad;
}

static void summarize(double took) {
    long code = 0, busy = 0, attempts = 0;
    int most = 0, longest = 0;
    for (const job *j = todo->jobs; j < todo->jobs + todo->count; j++) {
        code += j->code;
        busy += j->milliseconds;
        attempts += j->attempts;
        if (j->milliseconds > todo->jobs[longest].milliseconds) longest = (int)(j - todo->jobs);
        if (j->registers > most) most = j->registers;
    }
    for (int a = 0; a < wanted.arch_count; a++) {
        int count = 0;
        for (int i = 0; i < todo->count; i++) count += todo->jobs[i].sm == wanted.archs[a];
        printf("sm_%d: %d of %d units\n", wanted.archs[a], count, unit_count);
    }
    printf("%d compilations in %.0f s, %.1f s of work each %d ms; at most %d registers; %ld bytes of code\n",
           todo->count, took, 1e-3 * (double)busy, todo->count ? (int)(busy / todo->count) : 0, most, code);
    if (todo->count > 0)
        printf(
            "%ld attempts: one that spills registers is made again with fewer blocks; the longest is %s with %d ms\n",
            attempts, units[todo->jobs[longest].unit].entry, todo->jobs[longest].milliseconds);
    if (todo->left_out > 0)
        printf("SKIPPED: %d of %d compilations, which are not in share %d of %d\n", todo->left_out,
               todo->left_out + todo->count, wanted.share, wanted.shares);
}

/* An architecture that NVRTC does not know would be compiled to a text for the driver, which tells nothing. */
static void drop_unknown(const tally__nvrtc *nvrtc) {
    int kept = 0;
    for (int a = 0; a < wanted.arch_count; a++) {
        bool known = false;
        for (int k = 0; k < nvrtc->sm_count; k++) known |= nvrtc->sm[k] == wanted.archs[a];
        if (known)
            wanted.archs[kept++] = wanted.archs[a];
        else
            printf("SKIPPED: sm_%d, which NVRTC %d.%d does not know\n", wanted.archs[a], nvrtc->major, nvrtc->minor);
    }
    wanted.arch_count = kept;
}

int main(int argc, char **argv) {
    const tally__nvrtc *nvrtc;
    double start = seconds();
    int bad;
    read_options(argc, argv);
    if (tally__nvrtc_open(&nvrtc) != TALLY_OK) {
        printf("SKIPPED: no kernel is compiled for a GPU: %s\n", tally_message());
        return SKIPPED;
    }
    printf("NVRTC %d.%d, %d processes\n", nvrtc->major, nvrtc->minor, wanted.processes);
    drop_unknown(nvrtc);
    todo = mmap(NULL, sizeof *todo, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (todo == MAP_FAILED) usage("no", "memory");
    list_units();
    list_jobs();
    compile_all();
    qsort(todo->jobs, (size_t)todo->count, sizeof *todo->jobs, by_name);
    summarize(seconds() - start);
    if (wanted.out != NULL && !write_table()) return 1;
    bad = judge();
    printf("%d of %d compilations are as they should be\n", todo->count - bad, todo->count);
    return bad > 0 || todo->count == 0;
}
