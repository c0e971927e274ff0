/* What the kernels of a unit do for its operator, type and form. Each switch is 0 or 1, whatever the unit: read it with
 * `if`, and with #if only where a branch does not compile without what it is about. TALLY_IF_SUM(...) and its like are
 * for fields, and for statements about them.
 *
 * accumulators/records.h and exact_sums/exact.h include this, when the operator has said what it is. Needs
 * types/types.h, and takes, defined or not,
 *
 *     TALLY_SUM_TERM, TALLY_PRODUCTS, TALLY_KEYS               of an exact operator (exact_sums/exact.h)
 *     TALLY_SUM_TERM, TALLY_SQUARES, TALLY_RANGE               of one of integers (accumulators/integers.h)
 *     TALLY_SECOND                                             of any (operators/README.md), and with a value of 1
 *     TALLY_HAS_INDEX, TALLY_HAS_WIDE, TALLY_CAN_SPARE, TALLY_IS_LONG, TALLY_IS_DEAR
 *     TALLY_USER_TEXT, TALLY_USER_KEEPS_ORDER                  of the caller's own (user/operator.h)
 *     TALLY_KERNEL_ORDER, TALLY_KERNEL_INPUTS                  of the row in include/tally/tables.h
 *     TALLY_EXPANSIONS                                         of the form (forms.h), 1
 *     TALLY_EXPANSION_PARTS, TALLY_ANY_ROWS                    of files in production/, 1 */
#ifndef TALLY_POLICY_H
#define TALLY_POLICY_H

#include "types/types.h"

/* ---- what the operator is made of ---- */

/* Exact sums of floats (kernels/exact). */
#ifdef TALLY_EXACT_H
#define TALLY_IS_EXACT 1
#else
#define TALLY_IS_EXACT 0
#endif

/* A sum of values or magnitudes; of integers also of products. */
#ifdef TALLY_SUM_TERM
#define TALLY_HAS_SUM 1
#define TALLY_IF_SUM(...) __VA_ARGS__
#define TALLY_ADDS_VALUES (TALLY_SUM_TERM == TALLY_TERM_VALUE)
#define TALLY_ADDS_MAGNITUDES (TALLY_SUM_TERM == TALLY_TERM_MAGNITUDE)
#else
#define TALLY_HAS_SUM 0
#define TALLY_IF_SUM(...)
#define TALLY_ADDS_VALUES 0
#define TALLY_ADDS_MAGNITUDES 0
#endif
/* A sum of products or squares of floats. */
#ifdef TALLY_PRODUCTS
#define TALLY_HAS_PRODUCTS 1
#define TALLY_IF_PRODUCTS(...) __VA_ARGS__
#else
#define TALLY_HAS_PRODUCTS 0
#define TALLY_IF_PRODUCTS(...)
#endif
/* The least and the greatest key of floats. */
#ifdef TALLY_KEYS
#define TALLY_HAS_KEYS 1
#define TALLY_IF_KEYS(...) __VA_ARGS__
#else
#define TALLY_HAS_KEYS 0
#define TALLY_IF_KEYS(...)
#endif
/* A sum of squares of integers. */
#ifdef TALLY_SQUARES
#define TALLY_HAS_SQUARES 1
#define TALLY_IF_SQUARES(...) __VA_ARGS__
#else
#define TALLY_HAS_SQUARES 0
#define TALLY_IF_SQUARES(...)
#endif
/* The smallest and the largest value, beside sums of integers (stats). */
#ifdef TALLY_RANGE
#define TALLY_HAS_RANGE 1
#define TALLY_IF_RANGE(...) __VA_ARGS__
#else
#define TALLY_HAS_RANGE 0
#define TALLY_IF_RANGE(...)
#endif
/* Both exact sums: variances, and what has one. */
#define TALLY_HAS_SPREAD (TALLY_HAS_SUM && TALLY_HAS_PRODUCTS)

