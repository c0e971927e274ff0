/* What is said and drawn of a picture of gallery/host: by explain, and by the page of the course. */
#ifndef GALLERY_PICTURE_H
#define GALLERY_PICTURE_H

#include <stdio.h>

#include "gallery/command/gallery.h"

enum { SET_TEXT = 48, FRAME_TEXT = 96 };

/* The inputs of an element: "0-3", "0,8", "0,4,..,12"; "" of none. `text` has room for SET_TEXT; returns it. */
const char *set_text(uint64_t set, char *text);

/* What is done in a frame: "step 2: combine". `text` has room for FRAME_TEXT; returns it. */
const char *frame_text(const tally__picture *picture, int frame, char *text);
/* What the last-block guard does in it; "" if nothing. */
const char *guard_text(const tally__picture *picture, int frame, char *text);

/* Whether thread `thread` of block `block` makes something in a frame. */
bool is_active(const tally__picture *picture, int frame, int block, int thread);

typedef struct drawing_style {
    const char *title;          /* NULL: the picture is part of a page, which has the words and the colours */
    const int32_t *segment_ids; /* of the inputs, or NULL */
} drawing_style;
/* Draws a picture as an SVG. False: there is no memory, after a complaint. */
typedef bool drawing_function(const tally__picture *picture, drawing_style style, FILE *file);

/* The steps, each frame a group of class "frame". */
drawing_function draw_picture;

/* Opens an SVG; with a title it has colours of its own, and the title stands on top. */
void begin_svg(FILE *file, double width, double height, const char *title);

/* A figure of the paper, and how many values show it. (figures.c) */
typedef struct paper_figure {
    const char *kernel, *name;
    int count;
    drawing_function *draw;
} paper_figure;
/* That of a kernel, or NULL. */
const paper_figure *find_figure(const tally__gallery_row *row);

#endif
