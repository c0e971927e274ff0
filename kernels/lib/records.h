/* The structs of one operator from its field lists, and what follows from its two statements. No include guard.
 *
 * An operator file defines TALLY_COLUMN, TALLY_NODE, TALLY_START(a), which sets a to the identity, and TALLY_JOIN(a,
 * b), which puts b, the later one, behind a; then, when a leaf is read twice, TALLY_AIM, TALLY_SECOND, TALLY_START2 and
 * TALLY_JOIN2. */
#define TALLY_FIELD(type, name) type name;
typedef struct TALLY_N(column) {
    TALLY_COLUMN(TALLY_FIELD)
} TALLY_N(column);
/* n is the number of values behind a node: those present under the NaN policy. */
typedef struct TALLY_N(node) {
    int64_t n;
    TALLY_NODE(TALLY_FIELD)
} TALLY_N(node);

TALLY_FN TALLY_N(column) TALLY_N(identity)(void) {
    TALLY_N(column) a;
    TALLY_START(a);
    return a;
}
TALLY_FN TALLY_N(column) TALLY_N(combine)(TALLY_N(column) a, TALLY_N(column) b) {
    TALLY_JOIN(a, b);
    return a;
}

#ifdef TALLY_SECOND
#define TALLY_PASSES 2
typedef struct TALLY_N(aim) {
    TALLY_AIM(TALLY_FIELD)
} TALLY_N(aim);
typedef struct TALLY_N(second) {
    TALLY_SECOND(TALLY_FIELD)
} TALLY_N(second);
TALLY_FN TALLY_N(second) TALLY_N(identity2)(void) {
    TALLY_N(second) a;
    TALLY_START2(a);
    return a;
}
TALLY_FN TALLY_N(second) TALLY_N(combine2)(TALLY_N(second) a, TALLY_N(second) b) {
    TALLY_JOIN2(a, b);
    return a;
}
#else
#define TALLY_PASSES 1
#endif
#undef TALLY_FIELD