/* How often a leaf is read: 2, where the second time takes what the first has found. */
#ifdef TALLY_SECOND
#define TALLY_PASSES 2
#else
#define TALLY_PASSES 1
#endif
/* Nodes keep an index. */
#ifndef TALLY_HAS_INDEX
#define TALLY_HAS_INDEX 0
#endif
/* A leaf that is no better needs no second pass. */
#ifndef TALLY_CAN_SPARE
#define TALLY_CAN_SPARE 0
#endif
/* Code for a value is long: made for many of them it does not fit the instruction cache. */
#ifndef TALLY_IS_LONG
#define TALLY_IS_LONG 0
#endif
/* The second pass takes long for a value, and the first in any order gives the same. */
#ifndef TALLY_IS_DEAR
#define TALLY_IS_DEAR 0
#endif
/* Results that finish has wrong, finish_wide has right. */
#ifndef TALLY_HAS_WIDE
#define TALLY_HAS_WIDE 0
#endif
/* Nodes are columns: that of no values is the node of nothing. */
#ifdef TALLY_COLUMN_NODES_H
#define TALLY_NODES_ARE_COLUMNS 1
#else
#define TALLY_NODES_ARE_COLUMNS TALLY_IS_EXACT
#endif

/* Values in shared memory and rows that lie across others are read twice. An index is found the first time
 * (shared/search.h, rows/found.h). */
#define TALLY_READS_TWICE (TALLY_PASSES == 2 && !TALLY_HAS_INDEX)
/* Rows that lie across others may begin at any address (production/rows/any_columns.h). */
#ifndef TALLY_ANY_ROWS
#define TALLY_ANY_ROWS 0
#endif

/* The caller's own, as text; whether it does not commute, so that the order must be kept. */
#ifdef TALLY_USER_TEXT
#define TALLY_IS_USER 1
#define TALLY_IS_NONCOMMUTATIVE TALLY_USER_KEEPS_ORDER
#else
#define TALLY_IS_USER 0
#define TALLY_IS_NONCOMMUTATIVE 0
#endif

/* The order of combinations does not show. */
#if TALLY_IS_EXACT
#define TALLY_IS_FREE 1
#else
#define TALLY_IS_FREE (TALLY_KERNEL_ORDER == 0 || (TALLY_KERNEL_ORDER == 1 && !TALLY_FLOAT))
#endif
/* Of rows that lie across others a leaf goes on where the one before ends: columns hold more values than a leaf has. */
#define TALLY_ROWS_GO_ON (TALLY_IS_FREE && (TALLY_NODES_ARE_COLUMNS || TALLY_HAS_INDEX))
/* Some values may count as absent. */
#define TALLY_MAY_SKIP (TALLY_FLOAT && TALLY_NAN == 1)

/* ---- exact sums in few doubles (compensated/expansions.h) ---- */

/* Segments, their features, or rows. */
#ifndef TALLY_EXPANSIONS
#define TALLY_EXPANSIONS 0
#endif
/* Few values: it does not matter what one costs, and more doubles hold more. */
#ifndef TALLY_EXPANSION_PARTS
#define TALLY_EXPANSION_PARTS 0
#endif
/* Else sums are two doubles each (compensated/nodes.h). */
#define TALLY_IS_COMPENSATED (TALLY_IS_EXACT && TALLY_EXPANSIONS && !TALLY_EXPANSION_PARTS)
/* A sum of values or magnitudes alone. */
#define TALLY_IS_PLAIN (TALLY_IS_COMPENSATED && TALLY_HAS_SUM && !TALLY_HAS_PRODUCTS && !TALLY_HAS_KEYS)
/* The largest term bounds partial sums. Those of magnitudes and squares are no larger than what they end as. */
#define TALLY_NEEDS_LARGEST \
    (TALLY_KERNEL_INPUTS == 2 || (TALLY_HAS_SUM && !TALLY_HAS_PRODUCTS && !TALLY_ADDS_MAGNITUDES))
/* The smallest size tells, with the largest, that a pair is a sum of f32 exactly: many a mean of them is a tie of f64.
 */
#define TALLY_HAS_LEAST (TALLY_IS_COMPENSATED && TALLY_HAS_KEYS && TALLY_BYTES == 4)
/* Of few bits one double holds most sums, which their range tells (compensated/ranged.h); those of f16 it always holds.
 * Of f32 it does so where a warp adds up a leaf: other segments go by chunks, or have values that are far apart. */
#define TALLY_IS_F16_SUM (TALLY_NUMBER == TALLY_NUMBER_f16 && !TALLY_HAS_PRODUCTS)
#define TALLY_IS_RANGED      \
    (TALLY_IS_COMPENSATED && \
     ((TALLY_BYTES == 2 && !TALLY_HAS_KEYS && !TALLY_IS_F16_SUM) || (TALLY_BYTES == 4 && TALLY_IN_CHUNKS)))
/* All products of f16 lie between 2^-48 and 2^32: an anchor that stands for all holds sums of them
 * (compensated/anchored.h). */
