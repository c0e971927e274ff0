/* Undoes lib/prefix.h. */
#undef TALLY_PREFIX_THREADS
#undef TALLY_PREFIX_LEVELS
#undef TALLY_END_PLACE
