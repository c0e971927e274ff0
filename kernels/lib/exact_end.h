/* Undoes what one file of kernels/exact and lib/exact.h have defined. */
#undef TALLY_SUM_TERM
#undef TALLY_PRODUCTS
#undef TALLY_KEYS
#undef TALLY_IS_F64
#undef TALLY_ORIGIN
#undef TALLY_LIMBS
#undef TALLY_PRODUCT_LIMBS
#undef TALLY_NATURAL_FORMAT
