/* Names are as lib/types.h has them again. */
#undef TALLY_N
#define TALLY_N(name) TALLY_N1(name, TALLY_TYPE, TALLY_NAN)
