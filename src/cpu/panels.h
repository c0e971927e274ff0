/* Results side by side, each over values that lie a vector of `inner` numbers apart: what rows along an axis that is
 * not the last and segments of vectors have in common. Neighbouring results share vector registers.
 *
 * A panel has as many of them as the cache holds columns of a leaf for. */
#ifndef TALLY_CPU_PANELS_H
#define TALLY_CPU_PANELS_H

#include "cpu/cpu.h"

typedef struct tally__panels {
    const tally__spec *spec;
    const tally__input *in;
    const tally__sink *sink;
    const int64_t *order; /* the vector at each place; NULL: place i has vector i */
    int64_t places;       /* how many places `order` has */
    int64_t inner;
    int64_t longest; /* the most vectors in one call of tally__panel_tree */
    int threads;
    int64_t width, count; /* results of a panel; number of panels */
    size_t scratch_bytes;
} tally__panels;

/* Divides vectors of p->inner numbers into panels, and fills in width, count and scratch_bytes. */
void tally__divide_panels(tally__panels *p);

/* The scratch memory of a thread: lanes, gathered values, results, nodes of the levels of a tree. */
typedef struct tally__workspace {
    char *memory, *lanes, *x, *y, *results;
    tally__node *node, *levels;
} tally__workspace;
bool tally__open_workspace(const tally__panels *p, tally__workspace *w);
void tally__close_workspace(const tally__panels *p, tally__workspace *w);

/* Results side by side: numbers `column` ... column + width of vectors. */
typedef struct tally__panel {
    int64_t begin; /* the place of the vector with index 0 */
    int64_t column, width;
    int64_t first; /* where the first result is stored */
} tally__panel;

/* Panel number k of results that begin at `first`, over vectors from place `begin` on. */
tally__panel tally__panel_at(const tally__panels *p, int64_t begin, int64_t first, int64_t k);

/* Reduces values at ... at + n - 1 of each result of a panel to w->node. Returns TALLY_FLAG_... */
int tally__panel_tree(const tally__panels *p, const tally__workspace *w, const tally__panel *panel, int64_t at,
                      int64_t n);
/* Finishes nodes, and stores the results. */
int tally__finish_panel(const tally__panels *p, const tally__workspace *w, const tally__panel *panel,
                        tally__node *nodes);
/* Both, for all n values of each result. */
int tally__reduce_panel(const tally__panels *p, const tally__workspace *w, const tally__panel *panel, int64_t n);

#endif
