/* The result of a node to its place among those that a kernel writes, which may be any address. No include guard;
 * behind lib/conclude.h. */
TALLY_FN void TALLY_N(put_result)(const tally_work *work, int64_t i, TALLY_N(node) node) {
    char *to = (char *)work->result + i * work->result_stride;
    TALLY_N(result) result;
    int32_t saw = TALLY_N(conclude)(node, &work->final, &result);
    if (((uint64_t)work->result | (uint64_t)work->result_stride) % __alignof__(TALLY_N(result)) == 0)
        *(TALLY_N(result) *)(void *)to = result;
    else
        for (uint32_t k = 0; k < sizeof result; k++) to[k] = ((const char *)&result)[k];
    if (work->saw != 0 && saw != 0) tally_or32(work->saw, saw);
}
