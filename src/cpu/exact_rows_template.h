/* Reductions along an axis that is not the last, exactly: reduce_by_levels. Columns that are one block have results
 * from the parts of their sums; others have numbers of limbs, to which block after block is added. Once for each type,
 * as exact_runs_template.h. */
#ifndef TALLY_CPU_EXACT_ROWS_TEMPLATE_H
#define TALLY_CPU_EXACT_ROWS_TEMPLATE_H

#include "cpu/exact_block_template.h"

/* The nodes of a panel, which may be many blocks. */
static void panel_nodes(const tally__kernel *kernel, panel_t *s, const raw_t *x, const raw_t *y, int64_t rows,
                        int64_t stride, tally__node *nodes) {
    clear_panel(s);
    for (int64_t p = 0; p < s->width; p++) clear_accumulator((void *)tally__node_at(kernel, nodes, p));
    if (add_panel(kernel, s, x, y, rows, stride, nodes)) {
        widen_nodes(kernel, s, nodes);
        return;
    }
    for (int64_t p = 0; p < s->width; p++) clear_accumulator((void *)tally__node_at(kernel, nodes, p));
    add_copied(kernel, s, x, y, rows, stride, nodes);
}
/* Results of nodes. */
static int finish_nodes(const tally__kernel *kernel, tally__node *nodes, int64_t width, const tally_final *final,
                        char *results) {
    const int64_t bytes = (int64_t)tally__result_bytes(kernel, final);
    int flags = 0;
    for (int64_t p = 0; p < width; p++) {
        char result[TALLY_RESULT_BYTES];
        flags |= kernel_finish(kernel, tally__node_at(kernel, nodes, p), final, result);
        place_in_leaf(results, p, result, bytes);
    }
    return flags;
}
/* How many columns of a number of rows are one block: 16 KiB of them, or 1 KiB of each row, as memory is read badly in
 * short pieces; whole rows of lanes, if it can be. */
static int64_t block_columns(int64_t rows) {
    enum { piece = 1024 / sizeof(base_t), together = 16 * piece };
    const int64_t wanted = together / rows > piece ? together / rows : piece;
    const int64_t columns = wanted < near_values / rows ? wanted : near_values / rows;
    const int64_t whole = columns < TALLY_COLUMN_LANES ? 8 : TALLY_COLUMN_LANES;
    return columns < 16 ? 0 : columns / whole * whole;
}
/* Rows as internal.h says, by levels. Columns of a leaf that are one block are finalized from their parts; of f64
 * products such blocks are small, as larger ones would need more levels than there are parts. */
static int reduce_by_levels(const tally__kernel *kernel, const raw_t *vx, const raw_t *vy, int64_t rows, int64_t stride,
                            int64_t width, const tally_final *final, void *scratch, tally__node *nodes, void *results) {
    const int64_t few = rows > 0 && rows <= TALLY_LEAF_BYTES / TALLY_BYTES ? block_columns(rows) : 0;
    const bool one_block = results && is_of_parts(final) && few > 0;
    panel_t *s = (void *)(((uintptr_t)scratch + 63) & ~(uintptr_t)63);
    int flags = 0;
    for (int64_t p = 0; p < width; p += s->width) {
        const raw_t *x = vx + p, *y = vy + p;
        const int64_t most = width - p < panel_width ? width - p : panel_width;
        char *to = results ? (char *)results + p * (int64_t)tally__result_bytes(kernel, final) : NULL;
        bool empty = false;
        lay_out(s, one_block && few < most ? few : most, stride);
        clear_panel(s);
        if (one_block && rows <= block_rows(s, alone_values)) {
            const bool follow = width - p >= 2 * s->width && rows * s->pitch <= block_values;
            finalize_panel(kernel, s, x, y, rows, stride, follow, final, to, &empty);
            flags |= empty ? TALLY_FLAG_EMPTY : 0;
            continue;
        }
        panel_nodes(kernel, s, x, y, rows, stride, results ? (void *)s->nodes : tally__node_at(kernel, nodes, p));
        if (results) flags |= finish_nodes(kernel, (void *)s->nodes, s->width, final, to);
    }
    return flags;
}

#endif
