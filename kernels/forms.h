/* The production kernels, each once. A form is what the kernels of a translation unit reduce; there is one unit for
 * operators in canonical order, one for exact ones, or both, or one for any operators. The library (src/cuda), the
 * simulator (src/simt) and CMake expand these tables. */
#ifndef TALLY_FORMS_H
#define TALLY_FORMS_H

/* X(ID, of): the forms, and the calls whose kernels tally_warm and tally_warm_segments make ready with them. Those that
 * take longest to compile come first. */
#define TALLY_FORM_IDS(X)                                                       \
    X(WHOLE, ARRAYS)        /* a whole array */                                 \
    X(SMALL, ARRAYS)        /* a small one, exactly */                          \
    X(SEGMENTS, SEGMENTS)   /* segments; exact sums in two doubles each */      \
    X(TILES, SEGMENTS)      /* exact segments of many values */                 \
    X(FLAT, SEGMENTS)       /* exact segments of any values */                  \
    X(SPANS, SEGMENTS)      /* what segments have in several tiles */           \
    X(PARTITION, SEGMENTS)  /* what prepares segments */                        \
    X(FEATURES, SEGMENTS)   /* segments of vectors of features */               \
    X(GROUPS, SEGMENTS)     /* what arranges vectors by segment */              \
    X(MERGE_TWO, MERGES)    /* sorted arrays in passes of 2 runs */             \
    X(MERGE_FOUR, MERGES)   /* of 4 */                                          \
    X(MERGE_EIGHT, MERGES)  /* of 8 */                                          \
    X(ACROSS, ROWS)         /* rows that lie across others, by whole vectors */ \
    X(ANY_ACROSS, ROWS)     /* the same, wherever their values lie */           \
    X(LEFT, ROWS)           /* exact rows of any values */                      \
    X(ROWS, ROWS)           /* rows whose values lie side by side */            \
    X(SHORT, ROWS)          /* rows of a few values */                          \
    X(STRIPES, ROWS)        /* rows of a few stripes that lie across others */  \
    X(LANES, ROWS)          /* exact rows of some values side by side */        \
    X(PART_NODES, RANKS)    /* nodes of segments */                             \
    X(NODES, RANKS)         /* nodes of several parties */                      \
    X(WINDOWS, RANKS)       /* windows of nodes of exact sums */                \
    X(CONVERT, RESULTS)     /* results to the type asked for */

