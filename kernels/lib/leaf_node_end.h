/* Undoes lib/leaf_node.h. */
#undef TALLY_RESIDENT
#undef TALLY_UNROLL_WIDE
#undef TALLY_SEAL
#undef TALLY_COUNT
#undef TALLY_IS_FREE
#undef TALLY_HELD
#undef TALLY_PART
#undef TALLY_DEVICE_COLUMNS
#undef TALLY_DEVICE_LEAF
