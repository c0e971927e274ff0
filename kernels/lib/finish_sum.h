/* finish of the operators whose node is one sum: sum, norm1, sumsq, dot. No include guard. */
typedef TALLY_W TALLY_N(result);
TALLY_FN TALLY_N(result) TALLY_N(finish)(TALLY_N(node) a, const tally_final *final) {
    (void)final;
#if TALLY_FLOAT
    return a.n == 0 ? 0 : TALLY_REAL(clean)(a.sum);
#else
    return a.sum;
#endif
}
