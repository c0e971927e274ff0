/* Segments as people hold them, drawn at random: vectors of features, begins and ends, ids in any order; and what each
 * result is due to be. */
#ifndef TALLY_TESTS_GROUPED_PROBLEMS_H
#define TALLY_TESTS_GROUPED_PROBLEMS_H

#include "operators.h"

enum { MOST_SEGMENTS = 70000, GROUPED_FORMS = 6 };
enum { X, BEGINS, INDEX, ENDS, GOT, PLACED, PLACED_Y, COPY, COPY_Y }; /* scratch memory */
extern const char *const grouped_forms[GROUPED_FORMS];

/* Segments, and which vectors each has, in order. */
typedef struct grouped {
    int form;
    int64_t vectors, inner, count;
    tally_segments segments; /* its index in scratch memory INDEX and ENDS */
    int64_t *begins;         /* of each segment's part of `members`; and the end; in scratch memory */
    int64_t *members;        /* to be freed */
} grouped;

/* A problem of that form with vectors of that number of features, in the scene. */
void draw_grouped(grouped *p, int form, int64_t inner, uint64_t *random);
/* One of the numbers of features that are tested. */
int64_t draw_inner(uint64_t *random);

/* Compares `got`, results of `bytes` bytes each, with a reduction for each, and gives the status that the whole call is
 * due. Values have `width` bytes. */
tally_status expect_each_feature(const grouped *p, tally_context *context, tally_op op, tally_array x, tally_array y,
                                 size_t width, const char *got, size_t bytes);

#endif
