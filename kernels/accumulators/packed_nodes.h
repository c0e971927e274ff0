/* Nodes in the form in which they travel (docs/states.md, "Nodes"): their fields side by side, at any address. Nodes
 * travel only where order does not show, and there no field is a float, so no NaNs have to be made equal. */
#ifndef TALLY_PACKED_NODES_H
#define TALLY_PACKED_NODES_H

#include TALLY_KERNEL_FILE
#include "device/dialect.h"

#ifndef TALLY_PACKED_NODES_SHARED_H
#define TALLY_PACKED_NODES_SHARED_H
/* Byte by byte, in a way that the compiler does not see through: it would turn a memcpy into an aligned access. */
TALLY_FN char *tally_put_bytes(char *to, const void *from, int32_t bytes) {
    for (int32_t k = 0; k < bytes; k++) *(volatile char *)to++ = ((const char *)from)[k];
    return to;
}
TALLY_FN const char *tally_take_bytes(void *to, const char *from, int32_t bytes) {
    for (int32_t k = 0; k < bytes; k++) ((char *)to)[k] = *(const volatile char *)from++;
    return from;
}
#endif

#define TALLY_PUT_FIELD(type, name) to = tally_put_bytes(to, &node.name, (int32_t)sizeof(type));
TALLY_FN void put_packed(node_t node, char *to){TALLY_PUT_FIELD(int64_t, n) TALLY_NODE(TALLY_PUT_FIELD)}
#undef TALLY_PUT_FIELD

#define TALLY_TAKE_FIELD(type, name) from = tally_take_bytes(&node.name, from, (int32_t)sizeof(type));
TALLY_FN node_t take_packed(const char *from) {
    node_t node = nothing();
    TALLY_TAKE_FIELD(int64_t, n)
    TALLY_NODE(TALLY_TAKE_FIELD)
    return node;
}
#undef TALLY_TAKE_FIELD

#endif
