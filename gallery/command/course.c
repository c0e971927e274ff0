/* tally course: the gallery as one page, and tally emit KERNEL: a kernel as plain CUDA. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/complain.h"
#include "base/quote.h"
#include "gallery/command/picture.h"
#include "gallery/kernels/table.h"
#include "output/output.h"

enum { COUNTED = 32768, COUNTED_MERGE = 256, MOST_PART = 4096 };

/* ---- what a kernel's opening comment says ---- */

/* The next line of a comment without its frame; false at its end. */
static bool next_line(const char **at, char *line, size_t size) {
    const char *end = *at + strcspn(*at, "\n");
    if (**at == '\0' || **at == '#') {
        return false;
    }
    const char *from = *at + (**at == ' ');
    from += strspn(from, "/*");
    from += *from == ' ';
    int length = (int)(end - from);
    if (length >= 2 && memcmp(end - 2, "*/", 2) == 0) {
        length -= 2;
    }
    snprintf(line, size, "%.*s", length > 0 ? length : 0, from);
    *at = *end == '\n' ? end + 1 : end;
    return true;
}

/* Writes the parts ("Idea. ...") as members of an object: a line that is not indented begins one. */
static void print_parts(const char *comment, FILE *file) {
    char line[256], part[MOST_PART] = "";
    const char *between = "";
    bool more = true;
    while (more) {
        more = next_line(&comment, line, sizeof line);
        bool begins = more && line[0] >= 'A' && line[0] <= 'Z';
        if ((!more || begins) && part[0] != '\0') {
            char *text = part + strcspn(part, ".:");
            char *words = text + (*text != '\0') + strspn(text + (*text != '\0'), " ");
            *text = '\0';
            fprintf(file, "%s", between);
            print_json_string(part, file);
            fputs(": ", file);
            print_json_string(words, file);
            between = ", ";
            part[0] = '\0';
        }
        if (begins) {
            snprintf(part, sizeof part, "%s", line);
        } else if (more && part[0] != '\0') {
            size_t length = strlen(part);
            snprintf(part + length, sizeof part - length, " %s", line + strspn(line, " "));
        }
    }
}

/* "001 interleaved: a tree of neighbours." without what comes before the colon, and the dot. */
static void print_title(const char *comment, FILE *file) {
    char line[256];
    next_line(&comment, line, sizeof line);
    char *title = strchr(line, ':');
    title = title != NULL ? title + 2 : line;
    title[strcspn(title, ".")] = '\0';
    print_json_string(title, file);
}

/* ---- what the simulator says ---- */

static tally_status count_on(tally__track *track, const tally__gallery_row *row, FILE *file) {
    tally__counts counts;
    tally__lap lap;
    static char results[128 << 10]; /* of f32: more than there are segments, or values to merge */
    tally_status status = tally__track_run(track, row, results, &lap);
    status = status == TALLY_OK ? tally__track_count(track, row, &counts) : status;
    if (status == TALLY_OK) {
        fprintf(file,
                "{\"launches\": %d, \"blocks\": %d, \"threads\": %d, \"loads\": %.4g, \"barriers\": %lld, "
                "\"warp_barriers\": %lld, \"branches\": %lld, \"divergent\": %lld, \"bank_conflicts\": %lld, "
                "\"transactions\": %lld}",
                lap.launches, lap.blocks[0], lap.threads, counts.loads, (long long)counts.barriers,
                (long long)counts.warp_barriers, (long long)counts.branches, (long long)counts.divergent,
                (long long)counts.bank_conflicts, (long long)counts.transactions);
    }
    return status;
}

/* Over as many values as all kernels take, but those of one value a thread, and lists. */
static bool print_counts(stage *s, const tally__gallery_row *row, FILE *file) {
    int64_t count = row->plan == TALLY_PLAN_FIT     ? row->threads
                    : row->plan == TALLY_PLAN_MERGE ? COUNTED_MERGE
                                                    : COUNTED;
    bool fine = set_stage(s, count, row->segment_ids ? "three" : NULL, 1);
    if (fine && row->plan == TALLY_PLAN_MERGE) {
        fine = sort_stage(s, count);
        s->capacity = 0;
    }
    fprintf(file, ", \"counted\": %lld, \"counts\": ", (long long)count);
    return fine && (count_on(s->track, row, file) == TALLY_OK || complain(NULL, "%s", tally_message()));
}

