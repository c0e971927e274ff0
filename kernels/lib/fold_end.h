/* Undoes lib/leaf.h and lib/fold.h. */
#undef TALLY_IS_FREE
#undef TALLY_HELD
#undef TALLY_PART
#undef TALLY_SLOT
#undef TALLY_DEVICE_COLUMNS
#undef TALLY_DEVICE_LEAF
