/* Two sorted series of measurements become one; the origins bring along what stands beside each value. */
#include <stdio.h>
#include <stdlib.h>

#include <tally/tally_merge.h>

int main(void) {
    const double east[] = {0.5, 2, 2, 7.25}, west[] = {1, 2, 9};
    const char *const names[] = {"e0", "e1", "e2", "e3", "w0", "w1", "w2"}; /* of all, the first series first */
    const tally_array series[] = {tally_in(east, TALLY_F64, 4), tally_in(west, TALLY_F64, 3)};
    double merged[7];
    int64_t origins[7];
    if (tally_merge(NULL, series, 2, tally_out(merged, TALLY_F64, 7), tally_out(origins, TALLY_I64, 7)) != TALLY_OK) {
        fprintf(stderr, "%s\n", tally_message());
        return 1;
    }
    for (int i = 0; i < 7; i++) printf("%g %s%s", merged[i], names[origins[i]], i < 6 ? ", " : "\n");
    return 0;
}
