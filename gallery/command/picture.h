/* What is said and drawn of a picture of gallery/host: by explain, and by the page of the course. */
#ifndef GALLERY_PICTURE_H
#define GALLERY_PICTURE_H

#include <stdio.h>

#include "gallery/command/gallery.h"

enum { SET_TEXT = 48, FRAME_TEXT = 96 };

/* The inputs of an element: "0-3", "0,8", "0,4,..,12". `text` has room for SET_TEXT; returns it. */
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
/* The picture as an SVG: each frame a group of class "frame". False: there is no memory, after a complaint. */
bool draw_picture(const tally__picture *picture, drawing_style style, FILE *file);

#endif
