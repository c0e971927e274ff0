#include "merge/parts.h"

#include "gpu_merge.h"

bool tally__merge_order_of(tally_type type, bool total, tally__merge_order *order) {
    const int class = tally__type_class(type);
    const size_t width = tally_type_size(type);
    if (class == 0) return false;
    *order = (tally__merge_order){.width_log = width == 1 ? 0 : width == 2 ? 1 : width == 4 ? 2 : 3, .part_count = 1};
    order->reading = tally__merge_reading_of(type, total);
    if (class == TALLY_CLASS_BOOL) {
        order->part_count = 2;
    } else if (class == TALLY_CLASS_FLOAT) {
        order->part_count = total ? 2 : 4;
        order->infinity = type == TALLY_F16    ? 0x7c00
                          : type == TALLY_BF16 ? 0x7f80
                          : type == TALLY_F32  ? 0x7f800000
                                               : INT64_C(0x7ff0000000000000);
    } else {
        order->part_count = width == 1 ? 256 : class == TALLY_CLASS_INT ? 1 : 2;
    }
    return true;
}

tally__merge_part tally__merge_part_at(const tally__merge_order *order, int number) {
    const uint64_t most = (uint64_t)tally__magnitude_mask(order->width_log);
    const tally__merge_part below = {TALLY_MERGE_UP, INT64_MIN, -1, 0, 0, 0};
    const tally__merge_part from_0 = {TALLY_MERGE_UP, 0, INT64_MAX, 0, 0, 0};
    if (order->reading == TALLY_MERGE_BOOL)
        return (tally__merge_part){TALLY_MERGE_EQUAL,     number, number, 0xff, number == 0 ? 0 : 1,
                                   number == 0 ? 0 : 0xff};
    if (order->width_log == 0) { /* key -128 is the value -128, or without a sign 0 */
        const uint64_t bits = (uint64_t)(order->reading == TALLY_MERGE_SIGNED ? number ^ 0x80 : number);
        return (tally__merge_part){TALLY_MERGE_EQUAL, number - 128, number - 128, 0xff, bits, bits};
    }
    if (order->reading == TALLY_MERGE_SIGNED) return (tally__merge_part){TALLY_MERGE_UP, INT64_MIN, INT64_MAX, 0, 0, 0};
    if (order->reading == TALLY_MERGE_UNSIGNED) return number == 0 ? below : from_0;
    if (number == 0) return (tally__merge_part){TALLY_MERGE_DOWN, INT64_MIN, -1, 0, 0, 0};
    if (order->reading == TALLY_MERGE_TOTAL) return from_0;
    if (number == 1) return (tally__merge_part){TALLY_MERGE_EQUAL, 0, 0, most, 0, 0};
    if (number == 2) return (tally__merge_part){TALLY_MERGE_UP, 1, INT64_MAX - 1, 0, 0, 0};
    return (tally__merge_part){TALLY_MERGE_EQUAL, INT64_MAX, INT64_MAX, most, (uint64_t)order->infinity + 1, most};
}