static void print_active(const tally__picture *picture, int f, FILE *file) {
    for (int block = 0; block < picture->blocks; block++) {
        fprintf(file, "%s\"", block > 0 ? ", " : "");
        for (int t = 0; t < picture->threads; t++) {
            fputc(is_active(picture, f, block, t) ? '#' : '.', file);
        }
        fputc('"', file);
    }
}

static void print_frames_json(const tally__picture *picture, FILE *file) {
    char text[FRAME_TEXT], guard[FRAME_TEXT];
    for (int f = 0; f < picture->frames; f++) {
        const tally__frame *frame = &picture->frame[f];
        fprintf(file,
                "%s{\"text\": \"%s\", \"guard\": \"%s\", \"launch\": %d, \"count\": %d, \"branches\": %d, "
                "\"divergent\": %d, \"conflicts\": %d, \"transactions\": %d, \"barriers\": %d, \"meetings\": %d, "
                "\"active\": [",
                f > 0 ? ",\n  " : "\n  ", frame_text(picture, f, text), guard_text(picture, f, guard), frame->launch,
                frame->active, frame->branches, frame->divergent, frame->bank_conflicts, frame->transactions,
                frame->barriers, frame->warp_barriers);
        print_active(picture, f, file);
        fputs("]}", file);
    }
}

/* A drawing as a JSON string. */
static bool print_svg(const tally__picture *picture, drawing_function *draw, const int32_t *segment_ids, FILE *file) {
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    bool fine = memory != NULL && draw(picture, (drawing_style){NULL, segment_ids}, memory);
    fine = memory != NULL && fclose(memory) == 0 && fine;
    if (fine) {
        print_json_string(text, file);
    }
    free(text);
    return fine || complain(NULL, "course: no memory for a picture");
}

static bool print_picture(const tally__gallery_row *row, FILE *file) {
    int count = tally__picture_usual_count(row);
    int32_t segment_ids[TALLY_MOST_PICTURED];
    int64_t segments = row->segment_ids ? segments_of_shape("three", count, segment_ids) : 0;
    tally__picture picture;
    if (tally__picture_draw(row, count, row->segment_ids ? segment_ids : NULL, segments, &picture) != TALLY_OK) {
        return complain(NULL, "%s", tally_message());
    }
    fprintf(file, ",\n \"picture\": {\"values\": %d, \"threads\": %d, \"blocks\": %d, \"lanes\": %d, \"frames\": [",
            picture.count, picture.threads, picture.blocks, TALLY_PICTURED_LANES);
    print_frames_json(&picture, file);
    fputs("],\n  \"svg\": ", file);
    bool fine = print_svg(&picture, draw_picture, row->segment_ids ? segment_ids : NULL, file);
    fputc('}', file);
    tally__picture_free(&picture);
    return fine;
}

/* The paper's figure of a kernel, if it has one. */
static bool print_figure(const tally__gallery_row *row, FILE *file) {
    const paper_figure *figure = find_figure(row);
    tally__picture picture;
    if (figure == NULL) {
        return true;
    }
    if (tally__picture_draw(row, figure->count, NULL, 0, &picture) != TALLY_OK) {
        return complain(NULL, "%s", tally_message());
    }
    fprintf(file, ",\n \"figure\": {\"name\": \"%s\", \"svg\": ", figure->name);
    bool fine = print_svg(&picture, figure->draw, NULL, file);
    fputc('}', file);
    tally__picture_free(&picture);
    return fine;
}

/* ---- the page ---- */

static bool print_kernel(stage *s, const tally__gallery_row *row, FILE *file) {
    const char *text = tally__gallery_kernel_text(row), *code = tally__gallery_cuda_text(row);
    if (text == NULL || code == NULL) {
        return complain(NULL, "course: this build has no text of %s", row->name);
    }
    fprintf(file, "%s{\"number\": %d, \"name\": \"%s\", \"title\": ", row->number > 0 ? ",\n" : "\n", row->number,
            row->name);
    print_title(text, file);
    fprintf(file, ", \"commutes\": %s, \"segments\": %s, \"threads\": %d, \"each\": %d, \"shared\": %d,\n \"parts\": {",
            row->needs == TALLY_COMMUTES ? "true" : "false", row->segment_ids ? "true" : "false", row->threads,
            row->each, row->shared);
    print_parts(strchr(text, '\n') + 1, file);
    fputs("},\n \"code\": ", file);
    print_json_string(code, file);
    bool fine = print_counts(s, row, file) && (row->number == TALLY_PLAIN_READ || print_picture(row, file)) &&
                print_figure(row, file);
    fputc('}', file);
    return fine;
}

