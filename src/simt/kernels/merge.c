/* The kernels that merge arrays, compiled for the simulator: of each size and reading of values. */
#include "simt/kernels/set.h"

#define TALLY_MERGE_BLOCKS 4

#define TALLY_MERGE_BITS 8
#define TALLY_MERGE_READING 0
#include "simt/kernels/merge_passes.h"
#define TALLY_MERGE_BITS 8
#define TALLY_MERGE_READING 1
#include "simt/kernels/merge_passes.h"
#define TALLY_MERGE_BITS 8
#define TALLY_MERGE_READING 2
#include "simt/kernels/merge_passes.h"
#define TALLY_MERGE_BITS 16
#define TALLY_MERGE_READING 1
#include "simt/kernels/merge_passes.h"
#define TALLY_MERGE_BITS 16
#define TALLY_MERGE_READING 2
#include "simt/kernels/merge_passes.h"
#define TALLY_MERGE_BITS 16
#define TALLY_MERGE_READING 3
#include "simt/kernels/merge_passes.h"
#define TALLY_MERGE_BITS 16
#define TALLY_MERGE_READING 4
#include "simt/kernels/merge_passes.h"
#define TALLY_MERGE_BITS 32
#define TALLY_MERGE_READING 1
#include "simt/kernels/merge_passes.h"
#define TALLY_MERGE_BITS 32
#define TALLY_MERGE_READING 2
#include "simt/kernels/merge_passes.h"
#define TALLY_MERGE_BITS 32
#define TALLY_MERGE_READING 3
#include "simt/kernels/merge_passes.h"
#define TALLY_MERGE_BITS 32
#define TALLY_MERGE_READING 4
#include "simt/kernels/merge_passes.h"
#define TALLY_MERGE_BITS 64
#define TALLY_MERGE_READING 1
#include "simt/kernels/merge_passes.h"
#define TALLY_MERGE_BITS 64
#define TALLY_MERGE_READING 2
#include "simt/kernels/merge_passes.h"
#define TALLY_MERGE_BITS 64
#define TALLY_MERGE_READING 3
#include "simt/kernels/merge_passes.h"
#define TALLY_MERGE_BITS 64
#define TALLY_MERGE_READING 4
#include "simt/kernels/merge_passes.h"

#define TALLY_UNIT(kind, ID, text, defines)
#define TALLY_ROW_ORDERED(name)
#define TALLY_ROW_EXACT(name)
#define TALLY_ROW_GENERAL(name)
#define TALLY_OF(name, problem) {"tally_" #name "_" #problem, tally_##name##_##problem},
/* clang-format off */
#define TALLY_ROW_TYPED(name) \
    TALLY_OF(name, 8_0) TALLY_OF(name, 8_1) TALLY_OF(name, 8_2) \
    TALLY_OF(name, 16_1) TALLY_OF(name, 16_2) TALLY_OF(name, 16_3) TALLY_OF(name, 16_4) \
    TALLY_OF(name, 32_1) TALLY_OF(name, 32_2) TALLY_OF(name, 32_3) TALLY_OF(name, 32_4) \
    TALLY_OF(name, 64_1) TALLY_OF(name, 64_2) TALLY_OF(name, 64_3) TALLY_OF(name, 64_4)
/* clang-format on */
#define TALLY_ROW(kind, ID, name, threads, work) TALLY_ROW_##kind(name)
const tally__simt_named tally__simt_merges[] = {TALLY_FORM_UNITS(TALLY_UNIT, TALLY_ROW){NULL, NULL}};
