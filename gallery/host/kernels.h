/* Between the units that CMake writes of the gallery and its host side: one operator for every type. */
#ifndef RACE_KERNELS_H
#define RACE_KERNELS_H

#include "gallery/kernels/table.h"
#include "internal.h"
#include "simt/simt.h"

enum {
#define TALLY_ROW(number, name, plan, needs, threads, least, each, shared, segment_ids, source, what) \
    TALLY_GALLERY_##name = number,
    TALLY_GALLERY(TALLY_ROW)
#undef TALLY_ROW
        TALLY_GALLERY_KERNELS
};

/* An operator on a type, as the host needs it, and its kernels, compiled for the simulator. Elements are opaque. */
typedef struct tally__gallery_type {
    size_t element_bytes, result_bytes;
    void (*write_none)(void *element);
    /* Input i, lifted; the input is in host memory. */
    void (*read_input)(const tally_work *work, int64_t i, void *element);
    void (*combine_later)(void *element, const void *later);
    void (*write_result)(const void *element, int64_t count, const tally_final *final, void *result);
    struct {
        const char *entry;
        tally__simt_entry *function;
    } kernels[TALLY_GALLERY_KERNELS];
} tally__gallery_type;

/* Under the NaN policy "propagate", the only one here: the others have nothing. */
typedef struct tally__gallery_set {
    const tally__gallery_type *of[TALLY_TYPE_END][3];
} tally__gallery_set;

#endif