/* All of a file of a race: the text that a page is made with may not end its script. */
static char *read_measured(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = file != NULL ? take_memory("course", MOST_PART * 256, 1) : NULL;
    size_t length = text != NULL ? fread(text, 1, (size_t)MOST_PART * 256 - 1, file) : 0;
    bool fine = text != NULL && !ferror(file) && feof(file);
    if (file == NULL) {
        complain_system(path, "cannot open it");
    } else {
        fclose(file);
    }
    if (fine) {
        text[length] = '\0';
        fine = text[strspn(text, " \n")] == '{' && strlen(text) == length && strstr(text, "</") == NULL;
    }
    if (!fine && file != NULL) {
        complain(path, "it is not what tally race --json prints");
    }
    if (!fine) {
        free(text);
    }
    return fine ? text : NULL;
}

static bool print_data(stage *s, const char *measured, FILE *file) {
    fprintf(file, "{\"version\": \"%s\", \"chapters\": %s, \"measured\": %s, \"kernels\": [", tally_version(),
            tally__course_text("course/chapters.json"),
            measured != NULL ? measured : tally__course_text("course/measured.json"));
    for (int k = 0; k < tally__gallery_count; k++) {
        if (!print_kernel(s, &tally__gallery[k], file)) {
            return false;
        }
    }
    fputs("],\n \"exercises\": [", file);
    for (int n = 1; tally__gallery_exercise(n, false) != NULL; n++) {
        fputs(n > 1 ? ",\n{\"text\": " : "\n{\"text\": ", file);
        print_json_string(tally__gallery_exercise(n, false), file);
        fputs(", \"solution\": ", file);
        print_json_string(tally__gallery_exercise(n, true), file);
        fputc('}', file);
    }
    fputs("]}", file);
    return true;
}

/* page.html with the other parts where it says @NAME@. */
static bool print_page(stage *s, const char *measured, FILE *file) {
    bool fine = true;
    for (const char *at = tally__course_text("course/page.html"); *at != '\0' && fine;) {
        size_t length = strcspn(at, "@");
        fwrite(at, 1, length, file);
        at += length;
        if (strncmp(at, "@STYLE@", 7) == 0) {
            fputs(tally__course_text("course/page.css"), file);
        } else if (strncmp(at, "@SCRIPT@", 8) == 0) {
            fputs(tally__course_text("course/page.js"), file);
        } else if (strncmp(at, "@DATA@", 6) == 0) {
            fine = print_data(s, measured, file);
        } else if (*at == '@') {
            fputc('@', file);
            at++;
            continue;
        }
        at += *at == '@' ? 1 + strcspn(at + 1, "@") + 1 : 0;
    }
    return fine;
}

static bool write_course(const command *wanted, stage *s) {
    char *measured = wanted->measured != NULL ? read_measured(wanted->measured) : NULL;
    output out;
    bool fine = (wanted->measured == NULL || measured != NULL) &&
                begin_output(&out, wanted->output != NULL ? wanted->output : "course.html");
    if (fine && !print_page(s, measured, out.stream)) {
        drop_output(&out);
        fine = false;
    } else if (fine) {
        fine = end_output(&out);
    }
    free(measured);
    return fine;
}

int run_course(const command *wanted) {
    stage s;
    if (wanted->file_count > 0) {
        complain(NULL, "course takes no FILE");
        return STATUS_MISSPELT;
    }
    int status = open_stage(wanted, TALLY_BACKEND_SIMT, &s);
    if (status == STATUS_DONE) {
        status = write_course(wanted, &s) ? STATUS_DONE : STATUS_REFUSED;
        close_stage(&s);
    }
    return status;
}

/* ---- a kernel as plain CUDA ---- */

bool is_kernel(const command *wanted) {
    return wanted->file_count == 1 && tally__gallery_find(wanted->files[0]) != NULL;
}

int run_emit_kernel(const command *wanted) {
    const tally__gallery_row *row = tally__gallery_find(wanted->files[0]);
    const char *code = tally__gallery_cuda_text(row);
    output out;
    if (!takes_only(wanted, "emit KERNEL", ONLY(OUTPUT))) {
        return STATUS_MISSPELT;
    }
    if (code == NULL) {
        complain(NULL, "this build has no text of %s", row->name);
        return STATUS_REFUSED;
    }
    if (!begin_output(&out, wanted->output != NULL ? wanted->output : "-")) {
        return STATUS_REFUSED;
    }
    fputs(code, out.stream);
    return end_output(&out) ? STATUS_DONE : STATUS_REFUSED;
}
