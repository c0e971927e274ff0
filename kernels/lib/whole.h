/* From here to lib/whole_end.h the names of a type have `whole_` in front: of an exact operator's numbers of limbs and
 * what is done with them, where lib/quick.h has nodes of its own beside them. No include guard. */
#undef TALLY_N
#define TALLY_N(name) TALLY_WHOLE(name)
#define TALLY_WHOLE(name) TALLY_N1(TALLY_PASTE(whole_, name), TALLY_TYPE, TALLY_NAN)
