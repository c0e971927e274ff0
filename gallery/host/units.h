/* Operators of the gallery, and the translation units of its kernels. */
#ifndef RACE_UNITS_H
#define RACE_UNITS_H

#include "cuda/platform.h"
#include "gallery/host/gallery.h"
#include "gallery/host/kernels.h"

/* An operator as the gallery knows it: one of Tally's, or its own, which has no number. */
typedef struct tally__gallery_operator {
    const char *name, *kernel;
    tally_op op; /* TALLY_OP_END: the gallery's own */
    int inputs;
    bool commutes;
    const tally__gallery_set *set;
} tally__gallery_operator;

/* Of u64, compiled small (TALLY_GALLERY_SMALL): for pictures. */
extern const tally__gallery_operator tally__gallery_inputs;
/* TALLY_BAD_ARGUMENT: no such operator. */
tally_status tally__gallery_operator_named(const char *name, tally__gallery_operator *found);

/* The units of a kernel: for a launch over values; for the launches over what an earlier one left; for a launch that
 * repeats what one block does over values. The simulator has one kernel for all. */
typedef enum tally__gallery_form {
    TALLY_GALLERY_OF_VALUES,
    TALLY_GALLERY_OF_ELEMENTS,
    TALLY_GALLERY_REPEATED,
    TALLY_GALLERY_FORMS
} tally__gallery_form;

/* Whether a kernel has the sizes of the table; and the definitions of those that it has. */
bool tally__gallery_is_usual(const tally__gallery_row *row);
void tally__gallery_write_sizes(const tally__gallery_row *row, char *text, size_t capacity);

/* A unit of a kernel. `*text`, in memory of malloc, must live as long as the unit. */
tally_status tally__gallery_unit(const tally__gallery_operator *operator, tally_type type,
                                 const tally__gallery_row *row, tally__gallery_form form, tally__unit *unit,
                                 char **text);

#endif
