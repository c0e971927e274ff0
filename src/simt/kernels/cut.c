/* The kernels that prepare a segmentation, arrange vectors or merge arrays, compiled for the simulator. */
#include <string.h>

#include "simt/kernels/set.h"

#include "production/cut.h"
#include "production/groups.h"
#include "production/merge.h"

tally__simt_entry *tally__simt_cut(const char *entry) {
    static const struct {
        const char *name;
        tally__simt_entry *entry;
    } all[] = {{"tally_cut_edges", tally_cut_edges},       {"tally_cut_sums", tally_cut_sums},
               {"tally_cut_scan", tally_cut_scan},         {"tally_cut_lengths", tally_cut_lengths},
               {"tally_cut_shares", tally_cut_shares},     {"tally_cut_segment_ids", tally_cut_segment_ids},
               {"tally_cut_check", tally_cut_check},       {"tally_cut_segment_id_edges", tally_cut_segment_id_edges},
               {"tally_group_keys", tally_group_keys},     {"tally_group_digits", tally_group_digits},
               {"tally_group_move", tally_group_move},     {"tally_group_lengths", tally_group_lengths},
               {"tally_group_spread", tally_group_spread}, {"tally_group_gather", tally_group_gather},
               {"tally_merge_8", tally_merge_8},           {"tally_merge_16", tally_merge_16},
               {"tally_merge_32", tally_merge_32},         {"tally_merge_64", tally_merge_64},
               {"tally_merge_check", tally_merge_check}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (strcmp(entry, all[k].name) == 0) return all[k].entry;
    return NULL;
}
