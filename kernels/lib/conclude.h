/* The result of a node of an operator of kernels/operators, and what is to be told of it (TALLY_SAW_...). No include
 * guard. */
TALLY_FN int TALLY_N(conclude)(TALLY_N(node) a, const tally_final *final, TALLY_N(result) *result) {
    int saw = a.n == 0 ? TALLY_SAW_EMPTY : 0;
#ifdef TALLY_HAS_WIDE
    if (__builtin_expect(TALLY_N(needs_wide)(a, final), 0)) return saw | TALLY_N(finish_wide)(a, final, result);
#endif
    *result = TALLY_N(finish)(a, final);
    return saw;
}
