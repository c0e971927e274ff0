/* What a kernel needs to know of a struct of the caller's own, in place of the rest of lib/types.h: TALLY_STRUCT_BYTES
 * bytes, as words that any struct of that size may be copied from. No include guard; lib/types_end.h undoes it. */
#define TALLY_BYTES TALLY_STRUCT_BYTES
#if TALLY_BYTES % 8 == 0
#define TALLY_B uint64_t
#elif TALLY_BYTES % 4 == 0
#define TALLY_B uint32_t
#elif TALLY_BYTES % 2 == 0
#define TALLY_B uint16_t
#else
#define TALLY_B uint8_t
#endif
typedef struct TALLY_N(bytes) {
    TALLY_B words[TALLY_BYTES / sizeof(TALLY_B)];
} TALLY_N(bytes);
#define TALLY_T TALLY_N(bytes)

typedef struct TALLY_N(item) {
    TALLY_T raw;
} TALLY_N(item);
TALLY_FN TALLY_N(item) TALLY_N(item_of)(TALLY_T t) {
    TALLY_N(item) item;
    item.raw = t;
    return item;
}
TALLY_FN int TALLY_N(present)(TALLY_T t) { return (void)t, 1; }