#define TALLY_IS_SPLIT \
    (TALLY_IS_COMPENSATED && TALLY_NUMBER == TALLY_NUMBER_f16 && TALLY_HAS_PRODUCTS && !TALLY_MAY_SKIP)
/* Products of f64 may overflow, or have bits that no double has. Then values are scaled (segments/scaled_segments.h);
 * beside keys no registers are left for that. */
#define TALLY_RESCALES (TALLY_IS_COMPENSATED && TALLY_IS_F64 && TALLY_HAS_PRODUCTS && !TALLY_HAS_KEYS)
/* In chunks sums of f64 are two, with an anchor between them (chunks/chunk_sums.h). */
#define TALLY_IS_ANCHORED (TALLY_IS_PLAIN && TALLY_IS_F64)

/* ---- segments in shared memory ---- */

/* Tiles may have segment ids in place of offsets. Of exact sums the ids become offsets first (cuda/segments.c). */
#define TALLY_TAKES_SEGMENT_IDS (!TALLY_IS_EXACT)

/* Some lanes fold a segment, vector by vector (shared/parts.h). */
#define TALLY_IN_PARTS (TALLY_IS_FREE && TALLY_PASSES == 1 && !TALLY_IS_STRUCTURE && !TALLY_IS_USER)
/* Any power of two of lanes may fold a segment, or search it (shared/search.h): parts_node. */
#define TALLY_BY_LANES (TALLY_IN_PARTS || TALLY_HAS_INDEX)
/* A value costs so much that segments had better meet others of about their length. */
#define TALLY_IS_SORTED (TALLY_IN_PARTS && (TALLY_HAS_SQUARES || TALLY_IS_COMPENSATED))
/* Quarters of a warp have a leaf each (shared/quarters.h). */
#define TALLY_BY_QUARTERS                                                                                          \
    (!TALLY_IS_FREE && TALLY_PASSES == 1 && TALLY_KERNEL_INPUTS == 1 && TALLY_BYTES >= 2 && !TALLY_IS_STRUCTURE && \
     !TALLY_IS_USER)
/* The bytes of a column, at most, for threads to have segments of up to 64 values alone; 0: they do not. Where columns
 * are large (TALLY_COLUMNS_ARE_LARGE), only those of up to 16 values: more are not all on their way at once. */
#define TALLY_COLUMN_MOST                    \
    (TALLY_IS_NONCOMMUTATIVE            ? 8  \
     : TALLY_READS_TWICE                ? 24 \
     : TALLY_IS_STRUCTURE               ? 0  \
     : TALLY_IS_USER && TALLY_BYTES > 4 ? 0  \
     : TALLY_IS_USER                    ? 4  \
     : TALLY_BYTES > 4                  ? 16 \
                                        : 8)
#define TALLY_COLUMNS_ARE_LARGE (!TALLY_IS_USER && !TALLY_READS_TWICE && (TALLY_BYTES > 4 || sizeof(column_t) > 8))
/* The rows that a thread of production/rows/stripes.h takes: it has 8 columns of each in registers. 0: columns are too
 * large, or pairs of 16-bit integers, of which the compiler takes twice the registers. */
#define TALLY_ARE_SHORT_PAIRS (TALLY_BYTES == 2 && sizeof(column_t) == 4 && sizeof(result_t) == 4)
#define TALLY_STRIPES_ACROSS                                              \
    (sizeof(column_t) > 32 || (!TALLY_FLOAT && TALLY_ARE_SHORT_PAIRS) ? 0 \
     : sizeof(column_t) > (TALLY_BYTES > 4 ? 8 : 24)                  ? 1 \
     : TALLY_PASSES == 2 || TALLY_BYTES > 4                           ? 2 \
     : sizeof(column_t) * TALLY_KERNEL_INPUTS > 8                     ? 2 \
                                                                      : 4)
/* The vectors that a thread of production/rows/columns.h reads at once, if they take no more than 32 registers. Small
 * columns that are read twice, bytes that take few operations, exact squares and exact sums of 2 bytes leave registers
 * for 16; stats of bytes only for 4. With more, registers spill (tests/unit/test_compile.c). */
