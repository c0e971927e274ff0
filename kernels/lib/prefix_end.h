/* Undoes lib/prefix.h. */
#undef TALLY_PREFIX_IS_F16
#undef TALLY_PREFIX_LEVELS
#undef TALLY_END_PLACE
