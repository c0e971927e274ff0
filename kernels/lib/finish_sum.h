/* finish of the operators whose node is one sum of floats: sum, norm1, sumsq, dot. No include guard. */
typedef TALLY_V TALLY_N(result);
TALLY_FN TALLY_N(result) TALLY_N(finish)(TALLY_N(node) a, const tally_final *final) {
    (void) final;
    return a.n == 0 ? 0 : TALLY_REAL(clean)(a.sum);
}