/* Those of merges in passes of `runs` runs: a part of the table below. */
#define TALLY_MERGE_UNIT(U, K, form, runs)                                                      \
    U(TYPED, form, "production/merge.h", )                                                      \
        K(TYPED, form, merge_boundaries_##runs, TALLY_MERGE_BOUNDARIES_BLOCK, tally_merge_pass) \
        K(TYPED, form, merge_values_##runs, TALLY_THREADS, tally_merge_pass)                    \
        K(TYPED, form, merge_origins_##runs, TALLY_THREADS, tally_merge_pass)                   \
        K(TYPED, form, merge_check_##runs, TALLY_THREADS, tally_merge_pass)

/* U(kind, ID, text, switch): the unit of a form. kind: ORDERED (operators in canonical order), EXACT, TYPED (no
 * operator: a size and reading of values, kernels/merge/merge.h), or GENERAL (all operators and types). Its text; and
 * what is defined before it, so that one text serves several forms.
 * K(kind, ID, name, threads, work): a kernel of that unit. Its entry is tally_NAME_OPERATOR_TYPE_NAN, of a TYPED unit
 * tally_NAME_BITS_READING, of a GENERAL one tally_NAME. Threads of a block. The struct
 * that it is launched with (device/work.h, merge/merge.h). The kernel that gives a unit its name comes first. */
#define TALLY_FORM_UNITS(U, K)                                                                    \
    U(ORDERED, WHOLE, "production/arrays/reduce.h", )                                             \
        K(ORDERED, WHOLE, reduce, TALLY_THREADS, tally_array_work)                                \
    U(ORDERED, SHORT, "production/rows/short.h", )                                                \
        K(ORDERED, SHORT, short, TALLY_THREADS, tally_rows_work)                                  \
    U(ORDERED, STRIPES, "production/rows/stripes.h", )                                            \
        K(ORDERED, STRIPES, stripes, TALLY_THREADS, tally_rows_work)                              \
    U(ORDERED, ROWS, "production/rows/rows.h", )                                                  \
        K(ORDERED, ROWS, rows, TALLY_THREADS, tally_rows_work)                                    \
    U(ORDERED, ACROSS, "production/rows/columns.h", )                                             \
        K(ORDERED, ACROSS, columns, TALLY_THREADS, tally_rows_work)                               \
    U(ORDERED, ANY_ACROSS, "production/rows/any_columns.h", )                                     \
        K(ORDERED, ANY_ACROSS, any_columns, TALLY_THREADS, tally_rows_work)                       \
    U(ORDERED, SEGMENTS, "production/segments/segments.h", )                                      \
        K(ORDERED, SEGMENTS, segments, TALLY_SEGMENTS_BLOCK, tally_segments_work)                 \
    U(ORDERED, SPANS, "production/segments/spans.h", )                                            \
        K(ORDERED, SPANS, spans, TALLY_THREADS, tally_segments_work)                              \
    U(ORDERED, FEATURES, "production/segments/features.h", )                                      \
        K(ORDERED, FEATURES, features, TALLY_THREADS, tally_features_work)                        \
        K(ORDERED, FEATURES, feature_nodes, TALLY_THREADS, tally_features_work)                   \
    U(ORDERED, PART_NODES, "production/ranks/part_nodes.h", )                                     \
        K(ORDERED, PART_NODES, part_nodes, TALLY_THREADS, tally_part_nodes_work)                  \
    U(ORDERED, NODES, "production/ranks/nodes.h", )                                               \
        K(ORDERED, NODES, nodes, TALLY_THREADS, tally_nodes_work)                                 \
    U(EXACT, WHOLE, "production/arrays/reduce_exact.h", )                                         \
        K(EXACT, WHOLE, exact, TALLY_THREADS, tally_array_work)                                   \
    U(EXACT, SMALL, "production/arrays/small_exact.h", )                                          \
        K(EXACT, SMALL, exact_small, TALLY_THREADS, tally_array_work)                             \
    U(EXACT, SEGMENTS, "production/segments/segments.h", TALLY_EXPANSIONS)                        \
        K(EXACT, SEGMENTS, expansions, TALLY_SEGMENTS_BLOCK, tally_segments_work)                 \
    U(EXACT, TILES, "production/segments/exact_tiles.h", TALLY_EXPANSIONS)                        \
        K(EXACT, TILES, exact_tiles, TALLY_FLAT_THREADS, tally_segments_work)                     \
    U(EXACT, SPANS, "production/segments/spans.h", TALLY_EXPANSIONS)                              \
        K(EXACT, SPANS, expansion_spans, TALLY_THREADS, tally_segments_work)                      \
    U(EXACT, FEATURES, "production/segments/features.h", TALLY_EXPANSIONS)                        \
        K(EXACT, FEATURES, expansion_features, TALLY_THREADS, tally_features_work)                \
        K(EXACT, FEATURES, expansion_feature_nodes, TALLY_THREADS, tally_features_work)           \
    U(EXACT, SHORT, "production/rows/short_exact.h", )                                            \
        K(EXACT, SHORT, exact_short, TALLY_THREADS, tally_segments_work)                          \
    U(EXACT, LANES, "production/rows/exact_lanes.h", TALLY_EXPANSIONS)                            \
        K(EXACT, LANES, exact_lanes, TALLY_THREADS, tally_lanes_work)                             \
    U(EXACT, ROWS, "production/rows/exact_parts.h", TALLY_EXPANSIONS)                             \
        K(EXACT, ROWS, exact_parts, TALLY_THREADS, tally_parts_work)                              \
    U(EXACT, ACROSS, "production/rows/columns.h", TALLY_EXPANSIONS)                               \
        K(EXACT, ACROSS, expansion_columns, TALLY_THREADS, tally_rows_work)                       \
    U(EXACT, ANY_ACROSS, "production/rows/any_columns.h", TALLY_EXPANSIONS)                       \
        K(EXACT, ANY_ACROSS, any_expansion_columns, TALLY_THREADS, tally_rows_work)               \
    U(EXACT, FLAT, "production/segments/flat.h", )                                                \
        K(EXACT, FLAT, flat, TALLY_FLAT_THREADS, tally_segments_work)                             \
        K(EXACT, FLAT, flat_whole, TALLY_FLAT_THREADS, tally_segments_work)                       \
        K(EXACT, FLAT, flat_finish, TALLY_THREADS, tally_segments_work)                           \
    U(EXACT, LEFT, "production/rows/left_rows.h", )                                               \
        K(EXACT, LEFT, left_rows, TALLY_FLAT_THREADS, tally_left_work)                            \
    U(EXACT, PART_NODES, "production/ranks/exact_part_nodes.h", )                                 \
        K(EXACT, PART_NODES, exact_part_nodes, TALLY_THREADS, tally_part_nodes_work)              \
    U(EXACT, NODES, "production/ranks/exact_nodes.h", )                                           \
        K(EXACT, NODES, exact_nodes, TALLY_THREADS, tally_nodes_work)                             \
    U(GENERAL, PARTITION, "production/segments/partition.h", )                                    \
        K(GENERAL, PARTITION, partition_boundaries, TALLY_THREADS, tally_offsets_work)            \
        K(GENERAL, PARTITION, partition_sums, TALLY_THREADS, tally_offsets_work)                  \
        K(GENERAL, PARTITION, partition_scan, TALLY_THREADS, tally_offsets_work)                  \
        K(GENERAL, PARTITION, partition_lengths, TALLY_THREADS, tally_offsets_work)               \
        K(GENERAL, PARTITION, partition_shares, TALLY_THREADS, tally_offsets_work)                \
        K(GENERAL, PARTITION, partition_segment_ids, TALLY_THREADS, tally_offsets_work)           \
        K(GENERAL, PARTITION, partition_check, TALLY_THREADS, tally_offsets_work)                 \
        K(GENERAL, PARTITION, partition_segment_id_boundaries, TALLY_THREADS, tally_offsets_work) \
    U(GENERAL, GROUPS, "production/segments/groups.h", )                                          \
        K(GENERAL, GROUPS, group_keys, TALLY_THREADS, tally_groups_work)                          \
        K(GENERAL, GROUPS, group_digits, TALLY_THREADS, tally_groups_work)                        \
        K(GENERAL, GROUPS, group_move, TALLY_THREADS, tally_groups_work)                          \
        K(GENERAL, GROUPS, group_lengths, TALLY_THREADS, tally_groups_work)                       \
        K(GENERAL, GROUPS, group_spread, TALLY_THREADS, tally_groups_work)                        \
        K(GENERAL, GROUPS, group_gather, TALLY_THREADS, tally_groups_work)                        \
    U(GENERAL, WINDOWS, "production/ranks/windows.h", )                                           \
        K(GENERAL, WINDOWS, window_extents, TALLY_THREADS, tally_windows_work)                    \
        K(GENERAL, WINDOWS, window_lengths, TALLY_THREADS, tally_windows_work)                    \
        K(GENERAL, WINDOWS, window_shrink, TALLY_THREADS, tally_windows_work)                     \
        K(GENERAL, WINDOWS, window_restore, TALLY_THREADS, tally_windows_work)                    \
        K(GENERAL, WINDOWS, window_move, TALLY_THREADS, tally_windows_work)                       \
    TALLY_MERGE_UNIT(U, K, MERGE_TWO, 2)                                                          \
    TALLY_MERGE_UNIT(U, K, MERGE_FOUR, 4)                                                         \
    TALLY_MERGE_UNIT(U, K, MERGE_EIGHT, 8)                                                        \
    U(GENERAL, CONVERT, "production/convert.h", )                                                 \
        K(GENERAL, CONVERT, convert, TALLY_THREADS, tally_convert_work)

#endif
