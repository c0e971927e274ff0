/* Template: one plain read for one instruction set. Parameters, undefined again at the end:
 *   READ_NAME    the function
 *   READ_TARGET  its target attribute (GCC splits wide vectors before it inlines, so this cannot be an inline function)
 *   READ_WIDTH   bytes of one register
 */
READ_TARGET static uint64_t READ_NAME(const char *bytes, int64_t count, int streams, int64_t ahead) {
    typedef uint64_t vector __attribute__((vector_size(READ_WIDTH), aligned(1), may_alias));
    vector sum[8] = {{0}};
    int64_t offset[8], run = count / streams / (8 * READ_WIDTH) * (8 * READ_WIDTH), step = 8 * READ_WIDTH / streams;
    for (int k = 0; k < 8; k++) offset[k] = k % streams * run + k / streams * READ_WIDTH;
    for (const char *p = bytes; p < bytes + run; p += step) {
#pragma GCC unroll 8
        for (int k = 0; k < 8; k++) {
            if (ahead) __builtin_prefetch(p + offset[k] + ahead);
            sum[k] ^= *(const vector *)(p + offset[k]);
        }
    }
    int64_t i = streams * run;
    for (; i + READ_WIDTH <= count; i += READ_WIDTH) sum[0] ^= *(const vector *)(bytes + i);
    uint64_t folded = 0;
    for (; i < count; i++) folded ^= (unsigned char)bytes[i];
    for (int k = 0; k < 8; k++)
        for (int lane = 0; lane < READ_WIDTH / 8; lane++) folded ^= sum[k][lane];
    return folded;
}
#undef READ_NAME
#undef READ_TARGET
#undef READ_WIDTH
