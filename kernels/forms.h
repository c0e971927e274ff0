/* The production kernels, each once. A form is what the kernels of a translation unit reduce; there is one for
 * operators in canonical order, one for exact ones, or both. The library (src/cuda), the simulator (src/simt/kernels)
 * and CMake expand these tables. */
#ifndef TALLY_FORMS_H
#define TALLY_FORMS_H

/* X(ID, of): the forms, and the calls whose kernels tally_warm and tally_warm_segments make ready with them. Those that
 * take longest to compile come first. */
#define TALLY_FORM_IDS(X)                                                                   \
    X(WHOLE, ARRAYS)      /* a whole array */                                               \
    X(SMALL, ARRAYS)      /* a small one, exactly */                                        \
    X(FLAT, SEGMENTS)     /* exact segments of any values */                                \
    X(SEGMENTS, SEGMENTS) /* segments; exact sums alone, in a few doubles */                \
    X(WIDE, SEGMENTS)     /* exact segments by prefix sums of four levels */                \
    X(PREFIX, SEGMENTS)   /* of one or two */                                               \
    X(CUT, SEGMENTS)      /* what prepares segments, for all operators: production/cut.h */ \
    X(FEATURES, SEGMENTS) /* segments of vectors of features */                             \
    X(GROUPS, SEGMENTS)   /* what arranges vectors, for all: production/groups.h */         \
    X(MERGE, MERGES)      /* sorted arrays into one, of all types: production/merge.h */    \
    X(COLUMNS, ROWS)      /* rows that lie across others */                                 \
    X(ROWS, ROWS)         /* rows whose values lie side by side */                          \
    X(SHORT, ROWS)        /* rows of a few values */                                        \
    X(PART_NODES, RANKS)  /* nodes of segments */                                           \
    X(NODES, RANKS)       /* nodes of several parties */

/* X(ID, name, second, third, text, switch): names of the unit's kernels, of which entries are made
 * (tally_NAME_OPERATOR_TYPE_NAN); its text; and what is defined before it, so that one text serves several forms. */
#define TALLY_ORDERED_FORMS(X)                                        \
    X(WHOLE, reduce, , , "production/reduce.h", )                     \
    X(SHORT, short, , , "production/short.h", )                       \
    X(ROWS, rows, , , "production/rows.h", )                          \
    X(COLUMNS, columns, , , "production/columns.h", )                 \
    X(SEGMENTS, segments, spans, , "production/segments.h", )         \
    X(FEATURES, features, feature_nodes, , "production/features.h", ) \
    X(PART_NODES, part_nodes, , , "production/part_nodes.h", )        \
    X(NODES, nodes, , , "production/nodes.h", )
#define TALLY_EXACT_FORMS(X)                                                                 \
    X(WHOLE, exact, , , "production/reduce_exact.h", )                                       \
    X(SMALL, exact_small, , , "production/small_exact.h", )                                  \
    X(SEGMENTS, quick, quick_spans, , "production/segments.h", TALLY_QUICK)                  \
    X(FEATURES, quick_features, quick_feature_nodes, , "production/features.h", TALLY_QUICK) \
    X(PREFIX, prefix, , , "production/prefix.h", )                                           \
    X(COLUMNS, prefix_columns, , , "production/prefix.h", TALLY_PREFIX_COLUMNS)              \
    X(WIDE, wide, , , "production/prefix.h", TALLY_PREFIX_WIDE)                              \
    X(FLAT, flat, flat_clear, flat_finish, "production/flat.h", )                            \
    X(PART_NODES, exact_part_nodes, , , "production/exact_part_nodes.h", )                   \
    X(NODES, exact_nodes, , , "production/exact_nodes.h", )

#endif
