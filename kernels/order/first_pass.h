/* The parameters of order/halves.h, rows/fold_leaf.h and features/fold_features.h for the columns of the first pass.
 * Each of these files undefines them again. */
#ifdef TALLY_RECORD
#error "what folds the columns before has not undone its parameters"
#endif
#define TALLY_NAME(name) name
#define TALLY_TYPE_NAME(name) name##_t
#define TALLY_RECORD column_t
#define TALLY_COMBINE combine
#define TALLY_NOTHING identity()
#define TALLY_LIFT(x, y, k, which) lift(item_of(x), item_of(y))