#define TALLY_ARE_BYTE_STATS (TALLY_BYTES == 1 && TALLY_HAS_SQUARES && TALLY_HAS_RANGE)
#define TALLY_ARE_PLAIN_BYTES (TALLY_BYTES == 1 && !TALLY_SIGNED && !TALLY_BOOLEAN && !TALLY_HAS_SQUARES)
#define TALLY_ARE_SMALL_TWICE (TALLY_PASSES == 2 && !TALLY_IS_DEAR && TALLY_BYTES <= 4 && sizeof(column_t) <= 4)
#define TALLY_ARE_EXACT_SQUARES                                       \
    (TALLY_IS_COMPENSATED && TALLY_HAS_PRODUCTS && !TALLY_HAS_KEYS && \
     (TALLY_BYTES == 4 || (TALLY_BYTES == 2 && !TALLY_HAS_SUM && TALLY_KERNEL_INPUTS == 1)))
#define TALLY_ARE_NARROW_SUMS (TALLY_IS_PLAIN && TALLY_BYTES == 2)
#define TALLY_COLUMNS_BATCH                                                                                    \
    (TALLY_ARE_BYTE_STATS                                                                                 ? 4  \
     : TALLY_ARE_SMALL_TWICE || TALLY_ARE_PLAIN_BYTES || TALLY_ARE_EXACT_SQUARES || TALLY_ARE_NARROW_SUMS ? 16 \
                                                                                                          : 8)
/* Blocks of these kernels that a multiprocessor holds: as many as registers allow (tests/unit/test_compile.c). With all
 * ways of reading, with 8 columns in registers, and with two sums of integers or two passes, they are fewer. */
#define TALLY_COLUMNS_RESIDENT                                                                           \
    (TALLY_ANY_ROWS || (!TALLY_IS_FREE && TALLY_PASSES == 1) || (TALLY_PASSES == 2 && !TALLY_IS_DEAR) || \
             (TALLY_HAS_SQUARES && TALLY_HAS_SUM) || TALLY_IS_COMPENSATED                                \
         ? 2                                                                                             \
         : 3)
/* Threads add up chunks of a tile, whatever segments they are of (chunks/chunks.h). */
#define TALLY_IN_CHUNKS (TALLY_IS_PLAIN && TALLY_BYTES >= 4 && TALLY_NAN == 0)
/* The same where order does not show, for partial results that are small beside the values of a chunk
 * (chunks/partials.h). For exact sums of products a chunk's range tells how they are added up: of f32
 * (chunks/measured_chunk.h), and of 2-byte floats of two inputs (chunks/narrow_chunk.h), where sums of one input lost.
 * Measured. */
#define TALLY_HAS_MEASURED_CHUNKS (TALLY_IS_COMPENSATED && TALLY_HAS_PRODUCTS && TALLY_BYTES == 4 && !TALLY_MAY_SKIP)
#define TALLY_HAS_NARROW_CHUNKS \
    (TALLY_IS_COMPENSATED && TALLY_BYTES == 2 && TALLY_KERNEL_INPUTS == 2 && !TALLY_MAY_SKIP)
#define TALLY_MEASURES_CHUNKS (TALLY_HAS_MEASURED_CHUNKS || TALLY_HAS_NARROW_CHUNKS)
/* Lanes look how large their values are, too (shared/parts.h, exact_rows/lanes_row.h). Of two inputs registers would
 * not do for as many warps. */
#define TALLY_MEASURES (TALLY_HAS_MEASURED_CHUNKS && TALLY_KERNEL_INPUTS == 1)
#define TALLY_IN_PARTIALS                                                                    \
    (TALLY_MEASURES_CHUNKS || (TALLY_BY_LANES && !TALLY_IS_COMPENSATED && !TALLY_MAY_SKIP && \
                               !(TALLY_HAS_SQUARES && (TALLY_HAS_SUM || TALLY_BYTES == 1))))
/* A value costs so much that parts of segments that cross a tile's boundaries, and few segments, go by chunks, too. */
#define TALLY_ALL_IN_PARTIALS (TALLY_MEASURES && TALLY_HAS_SUM)
/* Long segments go leaf by leaf: columns may not hold what a tile has. */
#define TALLY_NEEDS_LEAVES (!TALLY_IS_COMPENSATED && !TALLY_HAS_INDEX)
/* Sums of bytes, or of their products: four at a time. */
#define TALLY_ADDS_BYTES                                                                                         \
    ((TALLY_ADDS_VALUES || (TALLY_HAS_SUM && TALLY_KERNEL_INPUTS == 2)) && TALLY_BYTES == 1 && !TALLY_BOOLEAN && \
     !TALLY_HAS_SQUARES && !TALLY_HAS_RANGE)

#endif
